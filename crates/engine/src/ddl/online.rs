//! What others change while indexes of a table are being built, and how it gets into the indexes.
//!
//! The statement holds the table's exclusive metadata lock for a moment when it begins. Whoever
//! commits a change of the table from then on also notes, in [`OnlineBuild`], which entries of the
//! new indexes go and come by it. The note is made when the change is on the pages and before its
//! row locks are released, so the notes of one row are in the order of its commits. Scanning reads
//! whatever committed state of a row the page has at that moment: no snapshot holds versions back.
//! The notes then set every entry that a commit touched to the state that the commit left. A commit
//! that the scan did not see in a row is noted, therefore the index ends up right; one that the
//! scan did see is noted perhaps too, and changes nothing.
//!
//! Because scanned rows are of different moments, two of them may seem to have one unique key. So
//! what looks like a duplicate is one only if both rows have the key now ([`Engine::holds_both`]).
//! The later of two rows to get a key for good is compared with the other when its entry is put, by
//! the build or from the notes, and both rows are on the pages by then; so no duplicate gets
//! through.

use super::sort::{SortLimits, TempFile};
use crate::Engine;
use crate::definition::IndexRef;
use crate::entry::{self, ClusteredValue};
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::spill::{self, Spill};
use crate::table::Table;
use crate::transaction::unique::after_prefix;
use crate::transaction::write_set::{TableWrites, WriteSet};
use btree::{Change, Direction};
use buffer::RecordLsn;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Notes in memory before they go to a temporary file.
const BLOCK_BYTES: usize = 1 << 20;

/// Indexes being built of a table that others change.
pub(crate) struct OnlineBuild {
    /// The table as it will be.
    table: Arc<Table>,
    /// Which of its indexes are being built.
    made: Vec<usize>,
    limits: SortLimits,
    /// `innodb_online_alter_log_max_size` in bytes.
    max_bytes: u64,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    newest: Vec<u8>,
    file: Option<TempFile>,
    /// Older notes in the file: offset and length.
    blocks: VecDeque<(u64, usize)>,
    waiting_bytes: u64,
    /// Why no more notes are taken.
    failed: Option<EngineError>,
}

impl std::fmt::Debug for OnlineBuild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnlineBuild").field("table", &self.table).field("made", &self.made).finish()
    }
}

/// Notes of one commit, made before it and kept when it is done.
pub(crate) type Captured = SmallVec<[(Arc<OnlineBuild>, Result<Vec<u8>>); 1]>;

/// One entry of a new index that a commit takes away or puts.
struct Note<'a> {
    /// Position of the index in `made`.
    index: usize,
    put: bool,
    has_null: bool,
    secondary_len: usize,
    key: &'a [u8],
}

const NOTE_HEADER_LEN: usize = 6;

impl<'a> Note<'a> {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.index as u8);
        out.push(u8::from(self.put) | u8::from(self.has_null) << 1);
        out.extend_from_slice(&(self.secondary_len as u16).to_le_bytes());
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(self.key);
    }

    fn read(bytes: &mut &'a [u8]) -> Option<Note<'a>> {
        let (header, rest) = bytes.split_first_chunk::<NOTE_HEADER_LEN>()?;
        let length = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let (key, rest) = rest.split_at(length(4));
        *bytes = rest;
        let (put, has_null) = (header[1] & 1 != 0, header[1] & 2 != 0);
        Some(Note { index: usize::from(header[0]), put, has_null, secondary_len: length(2), key })
    }
}

impl Engine {
    /// What a commit changes, as the indexes being built of its tables will need it. Called before
    /// long values leave the rows, and before any row is on its page: what a row was is still
    /// there.
    pub(crate) fn capture_for_builds(&self, writes: &WriteSet, spill: Option<&Spill>) -> Captured {
        let mut captured = Captured::new();
        for table_writes in &writes.tables {
            if !table_writes.table.counters.building.load(Ordering::Acquire) {
                continue;
            }
            if let Some(build) = self.builds.of(&table_writes.table) {
                let notes = build.notes_of(self, table_writes, spill);
                captured.push((build, notes));
            }
        }
        captured
    }
}

/// The index builds that go on beside others' changes, by the numbers of their tables.
#[derive(Default)]
pub(crate) struct OnlineBuilds {
    all: Mutex<BTreeMap<u64, Arc<OnlineBuild>>>,
}

