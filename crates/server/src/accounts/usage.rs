//! The use that accounts have made of their limits, and the number of wrong passwords in a row.
//! Neither outlives the server.

use super::attributes::{Limits, Locking};
use super::{Account, AccountName};
use crate::server::host_cache::HostError;
use parking_lot::Mutex;
use sql::SqlError;
use std::collections::HashMap;
use std::sync::Arc;

const US_PER_HOUR: u64 = 3_600_000_000;
const US_PER_DAY: u64 = 24 * US_PER_HOUR;

/// The counters of all accounts.
#[derive(Default)]
pub struct Usage {
    /// The failed logins by account. No other lock is taken under this one.
    failures: Mutex<HashMap<AccountName, Failures>>,
    /// The used resources, by the client's user name and the account's host. Lock order: before the
    /// `hour` of an entry.
    used: Mutex<HashMap<AccountName, Arc<Used>>>,
}

/// The wrong passwords of an account in a row.
#[derive(Debug, Default)]
struct Failures {
    count: u16,
    /// The time of the wrong password that locked the account, in microseconds since 1970.
    locked_since_us: u64,
}

/// The resources that one account has used.
#[derive(Debug, Default)]
pub struct Used {
    /// The counters of the present hour. Lock order: held alone, or under the lock of the table of
    /// all accounts' resources.
    hour: Mutex<Hour>,
}

#[derive(Debug, Default)]
struct Hour {
    /// The number of present connections, which is the only counter that does not end with the
    /// hour.
    connected: u32,
    since_us: u64,
    connections: u32,
    queries: u32,
    updates: u32,
}

impl Hour {
    fn at(&mut self, now_us: u64) -> &mut Hour {
        if now_us.saturating_sub(self.since_us) >= US_PER_HOUR {
            *self = Hour { connected: self.connected, since_us: now_us, ..Hour::default() };
        }
        self
    }
}

/// A connection's place among the connections of its account. It is given back when it is dropped.
#[derive(Debug)]
pub struct UserPlace {
    used: Arc<Used>,
    user: String,
    limits: Limits,
}

impl Drop for UserPlace {
    fn drop(&mut self) {
        let mut hour = self.used.hour.lock();
        assert!(hour.connected > 0, "a place that is given back was taken");
        hour.connected -= 1;
    }
}

impl Usage {
    /// Notes whether a password was right.
    ///
    /// # Errors
    /// Returns the number of days left and the account's rule for error 3955, while the account is
    /// locked, whatever the password was.
    pub fn note_login(&self, account: &Account, is_right: bool, now_us: u64) -> Result<(), (i64, Locking)> {
        let locking = account.attributes.locking;
        if !locking.is_on() {
            return Ok(());
        }
        let mut failures = self.failures.lock();
        let noted = failures.entry(account.name()).or_default();
        if noted.count >= locking.attempts {
            let days = (now_us / US_PER_DAY).saturating_sub(noted.locked_since_us / US_PER_DAY) as i64;
            if locking.days < 0 || days < i64::from(locking.days) {
                return Err((i64::from(locking.days) - days, locking));
            }
            *noted = Failures::default();
        }
        if is_right {
            *noted = Failures::default();
            return Ok(());
        }
        noted.count += 1;
        assert!(noted.count <= locking.attempts, "the account is locked by its last attempt");
        if noted.count < locking.attempts {
            return Ok(());
        }
        noted.locked_since_us = now_us;
        Err((locking.days.into(), locking))
    }

    /// Forgets an account's wrong passwords, after ACCOUNT UNLOCK and after a change of the rule
    /// that locks it.
    pub fn forget_failures(&self, name: &AccountName) {
        self.failures.lock().remove(name);
    }

    /// Forgets the wrong passwords of all accounts (FLUSH PRIVILEGES).
    pub fn forget_all_failures(&self) {
        self.failures.lock().clear();
    }

    /// Begins the hour anew for all accounts (FLUSH USER_RESOURCES and FLUSH PRIVILEGES).
    pub fn begin_hour(&self) {
        self.used.lock().retain(|_, used| {
            let mut hour = used.hour.lock();
            *hour = Hour { connected: hour.connected, ..Hour::default() };
            hour.connected > 0
        });
    }

    /// Takes a place for a connection. `max_user_connections` is the value of the variable, or 0
    /// for accounts that it does not bind.
    ///
    /// # Errors
    /// Returns 1203 (`ER_TOO_MANY_USER_CONNECTIONS`) or 1226 (`ER_USER_LIMIT_REACHED`) when the
    /// account has too many connections now or in this hour, and the error that this counts as for
    /// the client's host.
    pub fn take_place(
        &self,
        user: &str,
        account: &Account,
        max_user_connections: u64,
        now_us: u64,
    ) -> Result<UserPlace, (SqlError, HostError)> {
        let limits = account.attributes.limits;
        let mut all = self.used.lock();
        let used = all.entry((user.to_owned(), account.host.clone())).or_default().clone();
        let mut hour = used.hour.lock();
        let hour_now = hour.at(now_us);
        if max_user_connections > 0
            && limits.user_connections == 0
            && u64::from(hour_now.connected) >= max_user_connections
        {
            let text = format!("User {user} already has more than 'max_user_connections' active connections");
            return Err((SqlError::new(1203, text), HostError::MaxUserConnections));
        }
        if limits.user_connections > 0 && hour_now.connected >= limits.user_connections {
            let told = exceeded(user, "max_user_connections", limits.user_connections);
            return Err((told, HostError::MaxUserConnections));
        }
        if limits.connections_per_hour > 0 && hour_now.connections >= limits.connections_per_hour {
            let told = exceeded(user, "max_connections_per_hour", limits.connections_per_hour);
            return Err((told, HostError::MaxUserConnectionsPerHour));
        }
        if limits.connections_per_hour > 0 {
            hour_now.connections += 1;
        }
        hour_now.connected += 1;
        assert!(
            limits.user_connections == 0 || hour_now.connected <= limits.user_connections,
            "an account has no more connections than its limit"
        );
        drop(hour);
        Ok(UserPlace { used, user: user.to_owned(), limits })
    }
}

