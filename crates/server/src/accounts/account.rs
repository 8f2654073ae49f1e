//! One account: its name, its means of authentication, and the privileges granted to it.

use super::attributes::Attributes;
use super::privileges::Privileges;
use std::collections::{BTreeMap, BTreeSet};

/// The name of an account: user and host pattern.
pub type AccountName = (String, String);

/// The name of a stored routine. Procedures sort before functions, as in SHOW GRANTS.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoutineName {
    /// True for a function, false for a procedure.
    pub is_function: bool,
    /// The routine's schema.
    pub schema: String,
    /// The routine's name in lower case, because case does not count.
    pub name: String,
}

impl RoutineName {
    /// Builds the name of a routine from its written form.
    pub fn new(is_function: bool, schema: &str, name: &str) -> RoutineName {
        RoutineName { is_function, schema: schema.to_owned(), name: name.to_lowercase() }
    }
}

/// An account or role with its password, its properties and its privileges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// The user name. The empty name is the anonymous user, which matches every name.
    pub user: String,
    /// The host pattern, in lower case.
    pub host: String,
    /// The authentication plugin.
    pub plugin: String,
    /// The value that the plugin stored for the password; empty means no password.
    pub authentication_string: Vec<u8>,
    /// True after `ACCOUNT LOCK`.
    pub locked: bool,
    /// True when the password must be changed before anything else.
    pub password_expired: bool,
    /// The other properties of the account.
    pub attributes: Attributes,
    /// Privileges on `*.*`.
    pub global: Privileges,
    /// Dynamic privileges, each with whether it has GRANT OPTION.
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
    /// The accounts that this one may stand for, each with whether it has GRANT OPTION.
    pub proxied: BTreeMap<AccountName, bool>,
    /// The roles that the account was granted, each with whether it has ADMIN OPTION.
    pub roles: BTreeMap<AccountName, bool>,
    /// The roles that are active when the account's sessions begin.
    pub default_roles: BTreeSet<AccountName>,
}

impl Account {
    /// Returns the account's name.
    pub fn name(&self) -> AccountName {
        (self.user.clone(), self.host.clone())
    }

    /// Returns `user@host` as CURRENT_USER() shows it.
    pub fn shown(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }

    /// Reports whether the account has SUPER or one of these dynamic privileges.
    pub fn administers(&self, dynamic: &[&str]) -> bool {
        self.global.contains(Privileges::named("SUPER").unwrap_or_default())
            || dynamic.iter().any(|name| self.dynamic.contains_key(*name))
    }
}
