//! The locks as `performance_schema.data_locks` and `data_lock_waits` show them.
//!
//! A lock is known by the fingerprint of its row, and taking a lock must not become more expensive
//! for this report. So the rows are looked for when somebody asks: among the keys that are waited
//! for, announced, or ends of locked gaps, and then on the pages that are in the pool. A lock whose
//! row is not found has no LOCK_DATA, as in InnoDB a lock whose page is not in the pool has none.
//!
//! Gaps are intervals here (decision 0006). They are shown as InnoDB shows gaps: a record lock
//! whose key an interval reaches is a next-key lock, and what an interval locks before its upper
//! end is a lock on the gap before that key.
//!
//! As in InnoDB, a transaction that inserts a row has an implicit lock on it. The lock is shown
//! once another transaction waits for it.

mod gaps;
mod rows;

use crate::catalog::Catalog;
use crate::error::Result;
use crate::lock::{CLUSTERED, LockId, LockTable, LockType, LockWait, RowName};
use crate::rows::Rows;
use crate::table::Table;
use buffer::Pool;
use gaps::{ShownGap, ShownGaps};
use rows::{Found, check};
use std::collections::{HashMap, HashSet};
use std::ops::Bound;
use std::sync::atomic::AtomicBool;
use types::Value;

/// The record that a record lock is on (LOCK_DATA).
#[derive(Clone, Debug, PartialEq)]
pub enum LockData {
    /// The columns of the primary key.
    Columns(Vec<Value>),
    /// The key of an entry that has no readable columns: that of a hidden row id, or of a secondary
    /// index.
    Bytes(Vec<u8>),
    /// The place behind the last record.
    Supremum,
}

/// A lock that is held or waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct DataLock {
    /// The name of the lock among the locks of this report.
    pub id: String,
    /// The number of the transaction.
    pub transaction_id: u64,
    /// The schema and the name of the table, if it is known which table it is.
    pub table: Option<(String, String)>,
    /// Whether this is the lock of a record or a gap. Otherwise it is a table lock.
    pub is_record: bool,
    /// The index of a record lock, if its table is known.
    pub index: Option<String>,
    /// InnoDB's name of the mode, such as `X,REC_NOT_GAP`.
    pub mode: &'static str,
    /// Whether the lock is waited for.
    pub is_waiting: bool,
    /// The record of a record lock, if it was found.
    pub data: Option<LockData>,
}

/// A wait of one transaction for another, as the ids of the two locks and their transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLockWait {
    /// The lock and the transaction that wait.
    pub requesting: (String, u64),
    /// The lock and the transaction that are in the way.
    pub blocking: (String, u64),
}

/// All locks of one report.
#[derive(Clone, Debug, Default)]
pub struct DataLocks {
    /// The locks, ordered by transaction.
    pub locks: Vec<DataLock>,
    /// The waits.
    pub waits: Vec<DataLockWait>,
}

/// Reads the locks of an engine.
pub(crate) struct LockReader<'e> {
    pub locks: &'e LockTable,
    pub catalog: &'e Catalog,
    pub rows: &'e Rows,
    pub pool: &'e Pool,
    /// Set when the session that asked has no use for the locks any more.
    pub interrupt: &'e AtomicBool,
}

