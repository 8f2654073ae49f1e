//! `CAST(document AS type ARRAY)`, the part of a key of a multi-valued index.

use super::result_type::decimal_type;
use crate::ast::CastType;
use crate::error::{Result, SqlError};
use crate::expr::functions::json::AS_ARRAY;
use crate::expr::{Coercibility, Expr, Node};
use types::decimal::MAX_SCALE;
use types::{ColumnType, Value, collation};

/// The most characters or bytes of an element.
const MOST_CHARS: u64 = 512;

/// Returns the error for an array that is no part of a key.
pub(crate) fn array_outside_of_index() -> SqlError {
    SqlError::not_supported(
        "Use of CAST( .. AS .. ARRAY) outside of functional index in CREATE(non-SELECT)/ALTER TABLE or in general \
         expressions",
    )
}

/// Returns the array of the elements of a document, as a document.
///
/// # Errors
/// Returns the errors of [`element_type`].
pub(super) fn as_array(operand: Expr, ty: &CastType) -> Result<Expr> {
    let of_elements = Expr { ty: element_type(ty)?, ..Expr::constant(Value::Null) };
    let node = Node::Call { function: &AS_ARRAY, args: vec![operand, of_elements] };
    Ok(Expr { node, ty: ColumnType::json(), nullable: true, coercibility: Coercibility::Implicit })
}

/// Returns the type of elements that a cast names.
///
/// # Errors
/// Returns 1235 for a type that no index has, and the errors of the digits of a DECIMAL.
pub(crate) fn element_type(ty: &CastType) -> Result<ColumnType> {
    let of = |name: &str| Err(SqlError::not_supported(format!("CAST-ing data to array of {name}")));
    match ty {
        CastType::Signed => Ok(ColumnType::bigint(false)),
        CastType::Unsigned => Ok(ColumnType::bigint(true)),
        CastType::Decimal { precision, scale } => decimal_type(*precision, *scale, MAX_SCALE),
        CastType::Char { charset: Some(_), .. } => {
            Err(SqlError::not_supported("specifying charset for multi-valued index"))
        }
        CastType::Char { length: Some(length @ ..=MOST_CHARS), .. } => {
            Ok(ColumnType::varchar(*length as u32, collation::UTF8MB4_0900_BIN))
        }
        CastType::Binary { length: Some(length @ ..=MOST_CHARS) } => {
            Ok(ColumnType::varbinary(*length as u32))
        }
        CastType::Char { .. } | CastType::Binary { .. } => of("char/binary BLOBs"),
        CastType::Date => Ok(ColumnType::date()),
        CastType::Time { fsp } => Ok(ColumnType::time(*fsp)),
        CastType::DateTime { fsp } => Ok(ColumnType::datetime(*fsp)),
        CastType::Double => of("DOUBLE"),
        CastType::Float => of("FLOAT"),
        CastType::Year => of("YEAR"),
        CastType::Json => of("JSON"),
    }
}
