//! Which partitions an INSERT or REPLACE puts its rows into, for EXPLAIN.
//!
//! As in MySQL, rows of constants say that. Rows of a query, generated numbers, triggers and what
//! changes a row that is in the way leave all partitions.

use super::insert::{InsertPlan, Rows};
use super::partition_pruning::{Places, Pruning, join, names};
use super::row_update::NewValue;
use crate::expr::Context;
use crate::show::UsedPartitions;
use engine::ColumnDefault;
use types::Value;
use types::convert::{self, assign};

/// Returns the partitions that a statement puts rows into. `None` means that its table has none.
pub(crate) fn filled_partitions(plan: &InsertPlan, ctx: &Context<'_>) -> Option<UsedPartitions> {
    let partitioning = plan.table.def.partitioning.as_ref()?;
    let names = names(partitioning);
    let places =
        Pruning::of(&plan.table, partitioning, 0, ctx).and_then(|pruning| filled(plan, &pruning, ctx));
    let places = places.unwrap_or_else(|| vec![true; names.len()]);
    let used = names.into_iter().zip(places).filter_map(|(name, used)| used.then_some(name));
    Some(UsedPartitions { names: used.collect(), is_impossible: false })
}

/// Returns the places of all rows. `None` where they are not known.
fn filled(plan: &InsertPlan, pruning: &Pruning<'_>, ctx: &Context<'_>) -> Option<Places> {
    let deciding = pruning.columns();
    if plan.fires() || plan.on_duplicate.iter().any(|(column, _)| deciding.contains(column)) {
        return None;
    }
    let place_of = |given: &dyn Fn(usize) -> Option<Value>| {
        let mut row = Value::nulls(plan.table.def.columns.len());
        for &column in &deciding {
            row[column] = stored(plan, column, given, ctx)?;
        }
        pruning.place_of_row(&row)
    };
    let places: Vec<Places> = match &plan.rows {
        Rows::Query(_) => return None,
        Rows::Values(rows) => {
            let constant = |row: &[NewValue], at: usize| match row.get(at)? {
                NewValue::Expr(expr) => pruning.constant_of_any_type(expr),
                NewValue::Default => default_of(plan, plan.columns[at]),
            };
            rows.iter().map(|row| place_of(&|at| constant(row, at))).collect::<Option<_>>()?
        }
        Rows::Literals(rows, _) => {
            let value = |row: &[crate::literal_rows::Literal], at: usize| Some(rows.value(*row.get(at)?));
            rows.rows().map(|row| place_of(&|at| value(row, at))).collect::<Option<_>>()?
        }
    };
    let mut all = places.into_iter();
    let mut used = all.next()?;
    all.for_each(|places| join(&mut used, &places));
    Some(used)
}

/// Returns the value that a column gets in a row, as the table keeps it. `given` returns the
/// statement's value at a place of its list of columns.
fn stored(
    plan: &InsertPlan,
    column: usize,
    given: &dyn Fn(usize) -> Option<Value>,
    ctx: &Context<'_>,
) -> Option<Value> {
    let value = match plan.columns.iter().position(|named| *named == column) {
        Some(at) => given(at)?,
        None => default_of(plan, column)?,
    };
    let generates = plan.table.def.auto_increment_column() == Some(column);
    // A text that is not ASCII may be of another character set than the column.
    let is_plain = !matches!(&value, Value::Bytes(bytes) if !bytes.is_ascii());
    if generates && !matches!(value, Value::Int(1..) | Value::UInt(1..)) || !is_plain {
        return None;
    }
    let context = convert::Context { dates: convert::DateModes::default(), ..ctx.conversion(false) };
    assign(&value, plan.table.column_type(column), context).ok().map(|(value, _)| value)
}

/// Returns the default of a column if it is a constant.
fn default_of(plan: &InsertPlan, column: usize) -> Option<Value> {
    let column = &plan.table.def.columns[column];
    match (&column.default, &column.generated) {
        (Some(ColumnDefault::Null), None) => Some(Value::Null),
        (Some(ColumnDefault::Literal(_)), None) => column.default_literal(),
        _ => None,
    }
}
