//! Functions that make documents of values, texts of documents, and documents of other documents.

use super::super::super::{Expr, text_of};
use super::super::{Call, Function};
use super::argument::{Document, document, is_string, made, no_json, scalar, single_path};
use super::result_type::{json, pretty_type, quoted_type, unquoted_type};
use crate::error::{Result, SqlError};
use types::collation::BINARY;
use types::json::{self as documents, Change, Leg, Node};
use types::{TypeCode, Value};

/// The most arguments of a call.
const MOST: usize = usize::MAX;

pub(in super::super) const FUNCTIONS: &[Function] = &[
    Function::new("json_array", 0..=MOST, json, |call| {
        let values = (0..call.values.len()).map(|at| scalar(call, at)).collect::<Result<_>>()?;
        made(&Node::Array(values), call.ctx)
    })
    .sees_nulls(),
    Function::new("json_object", 0..=MOST, json, object).sees_nulls(),
    Function::new("json_quote", 1..=1, quoted_type, |call| {
        check_text(call)?;
        let text = call.bytes(0);
        if !call.may_make(text.len() + 2, call.name)? {
            return Ok(Value::Null);
        }
        let mut quoted = Vec::with_capacity(text.len() + 2);
        documents::write_quoted(&text, &mut quoted);
        Ok(Value::Bytes(quoted))
    }),
    Function::new("json_unquote", 1..=1, unquoted_type, unquote),
    Function::new("json_pretty", 1..=1, pretty_type, |call| {
        let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
        let mut text = Vec::new();
        documents::write_pretty(&node, &mut text);
        call.check_room(text.len())?;
        Ok(Value::Bytes(text))
    })
    .sees_nulls(),
    Function::new("json_set", 3..=MOST, json, |call| change(call, Change::Set)).sees_nulls(),
    Function::new("json_insert", 3..=MOST, json, |call| change(call, Change::Insert)).sees_nulls(),
    Function::new("json_replace", 3..=MOST, json, |call| change(call, Change::Replace)).sees_nulls(),
    Function::new("json_remove", 2..=MOST, json, remove).sees_nulls(),
    Function::new("json_array_append", 3..=MOST, json, |call| {
        at_paths(call, |node, path, value| {
            node.append(path, value);
            Ok(())
        })
    })
    .sees_nulls(),
    Function::new("json_array_insert", 3..=MOST, json, |call| {
        at_paths(call, |node, path, value| {
            if !matches!(path.legs.last(), Some(Leg::Cell(_))) {
                let text = "A path expression is not a path to a cell in an array.";
                return Err(SqlError::new(3165, text));
            }
            node.insert_element(path, value);
            Ok(())
        })
    })
    .sees_nulls(),
    Function::new("json_merge_preserve", 2..=MOST, json, merge_preserve).sees_nulls(),
    Function::new("json_merge", 2..=MOST, json, merge_preserve).sees_nulls(),
    Function::new("json_merge_patch", 2..=MOST, json, merge_patch).sees_nulls(),
];

/// Returns error 3064 for an argument that is no text.
fn check_text(call: &Call<'_>) -> Result<()> {
    let ty = &call.args[0].ty;
    match ty.code {
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Null => Ok(()),
        TypeCode::Enum | TypeCode::Set => Ok(()),
        _ => Err(SqlError::new(3064, format!("Incorrect type for argument 1 in function {}.", call.name))),
    }
}

/// Returns a value of an expression as the name of a member.
///
/// # Errors
/// Returns 3158 for NULL, and 3144 for bytes, which need not be characters.
pub(crate) fn name_of(value: &Value, expr: &Expr) -> Result<Vec<u8>> {
    if value.is_null() {
        return Err(SqlError::new(3158, "JSON documents may not contain NULL member names."));
    }
    let is_bytes = is_string(&expr.ty) && expr.ty.collation == BINARY;
    if is_bytes || matches!(expr.ty.code, TypeCode::Bit | TypeCode::Geometry) {
        return Err(no_json("binary"));
    }
    Ok(text_of(value).into_owned())
}

