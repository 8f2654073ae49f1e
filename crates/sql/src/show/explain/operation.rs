//! Turns a plan into a tree of operations, each with the operations whose rows it takes.

use super::expression::Names;
use super::select::Shown;
use crate::ast::SetOperator;
use crate::expr::Expr;
use crate::plan::{Branch, QueryBody, QueryPlan, SubPlan, TableStep};
use crate::stopwatch::{Measures, Operator, Timing};
use std::cell::RefCell;

/// The optimizer's estimate for an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub cost: f64,
    pub rows: f64,
}

/// An operation, named as in MySQL.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(super) text: String,
    /// The operation's `access_type` in the JSON format, if it has one.
    pub(super) kind: Option<&'static str>,
    pub(super) expected: Option<Expected>,
    /// What EXPLAIN ANALYZE has measured. `None` means that it does not measure the operation.
    pub(super) actual: Option<Timing>,
    pub(super) inputs: Vec<Operation>,
}

pub(super) fn operation(kind: &'static str, text: impl Into<String>, inputs: Vec<Operation>) -> Operation {
    Operation { text: text.into(), kind: Some(kind), expected: None, actual: None, inputs }
}

impl Operation {
    /// Returns an operation that takes the rows of this one.
    pub(super) fn below(self, kind: &'static str, text: impl Into<String>) -> Operation {
        operation(kind, text, vec![self])
    }

    pub(super) fn filtered(
        self,
        names: &Names<'_>,
        conditions: &[&Expr],
        actual: Option<Timing>,
    ) -> Operation {
        match conditions {
            [] => self,
            _ => {
                let expected = self.expected;
                let text = format!("Filter: {}", names.all(conditions));
                Operation { expected, actual, ..self.below("filter", text) }
            }
        }
    }

    pub(super) fn expecting(self, expected: Option<Expected>) -> Operation {
        Operation { expected, ..self }
    }

    pub(super) fn measured(self, actual: Option<Timing>) -> Operation {
        Operation { actual, ..self }
    }

    /// Returns the operation of a statement that changes rows without the row-by-row executor.
    fn not_executable() -> Operation {
        let text = "<not executable by iterator executor>".to_owned();
        Operation { text, kind: None, expected: None, actual: None, inputs: Vec::new() }
    }
}

