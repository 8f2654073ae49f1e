//! Runs statements about rows that a replication source logged as text (binlog_format=STATEMENT),
//! as the source's session ran them, within a transaction of the replica's applier.

use super::ddl_run::ddl_run;
use super::state::{Bound, LastInsert, Plan};
use super::temporary::begin_select;
use super::{Session, SessionInit, bound, created_select};
use crate::ast::{CreateTable, Query, Statement, TableName};
use crate::attribute::ENGINE;
use crate::ddl::about_temporary;
use crate::error::{Result, SqlError};
use crate::exec::{Input, Run, Subqueries, run_query};
use crate::lexer::LexMode;
use crate::parse::parse;
use crate::received_text::in_utf8mb4;
use crate::replica_host::{ReadVariable, ReplicaHost};
use crate::sql_mode::SqlMode;
use crate::temporary::SourceTables;
use binlog::event::flags2;
use engine::{CommitOptions, Engine, GtidNext, SessionContext, StatementContext, Transaction};
use os::disk::TempFile;
use std::borrow::Cow;
use std::sync::Arc;
use types::{ColumnType, Value};

/// The values that a statement depends on and its text does not say. A source logs them before the
/// statement, as INTVAR, RAND and USER_VAR events.
#[derive(Debug, Clone, Default)]
pub struct LoggedContext {
    /// The first AUTO_INCREMENT value that the statement generates.
    pub insert_id: Option<u64>,
    /// The value of LAST_INSERT_ID().
    pub last_insert_id: Option<u64>,
    /// The seeds of RAND().
    pub rand_seeds: Option<(u64, u64)>,
    /// The user variables: name without the @, value, and collation of a text.
    pub user_variables: Vec<(String, Value, u16)>,
}

/// A statement about rows, as it was received from a source.
pub struct ReceivedChange<'a> {
    /// The event's default schema. An empty one means none.
    pub schema: &'a str,
    /// The statement's text, in the `character_set_client` of `session`.
    pub statement: &'a [u8],
    /// The settings of the source's session.
    pub session: SessionContext,
    /// Whether the source is a MariaDB server.
    pub of_mariadb: bool,
    /// The values that were logged before the statement.
    pub logged: &'a LoggedContext,
    /// The file of a LOAD DATA.
    pub file: Option<&'a TempFile>,
    /// The values that are errors in the source's strict mode.
    pub refused: RefusedValues,
}

impl ReceivedChange<'_> {
    /// Returns the statement's text in utf8mb4.
    fn text(&self) -> Cow<'_, [u8]> {
        in_utf8mb4(self.statement, self.session.character_set_client, !self.of_mariadb)
    }
}

/// The values that are errors in a statement of a source that ran in strict mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedValues {
    /// Values that do not fit their columns. The source has carried the statement out, so they fit
    /// there, and other errors of strict mode do not count.
    OfColumns,
    /// All that strict mode refuses, because the source's statement has failed of it.
    All,
    /// None. STRICT_TRANS_TABLES lets every value pass in the second and later rows of an INSERT
    /// into a table without transactions.
    None,
}

/// Reads a file that came with a statement, from the offset `at` on.
struct ReceivedFile<'f> {
    file: &'f TempFile,
    at: u64,
}

impl Input for ReceivedFile<'_> {
    fn read(&mut self, into: &mut Vec<u8>) -> Result<()> {
        const PIECE_BYTES: u64 = 64 << 10;
        let bytes = (self.file.len_bytes() - self.at).min(PIECE_BYTES);
        into.resize(bytes as usize, 0);
        self.file.read(into, self.at).map_err(|error| {
            SqlError::new(2, format!("Error reading file '{}': {error}", self.file.path().display()))
        })?;
        self.at += bytes;
        Ok(())
    }
}

/// What a CREATE TABLE of a source defines whose columns come from a query or from a temporary
/// table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectedTable {
    /// The table exists already, and the statement says IF NOT EXISTS. There is nothing to do.
    Exists,
    /// The statement makes a table and inserts the rows of its query. This is the CREATE TABLE with
    /// all of its columns and without the query, in utf8mb4 and for an empty `sql_mode`.
    Defined(String),
    /// The statement makes a table like a temporary one, which does not exist for the replicas of
    /// this server. This is the CREATE TABLE with all of its columns, as in `Defined`.
    Like(String),
}

