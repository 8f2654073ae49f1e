//! Tests of replicas whose sources log statements: a replica runs each statement as the source's
//! session ran it, and its own log has rows.

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use testkit::{Replica, Server};

const TABLES: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n DOUBLE, s VARCHAR(40), at DATETIME(6), KEY by_s (s)) \
     DEFAULT CHARSET = utf8mb4",
    "CREATE TABLE d.other (id INT NOT NULL PRIMARY KEY, ref INT, amount DECIMAL(12,3), u BIGINT UNSIGNED)",
    "CREATE TABLE d.narrow (a TINYINT, b VARCHAR(3))",
];

/// Starts a source of this flavor and a Slipstream replica of it. `None` means that the flavor is
/// not on the machine, which is told for the test.
fn begun(flavor: Flavor, test: &str) -> Option<(Server, Replica)> {
    if !testkit::available(test, &[flavor]) {
        return None;
    }
    let settings = |server_id| Settings { server_id, ..Settings::default() };
    let source = Server::start(flavor, &settings(1));
    let replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    Some((source, replica))
}

/// Statements that together depend on everything that a statement's text does not say.
const STATEMENTS: &[&str] = &[
    "USE d",
    "INSERT INTO t (n, s) VALUES (1, 'one'), (2, 'two'), (3, 'three')",
    "INSERT INTO other VALUES (1, LAST_INSERT_ID(), 1.5, 18446744073709551615)",
    "SET auto_increment_increment = 5, auto_increment_offset = 3",
    "INSERT INTO t (n, s) VALUES (4, 'four'), (5, 'five')",
    "SET auto_increment_increment = 1, auto_increment_offset = 1",
    "INSERT INTO t (n, s) VALUES (RAND(), 'random'), (RAND(), 'random')",
    "INSERT INTO t (n, s) SELECT n + RAND(), CONCAT(s, '2') FROM t ORDER BY id",
    "SET @text = 'it''s \u{fc}', @exact = 12.345, @number = -7, @nothing = NULL, @float = 1.5e10",
    "INSERT INTO t (n, s) VALUES (@number, @text), (@float, @nothing)",
    "INSERT INTO other VALUES (2, @number, @exact, 7)",
    "INSERT INTO t (s, at) VALUES ('now', NOW(6)), ('now', NOW())",
    "SET time_zone = '+05:30'",
    "INSERT INTO t (s, at) VALUES ('zone', FROM_UNIXTIME(1000000000)), ('zone', NOW())",
    "SET time_zone = '-02:00', timestamp = 1234567890.25",
    "INSERT INTO t (s, at) VALUES ('then', NOW(6))",
    "SET timestamp = DEFAULT",
    "SET sql_mode = ''",
    "INSERT INTO narrow VALUES (1000, 'too long'), (-1000, NULL)",
    "SET sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES'",
    "INSERT INTO \"narrow\" VALUES (1, 'a'), (2, 'b'), (3, 'b')",
    "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
    "INSERT INTO t (s) VALUES ('back\\slash')",
    "SET sql_mode = DEFAULT",
    "SET NAMES latin1",
    // In latin1, the first text has two characters.
    "INSERT INTO t (s) VALUES ('\u{fc}'), ('plain')",
    "SET NAMES utf8mb4",
    "UPDATE t SET n = n * 2 WHERE s LIKE 'o%' ORDER BY id LIMIT 2",
    "DELETE FROM t WHERE s = 'random' ORDER BY id LIMIT 1",
    "REPLACE INTO other VALUES (1, 10, 2.5, 8), (3, 30, 3.5, 9)",
    "INSERT INTO other VALUES (3, 1, 1, 1), (4, 1, 1, 1) ON DUPLICATE KEY UPDATE ref = ref + 1",
    "INSERT IGNORE INTO other VALUES (3, 1, 1, 1), (5, 5, 5, 5)",
    "BEGIN",
    "INSERT INTO t (n, s) VALUES (100, 'in a transaction')",
    "SAVEPOINT here",
    "INSERT INTO other VALUES (100, LAST_INSERT_ID(), 1, 1)",
    "ROLLBACK TO here",
    "INSERT INTO other VALUES (101, LAST_INSERT_ID(), 1, 1)",
    "UPDATE other SET amount = amount + 1 WHERE ref > 5",
    "COMMIT",
    "UPDATE d.t SET s = UPPER(s) WHERE s IN (SELECT b FROM d.narrow)",
    "UPDATE t JOIN other ON other.ref = t.id SET t.n = other.amount, other.u = 5",
    "UPDATE t, (SELECT MAX(ref) AS most FROM other) AS m SET t.n = m.most WHERE t.s = 'now'",
    "DELETE other FROM other LEFT JOIN t ON t.id = other.ref WHERE t.id IS NULL AND other.id < 100",
    "DELETE t, other FROM t JOIN other ON other.id = t.id WHERE t.id = 3",
];

