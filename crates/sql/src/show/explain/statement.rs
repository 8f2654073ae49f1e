//! Turns a plan into a tree of operations.

use super::operation::{Met, Operation, Printed, constant_rows, operation, with_rows};
use super::select::Shown;
use crate::ast::SetOperator;
use crate::expr::Expr;
use crate::plan::{Branch, QueryBody, QueryPlan, SubPlan, TableStep};
use crate::stopwatch::{Measures, Operator, Timing};
use std::cell::RefCell;

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

/// Returns the operations of a statement. `measures` is what has been measured of it.
pub(crate) fn operations(
    explained: &Explained<'_>,
    subqueries: &[SubPlan],
    measures: Option<&Measures>,
) -> Operations {
    let (met, own_rows): (Met, _) = (RefCell::default(), RefCell::default());
    let printed = Printed { subqueries, measures, met: &met, own_rows: &own_rows, query };
    let (query_type, own) = statement(&printed, explained);
    let (mut shown, mut at) = (Vec::new(), 0);
    while let Some((number, arguments)) = { met.borrow().get(at).cloned() } {
        let dependent = if arguments.is_empty() { "run only once" } else { "dependent" };
        let text = format!("Select #{} (subquery; {dependent})", number + 2);
        let of_subquery = query(&printed, &subqueries[number].plan, &arguments);
        shown.push(of_subquery.below("subquery", text));
        at += 1;
    }
    Operations { query_type, own, subqueries: shown }
}

fn statement(printed: &Printed<'_>, explained: &Explained<'_>) -> (&'static str, Operation) {
    match explained {
        Explained::Query(plan) => ("select", query(printed, plan, &[])),
        Explained::OneTable(query_type) => (query_type, Operation::not_executable()),
        Explained::Filled { is_replace, table, query: of } => {
            let (query_type, word) = if *is_replace { ("replace", "Replace") } else { ("insert", "Insert") };
            let input = match of {
                Some(plan) => query(printed, plan, &[]),
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
            let shown = Shown { steps, slots: *slots, grouping: None, printed, arguments: &[] };
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
fn query(printed: &Printed<'_>, plan: &QueryPlan, arguments: &[String]) -> Operation {
    let input = |plan: &QueryPlan| query(printed, plan, arguments);
    let whole = printed.timing(plan, Operator::Whole);
    match &plan.body {
        QueryBody::Select(select) => {
            let shown = Shown {
                steps: &select.tables,
                slots: select.slots,
                grouping: select.grouping.as_ref(),
                printed,
                arguments,
            };
            shown.select(select, whole)
        }
        QueryBody::Union { branches, order, limit } => {
            let inputs = branches.iter().map(|branch| input(&branch.plan)).collect();
            let actual = with_rows(whole, printed.timing(&branches[..], Operator::Ordered));
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
            let sorted = sorted.measured(printed.timing(&**windowed, Operator::Ordered));
            sorted.below("window", "Window aggregate with buffering").measured(whole)
        }
        QueryBody::Rolled(rolled) => {
            let sorted = input(&rolled.input).below("sort", "Sort");
            let sorted = sorted.measured(printed.timing(&**rolled, Operator::Ordered));
            sorted.below("aggregate", "Group aggregate with rollup").measured(whole)
        }
        QueryBody::Recursive(recursion) => {
            printed.own_rows.borrow_mut().push(recursion.own_rows);
            let blocks = recursion
                .blocks
                .iter()
                .map(|block| input(block).below("recursive", "Repeat until convergence"));
            let inputs = std::iter::once(input(&recursion.seed)).chain(blocks).collect();
            operation("recursive", "Materialize recursive CTE", inputs).measured(whole)
        }
    }
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
