//! The changes of a transaction before its commit: its write set, the rows of temporary tables, the
//! event group and the sidecar, which grow together.
//!
//! Invariant: each row change that goes into the log is in the write set, and the group and the
//! sidecar say all that replay needs of it. A savepoint marks all of them at once.

use super::row_change::{Origin, Patch};
use super::temporary::TemporaryWrites;
use super::write_set::{SetRow, WriteMark, WriteSet};
use crate::Engine;
use crate::bytes::KeyBuf;
use crate::commit::sidecar::SidecarWriter;
use crate::error::Result;
use crate::group::{GroupBuilder, GroupOptions, Replacement, logged_form};
use crate::multi_valued::EntryKeys;
use crate::partial::PartialRow;
use crate::rows::OldRow;
use crate::table::Table;
use binlog::event::rows_flag;
use buffer::{FoundLeaf, Pool};
use smallvec::SmallVec;
use std::sync::Arc;

/// The changes that a transaction has made so far.
pub(super) struct Changes {
    /// The changes of all tables except temporary ones.
    pub writes: WriteSet,
    /// The changes of temporary tables, of which nothing goes into the log. Few transactions have
    /// any, and the others are not to pay for them.
    temporary: Option<Box<TemporaryWrites>>,
    pub group: GroupBuilder,
    pub sidecar: SidecarWriter,
    /// How many bytes of the group were spilled when that was looked at last.
    seen_spilled: usize,
}

/// A point that the changes can go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangesMark {
    writes: WriteMark,
    /// The mark of the temporary tables' changes: the very beginning if there were none.
    temporary: WriteMark,
    group_len: usize,
    sidecar: (usize, usize),
}

/// Returns the settings that a group has at its beginning.
#[inline(always)]
fn group_options(engine: &Engine) -> GroupOptions {
    let config = &engine.config;
    GroupOptions {
        server_id: config.server_id,
        image: config.binlog_row_image,
        row_event_max_bytes: config.binlog_row_event_max_bytes,
        full_metadata: engine.full_row_metadata(),
        limit_bytes: config.max_binlog_cache_bytes,
        spill_bytes: config.spill_bytes,
        row_flags: rows_flag::USE_SQL_FOREIGN_KEY,
    }
}

impl Changes {
    /// Returns no changes yet. `journalled` says whether a part of them can be taken back.
    // Inlined, so that the changes, which are a large value, are made in place and not copied.
    #[inline(always)]
    pub fn new(engine: &Engine, journalled: bool) -> Changes {
        Changes {
            writes: WriteSet::new(journalled),
            temporary: None,
            group: GroupBuilder::new(engine.spills.clone(), group_options(engine)),
            sidecar: SidecarWriter::default(),
            seen_spilled: 0,
        }
    }

    /// Forgets what belonged to a transaction that has ended.
    pub fn spend(&mut self) {
        let Changes { writes, temporary, group, sidecar, seen_spilled } = self;
        writes.spend();
        *temporary = None;
        group.spend();
        sidecar.spend();
        *seen_spilled = 0;
    }

    /// Begins the changes of another transaction after [`Changes::spend`].
    pub fn begin(&mut self, engine: &Engine, journalled: bool) {
        self.writes.begin(journalled);
        self.group.begin(group_options(engine));
    }

    /// Appends whole events of a source, whose rows are in the write set.
    pub fn receive(&mut self, events: &[u8]) -> Result<()> {
        self.group.receive(events, self.writes.tables.iter().filter_map(|writes| writes.table.logged_form()))
    }

    /// Reports whether a group that has been received as a whole has the rows of the write set and
    /// nothing else. Without a journal nothing of it can have been taken back.
    pub fn are_as_received(&self) -> bool {
        self.group.len() == 0 && !self.writes.is_journalled()
    }

    /// Returns what the binary log has in place of parts of a received group, whose rows are in the
    /// write set.
    pub fn replacements_in(&self, group: &[u8]) -> Result<Vec<Replacement>> {
        logged_form::replacements(
            group,
            0,
            self.writes.tables.iter().filter_map(|writes| writes.table.logged_form()),
        )
    }

    /// Returns the write set that has the transaction's changes of a table, if there are any.
    #[inline]
    pub fn writes_of(&self, table: &Table) -> &WriteSet {
        match &self.temporary {
            Some(temporary) if table.is_temporary() => &temporary.writes,
            _ => &self.writes,
        }
    }

