//! All accounts, and the matching of clients to them.

use super::account::{Account, AccountName};
use super::host_pattern::{self, ClientHost};
use std::sync::Arc;

/// All accounts, the most specific first.
#[derive(Debug, Clone, Default)]
pub struct AccountTable {
    accounts: Vec<Arc<Account>>,
}

impl AccountTable {
    /// Builds a table of these accounts.
    pub fn new(accounts: impl IntoIterator<Item = Account>) -> AccountTable {
        let mut table = AccountTable { accounts: accounts.into_iter().map(Arc::new).collect() };
        table.sort();
        table
    }

    fn sort(&mut self) {
        self.accounts.sort_by(|a, b| {
            let key = |x: &Account| (host_pattern::specificity(&x.host), x.user.is_empty());
            key(a).cmp(&key(b)).then_with(|| a.name().cmp(&b.name()))
        });
    }

    /// Returns the account to which a connection of `user` from `host` is matched.
    pub fn find(&self, user: &str, host: &ClientHost) -> Option<Arc<Account>> {
        let fits =
            |a: &&Arc<Account>| (a.user == user || a.user.is_empty()) && host_pattern::matches(&a.host, host);
        self.accounts.iter().find(fits).cloned()
    }

    /// Reports whether there is an account that may be used from a host.
    pub fn admits(&self, host: &ClientHost) -> bool {
        self.accounts.iter().any(|account| host_pattern::matches(&account.host, host))
    }

    /// Returns the account of exactly this name.
    pub fn get(&self, name: &AccountName) -> Option<Arc<Account>> {
        self.accounts.iter().find(|a| a.user == name.0 && a.host == name.1).cloned()
    }

    /// Adds an account, or replaces the account of its name.
    pub fn put(&mut self, account: Account) {
        self.remove(&account.name());
        self.accounts.push(Arc::new(account));
        self.sort();
        debug_assert!(
            self.accounts.windows(2).all(|pair| pair[0].name() != pair[1].name()),
            "an account is in the table once"
        );
    }

    /// Removes an account. Returns false when there is none of this name.
    pub fn remove(&mut self, name: &AccountName) -> bool {
        let before = self.accounts.len();
        self.accounts.retain(|a| a.user != name.0 || a.host != name.1);
        self.accounts.len() < before
    }

    /// Returns all accounts, the most specific first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Account>> {
        self.accounts.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(user: &str, host: &str) -> Account {
        Account { user: user.into(), host: host.into(), ..Account::default() }
    }

    #[test]
    fn the_most_specific_account_is_found() {
        let table = AccountTable::new([account("a", "%"), account("", "localhost"), account("a", "10.0.%")]);
        let found = |user: &str, ip: &str| {
            let name = (ip == "127.0.0.1").then(|| "localhost".to_owned());
            table.find(user, &ClientHost::Ip { ip: ip.parse().unwrap(), name }).map(|a| a.shown())
        };
        assert_eq!(found("a", "10.0.0.1").as_deref(), Some("a@10.0.%"));
        assert_eq!(found("a", "10.9.0.1").as_deref(), Some("a@%"));
        // MySQL's order: the anonymous user of the more specific host shadows 'a'@'%'.
        assert_eq!(found("a", "127.0.0.1").as_deref(), Some("@localhost"));
        assert_eq!(found("b", "10.0.0.1"), None);
    }
}
