//! Tables of performance_schema about the replication channel. Without a source they are empty.

use crate::connection_host::ConnectionHost;
use crate::result_table::{number_column, text_column};
use replica::status::{ReplicaStatus, Running};
use sql::{ColumnMeta, VirtualTable};
use types::Value;

fn one_row(
    host: &ConnectionHost,
    columns: Vec<ColumnMeta>,
    row: impl FnOnce(&ReplicaStatus) -> Vec<Value>,
) -> VirtualTable {
    let rows = host.server().replica.status().iter().map(row_once(row)).collect();
    VirtualTable { columns, rows }
}

/// There is at most one row, so a closure that can be called once is enough.
fn row_once<'a>(
    row: impl FnOnce(&'a ReplicaStatus) -> Vec<Value>,
) -> impl FnMut(&'a ReplicaStatus) -> Vec<Value> {
    let mut row = Some(row);
    move |status| row.take().map_or_else(Vec::new, |row| row(status))
}

fn on_off(running: bool) -> Value {
    Value::text(if running { "ON" } else { "OFF" })
}

pub fn connection_configuration(host: &ConnectionHost) -> VirtualTable {
    let columns = vec![
        text_column("CHANNEL_NAME", 64),
        text_column("HOST", 255),
        number_column("PORT"),
        text_column("USER", 32),
        text_column("AUTO_POSITION", 1),
        number_column("CONNECTION_RETRY_INTERVAL"),
        number_column("CONNECTION_RETRY_COUNT"),
    ];
    one_row(host, columns, |s| {
        vec![
            Value::text(""),
            Value::text(&s.config.host),
            Value::UInt(s.config.port.into()),
            Value::text(&s.config.user),
            Value::text(if s.config.auto_position { "1" } else { "0" }),
            Value::UInt(s.config.connect_retry_s.into()),
            Value::UInt(s.config.retry_count),
        ]
    })
}

pub fn connection_status(host: &ConnectionHost) -> VirtualTable {
    let columns = vec![
        text_column("CHANNEL_NAME", 64),
        text_column("SOURCE_UUID", 36),
        text_column("SERVICE_STATE", 10),
        text_column("RECEIVED_TRANSACTION_SET", 65_535),
        number_column("LAST_ERROR_NUMBER"),
        text_column("LAST_ERROR_MESSAGE", 1024),
    ];
    one_row(host, columns, |s| {
        let state = match s.io_running {
            Running::No => "OFF",
            Running::Connecting => "CONNECTING",
            Running::Yes => "ON",
        };
        vec![
            Value::text(""),
            Value::text(&s.source_uuid),
            Value::text(state),
            Value::text(&s.retrieved_gtid_set),
            Value::UInt(s.io_error.as_ref().map_or(0, |e| e.number.into())),
            Value::text(s.io_error.as_ref().map_or("", |e| &e.message)),
        ]
    })
}

pub fn applier_configuration(host: &ConnectionHost) -> VirtualTable {
    let columns = vec![text_column("CHANNEL_NAME", 64), number_column("DESIRED_DELAY")];
    one_row(host, columns, |s| vec![Value::text(""), Value::UInt(s.config.delay_s.into())])
}

pub fn applier_status(host: &ConnectionHost) -> VirtualTable {
    let columns = vec![
        text_column("CHANNEL_NAME", 64),
        text_column("SERVICE_STATE", 10),
        number_column("REMAINING_DELAY"),
        number_column("COUNT_TRANSACTIONS_RETRIES"),
    ];
    one_row(host, columns, |s| {
        vec![
            Value::text(""),
            on_off(s.sql_running == Running::Yes),
            s.remaining_delay_s.map_or(Value::Null, Value::UInt),
            Value::UInt(s.transaction_retries),
        ]
    })
}

/// The one thread that applies, as coordinator and as worker.
pub fn applier_status_by_thread(host: &ConnectionHost) -> VirtualTable {
    let columns = vec![
        text_column("CHANNEL_NAME", 64),
        number_column("WORKER_ID"),
        text_column("SERVICE_STATE", 10),
        number_column("LAST_ERROR_NUMBER"),
        text_column("LAST_ERROR_MESSAGE", 1024),
    ];
    one_row(host, columns, |s| {
        vec![
            Value::text(""),
            Value::UInt(0),
            on_off(s.sql_running == Running::Yes),
            Value::UInt(s.sql_error.as_ref().map_or(0, |e| e.number.into())),
            Value::text(s.sql_error.as_ref().map_or("", |e| &e.message)),
        ]
    })
}
