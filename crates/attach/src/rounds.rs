//! The rounds in which the rows are copied: some are read and loaded, then the log is applied.

use std::collections::BTreeMap;
use std::time::Duration;

use bench::progress::{Progress, grouped};
use os::clock::{Stopwatch, sleep};
use protocol::client::ConnectOptions;

use crate::applying::{POLL, apply, apply_exactly};
use crate::choice::Choice;
use crate::chunk::Reader;
use crate::command_line::Plan;
use crate::definitions::{OWN_SCHEMAS, Table};
use crate::error::Result;
use crate::local::Local;
use crate::moment::Moment;
use crate::snapshot::{LOCK_WAITS, Snapshot, wait_for_changes_of};
use crate::source::{Source, texts};
use crate::state::{self, TableState};

/// The time for which chunks are copied before the log is applied again.
const ROUND: Duration = Duration::from_secs(3);
/// The longest time for which the definitions of tables are held before their rows are read.
const HELD: Duration = Duration::from_secs(2);
/// The number of tables that are held for one worker.
const HELD_TABLES: usize = 32;

/// The copying of all rows.
pub struct Rounds<'a> {
    pub plan: &'a Plan,
    pub choice: &'a dyn Choice,
    /// The way to reach this server.
    pub at: &'a ConnectOptions,
    pub source: &'a mut Source,
    pub local: &'a mut Local,
    pub progress: &'a mut Progress,
    /// The number of times that the lock of a table was not to be had, by the table's path.
    pub refused_locks: BTreeMap<String, usize>,
}

