//! Groups whose rows come one after the other, because the table is read in the order of an index
//! whose columns are those of GROUP BY.
//!
//! One group is in memory at a time, and it goes out as soon as a row of another one comes.

use super::table::VisitGroup;
use crate::error::Result;
use crate::exec::Run;
use crate::exec::loops::{Flow, Materialized, Order, nested_loops};
use crate::exec::portions::{Loops, PortionReader, in_portions};
use crate::exec::spill::{RowList, table_bytes};
use crate::expr::{Accumulator, Context, Expr, Node, group_key, is_for_any_thread};
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

/// Groups of which one is in memory at a time.
struct InOrder<'p> {
    grouping: &'p Grouping,
    keys: Keys<'p>,
    group: Group,
    key: Vec<u8>,
}

impl<'p> InOrder<'p> {
    fn new(plan: &SelectPlan, grouping: &'p Grouping, ctx: &Context<'_>) -> InOrder<'p> {
        let group = Group {
            has_begun: false,
            key: Vec::new(),
            row: Value::nulls(plan.slots),
            kept: kept_slots(plan, grouping),
            accumulators: Vec::new(),
            charge: Charge::new(ctx.memory),
        };
        InOrder { grouping, keys: Keys::of(&grouping.keys), group, key: Vec::new() }
    }

    /// Takes the next row. The group before it goes to `visit` if the row is of another one.
    fn take(&mut self, row: &[Value], ctx: &Context<'_>, visit: &mut VisitGroup<'_>) -> Result<Flow> {
        let InOrder { grouping, keys, group, key } = self;
        let is_same = keys.hold(row, group, key, ctx)?;
        if !group.has_begun || !is_same {
            if group.give(grouping, ctx, visit)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
            group.begin(key, row, grouping)?;
        }
        group.take(row, grouping, ctx)?;
        Ok(Flow::Continue)
    }

    /// Passes the last group to `visit`, if there is one. The next row begins a new group.
    fn end(&mut self, ctx: &Context<'_>, visit: &mut VisitGroup<'_>) -> Result<Flow> {
        let flow = self.group.give(self.grouping, ctx, visit)?;
        self.group.has_begun = false;
        Ok(flow)
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
    if let Some(finished) = finished_by_threads(run, plan, grouping, materialized)? {
        let row = Value::nulls(plan.slots + grouping.aggregates.len());
        return finished_groups(&finished, row, run.ctx, visit);
    }
    let ctx = run.ctx;
    let mut row = Value::nulls(plan.slots);
    let mut groups = InOrder::new(plan, grouping, ctx);
    let take = &mut |run: &mut Run<'_, '_>, row: &mut Vec<Value>| groups.take(row, run.ctx, visit);
    let flow = nested_loops(run, (&plan.tables, Order::OfTables), materialized, &mut row, take)?;
    if flow == Flow::Continue {
        groups.end(ctx, visit)?;
    }
    Ok(())
}

/// Groups that one thread has finished, one behind the other.
struct Finished {
    /// The rows of the groups, which HAVING has let through as far as any thread can compute it.
    rows: RowList,
    /// The portions that the thread has read, in their order, and how many groups there were after
    /// each.
    portions: Vec<(usize, usize)>,
}

/// Has several threads finish the groups. All rows of a group are read by one of them. `None` means
/// that the statement's thread has to do it.
fn finished_by_threads(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &Grouping,
    materialized: &Materialized,
) -> Result<Option<Vec<Finished>>> {
    let stops_early = plan.limit.is_some() && (plan.order.is_empty() || plan.ordered_by_access);
    let Some(leading_columns) = grouping.leading_columns(&plan.tables).filter(|_| !stops_early) else {
        return Ok(None);
    };
    let having = plan.having.iter().filter(|having| is_for_any_thread(having, &mut Vec::new()));
    let having = having.collect::<Vec<_>>();
    let args = grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args);
    let exprs = grouping.keys.iter().chain(args).chain(having.iter().copied());
    let threads = run.ctx.variables.parallel_read_threads as usize;
    let finish = |reader: &mut PortionReader<'_, '_, '_>| -> Result<Option<Finished>> {
        let ctx = reader.ctx();
        let most_bytes = table_bytes(ctx) / threads;
        let mut groups = InOrder::new(plan, grouping, ctx);
        let mut finished = Finished { rows: RowList::new(ctx), portions: Vec::new() };
        while let Some(portion) = reader.next_portion() {
            let mut keep = |row: &[Value]| {
                for having in &having {
                    if !having.holds(row, ctx)? {
                        return Ok(Flow::Continue);
                    }
                }
                finished.rows.push(row, 0..row.len())?;
                Ok(if finished.rows.used_bytes() > most_bytes { Flow::Stop } else { Flow::Continue })
            };
            let flow = reader.each_row(&mut |run, row| groups.take(row, run.ctx, &mut keep))?;
            if flow == Flow::Stop || groups.end(ctx, &mut keep)? == Flow::Stop {
                return Ok(None);
            }
            finished.portions.push((portion, finished.rows.len()));
        }
        Ok(Some(finished))
    };
    let loops = Loops { tables: &plan.tables, slots: plan.slots, leading_columns };
    in_portions(run, &loops, materialized, exprs, &finish)
}

/// Passes the groups of all threads to `visit`, in their order. `row` has a value for each slot and
/// each aggregate.
fn finished_groups(
    threads: &[Finished],
    mut row: Vec<Value>,
    ctx: &Context<'_>,
    visit: &mut VisitGroup<'_>,
) -> Result<()> {
    let mut portions = Vec::new();
    for thread in threads {
        let mut first = 0;
        for (portion, end) in &thread.portions {
            portions.push((*portion, first..*end, thread));
            first = *end;
        }
    }
    portions.sort_unstable_by_key(|(portion, ..)| *portion);
    for (_, groups, thread) in portions {
        for number in groups {
            ctx.check_interrupt()?;
            let slots = 0..row.len();
            thread.rows.read(number, &mut row, slots)?;
            if visit(&row)? == Flow::Stop {
                return Ok(());
            }
        }
    }
    Ok(())
}
