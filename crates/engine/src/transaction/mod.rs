//! Transactions: what a session does between BEGIN and COMMIT.
//!
//! A transaction's changes are private to it ([`write_set`]) until it commits; its own reads merge
//! them over the pages. Row locks are taken as statements run and held to the end. The event group
//! grows with each statement ([`crate::group`]).
//!
//! Isolation:
//! - REPEATABLE READ: plain reads see one snapshot, which the first of them opens.
//! - A snapshot includes every commit whose locks the transaction has got, and every commit whose
//!   rows it has read under locks.
//! - READ COMMITTED: each statement has its own snapshot. READ UNCOMMITTED behaves as READ
//!   COMMITTED, because uncommitted changes of others are on no page.
//! - SERIALIZABLE: plain reads take shared locks and read the newest committed rows. The exception
//!   is a plain read that is a transaction by itself (autocommit).
//! - Locking reads and the reads of UPDATE and DELETE lock rows and then see their newest committed
//!   state, as in InnoDB. Under REPEATABLE READ and SERIALIZABLE they also lock the gaps that they
//!   pass ([`locking`]).
//!
//! Invariants:
//! - A statement that fails leaves the transaction as it was at the statement's savepoint, except
//!   for locks.
//! - A transaction that ends, in any way, holds no lock, no snapshot and no table.

pub(crate) mod ahead;
pub(crate) mod apply;
mod cascade;
mod change;
mod changes;
mod dropped;
mod follow;
pub(crate) mod foreign_key;
mod gap_scan;
mod journal;
mod kept;
pub(crate) mod key_range;
mod lent;
mod located;
pub(crate) mod locked_tables;
mod locking;
pub(crate) mod logged;
pub(crate) mod memory;
pub(crate) mod mode;
mod new_keys;
mod overlap;
mod owed;
mod read;
mod read_view;
mod received;
mod requests;
mod row_access;
pub(crate) mod row_change;
pub(crate) mod scan;
pub(crate) mod spent;
pub(crate) mod table_hold;
pub(crate) mod temporary;
mod unique;
mod used_tables;
pub(crate) mod write_set;
pub(crate) mod xa;
mod zone_walk;

use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts};
use crate::config::RowImage;
use crate::ddl::DdlContext;
use crate::error::{EngineError, Result};
use crate::group::statement::LoggedStatement;
use crate::status::bump;
use crate::table::Table;
use crate::{Engine, commit};
use binlog::Xid;
use binlog::event::rows_flag;
use changes::{Changes, ChangesMark};
use locked_tables::LockedTables;
use memory::{Memory, MemoryBudget};
use mode::{ForeignKeys, Isolation};
use redo::Lsn;
use row_access::RowAccess;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The facts about a statement that its log entry needs.
#[derive(Clone, Debug, Default)]
pub struct StatementContext {
    /// The time when the statement began, in microseconds of Unix time. 0 means now.
    pub timestamp_us: u64,
    /// The text of the statement, if `binlog_rows_query_log_events` is on.
    pub rows_query: Option<String>,
}

/// A point that a transaction can go back to. It lies between statements, at a statement's
/// beginning, or, for a statement of a function or a trigger, within the statement around it.
#[derive(Clone, Copy, Debug)]
pub struct Savepoint {
    changes: ChangesMark,
    announced: u64,
    /// Whether the savepoint was set before the transaction used any table.
    is_start: bool,
}

/// A transaction. It is rolled back if it is dropped without a commit.
pub struct Transaction {
    /// The parts that reading and changing rows works on.
    rows: RowAccess,
    read_only: bool,
    /// Whether the transaction's group has a statement that makes a table.
    defines: bool,
}

impl Transaction {
    #[inline]
    pub(crate) fn new(engine: Arc<Engine>, isolation: Isolation, journalled: bool) -> Transaction {
        Transaction { rows: RowAccess::new(engine, isolation, journalled), read_only: false, defines: false }
    }

    /// Returns what [`Transaction::new`] does, in a box. The transaction, which is large, is made
    /// in the box's own memory instead of being copied there.
    pub(crate) fn boxed(engine: Arc<Engine>, isolation: Isolation, journalled: bool) -> Box<Transaction> {
        Box::write(Box::new_uninit(), Transaction::new(engine, isolation, journalled))
    }

