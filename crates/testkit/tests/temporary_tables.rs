//! Tests of temporary tables: their answers compared with MySQL's, the rights that they need, what
//! becomes of large ones, and what a crash and the binary log leave of them.

use bench::instance::{Flavor, Settings};
use testkit::answers::{answer, same_answers};
use testkit::server::{flavor_under_test, same_as_mysql};
use testkit::{Server, available};

/// Statements that define temporary tables, and statements that show them.
const DEFINED: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE b (a INT PRIMARY KEY, c INT)",
    "INSERT INTO b VALUES (1, 1), (2, 2)",
    "CREATE TEMPORARY TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(10), UNIQUE KEY (b))",
    "SHOW CREATE TABLE t",
    "SHOW TABLES",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'd'",
    "SHOW TABLE STATUS LIKE 't'",
    "INSERT INTO t (b) VALUES ('x'), ('y')",
    "INSERT INTO t (b) VALUES ('x')",
    "SELECT LAST_INSERT_ID()",
    "RENAME TABLE t TO t2",
    "ALTER TABLE t RENAME t2",
    "SELECT * FROM t",
    "SHOW COLUMNS FROM t2",
    "DESCRIBE t2",
    "SHOW INDEX FROM t2",
    "CREATE TEMPORARY TABLE t2 (a INT)",
    "CREATE TEMPORARY TABLE IF NOT EXISTS t2 (a INT)",
    "CREATE TABLE t2 (z INT)",
    "SELECT * FROM t2",
    "DROP TABLE t2",
    "SELECT * FROM t2",
    "DROP TEMPORARY TABLE t2",
    "DROP TEMPORARY TABLE IF EXISTS t2",
    "DROP TABLE t2",
    "CREATE TEMPORARY TABLE f (a INT, FOREIGN KEY (a) REFERENCES b (a))",
    "CREATE TEMPORARY TABLE f (a INT) PARTITION BY HASH (a) PARTITIONS 2",
    "CREATE TEMPORARY TABLE b (a INT)",
    "SHOW CREATE TABLE b",
    "INSERT INTO b VALUES (7)",
    "SELECT * FROM b",
    "CREATE TABLE like_it LIKE b",
    "DROP TEMPORARY TABLE b",
    "SELECT * FROM b",
    "SHOW CREATE TABLE like_it",
    "CREATE TEMPORARY TABLE e (a INT, KEY (a)) ENGINE = MEMORY",
    "SHOW CREATE TABLE e",
    "CREATE TEMPORARY TABLE e2 LIKE b",
    "SHOW CREATE TABLE e2",
    "CREATE TEMPORARY TABLE e3 SELECT a, c + 1 AS d, 'x' AS s FROM b",
    "SHOW CREATE TABLE e3",
    "SELECT * FROM e3",
    "CREATE TEMPORARY TABLE b SELECT * FROM b",
    "SELECT COUNT(*) FROM b",
    "DROP TABLE b",
    "CREATE TEMPORARY TABLE e4 (k INT PRIMARY KEY) SELECT 1 AS k UNION ALL SELECT 1",
    "SELECT * FROM e4",
    "CREATE VIEW v AS SELECT * FROM e3",
    "CREATE TRIGGER tr BEFORE INSERT ON e3 FOR EACH ROW SET @a = 1",
    "ALTER TABLE e2 ADD FOREIGN KEY (c) REFERENCES b (a)",
    "ALTER TABLE e2 ADD d VARCHAR(9) NOT NULL DEFAULT 'q', ADD KEY (d), MODIFY c BIGINT",
    "INSERT INTO e2 (a, c) VALUES (3, 4), (1, 2)",
    "ALTER TABLE e2 DROP PRIMARY KEY, ADD PRIMARY KEY (c)",
    "SELECT * FROM e2",
    "CREATE INDEX i ON e2 (a)",
    "DROP INDEX d ON e2",
    "SHOW CREATE TABLE e2",
    "ALTER TABLE e2 ADD UNIQUE KEY u (d)",
    "TRUNCATE TABLE e2",
    "SELECT * FROM e2",
    "DROP TABLE e2, like_it, e3",
    "DROP TABLE e, nothing, nor_this",
    "DROP TABLE IF EXISTS e, nothing",
    "SELECT * FROM e",
    "CREATE TEMPORARY TABLE nowhere.x (a INT)",
    "CREATE TEMPORARY TABLE IF NOT EXISTS nowhere.x (a INT)",
    "CREATE TEMPORARY TABLE nowhere.x LIKE b",
    "CREATE TEMPORARY TABLE nowhere.x SELECT 1",
    "CREATE TEMPORARY TABLE left_over (a INT)",
    "ALTER TABLE left_over RENAME nowhere.x",
    "DROP DATABASE d",
    "INSERT INTO d.left_over VALUES (1)",
    "SELECT * FROM d.left_over",
    "ALTER TABLE d.left_over ADD b INT",
    "TRUNCATE d.left_over",
    "CREATE TEMPORARY TABLE d.x (a INT)",
    "DROP TABLE d.left_over",
];

