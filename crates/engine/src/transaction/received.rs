//! What the applying of a source's events asks of a transaction.

use super::ahead::Prepared;
use super::apply::{self, FoundRow};
use super::follow;
use super::logged::LoggedTransaction;
use super::mode::Row;
use super::{Savepoint, Transaction, kept, xa};
use crate::commit::pipeline::{CommitOptions, CommitOutcome, CommitParts};
use crate::error::Result;
use crate::partial::PartialRow;
use crate::table::Table;
use crate::xa::branches::XaBranch;
use std::sync::Arc;
use types::ColumnMask;

impl Transaction {
    /// Applies an inserted row. Columns that the event does not have get their defaults, as in the
    /// source's row. A column without a default gets NULL or, if the table forbids NULL, causes the
    /// error of a missing default.
    pub fn apply_insert(&mut self, table: &Arc<Table>, after: PartialRow<'_>) -> Result<()> {
        apply::apply_insert(&mut self.rows, table, after)
    }

    /// Applies an inserted row whatever exists: rows that have one of its keys are deleted first
    /// (`replica_exec_mode=IDEMPOTENT`). Returns the images of the deleted rows, in the order of
    /// their deletion.
    pub fn apply_insert_over(&mut self, table: &Arc<Table>, after: PartialRow<'_>) -> Result<Vec<Vec<u8>>> {
        apply::apply_insert_over(&mut self.rows, table, after)
    }

    /// Applies an updated row.
    pub fn apply_update(
        &mut self,
        table: &Arc<Table>,
        before: PartialRow<'_>,
        after: PartialRow<'_>,
    ) -> Result<()> {
        apply::apply_update(&mut self.rows, table, before, after)
    }

    /// Applies an updated row that [`Transaction::find_together`] or [`Transaction::find_current`]
    /// has found.
    pub fn apply_update_of(
        &mut self,
        table: &Arc<Table>,
        row: &FoundRow,
        before: PartialRow<'_>,
        after: PartialRow<'_>,
    ) -> Result<()> {
        apply::apply_update_of(&mut self.rows, table, row, before, after)
    }

    /// Applies an updated row and the changes that follow from it. All of them are in the
    /// transaction's own events.
    pub fn apply_update_followed(
        &mut self,
        table: &Arc<Table>,
        before: PartialRow<'_>,
        after: PartialRow<'_>,
    ) -> Result<()> {
        follow::apply_update_followed(&mut self.rows, table, before, after)
    }

    /// Applies a deleted row.
    pub fn apply_delete(&mut self, table: &Arc<Table>, before: PartialRow<'_>) -> Result<()> {
        apply::apply_delete(&mut self.rows, table, before)
    }

    /// Applies a deleted row that [`Transaction::find_together`] has found.
    pub fn apply_delete_of(
        &mut self,
        table: &Arc<Table>,
        row: &FoundRow,
        before: PartialRow<'_>,
    ) -> Result<()> {
        apply::apply_delete_of(&mut self.rows, table, row, before)
    }

    /// Applies a deleted row and the changes that follow from it. All of them are in the
    /// transaction's own events.
    pub fn apply_delete_followed(&mut self, table: &Arc<Table>, before: PartialRow<'_>) -> Result<()> {
        follow::apply_delete_followed(&mut self.rows, table, before)
    }

    /// Reports whether a row that takes the place of another has the same key for every foreign key
    /// that refers to the table.
    pub fn keeps_references(&self, table: &Table, old: &[u8], new: &[u8]) -> Result<bool> {
        follow::keeps_references(&self.rows.engine.catalog, table, old, new)
    }

    /// Reports whether other rows may change when a row of this table is deleted.
    pub fn delete_has_followers(&self, table: &Table) -> bool {
        follow::delete_has_followers(&self.rows.engine.catalog, table)
    }

    /// Returns the columns of this table that rows of child tables follow.
    pub fn followed_columns(&self, table: &Table) -> ColumnMask {
        follow::followed_columns(&self.rows.engine.catalog, table)
    }

    /// Locks the row that a before image describes and returns it with its full image, for a change
    /// that depends on what is there.
    pub fn find_current(
        &mut self,
        table: &Arc<Table>,
        before: PartialRow<'_>,
    ) -> Result<(FoundRow, Vec<u8>)> {
        apply::find_current(&mut self.rows, table, before)
    }

    /// Locks the row that a before image describes and returns it, for [`Transaction::update`] and
    /// [`Transaction::delete`].
    pub fn find_row(&mut self, table: &Arc<Table>, before: PartialRow<'_>) -> Result<Row> {
        let (FoundRow(key), image) = apply::find_current(&mut self.rows, table, before)?;
        Ok(Row { key: key.to_vec(), image })
    }

    /// Locks the row whose key of this index is the one of an image, and returns it. `None` means
    /// that there is no such row any more.
    pub fn row_in_the_way(&mut self, table: &Arc<Table>, image: &[u8], index: &str) -> Result<Option<Row>> {
        let found = apply::row_in_the_way(&mut self.rows, table, image, index)?;
        Ok(found.map(|(key, row)| Row { key: key.to_vec(), image: row.image }))
    }

