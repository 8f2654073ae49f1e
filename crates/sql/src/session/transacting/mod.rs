//! How a session's transactions begin and end.
//!
//! Nothing here knows of the session: a [`Transacting`] borrows the parts of it that a transaction
//! is made of.

mod gtid;
mod xa;

use super::state::{ServerHandles, SessionLocks, SessionTransaction, Settings};
use crate::error::{Result, SqlError};
use engine::{CommitOptions, GtidNext, Isolation, Transaction};

/// The parts of a session that its transaction begins with and leaves something in.
pub(super) struct Transacting<'s> {
    pub server: &'s ServerHandles,
    pub settings: &'s mut Settings,
    pub locks: &'s SessionLocks,
    pub of: &'s mut SessionTransaction,
}

/// What COMMIT AND CHAIN takes over: the access mode and the isolation level.
pub(super) type Chained = (bool, Option<Isolation>);

impl Transacting<'_> {
    /// The open transaction, or a new one, taken out of the session while a statement runs.
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
        let mut transaction = Box::new(self.server.engine.begin(isolation));
        transaction.set_read_only(read_only);
        transaction.set_connection_id(u64::from(self.server.host.connection_id()));
        self.server.host.note_transaction(transaction.id());
        transaction.set_row_image(variables.row_image);
        transaction.set_row_lock_timeout_ms(variables.innodb_lock_wait_timeout_s * 1000);
        transaction.set_metadata_lock_timeout_ms(variables.lock_wait_timeout_s * 1000);
        transaction.set_interrupt(self.server.interrupt.clone());
        transaction.set_memory_budget(self.server.memory.clone());
        self.locks.put_under(&mut transaction);
        self.of.read_only = read_only;
        transaction
    }

    fn commit_options(&self) -> CommitOptions<'static> {
        self.of.commit_options(&self.settings.variables)
    }

    /// BEGIN, after what was open has been committed and let go.
    ///
    /// # Errors
    /// 1290 for READ WRITE on a server that is read-only; 1837.
    pub fn begin(&mut self, snapshot: bool, read_only: Option<bool>) -> Result<()> {
        assert!(!self.of.is_begun(), "what was open is committed before BEGIN");
        self.check_gtid_next()?;
        if read_only == Some(false) && self.server.check_writable().is_err() {
            return Err(SqlError::option_prevents("--read-only"));
        }
        if read_only.is_some() {
            self.of.next_read_only = read_only;
        }
        let mut transaction = self.new_transaction();
        if snapshot {
            transaction.open_snapshot()?;
        }
        self.of.open = Some(transaction);
        self.of.explicit = true;
        Ok(())
    }

    /// Commits what is open.
    ///
    /// # Errors
    /// 1399 within an XA transaction, which its own statements end; those of the commit, after
    /// which nothing is open either.
    pub fn commit(&mut self) -> Result<()> {
        self.of.xa.check_none()?;
        let committed = match self.of.open.take() {
            // Executed before: nothing was done in it.
            Some(_) if self.of.gtid.is_executed() => {
                self.spend_gtid();
                Ok(())
            }
            // An empty one under a GTID would wait for itself.
            Some(mut transaction) if self.locks.has_read_lock() => {
                let options = CommitOptions { gtid: GtidNext::Anonymous, ..self.commit_options() };
                transaction.commit_in_place(&options).map(|_| ())
            }
            Some(mut transaction) => {
                let committed = transaction.commit_in_place(&self.commit_options()).map(|_| ());
                self.spend_gtid();
                committed
            }
            None => Ok(()),
        };
        self.of.forget();
        Ok(committed?)
    }

    /// COMMIT of a session that owns a GTID and has begun nothing: an empty transaction has it.
    ///
    /// # Errors
    /// Those of the commit.
    pub fn commit_empty(&mut self) -> Result<()> {
        if self.of.open.is_none() && self.of.gtid.is_owned() && !self.locks.has_read_lock() {
            self.server.engine.commit_empty(&self.commit_options())?;
        }
        Ok(())
    }

    /// Rolls back what is open, and leaves the XA transaction, if that is one.
    pub fn rollback(&mut self) {
        if let Some(transaction) = self.of.open.take() {
            self.server.end_unchanged(transaction);
            self.spend_gtid();
        }
        self.of.forget();
        if let Some(xid) = self.of.xa.leave() {
            // It is prepared: some session finishes it.
            self.server.engine.detach_xa(&xid);
        }
    }

    /// What COMMIT or ROLLBACK AND CHAIN hands on; `None` where nothing is chained.
    pub fn chained(&self, chain: bool) -> Option<Chained> {
        let isolation = self.of.open.as_deref().map(Transaction::isolation);
        chain.then_some((self.of.read_only, isolation))
    }

    /// What the next transaction takes over from the one before it.
    pub fn continue_as(&mut self, (read_only, isolation): Chained) {
        self.of.next_read_only = Some(read_only);
        self.of.next_isolation = isolation.or(self.of.next_isolation);
    }

    /// SAVEPOINT.
    ///
    /// # Errors
    /// Those of an XA transaction that is past its statements.
    pub fn savepoint(&mut self, name: &str) -> Result<()> {
        self.of.xa.check_active()?;
        if self.of.open.is_none() {
            if self.settings.variables.autocommit && !self.of.explicit {
                // Alone in its transaction, it is gone at once.
                return Ok(());
            }
            self.of.open = Some(self.new_transaction());
        }
        self.of.add_savepoint(name);
        Ok(())
    }

    /// The end of a statement in this transaction, whatever came of it. With `tells` the client may
    /// tell other clients of the statement's answer, and their statements have to find it too.
    ///
    /// # Errors
    /// The statement's own; those of the commit of a transaction that is the statement's alone.
    pub fn finish_statement<T>(
        &mut self,
        transaction: Box<Transaction>,
        outcome: Result<T>,
        tells: bool,
    ) -> Result<T> {
        assert!(self.of.open.is_none(), "a statement has the transaction until it has ended");
        match outcome {
            Err(error) if self.server.ends_transaction(&error) => {
                self.server.end_unchanged(transaction);
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

    /// After a statement: autocommit, or the transaction stays open.
    fn end_statement(
        &mut self,
        mut transaction: Box<Transaction>,
        succeeded: bool,
        tells: bool,
    ) -> Result<()> {
        if self.of.explicit || !self.settings.variables.autocommit {
            if tells {
                self.server.engine.wait_visible(transaction.depends_on());
            }
            self.of.open = Some(transaction);
            return Ok(());
        }
        self.of.read_only = false;
        if !succeeded || !(transaction.has_changes() || transaction.has_temporary_changes()) {
            self.server.end_unchanged(transaction);
            return Ok(());
        }
        let committed = transaction.commit_in_place(&self.commit_options());
        self.spend_gtid();
        committed?;
        Ok(())
    }
}
