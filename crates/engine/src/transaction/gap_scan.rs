//! How a locking scan locks its way: before it looks at an entry, it locks the gap up to it.
//!
//! The scan does so in this order, so that no row can appear in a part of the range that it has
//! passed:
//! 1. It extends the interval to the next entry. From here on nobody announces a key in the
//!    interval.
//! 2. It waits for keys that others have announced in the interval already, and reads the pages
//!    again.
//! 3. If a transaction with announced keys has ended since the pages were read, the scan reads them
//!    again, because the transaction's rows may be on them now.

use super::locking::first_key;
use super::row_access::RowAccess;
use super::scan::{Scan, as_slices};
use crate::bytes::KeyBuf;
use crate::definition::IndexRef;
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, CLUSTERED, OnLocked};
use btree::Direction;
use std::ops::Bound;

impl Scan {
    fn index_id(&self) -> u32 {
        match self.index {
            IndexRef::Primary => CLUSTERED,
            IndexRef::Secondary(at) => self.table.indexes[at].id,
        }
    }

    /// Locks the gap from where the scan is to the next entry. False means that the pages have been
    /// read again and there may be another next entry.
    pub(super) fn lock_way(&mut self, rows: &mut RowAccess) -> Result<bool> {
        if self.pages_ended {
            return Ok(true);
        }
        self.fetch_ahead()?;
        let next = self.ahead.as_ref().map(|(key, _)| key.clone());
        let is_beyond = next.as_ref().is_none_or(|key| self.is_beyond(key));
        let locking = self.locking.as_ref().expect("only a locking scan locks its way");
        let (gaps, has_begun) = (locking.gaps, locking.has_begun);
        if gaps && !has_begun && self.finds_one(rows, next.as_deref().filter(|_| !is_beyond))? {
            // Equality with a unique key that exists locks no gap.
            return Ok(true);
        }
        if gaps {
            self.grow_interval(rows, next.as_deref())?;
        }
        if self.wait_for_announced(rows, next.as_deref().filter(|_| !is_beyond))? {
            return Ok(false);
        }
        let released = self.locking.as_ref().expect("as above").released;
        if gaps && released != self.table.counters.locks.released() {
            self.read_pages_again();
            return Ok(false);
        }
        if is_beyond {
            // A key behind the range is no row of the scan.
            self.ahead = None;
            self.pages_ended = true;
        }
        Ok(true)
    }

    /// Reports whether the key is behind the end of the range, in the scan's direction.
    fn is_beyond(&self, key: &[u8]) -> bool {
        match self.direction {
            Direction::Forward => match &self.range.end {
                Bound::Included(end) => key > &end[..],
                Bound::Excluded(end) => key >= &end[..],
                Bound::Unbounded => false,
            },
            Direction::Backward => match &self.range.start {
                Bound::Included(start) => key < &start[..],
                Bound::Excluded(start) => key <= &start[..],
                Bound::Unbounded => false,
            },
        }
    }

    /// Reports whether the scan is an equality on a unique index and the next entry, on a page or
    /// the transaction's own, satisfies it.
    fn finds_one(&self, rows: &mut RowAccess, next: Option<&[u8]>) -> Result<bool> {
        if !self.range.is_equality() {
            return Ok(false);
        }
        if let Some((own, true)) = self.next_own(rows)
            && self.is_only_match(rows, &own)?
        {
            return Ok(true);
        }
        next.map_or(Ok(false), |key| self.is_only_match(rows, key))
    }

    /// Reports whether the entry is the only one that the scan, an equality, can find.
    pub(super) fn is_only_match(&self, rows: &mut RowAccess, key: &[u8]) -> Result<bool> {
        let Bound::Included(start) = &self.range.start else { return Ok(false) };
        let IndexRef::Secondary(at) = self.index else { return Ok(key == &start[..]) };
        let index = &self.table.indexes[at];
        let Some(clustered) = key.strip_prefix(&start[..]).filter(|_| index.unique) else { return Ok(false) };
        let Some(image) = rows.newest_image(&self.table, clustered)? else { return Ok(false) };
        // With a NULL among the columns there can be other entries.
        let own = self.table.entry_key(at, &image, clustered, key)?;
        Ok(own.is_some_and(|own| own.key[..own.secondary_len] == start[..] && !own.has_null))
    }

