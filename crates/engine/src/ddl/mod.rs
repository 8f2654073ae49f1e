//! DDL: each statement is one commit record with its dictionary entries and its Query event.
//!
//! The order of a statement: exclusive metadata locks; new files and trees made and synced; the
//! commit record; the dictionary tree and the catalog; the log durable; old files removed or
//! renamed. A crash before the record leaves files that no table has, a crash after it files that
//! are still to be removed or renamed; recovery does either.
//!
//! Ids of tables, indexes and spaces are used once. Before a space is made, a record with the
//! raised counters goes into the log ahead of the space's own records, so that a space whose
//! statement a crash cut off gives its number to nobody.

mod alter;
mod build;
mod exchange;
mod foreign_key;
mod object;
pub(crate) mod online;
mod schema;
pub(crate) mod settings;
mod sort;
mod table;

use crate::Engine;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts};
use crate::commit::sidecar::{DictionaryOp, NextIds, SidecarWriter};
use crate::definition::{ObjectKind, TableDef};
use crate::error::{EngineError, Result};
use crate::group::query::{self, SessionContext};
use crate::lock::{LockId, LockOwner, LockType, Patience};
use crate::table::Table;
use crate::transaction::locked_tables::LockedTables;
use crate::transaction::write_set::WriteSet;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use alter::ConvertRow;
pub use exchange::{AdmitRow, ChooseRow};
pub use object::ObjectName;
pub use table::TableName;

/// A DDL statement as it is to be logged.
#[derive(Clone, Debug)]
pub struct DdlContext<'a> {
    /// The statement's text for its Query event.
    pub statement: &'a str,
    /// The session's current schema; empty: none.
    pub schema: &'a str,
    /// The settings it runs under.
    pub session: &'a SessionContext,
    /// The event group as it was received from a source; used in place of an event made of
    /// `statement`.
    pub received_group: Option<&'a [u8]>,
    /// How it is to be committed.
    pub options: CommitOptions<'a>,
    /// `lock_wait_timeout` in milliseconds; `None`: the engine's.
    pub lock_timeout_ms: Option<u64>,
    /// The tables that the session has locked already.
    pub locked_tables: Option<&'a LockedTables>,
    /// Ends the statement when it becomes true (`KILL`).
    pub interrupt: Option<Arc<AtomicBool>>,
    /// `LOCK=SHARED` or `LOCK=EXCLUSIVE`: nobody else uses the table while the statement runs.
    pub exclusive: bool,
    /// Columns that an ALTER TABLE gives other names (from, to).
    pub renamed_columns: &'a [(String, String)],
    /// `ALTER TABLE ... AUTO_INCREMENT=`: the counter, unless rows have greater values.
    pub auto_increment: Option<u64>,
    /// Told where the statement is.
    pub on_stage: Option<StageHook<'a>>,
}

/// Where an ALTER TABLE that builds indexes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterStage {
    /// Reading the table and sorting the keys.
    ReadPk,
    /// Merging the sorted keys into the new indexes.
    MergeSort,
    /// Writing what is left of them.
    Flush,
    /// Putting in what others have changed meanwhile.
    LogApplyIndex,
    /// The last part, with the table locked.
    End,
}

impl AlterStage {
    /// MySQL's name of the stage (`performance_schema.events_stages_current`).
    pub fn name(self) -> &'static str {
        match self {
            AlterStage::ReadPk => "stage/innodb/alter table (read PK and internal sort)",
            AlterStage::MergeSort => "stage/innodb/alter table (merge sort)",
            AlterStage::Flush => "stage/innodb/alter table (flush)",
            AlterStage::LogApplyIndex => "stage/innodb/alter table (log apply index)",
            AlterStage::End => "stage/innodb/alter table (end)",
        }
    }
}

/// What is called when a statement comes to a stage.
#[derive(Clone, Copy)]
pub struct StageHook<'a>(pub &'a (dyn Fn(AlterStage) + Sync));

impl std::fmt::Debug for StageHook<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StageHook")
    }
}

impl<'a> DdlContext<'a> {
    /// The statement's event group, of this server unless it came from another one.
    pub(crate) fn logged_group(&self, own_server_id: u32) -> Cow<'a, [u8]> {
        if let Some(group) = self.received_group {
            return Cow::Borrowed(group);
        }
        let mut session = self.session.clone();
        if session.timestamp_us == 0 {
            session.timestamp_us = os::clock::now_us();
        }
        let server_id = self.options.server_id.unwrap_or(own_server_id);
        let mut group = Vec::new();
        query::put_statement(&mut group, server_id, &session, self.schema, self.statement.as_bytes());
        Cow::Owned(group)
    }

    /// A statement with the engine's defaults.
    pub fn new(statement: &'a str, schema: &'a str, session: &'a SessionContext) -> DdlContext<'a> {
        DdlContext {
            statement,
            schema,
            session,
            received_group: None,
            options: CommitOptions::default(),
            lock_timeout_ms: None,
            locked_tables: None,
            interrupt: None,
            exclusive: false,
            renamed_columns: &[],
            auto_increment: None,
            on_stage: None,
        }
    }

    fn enter(&self, stage: AlterStage) {
        if let Some(hook) = self.on_stage {
            (hook.0)(stage);
        }
    }
}

/// Exclusive metadata locks of one statement; released when dropped.
struct MetadataLocks<'e> {
    engine: &'e Engine,
    owner: LockOwner,
    timeout_ms: u64,
    /// Locked before the statement and after it.
    locked_tables: Option<&'e LockedTables>,
}

