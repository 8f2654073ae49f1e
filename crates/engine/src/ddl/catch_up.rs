//! Putting the changes that others made during the build into new indexes, and telling real
//! duplicates from rows of different moments; see [`super::online`].

use super::build::{IndexBuilder, check_interrupt};
use super::online::{Note, OnlineBuild};
use crate::definition::IndexRef;
use crate::entry::{self, ClusteredValue};
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::table::Table;
use crate::transaction::key_range::after_prefix;
use btree::{Change, Direction};
use buffer::RecordLsn;
use std::ops::Bound;
use std::sync::atomic::AtomicBool;

impl IndexBuilder<'_> {
    /// Puts the notes so far into the indexes. Returns how many bytes of notes there were.
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
            check_interrupt(interrupt)?;
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

    /// Reports whether the rows of two entries with the same columns of a new index both have these
    /// columns now.
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
        // The first row is unchanged since it was first looked at, so it existed at the moment when
        // the other row was looked at.
        Ok(self.live_since(table, at, a, secondary_len)? == first)
    }

    /// Returns the sequence number of an entry's row, if the row exists and has this entry.
    pub(super) fn live_since(
        &self,
        table: &Table,
        at: usize,
        key: &[u8],
        secondary_len: usize,
    ) -> Result<Option<u64>> {
        let clustered = &key[secondary_len..];
        let Some((seq, image)) = self.committed_row(table, clustered)? else { return Ok(None) };
        if self.rows.dropped.has_gone(table, seq, &image)? {
            return Ok(None);
        }
        Ok(table.entry_key(at, &image, clustered, key)?.map(|_| seq))
    }

    /// Returns the newest committed row with its long values, while others may change it. A row
    /// that went with its partition is there too, because it has its entries until it is deleted. A
    /// snapshot keeps purge from the pages of the long values.
    pub(super) fn committed_row(&self, table: &Table, key: &[u8]) -> Result<Option<(u64, Vec<u8>)>> {
        let snapshot = loop {
            let snapshot = self.snapshots.open(self.sequencer)?;
            self.snapshots.pin(&snapshot);
            // The snapshot may have been evicted before it was pinned.
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
            Ok(Some((parsed.seq, overflow::resolve(&self.rows.pool, table, &parsed)?)))
        };
        let row = read();
        self.snapshots.close(snapshot);
        row
    }

    /// Returns the error for a row whose key of the index at `at` another row has.
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
