//! Checkpoints: the position before which the log is no longer needed, and the state that goes with
//! that position.
//!
//! The checkpoint position is the smallest of these: the oldest change of a dirty page, the start
//! of the oldest commit that is not yet on its pages, the position from which the participant (the
//! binary log writer) needs the log, and the log's end when the search began. They are read in such
//! an order that a commit which begins meanwhile starts at or after the log's end that was read.
//!
//! The state is captured before it is known to be durable. The log is therefore made durable up to
//! the moment of the capture before the checkpoint is written: everything that the state says of
//! commits past the checkpoint position, replay finds too.

use crate::bytes::{Put, Reader};
use crate::commit::pipeline::Committer;
use crate::commit::position::ReplicationState;
use crate::commit::sequencer::Captured;
use crate::commit::sidecar::NextIds;
use crate::error::{EngineError, Result};
use crate::spill::{SpillFiles, SpillRef, SpilledCommit};
use crate::status::bump;
use crate::xa::branches::Branches;
use crate::xa::record::PreparedRecord;
use parking_lot::Mutex;
use redo::Lsn;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A part outside the engine that needs the log from some position on: the binary log writer.
pub trait CheckpointParticipant: Send + Sync {
    /// Returns the position before which the participant does not need the log.
    fn safe_lsn(&self) -> Lsn;
    /// Returns the state that the participant needs after a crash.
    /// [`crate::Engine::recovered_participant_state`] gives it back.
    fn state(&self) -> Vec<u8>;
}

/// When log space is short, each step advances the checkpoint by the log's age divided by this
/// number.
const CHECKPOINT_STEPS: u64 = 16;

const VERSION: u8 = 4;
/// The version without the list of prepared transactions.
const VERSION_3: u8 = 3;
/// The version whose spilled commits have no position.
const VERSION_2: u8 = 2;
/// The version without the list of spilled commits.
const VERSION_1: u8 = 1;

/// The state in the log's checkpoint. `docs/formats/commit-record.md` has it field by field.
pub(crate) struct CheckpointState {
    pub page_size: u32,
    pub dictionary_root: u32,
    pub next_ids: NextIds,
    pub replication: ReplicationState,
    /// The (table id, next value) of every table that has an AUTO_INCREMENT counter.
    pub auto_increments: Vec<(u64, u64)>,
    pub participant: Vec<u8>,
    /// The commits in spill files that may not be on their pages.
    pub spilled: Vec<SpilledCommit>,
    /// The XA transactions that were prepared before the checkpoint.
    pub prepared: Vec<PreparedRecord>,
}

/// The places of two parts of an encoded state.
struct Places {
    /// The participant's state, with its length in front.
    participant: Range<usize>,
    /// The offset of the replication state, which goes to the end.
    replication_at: usize,
}

impl CheckpointState {
    fn put_head(out: &mut Vec<u8>, page_size: u32, dictionary_root: u32, next: NextIds) {
        out.put_u8(VERSION);
        out.put_u32(page_size);
        out.put_u32(dictionary_root);
        out.put_u64(next.table);
        out.put_u32(next.index);
        out.put_u32(next.space);
    }

    /// Refuses a data directory that was made with another page size.
    pub fn check_page_size(&self, page_size: u32, datadir: &str) -> Result<()> {
        if self.page_size != page_size {
            return Err(EngineError::Datadir(format!(
                "{datadir} was created with innodb_page_size={}, but {page_size} is asked for",
                self.page_size
            )));
        }
        Ok(())
    }

    /// Returns the state in `bytes` with another replication state, which is encoded, and without
    /// the participant's state. A copy of the data directory gets this: its binary log begins anew.
    pub fn with_replication(bytes: &[u8], replication: &[u8]) -> Result<Vec<u8>> {
        let (_, places) = CheckpointState::decode_noting(bytes)?;
        let mut out = bytes[..places.participant.start].to_vec();
        out.put_bytes(&[]);
        out.extend_from_slice(&bytes[places.participant.end..places.replication_at]);
        out.extend_from_slice(replication);
        Ok(out)
    }

