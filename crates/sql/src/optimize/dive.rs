//! Index dives: the number of entries in the ranges of an index whose ends are constants, found in
//! the tree itself.

use crate::error::{Result, SqlError};
use crate::exec::Ranges;
use crate::expr::{Context, Expr, NoSession, Node};
use crate::host::Host;
use crate::plan::{Access, KeyCondition};
use crate::variables::Variables;
use engine::{Engine, IndexRef, Table};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The number of ranges up to which the tree is searched (MySQL's `eq_range_index_dive_limit`).
/// More ranges are estimated from the statistics of the index.
const MOST_RANGES: usize = 200;

/// What constant expressions are computed with while the statement is not running yet.
pub(crate) struct Constants<'c> {
    pub engine: &'c Arc<Engine>,
    host: &'c dyn Host,
    variables: &'c Variables,
    /// The results of earlier dives.
    asked: RefCell<Vec<Dive>>,
}

/// Ranges of an index of a table, and the number of entries in them.
#[derive(Debug)]
struct Dive {
    table: u64,
    index: IndexRef,
    ranges: Vec<KeyCondition>,
    found: Option<f64>,
}

fn are_constant(condition: &KeyCondition) -> bool {
    let is_constant = |expr: &Expr| matches!(expr.node, Node::Constant(_) | Node::HexLiteral(..));
    let equals = condition.equals.iter().map(|(expr, _)| expr);
    let bounds = condition.low.iter().chain(&condition.high).map(|(expr, _)| expr);
    (condition.search.is_none() && condition.near.is_none())
        && equals.chain(bounds).chain(condition.list.iter().flatten()).all(is_constant)
}

impl<'c> Constants<'c> {
    pub fn new(engine: &'c Arc<Engine>, host: &'c dyn Host, variables: &'c Variables) -> Constants<'c> {
        Constants { engine, host, variables, asked: RefCell::default() }
    }

    /// Returns error 1317 (`ER_QUERY_INTERRUPTED`) when the statement was killed.
    pub fn check_interrupt(&self) -> Result<()> {
        match self.host.interrupt_flag() {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(SqlError::interrupted()),
            _ => Ok(()),
        }
    }

    /// Returns the number of rows that an access finds. `None` if it depends on more than constants
    /// or has too many ranges.
    pub fn found(&self, table: &Table, access: &Access) -> Option<f64> {
        if access.alternatives.is_empty() || !access.alternatives.iter().all(are_constant) {
            return None;
        }
        let is_it = |dive: &&Dive| {
            dive.table == table.id && dive.index == access.index && dive.ranges == access.alternatives
        };
        if let Some(dive) = self.asked.borrow().iter().find(is_it) {
            return dive.found;
        }
        let found = self.dive(table, access);
        let (table, index, ranges) = (table.id, access.index, access.alternatives.clone());
        self.asked.borrow_mut().push(Dive { table, index, ranges, found });
        found
    }

    /// Calls `compute` with the context for constant expressions. What they warn of is forgotten.
    pub fn with_context<T>(&self, compute: impl FnOnce(&Context<'_>) -> T) -> T {
        let no_session = NoSession::new(self.host.memory(), 0);
        let ctx = no_session.context(self.engine, self.host, self.variables, false);
        ctx.be_lenient();
        compute(&ctx)
    }

    fn dive(&self, table: &Table, access: &Access) -> Option<f64> {
        let ranges = self.with_context(|ctx| Ranges::of(table, access, &[], ctx).ok());
        let Ranges { ranges, is_useless, .. } = ranges?;
        if is_useless {
            return None;
        }
        if ranges.len() > MOST_RANGES {
            return None;
        }
        let mut found = 0;
        for range in &ranges {
            found += range.estimated_entries(table, access.index).ok()?;
        }
        Some(found as f64)
    }
}
