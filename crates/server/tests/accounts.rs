//! Tests of accounts on a whole server: who gets in, what each account may do, and that everything
//! is there after a restart.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::command;
use testkit::Server;

fn options(server: &Server, user: &str, password: &str) -> ConnectOptions {
    ConnectOptions::tcp("127.0.0.1", server.port()).user(user, password)
}

fn connect(server: &Server, user: &str, password: &str) -> Result<Client, ClientError> {
    Client::connect(&options(server, user, password))
}

fn code<T: std::fmt::Debug>(result: Result<T, ClientError>) -> u16 {
    let error = result.expect_err("this must be refused");
    error.server_code().unwrap_or_else(|| panic!("not the server's error: {error}"))
}

#[test]
fn privileges_count_at_every_level_and_survive_a_restart() {
    let mut server = Server::start(Flavor::Slipstream, &Settings::default());
    for statement in [
        "CREATE DATABASE app",
        "CREATE TABLE app.t (id INT PRIMARY KEY)",
        "CREATE TABLE app.u (id INT PRIMARY KEY)",
        "CREATE USER reader IDENTIFIED BY 'r', writer@'%' IDENTIFIED WITH mysql_native_password BY 'w'",
        "GRANT SELECT ON app.t TO reader",
        "GRANT ALL ON app.* TO writer@'%'",
    ] {
        server.run(statement);
    }
    for round in 0..2 {
        let mut reader = connect(&server, "reader", "r").unwrap();
        reader.query("SELECT * FROM app.t").unwrap();
        assert_eq!(code(reader.query("SELECT * FROM app.u")), 1142);
        assert_eq!(code(reader.query("INSERT INTO app.t VALUES (1)")), 1142);
        assert_eq!(code(reader.query("CREATE USER x")), 1227);
        assert_eq!(code(reader.query("SET GLOBAL max_connections = 5")), 1227);
        assert_eq!(code(reader.query("SHUTDOWN")), 1227);
        assert_eq!(code(reader.query("SHOW BINARY LOGS")), 1227);
        let mut writer = connect(&server, "writer", "w").unwrap();
        writer.query(&format!("INSERT INTO app.t VALUES ({round})")).unwrap();
        let grants = writer.query("SHOW GRANTS").unwrap();
        assert_eq!(grants.cell(1, 0).as_deref(), Some("GRANT ALL PRIVILEGES ON `app`.* TO `writer`@`%`"));
        assert_eq!(code(connect(&server, "writer", "W")), 1045);
        if round == 0 {
            server.shut_down();
            server.come_back();
        }
    }
}

#[test]
fn what_is_changed_counts_at_once() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE app");
    server.run("CREATE TABLE app.t (id INT PRIMARY KEY)");
    server.run("CREATE USER a IDENTIFIED BY 'one'");
    server.run("GRANT SELECT ON app.* TO a");
    let mut a = connect(&server, "a", "one").unwrap();
    a.query("SELECT * FROM app.t").unwrap();
    server.run("REVOKE SELECT ON app.* FROM a");
    assert_eq!(code(a.query("SELECT * FROM app.t")), 1142);
    a.query("SET PASSWORD = 'two'").unwrap();
    assert_eq!(code(connect(&server, "a", "one")), 1045);
    connect(&server, "a", "two").unwrap();
    server.run("ALTER USER a ACCOUNT LOCK");
    assert_eq!(code(connect(&server, "a", "two")), 3118);
    server.run("ALTER USER a ACCOUNT UNLOCK");
    server.run("DROP USER a");
    assert_eq!(code(connect(&server, "a", "two")), 1045);
    let mut root = server.connect();
    assert_eq!(code(root.query("DROP USER a")), 1396);
    root.query("DROP USER IF EXISTS a").unwrap();
    assert_eq!(code(root.query("GRANT SELECT ON *.* TO a")), 1410);
}

#[test]
fn a_connection_changes_its_user_and_is_reset() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE USER a IDENTIFIED WITH mysql_native_password BY ''");
    let mut session = server.connect();
    session.query("SET @x = 5").unwrap();
    session.command(command::RESET_CONNECTION, &[]).unwrap();
    assert_eq!(session.query("SELECT @x").unwrap().cell(0, 0), None);
    session.query("SET @x = 6").unwrap();
    session.change_user("a", "", "").unwrap();
    let who = session.query("SELECT CURRENT_USER(), @x").unwrap();
    assert_eq!((who.cell(0, 0).as_deref(), who.cell(0, 1)), (Some("a@%"), None));
}

#[test]
fn read_only_is_for_those_who_may_not_override_it() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE app");
    server.run("CREATE TABLE app.t (id INT PRIMARY KEY)");
    server.run("CREATE USER a IDENTIFIED BY ''");
    server.run("GRANT ALL ON app.* TO a");
    let mut a = connect(&server, "a", "").unwrap();
    let mut root = server.connect();
    root.query("SET GLOBAL read_only = ON").unwrap();
    assert_eq!(code(a.query("INSERT INTO app.t VALUES (1)")), 1290);
    a.query("SELECT * FROM app.t").unwrap();
    root.query("INSERT INTO app.t VALUES (2)").unwrap();
    root.query("SET GLOBAL super_read_only = ON").unwrap();
    assert_eq!(code(root.query("INSERT INTO app.t VALUES (3)")), 1290);
    root.query("SET GLOBAL read_only = OFF").unwrap();
    assert_eq!(root.query("SELECT @@super_read_only").unwrap().cell(0, 0).as_deref(), Some("0"));
    a.query("INSERT INTO app.t VALUES (4)").unwrap();
}

/// The time limit is for statements of clients. It would make FLUSH PRIVILEGES fail if the server's
/// statements that read its own tables took longer, and two of them at once would share one
/// deadline.
#[test]
fn no_time_limit_counts_for_statements_of_the_server_itself() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    client.query("SET GLOBAL max_execution_time = 600000").unwrap();
    client.query("FLUSH PRIVILEGES").unwrap();
    let limited = client.query("SHOW GLOBAL STATUS LIKE 'Max_execution_time_set'").unwrap();
    assert_eq!(limited.cell(0, 1).as_deref(), Some("0"));
}
