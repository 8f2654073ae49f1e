//! Reads the arguments of JSON functions: documents, values of documents, and paths.

use super::super::super::{Context, Expr, Node as ExprNode, text_of};
use super::super::Call;
use super::super::spatial::document_of;
use crate::error::{Result, SqlError};
use crate::expr::documents::{damaged, plain_scalar, too_deep};
use std::ops::Deref;
use types::collation::BINARY;
use types::json::{self, JsonError, Node, Path};
use types::{ColumnType, Decimal, TypeCode, Value};

/// A document while a function works on it. Its memory is charged as that of a value which the
/// function makes.
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

/// Reports whether the type has characters or bytes, which the text of a document may be in.
pub(super) fn is_string(ty: &ColumnType) -> bool {
    matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Enum | TypeCode::Set)
}

/// Reads an argument that has to be a document: JSON, or the text of a document. `None` means NULL.
///
/// # Errors
/// Returns 3141 or 3157 for a text that is no document, 3144 for bytes, 3146 for anything else, and
/// 3142 for a damaged document.
pub(in crate::expr::functions) fn document(call: &Call<'_>, at: usize) -> Result<Option<Document>> {
    document_for(call, at, call.name)
}

/// Does the same as [`document`], with the name of another function in messages.
pub(super) fn document_for(call: &Call<'_>, at: usize, name: &str) -> Result<Option<Document>> {
    let value = &*call.values[at];
    let node = match value {
        Value::Null => return check_type(call, at, name).map(|()| None),
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

/// Returns error 3146 for an argument that is neither a document nor a text. Its type counts where
/// it is NULL.
pub(super) fn check_type(call: &Call<'_>, at: usize, name: &str) -> Result<()> {
    let ty = &call.args[at].ty;
    let is_text = match &*call.values[at] {
        Value::Json(_) => return Ok(()),
        Value::Null if matches!(ty.code, TypeCode::Json | TypeCode::Null) => return Ok(()),
        Value::Null if matches!(call.args[at].node, ExprNode::Parameter(_)) => return Ok(()),
        Value::Null => true,
        Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } => true,
        _ => matches!(call.args[at].node, ExprNode::Parameter(_)),
    };
    if is_text && is_string(ty) { Ok(()) } else { Err(wrong_type(name, at)) }
}

/// Charges the tree, which takes more than the text that it is made of.
fn charged(node: Node, ctx: &Context<'_>) -> Result<Node> {
    ctx.charge_if_long(node.heap_bytes())?;
    Ok(node)
}

/// Builds error 3146: the argument has a type that no document is read from.
fn wrong_type(function: &str, at: usize) -> SqlError {
    let text = format!(
        "Invalid data type for JSON data in argument {} to function {function}; a JSON string or JSON type is required.",
        at + 1
    );
    SqlError::new(3146, text)
}

/// Builds error 3141, which tells the client where a text is no document, or 3157 for a document
/// that is nested too deeply.
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

/// Builds error 3144: a document cannot be read from bytes.
pub(super) fn no_json(charset: &str) -> SqlError {
    SqlError::new(3144, format!("Cannot create a JSON value from a string with CHARACTER SET '{charset}'."))
}

/// Returns an argument as a value of a document: a text becomes a string, and NULL becomes null.
pub(super) fn scalar(call: &Call<'_>, at: usize) -> Result<Node> {
    scalar_of(&call.values[at], &call.args[at], call.ctx)
}

/// Does the same as [`scalar`] for a value and the expression that it is of.
pub(crate) fn scalar_of(value: &Value, expr: &Expr, ctx: &Context<'_>) -> Result<Node> {
    if is_truth(expr) && !value.is_null() {
        return Ok(Node::Bool(!matches!(value, Value::Int(0))));
    }
    let node = match (value, expr.ty.code) {
        (Value::Bytes(bytes), TypeCode::Geometry) => document_of(bytes).ok_or_else(damaged)?,
        (Value::Bytes(bytes), code) if expr.ty.collation == BINARY => {
            Node::Opaque(opaque_type(code, &expr.ty), bytes.clone())
        }
        // As in MySQL, a zero that is computed has no digits behind the point.
        (Value::Decimal(number), _)
            if number.is_zero() && matches!(expr.node, ExprNode::Arithmetic { .. }) =>
        {
            plain_scalar(&Value::Decimal(Decimal::zero(0)), ctx.zone())?
        }
        // As in MySQL, bits that are chosen as a number are the text of the number.
        (Value::UInt(bits), TypeCode::Bit) => {
            Node::Opaque(TypeCode::Bit as u8, bits.to_string().into_bytes())
        }
        (value, _) => plain_scalar(value, ctx.zone())?,
    };
    charged(node, ctx)
}

/// Reports whether the values of an expression are true or false, not numbers.
pub(super) fn is_truth(expr: &Expr) -> bool {
    match &expr.node {
        ExprNode::Constant(_) => expr.ty.form == super::super::super::truth_type().form,
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

/// Functions whose results are true or false. To MySQL STRCMP() is one of them.
const TRUTHS: [&str; 9] = [
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_schema_valid",
    "json_valid",
    "member of",
    "regexp_like",
    "strcmp",
];

/// Returns the type number that is kept with bytes in a document.
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

/// Reads an argument that has to be a path. `None` means NULL.
///
/// # Errors
/// Returns 3143 for a text that is no path.
pub(super) fn path(call: &Call<'_>, at: usize) -> Result<Option<Path>> {
    if call.values[at].is_null() {
        return Ok(None);
    }
    Path::parse(&call.bytes(at)).map(Some).map_err(no_path)
}

/// Builds error 3143, which tells the client at which character a text is no path.
pub(crate) fn no_path(at: usize) -> SqlError {
    SqlError::new(3143, format!("Invalid JSON path expression. The error is around character position {at}."))
}

/// Reads an argument that has to be a path to one value.
///
/// # Errors
/// Returns the errors of [`path`], and 3149 for a path with wildcards.
pub(super) fn single_path(call: &Call<'_>, at: usize) -> Result<Option<Path>> {
    match path(call, at)? {
        Some(path) if path.may_mean_several() => Err(SqlError::new(
            3149,
            "In this situation, path expressions may not contain the * and ** tokens or an array range.",
        )),
        path => Ok(path),
    }
}

/// Returns a document as a function's result.
///
/// # Errors
/// Returns 3157 for a document that is nested too deeply, 3151 for a member name that is too long,
/// 1301 for a document that is larger than `max_allowed_packet`, and the errors of charging memory.
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
