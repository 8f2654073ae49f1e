//! What a DDL statement is given: its text and settings for the log, how it is committed, how long
//! it waits, and whom it tells where it is.

use crate::commit::pipeline::CommitOptions;
use crate::group::query::{self, SessionContext};
use crate::transaction::locked_tables::LockedTables;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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

    pub(super) fn enter(&self, stage: AlterStage) {
        if let Some(hook) = self.on_stage {
            (hook.0)(stage);
        }
    }
}
