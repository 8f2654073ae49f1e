//! Replaying the row changes of commit records by key.
//!
//! Replay sets state: an insert puts the row whatever was there, a delete removes what may be there, an update changes the
//! columns that its event has. Pages may be at any state between the checkpoint and the end of the log, so a row may be
//! missing for an update: then a later record deletes or moves it, and the update is skipped. A row that carries the
//! record's sequence number or a later one is left as it is. Since every later change of the row is replayed too, in
//! order, the rows converge. Overflow pages are gone through even for a row that is left: the row's page may have been
//! written, and they not.
//!
//! Secondary entries come from the sidecar, or from the full image of an inserted row; never from a page. Overflow pages
//! are rewritten in place where their LSN is older. Changes older than an index are in its build already.

use crate::Engine;
use crate::apply::Versioning;
use crate::commit::record::CommitRecord;
use crate::commit::sidecar::{Placement, Sidecar};
use crate::entry::{self, ClusteredValue, Extern, Externs};
use crate::error::{EngineError, Result};
use crate::group::walk;
use crate::overflow;
use crate::recovery::for_each_record;
use crate::spill::SpillRef;
use crate::table::{KeyBuf, Table};
use crate::transaction::write_set::{self, NewImage, Origin, WriteSet};
use binlog::event::RowsEvent;
use btree::Change;
use buffer::RecordLsn;
use redo::{Lsn, Record, kind};
use std::sync::Arc;
use types::ColumnMask;

/// A partial image and the columns it has.
type Image<'a> = (&'a ColumnMask, &'a [u8]);

/// A row as replay handles it: the image as it is on the page, long columns empty, and where those are.
struct PageRow {
    image: Vec<u8>,
    externs: Externs,
}

impl Engine {
    /// Replays the rows of all commits between two positions; returns how many commits there were.
    pub(crate) fn replay_rows(&self, from: Lsn, end: Lsn) -> Result<u64> {
        let mut commits = 0;
        for_each_record(&self.log, from, end, |record| {
            if record.kind == kind::COMMIT {
                commits += 1;
                self.replay_commit(&record).map_err(|error| {
                    EngineError::Corrupt(format!("commit record at LSN {}: {error}", record.start_lsn))
                })?;
            }
            Ok(())
        })?;
        Ok(commits)
    }

    pub(crate) fn replay_commit(&self, record: &Record) -> Result<()> {
        let commit = CommitRecord::parse(&record.payload)?;
        let place = RecordLsn::new(record.start_lsn, record.lsn);
        match &commit.spill {
            Some(spill) => self.replay_spilled(spill, place),
            None => self.replay_changes(commit.group, commit.sidecar, place),
        }
    }

    /// Replays a commit from its spill file.
    pub(crate) fn replay_spilled(&self, spill: &SpillRef, place: RecordLsn) -> Result<()> {
        let (group, sidecar) = spill.load(&self.config)?;
        self.replay_changes(&group, &sidecar, place)
    }

    fn replay_changes(&self, group: &[u8], sidecar: &[u8], place: RecordLsn) -> Result<()> {
        let mut sidecar = Sidecar::parse(sidecar)?;
        let mut writes = WriteSet::new(false);
        for event in walk::rows_events(group)? {
            match self.catalog.table_by_id(event.table_id) {
                Some(table) => {
                    self.replay_event(&table, &event, &mut sidecar, &mut writes)?;
                }
                // Dropped since.
                None => continue,
            }
        }
        self.derive_entries(&mut writes, place.start)?;
        for placement in sidecar.placements()? {
            self.replay_placement(&placement, place, &mut writes)?;
        }
        self.apply_writes(&writes, place, Versioning::Replay, None)?;
        for op in sidecar.index_ops()? {
            let Some(table) = self.catalog.table_by_id(op.table_id) else { continue };
            let Some(index) = table.indexes.iter().find(|index| index.id == op.index_id) else { continue };
            if place.start < index.created_lsn {
                continue;
            }
            let live = entry::secondary(0, place.end, op.secondary_len);
            index.tree.modify(op.key, place, |current| match op.put {
                _ if Versioning::Replay.leaves(current, place) => Change::Keep,
                true => Change::Put(live[..].into()),
                false => Change::Remove,
            })?;
        }
        Ok(())
    }

