//! One account: its name, how it proves itself, and what it was granted.

use super::attributes::Attributes;
use super::privileges::Privileges;
use std::collections::{BTreeMap, BTreeSet};

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
