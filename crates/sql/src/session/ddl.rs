//! DDL in a session: it commits the open transaction first, and is logged with the session's
//! settings.

use super::ddl_run::{ddl_run, definer};
use super::schedule::schedule_values;
use super::{Session, locked_tables, temporary};
use crate::ast::{self, CreateTable, Statement};
use crate::ddl::{
    DdlReport, DdlSettings, ScheduleValues, UNSAFE_FOREIGN_KEY, about_temporary, columns_of_query,
    routine_change, schedule_of,
};
use crate::detached::{DetachedRows, DetachedSettings};
use crate::error::{Result, SqlError};
use crate::exec::{KeptRows, Run, run_query};
use crate::expr::Level;
use engine::{EngineError, GtidNext, ObjectKind, StatementContext};
use types::{Value, convert};

/// Runs a DDL statement. `text` is what the binary log gets.
pub(super) fn run_ddl(session: &mut Session, text: &[u8], statement: &Statement) -> Result<DdlReport> {
    let own = session.settings.variables.timestamp_us;
    if schedule_of(statement).is_some() {
        // All expressions of an event's schedule see the same moment, so that AT NOW() does not lie
        // in the past.
        session.settings.variables.timestamp_us = Some(own.unwrap_or_else(os::clock::now_us));
    }
    let done = run_ddl_now(session, text, statement);
    session.settings.variables.timestamp_us = own;
    done
}

fn run_ddl_now(session: &mut Session, text: &[u8], statement: &Statement) -> Result<DdlReport> {
    let schema_of = |name: &ast::TableName| session.settings.schema_of(name);
    if let Some(about) = about_temporary(statement, &session.temporary, &schema_of)? {
        return temporary::define_temporary(session, text, statement, about);
    }
    session.locks.check_writable(&session.server)?;
    locked_tables::check_locked_for_ddl(session, statement)?;
    let begins = begins_transaction(statement)?;
    if begins {
        session.transacting().give_up_empty()?;
    } else {
        session.transacting().commit()?;
    }
    session.settings.check_writable()?;
    if session.transacting().check_gtid_next()? {
        return Ok(DdlReport::default());
    }
    if let Statement::CreateObject(create) = statement {
        super::program::check_body(session, create)?;
    }
    let text = String::from_utf8_lossy(text).into_owned();
    let schedule = match schedule_of(statement) {
        Some(schedule) => schedule_values(session, schedule)?,
        None => ScheduleValues::default(),
    };
    let (notes, warnings, told, report) = {
        if let Statement::CreateTable(create) = statement
            && create.query.is_some()
        {
            return create_table_select(session, create);
        }
        let text = if begins { without_begin(&text)? } else { &text };
        let mut run = ddl_run(session, text);
        run.schedule = schedule;
        // The GTID that the session has set is that of the rows behind the table.
        if begins && matches!(run.options.gtid, GtidNext::Given(_)) {
            run.options.gtid = GtidNext::Automatic;
        }
        run.options.binlog &=
            session.server.engine.binlog_filter().allows(filtered_schema(session, statement));
        let done = run.run(statement);
        let (notes, warnings) = (std::mem::take(&mut run.notes), std::mem::take(&mut run.warnings));
        let of_rows = std::mem::take(&mut run.told);
        let told = (notes, warnings, of_rows, std::mem::take(&mut run.report));
        if begins {
            done?;
            session.transacting().begin(false, None)?;
        } else {
            if done.is_ok() {
                session.transacting().note_definition();
            }
            session.transacting().spend_gtid();
            done?;
        }
        told
    };
    let maker = definer(session);
    if let Some(change) = routine_change(statement, session.schema(), (&maker.0, &maker.1), &notes) {
        session.server.host.routine_changed(&change)?;
    }
    for (code, message) in notes {
        session.statement.diagnostics.borrow_mut().push(Level::Note, code, message);
    }
    let unsafe_keys = warnings.iter().filter(|(code, _)| *code == UNSAFE_FOREIGN_KEY).count();
    if unsafe_keys > 0 {
        session.server.host.note_unsafe_foreign_keys(unsafe_keys as u64);
    }
    for (code, message) in warnings {
        session.statement.diagnostics.borrow_mut().push(Level::Warning, code, message);
    }
    told.tell(&mut session.statement.diagnostics.borrow_mut());
    note_definer(session, statement);
    if is_about_events(statement) {
        session.server.host.events_changed();
    }
    if let Statement::DropSchema { schema, .. } = statement
        && session.settings.schema.as_deref() == Some(schema)
    {
        session.settings.schema = None;
        session.server.host.schema_changed(None);
    }
    session.cache.invalidate();
    Ok(report)
}

