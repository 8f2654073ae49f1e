//! Merging of derived tables and views: their tables are joined with those of the query around
//! them. As in MySQL, a view is then no slower than its text written out.
//!
//! In: the bound FROM and WHERE of a query, in which derived tables and views are queries of their
//! own. Out: the tables of such a query in the place of the derived table, its conditions beside
//! those of the query around it, and [`Merged`], which says what the columns of the derived table
//! stand for. The rest of the query around has to be rewritten with it. The slots of the derived
//! table's columns stay unused.
//!
//! A query stays a table of its own where its rows depend on being computed first (groups, LIMIT,
//! DISTINCT, values that vary). It also stays one where an outer join gives NULL for its columns
//! and one of them is computed, because the computed column would not be NULL.

use super::super::scope::ScopeColumn;
use super::super::{Binder, NODE_BYTES, Scope};
use super::joined_tables::From;
use super::moved::{moved, moved_leaf, moved_tree, nodes_of};
use crate::error::{Result, SqlError};
use crate::expr::{Aggregate, Expr, Node};
use crate::optimize::Mask;
use crate::plan::{
    JoinTree, Joining, Leaf, Opened, QueryBody, QueryPlan, SelectPlan, SortKey, Source, Unplanned,
};
use crate::sink::{ColumnMeta, column_flag};
use crate::variables::Switch;
use std::ops::Range;

/// The number of nodes of the largest expression that is computed wherever its column is named. A
/// column with a larger one is computed once, in a table of its own.
const MOST_NODES: usize = 64;
/// The number of levels by which a column's expression may make the expressions deeper that name
/// it.
const MOST_LEVELS: usize = 32;

/// What the columns of merged tables stand for.
#[derive(Default)]
pub(in crate::bind) struct Merged {
    columns: Vec<(Range<usize>, Vec<Expr>)>,
    /// The opened views: the slots of each view, and those of its tables.
    pub opened: Vec<(Range<usize>, Range<usize>)>,
    /// The conditions that CHECK OPTION of opened views demands, each with the first slot of its
    /// view.
    pub checks: Vec<(usize, Expr)>,
    /// The order of the only table of FROM. It becomes the query's order if the query has none.
    pub order: Vec<SortKey>,
}

impl Merged {
    /// Returns the expression that the column of a merged table stands for.
    pub fn column(&self, slot: usize) -> Option<&Expr> {
        let (slots, columns) = self.columns.iter().find(|(slots, _)| slots.contains(&slot))?;
        Some(&columns[slot - slots.start])
    }

    /// Returns the first slot of the opened view that contains the table with the first slot
    /// `base`. For a table in no such view it returns `base`.
    pub fn base_around(&self, base: usize) -> usize {
        let view = self.opened.iter().find(|(_, tables)| tables.contains(&base));
        view.map_or(base, |(own, _)| own.start)
    }

