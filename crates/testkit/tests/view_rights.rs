//! Tests of the rights with which a view reads: its definer's, or with SQL SECURITY INVOKER the
//! reader's. The tests also ask which rights making and showing views needs, and what prepared
//! statements answer about views whose definer's rights change. A real MySQL gets the same
//! statements and must answer the same.

use bench::instance::Settings;
use protocol::client::{Client, ClientError};
use testkit::Server;
use testkit::server::same_as_mysql;

const SETUP: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (a INT PRIMARY KEY, b INT, c INT)",
    "INSERT INTO d.t VALUES (1, 2, 3)",
    "CREATE TABLE d.u (a INT PRIMARY KEY, b INT)",
    "INSERT INTO d.u VALUES (1, 5)",
    "CREATE USER definer, reader, absent, superior, maker",
    "CREATE VIEW d.of_root AS SELECT a, b FROM d.t",
    "CREATE SQL SECURITY INVOKER VIEW d.of_reader AS SELECT a, b FROM d.t",
    "CREATE DEFINER = definer VIEW d.of_definer AS SELECT a, b FROM d.t",
    "CREATE DEFINER = absent VIEW d.of_absent AS SELECT a, b FROM d.t",
    "CREATE DEFINER = definer VIEW d.nested AS SELECT a FROM d.of_root",
    "CREATE SQL SECURITY INVOKER VIEW d.nested_of_reader AS SELECT a FROM d.of_root",
    "CREATE VIEW d.subqueries AS SELECT a, (SELECT MAX(b) FROM d.u) AS m FROM d.t WHERE a IN (SELECT a FROM d.u)",
    "CREATE VIEW d.who AS SELECT CURRENT_USER() AS account",
    "CREATE SQL SECURITY INVOKER VIEW d.who_reads AS SELECT CURRENT_USER() AS account",
    "DROP USER absent",
    "GRANT SELECT ON d.of_reader TO reader",
    "GRANT SELECT ON d.of_definer TO reader",
    "GRANT SELECT ON d.of_absent TO reader",
    "GRANT SELECT ON d.nested TO reader",
    "GRANT SELECT ON d.nested_of_reader TO reader",
    "GRANT SELECT ON d.subqueries TO reader",
    "GRANT SELECT ON d.who TO reader",
    "GRANT SELECT ON d.who_reads TO reader",
    "GRANT SUPER ON *.* TO superior",
    "GRANT SELECT ON d.* TO superior",
    "GRANT CREATE VIEW ON d.* TO maker",
    "GRANT SELECT (a) ON d.t TO maker",
];

