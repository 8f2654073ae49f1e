//! The columns of fixed length that most tables have, read without asking for their type again.

use crate::decimal::ShortForm;
use crate::{ColumnType, TypeCode, Value, packed};

/// How the values of a column of fixed length are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlainForm {
    /// An INT, which is signed.
    Int,
    /// A BIGINT, which is signed.
    BigInt,
    Date,
    Decimal(ShortForm),
    /// It takes more to read the column.
    None,
}

impl PlainForm {
    /// Returns how a column of this type is read.
    pub fn of(ty: &ColumnType) -> PlainForm {
        match ty.code {
            TypeCode::Long if !ty.unsigned => PlainForm::Int,
            TypeCode::LongLong if !ty.unsigned => PlainForm::BigInt,
            TypeCode::Date => PlainForm::Date,
            TypeCode::NewDecimal => {
                ShortForm::of(ty.precision(), ty.scale()).map_or(PlainForm::None, PlainForm::Decimal)
            }
            _ => PlainForm::None,
        }
    }

    /// Reads the value at the start of the bytes. Returns it with its length. `None` means that the
    /// column, or the value, has to be read in the general way.
    #[inline(always)]
    pub fn read(&self, bytes: &[u8]) -> Option<(Value, usize)> {
        Some(match self {
            PlainForm::Int => (Value::Int(i32::from_le_bytes(*bytes.first_chunk()?).into()), 4),
            PlainForm::BigInt => (Value::Int(i64::from_le_bytes(*bytes.first_chunk()?)), 8),
            PlainForm::Date => (Value::Date(packed::date(bytes.first_chunk()?)), 3),
            PlainForm::Decimal(form) => (Value::Decimal(form.read(bytes.get(..form.len())?)?), form.len()),
            PlainForm::None => return None,
        })
    }
}
