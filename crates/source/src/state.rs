//! The point up to which the binary log files are safe, as the checkpoint keeps it.
//!
//! Its form, all little-endian: version u8 (1), LSN u64, file number u64, position u64, number of
//! transactions in the file u64, then the set of all GTIDs in the log up to that point, in the
//! binary form of a previous GTIDs event.

use binlog::gtid::GtidSet;
use engine::CheckpointParticipant;
use parking_lot::Mutex;
use redo::Lsn;

const VERSION: u8 = 1;
const FIXED_BYTES: usize = 33;
/// The value of [`SafePoint::lsn`] after an error has turned the log off. The files have only what
/// is synced, whatever was committed since.
pub(crate) const TURNED_OFF: Lsn = Lsn::MAX;

/// A point up to which the files are safe: everything of the redo log up to `lsn` is in the files
/// up to `file` and `pos`, synced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SafePoint {
    /// The end of the last commit record that is in the files, or does not belong in them.
    /// `u64::MAX` means that an error has turned the log off; file, position and GTIDs are then
    /// those of the last sync.
    pub lsn: Lsn,
    /// The number of the file.
    pub file: u64,
    /// The offset in the file. 0, which is in no file, means that all files must be removed and
    /// `file` made.
    pub pos: u64,
    /// The number of transactions in the file so far, which is the last `sequence_number`.
    pub sequence_number: u64,
    /// The GTIDs of all transactions in the binary log so far, including purged files.
    pub gtids: GtidSet,
}

impl SafePoint {
    /// Builds the point of a reset that is decided: all files go, and what follows `lsn` begins
    /// with file `first`.
    pub(crate) fn of_reset(lsn: Lsn, first: u64) -> SafePoint {
        SafePoint { lsn, file: first, ..SafePoint::default() }
    }

    /// Reports whether a reset was decided and not carried out.
    pub(crate) fn resets(&self) -> bool {
        self.pos == 0 && self.lsn != TURNED_OFF
    }

    /// Returns the form that a checkpoint keeps.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        for number in [self.lsn, self.file, self.pos, self.sequence_number] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        self.gtids.encode(&mut out);
        out
    }

    /// Decodes the form that a checkpoint keeps. `None` means that the bytes do not have that form.
    pub fn decode(bytes: &[u8]) -> Option<SafePoint> {
        if bytes.len() < FIXED_BYTES || bytes[0] != VERSION {
            return None;
        }
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Some(SafePoint {
            lsn: number(1),
            file: number(9),
            pos: number(17),
            sequence_number: number(25),
            gtids: GtidSet::decode(&bytes[FIXED_BYTES..]).ok()?,
        })
    }
}

/// The present safe point, which checkpoints ask for. It is separate from the binary log. The
/// binary log owns the engine, and the engine owns this; if the engine owned the binary log,
/// neither would ever be dropped.
pub(crate) struct Safe(Mutex<SafePoint>);

impl Safe {
    pub fn new(point: SafePoint) -> Safe {
        Safe(Mutex::new(point))
    }

    /// Notes that everything is safe up to this point.
    pub fn set(&self, point: SafePoint) {
        *self.0.lock() = point;
    }

    /// Notes that an error has turned the log off, so that the redo log is not kept for it any
    /// more.
    pub fn turn_off(&self) {
        self.0.lock().lsn = TURNED_OFF;
    }

    /// Forgets all GTIDs, because everything has been reset.
    pub fn forget_gtids(&self) {
        self.0.lock().gtids = GtidSet::default();
    }

    /// Returns the number of the file in which recovery would go on.
    pub fn file(&self) -> u64 {
        self.0.lock().file
    }
}

impl CheckpointParticipant for Safe {
    fn safe_lsn(&self) -> Lsn {
        self.0.lock().lsn
    }

    fn state(&self) -> Vec<u8> {
        self.0.lock().encode()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_from_its_encoded_form() {
        let gtids = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7".parse().expect("is a GTID set");
        let point = SafePoint { lsn: 1 << 40, file: 7, pos: 1234, sequence_number: 9, gtids };
        let bytes = point.encode();
        assert_eq!(SafePoint::decode(&bytes), Some(point));
        for cut in 0..bytes.len() {
            assert_eq!(SafePoint::decode(&bytes[..cut]), None, "cut at {cut}");
        }
    }
}
