//! What replication must carry: statements that a test runs on a source, and queries whose answers
//! must then be the same at both ends.

use crate::server::{Replica, Server};

/// Statements that make tables with columns of many types, with a key and without, and change their
/// rows and their definitions.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE repertoire",
    "CREATE TABLE repertoire.numbers (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, t TINYINT, tu TINYINT UNSIGNED, \
     s SMALLINT, su SMALLINT UNSIGNED, m MEDIUMINT, mu MEDIUMINT UNSIGNED, i INT, iu INT UNSIGNED, b BIGINT, \
     bu BIGINT UNSIGNED, d DECIMAL(20,6), f FLOAT, g DOUBLE)",
    "INSERT INTO repertoire.numbers (t, tu, s, su, m, mu, i, iu, b, bu, d, f, g) VALUES \
     (-128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, \
      18446744073709551615, -12345678901234.567891, -0.5, 1.25e100), \
     (127, 0, 32767, 0, 8388607, 0, 2147483647, 0, 9223372036854775807, 0, 0.000001, 16777216, -0.0), \
     (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "UPDATE repertoire.numbers SET d = d * 2, i = i + 1 WHERE t < 0",
    "CREATE TABLE repertoire.texts (code VARCHAR(20) NOT NULL PRIMARY KEY, c CHAR(10), v VARCHAR(300), t TEXT, \
     mt MEDIUMTEXT, bin VARBINARY(16), bl BLOB, mb MEDIUMBLOB) DEFAULT CHARSET = utf8mb4",
    "INSERT INTO repertoire.texts VALUES ('a', 'pad', REPEAT('v', 300), 'some text', REPEAT('m', 70000), \
     X'00FF10', X'0001FE', REPEAT('b', 200000)), ('ß', 'ünï', 'čeština', '', NULL, '', NULL, NULL)",
    "UPDATE repertoire.texts SET t = REPEAT('t', 30000), mb = NULL WHERE code = 'a'",
    "UPDATE repertoire.texts SET code = 'moved' WHERE code = 'a'",
    "CREATE TABLE repertoire.times (id INT NOT NULL PRIMARY KEY, d DATE, t TIME, t6 TIME(6), dt DATETIME, \
     dt3 DATETIME(3), ts TIMESTAMP NULL, ts6 TIMESTAMP(6) NULL, y YEAR)",
    "INSERT INTO repertoire.times VALUES (1, '2026-11-21', '-838:59:59', '12:34:56.789012', '9999-12-31 23:59:59', \
     '1000-01-01 00:00:00.125', '2001-02-03 04:05:06', '2037-12-31 23:59:59.999999', 2155), \
     (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "UPDATE repertoire.times SET dt = '2020-02-29 00:00:00' WHERE id = 2",
    // This table has no key, and two of its rows are the same.
    "CREATE TABLE repertoire.keyless (a INT, b VARCHAR(20))",
    "INSERT INTO repertoire.keyless VALUES (1, 'one'), (2, 'two'), (2, 'two'), (3, NULL)",
    "UPDATE repertoire.keyless SET b = 'zwei' WHERE a = 2 LIMIT 1",
    "DELETE FROM repertoire.keyless WHERE a = 3",
    // These change one row at a time and many rows at once, move keys, and use secondary keys.
    "CREATE TABLE repertoire.items (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, \
     price DECIMAL(10,2) NOT NULL DEFAULT 0.00, UNIQUE KEY by_name (name), KEY by_price (price, name))",
    "INSERT INTO repertoire.items (name, price) VALUES ('bolt', 0.10), ('nut', 0.05), ('screw', 0.20), ('gear', 9.99)",
    "UPDATE repertoire.items SET price = price + 1 WHERE price < 1",
    "UPDATE repertoire.items SET id = id + 100 WHERE name = 'gear'",
    "DELETE FROM repertoire.items WHERE name = 'nut'",
    "INSERT INTO repertoire.items (name) VALUES ('washer')",
    // Changes that are rolled back must not arrive.
    "BEGIN",
    "INSERT INTO repertoire.items (name, price) VALUES ('ghost', 1)",
    "ROLLBACK",
    "BEGIN",
    "INSERT INTO repertoire.items (name, price) VALUES ('kept', 2)",
    "SAVEPOINT here",
    "INSERT INTO repertoire.items (name, price) VALUES ('dropped', 3)",
    "ROLLBACK TO SAVEPOINT here",
    "UPDATE repertoire.numbers SET g = 3.5 WHERE id = 3",
    "COMMIT",
    // These change definitions.
    "ALTER TABLE repertoire.items ADD COLUMN note VARCHAR(50) NULL",
    "UPDATE repertoire.items SET note = CONCAT('about ', name) WHERE price > 1",
    "ALTER TABLE repertoire.items ADD INDEX by_note (note)",
    "ALTER TABLE repertoire.items DROP INDEX by_price",
    "CREATE TABLE repertoire.gone (id INT PRIMARY KEY)",
    "INSERT INTO repertoire.gone VALUES (1)",
    "DROP TABLE repertoire.gone",
    "CREATE TABLE repertoire.emptied (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v INT)",
    "INSERT INTO repertoire.emptied (v) VALUES (1), (2)",
    "TRUNCATE TABLE repertoire.emptied",
    "INSERT INTO repertoire.emptied (v) VALUES (3)",
    "CREATE TABLE repertoire.old_name (id INT PRIMARY KEY)",
    "INSERT INTO repertoire.old_name VALUES (7)",
    "RENAME TABLE repertoire.old_name TO repertoire.new_name",
    "CREATE DATABASE brief",
    "CREATE TABLE brief.t (id INT PRIMARY KEY)",
    "DROP DATABASE brief",
];

/// Queries whose answers show the state that [`STATEMENTS`] leave behind.
const QUERIES: &[&str] = &[
    "SHOW TABLES FROM repertoire",
    "SELECT * FROM repertoire.numbers ORDER BY id",
    "SELECT * FROM repertoire.texts ORDER BY code",
    "SELECT * FROM repertoire.times ORDER BY id",
    "SELECT a, b FROM repertoire.keyless ORDER BY a, b",
    "SELECT * FROM repertoire.items ORDER BY id",
    "SELECT id FROM repertoire.items WHERE note = 'about gear'",
    "SELECT * FROM repertoire.emptied",
    "SELECT * FROM repertoire.new_name",
    "SHOW DATABASES LIKE 'brief'",
];

/// Runs the repertoire on a source, in one session. The time zone is UTC, so that TIMESTAMP values
/// mean the same everywhere.
pub fn perform(source: &Server) {
    let mut session = source.connect();
    for statement in ["SET time_zone = '+00:00'", "SET NAMES utf8mb4"].iter().chain(STATEMENTS) {
        session.query(statement).unwrap_or_else(|error| panic!("{}: {statement}: {error}", source.flavor()));
    }
}

/// Compares what the repertoire has left behind at both ends. The replica must have caught up.
pub fn compare(source: &Server, replica: &Replica) {
    let (mut theirs, mut ours) = (source.connect(), replica.connect());
    for session in [&mut theirs, &mut ours] {
        session.query("SET time_zone = '+00:00'").expect("a time zone that is a number");
    }
    for query in QUERIES {
        let expected = theirs.query(query).unwrap_or_else(|error| panic!("source: {query}: {error}"));
        let found = ours.query(query).unwrap_or_else(|error| panic!("replica: {query}: {error}"));
        assert!(!expected.rows.is_empty() || query.starts_with("SHOW DATABASES"), "{query} tells nothing");
        assert_eq!(found.rows, expected.rows, "{query}");
    }
}