/// Runs the statements of replication sources, in one session that takes on the settings of the
/// source's session for each of them.
pub struct ReceivedStatements {
    engine: Arc<Engine>,
    /// The session. `None` means that no statement has been run yet.
    session: Option<Session>,
    /// The settings that the session has. `None` means that they are unknown, because a statement
    /// has failed.
    settings: Option<SessionContext>,
    /// The last INSERT of literals, as when a source loads a dump.
    last_insert: Option<LastInsert>,
    /// The temporary tables of the source's sessions.
    temporary: Arc<SourceTables>,
    /// Reads the server's own variables, if there is a server.
    variables: Option<Arc<ReadVariable>>,
}

impl ReceivedStatements {
    /// Creates a runner for this engine, with the temporary tables of the source's sessions and
    /// with the server's variables.
    pub fn new(
        engine: Arc<Engine>,
        temporary: Arc<SourceTables>,
        variables: Option<Arc<ReadVariable>>,
    ) -> ReceivedStatements {
        ReceivedStatements { engine, session: None, settings: None, last_insert: None, temporary, variables }
    }

    /// Runs a statement that is an event group of its own if it only defines temporary tables.
    /// Returns false if it is another statement. Nothing of it goes to the binary log.
    ///
    /// # Errors
    /// Returns the errors of [`ReceivedStatements::run`]. The statement leaves nothing behind in
    /// that case.
    pub fn define_temporary(&mut self, received: &ReceivedChange<'_>) -> Result<bool> {
        let text = received.text();
        let mode = SqlMode(received.session.sql_mode).lex();
        let lex = LexMode { of_source: true, of_mysql: !received.of_mariadb, ..mode };
        let Ok(Some(parsed)) = parse(&text, lex) else { return Ok(false) };
        let tables = self.temporary.of(received.session.thread_id).unwrap_or_default();
        let schema_of =
            |name: &TableName| Ok(name.schema.clone().unwrap_or_else(|| received.schema.to_owned()));
        if about_temporary(&parsed.statement, &tables, &schema_of)?.is_none() {
            return Ok(false);
        }
        let mut transaction = self.engine.begin(engine::Isolation::RepeatableRead);
        self.run(&mut transaction, received)?;
        transaction.commit(&CommitOptions { gtid: GtidNext::Anonymous, ..CommitOptions::default() })?;
        Ok(true)
    }

    /// Returns what a CREATE TABLE ... SELECT does before it inserts rows, or what a CREATE TABLE
    /// ... LIKE a temporary table makes. Returns `None` for another statement, and for one that
    /// makes a temporary table.
    ///
    /// # Errors
    /// Returns MySQL's error, as if a client had run the statement.
    pub fn define_selected(&mut self, received: &ReceivedChange<'_>) -> Result<Option<SelectedTable>> {
        let text = received.text();
        let mode = SqlMode(received.session.sql_mode).lex();
        let lex = LexMode { of_source: true, of_mysql: !received.of_mariadb, ..mode };
        let Ok(Some(parsed)) = parse(&text, lex) else { return Ok(None) };
        let Statement::CreateTable(create) = &parsed.statement else { return Ok(None) };
        if create.temporary || create.query.is_none() && create.like.is_none() {
            return Ok(None);
        }
        let mut session = self.take_session()?;
        let defined = self.begin(&mut session, received).and_then(|()| match (&create.query, &create.like) {
            (Some(query), _) => selected_table(&session, create, query, received.of_mariadb).map(Some),
            (None, Some(model)) => table_like(&session, create, model, received.of_mariadb),
            (None, None) => unreachable!("other statements are not looked at"),
        });
        self.session = Some(session);
        defined
    }

    /// Runs a statement in a transaction, which collects the row events of the changes. Of a CREATE
    /// TABLE ... SELECT the rows are inserted into the table, which exists already.
    ///
    /// # Errors
    /// Returns MySQL's error, as if a client had run the statement. What the statement had done by
    /// then is still in the transaction, which has to be rolled back.
    pub fn run(&mut self, transaction: &mut Transaction, received: &ReceivedChange<'_>) -> Result<()> {
        let mut session = self.take_session()?;
        let done = self.run_in(&mut session, transaction, received);
        self.session = Some(session);
        done
    }

