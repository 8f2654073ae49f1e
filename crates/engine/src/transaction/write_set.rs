//! A transaction's private changes: what it will do to the pages if it commits, and how a statement
//! takes its part back.
//!
//! Invariants:
//! - `rows[key]` is the net change of one row: the committed row it started from (which stays the
//!   same, because it is locked), and what the transaction leaves.
//! - `entries[index][key]` is the net state of a secondary entry that differs, or once differed,
//!   from the pages. Entries of rows that were changed for the first time may wait for their places
//!   until somebody reads them; all are in their places when the transaction commits.
//! - The journal, replayed backwards to a mark, restores the maps to what they were at the mark.

use crate::bytes::KeyBuf;
use crate::error::Result;
use crate::gathered::GatheredMap;
use crate::kept_memory::shrink_small_list;
use crate::ordered::{OrderedMap, Place};
use crate::spill::{NewImage, SpillPart};
use crate::table::{SecondaryKey, Table};
use crate::transaction::journal::{self, Journal};
use crate::transaction::row_change::{EntryChange, Origin, Patch, RowChange};
use smallvec::SmallVec;
use std::sync::Arc;

pub(crate) type Rows = OrderedMap<RowChange>;
pub(crate) type Entries = GatheredMap<EntryChange>;

/// The changes of one table.
pub(crate) struct TableWrites {
    pub table: Arc<Table>,
    pub rows: Rows,
    /// One map for each secondary index, in the table's order.
    pub entries: Vec<Entries>,
}

/// All changes of a transaction.
#[derive(Default)]
pub(crate) struct WriteSet {
    pub tables: SmallVec<[TableWrites; 1]>,
    journal: Journal,
    /// Whether changes are noted in the journal. It is off for transactions that are only ever
    /// rolled back as a whole.
    journalled: bool,
    /// The number of row changes so far.
    pub changes: u64,
    /// The number of journal entries whose rows have been looked at for spilling.
    looked_at: usize,
    /// Without a journal, the rows changed since the images of all others were spilled. `None`
    /// means that no images were spilled yet.
    fresh: Option<Vec<(usize, KeyBuf)>>,
}

/// A point that the write set can go back to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteMark {
    journal: usize,
    changes: u64,
}

/// What [`WriteSet::set_row`] has found about a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetRow {
    /// Whether this was the transaction's first change of the row.
    pub is_first: bool,
    /// Whether the transaction's first change of the row was an INSERT.
    pub inserted: bool,
}

impl WriteSet {
    pub fn new(journalled: bool) -> WriteSet {
        WriteSet { journalled, ..WriteSet::default() }
    }

    /// Forgets what belonged to a transaction that has ended.
    pub fn spend(&mut self) {
        let WriteSet { tables, journal, journalled: _, changes, looked_at, fresh } = self;
        shrink_small_list(tables);
        journal.spend();
        (*changes, *looked_at, *fresh) = (0, 0, None);
    }

    /// Begins the changes of another transaction after [`WriteSet::spend`].
    pub fn begin(&mut self, journalled: bool) {
        assert!(self.is_empty(), "a transaction begins without changes");
        self.journalled = journalled;
    }

    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    pub fn table(&self, table_id: u64) -> Option<&TableWrites> {
        self.tables.iter().find(|writes| writes.table.id == table_id)
    }

    /// Returns the position of a table's writes, which are made if the table has none.
    fn table_at(&mut self, table: &Arc<Table>) -> usize {
        if let Some(at) = self.tables.iter().position(|writes| writes.table.id == table.id) {
            let maps = self.tables[at].entries.len();
            assert_eq!(maps, table.indexes.len(), "a table that is written to keeps its indexes");
            return at;
        }
        let entries = table.indexes.iter().map(|_| Entries::default()).collect();
        self.tables.push(TableWrites { table: table.clone(), rows: Rows::default(), entries });
        self.tables.len() - 1
    }

    /// Returns the transaction's own state of a row: `None` when it has not changed the row,
    /// `Some(None)` when it has deleted it.
    pub fn row(&self, table_id: u64, key: &[u8]) -> Option<Option<&NewImage>> {
        let change = self.table(table_id)?.rows.get(key)?;
        Some(change.new.as_ref())
    }

