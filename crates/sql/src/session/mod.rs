//! A session: what a connection has between its statements.
//!
//! A session belongs to one thread at a time. Dropping it rolls its transaction back.

mod accounts;
mod bound;
mod classes;
mod ddl;
mod dispatch;
mod gtid_next;
mod into;
mod load;
mod locked_tables;
mod logging;
mod maintain;
mod new_view;
pub(crate) mod prepared;
mod privileges;
mod program;
pub(crate) mod received;
mod refused;
mod refused_queries;
mod results;
mod rows;
mod set;
mod show;
mod state;
mod temporary;
mod transaction;
mod xa;

use crate::counters::Counters;
use crate::error::{Result, SqlError};
use crate::expr::{Context, UserVariables};
use crate::host::{Host, Sight};
use crate::memory::{Budget, closes_connection};
use crate::regexp::PatternCache;
use crate::sink::{ColumnMeta, ResultSink, status};
use crate::temporary::{TemporaryTables, TemporaryUse};
use crate::variables::Variables;
use engine::Engine;
use state::{
    NextGtid, Parameters, PreparedStatements, SessionLocks, SessionPrograms, SessionTransaction, SessionXa,
    StatementCache, StatementState,
};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::Value;

/// What a connection starts with.
#[derive(Debug, Clone, Default)]
pub struct SessionInit {
    /// The schema that the client asked for.
    pub schema: Option<String>,
    /// CLIENT_MULTI_STATEMENTS.
    pub multi_statements: bool,
    /// CLIENT_FOUND_ROWS: an UPDATE counts the rows that it found, not those that it changed.
    pub found_rows: bool,
    /// CLIENT_PS_MULTI_RESULTS: OUT parameters of a prepared CALL are told as a result set.
    pub ps_multi_results: bool,
    /// The collation of the handshake; 0 is the server's.
    pub collation: u16,
}

/// A session.
pub struct Session {
    engine: Arc<Engine>,
    host: Arc<dyn Host>,
    /// What the session may keep.
    memory: Arc<Budget>,
    /// What its statements have done.
    counters: Arc<Counters>,
    /// The host's flag, which ends what runs.
    interrupt: Arc<AtomicBool>,
    init: SessionInit,
    variables: Variables,
    user_variables: UserVariables,
    /// The statement that runs, or that ran last.
    statement: StatementState,
    schema: Option<String>,
    transaction: SessionTransaction,
    next_gtid: NextGtid,
    xa: SessionXa,
    /// CREATE TEMPORARY TABLE.
    temporary: Arc<TemporaryTables>,
    locks: SessionLocks,
    last_insert_id: Cell<u64>,
    random: Cell<u64>,
    /// The plans of its texts, and the generation that all its plans are of.
    cache: StatementCache,
    prepared: PreparedStatements,
    /// More results follow, of the same text or of the procedure that is called.
    more_results: bool,
    closing: bool,
    programs: SessionPrograms,
    /// What the statement that runs has for its `?`.
    parameters: Parameters,
}

impl Session {
    /// A new session.
    ///
    /// # Errors
    /// 1049 when the schema does not exist.
    pub fn new(engine: Arc<Engine>, host: Arc<dyn Host>, init: SessionInit) -> Result<Session> {
        let memory = host.memory();
        let user_variables = UserVariables::new(&memory);
        let mut session = Session {
            variables: Variables::of_host(&*host)?,
            engine,
            memory,
            counters: host.counters(),
            interrupt: host.interrupt_flag().unwrap_or_default(),
            host,
            init,
            user_variables,
            statement: StatementState::default(),
            schema: None,
            transaction: SessionTransaction::default(),
            next_gtid: Default::default(),
            xa: Default::default(),
            temporary: Arc::default(),
            locks: SessionLocks::default(),
            last_insert_id: Cell::new(0),
            random: Cell::new(os::random::u64()),
            cache: StatementCache::default(),
            prepared: PreparedStatements::default(),
            more_results: false,
            closing: false,
            programs: SessionPrograms::default(),
            parameters: Parameters::default(),
        };
        session.init.collation = client_collation(session.init.collation)?;
        session.set_handshake_collation();
        if let Some(schema) = session.init.schema.clone() {
            session.change_schema(&schema)?;
        }
        Ok(session)
    }

