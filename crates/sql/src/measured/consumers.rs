//! What is done with what is measured: the consumers of performance_schema, which UPDATE switches.

use super::setup::ThreadSettings;
use std::sync::atomic::{AtomicU32, Ordering};

/// MySQL's consumers, and whether they are on at the start.
const ALL: [(&str, bool); 16] = [
    ("events_stages_current", false),
    ("events_stages_history", false),
    ("events_stages_history_long", false),
    ("events_statements_cpu", false),
    ("events_statements_current", true),
    ("events_statements_history", true),
    ("events_statements_history_long", false),
    ("events_transactions_current", true),
    ("events_transactions_history", true),
    ("events_transactions_history_long", false),
    ("events_waits_current", false),
    ("events_waits_history", false),
    ("events_waits_history_long", false),
    ("global_instrumentation", true),
    ("thread_instrumentation", true),
    ("statements_digest", true),
];

/// The consumers that have an effect here. Those of stages and waits collect nothing, because
/// setup_instruments has no instruments of these kinds. The processor's time of statements
/// is not measured, so that it stays 0 while `events_statements_cpu` is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consumer {
    /// The statement that each session runs is kept.
    Current = 4,
    /// The last statements of each session are kept.
    History = 5,
    /// The last statements of all sessions are kept, also of those that have ended.
    HistoryLong = 6,
    /// The transaction that each session is in is kept.
    Transactions = 7,
    /// The last transactions of each session are kept.
    TransactionsHistory = 8,
    /// The last transactions of all sessions are kept, also of those that have ended.
    TransactionsHistoryLong = 9,
    /// Statements are measured at all.
    Global = 13,
    /// Statements are kept for their sessions.
    Thread = 14,
    /// Statements are added up by their digests.
    Digest = 15,
}

/// Which consumers are on. Relaxed: a change counts for statements that begin a moment later.
#[derive(Debug)]
pub struct Consumers(AtomicU32);

impl Default for Consumers {
    fn default() -> Consumers {
        let bits = ALL.iter().enumerate().map(|(at, (_, is_on))| u32::from(*is_on) << at).sum();
        Consumers(AtomicU32::new(bits))
    }
}

impl Consumers {
    /// Returns all consumers by name, with whether they are on.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let bits = self.0.load(Ordering::Relaxed);
        ALL.iter().enumerate().map(move |(at, (name, _))| (*name, bits & (1 << at) != 0))
    }

    /// Switches a consumer. Returns false when there is none of this name.
    pub fn switch(&self, name: &str, on: bool) -> bool {
        let Some(at) = ALL.iter().position(|(known, _)| *known == name) else { return false };
        match on {
            true => self.0.fetch_or(1 << at, Ordering::Relaxed),
            false => self.0.fetch_and(!(1 << at), Ordering::Relaxed),
        };
        true
    }

    /// Returns which consumers are on, for [`Consumers::collected`].
    #[inline]
    pub(super) fn switched(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Reports whether threads are told apart while these consumers are on. Otherwise what is
    /// measured counts for no thread and no account.
    pub(super) fn tells_threads_apart(bits: u32) -> bool {
        bits & (1 << Consumer::Thread as u32) != 0
    }

    /// Returns what is collected of a thread with these settings while these consumers are on. A
    /// consumer is of use only while those above it are on.
    pub(super) fn collected(bits: u32, thread: ThreadSettings) -> Collected {
        let is_on = |consumer: Consumer| bits & (1 << consumer as u32) != 0;
        // While threads are not told apart, all of them are measured.
        let of_threads = Consumers::tells_threads_apart(bits);
        let is_measured = is_on(Consumer::Global) && (thread.is_instrumented || !of_threads);
        let is_shown = is_measured && of_threads && is_on(Consumer::Current);
        let is_kept = is_shown && thread.has_history;
        let of_threads_events = |consumer| is_measured && of_threads && is_on(consumer);
        let keeps_transactions = of_threads_events(Consumer::Transactions) && thread.has_history;
        let of_history = |consumer| keeps_transactions && is_on(consumer);
        Collected {
            is_measured,
            is_shown,
            in_history: is_kept && is_on(Consumer::History),
            in_long_history: is_kept && is_on(Consumer::HistoryLong),
            has_digest: is_measured && is_on(Consumer::Digest),
            transactions: of_threads_events(Consumer::Transactions),
            transactions_history: of_history(Consumer::TransactionsHistory),
            transactions_long_history: of_history(Consumer::TransactionsHistoryLong),
        }
    }
}

/// What is collected of statements and transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    pub is_measured: bool,
    pub is_shown: bool,
    pub in_history: bool,
    pub in_long_history: bool,
    pub has_digest: bool,
    /// Whether the transaction that a session is in is shown.
    pub transactions: bool,
    pub transactions_history: bool,
    pub transactions_long_history: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumers_have_their_places_and_need_those_above_them() {
        for (consumer, name) in [
            (Consumer::Current, "events_statements_current"),
            (Consumer::History, "events_statements_history"),
            (Consumer::HistoryLong, "events_statements_history_long"),
            (Consumer::Transactions, "events_transactions_current"),
            (Consumer::TransactionsHistory, "events_transactions_history"),
            (Consumer::TransactionsHistoryLong, "events_transactions_history_long"),
            (Consumer::Global, "global_instrumentation"),
            (Consumer::Thread, "thread_instrumentation"),
            (Consumer::Digest, "statements_digest"),
        ] {
            assert_eq!(ALL[consumer as usize].0, name);
        }
        let consumers = Consumers::default();
        let all = Collected {
            is_measured: true,
            is_shown: true,
            in_history: true,
            in_long_history: false,
            has_digest: true,
            transactions: true,
            transactions_history: true,
            transactions_long_history: false,
        };
        let of = |consumers: &Consumers, thread| Consumers::collected(consumers.switched(), thread);
        assert_eq!(of(&consumers, ThreadSettings::default()), all);
        assert!(consumers.switch("events_statements_current", false) && !consumers.switch("nothing", true));
        let part = Collected { is_shown: false, in_history: false, ..all };
        assert_eq!(of(&consumers, ThreadSettings::default()), part);
        let unmeasured = ThreadSettings { is_instrumented: false, has_history: true };
        assert_eq!(of(&consumers, unmeasured), Collected::default());
        consumers.switch("thread_instrumentation", false);
        assert!(of(&consumers, unmeasured).is_measured, "threads are not told apart");
        consumers.switch("global_instrumentation", false);
        assert_eq!(of(&consumers, ThreadSettings::default()), Collected::default());
    }
}
