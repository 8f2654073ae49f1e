//! Applying a source's transaction ahead of its turn: many threads prepare transactions at once, in
//! any order; each is then completed in the source's order, by one thread.
//!
//! Preparing finds the rows, splices the new images and makes the secondary keys, from whatever is
//! committed at that moment and without a row lock. The turn comes when everything before the
//! transaction is on the pages. It locks the rows and compares sequence numbers: a row that nobody
//! has changed since is as it was prepared; one that an earlier transaction has changed is spliced
//! again, by itself. So what is scheduled is the row, and what is serial is a comparison for every
//! row and the commit.
//!
//! Invariants:
//! - A transaction that is prepared holds no lock, so that neither a session nor DDL nor another
//!   prepared transaction ever waits for it, and no order of preparing can end in a deadlock.
//! - What a turn commits is what applying the transaction at that moment would have made. Where
//!   that cannot be had by splicing (an indexed column of an overtaken row, a row that was not
//!   there yet), the turn says so, and the caller applies the transaction from its events.
//! - Its tables are held ([`TableHold`]) while it is being prepared, so that their trees stay, and
//!   again in its turn.

use super::owed::Owed;
use super::row_change::{Patch, Replaced, RowChange};
use super::table_hold::TableHold;
use super::write_set::WriteSet;
use super::{LockMode, Transaction};
use crate::entry::{DELETED, parse_header};
use crate::error::{EngineError, Result};
use crate::partial::PartialRow;
use crate::rows::OldRow;
use crate::spill::NewImage;
use crate::table::Table;
use btree::Spot;
use buffer::FoundLeaf;
use std::sync::Arc;

/// Rows of a transaction that are loaded ahead of its turn.
const PREFETCHED_ROWS: usize = 16;

/// A transaction that was applied ahead and waits for its turn. Dropped, it leaves nothing.
pub struct Prepared {
    transaction: Box<Transaction>,
    owed: Owed,
}

impl TableHold {
    /// As [`TableHold::begin_apply`], ahead of the transaction's turn.
    pub fn begin_apply_ahead(&self) -> Box<Transaction> {
        let mut transaction = self.begin_apply();
        transaction.ahead = Some(Owed::default());
        transaction
    }
}

impl Transaction {
    /// Refuses what can only be done with everything earlier on the pages.
    pub(super) fn check_not_ahead(&self) -> Result<()> {
        if self.ahead.is_some() { Err(EngineError::NeedsTurn) } else { Ok(()) }
    }

    /// Notes how an update can be made again from another state of its row: by setting the columns
    /// of `after`, or not at all.
    pub(super) fn note_update_ahead(&mut self, table: &Table, key: &[u8], after: Option<PartialRow<'_>>) {
        if self.ahead.is_some() {
            let patch = after.map(|row| Patch { mask: row.mask.clone(), image: row.image.to_vec() });
            self.writes.note_patch(table.id, key, patch);
        }
    }

    /// Ends the preparation. The tables may be let go.
    ///
    /// # Panics
    /// When the transaction was not begun by [`TableHold::begin_apply_ahead`].
    pub fn prepared(mut self: Box<Self>) -> Prepared {
        let owed = self.ahead.take().expect("begun ahead");
        Prepared { transaction: self, owed }
    }
}

/// What became of a prepared transaction when its turn came.
pub enum Turn {
    /// It is as if it had been applied now.
    Ready(Box<Transaction>),
    /// It would have had to wait for a lock and was not to. It keeps what it has locked.
    Blocked(Prepared),
}

impl Prepared {
    /// The transaction as if it had been applied now, ready to be committed. Everything that comes
    /// before it must have been committed, or logged ([`super::logged`]). `hold` gets its tables,
    /// which it uses until its rows are on their pages.
    ///
    /// A caller that has logged transactions which are not completed does not wait for locks
    /// (`waits`).
    ///
    /// # Errors
    /// [`EngineError::NeedsTurn`], or whatever applying it now would fail with: it is to be applied
    /// from its events, which succeeds or names the row. Nothing is left behind.
    pub fn take_turn(mut self, hold: &mut TableHold, waits: bool) -> Result<Turn> {
        self.transaction.waits = waits;
        match self.come(hold) {
            Ok(()) => {
                self.transaction.waits = true;
                Ok(Turn::Ready(self.transaction))
            }
            Err(EngineError::LockNotAvailable) if !waits => Ok(Turn::Blocked(self)),
            Err(error) => Err(error),
        }
    }