    /// Drops the images of the rows that were changed since this was called last. An image that
    /// lies before offset `spilled` in the event group is in the group's file. The other images,
    /// one after the other, are given to `keep`, which returns their offset in another file.
    pub fn let_images_go(&mut self, spilled: u64, keep: impl FnOnce(&[u8]) -> Result<u64>) -> Result<()> {
        let listed = if self.journalled { self.fresh.take().unwrap_or_default() } else { self.take_fresh() };
        let WriteSet { tables, journal, looked_at, .. } = self;
        let (mut kept, mut places) = (Vec::new(), Vec::new());
        // Rows that follow each other in time mostly do so in the table.
        let mut near = Place::default();
        let mut let_go = |table: usize, key: &[u8]| {
            let Some((place, change)) = tables[table].rows.get_mut_near(near, key) else { return };
            near = place;
            let RowChange { new: Some(new @ NewImage::Here(_)), logged_at, .. } = change else { return };
            match *logged_at {
                Some(at) if at + new.len() as u64 <= spilled => {
                    *new = NewImage::Spilled { part: SpillPart::Group, at, len: new.len() as u32 };
                }
                // The image will be in the group's file, but is not there yet.
                Some(_) => {}
                None => {
                    let NewImage::Here(image) = &*new else { return };
                    places.push((table, KeyBuf::from_slice(key), kept.len() as u64));
                    kept.extend_from_slice(image);
                }
            }
        };
        listed.iter().for_each(|(table, key)| let_go(*table, key));
        journal.rows_since(*looked_at).for_each(|(table, key)| let_go(table, key));
        *looked_at = journal.len();
        let base = if kept.is_empty() { 0 } else { keep(&kept)? };
        for (table, key, at) in places {
            let Some(RowChange { new: Some(new @ NewImage::Here(_)), .. }) =
                self.tables[table].rows.get_mut(&key)
            else {
                continue;
            };
            let at = base + at;
            *new = NewImage::Spilled { part: SpillPart::Images, at, len: new.len() as u32 };
        }
        Ok(())
    }

    /// Returns the rows changed since this was called last.
    fn take_fresh(&mut self) -> Vec<(usize, KeyBuf)> {
        if !self.journalled {
            let all = || {
                let rows = |(at, writes): (usize, &'_ TableWrites)| {
                    writes.rows.into_iter().map(move |(key, _)| (at, key.clone())).collect::<Vec<_>>()
                };
                self.tables.iter().enumerate().flat_map(rows).collect()
            };
            let fresh = self.fresh.take().unwrap_or_else(all);
            self.fresh = Some(Vec::new());
            return fresh;
        }
        let mut fresh = self.fresh.take().unwrap_or_default();
        let rows = self.journal.rows_since(self.looked_at);
        fresh.extend(rows.map(|(table, key)| (table, KeyBuf::from_slice(key))));
        self.looked_at = self.journal.len();
        fresh
    }

    /// Estimates how many bytes of secondary entries the sidecar will have.
    pub fn entry_bytes(&self) -> usize {
        const EACH: usize = 32;
        self.tables.iter().flat_map(|writes| &writes.entries).map(|entries| entries.len() * EACH).sum()
    }

    /// Reports whether the transaction's first change of this row was an INSERT.
    pub fn is_inserted(&self, table_id: u64, key: &[u8]) -> bool {
        self.table(table_id).and_then(|writes| writes.rows.get(key)).is_some_and(|change| change.inserted)
    }

    /// Sets the new state of a row, and the offset of its image in the event group, if the image is
    /// there. `origin` is used only if this is the first change of the row.
    pub fn set_row(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        origin: Origin,
        new: Option<Vec<u8>>,
        logged_at: Option<u64>,
    ) -> SetRow {
        let at = self.table_at(table);
        let has_bitmap = |image: &Vec<u8>| image.len() >= table.layout.null_bytes();
        assert!(new.as_ref().is_none_or(has_bitmap), "a row image is of its table");
        assert!(new.is_some() || logged_at.is_none(), "a row without an image has none in the group");
        let new = new.map(NewImage::Here);
        let is_update = matches!(origin, Origin::Committed(_));
        let (change, is_first) =
            self.tables[at].rows.get_or_insert_with(key, || RowChange::of_origin(origin));
        let previous = (!is_first && self.journalled).then(|| Box::new(change.clone()));
        (change.new, change.logged_at) = (new, logged_at);
        if !is_first && !is_update {
            change.patches = None;
        }
        let inserted = change.inserted;
        if self.journalled {
            self.journal.push(at, key, journal::Replaced::Row(previous));
        } else if let Some(fresh) = &mut self.fresh {
            fresh.push((at, KeyBuf::from_slice(key)));
        }
        SetRow { is_first, inserted }
    }

    /// Notes how the update that was just set follows from the row before it. `None` means that it
    /// does not follow by setting columns alone.
    pub fn note_patch(&mut self, table_id: u64, key: &[u8], patch: Option<Patch>) {
        let writes = self.tables.iter_mut().find(|writes| writes.table.id == table_id);
        let Some(change) = writes.and_then(|writes| writes.rows.get_mut(key)) else { return };
        match (patch, &mut change.patches) {
            (Some(patch), Some(patches)) => patches.push(patch),
            (_, patches) => *patches = None,
        }
    }

