//! What a running statement works with, and what it comes to.

use crate::error::{Result, SqlError};
use crate::expr::{Context, Expr, SharedTransaction};
use crate::memory::Charge;
use crate::plan::{QueryPlan, RowLock};
use engine::{Transaction, TriggerEvent};
use types::Value;

/// The transaction of a statement that runs.
pub(super) enum Handle<'r> {
    Own(&'r mut Transaction),
    /// Of a statement with subqueries, which read with it too.
    Shared(&'r dyn SharedTransaction),
}

/// What a running statement works with.
pub(crate) struct Run<'r, 'c> {
    pub(super) txn: Handle<'r>,
    pub ctx: &'r Context<'c>,
    /// Plain reads lock what they read, shared: they are part of a statement that changes rows, and
    /// the isolation level wants what it wrote to follow from what it read (InnoDB does so under
    /// REPEATABLE READ and SERIALIZABLE).
    shares_reads: bool,
    /// The statement is a source's, which has found its rows good.
    pub(super) is_received: bool,
}

/// Statements that change the row of a sequence are refused, and those that set an application's
/// period, which nobody checks here.
pub(super) fn refuse_changes(run: &Run<'_, '_>, table: &engine::Table, events: u8) -> Result<()> {
    if table.def.is_sequence() {
        return Err(SqlError::no_such_option_of_sequence(&table.def.schema, &table.def.name));
    }
    let deletes = events == TriggerEvent::Delete.bit();
    if table.def.temporal.period.is_some() && !run.is_received && !deletes {
        let text =
            format!("changes of table '{}', which has an application's period", table.qualified_name());
        return Err(SqlError::not_supported(text));
    }
    Ok(())
}

impl<'r, 'c> Run<'r, 'c> {
    pub fn new(txn: &'r mut Transaction, ctx: &'r Context<'c>) -> Run<'r, 'c> {
        Run { txn: Handle::Own(txn), ctx, shares_reads: false, is_received: false }
    }

    /// As [`Run::new`], of a statement with subqueries, and of each of them.
    pub(super) fn sharing(txn: &'r dyn SharedTransaction, ctx: &'r Context<'c>) -> Run<'r, 'c> {
        Run { txn: Handle::Shared(txn), ctx, shares_reads: false, is_received: false }
    }

    /// Does something with the transaction; it computes no expression.
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

    /// A charge for what the statement keeps.
    pub fn charge(&self) -> Charge {
        Charge::new(self.ctx.memory)
    }

    /// Says that the statement changes rows.
    pub fn set_changes_rows(&mut self) {
        self.shares_reads = self.with(|txn| txn.locks_gaps());
    }

    /// Says whether plain reads lock what they read, as those of the statement around do.
    pub(super) fn set_shares_reads(&mut self, shares_reads: bool) {
        self.shares_reads = shares_reads;
    }

    /// Says that the statement is a source's: constraints on its rows are not asked for again,
    /// which may have functions that are missing here.
    pub fn set_received(&mut self) {
        self.is_received = true;
    }

    /// How a table is read whose query asks for `lock`.
    pub(super) fn lock_for(&self, lock: RowLock) -> RowLock {
        if self.shares_reads && lock == RowLock::NONE { RowLock::SHARE } else { lock }
    }

    /// Called for each row that is looked at: ends the statement when it was killed. What functions
    /// have made of the row before is gone.
    #[inline]
    pub fn on_row(&self) -> Result<()> {
        self.ctx.forget_made();
        self.ctx.check_interrupt()
    }
}

/// Words and numbers in turn, as the text of an OK packet: `Rows matched: 1  Changed: 1  Warnings:
/// 0`.
pub(super) fn info<const PARTS: usize>(parts: [(&str, u64); PARTS]) -> String {
    let mut text = Vec::with_capacity(64);
    for (words, number) in parts {
        text.extend_from_slice(words.as_bytes());
        types::number::write_u64(number, &mut text);
    }
    String::from_utf8(text).unwrap_or_default()
}

/// What a statement that changes rows did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    pub affected_rows: u64,
    /// Rows that the conditions found, changed or not.
    pub found_rows: u64,
    /// The first auto_increment value that was generated for a row that is now in the table.
    pub generated_id: Option<u64>,
    /// Where none was: the value that the last row has in the column.
    pub written_id: Option<u64>,
    pub info: String,
}

/// What is known when a query is done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueryOutcome {
    /// FOUND_ROWS(): rows there would have been without LIMIT, when SQL_CALC_FOUND_ROWS asked for
    /// it.
    pub found_rows: u64,
}

/// Takes the rows of a query.
pub(crate) type Emit<'e> = dyn FnMut(&[Value]) -> Result<()> + 'e;

/// Runs a query within another one.
pub(super) type RunQuery = fn(&mut Run<'_, '_>, &QueryPlan, &mut Emit<'_>) -> Result<QueryOutcome>;

/// Whether all conditions hold for the row.
#[inline]
pub(super) fn all_hold(conditions: &[Expr], row: &[Value], run: &Run<'_, '_>) -> Result<bool> {
    for condition in conditions {
        if !condition.holds(row, run.ctx)? {
            return Ok(false);
        }
    }
    Ok(true)
}
