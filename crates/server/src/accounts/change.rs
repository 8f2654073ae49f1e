//! The statements that change accounts, applied to an [`AccountTable`]; storing the result is the
//! caller's.

use super::alter::{Operation, PasswordPolicy};
use super::{Account, AccountName, AccountTable, Privileges, RoutineName, access_denied, needs_privilege};
use sql::SqlError;
use sql::admin::{Account as Named, AccountOptions, AccountSpec, Authentication};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A random password that was made for an account: user, host, password.
pub type RandomPassword = (String, String, String);

/// Who changes accounts, and where.
pub struct By<'a> {
    /// The account with its active roles.
    pub account: Arc<Account>,
    /// Those roles.
    pub active_roles: BTreeSet<AccountName>,
    /// The host that the client connected from.
    pub client_host: String,
    /// It authenticated with a password.
    pub with_password: bool,
    /// Nothing needs to be checked.
    pub is_unchecked: bool,
    /// The statement is a source's, which has found it good.
    pub is_received: bool,
    /// `mandatory_roles`.
    pub mandatory: Vec<AccountName>,
    /// `partial_revokes`.
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
    /// Who asks.
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
    }

    pub(super) fn remove(&mut self, name: AccountName) {
        self.table.remove(&name);
        self.changed.retain(|n| *n != name);
        self.removed.push(name);
    }

    /// CREATE USER. The result are random passwords; names that exist already are in the error, or
    /// left alone.
    pub fn create(
        &mut self,
        specs: &[AccountSpec],
        if_not_exists: bool,
        options: &AccountOptions,
    ) -> Result<Vec<RandomPassword>, SqlError> {
        let exists: Vec<AccountName> =
            specs.iter().map(|s| self.name(&s.account)).filter(|n| self.table.get(n).is_some()).collect();
        if !exists.is_empty() && !if_not_exists {
            return Err(failed("CREATE USER", &exists, " (User account already exists)"));
        }
        self.note_existing(&exists);
        let mut shown = Vec::new();
        for spec in specs {
            let name = self.name(&spec.account);
            if exists.contains(&name) {
                continue;
            }
            let mut account = Account { user: name.0, host: name.1, ..Account::default() };
            account.plugin = super::secret::DEFAULT_PLUGIN.to_owned();
            self.change_one(
                &mut account,
                spec.authentication.as_ref(),
                options,
                &mut shown,
                Operation::Create,
            )?;
            account.default_roles = self.new_default_roles(&mut account, &options.default_roles)?;
            self.put(account);
        }
        Ok(shown)
    }

    /// ALTER USER.
    pub fn alter(
        &mut self,
        specs: &[AccountSpec],
        if_exists: bool,
        options: &AccountOptions,
    ) -> Result<Vec<RandomPassword>, SqlError> {
        let missing: Vec<AccountName> =
            specs.iter().map(|s| self.name(&s.account)).filter(|n| self.table.get(n).is_none()).collect();
        if !missing.is_empty() && !if_exists {
            return Err(failed("ALTER USER", &missing, " (User account does not exist)"));
        }
        self.note_missing(&missing);
        let mut shown = Vec::new();
        for spec in specs {
            if let Some(account) = self.table.get(&self.name(&spec.account)) {
                let mut account = Account::clone(&account);
                let authentication = spec.authentication.as_ref();
                self.change_one(&mut account, authentication, options, &mut shown, Operation::Alter)?;
                self.put(account);
            }
        }
        Ok(shown)
    }

    /// DROP USER.
    pub fn drop(&mut self, accounts: &[Named], if_exists: bool) -> Result<(), SqlError> {
        let names: Vec<AccountName> = accounts.iter().map(|a| self.name(a)).collect();
        let missing: Vec<AccountName> =
            names.iter().filter(|n| self.table.get(n).is_none()).cloned().collect();
        if !missing.is_empty() && !if_exists {
            return Err(failed("DROP USER", &missing, " (User account does not exist)"));
        }
        let names: Vec<AccountName> = names.into_iter().filter(|n| !missing.contains(n)).collect();
        self.check_not_mandatory(&names)?;
        self.note_missing(&missing);
        for name in names {
            self.forget_role(&name);
            self.remove(name);
        }
        Ok(())
    }

    /// OR REPLACE of a MariaDB source: what is there goes first, with all that it was granted.
    pub fn drop_received(&mut self, accounts: &[Named]) -> Result<(), SqlError> {
        self.drop(accounts, true)?;
        self.notes.clear();
        Ok(())
    }

    /// `IDENTIFIED` behind the accounts of a source's GRANT: those that are not there are made.
    pub fn identify_received(&mut self, specs: &[AccountSpec]) -> Result<(), SqlError> {
        let none = AccountOptions::default();
        for spec in specs {
            match self.table.get(&self.name(&spec.account)) {
                None => self.create(std::slice::from_ref(spec), false, &none)?,
                Some(_) => self.alter(std::slice::from_ref(spec), false, &none)?,
            };
        }
        Ok(())
    }

    /// RENAME USER.
    pub fn rename(&mut self, pairs: &[(Named, Named)]) -> Result<(), SqlError> {
        for (old, new) in pairs {
            let (old, new) = (self.name(old), self.name(new));
            let account = match self.table.get(&old) {
                Some(account) if self.table.get(&new).is_none() => account,
                _ => return Err(failed("RENAME USER", &[old], "")),
            };
            if self.table.is_granted(&old) || self.by.mandatory.contains(&old) {
                return Err(SqlError::new(3532, "Renaming of a role identifier is forbidden"));
            }
            self.remove(old);
            self.put(Account { user: new.0, host: new.1, ..Account::clone(&account) });
        }
        Ok(())
    }

    /// SET PASSWORD. The result is the random password, if one was asked for.
    pub fn set_password(
        &mut self,
        account: Option<&Named>,
        authentication: &Authentication,
    ) -> Result<Vec<RandomPassword>, SqlError> {
        let name = account.map_or_else(|| self.by.account.name(), |a| self.name(a));
        let Some(account) = self.table.get(&name) else {
            return Err(SqlError::new(1133, "Can't find any matching row in the user table"));
        };
        let mut account = Account::clone(&account);
        let mut shown = Vec::new();
        self.identify(&mut account, authentication, &mut shown, Operation::SetPassword)?;
        self.put(account);
        Ok(shown)
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

    /// Error 1045, of a privilege that is missing on `*.*`.
    pub(super) fn global_denied(&self) -> SqlError {
        access_denied(&self.by.account.user, &self.by.account.host, self.by.with_password)
    }

    /// Error 1142.
    pub(super) fn table_denied(&self, privileges: &str, table: &str) -> SqlError {
        let (user, host) = (&self.by.account.user, &self.by.client_host);
        SqlError::new(
            1142,
            format!("{privileges} command denied to user '{user}'@'{host}' for table '{table}'"),
        )
    }

    /// Note 3163 for each.
    pub(super) fn note_existing(&mut self, names: &[AccountName]) {
        let text = |(user, host): &AccountName| format!("Authorization ID '{user}'@'{host}' already exists.");
        self.notes.extend(names.iter().map(|name| (3163, text(name))));
    }

    /// Note 3162 for each.
    pub(super) fn note_missing(&mut self, names: &[AccountName]) {
        let text = |(user, host): &AccountName| format!("Authorization ID '{user}'@'{host}' does not exist.");
        self.notes.extend(names.iter().map(|name| (3162, text(name))));
    }

    pub(super) fn warn(&mut self, code: u16, message: String) {
        self.warnings.push((code, message));
    }
}

