//! The rows of a query before they are grouped: its tables, with those of derived tables and views
//! that MySQL joins with them, and what holds of them.

use super::equalities::{columns_asked, equalities};
use crate::ast::BinaryOp;
use crate::expr::{Expr, Node, SubqueryCall, SubqueryUse};
use crate::optimize::{Mask, equality, null_slots, rejected_slots};
use crate::plan::{Derivation, JoinTree, Joining, Made};
use std::collections::HashSet;
use std::ops::Range;
use types::{Value, collation};

/// A table that stays one.
pub(super) struct Member {
    pub base: usize,
    pub columns: usize,
    pub made: Made,
    /// An outer join may put NULLs for its columns.
    pub is_weak: bool,
}

/// A derived table or a view whose tables are members.
struct View {
    slots: Range<usize>,
    columns: Vec<ViewColumn>,
    tables: Mask,
    is_weak: bool,
}

/// What a column of a view stands for.
pub(super) struct ViewColumn {
    pub expr: Expr,
    tables: Mask,
    /// The columns of members for each of which NULL makes it NULL.
    nulls: HashSet<usize>,
}

/// An outer join that is not as good as an inner one.
#[derive(Default)]
pub(super) struct OuterJoin {
    on: Vec<Expr>,
    /// The tables for which it may put NULLs.
    pub weak: Mask,
    /// It stands on the weak side of another one.
    pub is_within_weak: bool,
    /// Its condition may come to something else each time.
    pub varies: bool,
    /// Its condition does not hold for NULL in some column of the strong side.
    pub rejects_strong: bool,
    /// The columns of the strong side that its condition asks.
    pub strong: Vec<usize>,
}

/// Two values that are equal in all rows, or by the condition of an outer join (its position).
pub(super) struct Equal {
    pub join: Option<usize>,
    pub left: Expr,
    pub right: Expr,
}

/// The tables of a query and what holds of their rows.
#[derive(Default)]
pub(super) struct Rows {
    pub members: Vec<Member>,
    views: Vec<View>,
    pub outer_joins: Vec<OuterJoin>,
    /// The conjuncts of WHERE and of the conditions of inner joins.
    filter: Vec<Expr>,
    pub equal: Vec<Equal>,
    /// The columns of which the conditions take no NULL.
    pub not_null: HashSet<usize>,
    /// Subqueries whose values are constants, by their numbers.
    pub constants: Vec<usize>,
}

/// What stands in the tree where a table of FROM has stood.
type Planted = (JoinTree, Vec<Expr>);

impl Rows {
    /// Those of a query, whose own slots are the same.
    pub fn of(derivation: &Derivation) -> Rows {
        let mut rows = Rows::default();
        let mut next = derivation.slots;
        if let Some((tree, filter)) = rows.plant(derivation, 0, &[], &mut next) {
            let rejected = rows.rejected(&filter);
            rows.filter = filter;
            rows.take_joins(tree, &rejected, None);
        }
        for at in 0..rows.views.len() {
            let tables = rows.views[at].tables;
            rows.views[at].is_weak =
                !tables.is_empty() && rows.outer_joins.iter().any(|join| tables.is_within(join.weak));
        }
        rows.read_conditions();
        rows
    }

    /// Notes what the conditions say.
    fn read_conditions(&mut self) {
        let filter = std::mem::take(&mut self.filter);
        self.read(&filter, None, Mask::NONE);
        for at in 0..self.outer_joins.len() {
            let mut join = std::mem::take(&mut self.outer_joins[at]);
            let on = std::mem::take(&mut join.on);
            self.read(&on, Some(at), join.weak);
            let is_strong = |slot: &usize| !self.tables_of(*slot).without(join.weak).is_empty();
            join.varies = on.iter().any(Expr::varies);
            join.rejects_strong = self.rejected(&on).iter().any(is_strong);
            on.iter().for_each(|condition| condition.slots(&mut join.strong));
            join.strong.retain(is_strong);
            self.outer_joins[at] = join;
        }
    }

    /// Notes what these conditions say, of an outer join with these weak tables or of all rows.
    fn read(&mut self, conditions: &[Expr], join: Option<usize>, weak: Mask) {
        for condition in conditions {
            let mut found = Vec::new();
            equalities(condition, false, &mut found);
            let equal = found.into_iter().map(|(left, right)| Equal {
                join,
                left: left.clone(),
                right: right.clone(),
            });
            self.equal.extend(equal);
            let rejected = self.rejected(std::slice::from_ref(condition));
            if rejected.is_empty() || matches!(condition.node, Node::Or(_)) {
                continue;
            }
            for slot in columns_asked(condition) {
                let slot = self.canonical(slot);
                let is_of_it = join.is_none() || !(self.tables_of(slot) & weak).is_empty();
                if is_of_it && rejected.contains(&slot) {
                    self.not_null.insert(slot);
                }
            }
        }
    }