/// What a statement does with the rows that it reads.
pub(crate) enum Explained<'p> {
    Query(&'p QueryPlan),
    /// INSERT or REPLACE fills the table with this name, with the rows of the query if there is
    /// one.
    Filled {
        is_replace: bool,
        table: &'p str,
        query: Option<&'p QueryPlan>,
    },
    /// UPDATE or DELETE changes the named tables of a join. A table is *immediate* if its rows are
    /// changed as they are found.
    Changed {
        is_delete: bool,
        tables: Vec<(&'p str, bool)>,
        steps: &'p [TableStep],
        slots: usize,
        preconditions: &'p [Expr],
    },
    /// UPDATE or DELETE changes one table, or LOAD fills one.
    OneTable(&'static str),
}

/// The operations of a statement.
pub(crate) struct Operations {
    /// The statement's kind in the JSON format.
    pub(super) query_type: &'static str,
    pub(super) own: Operation,
    pub(super) subqueries: Vec<Operation>,
}

/// The subqueries that have been met, with the texts of their arguments.
type Met = RefCell<Vec<(usize, Vec<String>)>>;

/// A statement that is printed.
#[derive(Clone, Copy)]
pub(super) struct Printed<'p> {
    pub subqueries: &'p [SubPlan],
    /// What was measured, if the statement has run.
    pub measures: Option<&'p Measures>,
    pub met: &'p Met,
    /// The subqueries that stand for the rows that a recursive query has found last.
    pub own_rows: &'p RefCell<Vec<usize>>,
}

/// Returns the operations of a statement. `measures` is what has been measured of it.
pub(crate) fn operations(
    explained: &Explained<'_>,
    subqueries: &[SubPlan],
    measures: Option<&Measures>,
) -> Operations {
    let (met, own_rows) = (RefCell::default(), RefCell::default());
    let printed = Printed { subqueries, measures, met: &met, own_rows: &own_rows };
    let (query_type, own) = printed.statement(explained);
    let (mut shown, mut at) = (Vec::new(), 0);
    while let Some((number, arguments)) = { met.borrow().get(at).cloned() } {
        let dependent = if arguments.is_empty() { "run only once" } else { "dependent" };
        let text = format!("Select #{} (subquery; {dependent})", number + 2);
        let of_subquery = printed.query(&subqueries[number].plan, &arguments);
        shown.push(of_subquery.below("subquery", text));
        at += 1;
    }
    Operations { query_type, own, subqueries: shown }
}

/// Returns the figures of an operation that yields `rows` rows in the time in which another one
/// does its work.
pub(super) fn with_rows(of: Option<Timing>, rows: Option<Timing>) -> Option<Timing> {
    let (of, rows) = (of?, rows?.rows);
    Some(Timing { rows, ..of })
}

impl Printed<'_> {
    /// Returns what was measured of an operation of a part of the plan.
    pub fn timing<T: ?Sized>(&self, part: &T, operator: Operator) -> Option<Timing> {
        self.measures.map(|measures| measures.of(part, operator))
    }

    fn statement(&self, explained: &Explained<'_>) -> (&'static str, Operation) {
        match explained {
            Explained::Query(plan) => ("select", self.query(plan, &[])),
            Explained::OneTable(query_type) => (query_type, Operation::not_executable()),
            Explained::Filled { is_replace, table, query } => {
                let (query_type, word) =
                    if *is_replace { ("replace", "Replace") } else { ("insert", "Insert") };
                let input = match query {
                    Some(plan) => self.query(plan, &[]),
                    None => constant_rows(),
                };
                let own = input.below("insert", format!("{word} into {table}"));
                (query_type, Operation { kind: None, ..own })
            }
            Explained::Changed { is_delete, tables, steps, slots, preconditions } => {
                let (query_type, words) =
                    if *is_delete { ("delete", "Delete from") } else { ("update", "Update") };
                let list = tables.iter().map(|(table, is_immediate)| {
                    format!("{table} ({})", if *is_immediate { "immediate" } else { "buffered" })
                });
                let text = format!("{words} {}", list.collect::<Vec<_>>().join(", "));
                let shown = Shown { steps, slots: *slots, grouping: None, printed: self, arguments: &[] };
                let joined = shown.whole_join(preconditions, None);
                let ran = joined.actual.map(|timing| Timing { rows: 0, first_ns: timing.all_ns, ..timing });
                let expected = joined.expected.filter(|_| *is_delete);
                let own = joined.below("update", text).expecting(expected).measured(ran);
                (query_type, Operation { kind: None, ..own })
            }
        }
    }

    /// Returns the operations of a query. `arguments` are the texts of its arguments, if it is a
    /// subquery.
    pub fn query(&self, plan: &QueryPlan, arguments: &[String]) -> Operation {
        let input = |plan: &QueryPlan| self.query(plan, arguments);
        let whole = self.timing(plan, Operator::Whole);
        match &plan.body {
            QueryBody::Select(select) => {
                let shown = Shown {
                    steps: &select.tables,
                    slots: select.slots,
                    grouping: select.grouping.as_ref(),
                    printed: self,
                    arguments,
                };
                shown.select(select, whole)
            }
            QueryBody::Union { branches, order, limit } => {
                let inputs = branches.iter().map(|branch| input(&branch.plan)).collect();
                let actual = with_rows(whole, self.timing(&branches[..], Operator::Ordered));
                let mut all = operation("union", set_operation(branches), inputs).measured(actual);
                if !order.is_empty() {
                    all = all.below("sort", "Sort").measured(actual);
                }
                if limit.is_some() {
                    all = all.below("limit", "Limit").measured(whole);
                }
                all
            }
            QueryBody::Values { .. } => constant_rows().measured(whole),
            QueryBody::Windowed(windowed) => {
                let sorted = input(&windowed.input).below("sort", "Sort");
                let sorted = sorted.measured(self.timing(&**windowed, Operator::Ordered));
                sorted.below("window", "Window aggregate with buffering").measured(whole)
            }
            QueryBody::Rolled(rolled) => {
                let sorted = input(&rolled.input).below("sort", "Sort");
                let sorted = sorted.measured(self.timing(&**rolled, Operator::Ordered));
                sorted.below("aggregate", "Group aggregate with rollup").measured(whole)
            }
            QueryBody::Recursive(recursion) => {
                self.own_rows.borrow_mut().push(recursion.own_rows);
                let blocks = recursion
                    .blocks
                    .iter()
                    .map(|block| input(block).below("recursive", "Repeat until convergence"));
                let inputs = std::iter::once(input(&recursion.seed)).chain(blocks).collect();
                operation("recursive", "Materialize recursive CTE", inputs).measured(whole)
            }
        }
    }
}

/// Returns the operation of a query without tables.
pub(super) fn constant_rows() -> Operation {
    operation("rows_fetched_before_execution", "Rows fetched before execution", Vec::new())
}

fn set_operation(branches: &[Branch]) -> &'static str {
    let distinct = branches.iter().any(|branch| branch.distinct);
    let operator = branches.iter().map(|branch| branch.operator).rfind(|of| *of != SetOperator::Union);
    match (operator, distinct) {
        (None, false) => "Append",
        (None, true) => "Union materialize with deduplication",
        (Some(SetOperator::Intersect), false) => "Intersect all materialize",
        (Some(SetOperator::Intersect), true) => "Intersect materialize with deduplication",
        (Some(_), false) => "Except all materialize",
        (Some(_), true) => "Except materialize with deduplication",
    }
}