/// Reports whether a statement is CREATE TABLE ... START TRANSACTION, which MySQL logs for CREATE
/// TABLE ... SELECT: the table's rows come behind it, and COMMIT behind them.
///
/// # Errors
/// Returns 3978 for a table with foreign keys.
fn begins_transaction(statement: &Statement) -> Result<bool> {
    match statement {
        Statement::CreateTable(create) if create.options.begins_transaction => {
            if create.foreign_keys.is_empty() { Ok(true) } else { Err(no_foreign_keys()) }
        }
        _ => Ok(false),
    }
}

/// Returns the statement without START TRANSACTION at its end. The binary log of this server has
/// the table and its rows as two transactions.
///
/// # Errors
/// Returns 1235 where other clauses follow.
fn without_begin(text: &str) -> Result<&str> {
    let cut = |text: &str, word: &str| {
        let text = text.trim_end();
        let at = text.len().checked_sub(word.len())?;
        let is_it = text.is_char_boundary(at) && text[at..].eq_ignore_ascii_case(word);
        is_it.then(|| text[..at].len())
    };
    let end = cut(text, "TRANSACTION").and_then(|end| cut(&text[..end], "START"));
    end.map(|end| &text[..end])
        .ok_or_else(|| SqlError::not_supported("START TRANSACTION before other clauses"))
}

/// Builds error 3978.
fn no_foreign_keys() -> SqlError {
    let text = "Foreign key creation is not allowed with CREATE TABLE as SELECT and CREATE TABLE with START TRANSACTION statement.";
    SqlError::new(3978, text)
}

/// Pushes note 1449 if the definer of a new object does not exist.
fn note_definer(session: &Session, statement: &Statement) {
    let Statement::CreateObject(create) = statement else { return };
    let Some(definer) = create.definer.as_ref().filter(|definer| !definer.is_current_user) else {
        return;
    };
    match session.server.host.act_as((&definer.user, &definer.host)) {
        Ok(()) => session.server.host.act_no_more(),
        Err(absent) => {
            session.statement.diagnostics.borrow_mut().push(Level::Note, absent.code, &absent.message);
        }
    }
}

/// Returns the schema that `binlog_do_db` and `binlog_ignore_db` are applied to.
fn filtered_schema<'s>(session: &'s Session, statement: &'s Statement) -> &'s str {
    match statement {
        Statement::CreateSchema { schema, .. } | Statement::DropSchema { schema, .. } => schema,
        Statement::AlterSchema { schema: Some(schema), .. } => schema,
        _ => session.settings.schema.as_deref().unwrap_or_default(),
    }
}

