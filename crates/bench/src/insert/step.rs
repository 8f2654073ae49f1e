//! Runs one step of the Insert Benchmark against one server.
//!
//! Each client has a table and up to three connections of its own: one inserts, one deletes as many
//! rows from the other end of the table, one queries. All are connected before the clock starts and
//! stay connected until the resources of the server's process have been read, so that no thread of
//! the server ends in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use os::clock::{Stopwatch, now_us, sleep};
use os::thread::JoinHandle;
use protocol::client::{Client, ClientError, ConnectOptions};

use super::statement::{Lookup, Writer, add_indexes, datetime, delete};
use crate::histogram::Histogram;

/// The number of deletes that may be outstanding. An inserter that is further ahead waits.
const DELETES_DUE: usize = 10;

/// A step of the Insert Benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `l.i0`: inserts in the order of the primary key, which is the only index.
    L0,
    /// `l.x`: makes three secondary indexes with one statement.
    Index,
    /// `l.i1`: inserts 50 rows a statement, and deletes 50 rows a statement.
    L1,
    /// `l.i2`: inserts 5 rows a statement, and deletes 5 rows a statement.
    L2,
    /// `q100`, `q500` and so on: each client sends queries one after the other, and inserts and
    /// deletes this many rows a second.
    Query(u64),
}

impl Step {
    /// All steps, in the order of the benchmark.
    pub const ALL: [Step; 7] =
        [Step::L0, Step::Index, Step::L1, Step::L2, Step::Query(100), Step::Query(500), Step::Query(1000)];

    /// Returns the Insert Benchmark's name of the step.
    pub fn name(self) -> String {
        match self {
            Step::L0 => "l.i0".into(),
            Step::Index => "l.x".into(),
            Step::L1 => "l.i1".into(),
            Step::L2 => "l.i2".into(),
            Step::Query(rate) => format!("q{rate}"),
        }
    }

    /// Returns the name of the operations that the step's figures refer to.
    pub fn operations(self) -> &'static str {
        match self {
            Step::L0 | Step::L1 | Step::L2 => "inserts",
            Step::Index => "rows indexed",
            Step::Query(_) => "queries",
        }
    }

    fn rows_of_statement(self) -> u64 {
        match self {
            Step::L0 => 100,
            Step::L1 | Step::Query(_) => 50,
            Step::L2 | Step::Index => 5,
        }
    }
}

/// How a step is run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The step.
    pub step: Step,
    /// The number of clients, each with a table of its own.
    pub clients: u32,
    /// The number of rows that all clients insert together. The query steps ignore it.
    pub rows: u64,
    /// The duration of a query step in seconds.
    pub seconds: u64,
    /// What the queries look up.
    pub lookup: Lookup,
    /// The length of the column `data` in bytes.
    pub data_bytes: usize,
    /// The seed of the values. Every run should have another one.
    pub seed: u64,
}

/// What a step has done, and how long it took.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// The seconds from the start of the clients to the end of the last one.
    pub seconds: f64,
    /// The number of rows inserted.
    pub inserted: u64,
    /// The number of rows deleted.
    pub deleted: u64,
    /// The number of queries answered.
    pub queries: u64,
    /// The number of rows that the new indexes have entries for.
    pub indexed: u64,
    /// The number of operations in each second.
    pub each_second: Vec<f64>,
    /// The response times of the INSERT statements.
    pub insert_times: Histogram,
    /// The response times of the DELETE statements.
    pub delete_times: Histogram,
    /// The response times of the queries.
    pub query_times: Histogram,
}

impl Done {
    /// Returns the number of the step's operations that were done.
    pub fn operations(&self, step: Step) -> u64 {
        match step {
            Step::L0 | Step::L1 | Step::L2 => self.inserted,
            Step::Index => self.indexed,
            Step::Query(_) => self.queries,
        }
    }

    /// Returns the response times of the step's statements. They are empty for the step that makes
    /// indexes, which has only a duration.
    pub fn times(&self, step: Step) -> &Histogram {
        match step {
            Step::Query(_) => &self.query_times,
            _ => &self.insert_times,
        }
    }

    fn add(&mut self, other: &Done) {
        self.inserted += other.inserted;
        self.deleted += other.deleted;
        self.queries += other.queries;
        self.indexed += other.indexed;
        self.insert_times.merge(&other.insert_times);
        self.delete_times.merge(&other.delete_times);
        self.query_times.merge(&other.query_times);
    }
}

/// Returns the name of a client's table. Clients are numbered from 1.
pub fn table(client: u32) -> String {
    format!("pi{client}")
}

