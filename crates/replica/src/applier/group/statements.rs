//! Statements of a source: DDL, and statements about rows between the events of a group.

use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{Event, ExecuteLoadQuery, Header, LoadBlock, QueryEvent};
use binlog::{Checksum, group};
use engine::Transaction;
use os::disk::TempFile;
use sql::replicated::{LoggedContext, RefusedValues, SelectedTable, stays_when_rolled_back};

use super::Applier;
use super::gone_table::GoneTable;
use super::progress::Stage;
use super::savepoint_statement::SavepointStatement;
use super::undone::{self, go_back};
use crate::applier::computed;
use crate::applier::exec_mode::ExecMode;
use crate::applier::statement::{Beside, StatementError};
use crate::applier::{report, statement};
use crate::error::{ThreadError, number};
use crate::filter::query_in;
use crate::relay::RelayPosition;

/// MySQL's `EE_WRITE`: a file could not be written.
const WRITE_FAILED: u32 = 3;

/// The name that LOAD DATA gets for its file, which has no name.
const NAMELESS: &str = "SQL_LOAD";

/// Returns the query event of a statement that is made here, with the header of the source's event.
fn encoded(header: &Header, query: &QueryEvent<'_>) -> Vec<u8> {
    let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
    let mut event = Vec::new();
    let start = encode::query(base, query, header.flags, &mut event);
    finish_event(&mut event, start, None, Checksum::None);
    event
}

