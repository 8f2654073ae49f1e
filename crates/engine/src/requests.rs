//! The requests of the crates above that several parts of an engine answer together: opening,
//! transactions, XA, DDL, checks and reports.
//!
//! Each method makes the runner or the reader that does the work and hands the request on. Requests
//! that one part answers alone are in `engine/parts.rs`.

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
use crate::emptier::Emptier;
use crate::emptying::Emptied;
use crate::engine::{Engine, REDO_DIRECTORY, threads};
use crate::error::{EngineError, Result};
use crate::figures::{self, TableFigures, TableFile};
use crate::files::{io_error, make_dir};
use crate::metadata_locks::{self, MetadataLock};
use crate::physical_copy::{self, CopyEnd, CopyWatch};
use crate::recovery;
use crate::row_forms::InstantColumns;
use crate::table::{SEQUENCE_ROW_ID, Table};
use crate::temporary::{self, TemporaryMaker, TemporaryTable};
use crate::transaction::Transaction;
use crate::transaction::locked_tables::{LockedTables, TableLock};
use crate::transaction::mode::Isolation;
use crate::transaction::spent::SpentTransaction;
use crate::xa::{XaFinish, XaRunner};
use binlog::Xid;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The opening of an engine.
impl Engine {
    /// Opens the engine in its data directory. In an empty directory it creates what the engine
    /// needs, otherwise it recovers to the last commit in the log.
    pub fn open(config: EngineConfig) -> Result<Arc<Engine>> {
        let datadir = config.datadir.clone();
        let disk = config.disk.clone();
        make_dir(&*disk, &datadir)?;
        make_dir(&*disk, config.log_home())?;
        temporary::remove_leftovers(&config)?;
        let exists = |path: &Path| disk.exists(path).map_err(|error| io_error(path, error));
        let log = config.log_home().join(REDO_DIRECTORY);
        let (has_log, has_system) = (exists(&log)?, exists(&datadir.join(SYSTEM_FILE))?);
        if has_system && !has_log {
            let (place, log) = (datadir.display(), log.display());
            let what = format!("{place} has a system tablespace but no redo log, which would be {log}");
            return Err(EngineError::Datadir(what));
        }
        let recovered = if has_log { recovery::open(&config)? } else { None };
        let Some(engine) = recovered else {
            let engine = Engine::create(config)?;
            threads::start(&engine);
            return Ok(engine);
        };
        threads::start(&engine);
        // With a binary log no checkpoint passes the position that its writer needs, so that the
        // log may stay full until the writer runs.
        if !engine.log_bin() {
            engine.settle_claims()?;
        }
        Ok(engine)
    }

    /// Frees the pages of indexes whose build or removal a crash cut off. An engine with a binary
    /// log leaves that to whoever opens the binary log, because it takes log space, and checkpoints
    /// go on only when the binary log's writer runs.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn settle_claims(&self) -> Result<()> {
        claims::settle(&self.pool, &self.catalog)
    }
}

/// The copying of an engine.
impl Engine {
    /// Makes a copy of the data directory at `dir`, which must not exist, while the engine works.
    /// The parents of `dir` are made. A copy that fails is removed. `beside` has files, each a name
    /// and bytes, that the copy gets too.
    ///
    /// # Errors
    /// Returns [`EngineError::CopyRunning`] when another copy is under way,
    /// [`EngineError::Interrupted`] when the watch asks for it, and errors of files and of the log.
    pub fn copy_to(&self, dir: &Path, beside: &[(&str, Vec<u8>)], watch: &dyn CopyWatch) -> Result<CopyEnd> {
        physical_copy::copy(self, dir, beside, watch)
    }
}

/// The requests about transactions.
impl Engine {
    /// Begins a transaction.
    pub fn begin(self: &Arc<Engine>, isolation: Isolation) -> Transaction {
        Transaction::new(self.clone(), isolation, true)
    }

    /// Begins a transaction in a box, which is that of a transaction that has ended if there is
    /// one.
    pub fn begin_in(
        self: &Arc<Engine>,
        spent: Option<SpentTransaction>,
        isolation: Isolation,
    ) -> Box<Transaction> {
        match spent {
            Some(spent) => spent.begin(self, isolation, true),
            None => Transaction::boxed(self.clone(), isolation, true),
        }
    }

    /// Begins a transaction that applies changes of a source. See [`Transaction::apply_insert`] and
    /// its neighbours.
    pub fn begin_apply(self: &Arc<Engine>) -> Box<Transaction> {
        Transaction::boxed(self.clone(), Isolation::ReadCommitted, false)
    }

