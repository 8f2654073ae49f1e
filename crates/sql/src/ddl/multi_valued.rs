//! Multi-valued indexes: the parts of a key that are arrays, `CAST(document AS type ARRAY)`.

use crate::ast::{Expr, KeySpec};
use crate::bind::element_type;
use crate::error::{Result, SqlError};
use crate::lexer::LexMode;
use crate::parse::parse_expression;
use types::ColumnType;

/// Checks the arrays among the parts of a key that a client defines.
///
/// # Errors
/// Returns 1235 for a second array and for elements of a type that no index has, and 1221 for an
/// array with ASC or DESC.
pub(super) fn check(key: &KeySpec) -> Result<()> {
    let mut has_array = false;
    for part in &key.parts {
        let tree = part.expression.as_ref().and_then(|written| written.tree.as_ref());
        let Some(Expr::CastArray { ty, .. }) = tree else { continue };
        element_type(ty)?;
        if part.ordered {
            let text = "Incorrect usage of multi-valued index and explicit index order";
            return Err(SqlError::new(1221, text));
        }
        if has_array {
            return Err(SqlError::not_supported("more than one multi-valued key part per index"));
        }
        has_array = true;
    }
    Ok(())
}

/// Returns the type of the elements of an array, from the canonical text of a key's part. `None`
/// means that the part is no array, or one that no index can have.
pub(super) fn elements_of(text: &str) -> Option<ColumnType> {
    match parse_expression(text.as_bytes(), LexMode::default()) {
        Ok(Expr::CastArray { ty, .. }) => element_type(&ty).ok(),
        _ => None,
    }
}

/// Reports whether the canonical text of a key's part is that of an array.
pub(super) fn is_array(text: &str) -> bool {
    matches!(parse_expression(text.as_bytes(), LexMode::default()), Ok(Expr::CastArray { .. }))
}