    /// Replaces the columns of merged tables in an expression by what they stand for.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub fn expand(&self, binder: &mut Binder<'_>, expr: &mut Expr) -> Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        let mut bytes = 0;
        expr.visit(&mut |part| {
            if let Node::Slot(slot) = part.node
                && let Some(column) = self.column(slot)
            {
                column.visit(&mut |part| bytes += NODE_BYTES + part.constant_bytes());
            }
        });
        binder.may_make(bytes)?;
        expr.change(&mut |part| {
            if let Node::Slot(slot) = part.node
                && let Some(column) = self.column(slot)
            {
                // An outer join may have made the column nullable.
                let nullable = part.nullable || column.nullable;
                *part = Expr { nullable, coercibility: part.coercibility, ..column.clone() };
            }
        });
        Ok(())
    }

    /// Does what [`Merged::expand`] does for several expressions.
    pub fn expand_all<'e>(
        &self,
        binder: &mut Binder<'_>,
        mut exprs: impl Iterator<Item = &'e mut Expr>,
    ) -> Result<()> {
        exprs.try_for_each(|expr| self.expand(binder, expr))
    }

    /// Returns the description of a result's column. A computed text has no fixed decimals,
    /// although the column of a materialized table has them.
    pub fn describe(&self, scope: &Scope, expr: &Expr, name: &str) -> ColumnMeta {
        let mut described = scope.describe(expr, name);
        if let Node::Slot(slot) = expr.node
            && let Some(column) = self.column(slot)
        {
            let merged = Scope::default().describe(column, "");
            described.decimals = merged.decimals;
            if !matches!(column.node, Node::Slot(_)) {
                described.flags =
                    merged.flags & !column_flag::NOT_NULL | described.flags & column_flag::NOT_NULL;
                described.ty = merged.ty;
            }
        }
        described
    }

    /// Does what [`Merged::expand`] does for the arguments of aggregates.
    pub fn expand_aggregates(&self, binder: &mut Binder<'_>, aggregates: &mut [Aggregate]) -> Result<()> {
        self.expand_all(binder, aggregates.iter_mut().flat_map(|aggregate| &mut aggregate.args))
    }

    fn expand_tree(&self, binder: &mut Binder<'_>, tree: &mut JoinTree) -> Result<()> {
        let JoinTree::Join { left, right, on, .. } = tree else { return Ok(()) };
        self.expand_all(binder, on.iter_mut())?;
        self.expand_tree(binder, left)?;
        self.expand_tree(binder, right)
    }

    /// Rewrites the expressions by which a table depends on tables before it.
    fn expand_leaf(&self, binder: &mut Binder<'_>, leaf: &mut Leaf) -> Result<()> {
        self.expand_all(binder, leaf.chosen.iter_mut())?;
        match &mut leaf.source {
            Source::Subquery(call) => self.expand_all(binder, call.args.iter_mut()),
            Source::JsonTable(table) => self.expand(binder, &mut table.document),
            Source::Stored { .. } | Source::Virtual { .. } | Source::Derived(_) => Ok(()),
        }
    }
}

/// What takes the place of a table in the new FROM.
enum InPlace {
    /// The table itself, at its new position.
    Table(usize),
    /// The tables of the derived table's query, and its conditions.
    Query(JoinTree, Vec<Expr>),
}

/// Returns the tree with each table replaced, and the conditions that hold for the rows of the
/// whole tree.
fn replanted(tree: JoinTree, in_place: &mut [Option<InPlace>]) -> (JoinTree, Vec<Expr>) {
    match tree {
        JoinTree::Table(at) => match in_place[at].take().expect("a table stands once in FROM") {
            InPlace::Table(at) => (JoinTree::Table(at), Vec::new()),
            InPlace::Query(tree, conditions) => (tree, conditions),
        },
        JoinTree::Join { joining, left, right, mut on } => {
            let (left, mut conditions) = replanted(*left, in_place);
            let (right, of_right) = replanted(*right, in_place);
            match joining {
                Joining::Inner | Joining::Straight => conditions.extend(of_right),
                // The row on the left is kept when no row on the right meets the conditions.
                Joining::Outer | Joining::Semi | Joining::Anti => on.extend(of_right),
            }
            (JoinTree::Join { joining, left: Box::new(left), right: Box::new(right), on }, conditions)
        }
    }
}

/// Collects the tables for which an outer join may yield NULLs.
fn nullable_tables(tree: &JoinTree, is_nullable: bool, found: &mut Mask) {
    match tree {
        JoinTree::Table(at) if is_nullable => *found = found.with(*at),
        JoinTree::Table(_) => {}
        JoinTree::Join { joining, left, right, .. } => {
            nullable_tables(left, is_nullable, found);
            nullable_tables(right, is_nullable || *joining == Joining::Outer, found);
        }
    }
}

/// Reports whether an expression has the same value wherever and however often it is computed for a
/// row.
fn is_steady(expr: &Expr) -> bool {
    let mut is_steady = !expr.varies();
    expr.visit(&mut |part| {
        is_steady &= match &part.node {
            Node::UserVariable(_) => false,
            Node::Stored { function, .. } => function.deterministic,
            _ => true,
        };
    });
    is_steady
}

/// Reports whether a column may be computed wherever it is named.
fn is_simple(column: &Expr) -> bool {
    let (mut nodes, mut is_plain) = (0, true);
    column.visit(&mut |part| {
        nodes += 1;
        is_plain &= !matches!(
            part.node,
            Node::Subquery { .. } | Node::Quantified(_) | Node::RowSubquery(_) | Node::HexLiteral(..)
        );
    });
    is_plain && nodes <= MOST_NODES && column.height() <= MOST_LEVELS && is_steady(column)
}

