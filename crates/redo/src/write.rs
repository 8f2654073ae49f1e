//! Writing published bytes to the files: by the thread that needs it, or by `log_writer`.

use os::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use os::account::{self, State};
use os::event::Waiter;
use os::sync::MutexGuard;

use crate::core::{Core, Counters, PAGE_BYTES, WriteState};
use crate::files::LogFile;
use crate::ring::Ring;
use crate::{LogConfig, Lsn, RedoError};

/// The most bytes of one write call, so that room in the ring comes back in steps.
const MAX_WRITE_BYTES: u64 = 4 << 20;

/// How long the writer sleeps between two rounds while there is something to write and nobody asks
/// for it sooner.
const NAP: Duration = Duration::from_millis(1);

/// How long the writer sleeps when nothing was reserved since its last round. Threads that want a
/// record written soon say so (`request_written`); this is the limit for the others.
const IDLE: Duration = Duration::from_millis(20);

/// How long a thread waits before it tries a full disk again. `LOOKS_PER_REPORT` is the number of
/// tries between two reports of the waiting.
const FULL_DISK_LOOK: Duration = Duration::from_millis(100);
const LOOKS_PER_REPORT: u64 = 600;

/// How many times a thread looks for an earlier record to be published, or for another thread's
/// write to be done, before it lets other threads run. A fill takes well under a microsecond and a
/// write a few, unless its thread has lost the processor itself.
const SPINS: u32 = if cfg!(feature = "model") { 1 } else { 16 };

/// How many times a thread lets other threads run before it sleeps. On a busy machine the thread
/// that has lost the processor gets it that way, which costs less than sleeping and being woken.
const YIELDS: u32 = if cfg!(feature = "model") { 1 } else { 16 };

/// How long a thread then sleeps, at least, for a record that is not yet published.
const LATE_PUBLISHER: Duration = Duration::from_micros(50);

impl Core {
    /// Writes everything that is published now. Returns whether there was anything.
    pub fn write_published(&self) -> Result<bool, RedoError> {
        self.write_and_unlock(self.write.lock())
    }

    fn write_and_unlock(&self, mut state: MutexGuard<'_, WriteState>) -> Result<bool, RedoError> {
        let outcome = self.write_published_locked(&mut state);
        drop(state);
        // All waiters are woken at once, now that the lock is free. One whose record was published
        // too late for this write does the next one, for all others. Woken one by one, each would
        // wait for the processor in turn, most of them for nothing.
        self.notify_written();
        outcome
    }

    fn notify_written(&self) {
        // The fence orders what came before (`written_lsn`, the unlocking) before the look for
        // waiters. A waiter counts itself before it looks at those.
        os::sync::atomic::fence(Ordering::SeqCst);
        if self.written.has_waiters() {
            self.written.notify_all();
        }
    }

    fn write_published_locked(&self, state: &mut WriteState) -> Result<bool, RedoError> {
        self.check()?;
        let before = self.written();
        loop {
            let (ring, end_lsn) = self.rings.until(state.tail_lsn);
            let (tail_lsn, chunks) = ring.advance(state.tail_lsn, self.reserved().min(end_lsn));
            state.tail_lsn = tail_lsn;
            Counters::count(&self.counters.write_requests, chunks);
            self.write_to(state, ring, tail_lsn)?;
            if tail_lsn < end_lsn {
                return Ok(before < tail_lsn);
            }
            // The bytes that follow are in the next ring. This one is not used any more.
            ring.release();
        }
    }

    /// Writes all published bytes up to `tail_lsn`, which are in this ring.
    fn write_to(&self, state: &mut WriteState, ring: &Ring, tail_lsn: Lsn) -> Result<(), RedoError> {
        let mut from = self.written();
        while from < tail_lsn {
            let until = tail_lsn.min(from + MAX_WRITE_BYTES);
            let written = self.write_range(state, ring, from, until);
            from = written.map_err(|error| self.fail(&error.to_string()))?;
            self.written_lsn.0.store(from, Ordering::Release);
            if from < tail_lsn {
                self.notify_written();
            }
        }
        Ok(())
    }

