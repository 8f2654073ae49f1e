//! Scans of a range of an index, in either direction, with the transaction's own changes merged
//! over the pages.
//!
//! A plain scan reads at a snapshot. A locking scan ([`Locking`]) locks each row that it comes
//! across, and under REPEATABLE READ also the gaps that it passes. The gaps are one interval for
//! the whole scan, whose end moves with the scan. The interval reaches from the key before the
//! scan's start to the key that the scan has come to. At the end of the range that is the first key
//! behind the range.
//!
//! A scan holds no latch between rows. It walks the pages' entries and, when the transaction has
//! changed the table, the write set's entries of the same index, in key order. Where both have a
//! key the write set wins. Changes that the transaction makes while it scans are seen if they lie
//! ahead of the scan, so a statement that changes the columns it scans by reads its rows first.

use super::Transaction;
use super::located::Located;
use super::mode::{LastRead, LockMode, Row};
use super::row_access::RowAccess;
use super::zone_walk::ZoneWalk;
use crate::bytes::KeyBuf;
use crate::covering::Entry;
use crate::definition::IndexRef;
use crate::entry::{self, ClusteredValue};
use crate::error::Result;
use crate::lock::gap::GapId;
use crate::lock::{Acquired, CLUSTERED, LockId, OnLocked};
use crate::rows::OldRow;
use crate::table::Table;
use crate::transaction::key_range::KeyRange;
use crate::version::view::View;
use btree::Direction;
use std::ops::Bound;
use std::sync::Arc;

pub(super) fn as_slices(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

/// A scan that is under way. It belongs to the transaction that opened it.
pub struct Scan {
    pub(super) table: Arc<Table>,
    pub(super) index: IndexRef,
    pub(super) range: KeyRange,
    pub(super) direction: Direction,
    pub(super) mode: LockMode,
    /// The state of a locking scan; `None` for a plain scan.
    pub(super) locking: Option<Locking>,
    /// The view that the pages are read at, for [`LockMode::Snapshot`].
    pub(super) view: View,
    pub(super) pages: Option<btree::Scan>,
    /// Whether the pages have no further entry of the range.
    pub(super) pages_ended: bool,
    /// The pages' next entry, when it has been fetched and not yet used.
    pub(super) ahead: Option<(KeyBuf, Vec<u8>)>,
    /// The buffer of an `ahead` that was used.
    pub(super) spare: Vec<u8>,
    /// The place of the row that was lent last. The row is not copied, and its key is not in `last`
    /// yet.
    pub(super) lent: Option<Lent>,
    /// The leaves of rows whose entries come next, for the rows that are lent by their entries.
    pub(super) located: Located,
    /// The last key that was passed, of the transaction itself or of the pages.
    pub(super) last: Option<KeyBuf>,
    /// The way through the zone map of the table, for a scan that wants only some of the rows.
    pub(super) zones: Option<Box<ZoneWalk>>,
    /// The keys of entries that count as live and have no row, if a caller asked for them.
    strays: Option<Vec<Vec<u8>>>,
    /// Whether an entry may be given out instead of its row when the entry is visible by itself.
    pub(super) takes_entries: bool,
    /// The byte offset of the clustered key in `last`, when `last` is an entry that was given out
    /// instead of its row.
    clustered_at: usize,
}

/// The result of a step of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A row.
    Row(Row),
    /// The entry of an existing row in a secondary index, which [`Scan::entry`] returns.
    Entry,
    /// A row that is lent, which [`Scan::image`] returns.
    Lent,
}

/// The place of the row that was lent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lent {
    /// The row is the value of the pages' last entry, from this byte on.
    Page(usize),
    /// The row is in `Scan::spare`.
    Spare,
    /// The row is in `Scan::spare`, and the pages' last entry is its entry in a secondary index.
    ByEntry,
}