impl Drop for MetadataLocks<'_> {
    fn drop(&mut self) {
        self.engine.locks.release_all(&mut self.owner);
    }
}

impl MetadataLocks<'_> {
    fn is_locked(&self, schema: &str, table: &str) -> bool {
        self.locked_tables.is_some_and(|locked| locked.has(schema, table))
    }

    fn lock(&mut self, schema: &str, table: &str, mode: LockType) -> Result<()> {
        if self.is_locked(schema, table) {
            return Ok(());
        }
        let id = LockId::metadata(schema, table);
        let describe = || format!("metadata of table `{schema}`.`{table}`");
        let patience = Patience { timeout_ms: self.timeout_ms, describe: &describe, row: None };
        self.engine.locks.acquire(&mut self.owner, id, mode, patience)?;
        Ok(())
    }

    /// Locks a table against every use, against other DDL too while
    /// [`MetadataLocks::let_others_in`] is in force, and its schema against being dropped.
    fn lock_table(&mut self, schema: &str, table: &str) -> Result<()> {
        self.lock(schema, "", LockType::Shared)?;
        if self.is_locked(schema, table) {
            return Ok(());
        }
        let upgradable = LockId::upgradable_metadata(schema, table);
        let describe = || format!("definition of table `{schema}`.`{table}`");
        let patience = Patience { timeout_ms: self.timeout_ms, describe: &describe, row: None };
        self.engine.locks.acquire(&mut self.owner, upgradable, LockType::Exclusive, patience)?;
        self.lock(schema, table, LockType::Exclusive)
    }

    /// Lets transactions use a locked table, unless the session has locked it before; its
    /// definition stays locked.
    fn let_others_in(&mut self, schema: &str, table: &str) {
        if self.is_locked(schema, table) {
            return;
        }
        self.engine.locks.release(&mut self.owner, LockId::metadata(schema, table));
    }

    /// Locks the table against every use again, if it is not locked so.
    fn keep_others_out(&mut self, schema: &str, table: &str) -> Result<()> {
        self.lock(schema, table, LockType::Exclusive)
    }
}

impl Engine {
    fn metadata_locks<'e>(&'e self, context: &DdlContext<'e>) -> MetadataLocks<'e> {
        let mut owner = self.locks.owner();
        owner.set_important();
        if let Some(interrupt) = &context.interrupt {
            owner.set_interrupt(interrupt.clone());
        }
        if let Some(locked) = context.locked_tables {
            owner.set_works_under(locked.owner_id());
        }
        let timeout_ms = context.lock_timeout_ms.unwrap_or(self.config.lock_wait_timeout_ms);
        MetadataLocks { engine: self, owner, timeout_ms, locked_tables: context.locked_tables }
    }

    /// Logs a statement and its dictionary entries, and puts the entries into the dictionary.
    fn commit_ddl(&self, context: &DdlContext<'_>, dictionary: &[DictionaryOp]) -> Result<CommitOutcome> {
        let group = context.logged_group(self.config.server_id);
        let next_ids = *self.next_ids.lock();
        let parts = CommitParts {
            group: &group,
            spill: None,
            ddl: true,
            replacements: &[],
            dictionary,
            next_ids: Some(next_ids),
            xa: None,
            options: &context.options,
        };
        let outcome = self.commit_writes(&mut WriteSet::new(false), &mut SidecarWriter::default(), parts)?;
        self.sequencer.note_released(outcome.seq);
        Ok(outcome)
    }

    /// Logs a statement that changes nothing that the engine keeps, such as `CREATE USER` or
    /// `GRANT`, or `DROP TABLE IF EXISTS` of a table that does not exist.
    pub fn log_statement(&self, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        let outcome = self.commit_ddl(context, &[])?;
        self.finish_ddl(context, outcome)
    }

    /// Waits for the statement's record where the caller wants to.
    fn finish_ddl(&self, context: &DdlContext<'_>, outcome: CommitOutcome) -> Result<CommitOutcome> {
        self.settle_commit(outcome.seq, context.options.wait)?;
        Ok(outcome)
    }

    /// Hands out ids, and has the log know that they are used before anything is made under them.
    fn take_ids(&self, tables: u64, indexes: u32, spaces: u32) -> Result<NextIds> {
        let (first, next) = {
            let mut next = self.next_ids.lock();
            let first = *next;
            next.table += tables;
            next.index += indexes;
            next.space += spaces;
            (first, *next)
        };
        let options = CommitOptions {
            gtid: crate::commit::pipeline::GtidNext::Anonymous,
            binlog: false,
            ..CommitOptions::default()
        };
        let parts = CommitParts {
            group: &[],
            spill: None,
            ddl: false,
            replacements: &[],
            dictionary: &[],
            next_ids: Some(next),
            xa: None,
            options: &options,
        };
        self.commit_writes(&mut WriteSet::new(false), &mut SidecarWriter::default(), parts)?;
        Ok(first)
    }

    fn existing_table(&self, schema: &str, name: &str) -> Result<Arc<Table>> {
        let unknown = || EngineError::UnknownTable(schema.to_string(), name.to_string());
        self.catalog.table(schema, name).ok_or_else(unknown)
    }

    fn require_schema(&self, name: &str) -> Result<u64> {
        self.catalog.schema_id(name).ok_or_else(|| EngineError::UnknownSchema(name.to_string()))
    }

    fn refuse_existing_table(&self, def: &TableDef) -> Result<()> {
        match self.catalog.table(&def.schema, &def.name) {
            None if self.catalog.object(&def.schema, ObjectKind::View, &def.name).is_none() => Ok(()),
            _ => Err(EngineError::TableExists(def.name.clone())),
        }
    }
}
