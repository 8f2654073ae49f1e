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
pub(crate) mod change;
mod follow;
pub(crate) mod foreign_key;
mod gap_scan;
mod journal;
pub(crate) mod key_range;
mod lent;
pub(crate) mod locked_tables;
mod locking;
pub(crate) mod logged;
pub(crate) mod memory;
mod owed;
pub(crate) mod read;
pub(crate) mod row_change;
pub(crate) mod scan;
pub(crate) mod table_hold;
pub(crate) mod temporary;
pub(crate) mod unique;
pub(crate) mod write_set;
pub(crate) mod xa;

use crate::bytes::KeyBuf;
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts};
use crate::commit::sidecar::SidecarWriter;
use crate::config::RowImage;
use crate::ddl::DdlContext;
use crate::entry::Externs;
use crate::error::{EngineError, Result};
use crate::group::statement::LoggedStatement;
use crate::group::{GroupBuilder, GroupOptions};
use crate::lock::{LockId, LockOwner, LockType, Patience};
use crate::status::bump;
use crate::table::Table;
use crate::transaction::memory::{Memory, MemoryBudget};
use crate::version::snapshot::Snapshot;
use crate::version::view::View;
use crate::{Engine, commit};
use binlog::event::rows_flag;
use buffer::FoundLeaf;
use locked_tables::LockedTables;
use redo::Lsn;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use temporary::TemporaryWrites;
use write_set::{WriteMark, WriteSet};

/// The isolation level of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Behaves as READ COMMITTED.
    ReadUncommitted,
    /// Each statement has a snapshot of its own.
    ReadCommitted,
    /// The whole transaction has one snapshot.
    #[default]
    RepeatableRead,
    /// Plain reads take locks.
    Serializable,
}

/// What the engine does about foreign keys when a row is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForeignKeys {
    /// Violations are refused, and the changes of child rows that follow are made.
    Enforced,
    /// The changes of child rows that follow are made. The source has checked the rest.
    Followed,
    /// Nothing is done (`foreign_key_checks=0`).
    Off,
}

/// The mode in which a row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// The row as the snapshot sees it, without a lock (but see [`Isolation::Serializable`]).
    Snapshot,
    /// The newest committed row, locked against change (`FOR SHARE`).
    Share,
    /// The newest committed row, locked against everyone (`FOR UPDATE`, UPDATE, DELETE).
    Update,
}

/// A row as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The row's key in the clustered index.
    pub key: Vec<u8>,
    /// The full row image.
    pub image: Vec<u8>,
}

/// The facts about a row that was locked for update and read, besides the row itself. They stay
/// true as long as the transaction keeps the lock and does not change the row.
struct LastRead {
    table_id: u64,
    key: KeyBuf,
    seq: u64,
    externs: Externs,
    leaf: Option<FoundLeaf>,
}

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
    writes: WriteMark,
    temporary: WriteMark,
    group_len: usize,
    sidecar: (usize, usize),
    announced: u64,
    /// Whether the savepoint was set before the transaction used any table.
    is_start: bool,
}

/// A table that a transaction uses.
struct UsedTable {
    table: Arc<Table>,
    /// Whether the table's metadata is locked as that of a table whose rows are changed.
    to_change: bool,
}

/// A transaction. It is rolled back if it is dropped without a commit.
pub struct Transaction {
    pub(crate) engine: Arc<Engine>,
    isolation: Isolation,
    autocommit: bool,
    read_only: bool,
    snapshot: Option<Snapshot>,
    pub(crate) locks: LockOwner,
    /// The lock of the row that was read last, if reading it took the lock.
    last_lock: Option<LockId>,
    /// The row that was read last and locked for update.
    last_read: Option<LastRead>,
    /// The tables in use, whose metadata is locked.
    tables: SmallVec<[UsedTable; 4]>,
    /// The tables that the session has locked (`LOCK TABLES`).
    locked_tables: Option<Arc<LockedTables>>,
    /// The changes of all tables except temporary ones.
    pub(crate) writes: WriteSet,
    /// The changes of temporary tables, of which nothing goes into the log.
    temporary: TemporaryWrites,
    pub(crate) group: GroupBuilder,
    /// How many bytes of the group were spilled when that was looked at last.
    seen_spilled: usize,
    pub(crate) sidecar: SidecarWriter,
    row_lock_timeout_ms: u64,
    metadata_lock_timeout_ms: u64,
    /// Whether a [`table_hold::TableHold`] has the metadata locks.
    tables_held: bool,
    foreign_keys: ForeignKeys,
    /// Whether the transaction waits for locks. Otherwise it gets
    /// [`EngineError::LockNotAvailable`].
    waits: bool,
    /// The checks that the transaction's turn owes, while it is being applied ahead of that turn.
    ahead: Option<owed::Owed>,
    /// Whether the transaction's group has a statement that makes a table.
    defines: bool,
    memory: Memory,
}

