//! `CAST(document AS type ARRAY)`: the elements of an array as values of one type, in order and
//! each only once, for a multi-valued index.
//!
//! The errors are those of a conversion, whatever the SQL mode. The statement that fills the index
//! gives them the words that name it.

use super::super::{Coercibility, Function};
use super::argument::{document, made};
use crate::error::{Result, SqlError};
use crate::expr::documents::{Kind, converted, is_negative, plain_scalar};
use crate::expr::{Context, Level};
use types::convert::{self, Problem};
use types::json::{self as documents, Node};
use types::temporal::parse;
use types::{ColumnType, TypeCode, Value, Zone, collation};

/// The bytes that the elements of one row may take. InnoDB keeps them on a page of its undo log.
const MOST_BYTES: usize = 16_064;
/// The bytes that each element takes there beside its value.
const BESIDE_EACH: usize = 2;

/// The function behind `CAST(... AS type ARRAY)`. The second argument is a value of the type of the
/// elements. Statements cannot write this function's name.
pub(crate) static AS_ARRAY: Function = Function::new(
    "cast as array",
    2..=2,
    |_| Ok((ColumnType::json(), Coercibility::Implicit)),
    |call| {
        let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
        let ty = &call.args[1].ty;
        let written: Vec<&Node> = match &*node {
            Node::Array(elements) => elements.iter().collect(),
            Node::Object(_) | Node::Bool(_) => {
                let what = format!("CAST-ing JSON {} type to array", node.type_name());
                return Err(SqlError::not_supported(what));
            }
            scalar => vec![scalar],
        };
        let mut elements = Vec::with_capacity(written.len());
        for node in written {
            elements.push(element(node, ty, call.ctx)?);
        }
        made(&Node::Array(in_order(elements, ty)?), call.ctx)
    },
)
.sees_nulls();

/// Returns the elements in order, each once.
///
/// # Errors
/// Returns 3905 and 3906 for more elements than an index can have of one row.
fn in_order(mut elements: Vec<Node>, ty: &ColumnType) -> Result<Vec<Node>> {
    let is_text = ty.code == TypeCode::Varchar;
    let each = if is_text { 1 } else { ty.max_bytes() as usize };
    let most = MOST_BYTES / (each + BESIDE_EACH);
    let bytes: usize = match is_text {
        true => elements.iter().map(text_bytes).sum(),
        false => elements.len() * each,
    };
    elements.sort_by(Node::compare);
    elements.dedup_by(|a, b| a.compare(b).is_eq());
    if elements.len() >= most {
        let text = format!(
            "Exceeded max number of values per record for multi-valued index '' by {} value(s).",
            elements.len() + 1 - most
        );
        return Err(SqlError::new(3905, text));
    }
    if bytes > most * each {
        let text = format!(
            "Exceeded max total length of values per record for multi-valued index '' by {} bytes.",
            bytes - most * each
        );
        return Err(SqlError::new(3906, text));
    }
    Ok(elements)
}

fn text_bytes(node: &Node) -> usize {
    match node {
        Node::String(text) | Node::Opaque(_, text) => text.len(),
        _ => 0,
    }
}

/// Returns the error for a value that is no element of the index.
fn refused(code: u16) -> SqlError {
    SqlError::new(code, "a value is no element of the index")
}

/// Returns an element of an array as a value of the type.
///
/// # Errors
/// Returns 3156 for null and for what is no number, 3155 and 1264 for what is too large, 1265 for
/// what is no date or time, 1406 for what is too long, and 3666 for an array or an object.
pub(crate) fn element(node: &Node, ty: &ColumnType, ctx: &Context<'_>) -> Result<Node> {
    let kind = Kind::of(ty);
    match node {
        Node::Null => return Err(refused(3156)),
        Node::Array(_) | Node::Object(_) => return Err(refused(3666)),
        _ => {}
    }
    let value = match kind {
        Kind::Integer { unsigned } => integer(node, unsigned, ctx)?,
        Kind::Text => return text(node, ty),
        Kind::Date | Kind::DateTime | Kind::Time => moment(node, kind, ty, ctx)?,
        Kind::Decimal | Kind::Double => number(node, kind, ctx)?,
    };
    let context = convert::Context { strict: true, zone: Zone::UTC, dates: ctx.dates(), of_mariadb: false };
    let value = match convert::assign(&value, ty, context) {
        Ok((value, None)) => value,
        Ok((value, Some(warning))) if kind == Kind::Decimal => {
            let text = warning.problem.message("", 1);
            ctx.diagnostics.borrow_mut().push(Level::Note, warning.problem.code(), text);
            value
        }
        Ok((value, Some(_))) => value,
        Err(Problem::OutOfRange) => return Err(refused(1264)),
        Err(_) => return Err(refused(1265)),
    };
    plain_scalar(&value, Zone::UTC)
}

