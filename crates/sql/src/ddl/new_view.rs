//! Checks the query of a view that a client is about to create.

use super::view_text::{check_column_names, same};
use crate::ast::{Expr, Query, QueryBody, Select, SelectItem, TableRef, ViewDetails};
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
    let with = query.with.iter().flat_map(|with| &with.tables);
    with.into_iter().any(|table| query_has_variable(&table.query))
        || body_has_variable(&query.body)
        || query.order_by.iter().any(|item| has_variable(&item.expr))
}

fn body_has_variable(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => select_has_variable(select),
        QueryBody::Union { first, rest } => {
            body_has_variable(first) || rest.iter().any(|branch| body_has_variable(&branch.body))
        }
        QueryBody::Values(rows) => rows.iter().flatten().any(has_variable),
        QueryBody::Nested(query) => query_has_variable(query),
    }
}

fn select_has_variable(select: &Select) -> bool {
    let is_variable = |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if has_variable(expr));
    let mut in_window = false;
    for (_, window) in &select.windows {
        window.for_operands(&mut |operand| in_window |= has_variable(operand));
    }
    in_window
        || select.items.iter().any(is_variable)
        || select.from.as_ref().is_some_and(table_has_variable)
        || select.filter.iter().chain(&select.group_by).chain(&select.having).any(has_variable)
}

fn table_has_variable(table: &TableRef) -> bool {
    match table {
        TableRef::Table { .. } => false,
        TableRef::Derived { query, .. } => query_has_variable(query),
        TableRef::JsonTable(table) => has_variable(&table.document),
        TableRef::Join { left, right, on, .. } => {
            table_has_variable(left) || table_has_variable(right) || on.as_ref().is_some_and(has_variable)
        }
    }
}

fn has_variable(expr: &Expr) -> bool {
    let mut found = matches!(
        expr,
        Expr::UserVariable(_) | Expr::SystemVariable { .. } | Expr::AssignVariable(..) | Expr::Parameter(_)
    );
    match expr {
        Expr::Subquery(query)
        | Expr::Exists(query)
        | Expr::InQuery { query, .. }
        | Expr::Quantified { query, .. } => found |= query_has_variable(query),
        _ => {}
    }
    expr.for_operands(&mut |operand| found |= has_variable(operand));
    found
}