#[test]
fn temporary_tables_are_defined_as_in_mysql() {
    same_answers("temporary_tables_are_defined_as_in_mysql", DEFINED);
}

/// Statements about rows and transactions, and statements that name a table twice.
const ROWS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE b (a INT PRIMARY KEY, c INT)",
    "INSERT INTO b VALUES (1, 10), (2, 20), (3, 30)",
    "CREATE TEMPORARY TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s VARCHAR(20), x TEXT, UNIQUE KEY (n), KEY (s))",
    "INSERT INTO t (n, s, x) VALUES (1, 'a', REPEAT('x', 20000)), (2, 'b', NULL), (3, 'c', REPEAT('z', 100))",
    "INSERT INTO t (n, s) SELECT a + 10, 'b' FROM b",
    "SELECT id, n, s, LENGTH(x) FROM t WHERE s = 'b' ORDER BY id",
    "REPLACE INTO t (n, s) VALUES (2, 'r')",
    "INSERT INTO t (n, s) VALUES (1, 'q') ON DUPLICATE KEY UPDATE s = CONCAT(s, '+')",
    "INSERT IGNORE INTO t (n) VALUES (1)",
    "UPDATE t SET n = n + 100 WHERE s LIKE 'b%' ORDER BY n DESC LIMIT 2",
    "UPDATE t SET x = REPEAT('y', 30000) WHERE n = 1",
    "DELETE FROM t WHERE n = 3",
    "SELECT id, n, s, LENGTH(x), CRC32(x) FROM t ORDER BY id",
    "UPDATE b, t SET b.c = t.id, t.s = 'joined' WHERE t.n = b.a",
    "SELECT * FROM b JOIN t ON t.n = b.a",
    "DELETE t FROM t JOIN b ON b.a = t.n",
    "SELECT id, n, s FROM t ORDER BY n",
    "SELECT b.a, (SELECT MAX(n) FROM t WHERE t.n > b.a) FROM b",
    "INSERT INTO b SELECT n, id FROM t",
    "SELECT COUNT(*) FROM b",
    "SELECT * FROM t AS one JOIN t AS two",
    "SELECT * FROM t WHERE n IN (SELECT n FROM t)",
    "INSERT INTO t (n) SELECT n + 1 FROM t",
    "SELECT n FROM t UNION ALL SELECT n FROM t",
    "UPDATE t SET s = (SELECT MAX(s) FROM t)",
    "DELETE FROM t WHERE n IN (SELECT n FROM t)",
    "WITH c AS (SELECT n FROM t) SELECT * FROM c AS one JOIN c AS two",
    "WITH c AS (SELECT n FROM t) SELECT COUNT(*) FROM c",
    "BEGIN",
    "INSERT INTO t (n, s) VALUES (500, 'in')",
    "SAVEPOINT s",
    "UPDATE t SET s = 'changed'",
    "DELETE FROM t WHERE n > 400",
    "INSERT INTO b VALUES (900, 1)",
    "ROLLBACK TO s",
    "SELECT n, s FROM t ORDER BY n",
    "INSERT INTO t (n) VALUES (501), (500)",
    "SELECT n, s FROM t ORDER BY n",
    "ROLLBACK",
    "SELECT n, s FROM t ORDER BY n",
    "SELECT COUNT(*) FROM b",
    "BEGIN",
    "INSERT INTO t (n, s) VALUES (600, 'kept')",
    "DELETE FROM t WHERE n < 300",
    "COMMIT",
    "SELECT n, s FROM t ORDER BY n",
    "SET autocommit = 0",
    "INSERT INTO t (n, s) VALUES (601, 'not kept')",
    "ROLLBACK",
    "SET autocommit = 1",
    "SELECT n, s FROM t ORDER BY n",
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "BEGIN",
    "SELECT n FROM t FOR UPDATE",
    "UPDATE t SET n = n + 1",
    "SELECT n FROM t LOCK IN SHARE MODE",
    "COMMIT",
    "START TRANSACTION READ ONLY",
    "INSERT INTO t (n) VALUES (700)",
    "INSERT INTO b VALUES (700, 1)",
    "COMMIT",
    "SELECT n FROM t ORDER BY n",
    "LOCK TABLES b READ",
    "SELECT COUNT(*) FROM t",
    "INSERT INTO t (n) VALUES (701)",
    "INSERT INTO b VALUES (701, 1)",
    "UNLOCK TABLES",
    "FLUSH TABLES",
    "CHECK TABLE t",
    "ANALYZE TABLE t",
    "BEGIN",
    "INSERT INTO b VALUES (800, 1)",
    "TRUNCATE TABLE t",
    "ROLLBACK",
    "SELECT COUNT(*) FROM b WHERE a = 800",
    "SELECT COUNT(*) FROM t",
    "SET GLOBAL super_read_only = ON",
    "INSERT INTO t (n) VALUES (900)",
    "CREATE TEMPORARY TABLE ro (a INT)",
    "INSERT INTO ro VALUES (1)",
    "ALTER TABLE ro ADD z INT",
    "DROP TEMPORARY TABLE ro",
    "INSERT INTO b VALUES (950, 1)",
    "SET GLOBAL read_only = OFF",
];

