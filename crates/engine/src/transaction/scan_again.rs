//! Scans that begin anew with other keys. A join that looks rows up for each row of another table
//! so makes one scan, and not one for each look-up.

use super::Transaction;
use super::mode::LockMode;
use super::scan::Scan;
use crate::error::Result;
use crate::version::view::View;
use btree::Direction;
use std::ops::Bound;

impl Scan {
    /// Makes this the scan of the keys that begin with `prefix`, in the same index and for the same
    /// transaction. Only plain scans forward can do so. Returns false for others, and does nothing.
    ///
    /// # Errors
    /// Returns the errors of [`Transaction::scan`].
    pub fn begin_again(&mut self, txn: &mut Transaction, prefix: &[u8]) -> Result<bool> {
        debug_assert!(!prefix.is_empty(), "all keys begin with an empty prefix");
        let rows = &mut txn.rows;
        let is_plain =
            self.mode == LockMode::Snapshot && self.locking.is_none() && !self.table.is_temporary();
        if !is_plain || self.direction != Direction::Forward || self.view == View::newest() {
            return Ok(false);
        }
        rows.use_table(&self.table, false)?;
        let view = rows.view.open(&rows.engine, rows.locks.owner.depends_on())?;
        if self.view != *view {
            self.view = view.clone();
        }
        self.range.become_prefix(prefix);
        (self.ahead, self.pages_ended, self.lent, self.last, self.zones) = (None, false, None, None, None);
        self.located.clear();
        match &mut self.pages {
            Some(pages) => {
                let end = match &self.range.end {
                    Bound::Excluded(end) => Some(&end[..]),
                    _ => None,
                };
                pages.begin_again(prefix, end);
            }
            None => self.read_pages_again(),
        }
        Ok(true)
    }
}