impl Transaction {
    pub(crate) fn new(engine: Arc<Engine>, isolation: Isolation, journalled: bool) -> Transaction {
        let config = &engine.config;
        let options = GroupOptions {
            server_id: config.server_id,
            image: config.binlog_row_image,
            row_event_max_bytes: config.binlog_row_event_max_bytes,
            full_metadata: engine.full_row_metadata(),
            limit_bytes: config.max_binlog_cache_bytes,
            spill_bytes: config.spill_bytes,
            row_flags: rows_flag::USE_SQL_FOREIGN_KEY,
        };
        let group = GroupBuilder::new(engine.spills.clone(), options);
        Transaction {
            isolation,
            autocommit: false,
            read_only: false,
            snapshot: None,
            locks: engine.locks.owner(),
            last_lock: None,
            last_read: None,
            tables: SmallVec::new(),
            locked_tables: None,
            writes: WriteSet::new(journalled),
            temporary: TemporaryWrites::new(engine.spills.clone(), config.spill_bytes),
            group,
            seen_spilled: 0,
            sidecar: SidecarWriter::default(),
            row_lock_timeout_ms: config.innodb_lock_wait_timeout_ms,
            metadata_lock_timeout_ms: config.lock_wait_timeout_ms,
            tables_held: false,
            foreign_keys: ForeignKeys::Enforced,
            waits: true,
            ahead: None,
            defines: false,
            memory: Memory::default(),
            engine,
        }
    }

    /// Returns the engine that the transaction is in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Sets the budget that limits the memory of the transaction's changes. Without one there is no
    /// limit.
    pub fn set_memory_budget(&mut self, budget: Arc<dyn MemoryBudget>) {
        self.memory = Memory::of(budget);
    }

    /// Sets whether the transaction is a single statement in autocommit mode.
    pub fn set_autocommit(&mut self, autocommit: bool) {
        self.autocommit = autocommit;
    }

    /// Sets the id of the connection that the transaction belongs to, for reports.
    pub fn set_connection_id(&mut self, connection_id: u64) {
        self.locks.set_connection_id(connection_id);
    }