/// The statements, each with the account that runs it.
const STATEMENTS: &[(&str, &str)] = &[
    ("reader", "SELECT * FROM d.of_root"),
    ("root", "GRANT SELECT ON d.of_root TO reader"),
    ("reader", "SELECT * FROM d.of_root"),
    ("reader", "SELECT * FROM d.of_reader"),
    ("reader", "SELECT * FROM d.of_definer"),
    ("reader", "SELECT * FROM d.of_absent"),
    ("reader", "SELECT * FROM d.nested"),
    ("reader", "SELECT * FROM d.nested_of_reader"),
    ("reader", "SELECT * FROM d.subqueries"),
    ("reader", "SELECT * FROM d.who"),
    ("reader", "SELECT * FROM d.who_reads"),
    ("reader", "SELECT * FROM d.t"),
    ("superior", "SELECT * FROM d.of_absent"),
    ("root", "SELECT * FROM d.of_absent"),
    ("root", "SELECT * FROM d.of_definer"),
    ("root", "SELECT * FROM d.nested"),
    ("root", "CREATE VIEW d.unreadable AS SELECT a FROM d.of_definer"),
    ("root", "CREATE VIEW d.unreadable AS SELECT a FROM d.of_absent"),
    ("reader", "SHOW COLUMNS FROM d.of_definer"),
    ("reader", "SHOW COLUMNS FROM d.of_reader"),
    ("reader", "SHOW COLUMNS FROM d.of_absent"),
    ("reader", "SHOW CREATE VIEW d.of_root"),
    ("reader", "EXPLAIN FORMAT = TRADITIONAL SELECT * FROM d.of_root"),
    ("root", "GRANT SHOW VIEW ON d.of_root TO reader"),
    ("reader", "SHOW CREATE VIEW d.of_root"),
    ("reader", "EXPLAIN FORMAT = TRADITIONAL SELECT * FROM d.of_root"),
    ("reader", "SELECT d.of_root.a FROM d.of_root JOIN d.u USING (a)"),
    // A prepared statement is run with the rights that the definer has at that time.
    ("root", "GRANT SELECT ON d.t TO definer"),
    ("reader", "PREPARE s FROM 'SELECT * FROM d.of_definer'"),
    ("reader", "EXECUTE s"),
    ("reader", "SELECT * FROM d.of_definer"),
    ("reader", "SELECT * FROM d.nested"),
    ("root", "GRANT SELECT ON d.of_root TO definer"),
    ("reader", "SELECT * FROM d.nested"),
    ("root", "REVOKE SELECT ON d.t FROM definer"),
    ("reader", "EXECUTE s"),
    ("reader", "SELECT * FROM d.of_definer"),
    // A definer's default roles count, other roles do not.
    ("root", "CREATE ROLE r"),
    ("root", "GRANT SELECT ON d.t TO r"),
    ("root", "GRANT r TO definer"),
    ("reader", "EXECUTE s"),
    ("root", "SET DEFAULT ROLE r TO definer"),
    ("reader", "EXECUTE s"),
    ("root", "ALTER USER definer ACCOUNT LOCK"),
    ("reader", "EXECUTE s"),
    ("root", "DROP ROLE r"),
    ("reader", "EXECUTE s"),
    ("root", "DROP USER definer"),
    ("reader", "EXECUTE s"),
    ("root", "SELECT * FROM d.of_definer"),
    // Privileges on columns of a view.
    ("root", "REVOKE SELECT ON d.of_root FROM reader"),
    ("root", "GRANT SELECT (a) ON d.of_root TO reader"),
    ("root", "GRANT SELECT (nope) ON d.of_root TO reader"),
    ("reader", "SELECT a FROM d.of_root"),
    ("reader", "SELECT b FROM d.of_root"),
    ("reader", "SELECT * FROM d.of_root"),
    // The privileges that an account needs to make a view.
    ("maker", "CREATE VIEW d.made AS SELECT a FROM d.t"),
    ("maker", "CREATE VIEW d.not_made AS SELECT b FROM d.t"),
    ("maker", "CREATE VIEW d.not_made AS SELECT nope FROM d.u"),
    ("maker", "CREATE VIEW d.not_made AS SELECT a FROM d.t WHERE a IN (SELECT a FROM d.u)"),
    ("root", "CREATE VIEW d.not_made AS SELECT nope FROM d.t"),
];

fn connect(server: &Server, user: &str) -> Client {
    Client::connect(&server.connect_options().user(user, "")).unwrap_or_else(|e| panic!("{user}: {e}"))
}

fn answer(client: &mut Client, statement: &str) -> String {
    match client.query(statement) {
        // The plan is not compared, because it differs.
        Ok(_) if statement.starts_with("EXPLAIN") => "explained".to_owned(),
        Ok(result) => {
            let cell = |cell: &Option<Vec<u8>>| match cell {
                Some(bytes) => bytes.escape_ascii().to_string(),
                None => "NULL".to_owned(),
            };
            let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join("|");
            result.rows.iter().map(row).collect::<Vec<_>>().join("; ")
        }
        Err(ClientError::Server(e)) => format!("{} {}", e.code, e.message),
        Err(e) => panic!("{statement}: {e}"),
    }
}

#[test]
fn a_view_reads_with_its_definers_rights() {
    let answers = same_as_mysql("view_rights", &Settings::default(), |server| {
        SETUP.iter().for_each(|statement| drop(server.run(statement)));
        let mut clients = ["root", "reader", "superior", "maker"].map(|user| (user, connect(server, user)));
        let play = |(user, statement): &(&str, &str)| {
            let (_, client) = clients.iter_mut().find(|(name, _)| name == user).expect("one of these");
            let said = answer(client, statement);
            format!("{user}: {statement}: {}", said.replace("@'localhost'", "@'127.0.0.1'"))
        };
        STATEMENTS.iter().map(play).collect()
    });
    let read = "reader: SELECT * FROM d.of_root: 1|2";
    assert!(answers.iter().any(|answer| answer == read), "{answers:#?}");
}
