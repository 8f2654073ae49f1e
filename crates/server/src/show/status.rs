//! The figures of the server and its engine, for SHOW STATUS, COM_STATISTICS and COM_DEBUG.

use super::{absent_features, process_status};
use crate::server::Server;
use crate::server::sessions::SessionEntry;
use os::account::{State, ThreadTime};
use sql::VariableScope;
use sql::counters::Counters;
use sql::measured::EventName;

/// Returns the variables of SHOW GLOBAL STATUS, sorted by name.
pub fn list(server: &Server) -> Vec<(String, String)> {
    let mut all = server.status.list(server.sessions.clients());
    all.extend(server.engine.status().into_iter().map(|(name, value)| (name, value.to_string())));
    let pool = server.engine.pool().status().variables();
    all.extend(pool.into_iter().map(|(name, value)| (name.to_string(), value.to_string())));
    let (dump, load) = server.engine.pool().warm_up_status();
    all.push(("Innodb_buffer_pool_dump_status".to_owned(), dump));
    all.push(("Innodb_buffer_pool_load_status".to_owned(), load));
    all.extend(redo_log(server));
    all.extend(tables(server));
    all.push(("Count_hit_tmp_table_size".to_owned(), outgrown_tables(server).to_string()));
    all.extend(absent_features::variables());
    all.extend(memory(server));
    all.extend(DataIo::of(server, &os::account::snapshot()).variables());
    let anonymous = server.engine.anonymous_owners().to_string();
    all.push(("Ongoing_anonymous_transaction_count".to_owned(), anonymous));
    let open: usize = server.replica.statuses().iter().map(|status| status.open_temporary_tables).sum();
    for name in ["Replica_open_temp_tables", "Slave_open_temp_tables"] {
        all.push((name.to_owned(), open.to_string()));
    }
    all.extend(replica_lag(server));
    all.extend(semi_sync(server));
    all.extend(server.audit.status().map(|(name, value)| (name.to_owned(), value.to_string())));
    all.extend(process_status::variables(server));
    all.sort();
    all
}

/// Returns the variables of SHOW STATUS for a connection, sorted by name: those of the server, the
/// counters of the connection's or of all statements, and the encryption of the connection.
pub fn of_session(server: &Server, entry: &SessionEntry, scope: VariableScope) -> Vec<(String, String)> {
    let mut all = list(server);
    let counted = match scope {
        VariableScope::Session => entry.counters().figures(),
        _ => server.sessions.counted(),
    };
    all.extend(
        Counters::NAMES.iter().zip(counted).map(|(name, count)| (name.to_string(), count.to_string())),
    );
    let statements = match scope {
        VariableScope::Session => entry.counters().statements.figures(),
        _ => server.sessions.counted_statements(),
    };
    all.extend(statements.iter().enumerate().filter_map(|(place, count)| {
        let name = EventName(u16::try_from(place).ok()?).status_variable()?;
        Some((name, count.to_string()))
    }));
    all.extend(process_status::of_connection(server, entry.encryption()));
    all.sort();
    all
}

/// Returns the replica's true lag, as docs/replication.md defines it, and in words what holds the
/// applier back right now. The lag is empty when it cannot be known. On a server that is no replica
/// there are no such variables.
fn replica_lag(server: &Server) -> Vec<(String, String)> {
    let statuses = server.replica.statuses();
    // Of several channels, the one that is furthest behind is shown. A channel whose lag is unknown
    // counts as further behind than any other.
    let Some(status) = statuses.iter().max_by_key(|status| status.lag_us.unwrap_or(u64::MAX)) else {
        return Vec::new();
    };
    let lag = status.lag_us.map_or_else(String::new, |us| us.to_string());
    let named = |name: &str, value: String| (name.to_owned(), value);
    vec![named("Replica_lag_us", lag), named("Replica_held_back_by", status.held_back_by())]
}

