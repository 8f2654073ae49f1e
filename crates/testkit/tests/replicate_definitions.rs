//! Tests of statements about definitions that a replica could easily refuse: what a source has
//! accepted must neither stop a replica nor leave it with other rows, and the replica hands it on
//! to replicas of its own.

use bench::replication::StartFrom;
use testkit::following::beginning;
use testkit::server::flavor_under_test;
use testkit::{Flavor, Replica, RowImage, Server, Settings, available};

/// Statements that MySQL and MariaDB both accept.
const SHARED: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    // A table and the rows of a query are in one event group.
    "CREATE TABLE model (id INT PRIMARY KEY AUTO_INCREMENT, t VARCHAR(20) NOT NULL DEFAULT 'x', n INT)",
    "INSERT INTO model (t, n) VALUES ('a', 1), ('b', NULL), ('c', 3)",
    "CREATE TABLE filled AS SELECT id, t, n * 2 AS twice FROM model",
    "INSERT INTO filled VALUES (9, 'i', 9)",
    "CREATE TABLE keyed (id INT PRIMARY KEY, more INT DEFAULT 7) SELECT id, t FROM model WHERE n IS NOT NULL",
    "CREATE TABLE nothing AS SELECT * FROM model WHERE FALSE",
    "INSERT INTO nothing SELECT * FROM model",
    "CREATE TABLE same (PRIMARY KEY (id)) REPLACE SELECT 1 AS id, 'first' AS t UNION ALL SELECT 1, 'second'",
    "CREATE TABLE one IGNORE SELECT 1 AS id",
    // One row image has no columns, and one lacks a column that has no default.
    "SET sql_mode = ''",
    "CREATE TABLE defaults (a INT NOT NULL DEFAULT 5, b VARCHAR(3) NOT NULL DEFAULT 'y')",
    "INSERT INTO defaults () VALUES ()",
    "UPDATE defaults SET a = 6",
    "INSERT INTO defaults () VALUES ()",
    "CREATE TABLE without (a INT NOT NULL, b VARCHAR(3) NOT NULL, c ENUM('p','q') NOT NULL, d DATETIME NOT NULL, e INT)",
    "INSERT INTO without (e) VALUES (2)",
    // Columns that have NULLs become NOT NULL.
    "CREATE TABLE empties (id INT PRIMARY KEY, a INT, b VARCHAR(5), c ENUM('x','y'), d DATE, e TIMESTAMP NULL, f BIT(3), \
     g BLOB, h DECIMAL(5,2))",
    "INSERT INTO empties (id) VALUES (1), (2)",
    "ALTER TABLE empties MODIFY a INT NOT NULL, MODIFY b VARCHAR(5) NOT NULL, MODIFY c ENUM('x','y') NOT NULL, \
     MODIFY d DATE NOT NULL, MODIFY e TIMESTAMP NOT NULL, MODIFY f BIT(3) NOT NULL, MODIFY g BLOB NOT NULL, \
     MODIFY h DECIMAL(5,2) NOT NULL",
    // A text becomes the bits of its number.
    "CREATE TABLE bits (id INT PRIMARY KEY, o VARCHAR(40), b BLOB, n VARCHAR(9))",
    "INSERT INTO bits VALUES (1, 'abc', '1.9', ' 12x'), (2, '-1', '1e2', '99999'), (3, '99999999999999999999999', '-1', '+5')",
    "ALTER TABLE bits MODIFY o BIT(64), MODIFY b BIT(64), MODIFY n BIT(3) NOT NULL",
    "UPDATE bits SET o = b'1' WHERE n > 5",
    // A time becomes one of the statement's day.
    "SET timestamp = 1764000000",
    "CREATE TABLE moments (id INT PRIMARY KEY, t TIME(2), u TIME, w TIME)",
    "INSERT INTO moments VALUES (1, '10:11:12.34', '-10:11:12', '30:00:00'), (2, '23:59:59.99', '00:00:00', '-00:00:01')",
    "ALTER TABLE moments MODIFY t DATETIME, MODIFY u TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, MODIFY w DATE",
    "UPDATE moments SET w = NULL WHERE u > '2025-11-24'",
    "SET timestamp = DEFAULT",
    "SET sql_mode = DEFAULT",
    // Columns take each other's names and places.
    "CREATE TABLE swapped (a INT, b VARCHAR(9), c DATE, KEY (a), KEY (b))",
    "INSERT INTO swapped VALUES (1, 'one', '2020-01-01'), (2, 'two', NULL)",
    "ALTER TABLE swapped RENAME COLUMN a TO b, RENAME COLUMN b TO a",
    "ALTER TABLE swapped CHANGE a b VARCHAR(10), CHANGE b a BIGINT, ADD z INT DEFAULT 4 AFTER a",
    "ALTER TABLE swapped RENAME COLUMN a TO b, RENAME COLUMN b TO c, RENAME COLUMN c TO a",
    "ALTER TABLE swapped DROP COLUMN a, ADD COLUMN a INT DEFAULT 8 FIRST",
    "ALTER TABLE swapped ADD t VARCHAR(5) DEFAULT 't', DEFAULT CHARSET latin1",
    "CREATE TABLE alone (a INT)",
    "INSERT INTO alone VALUES (1)",
    "ALTER TABLE alone DROP COLUMN a, ADD COLUMN b INT DEFAULT 3",
    "CREATE TABLE keys_go (a INT NOT NULL, PRIMARY KEY (a))",
    "ALTER TABLE keys_go DROP INDEX `PRIMARY`, ADD w VARCHAR(3) UNICODE",
    "CREATE TABLE elsewhere (a INT) CONNECTION='mysql://x' PASSWORD='p' COMMENT='c'",
];

