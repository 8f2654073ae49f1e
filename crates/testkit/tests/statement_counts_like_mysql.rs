//! Tests of the counters `Com_...`: a real MySQL gets the same statements, and after each of them
//! the same counters have grown by the same numbers.

use bench::instance::Settings;
use protocol::client::Client;
use std::collections::BTreeMap;
use testkit::Server;
use testkit::server::same_as_mysql;

/// Statements of all kinds, in an order in which they succeed unless a comment says otherwise.
/// Where ` ;; ` stands between several, the counters are read before the first and after the last
/// of them.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE counted",
    "ALTER DATABASE counted CHARACTER SET utf8mb4",
    "USE counted",
    "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
    "CREATE TABLE u (id INT PRIMARY KEY, a INT)",
    "CREATE TEMPORARY TABLE x (id INT)",
    "CREATE TABLE v AS SELECT 1 AS one",
    "ALTER TABLE t ADD COLUMN b INT",
    "CREATE INDEX a ON t (a)",
    "CREATE UNIQUE INDEX b ON t (b)",
    "DROP INDEX b ON t",
    "INSERT INTO t VALUES (1, 1, 1)",
    // The same text but for its literals takes another way through the server.
    "INSERT INTO t VALUES (2, 2, 2)",
    "INSERT INTO t VALUES (3, 3, 3)",
    // A duplicate key is counted like any other statement.
    "INSERT INTO t VALUES (3, 3, 3)",
    "INSERT INTO t SET id = 4",
    "INSERT INTO u SELECT id, a FROM t",
    "INSERT INTO u TABLE v",
    "REPLACE INTO t VALUES (1, 1, 2)",
    "REPLACE INTO u SELECT id, a FROM t",
    "SELECT * FROM t",
    // This text is in the cache of plans.
    "SELECT * FROM t",
    "(SELECT 1) UNION (SELECT 2)",
    "/* a comment */ SELECT 1",
    "WITH c AS (SELECT 1) SELECT * FROM c",
    "VALUES ROW(1)",
    "TABLE t",
    "SELECT 1 INTO @x",
    // Neither a missing table nor a syntax error is the same as no statement: the first is counted.
    "SELECT * FROM missing",
    "SELEC 1",
    "",
    "UPDATE t SET a = 5 WHERE id = 1",
    "UPDATE t, u SET t.a = 6 WHERE t.id = u.id",
    "DELETE FROM t WHERE id = 1",
    "DELETE t FROM t JOIN u ON t.id = u.id WHERE t.id = 2",
    "DELETE FROM u USING u JOIN t ON t.id = u.id WHERE t.id = 3",
    "TRUNCATE u",
    "RENAME TABLE u TO w",
    "CREATE VIEW vt AS SELECT * FROM t",
    "CREATE OR REPLACE VIEW vt AS SELECT id FROM t",
    "ALTER VIEW vt AS SELECT a FROM t",
    "DROP VIEW vt",
    "CREATE TRIGGER g BEFORE INSERT ON w FOR EACH ROW SET NEW.a = 1",
    "INSERT INTO w VALUES (9, 9)",
    "DROP TRIGGER g",
    "CREATE TRIGGER g AFTER INSERT ON w FOR EACH ROW INSERT INTO v VALUES (NEW.id)",
    "INSERT INTO w VALUES (10, 9), (11, 9)",
    "CREATE PROCEDURE p(IN n INT) BEGIN DECLARE i INT DEFAULT 0; DECLARE r INT; \
     DECLARE c CURSOR FOR SELECT id FROM t; WHILE i < n DO SET i = i + 1; SELECT COUNT(*) INTO r FROM t; \
     INSERT INTO v VALUES (i); UPDATE v SET one = one + 1; END WHILE; OPEN c; CLOSE c; \
     DO 1; DELETE FROM v; END",
    "CALL p(3)",
    "CALL p(1)",
    "CREATE PROCEDURE q() CALL p(1)",
    "CALL q()",
    "ALTER PROCEDURE q COMMENT 'a'",
    "CREATE FUNCTION f() RETURNS INT DETERMINISTIC BEGIN DECLARE r INT; SELECT 1 INTO r; RETURN r; END",
    "SELECT f()",
    "ALTER FUNCTION f COMMENT 'a'",
    "SHOW CREATE PROCEDURE p",
    "SHOW CREATE FUNCTION f",
    "SHOW PROCEDURE STATUS LIKE 'p'",
    "SHOW FUNCTION STATUS LIKE 'f'",
    "CREATE PROCEDURE s() BEGIN DECLARE l INT; SET @p = 1; SET @p = 2, @q = 3; SET l = 4; END",
    "CALL s()",
    "CREATE PROCEDURE s2() BEGIN DECLARE l INT; SET l = 5, @p = 6; SET l = 7; END",
    "CALL s2()",
    "CREATE PROCEDURE s3() BEGIN DECLARE l INT; SET @p = 5, l = 6, @q = 7; END",
    "CALL s3()",
    "CREATE PROCEDURE s4() SET @p = 5, @@sort_buffer_size = 100000, @q = 7, @r = 8",
    "CALL s4()",
    "DROP PROCEDURE s",
    "DROP FUNCTION f",
    "DROP PROCEDURE q",
    "CREATE EVENT e ON SCHEDULE EVERY 1 YEAR DO SELECT 1",
    "ALTER EVENT e DISABLE",
    "SHOW CREATE EVENT e",
    "SHOW EVENTS",
    "DROP EVENT e",
    "PREPARE s FROM 'SELECT ?'",
    "SET @a = 1",
    "EXECUTE s USING @a",
    "EXECUTE s USING @a",
    "DEALLOCATE PREPARE s",
    "PREPARE s FROM 'INSERT INTO w SELECT 20, 1'",
    "EXECUTE s",
    "DROP PREPARE s",
    "EXECUTE missing",
    "PREPARE s FROM 'CREATE TABLE y (id INT)'",
    "EXECUTE s",
    "START TRANSACTION",
    "SAVEPOINT one",
    "ROLLBACK TO one",
    "RELEASE SAVEPOINT one",
    "COMMIT",
    "BEGIN",
    "ROLLBACK",
    // MySQL refuses SHOW between them.
    "XA START 'x' ;; XA END 'x' ;; XA PREPARE 'x' ;; XA ROLLBACK 'x'",
    "XA START 'y' ;; XA END 'y' ;; XA COMMIT 'y' ONE PHASE",
    "XA RECOVER",
    "SET autocommit = 1",
    "SET NAMES utf8mb4",
    "SET @b = 2, @c = 3",
    "LOCK TABLES t READ",
    "UNLOCK TABLES",
    "HANDLER t OPEN",
    "HANDLER t READ FIRST",
    "HANDLER t CLOSE",
    "DO 1",
    "EXPLAIN SELECT 1",
    "EXPLAIN UPDATE t SET a = 1",
    "EXPLAIN FORMAT=TREE SELECT 1",
    "DESCRIBE t",
    "ANALYZE TABLE t",
    "CHECK TABLE t",
    "CHECKSUM TABLE t",
    "OPTIMIZE TABLE t",
    "REPAIR TABLE t",
    "FLUSH TABLES",
    "FLUSH LOGS",
    "KILL QUERY 4000000",
    "CREATE USER u1@localhost IDENTIFIED BY 'a long password'",
    "ALTER USER u1@localhost ACCOUNT LOCK",
    "SET PASSWORD FOR u1@localhost = 'another password'",
    "GRANT SELECT ON counted.* TO u1@localhost",
    "REVOKE SELECT ON counted.* FROM u1@localhost",
    "REVOKE ALL PRIVILEGES, GRANT OPTION FROM u1@localhost",
    "CREATE ROLE r1",
    "GRANT r1 TO u1@localhost",
    "SET DEFAULT ROLE r1 TO u1@localhost",
    "ALTER USER u1@localhost DEFAULT ROLE NONE",
    "REVOKE r1 FROM u1@localhost",
    "SET ROLE NONE",
    "SHOW CREATE USER u1@localhost",
    "RENAME USER u1@localhost TO u2@localhost",
    "DROP USER u2@localhost",
    "DROP ROLE r1",
    "SIGNAL SQLSTATE '45000'",
    "GET DIAGNOSTICS @n = NUMBER",
    "SHOW DATABASES",
    "SHOW TABLES",
    "SHOW FULL TABLES",
    "SHOW OPEN TABLES",
    "SHOW TABLE STATUS",
    "SHOW COLUMNS FROM t",
    "SHOW FULL FIELDS FROM t",
    "SHOW INDEX FROM t",
    "SHOW KEYS FROM t",
    "SHOW CREATE TABLE t",
    "SHOW CREATE DATABASE counted",
    "SHOW TRIGGERS",
    "SHOW CREATE TRIGGER g",
    "SHOW VARIABLES LIKE 'version'",
    "SHOW GLOBAL VARIABLES LIKE 'version'",
    "SHOW GLOBAL STATUS LIKE 'Uptime'",
    "SHOW WARNINGS",
    "SHOW ERRORS",
    "SHOW COUNT(*) WARNINGS",
    "SHOW ENGINES",
    "SHOW STORAGE ENGINES",
    "SHOW COLLATION LIKE 'binary'",
    "SHOW CHARACTER SET LIKE 'binary'",
    "SHOW PROCESSLIST",
    "SHOW FULL PROCESSLIST",
    "SHOW GRANTS",
    "SHOW PRIVILEGES",
    "SHOW PLUGINS",
    "SHOW PROFILES",
    "SHOW BINARY LOGS",
    "SHOW BINARY LOG STATUS",
    "SHOW BINLOG EVENTS LIMIT 1",
    "SHOW REPLICAS",
    "SHOW REPLICA STATUS",
    "SHOW ENGINE INNODB STATUS",
    "HELP 'a word that is in no help'",
    "PURGE BINARY LOGS BEFORE '2001-01-01'",
    "RESET PERSIST",
    "STOP REPLICA",
    "DROP TABLE v",
    "DROP TABLE t, w",
    "DROP DATABASE counted",
];

