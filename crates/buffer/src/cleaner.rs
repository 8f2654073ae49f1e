//! The page cleaners, a coordinator and its workers, which write old dirty pages so that the log
//! can be cut.
//!
//! Ten times a second, or when somebody asks, the coordinator decides how many pages are due
//! (`pace`) and divides them among the instances. The coordinator and its workers then take one
//! instance after the other. In each they first see to the end of the LRU list (they evict clean
//! pages and write dirty ones), then to the flush list, oldest changes first. When LRU flushers
//! run, the first part finds little to do.

use std::sync::Arc;
use std::time::Duration;

use os::account::{State, enter};
use parking_lot::{Condvar, Mutex};

use crate::batch::Batches;
use crate::bell::Bell;
use crate::error::{BufferError, Result};
use crate::flush::Flusher;
use crate::frames::Frames;
use crate::free_frames::FreeFrames;
use crate::lru_order::TICK_MS;
use crate::options::OptionsInForce;
use crate::pace::Pace;

const ROUND: Duration = Duration::from_millis(TICK_MS as u64);
/// The number of pages that are written by age between two looks at the free list.
const STRETCH: usize = 128;

/// The work of one round: how many pages are due in each instance, and how far the cleaners have
/// got.
#[derive(Debug, Default)]
struct Round {
    due: Vec<usize>,
    /// The next instance that no cleaner has taken.
    next: usize,
    /// The number of instances that a cleaner has taken and not done yet.
    busy: usize,
    stop: bool,
    error: Option<BufferError>,
}

/// The page cleaners: what the coordinator and its workers share.
#[derive(Debug)]
pub(crate) struct Cleaners {
    frames: Arc<Frames>,
    batches: Arc<Batches>,
    flusher: Arc<Flusher>,
    free_frames: Arc<FreeFrames>,
    options: Arc<OptionsInForce>,
    /// The number of threads, the coordinator included.
    count: usize,
    /// The bell that wakes the coordinator.
    bell: Arc<Bell>,
    /// The round under way. The mutex is a leaf in the lock order.
    round: Mutex<Round>,
    /// Signalled under `round` when a round begins or the workers have to stop.
    begun: Condvar,
    /// Signalled under `round` when the last instance is done.
    done: Condvar,
}

impl Cleaners {
    /// Makes the state for `count` page cleaners, which the bell wakes.
    pub fn new(
        frames: Arc<Frames>,
        batches: Arc<Batches>,
        flusher: Arc<Flusher>,
        free_frames: Arc<FreeFrames>,
        options: Arc<OptionsInForce>,
        count: usize,
        bell: Arc<Bell>,
    ) -> Cleaners {
        Cleaners {
            frames,
            batches,
            flusher,
            free_frames,
            options,
            count,
            bell,
            round: Mutex::new(Round::default()),
            begun: Condvar::new(),
            done: Condvar::new(),
        }
    }

    /// Returns the number of threads, the coordinator included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Prepares for the start of the threads.
    pub fn begin(&self) {
        self.round.lock().stop = false;
        self.bell.begin();
    }

    /// Asks the coordinator to end, which then makes its workers end.
    pub fn stop(&self) {
        self.bell.stop();
    }

    /// Takes instances of the round until none is left, and cleans them.
    fn share(&self) {
        let mut round = self.round.lock();
        while round.next < round.due.len() {
            let (number, due) = (round.next, round.due[round.next]);
            round.next += 1;
            round.busy += 1;
            drop(round);
            let outcome = self.clean_instance(number, due);
            round = self.round.lock();
            round.busy -= 1;
            if let Err(error) = outcome {
                round.error.get_or_insert(error);
            }
        }
        if round.busy == 0 {
            self.done.notify_all();
        }
    }

    /// Runs one round with all cleaners, and waits for its end.
    fn run_round(&self, due: Vec<usize>) -> Result<()> {
        {
            let mut round = self.round.lock();
            (round.due, round.next) = (due, 0);
            self.begun.notify_all();
        }
        self.share();
        let mut round = self.round.lock();
        while round.busy > 0 {
            let _waiting = enter(State::CleanerWait);
            self.done.wait(&mut round);
        }
        round.error.take().map_or(Ok(()), Err)
    }

    /// Runs the coordinator's thread, until its bell is stopped.
    pub fn coordinate(&self) {
        let mut pace = Pace::default();
        let mut failing = false;
        while self.bell.wait(ROUND) {
            let due = pace.pages_due(&self.frames, &self.options.get());
            let outcome = self.run_round(due).and(self.batches.finish().map(|_| ()));
            if let (Err(error), false) = (&outcome, failing) {
                log::error!("the page cleaner cannot write: {error}");
            }
            failing = outcome.is_err();
        }
        self.round.lock().stop = true;
        self.begun.notify_all();
    }

    /// Runs a worker's thread, until the coordinator ends.
    pub fn work(&self) {
        loop {
            {
                let _idle = enter(State::Idle);
                let mut round = self.round.lock();
                while !round.stop && round.next >= round.due.len() {
                    self.begun.wait(&mut round);
                }
                if round.stop {
                    return;
                }
            }
            self.share();
        }
    }

    /// Does a cleaner's work on one instance: makes frames free, then writes up to `due` pages by
    /// age.
    fn clean_instance(&self, number: usize, due: usize) -> Result<()> {
        let instance = &self.frames.instances()[number];
        let make_frames_free = || {
            let _flushing = enter(State::LruFlush);
            self.free_frames.make_frames_free(instance)
        };
        make_frames_free()?;
        let mut left = due;
        while left > 0 {
            let written = self.flusher.flush_oldest(instance, left.min(STRETCH))?;
            if written == 0 {
                break;
            }
            left -= written.min(left);
            make_frames_free()?;
        }
        Ok(())
    }
}
