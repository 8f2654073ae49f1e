//! Checks the query of a view that a client is about to create.

use super::view_text::{check_column_names, same};
use crate::ast::{Expr, Query, ViewDetails};
use crate::error::{Result, SqlError};

/// Refuses a query with variables, whose values are those of a session.
///
/// # Errors
/// Returns 1351 (`ER_VIEW_SELECT_VARIABLE`).
pub(super) fn check_no_variables(view: &ViewDetails) -> Result<()> {
    match view.query.as_deref().is_some_and(query_has_variable) {
        true => Err(SqlError::new(1351, "View's SELECT contains a variable or parameter")),
        false => Ok(()),
    }
}

/// Checks the names of a view's columns. `shown` are those of its query.
///
/// # Errors
/// Returns 1353 (`ER_VIEW_WRONG_LIST`) for a list with another number of columns than the query
/// has, 1166 (`ER_WRONG_COLUMN_NAME`) for what is no name, and 1060 (`ER_DUP_FIELDNAME`) for two
/// columns with the same name.
pub(super) fn check_columns(view: &ViewDetails, shown: &[String]) -> Result<()> {
    if view.columns.is_empty() {
        return check_column_names(shown);
    }
    if view.columns.len() != shown.len() {
        let text = "In definition of view, derived table or common table expression, SELECT list and column \
                    names list have different column counts";
        return Err(SqlError::new(1353, text));
    }
    // Of two names in a list that are the same, MySQL tells the first one.
    check_column_names(&view.columns).map_err(|error| match first_of_two(&view.columns) {
        Some(name) if error.code == 1060 => SqlError::new(1060, format!("Duplicate column name '{name}'")),
        _ => error,
    })
}

fn first_of_two(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find_map(|(at, name)| names[..at].iter().find(|before| same(before, name)))
}

fn query_has_variable(query: &Query) -> bool {
    let mut found = false;
    query.visit_all(&mut |expr| found |= is_variable(expr));
    found
}

fn is_variable(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::UserVariable(_) | Expr::SystemVariable { .. } | Expr::AssignVariable(..) | Expr::Parameter(_)
    )
}