/// What the clients of a step share. Relaxed memory order is enough: the counters are only summed
/// and shown, and a client that sees the flag late ends one statement later.
#[derive(Default)]
struct Shared {
    operations: AtomicU64,
    /// Set when the time is over or a client has failed.
    stop: AtomicBool,
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A connection that a thread uses, and what it has done so far. It outlives the thread.
struct Connection {
    client: Client,
    done: Done,
}

impl Connection {
    fn open(options: &ConnectOptions) -> Result<Connection, ClientError> {
        Ok(Connection { client: Client::connect(options)?, done: Done::default() })
    }

    /// Runs a statement, and returns its duration in microseconds and the number of rows it
    /// changed.
    fn timed(&mut self, sql: &str) -> Result<(u64, u64), ClientError> {
        let clock = Stopwatch::start();
        let summary = self.client.query_discard(sql)?;
        Ok((clock.elapsed_us(), summary.affected_rows))
    }
}

type Running = JoinHandle<Result<Connection, ClientError>>;

/// All clients of a step, connected and ready to run.
pub struct Clients {
    run: Run,
    shared: Arc<Shared>,
    ready: Vec<Box<dyn FnOnce() -> Result<Connection, ClientError> + Send>>,
    /// The connections whose work is over. They are kept open.
    over: Vec<Connection>,
}

impl Clients {
    /// Opens the connections that the step needs.
    pub fn connect(options: &ConnectOptions, run: &Run) -> Result<Clients, ClientError> {
        let mut clients = Clients { run: *run, shared: Arc::default(), ready: Vec::new(), over: Vec::new() };
        for client in 1..=run.clients {
            clients.connect_one(options, client)?;
        }
        Ok(clients)
    }

    fn connect_one(&mut self, options: &ConnectOptions, client: u32) -> Result<(), ClientError> {
        let (run, name) = (self.run, table(client));
        let seed = run.seed.wrapping_add(u64::from(client) << 32);
        let writer = |role: u64| Writer::new(&name, run.data_bytes, seed ^ role);
        let mut own = Connection::open(options)?;
        if run.step == Step::Index {
            let shared = Arc::clone(&self.shared);
            self.ready.push(Box::new(move || index(own, &name, &shared)));
            return Ok(());
        }
        let lowest = lowest_and_highest(&mut own.client, &name)?.0;
        let (inserts, shared) = (writer(0), Arc::clone(&self.shared));
        let due = if run.step == Step::L0 {
            None
        } else {
            let (sender, receiver) = sync_channel(DELETES_DUE);
            let (deleter, name) = (Connection::open(options)?, name.clone());
            let rows = run.step.rows_of_statement();
            self.ready.push(Box::new(move || delete_all(deleter, &name, lowest, rows, &receiver)));
            Some(sender)
        };
        let share = run.rows / u64::from(run.clients);
        self.ready.push(Box::new(move || insert(own, inserts, &run, share, due, &shared)));
        if let Step::Query(_) = run.step {
            let (querier, queries, shared) =
                (Connection::open(options)?, writer(1), Arc::clone(&self.shared));
            self.ready.push(Box::new(move || query(querier, queries, &run, &name, &shared)));
        }
        Ok(())
    }