/// Runs CREATE TABLE ... SELECT. The binary log gets the table's definition, and then the rows as a
/// transaction.
fn create_table_select(session: &mut Session, create: &CreateTable) -> Result<DdlReport> {
    let Some(query) = &create.query else { return Ok(DdlReport::default()) };
    if !create.foreign_keys.is_empty() {
        return Err(no_foreign_keys());
    }
    let mut binder = session.binder();
    binder.around.keeps_order = true;
    let plan = crate::bind::bind_query(&mut binder, query, None)?;
    let (subqueries, calls) = (binder.take_subqueries(), binder.noted.calls_functions);
    let extra = columns_of_query(&plan, session.server.engine.catalog(), &session.settings.variables)?;
    let created = {
        let schema = session.settings.schema_of(&create.table)?;
        let settings = ddl_run(session, "").settings;
        let has_expressions =
            |spec: &ast::ColumnSpec| spec.generated.is_some() || spec.default_expression.is_some();
        if create.columns.iter().any(has_expressions) || !create.checks.is_empty() {
            return Err(SqlError::not_supported("CREATE TABLE ... SELECT with expressions of columns"));
        }
        let collation = session
            .server
            .engine
            .catalog()
            .schema(&schema)
            .map_or(settings.collation, |found| found.collation);
        let settings = DdlSettings { collation, ..settings };
        let def = crate::ddl::definition(create, &schema, extra.clone(), &settings)?;
        let zone = session.settings.variables.zone;
        let text = crate::show::create_table(&def, None, zone);
        let qualified = text.replacen(
            &format!("CREATE TABLE {}", crate::quoting::quoted(&def.name)),
            &format!(
                "CREATE TABLE {}.{}",
                crate::quoting::quoted(&def.schema),
                crate::quoting::quoted(&def.name)
            ),
            1,
        );
        let mut run = ddl_run(session, &qualified);
        run.create_table(create, extra)?
    };
    session.cache.invalidate();
    if !created {
        return Ok(DdlReport::default());
    }
    let table = session.binder().stored_table(&create.table)?;
    let mut transaction = session.transacting().take();
    let filled = {
        let ctx = session.context(&[], true);
        transaction.begin_statement(StatementContext { timestamp_us: ctx.now_us, rows_query: None });
        // The rows are kept until the query has ended, since it has the transaction until then.
        // They go on in a file when they are many.
        let read = |mut run: Run<'_, '_>| {
            let mut rows = KeptRows::uncounted(plan.columns.len(), &ctx);
            run_query(&mut run, &plan, &mut |row| rows.push(&row[..plan.columns.len()], &ctx))?;
            Ok(rows)
        };
        let rows = crate::exec::Subqueries::with(&subqueries, &mut transaction, &ctx, false, calls, read);
        rows.and_then(|rows| {
            let of_rows = DetachedSettings {
                zone: ctx.zone(),
                now_us: ctx.now_us,
                strict: ctx.variables.sql_mode.strict(),
                replicated: false,
            };
            let indexed = DetachedRows::of(&session.server.engine, &table.def, of_rows)?;
            let (mut cursor, mut row) = (rows.cursor(), vec![Value::Null; rows.columns()]);
            let mut number = 0;
            while cursor.next(&mut row, &ctx)? {
                number += 1;
                ctx.check_interrupt()?;
                let indexed = indexed.as_ref().map(|indexed| (indexed, number));
                insert_row(&mut transaction, &table, &plan.columns, &row, ctx.conversion(true), indexed)?;
            }
            ctx.check_refused()?;
            assert_eq!(number, rows.len(), "all rows of the query are inserted");
            Ok(number)
        })
    };
    match filled {
        Ok(records) => {
            transaction.commit(&session.transaction.commit_options(&session.settings.variables))?;
            Ok(DdlReport::altered(records))
        }
        Err(error) => {
            transaction.rollback();
            let text = format!(
                "DROP TABLE {}.{}",
                crate::quoting::quoted(&table.def.schema),
                crate::quoting::quoted(&table.def.name)
            );
            let drop = Statement::DropTable {
                tables: vec![create.table.clone()],
                if_exists: false,
                temporary: false,
                sequences: false,
            };
            ddl_run(session, &text).run(&drop)?;
            Err(error)
        }
    }
}

/// Inserts a row of the query. Its values go into the columns of the same names. `indexed` are the
/// expressions of functional indexes, with the number of the row.
fn insert_row(
    transaction: &mut engine::Transaction,
    table: &std::sync::Arc<engine::Table>,
    columns: &[crate::ColumnMeta],
    row: &[Value],
    conversion: convert::Context,
    indexed: Option<(&DetachedRows, u64)>,
) -> Result<()> {
    let mut values = vec![Value::Null; table.columns()];
    for (at, column) in table.def.columns[..table.def.named_columns()].iter().enumerate() {
        let source = columns.iter().position(|meta| meta.name.eq_ignore_ascii_case(&column.name));
        let mut context = conversion;
        let value = match (source, column.default_literal()) {
            (Some(source), _) => row[source].clone(),
            (None, Some(literal)) => {
                context.dates = convert::DateModes::default();
                literal
            }
            (None, _) if column.auto_increment => Value::UInt(table.next_auto_increment(1)?),
            (None, _) => Value::Null,
        };
        if value.is_null() && !column.nullable {
            return Err(crate::SqlError::column_not_null(&column.name));
        }
        let value = match value {
            stamp @ Value::Timestamp { .. } if column.ty.code != types::TypeCode::Timestamp2 => {
                stamp.in_zone(conversion.zone)
            }
            value => value,
        };
        let (value, _) = convert::assign(&value, &column.ty, context)
            .map_err(|problem| crate::SqlError::new(problem.code(), problem.message(&column.name, 1)))?;
        values[at] = value;
    }
    if let Some((expressions, number)) = indexed {
        expressions.complete(&mut values, &[], number)?;
    }
    let mut image = Vec::new();
    table.layout.encode(&values, &mut image).map_err(EngineError::Row)?;
    Ok(transaction.insert(table, &image)?)
}

fn is_about_events(statement: &Statement) -> bool {
    match statement {
        Statement::CreateObject(create) => create.kind == ObjectKind::Event,
        Statement::AlterEvent(_) => true,
        Statement::DropObjects { kind, .. } => *kind == ObjectKind::Event,
        _ => false,
    }
}
