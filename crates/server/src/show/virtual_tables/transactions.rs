//! `information_schema.INNODB_TRX`: the transactions that hold locks or wait for one.
//!
//! A transaction without locks, which has only read, is not in it. A wait counts from the beginning
//! of its statement. What a transaction has modified is not counted. `unique_checks` and
//! `foreign_key_checks` are those of the beginning of the transaction.

use crate::client::connection_host::ConnectionHost;
use crate::server::sessions::{ProcessLine, SessionEntry};
use crate::show::result_table::{column, text_or_null};
use engine::DataLock;
use sql::{ColumnMeta, ComputedTable, SqlError, column_flag};
use std::collections::HashMap;
use std::sync::Arc;
use types::collation::UTF8MB3_GENERAL_CI;
use types::{ColumnType, Value};

/// The columns with their types. A number is the length of a text in characters.
const COLUMNS: [(&str, &str); 25] = [
    ("trx_id", "number"),
    ("trx_state", "13"),
    ("trx_started", "time"),
    ("trx_requested_lock_id", "126 null"),
    ("trx_wait_started", "time null"),
    ("trx_weight", "number"),
    ("trx_mysql_thread_id", "number"),
    ("trx_query", "1024 null"),
    ("trx_operation_state", "64 null"),
    ("trx_tables_in_use", "number"),
    ("trx_tables_locked", "number"),
    ("trx_lock_structs", "number"),
    ("trx_lock_memory_bytes", "number"),
    ("trx_rows_locked", "number"),
    ("trx_rows_modified", "number"),
    ("trx_concurrency_tickets", "number"),
    ("trx_isolation_level", "16"),
    ("trx_unique_checks", "int"),
    ("trx_foreign_key_checks", "int"),
    ("trx_last_foreign_key_error", "256 null"),
    ("trx_adaptive_hash_latched", "int"),
    ("trx_adaptive_hash_timeout", "number"),
    ("trx_is_read_only", "int"),
    ("trx_autocommit_non_locking", "int"),
    ("trx_schedule_weight", "number null"),
];

fn columns() -> Vec<ColumnMeta> {
    let of = |(name, kind): (&str, &str)| {
        let (kind, nullable) = kind.split_once(' ').map_or((kind, false), |(kind, _)| (kind, true));
        let ty = match kind {
            "number" => ColumnType::bigint(true),
            "int" => ColumnType::int(false),
            "time" => ColumnType::timestamp(0),
            chars => ColumnType::varchar(chars.parse().unwrap_or(1024), UTF8MB3_GENERAL_CI),
        };
        let unsigned = if ty.unsigned { column_flag::UNSIGNED } else { 0 };
        column(name, ty, unsigned | if nullable { 0 } else { column_flag::NOT_NULL })
    };
    COLUMNS.map(of).into()
}

/// What the locks tell of a transaction.
#[derive(Default)]
struct Locks {
    tables: u64,
    rows: u64,
    /// The id of the lock that the transaction waits for.
    waits_for: Option<String>,
}

fn by_transaction(locks: &[DataLock]) -> HashMap<u64, Locks> {
    let mut all: HashMap<u64, Locks> = HashMap::new();
    for lock in locks {
        let own = all.entry(lock.transaction_id).or_default();
        match (lock.is_waiting, lock.is_record) {
            (true, _) => own.waits_for = Some(lock.id.clone()),
            (false, true) => own.rows += 1,
            (false, false) => own.tables += 1,
        }
    }
    all
}

/// Returns the table. Reading it needs PROCESS; without it the error is 1227.
pub fn table(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(columns(), |rows| {
        if !host.has_static("PROCESS") {
            let text =
                "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation";
            return Err(SqlError::new(1227, text));
        }
        let engine = &host.server().engine;
        rows.charge(engine.data_locks_bytes())?;
        let of_transactions = by_transaction(&engine.data_locks(&host.entry().kill_flag())?.locks);
        let entries: HashMap<u64, Arc<SessionEntry>> =
            host.server().sessions.all().into_iter().map(|entry| (entry.transaction_id(), entry)).collect();
        let now_us = os::clock::now_us();
        let mut all: Vec<_> = of_transactions.iter().collect();
        all.sort_by_key(|(id, _)| **id);
        all.into_iter().try_for_each(|(id, locks)| {
            let entry = entries.get(id);
            rows.put(row(*id, locks, entry.map(|entry| (&**entry, entry.line())), now_us))
        })
    })
}

fn moment(at_us: u64) -> Value {
    Value::Timestamp { seconds: (at_us / 1_000_000) as i64, micros: 0 }
}

fn row(id: u64, locks: &Locks, of: Option<(&SessionEntry, ProcessLine)>, now_us: u64) -> Vec<Value> {
    let number = Value::UInt;
    let started = of.as_ref().map_or(now_us, |(entry, _)| now_us - entry.transaction_age_us().min(now_us));
    // A transaction without a connection is an applier's.
    let (isolation, read_only) =
        of.as_ref().map_or(("REPEATABLE READ", false), |(entry, _)| entry.transaction_kind());
    let (unique_checks, foreign_key_checks) =
        of.as_ref().map_or((true, true), |(entry, _)| entry.transaction_checks());
    let waits = locks.waits_for.is_some();
    let wait = of.as_ref().filter(|_| waits).map(|(entry, _)| now_us - entry.activity_age_us().min(now_us));
    let shown = of.as_ref().map(|(_, line)| &line.shown);
    let statement = shown.filter(|shown| shown.is_running).map(|shown| shown.statement.as_str());
    vec![
        number(id),
        Value::text(if waits { "LOCK WAIT" } else { "RUNNING" }),
        moment(started),
        text_or_null(locks.waits_for.as_deref()),
        wait.map_or(Value::Null, moment),
        number(locks.tables + locks.rows),
        number(of.as_ref().map_or(0, |(_, line)| line.id.into())),
        text_or_null(statement),
        Value::Null,
        number(u64::from(waits)),
        number(locks.tables),
        number(locks.tables + locks.rows),
        number(0),
        number(locks.rows),
        number(0),
        number(0),
        Value::text(isolation),
        Value::Int(i64::from(unique_checks)),
        Value::Int(i64::from(foreign_key_checks)),
        Value::Null,
        Value::Int(0),
        number(0),
        Value::Int(i64::from(read_only)),
        Value::Int(0),
        Value::Null,
    ]
}
