//! Tests of MariaDB's application-time periods. Behind a source, a statement with IGNORE, or one
//! that fails half way, leaves out the same rows of a unique key WITHOUT OVERLAPS as at the source,
//! and `FOR PORTION OF` leaves the same rows. Clients get from `FOR PORTION OF` what they get of
//! MariaDB.

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use protocol::client::ClientError;
use testkit::{Replica, Server};

const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE p (id INT, room INT, s DATE, e DATE, PERIOD FOR pp(s, e), UNIQUE (room, pp WITHOUT OVERLAPS))",
    "CREATE TABLE q (id INT, s DATETIME, e DATETIME, note VARCHAR(9), PERIOD FOR pp(s, e), \
     PRIMARY KEY (id, pp WITHOUT OVERLAPS))",
    "CREATE TABLE o (id INT, s DATE, e DATE, PERIOD FOR pp(s, e))",
    "CREATE TABLE n (id INT, s DATE, e DATE, note INT, PERIOD FOR pp(s, e), \
     PRIMARY KEY (id, pp WITHOUT OVERLAPS)) ENGINE=MyISAM",
    "INSERT INTO p VALUES (1, 1, '2020-01-01', '2020-02-01'), (2, 1, '2020-02-01', '2020-03-01'), \
     (3, 2, '2020-01-01', '2020-06-01'), (4, NULL, '2020-01-01', '2020-06-01'), (5, NULL, '2020-01-01', '2020-06-01')",
    "INSERT IGNORE INTO p VALUES (6, 1, '2020-01-15', '2020-01-16'), (7, 1, '2020-03-01', '2020-03-02'), \
     (8, 1, '2019-12-01', '2021-01-01'), (9, 1, '2019-12-01', '2020-01-01')",
    "UPDATE IGNORE p SET room = 1",
    "UPDATE IGNORE p SET e = e + INTERVAL 1 DAY ORDER BY id",
    "UPDATE IGNORE p SET s = s + INTERVAL 1 DAY, room = 2 WHERE id = 2",
    "INSERT INTO q VALUES (1, '2020-01-01', '2020-01-02', 'a'), (1, '2020-01-02', '2020-01-03', 'b')",
    "INSERT IGNORE INTO q VALUES (1, '2020-01-01 12:00:00', '2020-01-01 13:00:00', 'c'), \
     (2, '2020-01-01', '2021-01-02', 'd')",
    "UPDATE IGNORE q SET id = 1 WHERE note = 'd'",
    "UPDATE IGNORE q SET id = 2 WHERE note = 'a'",
    "UPDATE q SET note = 'x'",
    // A key goes with its last column beside the period's.
    "CREATE TABLE x (id INT, s DATE, e DATE, PERIOD FOR pp(s, e), UNIQUE k (id, pp WITHOUT OVERLAPS))",
    "INSERT INTO x VALUES (1, '2020-01-01', '2020-02-01'), (2, '2020-01-01', '2020-02-01')",
    "ALTER TABLE x DROP id, DROP PERIOD IF EXISTS FOR pp",
    "CREATE TABLE y (id INT, s DATE, e DATE, PERIOD FOR pp(s, e), UNIQUE (id, pp WITHOUT OVERLAPS))",
    "ALTER TABLE y DROP id",
    "INSERT INTO y VALUES ('2020-01-01', '2020-02-01'), ('2020-01-15', '2020-03-01')",
    "UPDATE y SET e = '2021-01-01'",
    // A period that ends before it begins is refused, so IGNORE leaves these rows out.
    "INSERT IGNORE INTO o VALUES (1, '2020-01-01', NULL), (2, '2020-02-01', '2020-01-01'), \
     (3, '2020-01-01', '2020-01-01'), (4, '2020-01-01', '2020-01-02')",
    "UPDATE IGNORE o SET s = '2021-01-01'",
    // The third row fails, and MyISAM keeps the first two.
    "INSERT INTO n VALUES (1, '2020-01-01', '2020-02-01', 1), (1, '2020-02-01', '2020-03-01', 2), \
     (1, '2020-02-15', '2020-02-16', 3), (2, '2020-02-15', '2020-02-16', 4)",
];

