//! Tests that foreign keys to columns without a unique key are what they are in MySQL, where
//! `restrict_fk_on_non_standard_key` decides.

use bench::instance::Settings;
use protocol::client::{Client, ClientError};
use testkit::answers::same_answers;
use testkit::lines::lines_of;
use testkit::server::same_as_mysql;

const STATEMENTS: &[&str] = &[
    "SELECT @@session.restrict_fk_on_non_standard_key, @@global.restrict_fk_on_non_standard_key",
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE p (a INT, b INT, c INT NOT NULL, e INT, PRIMARY KEY (a, b), KEY (c), UNIQUE KEY u (b, c))",
    "CREATE TABLE c1 (x INT, FOREIGN KEY (x) REFERENCES p (c))",
    "CREATE TABLE c2 (x INT, FOREIGN KEY (x) REFERENCES p (a))",
    "SET restrict_fk_on_non_standard_key = 0",
    "SHOW WARNINGS",
    "SHOW VARIABLES LIKE 'restrict_fk%'",
    "CREATE TABLE c1 (x INT, FOREIGN KEY (x) REFERENCES p (c))",
    "CREATE TABLE c2 (x INT, FOREIGN KEY (x) REFERENCES p (a))",
    "CREATE TABLE c3 (x INT, FOREIGN KEY (x) REFERENCES p (b))",
    "CREATE TABLE c4 (x INT, FOREIGN KEY (x) REFERENCES p (e))",
    "SET restrict_fk_on_non_standard_key = 1",
    "CREATE TABLE c5 (x INT, FOREIGN KEY (x) REFERENCES p (c))",
    "ALTER TABLE p DROP INDEX c",
    "ALTER TABLE p DROP PRIMARY KEY",
    "INSERT INTO p VALUES (1, 1, 1, 1), (1, 2, 1, 1)",
    "INSERT INTO c1 VALUES (1)",
    "INSERT INTO c1 VALUES (2)",
    "DELETE FROM p WHERE b = 2",
    "SELECT * FROM p",
    "INSERT INTO c2 VALUES (1)",
    "DELETE FROM p",
    "SET SESSION restrict_fk_on_non_standard_key = 2",
    "SET GLOBAL restrict_fk_on_non_standard_key = OFF",
    "SELECT @@session.restrict_fk_on_non_standard_key, @@global.restrict_fk_on_non_standard_key",
    "SET GLOBAL restrict_fk_on_non_standard_key = DEFAULT",
];

#[test]
fn keys_that_are_not_unique_are_referred_to_where_that_is_allowed() {
    let answers = same_as_mysql("keys_not_unique", &Settings::default(), |server| {
        let mut client = server.connect();
        let mut answer = |sql: &&str| match client.query(sql) {
            Ok(rows) => format!("{sql}: {}", lines_of(&rows).join(" | ")),
            Err(ClientError::Server(error)) => format!("{sql}: {} {}", error.code, error.message),
            Err(error) => panic!("{sql}: {error}"),
        };
        let mut answers: Vec<String> = STATEMENTS.iter().map(&mut answer).collect();
        server.run("CREATE USER nobody");
        let mut nobody = Client::connect(&server.connect_options().user("nobody", "")).expect("a session");
        for scope in ["SESSION", "GLOBAL"] {
            let set = nobody.query(&format!("SET {scope} restrict_fk_on_non_standard_key = OFF"));
            answers.push(format!("{scope}: {:?}", set.err().and_then(|error| error.server_code())));
        }
        answers
    });
    assert!(answers.iter().any(|answer| answer.contains(": 6125 Failed to add")), "{answers:#?}");
}

#[test]
fn actions_change_no_column_of_a_check_constraint() {
    let answers = same_answers(
        "foreign_keys_like_mysql::actions_change_no_column_of_a_check_constraint",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE p (a INT PRIMARY KEY)",
            "CREATE TABLE c1 (a INT, CHECK (a > 0), FOREIGN KEY (a) REFERENCES p (a) ON DELETE CASCADE)",
            "CREATE TABLE c2 (a INT, CHECK (a > 0), FOREIGN KEY (a) REFERENCES p (a) ON DELETE SET NULL)",
            "CREATE TABLE c3 (a INT, b INT, FOREIGN KEY (a) REFERENCES p (a) ON UPDATE CASCADE)",
            "ALTER TABLE c3 ADD CHECK (a > 0)",
            "ALTER TABLE c3 ADD CHECK (b > 0)",
            "CREATE TABLE c4 (a INT, CHECK (a > 0))",
            "ALTER TABLE c4 ADD FOREIGN KEY (a) REFERENCES p (a) ON UPDATE CASCADE",
            "ALTER TABLE c4 ADD b INT, ADD FOREIGN KEY (b) REFERENCES p (a) ON UPDATE SET NULL, \
             ADD CONSTRAINT foo CHECK (b > a)",
            "CREATE TABLE c5 (a INT, CHECK (a > 0), FOREIGN KEY (a) REFERENCES p (a) ON UPDATE NO ACTION)",
        ],
    );
    assert!(answers[4].contains("3823"), "{answers:#?}");
}
