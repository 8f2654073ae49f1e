//! The errors of what an account may not do, and of accounts that are not as a statement needs
//! them.

use super::account::AccountName;
use sql::SqlError;

/// Error 1045: a login, or a privilege on `*.*`, is refused.
pub fn access_denied(user: &str, host: &str, with_password: bool) -> SqlError {
    let using = if with_password { "YES" } else { "NO" };
    SqlError::new(1045, format!("Access denied for user '{user}'@'{host}' (using password: {using})"))
}

/// Error 1044: a schema is refused.
pub fn schema_denied(account: &str, schema: &str) -> SqlError {
    SqlError::new(1044, format!("Access denied for user {} to database '{schema}'", quoted(account)))
}

/// Error 1370: a routine is refused.
pub fn routine_denied(privilege: &str, account: &str, routine: &str) -> SqlError {
    let (privilege, user) = (privilege.to_lowercase(), quoted(account));
    SqlError::new(1370, format!("{privilege} command denied to user {user} for routine '{routine}'"))
}

/// Error 1227; `privileges` is what MySQL lists, such as `SUPER or REPLICATION_SLAVE_ADMIN`.
pub fn needs_privilege(privileges: &str) -> SqlError {
    let text =
        format!("Access denied; you need (at least one of) the {privileges} privilege(s) for this operation");
    SqlError::new(1227, text)
}

/// The account `user@host`, written as `'user'@'host'`.
pub fn quoted(account: &str) -> String {
    match account.rsplit_once('@') {
        Some((user, host)) => format!("'{user}'@'{host}'"),
        None => format!("'{account}'"),
    }
}

/// Error 1396: an operation on accounts that were or were not there; `why` follows each name.
pub(super) fn failed(operation: &str, names: &[AccountName], why: &str) -> SqlError {
    let list: Vec<String> = names.iter().map(|(user, host)| format!("'{user}'@'{host}'{why}")).collect();
    SqlError::new(1396, format!("Operation {operation} failed for {}", list.join(",")))
}

/// Error 1141: nothing of the kind was granted.
pub fn no_such_grant(name: &AccountName) -> SqlError {
    let (user, host) = name;
    SqlError::new(1141, format!("There is no such grant defined for user '{user}' on host '{host}'"))
}
