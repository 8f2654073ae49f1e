//! The changes that CREATE USER, ALTER USER and SET PASSWORD make to one account.

use super::account::{Account, AccountName};
use super::attributes::PastPassword;
use super::denied::failed;
use super::secret::{Credentials, is_password};
use sql::SqlError;
use sql::admin::{AccountOptions, Authentication, PasswordExpiry, Secret};

/// The statement that changes an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The statement is CREATE USER.
    Create,
    /// The statement is ALTER USER.
    Alter,
    /// The statement is SET PASSWORD.
    SetPassword,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Create => "CREATE USER",
            Operation::Alter => "ALTER USER",
            Operation::SetPassword => "SET PASSWORD",
        }
    }
}

/// The rules for passwords from the server's variables, and whether they bind the account that
/// asks.
#[derive(Debug, Clone, Default)]
pub struct PasswordPolicy {
    /// The value of `password_history`.
    pub history: u64,
    /// The value of `password_reuse_interval`, in days.
    pub reuse_days: u64,
    /// The value of `password_require_current`.
    pub require_current: bool,
    /// True when the account that asks may change every account's password, and so need not know
    /// its own.
    pub is_administrator: bool,
    /// The present time, in microseconds since 1970.
    pub now_us: u64,
}

/// A random password that was made for an account: user, host, password.
pub type RandomPassword = (String, String, String);

/// The change that one statement makes to an account.
pub struct Alteration<'a> {
    /// The statement that makes the change.
    pub operation: Operation,
    /// The rules for passwords.
    pub policy: &'a PasswordPolicy,
    /// The account that asks for the change.
    pub by: AccountName,
    /// True when the statement comes from a source, which has checked it already.
    pub is_received: bool,
    /// The length of random passwords, in characters.
    pub random_chars: usize,
}