    /// Returns the isolation level of the transaction.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Returns the number of the transaction, as reports of deadlocks show it.
    pub fn id(&self) -> u64 {
        self.locks.id()
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

    /// Sets the session's `binlog_row_image`.
    pub fn set_row_image(&mut self, image: RowImage) {
        self.group.set_image(image);
    }

    /// Sets the session's `foreign_key_checks` and `unique_checks`. Unique keys are enforced even
    /// without the second; the flags of the row events say both.
    pub fn set_checks(&mut self, foreign_keys: bool, unique: bool) {
        self.foreign_keys = if foreign_keys { ForeignKeys::Enforced } else { ForeignKeys::Off };
        let flag = |on: bool, flag: u16| if on { 0 } else { flag };
        self.group.set_row_flags(
            rows_flag::USE_SQL_FOREIGN_KEY
                | flag(foreign_keys, rows_flag::NO_FOREIGN_KEY_CHECKS)
                | flag(unique, rows_flag::RELAXED_UNIQUE_CHECKS),
        );
    }

    /// Sets the session's `innodb_lock_wait_timeout`, in milliseconds.
    pub fn set_row_lock_timeout_ms(&mut self, timeout_ms: u64) {
        self.row_lock_timeout_ms = timeout_ms;
    }

    /// Sets the session's `lock_wait_timeout`, in milliseconds.
    pub fn set_metadata_lock_timeout_ms(&mut self, timeout_ms: u64) {
        self.metadata_lock_timeout_ms = timeout_ms;
    }

    /// Sets the flag that ends this transaction's lock waits when it becomes true (`KILL`).
    pub fn set_interrupt(&mut self, interrupt: Arc<AtomicBool>) {
        self.locks.set_interrupt(interrupt);
    }

    /// Reports whether the interrupt flag is set.
    pub fn is_interrupted(&self) -> bool {
        self.locks.is_interrupted()
    }

    /// Returns [`EngineError::Interrupted`] when the interrupt flag is set.
    pub fn check_interrupt(&self) -> Result<()> {
        if self.is_interrupted() { Err(EngineError::Interrupted) } else { Ok(()) }
    }

    /// Notes that the transaction belongs to a session that has locked these tables. The
    /// transaction itself takes no lock on their metadata.
    pub fn set_locked_tables(&mut self, locked: Arc<LockedTables>) {
        self.locks.set_works_under(locked.owner_id());
        self.locked_tables = Some(locked);
    }

    /// Reports whether the transaction has changed anything that the log gets.
    pub fn has_changes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Reports whether the transaction has changed rows of temporary tables.
    pub fn has_temporary_changes(&self) -> bool {
        !self.temporary.writes.is_empty()
    }

    /// Returns the write set that has the transaction's changes of a table.
    #[inline]
    fn writes_of(&self, table: &Table) -> &WriteSet {
        if table.is_temporary() { &self.temporary.writes } else { &self.writes }
    }

    #[inline]
    fn writes_of_mut(&mut self, table: &Table) -> &mut WriteSet {
        if table.is_temporary() { &mut self.temporary.writes } else { &mut self.writes }
    }

    /// Returns the number of locks that the transaction holds.
    pub fn lock_count(&self) -> usize {
        self.locks.held()
    }

    /// Looks a table up and keeps its definition from changing until the transaction ends.
    pub fn open_table(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        let is_named = |table: &Table| table.def.name == name && table.def.schema == schema;
        let used = self.tables.iter().find(|used| is_named(&used.table) && !used.table.is_temporary());
        if let Some(used) = used {
            return Ok(used.table.clone());
        }
        self.lock_metadata(schema, name, LockType::Shared)?;
        let unknown = || EngineError::UnknownTable(schema.to_string(), name.to_string());
        let table = self.engine.catalog.table(schema, name).ok_or_else(unknown)?;
        self.adopt(table.clone(), false)?;
        Ok(table)
    }

    /// Takes the metadata locks of all tables that a statement changes, and then of the tables that
    /// it reads, so that DDL can change none of them between the statement's first row and its
    /// last.
    ///
    /// # Errors
    /// Returns [`EngineError::TableChanged`] when a table is not the one that the catalog has now,
    /// and the errors of a wait for a lock.
    pub fn use_tables<'t>(
        &mut self,
        changed: impl IntoIterator<Item = &'t Arc<Table>>,
        read: impl IntoIterator<Item = &'t Arc<Table>>,
    ) -> Result<()> {
        changed.into_iter().try_for_each(|table| self.use_table_to_change(table))?;
        read.into_iter().try_for_each(|table| self.use_table(table))
    }

    /// Uses a table that was looked up before, unless it has changed since.
    pub(crate) fn use_table(&mut self, table: &Arc<Table>) -> Result<()> {
        self.use_table_in(table, false)
    }

    /// Does what [`Transaction::use_table`] does, for changing rows of the table or locking them to
    /// be changed: it also waits for sessions that want the rows to stay as they are.
    pub(crate) fn use_table_to_change(&mut self, table: &Arc<Table>) -> Result<()> {
        self.memory.check(self.locks.held())?;
        self.use_table_in(table, true)
    }

    #[inline]
    fn use_table_in(&mut self, table: &Arc<Table>, to_change: bool) -> Result<()> {
        let is_used = |used: &UsedTable| Arc::ptr_eq(&used.table, table) && (used.to_change || !to_change);
        if self.tables_held || self.tables.iter().any(is_used) {
            return Ok(());
        }
        self.begin_use(table, to_change)
    }

    /// Reports whether the transaction holds the metadata lock that changing rows of the table
    /// takes.
    fn may_change(&self, table: &Table) -> bool {
        self.tables_held || self.tables.iter().any(|used| used.to_change && used.table.id == table.id)
    }

    fn begin_use(&mut self, table: &Arc<Table>, to_change: bool) -> Result<()> {
        if table.is_temporary() {
            table.check_lives()?;
        } else {
            let mode = if to_change { LockType::SharedWrite } else { LockType::Shared };
            self.lock_metadata(&table.def.schema, &table.def.name, mode)?;
        }
        if let Some(used) = self.tables.iter_mut().find(|used| Arc::ptr_eq(&used.table, table)) {
            used.to_change = true;
            return Ok(());
        }
        match self.engine.catalog.table_by_id(table.id) {
            _ if table.is_temporary() => self.adopt(table.clone(), to_change),
            Some(current) if Arc::ptr_eq(&current, table) => self.adopt(current, to_change),
            _ => Err(EngineError::TableChanged(table.def.name.clone())),
        }
    }