/// Statements of a transaction, some of which are logged as statements and some as rows.
const MIXED: &[&str] = &[
    "USE d",
    "BEGIN",
    "INSERT INTO t (n, s) VALUES (200, 'statement')",
    "INSERT INTO t (n, s) VALUES (201, UUID())",
    "UPDATE t SET n = n + 1 WHERE n >= 200",
    "DELETE FROM t WHERE n = 202",
    "COMMIT",
];

fn run_all(source: &Server, formats: &str, statements: &[&str]) {
    let mut session = source.connect();
    let format = format!("SET binlog_format = {formats}");
    for sql in [&[&format[..]], statements].concat() {
        session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", source.flavor()));
    }
}

fn behind(flavor: Flavor, workers: u32) {
    if !testkit::available("replicate_statements", &[flavor]) {
        return;
    }
    let settings = |server_id| Settings { server_id, replica_workers: workers, ..Settings::default() };
    let source = Server::start(flavor, &settings(1));
    let replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    let last = Replica::start(Flavor::Slipstream, &settings(3));
    last.follow(Flavor::Slipstream, replica.port(), &StartFrom::Gtid);
    TABLES.iter().for_each(|sql| drop(source.run(sql)));
    run_all(&source, "STATEMENT", STATEMENTS);
    run_all(&source, "MIXED", MIXED);
    replica.catch_up(&source);
    let compared = [
        "SELECT * FROM d.t ORDER BY id",
        "SELECT * FROM d.other ORDER BY id",
        "SELECT * FROM d.narrow ORDER BY a, b",
    ];
    compared.iter().for_each(|sql| replica.equals_by(&source, sql));
    last.catch_up(&replica);
    compared.iter().for_each(|sql| last.equals_by(&source, sql));
    // Transactions that recovery applies again after a crash have the same effect.
    let mut replica = replica;
    replica.kill();
    replica.come_back();
    compared.iter().for_each(|sql| replica.equals_by(&source, sql));
    // A statement that fails on the replica stops the applier, and the error names the statement.
    let mut session = source.connect();
    for sql in ["SET binlog_format = STATEMENT", "INSERT INTO d.other VALUES (500, 1, 1, 1)"] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    replica.run("DELETE FROM d.other WHERE id = 500");
    replica.run("INSERT INTO d.other VALUES (501, 1, 1, 1)");
    session.query("INSERT INTO d.other VALUES (501, 2, 2, 2)").expect("is inserted");
    let status = replica.wait_until("stopped", |status| status.sql_errno != 0);
    assert_eq!(status.sql_errno, 1062, "{status:?}");
    let words = "Error 'Duplicate entry '501' for key 'other.PRIMARY'' on query. Default database: ''. Query: 'INSERT INTO d.other \
                 VALUES (501, 2, 2, 2)'";
    assert!(status.sql_error.starts_with(words), "{status:?}");
}

#[test]
fn of_mysql() {
    behind(Flavor::MySql, 0);
}

#[test]
fn of_mysql_with_workers() {
    behind(Flavor::MySql, 4);
}

#[test]
fn of_mariadb() {
    behind(Flavor::MariaDb, 0);
}

