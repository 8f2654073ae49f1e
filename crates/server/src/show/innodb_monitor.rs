//! The text of SHOW ENGINE INNODB STATUS: InnoDB's sections in InnoDB's order and wording, as
//! monitoring tools read them, with this engine's figures. Parts of InnoDB that this engine does
//! not have (an insert buffer, an adaptive hash index, undo numbers) are left out. One section is
//! this server's own: TIME ACCOUNTS has the wall and CPU time of every thread by state.
//!
//! As in InnoDB, rates are averages since the last look by any session. Those of the first look are
//! averages since the start.

use crate::server::Server;
use crate::server::last_look::Figures;
use crate::server::sessions::Activity;
use crate::show::status::DataIo;
use os::account::{State, ThreadTime};
use std::collections::BTreeMap;
use std::fmt::{Arguments, Write as _};

/// The text that is being written, and the figures of this look and the last one.
struct Text {
    out: String,
    now: Figures,
    before: Figures,
}

impl Text {
    fn line(&mut self, args: Arguments<'_>) {
        // Writing to a String cannot fail.
        let _infallible = writeln!(self.out, "{args}");
    }

    fn section(&mut self, title: &str) {
        let rule = "-".repeat(title.len());
        self.line(format_args!("{rule}\n{title}\n{rule}"));
    }

    /// Returns how much a figure has grown since the last look.
    fn grown(&self, figure: impl Fn(&Figures) -> u64) -> u64 {
        figure(&self.now).saturating_sub(figure(&self.before))
    }

    fn per_s(&self, figure: impl Fn(&Figures) -> u64) -> f64 {
        let span_us = (self.now.at_us - self.before.at_us).max(1);
        self.grown(figure) as f64 * 1e6 / span_us as f64
    }
}

/// Returns the whole text.
pub fn text(server: &Server) -> String {
    let threads = os::account::snapshot();
    let figures = server.engine.status();
    let of = |name: &str| figures.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value);
    let io = DataIo::of(server, &threads);
    let now = read(server, &io, &of);
    let started = Figures { at_us: server.status.started_us, ..Figures::default() };
    let before = server.last_look.replace(now).unwrap_or(started);
    // The wall clock may have been set back.
    let now = Figures { at_us: now.at_us.max(before.at_us), ..now };
    let mut text = Text { out: String::new(), now, before };
    let line = "=".repeat(37);
    let at = crate::process::error_log::timestamp(now.at_us);
    text.line(format_args!("\n{line}\n{} INNODB MONITOR OUTPUT\n{line}", at[..19].replace('T', " ")));
    let span_s = (now.at_us - before.at_us) / 1_000_000;
    text.line(format_args!("Per second averages calculated from the last {span_s} seconds"));
    background_threads(&mut text, &threads);
    semaphores(&mut text, &threads);
    deadlock(&mut text, server);
    transactions(&mut text, server, &of);
    time_accounts(&mut text, &threads);
    file_io(&mut text, &io);
    log(&mut text, server);
    buffer_pool(&mut text, server, &io);
    row_operations(&mut text, &of);
    text.line(format_args!("{}\nEND OF INNODB MONITOR OUTPUT\n{}", "-".repeat(28), "=".repeat(28)));
    text.out
}

fn read(server: &Server, io: &DataIo, of: &impl Fn(&str) -> u64) -> Figures {
    let pool = server.engine.pool().status();
    Figures {
        at_us: os::clock::now_us(),
        rows: ["inserted", "updated", "deleted", "read"].map(|what| of(&format!("Innodb_rows_{what}"))),
        pages: [io.reads, pool.pages_created, pool.pages_written],
        lru: [
            pool.pages_made_young,
            pool.read_requests,
            pool.read_ahead + pool.read_ahead_random,
            pool.read_ahead_evicted,
        ],
        io: [io.reads, io.writes, io.syncs],
        read_bytes: io.read_bytes,
        log_writes: server.engine.log().status().writes,
    }
}

