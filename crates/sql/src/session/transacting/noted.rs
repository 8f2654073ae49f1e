//! Transactions are noted for performance_schema, when they begin and when they end.

use super::Transacting;
use crate::measured::{
    NotedGtid, TransactionBegun, TransactionMode, TransactionState, WholeTransaction, XaState,
};
use binlog::Xid;
use engine::{CommitOutcome, GtidNext, Transaction};

/// Returns how a transaction stands which should have been committed.
pub(super) fn state_after(succeeded: bool) -> TransactionState {
    if succeeded { TransactionState::Committed } else { TransactionState::RolledBack }
}

/// Returns the GTID that a transaction was committed under. One without changes needs none.
pub(super) fn gtid_of(outcome: &CommitOutcome, has_changes: bool) -> Option<NotedGtid> {
    match outcome.gtid {
        Some(gtid) => Some(GtidNext::Given(gtid).into()),
        None => has_changes.then(|| GtidNext::Anonymous.into()),
    }
}

impl Transacting<'_> {
    /// Notes that a transaction begins which may have several statements.
    pub(super) fn note_begun(&mut self, transaction: &Transaction) {
        self.of.is_noted = true;
        let Some(measured) = &self.server.measured else { return };
        // A statement of a stored program may have been a transaction before this one.
        if let Some(before) = self.of.whole.take() {
            measured.add_whole(&before);
        }
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
    pub(super) fn note_ended(&self, state: TransactionState, gtid: Option<NotedGtid>) {
        if let Some(measured) = self.server.measured.as_ref().filter(|_| self.of.is_noted) {
            measured.end_transaction(state, gtid);
        }
    }

    /// Notes that a statement's error rolls its transaction back.
    pub(super) fn note_rolled_back(&mut self, transaction: &Transaction) {
        if self.of.is_noted {
            return self.note_ended(TransactionState::RolledBack, None);
        }
        let whole = self.whole_of(transaction);
        self.note_whole(whole, TransactionState::RolledBack, None);
    }

    /// Notes the stage of the open XA transaction.
    pub(super) fn note_xa(&self, state: XaState) {
        if let Some(measured) = &self.server.measured {
            measured.set_xa_state(state);
        }
    }

    /// Notes that an XA transaction which was prepared has ended.
    pub(super) fn note_xa_ended(&self, xid: &Xid, state: TransactionState) {
        if let Some(measured) = &self.server.measured {
            measured.end_xa(xid, state);
        }
    }

    /// Returns what is known of a statement's own transaction before it ends. `None` where
    /// transactions are not measured, and where it has used nothing.
    #[inline]
    pub(super) fn whole_of(&self, transaction: &Transaction) -> Option<WholeTransaction> {
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
            gtid: self.of.gtid.next.into(),
        })
    }

    /// Notes that a statement's own transaction has ended.
    #[inline]
    pub(super) fn note_whole(
        &mut self,
        whole: Option<WholeTransaction>,
        state: TransactionState,
        gtid: Option<NotedGtid>,
    ) {
        let Some(mut whole) = whole else { return };
        whole.state = state;
        if let Some(gtid) = gtid {
            whole.gtid = gtid;
        }
        let before = self.of.whole.replace(whole);
        // A statement of a stored program ends before the client's statement does.
        if let (Some(before), Some(measured)) = (before, &self.server.measured) {
            measured.add_whole(&before);
        }
    }

    /// Notes the transaction of a change of definitions that has succeeded. Its number and its GTID
    /// are not known here.
    pub fn note_definition(&mut self) {
        if self.server.measured.is_none() {
            return;
        }
        let variables = &self.settings.variables;
        let mode = TransactionMode {
            isolation: variables.isolation,
            read_only: variables.transaction_read_only,
            autocommit: false,
        };
        let gtid = match self.of.gtid.next {
            GtidNext::Given(_) => self.of.gtid.next.into(),
            _ => NotedGtid::Unknown,
        };
        let whole = WholeTransaction { id: None, state: TransactionState::Active, mode, gtid };
        self.note_whole(Some(whole), TransactionState::Committed, None);
    }
}
