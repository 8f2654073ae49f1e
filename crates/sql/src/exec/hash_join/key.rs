//! The keys of a join: bytes that are equal exactly where `=` holds.

use crate::expr::{Number, decimal_of, double_of, group_key, number};
use crate::plan::{HashKey, KeyKind};
use types::{DateTime, Value};

/// Sets `out` to the key of a row, whose columns are in the slots that `slot` names. Returns false
/// when NULL is in it.
pub(super) fn put_key(
    keys: &[HashKey],
    slot: impl Fn(&HashKey) -> usize,
    row: &[Value],
    out: &mut Vec<u8>,
) -> bool {
    out.clear();
    for key in keys {
        let value = &row[slot(key)];
        match (value, key.kind) {
            (Value::Null, _) => return false,
            (value, KeyKind::Integer) => match number(value) {
                Number::Int(n) => out.extend(i128::from(n).to_le_bytes()),
                Number::UInt(n) => out.extend(i128::from(n).to_le_bytes()),
                other => group_key(&Value::Decimal(decimal_of(&other)), 0, out),
            },
            (Value::Date(date), KeyKind::Moment) => {
                group_key(&Value::DateTime(DateTime::midnight(*date)), 0, out);
            }
            (value, KeyKind::Text(collation)) => group_key(value, collation, out),
            (value, KeyKind::Decimal) => {
                group_key(&Value::Decimal(decimal_of(&number(value))), 0, out);
            }
            (value, KeyKind::Double) => group_key(&Value::Double(double_of(&number(value))), 0, out),
            (value, KeyKind::Moment | KeyKind::Time) => group_key(value, 0, out),
        }
    }
    true
}
