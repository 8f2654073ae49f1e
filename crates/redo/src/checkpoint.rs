//! Checkpoints: where a recovery begins to read the log, and what the layers above need to know
//! before that.
//!
//! Two slot files, `#ib_checkpoint0` and `#ib_checkpoint1`, are written in turn, so that a crash in
//! the middle of a write leaves the slot written before. A slot also holds the log's lives: see
//! `docs/formats/redo.md`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use os::disk::{Disk, OpenMode};

use crate::{Lsn, RedoError};

/// A checkpoint: the data files have everything that the log says before `lsn`, except for what
/// `state` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint {
    /// The LSN at which a scan begins: the start of a record, or the log's end.
    pub lsn: Lsn,
    /// The bytes that the caller of [`crate::Log::write_checkpoint`] gave. They are empty in a new
    /// log.
    pub state: Vec<u8>,
}

/// A life of the log: records from `start_lsn` up to the next life's start carry `seed` in their
/// checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub start_lsn: Lsn,
    pub seed: u64,
}

/// The log's lives, ascending by start. There is always at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lives(Vec<Life>);

impl Lives {
    pub fn new(first: Life) -> Lives {
        Lives(vec![first])
    }

    /// Returns the seed of records that start at `lsn`.
    pub fn seed_at(&self, lsn: Lsn) -> u64 {
        let after = self.0.partition_point(|life| life.start_lsn <= lsn);
        self.0[after.max(1) - 1].seed
    }

    /// Returns the seed of records that are appended now.
    pub fn current_seed(&self) -> u64 {
        self.0.last().expect("never empty").seed
    }

    /// Begins a new life. A life that began at the same position or after it has no record that
    /// counts, and is dropped.
    pub fn begin(&mut self, life: Life) {
        self.0.retain(|old| old.start_lsn < life.start_lsn);
        self.0.push(life);
    }

    /// Forgets the lives that ended at or before `lsn`.
    pub fn forget_before(&mut self, lsn: Lsn) {
        let after = self.0.partition_point(|life| life.start_lsn <= lsn);
        self.0.drain(..after.max(1) - 1);
    }
}

const MAGIC: &[u8; 8] = b"SLIPCKPT";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 56;
const LIFE_BYTES: usize = 16;

/// The content of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub sequence: u64,
    pub log_id: u64,
    pub lives: Lives,
    pub checkpoint: Checkpoint,
}

impl Slot {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.checkpoint.state.len() + 64);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]); // The checksum, which is set below.
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.extend_from_slice(&self.log_id.to_le_bytes());
        bytes.extend_from_slice(&self.checkpoint.lsn.to_le_bytes());
        bytes.extend_from_slice(&(self.lives.0.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(self.checkpoint.state.len() as u64).to_le_bytes());
        for life in &self.lives.0 {
            bytes.extend_from_slice(&life.start_lsn.to_le_bytes());
            bytes.extend_from_slice(&life.seed.to_le_bytes());
        }
        bytes.extend_from_slice(&self.checkpoint.state);
        let checksum = crc32c::crc32c(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Returns the slot in these bytes, or `None` when it is not whole. More bytes may follow, left
    /// by a longer slot.
    fn decode(bytes: &[u8]) -> Option<Slot> {
        let word =
            |at: usize| bytes.get(at..at + 8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes")));
        let half =
            |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes")));
        if bytes.get(..8)? != MAGIC || half(8)? != VERSION {
            return None;
        }
        let (lives, state_bytes) = (usize::try_from(word(40)?).ok()?, usize::try_from(word(48)?).ok()?);
        let state_at = HEADER_BYTES.checked_add(lives.checked_mul(LIFE_BYTES)?)?;
        let whole = bytes.get(..state_at.checked_add(state_bytes)?)?;
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&whole[..12]), &[0; 4]);
        if crc32c::crc32c_append(checksum, &whole[16..]) != half(12)? || lives == 0 {
            return None;
        }
        let life = |at: usize| Some(Life { start_lsn: word(at)?, seed: word(at + 8)? });
        let lives = (0..lives).map(|index| life(HEADER_BYTES + index * LIFE_BYTES)).collect::<Option<_>>()?;
        Some(Slot {
            sequence: word(16)?,
            log_id: word(24)?,
            lives: Lives(lives),
            checkpoint: Checkpoint { lsn: word(32)?, state: whole[state_at..].to_vec() },
        })
    }
}

