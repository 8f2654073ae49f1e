//! The search that leads from the fingerprints of locks back to their rows.

use crate::error::{EngineError, Result};
use crate::lock::{CLUSTERED, HeldLock, LockId, LockTable, LockType, LockWait, RowName};
use crate::table::Table;
use buffer::{Pool, SpaceId, slotted};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A row lock that an owner holds.
pub(super) struct LockedRow {
    pub id: LockId,
    pub owner: u64,
    pub mode: LockType,
    pub table: Option<Arc<Table>>,
    /// The row's key; `None` means that the row was not found.
    pub name: Option<RowName>,
    /// Whether the owner has announced the key, which it is about to insert.
    pub is_announced: bool,
}

/// The row locks, and which owner uses which table.
pub(super) struct Found {
    pub rows: Vec<LockedRow>,
    by_owner: HashMap<(u64, LockId), usize>,
    /// The strongest mode of an owner's row locks in a table, by owner and table id.
    strongest: HashMap<(u64, u64), LockType>,
    pub users: Vec<(u64, Arc<Table>)>,
}

impl Found {
    /// Returns all row locks that are held, with their rows as far as they can be found.
    ///
    /// # Errors
    /// Returns [`EngineError::Interrupted`] once `interrupt` is set.
    pub fn find(
        locks: &LockTable,
        tables: &[Arc<Table>],
        pool: &Pool,
        waits: &[LockWait],
        interrupt: &AtomicBool,
    ) -> Result<Found> {
        let (users, held) = without_metadata(locks, tables);
        let (mut names, announced) = names_at_hand(tables, waits);
        let wanted: HashSet<LockId> =
            held.iter().map(|lock| lock.id).filter(|id| !names.contains_key(id)).collect();
        find_on_pages(pool, &users, wanted, &mut names, interrupt)?;
        let only_tables = only_tables(&users);
        let by_id: HashMap<u64, &Arc<Table>> = tables.iter().map(|table| (table.id, table)).collect();
        let rows = held
            .into_iter()
            .map(|HeldLock { id, owner, mode }| {
                check(interrupt)?;
                let name = names.get(&id).cloned();
                let table = match &name {
                    Some(name) => by_id.get(&name.table_id).map(|&table| table.clone()),
                    None => only_tables.get(&owner).cloned().flatten(),
                };
                let is_announced = announced.contains(&(owner, id));
                Ok(LockedRow { id, owner, mode, table, name, is_announced })
            })
            .collect::<Result<Vec<_>>>()?;
        let by_owner = rows.iter().enumerate().map(|(at, row)| ((row.owner, row.id), at)).collect();
        let strongest = strongest_modes(&rows);
        Ok(Found { rows, by_owner, strongest, users })
    }

    /// Returns the lock that an owner has on a row.
    pub fn held(&self, owner: u64, id: LockId) -> Option<&LockedRow> {
        self.by_owner.get(&(owner, id)).map(|&at| &self.rows[at])
    }

    /// Returns the strongest mode in which an owner has rows of a table locked.
    pub fn strongest(&self, owner: u64, table_id: u64) -> Option<LockType> {
        self.strongest.get(&(owner, table_id)).copied()
    }
}

fn strongest_modes(rows: &[LockedRow]) -> HashMap<(u64, u64), LockType> {
    let mut strongest = HashMap::new();
    for row in rows {
        let Some(table) = &row.table else { continue };
        let mode = strongest.entry((row.owner, table.id)).or_insert(row.mode);
        if row.mode == LockType::Exclusive {
            *mode = LockType::Exclusive;
        }
    }
    strongest
}

/// Splits the locks that are held. Returns which owner uses which table, as the metadata locks say,
/// and the locks that are not metadata locks.
fn without_metadata(locks: &LockTable, tables: &[Arc<Table>]) -> (Vec<(u64, Arc<Table>)>, Vec<HeldLock>) {
    let mut metadata: HashMap<LockId, Option<&Arc<Table>>> = HashMap::new();
    for table in tables {
        let (schema, name) = (&table.def.schema, &table.def.name);
        metadata.insert(LockId::metadata(schema, name), Some(table));
        metadata.insert(LockId::upgradable_metadata(schema, name), None);
        metadata.insert(LockId::metadata(schema, ""), None);
    }
    let (mut users, mut held) = (Vec::new(), Vec::new());
    for lock in locks.held_locks() {
        match metadata.get(&lock.id) {
            Some(Some(table)) => users.push((lock.owner, Arc::clone(table))),
            Some(None) => {}
            None => held.push(lock),
        }
    }
    (users, held)
}

/// Looks for rows on the leaves that are in the pool.
fn find_on_pages(
    pool: &Pool,
    users: &[(u64, Arc<Table>)],
    mut wanted: HashSet<LockId>,
    names: &mut HashMap<LockId, RowName>,
    interrupt: &AtomicBool,
) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    // A tablespace belongs to one table.
    let tables: HashMap<SpaceId, u64> =
        users.iter().map(|(_, table)| (table.placement.space, table.id)).collect();
    let is_used = |space| tables.contains_key(&space);
    pool.visit_cached_leaves(is_used, |space, leaf| {
        let table_id = tables[&space];
        // Keys on leaves of secondary indexes match no lock that is looked for.
        for key in (0..slotted::count(leaf)).map(|index| slotted::key(leaf, index)) {
            let id = LockId::row(table_id, CLUSTERED, key);
            if wanted.remove(&id) {
                names.insert(id, RowName { table_id, index_id: CLUSTERED, key: key.into() });
            }
        }
        let is_over = wanted.is_empty() || check(interrupt).is_err();
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    check(interrupt)
}

/// Returns [`EngineError::Interrupted`] once the flag is set.
pub(super) fn check(interrupt: &AtomicBool) -> Result<()> {
    if interrupt.load(Ordering::Relaxed) { Err(EngineError::Interrupted) } else { Ok(()) }
}

/// Returns the only table that each owner uses; `None` for an owner that uses several.
fn only_tables(users: &[(u64, Arc<Table>)]) -> HashMap<u64, Option<Arc<Table>>> {
    let mut tables = HashMap::new();
    for (owner, table) in users {
        tables.entry(*owner).and_modify(|only| *only = None).or_insert_with(|| Some(Arc::clone(table)));
    }
    tables
}

/// Returns the keys that are known without looking at pages: keys that are waited for, ends of
/// gaps, and announced keys. The second part has the announced keys with their owners.
fn names_at_hand(
    tables: &[Arc<Table>],
    waits: &[LockWait],
) -> (HashMap<LockId, RowName>, HashSet<(u64, LockId)>) {
    let (mut names, mut announced) = (HashMap::new(), HashSet::new());
    for wait in waits {
        names.insert(wait.row.lock_id(), wait.row.clone());
    }
    for table in tables {
        let mut note = |index_id: u32, key: &[u8]| {
            let id = LockId::row(table.id, index_id, key);
            let name = || RowName { table_id: table.id, index_id, key: key.into() };
            names.entry(id).or_insert_with(name);
            id
        };
        for gap in table.counters.locks.held_gaps() {
            gap.low.iter().chain(&gap.high).for_each(|key| {
                note(gap.index_id, key);
            });
        }
        table.counters.locks.for_each_announced(|owner, index_id, key, secondary_len| {
            announced.insert((owner, note(index_id, key)));
            // A unique key is locked by its own part of the entry's key, without the clustered key.
            if index_id != CLUSTERED {
                announced.insert((owner, note(index_id, &key[..secondary_len])));
            }
        });
    }
    (names, announced)
}
