//! GROUPING().

use super::{Call, Function, bigint};
use crate::error::{Result, SqlError};
use types::Value;

/// As it is written. What it is about is known once the keys of its query are: then it becomes
/// [`GROUPING_AT`].
pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("grouping", 1..=MOST_ARGS, bigint, unresolved).sees_nulls()];

const MOST_ARGS: usize = 64;

/// GROUPING() of a row of a query with ROLLUP: of the number of keys that the row's group has, and
/// the positions of the keys that are asked about.
pub(crate) static GROUPING_AT: Function = Function::new("grouping", 1..=MOST_ARGS + 1, bigint, at);

fn unresolved(_: &Call<'_>) -> Result<Value> {
    Err(SqlError::new(1111, "Invalid use of group function"))
}

/// A bit for each key, set where it is not one of the group's; the last one is the lowest.
fn at(call: &Call<'_>) -> Result<Value> {
    let keys = call.integer(0);
    let bits = (1..call.values.len()).fold(0i64, |bits, at| bits << 1 | i64::from(call.integer(at) >= keys));
    Ok(Value::Int(bits))
}
