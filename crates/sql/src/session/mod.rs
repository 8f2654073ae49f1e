//! Sessions: the state that a connection keeps between its statements, and the running of
//! statements in it.
//!
//! In: the texts of a client's statements and its other commands. Out: results, which go to a
//! [`ResultSink`], and errors. A session belongs to one thread at a time. Dropping it rolls its
//! transaction back.

mod accounts;
mod binlog_statement;
mod bound;
mod checksum;
mod classes;
mod created_select;
mod ddl;
mod ddl_run;
mod dispatch;
mod engine_counts;
pub(crate) mod event;
mod explain;
mod handler;
mod into;
mod load;
mod locked_tables;
mod logging;
mod maintain;
mod measuring;
mod new_view;
pub(crate) mod prepared;
mod privileges;
mod program;
pub(crate) mod received;
mod refused;
mod refused_queries;
mod results;
mod rows;
mod schedule;
mod set;
mod set_var;
mod setup_tables;
mod show;
mod state;
mod statement_names;
mod temporary;
mod transacting;
mod transaction;
mod warned;
mod watched;
mod xa;

pub use state::SessionInit;

use crate::admin::AccountsLog;
use crate::error::{Result, SqlError};
use crate::expr::Context;
use crate::expr::random::SeededRandoms;
use crate::full_text::FoundCache;
use crate::host::{Host, Sight};
use crate::memory::closes_connection;
use crate::regexp::PatternCache;
use crate::sink::{ColumnMeta, status};
use crate::temporary::{TemporaryTables, TemporaryUse};
use engine::{Engine, SessionContext};
use state::{
    ClientState, Parameters, PreparedStatements, ServerHandles, SessionHandlers, SessionLocks,
    SessionPrograms, SessionTransaction, Settings, StatementCache, StatementState,
};
use std::cell::Cell;
use std::sync::Arc;
use transacting::Transacting;
use types::Value;

/// A session.
pub struct Session {
    server: ServerHandles,
    client: ClientState,
    settings: Settings,
    /// The state of the statement that is running, or that ran last.
    statement: StatementState,
    transaction: SessionTransaction,
    /// The temporary tables of CREATE TEMPORARY TABLE.
    temporary: Arc<TemporaryTables>,
    locks: SessionLocks,
    /// The tables that HANDLER ... OPEN has opened.
    handlers: SessionHandlers,
    /// The plans of statements by their texts, and the generation of plans that is valid now.
    cache: StatementCache,
    prepared: PreparedStatements,
    programs: SessionPrograms,
    /// The values for the `?` of the running statement.
    parameters: Parameters,
}

impl Session {
    /// Creates a session for a new connection.
    ///
    /// # Errors
    /// Returns 1049 when the schema does not exist, and 1231 for a character set that a client may
    /// not use.
    pub fn new(engine: Arc<Engine>, host: Arc<dyn Host>, init: SessionInit) -> Result<Session> {
        let server = ServerHandles::new(engine, host);
        let mut settings = Settings::new(&server)?;
        let client = ClientState::new(init)?;
        settings.set_handshake_collation(client.init.collation);
        let programs = SessionPrograms::default();
        let mut session = Session::of_parts(server, client, settings, programs);
        if let Some(schema) = session.client.init.schema.clone() {
            session.change_schema(&schema)?;
        }
        Ok(session)
    }

    /// Creates a session that has run nothing yet.
    fn of_parts(
        server: ServerHandles,
        client: ClientState,
        settings: Settings,
        programs: SessionPrograms,
    ) -> Session {
        Session {
            server,
            client,
            settings,
            statement: StatementState::default(),
            transaction: SessionTransaction::default(),
            temporary: Arc::default(),
            locks: SessionLocks::default(),
            handlers: SessionHandlers::default(),
            cache: StatementCache::default(),
            prepared: PreparedStatements::default(),
            programs,
            parameters: Parameters::default(),
        }
    }

    /// Creates a session for a stored program that a statement of this session calls.
    fn inner(&self, programs: SessionPrograms, now_us: u64) -> Session {
        let changed = self.programs.variables_after.borrow().clone();
        let variables = changed.unwrap_or_else(|| self.settings.variables.clone());
        let settings = self.settings.lend(variables, now_us, &self.server.memory);
        let mut inner = Session::of_parts(self.server.clone(), self.client.within(), settings, programs);
        inner.temporary = self.temporary.clone();
        inner.cache = StatementCache::of_generation(self.cache.generation());
        inner
    }

