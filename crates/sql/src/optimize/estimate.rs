//! Estimates of the number of rows, and of the share of them that meets conditions.
//!
//! All figures are guesses. A wrong one makes a plan slow, but never a result wrong.

use crate::ast::BinaryOp;
use crate::expr::{Expr, Node};
use crate::plan::{Access, KeyCondition, QueryBody, QueryPlan, Source};
use engine::{Engine, IndexRef, Table, TableStatistics};
use std::sync::Arc;

/// The number of rows assumed for a source of which nothing is known.
const UNKNOWN_ROWS: f64 = 1000.0;

/// The most rows that are expected of a table. A derived table that joins many tables without
/// conditions could have more than can be computed with.
const MOST_ROWS: f64 = 1e20;

/// The share of a table's rows assumed to have one value in a column with which no index begins.
const SHARE_OF_ONE_VALUE: f64 = 0.1;

/// The share of the rows assumed to meet a lower or an upper bound.
const SHARE_OF_BOUND: f64 = 1.0 / 3.0;

/// The share of the rows assumed to be found by a full-text search or a condition on geometries.
const SHARE_OF_SEARCH: f64 = 1.0 / 1000.0;

/// The share of the rows assumed to lie between two bounds.
const SHARE_OF_RANGE: f64 = 1.0 / 9.0;

/// What is known about a table's size.
#[derive(Debug, Clone)]
pub(super) struct Size {
    pub rows: f64,
    /// The statistics of a stored table. `None` for other sources and if they cannot be read.
    statistics: Option<Arc<TableStatistics>>,
}

impl Size {
    /// Returns the size of a source. If the table is damaged, the error is ignored here, because
    /// the execution reports it when it reads the table.
    pub fn of(engine: &Engine, source: &Source) -> Size {
        let statistics = match source {
            Source::Stored { table, .. } => TableStatistics::of(table).ok(),
            _ => None,
        };
        let rows = match &statistics {
            Some(statistics) => statistics.rows as f64,
            None => rows_of(engine, source),
        };
        // A table that is empty now may have a row when the plan runs.
        let rows = rows.clamp(1.0, MOST_ROWS);
        assert!(rows.is_finite(), "a table has a number of rows");
        Size { rows, statistics }
    }

    /// Returns the images of rows that the statistics keep. There are none for other sources.
    pub fn kept_rows(&self) -> &[Box<[u8]>] {
        self.statistics.as_ref().map_or(&[], |statistics| &statistics.kept_rows)
    }

    /// Returns the number of different values of the first `parts` columns of an index.
    fn distinct(&self, table: &Table, index: IndexRef, parts: usize) -> f64 {
        let known = self.statistics.as_ref().and_then(|statistics| statistics.distinct(index, parts));
        known.unwrap_or_else(|| guessed_distinct(table, self.rows, index, parts)).clamp(1.0, self.rows)
    }

    /// Returns the number of different values of a column. `None` if no index begins with it.
    pub fn distinct_of_column(&self, table: &Table, column: usize) -> Option<f64> {
        let secondary = (0..table.def.indexes.len()).map(IndexRef::Secondary);
        let starts =
            |index: &IndexRef| table.index_columns(*index).first().is_some_and(|part| part.column == column);
        let known = std::iter::once(IndexRef::Primary).chain(secondary).filter(starts);
        known.map(|index| self.distinct(table, index, 1)).reduce(f64::max)
    }

    /// Returns the number of different values assumed for a column with which no index begins.
    pub fn guessed_distinct_of_column(&self) -> f64 {
        (self.rows * SHARE_OF_ONE_VALUE).max(1.0)
    }

    /// Returns the number of rows that an access finds in one round, and the number of ranges that
    /// it reads.
    pub fn found(&self, table: &Table, access: &Access) -> (f64, f64) {
        if access.alternatives.is_empty() {
            return (self.rows, 1.0);
        }
        let (mut found, mut ranges) = (0.0, 0.0);
        for condition in &access.alternatives {
            let (of_condition, places) = self.found_by(table, access.index, condition);
            found += of_condition;
            ranges += places;
        }
        assert!(found >= 0.0 && ranges >= 0.0, "{found} rows in {ranges} ranges");
        (found.min(self.rows), ranges)
    }

