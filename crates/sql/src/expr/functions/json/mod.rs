//! Functions of JSON documents.

mod argument;
mod convert;
mod make;
mod read;

pub(crate) use argument::{made, scalar_of};
pub(crate) use argument::{no_document, no_path};
pub(crate) use convert::{AS_JSON, AS_VALUE, DEFAULT, ERROR, JSON_TABLE_DOCUMENT, JSON_VALUE, NULL, stored};
pub(super) use make::FUNCTIONS as MAKING;
pub(crate) use make::{CAST_AS_JSON, no_name};
pub(super) use read::FUNCTIONS as READING;

use super::super::Expr;
use super::{Coercibility, Function, bigint, truth_value};
use crate::error::Result;
use types::collation::UTF8MB4_BIN;
use types::json as documents;
use types::{ColumnType, TypeCode};

/// MariaDB's `JSON_VALID`, which looks at the text of any value. No statement can write its name.
pub(crate) static MARIADB_JSON_VALID: Function =
    Function::new("json_valid of MariaDB", 1..=1, bigint, |call| {
        Ok(truth_value(documents::mariadb::is_valid(&call.bytes(0))))
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
