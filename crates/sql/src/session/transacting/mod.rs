//! The beginning and the end of a session's transactions.
//!
//! Nothing here depends on the session itself: a [`Transacting`] borrows the parts of it that
//! transactions need.

mod gtid;
mod xa;

use super::engine_counts;
use super::state::{ServerHandles, SessionLocks, SessionTransaction, Settings};
use crate::error::{Result, SqlError};
use crate::host::TransactionKind;
use crate::measured::{
    NotedGtid, TransactionBegun, TransactionMode, TransactionState, WholeTransaction, XaState,
};
use binlog::Xid;
use engine::{CommitOptions, CommitOutcome, GtidNext, Isolation, Transaction};

/// The parts of a session that its transactions need.
pub(super) struct Transacting<'s> {
    pub server: &'s ServerHandles,
    pub settings: &'s mut Settings,
    pub locks: &'s SessionLocks,
    pub of: &'s mut SessionTransaction,
}

/// The access mode (whether it is READ ONLY) and the isolation level that COMMIT AND CHAIN passes
/// on.
pub(super) type Chained = (bool, Option<Isolation>);

/// Returns how a transaction stands which should have been committed.
fn state_after(succeeded: bool) -> TransactionState {
    if succeeded { TransactionState::Committed } else { TransactionState::RolledBack }
}

/// Returns the GTID that a transaction was committed under. One without changes needs none.
fn gtid_of(outcome: &CommitOutcome, has_changes: bool) -> Option<NotedGtid> {
    match outcome.gtid {
        Some(gtid) => Some(GtidNext::Given(gtid).into()),
        None => has_changes.then(|| GtidNext::Anonymous.into()),
    }
}

