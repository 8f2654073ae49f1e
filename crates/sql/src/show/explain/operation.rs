//! The operations of a plan, each with the operations whose rows it takes.

use super::expression::Names;
use crate::expr::Expr;
use crate::plan::{QueryPlan, SubPlan};
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
    pub(super) fn not_executable() -> Operation {
        let text = "<not executable by iterator executor>".to_owned();
        Operation { text, kind: None, expected: None, actual: None, inputs: Vec::new() }
    }
}

/// Returns the operations of a query, the texts of whose arguments are given if it is a subquery.
pub(super) type PrintQuery = fn(&Printed<'_>, &QueryPlan, &[String]) -> Operation;

/// The subqueries that have been met, with the texts of their arguments.
pub(super) type Met = RefCell<Vec<(usize, Vec<String>)>>;

/// A statement that is printed.
#[derive(Clone, Copy)]
pub(super) struct Printed<'p> {
    pub subqueries: &'p [SubPlan],
    /// What was measured, if the statement has run.
    pub measures: Option<&'p Measures>,
    pub met: &'p Met,
    /// The subqueries that stand for the rows that a recursive query has found last.
    pub own_rows: &'p RefCell<Vec<usize>>,
    /// Prints a query within another one.
    pub query: PrintQuery,
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
}

/// Returns the operation of a query without tables.
pub(super) fn constant_rows() -> Operation {
    operation("rows_fetched_before_execution", "Rows fetched before execution", Vec::new())
}