/// Definitions whose rows depend on more than their text: on how a default is converted, on the
/// statement's time with its microseconds, and on the session's time zone, sql_mode and
/// `explicit_defaults_for_timestamp`.
const DEFINED: &[&str] = &[
    "CREATE DATABASE c",
    "USE c",
    "CREATE TABLE bits (id INT PRIMARY KEY)",
    "INSERT INTO bits VALUES (1)",
    "ALTER TABLE bits ADD a BIT(1) NOT NULL DEFAULT b'0', ADD b BIT(3) DEFAULT b'101', ADD c BIT(8) DEFAULT 65, \
     ADD d BIT(16) DEFAULT 0x4142",
    "ALTER TABLE bits ADD at DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6), ADD ts TIMESTAMP(3) NULL DEFAULT CURRENT_TIMESTAMP(3)",
    "SET SESSION binlog_row_image = MINIMAL",
    "INSERT INTO bits (id) VALUES (2)",
    "SET time_zone = '+02:00'",
    "ALTER TABLE bits ADD m TIMESTAMP NULL DEFAULT '2020-01-01 12:00:00'",
    "INSERT INTO bits (id) VALUES (3)",
    "SET time_zone = '-05:00'",
    "INSERT INTO bits (id) VALUES (4)",
    "SET explicit_defaults_for_timestamp = OFF",
    "SET sql_mode = ''",
    "CREATE TABLE stamps (id INT PRIMARY KEY, a TIMESTAMP, b TIMESTAMP, c TIMESTAMP NULL, \
     e TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3))",
    "INSERT INTO stamps (id) VALUES (1)",
    "ALTER TABLE stamps ADD f TIMESTAMP(2)",
    "INSERT INTO stamps (id, c) VALUES (2, NULL)",
    "SET SESSION binlog_format = STATEMENT",
    "INSERT INTO stamps (id) VALUES (3)",
    "UPDATE stamps SET c = a WHERE id = 1",
    "CREATE TABLE fractions (id INT PRIMARY KEY, a DATETIME(6), t TIME(6))",
    "INSERT INTO fractions VALUES (1, '2020-12-31 23:59:59.999999', '10:00:00.999999')",
    "ALTER TABLE fractions MODIFY a DATETIME, MODIFY t TIME(2)",
    "INSERT INTO fractions VALUES (2, '2020-12-31 23:59:59.999999', '10:00:00.999999')",
    // Rows that statements have made are found again by all of their values.
    "SET SESSION binlog_format = MIXED, SESSION binlog_row_image = FULL",
    "CREATE TABLE keyless (at DATETIME, d DATETIME(3), t TIME, f FLOAT(7,3), g DOUBLE(10,2), z INT(6) ZEROFILL, b BIT(4) DEFAULT 5, \
     ts TIMESTAMP)",
    "INSERT INTO keyless (at, d, t, f, g, z) VALUES ('2020-01-01 10:00:00.9', '2020-01-01 10:00:00.9999', '01:02:03.5', 1.23456, 2/3, 7)",
    "INSERT INTO keyless (at, d, t, f, g, z) VALUES (NOW(6), NOW(6), NOW(6), 9999.9994, -1.005, 123456789)",
    "UPDATE keyless SET z = z + 1 WHERE UUID() <> ''",
    "DELETE FROM keyless WHERE g < 0 LIMIT 1",
];

fn definitions_behind(flavor: Flavor, more: &[&str]) {
    if !testkit::available("replicate_statements", &[flavor]) {
        return;
    }
    let settings = |server_id| Settings { server_id, ..Settings::default() };
    let source = Server::start(flavor, &settings(1));
    let replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    let mut session = source.connect();
    for sql in [DEFINED, more].concat() {
        session.query(sql).unwrap_or_else(|error| panic!("{flavor}: {sql}: {error}"));
    }
    replica.catch_up(&source);
    for sql in [
        "SELECT id, a + 0, b + 0, c + 0, d + 0, at, ts, m FROM c.bits ORDER BY id",
        "SELECT * FROM c.stamps ORDER BY id",
        "SELECT * FROM c.fractions ORDER BY id",
        "SELECT at, d, t, f, g, z, b + 0, ts FROM c.keyless ORDER BY at",
    ] {
        replica.equals_by(&source, sql);
    }
    if flavor == Flavor::MySql {
        for table in ["bits", "stamps", "fractions", "keyless"] {
            replica.equals_by(&source, &format!("SHOW CREATE TABLE c.{table}"));
        }
    }
}

#[test]
fn definitions_of_mysql() {
    definitions_behind(
        Flavor::MySql,
        &[
            "SET sql_mode = 'TIME_TRUNCATE_FRACTIONAL'",
            "INSERT INTO fractions VALUES (3, '2020-12-31 23:59:59.999999', '10:00:00.999999')",
        ],
    );
}

#[test]
fn definitions_of_mariadb() {
    definitions_behind(
        Flavor::MariaDb,
        &[
            "SET sql_mode = 'TIME_ROUND_FRACTIONAL'",
            "INSERT INTO fractions VALUES (3, '2020-12-31 23:59:59.999999', '10:00:00.999999')",
        ],
    );
}

