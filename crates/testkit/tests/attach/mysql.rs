//! Tests with MySQL sources.

use bench::instance::{Flavor, RowImage, Settings};
use testkit::Server;

use crate::attaching::{Attaching, catch_up, shown};
use crate::work::{copied_whole, copied_whole_though_late};

fn source(test: &str, image: RowImage) -> Option<Server> {
    let settings = Settings { server_id: 1, row_image: image, ..Settings::default() };
    testkit::available(test, &[Flavor::MySql]).then(|| Server::start(Flavor::MySql, &settings))
}

const EVERYTHING: &[&str] = &[
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE kinds (id INT PRIMARY KEY AUTO_INCREMENT, i TINYINT, u BIGINT UNSIGNED, n DECIMAL(30,10), f FLOAT, \
     d DOUBLE, b BIT(10), y YEAR, dt DATE, t TIME(3), dtm DATETIME(6), ts TIMESTAMP(2) NULL, c CHAR(5), \
     l VARCHAR(50) CHARSET latin1, w VARCHAR(20) CHARSET utf16, g VARCHAR(20) CHARSET gbk, bin BINARY(4), \
     vb VARBINARY(20), tx TEXT, bl BLOB, e ENUM('a','b','c'), s SET('x','y'), j JSON, geo GEOMETRY, \
     v INT GENERATED ALWAYS AS (i + 1) VIRTUAL, st INT GENERATED ALWAYS AS (i * 2) STORED, \
     inv INT INVISIBLE DEFAULT 7, KEY (l), UNIQUE KEY (w))",
    "INSERT INTO kinds (i, u, n, f, d, b, y, dt, t, dtm, ts, c, l, w, g, bin, vb, tx, bl, e, s, j, geo) VALUES \
     (1, 18446744073709551615, -1234567890.0123456789, 0.1, 1e300, b'1000000001', 2024, '2024-02-29', '-10:00:00.5', \
     '2024-01-01 00:00:00.000001', '2024-01-01 00:00:00.25', 'é', 'é€ß', 'Ω😀', '汉字', x'0001', x'5c095c0a0027', \
     'a\\tb\\nc\\\\N', '\\0\\\\', 'b', 'x,y', '{\"a\": [1, 2.5, \"x\\\\ty\", null, true]}', ST_GeomFromText('POINT(1 2)', 4326))",
    "INSERT INTO kinds () VALUES ()",
    "INSERT INTO kinds (i, f, d, t, dtm, c, l, w, vb, tx, e, s, j) VALUES (-128, -3.4e38, 0, '838:59:59', \
     '9999-12-31 23:59:59.999999', '', '', '', '', '', 'a', '', '[]')",
    "SET cte_max_recursion_depth = 10000",
    "CREATE TABLE texts (a VARCHAR(20), b INT, c VARCHAR(100), PRIMARY KEY (a, b))",
    "INSERT INTO texts WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 4000) \
     SELECT CONCAT(IF(n % 2, 'ä', 'Z'), n DIV 7), n, REPEAT('z', n % 100) FROM r",
    "CREATE TABLE enums (e ENUM('c','a','b'), n INT, PRIMARY KEY (e, n))",
    "INSERT INTO enums VALUES ('a', 1), ('b', 2), ('c', 3)",
    "CREATE TABLE prefixes (a VARCHAR(50), b INT, PRIMARY KEY (a(3)))",
    "INSERT INTO prefixes VALUES ('abcdef', 1), ('abd', 2), ('ab', 3)",
    "CREATE TABLE parents (id INT PRIMARY KEY)",
    "CREATE TABLE children (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parents (id) ON DELETE CASCADE)",
    "INSERT INTO parents VALUES (1), (2)",
    "INSERT INTO children VALUES (1, 1), (2, 2)",
    "CREATE TABLE parts (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 4",
    "INSERT INTO parts VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)",
    "CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(50))",
    "CREATE TRIGGER t AFTER INSERT ON texts FOR EACH ROW INSERT INTO log (what) VALUES (NEW.a)",
    "CREATE VIEW counts AS SELECT a, COUNT(*) n FROM texts GROUP BY a",
    "CREATE VIEW counted AS SELECT MAX(n) FROM counts",
    "CREATE VIEW above AS SELECT * FROM counted",
    "CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN x * 2",
    "CREATE PROCEDURE counting() SELECT COUNT(*) FROM texts",
    // The source has a time zone of its own, an hour ahead of UTC.
    "INSERT INTO mysql.time_zone VALUES (4000, 'N')",
    "INSERT INTO mysql.time_zone_transition_type VALUES (4000, 0, 3600, 0, 'HOUR')",
    "INSERT INTO mysql.time_zone_transition VALUES (4000, -1000, 0)",
    "INSERT INTO mysql.time_zone_name VALUES ('Mine/Hour', 4000)",
    "SET time_zone = 'Mine/Hour'",
    "CREATE EVENT later ON SCHEDULE AT '2090-01-01 00:00:00' DO INSERT INTO log (what) VALUES ('event')",
    "SET time_zone = DEFAULT",
    "CREATE DATABASE `we``ird`",
    "CREATE TABLE `we``ird`.`t 1` (`a b` INT PRIMARY KEY, `ü` INT)",
    "INSERT INTO `we``ird`.`t 1` VALUES (1, 2)",
];

