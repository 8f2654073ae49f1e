//! Tests with MariaDB sources: the copy is what replication would have brought.

use bench::instance::{Flavor, Settings};
use testkit::following::beginning;
use testkit::{Replica, Server};

use crate::attaching::{Attaching, catch_up, shown};
use crate::work::copied_whole;

fn source(test: &str) -> Option<Server> {
    let settings = Settings { server_id: 1, ..Settings::default() };
    testkit::available(test, &[Flavor::MariaDb]).then(|| Server::start(Flavor::MariaDb, &settings))
}

const EVERYTHING: &[&str] = &[
    "CREATE DATABASE shop CHARACTER SET utf8mb4",
    "USE shop",
    "CREATE TABLE kinds (id INT PRIMARY KEY AUTO_INCREMENT, i TINYINT ZEROFILL, u BIGINT UNSIGNED, n DECIMAL(30,10), \
     f FLOAT, d DOUBLE, b BIT(10), y YEAR, dt DATE, t TIME(3), dtm DATETIME(6) DEFAULT current_timestamp(6), \
     ts TIMESTAMP(2) NULL, c CHAR(5), l VARCHAR(50) CHARSET latin1, w VARCHAR(20) CHARSET utf16, bin BINARY(4), \
     vb VARBINARY(20), tx TEXT DEFAULT 'a', bl BLOB, e ENUM('a','b','c'), s SET('x','y'), j JSON, g POINT, uu UUID, \
     i4 INET4, i6 INET6, p VARCHAR(20) COMPRESSED, v INT AS (i + 1) VIRTUAL, st INT AS (i * 2) PERSISTENT, \
     inv INT INVISIBLE DEFAULT 7, k INT CHECK (k > 0), KEY (l), UNIQUE KEY (w))",
    "INSERT INTO kinds (i, u, n, f, d, b, y, dt, t, dtm, ts, c, l, w, bin, vb, tx, bl, e, s, j, g, uu, i4, i6, p, k) VALUES \
     (1, 18446744073709551615, -1234567890.0123456789, 0.1, 1e300, b'1000000001', 2024, '2024-02-29', '-10:00:00.5', \
     '2024-01-01 00:00:00.000001', '2024-01-01 00:00:00.25', 'é', 'é€ß', 'Ω😀', x'0001', x'5c095c0a0027', \
     'a\\tb\\nc\\\\N', '\\0\\\\', 'b', 'x,y', '{\"a\":  [1, 2.5, \"x\\\\ty\"]}', POINT(1, 2), \
     '123e4567-e89b-12d3-a456-426614174000', '10.0.0.1', '2001:db8::1', 'pressed', 5)",
    "INSERT INTO kinds (i) VALUES (NULL)",
    "CREATE TABLE texts (a VARCHAR(20), b INT, c VARCHAR(100), PRIMARY KEY (a, b))",
    "INSERT INTO texts SELECT CONCAT(IF(seq % 2, 'ä', 'Z'), seq DIV 7), seq, REPEAT('z', seq % 100) FROM seq_1_to_4000",
    "CREATE TABLE ids (id UUID PRIMARY KEY, n INT)",
    "INSERT INTO ids SELECT UUID(), seq FROM seq_1_to_3000",
    "CREATE TABLE bins (id BINARY(3), n INT, PRIMARY KEY (id, n))",
    "INSERT INTO bins SELECT LEFT(UNHEX(MD5(seq)), 3), seq FROM seq_1_to_2000",
    "CREATE TABLE parents (id INT PRIMARY KEY)",
    "CREATE TABLE children (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parents (id))",
    "INSERT INTO parents VALUES (1), (2)",
    "INSERT INTO children VALUES (1, 1), (2, 2)",
    "CREATE TABLE parts (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 4",
    "INSERT INTO parts VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)",
    "CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(50))",
    "CREATE TRIGGER t AFTER INSERT ON texts FOR EACH ROW INSERT INTO log (what) VALUES (NEW.a)",
    "CREATE VIEW counts AS SELECT a, COUNT(*) n FROM texts GROUP BY a",
    "CREATE VIEW above AS SELECT MAX(n) FROM counts",
    "CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN x * 2",
    "CREATE PROCEDURE counting() SELECT COUNT(*) FROM texts",
    "CREATE SEQUENCE ids_from START WITH 10 INCREMENT BY 5 CACHE 3",
    "SELECT NEXTVAL(ids_from), NEXTVAL(ids_from), NEXTVAL(ids_from), NEXTVAL(ids_from)",
    "CREATE SEQUENCE spent MAXVALUE 3 NOCACHE",
    "SELECT NEXTVAL(spent), NEXTVAL(spent), NEXTVAL(spent)",
    "CREATE TABLE numbered (id BIGINT DEFAULT NEXTVAL(ids_from) PRIMARY KEY, n INT)",
    "INSERT INTO numbered (n) VALUES (1), (2)",
    "CREATE TABLE past (id INT PRIMARY KEY, n INT, d INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING",
    "INSERT INTO past VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)",
    "UPDATE past SET n = n + 10 WHERE id < 3",
    "UPDATE past SET n = n + 10 WHERE id = 1",
    "DELETE FROM past WHERE id = 2",
    "INSERT INTO past VALUES (2, 22, 22)",
    "CREATE TABLE named (a INT, b VARCHAR(9), rs TIMESTAMP(6) AS ROW START, re TIMESTAMP(6) AS ROW END INVISIBLE, \
     PERIOD FOR SYSTEM_TIME (rs, re)) WITH SYSTEM VERSIONING",
    "INSERT INTO named (a, b) VALUES (1, 'x'), (1, 'x'), (2, 'y')",
    "UPDATE named SET b = 'z' WHERE a = 1 LIMIT 1",
    "DELETE FROM named WHERE a = 2",
    "CREATE TABLE rooms (room INT, d1 DATE, d2 DATE, PERIOD FOR p (d1, d2), PRIMARY KEY (room, d1))",
    "INSERT INTO rooms VALUES (1, '2024-01-01', '2024-02-01'), (2, '2024-01-01', '2024-03-01')",
    // The source has a time zone of its own, an hour ahead of UTC.
    "INSERT INTO mysql.time_zone VALUES (4000, 'N')",
    "INSERT INTO mysql.time_zone_transition_type VALUES (4000, 0, 3600, 0, 'HOUR')",
    "INSERT INTO mysql.time_zone_transition VALUES (4000, -1000, 0)",
    "INSERT INTO mysql.time_zone_name VALUES ('Mine/Hour', 4000)",
    "SET time_zone = 'Mine/Hour'",
    "CREATE EVENT later ON SCHEDULE AT '2037-01-01 00:00:00' DO INSERT INTO log (what) VALUES ('event')",
    "SET time_zone = DEFAULT",
    "CREATE USER shopper IDENTIFIED BY 'pass'",
    "CREATE ROLE buyers",
    "GRANT SELECT ON shop.* TO buyers",
    "GRANT buyers TO shopper",
    "SET DEFAULT ROLE buyers FOR shopper",
    "GRANT INSERT, DELETE HISTORY, UPDATE ON shop.log TO shopper",
    "GRANT REPLICATION CLIENT ON *.* TO shopper WITH GRANT OPTION",
];

