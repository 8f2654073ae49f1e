//! How far readers of a replica are behind its source. The servers are looked at as a client looks
//! at them, so that the measurement is the same for every flavor.
//!
//! A client of the source adds 1 to a count in a row every few milliseconds, and notes when each
//! update was acknowledged. The count that a reader of the replica finds in that row tells what the
//! reader sees. The lag is the age of the next count, if the source had acknowledged it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use os::clock::{Stopwatch, monotonic_ns, sleep};
use protocol::client::{Client, ClientError, ConnectOptions};

use crate::sbtest::{SbtestError, connect, doing};

/// The pause between two updates of the count on the source.
const BEAT_EVERY: Duration = Duration::from_millis(10);
/// The time between two looks at the replica.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A probe's thread.
pub(crate) type Outcome<T> = JoinHandle<Result<T, ClientError>>;

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

/// The table whose row 1 has the count. It is in the loads' schema.
pub(crate) const TABLE: &str = "beat";

/// The thread that counts on the source.
pub(crate) struct Beats {
    acknowledged: Arc<Mutex<Acknowledged>>,
    stop: Arc<AtomicBool>,
    thread: Outcome<()>,
}

fn count_of(client: &mut Client) -> Result<u64, ClientError> {
    let result = client.query(&format!("SELECT n FROM {TABLE} WHERE id = 1"))?;
    let count = result.cell(0, 0).and_then(|text| text.parse().ok());
    count.ok_or_else(|| ClientError::Protocol("the source's count is gone".to_string()))
}

/// Waits until a probe's thread has ended, and returns what it has measured.
pub(crate) fn ended<T>(what: &str, thread: Outcome<T>) -> Result<T, SbtestError> {
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
        let beat = format!("UPDATE {TABLE} SET n = n + 1 WHERE id = 1");
        let thread = os::thread::spawn("lag_beats", move || {
            while !stopped.load(Ordering::Acquire) {
                client.query_discard(&beat)?;
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

/// A thread that looks at a replica all the time.
pub(crate) struct Looks {
    stop: Arc<AtomicBool>,
    thread: Outcome<Vec<Option<f64>>>,
}

impl Looks {
    /// Starts to look at the replica.
    pub fn start(options: &ConnectOptions, beats: &Beats) -> Result<Looks, SbtestError> {
        let mut client = connect(options)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (acknowledged, stopped) = (Arc::clone(&beats.acknowledged), Arc::clone(&stop));
        let thread = os::thread::spawn("lag_probe", move || look(&mut client, &acknowledged, &stopped));
        Ok(Looks { stop, thread })
    }

    /// Stops looking. Returns the lag at every [`LOOK_EVERY`], in milliseconds. `None` means that
    /// the look before took so long that this one was left out.
    pub fn stop(self) -> Result<Vec<Option<f64>>, SbtestError> {
        self.stop.store(true, Ordering::Release);
        ended("looking at the replica", self.thread)
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