impl OnlineBuilds {
    /// Has commits noted from here on. The table's exclusive metadata lock is held.
    pub fn begin(&self, build: &Arc<OnlineBuild>) {
        let other = self.all.lock().insert(build.table.id, build.clone());
        assert!(other.is_none(), "one statement at a time builds indexes of a table");
        build.table.counters.building.store(true, Ordering::Release);
    }

    /// No more notes.
    pub fn end(&self, build: &OnlineBuild) {
        build.table.counters.building.store(false, Ordering::Release);
        self.all.lock().remove(&build.table.id);
    }

    fn of(&self, table: &Table) -> Option<Arc<OnlineBuild>> {
        self.all.lock().get(&table.id).cloned()
    }
}

/// Keeps the notes of a commit that is on its pages.
pub(crate) fn note(captured: Captured) {
    for (build, notes) in captured {
        build.append(notes);
    }
}

impl OnlineBuild {
    pub fn new(table: Arc<Table>, made: Vec<usize>, limits: SortLimits, max_bytes: u64) -> OnlineBuild {
        OnlineBuild { table, made, limits, max_bytes, notes: Mutex::new(Notes::default()) }
    }

    fn notes_of(&self, engine: &Engine, writes: &TableWrites, spill: Option<&Spill>) -> Result<Vec<u8>> {
        let mut notes = Vec::new();
        for (key, change) in &writes.rows {
            // The row is locked and its image need not be in the write set.
            let old = match &change.old {
                Some(_) => engine.read_newest(&writes.table, key)?.map(|row| row.image),
                None => None,
            };
            let new = match &change.new {
                None => None,
                Some(image) => Some(spill::image_of(image, spill)?),
            };
            self.note_row(key, old.as_deref(), new.as_deref(), &mut notes)?;
        }
        Ok(notes)
    }

    fn note_row(
        &self,
        key: &[u8],
        old: Option<&[u8]>,
        new: Option<&[u8]>,
        notes: &mut Vec<u8>,
    ) -> Result<()> {
        let table = &self.table;
        for (index, &at) in self.made.iter().enumerate() {
            let entry = |image: &[u8]| table.secondary_key(at, image, key);
            let old = old.map(entry).transpose()?;
            let new = new.map(entry).transpose()?;
            if let (Some(old), Some(new)) = (&old, &new)
                && old.key == new.key
            {
                continue;
            }
            for (entry, put) in [(old, false), (new, true)] {
                let Some(entry) = entry else { continue };
                table.check_key_len(entry.key.len())?;
                let (has_null, secondary_len) = (entry.has_null, entry.secondary_len);
                Note { index, put, has_null, secondary_len, key: &entry.key }.write(notes);
            }
        }
        Ok(())
    }

    /// The commit goes on whatever happens here; it is the build that fails.
    fn append(&self, captured: Result<Vec<u8>>) {
        let mut notes = self.notes.lock();
        if notes.failed.is_some() {
            return;
        }
        let kept = captured.and_then(|bytes| {
            notes.waiting_bytes += bytes.len() as u64;
            if notes.waiting_bytes > self.max_bytes {
                let first = self.made.first().map_or("", |&at| &self.table.indexes[at].name);
                return Err(EngineError::OnlineLogTooBig { index: first.to_string() });
            }
            notes.newest.extend_from_slice(&bytes);
            if notes.newest.len() >= BLOCK_BYTES { notes.write_block(&self.limits) } else { Ok(()) }
        });
        if let Err(error) = kept {
            *notes = Notes { failed: Some(error), ..Notes::default() };
        }
    }

    /// The oldest notes that were not taken yet; empty: there are none.
    fn take(&self) -> Result<Vec<u8>> {
        let mut notes = self.notes.lock();
        if let Some(error) = notes.failed.take() {
            // What comes now must not look complete.
            notes.failed = Some(EngineError::Interrupted);
            return Err(error);
        }
        let taken = match notes.blocks.pop_front() {
            Some((at, len)) => {
                let mut block = vec![0; len];
                notes.file.as_ref().expect("blocks are in a file").read(&mut block, at)?;
                block
            }
            None => std::mem::take(&mut notes.newest),
        };
        notes.waiting_bytes -= taken.len() as u64;
        if notes.blocks.is_empty() {
            notes.file = None;
        }
        Ok(taken)
    }
}

impl Notes {
    fn write_block(&mut self, limits: &SortLimits) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(TempFile::create(&*limits.disk, &limits.tmpdir)?);
        }
        let at = self.file.as_mut().expect("just made").append(&self.newest)?;
        self.blocks.push_back((at, self.newest.len()));
        self.newest.clear();
        Ok(())
    }
}