/// Tables in which a trigger notes each change, with generated columns, a key that cascades and
/// partitions, and with the rows of the past.
const PORTIONS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE noted (n INT PRIMARY KEY, what VARCHAR(200))",
    "CREATE TABLE p (id INT PRIMARY KEY AUTO_INCREMENT, v INT, s DATE, e DATE, PERIOD FOR pp(s, e))",
    "CREATE TABLE o (id INT, v INT, s DATETIME(3), e DATETIME(3), PERIOD FOR pp(s, e), \
     UNIQUE (id, pp WITHOUT OVERLAPS))",
    "CREATE TABLE t (id INT, v INT, s DATE, e DATE, PERIOD FOR pp(s, e), y INT AS (YEAR(s)) STORED, \
     z INT AS (YEAR(e)), u TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), KEY (y))",
    "CREATE TABLE h (id INT, s TIMESTAMP, e TIMESTAMP, PERIOD FOR pp(s, e)) WITH SYSTEM VERSIONING",
    "CREATE TABLE k (id INT PRIMARY KEY, s DATE, e DATE, PERIOD FOR pp(s, e))",
    "CREATE TABLE c (a INT PRIMARY KEY, k INT, FOREIGN KEY (k) REFERENCES k (id) ON DELETE CASCADE)",
    "CREATE TABLE r (id INT, s DATE, e DATE, PERIOD FOR pp(s, e)) PARTITION BY RANGE (YEAR(s)) \
     (PARTITION p0 VALUES LESS THAN (2002), PARTITION p1 VALUES LESS THAN (2006))",
    "CREATE TRIGGER bi BEFORE INSERT ON o FOR EACH ROW INSERT INTO noted SELECT COUNT(*), \
     CONCAT_WS(',', 'bi', NEW.id, NEW.v, NEW.s, NEW.e) FROM noted b",
    "CREATE TRIGGER ai AFTER INSERT ON o FOR EACH ROW INSERT INTO noted SELECT COUNT(*), \
     CONCAT_WS(',', 'ai', NEW.id, NEW.v, NEW.s, NEW.e) FROM noted b",
    "CREATE TRIGGER bu BEFORE UPDATE ON o FOR EACH ROW INSERT INTO noted SELECT COUNT(*), \
     CONCAT_WS(',', 'bu', OLD.v, OLD.s, OLD.e, NEW.id, NEW.v, NEW.s, NEW.e) FROM noted b",
    "CREATE TRIGGER au AFTER UPDATE ON o FOR EACH ROW INSERT INTO noted SELECT COUNT(*), \
     CONCAT_WS(',', 'au', OLD.v, OLD.s, OLD.e, NEW.id, NEW.v, NEW.s, NEW.e) FROM noted b",
    "CREATE TRIGGER bd BEFORE DELETE ON o FOR EACH ROW INSERT INTO noted SELECT COUNT(*), \
     CONCAT_WS(',', 'bd', OLD.id, OLD.v, OLD.s, OLD.e) FROM noted b",
    "CREATE TRIGGER ad AFTER DELETE ON o FOR EACH ROW INSERT INTO noted SELECT COUNT(*), \
     CONCAT_WS(',', 'ad', OLD.id, OLD.v, OLD.s, OLD.e) FROM noted b",
    "INSERT INTO p (v, s, e) VALUES (1, '2000-01-01', '2010-01-01'), (2, '2001-01-01', '2002-01-01'), \
     (3, '2001-06-01', '2003-01-01')",
    "INSERT INTO o VALUES (1, 1, '2000-01-01', '2010-01-01'), (2, 2, '2000-06-01', '2001-01-01')",
    "SET timestamp = 1000000000",
    "INSERT INTO t (id, v, s, e) VALUES (1, 1, '2000-01-01', '2010-01-01'), (2, 2, '2005-01-01', '2006-01-01')",
    "INSERT INTO h VALUES (1, '2000-01-01', '2010-01-01'), (2, '2000-01-01', '2010-01-01')",
    "INSERT INTO k VALUES (1, '2000-01-01', '2010-01-01'), (2, '2000-01-01', '2010-01-01')",
    "INSERT INTO c VALUES (10, 1), (20, 2)",
    "INSERT INTO r VALUES (1, '2000-01-01', '2010-01-01')",
    // The rows, and AUTO_INCREMENT of what is left of them.
    "UPDATE p FOR PORTION OF pp FROM '2001-03-01' TO '2001-09-01' SET v = v + 10",
    "DELETE FROM p FOR PORTION OF pp FROM '2001-05-01' TO '2001-07-01'",
    "DELETE FROM p FOR PORTION OF PP FROM '2000-05-01' TO '2000-07-01' WHERE v = 1",
    "UPDATE p FOR PORTION OF pp FROM '1990-05-01' TO '2050-07-01' SET v = 100 WHERE id = 5",
    "UPDATE p FOR PORTION OF pp FROM '2050-05-01' TO '2040-07-01' SET v = 100",
    "UPDATE p FOR PORTION OF pp FROM NULL TO '2040-07-01' SET v = 100",
    // Triggers, also where nothing changes.
    "UPDATE o FOR PORTION OF pp FROM '2000-09-01' TO '2000-10-01 10:11:12.5' AS x SET x.v = YEAR(s) + MONTH(e)",
    "UPDATE o FOR PORTION OF pp FROM '2000-09-01' TO '2000-10-01 10:11:12.5' SET v = v",
    "DELETE FROM o FOR PORTION OF pp FROM '2000-08-01' TO '2000-09-15'",
    "SET @from = '2005-01-01'",
    "UPDATE o FOR PORTION OF pp FROM @from TO DATE_ADD(@from, INTERVAL 1 MONTH) SET v = 6",
    "DROP TRIGGER bi",
    "DELETE FROM o FOR PORTION OF pp FROM '2006-01-01' TO '2006-02-01' RETURNING *",
    // Generated columns, and a column that is stamped where the row is updated.
    "SET timestamp = 1000000100.5",
    "UPDATE t FOR PORTION OF pp FROM '2002-01-01' TO '2003-01-01' SET v = 7",
    "DELETE FROM t FOR PORTION OF pp FROM '2005-02-01' TO '2005-03-01'",
    // The rows of the past.
    "UPDATE h FOR PORTION OF pp FROM '2002-01-01' TO '2003-01-01' SET id = 7 WHERE id = 1",
    "SET timestamp = 1000000200",
    "DELETE FROM h FOR PORTION OF pp FROM '2005-01-01' TO '2006-01-01' WHERE id < 3",
    "SET timestamp = 1000000300",
    "DELETE FROM h FOR PORTION OF pp FROM '2005-01-01' TO '2007-01-01'",
    "SET timestamp = DEFAULT",
    // A row that stays is not deleted for a foreign key, unless a trigger wants to see it inserted.
    "DELETE FROM k FOR PORTION OF pp FROM '2005-01-01' TO '2030-01-01' WHERE id = 1",
    "CREATE TRIGGER kbi BEFORE INSERT ON k FOR EACH ROW SET NEW.id = NEW.id + 100",
    "DELETE FROM k FOR PORTION OF pp FROM '2005-01-01' TO '2030-01-01' WHERE id = 2",
    // Partitions.
    "UPDATE r PARTITION (p0) FOR PORTION OF pp FROM '2000-02-01' TO '2001-02-01' SET id = 2",
    "DELETE FROM r FOR PORTION OF pp FROM '2000-01-01' TO '2000-03-01'",
];

