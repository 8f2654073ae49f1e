//! Reading and emptying what all sessions have measured, with what those that run still keep to
//! themselves.

use super::digests::DigestEntry;
use super::errors::ErrorSums;
use super::levels::{AccountName, Level};
use super::session::MeasuredSession;
use super::totals::{AccountRow, ByName, Ended, Measured};
use super::transactions::TransactionSums;
use super::waits::StateSums;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Measured {
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
        sessions.iter().for_each(|session| session.give_unowned());
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
        // A session's lock is never taken under the common one: a session that gives its sums has
        // its own lock first.
        let open: Vec<AccountName> = sessions.iter().map(|session| session.account()).collect();
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
            for account in open {
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

    /// Returns the errors of all accounts.
    pub fn errors_by_account(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<AccountName, ErrorSums> {
        self.errors.by_account(errors_of(sessions))
    }

    /// Returns the errors of all users.
    pub fn errors_by_user(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<Option<String>, ErrorSums> {
        self.errors.by_user(errors_of(sessions))
    }

    /// Returns the errors of all hosts.
    pub fn errors_by_host(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<Option<String>, ErrorSums> {
        self.errors.by_host(errors_of(sessions))
    }

    /// Returns the errors of the whole server.
    pub fn all_errors(&self, sessions: &[Arc<MeasuredSession>]) -> ErrorSums {
        sessions.iter().for_each(|session| session.give_unowned());
        self.errors.sums(errors_of(sessions))
    }

    /// Empties the sums of errors at a level and at those below it.
    pub fn clear_errors(&self, sessions: &[Arc<MeasuredSession>], level: Level) {
        sessions.iter().for_each(|session| session.give_errors());
        self.errors.clear(level);
    }

    /// Returns the waits of all accounts.
    pub fn waits_by_account(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<AccountName, StateSums> {
        self.waits.by_account(waits_of(sessions))
    }

    /// Returns the waits of all users.
    pub fn waits_by_user(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<Option<String>, StateSums> {
        self.waits.by_user(waits_of(sessions))
    }

    /// Returns the waits of all hosts.
    pub fn waits_by_host(&self, sessions: &[Arc<MeasuredSession>]) -> BTreeMap<Option<String>, StateSums> {
        self.waits.by_host(waits_of(sessions))
    }

    /// Empties the waits at a level and at those below it.
    pub fn clear_waits(&self, sessions: &[Arc<MeasuredSession>], level: Level) {
        sessions.iter().for_each(|session| session.give_waits());
        self.waits.clear(level);
    }

    /// Returns the transactions of all accounts.
    pub fn transactions_by_account(
        &self,
        sessions: &[Arc<MeasuredSession>],
    ) -> BTreeMap<AccountName, TransactionSums> {
        self.transactions.by_account(transactions_of(sessions))
    }

    /// Returns the transactions of all users.
    pub fn transactions_by_user(
        &self,
        sessions: &[Arc<MeasuredSession>],
    ) -> BTreeMap<Option<String>, TransactionSums> {
        self.transactions.by_user(transactions_of(sessions))
    }

    /// Returns the transactions of all hosts.
    pub fn transactions_by_host(
        &self,
        sessions: &[Arc<MeasuredSession>],
    ) -> BTreeMap<Option<String>, TransactionSums> {
        self.transactions.by_host(transactions_of(sessions))
    }

    /// Returns the transactions of the whole server.
    pub fn all_transactions(&self, sessions: &[Arc<MeasuredSession>]) -> TransactionSums {
        sessions.iter().for_each(|session| session.give_unowned());
        self.transactions.sums(transactions_of(sessions))
    }

    /// Empties the sums of transactions at a level and at those below it.
    pub fn clear_transactions(&self, sessions: &[Arc<MeasuredSession>], level: Level) {
        sessions.iter().for_each(|session| session.give_transactions());
        self.transactions.clear(level);
    }
}

fn errors_of(sessions: &[Arc<MeasuredSession>]) -> Vec<(AccountName, ErrorSums)> {
    sessions.iter().map(|session| session.errors()).collect()
}

fn transactions_of(sessions: &[Arc<MeasuredSession>]) -> Vec<(AccountName, TransactionSums)> {
    sessions.iter().map(|session| session.transactions()).collect()
}

fn waits_of(sessions: &[Arc<MeasuredSession>]) -> Vec<(AccountName, StateSums)> {
    sessions.iter().map(|session| session.waits()).collect()
}
