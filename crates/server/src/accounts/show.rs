//! SHOW GRANTS and SHOW CREATE USER.

use super::roles::shown;
use super::{Account, AccountName, Level, Privileges};
use std::collections::{BTreeMap, BTreeSet};

/// The lines of SHOW GRANTS: the rights of `all`, which is `account` with its active roles, and the account's roles.
pub fn grants(account: &Account, all: &Account) -> Vec<String> {
    let to = format!("`{}`@`{}`", account.user, account.host);
    let option =
        |set: Privileges| if set.contains(Privileges::grant_option()) { " WITH GRANT OPTION" } else { "" };
    let mut lines = vec![format!("GRANT {} ON *.* TO {to}{}", spelled_out(all.global), option(all.global))];
    for with_option in [false, true] {
        let names: Vec<&str> =
            all.dynamic.iter().filter(|(_, o)| **o == with_option).map(|(n, _)| n.as_str()).collect();
        if !names.is_empty() {
            let tail = if with_option { " WITH GRANT OPTION" } else { "" };
            lines.push(format!("GRANT {} ON *.* TO {to}{tail}", names.join(",")));
        }
    }
    let (patterns, names): (Vec<_>, Vec<_>) =
        all.schemas.iter().partition(|(schema, _)| super::host_pattern::is_pattern(schema));
    for (schema, set) in names.into_iter().chain(patterns) {
        lines.push(format!(
            "GRANT {} ON {}.* TO {to}{}",
            set.list(Level::Schema),
            quoted(schema),
            option(*set)
        ));
    }
    for (schema, set) in &all.restrictions {
        lines.push(format!("REVOKE {set} ON {}.* FROM {to}", quoted(schema)));
    }
    for (place, (list, set)) in table_grants(all) {
        lines.push(format!("GRANT {list} ON {place} TO {to}{}", option(set)));
    }
    for (proxied, with_option) in &all.proxied {
        let tail = if *with_option { " WITH GRANT OPTION" } else { "" };
        lines.push(format!("GRANT PROXY ON {} TO {to}{tail}", shown(proxied)));
    }
    for with_admin in [false, true] {
        let roles: BTreeSet<AccountName> =
            account.roles.iter().filter(|(_, admin)| **admin == with_admin).map(|(n, _)| n.clone()).collect();
        if !roles.is_empty() {
            let tail = if with_admin { " WITH ADMIN OPTION" } else { "" };
            lines.push(format!("GRANT {} TO {to}{tail}", super::roles::list(&roles)));
        }
    }
    lines
}

/// The list of privileges on each table and its columns, in the order of the quoted names.
fn table_grants(all: &Account) -> BTreeMap<String, (String, Privileges)> {
    let places: BTreeSet<&(String, String)> = all.tables.keys().chain(all.columns.keys()).collect();
    let one = |place: &(String, String)| {
        let set = all.tables.get(place).copied().unwrap_or_default();
        let list = match all.columns.get(place) {
            Some(columns) => with_columns(set, columns),
            None => set.list(Level::Table),
        };
        (format!("{}.{}", quoted(&place.0), quoted(&place.1)), (list, set))
    };
    places.into_iter().map(one).collect()
}

/// `SELECT, SELECT (`a`, `b`), DELETE`.
fn with_columns(set: Privileges, columns: &BTreeMap<String, Privileges>) -> String {
    let on_columns = columns.values().fold(Privileges::NONE, |all, set| all.with(*set));
    let plain = set.without(Privileges::grant_option());
    if plain == Privileges::all(Level::Table) {
        return set.list(Level::Table);
    }
    let mut parts = Vec::new();
    for name in plain.with(on_columns).names() {
        let bit = Privileges::named(name).unwrap_or_default();
        if plain.contains(bit) {
            parts.push(name.to_owned());
        }
        if on_columns.contains(bit) {
            let held = columns.iter().filter(|(_, set)| set.contains(bit));
            let names: Vec<String> = held.map(|(column, _)| quoted(column)).collect();
            parts.push(format!("{name} ({})", names.join(", ")));
        }
    }
    parts.join(", ")
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
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
    let default_roles = match account.default_roles.is_empty() {
        true => String::new(),
        false => format!(" DEFAULT ROLE {}", super::roles::list(&account.default_roles)),
    };
    let expire = if account.password_expired { "" } else { " DEFAULT" };
    let lock = if account.locked { "LOCK" } else { "UNLOCK" };
    format!(
        "CREATE USER `{}`@`{}` IDENTIFIED WITH '{}'{secret}{default_roles} REQUIRE NONE PASSWORD EXPIRE{expire} ACCOUNT {lock} \
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
        assert_eq!(grants(&a, &a), ["GRANT USAGE ON *.* TO `a`@`%`"]);
        let select = Privileges::named("SELECT").unwrap();
        a.global = select.with(Privileges::grant_option());
        a.dynamic.insert("BINLOG_ADMIN".into(), false);
        a.schemas.insert("app".into(), Privileges::all(Level::Schema));
        a.tables.insert(("app".into(), "t".into()), select);
        assert_eq!(
            grants(&a, &a),
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
