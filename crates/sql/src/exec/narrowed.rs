//! Subqueries that are run for a few values only (decision 0082).
//!
//! `s IN (SELECT p FROM ...)` of several tables is computed once and looked up. Where few rows get
//! as far as the condition, most of what is computed is never asked for. So the values that `s` can
//! have are gathered first, if that is cheap, and the subquery is run for those alone.
//!
//! In: the plan of a query that is about to run. Out: the rows of one of its subqueries, which the
//! statement remembers until the query has ended.

use super::Run;
use super::gathered::Gathered;
use super::image_filter::is_quiet;
use super::loops::{Flow, Materialized, Order, nested_loops};
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Context, Expr, Node, Quantified, SubqueryCall, SubqueryRows, is_for_any_thread};
use crate::memory::Charge;
use crate::plan::{Answered, QueryBody, QueryPlan, RowLock, SelectPlan, Source, TableStep};
use std::collections::BTreeMap;
use std::rc::Rc;
use types::{ColumnType, Value, collation};

/// The most values that a subquery is narrowed to.
const MOST_VALUES: usize = 1000;

/// The subquery costs at least this many times as much as gathering the values.
const TIMES_CHEAPER: f64 = 8.0;

/// A subquery that has some of its rows only. It forgets them when this is dropped.
pub(super) struct Narrowed<'c, 'r> {
    ctx: &'r Context<'c>,
    number: usize,
}

impl Drop for Narrowed<'_, '_> {
    fn drop(&mut self) {
        self.ctx.subqueries.iter().for_each(|subqueries| subqueries.set_rows(self.number, None));
    }
}

/// Narrows a subquery in the conditions of a query that is about to run. `None` means that there is
/// none for which it pays.
///
/// # Errors
/// Returns the errors of reading the tables and of running the subquery.
#[inline(never)] // Queries within queries would each have room for this on their stack.
pub(super) fn narrow<'c, 'r>(run: &mut Run<'r, 'c>, plan: &SelectPlan) -> Result<Option<Narrowed<'c, 'r>>> {
    let ctx = run.ctx;
    let Some(subqueries) = ctx.subqueries else { return Ok(None) };
    // A query that runs for each row of another one would narrow it each time.
    if !ctx.outer.is_empty() || ctx.measures.is_some() {
        return Ok(None);
    }
    let Some((at, place)) = place_of_subquery(run, &plan.tables) else { return Ok(None) };
    let Node::Quantified(asked) = &plan.tables[at].conditions[place].node else { return Ok(None) };
    let number = asked.call.number;
    let Some(cost) = subqueries.cost_of_narrowing(number) else { return Ok(None) };
    let is_cheap = is_few(&plan.tables, at, cost) && is_asked_once(plan, number);
    let Some(before) = tables_before(&plan.tables, (at, place)).filter(|_| is_cheap) else { return Ok(None) };
    let Some(values) = values_of(run, &before, (&asked.operands[0], plan.slots))? else { return Ok(None) };
    let narrowed = Narrowed { ctx, number };
    subqueries.narrow(number, values, ctx)?;
    Ok(Some(narrowed))
}

/// Returns the step and the place among its conditions of the first subquery that may be narrowed.
/// It and the steps before it read stored tables without locks, and nothing before it may warn.
fn place_of_subquery(run: &Run<'_, '_>, tables: &[TableStep]) -> Option<(usize, usize)> {
    for (at, step) in tables.iter().enumerate() {
        let is_stored = matches!(&step.source, Source::Stored { .. });
        let is_plain = step.hash.is_none() && step.nests.is_empty() && step.padding.is_none();
        if !is_stored || !is_plain || run.lock_for(step.lock) != RowLock::NONE || step.key_slot.is_some() {
            return None;
        }
        let place = step.conditions.iter().position(is_narrowable);
        let mut others = step.conditions.iter().enumerate().filter(|(other, _)| Some(*other) != place);
        if !others.all(|(_, condition)| is_quiet(condition)) {
            return None;
        }
        if let Some(place) = place {
            return Some((at, place));
        }
    }
    None
}

/// Reports whether a condition looks for an integer of a column among the rows of a subquery that
/// depends on no row.
fn is_narrowable(condition: &Expr) -> bool {
    let Node::Quantified(asked) = &condition.node else { return false };
    let Quantified { op: BinaryOp::Equal, all: false, negated: false, operands, call, .. } = &**asked else {
        return false;
    };
    let is_column = |operand: &Expr| matches!(operand.node, Node::Slot(_)) && operand.ty.is_integer();
    call.args.is_empty() && operands.len() == 1 && is_column(&operands[0])
}

/// Reports whether the estimates say that few rows come to the condition of a step, at a small part
/// of a cost.
fn is_few(tables: &[TableStep], at: usize, cost: f64) -> bool {
    let rounds = at.checked_sub(1).map_or(Some(1.0), |before| Some(tables[before].estimate?.rows));
    let (Some(own), Some(rounds)) = (tables[at].estimate, rounds) else { return false };
    rounds * own.read <= MOST_VALUES as f64 && own.cost * TIMES_CHEAPER <= cost
}

