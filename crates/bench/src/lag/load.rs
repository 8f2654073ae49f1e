//! The tables of `bench lag`, and what the source's clients do to them at a set rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::{Client, ConnectOptions};

use super::outcome::{Plan, Scenario};
use crate::sbtest::{Checksum, SCHEMA, SbtestError, checksum, connect, doing};

/// The tables, each with the columns `(id, n)`. The small transactions change the rows of `free` at
/// random, `hot` has the row that all clients change, `large` has the rows of the large
/// transaction, and `beat` has the count that lag is measured with.
const TABLES: [&str; 4] = ["free", "hot", "large", "beat"];
/// The number of rows of an INSERT.
const BATCH: u64 = 10_000;

/// Makes the tables anew, without writing to the binary log.
pub(super) fn fill(client: &mut Client, plan: &Plan) -> Result<(), SbtestError> {
    let mut run = |sql: &str| {
        let shown = || sql.chars().take(60).collect();
        doing(shown, client.query_discard(sql)).map(|_| ())
    };
    run("SET SESSION sql_log_bin = 0")?;
    run(&format!("DROP DATABASE IF EXISTS {SCHEMA}"))?;
    run(&format!("CREATE DATABASE {SCHEMA}"))?;
    for (table, rows) in TABLES.into_iter().zip([plan.rows, 1, plan.large_rows, 1]) {
        run(&format!(
            "CREATE TABLE {SCHEMA}.{table} (id INT PRIMARY KEY, n BIGINT NOT NULL) /*! ENGINE = innodb */"
        ))?;
        for first in (1..=rows).step_by(BATCH as usize) {
            let last = (first + BATCH - 1).min(rows);
            let values: Vec<String> = (first..=last).map(|id| format!("({id},0)")).collect();
            run(&format!("INSERT INTO {SCHEMA}.{table} VALUES {}", values.join(",")))?;
        }
    }
    run("SET SESSION sql_log_bin = 1")
}

/// Returns the checksums of the tables.
pub(super) fn checksums(client: &mut Client) -> Result<Vec<Checksum>, SbtestError> {
    TABLES.iter().map(|table| checksum(client, table, "id, n")).collect()
}

/// What a load has done, and how long it took.
pub(super) struct Loaded {
    commits: u64,
    seconds: f64,
    /// The duration of the large transaction; `None` in a scenario without one.
    pub large: Option<Duration>,
}

impl Loaded {
    pub fn rate(&self) -> f64 {
        self.commits as f64 / self.seconds
    }
}

/// Runs a scenario and waits until it ends.
pub(super) fn run(options: &ConnectOptions, plan: &Plan, scenario: Scenario) -> Result<Loaded, SbtestError> {
    let commits = Arc::new(AtomicU64::new(0));
    let clock = Stopwatch::start();
    let clients: Vec<_> = (0..plan.clients)
        .map(|number| {
            let (plan, commits) = (plan.clone(), Arc::clone(&commits));
            let mut client = connect(options)?;
            Ok(os::thread::spawn("load_client", move || {
                send(&mut client, &plan, (scenario, number), &commits)
            }))
        })
        .collect::<Result<_, SbtestError>>()?;
    let large = match scenario {
        Scenario::HotRow => None,
        Scenario::LargeTransaction => {
            let mut client = connect(options)?;
            sleep(Duration::from_secs(plan.seconds) / 4);
            let clock = Stopwatch::start();
            let sql = "UPDATE large SET n = n + 1";
            doing(|| sql.to_string(), client.query_discard(sql))?;
            Some(clock.elapsed())
        }
    };
    for client in clients {
        client.join().expect("a load client does not panic")?;
    }
    let seconds = clock.elapsed().as_secs_f64();
    Ok(Loaded { commits: commits.load(Ordering::Relaxed), seconds, large })
}

/// Sends the transactions of one client, each at its time, or at once when its time has passed.
fn send(
    client: &mut Client,
    plan: &Plan,
    (scenario, number): (Scenario, u32),
    commits: &AtomicU64,
) -> Result<(), SbtestError> {
    let mut rng = Rng::new(plan.seed.wrapping_add(u64::from(number)));
    let all = Duration::from_secs(plan.seconds);
    let pause = Duration::from_secs_f64(f64::from(plan.clients) / plan.rate as f64);
    let clock = Stopwatch::start();
    let mut due = Duration::ZERO;
    while clock.elapsed() < all {
        let is_hot = scenario == Scenario::HotRow && clock.elapsed() > all / 2;
        let sql = if is_hot {
            "UPDATE hot SET n = n + 1 WHERE id = 1".to_string()
        } else {
            format!("UPDATE free SET n = n + 1 WHERE id = {}", 1 + rng.below(plan.rows))
        };
        doing(|| sql.clone(), client.query_discard(&sql))?;
        // The sum is only shown, so relaxed memory order is enough.
        commits.fetch_add(1, Ordering::Relaxed);
        due += pause;
        sleep(clock.remaining(due));
    }
    Ok(())
}
