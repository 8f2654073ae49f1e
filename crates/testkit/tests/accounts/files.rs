//! Tests of what a server keeps secret: the files that hold secrets, and passwords in what it shows
//! of statements.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ConnectOptions};
use protocol::tls::{ClientTls, Identity};
use std::os::unix::fs::PermissionsExt;
use testkit::Server;

fn mode(path: &std::path::Path) -> u32 {
    let metadata = std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    metadata.permissions().mode() & 0o777
}

#[test]
fn files_with_secrets_are_the_owners_alone() {
    let settings = Settings { extra: vec!["--master-info-repository=FILE".into()], ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    server.run(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1, SOURCE_USER = 'u', SOURCE_PASSWORD = \
         'the secret'",
    );
    for file in ["private_key.pem", "ca-key.pem", "server-key.pem", "client-key.pem", "replica_channel.info"]
    {
        assert_eq!(mode(&server.datadir().join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&server.datadir()), 0o750);
    let secret = b"the secret";
    for entry in std::fs::read_dir(server.datadir()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && mode(&path) & 0o077 != 0 {
            let bytes = os::disk::real().read(&path).unwrap();
            assert!(!bytes.windows(secret.len()).any(|at| at == secret), "{}", path.display());
        }
    }
}

#[test]
fn passwords_are_not_in_what_is_shown_of_statements() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    for statement in [
        "CREATE USER 'a' IDENTIFIED BY 'the secret' COMMENT 'seen'",
        "ALTER USER a IDENTIFIED BY 'the secret' RETAIN CURRENT PASSWORD",
        "SET PASSWORD FOR a = 'the secret'",
        "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'the secret'",
    ] {
        client.query(statement).unwrap();
        let shown = "SELECT PROCESSLIST_INFO FROM performance_schema.threads";
        let shown = [server.rows(shown), server.rows("SHOW FULL PROCESSLIST")].concat().join("\n");
        assert!(!shown.contains("the secret"), "{statement}: {shown}");
    }
    assert!(!server.log_tail().contains("the secret"));
}

#[test]
fn a_clients_certificate_is_asked_for_by_subject_and_issuer() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let read = |file: &str| os::disk::real().read(&server.datadir().join(file)).unwrap();
    let shown = Identity { certificate_pem: read("client-cert.pem"), key_pem: read("client-key.pem") };
    let code = |user: &str, identity: Option<&Identity>| {
        let mut options = ConnectOptions::tcp("127.0.0.1", server.port()).user(user, "r");
        options.tls = Some(ClientTls { identity: identity.cloned(), ..crate::play::anybody() });
        Client::connect(&options).err().map(|error| error.server_code().unwrap_or(0))
    };
    let subject = "/CN=Slipstream_Server_Auto_Generated_Client_Certificate";
    let issuer = "/CN=Slipstream_Server_Auto_Generated_CA_Certificate";
    let mut options = server.connect_options();
    options.tls = Some(crate::play::anybody());
    let status = Client::connect(&options).unwrap().query("SHOW STATUS LIKE 'Ssl_cipher'").unwrap();
    let cipher = status.cell(0, 1).expect("a name");
    server.run(&format!("CREATE USER c1 IDENTIFIED BY 'r' REQUIRE CIPHER '{cipher}'"));
    assert_eq!(code("c1", None), None);
    for (user, require, with_certificate) in [
        ("x1", "X509".to_owned(), None),
        ("x2", format!("SUBJECT '{subject}'"), None),
        ("x3", format!("ISSUER '{issuer}' AND SUBJECT '{subject}'"), None),
        ("x4", format!("SUBJECT '{issuer}'"), Some(1045)),
    ] {
        server.run(&format!("CREATE USER {user} IDENTIFIED BY 'r' REQUIRE {require}"));
        assert_eq!(code(user, None), Some(1045), "{user}");
        assert_eq!(code(user, Some(&shown)), with_certificate, "{user}");
    }
    // The server does not accept a certificate that another authority has signed.
    let other = protocol::tls::make_certificates("localhost").unwrap();
    let forged =
        Identity { certificate_pem: other.client.into_bytes(), key_pem: other.client_key.into_bytes() };
    assert_eq!(code("x1", Some(&forged)), Some(0));
}