    /// Writes some of the published bytes `from..until`: up to the end of the ring's array or of
    /// the file. Returns the position up to which it wrote.
    fn write_range(
        &self,
        state: &mut WriteState,
        ring: &Ring,
        from: Lsn,
        until: Lsn,
    ) -> Result<Lsn, RedoError> {
        let file = match &state.file {
            Some(file) if from < file.end_lsn() => file.clone(),
            _ => {
                let file = self.file_at(from)?;
                state.file = Some(file.clone());
                self.governor.notify_all();
                file
            }
        };
        // SAFETY: the bytes are published (until <= tail), and `written_lsn` advances only under
        // this lock, after the write.
        let bytes = unsafe { ring.contiguous(from, until.min(file.end_lsn())) };
        let to = from + bytes.len() as u64;
        let _writing = account::enter(State::LogWrite);
        let (begin, end) = (file.offset(from), file.offset(to));
        let last_page = end / PAGE_BYTES * PAGE_BYTES;
        let rest = end - last_page;
        if rest > 0 && begin <= last_page && rest < PAGE_BYTES {
            // The first write into a page writes all of it, so that the kernel need not read a page
            // of a recycled file to keep its old rest.
            let whole_pages = (last_page - begin) as usize;
            if whole_pages > 0 {
                file.file.write_all_at(&bytes[..whole_pages], begin)?;
            }
            let (page, used) = (&mut *state.last_page, rest as usize);
            debug_assert!(page.iter().all(|byte| *byte == 0), "the page holds zeros between writes");
            page[..used].copy_from_slice(&bytes[whole_pages..]);
            let written = file.file.write_all_at(page, last_page);
            page[..used].fill(0);
            written?;
        } else {
            file.file.write_all_at(bytes, begin)?;
        }
        Counters::count(&self.counters.writes, 1);
        Counters::count(&self.counters.written_bytes, bytes.len() as u64);
        Ok(to)
    }

    /// Returns the file that the next bytes go to. They are reserved and must be written, so a full
    /// disk is waited out as in MySQL: every thread that writes waits for somebody to free space,
    /// unless the server is shutting down.
    fn file_at(&self, from: Lsn) -> Result<Arc<LogFile>, RedoError> {
        let mut looks = 0u64;
        loop {
            match self.files.find_or_make(from) {
                Err(RedoError::DiskFull(what))
                    if !self.is_stopped() && !self.gives_up_on_full_disk.load(Ordering::Relaxed) =>
                {
                    if looks.is_multiple_of(LOOKS_PER_REPORT) {
                        log::error!(
                            "Disk is full writing the redo log ({what}). Waiting for someone to free space..."
                        );
                    }
                    looks += 1;
                    let _waiting = account::enter(State::DiskFullWait);
                    os::clock::sleep(FULL_DISK_LOOK);
                }
                made => return made,
            }
        }
    }

    /// Returns when everything before `lsn` is written. Writes it if nobody else does.
    pub fn write_through(&self, lsn: Lsn) -> Result<(), RedoError> {
        if self.written() >= lsn {
            return Ok(());
        }
        assert!(lsn <= self.reserved(), "{lsn} is beyond the log's end, {}", self.reserved());
        let leaves = self.leaves_it_to_threads();
        // Most often no other thread writes, so that there is nothing to wait for.
        if !leaves && let Some(state) = self.write.try_lock() {
            self.write_and_unlock(state)?;
            if self.written() >= lsn {
                return Ok(());
            }
        }
        let _waiting = account::enter(State::LogWriteWait);
        if leaves { self.wait_for_writer(lsn) } else { self.write_itself(lsn) }
    }

    /// Returns when `log_writer` has written everything before `lsn`.
    fn wait_for_writer(&self, lsn: Lsn) -> Result<(), RedoError> {
        loop {
            self.check()?;
            let waiter = self.written.prepare();
            if self.written() >= lsn {
                return Ok(());
            }
            if !self.leaves_it_to_threads() {
                drop(waiter);
                return self.write_itself(lsn);
            }
            self.writer_idle.notify_all();
            self.writer_nap.notify_all();
            // The limit is for a wake-up that came while the writer was between its look and its
            // sleep.
            waiter.wait(Some(NAP));
        }
    }

