//! The fast paths of a scan that reads, at a snapshot, a table which its transaction has not
//! changed. A scan of the clustered index lends rows from its own copy of the pages, and one of a
//! secondary index reads each row into a buffer of its own and lends it from there. The keys of
//! rows that are lent are not kept.

use super::Transaction;
use super::mode::LockMode;
use super::row_access::RowAccess;
use super::scan::{Found, Lent, Scan, as_slices};
use crate::bytes::KeyBuf;
use crate::definition::IndexRef;
use crate::entry::{self, ClusteredValue, HEADER_LEN};
use crate::error::Result;
use btree::Spot;
use std::ops::Bound;

impl Scan {
    /// Does what [`Scan::next`] does, but lends the row if it can ([`Scan::image`]). With
    /// `takes_entries`, an entry of a secondary index that proves by itself that its row exists,
    /// and so has the row's columns, is given out in the row's place ([`Scan::entry`]).
    pub fn next_lent(&mut self, txn: &mut Transaction, takes_entries: bool) -> Result<Option<Found>> {
        let rows = &mut txn.rows;
        if self.may_lend(rows) {
            let next = self.lend_next(rows);
            return rows.view.at_valid_snapshot(&rows.engine, next);
        }
        if !takes_entries && self.may_lend_by_entry(rows) {
            let next = self.lend_by_entry(rows);
            return rows.view.at_valid_snapshot(&rows.engine, next);
        }
        self.keep_last();
        self.takes_entries =
            takes_entries && self.mode == LockMode::Snapshot && matches!(self.index, IndexRef::Secondary(_));
        self.next_found(rows)
    }

    /// Does what [`Scan::next_lent`] does where that takes no more than a look at the next entry of
    /// the pages that are copied already: the step before has lent a row, too, and the next row is
    /// whole and visible in the state that the pages have. Returns its image, or `None` if it has
    /// done nothing, and [`Scan::next_lent`] has to.
    #[inline]
    pub fn lend_at_once(&mut self, txn: &mut Transaction) -> Option<&[u8]> {
        let rows = &mut txn.rows;
        // A row that was lent so says that `may_lend` was true at it. Only the transaction's own
        // changes may have come since.
        let writes = rows.changes.writes_of(&self.table);
        let changed = !writes.is_empty() && writes.table(self.table.id).is_some();
        let has_lent = matches!(self.lent, Some(Lent::Page(_) | Lent::Spare));
        if !has_lent || rows.locks.last.is_some() || changed || !rows.view.is_valid(&rows.engine) {
            return None;
        }
        let (view, table) = (&self.view, &self.table);
        let is_current = |value: &[u8]| match value.first_chunk::<HEADER_LEN>() {
            Some([0, seq @ ..]) => {
                let seq = u64::from_le_bytes(*seq);
                view.sees(seq) && table.reads_as_stored_at(seq)
            }
            _ => false,
        };
        let value = self.pages.as_mut()?.next_value_if(is_current)?;
        rows.count_read();
        self.lent = Some(Lent::Page(HEADER_LEN));
        Some(&value[HEADER_LEN..])
    }

    /// Goes on behind the zones ahead that have no row which the scan wants.
    fn pass_zones(&mut self) {
        let Some(zones) = &mut self.zones else { return };
        let place = match &self.last {
            Some(last) => Bound::Excluded(&last[..]),
            None => as_slices(&self.range.start),
        };
        let Some(to) = zones.before_run(place, &self.view) else { return };
        (self.range.start, self.last) = (Bound::Included(to), None);
        if self.range.is_empty() {
            self.pages = None;
        } else {
            self.read_pages_again();
        }
    }

    /// Reports whether the pages alone say what comes next.
    fn may_lend(&self, rows: &RowAccess) -> bool {
        self.mode == LockMode::Snapshot
            && self.index == IndexRef::Primary
            && self.ahead.is_none()
            && self.pages.is_some()
            && rows.changes.writes_of(&self.table).table(self.table.id).is_none()
    }

    fn lend_next(&mut self, rows: &mut RowAccess) -> Result<Option<Found>> {
        rows.locks.last = None;
        loop {
            let is_new_run = self.pages.as_ref().is_some_and(btree::Scan::is_at_end_of_run);
            if is_new_run {
                self.keep_last();
                self.pass_zones();
            }
            let Scan { pages: Some(pages), table, view, spare, zones, .. } = self else { return Ok(None) };
            if pages.next()?.is_none() {
                if let Some(zones) = zones {
                    zones.finish();
                }
                return Ok(None);
            }
            if let Some(zones) = zones.as_mut().filter(|_| is_new_run) {
                zones.learn(pages.run())?;
            }
            let (key, value) = pages.current().expect("an entry was just given out");
            let parsed = ClusteredValue::parse(value)?;
            let is_whole = !parsed.has_externs() && table.reads_as_stored(&parsed);
            let lent = if view.sees(parsed.seq) && is_whole {
                (!parsed.is_deleted()).then(|| Lent::Page(value.len() - parsed.stored.len()))
            } else {
                rows.engine.rows.visible(table, key, Some(value), view)?.map(|image| {
                    *spare = image;
                    Lent::Spare
                })
            };
            // The key counts as passed even if its row does not exist for this scan.
            self.lent = Some(lent.unwrap_or(Lent::Spare));
            if lent.is_some() {
                rows.count_read();
                return Ok(Some(Found::Lent));
            }
            rows.check_interrupt()?;
        }
    }

    /// Reports whether the entries on the pages alone say which rows come next. A row with several
    /// entries may come several times, and a caller who has to know that wants its key.
    fn may_lend_by_entry(&self, rows: &RowAccess) -> bool {
        self.mode == LockMode::Snapshot
            && matches!(self.index, IndexRef::Secondary(_))
            && self.ahead.is_none()
            && self.pages.is_some()
            && !self.table.is_temporary()
            && !self.table.is_multi_valued(self.index)
            && rows.changes.writes_of(&self.table).table(self.table.id).is_none()
    }

    fn lend_by_entry(&mut self, rows: &mut RowAccess) -> Result<Option<Found>> {
        rows.locks.last = None;
        loop {
            let Scan { pages: Some(pages), table, view, spare, located, .. } = self else { return Ok(None) };
            let leaf = located.take(pages, table);
            let Some((key, value)) = pages.next()? else { return Ok(None) };
            let (flags, seq) = entry::parse_header(value)?;
            let clustered = key.get(entry::secondary_len(value)?..);
            let Some(clustered) = clustered.filter(|_| view.sees(seq)) else {
                // The entry is newer than the snapshot, or malformed.
                let (key, value) = (KeyBuf::from(key), value.to_vec());
                self.lent = None;
                let row = self.page_row(rows, &key, &value)?;
                self.last = Some(key);
                if let Some(row) = row {
                    rows.count_read();
                    return Ok(Some(Found::Row(row)));
                }
                rows.check_interrupt()?;
                continue;
            };
            let is_live = flags & entry::DELETED == 0;
            let spot = match leaf {
                Some(leaf) => Spot::again(clustered, leaf),
                None => table.clustered.locate(clustered),
            };
            let has_row = is_live && rows.engine.rows.read_into_at(table, (clustered, &spot), view, spare)?;
            // The key counts as passed even if its row does not exist for this scan.
            self.lent = Some(Lent::ByEntry);
            if has_row {
                rows.count_read();
                return Ok(Some(Found::Lent));
            }
            rows.check_interrupt()?;
        }
    }
}
