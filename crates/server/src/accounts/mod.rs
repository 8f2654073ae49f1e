//! Accounts: who may connect from where, how they authenticate, and what they may do.
//!
//! The tables `mysql.user`, `mysql.db`, `mysql.tables_priv` and `mysql.global_grants` hold the
//! accounts. This module keeps them in memory as one immutable [`AccountTable`], which every change
//! replaces after it has been stored. A session asks the table anew for each check, so a GRANT or
//! REVOKE takes effect at once. (In MySQL, changed global privileges take effect with the next
//! connection. Nothing relies on that delay.)
//!
//! The modules build on each other: `account` and `table` are the accounts, `rights` and `roles`
//! what an account may do. `change` is the change that a statement makes; `users`, `grant` and
//! `role_changes` carry the statements out on it; `grant_check` decides whether privileges may be
//! granted; `logged` writes the statements for the binary log. `storage` reads and writes the
//! tables.

mod account;
pub mod alter;
pub mod attributes;
pub mod change;
mod denied;
pub mod grant;
mod grant_check;
mod grant_tables;
pub mod host_pattern;
pub mod logged;
mod nobody;
pub mod privileges;
mod restrictions;
mod rights;
pub mod role_changes;
pub mod roles;
mod row;
pub mod secret;
pub mod show;
pub mod storage;
pub mod stored;
mod table;
pub mod usage;
mod users;

pub use account::{Account, AccountName, RoutineName};
pub use attributes::Attributes;
pub use denied::{access_denied, needs_privilege, no_such_grant, quoted, routine_denied, schema_denied};
pub use host_pattern::ClientHost;
pub use privileges::{Level, Privileges};
pub use table::AccountTable;

use os::disk::Disk;
use parking_lot::{Mutex, RwLock};
use protocol::auth::caching_sha2::CachedDigest;
use protocol::rsa_exchange::{RsaError, ServerKey};
use sql::SqlError;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file that holds the private half of caching_sha2_password's key pair, under MySQL's name.
const PRIVATE_KEY_FILE: &str = "private_key.pem";

/// The accounts of a server, and what authentication needs besides them.
#[derive(Default)]
pub struct Accounts {
    /// The present accounts. Lock order: no two of the locks of this struct are held together,
    /// except that `changing` may be held around the others.
    table: RwLock<Arc<AccountTable>>,
    /// A number that grows with every replacement of the table. It is written (Release) after the
    /// new table is in place and read (Acquire) before the table is read, so a session that sees
    /// the new number finds the new table.
    generation: AtomicU64,
    /// caching_sha2_password's cache: for each account the digests of its password and of its
    /// retained password, if there is one.
    cache: Mutex<HashMap<AccountName, Vec<CachedDigest>>>,
    /// The failed logins of accounts, and what they have used of their limits.
    pub usage: usage::Usage,
    /// The RSA key. A thread of its own opens or makes it when the server starts, because making
    /// one takes up to seconds.
    key: Mutex<Option<Arc<ServerKey>>>,
    /// Serialises changes, each of which reads the table, changes a copy, stores it and replaces
    /// the table.
    pub(crate) changing: Mutex<()>,
}

impl Accounts {
    /// Returns the present accounts.
    pub fn table(&self) -> Arc<AccountTable> {
        self.table.read().clone()
    }