    /// Adds the tables of a query, whose slots lie `offset` further, and those of the queries that
    /// are joined with it; `next` is the first slot that is free. `None`: it has no tables.
    fn plant(
        &mut self,
        derivation: &Derivation,
        offset: usize,
        args: &[Expr],
        next: &mut usize,
    ) -> Option<Planted> {
        self.constants.extend(&derivation.constants);
        let mut planted = Vec::with_capacity(derivation.tables.len());
        for origin in &derivation.tables {
            let base = origin.base + offset;
            let merged = match &origin.made {
                Made::Query(query, given) if query.merges && self.has_room(query) => {
                    let given: Vec<Expr> =
                        given.iter().map(|arg| placed(arg.clone(), offset, args)).collect();
                    self.join(query, &given, next, Some(base..base + origin.columns))
                }
                _ => None,
            };
            planted.push(Some(merged.unwrap_or_else(|| {
                let made = match &origin.made {
                    Made::Query(query, _) => Made::Query(query.clone(), Vec::new()),
                    made => made.clone(),
                };
                self.members.push(Member { base, columns: origin.columns, made, is_weak: false });
                (JoinTree::Table(self.members.len() - 1), Vec::new())
            })));
        }
        let filter = derivation.filter.iter().map(|condition| placed(condition.clone(), offset, args));
        let mut conditions: Vec<Expr> = filter.collect();
        let tree = placed_tree(derivation.tree.clone()?, offset, args);
        let (mut tree, mut of_tables) = replanted(tree, &mut planted);
        conditions.append(&mut of_tables);
        self.join_asked(derivation, &mut tree, &mut conditions, next);
        Some((tree, conditions))
    }

    fn has_room(&self, query: &Derivation) -> bool {
        self.members.len().saturating_add(query.leaves) < Mask::MOST
    }

    /// Adds the tables of a query that is joined, which is given these values; of a derived table
    /// or a view, which has these slots, its columns too.
    fn join(
        &mut self,
        query: &Derivation,
        given: &[Expr],
        next: &mut usize,
        slots: Option<Range<usize>>,
    ) -> Option<Planted> {
        let (offset, first) = (*next, self.members.len());
        *next += query.slots;
        let planted = self.plant(query, offset, given, next)?;
        if let Some(slots) = slots {
            let exprs = query.outputs.iter().map(|output| placed(output.clone(), offset, given));
            let columns = exprs.map(|expr| self.view_column(expr)).collect();
            let tables = (first..self.members.len()).fold(Mask::NONE, Mask::with);
            self.views.push(View { slots, columns, tables, is_weak: false });
        }
        Some(planted)
    }

    fn view_column(&self, expr: Expr) -> ViewColumn {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        let tables = slots.iter().fold(Mask::NONE, |mask, slot| mask | self.tables_of(*slot));
        let nulls = self.bottoms(null_slots(&expr));
        ViewColumn { expr, tables, nulls }
    }

    /// Joins the tables of subqueries that the conditions ask by IN or EXISTS: what holds of these,
    /// and that they are equal, holds of each row.
    fn join_asked(
        &mut self,
        derivation: &Derivation,
        tree: &mut JoinTree,
        conditions: &mut Vec<Expr>,
        next: &mut usize,
    ) {
        let mut found = Vec::new();
        for condition in conditions.iter() {
            let Some((call, operands)) = asked(condition, false) else { continue };
            let query = derivation.asked.iter().find(|(number, _)| *number == call.number);
            let Some(query) = query.map(|(_, query)| query.clone()).filter(|query| query.is_plain) else {
                continue;
            };
            if !self.has_room(&query) {
                continue;
            }
            let offset = *next;
            if let Some((of_query, mut of_rows)) = self.join(&query, &call.args, next, None) {
                let left = Box::new(std::mem::replace(tree, JoinTree::Table(0)));
                let right = Box::new(of_query);
                *tree = JoinTree::Join { joining: Joining::Inner, left, right, on: Vec::new() };
                found.append(&mut of_rows);
            }
            for (operand, output) in operands.iter().zip(&query.outputs) {
                let output = placed(output.clone(), offset, &call.args);
                // How they are compared makes no difference to what follows from it.
                found.push(equality(operand.clone(), output, collation::UTF8MB4_0900_AI_CI));
            }
        }
        conditions.append(&mut found);
    }

    /// Notes the conditions of a tree's joins: those of an inner join hold in the outer join that
    /// it stands in (`within`), or of all rows; an outer join whose NULLs are rejected is an inner
    /// one.
    fn take_joins(&mut self, tree: JoinTree, rejected: &HashSet<usize>, within: Option<usize>) {
        let (joining, left, right, mut on) = match tree {
            JoinTree::Table(at) => {
                self.members[at].is_weak = within.is_some();
                return;
            }
            JoinTree::Join { joining, left, right, on } => (joining, left, right, on),
        };
        let mut tables = Vec::new();
        right.tables(&mut tables);
        let weak = tables.into_iter().fold(Mask::NONE, Mask::with);
        let is_rejected = |slot: &usize| !(self.tables_of(*slot) & weak).is_empty();
        let is_outer = joining == Joining::Outer && !rejected.iter().any(is_rejected);
        let mut of_on = self.rejected(&on);
        if is_outer {
            let join = OuterJoin { on, weak, is_within_weak: within.is_some(), ..OuterJoin::default() };
            self.outer_joins.push(join);
            let this = self.outer_joins.len() - 1;
            self.take_joins(*left, rejected, within);
            self.take_joins(*right, &of_on, Some(this));
        } else {
            match within {
                Some(outer) => self.outer_joins[outer].on.append(&mut on),
                None => self.filter.append(&mut on),
            }
            of_on.extend(rejected);
            self.take_joins(*left, &of_on, within);
            self.take_joins(*right, &of_on, within);
        }
    }

