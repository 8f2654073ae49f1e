//! The account that stands in for a user name that no account has.

use super::{Account, Accounts};
use protocol::auth::{caching_sha2, keyed_number, plugin};

/// A stored form of mysql_native_password for which no password is known.
const NO_NATIVE_PASSWORD: &[u8] = b"*0000000000000000000000000000000000000000";

impl Accounts {
    /// Returns an account with an unknown password, for a user name that no account has.
    ///
    /// Its plugin is always the same for a name, also after a restart, and among many names the
    /// plugins are as frequent as among the accounts. So the plugin of a name does not tell whether
    /// an account has that name.
    pub fn nobody(&self, user: &str) -> Account {
        let table = self.table();
        let natives = table.iter().filter(|account| account.plugin == plugin::NATIVE).count();
        // Without accounts of the native plugin the choice is clear, and there is no wait for the
        // key, which may have to be made first.
        let is_native = natives > 0 && {
            let number = keyed_number(self.secret().as_bytes(), user.as_bytes());
            let place = (u64::from(number) * table.iter().count() as u64) >> 32;
            place < natives as u64
        };
        let (plugin, stored) = match is_native {
            true => (plugin::NATIVE, NO_NATIVE_PASSWORD),
            false => (plugin::CACHING_SHA2, caching_sha2::NO_PASSWORD),
        };
        Account {
            user: user.to_owned(),
            plugin: plugin.to_owned(),
            authentication_string: stored.to_vec(),
            ..Account::default()
        }
    }

    /// Returns a secret of this server that stays the same after a restart. A key that cannot be
    /// had fails every login that needs it.
    fn secret(&self) -> String {
        self.rsa_key().and_then(|key| key.private_pem()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::AccountTable;

    fn of(plugins: &[&str]) -> Accounts {
        let accounts = Accounts::default();
        let account = |(number, plugin): (usize, &&str)| Account {
            user: format!("u{number}"),
            plugin: (*plugin).into(),
            ..Account::default()
        };
        accounts.replace(AccountTable::new(plugins.iter().enumerate().map(account)));
        accounts
    }

    #[test]
    fn plugins_of_nobody_are_as_frequent_as_those_of_accounts_and_stay() {
        let natives = |accounts: &Accounts| -> Vec<bool> {
            let names = (0..400).map(|n| format!("nobody{n}"));
            names.map(|name| accounts.nobody(&name).plugin == plugin::NATIVE).collect()
        };
        assert!(natives(&of(&[plugin::CACHING_SHA2])).iter().all(|native| !native));
        assert!(natives(&of(&[plugin::NATIVE])).iter().all(|native| *native));
        let mixed = of(&[plugin::NATIVE, plugin::CACHING_SHA2]);
        let (once, again) = (natives(&mixed), natives(&mixed));
        assert_eq!(once, again);
        let count = once.iter().filter(|native| **native).count();
        // 400 coins: fewer than 100 or more than 300 heads do not occur in practice.
        assert!((100..300).contains(&count), "{count}");
    }
}