/// Reports whether one condition of the query asks for the subquery, and nothing else does.
fn is_asked_once(plan: &SelectPlan, number: usize) -> bool {
    let mut numbers = Vec::new();
    let of_grouping = plan.grouping.iter().flat_map(|grouping| {
        grouping.keys.iter().chain(grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args))
    });
    let of_steps = plan.tables.iter().flat_map(|step| {
        let of_nests = step.nests.iter().flat_map(|nest| nest.guards.iter().chain(&nest.conditions));
        let of_hash = step.hash.iter().flat_map(|lookup| &lookup.conditions);
        of_nests.chain(of_hash).chain(&step.conditions)
    });
    let of_order = plan.order.iter().map(|key| &key.expr);
    let mut all = of_steps.chain(of_grouping).chain(of_order).chain(&plan.outputs).chain(&plan.having);
    all.all(|expr| is_for_any_thread(expr, &mut numbers))
        && numbers.iter().filter(|asked| **asked == number).count() == 1
}

/// Returns the steps up to the one with the subquery, without the condition at its place.
fn tables_before(tables: &[TableStep], (at, place): (usize, usize)) -> Option<Vec<TableStep>> {
    let mut before = tables[..=at].iter().map(TableStep::copied).collect::<Option<Vec<_>>>()?;
    let step = before.last_mut()?;
    step.conditions.remove(place);
    // The places of the conditions behind it have changed.
    step.answered = Answered::NONE;
    step.needed_if_exact.clone_from(&step.needed);
    // The column that the condition reads is wanted all the same.
    step.needed_beside_conditions = None;
    Some(before)
}

/// Returns the values that an operand has in the rows of some steps. `None` means that these are
/// too many.
fn values_of(
    run: &mut Run<'_, '_>,
    tables: &[TableStep],
    (operand, slots): (&Expr, usize),
) -> Result<Option<Rc<SubqueryRows>>> {
    let mut values = BTreeMap::new();
    let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
        let value = operand.eval(row, run.ctx)?;
        let number = match &*value {
            Value::Int(number) => i128::from(*number),
            Value::UInt(number) => i128::from(*number),
            // NULL equals nothing.
            _ => return Ok(Flow::Continue),
        };
        values.insert(number, value.into_owned());
        Ok(if values.len() > MOST_VALUES { Flow::Stop } else { Flow::Continue })
    };
    let mut row = Value::nulls(slots);
    nested_loops(run, (tables, Order::OfTables), &Materialized::new(), &mut row, visit)?;
    if values.len() > MOST_VALUES {
        return Ok(None);
    }
    let mut charge = Charge::new(run.ctx.memory);
    let rows: Vec<_> = values.into_values().map(|value| vec![value]).collect();
    rows.iter().try_for_each(|row| charge.add_row(row))?;
    Ok(Some(Rc::new(SubqueryRows::new(rows, None, charge))))
}

/// Returns the cost of a subquery that can be narrowed: it has rows of stored tables as they are,
/// and its only column is an integer of one of them.
pub(super) fn cost_of_narrowing(plan: &QueryPlan) -> Option<f64> {
    let QueryBody::Select(select) = &plan.body else { return None };
    let is_plain = select.grouping.is_none()
        && select.having.is_none()
        && select.limit.is_none()
        && !select.calc_found_rows
        && select.tables.iter().all(|step| step.nests.is_empty() && TableStep::is_copyable(step));
    let [output] = &select.outputs[..] else { return None };
    step_of_column(select, output).filter(|_| is_plain)?;
    Some(select.tables.last()?.estimate?.cost)
}

/// Returns the step whose column of integers an expression is.
fn step_of_column(select: &SelectPlan, expr: &Expr) -> Option<usize> {
    let Node::Slot(slot) = expr.node else { return None };
    let own = |step: &TableStep| (step.base..step.base + step.columns).contains(&slot);
    expr.ty.is_integer().then(|| select.tables.iter().position(own))?
}

/// Returns the rows of a subquery whose column is among the integers that are the rows of the
/// subquery with this number.
///
/// # Errors
/// Returns the errors of running the subquery.
#[inline(never)]
pub(super) fn narrowed_rows(run: &mut Run<'_, '_>, plan: &QueryPlan, number: usize) -> Result<SubqueryRows> {
    let ctx = run.ctx;
    let mut rows = Gathered::new(ctx);
    let QueryBody::Select(select) = &plan.body else { unreachable!("a plain query is narrowed") };
    let output = &select.outputs[0];
    let at = step_of_column(select, output).expect("the column of a step is compared");
    let tables = select.tables.iter().map(TableStep::copied).collect::<Option<Vec<_>>>();
    let mut tables = tables.expect("the tables are stored ones");
    let among = Quantified {
        op: BinaryOp::Equal,
        all: false,
        negated: false,
        operands: vec![output.clone()],
        collations: vec![collation::BINARY],
        call: SubqueryCall { number, args: Vec::new() },
        hashes: true,
    };
    let step = &mut tables[at];
    let ty = ColumnType::int(false);
    let condition = Expr { node: Node::Quantified(Box::new(among)), ty, ..output.clone() };
    match &mut step.hash {
        Some(lookup) => lookup.conditions.insert(0, condition),
        None => {
            step.conditions.insert(0, condition);
            step.answered = step.answered.behind_another();
        }
    }
    for condition in &select.preconditions {
        if !condition.holds(&[], ctx)? {
            return Ok(rows.finish());
        }
    }
    let visit = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
        let value = output.eval(row, run.ctx)?.into_owned();
        rows.push(&[value], run.ctx)?;
        Ok(Flow::Continue)
    };
    let mut row = Value::nulls(select.slots);
    nested_loops(run, (&tables, Order::OfTables), &Materialized::new(), &mut row, visit)?;
    Ok(rows.finish())
}
