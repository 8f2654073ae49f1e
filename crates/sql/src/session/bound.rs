//! Statements about rows: bound once, and run any number of times.

use super::into::IntoRows;
use super::logging::expanded;
use super::rows::Rows;
use super::state::{Bound, Plan};
use super::statement_names::name_of;
use super::{Session, engine_counts, logging, results, xa};
use crate::ast::{self, Delete, OnDuplicate, Statement, Update};
use crate::bind::{Binder, end_hints, is_join_view};
use crate::error::{Result, SqlError};
use crate::exec::{
    Changes, Input, Run, StoredColumns, Subqueries, bind_delete, bind_delete_several, bind_insert, bind_load,
    bind_update, bind_update_several, run_query, run_stored,
};
use crate::expr::{Context, Diagnostics, Expr, Level, Reading};
use crate::host::{Host, Sight};
use crate::memory::{Charge, heap_bytes};
use crate::parse::Hints;
use crate::sink::{OkInfo, PlanNumber, ResultSink};
use engine::{StatementContext, Table, Transaction};
use os::account::{State, enter};
use std::sync::Arc;
use std::time::Duration;
use types::{ColumnType, Value};

/// The error of a statement one of whose tables was changed by DDL after it was bound.
const TABLE_CHANGED: u16 = 1412;

/// The error of an interrupted statement.
const INTERRUPTED: u16 = 1317;

/// The result of a statement.
enum Done {
    Rows {
        found: u64,
    },
    /// SELECT ... INTO has stored this many rows.
    Into {
        rows: u64,
    },
    Changes(Changes),
}

/// The time limit of a running query (`max_execution_time`).
struct TimeLimit {
    /// The host that watches the limit. `None` means that the limit has ended.
    host: Option<Arc<dyn Host>>,
}

impl TimeLimit {
    /// Begins the limit of a SELECT: the one in its hint, else the session's. Returns `None` when
    /// there is none.
    fn begin(session: &Session, hinted_ms: Option<u64>) -> Option<TimeLimit> {
        let hinted = hinted_ms.filter(|ms| *ms > 0);
        let limit_ms = hinted.unwrap_or(session.settings.variables.max_execution_time_ms);
        let begun = limit_ms > 0 && session.server.host.begin_time_limit(Duration::from_millis(limit_ms));
        begun.then(|| TimeLimit { host: Some(session.server.host.clone()) })
    }

    /// Ends the limit, and replaces the error of an interrupted statement if the limit has
    /// interrupted it.
    fn explain<T>(mut self, outcome: Result<T>) -> Result<T> {
        let has_passed = self.host.take().is_some_and(|host| host.end_time_limit());
        outcome.map_err(|error| match error.code {
            INTERRUPTED if has_passed => SqlError::time_limit_passed(),
            _ => error,
        })
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        if let Some(host) = &self.host {
            host.end_time_limit();
        }
    }
}

/// Binds a statement about rows.
pub(super) fn bind(session: &Session, statement: &Statement) -> Result<Bound> {
    bind_with(session, statement, &[])
}

/// As [`bind`], for EXPLAIN.
pub(super) fn bind_explained(session: &Session, statement: &Statement, hints: &Hints) -> Result<Bound> {
    let mut binder = session.binder();
    binder.explains = true;
    binder.hints.of_statement = hints.of_statement.clone();
    Ok(Bound { hints: hints.clone(), ..bind_by(session, binder, statement)? })
}

/// As [`bind`], for the INSERT of a CREATE TEMPORARY TABLE ... SELECT. Its query does not see the
/// temporary table with the number `unseen`.
pub(super) fn bind_unseen(session: &Session, statement: &Statement, unseen: u64) -> Result<Bound> {
    let mut binder = session.binder();
    binder.temporary.hide(unseen);
    bind_by(session, binder, statement)
}

/// As [`bind`], for the INSERT of a CREATE TABLE ... SELECT. It fills the stored table, even if a
/// temporary table has the same name.
pub(super) fn bind_stored(session: &Session, statement: &Statement) -> Result<Bound> {
    let mut binder = session.binder();
    binder.temporary.fill_stored();
    bind_by(session, binder, statement)
}