/// The two slot files.
#[derive(Debug)]
pub(crate) struct Slots {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
}

impl Slots {
    pub fn new(disk: Arc<dyn Disk>, dir: &Path) -> Slots {
        Slots { disk, dir: dir.to_owned() }
    }

    fn path(&self, index: u64) -> PathBuf {
        self.dir.join(format!("#ib_checkpoint{index}"))
    }

    /// Reports whether one of the slot files exists.
    pub fn exist(&self) -> Result<bool, RedoError> {
        Ok(self.disk.exists(&self.path(0))? || self.disk.exists(&self.path(1))?)
    }

    /// Returns the newest whole slot. `None` when neither is whole.
    pub fn newest(&self) -> Result<Option<Slot>, RedoError> {
        let mut newest: Option<Slot> = None;
        for index in 0..2 {
            let path = self.path(index);
            if !self.disk.exists(&path)? {
                continue;
            }
            let slot = Slot::decode(&self.disk.read(&path)?);
            if let Some(slot) = slot.filter(|slot| newest.as_ref().is_none_or(|n| n.sequence < slot.sequence))
            {
                newest = Some(slot);
            }
        }
        Ok(newest)
    }

    /// Writes the slot over the older one and syncs it. After an error the newer one is untouched.
    pub fn write(&self, slot: &Slot) -> Result<(), RedoError> {
        let path = self.path(slot.sequence % 2);
        let is_new = !self.disk.exists(&path)?;
        let file = self.disk.open(&path, OpenMode::OpenOrCreate)?;
        file.write_all_at(&slot.encode(), 0)?;
        file.sync_data()?;
        if is_new {
            self.disk.sync_dir(&self.dir)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(sequence: u64, state: &[u8]) -> Slot {
        let mut lives = Lives::new(Life { start_lsn: 8192, seed: 1 });
        lives.begin(Life { start_lsn: 9000, seed: 2 });
        let checkpoint = Checkpoint { lsn: 8192 + sequence, state: state.to_vec() };
        Slot { sequence, log_id: 4, lives, checkpoint }
    }

    #[test]
    fn a_slot_comes_back_whole_or_not_at_all() {
        let written = slot(3, b"state");
        let mut bytes = written.encode();
        bytes.extend_from_slice(b"rest of a longer one");
        assert_eq!(Slot::decode(&bytes).as_ref(), Some(&written));
        for at in 0..written.encode().len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Slot::decode(&damaged), None, "byte {at}");
            assert_eq!(Slot::decode(&bytes[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn a_cut_while_writing_leaves_the_slot_before() {
        let seed = os::random::test_seed("a_cut_while_writing_leaves_the_slot_before");
        for round in 0..60 {
            let disk = os::sim::SimDisk::new(seed.wrapping_add(round));
            let slots = |disk: &os::sim::SimDisk| Slots::new(Arc::new(disk.clone()), Path::new(""));
            let (old, new) = (slot(4, &[7; 3000]), slot(6, &[9; 5000]));
            slots(&disk).write(&slot(3, b"")).unwrap();
            slots(&disk).write(&old).unwrap();
            slots(&disk).write(&slot(5, b"x")).unwrap();
            disk.cut_power_after(round % 3);
            let written = slots(&disk).write(&new).is_ok();
            let left = slots(&disk.power_cut()).newest().unwrap().expect("one is whole");
            assert!(left == new || (!written && left == slot(5, b"x")), "round {round}: {left:?}");
        }
    }

    #[test]
    fn lives_are_found_by_position_and_forgotten_by_checkpoints() {
        let mut lives = Lives::new(Life { start_lsn: 100, seed: 1 });
        lives.begin(Life { start_lsn: 200, seed: 2 });
        lives.begin(Life { start_lsn: 300, seed: 3 });
        assert_eq!([100, 199, 200, 299, 300, 999].map(|lsn| lives.seed_at(lsn)), [1, 1, 2, 2, 3, 3]);
        lives.begin(Life { start_lsn: 250, seed: 4 });
        assert_eq!([199, 249, 250, 300].map(|lsn| lives.seed_at(lsn)), [1, 2, 4, 4]);
        lives.forget_before(220);
        assert_eq!(lives, {
            let mut left = Lives::new(Life { start_lsn: 200, seed: 2 });
            left.begin(Life { start_lsn: 250, seed: 4 });
            left
        });
    }
}
