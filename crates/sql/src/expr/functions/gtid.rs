//! Functions on GTID sets, and functions that wait for replication.

use super::{Call, Function, bigint, long_text, text, wrong_arguments};
use crate::error::{Result, SqlError};
use binlog::gtid::GtidSet;
use std::time::Duration;
use types::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("gtid_subset", 2..=2, bigint, |call| {
        Ok(super::truth_value(set(call, 0)?.is_subset(&set(call, 1)?)))
    }),
    Function::new("gtid_subtract", 2..=2, long_text, |call| {
        let mut left = set(call, 0)?;
        left.subtract(&set(call, 1)?);
        Ok(text(left.to_string()))
    }),
    Function::new("wait_for_executed_gtid_set", 1..=2, bigint, |call| {
        if call.values[0].is_null() {
            return Err(wrong_arguments("WAIT_FOR_EXECUTED_GTID_SET."));
        }
        let wanted = set(call, 0)?;
        let reached = call.ctx.host.wait_for_executed_gtid_set(&wanted.to_string(), timeout(call, 1)?)?;
        Ok(Value::Int(i64::from(!reached)))
    })
    .varies(),
    Function::new("binlog_gtid_pos", 2..=2, long_text, |call| {
        if call.values[0].is_null() || call.values[1].is_null() {
            return Ok(Value::Null);
        }
        let log_pos = call.integer(1).max(0) as u64;
        Ok(call.ctx.host.binlog_gtid_pos(&call.string(0), log_pos).map_or(Value::Null, text))
    })
    .varies(),
    Function::new("source_pos_wait", 2..=4, bigint, |call| {
        if call.values[0].is_null() || call.values[1].is_null() {
            return Ok(Value::Null);
        }
        let channel = if call.is_given(3) { call.string(3) } else { String::new() };
        let log_pos = call.integer(1).max(0) as u64;
        let events = call.ctx.host.source_pos_wait(&call.string(0), log_pos, timeout(call, 2)?, &channel)?;
        Ok(events.map_or(Value::Null, Value::Int))
    })
    .varies(),
];

fn set(call: &Call<'_>, at: usize) -> Result<GtidSet> {
    let written = call.string(at);
    written.parse().map_err(|_| SqlError::new(1772, format!("Malformed GTID set specification '{written}'.")))
}

/// Returns the timeout, which is given in seconds. It waits for ever (`None`) when it is 0, NULL or
/// not given.
fn timeout(call: &Call<'_>, at: usize) -> Result<Option<Duration>> {
    if !call.is_given(at) || call.values[at].is_null() {
        return Ok(None);
    }
    match call.double(at) {
        seconds if !(0.0..=1e9).contains(&seconds) => Err(wrong_arguments("timeout.")),
        0.0 => Ok(None),
        seconds => Ok(Some(Duration::from_secs_f64(seconds))),
    }
}