/// Returns the variables of both sides of semi-synchronous replication. The old names are those of
/// plugins that MySQL 9 no longer has. Clients that ask by a pattern for both, as Vitess does, take
/// the answer to have one row.
fn semi_sync(server: &Server) -> Vec<(String, String)> {
    let on_off = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    let source = server.binlog.as_ref().map(|binlog| binlog.semi_sync().status()).unwrap_or_default();
    let average_us = source.wait_time_us.checked_div(source.waits).unwrap_or(0);
    let mut all = Vec::new();
    let mut put = |name: &str, value: String| all.push((format!("Rpl_semi_sync_{name}"), value));
    put("source_clients", source.clients.to_string());
    put("source_status", on_off(source.on));
    put("source_yes_tx", source.acknowledged.to_string());
    put("source_no_tx", source.unacknowledged.to_string());
    put("source_no_times", source.switched_off.to_string());
    put("source_tx_waits", source.waits.to_string());
    put("source_tx_wait_time", source.wait_time_us.to_string());
    put("source_tx_avg_wait_time", average_us.to_string());
    put("source_wait_sessions", source.waiting.to_string());
    put("replica_status", on_off(server.replica.is_semi_sync()));
    all
}

/// Returns the memory that connections keep, and the numbers of statements that limits have ended.
fn memory(server: &Server) -> Vec<(String, String)> {
    let (of_connection, of_all) = server.memory.refusals();
    [
        ("Count_hit_query_past_connection_memory_status_limit", of_connection),
        ("Count_hit_query_past_global_connection_memory_status_limit", of_all),
        ("Global_connection_memory", server.memory.tracked_bytes()),
        ("Slipstream_connection_memory", server.memory.used_bytes()),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_string()))
    .into()
}

/// Returns how many tables of statements have outgrown `tmp_table_size` and went on in files. No
/// other tables of statements are in files.
fn outgrown_tables(server: &Server) -> u64 {
    let counted = Counters::NAMES.iter().zip(server.sessions.counted());
    counted.filter(|(name, _)| **name == "Created_tmp_disk_tables").map(|(_, count)| count).sum()
}

/// Returns the numbers of tables that are open. The dictionary holds all of them, and each was
/// opened once.
fn tables(server: &Server) -> [(String, String); 4] {
    let open = server.engine.catalog().table_count().to_string();
    ["Open_table_definitions", "Open_tables", "Opened_table_definitions", "Opened_tables"]
        .map(|name| (name.to_owned(), open.clone()))
}

/// Returns the redo log's figures under MySQL's names.
fn redo_log(server: &Server) -> Vec<(String, String)> {
    let log = server.engine.log().status();
    let texts = [
        ("Innodb_redo_log_enabled", "ON"),
        ("Innodb_redo_log_read_only", "OFF"),
        ("Innodb_redo_log_resize_status", if log.resizing_down { "Resizing down" } else { "OK" }),
    ];
    [
        ("Innodb_log_waits", log.buffer_waits),
        ("Innodb_log_write_requests", log.write_requests),
        ("Innodb_log_writes", log.writes),
        ("Innodb_os_log_fsyncs", log.syncs),
        ("Innodb_os_log_written", log.written_bytes),
        ("Innodb_redo_log_capacity_resized", log.resized_bytes),
        ("Innodb_redo_log_checkpoint_lsn", log.checkpoint_lsn),
        ("Innodb_redo_log_current_lsn", log.current_lsn),
        ("Innodb_redo_log_flushed_to_disk_lsn", log.durable_lsn),
        ("Innodb_redo_log_logical_size", log.current_lsn.saturating_sub(log.checkpoint_lsn)),
        ("Innodb_redo_log_physical_size", log.physical_bytes),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_string()))
    .into_iter()
    .chain(texts.map(|(name, value)| (name.to_owned(), value.to_owned())))
    .collect()
}

