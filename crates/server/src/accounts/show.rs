//! The text of SHOW GRANTS and SHOW CREATE USER.

use super::roles::shown;
use super::{Account, AccountName, Level, Privileges};
use sql::admin::TlsRequirement;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the lines of SHOW GRANTS: the rights of `all`, which is `account` with its active roles,
/// and the roles of `account`.
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
    for (routine, set) in &all.routines {
        let kind = if routine.is_function { "FUNCTION" } else { "PROCEDURE" };
        let list = match set.without(Privileges::grant_option()) {
            Privileges::NONE => "USAGE".to_owned(),
            set => set.to_string(),
        };
        let (schema, name) = (quoted(&routine.schema), quoted(&routine.name));
        lines.push(format!("GRANT {list} ON {kind} {schema}.{name} TO {to}{}", option(*set)));
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

/// Returns the list of privileges on each table and its columns, in the order of the quoted names.
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

/// Returns the list of privileges in the form `SELECT, SELECT (`a`, `b`), DELETE`.
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

/// Returns the list for `*.*`, which since MySQL 8.0 names every static privilege instead of ALL
/// PRIVILEGES.
fn spelled_out(set: Privileges) -> String {
    let plain = set.without(Privileges::grant_option());
    if plain.is_empty() { "USAGE".into() } else { plain.to_string() }
}

/// Returns the statement that SHOW CREATE USER shows.
pub fn create_user(account: &Account, hash_in_hex: bool) -> String {
    let (stored, attributes) = (&account.authentication_string, &account.attributes);
    let secret = match (stored.as_slice(), hash_in_hex && !stored.iter().all(|b| (32..127).contains(b))) {
        (b"", _) => String::new(),
        (stored, true) => {
            let hex: String = stored.iter().map(|b| format!("{b:02X}")).collect();
            format!(" AS 0x{hex}")
        }
        (stored, false) => format!(" AS {}", literal(&String::from_utf8_lossy(stored))),
    };
    let default_roles = match account.default_roles.is_empty() {
        true => String::new(),
        false => format!(" DEFAULT ROLE {}", super::roles::list(&account.default_roles)),
    };
    let mut text = format!(
        "CREATE USER `{}`@`{}` IDENTIFIED WITH '{}'{secret}{default_roles} REQUIRE {}",
        account.user,
        account.host,
        account.plugin,
        requirement(&attributes.require)
    );
    let limits = attributes.limits;
    let limits = [
        ("QUERIES_PER_HOUR", limits.queries_per_hour),
        ("UPDATES_PER_HOUR", limits.updates_per_hour),
        ("CONNECTIONS_PER_HOUR", limits.connections_per_hour),
        ("USER_CONNECTIONS", limits.user_connections),
    ];
    let given: Vec<String> =
        limits.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("MAX_{name} {n}")).collect();
    if !given.is_empty() {
        text.push_str(&format!(" WITH {}", given.join(" ")));
    }
    let days = |days: Option<u16>| days.map_or_else(|| "DEFAULT".into(), |days| format!("{days} DAY"));
    let expiry = match (account.password_expired, attributes.lifetime_days) {
        (true, _) => String::new(),
        (false, None) => " DEFAULT".into(),
        (false, Some(0)) => " NEVER".into(),
        (false, Some(days)) => format!(" INTERVAL {days} DAY"),
    };
    let lock = if account.locked { "LOCK" } else { "UNLOCK" };
    let history = attributes.history.map_or_else(|| "DEFAULT".into(), |n| n.to_string());
    let current = match attributes.require_current {
        None => " DEFAULT",
        Some(true) => "",
        Some(false) => " OPTIONAL",
    };
    text.push_str(&format!(
        " PASSWORD EXPIRE{expiry} ACCOUNT {lock} PASSWORD HISTORY {history} PASSWORD REUSE INTERVAL {} PASSWORD \
         REQUIRE CURRENT{current}",
        days(attributes.reuse_days)
    ));
    if attributes.locking.attempts > 0 {
        text.push_str(&format!(" FAILED_LOGIN_ATTEMPTS {}", attributes.locking.attempts));
    }
    match attributes.locking.days {
        0 => {}
        days if days < 0 => text.push_str(" PASSWORD_LOCK_TIME UNBOUNDED"),
        days => text.push_str(&format!(" PASSWORD_LOCK_TIME {days}")),
    }
    if let Some(metadata) = attributes.metadata_text() {
        text.push_str(&format!(" ATTRIBUTE '{}'", escaped(&metadata)));
    }
    text
}

fn requirement(require: &TlsRequirement) -> String {
    let TlsRequirement::Specified { cipher, issuer, subject } = require else {
        return match require {
            TlsRequirement::Ssl => "SSL",
            TlsRequirement::X509 => "X509",
            _ => "NONE",
        }
        .into();
    };
    let parts = [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)];
    let given: Vec<String> = parts
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("{name} '{}'", escaped(text)))
        .collect();
    // SPECIFIED was given with an empty text only, and it is not stored which part that was.
    if given.is_empty() { "SUBJECT ''".into() } else { given.join(" ") }
}

/// Returns a text in apostrophes, as MySQL writes the value stored for a password, and every text
/// in its binary log. Quotation marks are escaped as well.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", escaped(text).replace('"', "\\\""))
}

/// Returns the text between apostrophes, as MySQL's servers write it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{1a}' => out.push_str("\\Z"),
            '\\' | '\'' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
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
            create_user(&a, false)
                .starts_with("CREATE USER `a`@`%` IDENTIFIED WITH 'mysql_native_password' REQUIRE NONE")
        );
    }
}
