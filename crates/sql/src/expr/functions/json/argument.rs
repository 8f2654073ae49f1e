//! What JSON functions make of their arguments: documents, values of documents, and paths.

use super::super::super::{Context, Expr, Node as ExprNode, text_of};
use super::super::Call;
use crate::error::{Result, SqlError};
use crate::expr::documents::{damaged, plain_scalar, too_deep};
use std::ops::Deref;
use types::collation::BINARY;
use types::json::{self, JsonError, Node, Path};
use types::{ColumnType, TypeCode, Value};

/// A document while a function is at it; what it takes is charged as what the function has made.
pub(in crate::expr::functions) struct Document(Node);

impl Deref for Document {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0
    }
}

impl Document {
    pub fn into_node(self) -> Node {
        self.0
    }
}

/// Characters or bytes: what a document's text may be.
fn is_string(ty: &ColumnType) -> bool {
    matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Enum | TypeCode::Set)
}

/// An argument that is to be a document: JSON, or text that is. `None` for NULL.
///
/// # Errors
/// 3141, 3157 for a text that is no document, 3144 for bytes, 3146 for anything else, 3142 for a
/// damaged document.
pub(in crate::expr::functions) fn document(call: &Call<'_>, at: usize) -> Result<Option<Document>> {
    document_for(call, at, call.name)
}

/// As [`document`], with another function's name in messages.
pub(super) fn document_for(call: &Call<'_>, at: usize, name: &str) -> Result<Option<Document>> {
    let value = &*call.values[at];
    let node = match value {
        Value::Null => return Ok(None),
        Value::Json(bytes) => {
            call.ctx.charge_if_long(bytes.len())?;
            json::read_document(bytes).ok_or_else(damaged)?
        }
        value => {
            check_type(call, at, name)?;
            if call.args[at].ty.collation == BINARY {
                return Err(no_json("binary"));
            }
            let text = text_of(value);
            call.ctx.charge_if_long(text.len())?;
            json::parse_node(&text).map_err(|error| no_document(&error, name, at))?
        }
    };
    charged(node, call.ctx).map(|node| Some(Document(node)))
}

/// Error 3146 for an argument that is neither a document nor text.
pub(super) fn check_type(call: &Call<'_>, at: usize, name: &str) -> Result<()> {
    let is_text = match &*call.values[at] {
        Value::Null | Value::Json(_) => return Ok(()),
        Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } => true,
        _ => matches!(call.args[at].node, ExprNode::Parameter(_)),
    };
    if is_text && is_string(&call.args[at].ty) { Ok(()) } else { Err(wrong_type(name, at)) }
}

/// A tree takes more than the text that it is made of.
fn charged(node: Node, ctx: &Context<'_>) -> Result<Node> {
    ctx.charge_if_long(node.heap_bytes())?;
    Ok(node)
}

/// Error 3146.
fn wrong_type(function: &str, at: usize) -> SqlError {
    let text = format!(
        "Invalid data type for JSON data in argument {} to function {function}; a JSON string or JSON type is required.",
        at + 1
    );
    SqlError::new(3146, text)
}

/// Error 3141, or 3157 for what is too deep.
pub(crate) fn no_document(error: &JsonError, function: &str, at: usize) -> SqlError {
    if error.complaint == JsonError::TOO_DEEP {
        return too_deep();
    }
    let text = format!(
        "Invalid JSON text in argument {} to function {function}: \"{}\" at position {}.",
        at + 1,
        error.complaint,
        error.at
    );
    SqlError::new(3141, text)
}

/// Error 3144.
fn no_json(charset: &str) -> SqlError {
    SqlError::new(3144, format!("Cannot create a JSON value from a string with CHARACTER SET '{charset}'."))
}

/// An argument as a value of a document: text is a string there, and NULL is null.
pub(super) fn scalar(call: &Call<'_>, at: usize) -> Result<Node> {
    scalar_of(&call.values[at], &call.args[at], call.ctx)
}