    /// Puts the transaction's entries of an index into their places, so that they can be read.
    #[inline]
    pub fn settle_index(&mut self, table: &Table, index: usize) {
        match &mut self.temporary {
            Some(temporary) if table.is_temporary() => temporary.writes.settle_index(table.id, index),
            _ => self.writes.settle_index(table.id, index),
        }
    }

    /// Returns the write set that gets a change of a table whose new row, if the change has one, is
    /// `image`.
    #[inline]
    fn writes_for(&mut self, table: &Table, image: &[u8]) -> &mut WriteSet {
        if !table.is_temporary() {
            return &mut self.writes;
        }
        let group = &self.group;
        let temporary = self.temporary.get_or_insert_with(|| {
            Box::new(TemporaryWrites::new(group.spill_files().clone(), group.spill_bytes()))
        });
        temporary.note_image(image);
        &mut temporary.writes
    }

    /// Reports whether rows of temporary tables have been changed.
    pub fn has_temporary(&self) -> bool {
        self.temporary.as_ref().is_some_and(|temporary| !temporary.writes.is_empty())
    }

    /// Makes sure, before anything of the commit is done, that the rows of temporary tables will
    /// have pages; see [`TemporaryWrites::reserve`].
    pub fn reserve_temporary(&mut self) -> Result<()> {
        self.temporary.as_mut().map_or(Ok(()), |temporary| temporary.reserve())
    }

    /// Puts the rows of temporary tables on their pages and forgets them.
    pub fn put_temporary_on_pages(&mut self, pool: &Arc<Pool>) {
        if let Some(temporary) = self.temporary.take() {
            temporary.put_on_pages(pool);
        }
    }

    /// Forgets all changes of rows.
    pub fn clear(&mut self) {
        self.writes.clear();
        self.temporary = None;
    }

    /// Returns the transaction's own state of a row: `None` when it has not changed the row,
    /// `Some(None)` when it has deleted it.
    #[inline]
    pub fn own_image(&self, table: &Table, key: &[u8]) -> Result<Option<Option<Vec<u8>>>> {
        Ok(match self.writes_of(table).row(table.id, key) {
            None => None,
            Some(None) => Some(None),
            Some(Some(image)) => Some(Some(match &self.temporary {
                Some(temporary) if table.is_temporary() => temporary.image(image)?.into_owned(),
                _ => self.group.image(image)?,
            })),
        })
    }

    /// Moves row images out of memory when more of the event group has been spilled.
    pub fn let_images_go(&mut self) -> Result<()> {
        if let Some(temporary) = &mut self.temporary {
            temporary.let_images_go()?;
        }
        let spilled = self.group.spilled();
        if spilled > self.seen_spilled {
            let group = &mut self.group;
            self.writes.let_images_go(spilled as u64, |images| group.keep_images(images))?;
        }
        self.seen_spilled = spilled;
        Ok(())
    }

    pub fn stage_insert(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        leaf: Option<FoundLeaf>,
        (image, logged_at): (Vec<u8>, Option<u64>),
        keys: Vec<Option<EntryKeys>>,
    ) {
        assert!(keys.is_empty() || keys.len() == table.indexes.len(), "{}", one_key_each(table));
        let writes = self.writes_for(table, &image);
        let SetRow { is_first, inserted: derivable } =
            writes.set_row(table, key, Origin::Insert(leaf), Some(image), logged_at);
        for (at, secondary) in keys.into_iter().enumerate() {
            if let Some(secondary) = secondary {
                for key in secondary.as_slice() {
                    writes.set_entry(table, at, key, (true, derivable), is_first);
                }
            }
        }
    }

    /// Notes, before a row is put under this key, the deletion of the row there that went with its
    /// partition. No event says so, because no source has the row any more.
    pub fn stage_over(&mut self, table: &Arc<Table>, key: &[u8], over: Option<OldRow>) -> Result<()> {
        over.map_or(Ok(()), |row| self.stage_delete(table, key, row))
    }

