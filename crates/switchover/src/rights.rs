//! Which privileges an account has, as SHOW GRANTS tells it.

use std::collections::BTreeSet;

use crate::error::Failure;
use crate::member::Member;

/// The privileges for which SUPER stands.
const OF_SUPER: [&str; 3] = ["SYSTEM_VARIABLES_ADMIN", "CONNECTION_ADMIN", "REPLICATION_SLAVE_ADMIN"];

/// Returns those of the privileges that the account of a member's session lacks.
///
/// # Errors
/// Returns a failure when the server cannot be asked.
pub fn lacking(member: &mut Member, wanted: &[&'static str]) -> Result<Vec<&'static str>, Failure> {
    let roles = member.ask("SELECT CURRENT_ROLE()")?;
    let sql = match roles.as_str() {
        "NONE" | "" => "SHOW GRANTS".to_owned(),
        roles => format!("SHOW GRANTS FOR CURRENT_USER() USING {roles}"),
    };
    let shown = member.run("SHOW GRANTS", &sql)?;
    let lines = (0..shown.rows.len()).filter_map(|row| shown.cell(row, 0));
    let has = global_privileges(lines);
    Ok(wanted.iter().copied().filter(|privilege| !covers(&has, privilege)).collect())
}

fn covers(has: &BTreeSet<String>, privilege: &str) -> bool {
    let by_super = OF_SUPER.contains(&privilege) && has.contains("SUPER");
    by_super || has.contains(privilege) || has.contains("ALL PRIVILEGES")
}

/// Returns the privileges for the whole server among the lines of SHOW GRANTS.
fn global_privileges(lines: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut has = BTreeSet::new();
    for line in lines {
        let privileges = line.strip_prefix("GRANT ").and_then(|rest| rest.split_once(" ON *.* TO "));
        if let Some((privileges, _)) = privileges {
            has.extend(privileges.split(", ").map(str::to_uppercase));
        }
    }
    has
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_grants_are_read() {
        let has = |lines: &[&str]| global_privileges(lines.iter().map(|line| (*line).to_owned()));
        let some = has(&[
            "GRANT RELOAD, SUPER ON *.* TO `a`@`%`",
            "GRANT SELECT ON `d`.* TO `a`@`%`",
            "GRANT `r`@`%` TO `a`@`%`",
        ]);
        assert!(covers(&some, "RELOAD") && covers(&some, "CONNECTION_ADMIN"));
        assert!(!covers(&some, "SELECT") && !covers(&some, "REPLICATION CLIENT"));
        assert!(covers(&has(&["GRANT ALL PRIVILEGES ON *.* TO `root`@`%`"]), "REPLICATION CLIENT"));
    }
}