    /// Sets whether a secondary entry is present. An entry that was once not derivable stays so.
    /// `is_first` says that the transaction has changed the entry's row for the first time, so that
    /// it has not changed the entry before, whose key has the row's.
    pub fn set_entry(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        key: &SecondaryKey,
        (present, derivable): (bool, bool),
        is_first: bool,
    ) {
        assert!(key.secondary_len <= key.key.len(), "an entry's columns are a part of its key");
        let at = self.table_at(table);
        let indexes = table.indexes.len();
        assert!(index < indexes, "an entry of index {index} of {indexes} of {}", table.qualified_name);
        let entries = &mut self.tables[at].entries[index];
        let secondary_len = key.secondary_len as u16;
        // The entries of a unique index are read before each new one.
        let previous = if is_first && !table.indexes[index].unique {
            entries.add(&key.key, EntryChange { present, secondary_len, derivable });
            None
        } else {
            entries.ordered().change(&key.key, |earlier| {
                let derivable = derivable && earlier.is_none_or(|earlier| earlier.derivable);
                EntryChange { present, secondary_len, derivable }
            })
        };
        if self.journalled {
            self.journal.push(at, &key.key, journal::Replaced::Entry { index: index as u16, previous });
        }
    }

    /// Puts the entries of an index that wait into their places, so that they can be read.
    #[inline]
    pub fn settle_index(&mut self, table_id: u64, index: usize) {
        if let Some(writes) = self.tables.iter_mut().find(|writes| writes.table.id == table_id) {
            settle(&mut writes.entries[index]);
        }
    }

    /// Puts all entries into their places.
    pub fn settle(&mut self) {
        self.tables.iter_mut().flat_map(|writes| &mut writes.entries).for_each(settle);
    }

    pub fn mark(&self) -> WriteMark {
        WriteMark { journal: self.journal.len(), changes: self.changes }
    }

    /// Reports whether what is needed to go back to a mark is kept.
    pub fn is_journalled(&self) -> bool {
        self.journalled
    }

    /// Keeps from here on what is needed to go back to a mark, if that is not kept already.
    pub fn begin_journal(&mut self) {
        if !self.journalled {
            // The rows whose images may go are listed by the journal from here on.
            self.fresh = Some(self.take_fresh());
            (self.journalled, self.looked_at) = (true, 0);
        }
    }

    /// Returns the table and the clustered key of each row that has changed since the mark. A row
    /// that has changed several times comes several times.
    pub fn rows_since(&self, mark: WriteMark) -> impl Iterator<Item = (&Arc<Table>, KeyBuf)> {
        assert!(self.journalled, "only a journalled write set knows what has changed");
        let rows = self.journal.rows_since(mark.journal);
        rows.map(|(at, key)| (&self.tables[at].table, KeyBuf::from_slice(key)))
    }

    /// Takes back everything since the mark.
    pub fn rollback_to(&mut self, mark: WriteMark) {
        assert!(self.journalled, "only a journalled write set goes back");
        let is_behind = mark.journal <= self.journal.len() && mark.changes <= self.changes;
        assert!(is_behind, "a write set goes back to a mark that it has not come to: {mark:?}");
        while self.journal.len() > mark.journal {
            let (table, key, replaced) = self.journal.pop().expect("longer than the mark");
            let writes = &mut self.tables[table];
            match replaced {
                journal::Replaced::Row(previous) => {
                    restore(&mut writes.rows, key, previous.map(|change| *change));
                }
                journal::Replaced::Entry { index, previous } => {
                    let entries = &mut writes.entries[usize::from(index)];
                    match previous {
                        Some(_) => restore(entries.ordered(), key, previous),
                        None => entries.take_back(&key),
                    }
                }
            }
        }
        self.changes = mark.changes;
        self.looked_at = self.looked_at.min(mark.journal);
    }

    /// Forgets all changes. The memory of the outer containers is kept.
    pub fn clear(&mut self) {
        if self.tables.is_empty() {
            // Transactions that only read come through here, and there is nothing to forget.
            assert!(self.journal.len() == 0, "the journal is about tables that have changes");
            self.changes = 0;
            return;
        }
        self.tables.clear();
        self.journal.clear();
        self.changes = 0;
        self.looked_at = 0;
        self.fresh = None;
    }
}

fn settle(entries: &mut Entries) {
    let doubles = entries.settle();
    assert!(doubles == 0, "{doubles} entries of rows that were changed for the first time were known");
}

fn restore<V>(map: &mut OrderedMap<V>, key: KeyBuf, previous: Option<V>) {
    match previous {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
}