/// As [`bind`], with the types of the parameters.
pub(super) fn bind_with(
    session: &Session,
    statement: &Statement,
    parameter_types: &[ColumnType],
) -> Result<Bound> {
    let mut binder = session.binder();
    binder.parameters.types = parameter_types;
    bind_by(session, binder, statement)
}

fn bind_by(session: &Session, mut binder: Binder<'_>, statement: &Statement) -> Result<Bound> {
    let _state = enter(State::Plan);
    // The generation is read before the privileges are checked, so that a change meanwhile makes
    // the plan invalid.
    let privileges = session.server.host.privileges_generation();
    binder.around.keeps_order = !matches!(statement, Statement::Query(_));
    if let Statement::Query(query) = statement {
        query.into.iter().try_for_each(|into| super::into::check_account(into, session))?;
    }
    let plan = plan_of(&mut binder, statement).map_err(|error| told(session, &binder, statement, error))?;
    let into = match (statement, &plan) {
        (Statement::Query(query), Plan::Query(plan)) => {
            query.into.iter().try_for_each(|into| super::into::check(into, plan.columns.len(), session))?;
            query.into.clone()
        }
        _ => None,
    };
    end_hints(&mut binder);
    binder.assert_at_the_end();
    let stored_columns = match &plan {
        Plan::Query(plan) if into.is_none() => StoredColumns::of(plan),
        _ => None,
    };
    let (subqueries, cacheable) = (binder.take_subqueries(), !binder.noted.uncacheable);
    Ok(Bound {
        number: PlanNumber::next(),
        kind: name_of(statement),
        plan,
        stored_columns,
        subqueries,
        into,
        calls: binder.noted.calls_functions,
        tables: binder.noted.tables,
        hints: Hints::default(),
        constants: binder.constants,
        logging: binder.noted.logging,
        _charge: binder.memory.into_charge(),
        cacheable,
        generation: session.cache.generation(),
        privileges,
        known: Default::default(),
    })
}

/// Returns the error of a statement that could not be bound, and leaves the warnings that belong to
/// it in the diagnostics.
fn told(session: &Session, binder: &Binder<'_>, statement: &Statement, error: SqlError) -> SqlError {
    let mut diagnostics = session.statement.diagnostics.borrow_mut();
    diagnostics.clear();
    let changes_rows = match statement {
        Statement::Insert(insert) => !insert.ignore,
        Statement::Load(load) => load.on_duplicate == OnDuplicate::Error && !load.is_local,
        Statement::Update(update) => !update.ignore,
        Statement::Delete(delete) => !delete.ignore,
        _ => false,
    };
    if changes_rows && session.settings.variables.sql_mode.strict() {
        return binder.constants.strictly(error);
    }
    if error.code == 1525 {
        for (code, text) in &binder.constants.complaints {
            diagnostics.push(Level::Warning, *code, text);
        }
    }
    error
}

/// Returns the query with the LIMIT that `sql_select_limit` gives it. `None` means that it keeps
/// its own, or has none: the variable is about a client's queries and not about those of programs.
fn limited(binder: &Binder<'_>, query: &ast::Query) -> Option<ast::Query> {
    let most = binder.variables.sql_select_limit;
    if most == u64::MAX || query.limit.is_some() || binder.parameters.of_program {
        return None;
    }
    let count = ast::Expr::Literal(ast::Literal::Integer(most));
    Some(ast::Query { limit: Some(ast::Limit { count, offset: None }), ..query.clone() })
}

fn plan_of(binder: &mut Binder<'_>, statement: &Statement) -> Result<Plan> {
    if let Statement::Update(Update { with: Some(with), .. })
    | Statement::Delete(Delete { with: Some(with), .. }) = statement
    {
        binder.enter_with(with, 0)?;
    }
    Ok(match statement {
        Statement::Query(query) => Plan::Query(match limited(binder, query) {
            Some(limited) => crate::bind::bind_query(binder, &limited, None)?,
            None => crate::bind::bind_query(binder, query, None)?,
        }),
        Statement::Insert(insert) => Plan::Insert(bind_insert(binder, insert)?),
        Statement::Load(load) => Plan::Load(bind_load(binder, load)?),
        Statement::Update(update) if update.from.is_one_table() && !is_join_view(binder, &update.from)? => {
            Plan::Update(bind_update(binder, update)?)
        }
        Statement::Update(update) => Plan::UpdateSeveral(bind_update_several(binder, update)?),
        Statement::Delete(delete) if delete.from.is_one_table() && delete.targets.len() <= 1 => {
            Plan::Delete(bind_delete(binder, delete)?)
        }
        Statement::Delete(delete) => Plan::DeleteSeveral(bind_delete_several(binder, delete)?),
        _ => {
            return Err(SqlError::new(
                1295,
                "This command is not supported in the prepared statement protocol yet",
            ));
        }
    })
}