    /// Locks tables, each given by its schema, its name and the kind of lock. The engine waits for
    /// each lock up to `timeout_ms` milliseconds, or until `interrupt` becomes true.
    ///
    /// # Errors
    /// Returns [`EngineError::UnknownTable`], also for a table that was dropped during the wait for
    /// its lock, [`EngineError::LockWaitTimeout`], [`EngineError::Deadlock`] or
    /// [`EngineError::Interrupted`]. After an error no table is locked.
    pub fn lock_tables(
        self: &Arc<Engine>,
        tables: &[(String, String, TableLock)],
        timeout_ms: u64,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> Result<LockedTables> {
        let locked = LockedTables::new((&self.locks, &self.catalog), tables, timeout_ms, interrupt)?;
        // Transactions that changed the tables release their locks before their commits are
        // visible.
        self.sequencer.wait_visible(self.sequencer.depends_on());
        Ok(locked)
    }

    /// Commits a prepared XA transaction or rolls it back.
    ///
    /// # Errors
    /// Returns [`EngineError::UnknownXid`] when no prepared transaction has this XID. After any
    /// other error the transaction is prepared as before.
    pub fn finish_xa(
        self: &Arc<Engine>,
        xid: &Xid,
        finish: &XaFinish<'_>,
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        XaRunner { engine: self }.finish(xid, finish, options)
    }
}

/// The statements that define schemas, views, triggers, routines and events, or that change nothing
/// here.
impl Engine {
    /// Logs a statement that changes nothing that the engine keeps, such as `CREATE USER`, `GRANT`,
    /// or `DROP TABLE IF EXISTS` of a table that does not exist.
    pub fn log_statement(&self, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.log_statement(context)
    }

    /// Runs `CREATE SCHEMA`.
    pub fn create_schema(&self, def: SchemaDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.create_schema(def, context)
    }

    /// Runs `ALTER SCHEMA`, which gives the schema other defaults.
    pub fn alter_schema(&self, def: SchemaDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.alter_schema(def, context)
    }

    /// Runs `DROP SCHEMA`, which drops the schema with everything in it.
    pub fn drop_schema(&self, name: &str, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.drop_schema(name, context)
    }

    /// Makes, changes and drops objects in one commit. Once nobody else can change the objects with
    /// these names, the engine asks `plan` for the changes. When there are none, the statement is
    /// only logged.
    ///
    /// # Errors
    /// Returns the errors of `plan`, and those of locks that are not granted.
    pub fn change_objects(
        &self,
        names: &[ObjectName<'_>],
        plan: &mut dyn FnMut() -> Result<Vec<ObjectChange>>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        change_objects(&self.ddl, names, plan, context)
    }
}

/// The rows of dropped partitions.
impl Engine {
    /// Does one step of the deletion of rows that went with their partitions.
    ///
    /// # Errors
    /// Returns an error for a damaged row and for a condition that cannot be computed, and I/O
    /// errors. An error that lasts is returned once, and [`Emptied::Waits`] from then on.
    pub fn delete_dropped_rows(self: &Arc<Engine>) -> Result<Emptied> {
        Emptier { engine: self }.run()
    }
}

/// The statements that define tables.
impl Engine {
    /// Runs `CREATE TABLE`.
    pub fn create_table(&self, def: TableDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.create_table(def, context)
    }

    /// Runs `CREATE SEQUENCE`, which makes a table that holds `row` from the beginning.
    pub fn create_sequence(
        &self,
        def: TableDef,
        row: &[u8],
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.ddl.create_sequence(def, row, context)
    }

    /// Returns the newest committed row of a sequence. `None` means that the sequence has no row.
    pub fn sequence_row(&self, table: &Table) -> Result<Option<Vec<u8>>> {
        let key = SEQUENCE_ROW_ID.to_be_bytes();
        let spot = table.clustered.locate(&key);
        Ok(self.rows.read_newest_at(table, &spot)?.map(|row| row.image))
    }

