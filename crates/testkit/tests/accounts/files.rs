//! What a server keeps to itself: secrets in files, and passwords in what it shows of statements.

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
    // One that somebody else has signed is not taken at all.
    let other = protocol::tls::make_certificates("localhost").unwrap();
    let forged =
        Identity { certificate_pem: other.client.into_bytes(), key_pem: other.client_key.into_bytes() };
    assert_eq!(code("x1", Some(&forged)), Some(0));
}