    /// The columns of members for each of which NULL makes that the conditions do not hold.
    fn rejected(&self, conditions: &[Expr]) -> HashSet<usize> {
        self.bottoms(conditions.iter().flat_map(rejected_slots).collect())
    }

    /// The columns of members that these depend on with their NULLs.
    fn bottoms(&self, slots: HashSet<usize>) -> HashSet<usize> {
        let mut found = HashSet::new();
        for slot in slots {
            match self.view_column_at(slot) {
                Some((column, _)) => found.extend(&column.nulls),
                None => drop(found.insert(slot)),
            }
        }
        found
    }

    /// What a column of a view stands for, and whether an outer join may put NULL for it.
    pub fn view_column_at(&self, slot: usize) -> Option<(&ViewColumn, bool)> {
        let view = self.views.iter().find(|view| view.slots.contains(&slot))?;
        Some((&view.columns[slot - view.slots.start], view.is_weak))
    }

    /// The column that a slot is after all.
    pub fn canonical(&self, slot: usize) -> usize {
        match self.view_column_at(slot) {
            Some((ViewColumn { expr: Expr { node: Node::Slot(behind), .. }, .. }, _)) => {
                self.canonical(*behind)
            }
            _ => slot,
        }
    }

    /// The member that a slot is a column of.
    pub fn member_of(&self, slot: usize) -> Option<usize> {
        self.members.iter().position(|member| (member.base..member.base + member.columns).contains(&slot))
    }

    /// The members that a column is computed from.
    pub fn tables_of(&self, slot: usize) -> Mask {
        match self.view_column_at(slot) {
            Some((column, _)) => column.tables,
            None => self.member_of(slot).map_or(Mask::NONE, Mask::of),
        }
    }
}

impl ViewColumn {
    /// Whether it is NULL where some column of a table is.
    pub fn is_null_of_null(&self) -> bool {
        !self.nulls.is_empty()
    }
}

/// The expression in the query around: its slots lie `offset` further, and these are its arguments.
/// What is not of the query that is asked about (it has no offset) has been looked at before: MySQL
/// takes a user variable in it for a constant.
/// Of the query that is asked about the arguments are not known: they stay what they are.
fn placed(mut expr: Expr, offset: usize, args: &[Expr]) -> Expr {
    expr.change(&mut |part| match part.node {
        Node::Slot(slot) => part.node = Node::Slot(slot + offset),
        Node::UserVariable(_) if offset > 0 => part.node = Node::Constant(Value::Null),
        Node::Outer(at) => {
            if let Some(arg) = args.get(at) {
                *part = arg.clone();
            }
        }
        _ => {}
    });
    expr
}

/// As [`placed`], of a tree whose tables stay where they are.
fn placed_tree(tree: JoinTree, offset: usize, args: &[Expr]) -> JoinTree {
    match tree {
        JoinTree::Table(at) => JoinTree::Table(at),
        JoinTree::Join { joining, left, right, on } => JoinTree::Join {
            joining,
            left: Box::new(placed_tree(*left, offset, args)),
            right: Box::new(placed_tree(*right, offset, args)),
            on: on.into_iter().map(|condition| placed(condition, offset, args)).collect(),
        },
    }
}

/// The tree with what stands in the place of each table, and the conditions that hold for its rows.
fn replanted(tree: JoinTree, planted: &mut [Option<Planted>]) -> Planted {
    match tree {
        JoinTree::Table(at) => planted[at].take().expect("a table stands once in FROM"),
        JoinTree::Join { joining, left, right, mut on } => {
            let (left, mut conditions) = replanted(*left, planted);
            let (right, of_right) = replanted(*right, planted);
            match joining {
                Joining::Inner | Joining::Straight => conditions.extend(of_right),
                // The row on the left stays without them.
                Joining::Outer | Joining::Semi | Joining::Anti => on.extend(of_right),
            }
            (JoinTree::Join { joining, left: Box::new(left), right: Box::new(right), on }, conditions)
        }
    }
}

/// The subquery one of whose rows has to be there for a condition to hold, and what it is compared
/// with.
pub(super) fn asked(condition: &Expr, negated: bool) -> Option<(&SubqueryCall, &[Expr])> {
    match &condition.node {
        Node::Not(inner) => asked(inner, !negated),
        Node::Subquery { call, what: SubqueryUse::Exists } if !negated => Some((call, &[])),
        Node::Quantified(asked) if asked.op == BinaryOp::Equal && !asked.all && asked.negated == negated => {
            Some((&asked.call, &asked.operands))
        }
        _ => None,
    }
}