/// The state of a locking scan.
pub(super) struct Locking {
    pub on_locked: OnLocked,
    /// Whether the scan locks gaps too.
    pub gaps: bool,
    /// The interval that grows with the scan. It is `None` before the first entry, or when an
    /// interval of the transaction contained the new one.
    pub interval: Option<GapId>,
    /// Whether the interval was asked for.
    pub has_begun: bool,
    /// The count of [`TableLocks::released`](crate::lock::gap::TableLocks::released) when the pages
    /// were last read.
    pub released: u64,
    /// Whether the scan gives out the newest committed state of a row that another transaction has
    /// locked.
    pub semi_consistent: bool,
    /// Whether the row given out last is such an unlocked row.
    pub unlocked: bool,
}

impl Locking {
    fn new(gaps: bool) -> Locking {
        Locking {
            on_locked: OnLocked::Wait,
            gaps,
            interval: None,
            has_begun: false,
            released: 0,
            semi_consistent: false,
            unlocked: false,
        }
    }
}

/// The next entry in key order.
enum Next {
    /// The transaction's own entry, and whether it is present.
    Own(KeyBuf, bool),
    Page(KeyBuf, Vec<u8>),
    End,
}

/// Reports whether a locking scan may pass over a row that the commit `seq` deleted. As long as the
/// commit is not visible the row is locked as any other, so that the transaction waits for the
/// commit and comes after it.
fn has_gone(rows: &mut RowAccess, seq: u64) -> bool {
    rows.locks.owner.depend_on(seq);
    rows.engine.sequencer.view().sees(seq)
}

impl Scan {
    /// Opens a scan of an index.
    pub(super) fn open(
        rows: &mut RowAccess,
        table: &Arc<Table>,
        (index, range): (IndexRef, KeyRange),
        direction: Direction,
        mode: LockMode,
    ) -> Result<Scan> {
        rows.use_table(table, mode == LockMode::Update)?;
        let mut mode = rows.view.effective_mode(mode);
        let mut view = match mode {
            LockMode::Snapshot => rows.view.open(&rows.engine, rows.locks.owner.depends_on())?.clone(),
            LockMode::Share | LockMode::Update => View::newest(),
        };
        if table.is_temporary() {
            // The rows are this session's: nobody else changes them, and they have no older
            // versions.
            (mode, view) = (LockMode::Snapshot, View::newest());
        }
        let gaps = rows.view.isolation.locks_gaps();
        let locking = (mode != LockMode::Snapshot).then(|| Locking::new(gaps));
        let mut scan = Scan {
            table: table.clone(),
            index,
            range,
            direction,
            mode,
            locking,
            view,
            pages: None,
            pages_ended: false,
            ahead: None,
            spare: Vec::new(),
            lent: None,
            located: Located::default(),
            last: None,
            zones: None,
            strays: None,
            takes_entries: false,
            clustered_at: 0,
        };
        if !scan.range.is_empty() {
            scan.read_pages_again();
        }
        Ok(scan)
    }

    /// Opens a scan of the newest committed rows without locks. It finds a row that is then locked
    /// and read again.
    pub(super) fn open_newest(
        rows: &mut RowAccess,
        table: &Arc<Table>,
        index: IndexRef,
        range: KeyRange,
    ) -> Result<Scan> {
        // The snapshot keeps purge from freeing long values that the scan is about to read.
        rows.open_snapshot()?;
        rows.view.pin(&rows.engine);
        let mut scan = Scan::open(rows, table, (index, range), Direction::Forward, LockMode::Update)?;
        scan.mode = LockMode::Snapshot;
        scan.view = View::newest();
        // With gaps to lock, the scan would go on to the key behind its range.
        if scan.locking.take().is_some_and(|locking| locking.gaps) && scan.pages.is_some() {
            scan.read_pages_again();
        }
        Ok(scan)
    }

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

    /// Returns the image of the row that was lent last.
    #[inline]
    pub fn image(&self) -> &[u8] {
        match (self.lent, &self.pages) {
            (Some(Lent::Page(at)), Some(pages)) => pages.current().map_or(&[], |(_, value)| &value[at..]),
            _ => &self.spare,
        }
    }