    fn lock_metadata(&mut self, schema: &str, table: &str, mode: LockType) -> Result<()> {
        if self.locked_tables.as_ref().is_some_and(|locked| locked.has(schema, table)) {
            return Ok(());
        }
        let describe = || format!("metadata of table `{schema}`.`{table}`");
        let patience = Patience { timeout_ms: self.metadata_lock_timeout_ms, describe: &describe, row: None };
        let id = LockId::metadata(schema, table);
        self.engine.locks.acquire(&mut self.locks, id, mode, patience)?;
        Ok(())
    }

    fn adopt(&mut self, table: Arc<Table>, to_change: bool) -> Result<()> {
        if self.snapshot.as_ref().is_some_and(|snapshot| table.placement.created_lsn > snapshot.view.seq) {
            return Err(EngineError::TableChanged(table.def.name.clone()));
        }
        self.tables.push(UsedTable { table, to_change });
        Ok(())
    }

    /// Opens the snapshot now (`START TRANSACTION WITH CONSISTENT SNAPSHOT`).
    pub fn open_snapshot(&mut self) -> Result<()> {
        self.view().map(|_| ())
    }

    fn view(&mut self) -> Result<&View> {
        if self.snapshot.is_none() {
            self.engine.sequencer.wait_visible(self.locks.depends_on());
            self.snapshot = Some(self.engine.snapshots.open(&self.engine.sequencer)?);
        }
        Ok(&self.snapshot.as_ref().expect("just opened").view)
    }

    /// Refuses a result that was read at a snapshot which was evicted meanwhile. It must be called
    /// after reading. It also replaces an error that came from what the snapshot no longer had.
    fn at_valid_snapshot<R>(&self, read: Result<R>) -> Result<R> {
        match &self.snapshot {
            Some(snapshot) if self.engine.snapshots.is_evicted(snapshot) => {
                Err(EngineError::SnapshotTooOld { limit_bytes: self.engine.rows.versions.limit_bytes() })
            }
            _ => read,
        }
    }

    fn close_snapshot(&mut self) {
        if let Some(snapshot) = self.snapshot.take() {
            self.engine.snapshots.close(snapshot);
        }
    }

    /// Begins a statement. Returns the savepoint to go back to if the statement fails.
    pub fn begin_statement(&mut self, context: StatementContext) -> Savepoint {
        let timestamp_us = if context.timestamp_us == 0 { os::clock::now_us() } else { context.timestamp_us };
        let savepoint = self.savepoint();
        self.group.begin_statement((timestamp_us / 1_000_000) as u32, context.rows_query);
        savepoint
    }

    /// Ends a statement that succeeded.
    pub fn end_statement(&mut self) {
        self.group.end_statement();
        if matches!(self.isolation, Isolation::ReadCommitted | Isolation::ReadUncommitted) {
            self.close_snapshot();
        }
    }

    /// Ends a statement that succeeded. The binary log is to have the statement's text in place of
    /// the rows that it changed.
    pub fn end_statement_as_text(&mut self, text: &LoggedStatement<'_>) {
        let events = text.encode(self.engine.config.server_id);
        self.group.end_statement_as(events);
        self.end_statement();
    }

    /// Ends a statement that succeeded and of which the binary log is to have nothing
    /// (`binlog_ignore_db`).
    pub fn end_statement_unlogged(&mut self) {
        self.group.end_statement_as(Vec::new());
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
        self.group.len_within();
        self.mark()
    }

    fn mark(&self) -> Savepoint {
        Savepoint {
            writes: self.writes.mark(),
            temporary: self.temporary.writes.mark(),
            group_len: self.group.len(),
            sidecar: self.sidecar.lengths(),
            announced: self.locks.announced(),
            is_start: self.tables.is_empty() && self.snapshot.is_none(),
        }
    }

    /// Takes back every change since the savepoint (`ROLLBACK TO SAVEPOINT`). Locks stay. As in
    /// MySQL, going back to a savepoint that was set before the transaction used any table ends the
    /// transaction in the engine: locks and snapshot are released too.
    pub fn rollback_to_savepoint(&mut self, savepoint: Savepoint) {
        self.rollback_to(savepoint);
        if savepoint.is_start {
            self.release();
        }
    }

