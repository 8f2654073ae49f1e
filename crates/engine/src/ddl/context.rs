//! The input of a DDL statement besides its definition: its text and settings for the log, how it
//! is committed, how long it waits, and which hook is told of its stages.

use crate::commit::pipeline::CommitOptions;
use crate::group::query::{self, QueryKind, SessionContext};
use crate::row_forms::InstantColumns;
use crate::transaction::locked_tables::LockedTables;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A DDL statement as it is to be logged, and its options.
#[derive(Clone, Debug)]
pub struct DdlContext<'a> {
    /// The statement's text for its Query event.
    pub statement: &'a str,
    /// The session's current schema; empty when there is none.
    pub schema: &'a str,
    /// The session settings that the statement runs under.
    pub session: &'a SessionContext,
    /// The event group as it was received from a source. It is used instead of an event made of
    /// `statement`.
    pub received_group: Option<&'a [u8]>,
    /// The options of the commit.
    pub options: CommitOptions<'a>,
    /// `lock_wait_timeout` in milliseconds. `None` means the engine's.
    pub lock_timeout_ms: Option<u64>,
    /// The tables that the session has locked already.
    pub locked_tables: Option<&'a LockedTables>,
    /// The flag that ends the statement when it becomes true (`KILL`).
    pub interrupt: Option<Arc<AtomicBool>>,
    /// The flag that ends the statement's waits for locks when it becomes true (`STOP REPLICA`). It
    /// lets the statement's work go on. `None` means that `interrupt` ends the waits.
    pub lock_interrupt: Option<Arc<AtomicBool>>,
    /// Whether nobody else may use the table while the statement runs (`LOCK=SHARED`,
    /// `LOCK=EXCLUSIVE`).
    pub exclusive: bool,
    /// The columns that an ALTER TABLE adds and drops without writing the rows anew, if the rest of
    /// what it does allows that ([`crate::Engine::must_rebuild`]).
    pub instant: InstantColumns,
    /// The condition of the rows that an ALTER TABLE removes with their partitions, as the text of
    /// an expression over the columns. They are gone at once and are deleted afterwards.
    pub dropped_rows: Option<&'a str>,
    /// The columns to which an ALTER TABLE gives other names (from, to).
    pub renamed_columns: &'a [(String, String)],
    /// The wanted counter of `ALTER TABLE ... AUTO_INCREMENT=`. Greater values in rows raise it.
    pub auto_increment: Option<u64>,
    /// The hook that is told of the statement's stages.
    pub on_stage: Option<StageHook<'a>>,
}

/// The stages of an ALTER TABLE that builds indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterStage {
    /// The statement reads the table and sorts the keys.
    ReadPk,
    /// The statement merges the sorted keys into the new indexes.
    MergeSort,
    /// The statement writes the pages of the new indexes that are not on disk yet.
    Flush,
    /// The statement puts the changes that others made meanwhile into the new indexes.
    LogApplyIndex,
    /// The statement does its last part, with the table locked.
    End,
}

impl AlterStage {
    /// Returns MySQL's name of the stage (`performance_schema.events_stages_current`).
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

/// The function that is called when a statement enters a stage.
#[derive(Clone, Copy)]
pub struct StageHook<'a>(pub &'a (dyn Fn(AlterStage) + Sync));

impl std::fmt::Debug for StageHook<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StageHook")
    }
}

impl<'a> DdlContext<'a> {
    /// Returns the statement's event group. Its server id is this server's unless the options have
    /// another.
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
        let statement = (QueryKind::Definition, self.statement.as_bytes());
        query::put_statement(&mut group, server_id, &session, self.schema, statement);
        Cow::Owned(group)
    }

    /// Returns the context of a statement with the engine's defaults.
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
            lock_interrupt: None,
            exclusive: false,
            instant: InstantColumns::default(),
            dropped_rows: None,
            renamed_columns: &[],
            auto_increment: None,
            on_stage: None,
        }
    }

    pub(super) fn enter(&self, stage: AlterStage) {
        if let Some(hook) = self.on_stage {
            (hook.0)(stage);
        }
    }
}
