//! Accounts: who may connect from where, how they prove it, what they may do.
//!
//! The tables `mysql.user`, `mysql.db`, `mysql.tables_priv` and `mysql.global_grants` hold the
//! accounts; this module keeps them in memory as one immutable [`AccountTable`] that every change
//! replaces after it has been stored. A session asks the table afresh for each check, so a GRANT or
//! REVOKE counts at once (MySQL's global privileges wait for the next connection; nothing relies on
//! that delay).

pub mod alter;
pub mod attributes;
pub mod change;
pub mod grant;
mod grant_tables;
pub mod host_pattern;
mod logged;
mod nobody;
pub mod privileges;
mod restrictions;
mod rights;
pub mod role_changes;
pub mod roles;
pub mod secret;
pub mod show;
pub mod storage;
pub mod stored;
pub mod usage;

pub use attributes::Attributes;
pub use host_pattern::ClientHost;
pub use privileges::{Level, Privileges};

use os::disk::Disk;
use parking_lot::{Mutex, RwLock};
use protocol::auth::caching_sha2::CachedDigest;
use protocol::rsa_exchange::{RsaError, ServerKey};
use sql::SqlError;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// MySQL's name for the private half of caching_sha2_password's key pair.
const PRIVATE_KEY_FILE: &str = "private_key.pem";

/// Names an account: user and host pattern.
pub type AccountName = (String, String);

/// Names a stored routine. Procedures stand before functions, as SHOW GRANTS has them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoutineName {
    /// It is no procedure.
    pub is_function: bool,
    /// Its schema.
    pub schema: String,
    /// Its name, in lower case: case does not count.
    pub name: String,
}

impl RoutineName {
    /// The name of a routine as it is written.
    pub fn new(is_function: bool, schema: &str, name: &str) -> RoutineName {
        RoutineName { is_function, schema: schema.to_owned(), name: name.to_lowercase() }
    }
}

/// One account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// User name; empty is the anonymous user, which matches every name.
    pub user: String,
    /// Host pattern, in lower case.
    pub host: String,
    /// Authentication plugin.
    pub plugin: String,
    /// What the plugin stored for the password; empty for no password.
    pub authentication_string: Vec<u8>,
    /// `ACCOUNT LOCK`.
    pub locked: bool,
    /// The password is to be changed before anything else.
    pub password_expired: bool,
    /// What else was said of the account.
    pub attributes: Attributes,
    /// Privileges on `*.*`.
    pub global: Privileges,
    /// Dynamic privileges, with their GRANT OPTION.
    pub dynamic: BTreeMap<String, bool>,
    /// Privileges on `pattern.*`, by pattern.
    pub schemas: BTreeMap<String, Privileges>,
    /// Privileges on tables, by schema and table.
    pub tables: BTreeMap<(String, String), Privileges>,
    /// Privileges on columns, by schema and table, then by column.
    pub columns: BTreeMap<(String, String), BTreeMap<String, Privileges>>,
    /// Privileges on stored routines.
    pub routines: BTreeMap<RoutineName, Privileges>,
    /// Privileges on `*.*` that do not hold in a schema (`partial_revokes`).
    pub restrictions: BTreeMap<String, Privileges>,
    /// Accounts that it may stand for, with GRANT OPTION.
    pub proxied: BTreeMap<AccountName, bool>,
    /// Roles that it was granted, with ADMIN OPTION.
    pub roles: BTreeMap<AccountName, bool>,
    /// Roles that its sessions begin with.
    pub default_roles: BTreeSet<AccountName>,
}

impl Account {
    /// The account's name.
    pub fn name(&self) -> AccountName {
        (self.user.clone(), self.host.clone())
    }

    /// `user@host` as CURRENT_USER() shows it.
    pub fn shown(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }

    /// True when the account has SUPER or one of these dynamic privileges.
    pub fn administers(&self, dynamic: &[&str]) -> bool {
        self.global.contains(Privileges::named("SUPER").unwrap_or_default())
            || dynamic.iter().any(|name| self.dynamic.contains_key(*name))
    }
}

/// All accounts, the most specific first.
#[derive(Debug, Clone, Default)]
pub struct AccountTable {
    accounts: Vec<Arc<Account>>,
}

impl AccountTable {
    /// A table of these accounts.
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