/// CREATE TABLE ... SELECT of all kinds that a source may log as statements.
const SELECTED: &[&str] = &[
    "CREATE DATABASE s",
    "USE s",
    "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT DEFAULT 5 COMMENT 'c', v VARCHAR(20) NOT NULL DEFAULT 'x')",
    "INSERT INTO t (n, v) VALUES (1, 'one'), (2, 'two')",
    "CREATE TABLE plain AS SELECT * FROM t",
    "CREATE TABLE more (extra INT DEFAULT 7, KEY (n)) SELECT n, UPPER(v) AS u, n * 2 AS twice, NULL AS z FROM t",
    "CREATE TABLE none AS SELECT * FROM t WHERE FALSE",
    "CREATE TABLE IF NOT EXISTS plain AS SELECT 1 AS nothing",
    "CREATE TABLE s.`odd ``name` (id BIGINT PRIMARY KEY, CHECK (id > 0)) REPLACE SELECT id, n FROM t",
    "CREATE TABLE parted (id INT) PARTITION BY HASH (id) PARTITIONS 2 SELECT id FROM t",
    "SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'",
    "CREATE TABLE modes (c VARCHAR(9) DEFAULT 'a\\b') AS SELECT v FROM \"t\"",
    "SET sql_mode = DEFAULT",
    "SET NAMES latin1",
    "CREATE TABLE named AS SELECT id AS `\u{fc}` FROM t",
    "SET NAMES utf8mb4",
    "CREATE TABLE numbered (k INT AUTO_INCREMENT PRIMARY KEY) SELECT v FROM t",
    "CREATE TEMPORARY TABLE passing AS SELECT * FROM t",
    "CREATE TABLE of_passing AS SELECT * FROM passing",
    "INSERT INTO plain SELECT * FROM plain",
];

/// Compares the tables of the schema `s`.
fn tables_are_equal(source: &Server, replicas: &[&Replica]) {
    let tables = source.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 's'");
    assert!(tables.len() >= 10, "{tables:?}");
    for table in &tables {
        let name = format!("s.`{}`", table.replace('`', "``"));
        for replica in replicas {
            replica.equals_by(source, &format!("SELECT * FROM {name} ORDER BY 1"));
            // The next value of AUTO_INCREMENT differs, because the source takes several at once.
            // Defaults of columns of a temporary table are not kept.
            let is_shown = table != "numbered" && table != "of_passing";
            if source.flavor() == Flavor::MySql && is_shown {
                replica.equals_by(source, &format!("SHOW CREATE TABLE {name}"));
            }
        }
    }
}

fn selected_behind(flavor: Flavor, format: &str, more: &[&str]) {
    if !testkit::available("replicate_statements", &[flavor]) {
        return;
    }
    let settings = |server_id| Settings { server_id, ..Settings::default() };
    let source = Server::start(flavor, &settings(1));
    let mut replica = Replica::start(Flavor::Slipstream, &settings(2));
    let further = Replica::start(Flavor::Slipstream, &settings(3));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    further.follow(Flavor::Slipstream, replica.port(), &StartFrom::Gtid);
    run_all(&source, format, SELECTED);
    replica.catch_up(&source);
    further.catch_up(&replica);
    tables_are_equal(&source, &[&replica, &further]);
    run_all(&source, format, &[&["USE s"], more].concat());
    replica.catch_up(&source);
    further.catch_up(&replica);
    tables_are_equal(&source, &[&replica, &further]);
    replica.kill();
    replica.come_back();
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT * FROM s.plain ORDER BY 1");
}

#[test]
fn tables_of_queries_of_mysql() {
    selected_behind(Flavor::MySql, "STATEMENT", &[]);
}

#[test]
fn tables_of_queries_of_mariadb() {
    let more = [
        "CREATE OR REPLACE TABLE none AS SELECT n, v FROM t",
        // These words are reserved in MySQL.
        "CREATE TABLE empty (rank INT, groups INT, system INT, row INT, lead INT, generated INT, of INT, KEY rank (rank))",
        "INSERT INTO empty (rank, groups, system) VALUES (1, 2, 3)",
        "UPDATE empty SET rank = rank + 1, row = system, of = groups WHERE system = 3",
        "ALTER TABLE empty ADD function INT AS (rank + 1) VIRTUAL, ADD stored INT, DROP lead",
        "CREATE TABLE rank AS SELECT rank, system AS lateral FROM empty groups",
        // MariaDB makes an INT of the function YEAR.
        "CREATE TABLE years AS SELECT YEAR('2020-02-03') AS made",
        "INSERT INTO years VALUES (-7), (100000)",
    ];
    selected_behind(Flavor::MariaDb, "MIXED", &more);
    selected_behind(Flavor::MariaDb, "STATEMENT", &more);
}

