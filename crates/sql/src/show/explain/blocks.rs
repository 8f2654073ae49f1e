//! The query blocks of a statement, with their tables in the order in which EXPLAIN shows them.
//!
//! As in MySQL, a block is numbered when it is met, from left to right: in the select list, then in
//! FROM, then in the other clauses. The block's own tables are shown first, followed by the blocks
//! within it, the last one first. MySQL numbers blocks before it merges some of them into others.
//! Here a merged block has no number, and those behind it have lower numbers than in MySQL.

use crate::ast::SetOperator;
use crate::expr::{Expr, Node, SubqueryCall};
use crate::plan::{QueryBody, QueryPlan, SelectPlan, Source, SubPlan, TableStep};
use engine::Table;
use std::collections::HashMap;

/// A part of a statement that EXPLAIN shows.
pub(crate) enum Part<'p> {
    /// The table that an INSERT, REPLACE or LOAD DATA fills, with the word for the kind.
    Filled(&'static str, &'p Table),
    Query(&'p QueryPlan),
    /// The tables that an UPDATE or DELETE reads, with the word for the kind.
    Changed(&'static str, &'p [TableStep]),
}

/// A row of EXPLAIN.
pub(super) struct Line<'p> {
    pub id: u32,
    pub kind: &'static str,
    pub what: What<'p>,
}

/// The subject of a row of EXPLAIN.
pub(super) enum What<'p> {
    Step(Step<'p>),
    /// The temporary table that collects the rows of a UNION, INTERSECT or EXCEPT.
    Result {
        operator: SetOperator,
        blocks: Vec<u32>,
        sorted: bool,
    },
    Filled(&'p Table),
    /// A block that reads no table, with the reason.
    Nothing(&'static str),
}

/// A table of a block.
pub(super) struct Step<'p> {
    pub step: &'p TableStep,
    /// All tables of the block.
    pub block: &'p [TableStep],
    /// The number of the block that computes the table's rows.
    pub computed_by: Option<u32>,
    /// Whether the table stands for the rows that a recursive common table expression has found
    /// last.
    pub is_recursive: bool,
    /// The notes on how the rows of the block are processed. They are shown at its first table.
    pub notes: Vec<&'static str>,
}

/// Returns the rows of EXPLAIN for a statement.
pub(super) fn lines<'p>(parts: &[Part<'p>], subqueries: &'p [SubPlan]) -> Vec<Line<'p>> {
    let mut blocks = Blocks { subqueries, met: 0, numbers: HashMap::new(), own_rows: Vec::new() };
    let mut lines = Vec::new();
    for part in parts {
        match part {
            Part::Filled(kind, table) => lines.push(Line { id: 1, kind, what: What::Filled(table) }),
            Part::Query(plan) => lines.extend(blocks.query(plan, "SIMPLE").1),
            Part::Changed(kind, steps) => lines.extend(blocks.changed(kind, steps)),
        }
    }
    if let [Line { what: What::Filled(_), .. }, Line { id: 1, what: What::Nothing(why), .. }, ..] = &lines[..]
    {
        let why = *why;
        // A query without tables has no row of its own. Whatever else its block does not read
        // tables for, stands in the row of the table that is filled.
        if why != NO_TABLES {
            lines[0].what = What::Nothing(why);
        }
        lines.remove(1);
    }
    lines
}

const NO_TABLES: &str = "No tables used";

/// Returns why a block has no rows at all, if that is known before it runs.
fn known_empty(select: &SelectPlan) -> Option<&'static str> {
    let is_false = |condition: &Expr| match &condition.node {
        Node::Constant(value) => value.is_null() || value.to_integer() == Some(0),
        _ => false,
    };
    if select.limit.as_ref().is_some_and(|limit| is_false(&limit.count)) {
        return Some("Zero limit");
    }
    if select.preconditions.iter().any(is_false) {
        return Some("Impossible WHERE");
    }
    select.having.as_ref().is_some_and(is_false).then_some("Impossible HAVING")
}