/// Statements that MariaDB refuses, with the numbers of its errors.
const REFUSED_PORTIONS: &[(&str, u16)] = &[
    ("UPDATE d.p FOR PORTION OF pp FROM '2001-03-01' TO '2001-09-01' SET s = NOW()", 4157),
    ("UPDATE d.p FOR PORTION OF pp FROM '2001-03-01' TO s SET v = 2", 1487),
    ("UPDATE d.p FOR PORTION OF xx FROM '2001-03-01' TO '2002-01-01' SET v = 2", 4156),
    ("DELETE FROM d.c FOR PORTION OF pp FROM '2001-03-01' TO '2002-01-01'", 4156),
    ("UPDATE d.p FOR PORTION OF SYSTEM_TIME FROM '2001-03-01' TO '2002-01-01' SET v = 2", 1064),
    ("UPDATE d.w FOR PORTION OF pp FROM '2001-03-01' TO '2002-01-01' SET v = 2", 1965),
    ("DELETE FROM d.w FOR PORTION OF pp FROM '2001-03-01' TO '2002-01-01'", 1965),
    ("UPDATE d.j FOR PORTION OF pp FROM '2001-03-01' TO '2002-01-01' SET v = 2", 1965),
    ("UPDATE d.p, d.c FOR PORTION OF pp FROM '2001-03-01' TO '2001-03-01' SET v = 22", 1064),
    ("UPDATE d.p x FOR PORTION OF pp FROM '2001-03-01' TO '2001-03-02' SET v = 22", 1064),
    ("DELETE d.p FROM d.p FOR PORTION OF pp FROM '2001-03-01' TO '2001-03-02'", 1064),
    ("SELECT * FROM d.p FOR PORTION OF pp FROM '2001-03-01' TO '2001-03-02'", 1064),
    ("UPDATE d.r PARTITION (p0) FOR PORTION OF pp FROM '2000-04-01' TO '2003-01-01' SET id = 2", 1748),
    ("UPDATE d.r FOR PORTION OF pp FROM '2000-06-01' TO '2007-01-01' SET id = 2", 1526),
    ("UPDATE d.k FOR PORTION OF pp FROM '2004-01-01' TO '2004-02-01' SET id = 2 WHERE id = 102", 1062),
];

