//! Tests of privileges that change while a session runs: a prepared statement is checked again when
//! it is executed, and accounts of the server itself write where others only read.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError};
use testkit::{Server, available};

/// The answers of a server, in order.
type Told = Vec<String>;

fn answer(client: &mut Client, text: &str) -> String {
    match client.query(text) {
        Ok(result) => format!("{text}: {} rows", result.rows.len()),
        Err(ClientError::Server(error)) => format!("{text}: {}", error.code),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn connect(server: &Server, user: &str) -> Client {
    Client::connect(&server.connect_options().user(user, ""))
        .unwrap_or_else(|error| panic!("{user}: {error}"))
}

fn play(flavor: Flavor) -> Told {
    let server = Server::start(flavor, &Settings::default());
    let mut admin = server.connect();
    let mut run = |text: &str| {
        admin.query(text).unwrap_or_else(|error| panic!("{flavor}: {text}: {error}"));
    };
    for text in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO d.t VALUES (1, 1)",
        "CREATE USER reader",
        "GRANT SELECT, UPDATE ON d.t TO reader",
        "CREATE USER writer",
        "GRANT ALL ON d.* TO writer",
        "CREATE USER connected",
        "GRANT ALL ON d.* TO connected",
        "GRANT CONNECTION_ADMIN ON *.* TO connected",
        "CREATE USER superior",
        "GRANT ALL ON d.* TO superior",
        "GRANT SUPER ON *.* TO superior",
    ] {
        run(text);
    }
    let mut told = Told::new();
    let mut reader = connect(&server, "reader");
    told.push(answer(&mut reader, "PREPARE s FROM 'SELECT * FROM d.t WHERE id = 1'"));
    told.push(answer(&mut reader, "PREPARE u FROM 'UPDATE d.t SET v = 3 WHERE id = 1'"));
    let binary = reader.prepare("SELECT v FROM d.t WHERE id = 1").expect("SELECT was granted");
    let ask = |reader: &mut Client, told: &mut Told| {
        // The text runs often enough for its plan to be kept.
        for _ in 0..4 {
            told.push(answer(reader, "SELECT * FROM d.t WHERE id = 1"));
        }
        told.push(answer(reader, "EXECUTE s"));
        told.push(answer(reader, "EXECUTE u"));
        told.push(match reader.execute(&binary, &[]) {
            Ok(_) => "binary: allowed".to_owned(),
            Err(ClientError::Server(error)) => format!("binary: {}", error.code),
            Err(error) => panic!("{error}"),
        });
    };
    ask(&mut reader, &mut told);
    run("REVOKE SELECT ON d.t FROM reader");
    ask(&mut reader, &mut told);
    run("GRANT SELECT ON d.t TO reader");
    ask(&mut reader, &mut told);
    run("REVOKE SELECT, UPDATE ON d.t FROM reader");
    ask(&mut reader, &mut told);
    for mode in ["read_only", "super_read_only"] {
        run(&format!("SET GLOBAL {mode} = ON"));
        for user in ["writer", "connected", "superior"] {
            let mut client = connect(&server, user);
            for text in ["UPDATE d.t SET v = v + 1", "CREATE TABLE d.n (id INT)", "DROP TABLE IF EXISTS d.n"]
            {
                told.push(format!("{mode}, {user}: {}", answer(&mut client, text)));
            }
        }
    }
    run("SET GLOBAL read_only = OFF");
    told
}

#[test]
fn what_was_prepared_is_checked_again_when_privileges_change() {
    if available("what_was_prepared_is_checked_again_when_privileges_change", &[Flavor::MySql]) {
        assert_eq!(play(Flavor::Slipstream), play(Flavor::MySql));
    }
}
