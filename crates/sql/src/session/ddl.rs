//! DDL in a session: it commits the open transaction first, and is logged with the session's
//! settings.

use super::ddl_run::{ddl_run, definer};
use super::schedule::schedule_values;
use super::{Session, created_select, locked_tables, temporary};
use crate::ast::{self, Statement};
use crate::ddl::{
    DdlReport, ScheduleValues, UNSAFE_FOREIGN_KEY, about_temporary, routine_change, schedule_of,
};
use crate::error::{Result, SqlError};
use crate::expr::Level;
use engine::{GtidNext, ObjectKind};

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
            && let Some(query) = &create.query
        {
            if !create.foreign_keys.is_empty() {
                return Err(no_foreign_keys());
            }
            return created_select::create_table(session, create, query);
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

fn is_about_events(statement: &Statement) -> bool {
    match statement {
        Statement::CreateObject(create) => create.kind == ObjectKind::Event,
        Statement::AlterEvent(_) => true,
        Statement::DropObjects { kind, .. } => *kind == ObjectKind::Event,
        _ => false,
    }
}