/// What the servers must have the same. What is not stored has no order of its own.
const COMPARED: &[&str] = &[
    "SELECT * FROM d.p ORDER BY id",
    "SELECT * FROM d.noted ORDER BY n",
    "SELECT * FROM d.o ORDER BY id, s",
    "SELECT id, v, s, e, y, z, UNIX_TIMESTAMP(u) FROM d.t ORDER BY id, s",
    "SELECT y FROM d.t FORCE INDEX (y) WHERE y > 0 ORDER BY y",
    "SELECT id, UNIX_TIMESTAMP(s), UNIX_TIMESTAMP(e), UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) \
     FROM d.h FOR SYSTEM_TIME ALL ORDER BY id, s, e, row_start, row_end",
    "SELECT * FROM d.k ORDER BY id",
    "SELECT * FROM d.c ORDER BY a",
    "SELECT * FROM d.r ORDER BY id, s",
];

fn portions_behind(format: &str) {
    if !testkit::available(&format!("replicate_mariadb_periods::portions_{format}"), &[Flavor::MariaDb]) {
        return;
    }
    let mut settings = Settings::default();
    settings.extra.push(format!("--binlog-format={format}"));
    let source = Server::start(Flavor::MariaDb, &settings);
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    replica.follow(Flavor::MariaDb, source.port(), &StartFrom::Gtid);
    let mut session = source.connect();
    for sql in PORTIONS {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    for sql in COMPARED {
        replica.equals_by(&source, sql);
    }
}

#[test]
fn portions_of_periods_are_changed_by_statements() {
    portions_behind("STATEMENT");
}

#[test]
fn portions_of_periods_are_changed_by_mixed_statements() {
    portions_behind("MIXED");
}

#[test]
fn clients_change_portions_of_periods_as_at_mariadb() {
    if !testkit::available("replicate_mariadb_periods::clients", &[Flavor::MariaDb]) {
        return;
    }
    let servers = [Server::start(Flavor::MariaDb, &Settings::default()), Server::under_test()];
    for server in &servers {
        let mut session = server.connect();
        for sql in PORTIONS {
            // A client of this server cannot change a table with a key WITHOUT OVERLAPS, and MySQL
            // has no RETURNING.
            let sql = sql.replace(", UNIQUE (id, pp WITHOUT OVERLAPS)", "").replace(" RETURNING *", "");
            session.query(&sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
        }
        for sql in [
            "CREATE VIEW w AS SELECT * FROM p",
            "CREATE VIEW j AS SELECT p.v, c.a FROM p JOIN c ON p.id = c.a",
        ] {
            session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
        }
    }
    let [theirs, ours] = &servers;
    for sql in COMPARED {
        assert_eq!(ours.rows(sql), theirs.rows(sql), "{sql}");
    }
    for (sql, code) in REFUSED_PORTIONS {
        assert_eq!((theirs.refuses(sql).0, ours.refuses(sql).0), (*code, *code), "{sql}");
    }
    let kept =
        "CREATE TABLE d.kept (id INT, s DATE, e DATE, PERIOD FOR pp(s, e), UNIQUE (id, pp WITHOUT OVERLAPS))";
    ours.run(kept);
    for sql in [
        "INSERT INTO d.kept VALUES (1, '2000-01-01', '2000-01-02')",
        "DELETE FROM d.kept FOR PORTION OF pp FROM '2000-01-01' TO '2000-01-02'",
    ] {
        assert_eq!(ours.refuses(sql).0, 1235, "{sql}");
    }
}

fn behind(format: &str) {
    if !testkit::available(&format!("replicate_mariadb_periods::{format}"), &[Flavor::MariaDb]) {
        return;
    }
    let mut settings = Settings::default();
    settings.extra.push(format!("--binlog-format={format}"));
    let source = Server::start(Flavor::MariaDb, &settings);
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    replica.follow(Flavor::MariaDb, source.port(), &StartFrom::Gtid);
    let mut session = source.connect();
    let mut refused = 0;
    for sql in STATEMENTS {
        match session.query(sql) {
            Ok(_) => {}
            Err(ClientError::Server(_)) => refused += 1,
            Err(error) => panic!("{sql}: {error}"),
        }
    }
    assert_eq!(refused, 1, "one statement fails");
    replica.catch_up(&source);
    for (table, rows) in [("p", 7), ("q", 3), ("n", 2), ("o", 1)] {
        replica.equals_by(&source, &format!("SELECT * FROM d.{table} ORDER BY id, s, e"));
        assert_eq!(source.rows(&format!("SELECT * FROM d.{table}")).len(), rows, "{table}");
    }
}

#[test]
fn statements_leave_out_rows_whose_periods_overlap() {
    behind("STATEMENT");
}

#[test]
fn mixed_statements_leave_out_rows_whose_periods_overlap() {
    behind("MIXED");
}
