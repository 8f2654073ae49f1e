//! The parts that all DDL statements share: ids, the commit record, and the checks before it.
//!
//! The engine's parts come in; commit records and the new content of the catalog go out. [`Ddl`] is
//! the part of the engine that runs DDL, and knows nothing of sessions and transactions.

use super::build::IndexBuilder;
use super::context::DdlContext;
use super::locks::MetadataLocks;
use super::settings::DdlSettings;
use super::sort::SortLimits;
use crate::catalog::Catalog;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts, Committer, GtidNext};
use crate::commit::sequencer::Sequencer;
use crate::commit::sidecar::{NextIds, SidecarWriter};
use crate::config::EngineConfig;
use crate::definition::{ObjectKind, TableDef};
use crate::dictionary::DictionaryOp;
use crate::emptying::Emptying;
use crate::error::{EngineError, Result};
use crate::lock::LockTable;
use crate::rows::Rows;
use crate::table::Table;
use crate::temporary_numbers::TemporaryNumbers;
use crate::transaction::write_set::WriteSet;
use crate::version::snapshot::Snapshots;
use buffer::Pool;
use parking_lot::Mutex;
use redo::Log;
use std::sync::Arc;

/// Runs DDL statements.
///
/// Invariant: a statement holds `one` from before its commit record to after its change of the
/// catalog, so that the dictionary and the catalog change in the same order.
pub(crate) struct Ddl {
    pub config: Arc<EngineConfig>,
    pub log: Arc<Log>,
    pub pool: Arc<Pool>,
    pub rows: Arc<Rows>,
    pub catalog: Arc<Catalog>,
    pub locks: Arc<LockTable>,
    pub snapshots: Arc<Snapshots>,
    pub sequencer: Arc<Sequencer>,
    pub committer: Arc<Committer>,
    pub next_ids: Arc<Mutex<NextIds>>,
    pub settings: DdlSettings,
    pub temporary: TemporaryNumbers,
    pub emptying: Arc<Emptying>,
    /// The mutex under which the last part of each statement runs, from before its commit to after
    /// it.
    pub one: Mutex<()>,
}

impl Ddl {
    pub(super) fn metadata_locks<'e>(&'e self, context: &DdlContext<'e>) -> MetadataLocks<'e> {
        MetadataLocks::new(&self.locks, context, self.config.lock_wait_timeout_ms)
    }

    /// Logs a statement with its dictionary entries, and puts the entries into the dictionary.
    pub(super) fn commit_ddl(
        &self,
        context: &DdlContext<'_>,
        dictionary: &[DictionaryOp],
    ) -> Result<CommitOutcome> {
        let group = context.logged_group(self.config.server_id);
        let next_ids = *self.next_ids.lock();
        let parts = CommitParts {
            group: &group,
            spill: None,
            ddl: true,
            only_rows: false,
            replacements: &[],
            dictionary,
            next_ids: Some(next_ids),
            xa: None,
            options: &context.options,
        };
        let outcome =
            self.committer.commit_writes(&mut WriteSet::new(false), &mut SidecarWriter::default(), parts)?;
        self.sequencer.note_released(outcome.seq);
        Ok(outcome)
    }

    /// Logs a statement that changes nothing that the engine keeps, such as `CREATE USER`, `GRANT`,
    /// or `DROP TABLE IF EXISTS` of a table that does not exist.
    pub fn log_statement(&self, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        let outcome = self.commit_ddl(context, &[])?;
        self.finish_ddl(context, outcome)
    }

    /// Waits for the statement's record if the caller wants that.
    pub(super) fn finish_ddl(
        &self,
        context: &DdlContext<'_>,
        outcome: CommitOutcome,
    ) -> Result<CommitOutcome> {
        self.committer.settle_commit(outcome.seq, context.options.wait)?;
        Ok(outcome)
    }

    /// Hands out ids, and logs that they are used before anything is made under them.
    pub(super) fn take_ids(&self, tables: u64, indexes: u32, spaces: u32) -> Result<NextIds> {
        let (first, next) = {
            let mut next = self.next_ids.lock();
            let first = *next;
            next.table += tables;
            next.index += indexes;
            next.space += spaces;
            let is_later =
                next.table >= first.table && next.index >= first.index && next.space >= first.space;
            assert!(is_later, "ids are used once, and {first:?} are the last that there were");
            (first, *next)
        };
        self.commit_unlogged(&[], Some(next))?;
        Ok(first)
    }

    /// Commits a change that no binary log has and no statement made.
    pub(super) fn commit_unlogged(
        &self,
        dictionary: &[DictionaryOp],
        next_ids: Option<NextIds>,
    ) -> Result<CommitOutcome> {
        let options = CommitOptions { gtid: GtidNext::Anonymous, binlog: false, ..CommitOptions::default() };
        let parts = CommitParts {
            group: &[],
            spill: None,
            ddl: false,
            only_rows: false,
            replacements: &[],
            dictionary,
            next_ids,
            xa: None,
            options: &options,
        };
        self.committer.commit_writes(&mut WriteSet::new(false), &mut SidecarWriter::default(), parts)
    }

    pub(super) fn existing_table(&self, schema: &str, name: &str) -> Result<Arc<Table>> {
        let unknown = || EngineError::UnknownTable(schema.to_string(), name.to_string());
        self.catalog.table(schema, name).ok_or_else(unknown)
    }

    pub(super) fn require_schema(&self, name: &str) -> Result<u64> {
        self.catalog.schema_id(name).ok_or_else(|| EngineError::UnknownSchema(name.to_string()))
    }

    pub(super) fn refuse_existing_table(&self, def: &TableDef) -> Result<()> {
        match self.catalog.table(&def.schema, &def.name) {
            None if self.catalog.object(&def.schema, ObjectKind::View, &def.name).is_none() => Ok(()),
            _ => Err(EngineError::TableExists(def.name.clone())),
        }
    }

    pub(super) fn sort_limits(&self) -> SortLimits {
        SortLimits {
            disk: self.config.disk.clone(),
            tmpdir: self.config.tmpdir.clone(),
            buffer_bytes: self.config.sort_buffer_bytes,
        }
    }

    pub(super) fn builder(&self) -> IndexBuilder<'_> {
        IndexBuilder { rows: &self.rows, snapshots: &self.snapshots, sequencer: &self.sequencer }
    }
}
