//! Gathering the changes that commit records ask for.
//!
//! All changes of a record to one row become one change, if that can be said without the row as it
//! is on the page. A row that one record updates several times may have as many changes, which
//! carry the same record.

use super::changes::{Change, Changes, What, prefix_of};
use super::tables::{Tables, Tree};
use crate::bytes::KeyBuf;
use crate::commit::record::CommitRecord;
use crate::commit::sidecar::Sidecar;
use crate::error::{EngineError, Result};
use crate::group::walk;
use crate::spill::SpilledGroup;
use crate::table::Table;
use binlog::event::RowsEvent;
use buffer::RecordLsn;
use redo::Lsn;
use std::collections::HashMap;
use types::ColumnMask;

/// A partial image and the columns that it has.
type Image<'a> = (&'a ColumnMask, &'a [u8]);

/// Gathers the changes of one record after another.
pub(super) struct Gather<'e, 'l> {
    tables: &'e Tables,
    changes: Changes<'l>,
    /// The table of the last event. Most records are about the same table.
    table: Option<u32>,
    /// The position of the first change of the record at hand.
    from: usize,
    /// The position of the end of the record at hand in the log.
    end: Lsn,
    /// The positions of the row changes of the record at hand, by tree and key. The map is filled
    /// when there is a second change.
    rows: HashMap<(u32, KeyBuf), u32>,
    /// The part of the rows that is gathered.
    part: Part,
}

/// A part of the rows, by their clustered keys. The changes of one row must be seen together, and
/// the rows of a large commit take much memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub number: u64,
    pub of: u64,
}

impl Part {
    /// The part that has all rows.
    const WHOLE: Part = Part { number: 0, of: 1 };

    fn has(&self, key: &[u8]) -> bool {
        self.of == 1 || u64::from(crc32c::crc32c(key)) % self.of == self.number
    }
}

impl<'e, 'l> Gather<'e, 'l> {
    /// Returns a value that adds to `changes`, which must be empty.
    pub fn new(tables: &'e Tables, changes: Changes<'l>) -> Gather<'e, 'l> {
        Gather { tables, changes, table: None, from: 0, end: 0, rows: HashMap::new(), part: Part::WHOLE }
    }

    /// Adds the changes of a commit in a spill file to a part of its rows.
    pub fn spilled_part(
        &mut self,
        (group, sidecar): (&SpilledGroup, &[u8]),
        place: RecordLsn,
        part: Part,
    ) -> Result<()> {
        self.part = part;
        let mut sidecar = Sidecar::parse(sidecar)?;
        self.begin(place);
        group.for_each_run(|events| self.events(events, &mut sidecar))?;
        self.end(&sidecar, place)
    }

