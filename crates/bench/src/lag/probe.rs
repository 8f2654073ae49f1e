//! How far readers of a replica are behind its source, seen from outside and the same for every
//! server.
//!
//! One client of the source counts a row up every few milliseconds and notes when each count was
//! acknowledged. What a reader of the replica finds in that row says which count it sees; the lag
//! is the age of the next one, if the source had acknowledged it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use os::clock::{Stopwatch, monotonic_ns, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError, ConnectOptions};

use crate::histogram::Histogram;
use crate::sbtest::{SbtestError, connect, doing};

/// How often the source counts.
const BEAT_EVERY: Duration = Duration::from_millis(10);
/// How often the replica is looked at.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Pause between two reads of rows: readers are to be there, not to take the machine.
const READ_EVERY: Duration = Duration::from_millis(2);

type Outcome<T> = JoinHandle<Result<T, ClientError>>;

/// When each count was acknowledged (monotonic nanoseconds). `first` is the count of the first
/// entry.
#[derive(Default)]
struct Acknowledged {
    first: u64,
    at_ns: Vec<u64>,
}

impl Acknowledged {
    /// The last count.
    fn last(&self) -> u64 {
        self.first + self.at_ns.len() as u64 - 1
    }

    /// The age of the oldest count up to `last` that a reader of `seen` does not see.
    fn age_ms(&self, seen: u64, last: u64, now_ns: u64) -> f64 {
        if seen >= last {
            return 0.0;
        }
        let next = (seen + 1).saturating_sub(self.first) as usize;
        now_ns.saturating_sub(self.at_ns[next]) as f64 / 1e6
    }
}

/// The source's count, going on.
pub(super) struct Beats {
    acknowledged: Arc<Mutex<Acknowledged>>,
    stop: Arc<AtomicBool>,
    thread: Outcome<()>,
}

fn count_of(client: &mut Client) -> Result<u64, ClientError> {
    let result = client.query("SELECT n FROM beat WHERE id = 1")?;
    let count = result.cell(0, 0).and_then(|text| text.parse().ok());
    count.ok_or_else(|| ClientError::Protocol("the source's count is gone".to_string()))
}

fn ended<T>(what: &str, thread: Outcome<T>) -> Result<T, SbtestError> {
    doing(|| what.to_string(), thread.join().expect("a probe does not panic"))
}

impl Beats {
    /// Begins to count.
    pub fn start(options: &ConnectOptions) -> Result<Beats, SbtestError> {
        let mut client = connect(options)?;
        let first = doing(|| "the source's count".to_string(), count_of(&mut client))?;
        let acknowledged = Arc::new(Mutex::new(Acknowledged { first, at_ns: vec![monotonic_ns()] }));
        let stop = Arc::new(AtomicBool::new(false));
        let (counted, stopped) = (Arc::clone(&acknowledged), Arc::clone(&stop));
        let thread = os::thread::spawn("lag_beats", move || {
            while !stopped.load(Ordering::Acquire) {
                client.query_discard("UPDATE beat SET n = n + 1 WHERE id = 1")?;
                counted.lock().expect("the counts").at_ns.push(monotonic_ns());
                sleep(BEAT_EVERY);
            }
            Ok(())
        });
        Ok(Beats { acknowledged, stop, thread })
    }

    /// Ends the count.
    pub fn stop(self) -> Result<(), SbtestError> {
        self.stop.store(true, Ordering::Release);
        ended("counting on the source", self.thread)
    }
}

/// What was seen on a replica.
pub(super) struct Seen {
    /// Every [`LOOK_EVERY`].
    pub lag_ms: Vec<Option<f64>>,
    /// How long reads took.
    pub reads: Histogram,
}

/// Readers of a replica.
pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    lag: Outcome<Vec<Option<f64>>>,
    reads: Outcome<Histogram>,
}

impl Watch {
    /// Begins to look, and to read rows.
    pub fn start(options: &ConnectOptions, beats: &Beats, rows: u64) -> Result<Watch, SbtestError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (mut looking, mut reading) = (connect(options)?, connect(options)?);
        let (acknowledged, stopped) = (Arc::clone(&beats.acknowledged), Arc::clone(&stop));
        let lag = os::thread::spawn("lag_probe", move || look(&mut looking, &acknowledged, &stopped));
        let stopped = Arc::clone(&stop);
        let reads = os::thread::spawn("lag_reader", move || read(&mut reading, rows, &stopped));
        Ok(Watch { stop, lag, reads })
    }

    /// Ends both.
    pub fn stop(self) -> Result<Seen, SbtestError> {
        self.stop.store(true, Ordering::Release);
        Ok(Seen {
            lag_ms: ended("looking at the replica", self.lag)?,
            reads: ended("reading from the replica", self.reads)?,
        })
    }
}

fn look(
    client: &mut Client,
    acknowledged: &Mutex<Acknowledged>,
    stop: &AtomicBool,
) -> Result<Vec<Option<f64>>, ClientError> {
    let clock = Stopwatch::start();
    let mut lags = Vec::new();
    while !stop.load(Ordering::Acquire) {
        // What the source acknowledges while we look is not held against the replica.
        let last = acknowledged.lock().expect("the counts").last();
        let seen = count_of(client)?;
        let lag = acknowledged.lock().expect("the counts").age_ms(seen, last, monotonic_ns());
        let at = (clock.elapsed().as_millis() / LOOK_EVERY.as_millis()) as usize;
        lags.resize(at, None);
        lags.push(Some(lag));
        sleep(clock.remaining(LOOK_EVERY * (at as u32 + 1)));
    }
    Ok(lags)
}

fn read(client: &mut Client, rows: u64, stop: &AtomicBool) -> Result<Histogram, ClientError> {
    let mut times = Histogram::default();
    let mut rng = Rng::new(rows);
    while !stop.load(Ordering::Acquire) {
        for table in ["free", "large", "hot"] {
            let id = if table == "hot" { 1 } else { 1 + rng.below(rows) };
            let clock = Stopwatch::start();
            client.query_discard(&format!("SELECT n FROM {table} WHERE id = {id}"))?;
            times.record(clock.elapsed_us());
        }
        sleep(READ_EVERY);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_the_age_of_what_is_not_seen() {
        let all = Acknowledged { first: 7, at_ns: vec![0, 1_000_000, 3_000_000] };
        assert_eq!(all.last(), 9);
        assert_eq!(all.age_ms(9, 9, 9_000_000), 0.0);
        assert_eq!(all.age_ms(7, 9, 9_000_000), 8.0);
        assert_eq!(all.age_ms(8, 9, 9_000_000), 6.0);
        // It sees more than was known when the look began.
        assert_eq!(all.age_ms(9, 8, 9_000_000), 0.0);
        // It has not even what was there before.
        assert_eq!(all.age_ms(3, 9, 9_000_000), 9.0);
    }
}
