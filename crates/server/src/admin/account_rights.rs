//! Whether a session may give the statements about accounts.

use crate::accounts::{Account, Privileges, needs_privilege, schema_denied};
use crate::client::connection_host::{ConnectionHost, password_expired};
use crate::server::Server;
use sql::admin::{Account as Named, Authentication, Secret};
use sql::{AdminCommand as Command, SqlError};

/// Error 1290 where no rights are looked at.
pub fn check_grant_tables(server: &Server) -> sql::Result<()> {
    if !server.grants_are_skipped() {
        return Ok(());
    }
    let text =
        "The MySQL server is running with the --skip-grant-tables option so it cannot execute this statement";
    Err(SqlError::new(1290, text))
}

/// Whether an account is named as the current user or by its own name.
pub fn is_self(account: &Account, named: &Named) -> bool {
    named.is_current_user || (named.user == account.user && named.host == account.host)
}

/// The error of a session that may not change accounts as the statement says: 1227, 1044 or 1820.
/// GRANT, REVOKE and what is about roles is checked with the change.
pub fn check(host: &ConnectionHost, command: &Command) -> sql::Result<()> {
    if host.may_do_everything() {
        return Ok(());
    }
    let account = host.account();
    match command {
        Command::Grant { .. }
        | Command::Revoke { .. }
        | Command::GrantRoles { .. }
        | Command::RevokeRoles { .. }
        | Command::GrantProxy { .. }
        | Command::RevokeProxy { .. }
        | Command::CreateRole { .. }
        | Command::DropRole { .. }
        | Command::SetDefaultRole { .. } => Ok(()),
        Command::SetPassword { account: named, authentication } => {
            let is_own = named.as_ref().is_none_or(|named| is_self(&account, named));
            if host.is_sandboxed() && !is_own {
                return Err(password_expired());
            }
            check_password_change(&account, is_own, authentication)
        }
        Command::AlterUser { accounts, options, .. }
            if *options == Default::default() && accounts.iter().all(|a| is_self(&account, &a.account)) =>
        {
            let written = accounts.iter().filter_map(|a| a.authentication.as_ref());
            written.into_iter().try_for_each(|it| check_retained(&account, it))
        }
        _ if account.global.contains(Privileges::named("CREATE USER").unwrap_or_default()) => Ok(()),
        Command::CreateUser { .. } if on_accounts(&account, "INSERT") => Ok(()),
        Command::DropUser { .. } if on_accounts(&account, "DELETE") => Ok(()),
        Command::AlterUser { .. } | Command::RenameUser(_) if on_accounts(&account, "UPDATE") => Ok(()),
        _ => Err(needs_privilege("CREATE USER")),
    }
}

/// Whether the account may write the tables of accounts.
pub fn on_accounts(account: &Account, privilege: &str) -> bool {
    account.allows_schema(Privileges::named(privilege).unwrap_or_default(), "mysql")
}

/// Error 1044 unless the account may change a password: its own, or with UPDATE on the tables of
/// accounts any.
fn check_password_change(
    account: &Account,
    is_own: bool,
    authentication: &Authentication,
) -> sql::Result<()> {
    if is_own {
        return check_retained(account, authentication);
    }
    // CREATE USER is not enough: MySQL asks for the tables that hold the passwords.
    if on_accounts(account, "UPDATE") {
        return Ok(());
    }
    Err(schema_denied(&account.shown(), "mysql"))
}

/// Error 1227 unless the account may have two passwords, where the statement is about a second one.
fn check_retained(account: &Account, authentication: &Authentication) -> sql::Result<()> {
    let is_about_two = authentication.retain || authentication.secret == Secret::DiscardOld;
    if !is_about_two
        || may_create_users(account)
        || account.dynamic.contains_key("APPLICATION_PASSWORD_ADMIN")
    {
        return Ok(());
    }
    Err(needs_privilege("CREATE USER or APPLICATION_PASSWORD_ADMIN"))
}

/// Whether the account has CREATE USER.
pub fn may_create_users(account: &Account) -> bool {
    account.global.contains(Privileges::named("CREATE USER").unwrap_or_default())
}
