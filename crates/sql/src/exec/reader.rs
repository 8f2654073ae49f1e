//! Reads the rows of a stored table by the access that the plan has chosen.

use super::Run;
use super::bounds::Ranges;
use super::image_filter::ImageFilter;
use crate::counters::Counters;
use crate::error::Result;
use crate::expr::Context;
use crate::memory::{Charge, LONG_VALUE_BYTES};
use crate::plan::{Access, Answered, RowLock, TableStep};
use crate::table_uses::TableUses;
use engine::{Direction, Found, IndexRef, KeyRange, Row, Scan, Table, Use};
use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;
use types::Value;

/// A stored table that is being read.
pub(super) struct Reader<'p> {
    table: &'p Arc<Table>,
    index: IndexRef,
    /// The ranges that are still to be read. The next one is the last of the list.
    ranges: Vec<KeyRange>,
    direction: Direction,
    lock: RowLock,
    /// Whether rows that another transaction has locked are returned in their committed version,
    /// without waiting; see [`Reader::is_unlocked`].
    semi_consistent: bool,
    /// The scan of the present range. It is boxed, because it is large and the reader is moved.
    scan: Option<Box<Scan>>,
    /// The scan of a range before, which another look-up can begin again.
    ended: Option<Box<Scan>>,
    /// What is looked up first, and its key.
    sought: Sought,
    key: Vec<u8>,
    /// The memory for the image of a row that was looked up by its key.
    image: Vec<u8>,
    /// The charge for the image and the values of a long row, which stay in memory while inner
    /// tables are read. `None` means that no long row has come yet.
    long: Option<Charge>,
    /// The row that [`Reader::next_image`] has returned, if it is not lent by the scan.
    own: Option<Row>,
    /// The status counter of a step to the next row of the scan.
    step: Step,
    /// Whether no row has been asked of the scan yet.
    is_fresh: bool,
    /// The rows that were returned, if an index may lead to a row several times.
    returned: Option<Box<Returned>>,
    /// Whether the rows do not come in the order that the plan promised.
    pub degraded: bool,
    /// Whether all rows meet the conditions that the access answers.
    is_exact: bool,
    filter: Filter,
    /// The rows that were read, and those that were looked for in vain.
    fetched: u64,
    /// The same of the rounds before.
    fetched_before: u64,
    uses: Arc<TableUses>,
}

/// What a reader looks up before its ranges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sought {
    Nothing,
    /// The only row that can match, by its clustered key.
    Point,
    /// The rows whose index keys begin with the key.
    Prefix,
}

/// How a reader comes to the tests of its rows' images. They are made once a scan has read some
/// rows, because they cost more than a few rows do.
enum Filter {
    /// No tests yet; they are made when this many further rows have been read.
    After(u32),
    None,
    Made(Box<ImageFilter>),
}

impl Filter {
    /// The rows that are read without tests.
    const FIRST_ROWS: u32 = 8;

    /// Only plain reads have tests: a locking read lets go of the rows that the loops refuse. And
    /// EXPLAIN ANALYZE counts the rows that come to each condition.
    fn for_lock(lock: RowLock, ctx: &Context<'_>) -> Filter {
        let may_test = lock == RowLock::NONE && ctx.measures.is_none();
        if may_test { Filter::After(Filter::FIRST_ROWS) } else { Filter::None }
    }

    /// Reports whether a row may meet the conditions of the step, as far as its image says that.
    /// `is_exact` is whether all rows meet those that the access answers.
    #[inline(always)]
    fn passes(
        &mut self,
        (table, image): (&Table, &[u8]),
        (step, is_exact): (&TableStep, bool),
        ctx: &Context<'_>,
    ) -> Result<bool> {
        if let Filter::After(rows) = *self {
            *self = Self::after(rows, table, (step, is_exact), ctx)?;
        }
        match self {
            Filter::Made(filter) => filter.passes(&table.layout, image),
            Filter::After(_) | Filter::None => Ok(true),
        }
    }

    /// Returns the columns that are wanted of the rows which pass the tests. `None` means that
    /// these are no fewer than the step says.
    #[inline(always)]
    fn needed(&self) -> Option<&[usize]> {
        match self {
            Filter::Made(filter) => filter.needed.as_deref(),
            Filter::After(_) | Filter::None => None,
        }
    }

