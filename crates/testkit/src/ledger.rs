//! Clients that remember which of their commits were acknowledged. After a crash they check that
//! none of these is missing and that no transaction has taken effect in part.
//!
//! Each client numbers its transactions from 1. A transaction inserts the row `(client, number)`
//! into `entry`, sets `total.n` of the client to the number, and moves one unit from an account in
//! `debit` to one in `credit`. The clients share the accounts. So at any moment `total.n`, the
//! count and the greatest number of the client's entries are the same. This number is that of the
//! last acknowledged transaction, or one more if the crash came between a commit and its answer.
//! The sum over all accounts is 0.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::scalar::Scalar;

use crate::server::Server;

/// The number of accounts in each of `debit` and `credit`. It is small, so that clients meet at the
/// same accounts.
const ACCOUNTS: u64 = 8;

/// The number of the last transaction of a client that was acknowledged. The client's thread writes
/// it, and it is read after the thread has ended.
type Acknowledged = Arc<AtomicU64>;

/// What the clients remember. It outlives the server's crashes.
pub struct Ledger {
    acknowledged: Vec<Acknowledged>,
}

/// The running clients.
pub struct Working {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Ledger {
    /// Makes the tables, with a row in `total` for each client.
    pub fn create(server: &Server, clients: u32) -> Ledger {
        server.run("CREATE DATABASE ledger");
        server.run("CREATE TABLE ledger.entry (client INT NOT NULL, number BIGINT NOT NULL, PRIMARY KEY (client, number))");
        server.run("CREATE TABLE ledger.total (client INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)");
        for table in ["debit", "credit"] {
            server.run(&format!(
                "CREATE TABLE ledger.{table} (account INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)"
            ));
            let rows: Vec<String> = (0..ACCOUNTS).map(|account| format!("({account}, 0)")).collect();
            server.run(&format!("INSERT INTO ledger.{table} VALUES {}", rows.join(",")));
        }
        for client in 0..clients {
            server.run(&format!("INSERT INTO ledger.total VALUES ({client}, 0)"));
        }
        Ledger { acknowledged: (0..clients).map(|_| Arc::default()).collect() }
    }

    /// Makes every client commit until it is stopped or the server is gone.
    pub fn work(&self, server: &Server) -> Working {
        self.work_at(&server.connect_options())
    }

    /// Does the work of [`Ledger::work`] with clients that connect by these options, for instance
    /// through a balancer.
    pub fn work_at(&self, way: &ConnectOptions) -> Working {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = self.acknowledged.iter().enumerate().map(|(client, acknowledged)| {
            let (options, stop, acknowledged) = (way.clone(), Arc::clone(&stop), Arc::clone(acknowledged));
            os::thread::spawn("ledger_client", move || {
                // An error should mean that the server is gone. The check after the restart finds
                // out whether anything else was wrong.
                let _ = commit_until_stopped(&options, client as i64, &stop, &acknowledged);
            })
        });
        Working { threads: threads.collect(), stop: Arc::clone(&stop) }
    }

    /// Checks the rows of every client and the accounts. The clients go on from what the server
    /// has. It returns the number of commits that have taken effect.
    pub fn check(&self, server: &Server) -> u64 {
        let mut all = 0;
        for (client, acknowledged) in self.acknowledged.iter().enumerate() {
            let number = |sql: &str| -> u64 {
                let rows = server.rows(sql);
                rows[0].parse().unwrap_or_else(|_| panic!("{sql}: {rows:?}"))
            };
            let total = number(&format!("SELECT n FROM ledger.total WHERE client = {client}"));
            let count = number(&format!("SELECT COUNT(*) FROM ledger.entry WHERE client = {client}"));
            let last =
                number(&format!("SELECT COALESCE(MAX(number), 0) FROM ledger.entry WHERE client = {client}"));
            assert_eq!((count, last), (total, total), "client {client}: a transaction is there in part");
            let known = acknowledged.load(Ordering::Acquire);
            assert!(
                total >= known,
                "client {client}: commits {} to {known} were acknowledged and are missing",
                total + 1
            );
            assert!(total <= known + 1, "client {client}: {total} commits, but only {known} were asked for");
            acknowledged.store(total, Ordering::Release);
            all += total;
        }
        let held =
            server.rows("SELECT (SELECT SUM(n) FROM ledger.debit) + (SELECT SUM(n) FROM ledger.credit)");
        assert_eq!(held, ["0"], "an account has changed without another");
        all
    }

    /// Returns the number of commits that were acknowledged so far.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.iter().map(|one| one.load(Ordering::Acquire)).sum()
    }
}

impl Working {
    /// Stops the clients, and waits for their ends.
    pub fn end(self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads {
            thread.join().expect("a ledger client does not panic");
        }
    }
}

fn commit_until_stopped(
    options: &ConnectOptions,
    client: i64,
    stop: &AtomicBool,
    acknowledged: &AtomicU64,
) -> Result<(), ClientError> {
    let mut session = Client::connect(&options.clone().schema("ledger"))?;
    let insert = session.prepare("INSERT INTO entry (client, number) VALUES (?, ?)")?;
    let update = session.prepare("UPDATE total SET n = ? WHERE client = ?")?;
    // All clients lock an account in `debit` first and one account in each table, so no two clients
    // can wait for each other.
    let take = session.prepare("UPDATE debit SET n = n - 1 WHERE account = ?")?;
    let give = session.prepare("UPDATE credit SET n = n + 1 WHERE account = ?")?;
    while !stop.load(Ordering::Acquire) {
        let number = acknowledged.load(Ordering::Acquire) + 1;
        session.query_discard("BEGIN")?;
        session.execute_discard(&insert, &[Scalar::Int(client), Scalar::Int(number as i64)])?;
        session.execute_discard(&update, &[Scalar::Int(number as i64), Scalar::Int(client)])?;
        let account = |step: u64| Scalar::Int(((number * step + client as u64) % ACCOUNTS) as i64);
        session.execute_discard(&take, &[account(1)])?;
        session.execute_discard(&give, &[account(3)])?;
        session.query_discard("COMMIT")?;
        acknowledged.store(number, Ordering::Release);
    }
    Ok(())
}