/// A query within a block.
enum Child<'p> {
    Derived(&'p QueryPlan),
    Asked(&'p SubqueryCall),
    /// A table in FROM that is one of the statement's subqueries.
    Table(&'p SubqueryCall),
}

struct Blocks<'p> {
    subqueries: &'p [SubPlan],
    /// The number of blocks that have a number.
    met: u32,
    /// The subqueries that have been met, each with the number of its first block.
    numbers: HashMap<usize, u32>,
    /// The subqueries that stand for the rows of recursive common table expressions.
    own_rows: Vec<usize>,
}

impl<'p> Blocks<'p> {
    fn next(&mut self) -> u32 {
        self.met += 1;
        self.met
    }

    /// Returns the number of a query's first block, and the rows of all its blocks.
    fn query(&mut self, plan: &'p QueryPlan, kind: &'static str) -> (u32, Vec<Line<'p>>) {
        match &plan.body {
            QueryBody::Select(select) => self.block(select, kind),
            QueryBody::Values { .. } => {
                let id = self.next();
                (id, vec![Line { id, kind, what: What::Nothing(NO_TABLES) }])
            }
            QueryBody::Union { branches, .. } if branches.len() == 1 => self.query(&branches[0].plan, kind),
            QueryBody::Union { branches, order, .. } => {
                let (mut blocks, mut lines, mut together) = (Vec::new(), Vec::new(), None);
                for (at, branch) in branches.iter().enumerate() {
                    let (id, of_branch) = self.query(&branch.plan, branch_kind(at, branch.operator, kind));
                    blocks.push(id);
                    lines.extend(of_branch);
                    if branch.distinct || branch.operator != SetOperator::Union {
                        together = Some((lines.len(), blocks.clone(), branch.operator));
                    }
                }
                let (first, sorted) = (blocks[0], !order.is_empty());
                if sorted {
                    together = Some((lines.len(), blocks, SetOperator::Union));
                }
                if let Some((at, blocks, operator)) = together {
                    let what = What::Result { operator, blocks, sorted };
                    lines.insert(at, Line { id: self.next(), kind: result_kind(operator), what });
                }
                (first, lines)
            }
            QueryBody::Recursive(recursion) => {
                self.own_rows.push(recursion.own_rows);
                let (id, mut lines) = self.query(&recursion.seed, kind);
                for block in &recursion.blocks {
                    lines.extend(self.query(block, branch_kind(1, SetOperator::Union, kind)).1);
                }
                (id, lines)
            }
            QueryBody::Windowed(windowed) => self.query(&windowed.input, kind),
            QueryBody::Rolled(rolled) => self.query(&rolled.input, kind),
        }
    }

    fn block(&mut self, select: &'p SelectPlan, kind: &'static str) -> (u32, Vec<Line<'p>>) {
        let id = self.next();
        let mut notes = Vec::new();
        let (mut children, mut base) = (Vec::new(), select);
        in_outputs(base, &mut children);
        while let Some(below) = layer_below(base) {
            note(&mut notes, base);
            note_once(&mut notes, "Using filesort");
            base = below;
            in_outputs(base, &mut children);
        }
        note(&mut notes, base);
        in_tables(&base.tables, &mut children);
        in_conditions(base, &mut children);
        let (computed_by, within) = self.children(children);
        let kind = if kind == "SIMPLE" && !within.is_empty() { "PRIMARY" } else { kind };
        let mut lines = match (&base.index_ends, &base.tables[..]) {
            _ if let Some(why) = known_empty(select).or_else(|| known_empty(base)) => {
                vec![Line { id, kind, what: What::Nothing(why) }]
            }
            (Some(_), _) => vec![Line { id, kind, what: What::Nothing("Select tables optimized away") }],
            (None, []) => vec![Line { id, kind, what: What::Nothing(NO_TABLES) }],
            (None, steps) => self.steps(id, steps, |_| kind, &computed_by, notes),
        };
        lines.extend(within);
        (id, lines)
    }

    /// Returns the rows for the tables of an UPDATE or DELETE, and for all subqueries that are not
    /// within others.
    fn changed(&mut self, kind: &'static str, steps: &'p [TableStep]) -> Vec<Line<'p>> {
        let id = self.next();
        let mut children = Vec::new();
        in_tables(steps, &mut children);
        let (computed_by, mut within) = self.children(children);
        let is_joined = steps.len() > 1;
        let of_step = |step: &TableStep| if is_joined && step.key_slot.is_none() { "PRIMARY" } else { kind };
        let mut lines = self.steps(id, steps, of_step, &computed_by, Vec::new());
        for (number, subquery) in self.subqueries.iter().enumerate().rev() {
            // A subquery within another one has a lower number, and has been met with it.
            if !subquery.is_joined && !self.numbers.contains_key(&number) {
                within.extend(self.subquery(number, false, false));
            }
        }
        lines.extend(within);
        lines
    }

    fn steps(
        &self,
        id: u32,
        block: &'p [TableStep],
        kind: impl Fn(&TableStep) -> &'static str,
        computed_by: &HashMap<*const QueryPlan, u32>,
        mut notes: Vec<&'static str>,
    ) -> Vec<Line<'p>> {
        let line = |step: &'p TableStep| {
            let (computed_by, is_recursive) = match &step.source {
                Source::Derived(plan) => (computed_by.get(&std::ptr::from_ref(&**plan)).copied(), false),
                Source::Subquery(call) => {
                    (self.numbers.get(&call.number).copied(), self.own_rows.contains(&call.number))
                }
                _ => (None, false),
            };
            let notes = std::mem::take(&mut notes);
            let what = What::Step(Step { step, block, computed_by, is_recursive, notes });
            Line { id, kind: kind(step), what }
        };
        block.iter().map(line).collect()
    }

    /// Returns the numbers of the derived tables, and the rows of all queries within a block.
    fn children(&mut self, children: Vec<Child<'p>>) -> (HashMap<*const QueryPlan, u32>, Vec<Line<'p>>) {
        let (mut numbers, mut parts) = (HashMap::new(), Vec::new());
        for child in children {
            match child {
                Child::Derived(plan) => {
                    let (id, lines) = self.query(plan, "DERIVED");
                    numbers.insert(std::ptr::from_ref(plan), id);
                    parts.push(lines);
                }
                Child::Asked(call) => parts.push(self.subquery(call.number, !call.args.is_empty(), false)),
                Child::Table(call) => parts.push(self.subquery(call.number, !call.args.is_empty(), true)),
            }
        }
        (numbers, parts.into_iter().rev().flatten().collect())
    }

    fn subquery(&mut self, number: usize, is_dependent: bool, is_table: bool) -> Vec<Line<'p>> {
        if self.numbers.contains_key(&number) || self.own_rows.contains(&number) {
            return Vec::new();
        }
        let subquery = &self.subqueries[number];
        let kind = match (is_table, is_dependent) {
            (true, false) => "DERIVED",
            (true, true) => "DEPENDENT DERIVED",
            (false, true) => "DEPENDENT SUBQUERY",
            (false, false) if subquery.varies => "UNCACHEABLE SUBQUERY",
            (false, false) => "SUBQUERY",
        };
        let (id, lines) = self.query(&subquery.plan, kind);
        self.numbers.insert(number, id);
        lines
    }
}

