//! Tests of the client with real MySQL and MariaDB servers: what it reads must be what they mean.

use protocol::client::{Client, ClientError, ConnectOptions};
use testkit::conversation::{tcp, whole_client};
use testkit::{Flavor, Instance, Settings, USER};

fn start(flavor: Flavor) -> Instance {
    let settings = Settings { log_bin: true, ..Settings::default() };
    Instance::start(flavor, &settings).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn mariadb_is_understood() {
    if !testkit::available("mariadb_is_understood", &[Flavor::MariaDb]) {
        return;
    }
    let server = start(Flavor::MariaDb);
    whole_client(&server);
    let mut local = Client::connect(&ConnectOptions::unix(server.socket()).user(USER, USER)).unwrap();
    assert!(local.is_mariadb());
    local.ping().unwrap();
}

#[test]
fn mysql_is_understood() {
    if !testkit::available("mysql_is_understood", &[Flavor::MySql]) {
        return;
    }
    let server = start(Flavor::MySql);
    // The server has not cached the account before its first connection: the password is sent
    // encrypted, or not at all.
    let without_key = ConnectOptions { get_server_public_key: false, ..tcp(&server) };
    assert!(matches!(Client::connect(&without_key), Err(ClientError::Authentication(_))));
    whole_client(&server);
    // The account is cached now, and the scramble is enough.
    Client::connect(&without_key).unwrap_or_else(|error| panic!("{error}")).quit();

    let mut local = Client::connect(&ConnectOptions::unix(server.socket()).user(USER, USER)).unwrap();
    let stored = local.query("SELECT authentication_string FROM mysql.user WHERE user = 'kit'").unwrap();
    let stored = stored.rows[0][0].clone().unwrap();
    assert!(protocol::auth::caching_sha2::verify_password(USER.as_bytes(), &stored));
    assert!(!protocol::auth::caching_sha2::verify_password(b"wrong", &stored));
}

#[test]
fn an_interrupted_read_ends() {
    if !testkit::available("an_interrupted_read_ends", &[Flavor::MariaDb]) {
        return;
    }
    let server = start(Flavor::MariaDb);
    let mut client = Client::connect(&tcp(&server)).unwrap();
    client.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
    client.send_query("SELECT SLEEP(600)").unwrap();
    assert!(client.read_packet().unwrap_err().is_timeout());
    client.set_read_timeout(None).unwrap();
    client.interrupter().unwrap().interrupt();
    assert!(!client.read_packet().unwrap_err().is_timeout());
}
