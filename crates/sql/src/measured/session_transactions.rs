//! The transactions of a session: the open one, the latest ones, and their sums.
//!
//! A transaction that a statement begins and ends is noted once, when the statement ends, with the
//! statement's time. Any other transaction is noted when it begins and when it ends.

use super::consumers::Collected;
use super::recent::Recent;
use super::totals::Measured;
use super::transactions::{
    NotedGtid, TransactionBegun, TransactionEvent, TransactionMode, TransactionState, TransactionSums,
    WholeTransaction, XaState,
};

/// The open transaction of a session, for the sums.
#[derive(Clone, Copy)]
struct Open {
    since_ticks: u64,
    mode: TransactionMode,
    is_timed: bool,
    /// Whether the latest event is its.
    is_shown: bool,
}

/// What a session keeps of its transactions.
#[derive(Default)]
pub(super) struct OfSession {
    pub recent: Recent<TransactionEvent>,
    pub sums: TransactionSums,
    open: Option<Open>,
    /// The number of the open transaction's event, which statements run in; 0 without one.
    pub open_number: u64,
}

/// What surrounds a transaction that is noted.
pub(super) struct Around<'s> {
    pub measured: &'s Measured,
    pub connection_id: u32,
    pub collected: Collected,
    /// The number of the session's last event.
    pub last_number: &'s mut u64,
    /// The number of the statement that runs; 0 for none.
    pub statement: u64,
}

impl OfSession {
    /// Notes a transaction that has begun and ended at these ticks, which took so long.
    #[inline]
    pub fn add_whole(
        &mut self,
        around: Around<'_>,
        (whole, gtid): (&WholeTransaction, &NotedGtid),
        (begun, ended): (u64, u64),
        wait_ns: u64,
    ) {
        let measured = around.measured;
        let (is_enabled, is_timed) = measured.instruments.of_transaction();
        if !is_enabled || !around.collected.is_measured {
            return;
        }
        self.sums.of(whole.mode).add(is_timed.then_some(wait_ns));
        if !around.collected.transactions {
            return;
        }
        *around.last_number += 1;
        let event = self.recent.begin(measured.settings().transactions.0);
        event.number = *around.last_number;
        event.end_number = event.number;
        event.statement = around.statement;
        event.id = whole.id;
        event.ticks = (begun, Some(ended));
        event.is_timed = is_timed;
        event.state = whole.state;
        event.mode = whole.mode;
        if event.has_more {
            (event.gtid, event.xa, event.savepoints) = (NotedGtid::Automatic, None, [0; 3]);
        }
        event.has_more = whole.has_gtid;
        if whole.has_gtid {
            event.gtid = gtid.clone();
        }
        event.is_kept = around.collected.transactions_history;
        if around.collected.transactions_long_history {
            measured.keep_long_transaction(around.connection_id, event);
        }
    }

    /// Notes that a transaction begins.
    pub fn begin(&mut self, around: Around<'_>, begun: &TransactionBegun) {
        let measured = around.measured;
        let (is_enabled, is_timed) = measured.instruments.of_transaction();
        (self.open, self.open_number) = (None, 0);
        if !is_enabled || !around.collected.is_measured {
            return;
        }
        let is_shown = around.collected.transactions;
        self.open = Some(Open { since_ticks: begun.ticks, mode: begun.mode, is_timed, is_shown });
        if !is_shown {
            return;
        }
        *around.last_number += 1;
        self.open_number = *around.last_number;
        *self.recent.begin(measured.settings().transactions.0) = TransactionEvent {
            number: self.open_number,
            statement: around.statement,
            id: Some(begun.id),
            ticks: (begun.ticks, None),
            is_timed,
            mode: begun.mode,
            gtid: begun.gtid.clone(),
            xa: begun.xid.map(|xid| Box::new((xid, XaState::Active))),
            is_kept: around.collected.transactions_history,
            has_more: true,
            ..TransactionEvent::default()
        };
    }

    /// Returns the event of the open transaction, where it is shown.
    pub fn open_event(&mut self) -> Option<&mut TransactionEvent> {
        match self.open {
            Some(open) if open.is_shown => self.recent.latest(),
            _ => None,
        }
    }

    /// Notes that the open transaction ends, if there is one.
    pub fn end(&mut self, around: Around<'_>, state: TransactionState, gtid: Option<NotedGtid>) {
        let ticks = os::clock::ticks();
        let Some(open) = self.open else { return };
        let wait_ns = os::clock::ticks_to_ns(ticks.saturating_sub(open.since_ticks));
        self.sums.of(open.mode).add(open.is_timed.then_some(wait_ns));
        if let Some(event) = self.open_event() {
            event.ticks.1 = Some(ticks);
            event.end_number = *around.last_number;
            event.state = state;
            if let Some(gtid) = gtid {
                event.gtid = gtid;
            }
            if let Some(xa) = &mut event.xa {
                xa.1 = if state == TransactionState::Committed {
                    XaState::Committed
                } else {
                    XaState::RolledBack
                };
            }
            if around.collected.transactions_long_history {
                around.measured.keep_long_transaction(around.connection_id, event);
            }
        }
        (self.open, self.open_number) = (None, 0);
    }
}
