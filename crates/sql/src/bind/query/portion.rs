//! `FOR PORTION OF`: the rows whose periods have a part in common with the one that a statement
//! changes.

use crate::ast::{self, BinaryOp, Portion};
use crate::bind::{Binder, Place, Scope, ScopeTable, TableUse};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::plan::Source;
use crate::quoting::quoted;
use engine::{ColumnRoles, TableDef};

/// Returns the positions of the columns of a table's period.
///
/// # Errors
/// Returns MariaDB's error 4156 if the table has no period of this name.
pub(crate) fn edges_of(def: &TableDef, period: &str) -> Result<[usize; 2]> {
    let is_known = def.temporal.period.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(period));
    let edges = [ColumnRoles::PERIOD_START, ColumnRoles::PERIOD_END].map(|role| def.column_with(role));
    match edges {
        [Some(start), Some(end)] if is_known => Ok([start, end]),
        _ => Err(SqlError::new(4156, format!("Period {} is not found in table", quoted(period)))),
    }
}

/// Returns the conditions of the rows that a portion is about: they begin before it ends, and
/// end behind its begin.
///
/// # Errors
/// Returns MariaDB's errors: 1965 for a view, 4156 for an unknown period, and 1487 for a bound
/// that reads a column.
#[inline(never)]
pub(super) fn seen_by_portion(
    binder: &mut Binder<'_>,
    source: &Source,
    portion: &Portion,
    scope: &Scope,
) -> Result<[Expr; 2]> {
    let table = scope.tables.last().expect("the table has been added");
    // A view of several tables is changed in another way than a table alone.
    let (Source::Stored { table: stored, .. }, TableUse::Change(_)) = (source, &binder.around.table_use)
    else {
        return Err(SqlError::new(1965, format!("'{}' is a view", table.org_table)));
    };
    let [start, end] = edges_of(&stored.def, &portion.period)?;
    for bound in [&portion.from, &portion.to] {
        bound_of_portion(binder, bound, table)?;
    }
    Ok([
        edge_compared(binder, start, BinaryOp::Less, &portion.to, table)?,
        edge_compared(binder, end, BinaryOp::Greater, &portion.from, table)?,
    ])
}

/// Binds a bound of a portion.
///
/// # Errors
/// Returns 1487 if the bound reads a column.
pub(crate) fn bound_of_portion(
    binder: &mut Binder<'_>,
    bound: &ast::Expr,
    table: &ScopeTable,
) -> Result<Expr> {
    let own = Scope::of(ScopeTable { readable: true, ..table.clone() });
    let bound = binder.expr(bound, &mut Place::new(&own, "FOR PORTION OF"))?;
    let mut slots = Vec::new();
    bound.slots(&mut slots);
    match slots.is_empty() {
        true => Ok(bound),
        false => Err(SqlError::new(1487, "Expression in FOR PORTION OF must be constant")),
    }
}

/// Returns the comparison of an edge of the row's period with a bound of the portion. It does
/// not count as reading the column, so it needs no SELECT on it.
pub(crate) fn edge_compared(
    binder: &mut Binder<'_>,
    edge: usize,
    op: BinaryOp,
    bound: &ast::Expr,
    table: &ScopeTable,
) -> Result<Expr> {
    let own = Scope::of(ScopeTable { readable: true, ..table.clone() });
    let name = own.tables[0].columns[edge].name.clone();
    let column = ast::Expr::Column { schema: None, table: None, name };
    let tree = ast::Expr::Binary(op, Box::new(column), Box::new(bound.clone()));
    binder.expr(&tree, &mut Place::new(&own, "FOR PORTION OF"))
}
