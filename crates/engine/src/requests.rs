//! What the crates above ask of an engine that several of its parts answer together: opening,
//! transactions, XA, DDL, checks and reports.
//!
//! Each method makes the runner or the reader that does the work and hands the question on; what
//! one part answers alone is in `engine/parts.rs`.

use crate::check::{self, SpacePages};
use crate::commit::pipeline::{CommitOptions, CommitOutcome};
use crate::config::EngineConfig;
use crate::data_locks::{DataLocks, LockReader};
use crate::ddl::{
    AdmitRow, Alter, ChooseRow, ConvertRow, DdlContext, Exchange, ObjectName, TableName, change_objects,
    claims, must_rebuild,
};
use crate::definition::{ObjectChange, SchemaDef, TableDef};
use crate::dictionary::SYSTEM_FILE;
use crate::engine::{Engine, REDO_DIRECTORY, threads};
use crate::error::{EngineError, Result};
use crate::figures::{self, TableFigures};
use crate::files::{io_error, make_dir};
use crate::recovery;
use crate::table::{SEQUENCE_ROW_ID, Table};
use crate::temporary::{self, TemporaryMaker, TemporaryTable};
use crate::transaction::locked_tables::{LockedTables, TableLock};
use crate::transaction::{Isolation, Transaction};
use crate::xa::{XaFinish, XaRunner};
use binlog::Xid;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Opening.
impl Engine {
    /// Opens the engine in its data directory: creates what it needs in an empty one, else recovers
    /// to the last commit in the log.
    pub fn open(config: EngineConfig) -> Result<Arc<Engine>> {
        let datadir = config.datadir.clone();
        let disk = config.disk.clone();
        make_dir(&*disk, &datadir)?;
        temporary::remove_leftovers(&config)?;
        let exists = |name: &str| {
            let path = datadir.join(name);
            disk.exists(&path).map_err(|error| io_error(&path, error))
        };
        let (has_log, has_system) = (exists(REDO_DIRECTORY)?, exists(SYSTEM_FILE)?);
        if has_system && !has_log {
            let place = datadir.display();
            return Err(EngineError::Datadir(format!("{place} has a system tablespace but no redo log")));
        }
        let recovered = if has_log { recovery::open(&config)? } else { None };
        let Some(engine) = recovered else {
            let engine = Engine::create(config)?;
            threads::start(&engine);
            return Ok(engine);
        };
        threads::start(&engine);
        // With the checkpointer at work: freeing many pages takes much log.
        claims::settle(&engine.pool, &engine.catalog)?;
        Ok(engine)
    }
}

/// Transactions.
impl Engine {
    /// Begins a transaction.
    pub fn begin(self: &Arc<Engine>, isolation: Isolation) -> Transaction {
        Transaction::new(self.clone(), isolation, true)
    }

    /// Begins a transaction that applies a source's. See [`Transaction::apply_insert`] and its
    /// neighbours.
    pub fn begin_apply(self: &Arc<Engine>) -> Box<Transaction> {
        Box::new(Transaction::new(self.clone(), Isolation::ReadCommitted, false))
    }

    /// Locks tables: schema, name, and how. The engine waits for each for up to `timeout_ms`, or
    /// until `interrupt` becomes true.
    ///
    /// # Errors
    /// [`EngineError::UnknownTable`], of a table that was dropped while it was waited for, too;
    /// [`EngineError::LockWaitTimeout`], [`EngineError::Deadlock`], [`EngineError::Interrupted`].
    /// None is locked then.
    pub fn lock_tables(
        self: &Arc<Engine>,
        tables: &[(String, String, TableLock)],
        timeout_ms: u64,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> Result<LockedTables> {
        let locked = LockedTables::new((&self.locks, &self.catalog), tables, timeout_ms, interrupt)?;
        // Those who changed them have let go before their commits were visible.
        self.sequencer.wait_visible(self.sequencer.depends_on());
        Ok(locked)
    }

    /// Commits a prepared XA transaction, or rolls it back.
    ///
    /// # Errors
    /// [`EngineError::UnknownXid`]. After any other error it is prepared as before.
    pub fn finish_xa(
        self: &Arc<Engine>,
        xid: &Xid,
        finish: &XaFinish<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        XaRunner { engine: self }.finish(xid, finish, options)
    }
}

/// Statements that define schemas, views, triggers, routines and events, or change nothing here.
impl Engine {
    /// Logs a statement that changes nothing that the engine keeps, such as `CREATE USER` or
    /// `GRANT`, or `DROP TABLE IF EXISTS` of a table that does not exist.
    pub fn log_statement(&self, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.log_statement(context)
    }

