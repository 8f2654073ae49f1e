//! Checks whether a session may use the statements about accounts.

use crate::accounts::{Account, Privileges, needs_privilege, schema_denied};
use crate::client::connection_host::{ConnectionHost, password_expired};
use crate::server::Server;
use sql::admin::{Account as Named, Authentication, Secret};
use sql::{AdminCommand as Command, SqlError};

/// Checks that privileges are checked at all.
///
/// # Errors
/// Returns 1290 (`ER_OPTION_PREVENTS_STATEMENT`) under `--skip-grant-tables`.
pub fn check_grant_tables(server: &Server) -> sql::Result<()> {
    if !server.grants_are_skipped() {
        return Ok(());
    }
    let text =
        "The MySQL server is running with the --skip-grant-tables option so it cannot execute this statement";
    Err(SqlError::new(1290, text))
}

/// Reports whether `named` is the account itself, as the current user or by its name.
pub fn is_self(account: &Account, named: &Named) -> bool {
    named.is_current_user || (named.user == account.user && named.host == account.host)
}

/// Checks whether a session may change accounts as the statement says. GRANT, REVOKE and the
/// statements about roles are checked with the change itself.
///
/// # Errors
/// Returns 1227 or 1044 when a privilege is missing, and 1820 when the session must change its own
/// password first.
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

/// Reports whether the account has this privilege on the tables of accounts.
pub fn on_accounts(account: &Account, privilege: &str) -> bool {
    account.allows_schema(Privileges::named(privilege).unwrap_or_default(), "mysql")
}

/// Checks whether the account may change a password: its own, or any with UPDATE on the tables of
/// accounts.
///
/// # Errors
/// Returns 1044 (`ER_DBACCESS_DENIED_ERROR`) when the account may not change the password.
fn check_password_change(
    account: &Account,
    is_own: bool,
    authentication: &Authentication,
) -> sql::Result<()> {
    if is_own {
        return check_retained(account, authentication);
    }
    // CREATE USER is not enough, because MySQL asks for a privilege on the tables with the
    // passwords.
    if on_accounts(account, "UPDATE") {
        return Ok(());
    }
    Err(schema_denied(&account.shown(), "mysql"))
}

/// Checks whether the account may have two passwords, if the statement is about a second one.
///
/// # Errors
/// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the account may not have two passwords.
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

/// Reports whether the account has CREATE USER.
pub fn may_create_users(account: &Account) -> bool {
    account.global.contains(Privileges::named("CREATE USER").unwrap_or_default())
}
