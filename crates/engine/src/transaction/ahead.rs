//! Applying a source's transaction ahead of its turn: many threads prepare transactions at once, in
//! any order, and one thread then completes each in the source's order.
//!
//! Preparing finds the rows, splices the new images and makes the secondary keys, from whatever is
//! committed at that moment and without a row lock. The turn comes when everything before the
//! transaction is on the pages. The turn locks the rows and compares sequence numbers. A row that
//! nobody has changed since is as it was prepared; a row that an earlier transaction has changed is
//! spliced again, by itself. So the unit of scheduling is the row, and the serial part is a
//! comparison for every row and the commit.
//!
//! Invariants:
//! - A transaction that is prepared holds no lock, so that neither a session nor DDL nor another
//!   prepared transaction ever waits for it, and no order of preparing can end in a deadlock.
//! - What a turn commits is what applying the transaction at that moment would have made. Where
//!   splicing cannot achieve that (an indexed column of an overtaken row, a row that was not there
//!   yet), the turn says so, and the caller applies the transaction from its events.
//! - The transaction's tables are held ([`TableHold`]) while it is being prepared, so that their
//!   trees stay, and again in its turn.

use super::Transaction;
use super::locking::TransactionLocks;
use super::mode::LockMode;
use super::owed::Owed;
use super::row_change::{Replaced, RowChange};
use super::table_hold::TableHold;
use super::unique::check_unique;
use super::write_set::WriteSet;
use crate::Engine;
use crate::entry::{DELETED, parse_header};
use crate::error::{EngineError, Result};
use crate::rows::OldRow;
use crate::spill::NewImage;
use crate::table::Table;
use btree::Spot;
use buffer::FoundLeaf;
use std::sync::Arc;

/// The number of rows of a transaction that are loaded ahead of its turn.
const PREFETCHED_ROWS: usize = 16;

/// A transaction that was applied ahead and waits for its turn. Dropping it leaves nothing behind.
pub struct Prepared {
    transaction: Box<Transaction>,
    owed: Owed,
}

impl Prepared {
    /// Ends the preparation of a transaction. The tables may be released.
    ///
    /// # Panics
    /// Panics when the transaction was not begun by [`TableHold::begin_apply_ahead`].
    pub(super) fn new(mut transaction: Box<Transaction>) -> Prepared {
        let locks = &mut transaction.rows.locks;
        let owed = locks.owed.take().expect("begun ahead");
        assert!(locks.owner.holds_nothing(), "a transaction that is prepared holds no lock");
        Prepared { transaction, owed }
    }
}

impl TableHold {
    /// Does what [`TableHold::begin_apply`] does, ahead of the transaction's turn.
    pub fn begin_apply_ahead(&mut self) -> Box<Transaction> {
        let mut transaction = self.begin_apply();
        transaction.rows.locks.owed = Some(Owed::default());
        transaction
    }
}

/// The outcome of a prepared transaction's turn.
pub enum Turn {
    /// The transaction, as if it had been applied now.
    Ready(Box<Transaction>),
    /// The prepared transaction, which would have had to wait for a lock and was not allowed to. It
    /// keeps the locks that it has taken.
    Blocked(Prepared),
}

impl Prepared {
    /// Returns the transaction as if it had been applied now, ready to be committed. Everything
    /// before it must have been committed, or logged ([`super::logged`]). `hold` gets the
    /// transaction's tables, which the transaction uses until its rows are on their pages.
    ///
    /// A caller that has logged transactions which are not completed must not wait for locks
    /// (`waits`).
    ///
    /// # Errors
    /// Returns [`EngineError::NeedsTurn`], or the error with which applying the transaction now
    /// would fail. The transaction is then to be applied from its events, which succeeds or names
    /// the row. Nothing is left behind.
    pub fn take_turn(mut self, hold: &mut TableHold, waits: bool) -> Result<Turn> {
        self.transaction.rows.locks.waits = waits;
        match self.come(hold) {
            Ok(()) => {
                self.transaction.rows.locks.waits = true;
                Ok(Turn::Ready(self.transaction))
            }
            Err(EngineError::LockNotAvailable) if !waits => Ok(Turn::Blocked(self)),
            Err(error) => Err(error),
        }
    }

    /// Starts loading the leaves of the transaction's rows into the processor's cache, because
    /// other processors have prepared them. A thread that takes many turns, one after the other,
    /// calls this for a transaction that comes some turns later, and [`Prepared::prefetch_rows`]
    /// for one that comes sooner.
    #[inline]
    pub fn prefetch_leaves(&self) {
        self.each_leaf(|table, _, leaf| table.clustered.prefetch_leaf(leaf));
    }

