//! The storage of the attributes of accounts: columns of `mysql.user`, and
//! `mysql.password_history`.

use super::attributes::{PastPassword, merged};
use super::row::quote;
use super::{Account, Attributes, restrictions};
use crate::internal::row_collector::RowCollector;
use crate::internal::session::InternalSession;
use sql::admin::TlsRequirement;

/// The columns of `mysql.user` behind the privileges, each with its definition.
const COLUMNS: &[(&str, &str)] = &[
    ("ssl_type", "ENUM('','ANY','X509','SPECIFIED') CHARACTER SET utf8mb3 NOT NULL DEFAULT ''"),
    ("ssl_cipher", "BLOB NOT NULL"),
    ("x509_issuer", "BLOB NOT NULL"),
    ("x509_subject", "BLOB NOT NULL"),
    ("max_questions", "INT UNSIGNED NOT NULL DEFAULT '0'"),
    ("max_updates", "INT UNSIGNED NOT NULL DEFAULT '0'"),
    ("max_connections", "INT UNSIGNED NOT NULL DEFAULT '0'"),
    ("max_user_connections", "INT UNSIGNED NOT NULL DEFAULT '0'"),
    ("plugin", "CHAR(64) NOT NULL DEFAULT 'caching_sha2_password'"),
    ("authentication_string", "TEXT"),
    ("password_expired", "ENUM('N','Y') CHARACTER SET utf8mb3 NOT NULL DEFAULT 'N'"),
    ("password_last_changed", "TIMESTAMP NULL DEFAULT NULL"),
    ("password_lifetime", "SMALLINT UNSIGNED DEFAULT NULL"),
    ("account_locked", "ENUM('N','Y') CHARACTER SET utf8mb3 NOT NULL DEFAULT 'N'"),
    ("Create_role_priv", "ENUM('N','Y') CHARACTER SET utf8mb3 NOT NULL DEFAULT 'N'"),
    ("Drop_role_priv", "ENUM('N','Y') CHARACTER SET utf8mb3 NOT NULL DEFAULT 'N'"),
    ("Password_reuse_history", "SMALLINT UNSIGNED DEFAULT NULL"),
    ("Password_reuse_time", "SMALLINT UNSIGNED DEFAULT NULL"),
    ("Password_require_current", "ENUM('N','Y') CHARACTER SET utf8mb3 DEFAULT NULL"),
    ("User_attributes", "JSON DEFAULT NULL"),
];

/// Reports whether a privilege's column is among those behind the other privileges.
pub fn is_behind(column: &str) -> bool {
    COLUMNS.iter().any(|(name, _)| *name == column)
}

/// Returns the definitions of the columns behind the privileges, with a comma behind each.
pub fn columns() -> String {
    COLUMNS.iter().fold(String::new(), |all, (name, kind)| all + &format!("`{name}` {kind}, "))
}

/// Creates the table of past passwords, and adds missing columns to `mysql.user` of an earlier
/// version.
pub fn create(session: &mut InternalSession) -> sql::Result<()> {
    session.run(
        "CREATE TABLE IF NOT EXISTS mysql.password_history (Host CHAR(255) CHARACTER SET ascii COLLATE \
         ascii_general_ci NOT NULL DEFAULT '', User CHAR(32) NOT NULL DEFAULT '', Password_timestamp TIMESTAMP(6) NOT \
         NULL DEFAULT CURRENT_TIMESTAMP(6), Password TEXT, PRIMARY KEY (Host, User, Password_timestamp DESC)) \
         ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_bin COMMENT='Password history for user accounts'",
    )?;
    let there = session.rows(
        "SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = \
         'user'",
    )?;
    let is_there =
        |column: &str| (0..there.len()).any(|row| there.text(row, "name").eq_ignore_ascii_case(column));
    let mut before = "Create_tablespace_priv";
    let mut added = Vec::new();
    for (name, kind) in COLUMNS {
        if !is_there(name) {
            added.push(format!("ADD COLUMN `{name}` {kind} AFTER `{before}`"));
        }
        before = name;
    }
    match added.is_empty() {
        true => Ok(()),
        false => session.run(&format!("ALTER TABLE mysql.user {}", added.join(", "))),
    }
}

