//! Temporary tables of a session: the statements that define them.

use super::Session;
use crate::ast::{CreateTable, Query, Statement};
use crate::ddl::{AboutTemporary, DdlReport};
use crate::error::{Result, SqlError};
use crate::expr::Level;
use crate::sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use crate::temporary::{cannot_reopen, check_no_xa};
use types::Value;

/// Runs a statement that defines temporary tables and nothing else. Nobody but the session
/// knows of it, so a server that is read-only runs it too.
pub(super) fn define_temporary(
    session: &mut Session,
    text: &[u8],
    statement: &Statement,
    about: AboutTemporary,
) -> Result<DdlReport> {
    check_no_xa(session.xa.is_begun())?;
    check_unused_around(session, statement)?;
    match about {
        AboutTemporary::Named if session.transaction.read_only => {
            return Err(SqlError::new(1792, "Cannot execute statement in a READ ONLY transaction."));
        }
        AboutTemporary::Named => {}
        AboutTemporary::Found => session.commit_transaction()?,
    }
    if !session.transaction.is_begun() {
        session.check_session_writable()?;
    }
    if let Statement::CreateTable(create) = statement
        && let Some(query) = &create.query
    {
        return create_temporary_select(session, create, query);
    }
    let text = String::from_utf8_lossy(text).into_owned();
    let mut run = session.ddl_run(&text);
    run.is_temporary = true;
    let done = run.run(statement);
    let (notes, report) = (std::mem::take(&mut run.notes), std::mem::take(&mut run.report));
    session.transaction.note_temporary(statement, done.is_ok());
    done?;
    for (code, message) in notes {
        session.statement.diagnostics.borrow_mut().push(Level::Note, code, message);
    }
    session.invalidate_plans();
    Ok(report)
}

/// A statement of a function or a trigger may not drop what the statement around uses.
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

/// CREATE TEMPORARY TABLE ... SELECT: the table, and an INSERT of the query's rows, whose
/// failure takes the table back.
fn create_temporary_select(session: &mut Session, create: &CreateTable, query: &Query) -> Result<DdlReport> {
    let Some((made, bound)) = session.begin_select(create, query)? else { return Ok(DdlReport::default()) };
    session.invalidate_plans();
    let mut told = CountOfRows(0);
    let filled = session.run_bound(&bound, &[], &[], &mut told);
    match &filled {
        Ok(()) => session.transaction.note_temporary_made(),
        Err(_) => {
            session.temporary.remove(&made);
            session.invalidate_plans();
        }
    }
    filled.map(|()| DdlReport::altered(told.0))
}

/// Takes what an INSERT is answered with.
struct CountOfRows(u64);

impl ResultSink for CountOfRows {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[Value]) -> Result<()> {
        Ok(())
    }

    fn end_rows(&mut self, _: EndOfRows) -> Result<()> {
        Ok(())
    }

    fn ok(&mut self, told: &OkInfo) -> Result<()> {
        self.0 = told.affected_rows;
        Ok(())
    }
}
