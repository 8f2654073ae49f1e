//! `performance_schema.data_locks` and `data_lock_waits`, as in MySQL 8.0 and later.

use super::cells::{Cells, columns, number, text_of, values};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::number_column;
use engine::{DataLock, DataLockWait, DataLocks, LockData};
use sql::{ColumnMeta, ComputedRows, ComputedTable};
use std::collections::HashMap;
use types::Value;

/// The numbers in `performance_schema.threads` of the connections that transactions belong to, by
/// transaction.
#[derive(Default)]
struct ThreadIds(HashMap<u64, u64>);

impl ThreadIds {
    fn new(host: &ConnectionHost) -> ThreadIds {
        let of_connection = super::performance::thread_ids(host);
        let entries = host.server().sessions.all();
        let number = |id| of_connection.get(&id).copied();
        ThreadIds(
            entries.iter().filter_map(|entry| Some((entry.transaction_id(), number(entry.id)?))).collect(),
        )
    }

    fn cell(&self, name: &str, transaction_id: u64) -> (ColumnMeta, Value) {
        number_or_null(name, self.0.get(&transaction_id).copied())
    }
}

fn number_or_null(name: &str, value: Option<u64>) -> (ColumnMeta, Value) {
    (number_column(name), value.map_or(Value::Null, Value::UInt))
}

fn lock_cells(lock: Option<&DataLock>, threads: &ThreadIds) -> Cells {
    let transaction_id = lock.map_or(0, |lock| lock.transaction_id);
    let table = lock.and_then(|lock| lock.table.as_ref());
    let index = lock.and_then(|lock| lock.index.as_deref());
    let is_record = lock.is_some_and(|lock| lock.is_record);
    let status = if lock.is_some_and(|lock| lock.is_waiting) { "WAITING" } else { "GRANTED" };
    let data = lock.and_then(|lock| lock.data.as_ref()).map(data_text);
    vec![
        text_of("ENGINE", Some("INNODB")),
        text_of("ENGINE_LOCK_ID", lock.map(|lock| lock.id.as_str())),
        number("ENGINE_TRANSACTION_ID", transaction_id),
        threads.cell("THREAD_ID", transaction_id),
        number_or_null("EVENT_ID", None),
        text_of("OBJECT_SCHEMA", table.map(|(schema, _)| schema.as_str())),
        text_of("OBJECT_NAME", table.map(|(_, name)| name.as_str())),
        text_of("PARTITION_NAME", None),
        text_of("SUBPARTITION_NAME", None),
        text_of("INDEX_NAME", index),
        number("OBJECT_INSTANCE_BEGIN", 0),
        text_of("LOCK_TYPE", Some(if is_record { "RECORD" } else { "TABLE" })),
        text_of("LOCK_MODE", lock.map(|lock| lock.mode)),
        text_of("LOCK_STATUS", Some(status)),
        text_of("LOCK_DATA", data.as_deref()),
    ]
}

/// Collects the present locks. They are all in memory before they are shown, so their memory is
/// charged first.
fn all_locks(host: &ConnectionHost, rows: &mut dyn ComputedRows) -> sql::Result<DataLocks> {
    let engine = &host.server().engine;
    rows.charge(engine.data_locks_bytes())?;
    Ok(engine.data_locks(&host.entry().kill_flag())?)
}

/// Returns the table of all locks of rows, gaps and tables.
pub fn locks(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(columns(lock_cells(None, &ThreadIds::default())), |rows| {
        let threads = ThreadIds::new(host);
        let locks = all_locks(host, rows)?.locks;
        locks.iter().try_for_each(|lock| rows.put(values(lock_cells(Some(lock), &threads))))
    })
}

fn wait_cells(wait: Option<&DataLockWait>, threads: &ThreadIds) -> Cells {
    let mut cells = vec![text_of("ENGINE", Some("INNODB"))];
    for side in ["REQUESTING", "BLOCKING"] {
        let lock = wait.map(|wait| if side == "BLOCKING" { &wait.blocking } else { &wait.requesting });
        let transaction_id = lock.map_or(0, |(_, transaction_id)| *transaction_id);
        let name = |column: &str| format!("{side}_{column}");
        cells.extend([
            text_of(&name("ENGINE_LOCK_ID"), lock.map(|(id, _)| id.as_str())),
            number(&name("ENGINE_TRANSACTION_ID"), transaction_id),
            threads.cell(&name("THREAD_ID"), transaction_id),
            number_or_null(&name("EVENT_ID"), None),
            number(&name("OBJECT_INSTANCE_BEGIN"), 0),
        ]);
    }
    cells
}

/// Returns the table that says which transaction waits for which transaction's lock.
pub fn waits(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(columns(wait_cells(None, &ThreadIds::default())), |rows| {
        let threads = ThreadIds::new(host);
        let waits = all_locks(host, rows)?.waits;
        waits.iter().try_for_each(|wait| rows.put(values(wait_cells(Some(wait), &threads))))
    })
}

fn data_text(data: &LockData) -> String {
    match data {
        LockData::Supremum => "supremum pseudo-record".to_string(),
        LockData::Bytes(bytes) => {
            bytes.iter().fold("0x".to_string(), |text, byte| text + &format!("{byte:02X}"))
        }
        LockData::Columns(values) => values.iter().map(value_text).collect::<Vec<_>>().join(", "),
    }
}

/// Returns a column's value as InnoDB shows it: numbers plain, all other values in quotes.
fn value_text(value: &Value) -> String {
    let mut text = Vec::new();
    value.to_text(None, &mut text);
    let text = String::from_utf8_lossy(&text);
    match value {
        Value::Null => "NULL".to_string(),
        Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Double(_)
        | Value::Decimal(_)
        | Value::Year(_) => text.into_owned(),
        _ => format!("'{text}'"),
    }
}
