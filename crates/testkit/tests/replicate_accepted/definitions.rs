//! Tests of definitions that a source accepts and that are refused, or mean something else, where
//! they are a client's: columns that are added, tables of queries, defaults, triggers, packages.

use bench::instance::Flavor;

use crate::same_behind;

/// The table of a query has the name of a temporary table, which goes on to hide it.
const BESIDE_A_TEMPORARY_TABLE: &[&str] = &[
    "CREATE TABLE b (x INT)",
    "INSERT INTO b VALUES (1), (2)",
    "CREATE TEMPORARY TABLE t (a INT)",
    "INSERT INTO t VALUES (7)",
    "CREATE TABLE IF NOT EXISTS t SELECT x FROM b",
    "INSERT INTO t VALUES (8)",
    "CREATE TEMPORARY TABLE same (a INT)",
    "INSERT INTO same VALUES (9)",
    "CREATE TABLE same SELECT * FROM same",
    "DROP TEMPORARY TABLE t",
    "INSERT INTO t VALUES (3)",
];

#[test]
fn a_table_of_a_query_may_have_the_name_of_a_temporary_table() {
    const FORMATS: &[&str] = &["STATEMENT", "MIXED"];
    same_behind("beside_temporary_mysql", Flavor::MySql, FORMATS, BESIDE_A_TEMPORARY_TABLE);
    same_behind("beside_temporary_mariadb", Flavor::MariaDb, FORMATS, BESIDE_A_TEMPORARY_TABLE);
}

/// Geometries that may not be NULL are added to tables without rows.
const GEOMETRIES_ADDED: &[&str] = &[
    "CREATE TABLE g (id INT AUTO_INCREMENT PRIMARY KEY)",
    "ALTER TABLE g ADD p POINT NOT NULL",
    "INSERT INTO g VALUES (1, POINT(1, 2))",
    "CREATE TABLE h (id INT PRIMARY KEY, v VARCHAR(9))",
    "ALTER TABLE h ADD UNIQUE (v), ADD p GEOMETRY NOT NULL FIRST, ADD n INT DEFAULT 4",
    "INSERT INTO h VALUES (POINT(1, 2), 1, 'a', 2)",
];

