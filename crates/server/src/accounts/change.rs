//! The statements that change accounts, applied to an [`AccountTable`]; storing the result is the caller's.

use super::privileges::{DYNAMIC, STATIC};
use super::secret::{identify, set_password};
use super::{Account, AccountName, AccountTable, Level, Privileges};
use sql::SqlError;
use sql::admin::{Account as Named, AccountOptions, AccountSpec, GrantObject, GrantPrivilege};

/// A random password that was made for an account: user, host, password.
pub type RandomPassword = (String, String, String);

/// Changes accounts on behalf of one of them.
pub struct Change<'a> {
    /// What is changed.
    pub table: &'a mut AccountTable,
    /// The account that asks.
    pub current: AccountName,
    /// The current schema, for `ON table`.
    pub schema: Option<String>,
    /// Length of random passwords.
    pub random_chars: usize,
    /// Accounts that were changed and are still there.
    pub changed: Vec<AccountName>,
    /// Accounts that are gone.
    pub removed: Vec<AccountName>,
}

impl Change<'_> {
    fn name(&self, named: &Named) -> AccountName {
        match named.is_current_user {
            true => self.current.clone(),
            false => (named.user.clone(), named.host.to_ascii_lowercase()),
        }
    }

    fn put(&mut self, account: Account) {
        let name = account.name();
        self.removed.retain(|n| *n != name);
        if !self.changed.contains(&name) {
            self.changed.push(name);
        }
        self.table.put(account);
    }

    fn remove(&mut self, name: AccountName) {
        self.table.remove(&name);
        self.changed.retain(|n| *n != name);
        self.removed.push(name);
    }

    /// CREATE USER. The result are random passwords; names that exist already are in the error, or left alone.
    pub fn create(
        &mut self,
        specs: &[AccountSpec],
        if_not_exists: bool,
        options: &AccountOptions,
    ) -> Result<Vec<RandomPassword>, SqlError> {
        let exists: Vec<AccountName> =
            specs.iter().map(|s| self.name(&s.account)).filter(|n| self.table.get(n).is_some()).collect();
        if !exists.is_empty() && !if_not_exists {
            return Err(failed("CREATE USER", &exists));
        }
        let mut shown = Vec::new();
        for spec in specs {
            let name = self.name(&spec.account);
            if exists.contains(&name) {
                continue;
            }
            let mut account = Account { user: name.0, host: name.1, ..Account::default() };
            account.plugin = super::secret::DEFAULT_PLUGIN.to_owned();
            self.change_one(&mut account, spec, options, &mut shown)?;
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
            return Err(failed("ALTER USER", &missing));
        }
        let mut shown = Vec::new();
        for spec in specs {
            if let Some(account) = self.table.get(&self.name(&spec.account)) {
                let mut account = Account::clone(&account);
                self.change_one(&mut account, spec, options, &mut shown)?;
                self.put(account);
            }
        }
        Ok(shown)
    }

    fn change_one(
        &self,
        account: &mut Account,
        spec: &AccountSpec,
        options: &AccountOptions,
        shown: &mut Vec<RandomPassword>,
    ) -> Result<(), SqlError> {
        if !options.require.is_empty() {
            return Err(SqlError::not_supported("REQUIRE of TLS"));
        }
        if let Some(authentication) = &spec.authentication
            && let Some(password) = identify(account, authentication, self.random_chars)?
        {
            shown.push((account.user.clone(), account.host.clone(), password));
        }
        account.locked = options.locked.unwrap_or(account.locked);
        Ok(())
    }

    /// DROP USER.
    pub fn drop(&mut self, accounts: &[Named], if_exists: bool) -> Result<(), SqlError> {
        let names: Vec<AccountName> = accounts.iter().map(|a| self.name(a)).collect();
        let missing: Vec<AccountName> =
            names.iter().filter(|n| self.table.get(n).is_none()).cloned().collect();
        if !missing.is_empty() && !if_exists {
            return Err(failed("DROP USER", &missing));
        }
        for name in names.into_iter().filter(|n| !missing.contains(n)) {
            self.remove(name);
        }
        Ok(())
    }

    /// RENAME USER.
    pub fn rename(&mut self, pairs: &[(Named, Named)]) -> Result<(), SqlError> {
        for (old, new) in pairs {
            let (old, new) = (self.name(old), self.name(new));
            let account = match self.table.get(&old) {
                Some(account) if self.table.get(&new).is_none() => account,
                _ => return Err(failed("RENAME USER", &[old])),
            };
            self.remove(old);
            self.put(Account { user: new.0, host: new.1, ..Account::clone(&account) });
        }
        Ok(())
    }

    /// SET PASSWORD.
    pub fn set_password(&mut self, account: Option<&Named>, password: &str) -> Result<(), SqlError> {
        let name = account.map_or_else(|| self.current.clone(), |a| self.name(a));
        let Some(account) = self.table.get(&name) else {
            return Err(SqlError::new(1133, "Can't find any matching row in the user table"));
        };
        let mut account = Account::clone(&account);
        set_password(&mut account, password);
        self.put(account);
        Ok(())
    }

    /// GRANT.
    pub fn grant(
        &mut self,
        privileges: &[GrantPrivilege],
        on: &GrantObject,
        to: &[AccountSpec],
        with_grant_option: bool,
    ) -> Result<(), SqlError> {
        let asked = self.ask(privileges, on)?;
        for spec in to {
            let name = self.name(&spec.account);
            let Some(account) = self.table.get(&name) else {
                return Err(SqlError::new(1410, "You are not allowed to create a user with GRANT"));
            };
            let mut account = Account::clone(&account);
            let mut set = asked.set;
            if with_grant_option {
                set = set.with(Privileges::grant_option());
            }
            match &asked.target {
                Target::Global => {
                    account.global = account.global.with(set);
                    for name in &asked.dynamic {
                        *account.dynamic.entry(name.clone()).or_default() |= with_grant_option;
                    }
                }
                Target::Schema(schema) => {
                    let had = account.schemas.entry(schema.clone()).or_default();
                    *had = had.with(set);
                }
                Target::Table(schema, table) => {
                    let had = account.tables.entry((schema.clone(), table.clone())).or_default();
                    *had = had.with(set);
                }
            }
            self.put(account);
        }
        Ok(())
    }

    /// REVOKE. `on` is `None` for REVOKE ALL PRIVILEGES, GRANT OPTION FROM.
    pub fn revoke(
        &mut self,
        privileges: &[GrantPrivilege],
        on: Option<&GrantObject>,
        from: &[Named],
    ) -> Result<(), SqlError> {
        let asked = on.map(|on| self.ask(privileges, on)).transpose()?;
        for named in from {
            let name = self.name(named);
            let Some(account) = self.table.get(&name) else {
                return Err(no_such_grant(&name));
            };
            let mut account = Account::clone(&account);
            match &asked {
                None => {
                    account.global = Privileges::NONE;
                    account.dynamic.clear();
                    account.schemas.clear();
                    account.tables.clear();
                }
                Some(asked) => asked.revoke_from(&mut account).ok_or_else(|| no_such_grant(&name))?,
            }
            self.put(account);
        }
        Ok(())
    }

    /// What a list of privileges on an object means.
    fn ask(&self, privileges: &[GrantPrivilege], on: &GrantObject) -> Result<Asked, SqlError> {
        let target = match (&on.schema, &on.table) {
            (None, None) => Target::Global,
            (Some(schema), None) => Target::Schema(schema.clone()),
            (schema, Some(table)) => {
                let schema = schema.clone().or_else(|| self.schema.clone());
                Target::Table(schema.ok_or_else(SqlError::no_schema_selected)?, table.clone())
            }
        };
        let level = target.level();
        let mut asked = Asked { target, set: Privileges::NONE, dynamic: Vec::new() };
        for privilege in privileges {
            if !privilege.columns.is_empty() {
                return Err(SqlError::not_supported("privileges on columns"));
            }
            asked.add(&privilege.name.to_ascii_uppercase(), level)?;
        }
        Ok(asked)
    }
}