impl Engine {
    /// Puts the notes so far into the indexes; returns how many bytes of them there were.
    pub(super) fn catch_up(
        &self,
        build: &OnlineBuild,
        seq: u64,
        interrupt: Option<&AtomicBool>,
    ) -> Result<u64> {
        let _state = os::account::enter(os::account::State::IndexCatchUp);
        let mut bytes = 0;
        loop {
            let block = build.take()?;
            if block.is_empty() {
                return Ok(bytes);
            }
            bytes += block.len() as u64;
            super::build::check_interrupt(interrupt)?;
            let mut rest = &block[..];
            while let Some(note) = Note::read(&mut rest) {
                self.apply_note(build, &note, seq)?;
            }
        }
    }

    fn apply_note(&self, build: &OnlineBuild, note: &Note<'_>, seq: u64) -> Result<()> {
        let (table, at) = (&*build.table, build.made[note.index]);
        let index = &table.indexes[at];
        if note.put && index.unique && !note.has_null {
            self.refuse_second_holder(table, at, note.key, note.secondary_len)?;
        }
        let live = entry::secondary(0, seq, note.secondary_len);
        index.tree.modify(note.key, RecordLsn::UNLOGGED, |_| match note.put {
            true => Change::Put(live[..].into()),
            false => Change::Remove,
        })?;
        Ok(())
    }

    fn refuse_second_holder(&self, table: &Table, at: usize, key: &[u8], secondary_len: usize) -> Result<()> {
        let columns = &key[..secondary_len];
        let end = after_prefix(columns);
        let end = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut scan = table.indexes[at].tree.scan(Bound::Included(columns), end, Direction::Forward);
        while let Some((other, _)) = scan.next()? {
            if other != key && self.holds_both(table, at, other, key, secondary_len)? {
                return Err(self.duplicate_of(table, at, &key[secondary_len..])?);
            }
        }
        Ok(())
    }

    /// Whether the rows of two entries with the same columns of a new index both have these columns
    /// now.
    pub(super) fn holds_both(
        &self,
        table: &Table,
        at: usize,
        a: &[u8],
        b: &[u8],
        secondary_len: usize,
    ) -> Result<bool> {
        let first = self.live_since(table, at, a, secondary_len)?;
        if first.is_none() || self.live_since(table, at, b, secondary_len)?.is_none() {
            return Ok(false);
        }
        // Unchanged since it was first looked at, so it was there too when the other was.
        Ok(self.live_since(table, at, a, secondary_len)? == first)
    }

    /// The sequence number of an entry's row, if the row is there and has this entry.
    pub(super) fn live_since(
        &self,
        table: &Table,
        at: usize,
        key: &[u8],
        secondary_len: usize,
    ) -> Result<Option<u64>> {
        let clustered = &key[secondary_len..];
        let Some((seq, image)) = self.committed_row(table, clustered)? else { return Ok(None) };
        let has_it = table.secondary_key(at, &image, clustered)?.key[..] == *key;
        Ok(has_it.then_some(seq))
    }

    /// The newest committed row, long values resolved, while others may change it: a snapshot keeps
    /// purge from the pages of its long values.
    pub(super) fn committed_row(&self, table: &Table, key: &[u8]) -> Result<Option<(u64, Vec<u8>)>> {
        let snapshot = loop {
            let snapshot = self.snapshots.open(&self.sequencer)?;
            self.snapshots.pin(&snapshot);
            // It may have been evicted before it was pinned.
            if !self.snapshots.is_evicted(&snapshot) {
                break snapshot;
            }
            self.snapshots.close(snapshot);
        };
        let read = || -> Result<Option<(u64, Vec<u8>)>> {
            let Some(value) = table.clustered.get(key, <[u8]>::to_vec)? else { return Ok(None) };
            let parsed = ClusteredValue::parse(&value)?;
            if parsed.is_deleted() {
                return Ok(None);
            }
            Ok(Some((parsed.seq, overflow::resolve(&self.pool, table, &parsed)?)))
        };
        let row = read();
        self.snapshots.close(snapshot);
        row
    }

    /// The error for a row whose key of the index at `at` another row has.
    pub(super) fn duplicate_of(&self, table: &Table, at: usize, clustered: &[u8]) -> Result<EngineError> {
        let row = self.committed_row(table, clustered)?;
        let text = row.map(|(_, image)| table.key_text(IndexRef::Secondary(at), &image));
        Ok(EngineError::Duplicate {
            table: table.qualified_name.clone(),
            index: table.indexes[at].name.clone(),
            key: text.unwrap_or_default(),
        })
    }
}