    /// A session for a program within a statement of this one.
    fn inner(&self, programs: SessionPrograms, now_us: u64) -> Session {
        let mut variables =
            self.programs.variables_after.borrow().clone().unwrap_or_else(|| self.variables.clone());
        variables.timestamp_us = Some(now_us);
        let inner = Session {
            engine: self.engine.clone(),
            host: self.host.clone(),
            counters: self.counters.clone(),
            memory: self.memory.clone(),
            interrupt: self.interrupt.clone(),
            init: self.init.clone(),
            variables,
            user_variables: UserVariables::new(&self.memory),
            statement: StatementState::default(),
            schema: self.schema.clone(),
            transaction: SessionTransaction::default(),
            next_gtid: Default::default(),
            xa: Default::default(),
            temporary: self.temporary.clone(),
            locks: SessionLocks::default(),
            last_insert_id: Cell::new(self.last_insert_id.get()),
            random: Cell::new(self.random.get()),
            cache: StatementCache::of_generation(self.cache.generation()),
            prepared: PreparedStatements::default(),
            more_results: false,
            closing: false,
            programs,
            parameters: Parameters::default(),
        };
        inner.user_variables.swap(&self.user_variables);
        inner
    }

    /// Takes back what a session within a statement was lent.
    fn take_back(&self, inner: &mut Session, failed: bool) {
        inner.user_variables.swap(&self.user_variables);
        self.programs.take_back(&inner.programs);
        self.random.set(inner.random.get());
        if inner.cache.generation() != self.cache.generation() {
            let mut variables = inner.variables.clone();
            variables.timestamp_us = self.variables.timestamp_us;
            *self.programs.variables_after.borrow_mut() = Some(variables);
        }
        let mut told = inner.statement.diagnostics.borrow_mut();
        if failed || !told.warnings.is_empty() {
            self.statement.diagnostics.borrow_mut().take_over(&mut told);
        }
    }

