//! What a running statement works with, and what it comes to.

use crate::error::{Result, SqlError};
use crate::expr::Context;
use crate::memory::Charge;
use crate::plan::RowLock;
use engine::{Transaction, TriggerEvent};

/// What a running statement works with.
pub(crate) struct Run<'r, 'c> {
    pub txn: &'r mut Transaction,
    pub ctx: &'r Context<'c>,
    /// Plain reads lock what they read, shared: they are part of a statement that changes rows, and
    /// the isolation level wants what it wrote to follow from what it read (InnoDB does so under
    /// REPEATABLE READ and SERIALIZABLE).
    shares_reads: bool,
    /// The statement is a source's, which has found its rows good.
    pub(super) is_received: bool,
}

/// Statements whose triggers would have to be run are refused: none is passed over. So are those
/// that change the row of a sequence, and those that set an application's period, which nobody
/// checks here.
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
    if !table.has_triggers(events) {
        return Ok(());
    }
    let text = format!("changes of table '{}', which has triggers", table.qualified_name());
    Err(SqlError::not_supported(text))
}

impl<'r, 'c> Run<'r, 'c> {
    pub fn new(txn: &'r mut Transaction, ctx: &'r Context<'c>) -> Run<'r, 'c> {
        Run { txn, ctx, shares_reads: false, is_received: false }
    }

    /// A charge for what the statement keeps.
    pub fn charge(&self) -> Charge {
        Charge::new(self.ctx.memory)
    }

    /// Says that the statement changes rows.
    pub fn set_changes_rows(&mut self) {
        self.shares_reads = self.txn.locks_gaps();
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
pub(super) fn info(parts: [(&str, u64); 3]) -> String {
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