fn background_threads(text: &mut Text, threads: &[ThreadTime]) {
    text.section("BACKGROUND THREAD");
    let running =
        threads.iter().filter(|thread| !["connection", "listener", "main"].contains(&&*thread.name));
    for (thread, tid, current) in running.filter_map(|t| Some((t, t.tid?, t.current?))) {
        text.line(format_args!("{}, OS thread {tid}: {}", thread.name, current.name()));
    }
}

fn semaphores(text: &mut Text, threads: &[ThreadTime]) {
    text.section("SEMAPHORES");
    let waits =
        threads.iter().flat_map(|thread| &thread.states).filter(|time| time.state == State::LatchWait);
    let (count, wall_ns) = waits.fold((0, 0), |(count, ns), time| (count + time.entered, ns + time.wall_ns));
    text.line(format_args!("Waits for page latches {count}, time waited {} ms", wall_ns / 1_000_000));
}

fn deadlock(text: &mut Text, server: &Server) {
    if let Some(deadlock) = server.engine.latest_deadlock() {
        text.section("LATEST DETECTED DEADLOCK");
        let at = crate::process::error_log::timestamp(deadlock.at_us);
        text.line(format_args!("{}\n{}", at[..19].replace('T', " "), deadlock.to_text().trim_end()));
    }
}

fn transactions(text: &mut Text, server: &Server, of: &impl Fn(&str) -> u64) {
    text.section("TRANSACTIONS");
    text.line(format_args!("History list length {}", of("Slipstream_history_list_length")));
    text.line(format_args!("Commits {}, rollbacks {}", of("Slipstream_commits"), of("Slipstream_rollbacks")));
    text.line(format_args!(
        "Row locks held {}, waiting now {}, waits {}, time waited {} ms",
        of("Slipstream_locks"),
        of("Innodb_row_lock_current_waits"),
        of("Innodb_row_lock_waits"),
        of("Innodb_row_lock_time")
    ));
    for entry in server.sessions.all().iter().filter(|e| e.activity() != Activity::Sleep) {
        let l = entry.line();
        text.line(format_args!(
            "---connection {}, {} s, {} {}: {}",
            l.id, l.time_s, l.shown.host, l.shown.user, l.shown.statement
        ));
    }
}

/// Writes one line for each name of a thread and each state that such threads were in, including
/// ended threads.
fn time_accounts(text: &mut Text, threads: &[ThreadTime]) {
    text.section("TIME ACCOUNTS");
    let mut sums: BTreeMap<(&str, State), (u64, u64, u64)> = BTreeMap::new();
    for (thread, time) in
        threads.iter().flat_map(|thread| thread.states.iter().map(move |time| (thread, time)))
    {
        let sum = sums.entry((&thread.name, time.state)).or_default();
        *sum = (sum.0 + time.entered, sum.1 + time.wall_ns, sum.2 + time.cpu_ns);
    }
    text.line(format_args!(
        "{:<22}{:<20}{:>12}{:>14}{:>14}",
        "thread", "state", "entered", "wall ms", "CPU ms"
    ));
    for ((name, state), (entered, wall_ns, cpu_ns)) in sums {
        let (wall_ms, cpu_ms) = (wall_ns as f64 / 1e6, cpu_ns as f64 / 1e6);
        text.line(format_args!("{name:<22}{:<20}{entered:>12}{wall_ms:>14.1}{cpu_ms:>14.1}", state.name()));
    }
}

fn file_io(text: &mut Text, io: &DataIo) {
    text.section("FILE I/O");
    text.line(format_args!("Pending reads {}, writes {}", io.pending_reads, io.pending_writes));
    text.line(format_args!(
        "Pending flushes (fsync) log: {}; buffer pool: {}",
        io.pending_log_syncs, io.pending_syncs
    ));
    text.line(format_args!(
        "{} OS file reads, {} OS file writes, {} OS fsyncs",
        io.reads, io.writes, io.syncs
    ));
    let [reads, writes, syncs] = [0, 1, 2].map(|which| text.per_s(|figures| figures.io[which]));
    let average_bytes = text
        .grown(|figures| figures.read_bytes)
        .checked_div(text.grown(|figures| figures.io[0]))
        .unwrap_or(0);
    text.line(format_args!(
        "{reads:.2} reads/s, {average_bytes} avg bytes/read, {writes:.2} writes/s, {syncs:.2} fsyncs/s"
    ));
}

