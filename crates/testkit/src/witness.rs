//! Readers that look at a ledger all the time while servers are killed and connections are cut.
//! Every snapshot must show a state that the source has had: a prefix of each client's
//! transactions, and only whole transactions.
//!
//! A reader whose server is gone comes back with a new session. It may then find an older state
//! than before, because a crash may lose what was not yet synced. Within one session nothing goes
//! back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use os::clock::sleep;
use protocol::client::{Client, ClientError, ConnectOptions};

use crate::server::Server;

/// The running readers.
pub struct Witnesses {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<u64>>,
}

impl Witnesses {
    /// Starts a reader for each of these servers.
    pub fn watch<'a>(servers: impl IntoIterator<Item = &'a Server>) -> Witnesses {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = servers.into_iter().map(|server| {
            let (options, stop) = (server.connect_options(), Arc::clone(&stop));
            os::thread::spawn("witness", move || {
                let mut snapshots = 0;
                while !stop.load(Ordering::Acquire) {
                    // An error means that the server is gone or has not come back yet.
                    let _ = look(&options, &stop, &mut snapshots);
                    sleep(Duration::from_millis(2));
                }
                snapshots
            })
        });
        Witnesses { threads: threads.collect(), stop: Arc::clone(&stop) }
    }

    /// Stops the readers, and returns the number of snapshots that each has seen. It panics when
    /// one of them has seen a state that must not exist.
    pub fn end(self) -> Vec<u64> {
        self.stop.store(true, Ordering::Release);
        let end =
            |thread: JoinHandle<u64>| thread.join().expect("a reader saw a state that the source never had");
        self.threads.into_iter().map(end).collect()
    }
}

fn look(options: &ConnectOptions, stop: &AtomicBool, snapshots: &mut u64) -> Result<(), ClientError> {
    let mut session = Client::connect(&options.clone().schema("ledger"))?;
    let mut before = BTreeMap::new();
    while !stop.load(Ordering::Acquire) {
        session.query_discard("START TRANSACTION")?;
        let held = numbers(&mut session, "SELECT SUM(n) FROM debit")?[0];
        let mut now = BTreeMap::new();
        for client in numbers(&mut session, "SELECT client FROM total")? {
            let last =
                format!("SELECT number FROM entry WHERE client = {client} ORDER BY number DESC LIMIT 1");
            let last = numbers(&mut session, &last)?.first().copied().unwrap_or(0);
            let total = numbers(&mut session, &format!("SELECT n FROM total WHERE client = {client}"))?[0];
            assert_eq!(last, total, "a transaction of client {client} is there in part");
            let seen = before.insert(client, total).unwrap_or(0);
            assert!(total >= seen, "client {client} went back from {seen} to {total}");
            now.insert(client, total);
        }
        let credit = numbers(&mut session, "SELECT SUM(n) FROM credit")?[0];
        session.query_discard("COMMIT")?;
        let commits: i64 = now.values().sum();
        assert_eq!((held, credit), (-commits, commits), "the accounts are not those of {now:?}");
        *snapshots += 1;
    }
    Ok(())
}

/// Returns the first column of a query's rows as numbers.
fn numbers(session: &mut Client, sql: &str) -> Result<Vec<i64>, ClientError> {
    let result = session.query(sql)?;
    let number = |row| {
        let cell = result.cell(row, 0);
        cell.as_deref().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{sql}: {cell:?}"))
    };
    Ok((0..result.rows.len()).map(number).collect())
}