    fn take_session(&mut self) -> Result<Session> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => {
                let host = ReplicaHost { variables: self.variables.clone() };
                Session::new(self.engine.clone(), Arc::new(host), SessionInit::default())
            }
        }
    }

    /// Gives the session everything that the statement depends on.
    fn begin(&mut self, session: &mut Session, received: &ReceivedChange<'_>) -> Result<()> {
        let before = self.settings.take();
        let thread_id = received.session.thread_id;
        if before.as_ref().is_none_or(|before| before.thread_id != thread_id) {
            let thread_id = Value::UInt(thread_id.into());
            session.settings.variables.set(&self.engine, "pseudo_thread_id", &thread_id)?;
        }
        if !before.is_some_and(|before| is_same_session(&before, &received.session)) {
            become_sources(session, &received.session)?;
        }
        self.settings = Some(received.session.clone());
        take_tables_of(session, &self.temporary, received.session.thread_id);
        begin_received(session, received)
    }

    fn run_in(
        &mut self,
        session: &mut Session,
        transaction: &mut Transaction,
        received: &ReceivedChange<'_>,
    ) -> Result<()> {
        self.begin(session, received)?;
        let text = received.text();
        let mode = session.settings.variables.sql_mode.lex();
        let lex = LexMode { of_source: true, of_mysql: !received.of_mariadb, ..mode };
        let now = (&*session.server.engine, session.cache.generation());
        if let Some(last) = &mut self.last_insert
            && let Some(bound) = last.again(now, &text, lex, &mut |_| Ok(()))?
        {
            let changed = change_rows(session, transaction, &bound, (None, received.refused));
            self.last_insert = self.last_insert.take().filter(LastInsert::is_short);
            return changed;
        }
        let Some(parsed) = parse(&text, lex)? else { return Ok(()) };
        let statement = match &parsed.statement {
            Statement::Empty => return Ok(()),
            // Queries are accepted, too: a query is logged because of the stored functions that it
            // calls.
            Statement::Load(_) if received.file.is_none() => {
                return Err(SqlError::not_supported("LOAD DATA without its file"));
            }
            statement @ (Statement::Insert(_)
            | Statement::Load(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Query(_)) => statement,
            statement if is_about_temporary(session, statement)? => {
                session.temporary = self.temporary.begin(received.session.thread_id);
                let defined = define_received(session, transaction, &text, statement);
                self.temporary.forget_empty();
                return defined;
            }
            Statement::CreateTable(CreateTable { query: Some(query), .. }) => {
                let Statement::CreateTable(create) = &parsed.statement else { unreachable!("just matched") };
                let columns = created_select::columns_of(session, query)?;
                let names = columns.into_iter().map(|column| column.name).collect();
                let bound = bound::bind_stored(session, &created_select::filling(create, query, names))?;
                return change_rows(session, transaction, &bound, (None, received.refused));
            }
            _ => return Err(SqlError::not_supported("statement-based replication of such a statement")),
        };
        let bound = Arc::new(bound::bind(session, statement)?);
        change_rows(session, transaction, &bound, (received.file, received.refused))?;
        self.last_insert = LastInsert::of(&text, &bound, &session.server.memory);
        Ok(())
    }
}

/// Returns what a CREATE TABLE ... SELECT does before it inserts rows.
fn selected_table(
    session: &Session,
    create: &CreateTable,
    query: &Query,
    of_mariadb: bool,
) -> Result<SelectedTable> {
    let schema = session.settings.schema_of(&create.table)?;
    let is_there = session.server.engine.catalog().table(&schema, &create.table.name).is_some();
    if is_there && create.if_not_exists {
        return Ok(SelectedTable::Exists);
    }
    let mut columns = created_select::columns_of(session, query)?;
    if of_mariadb {
        // MariaDB makes a BINARY(0) of NULL.
        let none = ColumnType::varbinary(0);
        columns
            .iter_mut()
            .filter(|column| column.ty == none)
            .for_each(|column| column.ty = ColumnType::binary(0));
    }
    let mut run = ddl_run(session, "");
    run.as_of_source(of_mariadb);
    let def = run.definition_of_selected(create, columns)?;
    Ok(SelectedTable::Defined(created_select::defining(session, create, &def)))
}