    /// `CREATE SCHEMA`
    pub fn create_schema(&self, def: SchemaDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.create_schema(def, context)
    }

    /// `ALTER SCHEMA`: other defaults.
    pub fn alter_schema(&self, def: SchemaDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.alter_schema(def, context)
    }

    /// `DROP SCHEMA`, with all that is in it.
    pub fn drop_schema(&self, name: &str, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.drop_schema(name, context)
    }

    /// Makes, changes and drops objects in one commit. The engine asks `plan` what is to be done
    /// once nobody else can change what is called so; when it is nothing, the statement is only
    /// logged.
    ///
    /// # Errors
    /// Those of `plan`, and of locks that are not granted.
    pub fn change_objects(
        &self,
        names: &[ObjectName<'_>],
        plan: &mut dyn FnMut() -> Result<Vec<ObjectChange>>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        change_objects(&self.ddl, names, plan, context)
    }
}

/// Statements that define tables.
impl Engine {
    /// `CREATE TABLE`
    pub fn create_table(&self, def: TableDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.create_table(def, context)
    }

    /// `CREATE SEQUENCE`: a table that has this row from the beginning.
    pub fn create_sequence(
        &self,
        def: TableDef,
        row: &[u8],
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.ddl.create_sequence(def, row, context)
    }

    /// The newest committed row of a sequence; `None`: it has none.
    pub fn sequence_row(&self, table: &Table) -> Result<Option<Vec<u8>>> {
        let key = SEQUENCE_ROW_ID.to_be_bytes();
        let spot = table.clustered.locate(&key);
        Ok(self.rows.read_newest_at(table, &spot)?.map(|row| row.image))
    }

    /// `DROP TABLE` of one or more tables, each (schema, name), with their triggers; all of them
    /// exist or none is dropped.
    pub fn drop_tables(&self, names: &[TableName<'_>], context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.drop_tables(names, context)
    }

    /// `DROP TABLE`
    pub fn drop_table(&self, schema: &str, name: &str, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.drop_tables(&[(schema, name)], context)
    }

    /// `TRUNCATE TABLE`: an empty table in a new space under a new id; AUTO_INCREMENT begins anew.
    pub fn truncate_table(
        &self,
        schema: &str,
        name: &str,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.ddl.truncate_table(schema, name, context)
    }

    /// `RENAME TABLE`: each (schema, name) to (schema, name), in order. Views of the same
    /// statement, which the caller has looked up, get their new names with the tables.
    pub fn rename_tables(
        &self,
        renames: &[(TableName<'_>, TableName<'_>)],
        views: Vec<ObjectChange>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.ddl.rename_tables(renames, views, context)
    }

    /// `ALTER TABLE schema.name`, which makes it `new`: with other columns, another primary key,
    /// indexes added (`id` 0) or left out, another name or schema. `convert` is called for each row
    /// if they must be rebuilt.
    pub fn alter_table(
        &self,
        schema: &str,
        name: &str,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        Alter { ddl: &self.ddl }.run(schema, name, new, convert, false, context)
    }

    /// As [`Engine::alter_table`], but every row goes through `convert` even if the definitions
    /// have the same row format: for columns that changed places, or one that was dropped and
    /// another added in its stead.
    pub fn rebuild_table(
        &self,
        schema: &str,
        name: &str,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        Alter { ddl: &self.ddl }.run(schema, name, new, convert, true, context)
    }

    /// Whether rows must be converted to make the table `new`; `forced`: they must be anyway.
    pub fn must_rebuild(old: &TableDef, new: &TableDef, forced: bool) -> bool {
        must_rebuild(old, new, forced)
    }

    /// `ALTER TABLE ... EXCHANGE PARTITION`: the rows of `table` of which `belongs` is true change
    /// places with all rows of `other`, both of which have rows and keys of the same form. `admits`
    /// is asked about each row of `other` and refuses it by an error.
    ///
    /// # Errors
    /// A table that is not there, a key that the rows together have twice, what `belongs` and
    /// `admits` end with, and I/O errors.
    pub fn exchange_rows(
        &self,
        table: TableName<'_>,
        other: TableName<'_>,
        belongs: &mut ChooseRow<'_>,
        admits: &mut AdmitRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        Exchange { ddl: &self.ddl }.run(table, other, belongs, admits, context)
    }
}

/// Temporary tables. None of these statements is a commit.
impl Engine {
    /// `CREATE TEMPORARY TABLE`, and what is left of one that is truncated.
    pub fn create_temporary_table(&self, def: TableDef) -> Result<TemporaryTable> {
        TemporaryMaker { ddl: &self.ddl }.make(def)
    }

