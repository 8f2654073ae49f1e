//! What the source's clients do to the tables while they are copied, at a set rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError, ConnectOptions};

use super::outcome::Plan;
use crate::sbtest::{C_LEN, PAD_LEN, SbtestError, connect, digits, doing, is_retried};

/// Clients that change rows until they are stopped.
pub(super) struct Load {
    clock: Stopwatch,
    stop: Arc<AtomicBool>,
    commits: Arc<AtomicU64>,
    clients: Vec<JoinHandle<Result<(), SbtestError>>>,
}

impl Load {
    /// Starts the clients.
    pub fn start(options: &ConnectOptions, plan: &Plan, rate: u64, seed: u64) -> Result<Load, SbtestError> {
        assert!(rate > 0, "a load without changes is none");
        let (stop, commits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let pause = Duration::from_secs_f64(f64::from(plan.clients) / rate as f64);
        let clients = (0..plan.clients)
            .map(|number| {
                let mut changes = Changes {
                    client: connect(options)?,
                    rng: Rng::new(seed.wrapping_add(u64::from(number))),
                    tables: u64::from(plan.size.tables),
                    rows: plan.size.rows,
                };
                let (stop, commits) = (Arc::clone(&stop), Arc::clone(&commits));
                Ok(os::thread::spawn("load_client", move || changes.run(pause, &stop, &commits)))
            })
            .collect::<Result<_, SbtestError>>()?;
        Ok(Load { clock: Stopwatch::start(), stop, commits, clients })
    }

    /// Stops the clients, and returns the transactions a second.
    pub fn stop(self) -> Result<f64, SbtestError> {
        self.stop.store(true, Ordering::Release);
        for client in self.clients {
            client.join().expect("a load client does not panic")?;
        }
        // The sum is only shown, so relaxed memory order is enough.
        Ok(self.commits.load(Ordering::Relaxed) as f64 / self.clock.elapsed().as_secs_f64())
    }
}

/// One client of the load.
struct Changes {
    client: Client,
    rng: Rng,
    tables: u64,
    rows: u64,
}

impl Changes {
    /// Sends transactions, each at its time, or at once when its time has passed.
    fn run(&mut self, pause: Duration, stop: &AtomicBool, commits: &AtomicU64) -> Result<(), SbtestError> {
        let clock = Stopwatch::start();
        let mut due = Duration::ZERO;
        while !stop.load(Ordering::Acquire) {
            match self.transaction() {
                Ok(()) => {
                    commits.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) if is_retried(&error) => {
                    doing(|| "ROLLBACK".into(), self.client.query_discard("ROLLBACK"))?;
                }
                Err(error) => return doing(|| "changing the source's rows".into(), Err(error)),
            }
            due += pause;
            sleep(clock.remaining(due));
        }
        Ok(())
    }

    /// Runs one transaction: a row's text or its number changes, or the row moves to another place
    /// in the index because it is deleted and inserted again.
    fn transaction(&mut self) -> Result<(), ClientError> {
        let (table, id) = (1 + self.rng.below(self.tables), 1 + self.rng.below(self.rows));
        let k = 1 + self.rng.below(self.rows);
        let (mut c, mut pad) = ([0; C_LEN], [0; PAD_LEN]);
        digits(&mut self.rng, &mut c);
        digits(&mut self.rng, &mut pad);
        let text = |bytes| std::str::from_utf8(bytes).expect("digits and dashes");
        let (c, pad) = (text(&c[..]), text(&pad[..]));
        let statements = match self.rng.below(3) {
            0 => vec![format!("UPDATE sbtest{table} SET c = '{c}' WHERE id = {id}")],
            1 => vec![format!("UPDATE sbtest{table} SET k = {k} WHERE id = {id}")],
            _ => vec![
                "BEGIN".to_string(),
                format!("DELETE FROM sbtest{table} WHERE id = {id}"),
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES ({id}, {k}, '{c}', '{pad}')"),
                "COMMIT".to_string(),
            ],
        };
        statements.iter().try_for_each(|sql| self.client.query_discard(sql).map(|_| ()))
    }
}
