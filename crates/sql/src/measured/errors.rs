//! The errors and warnings that statements have raised, by their numbers.

use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The conditions with one number that a statement has raised and handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// The number of the error or warning.
    pub code: u16,
    /// How often it was raised and not handled.
    pub raised: u64,
    /// How often a handler of a stored program has handled it as an error.
    pub handled: u64,
}

/// The sums of the conditions with one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorFigures {
    /// How often they were raised and not handled.
    pub raised: u64,
    /// How often they were handled.
    pub handled: u64,
    /// When the first and the last one was seen, in microseconds of Unix time.
    pub seen_us: (u64, u64),
}

impl ErrorFigures {
    /// Adds other sums.
    pub fn merge(&mut self, other: &ErrorFigures) {
        let is_first = self.raised + self.handled == 0;
        self.raised += other.raised;
        self.handled += other.handled;
        let first_us = if is_first { other.seen_us.0 } else { self.seen_us.0.min(other.seen_us.0) };
        self.seen_us = (first_us, self.seen_us.1.max(other.seen_us.1));
    }
}

/// Sums by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorSums(BTreeMap<u16, ErrorFigures>);

impl ErrorSums {
    /// Adds the conditions of a statement.
    pub fn add(&mut self, conditions: &Conditions, now_us: u64) {
        let Conditions { code, raised, handled } = *conditions;
        self.0.entry(code).or_default().merge(&ErrorFigures { raised, handled, seen_us: (now_us, now_us) });
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &ErrorSums) {
        for (code, figures) in &other.0 {
            self.0.entry(*code).or_default().merge(figures);
        }
    }

    /// Reports whether there was no condition.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the numbers that there were, with their sums.
    pub fn all(&self) -> impl Iterator<Item = (u16, ErrorFigures)> + '_ {
        self.0.iter().map(|(code, figures)| (*code, *figures))
    }
}

/// A user and the host that it came from.
type Account = (Option<String>, Option<String>);

/// The sums of sessions that have ended, or whose sums were emptied. Each level holds only what is
/// not in one below it, so that emptying one of MySQL's tables does not take from those above it.
#[derive(Default)]
struct Levels {
    accounts: BTreeMap<Account, ErrorSums>,
    users: BTreeMap<Option<String>, ErrorSums>,
    hosts: BTreeMap<Option<String>, ErrorSums>,
    all: ErrorSums,
}

/// What sessions have given of their sums.
#[derive(Default)]
pub struct Errors(Mutex<Levels>);

impl Errors {
    /// Adds sums of an account's session.
    pub(super) fn add_ended(&self, account: &Account, errors: &ErrorSums) {
        self.0.lock().accounts.entry(account.clone()).or_default().merge(errors);
    }

    /// Returns the sums of all accounts, with those that sessions still have.
    pub(super) fn by_account(&self, sessions: Vec<(Account, ErrorSums)>) -> BTreeMap<Account, ErrorSums> {
        let mut all = self.0.lock().accounts.clone();
        for (account, errors) in sessions {
            all.entry(account).or_default().merge(&errors);
        }
        all
    }

    /// Returns the sums of all users.
    pub(super) fn by_user(&self, sessions: Vec<(Account, ErrorSums)>) -> BTreeMap<Option<String>, ErrorSums> {
        let mut all = self.0.lock().users.clone();
        for ((user, _), errors) in self.by_account(sessions) {
            all.entry(user).or_default().merge(&errors);
        }
        all
    }

    /// Returns the sums of all hosts.
    pub(super) fn by_host(&self, sessions: Vec<(Account, ErrorSums)>) -> BTreeMap<Option<String>, ErrorSums> {
        let mut all = self.0.lock().hosts.clone();
        for ((_, host), errors) in self.by_account(sessions) {
            all.entry(host).or_default().merge(&errors);
        }
        all
    }

    /// Returns the sums of the whole server.
    pub(super) fn sums(&self, sessions: Vec<(Account, ErrorSums)>) -> ErrorSums {
        let mut all = self.0.lock().all.clone();
        self.by_host(sessions).values().for_each(|errors| all.merge(errors));
        all
    }

    /// Empties the sums by account, which go to those of the users and hosts.
    pub(super) fn clear_by_account(&self) {
        let mut levels = self.0.lock();
        let Levels { accounts, users, hosts, .. } = &mut *levels;
        for ((user, host), errors) in std::mem::take(accounts) {
            users.entry(user).or_default().merge(&errors);
            hosts.entry(host).or_default().merge(&errors);
        }
    }

    /// Empties the sums by user.
    pub(super) fn clear_by_user(&self) {
        self.clear_by_account();
        self.0.lock().users.clear();
    }

    /// Empties the sums by host, which go to those of the whole server.
    pub(super) fn clear_by_host(&self) {
        self.clear_by_account();
        let mut levels = self.0.lock();
        let Levels { hosts, all, .. } = &mut *levels;
        std::mem::take(hosts).values().for_each(|errors| all.merge(errors));
    }

    /// Empties the sums of the whole server, and with them all those below.
    pub(super) fn clear(&self) {
        *self.0.lock() = Levels::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(raised: u64, now_us: u64) -> ErrorSums {
        let mut sums = ErrorSums::default();
        sums.add(&Conditions { code: 1062, raised, handled: 1 }, now_us);
        sums
    }

    #[test]
    fn sums_go_up_when_they_are_emptied() {
        let errors = Errors::default();
        let account = (Some("amy".to_owned()), Some("here".to_owned()));
        errors.add_ended(&account, &sums(2, 20));
        let open = || vec![(account.clone(), sums(1, 10))];
        let figures = |sums: &ErrorSums| sums.all().next().map(|(_, figures)| figures);
        let both = ErrorFigures { raised: 3, handled: 2, seen_us: (10, 20) };
        assert_eq!(figures(&errors.by_account(open())[&account]), Some(both));
        errors.clear_by_account();
        let rest = ErrorFigures { raised: 1, handled: 1, seen_us: (10, 10) };
        assert_eq!(figures(&errors.by_account(open())[&account]), Some(rest));
        assert_eq!(figures(&errors.by_user(open())[&account.0]), Some(both));
        errors.clear_by_user();
        assert_eq!(figures(&errors.by_user(open())[&account.0]), Some(rest));
        assert_eq!(figures(&errors.by_host(open())[&account.1]), Some(both));
        errors.clear_by_host();
        assert_eq!(figures(&errors.by_host(open())[&account.1]), Some(rest));
        assert_eq!(figures(&errors.sums(open())), Some(both));
        errors.clear();
        assert!(errors.sums(Vec::new()).is_empty());
    }
}
