//! The changes that others make while indexes of a table are being built, and how these changes get
//! into the indexes.
//!
//! The statement holds the table's exclusive metadata lock for a moment when it begins. From then
//! on every commit that changes the table also notes, in [`OnlineBuild`], which entries of the new
//! indexes go and come by it. The note is made when the change is on the pages and before its row
//! locks are released, so the notes of one row are in the order of its commits. Scanning reads
//! whatever committed state of a row the page has at that moment: no snapshot holds versions back.
//! The notes then set every entry that a commit touched to the state that the commit left. A commit
//! that the scan did not see in a row is noted, therefore the index ends up right. A commit that
//! the scan did see may be noted too, and then changes nothing.
//!
//! Because scanned rows are of different moments, two of them may seem to have the same unique key.
//! So an apparent duplicate is one only if both rows have the key now ([`super::catch_up`]). The
//! later of two rows to get a key for good is compared with the other when its entry is put, by the
//! build or from the notes, and both rows are on the pages by then. So no duplicate gets through.

use super::sort::{SortLimits, TempFile};
use crate::error::{EngineError, Result};
use crate::image_reader::ImageReader;
use crate::multi_valued::EntryKeys;
use crate::rows::Rows;
use crate::spill::Spill;
use crate::table::Table;
use crate::transaction::write_set::{TableWrites, WriteSet};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The number of bytes of notes in memory before they go to a temporary file.
const BLOCK_BYTES: usize = 1 << 20;

/// The build of indexes of a table that others change meanwhile.
pub(crate) struct OnlineBuild {
    /// The table with its new definition.
    pub(super) table: Arc<Table>,
    /// The positions of the indexes that are being built in the table's list.
    pub(super) made: Vec<usize>,
    limits: SortLimits,
    /// `innodb_online_alter_log_max_size` in bytes.
    max_bytes: u64,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    newest: Vec<u8>,
    file: Option<TempFile>,
    /// The offset and the length of each block of older notes in the file.
    blocks: VecDeque<(u64, usize)>,
    waiting_bytes: u64,
    /// The error after which no more notes are taken.
    failed: Option<EngineError>,
}

impl std::fmt::Debug for OnlineBuild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnlineBuild").field("table", &self.table).field("made", &self.made).finish()
    }
}

/// The notes of one commit, which are made before it and kept when it is done.
pub(crate) type Captured = Vec<(Arc<OnlineBuild>, Result<Vec<u8>>)>;

/// One entry of a new index that a commit removes or puts.
pub(super) struct Note<'a> {
    /// The position of the index in `made`.
    pub(super) index: usize,
    pub(super) put: bool,
    pub(super) has_null: bool,
    pub(super) secondary_len: usize,
    pub(super) key: &'a [u8],
}

const NOTE_HEADER_LEN: usize = 6;

impl<'a> Note<'a> {
    fn write(&self, out: &mut Vec<u8>) {
        assert!(self.index <= usize::from(u8::MAX), "a note names index {} in one byte", self.index);
        out.push(self.index as u8);
        out.push(u8::from(self.put) | u8::from(self.has_null) << 1);
        out.extend_from_slice(&(self.secondary_len as u16).to_le_bytes());
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(self.key);
    }

    pub(super) fn read(bytes: &mut &'a [u8]) -> Option<Note<'a>> {
        let (header, rest) = bytes.split_first_chunk::<NOTE_HEADER_LEN>()?;
        let length = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let (key, rest) = rest.split_at(length(4));
        *bytes = rest;
        let (put, has_null) = (header[1] & 1 != 0, header[1] & 2 != 0);
        Some(Note { index: usize::from(header[0]), put, has_null, secondary_len: length(2), key })
    }
}

/// The index builds that run beside changes of others, by table id.
#[derive(Default)]
pub(crate) struct OnlineBuilds {
    all: Mutex<BTreeMap<u64, Arc<OnlineBuild>>>,
}

impl OnlineBuilds {
    /// Makes commits note their changes from here on. The caller holds the table's exclusive
    /// metadata lock.
    pub fn begin(&self, build: &Arc<OnlineBuild>) {
        let other = self.all.lock().insert(build.table.id, build.clone());
        assert!(other.is_none(), "one statement at a time builds indexes of a table");
        build.table.counters.building.store(true, Ordering::Release);
    }

    /// Ends the notes of a build.
    pub fn end(&self, build: &OnlineBuild) {
        build.table.counters.building.store(false, Ordering::Release);
        let ended = self.all.lock().remove(&build.table.id);
        assert!(ended.is_some(), "a build of indexes ends once");
    }

    /// Returns the notes of a commit for the indexes that are being built of its tables. It is
    /// called before long values leave the rows, and before any row is on its page, so that the old
    /// rows are still there.
    pub fn capture(&self, rows: &Rows, writes: &WriteSet, spill: Option<&Spill>) -> Captured {
        let mut captured = Captured::new();
        for table_writes in &writes.tables {
            if !table_writes.table.counters.building.load(Ordering::Acquire) {
                continue;
            }
            if let Some(build) = self.of(&table_writes.table) {
                let notes = build.notes_of(rows, table_writes, spill);
                captured.push((build, notes));
            }
        }
        captured
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

    fn notes_of(&self, rows: &Rows, writes: &TableWrites, spill: Option<&Spill>) -> Result<Vec<u8>> {
        let mut notes = Vec::new();
        let mut images = ImageReader::new(spill);
        for (key, change) in &writes.rows {
            // The row is locked, and its image need not be in the write set.
            let old = match &change.old {
                Some(_) => rows.stored_row(&writes.table, key)?.map(|row| row.image),
                None => None,
            };
            let new = match &change.new {
                None => None,
                Some(image) => Some(images.image(image)?),
            };
            self.note_row(key, old.as_deref(), new, &mut notes)?;
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
            let keys = |image: Option<&[u8]>| match image {
                Some(image) => table.entry_keys(at, image, key),
                None => Ok(EntryKeys::Several(Vec::new())),
            };
            let (lost, got) = EntryKeys::changes(keys(old)?, keys(new)?);
            for (entries, put) in [(lost, false), (got, true)] {
                for entry in entries {
                    table.check_key_len(entry.key.len())?;
                    let (has_null, secondary_len) = (entry.has_null, entry.secondary_len);
                    Note { index, put, has_null, secondary_len, key: &entry.key }.write(notes);
                }
            }
        }
        Ok(())
    }

    /// Adds the notes of a commit. The commit goes on whatever happens here; an error makes the
    /// build fail.
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

    /// Returns the oldest notes that were not taken yet. An empty result means that there are none.
    pub(super) fn take(&self) -> Result<Vec<u8>> {
        let mut notes = self.notes.lock();
        if let Some(error) = notes.failed.take() {
            // The notes that come from now on must not look complete.
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
        let waiting = notes.waiting_bytes;
        assert!(taken.len() as u64 <= waiting, "{} bytes of notes are taken of {waiting}", taken.len());
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