    /// Keeps the key that was passed last, which all steps but the lending one need.
    pub(super) fn keep_last(&mut self) {
        if self.lent.take().is_some()
            && let Some((key, _)) = self.pages.as_ref().and_then(btree::Scan::current)
        {
            self.last = Some(key.into());
        }
    }

    /// Notes entries that should have a row and have none (CHECK TABLE).
    pub(crate) fn report_strays(&mut self) {
        self.strays = Some(Vec::new());
    }

    pub(crate) fn strays(&self) -> &[Vec<u8>] {
        self.strays.as_deref().unwrap_or_default()
    }

    /// Returns the index key of the row given out last.
    pub(crate) fn last_key(&self) -> Option<&[u8]> {
        self.last.as_deref()
    }

    /// Sets what the scan does about rows that another transaction has locked.
    pub fn set_on_locked(&mut self, on_locked: OnLocked) {
        if let Some(locking) = &mut self.locking {
            locking.on_locked = on_locked;
        }
    }

    /// Lets the scan give out rows that another transaction has locked, in their committed state,
    /// instead of waiting for them, if the isolation level allows it (READ COMMITTED).
    /// [`Scan::is_unlocked`] tells such rows. A caller that wants such a row locks and reads it
    /// with [`Transaction::get`].
    pub fn set_semi_consistent(&mut self) {
        if let Some(locking) = &mut self.locking {
            locking.semi_consistent = !locking.gaps;
        }
    }

    /// Lets the scan leave out rows in which the table's zone column
    /// ([`Table::zone_column`](crate::Table::zone_column)) is NULL or has an order number
    /// ([`types::order_number::OrderNumber`]) outside of `wanted`, both ends included. The scan may
    /// give out such rows all the same. Locking scans, scans backwards and those of secondary
    /// indexes leave nothing out.
    pub fn leave_out(&mut self, wanted: (u64, u64)) {
        let is_plain = self.mode == LockMode::Snapshot && !self.table.is_temporary();
        let is_forward = self.index == IndexRef::Primary && self.direction == Direction::Forward;
        if is_plain && is_forward && self.zones.is_none() && self.view != View::newest() {
            self.zones = ZoneWalk::new(&self.table, wanted);
        }
    }

    /// Reports whether the row given out last is not locked.
    pub fn is_unlocked(&self) -> bool {
        self.locking.as_ref().is_some_and(|locking| locking.unlocked)
    }

    /// Begins to read the pages after the last key that was passed.
    pub(super) fn read_pages_again(&mut self) {
        (self.ahead, self.pages_ended) = (None, false);
        let (mut start, mut end) = (as_slices(&self.range.start), as_slices(&self.range.end));
        let to_neighbour = self.locking.as_ref().is_some_and(|locking| locking.gaps);
        match self.direction {
            Direction::Forward => {
                start = self.last.as_deref().map_or(start, Bound::Excluded);
                // A scan that locks gaps also looks for the key behind its range.
                end = if to_neighbour { Bound::Unbounded } else { end };
            }
            Direction::Backward => {
                end = self.last.as_deref().map_or(end, Bound::Excluded);
                start = if to_neighbour { Bound::Unbounded } else { start };
            }
        }
        if let Some(locking) = &mut self.locking {
            locking.released = self.table.counters.locks.released();
        }
        self.pages = Some(self.table.tree(self.index).scan(start, end, self.direction));
    }

    /// Returns the next row, or `None` at the end.
    pub fn next(&mut self, txn: &mut Transaction) -> Result<Option<Row>> {
        self.next_row(&mut txn.rows)
    }

    /// Does what [`Scan::next`] does.
    pub(super) fn next_row(&mut self, rows: &mut RowAccess) -> Result<Option<Row>> {
        self.takes_entries = false;
        self.keep_last();
        self.next_found(rows).map(|found| match found? {
            Found::Row(row) => Some(row),
            Found::Entry | Found::Lent => unreachable!("neither is asked for"),
        })
    }