impl Rounds<'_> {
    /// Copies in rounds until every table that is here has its rows.
    ///
    /// The end is decided by the tables that this server has, and not by the source's list of its
    /// own: a table that is renamed while the source lists them may be in the list under neither
    /// name. Here the log has been applied up to one transaction, and every table is there under
    /// the name that it had then. A table that the source makes later comes with the log.
    pub fn run(&mut self) -> Result<()> {
        self.local.query("START REPLICA IO_THREAD")?;
        self.progress.step("rows");
        let pace = Pace::begin(self.source, self.choice, self.local)?;
        loop {
            let tables = Table::all(self.source, self.choice)?;
            let target = Moment::now(self.source)?;
            apply(self.local, &target, None)?;
            if self.has_all_rows()? {
                break;
            }
            let left = self.left(&tables)?;
            if left.is_empty() {
                // The table that is missing was not in the source's list.
                sleep(POLL);
                continue;
            }
            let (chunked, whole): (Vec<Table>, Vec<Table>) = left.into_iter().partition(Table::has_chunks);
            for table in &whole {
                self.copy_whole(table)?;
                self.tell(tables.len(), &pace)?;
            }
            self.round(chunked)?;
            self.tell(tables.len(), &pace)?;
        }
        let states = state::tables(self.local)?;
        let rows = states.values().map(|table| table.rows).sum();
        self.progress.done(format!("{} tables, {} rows", states.len(), grouped(rows)));
        Ok(())
    }

    fn tell(&mut self, tables: usize, pace: &Pace) -> Result<()> {
        let states = state::tables(self.local)?;
        let (rows, bytes) =
            states.values().fold((0, 0), |sum, table| (sum.0 + table.rows, sum.1 + table.bytes));
        let done = states.values().filter(|table| table.is_done).count();
        self.progress.tell(|| {
            let (rate, left) = (pace.rate(bytes), pace.left(rows));
            let (rows, bytes) = (grouped(rows), grouped(bytes >> 20));
            format!("{done} of {tables} tables, {rows} rows, {bytes} MB, {rate:.1} MB/s{left}")
        });
        Ok(())
    }

    /// Reports whether each table that is here has all of its rows. The applier stands still.
    fn has_all_rows(&mut self) -> Result<bool> {
        let list = format!(
            "SELECT CONCAT(TABLE_SCHEMA, '/', TABLE_NAME) FROM information_schema.TABLES \
             WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA NOT IN {OWN_SCHEMAS} \
             AND TABLE_SCHEMA <> '{}'",
            state::SCHEMA
        );
        let paths = texts(&self.local.query(&list)?);
        let (ids, states) = (self.local.table_ids()?, state::tables(self.local)?);
        Ok(paths.iter().all(|row| is_done(&row[0], &ids, &states)))
    }

    /// Returns the tables of the source that are not completely here. A table that is not here
    /// under its name has been dropped or renamed since it was listed.
    fn left(&mut self, tables: &[Table]) -> Result<Vec<Table>> {
        let (here, states) = (self.local.table_ids()?, state::tables(self.local)?);
        Ok(tables.iter().filter(|table| !is_done(&table.path(), &here, &states)).cloned().collect())
    }

    /// Copies a table whose rows cannot be told apart, or that keeps their history. It is read in
    /// one snapshot, the log is applied exactly up to there, and the applier stands still until all
    /// rows are here. Nothing is done while the source has other use for the table.
    fn copy_whole(&mut self, table: &Table) -> Result<()> {
        assert!(!table.has_chunks(), "the rows of {} are read in chunks", table.quoted());
        let refused = self.refused_locks.entry(table.path()).or_default();
        let seconds = LOCK_WAITS[(*refused).min(LOCK_WAITS.len() - 1)];
        let Some(mut snapshot) = Snapshot::take(&self.plan.source, table, seconds)? else {
            *refused += 1;
            return Ok(());
        };
        if !snapshot.place.is_at_or_behind(&self.local.replica_status()?.applied) {
            // MariaDB sends an event before its transaction is in a snapshot.
            sleep(POLL);
            return Ok(());
        }
        apply_exactly(self.local, &snapshot.place)?;
        // The snapshot keeps the table's name at the source, and this server is where it is.
        if let Some(id) = self.local.table_ids()?.get(&table.path()) {
            let reader = Reader::new(&mut snapshot.source, table.clone())?;
            let mut local = Local::for_rows(self.at, self.source.is_mariadb())?;
            reader.replace_all(&mut snapshot.source, &mut local, |local, rows, bytes| {
                TableState { is_done: true, rows, bytes, ..TableState::new(id) }.store(local)
            })?;
        }
        snapshot.source.query("COMMIT").map(|_| ())
    }

    /// Waits until a SELECT at the source sees everything that has been applied here, because the
    /// log is sent before its transactions are visible. Returns the tables of which that is true.
    fn wait_until_visible(&mut self, held: Vec<Table>) -> Result<Vec<Table>> {
        if self.source.is_mariadb() || self.source.has_gtids() {
            let applied = Moment::applied(self.local, self.source.has_gtids())?;
            while !applied.is_visible(self.source)? {
                sleep(POLL);
            }
            return Ok(held);
        }
        // The definitions are held meanwhile, so this takes no longer than other waits for them.
        let (mut visible, waited) = (Vec::new(), Stopwatch::start());
        for table in held {
            if waited.elapsed() >= HELD {
                break;
            }
            let refused = self.refused_locks.entry(table.path()).or_default();
            let seconds = LOCK_WAITS[(*refused).min(LOCK_WAITS.len() - 1)];
            match wait_for_changes_of(self.source, &table, seconds)? {
                true => visible.push(table),
                false => *refused += 1,
            }
        }
        Ok(visible)
    }

    /// Copies chunks for a while, from several tables at the same time.
    ///
    /// A table at the source and the table of the same name here are the same only as long as no
    /// table is renamed. So the definitions are held at the source, the log is applied up to a
    /// moment after that, and then the tables are looked up here. The definitions are held only as
    /// long as the round takes.
    fn round(&mut self, left: Vec<Table>) -> Result<()> {
        let holders = self.hold(left)?;
        let target = Moment::now(self.source)?;
        if !apply(self.local, &target, Some(HELD))? {
            // The definitions are let go, so that the source does not wait for a replica that is
            // behind.
            return Ok(());
        }
        let mut visible = Vec::new();
        for (source, held) in holders {
            visible.push((source, self.wait_until_visible(held)?));
        }
        let (here, mut states) = (self.local.table_ids()?, state::tables(self.local)?);
        let started = Stopwatch::start();
        let mut jobs = Vec::new();
        for (mut source, held) in visible {
            let mut work = Vec::new();
            for table in held {
                let Some(id) = here.get(&table.path()) else { continue };
                let state = states.remove(id).unwrap_or_else(|| TableState::new(id));
                if !state.is_done {
                    work.push((table, state));
                }
            }
            let (at, started) = (self.at, &started);
            jobs.push(move || {
                let copied = copy_tables(&mut source, at, work, started);
                source.query("COMMIT").and(copied)
            });
        }
        os::thread::run_all("attach copier", jobs).into_iter().collect()
    }

    /// Opens a session for each worker and has each hold the definitions of its tables, which are
    /// dealt out one by one, so that no worker is idle while there are tables. A worker reads only
    /// what its own session holds: a session that has to wait behind a RENAME would wait for the
    /// session that the RENAME waits for. A table that has lost its primary key since it was listed
    /// is left to a later round.
    fn hold(&mut self, left: Vec<Table>) -> Result<Vec<(Source, Vec<Table>)>> {
        let mut holders = Vec::new();
        for _ in 0..self.plan.workers.min(left.len()) {
            let mut source = Source::connect(&self.plan.source)?;
            // A statement that waits for a table of one session may have a table that another one
            // waits for, and no server finds such a deadlock.
            source.query(&format!("SET SESSION lock_wait_timeout = {}", HELD.as_secs()))?;
            source.query("START TRANSACTION READ ONLY")?;
            holders.push((source, Vec::new()));
        }
        for (worker, table) in dealt(left, holders.len()) {
            let (source, held) = &mut holders[worker];
            if table.hold(source)? && table.has_chunks_now(source)? {
                held.push(table);
            }
        }
        let is_few = holders.iter().all(|(_, held)| held.len() <= HELD_TABLES);
        assert!(is_few, "a worker holds few tables, so that the source waits for few");
        Ok(holders)
    }
}

