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
//! (`method`, `estimate`, `counted`, `dive`), and its steps are built (`steps`). A statement of one
//! table skips all of this unless there are access paths to choose between.

mod block;
mod counted;
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
use counted::Counted;
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
    debug_assert!(
        slots_of(&conditions).iter().all(|slot| (leaf.base..leaf.base + leaf.columns).contains(slot)),
        "the conditions of a statement of one table name columns of that table"
    );
    let step = TableStep { index_use: leaf.index_use, ..step }.with_conditions(conditions);
    (vec![step], preconditions)
}

/// Returns the slots that expressions name.
fn slots_of(exprs: &[Expr]) -> Vec<usize> {
    let mut slots = Vec::new();
    exprs.iter().for_each(|expr| expr.slots(&mut slots));
    slots
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
    assert!(
        tables.leaves.windows(2).all(|pair| pair[0].base + pair[0].columns <= pair[1].base),
        "the slots of the tables ascend, and no two tables share one"
    );
    let filter = if freedom == Freedom::None { filter } else { factored(filter) };
    let mut block = Block::of(&mut tables, tree, filter);
    block.prefer(&tables, before);
    let is_on_tables = |condition: &Expr| !tables.mask_of(condition).is_empty();
    let (conditions, preconditions) =
        std::mem::take(&mut block.conditions).into_iter().partition(is_on_tables);
    block.conditions = conditions;
    let sizes = tables.leaves.iter().map(|leaf| Size::of(constants.engine, &leaf.source)).collect();
    let planner = Planner { tables: &tables, constants, counted: Counted::default(), sizes, freedom };
    let around = Around { known: Mask::NONE, rounds: 1.0, cost: 0.0 };
    let planned = planner.block(block, around, Some(wish))?;
    let steps = with_tables(planned.steps, tables);
    check_steps(&steps);
    Ok((steps, preconditions))
}

/// Checks that each expression of the steps names only columns of tables whose rows are there when
/// it is asked for: those of earlier steps, of the step itself, and of the nest that has ended.
fn check_steps(steps: &[TableStep]) {
    let mut slots = Vec::new();
    let mut check = |expr: &Expr, read: &[TableStep]| {
        slots.clear();
        expr.slots(&mut slots);
        let is_read =
            |slot: &usize| read.iter().any(|step| (step.base..step.base + step.columns).contains(slot));
        assert!(slots.iter().all(is_read), "an expression is computed from columns that were read: {expr:?}");
    };
    for (at, step) in steps.iter().enumerate() {
        for nest in &step.nests {
            let end = at + nest.tables;
            assert!(nest.tables > 0 && end <= steps.len(), "a nest has tables, and lies within the loops");
            nest.guards.iter().for_each(|guard| check(guard, &steps[..at]));
            nest.conditions.iter().for_each(|condition| check(condition, &steps[..end]));
        }
        match &step.source {
            Source::Subquery(call) => call.args.iter().for_each(|arg| check(arg, &steps[..at])),
            Source::JsonTable(table) => check(&table.document, &steps[..at]),
            Source::Stored { .. } | Source::Virtual { .. } | Source::Derived(_) => {}
        }
        if let Some(hash) = &step.hash {
            hash.conditions.iter().for_each(|condition| check(condition, &steps[at..=at]));
        }
        step.conditions.iter().for_each(|condition| check(condition, &steps[..=at]));
    }
}