    /// Returns a number that tells one state of the accounts from another.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Replaces all accounts, and forgets the cached passwords of accounts whose stored credentials
    /// are now others.
    pub fn replace(&self, table: AccountTable) {
        let new = Arc::new(table);
        let old = std::mem::replace(&mut *self.table.write(), new.clone());
        self.generation.fetch_add(1, Ordering::Release);
        self.cache.lock().retain(|name, _| match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => {
                let stored = |a: &Account| {
                    let retained = a.attributes.retained_password.clone();
                    (a.plugin.clone(), a.authentication_string.clone(), retained)
                };
                stored(&old) == stored(&new)
            }
            _ => false,
        });
    }

    /// Forgets all cached passwords (FLUSH PRIVILEGES).
    pub fn forget_passwords(&self) {
        self.cache.lock().clear();
    }

    /// Notes that a variable has changed on which the rights of accounts depend.
    pub fn touch(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Returns the cached digests of an account's passwords.
    pub fn cached(&self, name: &AccountName) -> Vec<CachedDigest> {
        self.cache.lock().get(name).cloned().unwrap_or_default()
    }

    /// Remembers an account's password after a full authentication, unless the accounts are no
    /// longer those of this generation. The password may have been changed while it was checked.
    pub fn remember(&self, name: AccountName, digest: CachedDigest, generation: u64) {
        let mut cache = self.cache.lock();
        // A replacement that comes after this check clears the cache after this entry.
        if self.generation() == generation {
            let digests = cache.entry(name).or_default();
            if !digests.contains(&digest) {
                digests.push(digest);
            }
            assert!(digests.len() <= 2, "an account has its password and a retained one");
        }
    }

    /// Opens the server's RSA key, `private_key.pem` in the data directory, or makes one and keeps
    /// it there.
    pub fn open_rsa_key(&self, disk: &dyn Disk, datadir: &Path) -> io::Result<()> {
        // The lock is held throughout, so that a thread that needs the key waits for this one and
        // does not make another key.
        let mut key = self.key.lock();
        let path = datadir.join(PRIVATE_KEY_FILE);
        let opened = if disk.exists(&path)? {
            let pem = String::from_utf8_lossy(&disk.read(&path)?).into_owned();
            let place = |e| io::Error::other(format!("{}: {e}", path.display()));
            Arc::new(ServerKey::from_private_pem(&pem).map_err(place)?)
        } else {
            // A login may have come first and made a key.
            let made = match key.take() {
                Some(made) => made,
                None => Arc::new(ServerKey::generate(os::random::fill).map_err(io::Error::other)?),
            };
            disk.write_secret_atomically(&path, made.private_pem().map_err(io::Error::other)?.as_bytes())?;
            made
        };
        *key = Some(opened);
        Ok(())
    }

    /// Returns the server's RSA key if there is one already. Does not wait for the thread that
    /// makes one.
    pub fn opened_rsa_key(&self) -> Option<Arc<ServerKey>> {
        self.key.try_lock()?.clone()
    }

    /// Returns the server's RSA key, and makes one when none was opened.
    pub fn rsa_key(&self) -> Result<Arc<ServerKey>, RsaError> {
        let mut key = self.key.lock();
        if let Some(key) = &*key {
            return Ok(key.clone());
        }
        let made = Arc::new(ServerKey::generate(os::random::fill)?);
        *key = Some(made.clone());
        Ok(made)
    }
}

/// Checks that no account is restricted in a schema, so that `partial_revokes` may be switched off.
///
/// # Errors
/// Returns 3896 when an account has a restriction.
pub fn check_no_restrictions(accounts: &Accounts) -> Result<(), SqlError> {
    if accounts.table().iter().all(|account| account.restrictions.is_empty()) {
        return Ok(());
    }
    let text = "At least one partial revoke exists on a database. The system variable '@@partial_revokes' must be set \
                to ON.";
    Err(SqlError::new(3896, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(user: &str, host: &str) -> Account {
        Account { user: user.into(), host: host.into(), ..Account::default() }
    }

    #[test]
    fn a_password_that_was_changed_meanwhile_is_not_remembered() {
        let accounts = Accounts::default();
        let name = || ("a".to_owned(), "%".to_owned());
        let before = accounts.generation();
        accounts.replace(AccountTable::new([account("a", "%")]));
        accounts.remember(name(), [1; 32], before);
        assert!(accounts.cached(&name()).is_empty());
        accounts.remember(name(), [1; 32], accounts.generation());
        assert_eq!(accounts.cached(&name()), [[1; 32]]);
        // Another account is made, so this one's password stays as it was.
        accounts.replace(AccountTable::new([account("a", "%"), account("b", "%")]));
        assert_eq!(accounts.cached(&name()), [[1; 32]]);
        let changed = Account { authentication_string: b"new".to_vec(), ..account("a", "%") };
        accounts.replace(AccountTable::new([changed, account("b", "%")]));
        assert!(accounts.cached(&name()).is_empty());
    }
}