/// As [`bind`], with the statement's hints.
pub(super) fn bind_hinted(session: &Session, statement: &Statement, hints: &Hints) -> Result<Bound> {
    bind_typed(session, statement, hints, &[])
}

/// As [`bind_hinted`], with the types of the parameters.
pub(super) fn bind_typed(
    session: &Session,
    statement: &Statement,
    hints: &Hints,
    parameter_types: &[ColumnType],
) -> Result<Bound> {
    let mut binder = session.binder();
    binder.parameters.types = parameter_types;
    binder.hints.of_statement = hints.of_statement.clone();
    let bound = bind_by(session, binder, statement)?;
    Ok(Bound { hints: hints.clone(), cacheable: bound.cacheable && hints.set_vars.is_empty(), ..bound })
}

/// Binds a statement of a stored program whose variables have these types.
pub(super) fn bind_in_program(
    session: &Session,
    statement: &Statement,
    types: &[ColumnType],
) -> Result<Bound> {
    let mut binder = session.binder();
    binder.parameters.types = types;
    binder.parameters.of_program = true;
    bind_by(session, binder, statement)
}

/// Reports whether a bound statement still has the same meaning and is still allowed.
pub(super) fn still_holds(session: &Session, bound: &Bound) -> bool {
    bound.generation == session.cache.generation()
        && bound.privileges == session.server.host.privileges_generation()
}

/// Runs a query under its time limit, which includes binding and begins after parsing. The limit is
/// the one in the hint, else the session's. Other statements have none.
pub(super) fn within_time<T>(
    session: &mut Session,
    is_query: bool,
    hinted_ms: Option<u64>,
    run: impl FnOnce(&mut Session) -> Result<T>,
) -> Result<T> {
    let limit = if is_query { TimeLimit::begin(session, hinted_ms) } else { None };
    let outcome = run(session);
    match limit {
        Some(limit) => limit.explain(outcome),
        None => outcome,
    }
}

/// Reports whether a statement that has failed with this error can be bound and run once more: a
/// table has changed since it was bound, and the client has received nothing of the result yet.
pub(super) fn can_run_again(session: &Session, error: &SqlError) -> bool {
    error.code == TABLE_CHANGED && !session.statement.has_described.get()
}

/// As [`run`], for a statement without parameters that a client has sent as a text. Meanwhile,
/// EXPLAIN FOR CONNECTION shows its plan.
pub(super) fn run_shown(
    session: &mut Session,
    bound: &Arc<Bound>,
    text: &[u8],
    sink: &mut dyn ResultSink,
) -> Result<()> {
    session.server.host.plan_runs(Some(bound.clone()));
    let outcome = run(session, bound, &[], text, sink);
    session.server.host.plan_runs(None);
    outcome
}

/// Runs a bound statement and sends its answer. After an error, [`can_run_again`] tells whether it
/// can be bound and run again.
pub(super) fn run(
    session: &mut Session,
    bound: &Bound,
    parameters: &[Value],
    text: &[u8],
    sink: &mut dyn ResultSink,
) -> Result<()> {
    let _state = enter(State::Execute);
    session.statement.diagnostics.borrow_mut().clear();
    session.statement.has_described.set(false);
    xa::check_allows(session, bound)?;
    if !bound.is_query() {
        if !bound.plan.changes_temporary_only() {
            session.locks.check_writable(&session.server)?;
        }
        if session.transacting().check_gtid_next()? {
            session.statement.row_count = 0;
            return results::ok(session, sink);
        }
    }
    let mut transaction = session.transacting().take();
    assert!(!session.programs.is_within(), "a session within a statement uses that one's transaction");
    session.statement.last_insert_id_set.set(false);
    let place = session.server.engine.enter_statement();
    let outcome = run_in(session, &mut transaction, bound, parameters, text, sink)
        .map_err(|error| without_unseen_relatives(session, bound, error));
    drop(place);
    // The client may tell other clients what the statement answers, and their statements have to
    // find the same: a row that was read under a lock, or a key that exists already. Only the
    // number of changed rows may be known a moment earlier, since other statements wait for the
    // locks of this one.
    let tells = bound.is_query() || outcome.is_err();
    let done = finish_statement(session, transaction, outcome, tells)?;
    answer(session, bound, done, sink)
}