pub(super) fn failed(operation: &str, names: &[AccountName], why: &str) -> SqlError {
    let list: Vec<String> = names.iter().map(|(user, host)| format!("'{user}'@'{host}'{why}")).collect();
    SqlError::new(1396, format!("Operation {operation} failed for {}", list.join(",")))
}

/// Error 1141.
pub fn no_such_grant(name: &AccountName) -> SqlError {
    let (user, host) = name;
    SqlError::new(1141, format!("There is no such grant defined for user '{user}' on host '{host}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sql::admin::Secret;

    fn spec(user: &str) -> AccountSpec {
        let account = Named { user: user.into(), host: "%".into(), is_current_user: false };
        let authentication = Some(Authentication::new(None, Secret::Password(format!("{user}'s secret"))));
        AccountSpec { account, authentication }
    }

    fn with<R>(table: &mut AccountTable, run: impl FnOnce(&mut Change<'_>) -> R) -> R {
        let by = By {
            account: Arc::new(Account {
                user: "root".into(),
                host: "localhost".into(),
                ..Account::default()
            }),
            active_roles: BTreeSet::new(),
            client_host: "localhost".into(),
            with_password: true,
            is_unchecked: true,
            is_received: false,
            mandatory: Vec::new(),
            partial_revokes: false,
            columns_of: &|_, _| None,
            has_routine: &|_| false,
            has_schema: &|_| true,
        };
        let mut change = Change {
            table,
            by,
            schema: Some("app".into()),
            random_chars: 20,
            policy: PasswordPolicy::default(),
            changed: Vec::new(),
            removed: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
        };
        run(&mut change)
    }

    #[test]
    fn accounts_come_change_and_go() {
        let mut table = AccountTable::default();
        with(&mut table, |c| {
            let none = AccountOptions::default();
            c.create(&[spec("a"), spec("b")], false, &none).unwrap();
            let twice = c.create(&[spec("a")], false, &none).unwrap_err();
            assert_eq!(
                (twice.code, twice.message.as_str()),
                (1396, "Operation CREATE USER failed for 'a'@'%' (User account already exists)")
            );
            c.create(&[spec("a")], true, &none).unwrap();
            assert_eq!(c.alter(&[spec("x")], false, &none).unwrap_err().code, 1396);
            c.alter(&[spec("a")], false, &AccountOptions { locked: Some(true), ..none }).unwrap();
            c.rename(&[(spec("b").account, spec("c").account)]).unwrap();
            assert_eq!(c.drop(&[spec("b").account], false).unwrap_err().code, 1396);
            c.drop(&[spec("b").account, spec("c").account], true).unwrap();
            let x = Authentication::new(None, Secret::Password("x".into()));
            assert_eq!(c.set_password(Some(&spec("c").account), &x).unwrap_err().code, 1133);
            assert_eq!((c.changed.len(), c.removed.len()), (1, 2));
        });
        assert_eq!(
            table.iter().map(|a| (a.shown(), a.locked)).collect::<Vec<_>>(),
            [("a@%".to_owned(), true)]
        );
    }
}
