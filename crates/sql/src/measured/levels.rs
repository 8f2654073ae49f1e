//! Sums of sessions that have ended, by account, user and host.

use parking_lot::Mutex;
use std::collections::BTreeMap;

/// A user and the host that it came from. `None` is for parts of the server itself.
pub type AccountName = (Option<String>, Option<String>);

/// What sums are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A session.
    Session,
    /// A user and a host.
    Account,
    /// A user.
    User,
    /// A host.
    Host,
    /// The whole server.
    All,
}

/// Sums that can be added to each other.
pub trait Sums: Default + Clone {
    /// Adds other sums.
    fn merge(&mut self, other: &Self);
}

/// The sums of sessions that have ended, or whose sums were emptied. Each level holds only what is
/// not in one below it, so that emptying one of MySQL's tables does not take from those above it.
#[derive(Default)]
struct Ended<S> {
    accounts: BTreeMap<AccountName, S>,
    users: BTreeMap<Option<String>, S>,
    hosts: BTreeMap<Option<String>, S>,
    all: S,
}

/// What sessions have given of their sums.
#[derive(Default)]
pub struct Levels<S>(Mutex<Ended<S>>);

impl<S: Sums> Levels<S> {
    /// Adds sums of an account's session. Those of no account count for the whole server alone.
    pub(super) fn add_ended(&self, account: Option<&AccountName>, sums: &S) {
        let mut ended = self.0.lock();
        match account {
            Some(account) => ended.accounts.entry(account.clone()).or_default().merge(sums),
            None => ended.all.merge(sums),
        }
    }

    /// Returns the sums of all accounts, with those that sessions still have.
    pub(super) fn by_account(&self, sessions: Vec<(AccountName, S)>) -> BTreeMap<AccountName, S> {
        let mut all = self.0.lock().accounts.clone();
        for (account, sums) in sessions {
            all.entry(account).or_default().merge(&sums);
        }
        all
    }

    /// Returns the sums of all users.
    pub(super) fn by_user(&self, sessions: Vec<(AccountName, S)>) -> BTreeMap<Option<String>, S> {
        let mut all = self.0.lock().users.clone();
        for ((user, _), sums) in self.by_account(sessions) {
            all.entry(user).or_default().merge(&sums);
        }
        all
    }

    /// Returns the sums of all hosts.
    pub(super) fn by_host(&self, sessions: Vec<(AccountName, S)>) -> BTreeMap<Option<String>, S> {
        let mut all = self.0.lock().hosts.clone();
        for ((_, host), sums) in self.by_account(sessions) {
            all.entry(host).or_default().merge(&sums);
        }
        all
    }

    /// Returns the sums of the whole server.
    pub(super) fn sums(&self, sessions: Vec<(AccountName, S)>) -> S {
        let mut all = self.0.lock().all.clone();
        self.by_host(sessions).values().for_each(|sums| all.merge(sums));
        all
    }

    /// Empties the sums at a level and at those below it. The sums of sessions have been given
    /// before.
    pub(super) fn clear(&self, level: Level) {
        match level {
            Level::Session => {}
            Level::Account => self.clear_by_account(),
            Level::User => self.clear_by_user(),
            Level::Host => self.clear_by_host(),
            Level::All => *self.0.lock() = Ended::default(),
        }
    }

    /// Empties the sums by account, which go to those of the users and hosts.
    fn clear_by_account(&self) {
        let mut ended = self.0.lock();
        let Ended { accounts, users, hosts, .. } = &mut *ended;
        for ((user, host), sums) in std::mem::take(accounts) {
            users.entry(user).or_default().merge(&sums);
            hosts.entry(host).or_default().merge(&sums);
        }
    }

    /// Empties the sums by user.
    fn clear_by_user(&self) {
        self.clear_by_account();
        self.0.lock().users.clear();
    }

    /// Empties the sums by host, which go to those of the whole server.
    fn clear_by_host(&self) {
        self.clear_by_account();
        let mut ended = self.0.lock();
        let Ended { hosts, all, .. } = &mut *ended;
        std::mem::take(hosts).values().for_each(|sums| all.merge(sums));
    }
}
