//! The functions of MariaDB that make documents. They work on texts: what they return is a text, in
//! which numbers stand as they are written and names may stand twice.

use super::super::super::{Context, Expr, Node, text_of};
use super::super::{Call, Function};
use super::argument::is_truth;
use super::result_type::long_bin_text;
use crate::error::{Result, SqlError};
use types::collation::BINARY;
use types::{TypeCode, Value};

/// The most arguments of a call.
const MOST: usize = usize::MAX;

/// MariaDB's `JSON_ARRAY`. Statements cannot write its name.
pub(crate) static MARIADB_JSON_ARRAY: Function =
    Function::new("json_array of MariaDB", 0..=MOST, long_bin_text, array).sees_nulls();

/// MariaDB's `JSON_OBJECT`. Statements cannot write its name.
pub(crate) static MARIADB_JSON_OBJECT: Function =
    Function::new("json_object of MariaDB", 0..=MOST, long_bin_text, object).sees_nulls();

fn array(call: &Call<'_>) -> Result<Value> {
    let mut text = vec![b'['];
    for (at, value) in call.values.iter().enumerate() {
        if at > 0 {
            text.extend_from_slice(b", ");
        }
        write_value(value, &call.args[at], call.ctx, &mut text)?;
    }
    text.push(b']');
    call.check_room(text.len())?;
    Ok(Value::Bytes(text))
}

fn object(call: &Call<'_>) -> Result<Value> {
    if call.values.len() % 2 == 1 {
        let text = format!("Incorrect parameter count in the call to native function '{}'", "JSON_OBJECT");
        return Err(SqlError::new(1582, text));
    }
    let mut text = vec![b'{'];
    for at in (0..call.values.len()).step_by(2) {
        if at > 0 {
            text.extend_from_slice(b", ");
        }
        match &*call.values[at] {
            Value::Null => text.extend_from_slice(b"\"\""),
            name => write_text(&text_in_ascii(name, &call.args[at], call.ctx)?, &mut text),
        }
        text.extend_from_slice(b": ");
        write_value(&call.values[at + 1], &call.args[at + 1], call.ctx, &mut text)?;
    }
    text.push(b'}');
    call.check_room(text.len())?;
    Ok(Value::Bytes(text))
}

/// Appends a value of a document.
fn write_value(value: &Value, expr: &Expr, ctx: &Context<'_>, out: &mut Vec<u8>) -> Result<()> {
    let is_document = matches!(&expr.node, Node::Call { function, .. }
        if std::ptr::eq(*function, &MARIADB_JSON_ARRAY) || std::ptr::eq(*function, &MARIADB_JSON_OBJECT));
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        value if is_truth(expr) => {
            let text: &[u8] = if matches!(value, Value::Int(0)) { b"false" } else { b"true" };
            out.extend_from_slice(text);
        }
        value if is_document => out.extend_from_slice(&text_of(value)),
        value => {
            let text = text_in_ascii(value, expr, ctx)?;
            match value {
                Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_) => {
                    out.extend_from_slice(&text);
                }
                _ => write_text(&text, out),
            }
        }
    }
    Ok(())
}

/// Returns the text of a value.
///
/// # Errors
/// Returns 1235 where MariaDB's text may be another one: for bytes, bits and geometries, for
/// columns that may hold documents, for numbers with leading zeros, and for other characters than
/// ASCII's, whose character set depends on the other arguments.
fn text_in_ascii(value: &Value, expr: &Expr, ctx: &Context<'_>) -> Result<Vec<u8>> {
    let ty = &expr.ty;
    let is_doubtful = ty.is_character() && ty.collation == BINARY
        || matches!(ty.code, TypeCode::Blob | TypeCode::Bit | TypeCode::Geometry | TypeCode::Json)
        || ty.form.is_some_and(|form| form.zerofill());
    let text = match value {
        Value::Timestamp { .. } => text_of(&value.clone().in_zone(ctx.zone())).into_owned(),
        value => text_of(value).into_owned(),
    };
    if is_doubtful || !text.is_ascii() {
        return Err(SqlError::not_supported("such values in documents of MariaDB"));
    }
    Ok(text)
}

/// Appends a text in double quotes, with MariaDB's escapes.
fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04X}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