    fn found_by(&self, table: &Table, index: IndexRef, condition: &KeyCondition) -> (f64, f64) {
        if condition.search.is_some() || condition.near.is_some() {
            return ((self.rows * SHARE_OF_SEARCH).max(1.0), 1.0);
        }
        let equal = condition.equals.len();
        let of_prefix = self.rows / self.distinct(table, index, equal);
        if let Some(list) = &condition.list {
            let one = self.rows / self.distinct(table, index, equal + 1);
            let places = list.len() as f64;
            return ((one * places).min(of_prefix), places);
        }
        let share = match (&condition.low, &condition.high) {
            (None, None) => 1.0,
            (Some(_), Some(_)) => SHARE_OF_RANGE,
            _ => SHARE_OF_BOUND,
        };
        (of_prefix * share, 1.0)
    }
}

fn rows_of(engine: &Engine, source: &Source) -> f64 {
    match source {
        Source::Stored { table, .. } => engine.table_figures(table).rows as f64,
        Source::Virtual { .. } | Source::Subquery(_) | Source::JsonTable(_) => UNKNOWN_ROWS,
        Source::Derived(plan) => rows_of_query(engine, plan),
    }
}

fn rows_of_query(engine: &Engine, plan: &QueryPlan) -> f64 {
    let select = match &plan.body {
        QueryBody::Select(select) => select,
        QueryBody::Union { branches, .. } => {
            return branches.iter().map(|branch| rows_of_query(engine, &branch.plan)).sum();
        }
        QueryBody::Values { rows, .. } => return rows.len() as f64,
        QueryBody::Windowed(windowed) => return rows_of_query(engine, &windowed.input),
        QueryBody::Rolled(rolled) => return rows_of_query(engine, &rolled.input),
        QueryBody::Recursive(_) => return UNKNOWN_ROWS,
    };
    let rows = match &select.tables[..] {
        [] => 1.0,
        [step] if step.estimate.is_none() => {
            let shares = step.conditions.iter().map(share);
            rows_of(engine, &step.source) * shares.product::<f64>()
        }
        steps => steps.iter().filter_map(|step| step.estimate).next_back().map_or(UNKNOWN_ROWS, |e| e.rows),
    };
    match &select.grouping {
        Some(grouping) if grouping.keys.is_empty() => 1.0,
        // Most groups have several rows.
        Some(_) => (rows / 4.0).max(1.0),
        None => rows.max(1.0),
    }
}

/// Returns the share of the rows that meets a condition if nothing is known about its columns.
pub(super) fn share(condition: &Expr) -> f64 {
    match &condition.node {
        Node::And(operands) => operands.iter().map(share).product(),
        Node::Or(operands) => operands.iter().map(share).sum::<f64>().min(1.0),
        Node::Not(operand) => 1.0 - share(operand),
        Node::Compare { op: BinaryOp::Equal | BinaryOp::NullSafeEqual, .. } => SHARE_OF_ONE_VALUE,
        Node::Compare { op: BinaryOp::NotEqual, .. } => 1.0 - SHARE_OF_ONE_VALUE,
        Node::Compare { .. } => SHARE_OF_BOUND,
        Node::Between { negated, .. } => complement(*negated, SHARE_OF_RANGE),
        Node::In { negated, list, .. } => {
            complement(*negated, (SHARE_OF_ONE_VALUE * list.len() as f64).min(0.5))
        }
        Node::Like { negated, .. } => complement(*negated, SHARE_OF_RANGE),
        Node::IsNull { negated, .. } => complement(*negated, SHARE_OF_ONE_VALUE),
        Node::Constant(_) | Node::Slot(_) => 1.0,
        _ => 0.5,
    }
}

fn complement(negated: bool, share: f64) -> f64 {
    if negated { 1.0 - share } else { share }
}

/// Estimates what [`Size::distinct`] returns, for an index without statistics: each further column
/// has ten times as many values.
fn guessed_distinct(table: &Table, rows: f64, index: IndexRef, parts: usize) -> f64 {
    let columns = table.index_columns(index).len();
    let is_unique = match index {
        IndexRef::Primary => table.has_primary_key(),
        index => table.is_unique(index),
    };
    if parts == 0 {
        return 1.0;
    }
    let fewer = columns.saturating_sub(parts) + usize::from(!is_unique);
    rows / 10f64.powi(fewer as i32)
}