    /// Runs the step, and calls `tell` with the number of operations after each second. The
    /// connections stay open until `self` is dropped.
    pub fn run(&mut self, tell: &mut dyn FnMut(u64)) -> Result<Done, ClientError> {
        let mut done = Done::default();
        let clock = Stopwatch::start();
        let start = |work: Box<dyn FnOnce() -> Result<Connection, ClientError> + Send>| {
            let shared = Arc::clone(&self.shared);
            os::thread::spawn("insert_client", move || {
                work().inspect_err(|_| shared.stop.store(true, Ordering::Relaxed))
            })
        };
        let running: Vec<Running> = self.ready.drain(..).map(start).collect();
        let mut before = 0;
        while !running.iter().all(|thread| thread.is_finished()) {
            sleep(Duration::from_millis(5));
            let second = done.each_second.len() as u64 + 1;
            if clock.elapsed_ms() >= second * 1000 {
                let now = self.shared.operations.load(Ordering::Relaxed);
                done.each_second.push((now - before) as f64);
                tell(now - before);
                before = now;
            }
            if matches!(self.run.step, Step::Query(_)) && clock.elapsed().as_secs() >= self.run.seconds {
                self.shared.stop.store(true, Ordering::Relaxed);
            }
        }
        done.seconds = clock.elapsed().as_secs_f64();
        for thread in running {
            let connection = thread.join().expect("a client does not panic")?;
            done.add(&connection.done);
            self.over.push(connection);
        }
        Ok(done)
    }
}

/// Returns the least and the greatest key of a table; 1 and 0 when the table is empty.
fn lowest_and_highest(client: &mut Client, table: &str) -> Result<(u64, u64), ClientError> {
    let mut of = |function: &str, otherwise: u64| {
        let result = client.query(&format!("select {function}(transactionid) from {table}"))?;
        Ok::<u64, ClientError>(result.cell(0, 0).and_then(|text| text.parse().ok()).unwrap_or(otherwise))
    };
    Ok((of("min", 1)?, of("max", 0)?))
}

fn index(mut own: Connection, table: &str, shared: &Shared) -> Result<Connection, ClientError> {
    let rows = own.client.query(&format!("select count(*) from {table}"))?;
    own.timed(&add_indexes(table))?;
    own.done.indexed = rows.cell(0, 0).and_then(|text| text.parse().ok()).unwrap_or(0);
    shared.operations.fetch_add(own.done.indexed, Ordering::Relaxed);
    Ok(own)
}

/// Inserts the client's share of the rows, or in a query step inserts at the step's rate until its
/// time is over.
fn insert(
    mut own: Connection,
    mut writer: Writer,
    run: &Run,
    share: u64,
    due: Option<SyncSender<()>>,
    shared: &Shared,
) -> Result<Connection, ClientError> {
    let mut pace = match run.step {
        Step::Query(rows_a_second) => Some(Pace::new(rows_a_second.div_ceil(run.step.rows_of_statement()))),
        _ => None,
    };
    let mut statement = String::new();
    while !shared.stopped() && (pace.is_some() || own.done.inserted < share) {
        let rows = match pace {
            Some(_) => run.step.rows_of_statement(),
            None => run.step.rows_of_statement().min(share - own.done.inserted),
        };
        writer.insert(&mut statement, &datetime(now_us() / 1_000_000), rows);
        let (took_us, inserted) = own.timed(&statement)?;
        own.done.insert_times.record(took_us);
        own.done.inserted += inserted;
        if pace.is_none() {
            shared.operations.fetch_add(inserted, Ordering::Relaxed);
        }
        // If this fails, the deleter has ended with an error and has set the flag that ends this
        // loop.
        let _ = due.as_ref().map(|due| due.send(()));
        if let Some(pace) = &mut pace {
            pace.keep(shared);
        }
    }
    Ok(own)
}

/// Deletes as many rows at the low end of the table as are inserted at its high end, one statement
/// for each INSERT.
fn delete_all(
    mut own: Connection,
    table: &str,
    mut lowest: u64,
    rows: u64,
    due: &Receiver<()>,
) -> Result<Connection, ClientError> {
    while due.recv().is_ok() {
        let (took_us, deleted) = own.timed(&delete(table, lowest, rows))?;
        own.done.delete_times.record(took_us);
        own.done.deleted += deleted;
        // The ids may have gaps, so this is a lower bound of the lowest id that is left.
        lowest += rows;
    }
    Ok(own)
}

fn query(
    mut own: Connection,
    mut writer: Writer,
    run: &Run,
    table: &str,
    shared: &Shared,
) -> Result<Connection, ClientError> {
    /// The number of queries after which the range of ids is read again.
    const IDS_EVERY: u64 = 1_000;
    let (mut statement, mut ids) = (String::new(), (1, 1));
    while !shared.stopped() {
        if run.lookup == Lookup::Points && own.done.queries.is_multiple_of(IDS_EVERY) {
            ids = lowest_and_highest(&mut own.client, table)?;
        }
        writer.query(&mut statement, run.lookup, ids);
        let (took_us, _) = own.timed(&statement)?;
        own.done.query_times.record(took_us);
        own.done.queries += 1;
        shared.operations.fetch_add(1, Ordering::Relaxed);
    }
    Ok(own)
}

/// A rate kept as the original client keeps it: it sends the statements of a second at once and
/// pauses until the second is over.
struct Pace {
    each_second: u64,
    left: u64,
    second: Stopwatch,
}

impl Pace {
    fn new(each_second: u64) -> Pace {
        Pace { each_second, left: each_second, second: Stopwatch::start() }
    }

    fn keep(&mut self, shared: &Shared) {
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        let rest = |second: &Stopwatch| second.remaining(Duration::from_secs(1));
        while !shared.stopped() && !rest(&self.second).is_zero() {
            sleep(rest(&self.second).min(Duration::from_millis(20)));
        }
        *self = Pace::new(self.each_second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_benchmarks() {
        let names: Vec<String> = Step::ALL.iter().map(|step| step.name()).collect();
        assert_eq!(names, ["l.i0", "l.x", "l.i1", "l.i2", "q100", "q500", "q1000"]);
    }

    #[test]
    fn a_pace_that_is_stopped_does_not_wait() {
        let shared = Shared::default();
        shared.stop.store(true, Ordering::Relaxed);
        let mut pace = Pace::new(2);
        pace.keep(&shared);
        assert_eq!(pace.left, 1);
        pace.keep(&shared);
        assert_eq!(pace.left, 2);
    }
}
