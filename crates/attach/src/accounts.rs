//! The source's accounts and roles. They must exist here, because their statements come through the
//! log and objects belong to them.

mod account;
mod mariadb;

use self::account::Account;
use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::source::{Source, quoted};

/// The accounts that every server has of its own.
const OWN: &str = "('mysql.sys', 'mysql.session', 'mysql.infoschema', 'mariadb.sys')";

/// The account with which this server is set up. It takes the source's password at the end.
const ROOT: &str = "`root`@`localhost`";

/// All accounts of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts(Vec<Account>);

impl Accounts {
    /// Reads the accounts that the source has now.
    pub fn read(source: &mut Source) -> Result<Accounts> {
        let mut accounts = Vec::new();
        let of_users = match source.is_mariadb() {
            true => {
                accounts.extend(mariadb::roles(source)?);
                "AND is_role = 'N'"
            }
            false => {
                source.query("SET print_identified_with_as_hex = ON")?;
                ""
            }
        };
        let list =
            format!("SELECT User, Host FROM mysql.user WHERE User NOT IN {OWN} {of_users} ORDER BY 1, 2");
        for row in source.table(&list)? {
            let name = format!("{}@{}", quoted(&row[0]), quoted(&row[1]));
            let shown = source.query(&format!("SHOW CREATE USER {name}"));
            let grants = source.table(&format!("SHOW GRANTS FOR {name}"));
            let (shown, grants) = match (shown, grants) {
                (Ok(shown), Ok(grants)) => (shown, grants),
                // The account was dropped after the list of accounts was read.
                (Err(AttachError::Source(_, error)), _) | (_, Err(AttachError::Source(_, error)))
                    if error.server_code().is_some() =>
                {
                    continue;
                }
                (Err(error), _) | (_, Err(error)) => return Err(error),
            };
            let (create, default_role) = without_default_role(&shown.cell(0, 0).unwrap_or_default());
            let grants: Vec<String> = grants.into_iter().map(|mut row| row.swap_remove(0)).collect();
            let account = Account { name, create, default_role, grants };
            accounts.push(if source.is_mariadb() { mariadb::in_mysqls_words(account) } else { account });
        }
        Ok(Accounts(accounts))
    }

    /// Makes the accounts here, except root@localhost, which is here already. Returns the refused
    /// statements with the reasons.
    pub fn make(&self, local: &mut Local) -> Result<Vec<String>> {
        let mut refused = Vec::new();
        for account in self.others() {
            local.query(&format!("DROP USER IF EXISTS {}", account.name))?;
            refused.extend(local.refusal(&account.create)?);
        }
        Ok(refused)
    }

    /// Grants the privileges and roles of the accounts. A privilege on an object that is not here
    /// yet is left out, and is granted when this is called again. Returns the refused statements
    /// with the reasons.
    pub fn grant(&self, local: &mut Local) -> Result<Vec<String>> {
        let mut refused = Vec::new();
        for account in self.others() {
            let roles = account.default_role.iter();
            let roles = roles.map(|roles| format!("ALTER USER {} DEFAULT ROLE {roles}", account.name));
            for sql in account.grants.iter().cloned().chain(roles) {
                refused.extend(local.refusal(&sql)?);
            }
        }
        Ok(refused)
    }

    /// Gives root@localhost the source's password. Returns false when it has none at the source.
    pub fn take_over_root(&self, local: &mut Local) -> Result<bool> {
        let has_password = |account: &&Account| account.name == ROOT && account.create.contains(" AS 0x");
        let Some(root) = self.0.iter().find(has_password) else { return Ok(false) };
        local.query(&root.create.replacen("CREATE USER", "ALTER USER", 1)).map(|_| true)
    }

    fn others(&self) -> impl Iterator<Item = &Account> {
        self.0.iter().filter(|account| account.name != ROOT)
    }
}

/// Splits a CREATE USER into the statement without its DEFAULT ROLE, whose roles may not exist yet,
/// and these roles.
fn without_default_role(create: &str) -> (String, Option<String>) {
    const WORDS: &str = " DEFAULT ROLE ";
    let Some(at) = create.find(WORDS) else { return (create.to_owned(), None) };
    let behind = &create[at + WORDS.len()..];
    let end = behind.find(" REQUIRE ").unwrap_or(behind.len());
    (format!("{}{}", &create[..at], &behind[end..]), Some(behind[..end].to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_roles_are_taken_out() {
        let create = "CREATE USER `u`@`%` IDENTIFIED WITH 'p' AS 0x41 DEFAULT ROLE `r`@`%`,`s`@`%` REQUIRE NONE ACCOUNT LOCK";
        let (without, roles) = without_default_role(create);
        assert_eq!(without, "CREATE USER `u`@`%` IDENTIFIED WITH 'p' AS 0x41 REQUIRE NONE ACCOUNT LOCK");
        assert_eq!(roles.as_deref(), Some("`r`@`%`,`s`@`%`"));
        assert_eq!(without_default_role("CREATE USER `u`@`%`").1, None);
    }
}