/// Reads, writes and syncs of data files and the redo log together, counted like InnoDB's
/// `Innodb_data_` variables.
pub struct DataIo {
    /// The number of pages read (`Innodb_data_reads`).
    pub reads: u64,
    /// The number of bytes in these pages (`Innodb_data_read`).
    pub read_bytes: u64,
    /// The number of pages, batches of the doublewrite file and pieces of the log that were written
    /// (`Innodb_data_writes`).
    pub writes: u64,
    /// The number of bytes in them (`Innodb_data_written`).
    pub written_bytes: u64,
    /// The number of syncs of tablespaces, the doublewrite file and the log (`Innodb_data_fsyncs`).
    pub syncs: u64,
    /// The number of threads that wait for a read now.
    pub pending_reads: u64,
    /// The number of threads that wait for the write of a page now.
    pub pending_writes: u64,
    /// The number of threads that sync a tablespace or the doublewrite file now.
    pub pending_syncs: u64,
    /// The number of threads that write the log now.
    pub pending_log_writes: u64,
    /// The number of threads that sync the log now.
    pub pending_log_syncs: u64,
}

impl DataIo {
    /// Returns the server's figures. `threads` are the time accounts of its threads, read just now.
    pub fn of(server: &Server, threads: &[ThreadTime]) -> DataIo {
        let pool = server.engine.pool().status();
        let log = server.engine.log().status();
        let reads = pool.pages_read + pool.read_ahead + pool.read_ahead_random;
        let entered = |state: State| -> u64 {
            let times = threads.iter().flat_map(|thread| &thread.states);
            times.filter(|time| time.state == state).map(|time| time.entered).sum()
        };
        let now_in =
            |state: State| threads.iter().filter(|thread| thread.current == Some(state)).count() as u64;
        DataIo {
            reads,
            read_bytes: reads * pool.page_size,
            writes: pool.pages_written + pool.dblwr_writes + log.writes,
            written_bytes: (pool.pages_written + pool.dblwr_pages_written) * pool.page_size
                + log.written_bytes,
            syncs: entered(State::PageSync) + log.syncs,
            pending_reads: now_in(State::PageRead),
            pending_writes: now_in(State::PageWrite),
            pending_syncs: now_in(State::PageSync),
            pending_log_writes: now_in(State::LogWrite),
            pending_log_syncs: now_in(State::LogFlush),
        }
    }

    fn variables(&self) -> [(String, String); 10] {
        [
            ("Innodb_data_reads", self.reads),
            ("Innodb_data_read", self.read_bytes),
            ("Innodb_data_writes", self.writes),
            ("Innodb_data_written", self.written_bytes),
            ("Innodb_data_fsyncs", self.syncs),
            ("Innodb_data_pending_reads", self.pending_reads),
            ("Innodb_data_pending_writes", self.pending_writes),
            ("Innodb_data_pending_fsyncs", self.pending_syncs),
            ("Innodb_os_log_pending_writes", self.pending_log_writes),
            ("Innodb_os_log_pending_fsyncs", self.pending_log_syncs),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_string()))
    }
}

/// Returns the line of COM_STATISTICS, as mysqladmin status prints it.
pub fn statistics_line(server: &Server) -> String {
    let uptime_s = os::clock::now_us().saturating_sub(server.status.started_us) / 1_000_000;
    let questions = server.status.questions.get();
    format!(
        "Uptime: {uptime_s}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {}  Flush tables: 0  \
         Open tables: {}  Queries per second avg: {:.3}",
        server.sessions.clients(),
        server.status.slow_queries.get(),
        server.engine.catalog().table_count(),
        server.engine.catalog().table_count(),
        questions as f64 / uptime_s.max(1) as f64,
    )
}

/// Writes the time accounts of all threads into the error log (COM_DEBUG).
pub fn log_debug_information(server: &Server) {
    log::info!("{}", statistics_line(server));
    for thread in os::account::snapshot() {
        let current = thread.current.map_or("ended", |state| state.name());
        log::info!("thread {}: {current}", thread.name);
        for time in &thread.states {
            let (wall_ms, cpu_ms) = (time.wall_ns / 1_000_000, time.cpu_ns / 1_000_000);
            log::info!("  {}: {} times, {wall_ms} ms, {cpu_ms} ms of CPU", time.state.name(), time.entered);
        }
    }
}
