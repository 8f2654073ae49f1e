//! Functions of JSON documents.

mod argument;
mod convert;
mod make;
mod read;

pub(crate) use argument::{made, plain_scalar, scalar_of};
pub(crate) use argument::{no_document, no_path};
pub(crate) use convert::{DEFAULT, ERROR, JSON_TABLE_DOCUMENT, JSON_VALUE, NULL, double_of, stored};
pub(super) use make::FUNCTIONS as MAKING;
pub(crate) use make::no_name;
pub(super) use read::FUNCTIONS as READING;

use super::super::Expr;
use super::{Coercibility, Function, bigint, truth_value};
use crate::error::{Result, SqlError};
use types::collation::{BINARY, UTF8MB4_BIN};
use types::json::{self as documents, JsonError};
use types::{ColumnType, TypeCode, Value};

pub(super) const FUNCTIONS: &[Function] = &[Function::new("json_valid", 1..=1, bigint, |call| {
    if matches!(&*call.values[0], Value::Json(_)) {
        return Ok(truth_value(true));
    }
    let ty = &call.args[0].ty;
    let is_text = ty.is_character() && ty.collation != BINARY || ty.code == TypeCode::Null;
    if !is_text {
        return Ok(truth_value(false));
    }
    match documents::parse_text(&call.bytes(0)) {
        Ok(_) => Ok(truth_value(true)),
        Err(error) if error.complaint == JsonError::TOO_DEEP => Err(too_deep()),
        Err(_) => Ok(truth_value(false)),
    }
})];

/// MariaDB's `JSON_VALID`, which looks at the text of any value. No statement can write its name.
pub(crate) static MARIADB_JSON_VALID: Function =
    Function::new("json_valid of MariaDB", 1..=1, bigint, |call| {
        Ok(truth_value(documents::mariadb::is_valid(&call.bytes(0))))
    });

/// `CAST(x AS JSON)`. No statement can write its name; messages have it.
pub(crate) static CAST_AS_JSON: Function = Function::new("cast_as_json", 1..=1, json, |call| {
    let ty = &call.args[0].ty;
    // Text is read as a document, everything else is a value of one.
    let is_text =
        ty.is_character() && matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob);
    let node = match is_text && matches!(&*call.values[0], Value::Bytes(_)) {
        true => argument::document(call, 0)?.map(argument::Document::into_node),
        false => Some(argument::scalar(call, 0)?),
    };
    node.map_or(Ok(Value::Null), |node| made(&node, call.ctx))
});

/// A document.
fn json(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::json(), Coercibility::Implicit))
}

/// Text of a document, of any length.
fn long_bin_text(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let coercibility =
        if args[0].ty.code == TypeCode::Json { args[0].coercibility } else { Coercibility::Literal };
    Ok((ColumnType::longtext(UTF8MB4_BIN), coercibility.max(Coercibility::Implicit)))
}

fn text_of_chars<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, UTF8MB4_BIN), Coercibility::Literal))
}

/// Error 3157.
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(3157, JsonError::TOO_DEEP)
}

/// Error 3142: a document that a source or a disk has damaged.
pub(crate) fn damaged() -> SqlError {
    SqlError::new(3142, "The JSON binary value contains invalid data.")
}
