//! UNION, INTERSECT, EXCEPT and VALUES: their order, and the types of columns that hold the values
//! of all branches or rows.

use super::super::{Binder, Frame, Place, Scope, ScopeTable};
use super::clauses::{Behind, META_BYTES, limit, position};
use crate::ast;
use crate::bind::texts::in_order;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node, united_type};
use crate::memory::Charge;
use crate::plan::{Branch, LimitPlan, QueryBody, QueryPlan, SortKey};
use crate::sink::{ColumnMeta, column_flag};
use types::{TypeCode, Value};

/// Binds ORDER BY and LIMIT of rows that have these columns.
pub(super) fn bind_order(
    binder: &mut Binder<'_>,
    behind: Behind<'_>,
    columns: &[ColumnMeta],
    outer: Option<&Frame<'_>>,
) -> Result<(Vec<SortKey>, Option<Box<LimitPlan>>)> {
    let scope = Scope::of(ScopeTable::computed("", "", "", columns, 0));
    let mut order = Vec::new();
    for (number, item) in behind.order_by.iter().enumerate() {
        if let ast::Expr::Column { table: Some(table), .. } = &item.expr {
            let text =
                format!("Table '{table}' from one of the SELECTs cannot be used in global ORDER clause");
            return Err(SqlError::new(1250, text));
        }
        let expr = match position(&item.expr, columns.len())? {
            Some(at) => scope.tables[0].column(at),
            None => binder
                .expr(&item.expr, &mut Place::within(outer, &scope, "order clause"))
                .map_err(|error| of_whole_union(error, number + 1))?,
        };
        order.push(SortKey { expr: in_order(expr), descending: item.descending });
    }
    Ok((order, limit(binder, behind.limit)?.map(Box::new)))
}

/// Returns error 3028 for an aggregate or a function over a window in the ORDER BY of a union.
/// Other errors are returned unchanged.
fn of_whole_union(error: SqlError, number: usize) -> SqlError {
    const NO_AGGREGATE: u16 = 1111;
    const NO_WINDOW: u16 = 3593;
    let text = format!(
        "Expression #{number} of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT"
    );
    match error.code {
        NO_AGGREGATE | NO_WINDOW => SqlError::new(3028, text),
        _ => error,
    }
}

/// Binds VALUES as a query. As in MySQL, though not in its manual, ORDER BY is checked and has no
/// effect.
pub(super) fn bind_values(
    binder: &mut Binder<'_>,
    rows: &[Vec<ast::Expr>],
    behind: Behind<'_>,
    outer: Option<&Frame<'_>>,
) -> Result<QueryPlan> {
    let (rows, columns) = bind_rows(binder, rows, outer)?;
    let (_, limit) = bind_order(binder, behind, &columns, outer)?;
    Ok(QueryPlan { columns, body: QueryBody::Values { rows, limit } })
}

/// Binds the rows of VALUES, and returns columns whose types hold the values of all rows.
pub(super) fn bind_rows(
    binder: &mut Binder<'_>,
    rows: &[Vec<ast::Expr>],
    outer: Option<&Frame<'_>>,
) -> Result<(Vec<Vec<Expr>>, Vec<ColumnMeta>)> {
    let scope = Scope::default();
    let width = rows[0].len();
    if width == 0 {
        return Err(SqlError::new(
            3942,
            "Each row of a VALUES clause must have at least one column, unless when used as source in an INSERT \
             statement.",
        ));
    }
    let mut bound = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        if row.len() != width {
            let text = format!("Column count doesn't match value count at row {}", number + 1);
            return Err(SqlError::new(1136, text));
        }
        let mut values = Vec::with_capacity(width);
        for value in row {
            if *value == ast::Expr::Default {
                let text = "A VALUES clause cannot use DEFAULT values, unless used as a source in an INSERT statement.";
                return Err(SqlError::new(3943, text));
            }
            values.push(binder.expr(value, &mut Place::within(outer, &scope, "field list"))?);
        }
        bound.push(values);
    }
    binder.may_make(width * META_BYTES)?;
    let mut columns = Vec::with_capacity(width);
    for at in 0..width {
        binder.check_interrupt()?;
        let all: Vec<&Expr> = bound.iter().map(|row| &row[at]).collect();
        let (ty, coercibility) = united_type(&all)?;
        let nullable = all.iter().any(|expr| expr.nullable);
        let expr = Expr { node: Node::Constant(Value::Null), ty, nullable, coercibility };
        let mut column = scope.describe(&expr, &format!("column_{at}"));
        if column.ty.is_character() {
            // MySQL gives any computed text 31 decimals.
            column.decimals = 31;
        }
        columns.push(column);
    }
    Ok((bound, columns))
}

/// Returns the description of a column of a union, whose rows are kept in a table.
fn in_table(column: ColumnMeta) -> ColumnMeta {
    let flags = match column.ty.code {
        TypeCode::Json => column_flag::BLOB,
        TypeCode::Year => column_flag::ZEROFILL,
        _ => return column,
    };
    ColumnMeta { flags: column.flags | flags, decimals: 0, ..column }
}

/// Returns what the collation of a union's column has to know of a branch: the text if it is a
/// literal with other characters than ASCII, and an empty text for other literals.
fn literal_of(plan: &QueryPlan, at: usize) -> Value {
    match &plan.body {
        QueryBody::Select(select) => match &select.outputs[at].node {
            Node::Constant(Value::Bytes(text)) if text.is_ascii() => Value::Bytes(Vec::new()),
            Node::Constant(text @ Value::Bytes(_)) => text.clone(),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

/// Returns the columns of a union: the names of the first query, and types that hold the values of
/// all queries.
pub(super) fn columns_of_branches(binder: &mut Binder<'_>, branches: &[Branch]) -> Result<Vec<ColumnMeta>> {
    let first = &branches[0].plan.columns;
    binder.may_make(first.len() * META_BYTES)?;
    if branches.len() == 1 {
        return Ok(first.clone());
    }
    let mut columns = Vec::with_capacity(first.len());
    // The memory for the expressions of one column, which the next column reuses.
    let mut of_branches = Charge::new(&binder.host.memory());
    of_branches.add(branches.len() * (size_of::<Expr>() + size_of::<&Expr>()))?;
    for (at, named) in first.iter().enumerate() {
        binder.check_interrupt()?;
        let exprs: Vec<Expr> = branches
            .iter()
            .map(|branch| Expr {
                node: Node::Constant(literal_of(&branch.plan, at)),
                ty: branch.plan.columns[at].ty.clone(),
                nullable: branch.plan.columns[at].flags & column_flag::NOT_NULL == 0,
                coercibility: branch.plan.coercibility(at),
            })
            .collect();
        let (ty, coercibility) = united_type(&exprs.iter().collect::<Vec<_>>())?;
        let nullable = exprs.iter().any(|expr| expr.nullable);
        let expr = Expr { node: Node::Constant(Value::Null), ty, nullable, coercibility };
        columns.push(in_table(Scope::default().describe(&expr, &named.name)));
    }
    Ok(columns)
}
