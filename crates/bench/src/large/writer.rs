//! The client that changes single rows beside a large transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use os::clock::Stopwatch;
use protocol::client::{Client, ClientError, ConnectOptions};

use super::outcome::PHASES;
use crate::error::MeasureError;
use crate::histogram::Histogram;

/// The schema of the tables.
pub(super) const SCHEMA: &str = "kit_large";
/// The number of rows of each table that are changed one by one.
const ROWS: i64 = 1000;
/// The first of these rows' ids in the large table. It is far above the ids of all other rows,
/// because a scan of those may lock the gap behind them.
const BEHIND: i64 = 1 << 40;

/// Returns the ids of a table's rows that are changed one by one.
pub(super) fn ids(table: &str) -> std::ops::Range<i64> {
    let first = if table == "large" { BEHIND } else { 1 };
    first..first + ROWS
}

type Waits = [Histogram; PHASES.len()];

/// The running client.
pub(super) struct Writer {
    thread: os::thread::JoinHandle<Result<Waits, ClientError>>,
    phase: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Writer {
    /// Connects and starts to change rows, in the first phase.
    pub fn start(options: &ConnectOptions) -> Result<Writer, MeasureError> {
        let mut client = Client::connect(options).map_err(refused)?;
        let (phase, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let thread = {
            let (phase, stop) = (phase.clone(), stop.clone());
            os::thread::spawn("single_row_writer", move || {
                let mut waits = Waits::default();
                for (large, small) in ids("large").zip(ids("small")).cycle() {
                    for (table, id) in [("large", large), ("small", small)] {
                        let sql = format!("UPDATE {SCHEMA}.{table} SET n = n + 1 WHERE id = {id}");
                        let (from, clock) = (phase.load(Ordering::SeqCst), Stopwatch::start());
                        client.query_discard(&sql)?;
                        let took_us = clock.elapsed_us();
                        (from..=phase.load(Ordering::SeqCst)).for_each(|phase| waits[phase].record(took_us));
                    }
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                }
                Ok(waits)
            })
        };
        Ok(Writer { thread, phase, stop })
    }

    /// Begins a phase, which counts the response times from now on.
    pub fn enter_phase(&self, phase: usize) {
        self.phase.store(phase, Ordering::SeqCst);
    }

    /// Stops the client, and returns the response times in each phase.
    pub fn end(self) -> Result<Waits, MeasureError> {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().expect("a writer does not panic").map_err(refused)
    }
}

fn refused(error: ClientError) -> MeasureError {
    MeasureError::Refused("the server".into(), "single-row updates".into(), error)
}
