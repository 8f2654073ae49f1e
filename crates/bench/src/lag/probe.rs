//! Measures how far readers of a replica are behind its source. It looks at the servers as a client
//! does, so that it is the same for every flavor.
//!
//! A client of the source adds 1 to a count in a row every few milliseconds, and notes when each
//! update was acknowledged. The count that a reader of the replica finds in that row tells what the
//! reader sees. The lag is the age of the next count, if the source had acknowledged it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use os::clock::{Stopwatch, monotonic_ns, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError, ConnectOptions};

use crate::histogram::Histogram;
use crate::sbtest::{SbtestError, connect, doing};

/// The pause between two updates of the count on the source.
const BEAT_EVERY: Duration = Duration::from_millis(10);
/// The time between two looks at the replica.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The pause between two reads of rows. It keeps the readers from taking all of the machine.
const READ_EVERY: Duration = Duration::from_millis(2);

type Outcome<T> = JoinHandle<Result<T, ClientError>>;

/// The times at which the source acknowledged each count, in nanoseconds of the monotonic clock.
/// `first` is the count of the first entry.
#[derive(Default)]
struct Acknowledged {
    first: u64,
    at_ns: Vec<u64>,
}

impl Acknowledged {
    /// Returns the last acknowledged count.
    fn last(&self) -> u64 {
        self.first + self.at_ns.len() as u64 - 1
    }

    /// Returns the age in milliseconds of the oldest count up to `last` that a reader does not see
    /// who sees `seen`. It is 0 if there is none.
    fn age_ms(&self, seen: u64, last: u64, now_ns: u64) -> f64 {
        if seen >= last {
            return 0.0;
        }
        let next = (seen + 1).saturating_sub(self.first) as usize;
        now_ns.saturating_sub(self.at_ns[next]) as f64 / 1e6
    }
}

/// The thread that counts on the source.
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
    /// Starts to count.
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

    /// Stops counting.
    pub fn stop(self) -> Result<(), SbtestError> {
        self.stop.store(true, Ordering::Release);
        ended("counting on the source", self.thread)
    }
}

/// What was seen on a replica.
pub(super) struct Seen {
    /// The lag at every [`LOOK_EVERY`], in milliseconds. `None` means that the look before took so
    /// long that this one was left out.
    pub lag_ms: Vec<Option<f64>>,
    /// The response times of the reads of rows.
    pub reads: Histogram,
}

/// The threads that look at a replica and read from it.
pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    lag: Outcome<Vec<Option<f64>>>,
    reads: Outcome<Histogram>,
}

impl Watch {
    /// Starts to look at the replica and to read rows from it.
    pub fn start(options: &ConnectOptions, beats: &Beats, rows: u64) -> Result<Watch, SbtestError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (mut looking, mut reading) = (connect(options)?, connect(options)?);
        let (acknowledged, stopped) = (Arc::clone(&beats.acknowledged), Arc::clone(&stop));
        let lag = os::thread::spawn("lag_probe", move || look(&mut looking, &acknowledged, &stopped));
        let stopped = Arc::clone(&stop);
        let reads = os::thread::spawn("lag_reader", move || read(&mut reading, rows, &stopped));
        Ok(Watch { stop, lag, reads })
    }

    /// Stops both threads, and returns what they have seen.
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
        // Counts that the source acknowledges during the look do not count as lag.
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
        // The reader sees a count that was acknowledged after the look had begun.
        assert_eq!(all.age_ms(9, 8, 9_000_000), 0.0);
        // The reader sees a count that is older than the first entry.
        assert_eq!(all.age_ms(3, 9, 9_000_000), 9.0);
    }
}
