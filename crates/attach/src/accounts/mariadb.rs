//! MariaDB's accounts, in the words that this server takes.

use super::account::Account;
use crate::error::Result;
use crate::source::{Source, quoted};

/// The privileges that only MariaDB has, and that the accounts do not get here.
const UNKNOWN: [&str; 12] = [
    "DELETE HISTORY",
    "SET USER",
    "FEDERATED ADMIN",
    "CONNECTION ADMIN",
    "READ_ONLY ADMIN",
    "SLAVE MONITOR",
    "REPLICA MONITOR",
    "REPLICATION MASTER ADMIN",
    "REPLICATION SLAVE ADMIN",
    "BINLOG ADMIN",
    "BINLOG REPLAY",
    "SHOW CREATE ROUTINE",
];

/// Reads the roles that the source has now. They have no host there, and match any host here.
pub(super) fn roles(source: &mut Source) -> Result<Vec<Account>> {
    let mut roles = Vec::new();
    let list = "SELECT User FROM mysql.user WHERE is_role = 'Y' AND User <> 'PUBLIC' ORDER BY 1";
    for row in source.table(list)? {
        let name = quoted(&row[0]);
        let grants = source.table(&format!("SHOW GRANTS FOR {name}"))?;
        let grants = grants.into_iter().map(|mut row| row.swap_remove(0)).collect();
        let create = format!("CREATE ROLE {name}");
        roles.push(in_mysqls_words(Account { name, create, default_role: None, grants }));
    }
    Ok(roles)
}

/// Returns the account with its grants in MySQL's words.
pub(super) fn in_mysqls_words(account: Account) -> Account {
    let mut default_role = account.default_role;
    let mut grants = Vec::new();
    for grant in account.grants {
        match grant.strip_prefix("SET DEFAULT ROLE ").and_then(|rest| rest.rsplit_once(" FOR ")) {
            Some((role, _)) => default_role = Some(role.to_owned()),
            None => grants.extend(granted(&grant)),
        }
    }
    Account { default_role, grants, ..account }
}

/// Converts one line of SHOW GRANTS. `None` means that it grants nothing that is known here.
fn granted(line: &str) -> Option<String> {
    // The secret in SHOW GRANTS is left out, because SHOW CREATE USER has it too.
    let (what, rest) = match line.find(" IDENTIFIED ") {
        Some(at) => (&line[..at], &line[at..]),
        None => (line, ""),
    };
    let with_grant = if rest.ends_with(" WITH GRANT OPTION") { " WITH GRANT OPTION" } else { "" };
    let Some((privileges, on)) = what.strip_prefix("GRANT ").and_then(|what| what.split_once(" ON ")) else {
        // The line grants a role.
        return Some(format!("{what}{with_grant}"));
    };
    if privileges == "PROXY" {
        // The line is about accounts without a name, and every installation has it.
        return None;
    }
    if privileges.contains('(') {
        // Privileges on columns have MySQL's names.
        return Some(format!("{what}{with_grant}"));
    }
    let known: Vec<&str> = privileges
        .split(", ")
        .filter(|name| !UNKNOWN.contains(name))
        // MariaDB has renamed this privilege.
        .map(|name| if name == "BINLOG MONITOR" { "REPLICATION CLIENT" } else { name })
        .collect();
    (!known.is_empty()).then(|| format!("GRANT {} ON {on}{with_grant}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_have_mysqls_words() {
        for (theirs, ours) in [
            ("GRANT `r` TO `u`@`%`", Some("GRANT `r` TO `u`@`%`")),
            (
                "GRANT SELECT, BINLOG MONITOR, SET USER ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*D8' WITH GRANT OPTION",
                Some("GRANT SELECT, REPLICATION CLIENT ON *.* TO `u`@`%` WITH GRANT OPTION"),
            ),
            ("GRANT SET USER ON *.* TO `u`@`%`", None),
            (
                "GRANT SELECT (`a`, `b`) ON `d`.`t` TO `u`@`%`",
                Some("GRANT SELECT (`a`, `b`) ON `d`.`t` TO `u`@`%`"),
            ),
            (
                "GRANT ALL PRIVILEGES ON `d`.* TO `u`@`%` WITH GRANT OPTION",
                Some("GRANT ALL PRIVILEGES ON `d`.* TO `u`@`%` WITH GRANT OPTION"),
            ),
        ] {
            assert_eq!(granted(theirs).as_deref(), ours, "{theirs}");
        }
    }

    #[test]
    fn a_default_role_is_told_among_the_grants() {
        let account = Account {
            name: "`u`@`%`".into(),
            create: "CREATE USER `u`@`%`".into(),
            default_role: None,
            grants: vec!["GRANT `r` TO `u`@`%`".into(), "SET DEFAULT ROLE `r` FOR `u`@`%`".into()],
        };
        let account = in_mysqls_words(account);
        assert_eq!((account.default_role.as_deref(), account.grants.len()), (Some("`r`"), 1));
    }
}
