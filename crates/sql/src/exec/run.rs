//! The state of a running statement, and its results.

use crate::error::{Result, SqlError};
use crate::expr::{Context, Expr, SharedTransaction};
use crate::memory::Charge;
use crate::plan::{Answered, QueryPlan, RowLock};
use engine::{IndexRef, Table, Transaction, TriggerEvent, Use};
use types::Value;

/// How a running statement reaches its transaction.
pub(super) enum Handle<'r> {
    Own(&'r mut Transaction),
    /// The transaction of a statement with subqueries or stored functions, which use it too.
    Shared(&'r dyn SharedTransaction),
}

/// The state of a running statement.
pub(crate) struct Run<'r, 'c> {
    pub(super) txn: Handle<'r>,
    pub ctx: &'r Context<'c>,
    /// Whether plain reads take shared row locks. They do in a statement that changes rows when the
    /// isolation level demands that its changes follow from what it read (as in InnoDB, REPEATABLE
    /// READ and SERIALIZABLE).
    shares_reads: bool,
    /// Whether the statement comes from a replication source, which has checked its rows already.
    pub(super) is_received: bool,
    /// Whether rows are asked for their CHECK constraints, periods and partitions.
    pub(super) checks_rows: bool,
    /// The index by which the rows that are changed are found.
    pub(super) found_by: Option<IndexRef>,
}

/// Refuses to change the row of a sequence, and to insert or update rows of a table with a key
/// WITHOUT OVERLAPS, whose check takes no locks.
pub(super) fn refuse_changes(run: &Run<'_, '_>, table: &Table, events: u8) -> Result<()> {
    if table.def.is_sequence() {
        return Err(SqlError::no_such_option_of_sequence(&table.def.schema, &table.def.name));
    }
    let deletes = events == TriggerEvent::Delete.bit();
    if !table.def.temporal.without_overlaps.is_empty() && !run.is_received && !deletes {
        let text = format!("changes of table '{}', which has a key WITHOUT OVERLAPS", table.qualified_name());
        return Err(SqlError::not_supported(text));
    }
    Ok(())
}

impl<'r, 'c> Run<'r, 'c> {
    pub fn new(txn: &'r mut Transaction, ctx: &'r Context<'c>) -> Run<'r, 'c> {
        Run {
            txn: Handle::Own(txn),
            ctx,
            shares_reads: false,
            is_received: false,
            checks_rows: true,
            found_by: None,
        }
    }

    /// As [`Run::new`], for a statement with subqueries or stored functions, and for each subquery.
    pub(super) fn sharing(txn: &'r dyn SharedTransaction, ctx: &'r Context<'c>) -> Run<'r, 'c> {
        Run {
            txn: Handle::Shared(txn),
            ctx,
            shares_reads: false,
            is_received: false,
            checks_rows: true,
            found_by: None,
        }
    }

    /// Calls `take` with the transaction. `take` must not evaluate expressions, because they may
    /// borrow the transaction too.
    #[inline]
    pub fn with<T>(&mut self, take: impl FnOnce(&mut Transaction) -> T) -> T {
        match &mut self.txn {
            Handle::Own(txn) => take(txn),
            Handle::Shared(shared) => {
                let (mut take, mut taken) = (Some(take), None);
                shared.lend(&mut |txn| taken = take.take().map(|take| take(txn)));
                taken.expect("a shared transaction is lent once")
            }
        }
    }

    /// Counts a row of a table that is changed.
    pub(super) fn note_change(&self, table: &Table, what: Use) {
        let index = if what == Use::Insert { None } else { self.found_by };
        self.ctx.counters.uses.add(table.usage(index), what, 1);
    }

    /// Returns an empty charge for memory that the statement keeps.
    pub fn charge(&self) -> Charge {
        Charge::new(self.ctx.memory)
    }

    /// Notes that the statement changes rows, so that its plain reads take shared locks if the
    /// isolation level demands it.
    pub fn set_changes_rows(&mut self) {
        self.shares_reads = self.with(|txn| txn.locks_gaps());
    }

    /// Returns the state of a part of the statement that has other surroundings.
    pub(super) fn part<'s, 'd>(&self, txn: &'s dyn SharedTransaction, ctx: &'s Context<'d>) -> Run<'s, 'd> {
        Run { shares_reads: self.shares_reads, ..Run::sharing(txn, ctx) }
    }

    /// Sets whether plain reads take shared locks, for a subquery as for the statement around it.
    pub(super) fn set_shares_reads(&mut self, shares_reads: bool) {
        self.shares_reads = shares_reads;
    }

    /// Notes that the statement comes from a replication source. Constraints on its rows are
    /// checked again only if it failed there, since they may use functions that are missing here.
    pub fn set_received(&mut self, has_failed: bool) {
        self.is_received = true;
        self.checks_rows = has_failed;
    }

    /// Returns the lock that a read takes when its query asks for `lock`.
    pub(super) fn lock_for(&self, lock: RowLock) -> RowLock {
        if self.shares_reads && lock == RowLock::NONE { RowLock::SHARE } else { lock }
    }

    /// Begins the work on a row: forgets the temporary values of the row before and checks whether
    /// the statement was killed. It is called for each row that is looked at.
    #[inline]
    pub fn on_row(&self) -> Result<()> {
        self.ctx.forget_made();
        self.ctx.check_interrupt()
    }
}

/// Joins words and numbers in turn, for the text of an OK packet such as `Rows matched: 1  Changed:
/// 1`.
pub(super) fn info<const PARTS: usize>(parts: [(&str, u64); PARTS]) -> String {
    let mut text = String::with_capacity(64);
    for (words, number) in parts {
        text.push_str(words);
        match u8::try_from(number) {
            Ok(digit @ 0..10) => text.push(char::from(b'0' + digit)),
            _ => text.push_str(&number.to_string()),
        }
    }
    text
}

/// The results of a statement that changes rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    pub affected_rows: u64,
    /// The number of rows that met the conditions, whether they changed or not.
    pub found_rows: u64,
    /// The first AUTO_INCREMENT value that was generated for a row that is now in the table.
    pub generated_id: Option<u64>,
    /// The AUTO_INCREMENT value of the last row, when no value was generated.
    pub written_id: Option<u64>,
    pub info: String,
}

/// What is known about a query when it has ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueryOutcome {
    /// The value of FOUND_ROWS(): the number of rows that were sent or, with SQL_CALC_FOUND_ROWS,
    /// that there would be without LIMIT.
    pub found_rows: u64,
}

/// Takes one row of a query.
pub(crate) type Emit<'e> = dyn FnMut(&[Value]) -> Result<()> + 'e;

/// Runs a query. The functions that need a query's rows are given this, so that they do not depend
/// on `select`.
pub(super) type RunQuery = fn(&mut Run<'_, '_>, &QueryPlan, &mut Emit<'_>) -> Result<QueryOutcome>;

/// Reports whether the conditions hold for the row, apart from those that are answered.
#[inline]
pub(super) fn rest_holds(
    conditions: &[Expr],
    answered: Answered,
    row: &[Value],
    ctx: &Context<'_>,
) -> Result<bool> {
    for (at, condition) in conditions.iter().enumerate() {
        if !answered.has(at) && !condition.holds(row, ctx)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reports whether all conditions hold for the row.
#[inline]
pub(super) fn all_hold(conditions: &[Expr], row: &[Value], run: &Run<'_, '_>) -> Result<bool> {
    for condition in conditions {
        if !condition.holds(row, run.ctx)? {
            return Ok(false);
        }
    }
    Ok(true)
}