    /// Takes back the state that a session within a statement was lent, with its diagnostics if it
    /// has failed or has warnings.
    fn take_back(&self, inner: &mut Session, failed: bool) {
        self.settings.take_back(&inner.settings);
        self.programs.take_back(&inner.programs);
        if inner.cache.generation() != self.cache.generation() {
            let mut variables = inner.settings.variables.clone();
            variables.timestamp_us = self.settings.variables.timestamp_us;
            *self.programs.variables_after.borrow_mut() = Some(variables);
        }
        let mut told = inner.statement.diagnostics.borrow_mut();
        if failed || !told.warnings.is_empty() {
            self.statement.diagnostics.borrow_mut().take_over(&mut told);
        }
    }

    /// Resets the session to the state of a new connection (COM_RESET_CONNECTION), except for the
    /// current schema.
    pub fn reset(&mut self) {
        self.transacting().rollback();
        self.locks = SessionLocks::default();
        self.handlers = SessionHandlers::default();
        self.temporary.clear();
        self.settings.reset(&self.server);
        self.statement = StatementState::default();
        self.transaction.next_isolation = None;
        self.transaction.next_read_only = None;
        self.transaction.gtid = Default::default();
        self.prepared.clear();
        self.cache.invalidate();
        self.assert_at_rest();
    }

    /// Makes a schema the current one (COM_INIT_DB, USE).
    pub fn change_schema(&mut self, name: &str) -> Result<()> {
        self.server.host.check_sight(Sight::SchemaToUse(name))?;
        let is_virtual = crate::schema_tables::is_virtual_schema(name);
        if !is_virtual && self.server.engine.catalog().schema(name).is_none() {
            return Err(SqlError::unknown_schema(name));
        }
        let name = if is_virtual { name.to_lowercase() } else { name.to_owned() };
        self.server.host.schema_changed(Some(&name));
        self.settings.schema = Some(name);
        self.cache.invalidate();
        Ok(())
    }

    /// Goes back to the schema that was current before [`Session::change_schema`].
    fn leave_schema(&mut self, back_to: Option<String>) {
        self.server.host.schema_changed(back_to.as_deref());
        self.settings.schema = back_to;
        self.cache.invalidate();
    }

    /// Returns the columns of a table of the current schema (COM_FIELD_LIST). `wildcard` is a LIKE
    /// pattern for their names; an empty one stands for all columns.
    pub fn columns_of(&mut self, table: &str, wildcard: &str) -> Result<Vec<ColumnMeta>> {
        let name = crate::ast::TableName { schema: None, name: table.to_owned() };
        let mut binder = self.binder();
        let schema = binder.schema_of(&name)?;
        if binder.temporary.table(&schema, &name.name).is_none() {
            self.server.host.check_sight(Sight::Description(&schema, &name.name))?;
        }
        let table = binder.described_table(&name)?;
        let scope =
            crate::bind::Scope::of(crate::bind::ScopeTable::stored(&table, table.def.name.as_str(), 0));
        let matches = |name: &str| {
            wildcard.is_empty() || crate::show::matches_pattern(name.as_bytes(), wildcard.as_bytes())
        };
        let columns = table.def.columns.iter().enumerate();
        let columns = columns.filter(|(_, column)| !table.def.is_hidden(column) && matches(&column.name));
        Ok(columns.map(|(at, column)| scope.describe(&scope.tables[0].column(at), &column.name)).collect())
    }

    /// Returns the collation of `character_set_results`, or `None` for NULL, which means that text
    /// is sent in the character set that it has.
    pub fn results_collation(&self) -> Option<u16> {
        self.settings.variables.results_collation
    }

    /// Returns the collation in which names and messages are sent.
    pub fn names_collation(&self) -> u16 {
        self.results_collation().unwrap_or(types::collation::UTF8MB4_0900_AI_CI)
    }

    /// Returns the value of a user variable, whose name is given in lower case. Replicas set such
    /// variables before they ask for the binary log.
    pub fn user_variable(&self, name: &str) -> Option<Value> {
        self.settings.user_variables.borrow().get(name).map(|variable| variable.value.clone())
    }

    /// Allows or forbids texts of several statements (COM_SET_OPTION).
    pub fn set_multi_statements(&mut self, on: bool) {
        self.client.init.multi_statements = on;
    }

    /// Returns the status bits for the packet that ends the current statement.
    pub fn status(&self) -> u16 {
        let mut bits = 0;
        if self.transaction.is_begun() {
            bits |= status::IN_TRANS;
            if self.transaction.read_only {
                bits |= status::IN_TRANS_READONLY;
            }
        }
        if self.settings.variables.autocommit {
            bits |= status::AUTOCOMMIT;
        }
        if self.client.more_results {
            bits |= status::MORE_RESULTS_EXISTS;
        }
        if self.settings.variables.sql_mode.no_backslash_escapes() {
            bits |= status::NO_BACKSLASH_ESCAPES;
        }
        bits
    }

