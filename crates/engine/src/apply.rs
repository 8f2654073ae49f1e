//! Putting a logged commit on the pages.
//!
//! Each net row change is one descent: the leaf is latched, the version that is replaced is kept if
//! a snapshot may need it, and the entry is put, marked or removed with the commit's sequence
//! number as its page LSN.
//!
//! Nothing here can be refused any more, because the log has the commit. If the disk is full
//! although room was made for what was likely, the commit waits for space. At the server's shutdown
//! a full disk ends the process instead, and the next start puts the commit on its pages.

use crate::bytes::KeyBuf;
use crate::dictionary::DictionaryOp;
use crate::entry::{self, ClusteredValue, Extern};
use crate::error::{EngineError, Result};
use crate::image_reader::ImageReader;
use crate::lock::CLUSTERED;
use crate::rows::Rows;
use crate::spill::Spill;
use crate::transaction::row_change::RowChange;
use crate::transaction::write_set::{TableWrites, WriteSet};
use crate::version::queue::{PurgeBatch, PurgeQueue};
use btree::{Change, Spot, Tree};
use buffer::RecordLsn;
use redo::Log;
use std::sync::Arc;
use std::time::Duration;

/// Whether a commit keeps the versions that it replaces; see [`crate::version::snapshot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versioning {
    On,
    Off,
}

thread_local! {
    static VALUE: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
}

/// The time between two looks at a full disk, and the number of looks between two reports.
const FULL_DISK_LOOK: Duration = Duration::from_millis(100);
const LOOKS_PER_REPORT: u64 = 600;

/// The number of entries for which a spilled commit makes room ahead of its next one.
const ENTRIES_AHEAD: usize = 16;

/// The destination of the rows of commits: the trees of the tables, the older versions beside them,
/// and the queue of what purge has to do afterwards.
pub(crate) struct Pages {
    pub log: Arc<Log>,
    pub dictionary: Tree,
    pub rows: Arc<Rows>,
    pub purge_queue: Arc<PurgeQueue>,
}

impl Pages {
    /// Makes a change that a logged commit needs. If the disk is full, waits until somebody frees
    /// space.
    fn past_full_disk(&self, mut change: impl FnMut() -> btree::Result<()>) -> Result<()> {
        let mut looks = 0u64;
        loop {
            match change().map_err(EngineError::Pages) {
                Err(error) if error.is_disk_full() && !self.log.gives_up_on_full_disk() => {
                    if looks.is_multiple_of(LOOKS_PER_REPORT) {
                        log::error!(
                            "Disk is full writing the rows of a commit ({error}). Waiting for someone to free space..."
                        );
                    }
                    looks += 1;
                    let _waiting = os::account::enter(os::account::State::DiskFullWait);
                    os::clock::sleep(FULL_DISK_LOOK);
                }
                done => return done,
            }
        }
    }

    /// Applies dictionary entries. The dictionary has no versions, because DDL holds the metadata
    /// locks of everything that it changes.
    pub(crate) fn apply_dictionary(&self, ops: &[DictionaryOp], record: RecordLsn) -> Result<()> {
        for (key, value) in ops {
            self.dictionary.modify(key, record, |_| match value {
                Some(value) => Change::Put(value.into()),
                None => Change::Remove,
            })?;
        }
        Ok(())
    }

