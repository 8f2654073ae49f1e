//! Functions about the session and the server.

use super::{Call, Function, bigint, integer, old_system_text, system_text, text, unsigned};
use crate::error::{Result, SqlError};
use crate::expr::value_type::made_of;
use crate::expr::{Coercibility, Expr};
use crate::host::VariableScope;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use types::{ColumnType, Value};

/// The length that MySQL announces for ROLES_GRAPHML(), whose text may have any length.
const MAX_GRAPH_CHARS: u32 = 16_777_215;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("version", 0..=0, old_system_text::<64>, |call| {
        Ok(call.ctx.host.variable(VariableScope::Global, "version")?.unwrap_or(Value::Null))
    })
    .never_null(),
    Function::new("database", 0..=0, old_system_text::<64>, |call| {
        Ok(call.ctx.schema.map_or(Value::Null, text))
    }),
    Function::new("user", 0..=0, old_system_text::<288>, |call| Ok(text(call.ctx.host.user()))),
    Function::new("roles_graphml", 0..=0, system_text::<MAX_GRAPH_CHARS>, |call| {
        Ok(text(call.ctx.host.roles_graphml()))
    }),
    Function::new("current_role", 0..=0, old_system_text::<1024>, |call| {
        Ok(text(call.ctx.host.current_role()))
    }),
    Function::new("current_user", 0..=0, old_system_text::<288>, |call| {
        Ok(text(call.ctx.host.current_user()))
    }),
    Function::new("connection_id", 0..=0, unsigned, |call| {
        Ok(Value::UInt(u64::from(call.ctx.host.connection_id())))
    })
    .never_null(),
    Function::new("ps_current_thread_id", 0..=0, unsigned, |call| {
        Ok(thread_of(call, call.ctx.host.connection_id()))
    })
    .varies(),
    Function::new("ps_thread_id", 1..=1, unsigned, |call| {
        if call.values[0].is_null() {
            return Ok(Value::Null);
        }
        let connection = u32::try_from(call.integer(0));
        Ok(connection.map_or(Value::Null, |connection| thread_of(call, connection)))
    })
    .varies(),
    Function::new("icu_version", 0..=0, old_system_text::<4>, |_| Ok(text(ICU_VERSION))).never_null(),
    Function::new("uuid_short", 0..=0, unsigned, uuid_short).varies().never_null(),
    Function::new("last_insert_id", 0..=1, unsigned, |call| {
        if call.is_given(0) {
            let id = call.bits(0);
            call.ctx.last_insert_id.set(id);
            call.ctx.last_insert_id_set.set(true);
            return Ok(if call.values[0].is_null() { Value::Null } else { Value::UInt(id) });
        }
        Ok(Value::UInt(call.ctx.last_insert_id.get()))
    })
    .null_by_arguments()
    .varies(),
    Function::new("row_count", 0..=0, bigint, |call| Ok(Value::Int(call.ctx.row_count))).never_null(),
    Function::new("found_rows", 0..=0, bigint, |call| Ok(Value::Int(call.ctx.found_rows as i64)))
        .never_null(),
    Function::new("sleep", 1..=1, bigint, sleep).never_null().varies(),
    // The evaluator computes the call: it has to compute the second argument again and again.
    Function::new("benchmark", 2..=2, integer::<1>, |_| Ok(Value::Null)).repeats_last().varies(),
    Function::new("any_value", 1..=1, same_as_first, |call| {
        Ok(match &*call.values[0] {
            // The function is a COALESCE in MySQL, which makes a number of bits.
            Value::Bit { bits, .. } => Value::UInt(*bits),
            value => value.clone(),
        })
    })
    .null_by_arguments()
    .sees_nulls(),
    Function::new("isnull", 1..=1, integer::<1>, |call| Ok(super::truth_value(call.values[0].is_null())))
        .never_null()
        .sees_nulls(),
];

/// Returns the type of a value that is passed on, without ZEROFILL.
fn same_as_first(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = made_of(args[0].ty.clone().without_zerofill());
    // As one of several, an exact number has a sign.
    let unsigned = ty.unsigned && ty.code != types::TypeCode::NewDecimal;
    Ok((ColumnType { unsigned, ..ty }, args[0].coercibility))
}

/// The version of ICU in MySQL 9.7, whose regular expressions this server implements (decision
/// 0055).
const ICU_VERSION: &str = "78.3";

/// Returns the number of a connection's thread, or NULL.
fn thread_of(call: &Call<'_>, connection_id: u32) -> Value {
    call.ctx.host.thread_of_connection(connection_id).map_or(Value::Null, Value::UInt)
}

/// Computes UUID_SHORT(), a number that no other server of the same group returns. It combines the
/// server's id, the second at which the function was first called, and the number of calls since.
fn uuid_short(call: &Call<'_>) -> Result<Value> {
    static NEXT: OnceLock<AtomicU64> = OnceLock::new();
    let server_id = match call.ctx.host.variable(VariableScope::Global, "server_id")? {
        Some(Value::UInt(id)) => id,
        Some(Value::Int(id)) => id as u64,
        _ => 0,
    };
    let since = NEXT.get_or_init(|| AtomicU64::new((os::clock::now_us() / 1_000_000) << 24));
    let number = since.fetch_add(1, Ordering::Relaxed);
    Ok(Value::UInt(((server_id & 0xff) << 56).wrapping_add(number)))
}

fn sleep(call: &Call<'_>) -> Result<Value> {
    let seconds = call.double(0);
    if call.values[0].is_null() || !(0.0..=1e9).contains(&seconds) {
        return Err(SqlError::new(1210, "Incorrect arguments to sleep."));
    }
    let interrupted = call.ctx.host.sleep(Duration::from_secs_f64(seconds));
    Ok(Value::Int(i64::from(interrupted)))
}