/// A statement reads the replica's own variables, as on a MySQL replica, and the number of the
/// source's session, which its event has.
#[test]
fn system_variables_in_statements_are_the_replicas_own() {
    let test = "replicate_statements::system_variables_in_statements_are_the_replicas_own";
    let Some((source, replica)) = begun(Flavor::MySql, test) else { return };
    let mut session = source.connect();
    for sql in [
        "CREATE DATABASE v",
        "CREATE TABLE v.t (id INT PRIMARY KEY, own INT, port INT, thread INT, text VARCHAR(100))",
        "SET SESSION binlog_format = STATEMENT",
        "INSERT INTO v.t VALUES (1, @@server_id, @@GLOBAL.port, @@pseudo_thread_id, @@hostname)",
        "INSERT INTO v.t VALUES (2, @@GLOBAL.server_id, 0, @@SESSION.pseudo_thread_id, @@version_comment <> '')",
    ] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT id, thread FROM v.t ORDER BY id");
    let own = replica.rows("SELECT own, port = @@port, text IN (@@hostname, '1') FROM v.t ORDER BY id");
    assert_eq!(own, ["2\t1\t1", "2\t0\t1"]);
}

/// Tables with AUTO_INCREMENT counters that differ, and a function and triggers that insert into
/// some of them.
const GENERATING: &[&str] = &[
    "CREATE DATABASE g",
    "CREATE TABLE g.log (id INT AUTO_INCREMENT PRIMARY KEY, m INT)",
    "CREATE TABLE g.loose (id INT AUTO_INCREMENT, m INT, KEY (id))",
    "CREATE TABLE g.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "CREATE TABLE g.watched (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "CREATE TABLE g.plain (id INT PRIMARY KEY, v INT)",
    "INSERT INTO g.log (m) VALUES (0)",
    "INSERT INTO g.t (v) VALUES (1), (2), (3)",
    "INSERT INTO g.plain VALUES (5, 1), (8, 2)",
    "CREATE FUNCTION g.f(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO g.log (m) VALUES (x); \
     INSERT INTO g.loose (m) VALUES (x), (x + 1); RETURN x * 2; END",
    "CREATE TRIGGER g.before_insert BEFORE INSERT ON g.watched FOR EACH ROW INSERT INTO g.loose (m) VALUES (NEW.v)",
    "CREATE TRIGGER g.after_update AFTER UPDATE ON g.watched FOR EACH ROW INSERT INTO g.log (m) VALUES (NEW.id)",
    "CREATE PROCEDURE g.p(x INT) BEGIN INSERT INTO g.t (v) VALUES (g.f(x)); INSERT INTO g.watched (v) VALUES (x); END",
];

const GENERATE: &[&str] = &[
    "USE g",
    "UPDATE plain SET v = f(v)",
    "INSERT INTO t (v) VALUES (f(2)), (f(3))",
    "INSERT INTO t (v) VALUES (7), (f(4)), (8)",
    "INSERT INTO watched (v) VALUES (1), (2), (3)",
    "INSERT INTO watched (id, v) VALUES (50, 1), (NULL, 2)",
    "UPDATE watched SET v = v + 1 ORDER BY id",
    "DELETE FROM plain WHERE f(id) = 16",
    "SET insert_id = 100",
    "INSERT INTO watched (v) VALUES (4), (5)",
    "SET insert_id = 200",
    "INSERT INTO t (v) SELECT f(v) FROM watched ORDER BY id LIMIT 2",
    "INSERT INTO t (v) VALUES (1), (2)",
    "CALL p(9)",
    "REPLACE INTO t (id, v) VALUES (1, f(1)), (NULL, 5)",
    "INSERT IGNORE INTO t (id, v) VALUES (2, 1), (NULL, f(6))",
];

/// As in MySQL, the log names the first value that a statement generates in any table, and whoever
/// runs the statement again takes it once.
fn programs_generate_alike(source: Flavor, replica: Flavor, format: &str) {
    let test = "replicate_statements: values that programs generate";
    if !testkit::available(test, &[source, replica]) {
        return;
    }
    let settings = |server_id| Settings { server_id, ..Settings::default() };
    let source = Server::start(source, &settings(1));
    let replica = Replica::start(replica, &settings(2));
    replica.follow(source.flavor(), source.port(), &testkit::following::beginning(&source));
    for server in [&source, &replica] {
        server.run("SET GLOBAL log_bin_trust_function_creators = 1");
    }
    GENERATING.iter().for_each(|sql| drop(source.run(sql)));
    run_all(&source, format, GENERATE);
    replica.catch_up(&source);
    for table in ["log", "loose", "t", "watched", "plain"] {
        replica.equals_by(&source, &format!("SELECT '{table}', r.* FROM g.{table} r ORDER BY 2, 3"));
    }
}

#[test]
fn values_that_programs_of_mysql_generate_are_the_same() {
    programs_generate_alike(Flavor::MySql, Flavor::Slipstream, "STATEMENT");
}

#[test]
fn values_that_programs_of_mariadb_generate_are_the_same() {
    programs_generate_alike(Flavor::MariaDb, Flavor::Slipstream, "STATEMENT");
}

#[test]
fn values_that_our_programs_generate_are_the_same_at_mysql() {
    programs_generate_alike(Flavor::Slipstream, Flavor::MySql, "STATEMENT");
}

#[test]
fn values_that_our_programs_generate_are_the_same_at_another_one_of_us() {
    programs_generate_alike(Flavor::Slipstream, Flavor::Slipstream, "MIXED");
    programs_generate_alike(Flavor::Slipstream, Flavor::Slipstream, "STATEMENT");
}

/// A MyISAM table counts its AUTO_INCREMENT column anew for each combination of the key's columns
/// before it. The numbers are the source's, whatever INSERT_ID says about the first row.
fn counted_in_groups_behind(flavor: Flavor) {
    if !testkit::available("replicate_statements::counted_in_groups", &[flavor]) {
        return;
    }
    let settings = |server_id| Settings { server_id, ..Settings::default() };
    let source = Server::start(flavor, &settings(1));
    let replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    let further = Replica::start(Flavor::Slipstream, &settings(3));
    further.follow(Flavor::Slipstream, replica.port(), &StartFrom::Gtid);
    let statements = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE g (name VARCHAR(5), id INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (name, id)) ENGINE=MyISAM",
        "CREATE TABLE two (a INT, b INT, id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT, n INT, KEY (a, b, id)) \
         ENGINE=MyISAM",
        "INSERT INTO g (name) VALUES ('a'), ('b'), ('a'), ('b'), ('c')",
        "INSERT INTO g (name) SELECT 'a' UNION ALL SELECT 'd' UNION ALL SELECT 'b'",
        "DELETE FROM g WHERE name = 'a' AND id = 3",
        "INSERT INTO g (name) VALUES ('a')",
        "INSERT INTO g VALUES ('b', 50), ('b', NULL), ('e', 0), ('e', NULL)",
        "INSERT INTO g SET name = 'c'",
        "SET auto_increment_increment = 5, auto_increment_offset = 3",
        "INSERT INTO g (name) VALUES ('a'), ('f'), ('f'), ('b')",
        "SET auto_increment_increment = 1, auto_increment_offset = 1",
        "INSERT INTO two (a, b, n) VALUES (1, 1, 1), (1, NULL, 2), (1, 2, 3), (1, 1, 4), (1, NULL, 5)",
        "INSERT INTO two (a, b, n) SELECT a, b, n + 10 FROM two",
        "INSERT INTO two (a, b, n) VALUES (2, 2, LAST_INSERT_ID())",
    ];
    run_all(&source, "STATEMENT", &statements);
    replica.catch_up(&source);
    further.catch_up(&replica);
    for sql in ["SELECT * FROM d.g ORDER BY name, id", "SELECT * FROM d.two ORDER BY a, b, id"] {
        replica.equals_by(&source, sql);
        further.equals_by(&source, sql);
    }
}