impl Applier<'_> {
    /// Notes a value on which the next statement depends besides its text.
    pub(super) fn before_statement(&mut self, event: &Event<'_>) -> Result<bool, ThreadError> {
        const LAST_INSERT_ID: u8 = 1;
        match event {
            Event::Intvar(number) if number.kind == LAST_INSERT_ID => {
                self.logged.last_insert_id = Some(number.value);
            }
            Event::Intvar(number) => self.logged.insert_id = Some(number.value),
            Event::Rand(first, second) => self.logged.rand_seeds = Some((*first, *second)),
            Event::UserVar(variable) => {
                let variable =
                    statement::user_variable(variable).map_err(|error| error.at(self.progress.place()))?;
                self.logged.user_variables.push(variable);
            }
            _ => {}
        }
        Ok(false)
    }

    /// Takes a statement that is neither BEGIN nor COMMIT, which the filters may leave out or move
    /// to another schema.
    pub(super) fn filtered_query(
        &mut self,
        header: &Header,
        bytes: &[u8],
        query: &QueryEvent<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        if !self.progress.open.filters().is_on() {
            return self.allowed_query(header, bytes, query, relay);
        }
        let filters = self.progress.open.filters().clone();
        let moved = filters.rewritten(query.schema).map(|schema| (schema, query_in(header, query, schema)));
        let (bytes, query) = match &moved {
            Some((schema, bytes)) => {
                (bytes.as_slice(), &QueryEvent { schema: schema.as_bytes(), ..query.clone() })
            }
            None => (bytes, query),
        };
        if statement::is_allowed(&filters, query) {
            return self.allowed_query(header, bytes, query, relay);
        }
        // The noted values belonged to this statement, not to the next one.
        self.logged = LoggedContext::default();
        if self.progress.stage == Stage::Open {
            return Ok(false);
        }
        self.progress.open.events.clear();
        self.progress.commit(relay)
    }

    /// Takes a statement that is neither BEGIN nor COMMIT, and that the filters let pass.
    fn allowed_query(
        &mut self,
        header: &Header,
        bytes: &[u8],
        query: &QueryEvent<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        let is_within = self.progress.stage == Stage::Open;
        if statement::is_create_table(query) && self.progress.open.transaction.is_none() {
            match self.define_selected(header, query)? {
                Some(SelectedTable::Exists) if is_within => return Ok(false),
                Some(SelectedTable::Exists) => return self.progress.commit(relay),
                Some(SelectedTable::Defined(text)) => {
                    return self.create_selected(header, query, &text, relay);
                }
                Some(SelectedTable::Like(text)) => return self.create_like(header, query, &text, relay),
                None if is_within => return self.create_before_rows(header, bytes, query),
                None => {}
            }
        }
        if is_within && let Some(gone) = GoneTable::of(header, query) {
            self.gone = Some(gone);
            return Ok(false);
        }
        if is_within {
            return match SavepointStatement::of(query) {
                Some(savepoint) => undone::savepoint(&mut self.progress, header, bytes, savepoint),
                None => self.statement(header, query, None),
            };
        }
        if self.define_temporary(header, query)? {
            return self.progress.commit(relay);
        }
        self.progress.append(bytes)?;
        self.ddl(header, query, relay)
    }

    /// Returns what a CREATE TABLE defines whose columns come from a query or from a temporary
    /// table, or `None` for another statement.
    fn define_selected(
        &mut self,
        header: &Header,
        query: &QueryEvent<'_>,
    ) -> Result<Option<SelectedTable>, ThreadError> {
        self.progress.release_tables();
        let of_mariadb = self.progress.head.is_of_mariadb();
        let defined = statement::define_selected(&mut self.statements, query, header.timestamp, of_mariadb);
        defined.map_err(|error| error.at(self.progress.place()))
    }

    /// Carries out a CREATE TABLE ... SELECT that was logged as a statement. In this server's log
    /// the group is a transaction of the definition (`definition`) and the rows, as a source has it
    /// that logs rows.
    fn create_selected(
        &mut self,
        header: &Header,
        query: &QueryEvent<'_>,
        definition: &str,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        let is_within = self.progress.stage == Stage::Open;
        let status_vars = self.status_of_definition(query, true)?;
        let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
        if !is_within {
            self.progress.open.events.clear();
            group::begin(base, query.thread_id, &status_vars, &mut self.progress.open.events);
        }
        let defining =
            QueryEvent { status_vars: &status_vars, statement: definition.as_bytes(), ..query.clone() };
        self.create_table(header, &encoded(header, &defining), &defining)?;
        self.statement(header, query, None)?;
        if is_within {
            return Ok(false);
        }
        let end = QueryEvent { status_vars: &[], statement: b"COMMIT", ..query.clone() };
        self.progress.append(&encoded(header, &end))?;
        self.progress.commit(relay)
    }

    /// Carries out a CREATE TABLE ... LIKE a temporary table. This server's log has the CREATE
    /// TABLE with columns (`definition`), because the temporary table is in no log of rows.
    fn create_like(
        &mut self,
        header: &Header,
        query: &QueryEvent<'_>,
        definition: &str,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        let status_vars = self.status_of_definition(query, true)?;
        let defining =
            QueryEvent { status_vars: &status_vars, statement: definition.as_bytes(), ..query.clone() };
        if self.progress.stage == Stage::Open {
            return self.create_table(header, &encoded(header, &defining), &defining);
        }
        self.progress.append(&encoded(header, &defining))?;
        self.ddl(header, &defining, relay)
    }

    /// Creates the table whose rows come next as row events. MariaDB makes the text of this CREATE
    /// TABLE in utf8mb4, whatever `character_set_client` its event names.
    fn create_before_rows(
        &mut self,
        header: &Header,
        bytes: &[u8],
        query: &QueryEvent<'_>,
    ) -> Result<bool, ThreadError> {
        let of_mariadb = self.progress.head.is_of_mariadb();
        if !of_mariadb || query.statement.is_ascii() {
            return self.create_table(header, bytes, query);
        }
        let status_vars = self.status_of_definition(query, false)?;
        let defining = QueryEvent { status_vars: &status_vars, ..query.clone() };
        self.create_table(header, &encoded(header, &defining), &defining)
    }

    /// Returns the status variables for a definition in utf8mb4. `clears_mode` says that its text
    /// is for an empty `sql_mode`.
    fn status_of_definition(
        &self,
        query: &QueryEvent<'_>,
        clears_mode: bool,
    ) -> Result<Vec<u8>, ThreadError> {
        statement::status_of_definition(query, clears_mode).map_err(|error| error.at(self.progress.place()))
    }

    /// Creates the table of a CREATE TABLE ... SELECT, whose rows come next.
    fn create_table(
        &mut self,
        header: &Header,
        bytes: &[u8],
        query: &QueryEvent<'_>,
    ) -> Result<bool, ThreadError> {
        self.release_tables();
        let created = statement::create(
            self.progress.open.engine(),
            query,
            header.timestamp,
            &self.progress.options(),
            &self.progress.channel.applier_stop,
        );
        created.map_err(|error| error.at(self.progress.place()))?;
        self.progress.open.forget_tables();
        self.progress.append(bytes)?;
        // The statement has to be logged even if no row follows.
        self.progress.open.begin_behind_definition();
        Ok(false)
    }

    /// Runs a statement about rows. Its changes are in the group as rows.
    pub(super) fn statement(
        &mut self,
        header: &Header,
        query: &QueryEvent<'_>,
        file: Option<&TempFile>,
    ) -> Result<bool, ThreadError> {
        if self.progress.channel.apply.exec_mode() == ExecMode::Converge {
            let text = "a statement about rows, which replica_exec_mode=CONVERGE cannot repeat";
            return Err(StatementError::NotSupported(text.into()).at(self.progress.place()));
        }
        undone::check_came_to_an_end(&self.progress, query)?;
        let logged = std::mem::take(&mut self.logged);
        self.progress.open.end_statement();
        let is_first = self.progress.open.transaction.is_none();
        let mut transaction = self.progress.open.take_for_statements();
        // The rows that the statement changes come behind the group's earlier events.
        transaction.set_server_id(header.server_id);
        let received = transaction.receive(&self.progress.open.events);
        self.progress.open.events.clear();
        if is_first {
            self.progress.open.points.start = Some(transaction.savepoint());
        }
        let done = received
            .map_err(|error| report::commit(&error, self.progress.place()))
            .and_then(|()| self.run(&mut transaction, header, query, (&logged, file)));
        self.progress.open.transaction = Some(transaction);
        done.map(|()| false)
    }

    /// Runs a statement about rows in the transaction, which has the group's earlier events.
    fn run(
        &mut self,
        transaction: &mut Transaction,
        header: &Header,
        query: &QueryEvent<'_>,
        (logged, file): (&LoggedContext, Option<&TempFile>),
    ) -> Result<(), ThreadError> {
        let of_mariadb = self.progress.head.is_of_mariadb();
        let may_fail = query.error_code != 0;
        transaction.begin_journal();
        let before = transaction.savepoint();
        let statements = &mut self.statements;
        let mut attempt = |transaction: &mut Transaction, refused| {
            let beside = Beside { logged, file, of_mariadb, refused };
            let done = statement::change(statements, transaction, query, header.timestamp, beside);
            transaction.end_statement();
            done
        };
        let mut done = attempt(transaction, RefusedValues::OfColumns);
        let ends_alike = |done: &Result<(), StatementError>| match may_fail {
            true => done.as_ref().err().and_then(StatementError::number) == Some(query.error_code.into()),
            false => done.is_ok(),
        };
        if may_fail && !ends_alike(&done) {
            transaction.rollback_to(before);
            done = attempt(transaction, RefusedValues::All);
        }
        if !ends_alike(&done) && transaction.has_changed_since(before, &stays_when_rolled_back) {
            transaction.rollback_to(before);
            done = attempt(transaction, RefusedValues::None);
        }
        match done {
            Err(error) if self.skips_statement(&error) && !may_fail => {
                transaction.rollback_to(before);
                Ok(())
            }
            // It was refused before it changed anything.
            Err(error) if computed::is_refused_for_computed_tables(query, &error) => Ok(()),
            done => {
                let has_failed = done.is_err();
                undone::compare_ends(&self.progress, query, done)?;
                if has_failed {
                    let gone = go_back(transaction, before, header.timestamp);
                    gone.map_err(|error| report::commit(&error, self.progress.place()))?;
                }
                Ok(())
            }
        }
    }

    /// Takes a block of a file of LOAD DATA, the first or a further one.
    pub(super) fn load_block(&mut self, block: &LoadBlock<'_>, is_first: bool) -> Result<bool, ThreadError> {
        let engine = self.progress.open.engine();
        let (disk, dir) = (engine.config().disk.clone(), engine.config().tmpdir.clone());
        let begun = if is_first { self.loaded.begin(block.file_id, &*disk, &dir) } else { Ok(()) };
        match begun.and_then(|()| self.loaded.append(block)) {
            Ok(true) => Ok(false),
            Ok(false) => Err(self.no_file(block.file_id)),
            Err(error) => {
                let text = format!("Error writing a file of LOAD DATA in '{}': {error}", dir.display());
                Err(report::query(WRITE_FAILED, &text, "", "LOAD DATA"))
            }
        }
    }

    /// Runs the LOAD DATA statement that loads a file.
    pub(super) fn load(&mut self, header: &Header, load: &ExecuteLoadQuery<'_>) -> Result<bool, ThreadError> {
        let file = self.loaded.remove(load.file_id);
        let text = load.statement_for(NAMELESS);
        let filters = self.progress.open.filters().clone();
        let mut query = QueryEvent { statement: &text, ..load.query.clone() };
        if filters.is_on() {
            if let Some(schema) = filters.rewritten(query.schema) {
                query.schema = schema.as_bytes();
            }
            if !statement::is_allowed(&filters, &query) {
                self.logged = LoggedContext::default();
                return Ok(false);
            }
        }
        let Some(file) = file else { return Err(self.no_file(load.file_id)) };
        if self.progress.stage != Stage::Open {
            let what = "LOAD DATA outside of a transaction";
            return Err(report::not_supported(what, self.progress.place()));
        }
        self.statement(header, &query, Some(&file))
    }

    fn no_file(&self, file_id: u32) -> ThreadError {
        let what = format!("a LOAD DATA whose file {file_id} did not begin");
        report::not_supported(&what, self.progress.place())
    }

    /// Reports whether a statement that failed is left out (`replica_skip_errors`).
    fn skips_statement(&self, error: &StatementError) -> bool {
        let skips = error.number().is_some_and(|number| {
            !number::is_temporary(number)
                && number != number::QUERY_INTERRUPTED
                && self.progress.channel.apply.skipped_errors().contains(number)
        });
        if skips {
            log::warn!("Replica SQL: a statement is left out (replica_skip_errors): {error:?}");
        }
        skips
    }

    /// Runs a statement outside of a transaction if it is only about temporary tables of the
    /// source's session, and reports whether it was. The log gets an empty transaction for it.
    fn define_temporary(&mut self, header: &Header, query: &QueryEvent<'_>) -> Result<bool, ThreadError> {
        self.progress.release_tables();
        let of_mariadb = self.progress.head.is_of_mariadb();
        let done = statement::define_temporary(&mut self.statements, query, header.timestamp, of_mariadb);
        match done {
            Err(error) if self.skips_statement(&error) => Ok(true),
            done => done.map_err(|error| error.at(self.progress.place())),
        }
    }

    /// Drops the table of a replacement that failed. In this server's log the statement is a group
    /// of its own.
    pub(super) fn drop_gone(&mut self, gone: &GoneTable, relay: RelayPosition) -> Result<bool, ThreadError> {
        let query = gone.query();
        self.progress.open.events.clear();
        self.progress.append(&encoded(&gone.header, &query))?;
        self.ddl(&gone.header, &query, relay)
    }

    fn ddl(
        &mut self,
        header: &Header,
        query: &QueryEvent<'_>,
        relay: RelayPosition,
    ) -> Result<bool, ThreadError> {
        self.progress.name_relay_end(relay);
        self.progress.release_tables();
        let done = statement::ddl(
            self.progress.open.engine(),
            query,
            header.timestamp,
            &self.progress.open.events,
            &self.progress.options(),
            self.progress.channel.apply.accounts(),
            &self.progress.channel.applier_stop,
        );
        match done {
            Err(error) if self.skips_statement(&error) => {
                self.progress.open.events.clear();
                return self.progress.commit(relay);
            }
            done => done.map_err(|error| error.at(self.progress.place()))?,
        }
        self.progress.open.forget_tables();
        self.progress.group_is_done(relay);
        Ok(true)
    }
}