    /// Returns the engine that the transaction is in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.rows.engine
    }

    /// Sets the budget that limits the memory of the transaction's changes. Without one there is no
    /// limit.
    pub fn set_memory_budget(&mut self, budget: Arc<dyn MemoryBudget>) {
        self.rows.locks.memory = Memory::of(budget);
    }

    /// Sets whether the transaction is a single statement in autocommit mode.
    pub fn set_autocommit(&mut self, autocommit: bool) {
        self.rows.view.autocommit = autocommit;
    }

    /// Sets the id of the connection that the transaction belongs to, for reports.
    pub fn set_connection_id(&mut self, connection_id: u64) {
        self.rows.locks.owner.set_connection_id(connection_id);
    }

    /// Returns the isolation level of the transaction.
    pub fn isolation(&self) -> Isolation {
        self.rows.view.isolation
    }

    /// Returns the number of the transaction, as reports of deadlocks show it.
    pub fn id(&self) -> u64 {
        self.rows.locks.owner.id()
    }

    /// Sets whether changes are refused from here on (`START TRANSACTION READ ONLY`).
    pub fn set_read_only(&mut self, read_only: bool) {
        self.read_only = read_only;
    }

    /// Notes that the group has a statement that makes a table, which other transactions may use
    /// only after this one.
    pub fn set_defines(&mut self) {
        self.defines = true;
    }

    /// Notes, before the first change, which XA transaction this is.
    pub fn set_xid(&mut self, xid: Xid) {
        self.rows.changes.group.set_xid(xid);
    }

    /// Sets the session's `binlog_row_image`.
    pub fn set_row_image(&mut self, image: RowImage) {
        self.rows.changes.group.set_image(image);
    }

    /// Sets the session's `foreign_key_checks` and `unique_checks`. Unique keys are enforced even
    /// without the second; the flags of the row events say both.
    pub fn set_checks(&mut self, foreign_keys: bool, unique: bool) {
        self.rows.foreign_keys = if foreign_keys { ForeignKeys::Enforced } else { ForeignKeys::Off };
        let flag = |on: bool, flag: u16| if on { 0 } else { flag };
        self.rows.changes.group.set_row_flags(
            rows_flag::USE_SQL_FOREIGN_KEY
                | flag(foreign_keys, rows_flag::NO_FOREIGN_KEY_CHECKS)
                | flag(unique, rows_flag::RELAXED_UNIQUE_CHECKS),
        );
    }

    /// Sets the session's `innodb_lock_wait_timeout`, in milliseconds.
    pub fn set_row_lock_timeout_ms(&mut self, timeout_ms: u64) {
        self.rows.locks.row_timeout_ms = timeout_ms;
    }

    /// Sets the session's `lock_wait_timeout`, in milliseconds.
    pub fn set_metadata_lock_timeout_ms(&mut self, timeout_ms: u64) {
        self.rows.locks.metadata_timeout_ms = timeout_ms;
    }

    /// Sets the flag that ends this transaction's lock waits when it becomes true (`KILL`).
    pub fn set_interrupt(&mut self, interrupt: Arc<AtomicBool>) {
        self.rows.locks.owner.set_interrupt(interrupt);
    }

    /// Reports whether the interrupt flag is set.
    pub fn is_interrupted(&self) -> bool {
        self.rows.locks.owner.is_interrupted()
    }

    /// Returns [`EngineError::Interrupted`] when the interrupt flag is set.
    pub fn check_interrupt(&self) -> Result<()> {
        self.rows.check_interrupt()
    }

    /// Notes that the transaction belongs to a session that has locked these tables. The
    /// transaction itself takes no lock on their metadata.
    pub fn set_locked_tables(&mut self, locked: Arc<LockedTables>) {
        self.rows.locks.owner.set_works_under(locked.owner_id());
        self.rows.tables.set_locked_tables(locked);
    }

    /// Takes a table for this transaction alone until it ends, if no other transaction uses it, so
    /// that changing rows locks none of them. Returns false, and the rows are locked as always,
    /// when that cannot be had at once.
    ///
    /// # Errors
    /// Returns the errors of beginning to use the table.
    pub fn take_alone(&mut self, table: &Arc<Table>) -> Result<bool> {
        self.rows.use_table_to_change(table)?;
        Ok(self.rows.tables.are_own() && self.rows.locks.take_alone(&self.rows.engine, table))
    }

    /// Reports whether the transaction has changed anything that the log gets.
    pub fn has_changes(&self) -> bool {
        !self.rows.changes.writes.is_empty()
    }

    /// Reports whether the transaction has changed rows of temporary tables.
    pub fn has_temporary_changes(&self) -> bool {
        self.rows.changes.has_temporary()
    }

    /// Returns the number of locks that the transaction holds.
    pub fn lock_count(&self) -> usize {
        self.rows.locks.owner.held()
    }

    /// Opens the snapshot now (`START TRANSACTION WITH CONSISTENT SNAPSHOT`).
    pub fn open_snapshot(&mut self) -> Result<()> {
        self.rows.open_snapshot()
    }

    /// Begins a statement. Returns the savepoint to go back to if the statement fails.
    pub fn begin_statement(&mut self, context: StatementContext) -> Savepoint {
        let timestamp_us = if context.timestamp_us == 0 { os::clock::now_us() } else { context.timestamp_us };
        let savepoint = self.savepoint();
        self.rows.changes.group.begin_statement((timestamp_us / 1_000_000) as u32, context.rows_query);
        savepoint
    }

    /// Begins a statement that changes no row, so that there is nothing to take back if it fails.
    /// [`Transaction::end_reading`] ends it.
    pub fn begin_reading(&mut self, timestamp_us: u64) {
        // What a statement that has failed left open ends where the next one begins.
        self.end_reading();
        self.rows.changes.group.begin_statement((timestamp_us / 1_000_000) as u32, None);
    }

    /// Ends a statement that changed no row, whether it succeeded or not.
    pub fn end_reading(&mut self) {
        self.rows.pass_rows_read_on();
        self.rows.view.end_statement(&self.rows.engine);
    }

    /// Ends a statement that succeeded.
    pub fn end_statement(&mut self) {
        self.rows.changes.group.end_statement();
        self.rows.pass_rows_read_on();
        self.rows.view.end_statement(&self.rows.engine);
    }

    /// Ends a statement that succeeded. The binary log is to have the statement's text in place of
    /// the rows that it changed.
    pub fn end_statement_as_text(&mut self, text: &LoggedStatement<'_>) {
        let events = text.encode(self.rows.engine.config.server_id);
        self.rows.changes.group.end_statement_as(events);
        self.end_statement();
    }

    /// Ends a statement that succeeded and of which the binary log is to have nothing
    /// (`binlog_ignore_db`).
    pub fn end_statement_unlogged(&mut self) {
        self.rows.changes.group.end_statement_as(Vec::new());
        self.end_statement();
    }

    /// Ends the statement that is running, if one is, and returns the transaction's present point
    /// (`SAVEPOINT`).
    pub fn savepoint(&mut self) -> Savepoint {
        self.end_statement();
        self.mark()
    }

    /// Returns the transaction's present point within the statement that is running. A statement of
    /// a function or a trigger goes back there if it fails, and the statement around it goes on.
    pub fn savepoint_within(&mut self) -> Savepoint {
        self.rows.changes.group.len_within();
        self.mark()
    }

    fn mark(&self) -> Savepoint {
        Savepoint {
            changes: self.rows.changes.mark(),
            announced: self.rows.locks.owner.announced(),
            is_start: self.is_untouched(),
        }
    }

    /// Reports whether the transaction has used no table and opened no snapshot.
    pub fn is_untouched(&self) -> bool {
        self.rows.tables.is_empty() && !self.rows.view.is_open()
    }

    /// Takes back every change since the savepoint (`ROLLBACK TO SAVEPOINT`). Locks stay. As in
    /// MySQL, going back to a savepoint that was set before the transaction used any table ends the
    /// transaction in the engine: locks and snapshot are released too.
    pub fn rollback_to_savepoint(&mut self, savepoint: Savepoint) {
        self.rollback_to(savepoint);
        if savepoint.is_start {
            self.rows.release();
        }
    }

    /// Takes back every change since the savepoint, after a statement failed. Locks stay.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        let RowAccess { engine, locks, changes, .. } = &mut self.rows;
        changes.rollback_to(savepoint.changes);
        locks.owner.set_changes(changes.writes.changes);
        engine.locks.withdraw_announced(&mut locks.owner, savepoint.announced);
    }

    /// Refuses to change the table in a READ ONLY transaction, which may change temporary tables
    /// only.
    fn check_writable(&self, table: &Table) -> Result<()> {
        if self.read_only && !table.is_temporary() { Err(EngineError::ReadOnlyTransaction) } else { Ok(()) }
    }

    /// Commits the transaction. After an error it is rolled back.
    pub fn commit(mut self, options: &CommitOptions<'_>) -> Result<CommitOutcome> {
        self.commit_in_place(options)
    }

    /// Does what [`Transaction::commit`] does, for an owner that cannot move the transaction.
    /// Afterwards the owner may only drop or spend it.
    pub fn commit_in_place(&mut self, options: &CommitOptions<'_>) -> Result<CommitOutcome> {
        self.rows.changes.reserve_temporary()?;
        if self.rows.changes.writes.is_empty() {
            self.rows.changes.put_temporary_on_pages(&self.rows.engine.rows.pool);
            self.rows.release();
            if let commit::pipeline::GtidNext::Given(_) = options.gtid {
                return self.rows.engine.committer.commit_empty(options);
            }
            if options.wait {
                self.rows.engine.sequencer.wait_visible(self.rows.locks.owner.depends_on());
            }
            return Ok(CommitOutcome { seq: self.rows.engine.sequencer.visible(), gtid: None });
        }
        let _state = os::account::enter(os::account::State::Commit);
        self.rows.changes.group.finish(self.rows.engine.next_xid());
        let outcome = self.log_and_apply(options, false);
        self.finish_commit(outcome, options)
    }

    /// Commits a transaction for which the binary log is to have a statement, which is a group of
    /// its own, in place of the rows. A statement about accounts changes rows of tables here, and
    /// replicas execute the statement themselves. It is logged even if it has changed no rows.
    pub fn commit_as_statement(&mut self, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        assert!(!self.rows.changes.has_temporary(), "accounts are in no temporary table");
        if self.rows.changes.writes.is_empty() {
            self.rows.release();
            return self.rows.engine.log_statement(context);
        }
        let _state = os::account::enter(os::account::State::Commit);
        self.rows.changes.group.finish(self.rows.engine.next_xid());
        self.rows
            .changes
            .group
            .replace_all(context.logged_group(self.rows.engine.config.server_id).into_owned());
        let outcome = self.log_and_apply(&context.options, true);
        self.finish_commit(outcome, &context.options)
    }

    /// Runs steps 1 to 6 of a commit. `ddl` says that the binary log has a statement by itself.
    fn log_and_apply(&mut self, options: &CommitOptions<'_>, ddl: bool) -> Result<CommitOutcome> {
        let RowAccess { engine, changes, .. } = &mut self.rows;
        let Changes { group, writes, sidecar, .. } = changes;
        let is_large = group.len() + writes.entry_bytes() > engine.config.spill_bytes;
        let spill = group.take_spilled(is_large)?;
        let options = &CommitOptions { binlog: options.binlog && !group.is_left_out(), ..*options };
        let parts = CommitParts {
            group: if spill.is_some() { &[] } else { group.bytes() },
            spill,
            ddl,
            only_rows: group.has_only_rows(),
            replacements: group.replacements(),
            dictionary: &[],
            next_ids: None,
            xa: None,
            options,
        };
        engine.committer.commit_writes(writes, sidecar, parts)
    }

    /// Runs steps 7 and 8 of a commit.
    fn finish_commit(
        &mut self,
        outcome: Result<CommitOutcome>,
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        if let Ok(outcome) = &outcome {
            self.rows.note_committed(outcome.seq);
            self.rows.changes.put_temporary_on_pages(&self.rows.engine.rows.pool);
        }
        self.rows.release();
        let outcome = outcome?;
        self.rows.engine.committer.settle_commit(outcome.seq, options.wait)?;
        Ok(outcome)
    }

    /// Returns the newest commit whose effect the transaction has seen, by a row that it read or a
    /// lock that it got. A client must not be told what was read before that commit is visible to
    /// everybody ([`Engine::wait_visible`]). The transaction's own snapshots and its commit wait by
    /// themselves.
    pub fn depends_on(&self) -> Lsn {
        self.rows.locks.owner.depends_on()
    }

    /// Rolls the transaction back.
    pub fn rollback(mut self) {
        self.end_without_commit();
    }

    fn end_without_commit(&mut self) {
        self.rows.pass_rows_read_on();
        if self.rows.is_released() {
            return;
        }
        if !self.rows.changes.writes.is_empty() {
            bump(&self.rows.engine.counters.rollbacks, 1);
        }
        self.rows.release();
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.end_without_commit();
    }
}
