//! The tables of performance_schema about the replication channels that have a source.

use super::cells::{Cells, number, table, text, text_of, thread_id, time, yes_no};
use crate::client::connection_host::ConnectionHost;
use replica::error::ThreadError;
use replica::status::{ReplicaStatus, Running, TransactionSeen};
use sql::ComputedTable;
use types::Value;

/// Returns a table with one row for each channel.
fn one_row(host: &ConnectionHost, row: fn(&ReplicaStatus) -> Cells) -> ComputedTable<'_> {
    let statuses = || host.server().replica.statuses();
    table(row(&ReplicaStatus::default()), move || statuses().into_iter().map(move |status| row(&status)))
}

fn on_off(running: bool) -> &'static str {
    if running { "ON" } else { "OFF" }
}

fn thread(s: &ReplicaStatus, kind: &str, nth: usize, running: bool) -> (sql::ColumnMeta, Value) {
    let id = if running { thread_id(&s.thread_name(kind), nth) } else { None };
    (number("THREAD_ID", 0).0, id.map_or(Value::Null, Value::UInt))
}

fn error(cells: &mut Cells, error: Option<&ThreadError>) {
    cells.extend([
        number("LAST_ERROR_NUMBER", error.map_or(0, |e| e.number.into())),
        text("LAST_ERROR_MESSAGE", error.map_or("", |e| &e.message)),
        time("LAST_ERROR_TIMESTAMP", error.map_or(0, |e| e.at_us)),
    ]);
}

/// Adds the cells of a transaction's GTID and its commit times.
fn transaction(cells: &mut Cells, prefix: &str, seen: &TransactionSeen) {
    cells.extend([
        text(prefix, &seen.gtid),
        time(&format!("{prefix}_ORIGINAL_COMMIT_TIMESTAMP"), seen.original_commit_us),
        time(&format!("{prefix}_IMMEDIATE_COMMIT_TIMESTAMP"), seen.immediate_commit_us),
    ]);
}

pub fn connection_configuration(host: &ConnectionHost) -> ComputedTable<'_> {
    one_row(host, |s| {
        let c = &s.config;
        vec![
            text("CHANNEL_NAME", &s.channel),
            text("HOST", &c.host),
            number("PORT", c.port.into()),
            text("USER", &c.user),
            text("NETWORK_INTERFACE", &c.bind),
            text("AUTO_POSITION", if c.auto_position { "1" } else { "0" }),
            yes_no("SSL_ALLOWED", c.ssl),
            text("SSL_CA_FILE", &c.ssl_ca),
            text("SSL_CA_PATH", &c.ssl_capath),
            text("SSL_CERTIFICATE", &c.ssl_cert),
            text("SSL_CIPHER", &c.ssl_cipher),
            text("SSL_KEY", &c.ssl_key),
            yes_no("SSL_VERIFY_SERVER_CERTIFICATE", c.ssl_verify_server_cert),
            text("SSL_CRL_FILE", ""),
            text("SSL_CRL_PATH", ""),
            number("CONNECTION_RETRY_INTERVAL", c.connect_retry_s.into()),
            number("CONNECTION_RETRY_COUNT", c.retry_count),
            text("HEARTBEAT_INTERVAL", &format!("{:.3}", c.heartbeat_period_s)),
            text("TLS_VERSION", &c.tls_version),
            text("PUBLIC_KEY_PATH", &c.public_key_path),
            yes_no("GET_PUBLIC_KEY", c.get_public_key),
            text("NETWORK_NAMESPACE", ""),
            text("COMPRESSION_ALGORITHM", &c.compression_algorithms),
            number("ZSTD_COMPRESSION_LEVEL", c.zstd_compression_level.into()),
            text_of("TLS_CIPHERSUITES", c.tls_ciphersuites.as_deref()),
            text("SOURCE_CONNECTION_AUTO_FAILOVER", "0"),
            text("GTID_ONLY", "0"),
        ]
    })
}

pub fn connection_status(host: &ConnectionHost) -> ComputedTable<'_> {
    one_row(host, |s| {
        let state = match s.io_running {
            Running::No => "OFF",
            Running::Connecting => "CONNECTING",
            Running::Yes => "ON",
        };
        let mut cells = vec![
            text("CHANNEL_NAME", &s.channel),
            text("GROUP_NAME", ""),
            text("SOURCE_UUID", &s.source_uuid),
            thread(s, "replica_io", 0, s.io_running != Running::No),
            text("SERVICE_STATE", state),
            number("COUNT_RECEIVED_HEARTBEATS", s.heartbeats),
            time("LAST_HEARTBEAT_TIMESTAMP", s.last_heartbeat_us),
            text("RECEIVED_TRANSACTION_SET", &s.retrieved_gtid_set),
        ];
        error(&mut cells, s.io_error.as_ref());
        transaction(&mut cells, "LAST_QUEUED_TRANSACTION", &s.last_queued);
        cells.extend([
            time("LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP", s.last_queued.begun_us),
            time("LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP", s.last_queued.ended_us),
        ]);
        transaction(&mut cells, "QUEUEING_TRANSACTION", &s.queueing);
        cells.push(time("QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP", s.queueing.begun_us));
        cells
    })
}

