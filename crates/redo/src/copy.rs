//! Copying the log, from the newest checkpoint to a later position, into another data directory,
//! while the log goes on.
//!
//! The copy has the same bytes at the same positions, in files of its own, under a log id of its
//! own. It is a log only once its checkpoint slot is there, which is written last.

use std::path::Path;
use std::sync::Arc;

use os::disk::Disk;

use crate::checkpoint::{Checkpoint, Slot, Slots};
use crate::core::Core;
use crate::files::{Files, log_dir};
use crate::hold::Hold;
use crate::open::read_stream;
use crate::{Lsn, RedoError};

/// The number of bytes that are read and written at a time.
const PIECE_BYTES: usize = 1 << 20;

/// A copy of the log under way. Until it is finished or dropped, the log keeps the files that are
/// still to be copied, as long as the copier is not too far behind.
pub struct LogCopy {
    core: Arc<Core>,
    hold: Hold,
    /// The slot of the checkpoint that the copy begins at.
    slot: Slot,
    log_id: u64,
    files: Files,
    slots: Slots,
    /// The end of what has been copied.
    at: Lsn,
    piece: Vec<u8>,
}

impl LogCopy {
    pub(crate) fn begin(
        core: &Arc<Core>,
        disk: &Arc<dyn Disk>,
        datadir: &Path,
    ) -> Result<LogCopy, RedoError> {
        let (slot, hold) = {
            // Under this lock no checkpoint is made, so no file behind the slot's is recycled.
            let _checkpoint = core.checkpoint.lock();
            let newest = core.slots.newest()?;
            let slot = newest.ok_or_else(|| RedoError::Corrupt("neither checkpoint is whole".to_owned()))?;
            let hold = core.holds.take(slot.checkpoint.lsn);
            (slot, hold)
        };
        let dir = log_dir(datadir);
        disk.create_dir_all(&dir)?;
        disk.sync_dir(datadir)?;
        let log_id = os::random::u64();
        let slots = Slots::new(Arc::clone(disk), &dir);
        let files = Files::new(Arc::clone(disk), dir, log_id, core.space.wanted_bytes());
        files.find_or_make(slot.checkpoint.lsn)?;
        let at = slot.checkpoint.lsn;
        Ok(LogCopy {
            core: Arc::clone(core),
            hold,
            slot,
            log_id,
            files,
            slots,
            at,
            piece: vec![0; PIECE_BYTES],
        })
    }

    /// Returns the checkpoint that the copy begins at.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.slot.checkpoint
    }

    /// Returns the end of what has been copied.
    pub fn copied_lsn(&self) -> Lsn {
        self.at
    }

    /// Copies what is written by now.
    ///
    /// # Errors
    /// Returns [`RedoError::Gone`] when the copy has fallen too far behind, and I/O errors of
    /// either log.
    pub fn advance(&mut self) -> Result<(), RedoError> {
        self.advance_to(self.core.written())
    }

    /// Copies everything before `end`, which is written.
    ///
    /// # Errors
    /// Returns the errors of [`LogCopy::advance`].
    pub fn advance_to(&mut self, end: Lsn) -> Result<(), RedoError> {
        while self.at < end {
            let wanted = (end - self.at).min(PIECE_BYTES as u64) as usize;
            let got = read_stream(&self.core.files, self.at, &mut self.piece[..wanted])?;
            // A file leaves the set before it is used again. So what was read is right if the file
            // is in the set afterwards.
            let oldest_lsn = self.core.files.oldest_lsn();
            if oldest_lsn > self.at || got == 0 {
                return Err(RedoError::Gone { lsn: self.at, oldest_lsn });
            }
            self.put(got)?;
            self.hold.advance(self.at);
        }
        Ok(())
    }

    /// Appends the first bytes of the piece to the copy.
    fn put(&mut self, len: usize) -> Result<(), RedoError> {
        let mut from = 0;
        while from < len {
            let file = self.files.find_or_make(self.at)?;
            let part = (len - from).min((file.end_lsn() - self.at) as usize);
            file.file.write_all_at(&self.piece[from..from + part], file.offset(self.at))?;
            file.file.write_back(file.offset(self.at), part as u64);
            from += part;
            self.at += part as u64;
        }
        Ok(())
    }

    /// Copies the rest up to `end`, which is a record's end, makes the copy durable, and gives it a
    /// checkpoint at the position of [`LogCopy::checkpoint`] with this state.
    ///
    /// # Errors
    /// Returns the errors of [`LogCopy::advance`], and [`RedoError::Poisoned`] when the log has
    /// failed.
    ///
    /// # Panics
    /// Panics when more has been copied already.
    pub fn finish(mut self, end: Lsn, state: Vec<u8>) -> Result<(), RedoError> {
        assert!(self.at <= end, "the copy is at {}, behind its end {end}", self.at);
        self.core.wait_durable(end)?;
        self.advance_to(end)?;
        for file in self.files.overlapping(0, Lsn::MAX) {
            file.file.sync_data()?;
        }
        let Slot { lives, checkpoint, .. } = self.slot;
        let checkpoint = Checkpoint { lsn: checkpoint.lsn, state };
        self.slots.write(&Slot { sequence: 1, log_id: self.log_id, lives, checkpoint })
    }
}

impl std::fmt::Debug for LogCopy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "LogCopy({}..{})", self.slot.checkpoint.lsn, self.at)
    }
}