    /// Replays the rows of one event into the record's net changes.
    fn replay_event(
        &self,
        table: &Arc<Table>,
        event: &RowsEvent<'_>,
        sidecar: &mut Sidecar<'_>,
        writes: &mut WriteSet,
    ) -> Result<()> {
        if event.columns != table.columns() {
            return Err(EngineError::Corrupt(format!(
                "a rows event of a commit record has {} columns, {} has {}",
                event.columns,
                table.qualified_name,
                table.columns()
            )));
        }
        let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
        for change in event.iter(&table.layout) {
            let change = change.map_err(walk::malformed)?;
            let before = before_mask.as_ref().zip(change.before);
            let after = after_mask.as_ref().zip(change.after);
            let row_id = match table.primary {
                None => Some(sidecar.next_row_id(table.id)?),
                Some(_) => None,
            };
            match (before, after) {
                (None, Some((mask, image))) => {
                    let image =
                        if mask.is_full() { image } else { sidecar.next_whole_row(table.id)? }.to_vec();
                    let key = table.clustered_key(&image, row_id)?;
                    note_auto_increment(table, &image)?;
                    put(
                        writes,
                        table,
                        &key,
                        Origin::Insert(None),
                        PageRow { image, externs: Externs::new() },
                    );
                }
                (Some(before), None) => {
                    let key = key_of(table, row_id, &[before])?;
                    writes.set_row(table, &key, removed_origin(), None, None);
                }
                (Some(before), Some(after)) => {
                    self.replay_update(table, (before, after), row_id, sidecar, writes)?;
                }
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn replay_update(
        &self,
        table: &Arc<Table>,
        (before, after): (Image<'_>, Image<'_>),
        row_id: Option<u64>,
        sidecar: &mut Sidecar<'_>,
        writes: &mut WriteSet,
    ) -> Result<()> {
        let (mask, after_image) = after;
        let old_key = key_of(table, row_id, &[before])?;
        let new_key = key_of(table, row_id, &[after, before])?;
        if old_key != new_key {
            let image = if mask.is_full() { after_image } else { sidecar.next_whole_row(table.id)? };
            note_auto_increment(table, image)?;
            writes.set_row(table, &old_key, removed_origin(), None, None);
            let row = PageRow { image: image.to_vec(), externs: Externs::new() };
            put(writes, table, &new_key, Origin::Move(None), row);
            return Ok(());
        }
        let Some(base) = self.page_row(table, &old_key, writes)? else { return Ok(()) };
        let mut image = Vec::with_capacity(base.image.len());
        table.layout.splice(&base.image, mask, after_image, &mut image)?;
        let kept = base.externs.iter().filter(|held| !mask.contains(usize::from(held.column)));
        let row = PageRow { image, externs: kept.copied().collect() };
        put(writes, table, &old_key, removed_origin(), row);
        Ok(())
    }

    /// The row that an update starts from: what the record made of it so far, else what the page has.
    fn page_row(&self, table: &Table, key: &[u8], writes: &WriteSet) -> Result<Option<PageRow>> {
        if let Some(change) = writes.table(table.id).and_then(|writes| writes.rows.get(key)) {
            let row = change.new.as_ref().and_then(NewImage::here);
            return Ok(row.map(|image| PageRow { image: image.to_vec(), externs: change.externs.clone() }));
        }
        let row = table.clustered.get(key, |value| -> Result<_> {
            let parsed = ClusteredValue::parse(value)?;
            let row = PageRow { image: parsed.image.to_vec(), externs: parsed.externs() };
            Ok((!parsed.is_deleted()).then_some(row))
        })?;
        Ok(row.transpose()?.flatten())
    }

    /// The secondary entries of rows that the record inserted: their final images have them.
    fn derive_entries(&self, writes: &mut WriteSet, start_lsn: Lsn) -> Result<()> {
        for table_writes in &mut writes.tables {
            let write_set::TableWrites { table, rows, entries } = table_writes;
            for (key, change) in rows.iter().filter(|(_, change)| change.inserted) {
                let Some(image) = change.new.as_ref().and_then(NewImage::here) else { continue };
                for (at, index) in table.indexes.iter().enumerate() {
                    if start_lsn < index.created_lsn {
                        continue;
                    }
                    let secondary = table.secondary_key(at, image, key)?;
                    let secondary_len = secondary.secondary_len as u16;
                    let change = write_set::EntryChange { present: true, secondary_len, derivable: true };
                    entries[at].insert(secondary.key, change);
                }
            }
        }
        Ok(())
    }

    /// Writes a long value to the pages that the commit placed it on, and points the row there.
    fn replay_placement(&self, placement: &Placement, place: RecordLsn, writes: &mut WriteSet) -> Result<()> {
        let table_writes = writes.tables.iter_mut().find(|writes| writes.table.id == placement.table_id);
        let Some(table_writes) = table_writes else { return Ok(()) };
        let table = table_writes.table.clone();
        let Some(change) = table_writes.rows.get_mut(placement.key.as_slice()) else { return Ok(()) };
        let Some(image) = change.new.as_ref().and_then(NewImage::here) else { return Ok(()) };
        let column = usize::from(placement.column);
        if !placement.pages.is_empty() {
            let raw = match &placement.value {
                Some(value) => Some(&value[..]),
                None => table.layout.get_raw(image, column)?,
            };
            let raw = raw
                .ok_or_else(|| EngineError::Corrupt("a commit record places a NULL off page".to_string()))?;
            btree::overflow::rewrite(&self.pool, table.placement.space, &placement.pages, raw, place)?;
        }
        change.externs.retain(|held| held.column != placement.column);
        change.externs.push(Extern {
            column: placement.column,
            len: placement.len,
            first_page: placement.first_page,
        });
        change.externs.sort_by_key(|held| held.column);
        let mut columns = Vec::with_capacity(table.columns());
        table.layout.walk(image, |_, raw| columns.push(raw))?;
        change.new = Some(NewImage::Here(overflow::emptied(&table, &columns, &change.externs)?));
        Ok(())
    }
}

/// Replay puts and removes whatever is there: the row counts as committed before, with nothing known of it.
fn removed_origin() -> Origin {
    Origin::Committed(write_set::OldRow { image: Vec::new(), seq: 0, externs: Externs::new(), leaf: None })
}

fn put(writes: &mut WriteSet, table: &Arc<Table>, key: &[u8], origin: Origin, row: PageRow) {
    writes.set_row(table, key, origin, Some(row.image), None);
    writes.set_externs(table.id, key, row.externs);
}

/// The clustered key of a row of which these partial images are known, the first that has a column giving it.
fn key_of(table: &Table, row_id: Option<u64>, images: &[Image<'_>]) -> Result<KeyBuf> {
    let mut columns = vec![None; table.columns()];
    for (mask, image) in images.iter().rev() {
        table.layout.walk_partial(mask, image, |column, raw| columns[column] = raw)?;
    }
    let mut image = Vec::new();
    table.layout.encode_raw(&columns, &mut image)?;
    table.clustered_key(&image, row_id)
}

fn note_auto_increment(table: &Table, image: &[u8]) -> Result<()> {
    if let Some(stored) = table.stored_auto_increment(image)? {
        table.note_auto_increment(stored);
    }
    Ok(())
}