impl UserPlace {
    /// Reports whether statements are counted.
    pub fn counts_statements(&self) -> bool {
        self.limits.queries_per_hour > 0 || self.limits.updates_per_hour > 0
    }

    /// Counts a statement.
    ///
    /// # Errors
    /// Returns 1226 (`ER_USER_LIMIT_REACHED`) when the account has reached its limit of this hour.
    pub fn count_statement(&self, is_update: bool, now_us: u64) -> Result<(), SqlError> {
        let mut hour = self.used.hour.lock();
        let hour = hour.at(now_us);
        let limits = self.limits;
        let kinds = [
            ("max_questions", limits.queries_per_hour, &mut hour.queries, true),
            ("max_updates", limits.updates_per_hour, &mut hour.updates, is_update),
        ];
        for (name, limit, count, is_counted) in kinds {
            if limit > 0 && is_counted {
                if *count >= limit {
                    return Err(exceeded(&self.user, name, limit));
                }
                *count += 1;
            }
        }
        Ok(())
    }
}

fn exceeded(user: &str, what: &str, limit: u32) -> SqlError {
    SqlError::new(1226, format!("User '{user}' has exceeded the '{what}' resource (current value: {limit})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(locking: Locking, limits: Limits) -> Account {
        let mut account = Account { user: "a".into(), host: "%".into(), ..Account::default() };
        (account.attributes.locking, account.attributes.limits) = (locking, limits);
        account
    }

    #[test]
    fn wrong_passwords_lock_for_days_and_right_ones_begin_anew() {
        let usage = Usage::default();
        let a = account(Locking { attempts: 2, days: 3 }, Limits::default());
        let left =
            |is_right, day: u64| usage.note_login(&a, is_right, day * US_PER_DAY).err().map(|(days, _)| days);
        assert_eq!((left(false, 10), left(true, 10), left(false, 10)), (None, None, None));
        assert_eq!((left(false, 10), left(true, 11), left(false, 12)), (Some(3), Some(2), Some(1)));
        assert_eq!(left(true, 13), None);
        assert_eq!((left(false, 13), left(false, 13)), (None, Some(3)));
        usage.forget_failures(&a.name());
        assert_eq!(left(true, 13), None);
        // Only one of the two values is given, so the rule is not in force.
        let half = account(Locking { attempts: 1, days: 0 }, Limits::default());
        assert_eq!(usage.note_login(&half, false, 0), Ok(()));
        let for_ever = account(Locking { attempts: 1, days: -1 }, Limits::default());
        assert!(usage.note_login(&for_ever, false, 0).is_err());
        assert!(usage.note_login(&for_ever, true, 9999 * US_PER_DAY).is_err());
    }

    #[test]
    fn places_and_hours_are_counted() {
        let usage = Usage::default();
        let limits =
            Limits { queries_per_hour: 2, updates_per_hour: 1, connections_per_hour: 3, user_connections: 1 };
        let a = account(Locking::default(), limits);
        let take = |now_us| usage.take_place("a", &a, 0, now_us);
        let place = take(0).unwrap();
        assert!(
            take(0).unwrap_err().0.message.contains("'max_user_connections' resource (current value: 1)")
        );
        assert!(place.counts_statements());
        place.count_statement(true, 0).unwrap();
        assert!(place.count_statement(true, 0).unwrap_err().message.contains("'max_updates'"));
        assert!(place.count_statement(false, 0).unwrap_err().message.contains("'max_questions'"));
        place.count_statement(true, US_PER_HOUR).unwrap();
        drop(place);
        for _ in 0..3 {
            drop(take(US_PER_HOUR).unwrap());
        }
        assert!(take(US_PER_HOUR).unwrap_err().0.message.contains("'max_connections_per_hour'"));
        usage.begin_hour();
        drop(take(US_PER_HOUR).unwrap());
        // The variable binds only accounts without a limit of their own.
        let b = account(Locking::default(), Limits::default());
        let held = usage.take_place("b", &b, 1, 0).unwrap();
        assert_eq!(usage.take_place("b", &b, 1, 0).unwrap_err().0.code, 1203);
        let unbound = usage.take_place("b", &b, 0, 0).unwrap();
        drop((held, unbound));
        usage.take_place("b", &b, 1, 0).unwrap();
    }
}