#[test]
fn rows_of_temporary_tables_are_as_in_mysql() {
    same_answers("rows_of_temporary_tables_are_as_in_mysql", ROWS);
}

/// Statements which show that CREATE and DROP do not commit a transaction, and are not rolled back
/// with it.
const IN_TRANSACTIONS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE b (a INT PRIMARY KEY)",
    "BEGIN",
    "INSERT INTO b VALUES (1)",
    "CREATE TEMPORARY TABLE u (a INT)",
    "INSERT INTO u VALUES (1)",
    "CREATE TEMPORARY TABLE u2 SELECT a FROM b",
    "ROLLBACK",
    "SELECT * FROM b",
    "SELECT * FROM u",
    "BEGIN",
    "INSERT INTO b VALUES (2)",
    "INSERT INTO u VALUES (2)",
    "DROP TEMPORARY TABLE u",
    "ROLLBACK",
    "SELECT * FROM u",
    "BEGIN",
    "INSERT INTO b VALUES (3)",
    "DROP TABLE u2",
    "ROLLBACK",
    "SELECT * FROM b",
    "START TRANSACTION READ ONLY",
    "CREATE TEMPORARY TABLE u3 (a INT)",
    "COMMIT",
    "XA START 'x'",
    "CREATE TEMPORARY TABLE u3 (a INT)",
    "XA END 'x'",
    "XA ROLLBACK 'x'",
];

/// MySQL refuses some of these statements only if GTIDs are on and the format is STATEMENT.
#[test]
fn transactions_go_on_around_temporary_tables() {
    same_answers("transactions_go_on_around_temporary_tables", IN_TRANSACTIONS);
}