    pub fn decode(bytes: &[u8]) -> Result<CheckpointState> {
        Ok(CheckpointState::decode_noting(bytes)?.0)
    }

    fn decode_noting(bytes: &[u8]) -> Result<(CheckpointState, Places)> {
        let mut reader = Reader::new(bytes, "checkpoint state");
        let version = reader.u8()?;
        if !(VERSION_1..=VERSION).contains(&version) {
            return Err(reader.impossible("version"));
        }
        let (page_size, dictionary_root) = (reader.u32()?, reader.u32()?);
        let next_ids = NextIds { table: reader.u64()?, index: reader.u32()?, space: reader.u32()? };
        let mut auto_increments = Vec::new();
        for _ in 0..reader.count()? {
            auto_increments.push((reader.varint()?, reader.varint()?));
        }
        let place = |reader: &Reader<'_>| bytes.len() - reader.left();
        let participant_at = place(&reader);
        let participant = reader.bytes()?.to_vec();
        let participant_place = participant_at..place(&reader);
        let mut spilled = Vec::new();
        if version >= VERSION_2 {
            for _ in 0..reader.varint()? {
                spilled.push(SpilledCommit::decode(&mut reader, version >= VERSION_3)?);
            }
        }
        let mut prepared = Vec::new();
        if version >= VERSION {
            for _ in 0..reader.varint()? {
                prepared.push(PreparedRecord::decode_from_checkpoint(&mut reader)?);
            }
        }
        let places = Places { participant: participant_place, replication_at: place(&reader) };
        let replication = ReplicationState::decode(&mut reader)?;
        let state = CheckpointState {
            page_size,
            dictionary_root,
            next_ids,
            replication,
            auto_increments,
            participant,
            spilled,
            prepared,
        };
        Ok((state, places))
    }
}

/// Makes checkpoints.
pub(crate) struct Checkpointer {
    pub committer: Arc<Committer>,
    pub branches: Arc<Branches>,
    pub spills: Arc<SpillFiles>,
    pub next_ids: Arc<Mutex<NextIds>>,
    /// Held by a thread that makes a checkpoint, and by a thread that changes two things of which
    /// no checkpoint may have only one.
    pub checkpointing: Mutex<()>,
    pub last_checkpoint: AtomicU64,
    pub participant: Mutex<Option<Arc<dyn CheckpointParticipant>>>,
    /// The position from which the log is kept until a participant is set.
    pub participant_floor: AtomicU64,
    pub recovered_participant_state: Vec<u8>,
}

impl Checkpointer {
    /// Returns the encoded checkpoint state of this moment, with the given encoded replication
    /// state.
    fn encode_state(
        &self,
        replication: &[u8],
        spilled: &[SpilledCommit],
        prepared: &[(Arc<PreparedRecord>, SpillRef)],
        participant: &[u8],
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let next = *self.next_ids.lock();
        CheckpointState::put_head(
            &mut out,
            self.committer.config.page_size,
            self.committer.pages.dictionary.root_page(),
            next,
        );
        let tables = self.committer.catalog.all_tables();
        let counters: Vec<(u64, u64)> = tables
            .iter()
            .filter(|table| table.auto_increment.is_some())
            .map(|table| (table.id, table.auto_increment()))
            .collect();
        out.put_varint(counters.len() as u64);
        for (id, next) in counters {
            out.put_varint(id);
            out.put_varint(next);
        }
        out.put_bytes(participant);
        out.put_varint(spilled.len() as u64);
        for commit in spilled {
            commit.encode(&mut out);
        }
        out.put_varint(prepared.len() as u64);
        for (record, file) in prepared {
            record.encode_for_checkpoint(*file, &mut out);
        }
        out.extend_from_slice(replication);
        out
    }