    /// Returns between which numbers the table's zone column has its own in the rows that pass the
    /// tests.
    fn zone(&self) -> Option<(u64, u64)> {
        match self {
            Filter::Made(filter) => filter.zone,
            Filter::After(_) | Filter::None => None,
        }
    }

    /// Returns what follows on [`Filter::After`] at a row: the tests, if it is time for them.
    #[cold]
    fn after(
        rows: u32,
        table: &Table,
        (step, is_exact): (&TableStep, bool),
        ctx: &Context<'_>,
    ) -> Result<Filter> {
        if let Some(further) = rows.checked_sub(1) {
            return Ok(Filter::After(further));
        }
        let made = ImageFilter::of(table, step, answered_by_access(step, is_exact), ctx)?;
        Ok(made.map_or(Filter::None, Filter::Made))
    }
}

/// The kind of step to the next row, by which MySQL counts it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// To the next row of a table scan.
    Row,
    /// To the next entry in the order of a key.
    Key,
    KeyBack,
}

impl Step {
    /// Returns the kind of step that an access makes.
    fn of(access: &Access) -> Step {
        let is_whole_table = access.index == IndexRef::Primary && access.alternatives.is_empty();
        match access.direction {
            Direction::Backward => Step::KeyBack,
            Direction::Forward if is_whole_table && !access.ordered => Step::Row,
            Direction::Forward => Step::Key,
        }
    }

