//! The tables that a transaction uses, whose metadata it keeps locked until it ends.

use super::locked_tables::LockedTables;
use super::locking::TransactionLocks;
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::kept_memory::shrink_small_list;
use crate::lock::{LockId, LockType};
use crate::table::Table;
use redo::Lsn;
use smallvec::SmallVec;
use std::sync::Arc;

/// A table that a transaction uses.
struct UsedTable {
    table: Arc<Table>,
    /// Whether the table's metadata is locked as that of a table whose rows are changed.
    to_change: bool,
}

/// The tables in use. Invariant: the metadata of each of them is locked, by the transaction or by
/// the session that has it in [`LockedTables`], except for temporary tables.
#[derive(Default)]
pub(super) struct UsedTables {
    tables: SmallVec<[UsedTable; 4]>,
    /// The tables that the session has locked (`LOCK TABLES`).
    locked_tables: Option<Arc<LockedTables>>,
    /// Whether a [`super::table_hold::TableHold`] has the metadata locks.
    pub held: bool,
}

impl UsedTables {
    /// Notes the tables on which the session has metadata locks, so that the transaction takes
    /// none.
    pub fn set_locked_tables(&mut self, locked: Arc<LockedTables>) {
        self.locked_tables = Some(locked);
    }

    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Forgets the tables. The caller releases their locks.
    pub fn clear(&mut self) {
        self.tables.clear();
    }

    /// Forgets what belonged to a transaction that has released its tables.
    pub fn spend(&mut self) {
        let UsedTables { tables, locked_tables, held } = self;
        shrink_small_list(tables);
        *locked_tables = None;
        *held = false;
    }

    /// Reports whether the table may be used, or changed, without a further lock.
    #[inline]
    pub fn is_used(&self, table: &Arc<Table>, to_change: bool) -> bool {
        let is_used = |used: &UsedTable| Arc::ptr_eq(&used.table, table) && (used.to_change || !to_change);
        self.held || self.tables.iter().any(is_used)
    }

    /// Reports whether the transaction holds the metadata lock that changing rows of the table
    /// takes.
    pub fn may_change(&self, table: &Table) -> bool {
        self.held || self.tables.iter().any(|used| used.to_change && used.table.id == table.id)
    }

    /// Reports whether the transaction itself has the metadata locks of its tables.
    pub fn are_own(&self) -> bool {
        !self.held && self.locked_tables.is_none()
    }

    /// Looks a table up and keeps its definition from changing. `seen` is the sequence number that
    /// the transaction's snapshot reads at, if it has one.
    pub fn open(
        &mut self,
        engine: &Engine,
        locks: &mut TransactionLocks,
        seen: Option<Lsn>,
        (schema, name): (&str, &str),
    ) -> Result<Arc<Table>> {
        let is_named = |table: &Table| table.def.name == name && table.def.schema == schema;
        let used = self.tables.iter().find(|used| is_named(&used.table) && !used.table.is_temporary());
        if let Some(used) = used {
            return Ok(used.table.clone());
        }
        self.lock_metadata(engine, locks, LockId::metadata(schema, name), (schema, name), LockType::Shared)?;
        let unknown = || EngineError::UnknownTable(schema.to_string(), name.to_string());
        let table = engine.catalog.table(schema, name).ok_or_else(unknown)?;
        self.adopt(table.clone(), seen, false)?;
        Ok(table)
    }

    /// Uses a table that was looked up before and is not used yet, unless it has changed since.
    /// `seen` is as for [`UsedTables::open`].
    pub fn begin_use(
        &mut self,
        engine: &Engine,
        locks: &mut TransactionLocks,
        seen: Option<Lsn>,
        table: &Arc<Table>,
        to_change: bool,
    ) -> Result<()> {
        if table.is_temporary() {
            table.check_lives()?;
        } else {
            let mode = if to_change { LockType::SharedWrite } else { LockType::Shared };
            let name = (&table.def.schema[..], &table.def.name[..]);
            self.lock_metadata(engine, locks, table.metadata_lock, name, mode)?;
        }
        if let Some(used) = self.tables.iter_mut().find(|used| Arc::ptr_eq(&used.table, table)) {
            used.to_change = true;
            return Ok(());
        }
        if !table.is_temporary() && !table.is_in_catalog() {
            return Err(EngineError::TableChanged(table.def.name.clone()));
        }
        self.adopt(table.clone(), seen, to_change)
    }

    fn lock_metadata(
        &self,
        engine: &Engine,
        locks: &mut TransactionLocks,
        id: LockId,
        (schema, table): (&str, &str),
        mode: LockType,
    ) -> Result<()> {
        if self.locked_tables.as_ref().is_some_and(|locked| locked.has(schema, table)) {
            return Ok(());
        }
        locks.lock_metadata(&engine.locks, id, (schema, table), mode)
    }

    fn adopt(&mut self, table: Arc<Table>, seen: Option<Lsn>, to_change: bool) -> Result<()> {
        if seen.is_some_and(|seq| table.placement.created_lsn > seq) {
            return Err(EngineError::TableChanged(table.def.name.clone()));
        }
        let is_new = !self.tables.iter().any(|used| Arc::ptr_eq(&used.table, &table));
        assert!(is_new, "{} is entered twice among the tables in use", table.qualified_name);
        self.tables.push(UsedTable { table, to_change });
        Ok(())
    }
}