/// Returns the word for a branch of a set operation that has the word `whole`.
fn branch_kind(at: usize, operator: SetOperator, whole: &'static str) -> &'static str {
    match (at, operator, whole.starts_with("DEPENDENT")) {
        (0, _, _) if whole == "SIMPLE" => "PRIMARY",
        (0, _, _) => whole,
        (_, SetOperator::Union, false) => "UNION",
        (_, SetOperator::Union, true) => "DEPENDENT UNION",
        (_, SetOperator::Intersect, false) => "INTERSECT",
        (_, SetOperator::Intersect, true) => "DEPENDENT INTERSECT",
        (_, SetOperator::Except, false) => "EXCEPT",
        (_, SetOperator::Except, true) => "DEPENDENT EXCEPT",
    }
}

fn result_kind(operator: SetOperator) -> &'static str {
    match operator {
        SetOperator::Union => "UNION RESULT",
        SetOperator::Intersect => "INTERSECT RESULT",
        SetOperator::Except => "EXCEPT RESULT",
    }
}

/// Returns the SELECT whose rows a stage of window functions or ROLLUP takes.
fn layer_below(select: &SelectPlan) -> Option<&SelectPlan> {
    let [TableStep { source: Source::Derived(plan), .. }] = &select.tables[..] else { return None };
    let input = match &plan.body {
        QueryBody::Windowed(windowed) => &windowed.input,
        QueryBody::Rolled(rolled) => &rolled.input,
        _ => return None,
    };
    match &input.body {
        QueryBody::Select(select) => Some(select),
        _ => None,
    }
}

