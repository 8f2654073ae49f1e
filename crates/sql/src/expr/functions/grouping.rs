//! GROUPING().

use super::{Call, Function, bigint};
use crate::error::{Result, SqlError};
use types::Value;

/// The function as it is written. When the keys of its query are known, it is replaced by
/// [`GROUPING_AT`].
pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("grouping", 1..=MOST_ARGS, bigint, unresolved).sees_nulls()];

const MOST_ARGS: usize = 64;

/// GROUPING() of a row of a query with ROLLUP. Its arguments are the number of keys that the row's
/// group has, and the positions of the keys that are asked about.
pub(crate) static GROUPING_AT: Function = Function::new("grouping", 1..=MOST_ARGS + 1, bigint, at);

fn unresolved(_: &Call<'_>) -> Result<Value> {
    Err(SqlError::new(1111, "Invalid use of group function"))
}

/// Returns one bit for each key that is asked about, the last one lowest. A bit is set where the
/// row's group does not have the key.
fn at(call: &Call<'_>) -> Result<Value> {
    let keys = call.integer(0);
    let bits = (1..call.values.len()).fold(0i64, |bits, at| bits << 1 | i64::from(call.integer(at) >= keys));
    Ok(Value::Int(bits))
}
