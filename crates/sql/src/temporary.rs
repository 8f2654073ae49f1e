//! The temporary tables of a session, which hide stored tables and views of their names.

use crate::error::{Result, SqlError};
use engine::{Table, TemporaryTable};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The temporary tables of a session, and of the sessions within its statements. A session uses
/// them from one thread; the lock is for the compiler, and never waited for.
#[derive(Debug, Default)]
pub(crate) struct TemporaryTables {
    tables: Mutex<Vec<TemporaryTable>>,
}

impl TemporaryTables {
    fn all(&self) -> MutexGuard<'_, Vec<TemporaryTable>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table of this name.
    pub fn table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.all().iter().map(TemporaryTable::table).find(|table| is_named(table, schema, name)).cloned()
    }

    /// Whether there is a table of this name.
    pub fn has(&self, schema: &str, name: &str) -> bool {
        self.table(schema, name).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    fn len(&self) -> usize {
        self.all().len()
    }

    /// Adds a table, whose name none has.
    pub fn add(&self, table: TemporaryTable) {
        let def = &table.table().def;
        assert!(!self.has(&def.schema, &def.name), "`{}`.`{}` is not there yet", def.schema, def.name);
        self.all().push(table);
    }

    /// Puts a table in another's place.
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

/// Which temporary tables a statement may use, and does.
#[derive(Debug, Default)]
pub(crate) struct TemporaryUse<'a> {
    /// Those of the session; `None` in a view, which is about stored tables.
    tables: Option<&'a TemporaryTables>,
    /// The number of the table that CREATE ... SELECT has made: its query is older.
    unseen: Option<u64>,
    /// Tables that the statements around use, by their numbers.
    around: &'a [u64],
    /// Those that the statement uses: number, and name in the statement.
    used: Vec<(u64, String)>,
}

impl<'a> TemporaryUse<'a> {
    /// Of a statement within others that use these tables.
    pub fn of(tables: &'a TemporaryTables, around: &'a [u64]) -> TemporaryUse<'a> {
        TemporaryUse { tables: Some(tables), around, ..TemporaryUse::default() }
    }

    /// The statement fills the table of this number, which its query does not see.
    pub fn hide(&mut self, id: u64) {
        self.unseen = Some(id);
    }

    /// The table of this name, if there is one.
    pub fn table(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.table_to_fill(schema, name).filter(|table| self.unseen != Some(table.id))
    }

    /// The same for a statement that inserts rows.
    pub fn table_to_fill(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.tables?.table(schema, name)
    }

    /// Notes the use of a table under this name.
    ///
    /// # Errors
    /// 1137 where the statement, or one around it, uses the table already.
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

    /// How many tables the statement uses so far.
    pub fn count(&self) -> usize {
        self.used.len()
    }

    /// The name of the table that was used as the one of this number.
    pub fn name(&self, nth: usize) -> Option<&str> {
        self.used.get(nth).map(|(_, shown)| shown.as_str())
    }
}

/// The temporary tables of the sessions of a replication source, whose statements the channel's
/// applier runs. They stay when the applier stops, and are gone when the source or this server has
/// been started anew.
#[derive(Debug, Default)]
pub struct SourceTables {
    /// By the session's number at the source.
    sessions: Mutex<HashMap<u32, Arc<TemporaryTables>>>,
    /// When the source was started, in seconds of Unix time; 0: not known yet.
    started_s: AtomicU32,
}

impl SourceTables {
    fn sessions(&self) -> MutexGuard<'_, HashMap<u32, Arc<TemporaryTables>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables of a session; `None`: it has none.
    pub(crate) fn of(&self, thread_id: u32) -> Option<Arc<TemporaryTables>> {
        self.sessions().get(&thread_id).cloned()
    }

    /// Where a session's tables are to be.
    pub(crate) fn begin(&self, thread_id: u32) -> Arc<TemporaryTables> {
        self.sessions().entry(thread_id).or_default().clone()
    }

    /// Forgets sessions that have no tables any more.
    pub(crate) fn forget_empty(&self) {
        self.sessions().retain(|_, tables| !tables.is_empty());
    }

    /// How many tables there are (`Replica_open_temp_tables`).
    pub fn count(&self) -> usize {
        self.sessions().values().map(|tables| tables.len()).sum()
    }

    /// Notes when the source was started: at another time than was known its sessions are over, and
    /// their tables gone. The same may be told again, when the relay log is read again.
    pub fn note_start(&self, started_s: u32) {
        if self.started_s.swap(started_s, Ordering::Relaxed) != started_s {
            // Whoever runs a statement may still have a session's list.
            self.sessions().drain().for_each(|(_, tables)| tables.clear());
        }
    }
}

fn is_named(table: &Table, schema: &str, name: &str) -> bool {
    table.def.name == name && table.def.schema == schema
}

/// Error 1137: a statement may name a temporary table once.
pub(crate) fn cannot_reopen(shown: &str) -> SqlError {
    SqlError::new(1137, format!("Can't reopen table: '{shown}'"))
}

/// Refuses a temporary table in an XA transaction, which another session may end (4091).
pub(crate) fn check_no_xa(is_in_xa: bool) -> Result<()> {
    let text = "XA: Temporary tables cannot be accessed inside XA transactions when xa_detach_on_prepare=ON";
    // MariaDB's number has another state.
    let refused = SqlError { state: *b"HY000", ..SqlError::new(4091, text) };
    if is_in_xa { Err(refused) } else { Ok(()) }
}
