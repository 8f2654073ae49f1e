//! The load: sessions that append to lists and read them, and note what the server answered.
//!
//! Few lists are in use at a time, so that sessions meet. The lists in use change as the load goes
//! on, so that no list grows long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use os::clock::{monotonic_ns, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError};
use testkit::Server;
use testkit::history::{Element, Key, Level, Op, Statement, Transaction};

/// The number of lists that are in use at a time.
const IN_USE: u32 = 8;
/// The number of elements that a list gets, approximately.
const APPENDED: u32 = 30;
/// The number of lists that have the same value in the indexed column that is not the primary key.
const GROUP: u32 = 4;
/// The errors after which a transaction is given up: deadlock, and a lock wait that was too long.
const GIVEN_UP: [u16; 2] = [1213, 1205];

/// Returns the value that the secondary index has for a list.
pub fn group_of(key: Key) -> u32 {
    key / GROUP
}

/// Returns the list in a row of a key and a text.
pub fn list_of(row: &[Option<Vec<u8>>]) -> (Key, Vec<Element>) {
    let text = |cell: &Option<Vec<u8>>| String::from_utf8(cell.clone().expect("no NULL")).expect("digits");
    let list = text(&row[1]);
    let elements = list.split(',').filter(|element| !element.is_empty());
    (text(&row[0]).parse().expect("a key"), elements.map(|n| n.parse().expect("an element")).collect())
}

/// What the sessions share. Relaxed counters are enough, because no other data is read by them.
struct Shared {
    table: String,
    level: Level,
    /// The number of transactions that are still to be begun.
    left: AtomicU64,
    next_element: AtomicU32,
    stop: AtomicBool,
}

/// A load on one table.
#[derive(Clone)]
pub struct Load {
    shared: Arc<Shared>,
    count: u64,
}

impl Load {
    /// Makes a load of `count` transactions at this isolation level.
    pub fn new(table: &str, level: Level, count: u64) -> Load {
        let shared = Shared {
            table: table.to_string(),
            level,
            left: AtomicU64::new(count),
            next_element: AtomicU32::new(1),
            stop: AtomicBool::new(false),
        };
        Load { shared: Arc::new(shared), count }
    }

    /// Returns the number of lists that the load may come to.
    pub fn keys(&self) -> Key {
        // A transaction has five statements at most, each of which takes one number.
        (self.count * 5) as u32 / APPENDED + IN_USE + GROUP
    }

    /// Ends the sessions that only read.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
    }
}

/// A session that changes many rows at a time beside the others. A commit that follows one of this
/// session's is on its pages before the session's own is.
pub struct Heavy {
    thread: JoinHandle<()>,
}

impl Heavy {
    /// Changes every row of a table, again and again, until the load is stopped.
    pub fn start(server: &Server, table: &str, load: &Load) -> Heavy {
        let (mut client, shared) = (server.connect(), Arc::clone(&load.shared));
        let sql = format!("UPDATE {table} SET v = v + 1");
        let thread = os::thread::spawn("heavy", move || {
            while !shared.stop.load(Ordering::Acquire) {
                client.query(&sql).expect("nobody is in its way");
                sleep(Duration::from_millis(1));
            }
        });
        Heavy { thread }
    }

    /// Waits until the session has ended.
    pub fn end(self) {
        self.thread.join().expect("it goes on");
    }
}

/// A session that works in a thread.
pub struct Session {
    thread: JoinHandle<Vec<Transaction>>,
}

struct Worker {
    client: Client,
    shared: Arc<Shared>,
    rng: Rng,
    server: usize,
    session: usize,
    level: Level,
}

impl Session {
    /// Connects to a server and begins to work. Server 0 is the source; the others are only read
    /// from.
    pub fn start(
        server: &Server,
        (number, session): (usize, usize),
        level: Level,
        load: &Load,
        seed: u64,
    ) -> Session {
        let mut client = server.connect();
        client.query(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.sql())).expect("a level");
        if number == 0 {
            assert_eq!(level, load.shared.level);
            client.query("SET SESSION binlog_rows_query_log_events = ON").expect("it can be set");
        }
        let rng = Rng::new(seed ^ ((number * 100 + session) as u64) << 32);
        let shared = Arc::clone(&load.shared);
        let mut worker = Worker { client, shared, rng, server: number, session, level };
        let thread = os::thread::spawn("history", move || match number {
            0 => worker.write(),
            _ => worker.read(),
        });
        Session { thread }
    }

    /// Waits until the session has ended, and returns its transactions.
    pub fn end(self) -> Vec<Transaction> {
        self.thread.join().expect("the session goes on")
    }
}