    /// Applies a write set to the pages by the commit whose record is at `record`. A spilled commit
    /// holds up neither the log nor other commits: its pages need the log only from its end at the
    /// moment when they change. Before each entry, with nothing latched, a spilled commit waits for
    /// log space, frames and a longer file, so that others find some.
    pub(crate) fn apply_writes(
        &self,
        writes: &WriteSet,
        record: RecordLsn,
        versioning: Versioning,
        spill: Option<&Spill>,
    ) -> Result<()> {
        let place = |tree: &Tree, len: usize| {
            if spill.is_none() {
                return Ok(record);
            }
            self.log.free_check_in_bulk();
            self.rows.pool.free_check_in_bulk();
            self.past_full_disk(|| tree.reserve(ENTRIES_AHEAD, len))?;
            Ok(RecordLsn::new(self.log.current_lsn(), record.end))
        };
        assert!(record.start < record.end, "the record of a commit has a length");
        let mut batch = PurgeBatch { seq: record.end, ..PurgeBatch::default() };
        let mut value = VALUE.take();
        let mut images = ImageReader::new(spill);
        for table_writes in &writes.tables {
            for (key, change) in &table_writes.rows {
                let image = change.new.as_ref().map(|new| images.image(new)).transpose()?;
                let place = place(&table_writes.table.clustered, image.map_or(0, <[u8]>::len))?;
                self.apply_row(table_writes, key, change, image, place, versioning, &mut value, &mut batch)?;
            }
            self.apply_entries(table_writes, &place, versioning, &mut batch)?;
        }
        VALUE.set(value);
        self.purge_queue.push(batch);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)] // The arguments are the whole context of one row.
    fn apply_row(
        &self,
        writes: &TableWrites,
        key: &KeyBuf,
        change: &RowChange,
        image: Option<&[u8]>,
        record: RecordLsn,
        versioning: Versioning,
        value: &mut Vec<u8>,
        batch: &mut PurgeBatch,
    ) -> Result<()> {
        if change.old.is_none() && change.new.is_none() {
            return Ok(());
        }
        let table = &writes.table;
        let is_older = change.old.as_ref().is_none_or(|old| old.seq < record.end);
        assert!(is_older, "a commit at {} changes a row that is newer", record.end);
        assert!(image.is_none_or(|image| image.len() >= table.layout.null_bytes()), "it is the table's row");
        value.clear();
        match image {
            Some(image) => entry::put_clustered(value, &change.externs, image),
            None => value.extend_from_slice(&entry::deleted_clustered(record.end)),
        }
        entry::set_seq(value, record.end);
        let physical = versioning != Versioning::On;
        let mut kept = None;
        let spot = match change.leaf {
            Some(leaf) => Spot::again(key, leaf),
            None => table.clustered.locate(key),
        };
        let mut modify = |current: Option<&[u8]>| {
            // The closure is called again after a split, and purge may have taken a mark away
            // meanwhile.
            kept = None;
            match current.map(ClusteredValue::parse) {
                _ if versioning != Versioning::On => {}
                Some(Ok(parsed)) => {
                    let version = current.filter(|_| !parsed.is_deleted());
                    self.rows.versions.push(table.id, key, parsed.seq, version);
                    kept = Some(parsed.seq);
                }
                Some(Err(_)) => {}
                None => self.rows.versions.forget(table.id, key),
            }
            match &change.new {
                None if physical => Change::Remove,
                _ => Change::Put(value.as_slice().into()),
            }
        };
        self.past_full_disk(|| table.clustered.modify_at(&spot, record, &mut modify))?;
        if let (Some(zones), Some(image)) = (&table.zones, image) {
            zones.note(&table.layout, key, image);
        }
        if let Some(version_seq) = kept {
            batch.versions.push((table.id, key.clone(), version_seq));
        }
        if change.new.is_none() && !physical {
            batch.marks.push((table.id, CLUSTERED, key.clone()));
        }
        if let Some(old) = &change.old {
            let still_used =
                |held: &Extern| change.externs.iter().any(|new| new.first_page == held.first_page);
            let freed = old.externs.iter().filter(|held| !still_used(held));
            batch.overflow.extend(freed.map(|held| (table.id, held.first_page, held.len)));
        }
        Ok(())
    }

    fn apply_entries(
        &self,
        writes: &TableWrites,
        place: &dyn Fn(&Tree, usize) -> Result<RecordLsn>,
        versioning: Versioning,
        batch: &mut PurgeBatch,
    ) -> Result<()> {
        assert_eq!(writes.entries.len(), writes.table.indexes.len(), "every index has its entries");
        for (index, entries) in writes.table.indexes.iter().zip(&writes.entries) {
            for (key, change) in entries.settled() {
                if change.derivable && !change.present {
                    // The entry was put and removed within the transaction, so the pages never had
                    // it.
                    continue;
                }
                let record = place(&index.tree, key.len())?;
                let len = usize::from(change.secondary_len);
                assert!(len <= key.len(), "the columns of an entry, {len} bytes, are a part of its key");
                let live = entry::secondary(0, record.end, len);
                let marked = entry::secondary(entry::DELETED, record.end, len);
                let mut mark_left = false;
                let mut modify = |current: Option<&[u8]>| {
                    mark_left = false;
                    match (change.present, versioning) {
                        (true, _) => Change::Put(live[..].into()),
                        (false, Versioning::Off) => Change::Remove,
                        (false, Versioning::On) if current.is_none() => Change::Keep,
                        (false, Versioning::On) => {
                            mark_left = true;
                            Change::Put(marked[..].into())
                        }
                    }
                };
                self.past_full_disk(|| index.tree.modify(key, record, &mut modify))?;
                if mark_left {
                    batch.marks.push((writes.table.id, index.id, key.clone()));
                }
            }
        }
        Ok(())
    }
}
