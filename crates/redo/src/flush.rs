//! Making written bytes durable: by the thread that waits for it, or by `log_flusher`.
//!
//! At most one thread syncs at a time, the one that holds the token `flushing`. A thread that waits
//! for durability and finds the token free takes it, writes what is published and syncs. It then
//! wakes the threads that the sync satisfied, and leaves what was asked for meanwhile to
//! `log_flusher`, which syncs again and again until nothing is asked for. So one client alone never
//! waits for another thread, and many clients share syncs that follow each other without a pause.
//!
//! **Which threads are woken.** A thread waits on the event of the sync that will satisfy it: the
//! running one's if its record was written before that sync began, otherwise the next one's. So a
//! thread is rarely woken for nothing. In a race it may choose the wrong event. So a thread that
//! gives the token back and finds nothing more asked for wakes the waiters of both events: they are
//! all satisfied, or look again and sync themselves.

use os::sync::atomic::Ordering;
use std::time::Duration;

use os::account::{self, State};
use os::clock::Stopwatch;
use os::event::Event;

use crate::core::{Core, Counters};
use crate::{Lsn, RedoError};

/// The longest time without a sync with `innodb_flush_log_at_trx_commit` 0 or 2, and for records
/// whose sync nobody asked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pause between two syncs that were requested but that no thread waits for (as with a
/// replica's applier). A crash then costs at most this much of what was applied, and the replica
/// fetches that again. Syncing all the time would compete with the applier for two processors. A
/// thread that waits ends the pause early.
const UNAWAITED_PAUSE: Duration = Duration::from_millis(5);

/// How long a thread that leaves syncing to `log_flusher` sleeps before it looks again.
const THREAD_PATIENCE: Duration = Duration::from_millis(10);

impl Core {
    /// Does the work of [`crate::Log::wait_durable`].
    pub fn wait_durable(&self, lsn: Lsn) -> Result<(), RedoError> {
        if self.durable() >= lsn {
            return Ok(());
        }
        assert!(lsn <= self.reserved(), "{lsn} is beyond the log's end, {}", self.reserved());
        let _waiting = account::enter(State::LogSync);
        self.awaited_lsn.fetch_max(lsn, Ordering::Relaxed);
        self.requested_lsn.0.fetch_max(lsn, Ordering::SeqCst);
        loop {
            self.check()?;
            let waiter = self.durable_event(lsn).prepare();
            if self.durable() >= lsn {
                return Ok(());
            }
            if self.leaves_it_to_threads() {
                self.flusher_idle.notify_all();
                self.flusher_pause.notify_all();
                // The limit is for the race that the module's head describes, and for a change of
                // the setting.
                waiter.wait(Some(THREAD_PATIENCE));
            } else if self.take_token() {
                drop(waiter);
                let synced = self.sync_up_to(lsn);
                self.give_token_back();
                synced?;
            } else {
                waiter.wait(None);
            }
        }
    }

    /// Does the work of [`crate::Log::follow_durable`].
    pub fn follow_durable(&self, lsn: Lsn, asks: bool) -> Result<(), RedoError> {
        if self.durable() >= lsn {
            return Ok(());
        }
        if asks {
            self.request_durable(lsn);
        }
        let _waiting = account::enter(State::Idle);
        loop {
            self.check()?;
            let waiter = self.durable_event(lsn).prepare();
            if self.durable() >= lsn {
                return Ok(());
            }
            if self.is_closing() {
                // `log_flusher` may have ended.
                drop(waiter);
                return self.wait_durable(lsn);
            }
            // The limit is for the race that the module's head describes: nobody hurries for this
            // thread.
            waiter.wait(Some(UNAWAITED_PAUSE));
        }
    }

