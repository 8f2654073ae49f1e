//! Rows of `mysql.general_log` and `mysql.slow_log`. They are in no binary log.

use super::entry::{GeneralEntry, SlowEntry};
use crate::internal::session::InternalSession;
use crate::server::Server;
use std::fmt::Write as _;
use std::sync::Arc;

/// How long a row waits for a statement that changes its table, in seconds: every client would wait
/// with it.
const WAIT_S: u32 = 1;

/// Bytes as a literal.
fn literal(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2 + 12);
    out.push_str("_utf8mb4 x'");
    for byte in bytes {
        // Writing into a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out.push('\'');
    out
}

/// Microseconds of Unix time as an expression.
fn moment(at_us: u64) -> String {
    format!("FROM_UNIXTIME({}.{:06})", at_us / 1_000_000, at_us % 1_000_000)
}

/// Microseconds as a value of TIME.
fn time(us: u64) -> String {
    let (seconds, micros) = (us / 1_000_000, us % 1_000_000);
    format!("'{}:{:02}:{:02}.{micros:06}'", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn put(server: &Arc<Server>, table: &str, values: &str) {
    let inserted = InternalSession::new(server).and_then(|mut session| {
        session
            .run(&format!("SET SESSION lock_wait_timeout = {WAIT_S}, innodb_lock_wait_timeout = {WAIT_S}"))?;
        session.run(&format!("INSERT INTO mysql.{table} VALUES ({values})"))
    });
    if let Err(error) = inserted {
        log::error!("cannot write to mysql.{table}: {} {}", error.code, error.message);
    }
}

/// Inserts a row into `mysql.general_log`.
pub(super) fn put_general(server: &Arc<Server>, entry: &GeneralEntry<'_>) {
    let values = format!(
        "{}, {}, {}, {}, {}, {}",
        moment(entry.at_us),
        literal(entry.user_host.as_bytes()),
        entry.connection_id,
        server.globals.named("server_id").uint(),
        literal(entry.command.as_bytes()),
        literal(entry.argument)
    );
    put(server, "general_log", &values);
}

/// Inserts a row into `mysql.slow_log`.
pub(super) fn put_slow(server: &Arc<Server>, entry: &SlowEntry<'_>) {
    let statement = entry.statement;
    let values = format!(
        "{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}",
        moment(entry.at_us),
        literal(entry.user_host.as_bytes()),
        time(statement.took_us),
        time(statement.lock_wait_us),
        statement.rows_sent,
        statement.rows_examined(),
        literal(statement.schema.unwrap_or_default().as_bytes()),
        statement.last_insert_id.min(i32::MAX as u64),
        0,
        server.globals.named("server_id").uint(),
        literal(&entry.text),
        entry.connection_id
    );
    put(server, "slow_log", &values);
}
