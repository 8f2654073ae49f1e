//! The audit log: who has connected and what was done, as one object of JSON a line, in a file.
//!
//! In: lines that `crate::query_log` makes of what connections and sessions tell. Out: the file of
//! `audit_log_file`. A line goes into a buffer, which a thread writes, so that a session does not
//! wait for the disk. The buffer is bounded by `audit_log_buffer_size`. While it is full, a session
//! waits (`audit_log_strategy = ASYNCHRONOUS`), or its line is lost and counted (`PERFORMANCE`).
//!
//! Invariants:
//! - The lines of the file are in the order in which they came into the buffer.
//! - A log that cannot be written stops nobody: its lines are lost and counted, and the error log
//!   says so.

pub mod file;
pub mod filter;

use super::log_file::LogOpening;
use super::status::Counter;
use crate::process::error_log::timestamp;
use file::{AuditFile, Rotation};
use filter::{Filter, List, Policy};
use os::account::{State, enter};
use os::disk::Disk;
use os::event::Event;
use os::thread::JoinHandle;
use parking_lot::{Mutex, RwLock};
use sql::SqlError;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The longest time between two looks at the buffer. Notifications make it shorter, and end it when
/// one of them was missed.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// After how long a client of the web page that goes on asking for it is noted again.
const AGAIN_AFTER_US: u64 = 3600 * 1_000_000;

/// What of a statement is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatementForm {
    /// Its text, without passwords.
    #[default]
    Text,
    /// The text and the hash of its digest, without the values in it.
    Digest,
}

/// The lines that the thread has still to write.
#[derive(Default)]
struct Buffer {
    lines: Vec<u8>,
    count: u64,
}

/// What the sessions, the thread and SET GLOBAL share. Lock order: `file`, then `buffer`; `filter`
/// is held alone.
#[derive(Default)]
struct Shared {
    filter: RwLock<Filter>,
    file: Mutex<AuditFile>,
    buffer: Mutex<Buffer>,
    /// True while lines are taken. SeqCst, as [`Event`] asks for.
    is_on: AtomicBool,
    /// Relaxed, like the other settings: a new value counts a moment later.
    waits_for_room: AtomicBool,
    has_digests: AtomicBool,
    buffer_bytes: AtomicU64,
    rotate_on_size_bytes: AtomicU64,
    rotations: AtomicU64,
    /// Notified when there are lines, and when the thread has to end.
    lines: Event,
    /// Notified when the thread has taken the lines.
    room: Event,
    /// The number of the next line.
    next_id: AtomicU64,
    events: Counter,
    filtered: Counter,
    lost: Counter,
    written: Counter,
    written_bytes: Counter,
    waits: Counter,
}