    /// Runs `DROP TABLE` of one or more tables, each (schema, name), with their triggers. If one of
    /// them does not exist, none is dropped.
    pub fn drop_tables(&self, names: &[TableName<'_>], context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.drop_tables(names, context)
    }

    /// Runs `DROP TABLE` of one table.
    pub fn drop_table(&self, schema: &str, name: &str, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.ddl.drop_tables(&[(schema, name)], context)
    }

    /// Runs `TRUNCATE TABLE`, which puts an empty table into a new space under a new id.
    /// AUTO_INCREMENT begins anew.
    pub fn truncate_table(
        &self,
        schema: &str,
        name: &str,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.ddl.truncate_table(schema, name, context)
    }

    /// Runs `RENAME TABLE`: renames each (schema, name) to its new (schema, name), in order.
    /// `views` are the views of the same statement, which the caller has looked up and which are
    /// renamed in the same commit.
    pub fn rename_tables(
        &self,
        renames: &[(TableName<'_>, TableName<'_>)],
        views: Vec<ObjectChange>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.ddl.rename_tables(renames, views, context)
    }

    /// Runs `ALTER TABLE schema.name` and makes the table what `new` says: with other columns,
    /// another primary key, indexes added (with `id` 0) or left out, another name or schema. If the
    /// rows must be rebuilt, it calls `convert` for each of them.
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

    /// Does what [`Engine::alter_table`] does, but passes every row through `convert` even if both
    /// definitions have the same row format: for columns that changed places, or for a dropped
    /// column with another added in its stead.
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

    /// Reports whether the rows must be converted to make the table `new`, for which these
    /// columns are added and dropped. With `forced` they must be anyway.
    pub fn must_rebuild(old: &Table, new: &TableDef, instant: &InstantColumns, forced: bool) -> bool {
        must_rebuild(old, new, instant, forced)
    }

    /// Runs `ALTER TABLE ... EXCHANGE PARTITION`: the rows of `table` for which `belongs` is true
    /// change places with all rows of `other`. Both tables have rows and keys of the same form.
    /// `admits` is asked about each row of `other` and refuses it with an error.
    ///
    /// # Errors
    /// Returns an error for a table that does not exist and for a key that both sets of rows have,
    /// the errors of `belongs` and `admits`, and I/O errors.
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

/// The statements that define temporary tables. None of them is a commit.
impl Engine {
    /// Runs `CREATE TEMPORARY TABLE`. Truncating a temporary table makes an empty one here, too.
    pub fn create_temporary_table(&self, def: TableDef) -> Result<TemporaryTable> {
        TemporaryMaker { ddl: &self.ddl }.make(def)
    }

    /// Runs `ALTER TABLE` of a temporary table: makes a new table with the rows of `old`, each
    /// converted by `convert`. No transaction may have changes of `old`.
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

/// The requests for checks and reports.
impl Engine {
    /// Checks a table while others may go on changing it. Returns what is wrong, each as a
    /// sentence. An empty list means that all is well.
    ///
    /// The check verifies every page of every tree (order, bounds, levels). Then it checks, as one
    /// snapshot sees the table, that every entry of a secondary index has a row with that key, and
    /// that there are as many entries as rows, so that every row has its entry.
    pub fn check_table(self: &Arc<Engine>, table: &Arc<Table>) -> Result<Vec<String>> {
        check::check_table(self.begin(Isolation::RepeatableRead), table)
    }

    /// Does what [`Engine::check_table`] does, in a transaction of the caller that has not been
    /// used yet.
    pub fn check_table_in(&self, txn: Transaction, table: &Arc<Table>) -> Result<Vec<String>> {
        check::check_table(txn, table)
    }

    /// Counts the pages of a table's file by what uses them, which reads the whole table. Nobody
    /// may be changing the table.
    pub fn space_pages(&self, table: &Table) -> Result<SpacePages> {
        SpacePages::count(&self.pool, table)
    }

    /// Returns a table's figures, for `SHOW TABLE STATUS` and information_schema. A figure that a
    /// damaged page hides is 0.
    pub fn table_figures(&self, table: &Table) -> TableFigures {
        TableFigures::of(&self.pool, table)
    }

    /// Returns the file of a table. `None` when the table was dropped meanwhile.
    pub fn table_file(&self, table: &Table) -> Option<TableFile> {
        TableFile::of(self, table)
    }

    /// Returns every counter of the engine as (status variable, value), for `SHOW GLOBAL STATUS`.
    pub fn status(&self) -> Vec<(String, u64)> {
        figures::status(self)
    }

    /// Returns the number of transactions that were committed since the start, those of replication
    /// among them.
    pub fn commits(&self) -> u64 {
        self.counters.commits.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Returns the number of these transactions whose changes went through a file.
    pub fn spilled_commits(&self) -> u64 {
        self.counters.spilled_commits.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Returns every row, gap and table lock, and which lock waits for which. Nothing is stopped
    /// for the report, so the locks are not all of one moment.
    ///
    /// # Errors
    /// Returns [`EngineError::Interrupted`] once `interrupt` is set, because there may be millions
    /// of locks.
    pub fn data_locks(&self, interrupt: &AtomicBool) -> Result<DataLocks> {
        let Engine { locks, catalog, rows, pool, .. } = self;
        LockReader { locks, catalog, rows, pool, interrupt }.read()
    }

    /// Returns the locks on definitions that are held or waited for.
    pub fn metadata_locks(&self) -> Vec<MetadataLock> {
        metadata_locks::read(&self.locks, &self.catalog)
    }

    /// Estimates how many bytes of memory the result of [`Engine::data_locks`] would take now.
    pub fn data_locks_bytes(&self) -> usize {
        let gaps: usize =
            self.catalog.all_tables().iter().map(|table| table.counters.locks.gap_count()).sum();
        (self.locks.len() + gaps).saturating_mul(LockReader::BYTES_FOR_A_LOCK)
    }
}