/// Runs a bound statement of a stored function or a trigger, in the transaction of the calling
/// statement.
pub(super) fn run_within(
    session: &mut Session,
    transaction: &mut Transaction,
    bound: &Bound,
    parameters: &[Value],
    sink: &mut dyn ResultSink,
) -> Result<()> {
    assert!(session.programs.is_within(), "only a session within a statement is lent its transaction");
    session.statement.diagnostics.borrow_mut().clear();
    session.statement.has_described.set(false);
    session.statement.last_insert_id_set.set(false);
    let done = run_in(session, transaction, bound, parameters, &[], sink)?;
    answer(session, bound, done, sink)
}

/// Ends a statement of the session that had this transaction, whatever its outcome. `tells` says
/// that the client may tell other clients what the statement answered, so that their statements
/// have to find the same.
///
/// # Errors
/// Returns the error of the statement or of its commit.
pub(super) fn finish_statement<T>(
    session: &mut Session,
    transaction: Box<Transaction>,
    outcome: Result<T>,
    tells: bool,
) -> Result<T> {
    // The variables are a large value, which taking copies even where there is none.
    let has_variables = session.programs.variables_after.borrow().is_some();
    if has_variables && let Some(mut variables) = session.programs.variables_after.take() {
        variables.insert_ids = std::mem::take(&mut session.settings.variables.insert_ids);
        session.settings.variables = variables;
        session.cache.invalidate();
    }
    session.transacting().finish_statement(transaction, outcome, tells)
}

/// Removes the constraint from the message of a foreign key error if it would show the account
/// tables that it may not see. For a missing parent row, the account has to see all parent tables;
/// for a row with children, it has to see all tables that may have some.
fn without_unseen_relatives(session: &Session, bound: &Bound, mut error: SqlError) -> SqlError {
    const NO_PARENT_ROW: u16 = 1452;
    const HAS_CHILD_ROWS: u16 = 1451;
    let changed = bound.plan.changed_tables();
    let sees = |schema: &str, name: &str| session.server.host.check_sight(Sight::Table(schema, name)).is_ok();
    let sees_all = match error.code {
        NO_PARENT_ROW => {
            let mut keys = changed.iter().flat_map(|table| &table.def.foreign_keys);
            keys.all(|key| sees(&key.parent_schema, &key.parent_table))
        }
        HAS_CHILD_ROWS => {
            let mut related: Vec<Arc<Table>> = changed.into_iter().cloned().collect();
            let mut at = 0;
            while let Some(parent) = related.get(at).cloned() {
                let children = session.server.engine.catalog().children(&parent.def.schema, &parent.def.name);
                let known = |child: &Arc<Table>| {
                    related.iter().any(|table| {
                        (&table.def.schema, &table.def.name) == (&child.def.schema, &child.def.name)
                    })
                };
                let new: Vec<_> = children.into_iter().filter(|child| !known(child)).collect();
                related.extend(new);
                at += 1;
            }
            related.iter().all(|table| sees(&table.def.schema, &table.def.name))
        }
        _ => true,
    };
    if !sees_all && let Some(end) = error.message.find(" (") {
        error.message.truncate(end);
    }
    error
}