#[test]
fn numbers_are_counted_in_groups_as_at_mysql() {
    counted_in_groups_behind(Flavor::MySql);
}

#[test]
fn numbers_are_counted_in_groups_as_at_mariadb() {
    counted_in_groups_behind(Flavor::MariaDb);
}

/// MariaDB's UPDATE leaves a row out that fits no partition, and says nothing, if a DELETE IGNORE
/// whose condition no row can meet stands before it in the same session.
#[test]
fn a_row_that_mariadb_leaves_out_keeps_its_partition() {
    let test = "replicate_statements::a_row_that_mariadb_leaves_out_keeps_its_partition";
    let Some((source, replica)) = begun(Flavor::MariaDb, test) else { return };
    let statements = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (u INT, i TINYINT NOT NULL PRIMARY KEY) PARTITION BY LIST (i) (PARTITION p0 VALUES IN (1, 2))",
        "INSERT INTO t VALUES (1, 1)",
        "DELETE IGNORE FROM t WHERE i IS NULL",
        "UPDATE t SET u = 7, i = 10",
        "UPDATE t SET u = u + 1 WHERE i = 1",
        // A text of one byte is what the column stores, for the generated column too.
        "CREATE TABLE b (m BINARY(3) NOT NULL, c CHAR(4), a BIGINT AS (CRC32(m)), s VARCHAR(20) AS (CONCAT(m, 'z')) STORED)",
        "INSERT INTO b (m, c) VALUES ('x', 'a  ')",
        // MariaDB computes a virtual column when it is read.
        "CREATE TABLE e (o ENUM('one', '') AS ('a'), n INT AS ('x'), u INT NOT NULL)",
        "INSERT INTO e (u) VALUES (1), (2)",
        "UPDATE e SET u = u + 10",
        // A column that is defined and selected stands where the query has it.
        "CREATE TABLE q (u BIGINT, z INT DEFAULT 5) SELECT i, u FROM t",
    ];
    run_all(&source, "STATEMENT", &statements);
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT * FROM d.t");
    replica.equals_by(&source, "SELECT HEX(m), c, a, HEX(s) FROM d.b");
    replica.equals_by(&source, "SELECT * FROM d.q");
    replica.equals_by(&source, "SELECT u FROM d.e ORDER BY u");
    assert_eq!(replica.rows("SELECT * FROM d.t"), ["2\t1"]);
}