    /// Keeps for the statement that begins how many conditions the last one has raised, and says
    /// how many of its own may be kept.
    fn note_conditions(&mut self) {
        let variables = &mut self.settings.variables;
        let diagnostics = self.statement.diagnostics.get_mut();
        variables.conditions_before = diagnostics.counts();
        diagnostics.most_kept = variables.max_error_count as usize;
    }

    /// Returns the number of warnings of the last statement.
    pub fn warning_count(&self) -> u16 {
        self.statement.diagnostics.borrow().count_u16()
    }

    /// Returns the name of the current schema.
    pub fn schema(&self) -> Option<&str> {
        self.settings.schema.as_deref()
    }

    /// Reports whether the session has asked for its connection to be closed (COMMIT RELEASE, or a
    /// fatal error).
    pub fn wants_to_close(&self) -> bool {
        self.client.closing
    }

    /// Commits the session's transaction, which has changed accounts. `text` is the statement that
    /// the binary log gets for it.
    ///
    /// # Errors
    /// Returns the error of the commit, with MySQL's number and text. Nothing is committed in that
    /// case.
    pub fn commit_accounts(&mut self, log: &AccountsLog<'_>, text: &str) -> Result<()> {
        let transaction = self.transaction.open.take();
        assert!(!self.programs.is_within(), "a stored function does not change accounts");
        let committed = log.commit(&self.server.engine, transaction, text);
        self.transaction.forget();
        committed
    }

    /// Returns the part of the session that begins and ends its transactions.
    fn transacting(&mut self) -> Transacting<'_> {
        Transacting {
            server: &self.server,
            settings: &mut self.settings,
            locks: &self.locks,
            of: &mut self.transaction,
        }
    }

    /// Returns the settings that the binary log gets for a statement that runs at this moment.
    fn session_context(&self, now_us: u64) -> SessionContext {
        self.settings.session_context(self.server.host.connection_id(), now_us)
    }

    /// Returns a binder for the session's statements.
    fn binder(&self) -> crate::bind::Binder<'_> {
        let locked = self.locks.names();
        let schema = self.settings.schema.as_deref();
        let mut binder = crate::bind::Binder::new(
            &self.server.engine,
            &*self.server.host,
            &self.settings.variables,
            schema,
            locked,
        );
        binder.user_variables = Some(&self.settings.user_variables);
        binder.temporary = TemporaryUse::of(&self.temporary, self.programs.tables_around());
        binder
    }

    /// Returns the context in which a statement's expressions are computed.
    fn context<'s>(&'s self, parameters: &'s [Value], strict: bool) -> Context<'s> {
        Context {
            host: &*self.server.host,
            interrupt: &self.server.interrupt,
            memory: &self.server.memory,
            counters: &self.server.counters,
            measures: None,
            made_bytes: Cell::new(0),
            engine: &self.server.engine,
            variables: &self.settings.variables,
            user_variables: &self.settings.user_variables,
            parameters,
            diagnostics: &self.statement.diagnostics,
            schema: self.settings.schema.as_deref(),
            now_us: self.settings.now_us(),
            last_insert_id: &self.settings.last_insert_id,
            last_insert_id_set: &self.statement.last_insert_id_set,
            row_count: self.statement.row_count,
            found_rows: self.statement.found_rows,
            subqueries: None,
            programs: self,
            tables: &[],
            outer: &[],
            random: &self.settings.random,
            strict: strict && self.settings.variables.sql_mode.strict(),
            lenient: Cell::new(false),
            regexps: PatternCache::default(),
            seeded_randoms: SeededRandoms::default(),
            searches: FoundCache::default(),
        }
    }

    /// Asserts what holds between two statements of a client.
    #[inline]
    fn assert_at_rest(&self) {
        self.transaction.assert_at_rest();
        self.programs.assert_at_rest();
    }

    /// Notes an error in a client's statement that the server around the session has found.
    pub fn note_refused(&mut self, error: &SqlError) {
        self.note_error(error);
    }

    /// Notes an error, for SHOW ERRORS and ROW_COUNT(), and for whether the connection is to be
    /// closed.
    fn note_error(&mut self, error: &SqlError) {
        self.client.closing |= closes_connection(error);
        self.statement.row_count = -1;
        self.statement.diagnostics.borrow_mut().push_error(error);
        if !self.transaction.is_begun() {
            // A GTID that was set for the statement is used up, as if a transaction of its own had
            // been rolled back.
            self.transacting().spend_gtid();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.transacting().rollback();
    }
}
