//! What a replica's readers see while it applies along: how old it is, and how long reads take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError, ConnectOptions};

use crate::beat::{Beats, Looks, Outcome, ended};
use crate::histogram::Histogram;
use crate::sbtest::{SbtestError, connect};

/// The pause between two reads of rows. It keeps the readers from taking all of the machine.
const READ_EVERY: Duration = Duration::from_millis(2);

/// What was seen on a replica.
pub(super) struct Seen {
    /// The lag at every [`crate::beat::LOOK_EVERY`], in milliseconds. `None` means that the look
    /// before took so long that this one was left out.
    pub lag_ms: Vec<Option<f64>>,
    /// The response times of the reads of rows.
    pub reads: Histogram,
}

/// The threads that look at a replica and read from it.
pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    lag: Looks,
    reads: Outcome<Histogram>,
}

impl Watch {
    /// Starts to look at the replica and to read rows from it.
    pub fn start(options: &ConnectOptions, beats: &Beats, rows: u64) -> Result<Watch, SbtestError> {
        let (stop, lag) = (Arc::new(AtomicBool::new(false)), Looks::start(options, beats)?);
        let (mut reading, stopped) = (connect(options)?, Arc::clone(&stop));
        let reads = os::thread::spawn("lag_reader", move || read(&mut reading, rows, &stopped));
        Ok(Watch { stop, lag, reads })
    }

    /// Stops both threads, and returns what they have seen.
    pub fn stop(self) -> Result<Seen, SbtestError> {
        self.stop.store(true, Ordering::Release);
        Ok(Seen { lag_ms: self.lag.stop()?, reads: ended("reading from the replica", self.reads)? })
    }
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
