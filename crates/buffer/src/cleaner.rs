//! The page cleaner: a background thread that keeps frames free and the log's tail short.
//!
//! Ten times a second, and whenever a thread finds few free frames: first the LRU list's end (evict what is clean, write what is dirty), then
//! the flush list by age, at a pace that follows how much of the log's capacity the oldest change holds (adaptive flushing).

use std::sync::{Arc, Weak};
use std::time::Duration;

use os::account::{State, enter};
use os::thread::JoinHandle;
use parking_lot::{Condvar, Mutex};
use redo::Lsn;

use crate::error::Result;
use crate::pool::Pool;

const ROUND: Duration = Duration::from_millis(100);
const ROUNDS_A_SECOND: u64 = 10;

#[derive(Debug, Default)]
struct Orders {
    running: bool,
    stop: bool,
    poked: bool,
}

/// What the pool and its cleaner thread share. The mutex is a leaf in the lock order.
#[derive(Debug, Default)]
pub(crate) struct Cleaner {
    orders: Mutex<Orders>,
    event: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Cleaner {
    /// Asks for a round now; false when no cleaner runs.
    pub fn wake(&self) -> bool {
        let mut orders = self.orders.lock();
        if orders.running && !orders.poked {
            orders.poked = true;
            self.event.notify_one();
        }
        orders.running
    }

    /// Waits for the next round; false when it is time to stop.
    fn next_round(&self) -> bool {
        let _idle = enter(State::Idle);
        let mut orders = self.orders.lock();
        if !orders.poked && !orders.stop {
            self.event.wait_for(&mut orders, ROUND);
        }
        orders.poked = false;
        !orders.stop
    }
}

impl Pool {
    /// Starts the page cleaner. Does nothing when it runs.
    pub fn start_cleaners(self: &Arc<Pool>) {
        let mut thread = self.cleaner.thread.lock();
        if thread.is_some() {
            return;
        }
        *self.cleaner.orders.lock() = Orders { running: true, stop: false, poked: false };
        let (pool, cleaner) = (Arc::downgrade(self), Arc::clone(&self.cleaner));
        *thread = Some(os::thread::spawn("page_cleaner", move || clean(&pool, &cleaner)));
    }

    /// Stops the page cleaner and waits for its end. What is dirty stays so: [`Pool::flush_all`] comes next in a clean shutdown.
    pub fn stop(&self) {
        let thread = self.cleaner.thread.lock().take();
        {
            let mut orders = self.cleaner.orders.lock();
            orders.stop = true;
            orders.running = false;
            self.cleaner.event.notify_one();
        }
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            log::error!("the page cleaner ended with a panic");
        }
    }
}

fn clean(pool: &Weak<Pool>, cleaner: &Cleaner) {
    let mut pace = Pace { last_lsn: 0, next_ms: 0, failing: false };
    while cleaner.next_round() {
        // The pool may be gone without `stop`, in a test that has had a power cut.
        let Some(pool) = pool.upgrade() else { return };
        let outcome = pace.round(&pool);
        if let (Err(error), false) = (&outcome, pace.failing) {
            log::error!("the page cleaner cannot write: {error}");
        }
        pace.failing = outcome.is_err();
    }
}

/// The cleaner's memory from one round to the next.
struct Pace {
    last_lsn: Lsn,
    /// When the next round by age is due.
    next_ms: u64,
    /// The last round failed: it is logged once, until a round succeeds.
    failing: bool,
}

impl Pace {
    fn round(&mut self, pool: &Pool) -> Result<()> {
        pool.free_some_frames()?;
        let now_ms = os::clock::monotonic_ns() / 1_000_000;
        if now_ms < self.next_ms {
            return Ok(());
        }
        self.next_ms = now_ms + ROUND.as_millis() as u64;
        pool.advance_tick();
        let mut left = self.pages_due(pool);
        while left > 0 {
            let written = pool.flush_oldest(left.min(64), Lsn::MAX)?;
            if written == 0 {
                break;
            }
            left -= written.min(left);
            pool.free_some_frames()?;
        }
        Ok(())
    }

    /// How many pages to write by age in this round.
    fn pages_due(&mut self, pool: &Pool) -> usize {
        let (config, options) = (pool.config(), pool.options());
        let end = pool.log().current_lsn();
        let idle = end == self.last_lsn;
        self.last_lsn = end;
        let Some(oldest) = pool.oldest_dirty_lsn() else { return 0 };
        let age_percent = end.saturating_sub(oldest).saturating_mul(100) / config.redo_capacity_bytes.max(1);
        let (normal, most) = (options.io_capacity as u64, options.io_capacity_max as u64);
        let a_second = match age_percent {
            _ if idle => normal,
            0..10 => 0,
            // Rises with the age, so that a steady load finds a steady pace well before the log is short.
            10..50 => normal * age_percent / 50,
            50..70 => normal + (most.saturating_sub(normal)) * (age_percent - 50) / 20,
            _ => most.saturating_mul(4),
        };
        a_second.div_ceil(ROUNDS_A_SECOND) as usize
    }
}

impl Pool {
    /// Brings the free list up to its target: evicts clean pages from the LRU list's end, writes dirty ones there first if it must.
    fn free_some_frames(&self) -> Result<()> {
        let target = self.free_target();
        // A pool that never ran short is left to fill up.
        for _ in 0..64 {
            let free = self.lists.lock().free_len();
            if free >= target || !self.is_evicting() {
                return Ok(());
            }
            let scan = self.options().lru_scan_depth.max(64);
            if self.evict(target - free, scan) == 0 && self.flush_lru(target.max(64), scan)? == 0 {
                return Ok(());
            }
            self.announce_free();
        }
        Ok(())
    }
}