fn integer(node: &Node, unsigned: bool, ctx: &Context<'_>) -> Result<Value> {
    let is_below = unsigned && is_negative(node);
    let kind = Kind::Integer { unsigned: unsigned && !is_below };
    if let (Node::UInt(n), false) = (node, unsigned)
        && i64::try_from(*n).is_err()
    {
        return Err(refused(1264));
    }
    if let Node::String(text) = node {
        return integer_of_text(text, unsigned);
    }
    match converted(node, kind, ctx.dates()) {
        Ok(Value::Int(0)) if is_below => Ok(Value::UInt(0)),
        Ok(_) if is_below => Err(refused(1264)),
        Ok(value) => Ok(value),
        Err(misfit) => Err(refused(misfit.complaint("").0)),
    }
}

/// Reads a text that must be a whole number. As in MySQL a negative one wraps to an unsigned one.
fn integer_of_text(text: &[u8], unsigned: bool) -> Result<Value> {
    let text = text.trim_ascii_start();
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(refused(3156));
    }
    let read = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i128>().ok());
    let value = read.and_then(|n| match unsigned {
        true if n < 0 => i64::try_from(n).ok().map(|n| Value::UInt(n as u64)),
        true => u64::try_from(n).ok().map(Value::UInt),
        false => i64::try_from(n).ok().map(Value::Int),
    });
    value.ok_or_else(|| refused(3155))
}

fn number(node: &Node, kind: Kind, ctx: &Context<'_>) -> Result<Value> {
    let trimmed = match node {
        Node::String(text) => Some(Node::String(text.trim_ascii_end().to_vec())),
        // MySQL takes the 64 bits for those of a signed integer.
        Node::UInt(n) => Some(Node::Int(*n as i64)),
        _ => None,
    };
    let node = trimmed.as_ref().unwrap_or(node);
    converted(node, kind, ctx.dates()).map_err(|misfit| refused(misfit.complaint("").0))
}

fn text(node: &Node, ty: &ColumnType) -> Result<Node> {
    let is_bytes = ty.collation == collation::BINARY;
    let mut text = Vec::new();
    match node {
        Node::Opaque(_, bytes) if node.type_name() == "BLOB" => {
            if !is_bytes && std::str::from_utf8(bytes).is_err() {
                return Err(refused(1406));
            }
            text.extend_from_slice(bytes);
        }
        node => documents::write_unquoted(node, &mut text),
    }
    let len = if is_bytes { text.len() } else { collation::char_count(ty.collation, &text) };
    if len > ty.chars() as usize {
        return Err(refused(1406));
    }
    Ok(if is_bytes { Node::Opaque(TypeCode::Varchar as u8, text) } else { Node::String(text) })
}

fn moment(node: &Node, kind: Kind, ty: &ColumnType, ctx: &Context<'_>) -> Result<Value> {
    let number = match node {
        Node::Int(n) => Some(Value::Int(*n)),
        Node::UInt(n) => Some(Value::UInt(*n)),
        Node::Double(n) if kind == Kind::Time => Some(Value::Double(*n)),
        Node::Double(n) => Some(Value::Double(n.trunc())),
        node => node.as_decimal().map(Value::Decimal),
    };
    if let (Node::String(text), Kind::Time) = (node, kind) {
        return time_of_text(text);
    }
    let Some(number) = number else {
        return converted(node, kind, ctx.dates()).map_err(|_| refused(1265));
    };
    let context = convert::Context { strict: true, zone: Zone::UTC, dates: ctx.dates(), of_mariadb: false };
    match convert::assign(&number, ty, context) {
        Ok((value, None)) => Ok(value),
        Ok((value, Some(warning))) if warning.note => Ok(value),
        Err(_) if kind == Kind::Time && matches!(node, Node::Double(_)) => Err(refused(1264)),
        _ => Err(refused(1265)),
    }
}

fn time_of_text(text: &[u8]) -> Result<Value> {
    if text.is_empty() {
        return Err(refused(1264));
    }
    match parse::time(text, Zone::UTC) {
        Some(read) if !read.trailing_garbage && !read.value.out_of_range => Ok(Value::Time(read.value.time)),
        _ => Err(refused(1265)),
    }
}
