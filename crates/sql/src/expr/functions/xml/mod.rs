//! `EXTRACTVALUE()` and `UPDATEXML()`, which find parts of an XML text by an XPath expression.
//! Documents and expressions are read as MySQL reads them, which supports a part of XPath 1.0:
//! texts are compared in the collation of the document, a closing tag closes whatever element is
//! open, and entities stay as they are.

mod document;
mod evaluate;
mod parse;
mod query;
mod steps;

use super::{Call, Function};
use crate::error::{Result, SqlError};
use crate::expr::infer::aggregate_collations;
use crate::expr::node::Node;
use crate::expr::{Coercibility, Expr};
use document::Document;
use evaluate::Evaluation;
use query::Query;
use types::{ColumnType, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("extractvalue", 2..=2, text_of_document, extract),
    Function::new("updatexml", 3..=3, text_of_document, update),
];

/// Returns the type of a text of any length. A constant expression is parsed here, so that its
/// errors are known before the first row.
fn text_of_document(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let (id, coercibility) = aggregate_collations(args.iter())?;
    let mut slots = Vec::new();
    args[1].slots(&mut slots);
    if !slots.is_empty() {
        return Err(SqlError::new(1105, "Only constant XPATH queries are supported"));
    }
    if let Node::Constant(Value::Bytes(written)) = &args[1].node {
        Query::parse(written)?;
    }
    Ok((ColumnType::longtext(id), coercibility))
}

/// Returns the document. `None`, with a warning, means that the text is no document.
fn document_of<'t>(call: &Call<'_>, text: &'t [u8]) -> Result<Option<Document<'t>>> {
    call.check_room(text.len())?;
    match Document::parse(text, &|| call.ctx.check_interrupt())? {
        Ok(document) => {
            call.ctx.charge_if_long(document.heap_bytes())?;
            Ok(Some(document))
        }
        Err(complaint) => {
            call.ctx.warn(1525, format!("Incorrect XML value: '{complaint}'"));
            Ok(None)
        }
    }
}

fn extract(call: &Call<'_>) -> Result<Value> {
    let query = Query::parse(&call.bytes(1))?;
    let text = call.bytes(0);
    let Some(document) = document_of(call, &text)? else { return Ok(Value::Null) };
    let evaluation = Evaluation::new(&document, call);
    let found = evaluation.value(&query)?;
    evaluation.text(found)
}

/// Computes UPDATEXML(): the document with another text in place of what the expression finds,
/// provided that it finds exactly one node.
fn update(call: &Call<'_>) -> Result<Value> {
    let query = Query::parse(&call.bytes(1))?;
    let text = call.bytes(0);
    let Some(document) = document_of(call, &text)? else { return Ok(Value::Null) };
    let Some(found) = Evaluation::new(&document, call).nodes(&query)? else { return Ok(Value::Null) };
    let [found] = found[..] else { return call.copied(&text) };
    let (start, end) = document.extent(found);
    let new = call.bytes(2);
    if !call.may_make(text.len() + new.len(), call.name)? {
        return Ok(Value::Null);
    }
    Ok(Value::Bytes([&text[..start], &new, &text[end..]].concat()))
}