    /// Starts loading the leaves of its rows into the processor's cache. A thread that takes many
    /// turns, one after the other, calls it for a transaction that comes some turns later, and
    /// [`Prepared::prefetch_rows`] for one that comes sooner: other processors have prepared them.
    #[inline]
    pub fn prefetch_leaves(&self) {
        self.each_leaf(|table, _, leaf| table.clustered.prefetch_leaf(leaf));
    }

    /// Starts loading the rows themselves; their leaves should have been loaded.
    #[inline]
    pub fn prefetch_rows(&self) {
        self.each_leaf(|table, key, leaf| table.clustered.prefetch(&Spot::again(key, leaf)));
    }

    #[inline]
    fn each_leaf(&self, load: impl Fn(&Table, &[u8], FoundLeaf)) {
        for writes in &self.transaction.writes.tables {
            // Of a large transaction the first rows: the others would push them out again.
            for (key, change) in writes.rows.iter().take(PREFETCHED_ROWS) {
                if let Some(leaf) = change.leaf {
                    load(&writes.table, key, leaf);
                }
            }
        }
    }

    /// What was done stays done when it is tried again.
    fn come(&mut self, hold: &mut TableHold) -> Result<()> {
        let Prepared { transaction, owed } = self;
        transaction.locks.set_works_under(hold.owner_id());
        for writes in &transaction.writes.tables {
            hold.hold(&writes.table, transaction.waits)?;
        }
        // Out of the transaction while it takes locks; nothing reads it meanwhile.
        let mut writes = std::mem::take(&mut transaction.writes);
        let settled = transaction.settle(&mut writes);
        transaction.writes = writes;
        settled?;
        for check in &owed.uniques {
            let table = transaction.written_table(check.table_id);
            transaction.check_unique(&table, check.index, &check.key, &check.own, &check.image)?;
        }
        while let Some(keys) = owed.announcements.last() {
            let table = transaction.written_table(keys.table_id);
            let held = transaction.locks.held();
            // The row locks stay: a session that waits for one of them while it has the gap is a
            // deadlock, and found to be one.
            if transaction.announce(&table, keys.clustered.as_deref(), &keys.secondary, held)? {
                owed.announcements.pop();
            }
        }
        Ok(())
    }
}

impl Transaction {
    fn written_table(&self, table_id: u64) -> Arc<Table> {
        self.writes.table(table_id).expect("a table that the transaction writes to").table.clone()
    }

    /// Locks every row and brings its change up to date.
    fn settle(&mut self, writes: &mut WriteSet) -> Result<()> {
        for table_writes in &mut writes.tables {
            let table = &table_writes.table;
            for (key, change) in &mut table_writes.rows {
                self.lock_row(table, key, LockMode::Update)?;
                self.settle_row(table, key, change)?;
            }
        }
        Ok(())
    }

    fn settle_row(&self, table: &Table, key: &[u8], change: &mut RowChange) -> Result<()> {
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
                let current = self.engine.rows.read_newest_at(table, &spot)?.ok_or(EngineError::NeedsTurn)?;
                change.make_again(table, current)
            }
            // A row to insert is there, or one to change is not.
            (None, Some(_)) | (Some(_), None) => Err(EngineError::NeedsTurn),
        }
    }
}

impl RowChange {
    /// The same change of the row as it is now.
    fn make_again(&mut self, table: &Table, current: OldRow) -> Result<()> {
        let patches = match (&self.patches, &self.new) {
            (Some(patches), Some(_)) if !patches.is_empty() => patches,
            // Without indexes nothing of the commit depends on what a deleted row was.
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
