//! The rows of a stored table, as its access says.

use super::Run;
use super::bounds::Ranges;
use crate::counters::Counters;
use crate::error::Result;
use crate::memory::{Charge, LONG_VALUE_BYTES};
use crate::plan::{Access, RowLock, TableStep};
use engine::{Direction, Found, IndexRef, KeyRange, Row, Scan, Table};
use std::ops::Bound;
use std::sync::Arc;
use types::Value;

/// A table that is being read.
pub(super) struct Reader<'p> {
    table: &'p Arc<Table>,
    index: IndexRef,
    /// In the reverse order of reading: the next one is at the end.
    ranges: Vec<KeyRange>,
    direction: Direction,
    lock: RowLock,
    /// Rows that somebody else has locked are given out as they are; see [`Reader::is_unlocked`].
    semi_consistent: bool,
    scan: Option<Scan>,
    /// The clustered key of the only row there can be.
    point: Option<Vec<u8>>,
    /// Of a scan's row that is long: of its image and its values, which stay while tables within
    /// are read.
    long: Option<Charge>,
    /// What going to the next row of a scan counts as.
    step: Step,
    /// The scan has not been asked for a row.
    is_fresh: bool,
    /// The rows do not come in the order that the plan promised.
    pub degraded: bool,
}

/// What MySQL counts when it goes to the next row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Of a table.
    Row,
    /// In the order of a key.
    Key,
    KeyBack,
}

impl Step {
    /// Of an access with these ranges.
    fn of(access: &Access) -> Step {
        let is_whole_table = access.index == IndexRef::Primary && access.alternatives.is_empty();
        match access.direction {
            Direction::Backward => Step::KeyBack,
            Direction::Forward if is_whole_table && !access.ordered => Step::Row,
            Direction::Forward => Step::Key,
        }
    }

    /// The first row in the order of a key is found by the key.
    #[inline]
    fn count(self, is_fresh: &mut bool, counters: &Counters) {
        match (self, std::mem::take(is_fresh)) {
            (Step::Row, _) => counters.handler_read_rnd_next.count(),
            (Step::Key, false) => counters.handler_read_next.count(),
            (Step::KeyBack, false) => counters.handler_read_prev.count(),
            (Step::Key | Step::KeyBack, true) => {}
        }
    }
}