enum Target {
    Global,
    Schema(String),
    Table(String, String),
}

impl Target {
    fn level(&self) -> Level {
        match self {
            Target::Global => Level::Global,
            Target::Schema(_) => Level::Schema,
            Target::Table(..) => Level::Table,
        }
    }
}

struct Asked {
    target: Target,
    set: Privileges,
    dynamic: Vec<String>,
}

impl Asked {
    fn add(&mut self, name: &str, level: Level) -> Result<(), SqlError> {
        match name {
            "USAGE" => {}
            "ALL" | "ALL PRIVILEGES" => {
                self.set = self.set.with(Privileges::all(level));
                if level == Level::Global {
                    self.dynamic.extend(DYNAMIC.iter().map(|d| d.to_string()));
                }
            }
            _ => {
                if let Some(set) = Privileges::named(name) {
                    let fits = STATIC.iter().any(|p| {
                        let ok = match level {
                            Level::Global => true,
                            Level::Schema => p.on_schema,
                            Level::Table => p.on_table,
                        };
                        ok && Privileges::named(p.name) == Some(set)
                    });
                    if !fits {
                        let text = match level {
                            Level::Table => {
                                "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used"
                            }
                            _ => "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES",
                        };
                        return Err(SqlError::new(if level == Level::Table { 1144 } else { 1221 }, text));
                    }
                    self.set = self.set.with(set);
                } else if let Some(dynamic) = dynamic_name(name) {
                    if level != Level::Global {
                        let text = "Illegal privilege level specified for ".to_owned() + &dynamic;
                        return Err(SqlError::new(3619, text));
                    }
                    self.dynamic.push(dynamic);
                } else {
                    return Err(SqlError::new(1149, format!("There is no privilege '{name}'")));
                }
            }
        }
        Ok(())
    }

