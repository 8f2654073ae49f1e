//! How a session's transactions are noted and read.

use super::levels::AccountName;
use super::session::MeasuredSession;
use super::transactions::{
    NotedGtid, TransactionBegun, TransactionEvent, TransactionState, TransactionSums, WholeTransaction,
    XaState,
};
use binlog::Xid;

impl MeasuredSession {
    /// Notes a transaction that a part of the running statement has begun and ended.
    #[inline(never)]
    pub fn add_whole(&self, whole: (&WholeTransaction, &NotedGtid)) {
        let now = os::clock::ticks();
        self.with_transactions(|of, around, since_ticks| {
            let since_ticks = since_ticks.unwrap_or(now);
            let wait_ns = os::clock::ticks_to_ns(now.saturating_sub(since_ticks));
            of.add_whole(around, whole, (since_ticks, now), wait_ns);
        });
    }

    /// Notes that a transaction begins which may have several statements.
    pub fn begin_transaction(&self, begun: &TransactionBegun) {
        self.with_transactions(|of, around, _| of.begin(around, begun));
    }

    /// Notes that the open transaction ends. `gtid` is the one that it was committed under.
    pub fn end_transaction(&self, state: TransactionState, gtid: Option<NotedGtid>) {
        self.with_transactions(|of, around, _| of.end(around, state, gtid));
    }

    /// Counts a statement about savepoints of the open transaction, by its place in
    /// [`TransactionEvent::savepoints`].
    pub fn count_savepoint(&self, which: usize) {
        self.with_transactions(|of, _, _| {
            if let Some(event) = of.open_event() {
                event.savepoints[which] += 1;
            }
        });
    }

    /// Notes the stage of the open XA transaction before it is prepared.
    pub fn set_xa_state(&self, state: XaState) {
        self.with_transactions(|of, _, _| {
            if let Some(xa) = of.open_event().and_then(|event| event.xa.as_mut()) {
                xa.1 = state;
            }
        });
    }

    /// Notes that the open XA transaction is prepared, and the GTID of that. Statements behind XA
    /// PREPARE are not in it.
    pub fn set_prepared(&self, gtid: Option<NotedGtid>) {
        self.with_transactions(|of, _, _| {
            if let Some(event) = of.open_event() {
                if let Some(xa) = &mut event.xa {
                    xa.1 = XaState::Prepared;
                }
                if let Some(gtid) = gtid {
                    event.gtid = gtid;
                }
            }
            of.open_number = 0;
        });
    }

    /// Notes that an XA transaction which was prepared ends. Only the session that prepared it last
    /// has its event.
    pub fn end_xa(&self, xid: &Xid, state: TransactionState) {
        self.with_transactions(|of, around, _| {
            let xa = of.open_event().and_then(|event| event.xa.as_deref());
            if xa.is_some_and(|xa| xa.0 == *xid) {
                of.end(around, state, None);
            }
        });
    }

    /// Returns the transaction that the session is in, or the last one.
    pub fn current_transaction(&self) -> Option<TransactionEvent> {
        let mut found = None;
        self.with_transactions(|of, _, _| found = of.recent.latest().cloned());
        found
    }

    /// Returns the latest transactions that have ended, the oldest first.
    pub fn transaction_history(&self) -> Vec<TransactionEvent> {
        let most = self.measured().settings().transactions.0;
        let mut found = Vec::new();
        self.with_transactions(|of, _, _| found = of.recent.ended(most));
        found
    }

    /// Forgets the transactions that have ended.
    pub fn clear_transaction_history(&self) {
        self.with_transactions(|of, _, _| {
            of.recent.clear_ended();
        });
    }

    /// Returns the account and the sums of the session's transactions, as far as they belong to it.
    pub fn transactions(&self) -> (AccountName, TransactionSums) {
        let mut sums = TransactionSums::default();
        self.with_transactions(|of, _, _| sums = of.sums);
        (self.account(), if self.is_unowned() { TransactionSums::default() } else { sums })
    }
}
