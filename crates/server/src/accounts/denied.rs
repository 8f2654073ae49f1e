//! The errors of refused privileges, and of accounts that a statement cannot work with.

use super::account::AccountName;
use sql::SqlError;

/// Builds error 1045, which refuses a login or a privilege on `*.*`.
pub fn access_denied(user: &str, host: &str, with_password: bool) -> SqlError {
    let using = if with_password { "YES" } else { "NO" };
    SqlError::new(1045, format!("Access denied for user '{user}'@'{host}' (using password: {using})"))
}

/// Builds error 1044, which refuses access to a schema.
pub fn schema_denied(account: &str, schema: &str) -> SqlError {
    SqlError::new(1044, format!("Access denied for user {} to database '{schema}'", quoted(account)))
}

/// Builds error 1370, which refuses a privilege on a routine.
pub fn routine_denied(privilege: &str, account: &str, routine: &str) -> SqlError {
    let (privilege, user) = (privilege.to_lowercase(), quoted(account));
    SqlError::new(1370, format!("{privilege} command denied to user {user} for routine '{routine}'"))
}

/// Builds error 1227, where `privileges` is the list that MySQL shows, such as `SUPER or
/// REPLICATION_SLAVE_ADMIN`.
pub fn needs_privilege(privileges: &str) -> SqlError {
    let text =
        format!("Access denied; you need (at least one of) the {privileges} privilege(s) for this operation");
    SqlError::new(1227, text)
}

/// Returns the account `user@host` in the form `'user'@'host'`.
pub fn quoted(account: &str) -> String {
    match account.rsplit_once('@') {
        Some((user, host)) => format!("'{user}'@'{host}'"),
        None => format!("'{account}'"),
    }
}

/// Builds error 1396, of an operation on accounts that exist already or do not exist. `why` follows
/// each name.
pub(super) fn failed(operation: &str, names: &[AccountName], why: &str) -> SqlError {
    let list: Vec<String> = names.iter().map(|(user, host)| format!("'{user}'@'{host}'{why}")).collect();
    SqlError::new(1396, format!("Operation {operation} failed for {}", list.join(",")))
}

/// Builds error 1141, which says that no such privilege was granted to the account.
pub fn no_such_grant(name: &AccountName) -> SqlError {
    let (user, host) = name;
    SqlError::new(1141, format!("There is no such grant defined for user '{user}' on host '{host}'"))
}