/// Returns what a CREATE TABLE ... LIKE makes, or `None` if the model is no temporary table.
fn table_like(
    session: &Session,
    create: &CreateTable,
    model: &TableName,
    of_mariadb: bool,
) -> Result<Option<SelectedTable>> {
    if !session.temporary.has(&session.settings.schema_of(model)?, &model.name) {
        return Ok(None);
    }
    let schema = session.settings.schema_of(&create.table)?;
    let is_there = session.server.engine.catalog().table(&schema, &create.table.name).is_some();
    if is_there && create.if_not_exists {
        return Ok(Some(SelectedTable::Exists));
    }
    let mut run = ddl_run(session, "");
    run.as_of_source(of_mariadb);
    let def = run.definition_like(model, &schema, &create.table.name)?;
    Ok(Some(SelectedTable::Like(created_select::defining(session, create, &def))))
}

/// Evaluates the expressions of an event's schedule as they were when a source ran the statement.
pub(crate) fn received_schedule(
    engine: &Arc<Engine>,
    session_of: &SessionContext,
    schedule: &crate::ast::EventSchedule,
) -> Result<crate::ddl::ScheduleValues> {
    let host = Arc::new(ReplicaHost::default());
    let mut session = Session::new(engine.clone(), host, SessionInit::default())?;
    become_sources(&mut session, session_of)?;
    session.settings.variables.timestamp_us = Some(session_of.timestamp_us);
    super::schedule::schedule_values(&mut session, schedule)
}

/// Reports whether two statements ran with the same settings.
fn is_same_session(one: &SessionContext, other: &SessionContext) -> bool {
    let SessionContext { thread_id, timestamp_us, exec_time_s, .. } = *other;
    // The fields that each statement has for itself are ignored.
    *other == SessionContext { thread_id, timestamp_us, exec_time_s, ..one.clone() }
}

/// Gives the session the temporary tables of the source's session with this thread id.
fn take_tables_of(session: &mut Session, tables: &SourceTables, thread_id: u32) {
    let tables = tables.of(thread_id);
    let is_same = match &tables {
        Some(tables) => Arc::ptr_eq(tables, &session.temporary),
        None => session.temporary.is_empty(),
    };
    if !is_same {
        session.temporary = tables.unwrap_or_default();
        session.cache.invalidate();
    }
}

/// Takes on the settings of a session at the source.
fn become_sources(session: &mut Session, source: &SessionContext) -> Result<()> {
    session.cache.invalidate();
    let variables = &mut session.settings.variables;
    variables.sql_mode = SqlMode(source.sql_mode);
    variables.foreign_key_checks = source.flags2 & flags2::NO_FOREIGN_KEY_CHECKS == 0;
    variables.unique_checks = source.flags2 & flags2::RELAXED_UNIQUE_CHECKS == 0;
    variables.check_constraint_checks = source.flags2 & flags2::NO_CHECK_CONSTRAINT_CHECKS == 0;
    variables.explicit_timestamps = source.explicit_timestamps;
    variables.client_collation = source.character_set_client;
    variables.connection_collation = source.collation_connection;
    variables.server_collation = source.collation_server;
    (variables.auto_increment_increment, variables.auto_increment_offset) =
        (source.auto_increment.0.max(1).into(), source.auto_increment.1.max(1).into());
    variables.locale =
        crate::locale::numbered(source.lc_time_names.into()).unwrap_or_else(crate::locale::english);
    let time_zone = if source.time_zone.is_empty() { "SYSTEM" } else { &source.time_zone };
    variables.set(&session.server.engine, "time_zone", &Value::text(time_zone)).map(|_| ())
}