    /// Does the same as [`Core::write_through`], whatever `innodb_log_writer_threads` says.
    pub fn write_itself(&self, lsn: Lsn) -> Result<(), RedoError> {
        let mut attempt: u32 = 0;
        while self.written() < lsn {
            attempt += 1;
            let naps = attempt.saturating_sub(SPINS + YIELDS);
            let waiter = (naps > 0).then(|| self.prepare_for_write());
            match (self.write.try_lock(), waiter) {
                (Some(state), waiter) => {
                    drop(waiter);
                    // If nothing was written, an earlier record is reserved and not yet published.
                    // Its thread is about to publish it.
                    let any = self.write_and_unlock(state)?;
                    match naps {
                        0 if !any => pause(attempt),
                        1.. if !any => self.await_publisher(lsn, naps),
                        _ => {}
                    }
                }
                // Another thread writes, very likely this record as well, and wakes all that sleep.
                (None, Some(waiter)) if self.written() < lsn => waiter.wait(None),
                (None, Some(_)) => {}
                (None, None) => pause(attempt),
            }
        }
        Ok(())
    }

    fn prepare_for_write(&self) -> Waiter<'_> {
        let waiter = self.written.prepare();
        // This fence pairs with the one in `notify_written`.
        os::sync::atomic::fence(Ordering::SeqCst);
        waiter
    }

    /// Sleeps until an earlier record, which is reserved and not yet published, may be written. Its
    /// thread has lost the processor. Most such threads write next, for all; but it may be one that
    /// does not wait for its record, so the sleep has a limit, which grows with the number of
    /// `naps`.
    fn await_publisher(&self, lsn: Lsn, naps: u32) {
        let waiter = self.prepare_for_write();
        if self.written() < lsn {
            waiter.wait(Some(LATE_PUBLISHER * (1 << naps.min(4))));
        }
    }

    /// Requests that everything before `lsn` is written soon, without waiting.
    pub fn request_written(&self, lsn: Lsn) {
        if self.written() < lsn && self.writer_idle.has_waiters() {
            self.writer_idle.notify_all();
        }
    }

    /// Does the work of [`crate::Log::set_buffer_bytes`].
    pub fn set_buffer_bytes(&self, bytes: u64) {
        let bytes = LogConfig::ring_bytes(bytes);
        let state = self.write.lock();
        if self.rings.newest().capacity() != bytes {
            self.rings.replace(Ring::new(bytes), self.written());
        }
        drop(state);
    }

    /// Runs the thread `log_writer`.
    pub fn run_writer(&self) {
        account::set(State::Idle);
        loop {
            let result = self.write_published();
            if result.is_err() || self.is_closing() {
                return;
            }
            let anything = self.written() != self.reserved() || matches!(result, Ok(true));
            let (event, pause) = if anything { (&self.writer_nap, NAP) } else { (&self.writer_idle, IDLE) };
            let waiter = event.prepare();
            let news = !anything && self.written() != self.reserved();
            if !news && !self.is_stopped() && !self.is_closing() {
                waiter.wait(Some(pause));
            }
        }
    }

    /// Runs the thread `log_files_governor`, which keeps one file made ahead and removes surplus
    /// files.
    pub fn run_governor(&self) {
        account::set(State::Idle);
        loop {
            // The conditions are checked after `prepare`, since whoever ends this thread wakes it
            // only once.
            let waiter = self.governor.prepare();
            if self.is_stopped() || self.is_closing() {
                return;
            }
            let unmade = self.files.unmake_ahead(|| self.reserved());
            let made = unmade.and_then(|()| self.files.make_ahead(self.reserved()));
            let done = made.and_then(|_| self.files.remove_surplus());
            match done {
                Ok(()) => waiter.wait(None),
                Err(error) => {
                    // A missing file ahead is no failure yet: the writer makes one when it comes to
                    // it, and fails then if it must.
                    log::warn!("cannot prepare log files: {error}");
                    waiter.wait(Some(Duration::from_secs(1)));
                }
            }
        }
    }
}

fn pause(attempt: u32) {
    if attempt <= SPINS { os::sync::spin_loop() } else { os::thread::yield_now() }
}
