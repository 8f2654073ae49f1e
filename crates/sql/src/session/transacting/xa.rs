//! `XA START` to `XA PREPARE`, and the end of prepared transactions, whichever session has begun
//! them.
//!
//! The states, refusals and error numbers are those of MySQL 9.7 (`testkit/tests/xa.rs` compares).

use super::{Transacting, engine_counts, gtid_of, state_after};
use crate::ast::XaStart;
use crate::error::Result;
use crate::measured::{TransactionState, XaState};
use crate::session::state::{
    RB_ROLLBACK, SessionXa, Stage, XaOfSession as Branch, inval, nota, outside, rolled_back,
};
use binlog::Xid;
use engine::XaFinish;

impl Transacting<'_> {
    /// Runs XA START.
    ///
    /// # Errors
    /// Returns 1397 to 1400, and 1440 for an XID that is in use.
    pub fn start_xa(&mut self, xid: &Xid, how: XaStart) -> Result<()> {
        if self.of.xa.resume(xid, how)? {
            self.note_xa(XaState::Active);
            return Ok(());
        }
        if self.locks.has_tables() || self.of.is_used() {
            return Err(outside());
        }
        self.check_gtid_next()?;
        assert!(!self.of.xa.is_begun(), "a session is in one XA transaction at a time");
        let place = self.server.engine.begin_xa(*xid)?;
        // Without autocommit, a statement may have begun a transaction that has touched nothing.
        self.of.open = None;
        let mut transaction = self.new_transaction();
        transaction.set_xid(*xid);
        self.of.xa = SessionXa(Some(Branch { xid: *xid, stage: Stage::Active, place: Some(place) }));
        self.note_begun(&transaction);
        self.of.open = Some(transaction);
        self.of.explicit = true;
        Ok(())
    }

    /// Runs XA END.
    ///
    /// # Errors
    /// Returns 1398 for SUSPEND, 1397 for another XID, 1399 in a wrong state, and the reason when
    /// the transaction was rolled back.
    pub fn end_xa(&mut self, xid: &Xid, suspend: bool) -> Result<()> {
        if suspend {
            return Err(inval());
        }
        self.of.xa.end(xid)?;
        self.note_xa(XaState::Idle);
        Ok(())
    }

    /// Runs XA PREPARE.
    ///
    /// # Errors
    /// Returns 1397 for another XID, 1399 in a wrong state, and 1402 when the transaction could not
    /// be prepared and was rolled back.
    pub fn prepare_xa(&mut self, xid: &Xid) -> Result<()> {
        self.of.xa.check_preparable(xid)?;
        if self.of.open.as_ref().is_some_and(|transaction| transaction.has_changes()) {
            self.locks.check_writable(self.server)?;
        }
        let is_executed = self.of.gtid.is_executed();
        let place = self.of.xa.0.take().and_then(|branch| branch.place);
        let transaction = self.of.open.take();
        self.spend_gtid();
        self.of.forget();
        let (Some(place), Some(transaction)) = (place, transaction) else { return Err(nota()) };
        if is_executed {
            self.note_xa_ended(xid, TransactionState::RolledBack);
            transaction.rollback();
            return Ok(());
        }
        let attached = !self.settings.variables.kept_on("xa_detach_on_prepare");
        let has_changes = transaction.has_changes();
        if has_changes {
            let engines = engine_counts::engines(self.server, &self.settings.variables, true);
            self.server.counters.handler_prepare.add(engines);
        }
        match transaction.prepare_xa(place, attached, &self.commit_options()) {
            Ok(outcome) => self.note_prepared(gtid_of(&outcome, has_changes)),
            Err(error) => {
                log::error!("XA PREPARE {xid}: {error}");
                self.note_xa_ended(xid, TransactionState::RolledBack);
                return Err(rolled_back(RB_ROLLBACK));
            }
        }
        if attached {
            self.of.xa = SessionXa(Some(Branch { xid: *xid, stage: Stage::Prepared, place: None }));
        }
        Ok(())
    }

    /// Runs XA COMMIT.
    ///
    /// # Errors
    /// Returns 1397 for an unknown XID, 1399 in a wrong state, and the reason when the transaction
    /// was rolled back.
    pub fn commit_xa(&mut self, xid: &Xid, one_phase: bool) -> Result<()> {
        match (self.of.xa.stage_of(xid), one_phase) {
            (None, _) => self.finish_others_xa(xid, true),
            (Some(Stage::RollbackOnly(code)), _) => {
                self.rollback();
                Err(rolled_back(code))
            }
            (Some(Stage::Idle), true) => {
                // The XID stays in use until the transaction has been committed.
                let _place = self.of.xa.0.take();
                self.commit()
            }
            (Some(Stage::Prepared), false) => self.finish_own_xa(xid, true),
            (Some(_), _) => Err(self.of.xa.rmfail()),
        }
    }

    /// Runs XA ROLLBACK.
    ///
    /// # Errors
    /// Returns 1397 for an unknown XID, and 1399 in a wrong state.
    pub fn rollback_xa(&mut self, xid: &Xid) -> Result<()> {
        match self.of.xa.stage_of(xid) {
            None => self.finish_others_xa(xid, false),
            Some(Stage::Idle | Stage::RollbackOnly(_)) => {
                self.rollback();
                Ok(())
            }
            Some(Stage::Prepared) => self.finish_own_xa(xid, false),
            Some(Stage::Active) => Err(self.of.xa.rmfail()),
        }
    }

    /// Finishes a prepared transaction that is not this session's.
    fn finish_others_xa(&mut self, xid: &Xid, commit: bool) -> Result<()> {
        if self.of.xa.is_begun() || self.of.is_used() {
            return Err(self.of.xa.rmfail());
        }
        if self.check_gtid_next()? {
            self.spend_gtid();
            return Ok(());
        }
        self.finish_xa(xid, commit, false)
    }

    fn finish_own_xa(&mut self, xid: &Xid, commit: bool) -> Result<()> {
        self.finish_xa(xid, commit, true)?;
        self.of.xa = SessionXa::default();
        Ok(())
    }

    fn finish_xa(&mut self, xid: &Xid, commit: bool, by_its_session: bool) -> Result<()> {
        if self.server.engine.is_prepared(xid) {
            self.locks.check_writable(self.server)?;
        }
        let finish = XaFinish { commit, by_its_session, events: None };
        self.server.engine.finish_xa(xid, &finish, &self.commit_options())?;
        self.note_xa_ended(xid, state_after(commit));
        self.spend_gtid();
        Ok(())
    }
}