impl Worker {
    fn write(&mut self) -> Vec<Transaction> {
        let mut done = Vec::new();
        let left = Arc::clone(&self.shared);
        while left.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        {
            let is_single = self.rng.one_in(6);
            let count = if is_single { 1 } else { self.rng.between(2, 5) };
            let commits = is_single || !self.rng.one_in(12);
            done.push(self.transaction(is_single, count, commits));
        }
        done
    }

    fn read(&mut self) -> Vec<Transaction> {
        let mut done = Vec::new();
        while !self.shared.stop.load(Ordering::Acquire) {
            let is_single = self.rng.one_in(6);
            let count = if is_single { 1 } else { self.rng.between(2, 4) };
            done.push(self.transaction(is_single, count, true));
            sleep(Duration::from_millis(1));
        }
        done
    }

    fn transaction(&mut self, is_single: bool, count: u64, commits: bool) -> Transaction {
        let mut transaction = Transaction {
            server: self.server,
            session: self.session,
            level: self.level,
            statements: Vec::new(),
            committed_ns: None,
        };
        if !is_single {
            self.run("START TRANSACTION").expect("a transaction begins");
        }
        for _ in 0..count {
            let sent_ns = monotonic_ns();
            let (sql, ops) = self.statement();
            let rows = match self.run(&sql) {
                Ok(rows) => rows,
                Err(code) => {
                    assert!(GIVEN_UP.contains(&code), "{sql}: {code}");
                    // After a wait that was too long the transaction is still open. The elements
                    // that the failed statement would have appended are not there.
                    if !is_single {
                        self.run("ROLLBACK").expect("it ends");
                    }
                    return transaction;
                }
            };
            let ops = if ops.is_empty() { self.reads(&sql, &rows, is_single) } else { ops };
            transaction.statements.push(Statement { sent_ns, answered_ns: monotonic_ns(), ops });
        }
        if !is_single {
            self.run(if commits { "COMMIT" } else { "ROLLBACK" }).expect("it ends");
        }
        transaction.committed_ns = commits.then(monotonic_ns);
        transaction
    }

    /// Returns a random statement, and what it appends if it does.
    fn statement(&mut self) -> (String, Vec<Op>) {
        let table = self.shared.table.clone();
        let first = self.shared.next_element.load(Ordering::Relaxed) / APPENDED;
        let key = first + self.rng.below(u64::from(IN_USE)) as u32;
        let by_group = format!("g = {}", group_of(key));
        if self.server == 0 && self.rng.one_in(2) {
            let element = self.shared.next_element.fetch_add(1, Ordering::Relaxed);
            let (wanted, keys) = match self.rng.one_in(10) {
                true => {
                    let first = group_of(key) * GROUP;
                    (by_group, first..first + GROUP)
                }
                false => (format!("k = {key}"), key..key + 1),
            };
            let sql = format!("UPDATE {table} SET v = CONCAT(v, ',', {element}) WHERE {wanted}");
            return (sql, keys.map(|key| Op::Append(key, element)).collect());
        }
        let wanted = match self.rng.below(4) {
            0 => by_group,
            1 => format!("k BETWEEN {key} AND {}", key + 2),
            _ => format!("k = {key}"),
        };
        let lock = match self.rng.below(8) {
            0 if self.server == 0 => " FOR UPDATE",
            1 => " FOR SHARE",
            _ => "",
        };
        (format!("SELECT k, v FROM {table} WHERE {wanted}{lock}"), Vec::new())
    }

    /// Returns what a query has read.
    fn reads(&self, sql: &str, rows: &[Vec<Option<Vec<u8>>>], is_single: bool) -> Vec<Op> {
        let locks = sql.contains(" FOR ") || (self.level == Level::Serializable && !is_single);
        let lists = rows.iter().map(|row| list_of(row));
        lists.map(|(key, seen)| if locks { Op::Lock(key, seen) } else { Op::Read(key, seen) }).collect()
    }

    /// Runs a statement. Returns the number of the error if the server refuses it.
    fn run(&mut self, sql: &str) -> Result<Vec<Vec<Option<Vec<u8>>>>, u16> {
        match self.client.query(sql) {
            Ok(result) => Ok(result.rows),
            Err(ClientError::Server(error)) => Err(error.code),
            Err(error) => panic!("{sql}: {error}"),
        }
    }
}
