//! The literals of a view's query have the character set and the collation of the session that made
//! the view, whatever the session that reads it has.

use bench::instance::Settings;
use testkit::Server;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

const STATEMENTS: &[&str] = &[
    "CREATE DATABASE made",
    "USE made",
    "SET NAMES utf8mb4",
    "CREATE TABLE t (a VARCHAR(10))",
    "INSERT INTO t VALUES ('a'), ('\u{e4}'), ('\u{65e5}')",
    "CREATE VIEW literals AS SELECT '\u{65e5}' x, IF(1 = 2, 'a', '\u{e4}') y, CONCAT('\u{65e5}', 1) z, \
     _latin1 '\u{e4}' i",
    "CREATE VIEW of_rows AS SELECT a FROM t WHERE a = '\u{65e5}' OR a = 'A'",
    "CREATE VIEW outer_view AS SELECT x, 'b' own FROM literals",
    "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
    "CREATE VIEW of_bytes AS SELECT 'a' = 'A' equal, a FROM t WHERE a > 'b' AND 'a' <> 'A'",
];

const READINGS: &[&str] = &[
    "SELECT HEX(x), HEX(y), HEX(z), HEX(i) FROM literals",
    "SELECT COLLATION(x), COLLATION(y), COLLATION(z), COLLATION(i) FROM literals",
    "SELECT HEX(a) FROM of_rows ORDER BY a",
    "SELECT HEX(x), COLLATION(own) FROM outer_view",
    "SELECT equal, HEX(a) FROM of_bytes ORDER BY a",
    "SELECT table_name, column_name, column_type, collation_name FROM information_schema.columns \
     WHERE table_schema = 'made' ORDER BY table_name, ordinal_position",
];

#[test]
fn literals_of_a_view_are_those_of_the_session_that_made_it() {
    let test = "views_like_mysql::literals_of_a_view_are_those_of_the_session_that_made_it";
    same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        for sql in STATEMENTS {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let mut lines = Vec::new();
        for names in ["utf8mb4", "utf8mb4 COLLATE utf8mb4_bin", "latin1", "utf8mb3", "cp1251"] {
            client.query(&format!("SET NAMES {names}")).unwrap();
            lines.extend(READINGS.iter().map(|sql| format!("{names} {sql}: {:?}", answer(&mut client, sql))));
        }
        lines
    });
}