/// Returns the true lag of each channel, as docs/replication.md defines it, and what holds its
/// applier back. The table is this server's own.
pub fn lag(host: &ConnectionHost) -> ComputedTable<'_> {
    one_row(host, |s| {
        vec![
            text("CHANNEL_NAME", &s.channel),
            (number("LAG_US", 0).0, s.lag_us.map_or(Value::Null, Value::UInt)),
            text("HELD_BACK_BY", &s.held_back_by()),
        ]
    })
}

pub fn applier_configuration(host: &ConnectionHost) -> ComputedTable<'_> {
    one_row(host, |s| {
        vec![
            text("CHANNEL_NAME", &s.channel),
            number("DESIRED_DELAY", s.config.delay_s.into()),
            text_of("PRIVILEGE_CHECKS_USER", None),
            yes_no("REQUIRE_ROW_FORMAT", s.config.require_row_format),
            text("REQUIRE_TABLE_PRIMARY_KEY_CHECK", "STREAM"),
            text("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE", "OFF"),
            text_of("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE", None),
        ]
    })
}

pub fn applier_status(host: &ConnectionHost) -> ComputedTable<'_> {
    one_row(host, |s| {
        let remaining = s.remaining_delay_s.map_or(Value::Null, Value::UInt);
        vec![
            text("CHANNEL_NAME", &s.channel),
            text("SERVICE_STATE", on_off(s.sql_running == Running::Yes)),
            (number("REMAINING_DELAY", 0).0, remaining),
            number("COUNT_TRANSACTIONS_RETRIES", s.transaction_retries),
        ]
    })
}

/// Returns the table of the threads that commit. As in mysqld, a channel is in it only when it has
/// workers.
pub fn applier_status_by_coordinator(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |s: &ReplicaStatus| {
        let runs = s.sql_running == Running::Yes;
        let mut cells = vec![
            text("CHANNEL_NAME", &s.channel),
            thread(s, "replica_sql", 0, runs),
            text("SERVICE_STATE", on_off(runs)),
        ];
        error(&mut cells, s.sql_error.as_ref());
        transaction(&mut cells, "LAST_PROCESSED_TRANSACTION", &s.last_applied);
        cells.extend([
            time("LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP", s.last_applied.begun_us),
            time("LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP", s.last_applied.ended_us),
        ]);
        transaction(&mut cells, "PROCESSING_TRANSACTION", &s.applying);
        cells.push(time("PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP", s.applying.begun_us));
        cells
    };
    table(row(&ReplicaStatus::default()), move || {
        let statuses = host.server().replica.statuses().into_iter();
        statuses.filter(|s| s.workers > 1).map(move |s| row(&s))
    })
}

/// Returns the table with one row for each worker. The coordinator is the first of them, and
/// commits for all.
pub fn applier_status_by_worker(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |s: &ReplicaStatus, nth: u64| {
        let runs = s.sql_running == Running::Yes;
        let is_alone = s.workers <= 1;
        let thread = match nth {
            0 => thread(s, "replica_sql", 0, runs),
            _ => thread(s, "replica_worker", nth as usize - 1, runs),
        };
        let mut cells = vec![
            text("CHANNEL_NAME", &s.channel),
            number("WORKER_ID", if is_alone { 0 } else { nth + 1 }),
            thread,
            text("SERVICE_STATE", on_off(runs)),
        ];
        let none = TransactionSeen::default();
        let (last, applying) = if nth == 0 { (&s.last_applied, &s.applying) } else { (&none, &none) };
        error(&mut cells, s.sql_error.as_ref().filter(|_| nth == 0));
        transaction(&mut cells, "LAST_APPLIED_TRANSACTION", last);
        cells.extend([
            time("LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP", last.begun_us),
            time("LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP", last.ended_us),
        ]);
        transaction(&mut cells, "APPLYING_TRANSACTION", applying);
        cells.push(time("APPLYING_TRANSACTION_START_APPLY_TIMESTAMP", applying.begun_us));
        for prefix in ["LAST_APPLIED_TRANSACTION", "APPLYING_TRANSACTION"] {
            cells.extend([
                number(&format!("{prefix}_RETRIES_COUNT"), 0),
                number(&format!("{prefix}_LAST_TRANSIENT_ERROR_NUMBER"), 0),
                text(&format!("{prefix}_LAST_TRANSIENT_ERROR_MESSAGE"), ""),
                time(&format!("{prefix}_LAST_TRANSIENT_ERROR_TIMESTAMP"), 0),
            ]);
        }
        cells
    };
    table(row(&ReplicaStatus::default(), 0), move || {
        let statuses = host.server().replica.statuses().into_iter();
        statuses.flat_map(move |s| (0..s.workers.max(1)).map(move |nth| row(&s, nth)))
    })
}
