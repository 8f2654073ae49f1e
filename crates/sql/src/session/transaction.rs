//! Statements about transactions: BEGIN, COMMIT, ROLLBACK, savepoints and XA.

use super::transacting::Chained;
use super::{Session, locked_tables, results, xa};
use crate::ast::{Completion, Statement};
use crate::error::Result;
use crate::expr::Level;
use crate::sink::ResultSink;
use crate::variables::CompletionType;
use engine::Isolation;

/// Runs a statement about transactions. Returns false for another statement.
///
/// # Errors
/// Returns MySQL's error for the statement.
pub(super) fn run(session: &mut Session, statement: &Statement, sink: &mut dyn ResultSink) -> Result<bool> {
    let mut warnings = Vec::new();
    match statement {
        Statement::Begin { snapshot, read_only } => {
            begin(session, *snapshot, *read_only)?;
            let isolation = session.transaction.open.as_ref().map(|transaction| transaction.isolation());
            if *snapshot && isolation.is_some_and(|isolation| isolation != Isolation::RepeatableRead) {
                let text = "InnoDB: WITH CONSISTENT SNAPSHOT was ignored because this phrase can only be used with \
                            REPEATABLE READ isolation level.";
                warnings.push((138, text));
            }
        }
        Statement::Commit(completion) => {
            let (chain, release) = follows(session, *completion);
            let mut transacting = session.transacting();
            let chained = transacting.chained(chain);
            transacting.commit_empty()?;
            transacting.commit()?;
            transacting.spend_gtid();
            after_completion(session, chained, release)?;
        }
        Statement::Rollback(completion) => {
            let (chain, release) = follows(session, *completion);
            session.transaction.xa.check_none()?;
            warnings = session.transaction.stays_of_temporary();
            let mut transacting = session.transacting();
            let chained = transacting.chained(chain);
            transacting.rollback();
            transacting.spend_gtid();
            after_completion(session, chained, release)?;
        }
        Statement::Xa(statement) => return xa::run(session, statement, sink).map(|()| true),
        Statement::Savepoint(name) => {
            session.transacting().savepoint(name)?;
            count_savepoint(session, 0);
        }
        Statement::RollbackTo(name) => {
            session.transaction.xa.check_active()?;
            session.transacting().rollback_to(name)?;
            count_savepoint(session, 1);
        }
        Statement::ReleaseSavepoint(name) => {
            session.transaction.release_savepoint(name)?;
            count_savepoint(session, 2);
        }
        _ => return Ok(false),
    }
    session.statement.diagnostics.borrow_mut().clear();
    for (code, text) in warnings {
        session.statement.diagnostics.borrow_mut().push(Level::Warning, code, text);
    }
    results::ok(session, sink)?;
    Ok(true)
}

/// Counts a statement about savepoints for performance_schema.
fn count_savepoint(session: &Session, which: usize) {
    if let Some(measured) = &session.server.measured {
        measured.count_savepoint(which);
    }
}

fn begin(session: &mut Session, snapshot: bool, read_only: Option<bool>) -> Result<()> {
    session.transacting().commit()?;
    locked_tables::let_tables_go(session);
    session.transacting().begin(snapshot, read_only)
}

/// Returns whether another transaction follows this COMMIT or ROLLBACK, and whether the connection
/// is closed.
fn follows(session: &Session, completion: Completion) -> (bool, bool) {
    let otherwise = session.settings.variables.completion_type;
    (
        completion.chain.unwrap_or(otherwise == CompletionType::Chain),
        completion.release.unwrap_or(otherwise == CompletionType::Release),
    )
}

fn after_completion(session: &mut Session, chained: Option<Chained>, release: bool) -> Result<()> {
    if let Some(chained) = chained {
        session.transacting().continue_as(chained);
        begin(session, false, None)?;
    }
    session.client.closing |= release;
    Ok(())
}