    /// `ALTER TABLE` of a temporary table: a new one, with the rows of `old` as `convert` makes
    /// them. No transaction may have changes of `old`.
    pub fn altered_temporary_table(
        &self,
        old: &Table,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        auto_increment: Option<u64>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<TemporaryTable> {
        TemporaryMaker { ddl: &self.ddl }.altered(old, new, convert, auto_increment, interrupt)
    }
}

/// Checks and reports.
impl Engine {
    /// Checks a table while others may go on changing it; returns what is wrong, each as a
    /// sentence. None: all is well.
    ///
    /// Every page of every tree is verified (order, bounds, levels). Then, as one snapshot sees
    /// them: every entry of a secondary index has a row with that key, and there are as many
    /// entries as rows, so that every row has its entry.
    pub fn check_table(self: &Arc<Engine>, table: &Arc<Table>) -> Result<Vec<String>> {
        check::check_table(self.begin(Isolation::RepeatableRead), table)
    }

    /// As [`Engine::check_table`], in a transaction of the caller's that has used nothing yet.
    pub fn check_table_in(&self, txn: Transaction, table: &Arc<Table>) -> Result<Vec<String>> {
        check::check_table(txn, table)
    }

    /// Counts the pages of a table's file by what uses them, reading all of the table. Nobody may
    /// be changing it.
    pub fn space_pages(&self, table: &Table) -> Result<SpacePages> {
        SpacePages::count(&self.pool, table)
    }

    /// A table's figures, for `SHOW TABLE STATUS` and information_schema; a damaged page counts as
    /// nothing.
    pub fn table_figures(&self, table: &Table) -> TableFigures {
        TableFigures::of(&self.pool, table)
    }

    /// Every counter of the engine as (status variable, value), for `SHOW GLOBAL STATUS`.
    pub fn status(&self) -> Vec<(String, u64)> {
        figures::status(self)
    }

    /// Every row, gap and table lock, and which waits for which. Nobody stands still for the
    /// report, so the locks are not all of one moment.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`] once `interrupt` is set: there may be millions of locks.
    pub fn data_locks(&self, interrupt: &AtomicBool) -> Result<DataLocks> {
        let Engine { locks, catalog, rows, pool, .. } = self;
        LockReader { locks, catalog, rows, pool, interrupt }.read()
    }

    /// About how much memory [`Engine::data_locks`] takes now, whose result is read by the caller.
    pub fn data_locks_bytes(&self) -> usize {
        let gaps: usize =
            self.catalog.all_tables().iter().map(|table| table.counters.locks.gap_count()).sum();
        (self.locks.len() + gaps).saturating_mul(LockReader::BYTES_FOR_A_LOCK)
    }
}
