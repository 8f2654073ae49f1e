//! What all sessions have measured together.

use super::digests::{DigestEntry, Digests};
use super::figures::{Figures, Sample};
use super::histogram::BUCKETS;
use super::names::{EventName, NAMES};
use super::session::MeasuredSession;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is kept, as the variables `performance_schema_*` say.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The most digests, with the one for the rest.
    pub digests: usize,
    /// The statements that each session keeps.
    pub history: usize,
    /// The bytes of a text that are kept.
    pub text_bytes: usize,
    /// The bytes of a digest's units.
    pub digest_bytes: usize,
    /// After how many seconds the sample of a digest is replaced by any other.
    pub sample_age_s: u64,
}

/// A user and the host that it came from. `None` is for parts of the server itself.
pub type AccountName = (Option<String>, Option<String>);

/// Sums by kind of statement. Kinds that have not run take no room.
#[derive(Default, Clone)]
pub struct ByName(Vec<Option<Box<Figures>>>);

impl ByName {
    /// Adds a statement.
    pub fn add(&mut self, name: EventName, sample: &Sample) {
        self.of(name).add(sample);
    }

    fn of(&mut self, name: EventName) -> &mut Figures {
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
    fn merge(&mut self, other: &AccountRow) {
        self.by_name.merge(&other.by_name);
        self.current += other.current;
        self.connections += other.connections;
    }
}

/// The sums of sessions that have ended. Each level holds only what is not in one below it, so that
/// emptying one of MySQL's tables does not take from those above it.
#[derive(Default)]
struct Ended {
    accounts: BTreeMap<AccountName, AccountRow>,
    users: BTreeMap<Option<String>, AccountRow>,
    hosts: BTreeMap<Option<String>, AccountRow>,
    all: ByName,
}

/// What the statements of a server took.
pub struct Measured {
    pub(super) settings: Settings,
    pub(super) digests: Digests,
    /// The statements of all digests by their time. Relaxed: each stands for itself.
    pub(super) histogram: Vec<AtomicU64>,
    next_statements: AtomicU64,
    /// Locked when a session begins and ends, and by readers.
    ended: Mutex<Ended>,
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

    pub(super) fn take_statement_ids(&self) -> u64 {
        self.next_statements.fetch_add(STATEMENT_IDS, Ordering::Relaxed)
    }

    /// Returns the time from the beginning of measuring to a moment, in picoseconds.
    pub fn moment_ps(&self, ticks: u64) -> u64 {
        os::clock::ticks_to_ns(ticks.saturating_sub(self.since_ticks)).saturating_mul(1000)
    }

    /// Notes a new session of an account.
    pub(super) fn enter(&self, account: &AccountName) {
        self.ended.lock().accounts.entry(account.clone()).or_default().connections += 1;
    }

    /// Adds the statements of an account that its session no longer keeps.
    pub(super) fn add_ended(&self, account: &AccountName, by_name: &ByName) {
        self.ended.lock().accounts.entry(account.clone()).or_default().by_name.merge(by_name);
    }

    /// Returns all digests. The sessions that run give their parts first.
    pub fn by_digest(&self, sessions: &[Arc<MeasuredSession>]) -> Vec<Arc<DigestEntry>> {
        sessions.iter().for_each(|session| session.give_digests());
        self.digests.all()
    }

