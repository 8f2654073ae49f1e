//! How far the binary log files are safe, as the checkpoint keeps it.
//!
//! Form: version u8 (1), LSN u64, file number u64, position u64, transactions in the file u64, then
//! the GTID set (binary form of a previous GTIDs event) that the log has had up to there. All
//! little-endian.

use binlog::gtid::GtidSet;
use engine::CheckpointParticipant;
use parking_lot::Mutex;
use redo::Lsn;

const VERSION: u8 = 1;
const FIXED_BYTES: usize = 33;
/// As [`SafePoint::lsn`]: an error has turned the log off. The files have no more than is synced,
/// whatever was committed since.
pub(crate) const TURNED_OFF: Lsn = Lsn::MAX;

/// Everything of the log up to `lsn` is in the files up to `file` and `pos`, synced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SafePoint {
    /// End of the last commit record that is in the files (or was not for them). `u64::MAX`: the
    /// log was turned off by an error, and file, position and GTIDs are those of the last sync.
    pub lsn: Lsn,
    /// Number of the file.
    pub file: u64,
    /// Offset in it. 0, which is in no file: all files are to be removed, and that one made.
    pub pos: u64,
    /// Transactions in the file so far: the last `sequence_number`.
    pub sequence_number: u64,
    /// GTIDs of all transactions in the binary log so far, purged files included.
    pub gtids: GtidSet,
}

impl SafePoint {
    /// A reset is decided: every file goes, and what comes behind `lsn` begins with file `first`.
    pub(crate) fn of_reset(lsn: Lsn, first: u64) -> SafePoint {
        SafePoint { lsn, file: first, ..SafePoint::default() }
    }

    /// Whether a reset was decided and not carried out.
    pub(crate) fn resets(&self) -> bool {
        self.pos == 0 && self.lsn != TURNED_OFF
    }

    /// The form that a checkpoint keeps.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        for number in [self.lsn, self.file, self.pos, self.sequence_number] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        self.gtids.encode(&mut out);
        out
    }

    /// Reads that form; `None` if it is none.
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

/// The present safe point, which checkpoints ask for. Apart from the binary log: that has the
/// engine, which has this, and neither would ever go if the engine had the binary log.
pub(crate) struct Safe(Mutex<SafePoint>);

impl Safe {
    pub fn new(point: SafePoint) -> Safe {
        Safe(Mutex::new(point))
    }

    /// Everything is safe up to this point.
    pub fn set(&self, point: SafePoint) {
        *self.0.lock() = point;
    }

    /// An error has turned the log off: nothing in the redo log is held for it any more.
    pub fn turn_off(&self) {
        self.0.lock().lsn = TURNED_OFF;
    }

    /// Everything has been reset.
    pub fn forget_gtids(&self) {
        self.0.lock().gtids = GtidSet::default();
    }

    /// Number of the file that recovery would go on in.
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
