//! BEGIN, COMMIT, ROLLBACK, savepoints.

use super::Session;
use crate::ast::Statement;
use crate::error::{Result, SqlError};
use crate::expr::Level;
use crate::sink::ResultSink;
use engine::{CommitOptions, GtidNext, Isolation, Transaction};

impl Session {
    /// The open transaction, or a new one, taken out of the session while a statement runs.
    pub(super) fn take_transaction(&mut self) -> Result<Box<Transaction>> {
        match self.transaction.open.take() {
            Some(transaction) => Ok(transaction),
            None => {
                let mut transaction = self.new_transaction();
                transaction.set_autocommit(!self.transaction.explicit && self.settings.variables.autocommit);
                Ok(transaction)
            }
        }
    }

    pub(super) fn new_transaction(&mut self) -> Box<Transaction> {
        let isolation = self.transaction.next_isolation.take().unwrap_or(self.settings.variables.isolation);
        let read_only =
            self.transaction.next_read_only.take().unwrap_or(self.settings.variables.transaction_read_only);
        let mut transaction = Box::new(self.server.engine.begin(isolation));
        transaction.set_read_only(read_only);
        transaction.set_connection_id(u64::from(self.server.host.connection_id()));
        self.server.host.note_transaction(transaction.id());
        transaction.set_row_image(self.settings.variables.row_image);
        transaction.set_row_lock_timeout_ms(self.settings.variables.innodb_lock_wait_timeout_s * 1000);
        transaction.set_metadata_lock_timeout_ms(self.settings.variables.lock_wait_timeout_s * 1000);
        transaction.set_interrupt(self.server.interrupt.clone());
        self.locks.put_under(&mut transaction);
        self.transaction.read_only = read_only;
        transaction
    }

    /// The transaction is over, whoever ended it.
    pub(super) fn forget_transaction(&mut self) {
        self.transaction.forget();
    }

    pub(super) fn rollback_transaction(&mut self) {
        if let Some(transaction) = self.transaction.open.take() {
            self.server.end_unchanged(transaction);
            self.spend_gtid();
        }
        self.forget_transaction();
        self.leave_xa();
    }

    pub(super) fn commit_transaction(&mut self) -> Result<()> {
        self.xa.check_none()?;
        let committed = match self.transaction.open.take() {
            // Executed before: nothing was done in it.
            Some(_) if self.next_gtid.is_executed() => {
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
        self.forget_transaction();
        Ok(committed?)
    }

    /// What commits and then changes more than rows is no part of a transaction, and is refused
    /// when all of the session's are READ ONLY.
    pub(super) fn check_session_writable(&self) -> Result<()> {
        if self.settings.variables.transaction_read_only {
            return Err(SqlError::new(1792, "Cannot execute statement in a READ ONLY transaction."));
        }
        Ok(())
    }

    /// read_only and super_read_only, and one's own global read lock.
    pub(super) fn check_writable(&self) -> Result<()> {
        if self.locks.has_read_lock() {
            let text = "Can't execute the query because you have a conflicting read lock";
            return Err(SqlError::new(1223, text));
        }
        self.server.check_writable()
    }

    /// Statements about transactions; false when it is none.
    pub(super) fn run_transaction(
        &mut self,
        statement: &Statement,
        sink: &mut dyn ResultSink,
    ) -> Result<bool> {
        let mut stays = Vec::new();
        match statement {
            Statement::Begin { snapshot, read_only } => self.begin(*snapshot, *read_only)?,
            Statement::Commit { chain, release } => {
                let chained = self.chained(*chain);
                if self.transaction.open.is_none() && self.next_gtid.is_owned() && !self.locks.has_read_lock()
                {
                    self.server.engine.commit_empty(&self.commit_options())?;
                }
                self.commit_transaction()?;
                self.spend_gtid();
                self.after_completion(chained, *release)?;
            }
            Statement::Rollback { chain, release } => {
                self.xa.check_none()?;
                let chained = self.chained(*chain);
                stays = self.transaction.stays_of_temporary();
                self.rollback_transaction();
                self.spend_gtid();
                self.after_completion(chained, *release)?;
            }
            Statement::Xa(xa) => return self.run_xa(xa, sink).map(|()| true),
            Statement::Savepoint(name) => self.savepoint(name)?,
            Statement::RollbackTo(name) => {
                self.xa.check_active()?;
                let at = self.transaction.find_savepoint(name)?;
                self.transaction.savepoints.truncate(at + 1);
                let savepoint = self.transaction.savepoints[at].1;
                if let Some(transaction) = &mut self.transaction.open {
                    transaction.rollback_to_savepoint(savepoint);
                }
            }
            Statement::ReleaseSavepoint(name) => {
                let at = self.transaction.find_savepoint(name)?;
                self.transaction.savepoints.truncate(at);
            }
            _ => return Ok(false),
        }
        self.statement.diagnostics.borrow_mut().clear();
        for (code, text) in stays {
            self.statement.diagnostics.borrow_mut().push(Level::Warning, code, text);
        }
        self.ok(sink)?;
        Ok(true)
    }

    fn begin(&mut self, snapshot: bool, read_only: Option<bool>) -> Result<()> {
        self.commit_transaction()?;
        self.let_tables_go();
        self.check_gtid_next()?;
        if read_only == Some(false) && self.server.check_writable().is_err() {
            return Err(SqlError::option_prevents("--read-only"));
        }
        if read_only.is_some() {
            self.transaction.next_read_only = read_only;
        }
        let mut transaction = self.new_transaction();
        if snapshot {
            transaction.open_snapshot()?;
        }
        self.transaction.open = Some(transaction);
        self.transaction.explicit = true;
        Ok(())
    }

    /// What COMMIT AND CHAIN takes over: the access mode and the isolation level.
    fn chained(&self, chain: bool) -> Option<(bool, Option<Isolation>)> {
        let isolation = self.transaction.open.as_deref().map(Transaction::isolation);
        chain.then_some((self.transaction.read_only, isolation))
    }

    fn after_completion(&mut self, chained: Option<(bool, Option<Isolation>)>, release: bool) -> Result<()> {
        if let Some((read_only, isolation)) = chained {
            self.transaction.next_read_only = Some(read_only);
            self.transaction.next_isolation = isolation.or(self.transaction.next_isolation);
            self.begin(false, None)?;
        }
        self.client.closing |= release;
        Ok(())
    }

    fn savepoint(&mut self, name: &str) -> Result<()> {
        self.xa.check_active()?;
        if self.transaction.open.is_none() {
            if self.settings.variables.autocommit && !self.transaction.explicit {
                // Alone in its transaction, it is gone at once.
                return Ok(());
            }
            self.transaction.open = Some(self.new_transaction());
        }
        self.transaction.savepoints.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        if let Some(transaction) = &mut self.transaction.open {
            self.transaction.savepoints.push((name.to_owned(), transaction.savepoint()));
        }
        Ok(())
    }
}