/// The counters of commands of the protocol count those of all connections here, and MySQL's those
/// of the session.
fn is_of_commands(name: &str) -> bool {
    name.starts_with("Com_stmt_") || name == "Com_admin_commands"
}

fn counts(client: &mut Client) -> BTreeMap<String, i64> {
    let found = client.query("SHOW SESSION STATUS LIKE 'Com\\_%'").expect("SHOW STATUS is answered");
    let text = |cell: &Option<Vec<u8>>| String::from_utf8_lossy(cell.as_deref().unwrap_or(b"")).into_owned();
    let rows = found.rows.iter();
    rows.map(|row| (text(&row[0]), text(&row[1]).parse().expect("a counter is a number"))).collect()
}

/// Returns the text with the names of the counters that `run` raises and by how much. Reading the
/// counters is among them.
fn raised(client: &mut Client, text: &str, run: impl FnOnce(&mut Client)) -> String {
    let before = counts(client);
    run(client);
    let after = counts(client);
    assert_eq!(before.len(), after.len());
    let added = after.iter().map(|(name, now)| (name, now - before[name]));
    let added = added.filter(|(name, more)| *more != 0 && !is_of_commands(name));
    let list: Vec<String> = added.map(|(name, more)| format!("{name}+{more}")).collect();
    format!("{text}: {}", list.join(" "))
}