const OF_MYSQL: &[&str] = &[
    "CREATE TABLE members (e ENUM('a\\\\b','it''s','\\n'), s SET('\\\\','x'), b BLOB DEFAULT (0xABCD))",
    "CREATE TABLE packed (a INT) COMPRESSION='zlib' TABLESPACE=innodb_file_per_table",
    "ALTER TABLE packed COMPRESSION='none', COMMENT='c', SECONDARY_ENGINE=rapid",
    "CREATE TABLE grows (a INT) AUTOEXTEND_SIZE=4M ENCRYPTION='N'",
    "ALTER DATABASE d READ ONLY = 0",
    // The time in parentheses is an expression, also where it could be the time of the statement.
    "CREATE TABLE clocks (a DATETIME DEFAULT (NOW()), b DATETIME DEFAULT NOW(), c TIMESTAMP(3) DEFAULT (NOW(3)), d DATETIME)",
    "ALTER TABLE clocks ALTER d SET DEFAULT (CURRENT_TIMESTAMP)",
];

const OF_MARIADB: &[&str] = &[
    "ALTER TABLE swapped ADD fresh INT, MODIFY fresh BIGINT DEFAULT 2",
    "ALTER TABLE model ADD place POINT NOT NULL DEFAULT (POINT(1, 2))",
    "ALTER TABLE model DROP place",
    "ALTER TABLE swapped ALTER KEY IF EXISTS nope NOT IGNORED, ADD y INT",
    "CREATE OR REPLACE TABLE filled AS SELECT id + 1 AS id FROM model",
    "CREATE OR REPLACE TABLE filled AS SELECT id + 2 AS id FROM model",
    // The mode ORACLE has other names of types, and its DATE has a time.
    "SET sql_mode = 'ORACLE'",
    "CREATE OR REPLACE TABLE elsewhere (a DATE, b VARCHAR2(10), c NUMBER, e NUMBER(5,2), f RAW(5), g CLOB, h BLOB)",
    "INSERT INTO elsewhere VALUES ('2020-01-02 03:04:05', 'b', 1.5, 2.25, 'f', 'g', 'h')",
    "CREATE OR REPLACE TABLE one AS SELECT a, CAST(b AS CHAR(3)) AS b FROM elsewhere",
    "SET sql_mode = DEFAULT",
    "CREATE TABLE days (d DATE)",
    "INSERT INTO days VALUES ('2020-01-02')",
    "SET sql_mode = 'ORACLE'",
    "CREATE OR REPLACE TABLE nothing AS SELECT d FROM days",
    "SET sql_mode = DEFAULT",
    "CREATE OR REPLACE TABLE keys_go (id INT, b TINYBLOB UNIQUE, t TINYTEXT UNIQUE)",
    "INSERT INTO keys_go VALUES (1, 'a', 'b')",
];

