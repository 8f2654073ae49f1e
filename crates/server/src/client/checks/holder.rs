//! The account whose rights a client's session asks for: its own, or that of a view's definer.

use crate::accounts::{Account, AccountName, access_denied};
use crate::client::connection_host::ConnectionHost;
use crate::client::session_rights::SessionRights;
use sql::SqlError;
use std::sync::Arc;

/// An account with the rights of its active roles, and the session that asks for these rights.
pub struct Holder<'a> {
    pub(super) host: &'a ConnectionHost,
    pub(super) account: Arc<Account>,
}

impl<'a> Holder<'a> {
    /// Returns the session's own account, with its rights as they are now.
    pub fn of_session(host: &'a ConnectionHost) -> Holder<'a> {
        Holder { host, account: host.account() }
    }

    /// Returns the account that has defined a view, with the rights that it has after a login.
    /// `None` means that nothing needs to be checked.
    ///
    /// # Errors
    /// Returns an error when the definer's account does not exist: 1449 (`ER_NO_SUCH_USER`) if the
    /// session's account has SUPER, and 1045 (`ER_ACCESS_DENIED_ERROR`) otherwise.
    pub fn of_definer(&self, (user, host): (&str, &str)) -> sql::Result<Option<Holder<'a>>> {
        if self.host.may_do_everything() {
            return Ok(None);
        }
        let server = self.host.server();
        let name: AccountName = (user.to_owned(), host.to_owned());
        match server.accounts.table().get(&name) {
            Some(account) => {
                let account = SessionRights::of_login(server, &account).account(server, &account);
                Ok(Some(Holder { host: self.host, account }))
            }
            None => Err(self.definer_is_absent(user, host)),
        }
    }

    fn definer_is_absent(&self, user: &str, host: &str) -> SqlError {
        let reader = self.host.account();
        if self.host.has_static("SUPER") {
            let text = format!("The user specified as a definer ('{user}'@'{host}') does not exist");
            return SqlError::new(1449, text);
        }
        access_denied(&reader.user, &reader.host, !reader.authentication_string.is_empty())
    }
}