    /// The account that a connection of `user` from `host` is matched to.
    pub fn find(&self, user: &str, host: &ClientHost) -> Option<Arc<Account>> {
        let fits =
            |a: &&Arc<Account>| (a.user == user || a.user.is_empty()) && host_pattern::matches(&a.host, host);
        self.accounts.iter().find(fits).cloned()
    }

    /// Whether there is any account that may be used from a host.
    pub fn admits(&self, host: &ClientHost) -> bool {
        self.accounts.iter().any(|account| host_pattern::matches(&account.host, host))
    }

    /// The account of exactly this name.
    pub fn get(&self, name: &AccountName) -> Option<Arc<Account>> {
        self.accounts.iter().find(|a| a.user == name.0 && a.host == name.1).cloned()
    }

    /// Adds an account, or replaces the one of its name.
    pub fn put(&mut self, account: Account) {
        self.remove(&account.name());
        self.accounts.push(Arc::new(account));
        self.sort();
    }

    /// Removes an account; false when there is none of this name.
    pub fn remove(&mut self, name: &AccountName) -> bool {
        let before = self.accounts.len();
        self.accounts.retain(|a| a.user != name.0 || a.host != name.1);
        self.accounts.len() < before
    }

    /// All accounts.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Account>> {
        self.accounts.iter()
    }
}

/// The accounts of a server, with what authentication needs beside them.
#[derive(Default)]
pub struct Accounts {
    /// Lock order: each of these is held alone.
    table: RwLock<Arc<AccountTable>>,
    /// Grows with every replacement of the table. Release after the new table is in place, acquire
    /// before it is read: who sees the new number finds the new table.
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
        // Held throughout: who needs the key waits for this rather than making another.
        let mut key = self.key.lock();
        let path = datadir.join(PRIVATE_KEY_FILE);
        let opened = if disk.exists(&path)? {
            let pem = String::from_utf8_lossy(&disk.read(&path)?).into_owned();
            let place = |e| io::Error::other(format!("{}: {e}", path.display()));
            ServerKey::from_private_pem(&pem).map_err(place)?
        } else {
            let made = ServerKey::generate(os::random::fill).map_err(io::Error::other)?;
            disk.write_secret_atomically(&path, made.private_pem().map_err(io::Error::other)?.as_bytes())?;
            made
        };
        *key = Some(Arc::new(opened));
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

/// Error 1045.
pub fn access_denied(user: &str, host: &str, with_password: bool) -> SqlError {
    let using = if with_password { "YES" } else { "NO" };
    SqlError::new(1045, format!("Access denied for user '{user}'@'{host}' (using password: {using})"))
}

/// Error 1044.
pub fn schema_denied(account: &str, schema: &str) -> SqlError {
    SqlError::new(1044, format!("Access denied for user {} to database '{schema}'", quoted(account)))
}

/// Error 1370.
pub fn routine_denied(privilege: &str, account: &str, routine: &str) -> SqlError {
    let (privilege, user) = (privilege.to_lowercase(), quoted(account));
    SqlError::new(1370, format!("{privilege} command denied to user {user} for routine '{routine}'"))
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

/// Error 1227; `privileges` as MySQL lists them: `SUPER or REPLICATION_SLAVE_ADMIN`.
pub fn needs_privilege(privileges: &str) -> SqlError {
    let text =
        format!("Access denied; you need (at least one of) the {privileges} privilege(s) for this operation");
    SqlError::new(1227, text)
}

/// `user@host` as `'user'@'host'`.
pub fn quoted(account: &str) -> String {
    match account.rsplit_once('@') {
        Some((user, host)) => format!("'{user}'@'{host}'"),
        None => format!("'{account}'"),
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

    #[test]
    fn privileges_add_up_over_the_levels() {
        let select = Privileges::named("SELECT").unwrap();
        let insert = Privileges::named("INSERT").unwrap();
        let mut a = account("a", "%");
        a.schemas.insert("app\\_%".into(), select);
        a.tables.insert(("other".into(), "t".into()), insert);
        assert!(a.allows_schema(select, "app_1") && !a.allows_schema(select, "appx1"));
        assert!(a.allows_table(select, "app_1", "t") && !a.allows_table(insert, "app_1", "t"));
        assert!(a.allows_table(insert, "other", "t") && !a.allows_table(insert, "other", "u"));
        assert!(!a.on_schema("app_2").is_empty() && a.on_schema("other").is_empty());
        assert_eq!(a.on_tables_of("other").collect::<Vec<_>>(), [insert]);
        assert!(!a.administers(&["CONNECTION_ADMIN"]));
    }
}