/// Joins the tables of derived tables and views with those of the query around them. `slots` is the
/// number of slots of all tables, to which those of the new tables are added. `only_opened` limits
/// this to the views that are opened.
///
/// # Errors
/// Returns the errors of [`Binder::may_make`] and [`mergeable`].
pub(in crate::bind) fn merge(
    binder: &mut Binder<'_>,
    from: &mut From,
    filter: &mut Vec<Expr>,
    slots: &mut usize,
    scope: &Scope,
    only_opened: bool,
) -> Result<Merged> {
    let mut merged = Merged::default();
    // Hints about the order name tables by their positions, which merging would change.
    let Some(tree) = from.tree.take_if(|_| from.before.is_empty()) else { return Ok(merged) };
    assert!(from.tables.len() <= Mask::MOST, "the parser takes fewer tables than a mask has bits");
    let mut nullable = Mask::NONE;
    nullable_tables(&tree, false, &mut nullable);
    let mut count = from.tables.len();
    let mut queries = Vec::with_capacity(count);
    for (at, leaf) in from.tables.iter_mut().enumerate() {
        let is_nullable = nullable.has(at);
        let most_tables = Mask::MOST.saturating_sub(count - 1);
        let query = mergeable(binder, leaf, (is_nullable, only_opened), scope, most_tables)?;
        count = query.as_ref().map_or(count, |query| count - 1 + query.leaves.len());
        queries.push(query);
    }
    if queries.iter().all(Option::is_none) {
        from.tree = Some(tree);
        return Ok(merged);
    }
    let is_alone = queries.len() == 1;
    let mut next = queries.iter().filter(|query| query.is_none()).count();
    // Slots ascend with the positions of the tables, so the new tables come behind all others.
    let (mut kept, mut come, mut in_place) = (Vec::new(), Vec::new(), Vec::new());
    for (leaf, query) in std::mem::take(&mut from.tables).into_iter().zip(queries) {
        let Some(query) = query else {
            in_place.push(Some(InPlace::Table(kept.len())));
            kept.push(leaf);
            continue;
        };
        let Unplanned { leaves, tree, conditions, outputs, slots: own_slots, as_table, opened, .. } = *query;
        let args = match leaf.source {
            Source::Subquery(call) => {
                binder.subqueries[call.number].is_joined = true;
                call.args
            }
            _ => Vec::new(),
        };
        binder.may_make(moved_bytes(&tree, &conditions, &outputs, &args))?;
        let move_here = |expr: Expr| moved(expr, *slots, &args);
        let conditions = conditions.into_iter().map(move_here).collect();
        in_place.push(Some(InPlace::Query(moved_tree(tree, next, *slots, &args), conditions)));
        next += leaves.len();
        come.extend(leaves.into_iter().map(|leaf| moved_leaf(leaf, *slots, &args)));
        let mut columns: Vec<Expr> = outputs.into_iter().map(move_here).collect();
        // A LATERAL table names columns of merged tables before it.
        merged.expand_all(binder, columns.iter_mut())?;
        let own = leaf.base..leaf.base + leaf.columns;
        if let Some(Opened { checks, .. }) = opened {
            merged.opened.push((own.clone(), *slots..*slots + own_slots));
            merged.checks.extend(checks.into_iter().map(|check| (own.start, move_here(check))));
        }
        merged.columns.push((own, columns));
        if is_alone {
            let keys = as_table.into_iter().flatten();
            merged.order = keys.map(|key| SortKey { expr: move_here(key.expr), ..key }).collect();
        }
        *slots += own_slots;
    }
    kept.append(&mut come);
    let (mut tree, mut conditions) = replanted(tree, &mut in_place);
    merged.expand_tree(binder, &mut tree)?;
    merged.expand_all(binder, filter.iter_mut().chain(&mut conditions))?;
    kept.iter_mut().try_for_each(|leaf| merged.expand_leaf(binder, leaf))?;
    filter.append(&mut conditions);
    (from.tables, from.tree) = (kept, Some(tree));
    assert_eq!(from.tables.len(), next, "each table of FROM has a position of its own");
    assert!(from.tables.is_sorted_by_key(|leaf| leaf.base), "slots ascend with the positions of tables");
    Ok(merged)
}

