//! The classes of statements, by which the server decides what a restricted account may run.

use super::state::Bound;
use crate::admin::AdminCommand;
use crate::ast::Statement;
use crate::host::StatementClass;

/// Returns the class of a bound statement about rows.
pub(super) fn class_of_bound(bound: &Bound, is_prepared: bool) -> StatementClass {
    StatementClass { sets_password: false, changes_data: !bound.is_query(), is_prepared }
}

/// Returns the class of any statement.
pub(super) fn class_of(statement: &Statement, is_prepared: bool) -> StatementClass {
    let sets_password = matches!(
        statement,
        Statement::Admin(AdminCommand::AlterUser { .. } | AdminCommand::SetPassword { .. })
    );
    let changes_data = match statement {
        Statement::Admin(command) => command.is_about_accounts(),
        Statement::Empty
        | Statement::Query(_)
        | Statement::Begin { .. }
        | Statement::Commit(_)
        | Statement::Rollback(_)
        | Statement::Savepoint(_)
        | Statement::RollbackTo(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::Xa(_)
        | Statement::LockTables(_)
        | Statement::Handler(_)
        | Statement::UnlockTables
        | Statement::Set(_)
        | Statement::Use(_)
        | Statement::Show { .. }
        | Statement::Explain(_)
        | Statement::Maintain { .. }
        | Statement::Prepare { .. }
        | Statement::Execute { .. }
        | Statement::Deallocate(_)
        | Statement::Do(_)
        | Statement::PurgeBefore(_) => false,
        _ => true,
    };
    StatementClass { sets_password, changes_data, is_prepared }
}

/// Reports whether a statement is about rows, so that it is bound.
pub(super) fn is_about_rows(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Load(_)
            | Statement::Update(_)
            | Statement::Delete(_)
    )
}
