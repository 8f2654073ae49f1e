//! The types of results that are documents or texts of documents.

use crate::error::Result;
use crate::expr::node::{Coercibility, Expr};
use types::collation::UTF8MB4_BIN;
use types::{ColumnType, TypeCode};

/// Returns the type of a document.
pub(super) fn json(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::json(), Coercibility::Implicit))
}

/// Returns the type of a document's text of any length.
pub(super) fn long_bin_text(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let coercibility =
        if args[0].ty.code == TypeCode::Json { args[0].coercibility } else { Coercibility::Literal };
    Ok((ColumnType::longtext(UTF8MB4_BIN), coercibility.max(Coercibility::Implicit)))
}

/// Returns the type of a text of at most `CHARS` characters.
pub(super) fn text_of_chars<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, UTF8MB4_BIN), Coercibility::Literal))
}