fn play_each(server: &Server) -> Vec<String> {
    let mut client = server.connect();
    let one = |text: &&str| {
        raised(&mut client, text, |client| {
            for one in text.split(" ;; ") {
                // Some are refused, and counted all the same.
                let _refused = client.query(one);
            }
        })
    };
    STATEMENTS.iter().map(one).collect()
}

#[test]
fn each_statement_raises_the_counters_that_it_raises_in_mysql() {
    let test = "statement_counts_like_mysql::each_statement_raises_the_counters_that_it_raises_in_mysql";
    let lines = same_as_mysql(test, &Settings::default(), play_each);
    let counted = lines.iter().find(|line| line.starts_with("INSERT INTO u SELECT")).expect("it was run");
    assert!(counted.contains("Com_insert_select+1") && !counted.contains("Com_insert+"), "{counted}");
}

#[test]
fn prepared_statements_are_counted_by_the_kind_that_they_execute() {
    let test = "statement_counts_like_mysql::prepared_statements_are_counted_by_the_kind_that_they_execute";
    let texts =
        ["SELECT 1", "INSERT INTO counted.t SELECT 1", "CREATE TABLE counted.z (a INT)", "SHOW TABLES"];
    let lines = same_as_mysql(test, &Settings::default(), |server| {
        server.run("CREATE DATABASE counted");
        server.run("CREATE TABLE counted.t (a INT)");
        let mut client = server.connect();
        client.query("USE counted").expect("the schema is there");
        let one = |text: &&str| {
            raised(&mut client, text, |client| {
                let statement = client.prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
                for _ in 0..2 {
                    let _refused = client.execute(&statement, &[]);
                }
            })
        };
        texts.iter().map(one).collect()
    });
    assert!(lines[1].contains("Com_insert_select+2"), "{lines:?}");
}

#[test]
fn the_counters_have_the_names_of_mysql() {
    let test = "statement_counts_like_mysql::the_counters_have_the_names_of_mysql";
    let names = |server: &Server| counts(&mut server.connect()).into_keys().collect();
    let names = same_as_mysql(test, &Settings::default(), names);
    assert!(names.len() > 150, "{names:?}");
}

#[test]
fn ended_connections_and_flush_status_keep_the_counts_of_the_server() {
    let server = Server::start(bench::instance::Flavor::Slipstream, &Settings::default());
    let global = |client: &mut Client| -> i64 {
        let found = client.query("SHOW GLOBAL STATUS LIKE 'Com_savepoint'").expect("SHOW STATUS is answered");
        let cell = found.rows[0][1].clone().expect("a counter has a value");
        String::from_utf8_lossy(&cell).parse().expect("a counter is a number")
    };
    let mut reader = server.connect();
    let before = global(&mut reader);
    let mut other = server.connect();
    other.query("SAVEPOINT one").expect("it is allowed");
    assert_eq!(global(&mut reader), before + 1, "a connection that lives is counted");
    other.query("FLUSH STATUS").expect("it is allowed");
    assert_eq!(counts(&mut other)["Com_savepoint"], 0, "FLUSH STATUS resets the session's counters");
    assert_eq!(global(&mut reader), before + 1, "what FLUSH STATUS has reset is counted");
    other.query("SAVEPOINT one").expect("it is allowed");
    drop(other);
    assert_eq!(global(&mut reader), before + 2, "a connection that has ended is counted");
}
