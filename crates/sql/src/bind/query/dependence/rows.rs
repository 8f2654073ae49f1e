//! The rows of a query before they are grouped: its tables, together with those of derived tables
//! and views that MySQL joins with them, and the conditions that hold for the rows.

use super::equalities::{columns_asked, equalities};
use crate::ast::BinaryOp;
use crate::expr::{Expr, Node, SubqueryCall, SubqueryUse};
use crate::optimize::{Mask, equality, null_slots, rejected_slots};
use crate::plan::{Derivation, JoinTree, Joining, Made};
use std::collections::HashSet;
use std::ops::Range;
use types::{Value, collation};

/// A table that is not replaced by the tables of its query.
pub(super) struct Member {
    pub base: usize,
    pub columns: usize,
    pub made: Made,
    /// An outer join may yield NULLs for the table's columns.
    pub is_weak: bool,
}

/// A derived table or a view whose tables are members.
struct View {
    slots: Range<usize>,
    columns: Vec<ViewColumn>,
    tables: Mask,
    is_weak: bool,
}

/// The expression that a column of a view stands for.
pub(super) struct ViewColumn {
    pub expr: Expr,
    tables: Mask,
    /// The columns of members that make this column NULL when one of them is NULL.
    nulls: HashSet<usize>,
}

/// An outer join that is not equivalent to an inner join.
#[derive(Default)]
pub(super) struct OuterJoin {
    on: Vec<Expr>,
    /// The tables for which the join may yield NULLs.
    pub weak: Mask,
    /// The join is on the weak side of another outer join.
    pub is_within_weak: bool,
    /// The join's condition may yield another result each time.
    pub varies: bool,
    /// NULL in some column of the strong side makes the join's condition false.
    pub rejects_strong: bool,
    /// The columns of the strong side that the join's condition names.
    pub strong: Vec<usize>,
}

/// Two expressions that are equal in all rows, or in the rows that meet the condition of the outer
/// join at the position `join`.
pub(super) struct Equal {
    pub join: Option<usize>,
    pub left: Expr,
    pub right: Expr,
}

/// The tables of a query and what holds for their rows.
#[derive(Default)]
pub(super) struct Rows {
    pub members: Vec<Member>,
    views: Vec<View>,
    pub outer_joins: Vec<OuterJoin>,
    /// The conjuncts of WHERE and of the conditions of inner joins.
    filter: Vec<Expr>,
    pub equal: Vec<Equal>,
    /// The columns whose NULLs the conditions reject.
    pub not_null: HashSet<usize>,
    /// The numbers of the subqueries whose values are constants.
    pub constants: Vec<usize>,
}

/// What replaces a table of FROM in the tree, and the conditions that hold for it.
type Planted = (JoinTree, Vec<Expr>);

impl Rows {
    /// Returns the rows of a query. The query's own slots stay the same.
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

    /// Notes what the conditions imply.
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

    /// Notes what these conditions imply: for the outer join at the position `join`, which has
    /// these weak tables, or for all rows.
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

    /// Adds the tables of a query, whose slots are moved by `offset`, and those of the queries that
    /// are joined with it. `next` is the first free slot. `None` if the query has no tables.
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

    /// Adds the tables of a query that is joined. `given` are the values of its arguments. If it is
    /// a derived table or a view, `slots` are its own, and its columns are added too.
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

    /// Joins the tables of subqueries in conditions with IN or EXISTS. Their conditions, and the
    /// equality that IN demands, hold for each row.
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
                // The collation of the comparison makes no difference to what follows from it.
                found.push(equality(operand.clone(), output, collation::UTF8MB4_0900_AI_CI));
            }
        }
        conditions.append(&mut found);
    }

    /// Notes the conditions of a tree's joins. The conditions of an inner join hold in the outer
    /// join around it (`within`), or for all rows. An outer join whose NULLs are rejected is an
    /// inner join.
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

    /// Returns the columns of members that make the conditions false when one of them is NULL.
    fn rejected(&self, conditions: &[Expr]) -> HashSet<usize> {
        self.bottoms(conditions.iter().flat_map(rejected_slots).collect())
    }

    /// Returns the columns of members that make one of these columns NULL when they are NULL.
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

    /// Returns what a column of a view stands for, and whether an outer join may yield NULL for it.
    pub fn view_column_at(&self, slot: usize) -> Option<(&ViewColumn, bool)> {
        let view = self.views.iter().find(|view| view.slots.contains(&slot))?;
        Some((&view.columns[slot - view.slots.start], view.is_weak))
    }

    /// Follows a slot through columns of views to the column that it finally stands for.
    pub fn canonical(&self, slot: usize) -> usize {
        match self.view_column_at(slot) {
            Some((ViewColumn { expr: Expr { node: Node::Slot(behind), .. }, .. }, _)) => {
                self.canonical(*behind)
            }
            _ => slot,
        }
    }

    /// Returns the position of the member that has the column at this slot.
    pub fn member_of(&self, slot: usize) -> Option<usize> {
        self.members.iter().position(|member| (member.base..member.base + member.columns).contains(&slot))
    }

    /// Returns the members that a column is computed from.
    pub fn tables_of(&self, slot: usize) -> Mask {
        match self.view_column_at(slot) {
            Some((column, _)) => column.tables,
            None => self.member_of(slot).map_or(Mask::NONE, Mask::of),
        }
    }
}

impl ViewColumn {
    /// Reports whether NULL in some column of a table makes the column NULL.
    pub fn is_null_of_null(&self) -> bool {
        !self.nulls.is_empty()
    }
}

/// Rewrites an expression for the query around: `offset` is added to its slots, and `args` replace
/// its arguments. An `offset` of 0 means the query that is checked itself. Its arguments are
/// unknown and stay as they are. In other queries, which have been checked before, a user variable
/// becomes a constant, because MySQL takes it for one.
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

/// Does what [`placed`] does for the conditions of a tree. The positions of its tables stay the
/// same.
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

/// Returns the tree with each table replaced, and the conditions that hold for the rows of the
/// whole tree.
fn replanted(tree: JoinTree, planted: &mut [Option<Planted>]) -> Planted {
    match tree {
        JoinTree::Table(at) => planted[at].take().expect("a table stands once in FROM"),
        JoinTree::Join { joining, left, right, mut on } => {
            let (left, mut conditions) = replanted(*left, planted);
            let (right, of_right) = replanted(*right, planted);
            match joining {
                Joining::Inner | Joining::Straight => conditions.extend(of_right),
                // The row on the left is kept when no row on the right meets the conditions.
                Joining::Outer | Joining::Semi | Joining::Anti => on.extend(of_right),
            }
            (JoinTree::Join { joining, left: Box::new(left), right: Box::new(right), on }, conditions)
        }
    }
}

/// Returns the subquery that must have a matching row for a condition to hold, and the operands
/// that its columns must equal.
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
