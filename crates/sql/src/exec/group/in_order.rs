//! Groups whose rows come one after the other, because the table is read in the order of an index
//! whose columns are those of GROUP BY.
//!
//! One group is in memory at a time, and it goes out as soon as a row of another one comes.

use super::table::VisitGroup;
use crate::error::Result;
use crate::exec::Run;
use crate::exec::loops::{Flow, Materialized, Order, nested_loops};
use crate::expr::{Accumulator, Context, Expr, Node, group_key};
use crate::memory::{Charge, growth, row_bytes};
use crate::plan::{Grouping, SelectPlan};
use types::{TypeCode, Value};

/// How rows of one group are told from those of the next one.
enum Keys<'p> {
    /// By columns whose values are equal only if they are the same.
    Slots(Vec<usize>),
    /// By the bytes of the keys, which equal values share.
    Encoded(&'p [Expr]),
}

impl Keys<'_> {
    fn of(keys: &[Expr]) -> Keys<'_> {
        let slot = |key: &Expr| match key.node {
            Node::Slot(slot) if key.ty.is_integer() || key.ty.code == TypeCode::Date => Some(slot),
            _ => None,
        };
        keys.iter().map(slot).collect::<Option<_>>().map_or(Keys::Encoded(keys), Keys::Slots)
    }

    /// Reports whether a row is of the group. If not, and if keys are encoded, `key` becomes the
    /// key of the row.
    fn hold(&self, row: &[Value], group: &Group, key: &mut Vec<u8>, ctx: &Context<'_>) -> Result<bool> {
        match self {
            Keys::Slots(slots) => Ok(slots.iter().all(|slot| row[*slot] == group.row[*slot])),
            Keys::Encoded(keys) => {
                key.clear();
                for expr in *keys {
                    group_key(&*expr.eval(row, ctx)?, expr.ty.collation, key);
                }
                Ok(*key == group.key)
            }
        }
    }
}

/// Returns the columns of a group's row that its result depends on, and those of the keys.
fn kept_slots(plan: &SelectPlan, grouping: &Grouping) -> Vec<usize> {
    let order = plan.order.iter().map(|key| &key.expr);
    let exprs = plan.outputs.iter().chain(&plan.having).chain(order).chain(&grouping.keys);
    let mut slots = Vec::new();
    exprs.for_each(|expr| expr.slots(&mut slots));
    slots.retain(|slot| *slot < plan.slots);
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// The group whose rows are coming.
struct Group {
    /// Whether a row of it has come.
    has_begun: bool,
    key: Vec<u8>,
    /// Those columns of its first row that are kept, and room for the results of the aggregates.
    row: Vec<Value>,
    kept: Vec<usize>,
    accumulators: Vec<Accumulator>,
    /// The charge for its row and for what its aggregates keep.
    charge: Charge,
}

impl Group {
    fn begin(&mut self, key: &[u8], row: &[Value], grouping: &Grouping) -> Result<()> {
        assert!(self.accumulators.is_empty(), "the group before has gone out");
        self.has_begun = true;
        self.key.clear();
        self.key.extend_from_slice(key);
        self.row.truncate(row.len());
        for slot in &self.kept {
            self.row[*slot].clone_from(&row[*slot]);
        }
        self.charge.clear();
        self.charge.add(key.len() + row_bytes(&self.row))?;
        for aggregate in &grouping.aggregates {
            growth::push(&mut self.accumulators, aggregate.start(), &mut self.charge)?;
        }
        Ok(())
    }

    fn take(&mut self, row: &[Value], grouping: &Grouping, ctx: &Context<'_>) -> Result<()> {
        for (accumulator, aggregate) in self.accumulators.iter_mut().zip(&grouping.aggregates) {
            accumulator.add(aggregate, row, ctx, &mut self.charge)?;
        }
        Ok(())
    }

    /// Passes the group to `visit`, if there is one.
    fn give(&mut self, grouping: &Grouping, ctx: &Context<'_>, visit: &mut VisitGroup<'_>) -> Result<Flow> {
        if !self.has_begun {
            return Ok(Flow::Continue);
        }
        ctx.check_interrupt()?;
        for (accumulator, aggregate) in self.accumulators.drain(..).zip(&grouping.aggregates) {
            self.row.push(accumulator.finish(aggregate, ctx)?);
        }
        visit(&self.row)
    }
}

/// Groups the rows of the nested loops, and passes each group to `visit`.
///
/// # Errors
/// Returns the errors of the expressions, of the loops, of `visit` and of [`Charge::add`].
pub(super) fn groups_in_order(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &Grouping,
    materialized: &Materialized,
    visit: &mut VisitGroup<'_>,
) -> Result<()> {
    assert!(!grouping.keys.is_empty(), "the only group of a query without GROUP BY exists without rows");
    let ctx = run.ctx;
    let (mut row, mut key) = (Value::nulls(plan.slots), Vec::new());
    let mut group = Group {
        has_begun: false,
        key: Vec::new(),
        row: Value::nulls(plan.slots),
        kept: kept_slots(plan, grouping),
        accumulators: Vec::new(),
        charge: run.charge(),
    };
    let keys = Keys::of(&grouping.keys);
    let take = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| {
        let is_same = keys.hold(row, &group, &mut key, run.ctx)?;
        if !group.has_begun || !is_same {
            if group.give(grouping, run.ctx, visit)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
            group.begin(&key, row, grouping)?;
        }
        group.take(row, grouping, run.ctx)?;
        Ok(Flow::Continue)
    };
    let flow = nested_loops(run, (&plan.tables, Order::OfTables), materialized, &mut row, take)?;
    if flow == Flow::Continue {
        group.give(grouping, ctx, visit)?;
    }
    Ok(())
}