    /// Takes back every change since the savepoint, after a statement failed. Locks stay.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        self.writes.rollback_to(savepoint.writes);
        self.temporary.writes.rollback_to(savepoint.temporary);
        self.group.truncate(savepoint.group_len);
        self.sidecar.truncate(savepoint.sidecar);
        self.locks.set_changes(self.writes.changes);
        self.engine.locks.withdraw_announced(&mut self.locks, savepoint.announced);
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
    /// Afterwards the owner may only drop it.
    pub fn commit_in_place(&mut self, options: &CommitOptions<'_>) -> Result<CommitOutcome> {
        self.temporary.reserve()?;
        if self.writes.is_empty() {
            self.temporary.put_on_pages(&self.engine.rows.pool);
            self.release();
            if let commit::pipeline::GtidNext::Given(_) = options.gtid {
                return self.engine.committer.commit_empty(options);
            }
            if options.wait {
                self.engine.sequencer.wait_visible(self.locks.depends_on());
            }
            return Ok(CommitOutcome { seq: self.engine.sequencer.visible(), gtid: None });
        }
        let _state = os::account::enter(os::account::State::Commit);
        self.group.finish(self.engine.next_xid());
        let outcome = self.log_and_apply(options, false);
        self.finish_commit(outcome, options)
    }

    /// Commits a transaction for which the binary log is to have a statement, which is a group of
    /// its own, in place of the rows. A statement about accounts changes rows of tables here, and
    /// replicas execute the statement themselves. It is logged even if it has changed no rows.
    pub fn commit_as_statement(&mut self, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        assert!(self.temporary.writes.is_empty(), "accounts are in no temporary table");
        if self.writes.is_empty() {
            self.release();
            return self.engine.log_statement(context);
        }
        let _state = os::account::enter(os::account::State::Commit);
        self.group.finish(self.engine.next_xid());
        self.group.replace_all(context.logged_group(self.engine.config.server_id).into_owned());
        let outcome = self.log_and_apply(&context.options, true);
        self.finish_commit(outcome, &context.options)
    }

    /// Runs steps 1 to 6 of a commit. `ddl` says that the binary log has a statement by itself.
    fn log_and_apply(&mut self, options: &CommitOptions<'_>, ddl: bool) -> Result<CommitOutcome> {
        let Transaction { engine, group, writes, sidecar, .. } = self;
        let is_large = group.len() + writes.entry_bytes() > engine.config.spill_bytes;
        let spill = group.take_spilled(is_large)?;
        let options = &CommitOptions { binlog: options.binlog && !group.is_left_out(), ..*options };
        let parts = CommitParts {
            group: if spill.is_some() { &[] } else { group.bytes() },
            spill,
            ddl,
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
            self.note_committed(outcome.seq);
            self.temporary.put_on_pages(&self.engine.rows.pool);
        }
        self.release();
        let outcome = outcome?;
        self.engine.committer.settle_commit(outcome.seq, options.wait)?;
        Ok(outcome)
    }

    /// Notes the commit before its locks are released.
    fn note_committed(&mut self, seq: Lsn) {
        self.engine.sequencer.note_released(seq);
        self.locks.set_committed(seq);
    }

    /// Returns the newest commit whose effect the transaction has seen, by a row that it read or a
    /// lock that it got. A client must not be told what was read before that commit is visible to
    /// everybody ([`Engine::wait_visible`]). The transaction's own snapshots and its commit wait by
    /// themselves.
    pub fn depends_on(&self) -> Lsn {
        self.locks.depends_on()
    }

    /// Rolls the transaction back.
    pub fn rollback(mut self) {
        self.end_without_commit();
    }

    fn end_without_commit(&mut self) {
        if !self.writes.is_empty() {
            bump(&self.engine.counters.rollbacks, 1);
        }
        self.release();
    }

    /// Drops all changes and releases all locks, tables and the snapshot.
    fn release(&mut self) {
        self.last_read = None;
        self.close_snapshot();
        self.writes.clear();
        self.temporary.clear();
        self.tables.clear();
        self.engine.locks.release_all(&mut self.locks);
        assert!(self.locks.held() == 0 && self.snapshot.is_none(), "a transaction that ends holds nothing");
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.end_without_commit();
    }
}
