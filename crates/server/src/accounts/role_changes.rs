//! The statements that make roles, grant them and set them as default.

use super::change::Change;
use super::denied::{failed, no_such_grant};
use super::roles::shown;
use super::{Account, AccountName, Privileges, needs_privilege, secret};
use sql::SqlError;
use sql::admin::{Account as Named, Lenience, RoleChoice};
use std::collections::BTreeSet;

impl Change<'_> {
    /// Carries out CREATE ROLE.
    pub fn create_roles(&mut self, roles: &[Named], if_not_exists: bool) -> Result<(), SqlError> {
        self.require_one_of(&["CREATE USER", "CREATE ROLE"])?;
        let names: Vec<AccountName> = roles.iter().map(|role| self.name(role)).collect();
        if names.iter().any(|(user, _)| user.is_empty()) {
            return Err(SqlError::new(1396, "Operation CREATE ROLE failed for anonymous user"));
        }
        let there: Vec<AccountName> = names.iter().filter(|n| self.table.get(n).is_some()).cloned().collect();
        if !there.is_empty() && !if_not_exists {
            return Err(failed("CREATE ROLE", &there, " (User account already exists)"));
        }
        self.note_existing(&there);
        for (user, host) in names {
            if there.contains(&(user.clone(), host.clone())) {
                continue;
            }
            self.put(Account {
                user,
                host,
                plugin: secret::DEFAULT_PLUGIN.to_owned(),
                locked: true,
                password_expired: true,
                ..Account::default()
            });
        }
        Ok(())
    }

    /// Carries out DROP ROLE. An account with CREATE USER may drop any account with it.
    pub fn drop_roles(&mut self, roles: &[Named], if_exists: bool) -> Result<(), SqlError> {
        self.require_one_of(&["CREATE USER", "DROP ROLE"])?;
        let names: Vec<AccountName> = roles.iter().map(|role| self.name(role)).collect();
        self.check_not_mandatory(&names)?;
        let is_role = |name: &AccountName| {
            self.table
                .get(name)
                .is_none_or(|a| a.locked && a.password_expired && a.authentication_string.is_empty())
        };
        if !names.iter().all(is_role) {
            self.require_create_user("DELETE")?;
        }
        self.check_system_user_names(&names)?;
        let missing: Vec<AccountName> =
            names.iter().filter(|n| self.table.get(n).is_none()).cloned().collect();
        if !missing.is_empty() && !if_exists {
            return Err(failed("DROP ROLE", &missing, " (User account does not exist)"));
        }
        self.note_missing(&missing);
        for name in names {
            if !missing.contains(&name) {
                self.forget_role(&name);
                self.remove(name);
            }
        }
        Ok(())
    }

    /// Takes the role from all its holders, and the right to stand for it from all accounts.
    pub(super) fn forget_role(&mut self, name: &AccountName) {
        let holders: Vec<Account> = self
            .table
            .iter()
            .filter(|a| {
                a.roles.contains_key(name) || a.default_roles.contains(name) || a.proxied.contains_key(name)
            })
            .map(|a| Account::clone(a))
            .collect();
        for mut holder in holders {
            holder.roles.remove(name);
            holder.default_roles.remove(name);
            holder.proxied.remove(name);
            self.put(holder);
        }
    }

    /// Checks that none of these roles is mandatory.
    ///
    /// # Errors
    /// Returns 3628 when one of the roles is mandatory.
    pub(super) fn check_not_mandatory(&self, names: &[AccountName]) -> Result<(), SqlError> {
        let Some(name) = names.iter().find(|name| self.by.mandatory.contains(name)) else { return Ok(()) };
        let text = format!(
            "The role {} is a mandatory role and can't be revoked or dropped. The restriction can be lifted by \
             excluding the role identifier from the global variable mandatory_roles.",
            shown(name)
        );
        Err(SqlError::new(3628, text))
    }

    /// Carries out GRANT of roles.
    pub fn grant_roles(
        &mut self,
        roles: &[Named],
        to: &[Named],
        with_admin_option: bool,
    ) -> Result<(), SqlError> {
        let roles: Vec<AccountName> = roles.iter().map(|role| self.name(role)).collect();
        let to: Vec<AccountName> = to.iter().map(|named| self.name(named)).collect();
        self.check_admin_of(&roles)?;
        self.check_system_user_names(&to)?;
        self.check_system_user_names(&roles)?;
        for name in &to {
            if name.0.is_empty() {
                return Err(SqlError::new(3876, "Cannot grant roles to an anonymous user."));
            }
            let Some(account) = self.table.get(name) else { return Err(unknown(name)) };
            let mut account = Account::clone(&account);
            for role in &roles {
                if role.0.is_empty() {
                    let text = format!("Failed to grant {}` to {}", shown(role), shown(name));
                    return Err(SqlError::new(3524, text));
                }
                if self.table.get(role).is_none() {
                    return Err(unknown(role));
                }
                if role == name || self.table.closure(&BTreeSet::from([role.clone()])).contains(name) {
                    let text = format!(
                        "User account {} is directly or indirectly granted to the role {}. The GRANT would create \
                         a loop",
                        shown(name),
                        shown(role)
                    );
                    return Err(SqlError::new(4027, text));
                }
                account.roles.insert(role.clone(), with_admin_option);
            }
            self.put(account);
        }
        Ok(())
    }

    /// Carries out REVOKE of roles.
    pub fn revoke_roles(
        &mut self,
        roles: &[Named],
        from: &[Named],
        lenience: Lenience,
    ) -> Result<(), SqlError> {
        let roles: Vec<AccountName> = roles.iter().map(|role| self.name(role)).collect();
        let from: Vec<AccountName> = from.iter().map(|named| self.name(named)).collect();
        self.check_admin_of(&roles)?;
        self.check_system_user_names(&from)?;
        self.check_system_user_names(&roles)?;
        if let Err(error) = self.check_not_mandatory(&roles) {
            if !lenience.if_exists {
                return Err(error);
            }
            self.warn(error.code, error.message);
            return Ok(());
        }
        for name in &from {
            let Some(account) = self.table.get(name) else {
                if !lenience.ignore_unknown_user {
                    return Err(unknown(name));
                }
                self.warn(3162, format!("Authorization ID {} does not exist.", name.0));
                continue;
            };
            let mut account = Account::clone(&account);
            for role in &roles {
                if self.table.get(role).is_none() {
                    self.lenient(unknown(role), lenience.if_exists)?;
                }
                // Revoking a role that the account does not have is no error.
                account.roles.remove(role);
                account.default_roles.remove(role);
            }
            self.put(account);
        }
        Ok(())
    }

    fn lenient(&mut self, error: SqlError, is_lenient: bool) -> Result<(), SqlError> {
        if !is_lenient {
            return Err(error);
        }
        self.warn(error.code, error.message);
        Ok(())
    }

    /// Carries out SET DEFAULT ROLE.
    pub fn set_default_roles(&mut self, choice: &RoleChoice, of: &[Named]) -> Result<(), SqlError> {
        let of: Vec<AccountName> = of.iter().map(|named| self.name(named)).collect();
        if of.iter().any(|name| *name != self.by.account.name()) {
            self.require_create_user("UPDATE")?;
        }
        self.check_system_user_names(&of)?;
        for name in &of {
            let Some(account) = self.table.get(name) else {
                match choice {
                    RoleChoice::These(roles) => {
                        if let Some(role) = roles.first() {
                            return Err(not_granted(&self.name(role), name));
                        }
                    }
                    RoleChoice::AllExcept(_) => return Err(unknown(name)),
                    RoleChoice::None | RoleChoice::Default => {}
                }
                continue;
            };
            let roles = self.table.roles_of(&account, &self.by.mandatory);
            let mut account = Account::clone(&account);
            account.default_roles = match choice {
                RoleChoice::None | RoleChoice::Default => BTreeSet::new(),
                RoleChoice::AllExcept(_) => roles,
                RoleChoice::These(named) => {
                    let named: Vec<AccountName> = named.iter().map(|role| self.name(role)).collect();
                    if let Some(missing) = named.iter().find(|role| !roles.contains(role)) {
                        return Err(not_granted(missing, name));
                    }
                    named.into_iter().collect()
                }
            };
            self.put(account);
        }
        Ok(())
    }

    /// Returns the roles of DEFAULT ROLE in CREATE USER, and grants them to the new account as
    /// well.
    pub(super) fn new_default_roles(
        &self,
        account: &mut Account,
        roles: &[Named],
    ) -> Result<BTreeSet<AccountName>, SqlError> {
        let names: BTreeSet<AccountName> = roles.iter().map(|role| self.name(role)).collect();
        if names.is_empty() {
            return Ok(names);
        }
        let names_list: Vec<AccountName> = names.iter().cloned().collect();
        self.check_admin_of(&names_list)?;
        for name in &names {
            // The new account may be its own role.
            if self.table.get(name).is_none() && *name != account.name() {
                return Err(unknown(name));
            }
            account.roles.insert(name.clone(), false);
        }
        Ok(names)
    }

    /// Carries out GRANT PROXY, or REVOKE PROXY when `with_grant_option` is `None`.
    pub fn change_proxies(
        &mut self,
        on: &Named,
        to: &[Named],
        with_grant_option: Option<bool>,
        lenience: Lenience,
    ) -> Result<(), SqlError> {
        let on = self.name(on);
        let by = &self.by;
        let is_own = on == by.account.name();
        let may = by.is_unchecked
            || is_own
            || by.account.proxied.iter().any(|(name, option)| *option && (*name == on || *name == ANYBODY));
        if !may {
            return Err(self.proxy_denied());
        }
        self.check_system_users(to)?;
        for named in to {
            let name = self.name(named);
            let Some(account) = self.table.get(&name) else {
                match with_grant_option {
                    Some(_) => {
                        return Err(SqlError::new(1410, "You are not allowed to create a user with GRANT"));
                    }
                    None => self.lenient(no_such_grant(&name), lenience.ignore_unknown_user)?,
                }
                continue;
            };
            let mut account = Account::clone(&account);
            match with_grant_option {
                Some(option) => {
                    account.proxied.insert(on.clone(), option);
                }
                None => {
                    if account.proxied.remove(&on).is_none() {
                        self.lenient(no_such_grant(&name), lenience.if_exists)?;
                    }
                }
            }
            self.put(account);
        }
        Ok(())
    }

    /// Builds the error that refuses GRANT PROXY: 1698 for a login without a password, 1045 for one
    /// with a password.
    fn proxy_denied(&self) -> SqlError {
        let (user, host) = (&self.by.account.user, &self.by.client_host);
        if self.by.with_password {
            return super::access_denied(user, host, true);
        }
        SqlError::new(1698, format!("Access denied for user '{user}'@'{host}'"))
    }

    /// Checks that the grantor administers all roles, or each of these.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the grantor does not administer one of
    /// the roles.
    fn check_admin_of(&self, roles: &[AccountName]) -> Result<(), SqlError> {
        let account = &self.by.account;
        if self.by.is_unchecked || account.administers(&["ROLE_ADMIN"]) {
            return Ok(());
        }
        let administers = |role: &AccountName| account.roles.get(role).is_some_and(|option| *option);
        if roles.iter().all(administers) {
            return Ok(());
        }
        Err(needs_privilege("WITH ADMIN, ROLE_ADMIN, SUPER"))
    }

    fn require_one_of(&self, names: &[&str]) -> Result<(), SqlError> {
        let holds =
            |name: &&str| self.by.account.global.contains(Privileges::named(name).unwrap_or_default());
        if self.by.is_unchecked || names.iter().any(holds) {
            return Ok(());
        }
        Err(needs_privilege(&names.join(", ")))
    }
}

/// The proxied account that stands for every account, as root has it.
const ANYBODY: (String, String) = (String::new(), String::new());

fn unknown(name: &AccountName) -> SqlError {
    SqlError::new(3523, format!("Unknown authorization ID {}", shown(name)))
}

/// Builds error 3530, which says that a role is not granted to an account.
pub fn not_granted(role: &AccountName, to: &AccountName) -> SqlError {
    SqlError::new(3530, format!("{} is not granted to {}", shown(role), shown(to)))
}