/// The columns that `mysql.user` did not have before format 2.
const LATER_COLUMNS: &[&str] = &[
    "ssl_type",
    "ssl_cipher",
    "x509_issuer",
    "x509_subject",
    "max_questions",
    "max_updates",
    "max_connections",
    "max_user_connections",
    "password_last_changed",
    "password_lifetime",
    "Password_reuse_history",
    "Password_reuse_time",
    "Password_require_current",
    "User_attributes",
];

/// The tables that hold accounts are put back into format 1, and the next start upgrades them.
#[test]
fn accounts_of_format_1_are_taken_over() {
    let mut server = Server::start(Flavor::Slipstream, &Settings::default());
    for statement in [
        "CREATE DATABASE od",
        "CREATE TABLE od.t (a INT, b INT)",
        "CREATE USER o1 IDENTIFIED BY 'x'",
        "GRANT SELECT, CREATE ROLE ON *.* TO o1 WITH GRANT OPTION",
        "GRANT BACKUP_ADMIN ON *.* TO o1",
        "GRANT INSERT ON od.* TO o1",
        "GRANT SELECT, CREATE VIEW ON od.t TO o1 WITH GRANT OPTION",
    ] {
        server.run(statement);
    }
    let tables = "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = \
                  'mysql' ORDER BY TABLE_NAME, COLUMN_NAME";
    let (columns, grants) = (server.rows(tables), server.rows("SHOW GRANTS FOR o1"));
    assert!(grants.iter().any(|line| line.contains("SELECT, CREATE VIEW ON `od`.`t`")), "{grants:?}");
    for table in
        ["columns_priv", "procs_priv", "role_edges", "default_roles", "proxies_priv", "password_history"]
    {
        server.run(&format!("DROP TABLE mysql.{table}"));
    }
    let dropped: Vec<String> = LATER_COLUMNS.iter().map(|name| format!("DROP COLUMN {name}")).collect();
    let flag = "ENUM('N','Y') NOT NULL DEFAULT 'N'";
    server.run(&format!(
        "ALTER TABLE mysql.user {}, MODIFY COLUMN Create_role_priv {flag} AFTER Create_tablespace_priv, MODIFY COLUMN \
         Drop_role_priv {flag} AFTER Create_role_priv",
        dropped.join(", ")
    ));
    server.run(
        "ALTER TABLE mysql.tables_priv DROP KEY Grantor, DROP COLUMN Timestamp, DROP COLUMN Column_priv, MODIFY COLUMN \
         Table_priv VARCHAR(512) NOT NULL DEFAULT ''",
    );
    server.run(
        "UPDATE mysql.tables_priv SET Table_priv = 'SELECT, GRANT OPTION, CREATE VIEW' WHERE User = 'o1'",
    );
    server.shut_down();
    let format = server.datadir().join("slipstream.format");
    let newest = std::fs::read_to_string(&format).expect("a new directory has its format");
    std::fs::remove_file(&format).expect("format 1 had no such file");
    server.come_back();
    assert_eq!(server.rows(tables), columns, "the tables are what they were");
    assert_eq!(server.rows("SHOW GRANTS FOR o1"), grants);
    let options = server.connect_options().user("o1", "x");
    let mut client = Client::connect(&options).expect("the password is what it was");
    client.query("CREATE ROLE o2").expect("the privilege is what it was");
    server.run("GRANT SELECT (b) ON od.t TO o1");
    server.run("ALTER USER o1 PASSWORD HISTORY 2");
    assert_eq!(std::fs::read_to_string(&format).expect("it is written"), newest);
}
