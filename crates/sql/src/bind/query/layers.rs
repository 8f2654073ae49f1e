//! Queries in layers: a first stage that yields rows, an operation on those rows, and a last stage
//! over its result.

use super::super::Scope;
use crate::expr::{Expr, Node};
use crate::plan::{Answered, IndexUse, QueryBody, QueryPlan, RowLock, SelectPlan, Source, TableStep};
use crate::sink::ColumnMeta;
use types::Value;

/// Puts the last stage of a query over what `body` makes of the rows of the first stage.
///
/// - `all` describes the slots of the last stage. The first `width` of them hold the rows of the
///   first stage.
/// - `used` are the slots that the operation itself needs.
/// - `values` are the slots that only the operation fills.
pub(super) fn layer_over(
    plan: SelectPlan,
    all: &[Expr],
    width: usize,
    mut used: Vec<usize>,
    values: &[usize],
    body: impl FnOnce(QueryPlan) -> QueryBody,
) -> SelectPlan {
    plan.outputs.iter().for_each(|output| output.slots(&mut used));
    plan.order.iter().for_each(|key| key.expr.slots(&mut used));
    used.sort_unstable();
    used.dedup();
    let columns = |exprs: &[Expr]| -> Vec<ColumnMeta> {
        exprs.iter().map(|expr| Scope::default().describe(expr, "")).collect()
    };
    let outputs = all[..width].iter().enumerate().map(|(slot, expr)| {
        let is_used = used.binary_search(&slot).is_ok() && !values.contains(&slot);
        let node = if is_used { Node::Slot(slot) } else { Node::Constant(Value::Null) };
        Expr { node, ..expr.clone() }
    });
    let rows_outputs = outputs.collect();
    let SelectPlan { outputs, order, distinct, limit, calc_found_rows, .. } = plan;
    let rows = SelectPlan {
        outputs: rows_outputs,
        order: Vec::new(),
        ordered_by_access: false,
        distinct: false,
        limit: None,
        calc_found_rows: false,
        unplanned: None,
        derivation: None,
        ..plan
    };
    let input = QueryPlan { columns: columns(&all[..width]), body: QueryBody::Select(Box::new(rows)) };
    let step = TableStep {
        source: Source::Derived(Box::new(QueryPlan { columns: columns(all), body: body(input) })),
        alias: String::new(),
        base: 0,
        columns: all.len(),
        needed: (0..all.len()).collect(),
        needed_if_exact: (0..all.len()).collect(),
        needed_beside_conditions: None,
        kept_by_hash: None,
        padding: None,
        covering: None,
        key_slot: None,
        lock: RowLock::NONE,
        nests: Vec::new(),
        hash: None,
        conditions: Vec::new(),
        answered: Answered::NONE,
        estimate: None,
        index_use: IndexUse::default(),
    };
    SelectPlan {
        tables: vec![step],
        slots: all.len(),
        preconditions: Vec::new(),
        grouping: None,
        index_ends: None,
        having: None,
        outputs,
        order,
        ordered_by_access: false,
        distinct,
        limit,
        calc_found_rows,
        unplanned: None,
        derivation: None,
    }
}