fn run_in(
    session: &Session,
    transaction: &mut Transaction,
    bound: &Bound,
    parameters: &[Value],
    text: &[u8],
    sink: &mut dyn ResultSink,
) -> Result<Done> {
    let as_text = match session.programs.is_within() {
        false => logging::text_context(session, transaction, bound)?,
        true => None,
    };
    let mut charge = Charge::new(&session.server.memory);
    let mut complaints = bound.constants.complaints.clone();
    let read = read_parameters(session, bound, parameters, &mut complaints, &mut charge)?;
    let mut ctx = session.context(read.as_deref().unwrap_or(parameters), !bound.is_query());
    ctx.tables = &bound.tables;
    if bound.plan.has_ignore() {
        ctx.be_lenient();
    }
    let logged_text = || expanded(text, parameters, session.settings.variables.sql_mode.lex());
    let has_rows_query = !bound.is_query() && as_text.is_none() && session.settings.variables.logs_rows_query;
    let rows_query = has_rows_query.then(|| String::from_utf8_lossy(&logged_text()).into_owned());
    transaction
        .set_checks(session.settings.variables.foreign_key_checks, session.settings.variables.unique_checks);
    // With a single table, its first use comes before the first row anyway, also where threads
    // share its rows.
    if bound.tables.len() > 1 {
        transaction.use_tables(bound.plan.changed_tables(), &bound.tables)?;
    }
    for (code, text) in &bound.hints.warnings {
        ctx.warn(*code, text.clone());
    }
    if !complaints.is_empty() {
        complaints.into_iter().for_each(|(code, text)| ctx.warn(code, text));
    }
    check_calls(&bound.constants.calls, &ctx)?;
    if !session.programs.is_within() {
        session.settings.variables.insert_ids.begin_statement();
    }
    let is_within = session.programs.is_within();
    let only_reads = bound.only_reads() && !is_within;
    // The point to go back to if the statement fails, unless it changes nothing.
    let savepoint = if only_reads {
        transaction.begin_reading(ctx.now_us);
        None
    } else if is_within {
        Some(transaction.savepoint_within())
    } else {
        Some(transaction.begin_statement(StatementContext { timestamp_us: ctx.now_us, rows_query }))
    };
    let run_plan = |mut run: Run<'_, '_>| match &bound.plan {
        Plan::Query(plan) => {
            if let Some(into) = &bound.into {
                let mut rows = IntoRows::new(into, &plan.columns, session)?;
                run_query(&mut run, plan, &mut |row| rows.row(row, &ctx))?;
                return rows.finish(&ctx).map(|rows| Done::Into { rows });
            }
            let mut rows =
                Rows::new(&plan.columns, &session.settings.variables, &session.statement.has_described, sink);
            rows.set_plan(bound.number);
            let stored = match &bound.stored_columns {
                Some(stored) => run_stored(&mut run, plan, stored, &mut |row| rows.stored_row(row))?,
                None => None,
            };
            let outcome = match stored {
                Some(outcome) => outcome,
                None => run_query(&mut run, plan, &mut |row| rows.row(row))?,
            };
            rows.finish()?;
            Ok(Done::Rows { found: outcome.found_rows })
        }
        Plan::Load(plan) => {
            run.set_changes_rows();
            // The rows of a copy are those of a MariaDB source, with their history.
            if session.settings.variables.of_mariadb {
                run.set_received(false);
            }
            let load = |input: &mut dyn Input| plan.run(&mut run, input);
            super::load::with_input(session, plan.source(), sink, load).map(Done::Changes)
        }
        plan => {
            run.set_changes_rows();
            plan.change(&mut run).expect("it changes rows").map(Done::Changes)
        }
    };
    let done =
        Subqueries::with(&bound.subqueries, transaction, &ctx, !bound.is_query(), bound.calls, run_plan);
    let done = ctx.check_refused().and(done);
    let done = match done {
        // The last row may have been computed while the statement was killed, by SLEEP() for one.
        Ok(Done::Changes(_)) => ctx.check_interrupt().and(done),
        done => done,
    };
    match (&done, &as_text) {
        (Ok(Done::Changes(_)), Some(context)) => {
            let logged = (&*logged_text(), ctx.now_us);
            logging::end_statement_as_text(
                session,
                transaction,
                logged,
                context,
                session.settings.variables.insert_ids.first_generated(),
                &bound.logging,
            );
        }
        _ if only_reads => transaction.end_reading(),
        (Ok(_), _) if is_within => {}
        (Ok(_), _) => transaction.end_statement(),
        (Err(_), _) => savepoint.into_iter().for_each(|savepoint| transaction.rollback_to(savepoint)),
    }
    if !session.programs.is_within() {
        let has_changes = |done: &Done| matches!(done, Done::Changes(changes) if changes.affected_rows > 0);
        let outcome = done.as_ref().map(has_changes).map_err(|_| ());
        engine_counts::count_statement(&session.server, &session.settings.variables, bound, outcome);
    }
    done
}