/// As [`scalar`], of a value and the expression that it is of.
pub(crate) fn scalar_of(value: &Value, expr: &Expr, ctx: &Context<'_>) -> Result<Node> {
    if is_truth(expr) && !value.is_null() {
        return Ok(Node::Bool(!matches!(value, Value::Int(0))));
    }
    let node = match (value, expr.ty.code) {
        (Value::Bytes(_), TypeCode::Geometry) => {
            return Err(SqlError::not_supported("geometries in JSON documents"));
        }
        (Value::Bytes(bytes), code) if expr.ty.collation == BINARY => {
            Node::Opaque(opaque_type(code, &expr.ty), bytes.clone())
        }
        (value, _) => plain_scalar(value, ctx.zone())?,
    };
    charged(node, ctx)
}

/// Whether an expression is true or false, which numbers are not.
fn is_truth(expr: &Expr) -> bool {
    match &expr.node {
        ExprNode::Constant(_) => expr.ty.form == Some(super::super::super::truth_form()),
        ExprNode::And(_)
        | ExprNode::Or(_)
        | ExprNode::Xor(_)
        | ExprNode::Not(_)
        | ExprNode::Compare { .. }
        | ExprNode::CompareRows { .. }
        | ExprNode::Between { .. }
        | ExprNode::In { .. }
        | ExprNode::Quantified(_)
        | ExprNode::RowSubquery(_)
        | ExprNode::Like { .. }
        | ExprNode::IsNull { .. }
        | ExprNode::IsTruth { .. } => true,
        ExprNode::Call { function, .. } => TRUTHS.contains(&function.name),
        ExprNode::Subquery { what, .. } => *what == super::super::super::SubqueryUse::Exists,
        _ => false,
    }
}

/// Functions that answer yes or no.
const TRUTHS: [&str; 8] = [
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_schema_valid",
    "json_valid",
    "member of",
    "regexp_like",
];

/// The type that bytes keep in a document.
fn opaque_type(code: TypeCode, ty: &ColumnType) -> u8 {
    const TINY_BLOB: u8 = 249;
    match code {
        TypeCode::Blob => match ty.meta {
            1 => TINY_BLOB,
            3 => TINY_BLOB + 1,
            4 => TINY_BLOB + 2,
            _ => TypeCode::Blob as u8,
        },
        code => code as u8,
    }
}

/// An argument that is to be a path. `None` for NULL.
///
/// # Errors
/// 3143 for a text that is none.
pub(super) fn path(call: &Call<'_>, at: usize) -> Result<Option<Path>> {
    if call.values[at].is_null() {
        return Ok(None);
    }
    Path::parse(&call.bytes(at)).map(Some).map_err(no_path)
}

/// Error 3143.
pub(crate) fn no_path(at: usize) -> SqlError {
    SqlError::new(3143, format!("Invalid JSON path expression. The error is around character position {at}."))
}

/// As [`path`], of one that may mean one value only.
///
/// # Errors
/// 3149 for one with wildcards.
pub(super) fn single_path(call: &Call<'_>, at: usize) -> Result<Option<Path>> {
    match path(call, at)? {
        Some(path) if path.may_mean_several() => Err(SqlError::new(
            3149,
            "In this situation, path expressions may not contain the * and ** tokens or an array range.",
        )),
        path => Ok(path),
    }
}

/// A document as a function's result.
///
/// # Errors 3157 for one that is too deep, 3151 for a name that is too long, 1301 for one that is
/// larger than `max_allowed_packet`.
pub(crate) fn made(node: &Node, ctx: &Context<'_>) -> Result<Value> {
    if node.containers() > json::MAX_DEPTH {
        return Err(too_deep());
    }
    ctx.charge_if_long(node.heap_bytes())?;
    let long_name = || SqlError::new(3151, "The JSON object contains a key name that is too long.");
    let written = json::write_document(node).ok_or_else(long_name)?;
    let limit = ctx.variables.max_allowed_packet;
    if written.len() > limit {
        let text = format!(
            "Result of json_binary::serialize() was larger than max_allowed_packet ({limit}) - truncated"
        );
        return Err(SqlError::new(1301, text));
    }
    Ok(Value::Json(written))
}