    pub fn finish(self) -> Changes<'l> {
        self.changes
    }

    /// Adds the changes of a commit record that is not spilled.
    pub fn record(&mut self, payload: &[u8], place: RecordLsn) -> Result<()> {
        let commit = CommitRecord::parse(payload)?;
        self.group(commit.group, commit.sidecar, place)
    }

    /// Adds the changes of an event group and its sidecar.
    pub fn group(&mut self, group: &[u8], sidecar: &[u8], place: RecordLsn) -> Result<()> {
        let mut sidecar = Sidecar::parse(sidecar)?;
        self.begin(place);
        self.events(group, &mut sidecar)?;
        self.end(&sidecar, place)
    }

    fn begin(&mut self, place: RecordLsn) {
        self.changes.records.push(place);
        self.from = self.changes.all.len();
        self.end = place.end;
        self.rows.clear();
    }

    fn events(&mut self, events: &[u8], sidecar: &mut Sidecar<'_>) -> Result<()> {
        for event in walk::rows_events(events) {
            let event = event?;
            let known = self.table.filter(|&number| self.tables.forms(number).newest.id == event.table_id);
            self.table = known.or_else(|| self.tables.number(event.table_id));
            // A table without a number was dropped later.
            if let Some(number) = self.table {
                self.event(number, &event, sidecar)?;
            }
        }
        Ok(())
    }

    /// Adds the changes that follow from the rows of the record and from its sidecar.
    fn end(&mut self, sidecar: &Sidecar<'_>, place: RecordLsn) -> Result<()> {
        self.derive_entries(place)?;
        self.placements(sidecar)?;
        for op in sidecar.index_ops()? {
            if !self.part.has(&op.key[op.secondary_len..]) {
                continue;
            }
            let Some(number) = self.tables.number(op.table_id) else { continue };
            let table = &self.tables.forms(number).newest;
            let Some(at) = table.indexes.iter().position(|index| index.id == op.index_id) else { continue };
            if place.start < table.indexes[at].created_lsn {
                continue;
            }
            let secondary_len = op.secondary_len as u16;
            let what = if op.put { What::PutEntry { secondary_len } } else { What::Remove };
            self.push(Tree::Secondary(at).number(number), op.key, what, false);
        }
        Ok(())
    }

    fn push(&mut self, tree: u32, key: &[u8], what: What, inserted: bool) {
        let (prefix, record) = (prefix_of(key), self.changes.records.len() as u32 - 1);
        let key = self.changes.of_log(key);
        self.changes.all.push(Change { tree, prefix, key, what, record, inserted });
    }

    fn event(&mut self, number: u32, event: &RowsEvent<'_>, sidecar: &mut Sidecar<'_>) -> Result<()> {
        let tables = self.tables;
        let table = tables.forms(number).at(self.end);
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
                    let image = if mask.is_full() { image } else { sidecar.next_whole_row(table.id)? };
                    self.put(number, table, &table.clustered_key(image, row_id)?, image, true)?;
                }
                (Some(before), None) => self.remove(number, &key_of(table, row_id, &[before])?),
                (Some(before), Some(after)) => {
                    self.update(number, table, (before, after), row_id, sidecar)?;
                }
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn update(
        &mut self,
        number: u32,
        table: &Table,
        (before, after): (Image<'_>, Image<'_>),
        row_id: Option<u64>,
        sidecar: &mut Sidecar<'_>,
    ) -> Result<()> {
        let (mask, after_image) = after;
        let old_key = key_of(table, row_id, &[before])?;
        let new_key = new_key(table, row_id, (before, after))?;
        if let Some(new_key) = new_key.filter(|new_key| *new_key != old_key) {
            let image = if mask.is_full() { after_image } else { sidecar.next_whole_row(table.id)? };
            self.remove(number, &old_key);
            return self.put(number, table, &new_key, image, false);
        }
        if !self.part.has(&old_key) {
            return Ok(());
        }
        let tree = Tree::Clustered.number(number);
        let patch = {
            let image = self.changes.of_log(after_image);
            What::Patch { mask: self.changes.mask_number(mask), image }
        };
        match self.before(tree, &old_key) {
            None => self.push_row(tree, &old_key, patch, false),
            Some(at) => match self.changes.all[at as usize].what {
                What::Put(base) => {
                    let mut image = Vec::new();
                    table.layout.splice(self.changes.bytes(base), mask, after_image, &mut image)?;
                    self.changes.all[at as usize].what = What::Put(self.changes.make(&image));
                }
                What::Patch { .. } => self.push_row(tree, &old_key, patch, false),
                What::Remove | What::PutEntry { .. } => {}
            },
        }
        Ok(())
    }

    /// Returns the position of the record's last change of a row so far.
    fn before(&mut self, tree: u32, key: &KeyBuf) -> Option<u32> {
        let earlier = &self.changes.all[self.from..];
        if self.rows.is_empty() {
            for (at, change) in earlier.iter().enumerate() {
                let key = KeyBuf::from_slice(self.changes.key(change));
                self.rows.insert((change.tree, key), (self.from + at) as u32);
            }
        }
        if self.rows.is_empty() { None } else { self.rows.get(&(tree, key.clone())).copied() }
    }

    fn push_row(&mut self, tree: u32, key: &KeyBuf, what: What, inserted: bool) {
        let at = self.changes.all.len();
        if at > self.from {
            self.rows.insert((tree, key.clone()), at as u32);
        }
        self.push(tree, key, what, inserted);
    }

    fn put(&mut self, number: u32, table: &Table, key: &KeyBuf, image: &[u8], inserted: bool) -> Result<()> {
        if !self.part.has(key) {
            return Ok(());
        }
        if let Some(stored) = table.stored_auto_increment(image)? {
            table.note_auto_increment(stored);
        }
        let tree = Tree::Clustered.number(number);
        let what = What::Put(self.changes.of_log(image));
        match self.before(tree, key) {
            None => self.push_row(tree, key, what, inserted),
            Some(at) => self.changes.all[at as usize].what = what,
        }
        Ok(())
    }

    fn remove(&mut self, number: u32, key: &KeyBuf) {
        if !self.part.has(key) {
            return;
        }
        let tree = Tree::Clustered.number(number);
        match self.before(tree, key) {
            None => self.push_row(tree, key, What::Remove, false),
            // A row that the record inserts may have taken the place of one whose deletion no event
            // tells: one that went with its partition, or was in the way of a replica's row.
            Some(at) => self.changes.all[at as usize].what = What::Remove,
        }
    }

    /// Adds the secondary entries of rows that the record inserts, whose images have their columns.
    fn derive_entries(&mut self, place: RecordLsn) -> Result<()> {
        for at in self.from..self.changes.all.len() {
            let change = self.changes.all[at];
            let (What::Put(image), true) = (change.what, change.inserted) else { continue };
            let (number, forms) = self.tables.forms_of(change.tree);
            let table = forms.at(place.end);
            for (index_at, index) in forms.newest.indexes.iter().enumerate() {
                if place.start < index.created_lsn {
                    continue;
                }
                let then = table.indexes.iter().position(|then| then.id == index.id).ok_or_else(|| {
                    let (table, index) = (&table.qualified_name, &index.name);
                    EngineError::Corrupt(format!("{table}: index {index} is older than its columns"))
                })?;
                let key = self.changes.key(&change);
                for secondary in table.entry_keys(then, self.changes.bytes(image), key)?.as_slice() {
                    let what = What::PutEntry { secondary_len: secondary.secondary_len as u16 };
                    self.push(Tree::Secondary(index_at).number(number), &secondary.key, what, false);
                }
            }
        }
        Ok(())
    }

    /// Adds the long values to the last change of their row.
    fn placements(&mut self, sidecar: &Sidecar<'_>) -> Result<()> {
        for placement in sidecar.placements()? {
            let Some(number) = self.tables.number(placement.table_id) else { continue };
            if usize::from(placement.column) >= self.tables.forms(number).at(self.end).columns() {
                return Err(EngineError::Corrupt("a commit record places a column that is not there".into()));
            }
            let (tree, key) = (Tree::Clustered.number(number), KeyBuf::from_slice(&placement.key));
            let Some(at) = self.before(tree, &key) else { continue };
            if let What::Put(_) | What::Patch { .. } = self.changes.all[at as usize].what {
                self.changes.placements.entry(at).or_default().push(placement);
            }
        }
        Ok(())
    }
}

