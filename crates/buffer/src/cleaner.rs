//! The page cleaners: a coordinator and its workers, which keep the log's tail short.
//!
//! Ten times a second, or when somebody asks, the coordinator decides how many pages are due
//! (`pace`) and divides them among the instances; it and its workers then take one instance after
//! the other: first the LRU list's end (evict what is clean, write what is dirty), then the flush
//! list by age. With LRU flushers running, the first part finds little to do.

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
/// Pages written by age between two looks at the free list.
const STRETCH: usize = 128;

/// One round's work: how many pages are due in each instance, and how far each cleaner has got.
#[derive(Debug, Default)]
struct Round {
    due: Vec<usize>,
    /// The next instance that nobody has taken.
    next: usize,
    /// Instances taken and not done.
    busy: usize,
    stop: bool,
    error: Option<BufferError>,
}

/// What the coordinator and its workers share.
#[derive(Debug)]
pub(crate) struct Cleaners {
    frames: Arc<Frames>,
    batches: Arc<Batches>,
    flusher: Arc<Flusher>,
    free_frames: Arc<FreeFrames>,
    options: Arc<OptionsInForce>,
    /// Threads, the coordinator being one.
    count: usize,
    /// Wakes the coordinator.
    bell: Arc<Bell>,
    /// Leaf in the lock order.
    round: Mutex<Round>,
    /// Signalled under `round`: a round begins, or it is time to stop.
    begun: Condvar,
    /// Signalled under `round`: the last instance is done.
    done: Condvar,
}

impl Cleaners {
    /// So many page cleaners, which the bell wakes.
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

    /// How many threads there are, the coordinator being one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The threads are about to be started.
    pub fn begin(&self) {
        self.round.lock().stop = false;
        self.bell.begin();
    }

    /// Asks the coordinator to end, which then has its workers end.
    pub fn stop(&self) {
        self.bell.stop();
    }

    /// Takes instances of the round until none is left.
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

    /// Has a round done by all, and waits for its end.
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

    /// The coordinator's thread, until its bell is stopped.
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

    /// A worker's thread, until the coordinator ends.
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

    /// A cleaner's work on one instance: frames, then up to `due` pages by age.
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