/// The audit log of a server.
#[derive(Default)]
pub struct AuditLog {
    shared: Arc<Shared>,
    /// When the clients of the web page were last noted, in microseconds of unix time, by user and
    /// host of their accounts and their addresses.
    readers: Mutex<BTreeMap<(String, String, IpAddr), u64>>,
    /// The thread, while the log is on. The lock is held while the log is turned on or off.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl AuditLog {
    /// Reports whether the log is on.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.shared.is_on.load(Ordering::Relaxed)
    }

    /// Returns the form in which statements are written.
    pub fn form(&self) -> StatementForm {
        match self.shared.has_digests.load(Ordering::Relaxed) {
            true => StatementForm::Digest,
            false => StatementForm::Text,
        }
    }

    /// Reports whether an event is to be written, as `chooses` finds by the filter, and counts the
    /// events.
    pub fn takes(&self, chooses: impl FnOnce(&Filter) -> bool) -> bool {
        if !self.is_on() {
            return false;
        }
        self.shared.events.add_one();
        let takes = chooses(&self.shared.filter.read());
        if !takes {
            self.shared.filtered.add_one();
        }
        takes
    }

    /// Reports whether a client of the web page was not noted within the last hour, and notes it.
    pub fn is_new_reader(&self, (user, host, ip): (&str, &str, IpAddr)) -> bool {
        let now_us = os::clock::now_us();
        let mut readers = self.readers.lock();
        readers.retain(|_, since_us| now_us.abs_diff(*since_us) < AGAIN_AFTER_US);
        let is_new = !readers.contains_key(&(user.to_owned(), host.to_owned(), ip));
        if is_new {
            readers.insert((user.to_owned(), host.to_owned(), ip), now_us);
        }
        is_new
    }

    /// Returns the number of a new line.
    pub fn next_id(&self) -> u64 {
        self.shared.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Puts a line, which ends with a newline, into the buffer.
    pub fn put(&self, line: &[u8]) {
        debug_assert!(line.ends_with(b"\n") && !line[..line.len() - 1].contains(&b'\n'));
        let shared = &*self.shared;
        let mut has_waited = false;
        loop {
            let waiter = shared.room.prepare();
            {
                let mut buffer = shared.buffer.lock();
                let most = shared.buffer_bytes.load(Ordering::Relaxed) as usize;
                // A line that is longer than the buffer has an empty one for itself.
                if buffer.lines.is_empty() || buffer.lines.len() + line.len() <= most {
                    buffer.lines.extend_from_slice(line);
                    buffer.count += 1;
                    break;
                }
                if !shared.waits_for_room.load(Ordering::Relaxed) || !shared.is_on.load(Ordering::SeqCst) {
                    shared.lost.add_one();
                    return;
                }
            }
            if !has_waited {
                shared.waits.add_one();
                has_waited = true;
            }
            let _waiting = enter(State::LogBufferWait);
            waiter.wait(Some(LOOK_AFTER));
        }
        shared.lines.notify_all();
    }

    /// Turns the log on or off. What was taken before is written.
    ///
    /// # Errors
    /// Returns 29 when the file cannot be opened, and 1105 when the system has no thread. The log
    /// stays off then.
    pub fn turn(
        &self,
        disk: &Arc<dyn Disk>,
        opening: &LogOpening<'_>,
        name: &str,
        on: bool,
    ) -> Result<(), SqlError> {
        let mut thread = self.thread.lock();
        assert_eq!(thread.is_some(), self.is_on(), "a log that is on has its thread");
        if thread.is_some() == on {
            return Ok(());
        }
        if let Some(running) = thread.take() {
            self.end(running);
            return Ok(());
        }
        self.shared.file.lock().open(disk, opening, name)?;
        self.put_own("startup");
        self.shared.is_on.store(true, Ordering::SeqCst);
        let shared = self.shared.clone();
        let started = os::thread::try_spawn("audit_log", move || shared.write_until_off());
        *thread = Some(started.map_err(|error| {
            self.shared.is_on.store(false, Ordering::SeqCst);
            SqlError::new(1105, format!("cannot start the thread of the audit log: {error}"))
        })?);
        Ok(())
    }

    /// Turns the log off at the end of the server.
    pub fn close(&self) {
        if let Some(running) = self.thread.lock().take() {
            self.end(running);
        }
    }

    fn end(&self, thread: JoinHandle<()>) {
        self.shared.is_on.store(false, Ordering::SeqCst);
        self.shared.lines.notify_all();
        self.shared.room.notify_all();
        if thread.join().is_err() {
            log::error!("the thread of the audit log has panicked");
        }
        // A session that ends meanwhile may have put a line, which comes before this one.
        self.put_own("shutdown");
        let mut file = self.shared.file.lock();
        self.shared.write(&mut file);
        file.close();
    }

    /// Puts the line that says when the log begins or ends, so that nobody takes the time between
    /// for one without events.
    fn put_own(&self, event: &str) {
        let (at, id) = (timestamp(os::clock::now_us()), self.next_id());
        let line = format!(
            "{{\"timestamp\":\"{at}\",\"id\":{id},\"class\":\"audit\",\"event\":\"{event}\",\"connection_id\":0}}\n"
        );
        self.put(line.as_bytes());
    }

    /// Writes what was taken into the present file and opens the file anew, after somebody has
    /// renamed it (`FLUSH LOGS`).
    ///
    /// # Errors
    /// Returns 29 when the file cannot be opened. Lines are lost then until a later FLUSH LOGS.
    pub fn reopen(&self, disk: &Arc<dyn Disk>, opening: &LogOpening<'_>, name: &str) -> Result<(), SqlError> {
        let _no_turn = self.thread.lock();
        if !self.is_on() {
            return Ok(());
        }
        let mut file = self.shared.file.lock();
        self.shared.write(&mut file);
        file.open(disk, opening, name)
    }

    /// Sets `audit_log_policy`.
    pub fn set_policy(&self, policy: Policy) {
        self.shared.filter.write().policy = policy;
    }

    /// Sets one of the lists of accounts and commands.
    ///
    /// # Errors
    /// Returns the errors of [`Filter::set`].
    pub fn set_list(&self, list: List, text: &str) -> Result<(), SqlError> {
        self.shared.filter.write().set(list, text)
    }

    /// Sets whether a session waits while the buffer is full (`audit_log_strategy`).
    pub fn set_waits_for_room(&self, waits: bool) {
        self.shared.waits_for_room.store(waits, Ordering::Relaxed);
    }

    /// Sets the form in which statements are written.
    pub fn set_form(&self, form: StatementForm) {
        self.shared.has_digests.store(form == StatementForm::Digest, Ordering::Relaxed);
    }

    /// Sets `audit_log_buffer_size`.
    pub fn set_buffer_bytes(&self, bytes: u64) {
        self.shared.buffer_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Sets `audit_log_rotate_on_size`.
    pub fn set_rotate_on_size_bytes(&self, bytes: u64) {
        self.shared.rotate_on_size_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Sets `audit_log_rotations`.
    pub fn set_rotations(&self, kept: u64) {
        self.shared.rotations.store(kept, Ordering::Relaxed);
    }

    /// Returns the status variables.
    pub fn status(&self) -> [(&'static str, u64); 7] {
        let shared = &self.shared;
        [
            ("Audit_log_current_size", shared.file.lock().size_bytes()),
            ("Audit_log_events", shared.events.get()),
            ("Audit_log_events_filtered", shared.filtered.get()),
            ("Audit_log_events_lost", shared.lost.get()),
            ("Audit_log_events_written", shared.written.get()),
            ("Audit_log_total_size", shared.written_bytes.get()),
            ("Audit_log_write_waits", shared.waits.get()),
        ]
    }
}

impl Shared {
    fn write_until_off(&self) {
        loop {
            let waiter = self.lines.prepare();
            let is_on = self.is_on.load(Ordering::SeqCst);
            self.write(&mut self.file.lock());
            if !is_on {
                return;
            }
            if self.buffer.lock().lines.is_empty() {
                let _waiting = enter(State::Idle);
                waiter.wait(Some(LOOK_AFTER));
            }
        }
    }

    /// Writes the lines of the buffer.
    fn write(&self, file: &mut AuditFile) {
        let Buffer { lines, count } = std::mem::take(&mut *self.buffer.lock());
        debug_assert_eq!(
            lines.iter().filter(|byte| **byte == b'\n').count() as u64,
            count,
            "each line of the buffer is counted"
        );
        self.room.notify_all();
        if lines.is_empty() {
            return;
        }
        let rotation = Rotation {
            on_size_bytes: self.rotate_on_size_bytes.load(Ordering::Relaxed),
            kept: self.rotations.load(Ordering::Relaxed),
        };
        let is_open = file.is_open();
        match file.append(&lines, rotation) {
            Ok(()) if is_open => {
                self.written.add(count);
                self.written_bytes.add(lines.len() as u64);
            }
            Ok(()) => self.lost.add(count),
            Err(error) => {
                self.lost.add(count);
                log::error!("cannot write to the audit log, {count} events are lost: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(waits: bool, bytes: u64) -> AuditLog {
        let log = AuditLog::default();
        log.set_waits_for_room(waits);
        log.set_buffer_bytes(bytes);
        log
    }

    #[test]
    fn a_full_buffer_loses_lines_and_counts_them() {
        let log = log_of(false, 10);
        // There is no thread that writes.
        [b"12345\n", b"67890\n", b"abcde\n"].into_iter().for_each(|line| log.put(line));
        let of = |name: &str| log.status().iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert_eq!(of("Audit_log_events_lost"), Some(2));
        assert_eq!(log.shared.buffer.lock().lines, b"12345\n");
        // A line that is longer than the buffer goes in alone.
        let log = log_of(false, 10);
        log.put(b"a line of more than ten bytes\n");
        assert_eq!(log.shared.buffer.lock().count, 1);
    }

    #[test]
    fn a_log_that_is_off_takes_nothing() {
        let log = log_of(true, 1000);
        assert!(!log.is_on() && !log.takes(|_| true));
        assert_eq!(log.status()[1], ("Audit_log_events", 0));
    }
}