impl LockReader<'_> {
    /// The approximate number of bytes that reading takes for each lock: the lock as it is shown
    /// with its texts and its key, the row that was found for it, and its places in the maps from
    /// fingerprints and owners.
    pub const BYTES_FOR_A_LOCK: usize = size_of::<DataLock>() + size_of::<rows::LockedRow>() + 384;

    /// Returns every row, gap and table lock, and which lock waits for which. Nothing is stopped
    /// for the report, so the locks are not all of one moment.
    pub fn read(&self) -> Result<DataLocks> {
        let waits = self.locks.row_waits();
        let found = Found::find(self.locks, &self.catalog.all_tables(), self.pool, &waits, self.interrupt)?;
        let mut shown = DataLocks::default();
        let gaps = self.show_gaps(&found, &mut shown)?;
        let wanted: HashSet<LockId> =
            waits.iter().filter(|wait| !wait.is_insert).map(|wait| wait.row.lock_id()).collect();
        for row in &found.rows {
            check(self.interrupt)?;
            // A transaction has an implicit lock on a row that it inserts, which is shown only once
            // another transaction waits for it.
            if row.is_announced && !wanted.contains(&row.id) {
                continue;
            }
            let is_next_key = row.name.as_ref().is_some_and(|name| gaps.reaching(row.owner, name).is_some());
            shown.locks.push(DataLock {
                id: record_id(row.owner, row.id),
                transaction_id: row.owner,
                table: row.table.as_deref().map(name_of),
                is_record: true,
                index: row.table.as_deref().map(|table| {
                    index_name(table, row.name.as_ref().map_or(CLUSTERED, |name| name.index_id))
                }),
                mode: record_mode(row.mode, is_next_key),
                is_waiting: false,
                data: row
                    .table
                    .as_deref()
                    .zip(row.name.as_ref())
                    .map(|(table, name)| self.lock_data(table, name)),
            });
        }
        for wait in &waits {
            check(self.interrupt)?;
            self.show_wait(wait, &found, &gaps, &mut shown);
        }
        self.show_tables(&found, &mut shown)?;
        shown.locks.sort_by_key(|lock| (lock.transaction_id, lock.is_record));
        Ok(shown)
    }

    fn show_gaps(&self, found: &Found, shown: &mut DataLocks) -> Result<ShownGaps> {
        let mut gaps = Vec::new();
        for table in self.catalog.all_tables() {
            for gap in table.counters.locks.held_gaps() {
                check(self.interrupt)?;
                let end =
                    gap.high.clone().map(|key| RowName { table_id: table.id, index_id: gap.index_id, key });
                let record = end.as_ref().and_then(|end| found.held(gap.owner, end.lock_id()));
                let lock_id = match record {
                    // The record's lock is shown as a next-key lock, which includes the gap's lock.
                    Some(_) => record_id(gap.owner, end.as_ref().expect("a record has a key").lock_id()),
                    None => format!("{}:{}:{}:gap:{}", gap.owner, table.id, gap.index_id, gap.id),
                };
                if record.is_none() {
                    let mode = found.strongest(gap.owner, table.id).unwrap_or(LockType::Exclusive);
                    shown.locks.push(DataLock {
                        id: lock_id.clone(),
                        transaction_id: gap.owner,
                        table: Some(name_of(&table)),
                        is_record: true,
                        index: Some(index_name(&table, gap.index_id)),
                        mode: gap_mode(mode, end.is_some()),
                        is_waiting: false,
                        data: Some(end.map_or(LockData::Supremum, |end| self.lock_data(&table, &end))),
                    });
                }
                gaps.push((table.id, ShownGap { gap, lock_id }));
            }
        }
        Ok(ShownGaps::new(gaps))
    }

    fn show_wait(&self, wait: &LockWait, found: &Found, gaps: &ShownGaps, shown: &mut DataLocks) {
        let Some(table) = self.catalog.table_by_id(wait.row.table_id) else { return };
        let next =
            if wait.is_insert { self.record_behind(&table, &wait.row) } else { Some(wait.row.clone()) };
        let id = format!("{}:waiting", record_id(wait.owner, wait.row.lock_id()));
        let mode = match (wait.is_insert, &next) {
            (true, Some(_)) => "X,GAP,INSERT_INTENTION",
            (true, None) => "X,INSERT_INTENTION",
            (false, _) => record_mode(wait.mode, gaps.reaching(wait.owner, &wait.row).is_some()),
        };
        shown.locks.push(DataLock {
            id: id.clone(),
            transaction_id: wait.owner,
            table: Some(name_of(&table)),
            is_record: true,
            index: Some(index_name(&table, wait.row.index_id)),
            mode,
            is_waiting: true,
            data: Some(next.map_or(LockData::Supremum, |next| self.lock_data(&table, &next))),
        });
        for &blocker in &wait.blockers {
            let held = record_id(blocker, wait.row.lock_id());
            let blocking = match gaps.reaching(blocker, &wait.row) {
                Some(gap) if wait.is_insert => gap.lock_id.clone(),
                // A blocker that does not hold the lock waits itself, before this owner in the
                // queue.
                _ if found.held(blocker, wait.row.lock_id()).is_some() => held,
                _ => format!("{held}:waiting"),
            };
            let requesting = (id.clone(), wait.owner);
            shown.waits.push(DataLockWait { requesting, blocking: (blocking, blocker) });
        }
    }

    /// Shows the intention locks of tables, which follow from the locks of their rows.
    fn show_tables(&self, found: &Found, shown: &mut DataLocks) -> Result<()> {
        // For an owner and a table, whether one of the locks that the owner has or waits for there
        // is exclusive.
        let mut is_exclusive: HashMap<(u64, (String, String)), bool> = HashMap::new();
        for lock in &shown.locks {
            check(self.interrupt)?;
            let Some(table) = lock.table.clone() else { continue };
            *is_exclusive.entry((lock.transaction_id, table)).or_default() |= lock.mode.starts_with('X');
        }
        for (owner, table) in &found.users {
            check(self.interrupt)?;
            let name = name_of(table);
            let shown_there = is_exclusive.get(&(*owner, name.clone())).copied();
            let held_there = found.strongest(*owner, table.id).map(|mode| mode == LockType::Exclusive);
            let mode = match (shown_there, held_there) {
                (None, None) => continue,
                (Some(true), _) | (_, Some(true)) => "IX",
                _ => "IS",
            };
            shown.locks.push(DataLock {
                id: format!("{owner}:{}", table.id),
                transaction_id: *owner,
                table: Some(name),
                is_record: false,
                index: None,
                mode,
                is_waiting: false,
                data: None,
            });
        }
        Ok(())
    }

    /// Returns the next record behind a key.
    fn record_behind(&self, table: &Table, row: &RowName) -> Option<RowName> {
        let index = table.indexes.iter().find(|index| index.id == row.index_id);
        let tree = index.map_or(&table.clustered, |index| &index.tree);
        let mut scan = tree.scan(Bound::Excluded(&row.key[..]), Bound::Unbounded, btree::Direction::Forward);
        let (key, _) = scan.next().ok().flatten()?;
        Some(RowName { key: key.into(), ..*row })
    }

    fn lock_data(&self, table: &Table, row: &RowName) -> LockData {
        if row.index_id != CLUSTERED {
            return LockData::Bytes(row.key.to_vec());
        }
        if let Some(values) = table.primary_values(&row.key) {
            return LockData::Columns(values);
        }
        let columns = || -> Option<Vec<Value>> {
            let parts = table.primary.as_deref()?;
            let image = self.rows.read_newest(table, &row.key).ok()??.image;
            parts.iter().map(|part| table.layout.decode(&image, part.column).ok()).collect()
        };
        columns().map_or_else(|| LockData::Bytes(row.key.to_vec()), LockData::Columns)
    }
}

fn record_id(owner: u64, id: LockId) -> String {
    format!("{owner}:{id}")
}

fn name_of(table: &Table) -> (String, String) {
    (table.def.schema.clone(), table.def.name.clone())
}

fn index_name(table: &Table, index_id: u32) -> String {
    match table.indexes.iter().find(|index| index.id == index_id) {
        Some(index) => index.name.clone(),
        None if table.has_primary_key() => "PRIMARY".to_string(),
        None => "GEN_CLUST_INDEX".to_string(),
    }
}

fn record_mode(mode: LockType, is_next_key: bool) -> &'static str {
    match (mode == LockType::Exclusive, is_next_key) {
        (false, false) => "S,REC_NOT_GAP",
        (true, false) => "X,REC_NOT_GAP",
        (false, true) => "S",
        (true, true) => "X",
    }
}

/// Returns the mode of a gap lock. Behind the last record there is nothing but the gap, so the mode
/// does not say GAP there.
fn gap_mode(mode: LockType, has_record: bool) -> &'static str {
    match (mode == LockType::Exclusive, has_record) {
        (false, true) => "S,GAP",
        (true, true) => "X,GAP",
        (false, false) => "S",
        (true, false) => "X",
    }
}
