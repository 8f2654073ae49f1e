//! The function that tells which partition of KEY a row belongs to. Statements have no name for it:
//! conditions of partitions call it (`ddl/partition_rows.rs`).

use super::call::bigint;
use super::{Call, Function};
use crate::error::{Result, SqlError};
use crate::expr::value_type::text_collation;
use crate::parse::partition::MOST_PARTITIONS;
use types::collation::KeyHash;
use types::{ColumnType, TypeCode, Value, collation, packed};

/// The name, which has to be quoted.
pub(crate) const NAME: &str = "partition by key";

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new(NAME, 5..=usize::MAX, bigint, partition).sees_nulls()];

/// Reports whether the partition of values of this type is known here.
pub(crate) fn is_hashed_by_key(ty: &ColumnType) -> bool {
    let is_text =
        matches!(ty.code, TypeCode::Varchar | TypeCode::String) && ty.collation != collation::BINARY;
    !is_text || KeyHash::default().add_text(text_collation(ty), b"")
}

/// Returns the number of the partition. The arguments are 1 for `ALGORITHM = 1`, 1 for `LINEAR`,
/// the number of partitions, 1 for a table of MariaDB, and the columns.
fn partition(call: &Call<'_>) -> Result<Value> {
    let most = MOST_PARTITIONS as i64;
    let count = call.integer(2).clamp(1, most) as u32;
    let mut hash = KeyHash::default();
    for at in 4..call.values.len() {
        add(&mut hash, call, at, call.integer(0) == 1)?;
    }
    let hash = hash.finish();
    let number = match call.integer(1) == 1 {
        false => hash % count,
        true => {
            // The lowest bits choose the partition. Where there is none with that number, one bit
            // less does.
            let mask = count.next_power_of_two() - 1;
            if hash & mask < count { hash & mask } else { hash & (mask >> 1) }
        }
    };
    Ok(Value::Int(number.into()))
}

fn add(hash: &mut KeyHash, call: &Call<'_>, at: usize, is_algorithm_1: bool) -> Result<()> {
    let (value, ty) = (&*call.values[at], &call.args[at].ty);
    let unknown = || SqlError::not_supported("choosing rows by partitions of KEY over such a column");
    match (value, ty.code) {
        (Value::Null, _) => hash.add_null(),
        (Value::Bit { bits, .. }, _) => hash.add_bytes(&bits.to_be_bytes()),
        (_, TypeCode::Varchar | TypeCode::String) if ty.collation == collation::BINARY => {
            hash.add_bytes(&call.bytes(at));
        }
        (_, TypeCode::Varchar | TypeCode::String) => {
            let mut text = call.bytes(at).into_owned();
            if ty.code == TypeCode::String {
                // A CHAR has spaces behind it, which count where the collation has NO PAD.
                text.resize(text.len().max(usize::from(ty.meta)), b' ');
            }
            if !hash.add_text(text_collation(ty), &text) {
                return Err(unknown());
            }
        }
        _ => {
            let mut bytes = Vec::new();
            packed::encode(ty, value, &mut bytes).map_err(|_| unknown())?;
            match ty.code {
                TypeCode::Tiny
                | TypeCode::Short
                | TypeCode::Int24
                | TypeCode::Long
                | TypeCode::LongLong
                | TypeCode::Float
                | TypeCode::Double
                | TypeCode::NewDecimal
                | TypeCode::Year
                    if !is_algorithm_1 =>
                {
                    hash.add_number(&bytes);
                }
                // MySQL takes a date for a number, and MariaDB does not.
                TypeCode::Date if !is_algorithm_1 && call.integer(3) == 0 => hash.add_number(&bytes),
                TypeCode::Enum | TypeCode::Set if is_algorithm_1 => hash.add_number(&bytes),
                _ => hash.add_bytes(&bytes),
            }
        }
    }
    Ok(())
}