    /// Counts the step to a row. The first row in the order of a key is found by the key itself,
    /// which [`Reader::open_scan`] counts.
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
    /// Opens the table. The ranges are computed with the columns of the outer tables, which are in
    /// `row`.
    pub fn open(
        run: &Run<'_, '_>,
        table: &'p Arc<Table>,
        access: &Access,
        lock: RowLock,
        row: &[Value],
    ) -> Result<Reader<'p>> {
        let mut reader = Reader {
            table,
            index: access.index,
            ranges: Vec::new(),
            direction: access.direction,
            lock,
            semi_consistent: false,
            scan: None,
            ended: None,
            sought: Sought::Nothing,
            key: Vec::new(),
            image: Vec::new(),
            long: None,
            own: None,
            step: Step::of(access),
            is_fresh: true,
            returned: None,
            degraded: false,
            is_exact: true,
            filter: Filter::for_lock(lock, run.ctx),
            fetched: 0,
            fetched_before: 0,
            uses: run.ctx.counters.uses.clone(),
        };
        reader.seek(run, access, row)?;
        Ok(reader)
    }

    /// Begins anew for another row of the outer tables, with the tests of images and the memory
    /// that the reader has. The access is the one that it was opened with.
    pub fn begin_again(&mut self, run: &Run<'_, '_>, access: &Access, row: &[Value]) -> Result<()> {
        debug_assert!(self.scan.is_none() && self.own.is_none(), "the reader has rested since its last row");
        self.fetched_before += std::mem::take(&mut self.fetched);
        let was_exact = self.is_exact;
        self.seek(run, access, row)?;
        if self.is_exact != was_exact {
            // The tests leave out conditions that the access answers.
            self.filter = Filter::for_lock(self.lock, run.ctx);
        }
        Ok(())
    }

    /// Lets go of the last row, so that the reader can be kept for another row of the outer tables.
    /// Returns false if it cannot, because it locks rows.
    pub fn rest(&mut self) -> bool {
        if self.lock != RowLock::NONE || self.semi_consistent {
            return false;
        }
        let scan = self.scan.take();
        self.ended = scan.or_else(|| self.ended.take()).filter(|_| self.long.is_none());
        (self.long, self.own) = (None, None);
        if self.image.capacity() > LONG_VALUE_BYTES {
            self.image = Vec::new();
        }
        true
    }

    /// Finds out what to read. The ranges are computed with the columns of the outer tables.
    fn seek(&mut self, run: &Run<'_, '_>, access: &Access, row: &[Value]) -> Result<()> {
        let (table, ctx) = (self.table, run.ctx);
        let (key, sought) = match access.is_point {
            true => (Ranges::point(table, access, row, ctx, &mut self.key)?, Sought::Point),
            false => (Ranges::prefix(table, access, row, ctx, &mut self.key)?, Sought::Prefix),
        };
        self.ranges.clear();
        if let Some(is_exact) = key {
            (self.sought, self.index, self.returned) = (sought, access.index, None);
            (self.degraded, self.is_exact) = (false, is_exact);
            return Ok(());
        }
        let Ranges { mut ranges, degraded, is_useless, may_repeat, is_exact } =
            Ranges::of(table, access, row, ctx)?;
        self.sought = Sought::Nothing;
        if access.is_point && !degraded {
            // The access is an equality on the whole primary key, so the start of its range is
            // the key.
            match ranges.pop() {
                Some(KeyRange { start: Bound::Included(key), .. }) => {
                    (self.sought, self.key) = (Sought::Point, key);
                }
                Some(other) => ranges.push(other),
                None => {}
            }
        }
        if access.direction == Direction::Forward {
            ranges.reverse();
        }
        self.ranges = ranges;
        self.index = if is_useless { IndexRef::Primary } else { access.index };
        self.returned = may_repeat.then(|| Box::new(Returned { keys: HashSet::new(), charge: run.charge() }));
        (self.degraded, self.is_exact) = (degraded, is_exact);
        Ok(())
    }

    /// Returns which conditions of the step need not be decided for the row that was read last.
    #[inline(always)]
    pub fn answered(&self, step: &TableStep) -> Answered {
        match &self.filter {
            Filter::Made(filter) => filter.answered,
            Filter::After(_) | Filter::None => answered_by_access(step, self.is_exact),
        }
    }

    /// Leaves out the ranges, or parts of them, that lie before `first` or from `end` on. `None` is
    /// the end of the index. Nothing has been read yet.
    pub fn narrow_to(&mut self, (first, end): (Option<&[u8]>, Option<&[u8]>)) {
        assert!(self.scan.is_none() && self.sought != Sought::Point, "a reader of ranges that has not begun");
        if std::mem::replace(&mut self.sought, Sought::Nothing) == Sought::Prefix {
            self.ranges.push(KeyRange::prefix(&self.key));
        }
        self.ranges = self.ranges.iter().map(|range| range.part(first, end)).collect();
        self.ranges.retain(|range| !range.is_empty());
    }

    /// Makes the reader return rows that another transaction has locked in their committed version
    /// instead of waiting, where the isolation level allows that.
    pub fn set_semi_consistent(&mut self) {
        self.semi_consistent = true;
    }

    /// Reports whether the last row was returned in its committed version, without a lock.
    pub fn is_unlocked(&self) -> bool {
        self.scan.as_ref().is_some_and(|scan| scan.is_unlocked())
    }

    /// Reads the needed columns of the next row into the table's slots of the joined row, and the
    /// row's key into its slot. A covering index supplies the columns without the row. Returns
    /// false when there is no further row.
    pub fn read_into(
        &mut self,
        run: &mut Run<'_, '_>,
        step: &TableStep,
        joined: &mut [Value],
    ) -> Result<bool> {
        let slots = step.base..step.base + step.columns;
        // The rows that a hash table keeps have all columns that are needed.
        let needed = match self.is_exact && step.hash.is_none() {
            true => &step.needed_if_exact,
            false => &step.needed,
        };
        if self.sought == Sought::Point && step.key_slot.is_none() && self.lock == RowLock::NONE {
            if !self.look_up(run)? {
                return Ok(false);
            }
            decode(self.table, &self.image, needed, &mut joined[slots])?;
            return Ok(true);
        }
        if self.sought == Sought::Point || step.key_slot.is_some() {
            let Some(row) = self.next(run)? else { return Ok(false) };
            decode(self.table, &row.image, needed, &mut joined[slots])?;
            if let Some(at) = step.key_slot {
                joined[at] = Value::Bytes(row.key);
            }
            return Ok(true);
        }
        let slots = &mut joined[slots];
        while self.scan.is_some() || self.open_scan(run)? {
            let Some(scan) = &mut self.scan else { break };
            self.step.count(&mut self.is_fresh, run.ctx.counters);
            if let Some(image) = run.with(|txn| scan.lend_at_once(txn)) {
                if !self.filter.passes((self.table, image), (step, self.is_exact), run.ctx)? {
                    self.note_row(run)?;
                    continue;
                }
                charge_long(&mut self.long, run, image)?;
                decode(self.table, image, self.filter.needed().unwrap_or(needed), slots)?;
                self.note_row(run)?;
                return Ok(true);
            }
            // The tests may be from rounds before, and a look-up of few rows has no use for zones.
            if let Some(wanted) = self.filter.zone()
                && self.fetched > u64::from(Filter::FIRST_ROWS)
            {
                scan.leave_out(wanted);
            }
            match (run.with(|txn| scan.next_lent(txn, step.covering.is_some()))?, &step.covering) {
                (Some(Found::Lent), _) => {
                    let image = scan.image();
                    if !self.filter.passes((self.table, image), (step, self.is_exact), run.ctx)? {
                        self.note_row(run)?;
                        continue;
                    }
                    charge_long(&mut self.long, run, image)?;
                    decode(self.table, image, self.filter.needed().unwrap_or(needed), slots)?;
                }
                (Some(Found::Row(row)), _) => {
                    if !is_new(&mut self.returned, &row.key)? {
                        continue;
                    }
                    if !self.filter.passes((self.table, &row.image), (step, self.is_exact), run.ctx)? {
                        self.note_row(run)?;
                        continue;
                    }
                    charge_long(&mut self.long, run, &row.image)?;
                    decode(self.table, &row.image, self.filter.needed().unwrap_or(needed), slots)?;
                }
                (Some(Found::Entry), Some(covering)) => {
                    let is_tested = matches!(self.filter, Filter::Made(_));
                    assert!(!is_tested, "entries are not tested, so no condition counts as answered");
                    self.table.read_entry(self.index, covering, scan.entry(), slots)?;
                }
                (Some(Found::Entry), None) | (None, _) => {
                    self.end_scan();
                    continue;
                }
            }
            self.note_row(run)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the image of the next row, or `None` when there is no further row.
    pub fn next_image(&mut self, run: &mut Run<'_, '_>) -> Result<Option<&[u8]>> {
        if self.sought == Sought::Point {
            self.own = self.next(run)?;
            return Ok(self.own.as_ref().map(|row| &*row.image));
        }
        while self.scan.is_some() || self.open_scan(run)? {
            let Some(scan) = &mut self.scan else { break };
            self.step.count(&mut self.is_fresh, run.ctx.counters);
            let is_lent = run.with(|txn| scan.lend_at_once(txn).is_some());
            if !is_lent {
                match run.with(|txn| scan.next_lent(txn, false))? {
                    Some(Found::Lent) => {}
                    Some(Found::Row(row)) => {
                        if !is_new(&mut self.returned, &row.key)? {
                            continue;
                        }
                        charge_long(&mut self.long, run, &row.image)?;
                        self.note_row(run)?;
                        self.own = Some(row);
                        return Ok(self.own.as_ref().map(|row| &*row.image));
                    }
                    Some(Found::Entry) | None => {
                        self.end_scan();
                        continue;
                    }
                }
            }
            self.note_row(run)?;
            let Some(scan) = &self.scan else { break };
            let image = scan.image();
            charge_long(&mut self.long, run, image)?;
            return Ok(Some(image));
        }
        Ok(None)
    }

    /// Counts a row that was read, whether it goes on or not.
    #[inline]
    fn note_row(&mut self, run: &Run<'_, '_>) -> Result<()> {
        run.on_row()?;
        self.fetched += 1;
        run.ctx.counters.rows_examined.count();
        Ok(())
    }

    /// Opens a scan of the next range. Returns false when no range is left.
    fn open_scan(&mut self, run: &mut Run<'_, '_>) -> Result<bool> {
        let is_prefix = std::mem::replace(&mut self.sought, Sought::Nothing) == Sought::Prefix;
        let counters = run.ctx.counters;
        if is_prefix
            && let Some(mut scan) = self.ended.take()
            && run.with(|txn| scan.begin_again(txn, &self.key))?
        {
            counters.handler_read_key.count();
            self.is_fresh = true;
            self.scan = Some(scan);
            return Ok(true);
        }
        let range = match is_prefix {
            true => KeyRange::prefix(&self.key),
            false => match self.ranges.pop() {
                Some(range) => range,
                None => return Ok(false),
            },
        };
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
        self.scan = Some(Box::new(scan));
        Ok(true)
    }

    /// Ends the scan of a range. A reader that has found nothing counts as one use of the index.
    fn end_scan(&mut self) {
        self.ended = self.scan.take();
        self.fetched = self.fetched.max(1);
    }

    /// Reads the only row that can match into `image`, without a lock. Returns false if there is
    /// none.
    fn look_up(&mut self, run: &mut Run<'_, '_>) -> Result<bool> {
        self.sought = Sought::Nothing;
        self.fetched += 1;
        run.ctx.counters.handler_read_key.count();
        let is_there = run.with(|txn| txn.get_into(self.table, &self.key, &mut self.image))?;
        run.ctx.counters.rows_examined.add(u64::from(is_there));
        Ok(is_there)
    }

    /// Returns the index by which the rows are found. `None` means that all rows of the table are
    /// read in any order.
    pub fn used_index(&self) -> Option<IndexRef> {
        let is_whole = self.step == Step::Row && self.index == IndexRef::Primary;
        (!is_whole).then_some(self.index)
    }

    /// Returns the next row, or `None` when there is no further row.
    pub fn next(&mut self, run: &mut Run<'_, '_>) -> Result<Option<Row>> {
        if self.sought == Sought::Point {
            self.sought = Sought::Nothing;
            self.fetched += 1;
            return get(run, self.table, std::mem::take(&mut self.key), self.lock);
        }
        loop {
            if let Some(scan) = &mut self.scan {
                self.step.count(&mut self.is_fresh, run.ctx.counters);
                if let Some(row) = run.with(|txn| scan.next(txn))? {
                    if !is_new(&mut self.returned, &row.key)? {
                        continue;
                    }
                    run.on_row()?;
                    self.fetched += 1;
                    run.ctx.counters.rows_examined.count();
                    return Ok(Some(row));
                }
                self.end_scan();
            }
            if !self.open_scan(run)? {
                return Ok(None);
            }
        }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let fetched = self.fetched_before + self.fetched;
        if fetched != 0 {
            self.uses.add(self.table.usage(self.used_index()), Use::Fetch, fetched);
        }
    }
}

/// The keys of the rows that were returned, and their memory.
struct Returned {
    keys: HashSet<Vec<u8>>,
    charge: Charge,
}

impl Returned {
    /// The bytes of an entry of the set beside the key.
    const BESIDE_KEY: usize = 64;

    /// Notes the key of a row. Returns false if the row was returned before.
    fn add(&mut self, key: &[u8]) -> Result<bool> {
        if self.keys.contains(key) {
            return Ok(false);
        }
        self.charge.add(key.len() + Self::BESIDE_KEY)?;
        Ok(self.keys.insert(key.to_vec()))
    }
}

/// Reports whether a row with this key was not returned before. `None` means that no row comes
/// twice.
#[inline]
fn is_new(returned: &mut Option<Box<Returned>>, key: &[u8]) -> Result<bool> {
    returned.as_mut().map_or(Ok(true), |returned| returned.add(key))
}

/// Reads the only row that can match, whose clustered key this is, and counts the use of the index.
pub(super) fn read_point(
    run: &mut Run<'_, '_>,
    (table, index): (&Arc<Table>, IndexRef),
    key: Vec<u8>,
    lock: RowLock,
) -> Result<Option<Row>> {
    run.ctx.counters.uses.add(table.usage(Some(index)), Use::Fetch, 1);
    get(run, table, key, lock)
}

/// Reads the row with this clustered key.
fn get(run: &mut Run<'_, '_>, table: &Arc<Table>, key: Vec<u8>, lock: RowLock) -> Result<Option<Row>> {
    run.ctx.counters.handler_read_key.count();
    let RowLock { mode, on_locked } = lock;
    let found = run.with(|txn| txn.get_unless_locked(table, key, mode, on_locked))?;
    run.ctx.counters.rows_examined.add(u64::from(found.is_some()));
    Ok(found)
}

/// Returns which conditions of a step the access answers. Those of its hash table are others.
#[inline]
fn answered_by_access(step: &TableStep, is_exact: bool) -> Answered {
    if is_exact && step.hash.is_none() { step.answered } else { Answered::NONE }
}

/// Charges the memory for a long row: its image and the values that are decoded from it.
#[inline(always)]
fn charge_long(long: &mut Option<Charge>, run: &Run<'_, '_>, image: &[u8]) -> Result<()> {
    if image.len() < LONG_VALUE_BYTES && long.is_none() {
        return Ok(());
    }
    charge_anew(long, run, image)
}

#[cold]
fn charge_anew(long: &mut Option<Charge>, run: &Run<'_, '_>, image: &[u8]) -> Result<()> {
    let charge = long.get_or_insert_with(|| run.charge());
    charge.clear();
    charge.add(2 * image.len())
}

/// Decodes the needed columns of a row image into the table's slots.
pub(super) fn decode(table: &Table, image: &[u8], needed: &[usize], slots: &mut [Value]) -> Result<()> {
    table.layout.decode_columns(image, needed, slots)?;
    Ok(())
}