    /// Error 1317 when the session was told to end what it does.
    fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.load(Ordering::Relaxed) { Err(SqlError::interrupted()) } else { Ok(()) }
    }

    fn set_handshake_collation(&mut self) {
        if let Some(known) = types::collation::by_id(self.init.collation) {
            self.variables.client_collation = known.id;
            self.variables.connection_collation = known.id;
            self.variables.results_collation = Some(known.id);
        }
    }

    /// Runs the statement or statements of a text (COM_QUERY). Each statement's result goes to the
    /// sink; the first error ends the text.
    pub fn execute(&mut self, text: &[u8], sink: &mut dyn ResultSink) -> Result<()> {
        let text = types::collation::to_utf8mb4(self.variables.client_collation, text);
        let mut rest: &[u8] = &text;
        loop {
            match self.execute_first(rest, sink) {
                Ok(next) if self.more_results => {
                    rest = &rest[next..];
                    // KILL QUERY is for the text.
                    if self.interrupt.load(Ordering::Relaxed) {
                        self.more_results = false;
                        return Err(SqlError::interrupted());
                    }
                }
                Ok(_) => return Ok(()),
                Err(error) => {
                    self.more_results = false;
                    self.note_error(&error);
                    return Err(error);
                }
            }
        }
    }

    /// Sets back to what a new connection has (COM_RESET_CONNECTION); the current schema stays.
    pub fn reset(&mut self) {
        self.rollback_transaction();
        self.locks = SessionLocks::default();
        self.temporary.clear();
        // What the host cannot say now keeps MySQL's defaults.
        self.variables = Variables::of_host(&*self.host).unwrap_or_default();
        self.user_variables.clear();
        self.statement = StatementState::default();
        self.transaction.next_isolation = None;
        self.transaction.next_read_only = None;
        self.next_gtid = Default::default();
        self.last_insert_id.set(0);
        self.prepared.clear();
        self.invalidate_plans();
    }

    /// Makes a schema the current one (COM_INIT_DB, USE).
    pub fn change_schema(&mut self, name: &str) -> Result<()> {
        self.host.check_sight(Sight::SchemaToUse(name))?;
        let is_virtual = crate::schema_tables::is_virtual_schema(name);
        if !is_virtual && self.engine.catalog().schema(name).is_none() {
            return Err(SqlError::unknown_schema(name));
        }
        let name = if is_virtual { name.to_lowercase() } else { name.to_owned() };
        self.host.schema_changed(Some(&name));
        self.schema = Some(name);
        self.invalidate_plans();
        Ok(())
    }

    /// The columns of a table of the current schema (COM_FIELD_LIST); `wildcard` is a LIKE pattern,
    /// empty for all.
    pub fn columns_of(&mut self, table: &str, wildcard: &str) -> Result<Vec<ColumnMeta>> {
        let name = crate::ast::TableName { schema: None, name: table.to_owned() };
        let mut binder = self.binder();
        let schema = binder.schema_of(&name)?;
        if binder.temporary.table(&schema, &name.name).is_none() {
            self.host.check_sight(Sight::Description(&schema, &name.name))?;
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

    /// The collation that character columns of results are described with
    /// (`character_set_results`).
    pub fn results_collation(&self) -> u16 {
        self.variables.results_collation.unwrap_or(types::collation::UTF8MB4_0900_AI_CI)
    }

    /// The value of a user variable: replicas tell their wishes for a dump this way. Names are in
    /// lower case.
    pub fn user_variable(&self, name: &str) -> Option<Value> {
        self.user_variables.get(name)
    }

    /// COM_SET_OPTION.
    pub fn set_multi_statements(&mut self, on: bool) {
        self.init.multi_statements = on;
    }

    /// The status bits for the packet that ends the statement at hand.
    pub fn status(&self) -> u16 {
        let mut bits = 0;
        if self.transaction.is_begun() {
            bits |= status::IN_TRANS;
            if self.transaction.read_only {
                bits |= status::IN_TRANS_READONLY;
            }
        }
        if self.variables.autocommit {
            bits |= status::AUTOCOMMIT;
        }
        if self.more_results {
            bits |= status::MORE_RESULTS_EXISTS;
        }
        if self.variables.sql_mode.no_backslash_escapes() {
            bits |= status::NO_BACKSLASH_ESCAPES;
        }
        bits
    }

    /// Warnings of the last statement.
    pub fn warning_count(&self) -> u16 {
        self.statement.diagnostics.borrow().count_u16()
    }

    /// The current schema.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The session asked for its connection to be closed (COMMIT RELEASE).
    pub fn wants_to_close(&self) -> bool {
        self.closing
    }

    fn binder(&self) -> crate::bind::Binder<'_> {
        let locked = self.locks.names();
        let schema = self.schema.as_deref();
        let mut binder = crate::bind::Binder::new(&self.engine, &*self.host, &self.variables, schema, locked);
        binder.temporary = TemporaryUse::of(&self.temporary, self.programs.tables_around());
        binder
    }

    fn context<'s>(&'s self, parameters: &'s [Value], strict: bool) -> Context<'s> {
        Context {
            host: &*self.host,
            interrupt: &self.interrupt,
            memory: &self.memory,
            counters: &self.counters,
            made_bytes: Cell::new(0),
            engine: &self.engine,
            variables: &self.variables,
            user_variables: &self.user_variables,
            parameters,
            diagnostics: &self.statement.diagnostics,
            schema: self.schema.as_deref(),
            now_us: self.variables.timestamp_us.unwrap_or_else(os::clock::now_us),
            last_insert_id: &self.last_insert_id,
            last_insert_id_set: &self.statement.last_insert_id_set,
            row_count: self.statement.row_count,
            found_rows: self.statement.found_rows,
            subqueries: None,
            programs: self,
            tables: &[],
            outer: &[],
            random: &self.random,
            strict: strict && self.variables.sql_mode.strict(),
            lenient: Cell::new(false),
            regexps: PatternCache::default(),
        }
    }

    /// Plans that were bound before mean nothing any more.
    fn invalidate_plans(&mut self) {
        self.cache.invalidate();
    }

    /// An error that the server around the session has found in the client's statement.
    pub fn note_refused(&mut self, error: &SqlError) {
        self.note_error(error);
    }

    /// SHOW ERRORS shows the error of the last statement.
    fn note_error(&mut self, error: &SqlError) {
        self.closing |= closes_connection(error);
        self.statement.row_count = -1;
        self.statement.diagnostics.borrow_mut().push_error(error);
        if !self.transaction.is_begun() {
            // As a transaction of its own that was rolled back.
            self.spend_gtid();
        }
    }
}

/// The collation for a client that names this one: itself, or 0, the server's, for an id that is
/// not known.
///
/// # Errors
/// 1231 for the character sets that no client may have.
fn client_collation(id: u16) -> Result<u16> {
    use types::collation;
    match collation::by_id(id) {
        Some(found) if found.charset.is_for_clients() => Ok(id),
        Some(found) => Err(SqlError::not_for_clients(found.charset.name())),
        None => Ok(0),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.rollback_transaction();
    }
}
