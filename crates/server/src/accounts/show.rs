//! SHOW GRANTS and SHOW CREATE USER.

use super::{Account, Level, Privileges};

/// The lines of SHOW GRANTS.
pub fn grants(account: &Account) -> Vec<String> {
    let to = format!("`{}`@`{}`", account.user, account.host);
    let option =
        |set: Privileges| if set.contains(Privileges::grant_option()) { " WITH GRANT OPTION" } else { "" };
    let mut lines =
        vec![format!("GRANT {} ON *.* TO {to}{}", spelled_out(account.global), option(account.global))];
    for with_option in [false, true] {
        let names: Vec<&str> =
            account.dynamic.iter().filter(|(_, o)| **o == with_option).map(|(n, _)| n.as_str()).collect();
        if !names.is_empty() {
            let tail = if with_option { " WITH GRANT OPTION" } else { "" };
            lines.push(format!("GRANT {} ON *.* TO {to}{tail}", names.join(",")));
        }
    }
    for (schema, set) in &account.schemas {
        lines.push(format!("GRANT {} ON `{schema}`.* TO {to}{}", set.list(Level::Schema), option(*set)));
    }
    for ((schema, table), set) in &account.tables {
        lines.push(format!(
            "GRANT {} ON `{schema}`.`{table}` TO {to}{}",
            set.list(Level::Table),
            option(*set)
        ));
    }
    lines
}

/// Since 8.0 the global level lists every static privilege instead of ALL PRIVILEGES.
fn spelled_out(set: Privileges) -> String {
    let plain = set.without(Privileges::grant_option());
    if plain.is_empty() { "USAGE".into() } else { plain.to_string() }
}

/// The statement of SHOW CREATE USER.
pub fn create_user(account: &Account) -> String {
    let hash: String = if account.authentication_string.iter().all(|b| (32..127).contains(b)) {
        format!(
            "'{}'",
            String::from_utf8_lossy(&account.authentication_string).replace('\\', "\\\\").replace('\'', "''")
        )
    } else {
        let hex: String = account.authentication_string.iter().map(|b| format!("{b:02X}")).collect();
        format!("0x{hex}")
    };
    let secret = if account.authentication_string.is_empty() { String::new() } else { format!(" AS {hash}") };
    let lock = if account.locked { "LOCK" } else { "UNLOCK" };
    format!(
        "CREATE USER `{}`@`{}` IDENTIFIED WITH '{}'{secret} REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT {lock} \
         PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT",
        account.user, account.host, account.plugin
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_listed_level_by_level() {
        let mut a = Account { user: "a".into(), host: "%".into(), ..Account::default() };
        assert_eq!(grants(&a), ["GRANT USAGE ON *.* TO `a`@`%`"]);
        let select = Privileges::named("SELECT").unwrap();
        a.global = select.with(Privileges::grant_option());
        a.dynamic.insert("BINLOG_ADMIN".into(), false);
        a.schemas.insert("app".into(), Privileges::all(Level::Schema));
        a.tables.insert(("app".into(), "t".into()), select);
        assert_eq!(
            grants(&a),
            [
                "GRANT SELECT ON *.* TO `a`@`%` WITH GRANT OPTION",
                "GRANT BINLOG_ADMIN ON *.* TO `a`@`%`",
                "GRANT ALL PRIVILEGES ON `app`.* TO `a`@`%`",
                "GRANT SELECT ON `app`.`t` TO `a`@`%`",
            ]
        );
        a.plugin = "mysql_native_password".into();
        assert!(
            create_user(&a)
                .starts_with("CREATE USER `a`@`%` IDENTIFIED WITH 'mysql_native_password' REQUIRE NONE")
        );
    }
}
