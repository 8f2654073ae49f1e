//! What all sessions have measured together.

use super::consumers::Consumers;
use super::digests::{DigestEntry, Digests};
use super::errors::ErrorSums;
use super::figures::{Figures, Sample};
use super::histogram::BUCKETS;
use super::levels::{AccountName, Levels};
use super::names::{EventName, NAMES};
use super::recent::Event;
use super::setup::{Actors, Instruments};
use super::transactions::{TransactionEvent, TransactionSums};
use super::waits::StateSums;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is kept, as the variables `performance_schema_*` say.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The most digests, with the one for the rest.
    pub digests: usize,
    /// The statements that each session keeps.
    pub history: usize,
    /// The statements of all sessions together that are kept while their consumer is on.
    pub long_history: usize,
    /// The transactions that each session keeps, and those of all sessions together that are kept
    /// while their consumer is on.
    pub transactions: (usize, usize),
    /// The bytes of a text that are kept.
    pub text_bytes: usize,
    /// The bytes of a digest's units.
    pub digest_bytes: usize,
    /// After how many seconds the sample of a digest is replaced by any other.
    pub sample_age_s: u64,
}

/// Sums by kind of statement. Kinds that have not run take no room.
#[derive(Default, Clone)]
pub struct ByName(Vec<Option<Box<Figures>>>);

impl ByName {
    /// Adds a statement.
    pub fn add(&mut self, name: EventName, sample: &Sample) {
        self.of(name).add(sample);
    }

    /// Returns the sums of a kind, to be added to.
    pub(super) fn of(&mut self, name: EventName) -> &mut Figures {
        let at = usize::from(name.0);
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at].get_or_insert_default()
    }

    /// Returns the sums of a kind; `None` where none has run.
    pub fn get(&self, name: EventName) -> Option<&Figures> {
        self.0.get(usize::from(name.0))?.as_deref()
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &ByName) {
        for (at, figures) in other.0.iter().enumerate() {
            if let Some(figures) = figures {
                self.of(EventName(at as u16)).merge(figures);
            }
        }
    }

    /// Returns all kinds with their sums.
    pub fn all(&self) -> impl Iterator<Item = (EventName, Figures)> + '_ {
        (0..NAMES.len() as u16).map(EventName).map(|name| (name, self.get(name).copied().unwrap_or_default()))
    }
}

/// The sums of what belongs to an account, a user or a host.
#[derive(Default, Clone)]
pub struct AccountRow {
    /// Its statements.
    pub by_name: ByName,
    /// The connections now.
    pub current: u64,
    /// All connections so far.
    pub connections: u64,
}

impl AccountRow {
    pub(super) fn merge(&mut self, other: &AccountRow) {
        self.by_name.merge(&other.by_name);
        self.current += other.current;
        self.connections += other.connections;
    }
}

/// The sums of sessions that have ended. Each level holds only what is not in one below it, so that
/// emptying one of MySQL's tables does not take from those above it.
#[derive(Default)]
pub(super) struct Ended {
    pub accounts: BTreeMap<AccountName, AccountRow>,
    pub users: BTreeMap<Option<String>, AccountRow>,
    pub hosts: BTreeMap<Option<String>, AccountRow>,
    pub all: ByName,
}

/// What the statements of a server took.
pub struct Measured {
    pub(super) settings: Settings,
    pub(super) digests: Digests,
    /// The statements of all digests by their time. Relaxed: each stands for itself.
    pub(super) histogram: Vec<AtomicU64>,
    next_statements: AtomicU64,
    /// What is done with the statements.
    pub consumers: Consumers,
    /// What is measured.
    pub instruments: Instruments,
    /// The errors of sessions that have ended.
    pub(super) errors: Levels<ErrorSums>,
    /// The transactions of sessions that have ended.
    pub(super) transactions: Levels<TransactionSums>,
    /// The waits of sessions that have ended.
    pub(super) waits: Levels<StateSums>,
    /// Whose sessions are measured.
    pub actors: Actors,
    /// The last statements of all sessions with the ids of their connections, the oldest first,
    /// while their consumer is on.
    pub(super) long_history: Mutex<VecDeque<(u32, Event)>>,
    /// The last transactions of all sessions, in the same way.
    long_transactions: Mutex<VecDeque<(u32, TransactionEvent)>>,
    /// Locked when a session begins and ends, and by readers.
    pub(super) ended: Mutex<Ended>,
    since_ticks: u64,
}