impl Transacting<'_> {
    /// Takes the open transaction out of the session, or begins a new one, for a statement.
    pub fn take(&mut self) -> Box<Transaction> {
        match self.of.open.take() {
            Some(transaction) => transaction,
            None => {
                let mut transaction = self.new_transaction();
                transaction.set_autocommit(!self.of.explicit && self.settings.variables.autocommit);
                transaction
            }
        }
    }

    fn new_transaction(&mut self) -> Box<Transaction> {
        assert!(self.of.open.is_none(), "a session is in one transaction at a time");
        let variables = &self.settings.variables;
        let isolation = self.of.next_isolation.take().unwrap_or(variables.isolation);
        let read_only = self.of.next_read_only.take().unwrap_or(variables.transaction_read_only);
        let mut transaction = self.server.engine.begin_in(self.of.spent.take(), isolation);
        transaction.set_read_only(read_only);
        transaction.set_connection_id(u64::from(self.server.host.connection_id()));
        let kind = TransactionKind {
            isolation,
            read_only,
            unique_checks: variables.unique_checks,
            foreign_key_checks: variables.foreign_key_checks,
        };
        self.server.host.note_transaction(transaction.id(), kind);
        transaction.set_row_image(variables.row_image);
        transaction.set_row_lock_timeout_ms(variables.innodb_lock_wait_timeout_s * 1000);
        transaction.set_metadata_lock_timeout_ms(variables.lock_wait_timeout_s * 1000);
        transaction.set_interrupt(self.server.interrupt.clone());
        transaction.set_memory_budget(self.server.memory.clone());
        self.locks.put_under(&mut transaction);
        self.of.read_only = read_only;
        transaction
    }

    /// Ends a transaction without committing anything, and waits until everyone can see what it has
    /// seen.
    fn end_unchanged(&mut self, transaction: Box<Transaction>) {
        let seen = transaction.depends_on();
        self.of.spend(transaction);
        self.server.engine.wait_visible(seen);
    }

    fn commit_options(&self) -> CommitOptions<'static> {
        self.of.commit_options(&self.settings.variables)
    }

    /// Returns the options for the commit of a transaction that may have changes, after checking
    /// that they may be committed: `read_only` may have been turned on since they were made. When
    /// it is turned on after this check, the engine refuses the commit.
    fn checked_commit_options(&self, transaction: &Transaction) -> Result<CommitOptions<'static>> {
        let options = self.commit_options();
        if !transaction.has_changes() {
            return Ok(options);
        }
        self.server.check_writable()?;
        Ok(CommitOptions { refused_from: self.server.host.commits_refused_from(), ..options })
    }

    /// Begins an explicit transaction. The caller has committed the open one and released the table
    /// locks.
    ///
    /// # Errors
    /// Returns 1290 for READ WRITE on a read-only server, and 1837 when `gtid_next` has been used.
    pub fn begin(&mut self, snapshot: bool, read_only: Option<bool>) -> Result<()> {
        assert!(!self.of.is_begun(), "what was open is committed before BEGIN");
        self.check_gtid_next()?;
        if read_only == Some(false) && self.server.check_writable().is_err() {
            return Err(SqlError::option_prevents("--read-only"));
        }
        if read_only.is_some() {
            self.of.next_read_only = read_only;
        }
        assert!(self.of.savepoints.is_empty(), "the savepoints have ended with their transaction");
        let mut transaction = self.new_transaction();
        if snapshot && transaction.isolation() == Isolation::RepeatableRead {
            transaction.open_snapshot()?;
        }
        self.note_begun(&transaction);
        self.of.open = Some(transaction);
        self.of.explicit = true;
        Ok(())
    }

    /// Commits the open transaction.
    ///
    /// # Errors
    /// Returns 1399 within an XA transaction, which only XA statements end, 1290 for changes on a
    /// server that is read-only by now, and the errors of the commit. After these, no transaction
    /// is open either.
    pub fn commit(&mut self) -> Result<()> {
        self.of.xa.check_none()?;
        let committed = match self.of.open.take() {
            // The GTID had been executed before, so nothing was done in the transaction.
            Some(_) if self.of.gtid.is_executed() => {
                self.note_ended(TransactionState::RolledBack, None);
                self.spend_gtid();
                Ok(())
            }
            // Under the session's own read lock, an empty commit under a GTID would wait for
            // itself.
            Some(mut transaction) if self.locks.has_read_lock() => {
                let options = CommitOptions { gtid: GtidNext::Anonymous, ..self.commit_options() };
                let committed = transaction.commit_in_place(&options);
                self.note_ended(state_after(committed.is_ok()), None);
                committed.map(|_| ())
            }
            Some(transaction) => {
                let has_changes = transaction.has_changes();
                if let Some(engines) = self.engines_of(&transaction) {
                    engine_counts::count_commit(self.server, engines);
                }
                let committed = self.commit_or_end(transaction);
                let gtid = committed.as_ref().ok().and_then(|outcome| gtid_of(outcome, has_changes));
                self.note_ended(state_after(committed.is_ok()), gtid);
                let committed = committed.map(|_| ());
                self.spend_gtid();
                self.of.forget();
                return committed;
            }
            None => Ok(()),
        };
        self.of.forget();
        Ok(committed?)
    }

    /// Ends the open transaction, and keeps the session's GTID for the next one if the transaction
    /// has changed nothing.
    ///
    /// # Errors
    /// Returns the errors of [`Transacting::commit`].
    pub fn give_up_empty(&mut self) -> Result<()> {
        let has_changes = |open: &Transaction| open.has_changes() || open.has_temporary_changes();
        if self.of.open.as_deref().is_some_and(has_changes) {
            return self.commit();
        }
        self.of.xa.check_none()?;
        if let Some(transaction) = self.of.open.take() {
            self.end_unchanged(transaction);
            self.note_ended(TransactionState::Committed, None);
        }
        self.of.forget();
        Ok(())
    }

    /// Commits an empty transaction for a session that owns a GTID and has begun nothing.
    ///
    /// # Errors
    /// Returns the errors of the commit.
    pub fn commit_empty(&mut self) -> Result<()> {
        if self.of.open.is_none() && self.of.gtid.is_owned() && !self.locks.has_read_lock() {
            self.server.engine.commit_empty(&self.commit_options())?;
        }
        Ok(())
    }

    /// Rolls back the open transaction, and leaves the XA transaction if it is one.
    pub fn rollback(&mut self) {
        if let Some(transaction) = self.of.open.take() {
            self.server.counters.handler_rollback.add(self.engines_of(&transaction).unwrap_or(0));
            self.end_unchanged(transaction);
            self.note_ended(TransactionState::RolledBack, None);
            self.spend_gtid();
        }
        self.of.forget();
        if let Some(xid) = self.of.xa.leave() {
            // The XA transaction is prepared, and any session may finish it.
            self.server.engine.detach_xa(&xid);
        }
    }

    /// Returns what COMMIT or ROLLBACK AND CHAIN passes on, or `None` if nothing is chained.
    pub fn chained(&self, chain: bool) -> Option<Chained> {
        let isolation = self.of.open.as_deref().map(Transaction::isolation);
        chain.then_some((self.of.read_only, isolation))
    }

    /// Sets what the next transaction takes over from the one before it.
    pub fn continue_as(&mut self, (read_only, isolation): Chained) {
        self.of.next_read_only = Some(read_only);
        self.of.next_isolation = isolation.or(self.of.next_isolation);
    }

    /// Sets a savepoint.
    ///
    /// # Errors
    /// Returns the error of an XA transaction that is past its statements.
    pub fn savepoint(&mut self, name: &str) -> Result<()> {
        self.of.xa.check_active()?;
        if self.of.open.is_none() {
            if self.settings.variables.autocommit && !self.of.explicit {
                // Alone in its transaction, the savepoint is gone at once.
                return Ok(());
            }
            let transaction = self.new_transaction();
            self.note_begun(&transaction);
            self.of.open = Some(transaction);
        }
        let engines = self.of.open.as_deref().and_then(|open| self.engines_of(open));
        self.server.counters.handler_savepoint.add(engines.unwrap_or(0));
        self.of.add_savepoint(name);
        Ok(())
    }

    /// Rolls back to a savepoint of the open transaction.
    ///
    /// # Errors
    /// Returns 1305 (`ER_SP_DOES_NOT_EXIST`) when there is no savepoint with this name.
    pub fn rollback_to(&mut self, name: &str) -> Result<()> {
        let engines = self.of.open.as_deref().and_then(|open| self.engines_of(open));
        self.of.rollback_to(name)?;
        self.server.counters.handler_savepoint_rollback.add(engines.unwrap_or(0));
        Ok(())
    }

    /// Returns how many engines take part in a transaction. `None` means that it has used nothing.
    fn engines_of(&self, transaction: &Transaction) -> Option<u64> {
        let engines =
            || engine_counts::engines(self.server, &self.settings.variables, transaction.has_changes());
        (!transaction.is_untouched()).then(engines)
    }

    /// Ends a statement that had this transaction, whatever its outcome. `tells` says that the
    /// client may tell other clients what the statement answered, so that their statements have to
    /// find the same.
    ///
    /// # Errors
    /// Returns the error of the statement, or of the commit if the statement was a transaction of
    /// its own.
    pub fn finish_statement<T>(
        &mut self,
        transaction: Box<Transaction>,
        outcome: Result<T>,
        tells: bool,
    ) -> Result<T> {
        assert!(self.of.open.is_none(), "a statement has the transaction until it has ended");
        match outcome {
            Err(error) if self.server.ends_transaction(&error) => {
                self.note_rolled_back(&transaction);
                self.end_unchanged(transaction);
                self.spend_gtid();
                self.of.forget();
                self.of.xa.note_rolled_back(&error);
                Err(error)
            }
            outcome => {
                self.end_statement(transaction, outcome.is_ok(), tells)?;
                outcome
            }
        }
    }

    /// Commits after a statement with autocommit, or leaves the transaction open.
    fn end_statement(&mut self, transaction: Box<Transaction>, succeeded: bool, tells: bool) -> Result<()> {
        if self.of.explicit || !self.settings.variables.autocommit {
            if tells {
                self.server.engine.wait_visible(transaction.depends_on());
            }
            if !self.of.is_noted && !transaction.is_untouched() {
                self.note_begun(&transaction);
            }
            self.of.open = Some(transaction);
            return Ok(());
        }
        let whole = self.whole_of(&transaction);
        self.of.read_only = false;
        if !succeeded || !(transaction.has_changes() || transaction.has_temporary_changes()) {
            self.end_unchanged(transaction);
            self.note_whole(whole, state_after(succeeded), None);
            return Ok(());
        }
        let has_changes = transaction.has_changes();
        let committed = self.commit_or_end(transaction);
        let gtid = committed.as_ref().ok().and_then(|outcome| gtid_of(outcome, has_changes));
        self.note_whole(whole, state_after(committed.is_ok()), gtid);
        self.spend_gtid();
        committed.map(|_| ())
    }

    /// Commits a transaction that may have changes, or ends it when its changes are refused.
    fn commit_or_end(&mut self, mut transaction: Box<Transaction>) -> Result<CommitOutcome> {
        match self.checked_commit_options(&transaction) {
            Ok(options) => {
                let committed = transaction.commit_in_place(&options);
                self.of.spend(transaction);
                committed.map_err(SqlError::from)
            }
            Err(refused) => {
                self.end_unchanged(transaction);
                Err(refused)
            }
        }
    }

    /// Notes that a transaction begins which may have several statements.
    fn note_begun(&mut self, transaction: &Transaction) {
        self.of.is_noted = true;
        // A statement of a stored program may have been a transaction before this one.
        self.give_whole();
        let Some(measured) = &self.server.measured else { return };
        measured.begin_transaction(&TransactionBegun {
            id: transaction.id(),
            mode: TransactionMode {
                isolation: transaction.isolation(),
                read_only: self.of.read_only,
                autocommit: false,
            },
            gtid: self.of.gtid.next.into(),
            xid: self.of.xa.0.as_ref().map(|branch| branch.xid),
            ticks: os::clock::ticks(),
        });
    }

    /// Notes that the open transaction has ended. `gtid` is the one that it was committed under.
    fn note_ended(&self, state: TransactionState, gtid: Option<NotedGtid>) {
        if let Some(measured) = self.server.measured.as_ref().filter(|_| self.of.is_noted) {
            measured.end_transaction(state, gtid);
        }
    }

    /// Notes that a statement's error rolls its transaction back.
    fn note_rolled_back(&mut self, transaction: &Transaction) {
        if self.of.is_noted {
            return self.note_ended(TransactionState::RolledBack, None);
        }
        let whole = self.whole_of(transaction);
        self.note_whole(whole, TransactionState::RolledBack, None);
    }

    /// Notes that the open XA transaction is prepared, under the GTID of XA PREPARE if it has one.
    fn note_prepared(&self, gtid: Option<NotedGtid>) {
        if let Some(measured) = &self.server.measured {
            measured.set_prepared(gtid);
        }
    }

    /// Notes the stage of the open XA transaction.
    fn note_xa(&self, state: XaState) {
        if let Some(measured) = &self.server.measured {
            measured.set_xa_state(state);
        }
    }

    /// Notes that an XA transaction which was prepared has ended.
    fn note_xa_ended(&self, xid: &Xid, state: TransactionState) {
        if let Some(measured) = &self.server.measured {
            measured.end_xa(xid, state);
        }
    }

    /// Returns what is known of a statement's own transaction before it ends. `None` where
    /// transactions are not measured, and where it has used nothing.
    #[inline]
    fn whole_of(&self, transaction: &Transaction) -> Option<WholeTransaction> {
        if self.server.measured.is_none() || transaction.is_untouched() {
            return None;
        }
        Some(WholeTransaction {
            id: Some(transaction.id()),
            state: TransactionState::Active,
            mode: TransactionMode {
                isolation: transaction.isolation(),
                read_only: self.of.read_only,
                autocommit: !self.of.explicit && self.settings.variables.autocommit,
            },
            has_gtid: false,
        })
    }

    /// Notes that a statement's own transaction has ended.
    #[inline]
    fn note_whole(
        &mut self,
        whole: Option<WholeTransaction>,
        state: TransactionState,
        gtid: Option<NotedGtid>,
    ) {
        let Some(mut whole) = whole else { return };
        // A statement of a stored program ends before the client's statement does.
        self.give_whole();
        whole.state = state;
        let next = &self.of.gtid.next;
        if gtid.is_some() || !matches!(next, GtidNext::Automatic | GtidNext::AutomaticTagged(_)) {
            whole.has_gtid = true;
            self.of.whole_gtid = gtid.unwrap_or_else(|| (*next).into());
        }
        self.of.whole = Some(whole);
    }

    /// Gives what was noted of a statement's own transaction to the measuring.
    #[inline]
    fn give_whole(&mut self) {
        if let (Some(before), Some(measured)) = (self.of.whole.take(), &self.server.measured) {
            measured.add_whole((&before, &self.of.whole_gtid));
        }
    }

    /// Notes the transaction of a change of definitions that has succeeded. It has no number.
    pub fn note_definition(&mut self) {
        let committed = self.of.noted.take();
        if self.server.measured.is_none() {
            return;
        }
        let variables = &self.settings.variables;
        let mode = TransactionMode {
            isolation: variables.isolation,
            read_only: variables.transaction_read_only,
            autocommit: false,
        };
        // A statement that had nothing to change has no GTID, unless the session has set one.
        let gtid = committed.and_then(|outcome| gtid_of(&outcome, true));
        let whole = WholeTransaction { id: None, state: TransactionState::Active, mode, has_gtid: false };
        self.note_whole(Some(whole), TransactionState::Committed, gtid);
    }
}
