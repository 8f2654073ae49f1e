//! Runs transactions of sysbench's oltp scripts, with prepared statements from many concurrent
//! clients.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError, ConnectOptions, Statement};
use protocol::scalar::Scalar;

use super::random::{C_LEN, PAD_LEN, RandType, digits};
use super::table::{SbtestError, Size, connect, doing};

/// The errors after which sysbench starts its transaction again: lock wait timeout, deadlock,
/// record has changed.
const RETRIED: [u16; 3] = [1205, 1213, 1020];

/// Reports whether a transaction is begun again after this error.
pub(crate) fn is_retried(error: &ClientError) -> bool {
    error.server_code().is_some_and(|code| RETRIED.contains(&code))
}

/// The number of rows of a range read.
const RANGE_ROWS: u64 = 100;
/// The number of point reads of a read_write transaction.
const POINT_SELECTS: usize = 10;

/// The kind of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// One `UPDATE ... SET c = ?` by primary key in each transaction.
    UpdateNonIndex,
    /// One `UPDATE ... SET k = k + 1` by primary key in each transaction.
    UpdateIndex,
    /// One INSERT in each transaction.
    Insert,
    /// 14 reads and 4 writes in each transaction.
    ReadWrite,
    /// The load of mysqlslap: one row is inserted in each transaction into a table without a key
    /// ([`super::slap`]), which must exist.
    Mysqlslap,
}

impl Workload {
    /// All workloads.
    pub const ALL: [Workload; 5] = [
        Workload::UpdateNonIndex,
        Workload::UpdateIndex,
        Workload::Insert,
        Workload::ReadWrite,
        Workload::Mysqlslap,
    ];

    /// Returns sysbench's name of the script without `oltp_`, or `mysqlslap`.
    pub fn name(self) -> &'static str {
        match self {
            Workload::UpdateNonIndex => "update_non_index",
            Workload::UpdateIndex => "update_index",
            Workload::Insert => "insert",
            Workload::ReadWrite => "read_write",
            Workload::Mysqlslap => "mysqlslap",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(text: &str) -> Result<Workload, String> {
        Workload::ALL.into_iter().find(|workload| workload.name() == text).ok_or_else(|| {
            format!("no workload '{text}'; there are {}", Workload::ALL.map(Workload::name).join(", "))
        })
    }
}

/// A load to run.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The kind of transactions.
    pub workload: Workload,
    /// The number of tables and of their rows. The tables must exist.
    pub size: Size,
    /// The number of transactions, over all clients.
    pub transactions: u64,
    /// The number of concurrent clients.
    pub clients: u32,
    /// The distribution of the row ids.
    pub rand_type: RandType,
    /// The seed of the values. Every run should have another one.
    pub seed: u64,
}

/// What a load has done.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// The number of transactions committed.
    pub transactions: u64,
    /// The number of transactions started again after an error that sysbench retries.
    pub retries: u64,
    /// The seconds from the start of the first client to the end of the last one.
    pub seconds: f64,
}

impl Loaded {
    /// Returns the commits a second.
    pub fn rate(&self) -> f64 {
        self.transactions as f64 / self.seconds
    }
}

/// Counters that the clients share. Relaxed memory order is enough: the counters are only summed
/// and shown.
#[derive(Default)]
struct Shared {
    /// The number of transactions that clients have claimed. Each client claims one before it runs
    /// it.
    claimed: AtomicU64,
    committed: AtomicU64,
    retries: AtomicU64,
    /// Set when a client has failed, which makes the others stop.
    failed: AtomicBool,
}

/// Runs the load, and calls `tell` every 10 ms with the number of transactions committed so far.
pub fn run(options: &ConnectOptions, load: &Load, tell: &mut dyn FnMut(u64)) -> Result<Loaded, SbtestError> {
    let shared = Arc::new(Shared::default());
    let mut clients = Vec::new();
    for number in 0..load.clients {
        clients.push(Worker::connect(options, load, number)?);
    }
    let started = Stopwatch::start();
    let running: Vec<_> = clients
        .into_iter()
        .map(|mut worker| {
            let shared = Arc::clone(&shared);
            os::thread::spawn("load_client", move || {
                worker.run(&shared).inspect_err(|_| shared.failed.store(true, Ordering::Relaxed))
            })
        })
        .collect();
    while !running.iter().all(|thread| thread.is_finished()) {
        sleep(std::time::Duration::from_millis(10));
        tell(shared.committed.load(Ordering::Relaxed));
    }
    let seconds = started.elapsed().as_secs_f64();
    for thread in running {
        thread.join().expect("a load client does not panic")?;
    }
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Ok(Loaded { transactions: count(&shared.committed), retries: count(&shared.retries), seconds })
}

/// The prepared statements of one table.
struct TableStatements {
    point: Statement,
    range: Statement,
    sum: Statement,
    order: Statement,
    distinct: Statement,
    update_index: Statement,
    update_non_index: Statement,
    delete: Statement,
    insert: Statement,
    insert_auto: Statement,
}