/// Computes the calls with constant arguments that are compared with dates.
///
/// # Errors
/// Returns 1525 (`ER_WRONG_VALUE`) for a text that is no date. In strict mode, a statement that
/// changes rows returns 1292 in its place.
pub(super) fn check_calls(calls: &[(Expr, Reading)], ctx: &Context<'_>) -> Result<()> {
    for (call, reading) in calls {
        let refused = Diagnostics::or_without_trace(ctx.diagnostics, || {
            // An error comes when the call is computed for a row, if it is.
            let value = call.eval(&[], ctx).ok()?;
            let read = reading.read(&value, ctx.dates(), ctx.zone());
            read.complaint.into_iter().for_each(|text| ctx.warn(1292, text));
            read.refusal
        });
        if let Some(refused) = refused {
            ctx.check_refused()?;
            return Err(refused);
        }
    }
    Ok(())
}

/// Converts those parameters that are compared with columns of another kind to values of these
/// columns. Returns all parameters, charged for, or `None` if nothing is to be converted.
pub(super) fn read_parameters(
    session: &Session,
    bound: &Bound,
    parameters: &[Value],
    complaints: &mut Vec<(u16, String)>,
    charge: &mut Charge,
) -> Result<Option<Vec<Value>>> {
    let compared = &bound.constants.parameters;
    let is_read = |(at, reading): &&(usize, Reading)| {
        parameters.get(*at).is_some_and(|parameter| reading.may_change(parameter))
    };
    if !compared.iter().any(|compared| is_read(&compared)) {
        return Ok(None);
    }
    charge.add(parameters.iter().map(heap_bytes).sum())?;
    let mut all = parameters.to_vec();
    for (at, reading) in compared.iter().filter(is_read) {
        let variables = &session.settings.variables;
        let dates = variables.sql_mode.dates();
        let read = reading.read(&parameters[*at], dates, variables.zone);
        complaints.extend(read.complaint.map(|text| (1292, text)));
        if let Some(value) = read.value {
            all[*at] = value;
        }
    }
    Ok(Some(all))
}

fn answer(session: &mut Session, bound: &Bound, done: Done, sink: &mut dyn ResultSink) -> Result<()> {
    match done {
        Done::Rows { found } => {
            session.statement.found_rows = found;
            session.statement.row_count = -1;
            sink.end_rows(results::end_of_rows(session))
        }
        Done::Into { rows } => {
            session.statement.found_rows = rows;
            session.statement.row_count = rows as i64;
            let (warnings, status) = (session.warning_count(), session.status());
            sink.ok(&mut OkInfo { affected_rows: rows, warnings, status, ..OkInfo::default() })
        }
        Done::Changes(changes) => {
            let mut insert_id = 0;
            if let Some(id) = changes.generated_id {
                session.settings.last_insert_id.set(id);
                insert_id = id;
            } else if session.statement.last_insert_id_set.get() && !bound.plan.is_delete() {
                insert_id = session.settings.last_insert_id.get();
            } else if let Some(id) = changes.written_id {
                // LAST_INSERT_ID() keeps the value that was generated last.
                insert_id = id;
            }
            if bound.plan.is_load() {
                // As in MySQL, the value of a LOAD DATA shows in LAST_INSERT_ID() only.
                insert_id = 0;
            }
            session.statement.row_count = changes.affected_rows as i64;
            let found_rows = session.client.init.found_rows && bound.plan.is_update();
            sink.ok(&mut OkInfo {
                affected_rows: if found_rows { changes.found_rows } else { changes.affected_rows },
                last_insert_id: insert_id,
                warnings: session.warning_count(),
                status: session.status(),
                info: changes.info,
            })
        }
    }
}

impl Bound {
    /// Reports whether the statement does nothing but send the rows of a table, so that no function
    /// in it can change any.
    fn only_reads(&self) -> bool {
        self.stored_columns.is_some() && self.subqueries.is_empty() && !self.calls
    }

    /// Reports whether a query reads any table.
    pub fn reads_tables(&self) -> bool {
        let own = match &self.plan {
            Plan::Query(plan) => plan.reads_tables(),
            _ => true,
        };
        own || self.subqueries.iter().any(|subquery| subquery.plan.reads_tables())
    }
}
