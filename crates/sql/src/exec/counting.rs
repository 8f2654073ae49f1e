//! The `Select_*` status counters, which tell how the tables of SELECTs are read.

use crate::counters::Counters;
use crate::plan::{Access, SelectPlan, Source, TableStep};

/// How a table is read, as far as MySQL counts it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Whole,
    Range,
    /// By equalities, or not from a table at all. MySQL does not count that.
    Other,
}

fn reading(step: &TableStep) -> Reading {
    match &step.source {
        Source::Stored { access, .. } => reading_of(access),
        Source::Virtual { .. } | Source::Derived(_) | Source::JsonTable(_) => Reading::Whole,
        Source::Subquery(_) => Reading::Other,
    }
}

fn reading_of(access: &Access) -> Reading {
    match &access.alternatives[..] {
        [] => Reading::Whole,
        [only] if only.list.is_none() && only.low.is_none() && only.high.is_none() => Reading::Other,
        _ => Reading::Range,
    }
}

/// Counts how each table of a SELECT that begins is read.
pub(super) fn count_select(plan: &SelectPlan, counters: &Counters) {
    for (at, step) in plan.tables.iter().enumerate() {
        match (reading(step), at) {
            (Reading::Whole, 0) => counters.select_scan.count(),
            (Reading::Range, 0) => counters.select_range.count(),
            (Reading::Whole, _) => counters.select_full_join.count(),
            (Reading::Range, _) => counters.select_full_range_join.count(),
            (Reading::Other, _) => {}
        }
    }
}