/// Outside of strict mode, NULLs of a column that becomes NOT NULL are zeros at the source, and
/// those of a VECTOR are no bytes.
#[test]
fn a_vector_that_becomes_not_null_is_empty_where_it_was_null() {
    let test = "replicate_statements::a_vector_that_becomes_not_null_is_empty_where_it_was_null";
    let Some((source, replica)) = begun(Flavor::MySql, test) else { return };
    let statements = [
        "CREATE DATABASE d",
        "USE d",
        "SET sql_mode = ''",
        "CREATE TABLE v (id INT PRIMARY KEY, j VECTOR(3))",
        "INSERT INTO v (id) VALUES (1)",
        "ALTER TABLE v ADD c BIGINT NOT NULL FIRST, MODIFY j VECTOR NOT NULL",
        "ALTER TABLE v ADD k VECTOR(4) NOT NULL",
        "INSERT INTO v VALUES (2, 2, DEFAULT, DEFAULT), (3, 3, TO_VECTOR('[1, 2, 3]'), DEFAULT)",
    ];
    run_all(&source, "STATEMENT", &statements);
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT id, c, HEX(j), HEX(k) FROM d.v ORDER BY id");
}

/// MariaDB computes in the plane in all spatial reference systems, and a geometry may have a UNIQUE
/// key there.
#[test]
fn geometries_of_mariadb_are_its_own_in_statements() {
    let test = "replicate_statements::geometries_of_mariadb_are_its_own_in_statements";
    let Some((source, replica)) = begun(Flavor::MariaDb, test) else { return };
    let statements = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE g (id INT PRIMARY KEY, at GEOMETRY NOT NULL UNIQUE)",
        "INSERT INTO g VALUES (1, ST_GeomFromText('POINT(1 2)', 4326)), (2, ST_GeomFromText('POINT(1 2)', 101))",
        "UPDATE g SET at = ST_GeomFromText('POINT(100 2)', 4326) WHERE id = 1",
        "UPDATE g SET at = ST_GeomFromText(CONCAT('POINT(', ST_X(at), ' 7)'), 4326) WHERE id = 2",
    ];
    run_all(&source, "STATEMENT", &statements);
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT id, HEX(at) FROM d.g ORDER BY id");
}

