//! The fast path of a scan of a secondary index that reads, at a snapshot, a table which its
//! transaction has not changed. Each row is read into the scan's own buffer and lent from there.

use super::mode::LockMode;
use super::row_access::RowAccess;
use super::scan::{Found, Lent, Scan};
use crate::bytes::KeyBuf;
use crate::definition::IndexRef;
use crate::entry;
use crate::error::Result;
use btree::Spot;

impl Scan {
    /// Reports whether the entries on the pages alone say which rows come next. A row with several
    /// entries may come several times, and a caller who has to know that wants its key.
    pub(super) fn may_lend_by_entry(&self, rows: &RowAccess) -> bool {
        self.mode == LockMode::Snapshot
            && matches!(self.index, IndexRef::Secondary(_))
            && self.ahead.is_none()
            && self.pages.is_some()
            && !self.table.is_temporary()
            && !self.table.is_multi_valued(self.index)
            && rows.changes.writes_of(&self.table).table(self.table.id).is_none()
    }

    pub(super) fn lend_by_entry(&mut self, rows: &mut RowAccess) -> Result<Option<Found>> {
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