/// Takes on everything else that a statement depends on, so that nothing of the statement before
/// stays.
fn begin_received(session: &mut Session, received: &ReceivedChange<'_>) -> Result<()> {
    let ReceivedChange { schema, logged, .. } = received;
    match (&session.settings.schema, *schema) {
        (None, "") => {}
        (Some(_), "") => {
            session.settings.schema = None;
            session.cache.invalidate();
        }
        (Some(current), schema)
            if current == schema && session.server.engine.catalog().schema(schema).is_some() => {}
        (_, schema) => session.change_schema(schema)?,
    }
    session.settings.variables.of_mariadb = received.of_mariadb;
    session.settings.variables.timestamp_us = Some(received.session.timestamp_us);
    session.settings.variables.insert_ids.give(logged.insert_id);
    session.settings.last_insert_id.set(logged.last_insert_id.unwrap_or(0));
    if let Some((first, second)) = logged.rand_seeds {
        session.settings.random.set((first & 0xffff_ffff) | second << 32);
    }
    session.settings.user_variables.clear();
    for (name, value, collation) in &logged.user_variables {
        session.settings.user_variables.set(name, value, &ColumnType::longtext(*collation))?;
    }
    session.statement.diagnostics.borrow_mut().clear();
    Ok(())
}

/// Reports whether changes of a table stay when its transaction is rolled back at the source,
/// because the table is of an engine without transactions there.
pub fn stays_when_rolled_back(table: &engine::Table) -> bool {
    const TRANSACTIONAL: [&str; 3] = ["ROCKSDB", "Columnstore", "ndbcluster"];
    let kept = table.def.options.iter().find(|(name, _)| name == ENGINE);
    kept.is_some_and(|(_, engine)| !TRANSACTIONAL.iter().any(|one| engine.eq_ignore_ascii_case(one)))
}

/// Runs a bound statement of a source, which changes rows or calls stored functions. `file` is the
/// file of a LOAD DATA.
fn change_rows(
    session: &Session,
    transaction: &mut Transaction,
    bound: &Bound,
    (file, refused): (Option<&TempFile>, RefusedValues),
) -> Result<()> {
    let mut ctx = session.context(&[], refused != RefusedValues::None);
    ctx.tables = &bound.tables;
    if refused != RefusedValues::All {
        ctx.be_lenient();
    }
    transaction
        .set_checks(session.settings.variables.foreign_key_checks, session.settings.variables.unique_checks);
    transaction.begin_statement(StatementContext { timestamp_us: ctx.now_us, rows_query: None });
    let change = |mut run: Run<'_, '_>| {
        run.set_changes_rows();
        run.set_received(refused == RefusedValues::All);
        match &bound.plan {
            Plan::Query(plan) => run_query(&mut run, plan, &mut |_| Ok(())).map(|_| ()),
            Plan::Load(plan) => {
                let file = file.expect("a statement without its file is refused");
                plan.run(&mut run, &mut ReceivedFile { file, at: 0 }).map(|_| ())
            }
            plan => plan.change(&mut run).expect("it changes rows").map(|_| ()),
        }
    };
    Subqueries::with(&bound.subqueries, transaction, &ctx, true, bound.calls, change)?;
    transaction.end_statement();
    Ok(())
}

/// Reports whether a statement only defines temporary tables.
fn is_about_temporary(session: &Session, statement: &Statement) -> Result<bool> {
    let schema_of = |name: &TableName| session.settings.schema_of(name);
    Ok(about_temporary(statement, &session.temporary, &schema_of)?.is_some())
}

/// Runs a statement of a source that defines temporary tables. A table of the same name is left
/// over from an attempt of the same transaction, and is removed.
fn define_received(
    session: &mut Session,
    transaction: &mut Transaction,
    text: &[u8],
    statement: &Statement,
) -> Result<()> {
    if let Statement::CreateTable(create) = statement
        && !create.if_not_exists
        && let Some(left) =
            session.temporary.table(&session.settings.schema_of(&create.table)?, &create.table.name)
    {
        session.temporary.remove(&left);
    }
    let text = String::from_utf8_lossy(text).into_owned();
    session.cache.invalidate();
    if let Statement::CreateTable(create) = statement
        && let Some(query) = &create.query
    {
        let Some((made, bound)) = begin_select(session, create, query)? else { return Ok(()) };
        let filled = change_rows(session, transaction, &bound, (None, RefusedValues::OfColumns));
        if filled.is_err() {
            session.temporary.remove(&made);
        }
        return filled;
    }
    let mut run = ddl_run(session, &text);
    run.is_temporary = true;
    run.as_of_source(session.settings.variables.of_mariadb);
    run.run(statement)
}