    /// Makes a checkpoint as far as pages are on disk already. Returns the position of the
    /// checkpoint.
    pub fn checkpoint(&self) -> Result<Lsn> {
        let _only_one = self.checkpointing.lock();
        let _state = os::account::enter(os::account::State::Checkpoint);
        let floor = match &*self.participant.lock() {
            Some(participant) => (participant.safe_lsn(), participant.state()),
            None => {
                (self.participant_floor.load(Ordering::Acquire), self.recovered_participant_state.clone())
            }
        };
        let (safe_lsn, participant_state) = floor;
        let logging = self.committer.xa_logging.lock();
        let Captured { current, oldest, replication, mut spilled } =
            self.committer.sequencer.capture(&self.committer.log);
        let prepared = self.branches.records();
        drop(logging);
        let mut lsn = current.min(oldest).min(safe_lsn);
        if let Some(dirty) = self.committer.pages.rows.pool.oldest_dirty_lsn() {
            lsn = lsn.min(dirty);
        }
        let last = self.last_checkpoint.load(Ordering::Acquire);
        // The state may be newer even if the position is not: changes outside commits, such as
        // those of `gtid_purged`, are in the state alone.
        let lsn = lsn.max(last);
        assert!(lsn <= current, "the checkpoint at {lsn} is not ahead of the log's end {current}");
        spilled.retain(|commit| commit.is_needed_from(lsn));
        let prepared = self.in_files(prepared, lsn)?;
        let state = self.encode_state(&replication, &spilled, &prepared, &participant_state);
        // A prepared transaction that the state does not name has ended before the capture, or
        // begins behind the checkpoint position.
        self.committer.log.wait_durable(current)?;
        assert!(last <= lsn, "the checkpoint goes back from {last} to {lsn}");
        self.committer.log.write_checkpoint(lsn, &state)?;
        self.last_checkpoint.store(lsn, Ordering::Release);
        for number in
            self.committer.sequencer.forget_spilled(lsn).into_iter().chain(self.branches.forget_ended(lsn))
        {
            self.spills.remove(number);
        }
        bump(&self.committer.counters.checkpoints, 1);
        Ok(lsn)
    }

    /// Returns the prepared transactions whose records end at or before this position, and makes
    /// sure that each of them is in a file.
    fn in_files(
        &self,
        prepared: Vec<Arc<PreparedRecord>>,
        lsn: Lsn,
    ) -> Result<Vec<(Arc<PreparedRecord>, SpillRef)>> {
        let records = prepared.into_iter().filter(|record| record.prepared_at() <= lsn);
        records.map(|record| record.in_a_file(&self.spills).map(|file| (record, file))).collect()
    }

    /// Flushes every page and makes a checkpoint. Afterwards only the participant needs the log.
    pub fn sharp_checkpoint(&self) -> Result<Lsn> {
        self.committer.log.wait_durable(self.committer.log.current_lsn())?;
        self.committer.pages.rows.pool.flush_all()?;
        self.checkpoint()
    }

    /// Runs one round of the checkpointer: makes room in the log if log space is short, then makes
    /// a checkpoint.
    pub fn round(&self, urgent: bool, is_stopping: impl Fn() -> bool) -> Result<()> {
        let mut last = self.last_checkpoint.load(Ordering::Acquire);
        loop {
            let age = self.committer.log.current_lsn() - last;
            // Below this age the page cleaners are enough. The capacity is asked for each time
            // because it may be changed meanwhile.
            let is_short = urgent && age > self.committer.log.capacity_bytes() / 2;
            if is_short {
                // The steps are small, so that threads that wait for space go on after the first
                // step and the disk has time for other work between the steps.
                self.committer.pages.rows.pool.flush_until(last + age / CHECKPOINT_STEPS)?;
            }
            if age == 0 {
                return Ok(());
            }
            let made = self.checkpoint()?;
            if !is_short || made == last || is_stopping() {
                return Ok(());
            }
            last = made;
        }
    }
}