impl Alteration<'_> {
    /// Changes the account as the statement says. Returns its random password, if one was asked
    /// for.
    pub fn change(
        &self,
        account: &mut Account,
        authentication: Option<&Authentication>,
        options: &AccountOptions,
    ) -> Result<Option<RandomPassword>, SqlError> {
        account.attributes.take(options)?;
        let random = match authentication {
            Some(authentication) => self.identify(account, authentication)?,
            None => None,
        };
        if authentication.is_none() && self.operation == Operation::Create {
            account.attributes.password_changed_s = Some(self.policy.now_us / 1_000_000);
        }
        if options.expiry == Some(PasswordExpiry::Now) {
            account.password_expired = true;
        }
        account.locked = options.locked.unwrap_or(account.locked);
        Ok(random)
    }

    /// Gives the account another password, or discards the retained one. Returns the random
    /// password, if one was asked for.
    pub fn identify(
        &self,
        account: &mut Account,
        authentication: &Authentication,
    ) -> Result<Option<RandomPassword>, SqlError> {
        if authentication.secret == Secret::DiscardOld {
            account.attributes.retained_password.clear();
            return Ok(None);
        }
        let is_new = self.operation == Operation::Create;
        let new = Credentials::of(account, authentication, self.random_chars, self.is_received)?;
        if new.is_too_long() {
            return Err(failed(self.operation.name(), &[account.name()], ""));
        }
        if !is_new {
            self.check_current(account, authentication.replace.as_deref())?;
        }
        let before = std::mem::take(&mut account.authentication_string);
        let has_other_plugin = account.plugin != new.plugin && !is_new;
        if has_other_plugin {
            // What another plugin stored means nothing to the new plugin.
            account.attributes.retained_password.clear();
            account.attributes.past.clear();
        }
        if authentication.retain {
            retain(account, before, &new, has_other_plugin)?;
        }
        self.check_history(account, &new)?;
        if new.stored.is_empty() {
            account.attributes.retained_password.clear();
        }
        // An account whose password is lost, because its new plugin has no password stored, has to
        // set one.
        account.password_expired = authentication.secret == Secret::None && !is_new;
        account.attributes.password_changed_s = Some(self.policy.now_us / 1_000_000);
        let random = new.shown.map(|password| (account.user.clone(), account.host.clone(), password));
        account.plugin = new.plugin;
        account.authentication_string = new.stored;
        Ok(random)
    }

    /// Checks the current password, for PASSWORD REQUIRE CURRENT and REPLACE.
    ///
    /// # Errors
    /// Returns 3893 when REPLACE is given for another account, 3891 when the current password is
    /// wrong, and 3892 when it is required and missing.
    fn check_current(&self, account: &Account, current: Option<&str>) -> Result<(), SqlError> {
        if account.name() != self.by {
            return match current {
                None => Ok(()),
                Some(_) => {
                    let text = "Do not specify the current password while changing it for other users.";
                    Err(SqlError::new(3893, text))
                }
            };
        }
        match current {
            Some(current) if is_password(account, current) => Ok(()),
            Some(_) => {
                let text =
                    "Incorrect current password. Specify the correct password which has to be replaced.";
                Err(SqlError::new(3891, text))
            }
            None => {
                let is_asked_for = account.attributes.require_current.unwrap_or(self.policy.require_current);
                if self.policy.is_administrator || !is_asked_for || account.authentication_string.is_empty() {
                    return Ok(());
                }
                let text =
                    "Current password needs to be specified in the REPLACE clause in order to change it.";
                Err(SqlError::new(3892, text))
            }
        }
    }

    /// Checks PASSWORD HISTORY and PASSWORD REUSE INTERVAL, and adds the new password to the
    /// history.
    ///
    /// # Errors
    /// Returns 3638 when the rules forbid to use the password again.
    fn check_history(&self, account: &mut Account, new: &Credentials) -> Result<(), SqlError> {
        let attributes = &mut account.attributes;
        let history = attributes.history.map_or(self.policy.history, u64::from);
        let reuse_days = attributes.reuse_days.map_or(self.policy.reuse_days, u64::from);
        if new.stored.is_empty() {
            return Ok(());
        }
        let is_same = |stored: &[u8]| new.clear.as_deref().is_some_and(|clear| new.fits(clear, stored));
        if attributes.is_reused((history, reuse_days), self.policy.now_us, is_same) {
            let text = format!(
                "Cannot use these credentials for '{}@{}' because they contradict the password history policy",
                account.user, account.host
            );
            return Err(SqlError::new(3638, text));
        }
        if history > 0 || reuse_days > 0 {
            let latest = attributes.past.first().map_or(0, |past| past.at_us + 1);
            let at_us = self.policy.now_us.max(latest);
            attributes.past.insert(0, PastPassword { at_us, stored: new.stored.clone() });
            attributes.forget_past((history, reuse_days), self.policy.now_us);
        }
        Ok(())
    }
}

/// Carries out RETAIN CURRENT PASSWORD: the value stored before stays a second password.
///
/// # Errors
/// Returns 3894 when the statement changes the plugin, 3895 when the new password is empty, and
/// 3878 when the current password is empty.
fn retain(
    account: &mut Account,
    before: Vec<u8>,
    new: &Credentials,
    has_other_plugin: bool,
) -> Result<(), SqlError> {
    let name = format!("'{}'@'{}'", account.user, account.host);
    if has_other_plugin {
        let why = "authentication plugin is being changed";
        return Err(SqlError::new(
            3894,
            format!("Current password can not be retained for user {name} because {why}."),
        ));
    }
    if new.stored.is_empty() {
        let why = "new password is empty";
        return Err(SqlError::new(
            3895,
            format!("Current password can not be retained for user {name} because {why}."),
        ));
    }
    if before.is_empty() {
        let text = format!("Empty password can not be retained as second password for user {name}.");
        return Err(SqlError::new(3878, text));
    }
    account.attributes.retained_password = before;
    Ok(())
}
