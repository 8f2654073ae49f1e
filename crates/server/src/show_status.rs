//! SHOW STATUS, COM_STATISTICS, SHOW ENGINE INNODB STATUS: figures of the server and its engine.

use crate::server::Server;
use crate::sessions::Activity;
use std::fmt::Write as _;

/// SHOW GLOBAL STATUS, sorted by name.
pub fn list(server: &Server) -> Vec<(String, String)> {
    let mut all = server.status.list(server.sessions.count());
    all.extend(server.engine.status().into_iter().map(|(name, value)| (name, value.to_string())));
    let pool = server.engine.pool().status().variables();
    all.extend(pool.into_iter().map(|(name, value)| (name.to_string(), value.to_string())));
    let (dump, load) = server.engine.pool().warm_up_status();
    all.push(("Innodb_buffer_pool_dump_status".to_owned(), dump));
    all.push(("Innodb_buffer_pool_load_status".to_owned(), load));
    all.extend(redo_log(server));
    let anonymous = server.engine.anonymous_owners().to_string();
    all.push(("Ongoing_anonymous_transaction_count".to_owned(), anonymous));
    all.extend(replica_lag(server));
    all.extend(semi_sync(server));
    all.sort();
    all.dedup_by(|a, b| a.0 == b.0);
    all
}

/// The replica's true lag, as docs/replication.md defines it: empty when it cannot be known, absent on a server that is no replica.
/// With it, what holds the applier back right now, in words.
fn replica_lag(server: &Server) -> Vec<(String, String)> {
    let statuses = server.replica.statuses();
    // Of several channels the one that is furthest behind; one that does not know is further than any.
    let Some(status) = statuses.iter().max_by_key(|status| status.lag_us.unwrap_or(u64::MAX)) else {
        return Vec::new();
    };
    let lag = status.lag_us.map_or_else(String::new, |us| us.to_string());
    let named = |name: &str, value: String| (name.to_owned(), value);
    vec![named("Replica_lag_us", lag), named("Replica_held_back_by", status.held_back_by())]
}

/// Semi-synchronous replication, both sides; under the old names too, which scripts ask for.
fn semi_sync(server: &Server) -> Vec<(String, String)> {
    let on_off = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    let source = server.binlog.as_ref().map(|binlog| binlog.semi_sync().status()).unwrap_or_default();
    let average_us = source.wait_time_us.checked_div(source.waits).unwrap_or(0);
    let mut all = Vec::new();
    for side in ["source", "master"] {
        let mut put = |name: &str, value: String| all.push((format!("Rpl_semi_sync_{side}_{name}"), value));
        put("clients", source.clients.to_string());
        put("status", on_off(source.on));
        put("yes_tx", source.acknowledged.to_string());
        put("no_tx", source.unacknowledged.to_string());
        put("no_times", source.switched_off.to_string());
        put("tx_waits", source.waits.to_string());
        put("tx_wait_time", source.wait_time_us.to_string());
        put("tx_avg_wait_time", average_us.to_string());
        put("wait_sessions", source.waiting.to_string());
    }
    for side in ["replica", "slave"] {
        all.push((format!("Rpl_semi_sync_{side}_status"), on_off(server.replica.is_semi_sync())));
    }
    all
}

/// The redo log's figures under MySQL's names.
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

/// The line of COM_STATISTICS, as mysqladmin status prints it.
pub fn statistics_line(server: &Server) -> String {
    let uptime_s = os::clock::now_us().saturating_sub(server.status.started_us) / 1_000_000;
    let questions = server.status.questions.get();
    format!(
        "Uptime: {uptime_s}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {}  Flush tables: 0  \
         Open tables: {}  Queries per second avg: {:.3}",
        server.sessions.count(),
        server.status.slow_queries.get(),
        server.engine.catalog().all_tables().len(),
        server.engine.catalog().all_tables().len(),
        questions as f64 / uptime_s.max(1) as f64,
    )
}

/// COM_DEBUG: what every thread spends its time on, into the error log.
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

/// SHOW ENGINE INNODB STATUS: the sections that monitoring reads, with this engine's own figures.
pub fn innodb_status(server: &Server) -> String {
    let figures = list(server);
    let of = |name: &str| figures.iter().find(|(n, _)| n == name).map_or("0", |(_, v)| v.as_str());
    let line = "=".repeat(37);
    let mut out = String::new();
    let mut put = |args: std::fmt::Arguments<'_>| {
        // Writing to a String cannot fail.
        let _infallible = writeln!(out, "{args}");
    };
    put(format_args!(
        "\n{line}\n{} INNODB MONITOR OUTPUT\n{line}",
        crate::error_log::timestamp(os::clock::now_us())
    ));
    put(format_args!("-----------------\nBACKGROUND THREAD\n-----------------"));
    for thread in os::account::snapshot() {
        let current = thread.current.map_or("ended", |state| state.name());
        put(format_args!("{}: {current}", thread.name));
    }
    if let Some(deadlock) = server.engine.latest_deadlock() {
        let rule = "-".repeat(24);
        let at = crate::error_log::timestamp(deadlock.at_us);
        put(format_args!(
            "{rule}\nLATEST DETECTED DEADLOCK\n{rule}\n{at}\n{}",
            deadlock.to_text().trim_end()
        ));
    }
    put(format_args!("------------\nTRANSACTIONS\n------------"));
    put(format_args!("History list length {}", of("Slipstream_history_list_length")));
    put(format_args!("Commits {}, rollbacks {}", of("Slipstream_commits"), of("Slipstream_rollbacks")));
    put(format_args!(
        "Row locks held {}, waiting now {}, waits {}, time waited {} ms",
        of("Slipstream_locks"),
        of("Innodb_row_lock_current_waits"),
        of("Innodb_row_lock_waits"),
        of("Innodb_row_lock_time")
    ));
    for entry in server.sessions.all().iter().filter(|e| e.activity() != Activity::Sleep) {
        let l = entry.line();
        put(format_args!(
            "---connection {}, {} s, {} {}: {}",
            l.id, l.time_s, l.host, l.shown.user, l.shown.statement
        ));
    }
    put(format_args!("---\nLOG\n---"));
    put(format_args!("Log sequence number          {}", of("Slipstream_redo_log_current_lsn")));
    put(format_args!("Log written up to            {}", of("Slipstream_redo_log_written_lsn")));
    put(format_args!("Log flushed up to            {}", of("Slipstream_redo_log_durable_lsn")));
    put(format_args!("Checkpoints                  {}", of("Slipstream_checkpoints")));
    put(format_args!("----------------------\nBUFFER POOL AND MEMORY\n----------------------"));
    for (label, name) in [
        ("Buffer pool size  ", "Innodb_buffer_pool_pages_total"),
        ("Free buffers      ", "Innodb_buffer_pool_pages_free"),
        ("Database pages    ", "Innodb_buffer_pool_pages_data"),
        ("Modified db pages ", "Innodb_buffer_pool_pages_dirty"),
        ("Pages read        ", "Innodb_pages_read"),
        ("Pages created     ", "Innodb_pages_created"),
        ("Pages written     ", "Innodb_pages_written"),
    ] {
        put(format_args!("{label} {}", of(name)));
    }
    put(format_args!("--------------\nROW OPERATIONS\n--------------"));
    put(format_args!(
        "Number of rows inserted {}, updated {}, deleted {}, read {}",
        of("Innodb_rows_inserted"),
        of("Innodb_rows_updated"),
        of("Innodb_rows_deleted"),
        of("Innodb_rows_read")
    ));
    put(format_args!(
        "----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================"
    ));
    out
}