    pub fn stage_update(
        &mut self,
        table: &Arc<Table>,
        old_key: &[u8],
        old: OldRow,
        new_key: &KeyBuf,
        (new_image, logged_at): (Vec<u8>, Option<u64>),
        new_keys: Vec<Option<EntryKeys>>,
    ) -> Result<()> {
        assert!(new_keys.is_empty() || new_keys.len() == table.indexes.len(), "{}", one_key_each(table));
        let moved = **new_key != *old_key;
        let old_derivable = self.writes_of(table).is_inserted(table.id, old_key);
        // Most updates change one index, if any.
        let mut entries: SmallVec<[_; 1]> = SmallVec::new();
        for (at, new) in new_keys.into_iter().enumerate() {
            let Some(new) = new else { continue };
            let previous = table.entry_keys(at, &old.image, old_key)?;
            match (previous, new) {
                (EntryKeys::One(previous), EntryKeys::One(new)) => {
                    if previous.key != new.key {
                        entries.push((at, Some(previous), Some(new)));
                    }
                }
                (previous, new) => {
                    let (lost, got) = EntryKeys::changes(previous, new);
                    entries.extend(lost.into_iter().map(|key| (at, Some(key), None)));
                    entries.extend(got.into_iter().map(|key| (at, None, Some(key))));
                }
            }
        }
        let writes = self.writes_for(table, &new_image);
        let (is_first, is_first_there);
        if moved {
            is_first = writes.set_row(table, old_key, Origin::Committed(old), None, None).is_first;
            let there = writes.set_row(table, new_key, Origin::Move(None), Some(new_image), logged_at);
            is_first_there = there.is_first;
        } else {
            let set = writes.set_row(table, old_key, Origin::Committed(old), Some(new_image), logged_at);
            is_first = set.is_first;
            is_first_there = is_first;
        }
        for (at, previous, new) in entries {
            // A row that moved is an update in the events, from which replay derives no entries.
            // For a unique index the writeset wants every key that the row has had, and an update's
            // image need not have all of the key's columns.
            let new_derivable = old_derivable && !moved && !table.indexes[at].unique;
            if let Some(previous) = previous {
                writes.set_entry(table, at, &previous, (false, old_derivable), is_first);
            }
            if let Some(new) = new {
                writes.set_entry(table, at, &new, (true, new_derivable), is_first_there);
            }
        }
        Ok(())
    }

    pub fn stage_delete(&mut self, table: &Arc<Table>, key: &[u8], old: OldRow) -> Result<()> {
        let writes = self.writes_for(table, &[]);
        let derivable = writes.is_inserted(table.id, key);
        let is_first = writes.row(table.id, key).is_none();
        for at in 0..table.indexes.len() {
            let secondary = table.entry_keys(at, &old.image, key)?;
            for key in secondary.as_slice() {
                writes.set_entry(table, at, key, (false, derivable), is_first);
            }
        }
        writes.set_row(table, key, Origin::Committed(old), None, None);
        Ok(())
    }

    /// Notes how an update can be made again from another state of its row: by setting the columns
    /// of `after`, or, if `after` is `None`, not at all.
    pub fn note_patch(&mut self, table: &Table, key: &[u8], after: Option<PartialRow<'_>>) {
        let patch = after.map(|row| Patch { mask: row.mask.clone(), image: row.image.to_vec() });
        self.writes.note_patch(table.id, key, patch);
    }

    /// Returns the present point.
    pub fn mark(&self) -> ChangesMark {
        ChangesMark {
            writes: self.writes.mark(),
            temporary: self.temporary.as_ref().map_or_else(WriteMark::default, |own| own.writes.mark()),
            group_len: self.group.len(),
            sidecar: self.sidecar.lengths(),
        }
    }

    /// Returns the table and the clustered key of each row that has changed since the point was
    /// marked. A row that has changed several times comes several times.
    pub fn rows_since(&self, mark: ChangesMark) -> impl Iterator<Item = (&Arc<Table>, KeyBuf)> {
        let temporary = self.temporary.iter().flat_map(move |own| own.writes.rows_since(mark.temporary));
        self.writes.rows_since(mark.writes).chain(temporary)
    }

    /// Takes back every change since the point was marked.
    pub fn rollback_to(&mut self, mark: ChangesMark) {
        self.writes.rollback_to(mark.writes);
        if let Some(temporary) = &mut self.temporary {
            temporary.writes.rollback_to(mark.temporary);
        }
        self.group.truncate(mark.group_len);
        self.sidecar.truncate(mark.sidecar);
    }
}

/// Returns what a row violates that is staged with another number of keys than it has indexes.
fn one_key_each(table: &Table) -> String {
    format!("a row of {} has one key for each of the {} indexes", table.qualified_name, table.indexes.len())
}