/// Returns the attributes in a row of `mysql.user`. The time of the last password change comes from
/// the column `changed_s`.
pub fn read(rows: &RowCollector, row: usize) -> Attributes {
    let number = |column: &str| rows.text(row, column).parse::<u64>().ok();
    let small = |column: &str| number(column).and_then(|n| u16::try_from(n).ok());
    let limit = |column: &str| number(column).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let mut attributes = Attributes {
        require: match rows.text(row, "ssl_type").as_str() {
            "ANY" => TlsRequirement::Ssl,
            "X509" => TlsRequirement::X509,
            "SPECIFIED" => TlsRequirement::Specified {
                cipher: rows.text(row, "ssl_cipher"),
                issuer: rows.text(row, "x509_issuer"),
                subject: rows.text(row, "x509_subject"),
            },
            _ => TlsRequirement::None,
        },
        password_changed_s: number("changed_s"),
        lifetime_days: small("password_lifetime"),
        history: small("Password_reuse_history"),
        reuse_days: small("Password_reuse_time"),
        require_current: rows.cell(row, "Password_require_current").map(|cell| cell == b"Y"),
        ..Attributes::default()
    };
    attributes.limits.queries_per_hour = limit("max_questions");
    attributes.limits.updates_per_hour = limit("max_updates");
    attributes.limits.connections_per_hour = limit("max_connections");
    attributes.limits.user_connections = limit("max_user_connections");
    if let Some(json) = rows.cell(row, "User_attributes") {
        attributes.take_json(json);
    }
    attributes
}

/// Reads the past passwords, and passes each to `give` with the user and the host of its account.
pub fn read_history(
    session: &mut InternalSession,
    mut give: impl FnMut(String, String, PastPassword),
) -> sql::Result<()> {
    let rows = session.rows(
        "SELECT Host, User, Password, CAST(UNIX_TIMESTAMP(Password_timestamp) * 1000000 AS UNSIGNED) AS at_us FROM \
         mysql.password_history ORDER BY Password_timestamp DESC",
    )?;
    for row in 0..rows.len() {
        let stored = rows.cell(row, "Password").unwrap_or_default().to_vec();
        let past = PastPassword { at_us: rows.text(row, "at_us").parse().unwrap_or(0), stored };
        give(rows.text(row, "User"), rows.text(row, "Host"), past);
    }
    Ok(())
}

/// Writes the attributes of an account whose row is in `mysql.user` and whose past passwords are
/// not stored yet.
pub fn write(session: &mut InternalSession, account: &Account) -> sql::Result<()> {
    let attributes = &account.attributes;
    let (kind, cipher, issuer, subject) = match &attributes.require {
        TlsRequirement::None => ("", "", "", ""),
        TlsRequirement::Ssl => ("ANY", "", "", ""),
        TlsRequirement::X509 => ("X509", "", "", ""),
        TlsRequirement::Specified { cipher, issuer, subject } => {
            ("SPECIFIED", cipher.as_str(), issuer.as_str(), subject.as_str())
        }
    };
    let limits = attributes.limits;
    let number = |n: Option<u16>| n.map_or_else(|| b"NULL".to_vec(), |n| n.to_string().into_bytes());
    let changed = match attributes.password_changed_s {
        Some(at_s) => format!("FROM_UNIXTIME({at_s})"),
        None => "NULL".into(),
    };
    let current = match attributes.require_current {
        None => "NULL",
        Some(true) => "'Y'",
        Some(false) => "'N'",
    };
    let json = merged(attributes.to_json(), restrictions::to_json(&account.restrictions));
    let json = json.map_or_else(|| b"NULL".to_vec(), |json| quote(json.as_bytes()));
    let cells: [(&str, Vec<u8>); 13] = [
        ("ssl_type", quote(kind.as_bytes())),
        ("ssl_cipher", quote(cipher.as_bytes())),
        ("x509_issuer", quote(issuer.as_bytes())),
        ("x509_subject", quote(subject.as_bytes())),
        ("max_questions", limits.queries_per_hour.to_string().into_bytes()),
        ("max_updates", limits.updates_per_hour.to_string().into_bytes()),
        ("max_connections", limits.connections_per_hour.to_string().into_bytes()),
        ("max_user_connections", limits.user_connections.to_string().into_bytes()),
        ("password_last_changed", changed.into_bytes()),
        ("password_lifetime", number(attributes.lifetime_days)),
        ("Password_reuse_history", number(attributes.history)),
        ("Password_reuse_time", number(attributes.reuse_days)),
        ("Password_require_current", current.as_bytes().to_vec()),
    ];
    let mut statement = b"UPDATE mysql.user SET User_attributes = ".to_vec();
    statement.extend_from_slice(&json);
    for (name, value) in cells {
        statement.extend_from_slice(format!(", {name} = ").as_bytes());
        statement.extend_from_slice(&value);
    }
    let (user, host) = (quote(account.user.as_bytes()), quote(account.host.as_bytes()));
    statement.extend_from_slice(&[b" WHERE Host = ".as_slice(), &host, b" AND User = ", &user].concat());
    session.run_bytes(&statement)?;
    for past in &attributes.past {
        let at = format!("FROM_UNIXTIME({}.{:06})", past.at_us / 1_000_000, past.at_us % 1_000_000);
        let row =
            [&host, b", ".as_slice(), &user, b", ", at.as_bytes(), b", ", &quote(&past.stored)].concat();
        let head = b"INSERT INTO mysql.password_history (Host, User, Password_timestamp, Password) VALUES (";
        session.run_bytes(&[head.as_slice(), &row, b")"].concat())?;
    }
    Ok(())
}
