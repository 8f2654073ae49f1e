//! Groups whose rows several threads have read.
//!
//! Each thread gathers groups of its own. When all rows are read, the groups become one table, in
//! the order of their first rows, as if one thread had read them all.

use super::table::{Groups, OfThread};
use crate::error::Result;
use crate::exec::Run;
use crate::exec::loops::{Flow, Materialized};
use crate::exec::portions::{Loops, PortionReader, in_portions};
use crate::expr::{Context, Expr, group_key};
use crate::plan::{Grouping, SelectPlan};
use types::Value;

/// Appends the key of a row's group to `key`.
#[inline]
pub(super) fn put_group_key(
    keys: &[Expr],
    row: &[Value],
    key: &mut Vec<u8>,
    ctx: &Context<'_>,
) -> Result<()> {
    for expr in keys {
        group_key(&*expr.eval(row, ctx)?, expr.ty.collation, key);
    }
    Ok(())
}

/// Groups the rows of the loops, which several threads read. `None` means that one thread has to
/// read them.
///
/// # Errors
/// Returns the errors of reading the tables of hash joins and of merging.
pub(super) fn groups_of_threads<'g>(
    run: &mut Run<'_, '_>,
    plan: &SelectPlan,
    grouping: &'g Grouping,
    materialized: &Materialized,
) -> Result<Option<Groups<'g>>> {
    if !grouping.aggregates.iter().all(|aggregate| aggregate.can_be_merged()) {
        return Ok(None);
    }
    let args = grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args);
    let exprs = grouping.keys.iter().chain(args);
    let threads = run.ctx.variables.parallel_read_threads as usize;
    let gather = |reader: &mut PortionReader<'_, '_, '_>| -> Result<Option<OfThread>> {
        let mut groups = Groups::of_thread(grouping, threads, reader.ctx());
        let (mut portions, mut key) = (Vec::new(), Vec::new());
        while let Some(portion) = reader.next_portion() {
            let flow = reader.each_row(&mut |run, row| {
                key.clear();
                put_group_key(&grouping.keys, row, &mut key, run.ctx)?;
                groups.add(&key, row, run.ctx)?;
                Ok(if groups.is_full() { Flow::Stop } else { Flow::Continue })
            })?;
            if flow == Flow::Stop {
                return Ok(None);
            }
            portions.push((portion, groups.len()));
        }
        Ok(groups.into_gathered().map(|groups| OfThread { groups, portions }))
    };
    let loops = Loops { tables: &plan.tables, slots: plan.slots, leading_columns: 0 };
    let made = in_portions(run, &loops, materialized, exprs, &gather)?;
    made.map(|made| Groups::of_threads(grouping, made, plan.slots, run.ctx)).transpose()
}
