//! Accounts: who may connect from where, how they prove it, what they may do.
//!
//! The tables `mysql.user`, `mysql.db`, `mysql.tables_priv` and `mysql.global_grants` hold the
//! accounts; this module keeps them in memory as one immutable [`AccountTable`] that every change
//! replaces after it has been stored. A session asks the table afresh for each check, so a GRANT or
//! REVOKE counts at once (MySQL's global privileges wait for the next connection; nothing relies on
//! that delay).
//!
//! From the bottom up: `account` and `table` are the accounts, `rights` and `roles` what an account
//! may do. `change` is a change that a statement makes, `users`, `grant` and `role_changes` carry
//! the statements out on it, `grant_check` says whether privileges may be granted, and `logged` is
//! what the binary log gets of the statements. `storage` reads and writes the tables.

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

/// MySQL's name for the private half of caching_sha2_password's key pair.
const PRIVATE_KEY_FILE: &str = "private_key.pem";

/// The accounts of a server, with what authentication needs beside them.
#[derive(Default)]
pub struct Accounts {
    /// Lock order: each of these is held alone.
    table: RwLock<Arc<AccountTable>>,
    /// Grows with every replacement of the table. Release after the new table is in place, acquire
    /// before it is read: a session that sees the new number finds the new table.
    generation: AtomicU64,
    /// caching_sha2_password's cache: of each account the digest of its password, and of the
    /// retained one if there is one.
    cache: Mutex<HashMap<AccountName, Vec<CachedDigest>>>,
    /// Failed logins, and what accounts have used of what they may.
    pub usage: usage::Usage,
    /// Opened or made by a thread of its own when the server starts, because making one takes up to
    /// seconds.
    key: Mutex<Option<Arc<ServerKey>>>,
    /// Serialises changes: read the table, change a copy, store it, replace the table.
    pub(crate) changing: Mutex<()>,
}

impl Accounts {
    /// The present accounts.
    pub fn table(&self) -> Arc<AccountTable> {
        self.table.read().clone()
    }

    /// Tells one state of the accounts from another.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Replaces all accounts, and forgets the cached passwords of those that prove themselves by
    /// something else now.
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

    /// What an account may do depends on a variable that has changed.
    pub fn touch(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The cached digests of an account's passwords.
    pub fn cached(&self, name: &AccountName) -> Vec<CachedDigest> {
        self.cache.lock().get(name).cloned().unwrap_or_default()
    }

    /// Remembers an account's password after a full authentication, unless the accounts are no
    /// longer those of this generation: the password may have been changed while it was checked.
    pub fn remember(&self, name: AccountName, digest: CachedDigest, generation: u64) {
        let mut cache = self.cache.lock();
        // A replacement that is not seen here goes through the cache after this.
        if self.generation() == generation {
            let digests = cache.entry(name).or_default();
            if !digests.contains(&digest) {
                digests.push(digest);
            }
        }
    }

    /// Takes the server's RSA key from the data directory, as `private_key.pem`, or makes one and
    /// keeps it there.
    pub fn open_rsa_key(&self, disk: &dyn Disk, datadir: &Path) -> io::Result<()> {
        // Held throughout: a thread that needs the key waits for this one rather than making
        // another.
        let mut key = self.key.lock();
        let path = datadir.join(PRIVATE_KEY_FILE);
        let opened = if disk.exists(&path)? {
            let pem = String::from_utf8_lossy(&disk.read(&path)?).into_owned();
            let place = |e| io::Error::other(format!("{}: {e}", path.display()));
            Arc::new(ServerKey::from_private_pem(&pem).map_err(place)?)
        } else {
            // A login may have come first.
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

    /// The server's RSA key; made here when there was none to open.
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

/// Error 3896, of switching `partial_revokes` off, when some account is restricted in a schema.
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
        // Another account is made: this one's password is as it was.
        accounts.replace(AccountTable::new([account("a", "%"), account("b", "%")]));
        assert_eq!(accounts.cached(&name()), [[1; 32]]);
        let changed = Account { authentication_string: b"new".to_vec(), ..account("a", "%") };
        accounts.replace(AccountTable::new([changed, account("b", "%")]));
        assert!(accounts.cached(&name()).is_empty());
    }
}