    /// Does the work of [`crate::Log::request_durable`].
    pub fn request_durable(&self, lsn: Lsn) {
        if self.requested_lsn.0.load(Ordering::Relaxed) >= lsn {
            return;
        }
        self.requested_lsn.0.fetch_max(lsn, Ordering::SeqCst);
        if self.flusher_idle.has_waiters() {
            self.flusher_idle.notify_all();
        }
    }

    /// Returns the event of the sync that will cover `lsn`: see the module's head.
    fn durable_event(&self, lsn: Lsn) -> &Event {
        let plan = self.sync_plan.lock();
        let number = if lsn <= plan.target_lsn { plan.number } else { plan.number + 1 };
        &self.durable[number as usize % 2]
    }

    fn take_token(&self) -> bool {
        self.flushing.compare_exchange(false, true, Ordering::SeqCst, Ordering::Relaxed).is_ok()
    }

    /// Gives the token back, wakes the threads that the sync satisfied, and wakes `log_flusher` if
    /// more was asked for.
    fn give_token_back(&self) {
        self.flushing.store(false, Ordering::SeqCst);
        let number = self.sync_plan.lock().number as usize;
        self.durable[number % 2].notify_all();
        if self.requested_lsn.0.load(Ordering::SeqCst) <= self.durable() || self.is_stopped() {
            self.durable[(number + 1) % 2].notify_all();
        } else {
            self.flusher_idle.notify_all();
            self.flusher_pause.notify_all();
        }
    }

    /// Writes what is published, at least up to `lsn`, and syncs it. The caller has the token.
    fn sync_up_to(&self, lsn: Lsn) -> Result<(), RedoError> {
        self.write_itself(lsn)?;
        self.write_published()?;
        let (from, to) = (self.durable(), self.written());
        {
            let mut plan = self.sync_plan.lock();
            plan.number += 1;
            plan.target_lsn = to;
        }
        self.sync_range(from, to)
    }

    fn sync_range(&self, from: Lsn, to: Lsn) -> Result<(), RedoError> {
        if from == to {
            return Ok(());
        }
        let _syncing = account::enter(State::LogFlush);
        let since = Stopwatch::start();
        for file in self.files.overlapping(from, to) {
            file.file.sync_data().map_err(|error| self.fail(&error.to_string()))?;
            Counters::count(&self.counters.syncs, 1);
        }
        Counters::count(&self.counters.sync_ns, since.elapsed_ns());
        // A sync that began before the log was poisoned must not acknowledge anything after it.
        self.check()?;
        self.durable_lsn.0.store(to, Ordering::Release);
        Ok(())
    }

    /// Runs the thread `log_flusher`.
    pub fn run_flusher(&self) {
        account::set(State::Idle);
        let mut last_sync = Stopwatch::start();
        while !self.is_stopped() {
            let requested = self.requested_lsn.0.load(Ordering::SeqCst);
            let due = last_sync.elapsed() >= INTERVAL && self.durable() < self.reserved();
            if (requested > self.durable() || due) && self.take_token() {
                let synced = self.sync_up_to(requested);
                last_sync = Stopwatch::start();
                self.give_token_back();
                if synced.is_err() {
                    return;
                }
                self.pause_when_unawaited();
                continue;
            }
            if self.is_closing() {
                return;
            }
            let waiter = self.flusher_idle.prepare();
            let nothing = self.requested_lsn.0.load(Ordering::SeqCst) <= self.durable();
            // If a sync is requested and the token is taken, the token's holder wakes this thread
            // when it gives the token back.
            if (nothing || self.flushing.load(Ordering::SeqCst)) && !self.is_closing() {
                waiter.wait(Some(INTERVAL));
            }
        }
    }

    fn pause_when_unawaited(&self) {
        let waiter = self.flusher_pause.prepare();
        if self.awaited_lsn.load(Ordering::Relaxed) > self.durable() {
            return;
        }
        // A thread that comes to wait during the pause finds the token free and syncs itself. If
        // there is more to do then, it ends the pause.
        waiter.wait(Some(UNAWAITED_PAUSE));
    }
}