const TABLES: [&str; 15] = [
    "model",
    "filled",
    "keyed",
    "nothing",
    "same",
    "one",
    "defaults",
    "without",
    "empties",
    "moments",
    "bits",
    "swapped",
    "alone",
    "keys_go",
    "elsewhere",
];

fn rows(server: &Server, table: &str) -> Vec<String> {
    let mut rows = server.rows(&format!("SELECT * FROM d.{table}"));
    rows.sort();
    rows
}

fn is_equal(source: &Server, replica: &Replica) {
    replica.catch_up(source);
    for table in TABLES {
        assert_eq!(rows(replica, table), rows(source, table), "{table} at {}", replica.flavor());
        let columns = format!(
            "SELECT column_name, data_type, is_nullable, character_set_name FROM information_schema.columns \
             WHERE table_schema = 'd' AND table_name = '{table}' ORDER BY ordinal_position"
        );
        replica.equals_by(source, &columns);
    }
}

fn carried(source: Flavor, format: &str, more: &[&str], tables: &[&str]) {
    let format = format!("--binlog-format={format}");
    let settings = Settings { row_image: RowImage::Minimal, extra: vec![format], ..Settings::default() };
    let source = Server::start(source, &settings);
    let mut replica = Replica::start(flavor_under_test(), &Settings { server_id: 2, ..Settings::default() });
    replica.follow(source.flavor(), source.port(), &beginning(&source));
    let mut session = source.connect();
    for sql in SHARED.iter().chain(more) {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    is_equal(&source, &replica);
    if source.flavor() == Flavor::MySql {
        for table in tables {
            replica.equals_by(&source, &format!("SHOW CREATE TABLE d.{table}"));
        }
        let further = Replica::start(Flavor::MySql, &Settings { server_id: 3, ..Settings::default() });
        further.follow(replica.flavor(), replica.port(), &StartFrom::Gtid);
        is_equal(&replica, &further);
    }
    replica.kill();
    replica.come_back();
    is_equal(&source, &replica);
}

#[test]
fn from_mysql() {
    if available("replicate_definitions::from_mysql", &[Flavor::MySql]) {
        carried(
            Flavor::MySql,
            "ROW",
            OF_MYSQL,
            &["members", "packed", "grows", "elsewhere", "swapped", "filled", "clocks"],
        );
    }
}

/// MariaDB lets columns that choose a row's partition have new names, and gives the key of a column
/// that becomes a TEXT a length.
#[test]
fn partitions_and_keys_follow_the_changes_of_columns() {
    let test = "replicate_definitions::partitions_and_keys_follow_the_changes_of_columns";
    if !available(test, &[Flavor::MariaDb]) {
        return;
    }
    let source = Server::start(Flavor::MariaDb, &Settings::default());
    let replica = Replica::start(flavor_under_test(), &Settings { server_id: 2, ..Settings::default() });
    replica.follow(source.flavor(), source.port(), &beginning(&source));
    let mut session = source.connect();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE listed (a INT, v INT) PARTITION BY LIST COLUMNS (a) (PARTITION p0 VALUES IN (1), PARTITION p1 VALUES IN (2))",
        "INSERT INTO listed VALUES (1, 10), (2, 20)",
        "ALTER TABLE listed RENAME COLUMN a TO b",
        "ALTER TABLE listed DROP PARTITION p0",
        "CREATE TABLE ranged (a INT, v DATE) PARTITION BY RANGE (TO_DAYS(v)) SUBPARTITION BY KEY (a) SUBPARTITIONS 2 \
         (PARTITION p0 VALUES LESS THAN (TO_DAYS('2020-01-01')), PARTITION p1 VALUES LESS THAN MAXVALUE)",
        "INSERT INTO ranged VALUES (1, '2019-05-05'), (2, '2021-05-05'), (3, '2019-06-06')",
        "ALTER TABLE ranged CHANGE a b INT, CHANGE v w DATE",
        "ALTER TABLE ranged TRUNCATE PARTITION p0",
        "INSERT INTO ranged VALUES (4, '2019-07-07')",
        "CREATE TABLE keyed (id INT PRIMARY KEY, v VARCHAR(20), w VARCHAR(20), KEY (v), UNIQUE (w))",
        "INSERT INTO keyed VALUES (1, 'a', 'x'), (2, 'b', 'y')",
        "ALTER TABLE keyed MODIFY v LONGTEXT, MODIFY w TEXT",
        "UPDATE keyed SET v = REPEAT('v', 5000), w = 'z' WHERE id = 1",
        "DELETE FROM keyed WHERE v = 'b'",
    ] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    assert_eq!(rows(&replica, "keyed"), rows(&source, "keyed"));
    for table in ["listed", "ranged"] {
        assert_eq!(rows(&replica, table), rows(&source, table), "{table}");
        let partitions = format!(
            "SELECT partition_name, subpartition_name, LOWER(partition_expression), subpartition_expression \
             FROM information_schema.partitions WHERE table_schema = 'd' AND table_name = '{table}' ORDER BY 1, 2"
        );
        replica.equals_by(&source, &partitions);
    }
}

