//! `performance_schema.metadata_locks`: who holds the locks on definitions, and who waits for them.
//!
//! A lock of a source's transaction, which has no connection, has no thread. MySQL also shows locks
//! of names within a statement (backup locks, tablespaces, column statistics), which do not exist
//! here.

use super::cells::{Cells, columns, number, text_of, values};
use super::performance::thread_ids;
use crate::client::connection_host::ConnectionHost;
use crate::server::sessions::SessionEntry;
use crate::show::result_table::number_column;
use engine::{MetadataLock, MetadataOwner};
use sql::ComputedTable;
use std::sync::Arc;
use types::Value;

fn cells(lock: Option<&MetadataLock>, thread: Option<u64>) -> Cells {
    let table = lock.and_then(|lock| lock.table.as_deref());
    let of = |value: Option<u64>| value.map_or(Value::Null, Value::UInt);
    vec![
        text_of("OBJECT_TYPE", Some(if table.is_some() { "TABLE" } else { "SCHEMA" })),
        text_of("OBJECT_SCHEMA", lock.map(|lock| lock.schema.as_str())),
        text_of("OBJECT_NAME", table),
        text_of("COLUMN_NAME", None),
        number("OBJECT_INSTANCE_BEGIN", lock.map_or(0, |lock| lock.id)),
        text_of("LOCK_TYPE", lock.map(|lock| lock.kind)),
        text_of("LOCK_DURATION", Some("TRANSACTION")),
        text_of(
            "LOCK_STATUS",
            Some(if lock.is_some_and(|lock| lock.is_waiting) { "PENDING" } else { "GRANTED" }),
        ),
        text_of("SOURCE", None),
        (number_column("OWNER_THREAD_ID"), of(thread)),
        (number_column("OWNER_EVENT_ID"), Value::Null),
    ]
}

/// Reports whether a lock is one of the connection's.
fn belongs_to(lock: &MetadataLock, entry: &SessionEntry) -> bool {
    match &lock.owner {
        MetadataOwner::Transaction(number) => entry.transaction_id() == *number,
        MetadataOwner::Session(flag) => {
            flag.as_ref().is_some_and(|flag| Arc::ptr_eq(flag, &entry.kill_flag()))
        }
    }
}

/// Returns the table.
pub fn table(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(columns(cells(None, None)), |rows| {
        let numbers = thread_ids(host);
        let entries = host.server().sessions.all();
        host.server().engine.metadata_locks().iter().try_for_each(|lock| {
            let entry = entries.iter().find(|entry| belongs_to(lock, entry));
            let thread = entry.and_then(|entry| numbers.get(&entry.id).copied());
            rows.put(values(cells(Some(lock), thread)))
        })
    })
}