/// Returns the clustered key after an update. `None` means that it is the same as before.
fn new_key(
    table: &Table,
    row_id: Option<u64>,
    (before, after): (Image<'_>, Image<'_>),
) -> Result<Option<KeyBuf>> {
    let mut parts = table.primary.iter().flatten();
    let total = parts.clone().count();
    match parts.by_ref().filter(|part| after.0.contains(part.column)).count() {
        0 => Ok(None),
        set if set == total => key_of(table, row_id, &[after]).map(Some),
        _ => key_of(table, row_id, &[after, before]).map(Some),
    }
}

/// Returns the clustered key of a row for which these partial images are known. A column's value
/// comes from the first image that has the column.
fn key_of(table: &Table, row_id: Option<u64>, images: &[Image<'_>]) -> Result<KeyBuf> {
    match (images, row_id) {
        (_, Some(row_id)) => Ok(KeyBuf::from_slice(&row_id.to_be_bytes())),
        ([(mask, image)], None) => table.key_from_partial(mask, image),
        (images, None) => {
            let mut columns = vec![None; table.columns()];
            for (mask, image) in images.iter().rev() {
                table.layout.walk_partial(mask, image, |column, raw| columns[column] = raw)?;
            }
            let mut image = Vec::new();
            table.layout.encode_raw(&columns, &mut image)?;
            table.clustered_key(&image, None)
        }
    }
}