/// Takes the query of a derived table or view out of its plan, if it may be merged.
///
/// # Errors
/// Returns 1235 for an opened view whose tables cannot be joined in its place.
fn mergeable(
    binder: &mut Binder<'_>,
    leaf: &mut Leaf,
    (is_nullable, only_opened): (bool, bool),
    scope: &Scope,
    most_tables: usize,
) -> Result<Option<Box<Unplanned>>> {
    let plan = match &leaf.source {
        Source::Derived(plan) => plan,
        Source::Subquery(call) => &binder.subqueries[call.number].plan,
        _ => return Ok(None),
    };
    let QueryBody::Select(select) = &plan.body else { return Ok(None) };
    let Some(query) = select.unplanned.as_ref().filter(|query| query.as_table.is_some()) else {
        return Ok(None);
    };
    let may_be_null = |output: &Expr| !is_nullable || matches!(output.node, Node::Slot(_));
    let has_room = query.leaves.len() <= most_tables && query.outputs.iter().all(may_be_null);
    let is_on = || binder.variables.switches.is_on(Switch::DerivedMerge);
    let is_wanted = query.is_merged || leaf.merge_hint.unwrap_or_else(is_on);
    let is_merged = match &query.opened {
        Some(Opened { is_taken: true, .. }) if !has_room => {
            return Err(SqlError::not_supported("a view of derived tables that is opened in an outer join"));
        }
        Some(_) => has_room,
        None => {
            is_wanted
                && has_room
                && !only_opened
                && plain_select(plan).is_some()
                && is_free(binder, query, leaf, scope)
        }
    };
    if !is_merged {
        return Ok(None);
    }
    let plan = match &mut leaf.source {
        Source::Derived(plan) => plan,
        Source::Subquery(call) => &mut binder.subqueries[call.number].plan,
        _ => return Ok(None),
    };
    match &mut plan.body {
        QueryBody::Select(select) => Ok(select.unplanned.take()),
        _ => Ok(None),
    }
}

/// Reports whether a query may be merged freely: its conditions and columns yield the same whenever
/// and however often they are computed.
fn is_free(binder: &Binder<'_>, query: &Unplanned, leaf: &Leaf, scope: &Scope) -> bool {
    let Some((table, _)) = scope.of_slot(leaf.base) else { return false };
    let has_type = |(output, column): (&Expr, &ScopeColumn)| {
        output.ty == column.ty || crate::expr::column_type(&output.ty) == column.ty
    };
    query.outputs.iter().zip(&table.columns).all(has_type)
        && query.outputs.iter().all(is_simple)
        && query.conditions.iter().all(|condition| is_steady(condition) && asks_steadily(binder, condition))
}

/// Takes the query of an opened view out of its plan. `None` if the plan is not that of an opened
/// view.
pub(in crate::bind) fn take_opened(plan: QueryPlan) -> Option<Box<Unplanned>> {
    match plan.body {
        QueryBody::Select(select) => select.unplanned.filter(|query| query.opened.is_some()),
        _ => None,
    }
}

/// Reports whether the subqueries of an expression yield the same rows whenever they run.
fn asks_steadily(binder: &Binder<'_>, expr: &Expr) -> bool {
    let mut is_steady = true;
    let mut ask = |number: usize| {
        let subquery = &binder.subqueries[number];
        is_steady &= !subquery.varies && !subquery.reads_variables;
    };
    expr.visit(&mut |part| match &part.node {
        Node::Subquery { call, .. } => ask(call.number),
        Node::Quantified(asked) => ask(asked.call.number),
        Node::RowSubquery(asked) => ask(asked.call.number),
        _ => {}
    });
    is_steady
}

/// Returns the SELECT of a query that yields one row for each row of its joined tables. `None` for
/// other queries.
fn plain_select(plan: &QueryPlan) -> Option<&SelectPlan> {
    match &plan.body {
        QueryBody::Select(select) if select.is_merged() => Some(select),
        _ => None,
    }
}

/// Returns the bytes that the moved expressions of a query need, with their arguments copied.
fn moved_bytes(tree: &JoinTree, conditions: &[Expr], outputs: &[Expr], args: &[Expr]) -> usize {
    let mut nodes = conditions.iter().chain(outputs).map(|expr| nodes_of(expr, args)).sum::<usize>();
    let mut trees = vec![tree];
    while let Some(tree) = trees.pop() {
        if let JoinTree::Join { left, right, on, .. } = tree {
            nodes += on.iter().map(|expr| nodes_of(expr, args)).sum::<usize>();
            trees.extend([&**left, &**right]);
        }
    }
    nodes * NODE_BYTES
}