impl<'p> Reader<'p> {
    /// Computes the ranges with the outer tables' columns in `row`.
    pub fn open(
        run: &Run<'_, '_>,
        table: &'p Arc<Table>,
        access: &Access,
        lock: RowLock,
        row: &[Value],
    ) -> Result<Reader<'p>> {
        let mut point = None;
        if access.is_point {
            point = Ranges::point(table, access, row, run.ctx)?;
        }
        let Ranges { mut ranges, degraded } = match point {
            Some(_) => Ranges { ranges: Vec::new(), degraded: false },
            None => Ranges::of(table, access, row, run.ctx)?,
        };
        if access.is_point && point.is_none() && !degraded {
            // An equality on all of the primary key: the range's start is the key itself.
            match ranges.pop() {
                Some(KeyRange { start: Bound::Included(key), .. }) => point = Some(key),
                Some(other) => ranges.push(other),
                None => {}
            }
        }
        if access.direction == Direction::Forward {
            ranges.reverse();
        }
        Ok(Reader {
            table,
            index: access.index,
            ranges,
            direction: access.direction,
            lock,
            semi_consistent: false,
            scan: None,
            point,
            long: None,
            step: Step::of(access),
            is_fresh: true,
            degraded,
        })
    }

    /// Does not wait for rows that somebody else has locked, where the isolation level allows it:
    /// they come as they are committed.
    pub fn set_semi_consistent(&mut self) {
        self.semi_consistent = true;
    }

    /// Whether the row that came last is such a one.
    pub fn is_unlocked(&self) -> bool {
        self.scan.as_ref().is_some_and(Scan::is_unlocked)
    }

    /// Reads the needed columns of the next row into the table's slots of the joined row, from the
    /// index alone where that has them, and the row's key into its slot; false: there is no further
    /// row.
    pub fn read_into(
        &mut self,
        run: &mut Run<'_, '_>,
        step: &TableStep,
        joined: &mut [Value],
    ) -> Result<bool> {
        let slots = step.base..step.base + step.columns;
        if self.point.is_some() || step.key_slot.is_some() {
            let Some(row) = self.next(run)? else { return Ok(false) };
            decode(self.table, &row.image, &step.needed, &mut joined[slots])?;
            if let Some(at) = step.key_slot {
                joined[at] = Value::Bytes(row.key);
            }
            return Ok(true);
        }
        let slots = &mut joined[slots];
        while self.scan.is_some() || self.open_scan(run)? {
            let Some(scan) = &mut self.scan else { break };
            self.step.count(&mut self.is_fresh, run.ctx.counters);
            match (run.with(|txn| scan.next_lent(txn, step.covering.is_some()))?, &step.covering) {
                (Some(Found::Lent), _) => {
                    charge_long(&mut self.long, run, scan.image())?;
                    decode(self.table, scan.image(), &step.needed, slots)?;
                }
                (Some(Found::Row(row)), _) => {
                    charge_long(&mut self.long, run, &row.image)?;
                    decode(self.table, &row.image, &step.needed, slots)?;
                }
                (Some(Found::Entry), Some(covering)) => {
                    self.table.read_entry(self.index, covering, scan.entry(), slots)?;
                }
                (Some(Found::Entry), None) | (None, _) => {
                    self.scan = None;
                    continue;
                }
            }
            run.on_row()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Opens a scan of the next range; false: there is none.
    fn open_scan(&mut self, run: &mut Run<'_, '_>) -> Result<bool> {
        let Some(range) = self.ranges.pop() else { return Ok(false) };
        let counters = run.ctx.counters;
        counters.handler_read_key.count();
        self.is_fresh = true;
        match self.direction {
            Direction::Forward if range.start == Bound::Unbounded => counters.handler_read_first.count(),
            Direction::Backward if range.end == Bound::Unbounded => counters.handler_read_last.count(),
            Direction::Forward | Direction::Backward => {}
        }
        let mut scan =
            run.with(|txn| txn.scan(self.table, self.index, range, self.direction, self.lock.mode))?;
        scan.set_on_locked(self.lock.on_locked);
        if self.semi_consistent {
            scan.set_semi_consistent();
        }
        self.scan = Some(scan);
        Ok(true)
    }

    /// The next row.
    pub fn next(&mut self, run: &mut Run<'_, '_>) -> Result<Option<Row>> {
        if let Some(key) = self.point.take() {
            run.ctx.counters.handler_read_key.count();
            let RowLock { mode, on_locked } = self.lock;
            return Ok(run.with(|txn| txn.get_unless_locked(self.table, &key, mode, on_locked))?);
        }
        loop {
            if let Some(scan) = &mut self.scan {
                self.step.count(&mut self.is_fresh, run.ctx.counters);
                if let Some(row) = run.with(|txn| scan.next(txn))? {
                    run.on_row()?;
                    return Ok(Some(row));
                }
                self.scan = None;
            }
            if !self.open_scan(run)? {
                return Ok(None);
            }
        }
    }
}

/// Charges a row's image and the values that are decoded from it, if it is long.
#[inline]
fn charge_long(long: &mut Option<Charge>, run: &Run<'_, '_>, image: &[u8]) -> Result<()> {
    if image.len() < LONG_VALUE_BYTES && long.is_none() {
        return Ok(());
    }
    let charge = long.get_or_insert_with(|| run.charge());
    charge.clear();
    charge.add(2 * image.len())
}

/// Decodes the needed columns of a row image into the table's slots.
pub(super) fn decode(table: &Table, image: &[u8], needed: &[usize], slots: &mut [Value]) -> Result<()> {
    table.layout.decode_columns(image, needed, slots)?;
    Ok(())
}