const COMPARED: &[&str] = &[
    "SELECT id, i, u, n, f, d, HEX(b), y, dt, t, dtm, ts, c, HEX(l), HEX(w), HEX(g), HEX(bin), HEX(vb), HEX(tx), HEX(bl), \
     e, s, j, ST_AsText(geo), v, st, inv FROM shop.kinds ORDER BY id",
    "SELECT * FROM shop.texts ORDER BY a, b",
    "SELECT * FROM shop.enums ORDER BY n",
    "SELECT * FROM shop.prefixes ORDER BY b",
    "SELECT * FROM shop.children ORDER BY id",
    "SELECT * FROM shop.parts ORDER BY id",
    "SELECT * FROM shop.log ORDER BY id",
    "SELECT * FROM shop.above",
    "SELECT shop.twice(21)",
    "SELECT * FROM mysql.time_zone_name ORDER BY 1",
    "SELECT * FROM mysql.time_zone_transition ORDER BY 1, 2",
    "SELECT CONVERT_TZ('2024-01-01 10:00:00', 'Mine/Hour', '+00:00')",
    "SELECT TIME_ZONE FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'shop'",
    "SELECT * FROM `we``ird`.`t 1`",
    "SHOW CREATE TABLE shop.kinds",
    "SHOW CREATE TABLE shop.children",
    "SHOW CREATE TABLE shop.parts",
    "SHOW CREATE VIEW shop.above",
    "SHOW CREATE FUNCTION shop.twice",
    "SHOW CREATE PROCEDURE shop.counting",
    "SELECT TRIGGER_SCHEMA, TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop'",
];

#[test]
fn everything_of_a_source_is_there() {
    let Some(source) = source("everything_of_a_source_is_there", RowImage::Full) else { return };
    let mut there = source.connect();
    EVERYTHING.iter().for_each(|sql| drop(there.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))));
    let mut replica = Attaching::new(&source);
    replica.start();
    let mut here = replica.wait();
    // From here on the copy is a replica like any other.
    for sql in [
        "INSERT INTO texts VALUES ('new', 1, 'x')",
        "DELETE FROM parents WHERE id = 1",
        "DROP VIEW above",
        "CREATE VIEW above AS SELECT 1 AS one",
        "UPDATE kinds SET i = 5 WHERE id = 2",
    ] {
        there.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    catch_up(&source, &mut here);
    // The queries come from a session without a schema, which is shown all names in full.
    let mut there = source.connect();
    for sql in COMPARED {
        assert_eq!(shown(&mut here, sql), shown(&mut there, sql), "{sql}");
    }
    let event = "SELECT STATUS FROM information_schema.EVENTS WHERE EVENT_NAME = 'later'";
    assert_eq!(shown(&mut here, event)[0][0], "REPLICA_SIDE_DISABLED");
    assert!(shown(&mut here, "SHOW DATABASES LIKE 'slipstream%'").is_empty(), "nothing is left of the copy");
}

#[test]
fn checks_name_all_that_is_in_the_way() {
    let Some(source) = source("checks_name_all_that_is_in_the_way", RowImage::Minimal) else { return };
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.keyless (a INT)",
        "CREATE TABLE d.old (a INT PRIMARY KEY) ENGINE = MyISAM",
        "SET GLOBAL binlog_row_value_options = PARTIAL_JSON",
    ] {
        source.run(sql);
    }
    let replica = Attaching::new(&source);
    source.run("REVOKE REPLICATION SLAVE, LOCK TABLES, SHOW VIEW ON *.* FROM repl");
    let told = replica.dry_run();
    for what in [
        "error: binlog_row_image is 'MINIMAL'",
        "error: binlog_row_value_options is 'PARTIAL_JSON'",
        "error: the account lacks REPLICATION SLAVE.",
        "note: d.keyless has no primary key or keeps its history, and is read in one snapshot.",
        "error: d.keyless has no primary key or keeps its history, and the account lacks LOCK TABLES.",
        "error: d.old is not of InnoDB",
        "note: views, triggers and events that the account may not read",
        "5 of the checks failed",
    ] {
        assert!(told.contains(what), "{what} is not in: {told}");
    }
}

#[test]
fn a_source_at_work_is_copied_whole() {
    let test = "a_source_at_work_is_copied_whole";
    let Some(source) = source(test, RowImage::Full) else { return };
    copied_whole(test, &source, 0);
}

#[test]
fn a_source_whose_transactions_are_visible_late_is_copied_whole() {
    let test = "a_source_whose_transactions_are_visible_late_is_copied_whole";
    let Some(source) = source(test, RowImage::Full) else { return };
    copied_whole_though_late(test, &source);
}

#[test]
fn a_source_without_gtids_whose_transactions_are_visible_late_is_copied_whole() {
    let test = "a_source_without_gtids_whose_transactions_are_visible_late_is_copied_whole";
    let Some(source) = source_without_gtids(test) else { return };
    copied_whole_though_late(test, &source);
}

#[test]
fn an_attachment_goes_on_after_kills() {
    let test = "an_attachment_goes_on_after_kills";
    let Some(source) = source(test, RowImage::Full) else { return };
    copied_whole(test, &source, testkit::times("ATTACH_KILLS", 5));
}

#[test]
fn a_source_without_gtids_at_work_is_copied_whole() {
    let test = "a_source_without_gtids_at_work_is_copied_whole";
    let Some(source) = source_without_gtids(test) else { return };
    copied_whole(test, &source, 0);
}

#[test]
fn an_attachment_without_gtids_goes_on_after_kills() {
    let test = "an_attachment_without_gtids_goes_on_after_kills";
    let Some(source) = source_without_gtids(test) else { return };
    copied_whole(test, &source, testkit::times("ATTACH_KILLS", 5));
}

fn source_without_gtids(test: &str) -> Option<Server> {
    let settings = Settings { server_id: 1, gtid: false, ..Settings::default() };
    testkit::available(test, &[Flavor::MySql]).then(|| Server::start(Flavor::MySql, &settings))
}