    /// Returns how many statements are in each bucket, whatever their digest.
    pub fn histogram(&self, sessions: &[Arc<MeasuredSession>]) -> Vec<u64> {
        sessions.iter().for_each(|session| session.give_digests());
        self.histogram.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// Returns the sums of all accounts.
    pub fn by_account(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<AccountName, AccountRow> {
        let mut all = self.ended.lock().accounts.clone();
        for session in sessions {
            let (account, by_name) = session.by_name();
            let row = all.entry(account).or_default();
            row.current += 1;
            row.by_name.merge(&by_name);
        }
        all
    }

    /// Returns the sums of all users.
    pub fn by_user(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<Option<String>, AccountRow> {
        let mut all = self.ended.lock().users.clone();
        for ((user, _), row) in self.by_account(sessions) {
            all.entry(user).or_default().merge(&row);
        }
        all
    }

    /// Returns the sums of all hosts.
    pub fn by_host(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<Option<String>, AccountRow> {
        let mut all = self.ended.lock().hosts.clone();
        for ((_, host), row) in self.by_account(sessions) {
            all.entry(host).or_default().merge(&row);
        }
        all
    }

    /// Returns the sums of the whole server.
    pub fn by_name(&self, sessions: &[Arc<MeasuredSession>]) -> ByName {
        let mut all = self.ended.lock().all.clone();
        self.by_host(sessions).values().for_each(|row| all.merge(&row.by_name));
        all
    }

    /// Forgets all digests, and their histograms.
    pub fn clear_digests(&self, sessions: &[Arc<MeasuredSession>]) {
        sessions.iter().for_each(|session| session.give_digests());
        self.digests.clear();
    }

    /// Empties the histograms of all digests.
    pub fn clear_histograms(&self, sessions: &[Arc<MeasuredSession>]) {
        sessions.iter().for_each(|session| session.give_digests());
        self.digests.clear_histograms();
    }

    /// Empties the histogram of the whole server.
    pub fn clear_histogram(&self, sessions: &[Arc<MeasuredSession>]) {
        sessions.iter().for_each(|session| session.give_digests());
        self.histogram.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// Empties the sums by session, which go to those of the accounts.
    pub fn clear_by_session(&self, sessions: &[Arc<MeasuredSession>]) {
        sessions.iter().for_each(|session| session.give_by_name());
    }

    /// Empties the sums by account, which go to those of the users and hosts. `forgets` removes the
    /// accounts without a connection, and begins to count connections anew.
    pub fn clear_by_account(&self, sessions: &[Arc<MeasuredSession>], forgets: bool) {
        self.clear_by_session(sessions);
        let mut ended = self.ended.lock();
        let Ended { accounts, users, hosts, .. } = &mut *ended;
        for ((user, host), row) in accounts.iter_mut() {
            let mut given = AccountRow { by_name: std::mem::take(&mut row.by_name), ..AccountRow::default() };
            if forgets {
                given.connections = std::mem::take(&mut row.connections);
            }
            users.entry(user.clone()).or_default().merge(&given);
            hosts.entry(host.clone()).or_default().merge(&given);
        }
        if forgets {
            accounts.clear();
            for session in sessions {
                let account = session.account();
                ended.accounts.entry(account).or_default().connections += 1;
            }
            let taken: Vec<AccountName> = ended.accounts.keys().cloned().collect();
            for (user, host) in taken {
                let open = ended.accounts.get(&(user.clone(), host.clone())).map_or(0, |row| row.connections);
                let of_user = ended.users.entry(user).or_default();
                of_user.connections = of_user.connections.saturating_sub(open);
                let of_host = ended.hosts.entry(host).or_default();
                of_host.connections = of_host.connections.saturating_sub(open);
            }
        }
    }

    /// Empties the sums by user.
    pub fn clear_by_user(&self, sessions: &[Arc<MeasuredSession>], forgets: bool) {
        self.clear_by_account(sessions, forgets);
        self.ended.lock().users.clear();
    }

    /// Empties the sums by host, which go to those of the whole server.
    pub fn clear_by_host(&self, sessions: &[Arc<MeasuredSession>], forgets: bool) {
        self.clear_by_account(sessions, forgets);
        let mut ended = self.ended.lock();
        let Ended { hosts, all, .. } = &mut *ended;
        hosts.values().for_each(|row| all.merge(&row.by_name));
        hosts.clear();
    }

    /// Empties the sums of the whole server, and with them all those below.
    pub fn clear_by_name(&self, sessions: &[Arc<MeasuredSession>]) {
        self.clear_by_user(sessions, false);
        self.clear_by_host(sessions, false);
        self.ended.lock().all = ByName::default();
    }
}