#[test]
fn geometries_that_may_not_be_null_are_added_to_tables_without_rows() {
    let mut of_mysql = GEOMETRIES_ADDED.to_vec();
    of_mysql.extend([
        "CREATE TABLE f (id INT PRIMARY KEY)",
        "ALTER TABLE f ADD UNIQUE k ((id + 1)), ADD c POINT NOT NULL",
        "INSERT INTO f VALUES (1, POINT(1, 2))",
        "refused: ALTER TABLE f ADD d POINT NOT NULL",
    ]);
    same_behind("geometries_added_mysql", Flavor::MySql, &["ROW"], &of_mysql);
    let mut of_mariadb = GEOMETRIES_ADDED.to_vec();
    // The rows that are there have geometries without bytes.
    of_mariadb
        .extend(["ALTER TABLE g ADD q POINT NOT NULL", "INSERT INTO g VALUES (2, POINT(1, 2), POINT(3, 4))"]);
    same_behind("geometries_added_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], &of_mariadb);
}

/// Defaults that MariaDB computes in a way of its own.
const DEFAULTS_OF_MARIADB: &[&str] = &[
    "CREATE TABLE e (a ENUM('0', '1', '2') DEFAULT 1, s SET('0', '1', '2', '3') DEFAULT 3, x INT)",
    "INSERT INTO e (x) VALUES (1)",
    "INSERT INTO e VALUES (DEFAULT, DEFAULT, 2)",
    "CREATE TABLE e2 (a ENUM('0', '1', '2') DEFAULT '1', s SET('0', '1', '2', '3') DEFAULT '3', x INT)",
    "INSERT INTO e2 (x) VALUES (1)",
    "SET timestamp = 1764000000.123456",
    "CREATE TABLE n (f DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), t TIMESTAMP(6) DEFAULT NOW(), \
     g DATETIME(2) DEFAULT CURRENT_TIMESTAMP(5), i INT)",
    "INSERT INTO n (i) VALUES (1)",
    "ALTER TABLE n ADD h DATETIME(6) DEFAULT CURRENT_TIMESTAMP(1)",
    "CREATE TABLE j (id INT, a JSON DEFAULT (JSON_ARRAY()), b LONGTEXT DEFAULT (JSON_OBJECT('a', 1)))",
    "INSERT INTO j (id) VALUES (1)",
    "INSERT INTO j VALUES (2, JSON_ARRAY(1, 1.50, 'x\"\\\\\\n', NULL, TRUE, 1 = 2, JSON_ARRAY('in')), \
     JSON_OBJECT('k', JSON_OBJECT(), 2, 'two', 'k', 0.5e0))",
];

#[test]
fn defaults_of_mariadb_are_computed_as_it_does() {
    same_behind("defaults_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], DEFAULTS_OF_MARIADB);
}

/// Statements that MariaDB logs although they change nothing, or nothing that is logged.
const WITHOUT_EFFECT: &[&str] = &[
    "CREATE TABLE a (x INT)",
    "CREATE TABLE b (x INT)",
    "CREATE TRIGGER g BEFORE INSERT ON a FOR EACH ROW SET @x = 1",
    "CREATE TRIGGER IF NOT EXISTS g BEFORE INSERT ON b FOR EACH ROW SET @x = 2",
    "CREATE TEMPORARY SEQUENCE s1",
    "RENAME TABLE s1 TO s2",
    "DROP TEMPORARY SEQUENCE s2",
    "SET sql_mode = ORACLE",
    "CREATE PACKAGE pk AS PROCEDURE p1(a INT); FUNCTION f1 RETURN INT; END",
    "CREATE PACKAGE BODY pk AS v INT := 1; PROCEDURE p1(a INT) AS BEGIN SELECT a; END; \
     FUNCTION f1 RETURN INT AS BEGIN RETURN 5; END; BEGIN v := 2; END",
    "CREATE OR REPLACE PACKAGE pk2 COMMENT 'x' AS FUNCTION f2 RETURN INT; END",
    "DROP PACKAGE BODY pk",
    "DROP PACKAGE IF EXISTS nowhere",
    "DROP PACKAGE pk2",
    "DROP PACKAGE pk",
    "SET sql_mode = DEFAULT",
    "INSERT INTO a VALUES (1)",
];

/// Tables of which some are missing when they are dropped. MariaDB drops the others.
const PARTLY_MISSING: &[&str] = &[
    "CREATE TABLE kept (a INT)",
    "CREATE TABLE b (a INT)",
    "refused: DROP TABLE b, missing",
    "CREATE TABLE b (a INT)",
    "refused: DROP TABLE missing, b, lacking",
    "CREATE TABLE b (a INT)",
    "SET NAMES gbk",
    "refused: DROP TABLE b, `größe`",
    "CREATE SEQUENCE s",
    "refused: DROP SEQUENCE s, missing",
    "INSERT INTO kept VALUES (1)",
];

#[test]
fn mariadb_drops_the_tables_that_are_there() {
    same_behind("partly_missing", Flavor::MariaDb, &["ROW", "STATEMENT"], PARTLY_MISSING);
}

#[test]
fn what_mariadb_logs_without_effect_does_not_stop_the_applier() {
    same_behind("without_effect", Flavor::MariaDb, &["ROW", "STATEMENT"], WITHOUT_EFFECT);
}

/// What CREATE TABLE ... SELECT makes of bits, and partitions of bytes.
const BITS_AND_BYTES: &[&str] = &[
    "CREATE TABLE bits (a BIT(7) DEFAULT 1, b BIT(7) NOT NULL DEFAULT b'101', c BIT(7) NOT NULL, d INT DEFAULT 5)",
    "INSERT INTO bits VALUES (1, 2, 3, 4)",
    "CREATE TABLE taken AS SELECT a AS x, b, c, d FROM bits",
    "INSERT INTO taken (d) VALUES (DEFAULT)",
    "CREATE TABLE parts (c VARBINARY(30), d INT) PARTITION BY LIST COLUMNS(c) (PARTITION p0 VALUES IN ('', 'a'), \
     PARTITION p1 VALUES IN (NULL, 'b'))",
    "INSERT INTO parts VALUES ('', 1), (NULL, 2), ('b', 3)",
    "ALTER TABLE parts TRUNCATE PARTITION p0",
];

#[test]
fn defaults_of_bits_and_partitions_of_bytes_are_those_of_the_source() {
    let mut of_mysql = BITS_AND_BYTES.to_vec();
    of_mysql.extend([
        "CREATE FUNCTION f() RETURNS INT DETERMINISTIC COMMENT 'plain' RETURN 1",
        "ALTER FUNCTION f COMMENT ''",
    ]);
    same_behind("bits_mysql", Flavor::MySql, &["ROW", "STATEMENT"], &of_mysql);
    let mut of_mariadb: Vec<&str> =
        BITS_AND_BYTES.iter().filter(|sql| !sql.contains("(d) VALUES (DEFAULT)")).copied().collect();
    of_mariadb.extend([
        "CREATE FUNCTION f() RETURNS INT DETERMINISTIC COMMENT 'plain' RETURN 1",
        "ALTER FUNCTION f COMMENT ''",
        "CREATE TABLE g (i INT PRIMARY KEY, c GEOMETRYCOLLECTION)",
        "INSERT INTO g VALUES (1, POINT(1, 2)), (2, ST_GeomFromText('LINESTRING(1 2, 3 4)')), \
         (3, ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 2))'))",
        "UPDATE g SET c = ST_GeomFromText('POLYGON((0 0, 1 1, 1 0, 0 0))') WHERE i = 3",
        "CREATE TABLE hash (a INT, b INT, KEY k (a DESC) USING HASH, KEY (b DESC))",
    ]);
    same_behind("bits_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], &of_mariadb);
}
