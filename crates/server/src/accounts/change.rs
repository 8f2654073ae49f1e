//! A change of accounts that a statement makes: in which table, on behalf of whom, and what has
//! changed so far. Storing the result is the caller's.

use super::alter::PasswordPolicy;
use super::denied::needs_privilege;
use super::{Account, AccountName, AccountTable, Privileges, RoutineName};
use sql::SqlError;
use sql::admin::Account as Named;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The account that changes others, and what surrounds it.
pub struct By<'a> {
    /// The account with its active roles.
    pub account: Arc<Account>,
    /// Those roles.
    pub active_roles: BTreeSet<AccountName>,
    /// The host that the client connected from.
    pub client_host: String,
    /// Whether it authenticated with a password.
    pub with_password: bool,
    /// Whether nothing needs to be checked.
    pub is_unchecked: bool,
    /// Whether the statement is a source's, which has found it good.
    pub is_received: bool,
    /// The roles of `mandatory_roles`.
    pub mandatory: Vec<AccountName>,
    /// Whether `partial_revokes` is ON.
    pub partial_revokes: bool,
    /// The names of a table's columns; `None` where there is no such table.
    pub columns_of: &'a dyn Fn(&str, &str) -> Option<Vec<String>>,
    /// Whether there is such a routine.
    pub has_routine: &'a dyn Fn(&RoutineName) -> bool,
    /// Whether there is a schema of this name.
    pub has_schema: &'a dyn Fn(&str) -> bool,
}

/// Changes accounts on behalf of one of them.
pub struct Change<'a> {
    /// What is changed.
    pub table: &'a mut AccountTable,
    /// The account that asks.
    pub by: By<'a>,
    /// The current schema, for `ON table`.
    pub schema: Option<String>,
    /// Length of random passwords.
    pub random_chars: usize,
    /// What holds for passwords.
    pub policy: PasswordPolicy,
    /// Accounts that were changed and are still there.
    pub changed: Vec<AccountName>,
    /// Accounts that are gone.
    pub removed: Vec<AccountName>,
    /// Accounts that were there or not, and for which nothing was done: code and message.
    pub notes: Vec<(u16, String)>,
    /// What was missing and did not matter: code and message.
    pub warnings: Vec<(u16, String)>,
}

impl Change<'_> {
    pub(super) fn name(&self, named: &Named) -> AccountName {
        match named.is_current_user {
            true => self.by.account.name(),
            false => (named.user.clone(), named.host.to_ascii_lowercase()),
        }
    }

    pub(super) fn put(&mut self, account: Account) {
        let name = account.name();
        self.removed.retain(|n| *n != name);
        if !self.changed.contains(&name) {
            self.changed.push(name);
        }
        self.table.put(account);
        debug_assert!(self.is_noted_once(), "an account is changed or removed");
    }

    pub(super) fn remove(&mut self, name: AccountName) {
        self.table.remove(&name);
        self.changed.retain(|n| *n != name);
        assert!(self.table.get(&name).is_none(), "an account that is removed is gone");
        self.removed.push(name);
        debug_assert!(self.is_noted_once(), "an account is changed or removed");
    }

    /// Whether no account is among those changed and among those removed.
    fn is_noted_once(&self) -> bool {
        self.changed.iter().all(|name| !self.removed.contains(name))
    }

    /// The grantor's CREATE USER, or this privilege on the tables of accounts; error 1227.
    pub(super) fn require_create_user(&self, on_tables: &str) -> Result<(), SqlError> {
        let create_user = Privileges::named("CREATE USER").unwrap_or_default();
        let on_tables = Privileges::named(on_tables).unwrap_or_default();
        let by = &self.by;
        if by.is_unchecked
            || by.account.global.contains(create_user)
            || by.account.allows_schema(on_tables, "mysql")
        {
            return Ok(());
        }
        Err(needs_privilege("CREATE USER"))
    }

    /// Error 1227 when one of these accounts has SYSTEM_USER and the grantor has not.
    pub fn check_system_users(&self, accounts: &[Named]) -> Result<(), SqlError> {
        let names: Vec<AccountName> = accounts.iter().map(|named| self.name(named)).collect();
        self.check_system_user_names(&names)
    }

    pub(super) fn check_system_user_names(&self, names: &[AccountName]) -> Result<(), SqlError> {
        let is_system_user = |name: &AccountName| {
            self.table.get(name).is_some_and(|account| {
                let roles: BTreeSet<AccountName> = account.roles.keys().cloned().collect();
                self.table.with_roles(&account, &roles).is_system_user()
            })
        };
        if self.by.is_unchecked || self.by.account.is_system_user() || !names.iter().any(is_system_user) {
            return Ok(());
        }
        Err(needs_privilege("SYSTEM_USER"))
    }

    /// Notes for each name that it is there already (3163).
    pub(super) fn note_existing(&mut self, names: &[AccountName]) {
        let text = |(user, host): &AccountName| format!("Authorization ID '{user}'@'{host}' already exists.");
        self.notes.extend(names.iter().map(|name| (3163, text(name))));
    }

    /// Notes for each name that it is not there (3162).
    pub(super) fn note_missing(&mut self, names: &[AccountName]) {
        let text = |(user, host): &AccountName| format!("Authorization ID '{user}'@'{host}' does not exist.");
        self.notes.extend(names.iter().map(|name| (3162, text(name))));
    }

    pub(super) fn warn(&mut self, code: u16, message: String) {
        self.warnings.push((code, message));
    }
}
