//! A change of accounts by a statement: the table that is changed, the account that asks, and the
//! changes so far. The caller stores the result.

use super::alter::PasswordPolicy;
use super::denied::needs_privilege;
use super::{Account, AccountName, AccountTable, Privileges, RoutineName};
use sql::SqlError;
use sql::admin::Account as Named;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The account that asks for a change, and its circumstances.
pub struct By<'a> {
    /// The account with its active roles.
    pub account: Arc<Account>,
    /// The active roles, whose privileges `account` includes.
    pub active_roles: BTreeSet<AccountName>,
    /// The host that the client connected from.
    pub client_host: String,
    /// True when the client authenticated with a password.
    pub with_password: bool,
    /// True when nothing needs to be checked.
    pub is_unchecked: bool,
    /// True when the statement comes from a source, which has checked it already.
    pub is_received: bool,
    /// The roles that the variable `mandatory_roles` names.
    pub mandatory: Vec<AccountName>,
    /// Whether `partial_revokes` is ON.
    pub partial_revokes: bool,
    /// Returns the names of a table's columns. `None` means that there is no such table.
    pub columns_of: &'a dyn Fn(&str, &str) -> Option<Vec<String>>,
    /// Reports whether a routine exists.
    pub has_routine: &'a dyn Fn(&RoutineName) -> bool,
    /// Reports whether a schema exists.
    pub has_schema: &'a dyn Fn(&str) -> bool,
}

/// A change of accounts on behalf of one of them.
pub struct Change<'a> {
    /// The accounts that are changed.
    pub table: &'a mut AccountTable,
    /// The account that asks, and its circumstances.
    pub by: By<'a>,
    /// The current schema, which completes `ON table`.
    pub schema: Option<String>,
    /// The length of random passwords, in characters.
    pub random_chars: usize,
    /// The rules for passwords.
    pub policy: PasswordPolicy,
    /// The accounts that were changed or made and still exist.
    pub changed: Vec<AccountName>,
    /// The accounts that were removed.
    pub removed: Vec<AccountName>,
    /// Notes about accounts that existed already or did not exist, and were left alone: code and
    /// message.
    pub notes: Vec<(u16, String)>,
    /// Warnings about missing things that did no harm: code and message.
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

    /// Reports whether no account is both among the changed and among the removed ones.
    fn is_noted_once(&self) -> bool {
        self.changed.iter().all(|name| !self.removed.contains(name))
    }

    /// Checks that the account which asks has CREATE USER, or `on_tables` on the tables of
    /// accounts.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the account has neither privilege.
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

    /// Checks that no account with SYSTEM_USER is changed by an account without it.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when one of the accounts has SYSTEM_USER
    /// and the account that asks does not.
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

    /// Adds note 3163 for each account, which says that the account exists already.
    pub(super) fn note_existing(&mut self, names: &[AccountName]) {
        let text = |(user, host): &AccountName| format!("Authorization ID '{user}'@'{host}' already exists.");
        self.notes.extend(names.iter().map(|name| (3163, text(name))));
    }

    /// Adds note 3162 for each account, which says that the account does not exist.
    pub(super) fn note_missing(&mut self, names: &[AccountName]) {
        let text = |(user, host): &AccountName| format!("Authorization ID '{user}'@'{host}' does not exist.");
        self.notes.extend(names.iter().map(|name| (3162, text(name))));
    }

    pub(super) fn warn(&mut self, code: u16, message: String) {
        self.warnings.push((code, message));
    }
}
