//! GROUP BY ... WITH ROLLUP, and GROUPING().
//!
//! A query with ROLLUP consists of layers: a query that yields the rows, the operation that groups
//! them by all keys, by all but the last key and so on, and a query over the groups with HAVING,
//! the select list, DISTINCT, ORDER BY and LIMIT. In the last layer each key is a slot of its own,
//! which is NULL in the groups that are not grouped by it.

use super::layers::layer_over;
use crate::error::{Result, SqlError};
use crate::expr::functions::grouping::GROUPING_AT;
use crate::expr::{Coercibility, Expr, Node, made_year};
use crate::plan::{QueryBody, QueryPlan, Rolled, SelectPlan, SortKey, WindowPlan};
use crate::sink::ColumnMeta;
use types::{ColumnType, TypeCode, Value};

/// The slots of the values that a group of ROLLUP has in addition to those of its rows.
#[derive(Clone, Copy)]
pub(super) struct KeySlots {
    /// The slot of the first key.
    pub first: usize,
    /// The slot of the number of keys by which the group is grouped.
    pub count: usize,
}

/// The expressions of a query that are computed from the grouped rows.
pub(super) struct Grouped<'p> {
    pub outputs: &'p mut [Expr],
    pub having: Option<&'p mut Expr>,
    pub order: &'p mut [SortKey],
    pub windows: &'p mut [WindowPlan],
}

impl Grouped<'_> {
    fn each(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.outputs.iter_mut().for_each(&mut *f);
        self.having.iter_mut().for_each(|having| f(having));
        self.order.iter_mut().for_each(|key| f(&mut key.expr));
        self.windows.iter_mut().for_each(|window| window.change(f));
    }
}

/// Replaces GROUPING() by a computed value, and with ROLLUP (`slots`) the keys by their slots.
///
/// # Errors
/// Returns 3602 when an argument of GROUPING() is no key, and 1111 when there are no keys.
pub(super) fn resolve(keys: &[Expr], slots: Option<KeySlots>, grouped: &mut Grouped<'_>) -> Result<()> {
    let mut error = None;
    grouped.each(&mut |expr| {
        let is_key = |expr: &Expr| keys.iter().position(|key| key.node == expr.node);
        expr.replace(&mut |expr| {
            if let Node::Call { function, args } = &expr.node
                && function.name == GROUPING_AT.name
            {
                match grouping(args, keys, slots) {
                    Ok(resolved) => *expr = resolved,
                    Err(failed) => drop(error.get_or_insert(failed)),
                }
                return true;
            }
            // A constant that equals a key is that key, wherever it stands.
            let (Some(slots), Some(key)) = (slots, is_key(expr)) else { return false };
            *expr = Expr { node: Node::Slot(slots.first + key), nullable: true, ..expr.clone() };
            true
        });
    });
    error.map_or(Ok(()), Err)
}

fn grouping(args: &[Expr], keys: &[Expr], slots: Option<KeySlots>) -> Result<Expr> {
    if keys.is_empty() {
        return Err(SqlError::new(1111, "Invalid use of group function"));
    }
    let of = |node: Node| Expr {
        node,
        ty: ColumnType::bigint(false),
        nullable: true,
        coercibility: Coercibility::Numeric,
    };
    let mut resolved = Vec::with_capacity(args.len() + 1);
    if let Some(slots) = slots {
        resolved.push(of(Node::Slot(slots.count)));
    }
    for (at, arg) in args.iter().enumerate() {
        let Some(key) = keys.iter().position(|key| key.node == arg.node) else {
            let text = format!("Argument #{} of GROUPING function is not in GROUP BY", at + 1);
            return Err(SqlError::new(3602, text));
        };
        resolved.push(of(Node::Constant(Value::Int(key as i64))));
    }
    Ok(match slots {
        Some(_) => of(Node::Call { function: &GROUPING_AT, args: resolved }),
        None => of(Node::Constant(Value::Int(0))),
    })
}

/// Lets the results that are keys of ROLLUP keep the numbers that it makes of years: MySQL shows
/// them without the zeros of a YEAR column. `all` describes the slots that the results are computed
/// from.
pub(super) fn show_made_years(plan: &SelectPlan, all: &[Expr], columns: &mut [ColumnMeta]) {
    for (column, output) in columns.iter_mut().zip(&plan.outputs) {
        let Node::Slot(slot) = output.node else { continue };
        if column.ty.code == TypeCode::Year && all.get(slot).is_some_and(|made| made.ty == made_year()) {
            column.ty = made_year();
        }
    }
}

/// Puts a query with ROLLUP in layers. `all` describes its slots, without those of the keys.
pub(super) fn in_layers(mut plan: SelectPlan, all: &mut Vec<Expr>) -> SelectPlan {
    let grouping = plan.grouping.take().expect("a query with ROLLUP is grouped");
    let slots = plan.slots;
    let count = Expr {
        node: Node::Constant(Value::Null),
        ty: ColumnType::bigint(false),
        nullable: false,
        coercibility: Coercibility::Numeric,
    };
    all.extend(grouping.keys.iter().map(|key| {
        // The keys of the groups are values that ROLLUP has made.
        let ty = if key.ty.code == TypeCode::Year { made_year() } else { key.ty.clone() };
        Expr { nullable: true, ty, ..key.clone() }
    }));
    all.push(count);
    let having = plan.having.take();
    let mut used = Vec::new();
    grouping.keys.iter().for_each(|key| key.slots(&mut used));
    grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args).for_each(|arg| arg.slots(&mut used));
    let keys: Vec<SortKey> =
        grouping.keys.into_iter().map(|expr| SortKey { expr, descending: false }).collect();
    let aggregates = grouping.aggregates;
    let mut over = layer_over(plan, all, slots, used, &[], |input: QueryPlan| {
        QueryBody::Rolled(Box::new(Rolled { input, keys, aggregates }))
    });
    over.tables[0].conditions.extend(having);
    over
}
