//! A load that runs on a server until the test stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use bench::sbtest::{Load, RandType, SbtestError, Size, Workload, run_workload};
use protocol::client::ConnectOptions;

/// The number of transactions between two looks at the stop flag.
const BATCH: u64 = 400;

/// A running load. It ends when it is stopped or dropped.
pub struct Background {
    stop: Arc<AtomicBool>,
    /// The number of transactions committed. It only grows, and it is only shown and waited for, so
    /// relaxed memory order is enough.
    committed: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<(), SbtestError>>>,
}

impl Background {
    /// Starts a load of this kind.
    pub fn start(
        options: ConnectOptions,
        workload: Workload,
        size: Size,
        clients: u32,
        seed: u64,
    ) -> Background {
        let stop = Arc::new(AtomicBool::new(false));
        let committed = Arc::new(AtomicU64::new(0));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&committed));
        let thread = os::thread::spawn("background_load", move || {
            let mut load =
                Load { workload, size, transactions: BATCH, clients, rand_type: RandType::Special, seed };
            while !stopped.load(Ordering::Acquire) {
                load.seed = load.seed.wrapping_add(1_000_003);
                let loaded = run_workload(&options, &load, &mut |_| {})?;
                counted.fetch_add(loaded.transactions, Ordering::Relaxed);
            }
            Ok(())
        });
        Background { stop, committed, thread: Some(thread) }
    }

    /// Returns the number of transactions committed so far.
    pub fn committed(&self) -> u64 {
        self.committed.load(Ordering::Relaxed)
    }

    /// Ends the load, which must not have failed, and returns the number of transactions it has
    /// committed.
    pub fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Release);
        let thread = self.thread.take().expect("a load is stopped once");
        let result = thread.join().expect("the load does not panic");
        result.unwrap_or_else(|error| panic!("the load failed: {error}"));
        self.committed()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // The test is failing already or has stopped its server, so an error of the load is of
            // no interest.
            let _ = thread.join();
        }
    }
}