fn log(text: &mut Text, server: &Server) {
    text.section("LOG");
    let log = server.engine.log().status();
    let used = log.current_lsn.saturating_sub(log.checkpoint_lsn);
    for (label, value) in [
        ("Log capacity", log.resized_bytes),
        ("Log capacity used", used),
        ("Log sequence number", log.current_lsn),
        ("Log written up to", log.written_lsn),
        ("Log flushed up to", log.durable_lsn),
        ("Last checkpoint at", log.checkpoint_lsn),
    ] {
        text.line(format_args!("{label:<29}{value}"));
    }
    let rate = text.per_s(|figures| figures.log_writes);
    text.line(format_args!("{} log i/o's done, {rate:.2} log i/o's/second", log.writes));
    text.line(format_args!(
        "Waits for the log buffer {}, for log space {}",
        log.buffer_waits, log.space_waits
    ));
}

fn buffer_pool(text: &mut Text, server: &Server, io: &DataIo) {
    text.section("BUFFER POOL AND MEMORY");
    let pool = server.engine.pool().status();
    for (label, value) in [
        ("Buffer pool size", pool.pages_total),
        ("Free buffers", pool.pages_free),
        ("Database pages", pool.pages_data),
        ("Old database pages", pool.pages_old),
        ("Modified db pages", pool.pages_dirty),
        ("Pending reads", io.pending_reads),
    ] {
        text.line(format_args!("{label:<19}{value}"));
    }
    text.line(format_args!("Pages made young {}", pool.pages_made_young));
    text.line(format_args!("{:.2} youngs/s", text.per_s(|figures| figures.lru[0])));
    let [reads, creates, writes] = [0, 1, 2].map(|which| text.per_s(|figures| figures.pages[which]));
    text.line(format_args!(
        "Pages read {}, created {}, written {}",
        io.reads, pool.pages_created, pool.pages_written
    ));
    text.line(format_args!("{reads:.2} reads/s, {creates:.2} creates/s, {writes:.2} writes/s"));
    let misses = text.grown(|figures| figures.pages[0]);
    match (misses * 1000).checked_div(text.grown(|figures| figures.lru[1])) {
        None => text.line(format_args!("No buffer pool page gets since the last printout")),
        Some(missed) => text.line(format_args!("Buffer pool hit rate {} / 1000", 1000 - missed.min(1000))),
    }
    let [ahead, unused] = [2, 3].map(|which| text.per_s(|figures| figures.lru[which]));
    text.line(format_args!("Pages read ahead {ahead:.2}/s, evicted without access {unused:.2}/s"));
    text.line(format_args!(
        "Waits for a free page {}, pages that foreground threads flushed {}",
        pool.wait_free, pool.single_page_flushes
    ));
}

fn row_operations(text: &mut Text, of: &impl Fn(&str) -> u64) {
    text.section("ROW OPERATIONS");
    text.line(format_args!("{} read views open inside InnoDB", of("Slipstream_snapshots")));
    let [inserted, updated, deleted, read] = text.now.rows;
    text.line(format_args!(
        "Number of rows inserted {inserted}, updated {updated}, deleted {deleted}, read {read}"
    ));
    let [inserts, updates, deletes, reads] =
        [0, 1, 2, 3].map(|which| text.per_s(|figures| figures.rows[which]));
    text.line(format_args!(
        "{inserts:.2} inserts/s, {updates:.2} updates/s, {deletes:.2} deletes/s, {reads:.2} reads/s"
    ));
}