    /// Returns the entry that was found last.
    pub fn entry(&self) -> Entry<'_> {
        Entry { key: self.last.as_deref().unwrap_or_default(), clustered_at: self.clustered_at }
    }

    pub(super) fn next_found(&mut self, rows: &mut RowAccess) -> Result<Option<Found>> {
        if let Some(zones) = &mut self.zones {
            // What is read on this way is not learned, so the zone ends here.
            zones.finish();
        }
        let next = self.find_next(rows);
        if self.mode == LockMode::Snapshot { rows.view.at_valid_snapshot(&rows.engine, next) } else { next }
    }

    fn find_next(&mut self, rows: &mut RowAccess) -> Result<Option<Found>> {
        rows.locks.last = None;
        loop {
            if self.locking.is_some() && self.pages.is_some() && !self.lock_way(rows)? {
                continue;
            }
            let found = match self.next_entry(rows)? {
                Next::End => return Ok(None),
                Next::Own(key, present) => {
                    self.last = Some(key.clone());
                    let row = if present { self.own_row(rows, &key)? } else { None };
                    if row.is_some() && self.range.is_equality() && self.is_only_match(rows, &key)? {
                        self.pages = None;
                    }
                    row.map(Found::Row)
                }
                Next::Page(key, value) => {
                    let found = match self.visible_entry(&key, &value)? {
                        Some(clustered_at) => {
                            self.clustered_at = clustered_at;
                            Some(Found::Entry)
                        }
                        None => self.page_row(rows, &key, &value)?.map(Found::Row),
                    };
                    self.spare = value;
                    self.last = Some(key);
                    found
                }
            };
            if found.is_some() {
                rows.count_read();
                return Ok(found);
            }
            // While there are no rows to give out, nobody else checks for an interrupt.
            rows.check_interrupt()?;
        }
    }

    fn next_entry(&mut self, rows: &mut RowAccess) -> Result<Next> {
        if self.pages.is_none() {
            return Ok(Next::End);
        }
        self.fetch_ahead()?;
        let own = self.next_own(rows);
        let own_first = match (&own, &self.ahead) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some((own, _)), Some((page, _))) => match self.direction {
                Direction::Forward => own <= page,
                Direction::Backward => own >= page,
            },
        };
        if !own_first {
            return Ok(self.ahead.take().map_or(Next::End, |(key, value)| Next::Page(key, value)));
        }
        let (key, present) = own.expect("own_first says there is one");
        if self.ahead.as_ref().is_some_and(|(page, _)| *page == key) {
            self.spare = self.ahead.take().expect("just looked at").1;
        }
        Ok(Next::Own(key, present))
    }

    pub(super) fn fetch_ahead(&mut self) -> Result<()> {
        if self.ahead.is_some() || self.pages_ended {
            return Ok(());
        }
        let Some(pages) = &mut self.pages else { return Ok(()) };
        if let Some((key, value)) = pages.next()? {
            let mut buffer = std::mem::take(&mut self.spare);
            buffer.clear();
            buffer.extend_from_slice(value);
            self.ahead = Some((key.into(), buffer));
        }
        Ok(())
    }

    /// Returns the transaction's own next entry of the index after the last key, and whether it is
    /// present.
    pub(super) fn next_own(&self, rows: &mut RowAccess) -> Option<(KeyBuf, bool)> {
        if let IndexRef::Secondary(at) = self.index {
            rows.changes.settle_index(&self.table, at);
        }
        let writes = rows.changes.writes_of(&self.table).table(self.table.id)?;
        let last = self.last.as_deref().map(Bound::Excluded);
        let (start, end) = match self.direction {
            Direction::Forward => (last.unwrap_or(as_slices(&self.range.start)), as_slices(&self.range.end)),
            Direction::Backward => (as_slices(&self.range.start), last.unwrap_or(as_slices(&self.range.end))),
        };
        if range_is_empty(start, end) {
            return None;
        }
        match self.index {
            IndexRef::Primary => {
                let mut range = writes.rows.range((start, end));
                let next =
                    if self.direction == Direction::Forward { range.next() } else { range.next_back() };
                next.map(|(key, change)| (key.clone(), change.new.is_some()))
            }
            IndexRef::Secondary(at) => {
                let mut range = writes.entries[at].settled().range((start, end));
                let next =
                    if self.direction == Direction::Forward { range.next() } else { range.next_back() };
                next.map(|(key, change)| (key.clone(), change.present))
            }
        }
    }

    /// Returns the row of an entry that the transaction itself put.
    fn own_row(&self, rows: &RowAccess, key: &KeyBuf) -> Result<Option<Row>> {
        let clustered: &[u8] = match self.index {
            IndexRef::Primary => key,
            IndexRef::Secondary(at) => {
                let writes = rows.changes.writes_of(&self.table).table(self.table.id);
                let entries = writes.expect("it has an own entry").entries[at].settled();
                &key[usize::from(entries[&key[..]].secondary_len)..]
            }
        };
        let image = rows.changes.own_image(&self.table, clustered)?.flatten();
        Ok(image.map(|image| Row { key: clustered.to_vec(), image }))
    }

    /// Returns the byte offset of the clustered key in a secondary entry on a page, if the entry is
    /// enough without its row; see [`crate::covering`].
    fn visible_entry(&self, key: &KeyBuf, value: &[u8]) -> Result<Option<usize>> {
        if !self.takes_entries || self.table.dropped.is_some() {
            // The entry of a row that went with its partition looks like any other.
            return Ok(None);
        }
        let (flags, seq) = entry::parse_header(value)?;
        if flags & entry::DELETED != 0 || !self.view.sees(seq) {
            return Ok(None);
        }
        let clustered_at = entry::secondary_len(value)?;
        Ok((clustered_at <= key.len()).then_some(clustered_at))
    }

    /// Returns the row of an entry on a page, if this scan sees it.
    pub(super) fn page_row(
        &mut self,
        rows: &mut RowAccess,
        key: &KeyBuf,
        value: &[u8],
    ) -> Result<Option<Row>> {
        match self.index {
            IndexRef::Primary => self.clustered_row(rows, key, value),
            IndexRef::Secondary(at) => self.secondary_row(rows, at, key, value),
        }
    }

    fn clustered_row(&mut self, rows: &mut RowAccess, key: &KeyBuf, value: &[u8]) -> Result<Option<Row>> {
        let image = match self.mode {
            LockMode::Snapshot => rows.engine.rows.visible(&self.table, key, Some(value), &self.view)?,
            LockMode::Share | LockMode::Update => {
                let parsed = ClusteredValue::parse(value)?;
                if parsed.is_deleted() && has_gone(rows, parsed.seq) {
                    return Ok(None);
                }
                let Some(acquired) = self.lock_found(rows, key)? else { return Ok(None) };
                let newest = rows.engine.rows.read_newest(&self.table, key)?;
                let is_there = newest.is_some();
                let is_only = is_there && self.range.is_equality() && self.is_only_match(rows, key)?;
                self.note_locked(rows, key, acquired, is_there, is_only);
                let is_kept = self.mode == LockMode::Update && !self.is_unlocked();
                newest.map(|row| {
                    let OldRow { image, seq, externs, leaf } = row;
                    let (table_id, key) = (self.table.id, key.clone());
                    rows.locks.owner.depend_on(seq);
                    rows.last_read = is_kept.then_some(LastRead { table_id, key, seq, externs, leaf });
                    image
                })
            }
        };
        Ok(image.map(|image| Row { key: key.to_vec(), image }))
    }

    /// Locks a row that the scan has found. `None` means that the row is to be left out.
    fn lock_found(&mut self, rows: &mut RowAccess, key: &[u8]) -> Result<Option<Acquired>> {
        let Some(locking) = &mut self.locking else { return Ok(Some(Acquired::Held)) };
        locking.unlocked = false;
        if !locking.semi_consistent || self.index != IndexRef::Primary {
            return rows.lock_row_unless(&self.table, key, self.mode, locking.on_locked);
        }
        let acquired = rows.lock_row_unless(&self.table, key, self.mode, OnLocked::Skip)?;
        locking.unlocked = acquired.is_none();
        Ok(acquired.or(Some(Acquired::Held)))
    }

    /// Does what follows after a row was locked and read. `is_only` says that the row exists and
    /// that the scan can find no other.
    fn note_locked(
        &mut self,
        rows: &mut RowAccess,
        key: &[u8],
        acquired: Acquired,
        is_there: bool,
        is_only: bool,
    ) {
        if acquired == Acquired::New {
            let id = LockId::row(self.table.id, CLUSTERED, key);
            rows.locks.last = Some(id);
            if !is_there {
                rows.release_unwanted();
            }
        }
        if is_only {
            self.pages = None;
        }
    }

    fn secondary_row(
        &mut self,
        rows: &mut RowAccess,
        at: usize,
        key: &KeyBuf,
        value: &[u8],
    ) -> Result<Option<Row>> {
        let (flags, seq) = entry::parse_header(value)?;
        let clustered = key.get(entry::secondary_len(value)?..).ok_or_else(|| {
            crate::EngineError::Corrupt(format!(
                "{}: a secondary index entry is malformed",
                self.table.qualified_name
            ))
        })?;
        let deleted = flags & entry::DELETED != 0;
        let snapshot = self.mode == LockMode::Snapshot;
        let is_gone = deleted && if snapshot { self.view.sees(seq) } else { has_gone(rows, seq) };
        if is_gone {
            return Ok(None);
        }
        let mut acquired = Acquired::Held;
        if !snapshot {
            acquired = match self.lock_found(rows, clustered)? {
                Some(acquired) => acquired,
                None => return Ok(None),
            };
        }
        // The entry may be newer than the snapshot, or may have changed before the lock was
        // granted.
        let must_check = !snapshot || !self.view.sees(seq);
        let (view, table) = (&self.view, &self.table);
        let image = match rows.changes.own_image(table, clustered)? {
            Some(own) => own,
            None if snapshot => rows.engine.rows.read_at(table, clustered, view)?,
            None => rows.engine.rows.read_newest(table, clustered)?.map(|row| row.image),
        };
        let Some(image) = image else {
            self.note_locked(rows, clustered, acquired, false, false);
            // A row that went with its partition keeps its entries until it is deleted.
            let must_have_row = !must_check && self.table.dropped.is_none();
            if let Some(strays) = self.strays.as_mut().filter(|_| must_have_row) {
                strays.push(key.to_vec());
            }
            return Ok(None);
        };
        // A plain scan need not stop early, because there is no other entry that it would read.
        let mut is_unique = false;
        if must_check {
            let Some(own) = self.table.entry_key(at, &image, clustered, key)? else {
                self.note_locked(rows, clustered, acquired, false, false);
                return Ok(None);
            };
            is_unique = self.table.indexes[at].unique && !own.has_null;
        }
        let columns = &key[..key.len() - clustered.len()];
        let is_whole = matches!(&self.range.start, Bound::Included(start) if start[..] == *columns);
        self.note_locked(rows, clustered, acquired, true, is_unique && is_whole && self.range.is_equality());
        Ok(Some(Row { key: clustered.to_vec(), image }))
    }
}

pub(super) fn range_is_empty(start: Bound<&[u8]>, end: Bound<&[u8]>) -> bool {
    match (start, end) {
        (Bound::Included(start), Bound::Excluded(end)) | (Bound::Excluded(start), Bound::Included(end)) => {
            start >= end
        }
        (Bound::Excluded(start), Bound::Excluded(end)) => start >= end,
        (Bound::Included(start), Bound::Included(end)) => start > end,
        _ => false,
    }
}