impl TableStatements {
    fn prepare(client: &mut Client, table: u32) -> Result<TableStatements, ClientError> {
        let mut prepare = |sql: &str| client.prepare(&sql.replace('@', &format!("sbtest{table}")));
        Ok(TableStatements {
            point: prepare("SELECT c FROM @ WHERE id=?")?,
            range: prepare("SELECT c FROM @ WHERE id BETWEEN ? AND ?")?,
            sum: prepare("SELECT SUM(k) FROM @ WHERE id BETWEEN ? AND ?")?,
            order: prepare("SELECT c FROM @ WHERE id BETWEEN ? AND ? ORDER BY c")?,
            distinct: prepare("SELECT DISTINCT c FROM @ WHERE id BETWEEN ? AND ? ORDER BY c")?,
            update_index: prepare("UPDATE @ SET k=k+1 WHERE id=?")?,
            update_non_index: prepare("UPDATE @ SET c=? WHERE id=?")?,
            delete: prepare("DELETE FROM @ WHERE id=?")?,
            insert: prepare("INSERT INTO @ (id, k, c, pad) VALUES (?, ?, ?, ?)")?,
            insert_auto: prepare("INSERT INTO @ (k, c, pad) VALUES (?, ?, ?)")?,
        })
    }
}

/// One client of the load.
struct Worker {
    client: Client,
    tables: Vec<TableStatements>,
    load: Load,
    rng: Rng,
}

impl Worker {
    fn connect(options: &ConnectOptions, load: &Load, number: u32) -> Result<Worker, SbtestError> {
        let mut client = connect(options)?;
        let tables: Result<Vec<_>, _> =
            (1..=load.size.tables).map(|table| TableStatements::prepare(&mut client, table)).collect();
        let tables = doing(|| "preparing the load's statements".into(), tables)?;
        let rng = Rng::new(load.seed.wrapping_add(u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        Ok(Worker { client, tables, load: *load, rng })
    }

    fn run(&mut self, shared: &Shared) -> Result<(), SbtestError> {
        while shared.claimed.fetch_add(1, Ordering::Relaxed) < self.load.transactions {
            while !shared.failed.load(Ordering::Relaxed) {
                match self.transaction() {
                    Ok(()) => {
                        shared.committed.fetch_add(1, Ordering::Relaxed);
                        break;
                    }
                    Err(error) if is_retried(&error) => {
                        shared.retries.fetch_add(1, Ordering::Relaxed);
                        // A lock wait timeout has ended only the statement, while a deadlock has
                        // ended the transaction.
                        doing(|| "ROLLBACK".into(), self.client.query_discard("ROLLBACK"))?;
                    }
                    Err(error) => {
                        return doing(|| format!("a transaction of {}", self.load.workload), Err(error));
                    }
                }
            }
        }
        Ok(())
    }

    fn transaction(&mut self) -> Result<(), ClientError> {
        match self.load.workload {
            Workload::UpdateNonIndex => self.update_non_index(),
            Workload::UpdateIndex => self.update_index(),
            Workload::Insert => self.insert(),
            Workload::ReadWrite => self.read_write(),
            Workload::Mysqlslap => super::slap::insert(&mut self.client, &mut self.rng),
        }
    }

    fn table(&mut self) -> usize {
        self.rng.below(u64::from(self.load.size.tables)) as usize
    }

    fn id(&mut self) -> i64 {
        self.load.rand_type.pick(&mut self.rng, self.load.size.rows) as i64
    }

    fn update_non_index(&mut self) -> Result<(), ClientError> {
        let (table, id) = (self.table(), self.id());
        let mut c = [0; C_LEN];
        digits(&mut self.rng, &mut c);
        let statement = &self.tables[table].update_non_index;
        self.client.execute_discard(statement, &[Scalar::Bytes(&c), Scalar::Int(id)]).map(|_| ())
    }

    fn update_index(&mut self) -> Result<(), ClientError> {
        let (table, id) = (self.table(), self.id());
        self.client.execute_discard(&self.tables[table].update_index, &[Scalar::Int(id)]).map(|_| ())
    }

    fn insert(&mut self) -> Result<(), ClientError> {
        let (table, k) = (self.table(), self.id());
        let (mut c, mut pad) = ([0; C_LEN], [0; PAD_LEN]);
        digits(&mut self.rng, &mut c);
        digits(&mut self.rng, &mut pad);
        let values = [Scalar::Int(k), Scalar::Bytes(&c), Scalar::Bytes(&pad)];
        self.client.execute_discard(&self.tables[table].insert_auto, &values).map(|_| ())
    }

    fn read_write(&mut self) -> Result<(), ClientError> {
        self.client.query_discard("BEGIN")?;
        let table = self.table();
        for _ in 0..POINT_SELECTS {
            let id = self.id();
            self.client.execute_discard(&self.tables[table].point, &[Scalar::Int(id)])?;
        }
        for at in 0..4 {
            let low = self.id();
            let high = low + RANGE_ROWS as i64 - 1;
            let of_table = &self.tables[table];
            let statement = [&of_table.range, &of_table.sum, &of_table.order, &of_table.distinct][at];
            self.client.execute_discard(statement, &[Scalar::Int(low), Scalar::Int(high)])?;
        }
        self.update_index()?;
        self.update_non_index()?;
        let (table, id, k) = (self.table(), self.id(), self.id());
        let (mut c, mut pad) = ([0; C_LEN], [0; PAD_LEN]);
        digits(&mut self.rng, &mut c);
        digits(&mut self.rng, &mut pad);
        self.client.execute_discard(&self.tables[table].delete, &[Scalar::Int(id)])?;
        let row = [Scalar::Int(id), Scalar::Int(k), Scalar::Bytes(&c), Scalar::Bytes(&pad)];
        self.client.execute_discard(&self.tables[table].insert, &row)?;
        self.client.query_discard("COMMIT").map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_by_name() {
        for workload in Workload::ALL {
            assert_eq!(workload.name().parse(), Ok(workload));
        }
        assert!("oltp".parse::<Workload>().is_err_and(|error| error.contains("read_write")));
    }
}
