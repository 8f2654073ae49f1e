//! Initialisation of a new data directory: the tables of accounts, and root@localhost.

use crate::accounts::privileges::DYNAMIC;
use crate::accounts::{Account, AccountTable, Level, Privileges, secret, storage};
use crate::internal::session::InternalSession;
use crate::server::Server;
use crate::sys_schema;
use crate::system_tables;
use sql::SqlError;
use sql::admin::{Authentication, Secret};
use std::sync::Arc;

/// The length of root's random password in characters, which is mysqld's.
const PASSWORD_CHARS: usize = 12;

/// Creates what is missing. A server that was killed during this goes on with it at its next start.
pub fn initialise(server: &Arc<Server>, insecure: bool) -> Result<(), SqlError> {
    let mut session = InternalSession::new(server)?;
    storage::create_tables(&mut session)?;
    system_tables::create(&mut session)?;
    sys_schema::create(server, &mut session)?;
    let users = session.rows("SELECT User FROM mysql.user")?;
    if !users.is_empty() {
        return Ok(());
    }
    let mut root = Account { user: "root".into(), host: "localhost".into(), ..Account::default() };
    root.global = Privileges::all(Level::Global).with(Privileges::grant_option());
    root.dynamic = DYNAMIC.iter().map(|name| ((*name).to_owned(), true)).collect();
    let secret = if insecure { Secret::None } else { Secret::Random };
    let new = secret::Credentials::of(&root, &Authentication::new(None, secret), PASSWORD_CHARS, false)?;
    (root.plugin, root.authentication_string) = (new.plugin, new.stored);
    root.attributes.password_changed_s = Some(os::clock::now_us() / 1_000_000);
    // A password that a log holds must be changed before anything else.
    root.password_expired = new.shown.is_some();
    root.proxied.insert((String::new(), String::new()), true);
    storage::store(server, &[Arc::new(root.clone())], &[], "boot@", None)?;
    server.accounts.replace(AccountTable::new([root]));
    match new.shown {
        // The message comes after the account is stored, so that the password in the log works.
        Some(password) => crate::log_system!(
            "MY-010454",
            "A temporary password is generated for root@localhost: {password}"
        ),
        None => log::warn!(
            "root@localhost is created with an empty password ! Please consider switching off the \
             --initialize-insecure option."
        ),
    }
    Ok(())
}