/// A session of MariaDB can turn constraints off, and its INSERT IGNORE then leaves no row out.
#[test]
fn constraints_that_mariadb_has_turned_off_refuse_no_row() {
    let test = "replicate_statements::constraints_that_mariadb_has_turned_off_refuse_no_row";
    let Some((source, replica)) = begun(Flavor::MariaDb, test) else { return };
    let statements = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE c (id INT PRIMARY KEY, a INT CHECK (a > 3))",
        "INSERT IGNORE INTO c VALUES (1, 1), (2, 5)",
        "SET check_constraint_checks = 0",
        "INSERT IGNORE INTO c VALUES (3, 1), (4, 5)",
        "UPDATE IGNORE c SET a = 2 WHERE id = 2",
        "ALTER TABLE c ADD CHECK (a > 100)",
        "SET check_constraint_checks = 1",
        "INSERT IGNORE INTO c VALUES (5, 1), (6, 500), (7, 50)",
    ];
    run_all(&source, "STATEMENT", &statements);
    replica.catch_up(&source);
    assert_eq!(source.rows("SELECT id FROM d.c ORDER BY id"), ["2", "3", "4", "6"]);
    replica.equals_by(&source, "SELECT * FROM d.c ORDER BY id");
}

/// The conditions of MariaDB's ALTER TABLE are about the table before the statement.
#[test]
fn conditions_of_mariadb_see_the_table_before_the_statement() {
    let test = "replicate_statements::conditions_of_mariadb_see_the_table_before_the_statement";
    let Some((source, replica)) = begun(Flavor::MariaDb, test) else { return };
    let alterations = [
        "ADD COLUMN h INT, DROP COLUMN IF EXISTS h",
        "ADD h INT, MODIFY IF EXISTS h BIGINT",
        "ADD h INT, ALTER IF EXISTS h SET DEFAULT 5",
        "DROP COLUMN a, ADD COLUMN IF NOT EXISTS a BIGINT",
        "ADD KEY n(a), DROP KEY IF EXISTS n",
        "RENAME COLUMN a TO b, DROP COLUMN IF EXISTS b",
        "CHANGE a b INT, MODIFY IF EXISTS b BIGINT",
        "CHANGE a b INT, ADD COLUMN IF NOT EXISTS a BIGINT",
        "RENAME COLUMN a TO b, ADD COLUMN IF NOT EXISTS a BIGINT",
        "DROP a, DROP COLUMN IF EXISTS a",
        "DROP COLUMN IF EXISTS a, DROP COLUMN IF EXISTS a",
        "ADD h INT, RENAME COLUMN IF EXISTS h TO i",
        "ADD h INT, ADD COLUMN IF NOT EXISTS h BIGINT",
        "ADD COLUMN IF NOT EXISTS h INT, ADD COLUMN IF NOT EXISTS h BIGINT",
        "DROP KEY k, ADD KEY IF NOT EXISTS k (v)",
        "ADD KEY n (v), ADD KEY IF NOT EXISTS n (a)",
        "DROP KEY k, DROP KEY IF EXISTS k",
        "RENAME KEY k TO n, DROP KEY IF EXISTS n",
        "ADD CONSTRAINT q CHECK (a > 0), DROP CONSTRAINT IF EXISTS q",
        "DROP COLUMN v, DROP COLUMN IF EXISTS v, ADD v BIGINT",
        "DROP COLUMN IF EXISTS v, ADD v BIGINT",
        "ADD COLUMN IF NOT EXISTS v BIGINT, DROP COLUMN v",
        "ADD KEY n (v), RENAME KEY IF EXISTS n TO m",
        "ADD FULLTEXT KEY IF NOT EXISTS f (x), DROP KEY IF EXISTS f",
        "DROP KEY IF EXISTS x, ADD FULLTEXT KEY IF NOT EXISTS x (x)",
        "DROP KEY IF EXISTS x",
        "DROP KEY IF EXISTS x, DROP KEY IF EXISTS X",
        "ADD KEY n (a), ALTER KEY IF EXISTS n IGNORED",
    ];
    let mut statements = vec!["CREATE DATABASE d".to_owned(), "USE d".to_owned()];
    for (at, alterations) in alterations.iter().enumerate() {
        statements.push(format!(
            "CREATE TABLE t{at} (id INT, a INT, v INT, x TEXT, KEY k (a), FULLTEXT KEY x (x))"
        ));
        statements.push(format!("ALTER TABLE t{at} {alterations}"));
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    run_all(&source, "STATEMENT", &statements);
    replica.catch_up(&source);
    replica.equals_by(
        &source,
        "SELECT table_name, column_name, data_type, column_key FROM information_schema.columns \
         WHERE table_schema = 'd' ORDER BY table_name, ordinal_position",
    );
    replica.equals_by(
        &source,
        "SELECT table_name, index_name, column_name FROM information_schema.statistics \
         WHERE table_schema = 'd' ORDER BY table_name, index_name, seq_in_index",
    );
}