/// Deals the tables of a round out to the workers, each of which gets [`HELD_TABLES`] at most.
/// Returns them in their order, each with the number of its worker.
fn dealt<T>(tables: Vec<T>, workers: usize) -> impl Iterator<Item = (usize, T)> {
    let most = HELD_TABLES * workers;
    tables.into_iter().take(most).enumerate().map(move |(number, table)| (number % workers, table))
}

/// Reports whether a table has all of its rows here. `ids` are the engine's ids of the tables by
/// their paths, and `states` their progress by these ids.
fn is_done(path: &str, ids: &BTreeMap<String, String>, states: &BTreeMap<String, TableState>) -> bool {
    ids.get(path).and_then(|id| states.get(id)).is_some_and(|state| state.is_done)
}

/// The pace of a copy, since this program began or went on with it.
struct Pace {
    since: Stopwatch,
    /// The rows and bytes that were here already.
    rows: u64,
    bytes: u64,
    /// The number of rows that the source has by its own estimate.
    estimated: u64,
}

impl Pace {
    fn begin(source: &mut Source, choice: &dyn Choice, local: &mut Local) -> Result<Pace> {
        let list = "SELECT TABLE_SCHEMA, TABLE_NAME, IFNULL(TABLE_ROWS, 0) FROM information_schema.TABLES \
                    WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')";
        let found = source.table(list)?;
        let chosen = found.iter().filter(|row| {
            !OWN_SCHEMAS.contains(&format!("'{}'", row[0])) && choice.takes_table(&row[0], &row[1])
        });
        let estimated = chosen.filter_map(|row| row[2].parse::<u64>().ok()).sum();
        let states = state::tables(local)?;
        let (rows, bytes) =
            states.values().fold((0, 0), |sum, table| (sum.0 + table.rows, sum.1 + table.bytes));
        Ok(Pace { since: Stopwatch::start(), rows, bytes, estimated })
    }

    /// Returns the megabytes per second.
    fn rate(&self, bytes: u64) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64().max(0.001);
        bytes.saturating_sub(self.bytes) as f64 / f64::from(1 << 20) / seconds
    }

    /// Returns a text about the time that is left when `rows` are here. It is empty where the
    /// source's estimate has been passed.
    fn left(&self, rows: u64) -> String {
        let (copied, left) = (rows.saturating_sub(self.rows), self.estimated.saturating_sub(rows));
        if copied == 0 || left == 0 {
            return String::new();
        }
        let seconds = (self.since.elapsed().as_secs_f64() * left as f64 / copied as f64) as u64;
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!(", about {hours}:{minutes:02}:{seconds:02} left")
    }
}

/// Copies chunks of one table after the other until no table is left, or the round is over. The
/// source's session holds the tables.
fn copy_tables(
    source: &mut Source,
    at: &ConnectOptions,
    tables: Vec<(Table, TableState)>,
    started: &Stopwatch,
) -> Result<()> {
    let mut local = Local::for_rows(at, source.is_mariadb())?;
    for (table, mut state) in tables {
        assert!(!state.is_done, "all rows of {} are here", table.quoted());
        let mut reader = Reader::new(source, table)?;
        while !state.is_done {
            if started.elapsed() >= ROUND {
                return Ok(());
            }
            reader.copy(source, &mut local, &mut state)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_gets_tables_and_none_too_many() {
        let of_workers = |tables: usize, workers: usize| {
            let mut of_workers = vec![0; workers];
            dealt((0..tables).collect(), workers).for_each(|(worker, _)| of_workers[worker] += 1);
            of_workers
        };
        assert_eq!(of_workers(5, 2), [3, 2]);
        assert_eq!(of_workers(2, 2), [1, 1]);
        assert_eq!(of_workers(1000, 3), [HELD_TABLES; 3]);
        assert_eq!(dealt(Vec::<u8>::new(), 0).count(), 0);
    }

    #[test]
    fn the_time_left_is_told_while_the_estimate_is_not_passed() {
        let pace = Pace { since: Stopwatch::start(), rows: 100, bytes: 0, estimated: 1000 };
        assert_eq!(pace.left(100), "", "nothing was copied yet");
        assert!(pace.left(200).starts_with(", about 0:0"), "{}", pace.left(200));
        assert_eq!(pace.left(1000), "");
        assert_eq!(pace.left(2000), "");
    }
}
