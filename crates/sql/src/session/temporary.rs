//! Statements that define temporary tables of a session.

use super::ddl_run::ddl_run;
use super::state::Bound;
use super::{Session, bound, created_select};
use crate::ast::{CreateTable, Query, Statement};
use crate::ddl::{AboutTemporary, DdlReport};
use crate::error::{Result, SqlError};
use crate::expr::Level;
use crate::sink::Unread;
use crate::temporary::{cannot_reopen, check_no_xa};
use engine::Table;
use std::sync::Arc;

/// Runs a statement that only defines temporary tables. No other session sees its effect, so a
/// read-only server runs it too.
pub(super) fn define_temporary(
    session: &mut Session,
    text: &[u8],
    statement: &Statement,
    about: AboutTemporary,
) -> Result<DdlReport> {
    check_no_xa(session.transaction.xa.is_begun())?;
    check_unused_around(session, statement)?;
    match about {
        AboutTemporary::Named if session.transaction.read_only => {
            return Err(SqlError::new(1792, "Cannot execute statement in a READ ONLY transaction."));
        }
        AboutTemporary::Named => {}
        AboutTemporary::Found => session.transacting().commit()?,
    }
    if !session.transaction.is_begun() {
        session.settings.check_writable()?;
    }
    if let Statement::CreateTable(create) = statement
        && let Some(query) = &create.query
    {
        return create_temporary_select(session, create, query);
    }
    let text = String::from_utf8_lossy(text).into_owned();
    let mut run = ddl_run(session, &text);
    run.is_temporary = true;
    let done = run.run(statement);
    let (notes, warnings) = (std::mem::take(&mut run.notes), std::mem::take(&mut run.warnings));
    let (told, report) = (std::mem::take(&mut run.told), std::mem::take(&mut run.report));
    session.transaction.note_temporary(statement, done.is_ok());
    done?;
    for (code, message) in notes {
        session.statement.diagnostics.borrow_mut().push(Level::Note, code, message);
    }
    for (code, message) in warnings {
        session.statement.diagnostics.borrow_mut().push(Level::Warning, code, message);
    }
    told.tell(&mut session.statement.diagnostics.borrow_mut());
    session.cache.invalidate();
    Ok(report)
}

/// Checks that a statement of a function or a trigger drops no table that the calling statement
/// uses.
fn check_unused_around(session: &Session, statement: &Statement) -> Result<()> {
    let Statement::DropTable { tables, .. } = statement else { return Ok(()) };
    let around = session.programs.tables_around();
    if around.is_empty() {
        return Ok(());
    }
    for name in tables {
        let held = session.temporary.table(&session.settings.schema_of(name)?, &name.name);
        if held.is_some_and(|held| around.contains(&held.id)) {
            return Err(cannot_reopen(&name.name));
        }
    }
    Ok(())
}

/// Runs CREATE TEMPORARY TABLE ... SELECT: creates the table and inserts the query's rows. If the
/// INSERT fails, the table is removed again.
fn create_temporary_select(session: &mut Session, create: &CreateTable, query: &Query) -> Result<DdlReport> {
    let Some((made, bound)) = begin_select(session, create, query)? else { return Ok(DdlReport::default()) };
    session.cache.invalidate();
    let mut told = Unread::default();
    let filled = bound::run(session, &bound, &[], &[], &mut told);
    match &filled {
        Ok(()) => session.transaction.note_temporary_made(),
        Err(_) => {
            session.temporary.remove(&made);
            session.cache.invalidate();
        }
    }
    filled.map(|()| DdlReport::altered(told.affected_rows))
}

/// Creates the table of a CREATE TEMPORARY TABLE ... SELECT and binds the INSERT that fills it.
/// Returns `None` if the table exists already.
pub(super) fn begin_select(
    session: &Session,
    create: &CreateTable,
    query: &Query,
) -> Result<Option<(Arc<Table>, Bound)>> {
    let extra = created_select::columns_of(session, query)?;
    let columns = extra.iter().map(|column| column.name.clone()).collect();
    let mut run = ddl_run(session, "");
    run.is_temporary = true;
    let created = run.create_table(create, extra);
    for (code, message) in std::mem::take(&mut run.notes) {
        session.statement.diagnostics.borrow_mut().push(Level::Note, code, message);
    }
    if !created? {
        return Ok(None);
    }
    let schema = session.settings.schema_of(&create.table)?;
    let made = session.temporary.table(&schema, &create.table.name);
    let made = made.ok_or_else(|| SqlError::no_such_table(&schema, &create.table.name))?;
    let insert = created_select::filling(create, query, columns);
    match bound::bind_unseen(session, &insert, made.id) {
        Ok(bound) => Ok(Some((made, bound))),
        Err(error) => {
            session.temporary.remove(&made);
            Err(error)
        }
    }
}