/// Queries that the source must answer in the same way.
const ROWS: &[&str] = &[
    "SELECT id, i, u, n, f, d, HEX(b), y, dt, t, dtm, ts, c, HEX(l), HEX(w), HEX(bin), HEX(vb), HEX(tx), HEX(bl), e, s, \
     j, ST_AsText(g), uu, i4, i6, p, v, st, inv, k FROM shop.kinds ORDER BY id",
    "SELECT * FROM shop.texts ORDER BY a, b",
    "SELECT * FROM shop.ids ORDER BY n",
    "SELECT HEX(id), n FROM shop.bins ORDER BY n",
    "SELECT * FROM shop.children ORDER BY id",
    "SELECT * FROM shop.parts ORDER BY id",
    "SELECT * FROM shop.log ORDER BY id",
    "SELECT * FROM shop.ids_from",
    "SELECT * FROM shop.spent",
    "SELECT * FROM shop.numbered ORDER BY id",
    "SELECT id, n, d, row_start, row_end FROM shop.past FOR SYSTEM_TIME ALL ORDER BY id, row_end",
    "SELECT a, b, rs, re FROM shop.named FOR SYSTEM_TIME ALL ORDER BY a, b, re",
    "SELECT * FROM shop.past ORDER BY id",
    "SELECT * FROM shop.rooms ORDER BY 1",
    "SELECT * FROM shop.above",
    "SELECT shop.twice(21)",
    "SELECT * FROM mysql.time_zone_name ORDER BY 1",
    "SELECT * FROM mysql.time_zone_transition ORDER BY 1, 2",
    "SELECT CONVERT_TZ('2024-01-01 10:00:00', 'Mine/Hour', '+00:00')",
    "SELECT TIME_ZONE FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'shop'",
];

/// Queries that a replica that has followed the source from its beginning must answer in the same
/// way.
const DEFINITIONS: &[&str] = &[
    "SHOW CREATE DATABASE shop",
    "SHOW CREATE TABLE shop.kinds",
    "SHOW CREATE TABLE shop.texts",
    "SHOW CREATE TABLE shop.ids",
    "SHOW CREATE TABLE shop.children",
    "SHOW CREATE TABLE shop.parts",
    "SHOW CREATE TABLE shop.past",
    "SHOW CREATE TABLE shop.named",
    "SHOW CREATE TABLE shop.rooms",
    "SHOW CREATE SEQUENCE shop.ids_from",
    "SHOW CREATE VIEW shop.counts",
    "SHOW CREATE VIEW shop.above",
    "SELECT ROUTINE_NAME, ROUTINE_DEFINITION, DTD_IDENTIFIER, SQL_MODE FROM information_schema.ROUTINES \
     WHERE ROUTINE_SCHEMA = 'shop' ORDER BY 1",
    "SELECT TRIGGER_NAME, ACTION_STATEMENT, SQL_MODE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop'",
    "SELECT EVENT_NAME, EVENT_DEFINITION, STATUS FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'shop'",
];