    /// Takes the privileges away; `None` when there is no such grant at all.
    fn revoke_from(&self, account: &mut Account) -> Option<()> {
        match &self.target {
            Target::Global => {
                account.global = account.global.without(self.set);
                account.dynamic.retain(|name, _| !self.dynamic.contains(name));
            }
            Target::Schema(schema) => {
                let had = account.schemas.get_mut(schema)?;
                *had = had.without(self.set);
                account.schemas.retain(|_, set| !set.is_empty());
            }
            Target::Table(schema, table) => {
                let had = account.tables.get_mut(&(schema.clone(), table.clone()))?;
                *had = had.without(self.set);
                account.tables.retain(|_, set| !set.is_empty());
            }
        }
        Some(())
    }
}

fn dynamic_name(name: &str) -> Option<String> {
    let name = name.replace(' ', "_");
    DYNAMIC.contains(&name.as_str()).then_some(name)
}

fn failed(operation: &str, names: &[AccountName]) -> SqlError {
    let list: Vec<String> = names.iter().map(|(user, host)| format!("'{user}'@'{host}'")).collect();
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
    use sql::admin::{Authentication, Secret};

    fn spec(user: &str) -> AccountSpec {
        let account = Named { user: user.into(), host: "%".into(), is_current_user: false };
        let authentication =
            Some(Authentication { plugin: None, secret: Secret::Password(format!("{user}'s secret")) });
        AccountSpec { account, authentication }
    }

    fn with<R>(table: &mut AccountTable, run: impl FnOnce(&mut Change<'_>) -> R) -> R {
        let current = ("root".to_owned(), "localhost".to_owned());
        let mut change = Change {
            table,
            current,
            schema: Some("app".into()),
            random_chars: 20,
            changed: Vec::new(),
            removed: Vec::new(),
        };
        run(&mut change)
    }

    fn privilege(name: &str) -> Vec<GrantPrivilege> {
        vec![GrantPrivilege { name: name.into(), columns: Vec::new() }]
    }

    fn on(schema: Option<&str>, table: Option<&str>) -> GrantObject {
        GrantObject { schema: schema.map(str::to_owned), table: table.map(str::to_owned) }
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
                (1396, "Operation CREATE USER failed for 'a'@'%'")
            );
            c.create(&[spec("a")], true, &none).unwrap();
            assert_eq!(c.alter(&[spec("x")], false, &none).unwrap_err().code, 1396);
            c.alter(&[spec("a")], false, &AccountOptions { locked: Some(true), ..none }).unwrap();
            c.rename(&[(spec("b").account, spec("c").account)]).unwrap();
            assert_eq!(c.drop(&[spec("b").account], false).unwrap_err().code, 1396);
            c.drop(&[spec("b").account, spec("c").account], true).unwrap();
            assert_eq!(c.set_password(Some(&spec("c").account), "x").unwrap_err().code, 1133);
            assert_eq!((c.changed.len(), c.removed.len()), (1, 2));
        });
        assert_eq!(
            table.iter().map(|a| (a.shown(), a.locked)).collect::<Vec<_>>(),
            [("a@%".to_owned(), true)]
        );
    }

    #[test]
    fn privileges_are_granted_and_revoked_at_each_level() {
        let mut table = AccountTable::default();
        with(&mut table, |c| {
            let none = AccountOptions::default();
            c.create(&[spec("a")], false, &none).unwrap();
            let a = [spec("a")];
            c.grant(&privilege("ALL"), &on(None, None), &a, true).unwrap();
            c.grant(&privilege("select"), &on(Some("app"), None), &a, false).unwrap();
            c.grant(&privilege("INSERT"), &on(None, Some("t")), &a, false).unwrap();
            assert_eq!(
                c.grant(&privilege("SUPER"), &on(Some("app"), None), &a, false).unwrap_err().code,
                1221
            );
            assert_eq!(
                c.grant(&privilege("ALL"), &on(None, None), &[spec("z")], false).unwrap_err().code,
                1410
            );
            let missing = c.revoke(&privilege("SELECT"), Some(&on(Some("zoo"), None)), &[spec("a").account]);
            assert_eq!(missing.unwrap_err().code, 1141);
            c.revoke(&privilege("ALL"), Some(&on(None, None)), &[spec("a").account]).unwrap();
        });
        let a = table.iter().next().unwrap().clone();
        assert_eq!(a.global, Privileges::grant_option());
        assert!(a.allows_schema(Privileges::named("SELECT").unwrap(), "app"));
        assert!(a.allows_table(Privileges::named("INSERT").unwrap(), "app", "t"));
        with(&mut table, |c| c.revoke(&[], None, &[spec("a").account]).unwrap());
        let a = table.iter().next().unwrap().clone();
        assert!(a.global.is_empty() && a.schemas.is_empty() && a.tables.is_empty());
    }
}
