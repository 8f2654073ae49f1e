//! The temporary tables of a session. They hide stored tables and views with the same names.

use crate::error::{Result, SqlError};
use engine::{Table, TemporaryTable};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The temporary tables of a session, and of the sessions within its statements. A session uses
/// them from one thread at a time. The lock only satisfies the compiler, and nobody ever waits for
/// it.
#[derive(Debug, Default)]
pub(crate) struct TemporaryTables {
    tables: Mutex<Vec<TemporaryTable>>,
}

impl TemporaryTables {
    fn all(&self) -> MutexGuard<'_, Vec<TemporaryTable>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the table with this name.
    pub fn table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.all().iter().map(TemporaryTable::table).find(|table| is_named(table, schema, name)).cloned()
    }

    /// Reports whether there is a table with this name.
    pub fn has(&self, schema: &str, name: &str) -> bool {
        self.table(schema, name).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    fn len(&self) -> usize {
        self.all().len()
    }

    /// Adds a table. No other table may have its name.
    pub fn add(&self, table: TemporaryTable) {
        let def = &table.table().def;
        assert!(!self.has(&def.schema, &def.name), "`{}`.`{}` is not there yet", def.schema, def.name);
        self.all().push(table);
    }

    /// Replaces a table.
    pub fn replace(&self, old: &Table, new: TemporaryTable) {
        self.remove(old);
        self.add(new);
    }

    /// Drops a table.
    pub fn remove(&self, table: &Table) {
        self.all().retain(|held| held.table().id != table.id);
    }

    /// Drops all of them.
    pub fn clear(&self) {
        self.all().clear();
    }
}

/// The temporary tables that a statement may use, and those that it uses.
#[derive(Debug, Default)]
pub(crate) struct TemporaryUse<'a> {
    /// The session's tables. `None` in a view, which uses stored tables only.
    tables: Option<&'a TemporaryTables>,
    /// The number of the table that a CREATE ... SELECT has created. Its query must not see the
    /// table, which did not exist before the statement.
    unseen: Option<u64>,
    /// Whether the statement inserts its rows into a stored table, whatever temporary table has the
    /// same name.
    fills_stored: bool,
    /// The numbers of the tables that the statements around this one use.
    around: &'a [u64],
    /// The tables that the statement uses: their numbers, and their names in the statement.
    used: Vec<(u64, String)>,
}

impl<'a> TemporaryUse<'a> {
    /// Starts for a statement within others, which use the tables `around`.
    pub fn of(tables: &'a TemporaryTables, around: &'a [u64]) -> TemporaryUse<'a> {
        TemporaryUse { tables: Some(tables), around, ..TemporaryUse::default() }
    }

    /// Hides the table with this number, which the statement fills, from the statement's query.
    pub fn hide(&mut self, id: u64) {
        self.unseen = Some(id);
    }

    /// Makes the statement insert its rows into a stored table. Its query goes on to see the
    /// temporary tables.
    pub fn fill_stored(&mut self) {
        self.fills_stored = true;
    }

    /// Returns the table with this name, if there is one and it is not hidden.
    pub fn table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.tables?.table(schema, name).filter(|table| self.unseen != Some(table.id))
    }

    /// Returns the table with this name for a statement that inserts rows into it.
    pub fn table_to_fill(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        if self.fills_stored {
            return None;
        }
        self.tables?.table(schema, name)
    }

    /// Notes the use of a table under the name `shown`.
    ///
    /// # Errors
    /// Returns 1137 (`ER_CANT_REOPEN_TABLE`) when the statement or one around it uses the table
    /// already.
    pub fn note(&mut self, table: &Table, shown: &str) -> Result<()> {
        if let Some((_, first)) = self.used.iter().find(|(id, _)| *id == table.id) {
            return Err(cannot_reopen(first));
        }
        if self.around.contains(&table.id) {
            return Err(cannot_reopen(shown));
        }
        self.used.push((table.id, shown.to_owned()));
        Ok(())
    }

    /// Returns the number of tables that the statement has used so far.
    pub fn count(&self) -> usize {
        self.used.len()
    }

    /// Returns the name of the table that was used as the `nth` one, counted from 0.
    pub fn name(&self, nth: usize) -> Option<&str> {
        self.used.get(nth).map(|(_, shown)| shown.as_str())
    }
}

/// The temporary tables of the sessions of a replication source, whose statements the channel's
/// applier runs. They stay when the applier stops. They are dropped when the source or this server
/// has been restarted.
#[derive(Debug, Default)]
pub struct SourceTables {
    /// The tables of each session, by the session's thread id at the source.
    sessions: Mutex<HashMap<u32, Arc<TemporaryTables>>>,
    /// When the source was started, in seconds of Unix time. 0 means that it is not known yet.
    started_s: AtomicU32,
}

impl SourceTables {
    fn sessions(&self) -> MutexGuard<'_, HashMap<u32, Arc<TemporaryTables>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tables of a session. `None` if it has none.
    pub(crate) fn of(&self, thread_id: u32) -> Option<Arc<TemporaryTables>> {
        self.sessions().get(&thread_id).cloned()
    }

    /// Returns the list for a session's tables, which is created if it does not exist.
    pub(crate) fn begin(&self, thread_id: u32) -> Arc<TemporaryTables> {
        self.sessions().entry(thread_id).or_default().clone()
    }

    /// Forgets sessions that have no tables any more.
    pub(crate) fn forget_empty(&self) {
        self.sessions().retain(|_, tables| !tables.is_empty());
    }

    /// Returns the number of tables of all sessions (`Replica_open_temp_tables`).
    pub fn count(&self) -> usize {
        self.sessions().values().map(|tables| tables.len()).sum()
    }

    /// Notes when the source was started. If the time differs from the known one, the source's
    /// sessions have ended, and their tables are dropped. The same time may be noted again, when
    /// the relay log is read again.
    pub fn note_start(&self, started_s: u32) {
        if self.started_s.swap(started_s, Ordering::Relaxed) != started_s {
            // A running statement may still hold a session's list, so the list is emptied, not only
            // dropped.
            self.sessions().drain().for_each(|(_, tables)| tables.clear());
        }
    }
}

fn is_named(table: &Table, schema: &str, name: &str) -> bool {
    table.def.name == name && table.def.schema == schema
}

/// Builds error 1137, since a statement may name a temporary table only once.
pub(crate) fn cannot_reopen(shown: &str) -> SqlError {
    SqlError::new(1137, format!("Can't reopen table: '{shown}'"))
}

/// Refuses a temporary table in an XA transaction, because another session may end the transaction
/// (4091).
pub(crate) fn check_no_xa(is_in_xa: bool) -> Result<()> {
    let text = "XA: Temporary tables cannot be accessed inside XA transactions when xa_detach_on_prepare=ON";
    // The same number has another SQLSTATE in MariaDB.
    let refused = SqlError { state: *b"HY000", ..SqlError::new(4091, text) };
    if is_in_xa { Err(refused) } else { Ok(()) }
}
