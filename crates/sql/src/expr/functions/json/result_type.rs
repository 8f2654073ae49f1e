//! The types of results that are documents or texts of documents.

use crate::error::Result;
use crate::expr::node::{Coercibility, Expr};
use types::ColumnType;
use types::collation::UTF8MB4_BIN;

/// Returns the type of a document.
pub(super) fn json(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::json(), Coercibility::Implicit))
}

/// Returns the type of a document's text of any length.
pub(super) fn long_bin_text(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::longtext(UTF8MB4_BIN), Coercibility::Literal))
}

/// Returns the type of a text of at most `CHARS` characters.
pub(super) fn text_of_chars<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, UTF8MB4_BIN), Coercibility::Literal))
}
