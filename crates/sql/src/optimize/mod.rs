//! The optimizer: it turns FROM and WHERE into the steps of nested loops.
//!
//! In: the bound tables, how they are joined, and the conditions. Out: the steps in the order in
//! which they run, each with its access path, the way in which its rows are found, and the
//! conditions that can be decided there.
//!
//! First, common conditions are taken out of the branches of each OR (`factors`), outer joins
//! become inner joins where the two are equivalent (`nulls`), the tables that may be joined in any
//! order become a block (`block`), and columns that are equal become a class (`equalities`). Then
//! the cheapest order is searched (`order`) by what it costs to read each table after others
//! (`method`, `estimate`, `dive`), and its steps are built (`steps`). A statement of one table
//! skips all of this unless there are access paths to choose between.

mod block;
mod dive;
mod equalities;
mod estimate;
mod factors;
mod freedom;
mod method;
mod nulls;
mod order;
mod steps;
mod tables;

pub(crate) use dive::Constants;
pub(crate) use equalities::equality;
pub(crate) use freedom::Freedom;
pub(crate) use nulls::{null_slots, rejected_slots};
pub(crate) use tables::{Mask, Tables};

use crate::error::Result;
use crate::expr::Expr;
use crate::plan::{Access, JoinTree, Leaf, Source, TableStep, Wish, choose, only_choice};
use block::Block;
use estimate::Size;
use factors::factored;
use steps::{Around, Planner, with_tables};

/// Returns how the only table of a statement is read. `None` if the choice depends on estimates.
/// Without freedom, rules choose the index, because the rows that are read are locked.
pub(crate) fn only_access(
    leaf: &Leaf,
    filter: &[Expr],
    freedom: Freedom,
    wish: impl Fn(usize) -> Wish,
) -> Result<Option<Access>> {
    match (&leaf.source, freedom) {
        (Source::Stored { table, .. }, Freedom::None) => {
            choose(table, leaf.base, filter, &|_| false, &leaf.index_use, &wish(leaf.base)).map(Some)
        }
        (Source::Stored { table, .. }, _) => {
            only_choice(table, leaf.base, filter, &leaf.index_use, &wish(leaf.base))
        }
        _ => Ok(Some(Access::all())),
    }
}

/// Returns the step of a statement of one table, and the conditions that depend on no table.
pub(crate) fn only_step(mut leaf: Leaf, filter: Vec<Expr>, chosen: Access) -> (Vec<TableStep>, Vec<Expr>) {
    let mut slots = Vec::new();
    let (conditions, preconditions): (Vec<Expr>, Vec<Expr>) = filter.into_iter().partition(|condition| {
        slots.clear();
        condition.slots(&mut slots);
        !slots.is_empty()
    });
    if let Source::Stored { access, .. } = &mut leaf.source {
        *access = chosen;
    }
    let step = TableStep::new(leaf.source, leaf.alias, leaf.base, leaf.columns);
    let step = TableStep { index_use: leaf.index_use, ..step }.with_conditions(conditions);
    (vec![step], preconditions)
}

/// Returns the steps of a statement of several tables, or of one table with several access paths,
/// and the conditions that depend on no table. `before` are the tables that hints want read before
/// others.
pub(crate) fn optimize(
    constants: Constants<'_>,
    mut tables: Tables,
    tree: JoinTree,
    before: Vec<(Mask, Mask)>,
    filter: Vec<Expr>,
    freedom: Freedom,
    wish: &dyn Fn(usize) -> Wish,
) -> Result<(Vec<TableStep>, Vec<Expr>)> {
    let filter = if freedom == Freedom::None { filter } else { factored(filter) };
    let mut block = Block::of(&mut tables, tree, filter);
    block.prefer(&tables, before);
    let is_on_tables = |condition: &Expr| !tables.mask_of(condition).is_empty();
    let (conditions, preconditions) =
        std::mem::take(&mut block.conditions).into_iter().partition(is_on_tables);
    block.conditions = conditions;
    let sizes = tables.leaves.iter().map(|leaf| Size::of(constants.engine, &leaf.source)).collect();
    let planner = Planner { tables: &tables, constants, sizes, freedom };
    let around = Around { known: Mask::NONE, rounds: 1.0, cost: 0.0 };
    let planned = planner.block(block, around, Some(wish))?;
    Ok((with_tables(planned.steps, tables), preconditions))
}
