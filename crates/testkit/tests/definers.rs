//! Tests of accounts that objects name as their definer: which accounts may make and drop such
//! accounts, and which messages the client gets. A real MySQL gets the same statements and must
//! answer the same.

use bench::instance::Settings;
use protocol::client::{Client, ClientError};
use testkit::Server;
use testkit::server::same_as_mysql;

const SETUP: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (a INT)",
    "CREATE USER changer",
    "GRANT CREATE USER, SYSTEM_USER, SET_ANY_DEFINER ON *.* TO changer",
    "CREATE USER allowed",
    "GRANT CREATE USER, SYSTEM_USER, ALLOW_NONEXISTENT_DEFINER ON *.* TO allowed",
    "CREATE USER nobody",
    "CREATE USER of_roles",
    "GRANT CREATE ROLE, DROP ROLE ON *.* TO of_roles",
    "CREATE USER of_rows",
    "GRANT INSERT, UPDATE, DELETE ON mysql.* TO of_rows",
    "CREATE USER d1, d2, d3, d4, d5, d6, free",
    "CREATE ROLE ro",
    "CREATE DEFINER = d1 PROCEDURE d.p() SELECT 1",
    "CREATE DEFINER = d2 VIEW d.v AS SELECT 1 AS a",
    "CREATE DEFINER = d3 TRIGGER d.tr BEFORE INSERT ON d.t FOR EACH ROW SET @a = 1",
    "CREATE DEFINER = d4 EVENT d.e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
    "CREATE DEFINER = d5 FUNCTION d.f() RETURNS INT DETERMINISTIC RETURN 1",
    "CREATE DEFINER = d6 VIEW d.w AS SELECT 1 AS a",
    "CREATE DEFINER = d6 EVENT d.x ON SCHEDULE EVERY 1 DAY DO SELECT 1",
    "CREATE DEFINER = d6 PROCEDURE d.q() SELECT 1",
    "CREATE DEFINER = d6 TRIGGER d.ts BEFORE DELETE ON d.t FOR EACH ROW SET @a = 1",
];

/// The statements, each with the account that runs it.
const STATEMENTS: &[(&str, &str)] = &[
    ("nobody", "DROP USER d1"),
    ("of_roles", "DROP USER d1"),
    ("of_roles", "CREATE USER d1"),
    ("of_roles", "RENAME USER d1 TO d9"),
    ("of_roles", "CREATE ROLE d1"),
    ("of_roles", "DROP ROLE d1"),
    ("of_rows", "DROP USER d1"),
    ("of_rows", "CREATE USER d1"),
    ("of_rows", "RENAME USER d1 TO d9"),
    ("of_rows", "CREATE ROLE d1"),
    ("of_rows", "DROP ROLE d1"),
    ("changer", "DROP USER d1"),
    ("changer", "DROP USER d2"),
    ("changer", "DROP USER d3"),
    ("changer", "DROP USER d4"),
    ("changer", "DROP USER d5"),
    ("changer", "DROP USER d6"),
    ("changer", "DROP USER IF EXISTS d1"),
    ("changer", "DROP USER free, d1"),
    ("changer", "RENAME USER d1 TO d9"),
    ("changer", "RENAME USER nope TO d1"),
    ("changer", "RENAME USER free TO d4"),
    ("changer", "CREATE USER d1"),
    ("changer", "DROP ROLE d1"),
    ("changer", "ALTER USER d1 ACCOUNT UNLOCK"),
    ("changer", "DROP USER nope"),
    ("allowed", "RENAME USER d1 TO d9"),
    ("allowed", "RENAME USER d9 TO d1"),
    ("allowed", "DROP USER d1"),
    ("allowed", "DROP USER d3, d4"),
    ("allowed", "DROP USER d6"),
    ("changer", "CREATE USER d1"),
    ("changer", "CREATE USER IF NOT EXISTS d1"),
    ("changer", "CREATE ROLE d1"),
    ("changer", "CREATE USER fresh, d1"),
    ("changer", "RENAME USER free TO d3"),
    ("changer", "CREATE USER d1@localhost"),
    ("allowed", "CREATE USER d1"),
    ("allowed", "CREATE USER IF NOT EXISTS d3"),
    ("allowed", "CREATE ROLE d4"),
    ("allowed", "CREATE USER d2"),
    ("allowed", "DROP USER free"),
];

fn connect(server: &Server, user: &str) -> Client {
    Client::connect(&server.connect_options().user(user, "")).unwrap_or_else(|e| panic!("{user}: {e}"))
}

fn answer(client: &mut Client, statement: &str) -> String {
    let said = match client.query(statement) {
        Ok(_) => "done".to_owned(),
        Err(ClientError::Server(e)) => format!("{} {}", e.code, e.message),
        Err(e) => panic!("{statement}: {e}"),
    };
    let warnings = client.query("SHOW WARNINGS").expect("the connection is still there");
    let line = |row: usize| {
        let cell = |at| warnings.cell(row, at).unwrap_or_default();
        format!("\n    {} {} {}", cell(0), cell(1), cell(2))
    };
    said + &(0..warnings.rows.len()).map(line).collect::<String>()
}

#[test]
fn a_definer_goes_and_comes_with_a_privilege_only() {
    let answers = same_as_mysql("definers", &Settings::default(), |server| {
        SETUP.iter().for_each(|statement| drop(server.run(statement)));
        let mut clients =
            ["nobody", "of_roles", "of_rows", "changer", "allowed"].map(|user| (user, connect(server, user)));
        let play = |(user, statement): &(&str, &str)| {
            let (_, client) = clients.iter_mut().find(|(name, _)| name == user).expect("one of these");
            format!(
                "{user}: {statement}: {}",
                answer(client, statement).replace("@'localhost'", "@'127.0.0.1'")
            )
        };
        let mut lines: Vec<String> = STATEMENTS.iter().map(play).collect();
        lines.extend(server.rows("SELECT user, host FROM mysql.user WHERE user LIKE 'd_' ORDER BY 1, 2"));
        lines
    });
    let refused = "changer: DROP USER d4: 4006 Operation DROP USER failed for 'd4'@'%' as it is referenced as a definer \
                   account in an event.";
    assert!(answers.iter().any(|answer| answer.starts_with(refused)), "{answers:#?}");
}
