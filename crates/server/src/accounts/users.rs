//! The statements CREATE USER, ALTER USER, DROP USER, RENAME USER and SET PASSWORD.

use super::alter::{Alteration, Operation, RandomPassword};
use super::change::Change;
use super::denied::failed;
use super::{Account, AccountName, secret};
use sql::SqlError;
use sql::admin::{Account as Named, AccountOptions, AccountSpec, Authentication};

impl Change<'_> {
    /// Returns the change of one account that belongs to this change.
    fn alteration(&self, operation: Operation) -> Alteration<'_> {
        Alteration {
            operation,
            policy: &self.policy,
            by: self.by.account.name(),
            is_received: self.by.is_received,
            random_chars: self.random_chars,
        }
    }

    /// Carries out CREATE USER and returns the random passwords. Accounts that exist already are
    /// left alone if `if_not_exists`.
    ///
    /// # Errors
    /// Returns 1396 (`ER_CANNOT_USER`) with the names of the accounts that exist already, and the
    /// errors of the options.
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
            account.plugin = secret::DEFAULT_PLUGIN.to_owned();
            let authentication = spec.authentication.as_ref();
            let random = self.alteration(Operation::Create).change(&mut account, authentication, options)?;
            shown.extend(random);
            account.default_roles = self.new_default_roles(&mut account, &options.default_roles)?;
            self.put(account);
        }
        Ok(shown)
    }

    /// Carries out ALTER USER and returns the random passwords.
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
                let random =
                    self.alteration(Operation::Alter).change(&mut account, authentication, options)?;
                shown.extend(random);
                self.put(account);
            }
        }
        Ok(shown)
    }

    /// Carries out DROP USER.
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

    /// Carries out OR REPLACE of a MariaDB source: drops the existing accounts first, with
    /// everything that they were granted.
    pub fn drop_received(&mut self, accounts: &[Named]) -> Result<(), SqlError> {
        self.drop(accounts, true)?;
        self.notes.clear();
        Ok(())
    }

    /// Carries out `IDENTIFIED` behind the accounts of a source's GRANT, which makes missing
    /// accounts.
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

    /// Carries out RENAME USER.
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

    /// Carries out SET PASSWORD. Returns the random password, if one was asked for.
    pub fn set_password(
        &mut self,
        account: Option<&Named>,
        authentication: &Authentication,
    ) -> Result<Option<RandomPassword>, SqlError> {
        let name = account.map_or_else(|| self.by.account.name(), |a| self.name(a));
        let Some(account) = self.table.get(&name) else {
            return Err(SqlError::new(1133, "Can't find any matching row in the user table"));
        };
        let mut account = Account::clone(&account);
        let random = self.alteration(Operation::SetPassword).identify(&mut account, authentication)?;
        self.put(account);
        Ok(random)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AccountTable;
    use super::super::alter::PasswordPolicy;
    use super::super::change::By;
    use super::*;
    use sql::admin::Secret;
    use std::collections::BTreeSet;
    use std::sync::Arc;

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