/// Prepared statements and programs that use temporary tables.
const PREPARED: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE b (a INT PRIMARY KEY)",
    "INSERT INTO b VALUES (1), (2)",
    "PREPARE s FROM 'SELECT a FROM b'",
    "EXECUTE s",
    "CREATE TEMPORARY TABLE b (a VARCHAR(9), z INT)",
    "INSERT INTO b VALUES ('temporary', 1)",
    "EXECUTE s",
    "ALTER TABLE b DROP z",
    "EXECUTE s",
    "DROP TEMPORARY TABLE b",
    "EXECUTE s",
    "CREATE PROCEDURE p() BEGIN DROP TEMPORARY TABLE IF EXISTS w; CREATE TEMPORARY TABLE w (n INT); \
     INSERT INTO w SELECT a * 2 FROM b; SELECT n FROM w ORDER BY n; END",
    "CALL p()",
    "CALL p()",
    "SELECT n FROM w ORDER BY n",
    "CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT SUM(n) FROM w)",
    "SELECT f()",
    "SELECT f() FROM w",
    "CREATE FUNCTION g() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO w VALUES (100); RETURN 1; END",
    "SELECT g()",
    "SELECT n FROM w ORDER BY n",
    "CREATE TRIGGER tr AFTER INSERT ON b FOR EACH ROW INSERT INTO w VALUES (NEW.a)",
    "INSERT INTO b VALUES (3), (4)",
    "SELECT n FROM w ORDER BY n",
    "DROP TEMPORARY TABLE w",
    "INSERT INTO b VALUES (5)",
    "SELECT f()",
    "CREATE VIEW v AS SELECT a FROM b",
    "CREATE TEMPORARY TABLE b (a INT)",
    "SELECT * FROM v",
    "SELECT * FROM b",
];

#[test]
fn what_is_prepared_finds_the_tables_of_the_moment() {
    let settings =
        Settings { extra: vec!["--log-bin-trust-function-creators=ON".to_owned()], ..Settings::default() };
    same_as_mysql("what_is_prepared_finds_the_tables_of_the_moment", &settings, |server| {
        let mut client = server.connect();
        PREPARED.iter().map(|statement| answer(&mut client, statement)).collect()
    });
}