    /// Starts loading the rows themselves, whose leaves should have been loaded already.
    #[inline]
    pub fn prefetch_rows(&self) {
        self.each_leaf(|table, key, leaf| table.clustered.prefetch(&mut Spot::again(key, leaf)));
    }

    #[inline]
    fn each_leaf(&self, load: impl Fn(&Table, &[u8], FoundLeaf)) {
        for writes in &self.transaction.rows.changes.writes.tables {
            // Only the first rows of a large transaction are loaded, because the others would push
            // them out again.
            for (key, change) in writes.rows.iter().take(PREFETCHED_ROWS) {
                if let Some(leaf) = change.leaf {
                    load(&writes.table, key, leaf);
                }
            }
        }
    }

    /// Takes the turn. When it is tried again, what was done before stays done.
    fn come(&mut self, hold: &mut TableHold) -> Result<()> {
        let Prepared { transaction, owed } = self;
        let rows = &mut transaction.rows;
        rows.locks.owner.set_works_under(hold.owner_id());
        for writes in &rows.changes.writes.tables {
            hold.hold(&writes.table, rows.locks.waits)?;
        }
        settle(&rows.engine, &mut rows.locks, &mut rows.changes.writes)?;
        for check in &owed.uniques {
            let table = written_table(&rows.changes.writes, check.table_id);
            check_unique(rows, &table, check.index, &check.key, &check.own, &check.image)?;
        }
        while let Some(keys) = owed.announcements.last() {
            let table = written_table(&rows.changes.writes, keys.table_id);
            let held = rows.locks.owner.held();
            // The row locks stay held. A session that has locked the gap and waits for one of the
            // rows makes a deadlock, which is found.
            if rows.announce(&table, keys.clustered.as_deref(), &keys.secondary, held)? {
                owed.announcements.pop();
            }
        }
        Ok(())
    }
}

/// Returns a table that the transaction writes to.
fn written_table(writes: &WriteSet, table_id: u64) -> Arc<Table> {
    writes.table(table_id).expect("a table that the transaction writes to").table.clone()
}

/// Locks every row of a write set and brings its change up to date.
fn settle(engine: &Engine, locks: &mut TransactionLocks, writes: &mut WriteSet) -> Result<()> {
    for table_writes in &mut writes.tables {
        let table = &table_writes.table;
        for (key, change) in &mut table_writes.rows {
            locks.lock_row(&engine.locks, table, key, LockMode::Update)?;
            settle_row(engine, table, key, change)?;
        }
    }
    Ok(())
}

fn settle_row(engine: &Engine, table: &Table, key: &[u8], change: &mut RowChange) -> Result<()> {
    let spot = match change.leaf {
        Some(leaf) => Spot::again(key, leaf),
        None => table.clustered.locate(key),
    };
    let header = table.clustered.get_at(&spot, parse_header)?.transpose()?;
    let live_seq = header.filter(|(flags, _)| flags & DELETED == 0).map(|(_, seq)| seq);
    match (&change.old, live_seq) {
        (None, None) => Ok(()),
        (Some(old), Some(seq)) if old.seq == seq => Ok(()),
        (Some(_), Some(_)) => {
            let current = engine.rows.read_newest_at(table, &spot)?.ok_or(EngineError::NeedsTurn)?;
            change.make_again(table, current)
        }
        // A row to insert exists already, or a row to change does not.
        (None, Some(_)) | (Some(_), None) => Err(EngineError::NeedsTurn),
    }
}

impl RowChange {
    /// Makes the same change again, from the row's present state.
    fn make_again(&mut self, table: &Table, current: OldRow) -> Result<()> {
        let patches = match (&self.patches, &self.new) {
            (Some(patches), Some(_)) if !patches.is_empty() => patches,
            // Without indexes nothing of the commit depends on the old state of a deleted row.
            (Some(_), None) if table.indexes.is_empty() => &Vec::new(),
            _ => return Err(EngineError::NeedsTurn),
        };
        if self.new.is_some() {
            let mut image = current.image.clone();
            for patch in patches {
                let mut next = Vec::with_capacity(image.len() + patch.image.len());
                table.layout.splice(&image, &patch.mask, &patch.image, &mut next)?;
                image = next;
            }
            self.new = Some(NewImage::Here(image));
        }
        self.leaf = current.leaf;
        self.old_len = current.image.len() as u32;
        self.old = Some(Replaced { seq: current.seq, externs: current.externs });
        Ok(())
    }
}
