//! The types of results that are documents or texts of documents.

use crate::error::Result;
use crate::expr::node::{Coercibility, Expr};
use crate::expr::value_type::{MOST_CHARS_OF_BLOB, text_length, text_type};
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

/// Returns the type of JSON_PRETTY.
pub(super) fn pretty_type(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((text_type(MOST_CHARS_OF_BLOB, UTF8MB4_BIN), Coercibility::Literal))
}

/// Returns the type of JSON_QUOTE: each character may take six.
pub(super) fn quoted_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = &args[0].ty;
    // The bytes of a TEXT count as characters here, and not four times.
    let chars = match ty.is_blob() && ty.most_bytes().is_none() {
        true => u32::try_from(ty.max_bytes()).unwrap_or(u32::MAX),
        false => text_length(ty),
    };
    let chars = chars.saturating_mul(6).saturating_add(2);
    Ok((text_type(chars, UTF8MB4_BIN), Coercibility::Literal))
}

/// Returns the type of JSON_UNQUOTE: that of a text that it leaves as it is, or the text of a
/// document.
pub(super) fn unquoted_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    if args[0].is_json() {
        return long_bin_text(args);
    }
    Ok((text_type(text_length(&args[0].ty), UTF8MB4_BIN), Coercibility::Literal))
}

/// Returns the type of a text of at most `CHARS` characters.
pub(super) fn text_of_chars<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, UTF8MB4_BIN), Coercibility::Literal))
}
