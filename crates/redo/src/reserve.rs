//! Reservations: space that is taken in the log and then filled.

use os::sync::atomic::Ordering;
use std::time::Duration;

use os::account::{self, State};

use crate::core::{Core, Counters};
use crate::frame::{FRAME_BYTES, Frame};
use crate::ring::Ring;
use crate::{Lsn, RedoError};

/// Space taken in the log. It must be filled soon and without waiting for anything, since the write
/// of every later record waits for it.
#[must_use = "a reservation must be filled"]
pub struct Reservation<'a> {
    core: &'a Core,
    start_lsn: Lsn,
    payload_bytes: u32,
    filled: bool,
}

impl<'a> Reservation<'a> {
    /// Returns the length in bytes of the longest payload: a record must fit into the log's
    /// capacity.
    pub(crate) fn max_payload_bytes(core: &Core) -> u64 {
        (core.space.wanted_bytes() - FRAME_BYTES as u64).min(u64::from(u32::MAX))
    }

    /// Does the work of [`crate::Log::reserve`].
    pub(crate) fn take(core: &'a Core, payload_bytes: u64) -> Result<Reservation<'a>, RedoError> {
        let max_payload_bytes = Reservation::max_payload_bytes(core);
        if payload_bytes > max_payload_bytes {
            return Err(RedoError::RecordTooLarge { payload_bytes, max_payload_bytes });
        }
        let start_lsn = core.reserved_lsn.0.fetch_add(FRAME_BYTES as u64 + payload_bytes, Ordering::SeqCst);
        Ok(Reservation { core, start_lsn, payload_bytes: payload_bytes as u32, filled: false })
    }

    /// Returns the position of the record's first byte.
    pub fn start_lsn(&self) -> Lsn {
        self.start_lsn
    }

    /// Returns the position after the record's last byte.
    pub fn end_lsn(&self) -> Lsn {
        self.start_lsn + FRAME_BYTES as u64 + u64::from(self.payload_bytes)
    }

    /// Copies the record into the log buffer and publishes it. The payload is `parts`, one after
    /// the other. Returns the end LSN.
    ///
    /// Waits only for room in the log buffer. When the log is poisoned the bytes go nowhere, and
    /// whoever waits for them gets the error.
    ///
    /// # Panics
    /// Panics when the parts together are not as long as what was reserved, or `kind` is 0.
    pub fn fill(mut self, kind: u8, parts: &[&[u8]]) -> Lsn {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        assert!(
            total == self.payload_bytes as usize,
            "{} bytes reserved, {total} filled",
            self.payload_bytes
        );
        assert!(kind != 0, "kind 0 is what zeros would be");
        self.filled = true;
        let (core, start, end) = (self.core, self.start_lsn, self.end_lsn());
        let frame = Frame::encode(core.seed, (start, core.durable()), kind, self.payload_bytes, parts);
        let whole = end - start;
        if let Some((ring, chunk)) = room(core, start, whole)
            && chunk == whole
        {
            let mut at = start;
            // SAFETY: these bytes are reserved by this reservation and not yet published, and there
            // is room.
            unsafe {
                ring.copy_in(at, &frame);
                at += FRAME_BYTES as u64;
                for part in parts {
                    ring.copy_in(at, part);
                    at += part.len() as u64;
                }
            }
            ring.publish(start, whole);
        } else if self.fill_in_chunks(&frame, parts).is_err() {
            // The log is poisoned: nobody writes any more, and the wait for this record reports
            // why.
            return end;
        }
        let unwritten = end.saturating_sub(core.written());
        if unwritten > core.rings.newest().max_chunk() && core.writer_nap.has_waiters() {
            core.writer_nap.notify_all();
        }
        end
    }

    /// Fills the record chunk by chunk, when it is large compared with the ring or the ring is
    /// full. Each chunk is published, so that the writer makes room behind it.
    fn fill_in_chunks(&self, frame: &[u8], parts: &[&[u8]]) -> Result<(), RedoError> {
        let (core, end) = (self.core, self.end_lsn());
        let mut sources = std::iter::once(frame).chain(parts.iter().copied());
        let mut source: &[u8] = &[];
        let mut chunk_start = self.start_lsn;
        while chunk_start < end {
            let left = end - chunk_start;
            let (ring, chunk) = match room(core, chunk_start, left) {
                Some(room) => room,
                None => wait_for_room(core, chunk_start, left)?,
            };
            let chunk_end = chunk_start + chunk;
            let mut at = chunk_start;
            while at < chunk_end {
                if source.is_empty() {
                    source = sources.next().expect("the parts are as long as the record");
                    continue;
                }
                let len = source.len().min((chunk_end - at) as usize);
                let (now, later) = source.split_at(len);
                // SAFETY: these bytes are reserved by this reservation, in a chunk that is not yet
                // published, and there is room up to its end.
                unsafe { ring.copy_in(at, now) };
                source = later;
                at += len as u64;
            }
            ring.publish(chunk_start, chunk);
            chunk_start = chunk_end;
        }
        Ok(())
    }
}

/// Returns the ring for the bytes from `start`, and how many of `left` bytes it has room for now.
fn room(core: &Core, start: Lsn, left: u64) -> Option<(&Ring, u64)> {
    core.rings.room(start, left, || core.written())
}

/// Waits until the ring has room for the next chunk of `left` bytes from `start`: until the bytes
/// that lay there a lap ago are in the file.
#[cold]
fn wait_for_room(core: &Core, start: Lsn, left: u64) -> Result<(&Ring, u64), RedoError> {
    let _waiting = account::enter(State::LogBufferWait);
    Counters::count(&core.counters.buffer_waits, 1);
    loop {
        core.check()?;
        if let Some(room) = room(core, start, left) {
            return Ok(room);
        }
        // Room comes from writing, so this thread writes what it finds published, or waits for what
        // another publishes in the meantime.
        core.write_published()?;
        let waiter = core.written.prepare();
        if room(core, start, left).is_none() {
            waiter.wait(Some(Duration::from_micros(100)));
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.filled {
            return;
        }
        // The log has a hole that nothing can close: no later record could ever be written.
        self.core.fail("space in the log was reserved and not filled");
        assert!(std::thread::panicking(), "a reservation was dropped without being filled");
    }
}

impl std::fmt::Debug for Reservation<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Reservation({}..{})", self.start_lsn, self.end_lsn())
    }
}