fn object(call: &Call<'_>) -> Result<Value> {
    let mut members = Vec::with_capacity(call.values.len() / 2);
    for at in (0..call.values.len()).step_by(2) {
        members.push((name_of(&call.values[at], &call.args[at])?, scalar(call, at + 1)?));
    }
    made(&Node::object(members), call.ctx)
}

fn unquote(call: &Call<'_>) -> Result<Value> {
    if let Value::Json(_) = &*call.values[0] {
        let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
        let mut text = Vec::new();
        documents::write_unquoted(&node, &mut text);
        return Ok(Value::Bytes(text));
    }
    check_text(call)?;
    let text = call.bytes(0);
    match *text {
        [b'"', .., b'"'] => match documents::parse_node(&text) {
            Ok(Node::String(text)) => Ok(Value::Bytes(text)),
            Ok(_) => call.copied(&text),
            Err(error) => Err(super::argument::no_document(&error, call.name, 0)),
        },
        _ => call.copied(&text),
    }
}

/// Calls `f` for each path and the value after it.
fn at_paths(call: &Call<'_>, f: impl Fn(&mut Node, &documents::Path, Node) -> Result<()>) -> Result<Value> {
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let mut node = node.into_node();
    for at in (1..call.values.len()).step_by(2) {
        let Some(path) = single_path(call, at)? else { return Ok(Value::Null) };
        call.ctx.check_interrupt()?;
        f(&mut node, &path, scalar(call, at + 1)?)?;
    }
    made(&node, call.ctx)
}

fn change(call: &Call<'_>, change: Change) -> Result<Value> {
    at_paths(call, |node, path, value| {
        node.change(path, value, change);
        Ok(())
    })
}

fn remove(call: &Call<'_>) -> Result<Value> {
    let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
    let mut node = node.into_node();
    for at in 1..call.values.len() {
        let Some(path) = single_path(call, at)? else { return Ok(Value::Null) };
        if path.legs.is_empty() {
            let text = "The path expression '$' is not allowed in this context.";
            return Err(SqlError::new(3153, text));
        }
        node.remove(&path);
    }
    made(&node, call.ctx)
}

fn merge_preserve(call: &Call<'_>) -> Result<Value> {
    let mut merged: Option<Node> = None;
    for at in 0..call.values.len() {
        let Some(node) = document(call, at)? else { return Ok(Value::Null) };
        call.ctx.check_interrupt()?;
        merged = Some(match merged {
            Some(merged) => merged.merge_preserving(node.into_node()),
            None => node.into_node(),
        });
    }
    merged.map_or(Ok(Value::Null), |node| made(&node, call.ctx))
}

/// Computes JSON_MERGE_PATCH(). A NULL is no object: it makes the result NULL, until a value that
/// is no object replaces it.
fn merge_patch(call: &Call<'_>) -> Result<Value> {
    let mut merged: Option<Node> = None;
    for at in 0..call.values.len() {
        let patch = document(call, at)?.map(Document::into_node);
        merged = match (merged, patch) {
            (_, None) => None,
            (None, Some(patch)) if at == 0 || !matches!(patch, Node::Object(_)) => Some(patch),
            (None, Some(_)) => None,
            (Some(mut merged), Some(patch)) => {
                merged.merge_patch(patch);
                Some(merged)
            }
        };
    }
    merged.map_or(Ok(Value::Null), |node| made(&node, call.ctx))
}

/// `CAST(x AS JSON)`. Statements cannot write its name, which is that of MySQL's messages.
pub(crate) static CAST_AS_JSON: Function = Function::new("cast_as_json", 1..=1, json, |call| {
    let ty = &call.args[0].ty;
    // A text is read as a document; everything else becomes a value of one.
    let is_text =
        ty.is_character() && matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob);
    let node = match is_text && matches!(&*call.values[0], Value::Bytes(_)) {
        true => document(call, 0)?.map(Document::into_node),
        false => Some(scalar(call, 0)?),
    };
    node.map_or(Ok(Value::Null), |node| made(&node, call.ctx))
});
