//! Power cuts at every write. At each change of the disk, or at some of them, the state that a
//! power cut would leave is copied while the work goes on, recovered elsewhere and compared with
//! what the workers had been promised until then. So one run of a workload is cut at all its
//! writes.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use engine::Engine;
use os::random::Rng;
use os::sim::SimDisk;
use parking_lot::Mutex;

use crate::state::{Histories, History, Step};
use crate::worker::{BinlogFormat, Worker};

/// The number of moments that may wait for their check. Each holds the differences of a whole disk.
const WAITING: usize = 4;

/// The state that a power cut at some moment leaves, and the steps at which each worker may be
/// found.
pub struct Moment {
    pub disk: SimDisk,
    pub possible: Vec<Vec<Step>>,
    /// The number of changes of the disk before the moment.
    pub changes: u64,
}

/// A watch that takes moments of a disk until it is ended.
pub struct Watch {
    sender: Arc<Mutex<Option<SyncSender<Moment>>>>,
}

impl Watch {
    /// Starts a watch that makes one in `one_in` changes a moment. 1 means all changes.
    pub fn start(disk: &SimDisk, histories: &Histories, one_in: u64, seed: u64) -> (Watch, Receiver<Moment>) {
        let (sender, moments) = mpsc::sync_channel(WAITING);
        let sender = Arc::new(Mutex::new(Some(sender)));
        let watch = Watch { sender: Arc::clone(&sender) };
        let (histories, rng) = (histories.clone(), Mutex::new(Rng::new(seed)));
        disk.before_each_change(move |disk| {
            if !rng.lock().one_in(one_in) {
                return;
            }
            let Some(sender) = sender.lock().clone() else { return };
            // The order matters: steps that were promised before the copy must be in it, and steps
            // that began after it cannot be.
            let promised: Vec<usize> = histories.iter().map(|history| history.lock().promised()).collect();
            let left = disk.if_power_went();
            let possible = histories.iter().zip(promised);
            let possible = possible.map(|(history, promised)| history.lock().possible(promised)).collect();
            // Nobody receives moments any more once a check has failed.
            let _ = sender.send(Moment { disk: left, possible, changes: disk.changes() });
        });
        (watch, moments)
    }

    pub fn end(self) {
        *self.sender.lock() = None;
    }
}

/// The threads that check moments as they come, one for each processor.
pub struct Checkers(Vec<JoinHandle<u64>>);

impl Checkers {
    pub fn start(
        moments: Receiver<Moment>,
        seed: u64,
        check: impl Fn(Moment, &mut Rng, &str) + Send + Sync + 'static,
    ) -> Checkers {
        let (moments, check) = (Arc::new(Mutex::new(moments)), Arc::new(check));
        let checker = |number| {
            let (moments, check) = (Arc::clone(&moments), Arc::clone(&check));
            let mut rng = Rng::new(seed.wrapping_add(number));
            os::thread::spawn("checker", move || {
                let mut cuts = 0;
                loop {
                    let Ok(moment) = moments.lock().recv() else { return cuts };
                    let place = format!("seed {seed}, after {} changes", moment.changes);
                    check(moment, &mut rng, &place);
                    cuts += 1;
                }
            })
        };
        Checkers((0..os::thread::processors() as u64).map(checker).collect())
    }

    /// Waits until the last moment is checked. Returns how many moments there were.
    pub fn end(self) -> u64 {
        let checked = self.0.into_iter().map(JoinHandle::join);
        checked.map(|cuts| cuts.expect("a check failed, see above")).sum()
    }
}

/// Returns the number of cuts to make: `ordinary`, or the number that `SLIPSTREAM_CUTS` asks for.
pub fn cuts_wanted(ordinary: u64) -> u64 {
    static WANTED: OnceLock<Option<u64>> = OnceLock::new();
    let read = || std::env::var("SLIPSTREAM_CUTS").ok()?.parse().ok();
    WANTED.get_or_init(read).unwrap_or(ordinary)
}

/// Runs the workers, each for this many steps, on a disk that works. Each worker must end well.
pub fn run_workers(engine: &Arc<Engine>, disk: &SimDisk, histories: &Histories, steps: u64, rng: &mut Rng) {
    let spawn = |(number, history): (usize, &Arc<Mutex<History>>)| -> JoinHandle<()> {
        let worker = Worker {
            engine: Arc::clone(engine),
            disk: disk.clone(),
            number: number as i64,
            workers: histories.len() as i64,
            format: BinlogFormat::Row,
            rng: Rng::new(rng.u64()),
            history: Arc::clone(history),
        };
        os::thread::spawn("worker", move || worker.run(steps))
    };
    let threads: Vec<_> = histories.iter().enumerate().map(spawn).collect();
    let outcomes: Vec<_> = threads.into_iter().map(JoinHandle::join).collect();
    assert!(outcomes.iter().all(Result::is_ok), "a worker found something wrong, see above");
}