fn note_once(notes: &mut Vec<&'static str>, text: &'static str) {
    if !notes.contains(&text) {
        notes.push(text);
    }
}

/// Adds the notes on how the rows of a block are processed.
fn note(notes: &mut Vec<&'static str>, select: &SelectPlan) {
    let has_groups = select.grouping.as_ref().is_some_and(|grouping| !grouping.keys.is_empty());
    let is_one_row = select.grouping.is_some() && !has_groups;
    let keeps_groups = has_groups && !select.grouping.as_ref().is_some_and(|grouping| grouping.is_in_order);
    if keeps_groups || select.distinct && !is_one_row {
        note_once(notes, "Using temporary");
    }
    if !select.order.is_empty() && !select.ordered_by_access && !is_one_row {
        note_once(notes, "Using filesort");
    }
}

fn in_expr<'p>(expr: &'p Expr, found: &mut Vec<Child<'p>>) {
    let mut exprs = vec![expr];
    while let Some(expr) = exprs.pop() {
        match &expr.node {
            Node::Subquery { call, .. } => found.push(Child::Asked(call)),
            Node::Quantified(asked) => found.push(Child::Asked(&asked.call)),
            Node::RowSubquery(asked) => found.push(Child::Asked(&asked.call)),
            _ => {}
        }
        let first = exprs.len();
        expr.children(&mut exprs);
        exprs[first..].reverse();
    }
}

fn in_outputs<'p>(select: &'p SelectPlan, found: &mut Vec<Child<'p>>) {
    select.outputs.iter().for_each(|output| in_expr(output, found));
}

/// Collects the queries in the tables, from left to right, and then those in the tables'
/// conditions.
fn in_tables<'p>(tables: &'p [TableStep], found: &mut Vec<Child<'p>>) {
    let mut steps: Vec<&TableStep> = tables.iter().collect();
    steps.sort_by_key(|step| step.base);
    for step in &steps {
        match &step.source {
            Source::Derived(plan) => found.push(Child::Derived(plan)),
            Source::Subquery(call) => found.push(Child::Table(call)),
            Source::Stored { .. } | Source::Virtual { .. } | Source::JsonTable(_) => {}
        }
    }
    for step in steps {
        step.all_conditions().for_each(|condition| in_expr(condition, found));
    }
}

fn in_conditions<'p>(select: &'p SelectPlan, found: &mut Vec<Child<'p>>) {
    let grouping = select.grouping.iter();
    let groups = grouping.flat_map(|grouping| {
        grouping.keys.iter().chain(grouping.aggregates.iter().flat_map(|aggregate| &aggregate.args))
    });
    let order = select.order.iter().map(|key| &key.expr);
    let all = select.preconditions.iter().chain(groups).chain(&select.having).chain(order);
    all.for_each(|expr| in_expr(expr, found));
}
