//! The page cleaners: a coordinator and its workers, who keep the log's tail short.
//!
//! Ten times a second, or when somebody asks, the coordinator decides how many pages are due
//! (`pace`) and divides them among the instances; it and its workers then take one instance after
//! the other: first the LRU list's end (evict what is clean, write what is dirty), then the flush
//! list by age. With LRU flushers running, the first part finds little to do.

use std::sync::{Arc, Weak};
use std::time::Duration;

use os::account::{State, enter};
use os::thread::JoinHandle;
use parking_lot::{Condvar, Mutex};

use crate::bell::Bell;
use crate::error::Result;
use crate::lru_flusher;
use crate::pace::Pace;
use crate::pool::{Pool, TICK_MS};
use crate::read_ahead;

const ROUND: Duration = Duration::from_millis(TICK_MS as u64);
/// Pages written by age between two looks at the free list.
const STRETCH: usize = 128;

/// One round's work: how many pages are due in each instance, and who has got how far.
#[derive(Debug, Default)]
struct Round {
    due: Vec<usize>,
    /// The next instance that nobody has taken.
    next: usize,
    /// Instances taken and not done.
    busy: usize,
    stop: bool,
    error: Option<crate::BufferError>,
}

/// What the coordinator, its workers and the pool share.
#[derive(Debug)]
pub(crate) struct Cleaners {
    /// Threads, the coordinator being one.
    count: usize,
    bell: Bell,
    /// Leaf in the lock order.
    round: Mutex<Round>,
    /// Signalled under `round`: a round begins, or it is time to stop.
    begun: Condvar,
    /// Signalled under `round`: the last instance is done.
    done: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Cleaners {
    pub fn new(count: usize) -> Cleaners {
        Cleaners {
            count,
            bell: Bell::default(),
            round: Mutex::new(Round::default()),
            begun: Condvar::new(),
            done: Condvar::new(),
            threads: Mutex::new(Vec::new()),
        }
    }

    /// How many threads there are, the coordinator being one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Asks for a round now; false when no cleaner runs.
    pub fn wake(&self) -> bool {
        self.bell.ring()
    }

    /// Takes instances of the round until none is left.
    fn share(&self, pool: &Pool) {
        let mut round = self.round.lock();
        while round.next < round.due.len() {
            let (number, due) = (round.next, round.due[round.next]);
            round.next += 1;
            round.busy += 1;
            drop(round);
            let outcome = pool.clean_instance(number, due);
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
    fn run_round(&self, pool: &Pool, due: Vec<usize>) -> Result<()> {
        {
            let mut round = self.round.lock();
            (round.due, round.next) = (due, 0);
            self.begun.notify_all();
        }
        self.share(pool);
        let mut round = self.round.lock();
        while round.busy > 0 {
            let _waiting = enter(State::CleanerWait);
            self.done.wait(&mut round);
        }
        round.error.take().map_or(Ok(()), Err)
    }

    fn coordinate(&self, pool: &Weak<Pool>) {
        let mut pace = Pace::default();
        let mut failing = false;
        while self.bell.wait(ROUND) {
            // The pool may be gone without `stop`, in a test that has had a power cut.
            let Some(pool) = pool.upgrade() else { break };
            let due = pace.pages_due(&pool);
            let outcome = self.run_round(&pool, due).and(pool.finish_batches().map(|_| ()));
            if let (Err(error), false) = (&outcome, failing) {
                log::error!("the page cleaner cannot write: {error}");
            }
            failing = outcome.is_err();
        }
        self.round.lock().stop = true;
        self.begun.notify_all();
    }

    fn work(&self, pool: &Weak<Pool>) {
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
            let Some(pool) = pool.upgrade() else { return };
            self.share(&pool);
        }
    }
}

impl Pool {
    /// Starts the page cleaners, the LRU flushers and the read-ahead thread, and the warm-up if
    /// that is asked for. Does nothing when they run.
    pub fn start_cleaners(self: &Arc<Pool>) {
        let mut threads = self.cleaners.threads.lock();
        if !threads.is_empty() {
            return;
        }
        self.cleaners.round.lock().stop = false;
        self.cleaners.bell.begin();
        let (pool, cleaners) = (Arc::downgrade(self), Arc::clone(&self.cleaners));
        threads.push(os::thread::spawn("page_cleaner", move || {
            if !os::thread::prefer() {
                log::info!(
                    "If the user that runs the server is authorized, page cleaner thread priority can be changed. See the man page of \
                     setpriority()."
                );
            }
            cleaners.coordinate(&pool)
        }));
        for _ in 1..self.cleaners.count {
            let (pool, cleaners) = (Arc::downgrade(self), Arc::clone(&self.cleaners));
            threads.push(os::thread::spawn("page_cleaner", move || {
                os::thread::prefer();
                cleaners.work(&pool)
            }));
        }
        for (number, instance) in self.instances.iter().enumerate() {
            instance.lru_bell.begin();
            let (pool, bell) = (Arc::downgrade(self), Arc::clone(&instance.lru_bell));
            threads.push(os::thread::spawn("lru_flusher", move || {
                os::thread::prefer();
                lru_flusher::run(&pool, &bell, number)
            }));
        }
        self.read_ahead.bell.begin();
        let (pool, ahead) = (Arc::downgrade(self), Arc::clone(&self.read_ahead));
        threads.push(os::thread::spawn("read_ahead", move || read_ahead::run(&pool, &ahead)));
        if self.options().load_at_startup {
            self.start_load();
        }
    }

    /// Stops the page cleaners and LRU flushers and waits for their end. What is dirty stays so:
    /// [`Pool::flush_all`] comes next in a clean shutdown.
    pub fn stop(&self) {
        self.stop_load();
        let threads = std::mem::take(&mut *self.cleaners.threads.lock());
        self.cleaners.bell.stop();
        self.instances.iter().for_each(|instance| instance.lru_bell.stop());
        self.read_ahead.bell.stop();
        for thread in threads {
            if thread.join().is_err() {
                log::error!("a thread of the buffer pool ended with a panic");
            }
        }
        if self.options().dump_at_shutdown
            && let Err(error) = self.dump_pages()
        {
            log::error!("Buffer pool(s) dump: {error}");
        }
    }

    /// A cleaner's work on one instance: frames, then up to `due` pages by age.
    fn clean_instance(&self, number: usize, due: usize) -> Result<()> {
        let instance = &self.instances[number];
        let make_frames_free = || {
            let _flushing = enter(State::LruFlush);
            self.make_frames_free(instance)
        };
        make_frames_free()?;
        let mut left = due;
        while left > 0 {
            let written = self.flush_oldest(instance, left.min(STRETCH))?;
            if written == 0 {
                break;
            }
            left -= written.min(left);
            make_frames_free()?;
        }
        Ok(())
    }
}