#[test]
fn an_account_needs_one_privilege_for_all_of_its_temporary_tables() {
    same_as_mysql("an_account_needs_one_privilege", &Settings::default(), |server| {
        let mut root = server.connect();
        for statement in [
            "CREATE DATABASE d",
            "CREATE TABLE d.b (a INT)",
            "CREATE USER u@'127.0.0.1' IDENTIFIED BY 'u'",
            "GRANT CREATE TEMPORARY TABLES ON d.* TO u@'127.0.0.1'",
            "CREATE DATABASE other",
            "GRANT SELECT ON other.* TO u@'127.0.0.1'",
        ] {
            root.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let mut own = server.connect_options();
        own = own.user("u", "u");
        let mut client = protocol::client::Client::connect(&own).expect("the account may come in");
        let all = [
            "CREATE TEMPORARY TABLE d.t (a INT PRIMARY KEY, n INT)",
            "INSERT INTO d.t VALUES (1, 1), (2, 2)",
            "REPLACE INTO d.t (a) VALUES (2)",
            "UPDATE d.t SET n = 7",
            "DELETE FROM d.t WHERE a = 1",
            "SELECT a, n FROM d.t",
            "SHOW CREATE TABLE d.t",
            "ALTER TABLE d.t ADD z INT",
            "CREATE INDEX i ON d.t (z)",
            "TRUNCATE d.t",
            "SELECT * FROM d.b",
            "CREATE TEMPORARY TABLE other.t (a INT)",
            "CREATE TEMPORARY TABLE d.b (a INT)",
            "SELECT * FROM d.b",
            "DROP TEMPORARY TABLE d.b",
            "DROP TABLE d.t",
            "SELECT * FROM d.t",
        ];
        all.iter().map(|statement| answer(&mut client, statement)).collect()
    });
}

/// Returns the names of the files of temporary tables.
fn files(server: &Server) -> Vec<String> {
    let dir = server.datadir().join("#innodb_temp");
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    entries.map(|entry| entry.expect("is read").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_table_goes_with_its_session() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE d");
    let mut first = server.connect();
    let mut second = server.connect();
    for (client, rows) in [(&mut first, 3), (&mut second, 1)] {
        client.query("CREATE TEMPORARY TABLE d.t (a INT)").expect("each session has its own");
        for row in 0..rows {
            client.query(&format!("INSERT INTO d.t VALUES ({row})")).expect("is inserted");
        }
    }
    assert_eq!(first.query("SELECT COUNT(*) FROM d.t").expect("is read").cell(0, 0).as_deref(), Some("3"));
    assert_eq!(second.query("SELECT COUNT(*) FROM d.t").expect("is read").cell(0, 0).as_deref(), Some("1"));
    assert_eq!(files(&server).len(), 2);
    first.command(protocol::command::RESET_CONNECTION, b"").expect("is reset");
    assert!(first.query("SELECT * FROM d.t").is_err(), "the reset has taken the table");
    assert_eq!(files(&server).len(), 1);
    second.quit();
    for _ in 0..1000 {
        if files(&server).is_empty() {
            break;
        }
        os::clock::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(files(&server), Vec::<String>::new());
}

#[test]
fn a_crash_leaves_nothing() {
    let mut server = Server::start(flavor_under_test(), &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.b (a INT PRIMARY KEY)");
    let before = server.rows("SELECT @@global.gtid_executed");
    let mut client = server.connect();
    client.query("CREATE TEMPORARY TABLE d.t (a INT PRIMARY KEY, s LONGTEXT, KEY (s(10)))").expect("is made");
    for row in 0..200 {
        let text = format!("INSERT INTO d.t VALUES ({row}, REPEAT('{row}', 10000))");
        client.query(&text).expect("is inserted");
    }
    assert_eq!(server.rows("SELECT @@global.gtid_executed"), before, "no transaction was logged");
    client.query("BEGIN").expect("begins");
    client.query("INSERT INTO d.t (a) VALUES (1000)").expect("is inserted");
    client.query("INSERT INTO d.b SELECT a FROM d.t").expect("is inserted");
    client.query("COMMIT").expect("commits");
    server.kill();
    server.come_back();
    assert_eq!(files(&server), Vec::<String>::new());
    assert_eq!(server.rows("SELECT COUNT(*) FROM d.b"), ["201"]);
    assert_eq!(server.refuses("SELECT * FROM d.t").0, 1146);
    let rows = server.rows("SHOW BINLOG EVENTS");
    assert!(!rows.iter().any(|row| row.contains("TEMPORARY")), "{rows:?}");
    server.shut_down();
    server.come_back();
    assert_eq!(server.rows("SELECT COUNT(*) FROM d.b"), ["201"]);
}

/// A table many times larger than the pool is filled in one statement and changed in one
/// transaction, so that its pages and the images of its rows go to files.
#[test]
fn a_large_table_is_in_files() {
    let settings = Settings { pool_bytes: 8 << 20, ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    server.run("CREATE DATABASE d");
    let mut client = server.connect();
    let mut run = |text: &str| client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    run("CREATE TEMPORARY TABLE d.n (a INT PRIMARY KEY)");
    run(
        "INSERT INTO d.n WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 1000) SELECT a FROM r",
    );
    run("CREATE TEMPORARY TABLE d.m (a INT PRIMARY KEY)");
    run("INSERT INTO d.m SELECT a FROM d.n WHERE a <= 60");
    run("CREATE TEMPORARY TABLE d.t (id INT PRIMARY KEY, s VARCHAR(1000), KEY (s(20)))");
    run("INSERT INTO d.t SELECT m.a * 1000 + n.a, REPEAT(CHAR(65 + n.a % 26), 700) FROM d.m JOIN d.n");
    let sum = |run: &mut dyn FnMut(&str) -> protocol::client::ResultSet| {
        let found = run("SELECT COUNT(*), SUM(id), SUM(LENGTH(s)), SUM(ASCII(s)) FROM d.t");
        (0..4).map(|at| found.cell(0, at).unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    let before = sum(&mut run);
    assert_eq!(before[0], "60000");
    run("BEGIN");
    run("UPDATE d.t SET s = CONCAT(s, 'x')");
    run("DELETE FROM d.t WHERE id % 3 = 0");
    let inside = sum(&mut run);
    assert_eq!(inside[0], "40000");
    run("ROLLBACK");
    assert_eq!(sum(&mut run), before);
    run("BEGIN");
    run("UPDATE d.t SET s = CONCAT(s, 'x')");
    run("DELETE FROM d.t WHERE id % 3 = 0");
    run("COMMIT");
    assert_eq!(sum(&mut run), inside);
    let by_index = run("SELECT COUNT(*) FROM d.t FORCE INDEX (s) WHERE s LIKE 'A%'");
    let by_scan = run("SELECT COUNT(*) FROM d.t IGNORE INDEX (s) WHERE s LIKE 'A%'");
    assert_eq!(by_index.cell(0, 0), by_scan.cell(0, 0));
    run("ALTER TABLE d.t ADD KEY (s(30))");
    assert_eq!(sum(&mut run), inside);
    assert_eq!(run("CHECK TABLE d.t").cell(0, 3).as_deref(), Some("OK"));
}

/// The binary log has of statements with temporary tables what MySQL's has.
#[test]
fn the_binary_log_has_rows_of_stored_tables_alone() {
    if !available("the_binary_log_has_rows_of_stored_tables_alone", &[Flavor::MySql]) {
        return;
    }
    const LOGGED: &[&str] = &[
        "CREATE TEMPORARY TABLE d.t (a INT)",
        "INSERT INTO d.t VALUES (1), (2)",
        "INSERT INTO d.b SELECT a FROM d.t",
        "BEGIN",
        "INSERT INTO d.t VALUES (3)",
        "INSERT INTO d.b VALUES (3)",
        "DROP TEMPORARY TABLE d.t",
        "COMMIT",
        "CREATE TEMPORARY TABLE d.t SELECT a FROM d.b",
        "UPDATE d.b, d.t SET b.a = b.a + 100, t.a = 0 WHERE b.a = t.a AND b.a = 1",
        "TRUNCATE d.t",
        "ALTER TABLE d.t ADD z INT",
        "DROP TABLE d.t",
        "USE d",
        "CREATE TEMPORARY TABLE b (a INT)",
        "CREATE TABLE r (z INT)",
        "DROP TABLE b, r",
    ];
    let kinds = |flavor: Flavor, format: &str| {
        let server = Server::start(flavor, &Settings::default());
        let mut client = server.connect();
        let mut run = |text: &str| client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        run(&format!("SET binlog_format = {format}"));
        run("CREATE DATABASE d");
        run("CREATE TABLE d.b (a INT PRIMARY KEY)");
        LOGGED.iter().for_each(|text| drop(run(text)));
        let events = run("SHOW BINLOG EVENTS");
        let text = |row: &Vec<Option<Vec<u8>>>, at: usize| {
            String::from_utf8_lossy(row[at].as_deref().unwrap_or_default()).into_owned()
        };
        let shown = events.rows.iter().filter(|row| text(row, 2) != "Gtid" && text(row, 2) != "Xid");
        let shown = shown.map(|row| match text(row, 2).as_str() {
            "Query" => text(row, 5).split(" /* ").next().unwrap_or_default().to_owned(),
            kind => kind.to_owned(),
        });
        shown
            .skip_while(|event| event != "use `d`; CREATE TABLE r (z INT)" && event != "BEGIN")
            .collect::<Vec<_>>()
    };
    for format in ["ROW", "MIXED"] {
        let (ours, mysqls) = (kinds(Flavor::Slipstream, format), kinds(Flavor::MySql, format));
        assert_eq!(ours, mysqls, "{format}");
    }
}