/// How many numbers of statements a session takes at once, so that sessions seldom meet there.
pub(super) const STATEMENT_IDS: u64 = 256;

impl Measured {
    /// Begins to measure.
    pub fn new(settings: Settings) -> Measured {
        Measured {
            digests: Digests::new(settings.digests),
            settings,
            histogram: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            next_statements: AtomicU64::new(1),
            consumers: Consumers::default(),
            instruments: Instruments::default(),
            errors: Levels::default(),
            transactions: Levels::default(),
            waits: Levels::default(),
            long_transactions: Mutex::default(),
            actors: Actors::default(),
            long_history: Mutex::default(),
            ended: Mutex::default(),
            since_ticks: os::clock::ticks(),
        }
    }

    /// Returns what is kept.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the digest with this text in this schema. `None` means that none are kept.
    pub fn digest(&self, schema: Option<&str>, text: &str) -> Option<Arc<DigestEntry>> {
        self.digests.intern(schema, text)
    }

    /// Returns how many statements had no room for their digest, as far as sessions have said.
    pub fn statements_without_digest(&self) -> u64 {
        self.digests.without_room()
    }

    pub(super) fn take_statement_ids(&self) -> u64 {
        self.next_statements.fetch_add(STATEMENT_IDS, Ordering::Relaxed)
    }

    /// Returns the time from the beginning of measuring to a moment, in picoseconds.
    pub fn moment_ps(&self, ticks: u64) -> u64 {
        os::clock::ticks_to_ns(ticks.saturating_sub(self.since_ticks)).saturating_mul(1000)
    }

    /// Keeps a statement that has ended, for which the oldest one makes room.
    pub(super) fn keep_long(&self, connection_id: u32, event: &Event) {
        keep(&self.long_history, self.settings.long_history, (connection_id, event));
    }

    /// Keeps a transaction that has ended, for which the oldest one makes room.
    #[inline(never)]
    pub(super) fn keep_long_transaction(&self, connection_id: u32, event: &TransactionEvent) {
        keep(&self.long_transactions, self.settings.transactions.1, (connection_id, event));
    }

    /// Returns the last transactions of all sessions with the ids of their connections.
    pub fn long_transactions(&self) -> Vec<(u32, TransactionEvent)> {
        self.long_transactions.lock().iter().cloned().collect()
    }

    /// Forgets the last transactions of all sessions.
    pub fn clear_long_transactions(&self) {
        self.long_transactions.lock().clear();
    }

    /// Returns the last statements of all sessions with the ids of their connections.
    pub fn long_history(&self) -> Vec<(u32, Event)> {
        self.long_history.lock().iter().cloned().collect()
    }

    /// Forgets the last statements of all sessions.
    pub fn clear_long_history(&self) {
        self.long_history.lock().clear();
    }

    /// Notes a new session of an account.
    pub(super) fn enter(&self, account: &AccountName) {
        self.ended.lock().accounts.entry(account.clone()).or_default().connections += 1;
    }

    /// Adds the statements of an account that its session no longer keeps. Those of no account
    /// count for the whole server alone.
    pub(super) fn add_ended(&self, account: Option<&AccountName>, by_name: &ByName) {
        let mut ended = self.ended.lock();
        match account {
            Some(account) => ended.accounts.entry(account.clone()).or_default().by_name.merge(by_name),
            None => ended.all.merge(by_name),
        }
    }
}

/// Keeps an event of a connection among at most `most` ones.
fn keep<E: Clone>(kept: &Mutex<VecDeque<(u32, E)>>, most: usize, (connection_id, event): (u32, &E)) {
    let mut kept = kept.lock();
    while kept.len() >= most.max(1) {
        kept.pop_front();
    }
    if most > 0 {
        kept.push_back((connection_id, event.clone()));
    }
}