/// MariaDB drops the old table before CREATE OR REPLACE fails, and logs the statement with its
/// error.
#[test]
fn a_table_is_gone_when_its_replacement_failed_at_mariadb() {
    const NAME: &str = "replicate_definitions::a_table_is_gone_when_its_replacement_failed_at_mariadb";
    if !available(NAME, &[Flavor::MariaDb]) {
        return;
    }
    let source = Server::start(Flavor::MariaDb, &Settings::default());
    let replica = Replica::start(flavor_under_test(), &Settings { server_id: 2, ..Settings::default() });
    replica.follow(source.flavor(), source.port(), &beginning(&source));
    let mut session = source.connect();
    for sql in
        ["CREATE DATABASE d", "USE d", "CREATE TABLE old (id INT PRIMARY KEY)", "CREATE TABLE other (a INT)"]
            .into_iter()
            .chain(["CREATE TABLE twice (a INT)", "INSERT INTO twice VALUES (7)"])
    {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let of_itself = "CREATE OR REPLACE TABLE old (f INT AS (f % 7), e INT)";
    assert!(session.query(of_itself).is_err(), "a column cannot be computed from itself");
    let of_rows = "CREATE OR REPLACE TABLE twice (PRIMARY KEY (b)) SELECT 1 AS b UNION ALL SELECT 1";
    assert!(session.query(of_rows).is_err(), "two rows have one key");
    session.query("INSERT INTO other VALUES (1)").expect("the session goes on");
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT * FROM d.other");
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'd'";
    assert_eq!(source.rows(tables), ["other"]);
    replica.equals_by(&source, tables);
}

#[test]
fn from_mariadb() {
    if available("replicate_definitions::from_mariadb", &[Flavor::MariaDb]) {
        carried(Flavor::MariaDb, "ROW", OF_MARIADB, &[]);
    }
}