    /// Enters the scan's interval, or moves the interval's end to the next entry.
    fn grow_interval(&mut self, rows: &mut RowAccess, next: Option<&[u8]>) -> Result<()> {
        let index_id = self.index_id();
        let at_table = &self.table.counters.locks;
        let locking = self.locking.as_ref().expect("only a locking scan has an interval");
        if let Some(gap) = locking.interval {
            rows.engine.locks.extend_gap(at_table, gap, self.direction, next);
            return Ok(());
        }
        // The scan has no interval yet, or it began within another interval of the transaction and
        // may have left that one.
        let from = match &self.last {
            Some(last) if locking.has_begun => Some(last.to_vec()),
            _ => self.key_before()?,
        };
        let (low, high) = self.ends(from.as_deref(), next);
        let gap = rows.engine.locks.lock_gap(&mut rows.locks.owner, at_table, index_id, low, high);
        let locking = self.locking.as_mut().expect("as above");
        (locking.interval, locking.has_begun) = (gap, true);
        Ok(())
    }

    /// Returns the ends of an interval, the lower one first, given where the scan comes from and
    /// goes to.
    fn ends<'k>(&self, from: Option<&'k [u8]>, to: Option<&'k [u8]>) -> (Option<&'k [u8]>, Option<&'k [u8]>) {
        match self.direction {
            Direction::Forward => (from, to),
            Direction::Backward => (to, from),
        }
    }

    /// Returns the key before the range, as the scan sees it: the other end of the gap that the
    /// scan begins in.
    fn key_before(&self) -> Result<Option<Vec<u8>>> {
        let tree = self.table.tree(self.index);
        match self.direction {
            Direction::Forward => {
                let end = match as_slices(&self.range.start) {
                    // If the range starts at a row's own key, the gap before the row is not part of
                    // the range.
                    Bound::Included(start) if self.starts_at_row(start) => return Ok(Some(start.to_vec())),
                    Bound::Included(start) => Bound::Excluded(start),
                    Bound::Excluded(start) => Bound::Included(start),
                    Bound::Unbounded => return Ok(None),
                };
                first_key(tree, (Bound::Unbounded, end), Direction::Backward)
            }
            Direction::Backward => {
                let start = match as_slices(&self.range.end) {
                    Bound::Included(end) => Bound::Excluded(end),
                    Bound::Excluded(end) => Bound::Included(end),
                    Bound::Unbounded => return Ok(None),
                };
                first_key(tree, (start, Bound::Unbounded), Direction::Forward)
            }
        }
    }

    fn starts_at_row(&self, start: &[u8]) -> bool {
        self.index == IndexRef::Primary && self.ahead.as_ref().is_some_and(|(key, _)| key[..] == *start)
    }

    /// Waits for the transaction that has announced a key between the scan and the next entry. True
    /// means that there was one and that the pages have been read again.
    fn wait_for_announced(&mut self, rows: &mut RowAccess, next: Option<&[u8]>) -> Result<bool> {
        let locking = self.locking.as_ref().expect("only a locking scan waits");
        if locking.on_locked == OnLocked::Skip || locking.semi_consistent {
            return Ok(false);
        }
        let last = self.last.as_deref().map(Bound::Excluded);
        let next = next.map(Bound::Excluded);
        let range = match self.direction {
            Direction::Forward => {
                (last.unwrap_or(as_slices(&self.range.start)), next.unwrap_or(as_slices(&self.range.end)))
            }
            Direction::Backward => {
                (next.unwrap_or(as_slices(&self.range.start)), last.unwrap_or(as_slices(&self.range.end)))
            }
        };
        if super::scan::range_is_empty(range.0, range.1) {
            return Ok(false);
        }
        let found = self.table.counters.locks.announced_by_others(
            rows.locks.owner.id(),
            self.index_id(),
            range,
            self.direction,
        );
        let Some((key, clustered_at)) = found else { return Ok(false) };
        if locking.on_locked == OnLocked::Fail {
            return Err(EngineError::LockNotAvailable);
        }
        let clustered = KeyBuf::from_slice(&key[clustered_at..]);
        let acquired = rows.lock_row(&self.table, &clustered, self.mode)?;
        if acquired == Acquired::New {
            // The row, if it exists now, is locked again when the scan comes to it.
            rows.locks.release_row(&rows.engine.locks, &self.table, &clustered);
        }
        self.read_pages_again();
        Ok(true)
    }
}