#[test]
fn everything_of_mariadb_is_there_as_replication_brings_it() {
    let Some(source) = source("everything_of_mariadb_is_there_as_replication_brings_it") else { return };
    let mut there = source.connect();
    EVERYTHING.iter().for_each(|sql| drop(there.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))));
    let replicated = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    replicated.follow(Flavor::MariaDb, source.port(), &beginning(&source));
    replicated.catch_up(&source);
    let mut replica = Attaching::new(&source);
    replica.start();
    let mut here = replica.wait();
    let status = here.query("SHOW REPLICA STATUS").expect("it answers");
    assert_eq!(status.text(0, "Using_Gtid").as_deref(), Some("Slave_Pos"), "it goes on by GTIDs");
    for sql in [
        "INSERT INTO texts VALUES ('new', 1, 'x')",
        "SELECT NEXTVAL(ids_from), NEXTVAL(ids_from)",
        "INSERT INTO numbered (n) VALUES (3)",
        "UPDATE past SET n = 100 WHERE id IN (1, 3)",
        "DELETE FROM named WHERE b = 'z'",
        "DELETE FROM rooms WHERE room = 2",
        "FLUSH BINARY LOGS",
        "DELETE FROM children WHERE id = 1",
        "CREATE OR REPLACE VIEW above AS SELECT 1 AS one",
        "UPDATE kinds SET i = 5 WHERE id = 2",
    ] {
        there.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    catch_up(&source, &mut here);
    replicated.catch_up(&source);
    let mut brought = replicated.connect();
    for sql in ROWS {
        assert_eq!(shown(&mut here, sql), shown(&mut there, sql), "{sql}");
    }
    for sql in DEFINITIONS {
        assert_eq!(shown(&mut here, sql), shown(&mut brought, sql), "{sql}");
    }
    let grants = shown(&mut here, "SHOW GRANTS FOR shopper");
    let grants: Vec<&str> = grants.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(
        grants,
        [
            "GRANT REPLICATION CLIENT ON *.* TO `shopper`@`%` WITH GRANT OPTION",
            "GRANT INSERT, UPDATE ON `shop`.`log` TO `shopper`@`%`",
            "GRANT `buyers`@`%` TO `shopper`@`%`",
        ]
    );
    let mut shopper = replica.log_in("shopper", "pass").expect("the password is the source's");
    shopper.query("SELECT COUNT(*) FROM shop.texts").expect("its default role may read");
    assert!(shown(&mut here, "SHOW DATABASES LIKE 'slipstream%'").is_empty(), "nothing is left of the copy");
}

#[test]
fn checks_of_mariadb_name_all_that_is_in_the_way() {
    let Some(source) = source("checks_of_mariadb_name_all_that_is_in_the_way") else { return };
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.keyless (a INT)",
        "CREATE TABLE d.by_numbers (a INT, s BIGINT UNSIGNED AS ROW START, e BIGINT UNSIGNED AS ROW END, \
         PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING",
        "CREATE TABLE d.history (a INT PRIMARY KEY) WITH SYSTEM VERSIONING",
        "CREATE TABLE d.parents (a INT PRIMARY KEY)",
        "CREATE TABLE d.children (a INT PRIMARY KEY, FOREIGN KEY (a) REFERENCES d.parents (a) ON DELETE CASCADE)",
        "SET GLOBAL binlog_format = MIXED",
    ] {
        source.run(sql);
    }
    let replica = Attaching::new(&source);
    source.run("REVOKE REPLICATION CLIENT ON *.* FROM repl");
    let told = replica.dry_run();
    for what in [
        "error: binlog_format is 'MIXED'",
        "error: the account lacks BINLOG MONITOR.",
        "note: each of d.by_numbers, d.history, d.keyless has no primary key or keeps its history, and is read in one snapshot.",
        "error: d.by_numbers is versioned by transactions",
        "error: d.children follows another table by a foreign key",
        "4 of the checks failed",
    ] {
        assert!(told.contains(what), "{what} is not in: {told}");
    }
}

#[test]
fn a_mariadb_at_work_is_copied_whole() {
    let test = "a_mariadb_at_work_is_copied_whole";
    let Some(source) = source(test) else { return };
    copied_whole(test, &source, 0);
}

#[test]
fn an_attachment_to_mariadb_goes_on_after_kills() {
    let test = "an_attachment_to_mariadb_goes_on_after_kills";
    let Some(source) = source(test) else { return };
    copied_whole(test, &source, testkit::times("ATTACH_KILLS", 5));
}