    /// Finds the rows that before images with these columns describe, when no unique key leads to
    /// them. It scans the best index once for each different key, or the table once. `None` stands
    /// for an image that no row has now; an earlier change of the same event may make such a row.
    /// An empty list means that there is a better way to each of the rows.
    pub fn find_together(
        &mut self,
        table: &Arc<Table>,
        mask: &ColumnMask,
        images: &[&[u8]],
    ) -> Result<Vec<Option<FoundRow>>> {
        apply::find_together(&mut self.rows, table, mask, images)
    }

    /// Takes whole events of the group that is being received, whose rows the transaction has
    /// already. When they are many they go to a file, with the images of the rows. Events of
    /// statements that run afterwards come behind them.
    pub fn receive(&mut self, events: &[u8]) -> Result<()> {
        self.rows.changes.receive(events)?;
        self.rows.changes.let_images_go()
    }

    /// Lets the transaction of a source go back to savepoints that are set from here on.
    pub fn begin_journal(&mut self) {
        self.rows.changes.writes.begin_journal();
    }

    /// Reports whether a row has changed since the savepoint in a table for which `is_one` holds.
    pub fn has_changed_since(&self, savepoint: Savepoint, is_one: &dyn Fn(&Table) -> bool) -> bool {
        kept::has_changed(self, savepoint, is_one)
    }

    /// Takes back every change since the savepoint, except for those of the tables for which
    /// `keeps` holds. The rows of these are changed again at once to what they were. The group has
    /// the events of that in a statement of the time `timestamp_us`. Returns whether a change was
    /// kept.
    ///
    /// # Errors
    /// Returns the errors of changes of rows. The transaction has to be rolled back in that case.
    pub fn roll_back_except(
        &mut self,
        savepoint: Savepoint,
        timestamp_us: u64,
        keeps: &dyn Fn(&Table) -> bool,
    ) -> Result<bool> {
        kept::roll_back_except(self, savepoint, timestamp_us, keeps)
    }

    /// Sets the server id that the events of statements get.
    pub fn set_server_id(&mut self, server_id: u32) {
        self.rows.changes.group.set_server_id(server_id);
    }

    /// Commits the transaction of a source. `group` is the event group as it was received, from
    /// `BEGIN` to Xid, with this engine's table ids and without GTID event and checksums; or the
    /// part of it that comes after what [`Transaction::receive`] was given. Waits for the log only
    /// with `options.wait`.
    pub fn commit_received(
        mut self: Box<Self>,
        group: &[u8],
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        self.commit_received_in_place(group, options)
    }

    /// Does what [`Transaction::commit_received`] does, for an owner that keeps the transaction's
    /// memory. Afterwards the owner may only drop or spend it.
    pub fn commit_received_in_place(
        &mut self,
        group: &[u8],
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        let _state = os::account::enter(os::account::State::ApplyCommit);
        let defines = self.defines;
        let is_large = group.len() > self.rows.engine.config.spill_bytes;
        self.rows.changes.reserve_temporary()?;
        let outcome = if self.rows.changes.group.len() == 0 && !is_large {
            let replacements = self.rows.changes.replacements_in(group)?;
            let parts = CommitParts {
                group,
                spill: None,
                ddl: defines,
                only_rows: self.rows.changes.are_as_received(),
                replacements: &replacements,
                dictionary: &[],
                next_ids: None,
                xa: None,
                options,
            };
            let changes = &mut self.rows.changes;
            self.rows.engine.committer.commit_writes(&mut changes.writes, &mut changes.sidecar, parts)
        } else {
            let received = self.rows.changes.receive(group);
            received.and_then(|()| self.log_and_apply(options, defines))
        };
        self.finish_commit(outcome, options)
    }

    /// Runs the part of [`Transaction::commit_received`] that decides the commit's order. The
    /// caller must have asked the log for space ([`redo::Log::free_check`]) before, with no logged
    /// transaction in hand. While commits are held back this waits, unless the transaction is
    /// `behind` one of the caller's.
    pub fn log_received(
        self: Box<Self>,
        group: &[u8],
        options: &CommitOptions<'_>,
        behind: Option<&LoggedTransaction>,
    ) -> Result<LoggedTransaction> {
        LoggedTransaction::new(self, group, options, behind)
    }

    /// Ends the preparation of a transaction that is applied ahead of its turn. The tables may be
    /// released.
    ///
    /// # Panics
    /// Panics when the transaction was not begun by [`crate::TableHold::begin_apply_ahead`].
    pub fn prepared(self: Box<Self>) -> Prepared {
        Prepared::new(self)
    }

    /// Prepares the transaction with the events of a source, from `XA START` to the XA_PREPARE
    /// event, or with the part of them that comes after what [`Transaction::receive`] was given.
    pub fn prepare_xa_received(
        mut self,
        branch: XaBranch,
        events: &[u8],
        options: &CommitOptions<'_>,
    ) -> Result<CommitOutcome> {
        xa::prepare_xa_received(&mut self.rows, branch, events, options)
    }
}
