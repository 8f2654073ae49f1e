//! Tests of a MariaDB source's tables with system versioning and with periods: a replica has the
//! rows of the present and of the past, shows them as MariaDB does, and hands them on to a further
//! replica.

use bench::instance::{Flavor, RowImage, Settings};
use testkit::following::{By, Pair, beginning};
use testkit::server::{Replica, Server, flavor_under_test};

const TABLES: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT WITHOUT SYSTEM VERSIONING, KEY (a)) WITH SYSTEM VERSIONING",
    "CREATE TABLE e (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(10) UNIQUE, \
     rs TIMESTAMP(6) GENERATED ALWAYS AS ROW START, re TIMESTAMP(6) GENERATED ALWAYS AS ROW END INVISIBLE, \
     PERIOD FOR SYSTEM_TIME (rs, re)) WITH SYSTEM VERSIONING",
    "CREATE TABLE k (a INT, b INT) WITH SYSTEM VERSIONING",
    "CREATE TABLE c (a INT WITH SYSTEM VERSIONING, b INT)",
    "CREATE TABLE later (id INT PRIMARY KEY, a INT)",
    "CREATE TABLE twin LIKE t",
];

const CHANGES: &[&str] = &[
    "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)",
    "INSERT INTO e (a) VALUES ('x'), ('y'), ('z')",
    "INSERT INTO k VALUES (1, 1), (1, 1), (2, 2)",
    "INSERT INTO c VALUES (1, 1), (2, 2)",
    "INSERT INTO later VALUES (1, 1), (2, 2)",
    "UPDATE t SET a = a + 10 WHERE id < 3",
    "UPDATE t SET b = 99 WHERE id = 2",
    "UPDATE t SET b = 98, a = 5 WHERE id = 3",
    "UPDATE t SET id = 30 WHERE id = 3",
    "UPDATE e SET a = 'w' WHERE id = 1",
    "UPDATE k SET a = 5 WHERE a = 2",
    "UPDATE c SET b = 7",
    "UPDATE c SET a = 8 WHERE a = 1",
    "DELETE FROM t WHERE id = 2",
    "DELETE FROM e WHERE a = 'y'",
    "DELETE FROM k WHERE a = 5",
    "REPLACE INTO t VALUES (1, 7, 7)",
    "INSERT INTO t VALUES (1, 8, 8) ON DUPLICATE KEY UPDATE a = 100",
    "INSERT INTO t VALUES (2, 22, 22)",
    "INSERT INTO twin SELECT * FROM t",
    "BEGIN",
    "UPDATE t SET a = a + 1",
    "UPDATE t SET a = a + 1 WHERE id = 30",
    "DELETE FROM t WHERE id = 30",
    "INSERT INTO t VALUES (30, 1, 1)",
    "COMMIT",
    "INSERT IGNORE INTO t VALUES (30, 2, 2), (31, 3, 3)",
    "DELETE FROM twin",
    "ALTER TABLE later ADD SYSTEM VERSIONING",
    "UPDATE later SET a = 10 WHERE id = 1",
];

const ALTERATIONS: &[&str] = &[
    "SET system_versioning_alter_history = KEEP",
    "ALTER TABLE t ADD COLUMN n INT DEFAULT 3, ADD UNIQUE KEY (n, id)",
    "ALTER TABLE k ADD COLUMN first INT FIRST, MODIFY b BIGINT, ADD KEY (b)",
    "ALTER TABLE e CHANGE a text VARCHAR(20)",
    "ALTER TABLE e ADD PRIMARY KEY IF NOT EXISTS (id)",
    "CREATE UNIQUE INDEX an ON t (a, id)",
    "UPDATE t SET n = id",
    "INSERT INTO k (a) VALUES (9)",
    "UPDATE k SET first = 1 WHERE a = 9",
    "UPDATE e SET text = CONCAT(text, '!')",
    "ALTER TABLE later DROP SYSTEM VERSIONING",
    "UPDATE later SET a = 11",
    "ALTER TABLE e DROP SYSTEM VERSIONING, DROP COLUMN rs, DROP COLUMN re, DROP PERIOD FOR SYSTEM_TIME",
    "INSERT INTO e (text) VALUES ('end')",
    "RENAME TABLE c TO renamed",
    "SET system_versioning_insert_history = 1",
    "INSERT INTO k (a, row_start, row_end) VALUES (55, '2001-01-01', '2002-01-01')",
    "SET system_versioning_insert_history = 0",
    "DELETE HISTORY FROM twin",
    "DELETE HISTORY FROM t BEFORE SYSTEM_TIME '2000-01-01'",
    "SET timestamp = 1500000000",
    "CREATE TABLE dated (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING",
    "INSERT INTO dated VALUES (1, 1), (2, 2)",
    "SET timestamp = 1600000000",
    "UPDATE dated SET a = 10 WHERE id = 1",
    "SET timestamp = 1700000000",
    "UPDATE dated SET a = 20 WHERE id = 1",
    "UPDATE dated SET a = 21 WHERE id = 1",
    "DELETE FROM dated WHERE id = 2",
    "SET timestamp = DEFAULT",
];

const PERIODS: &[&str] = &[
    "CREATE TABLE p (id INT, s DATETIME(3) NOT NULL, e DATETIME(3) NOT NULL, \
     PRIMARY KEY (id, app WITHOUT OVERLAPS), PERIOD FOR app (s, e))",
    "CREATE TABLE twofold (id INT, s DATE, e DATE, UNIQUE u (id, app WITHOUT OVERLAPS), PERIOD FOR app (s, e)) \
     WITH SYSTEM VERSIONING",
    "INSERT INTO p VALUES (1, '2000-01-01', '2010-01-01'), (1, '2010-01-01', '2011-01-01')",
    "INSERT INTO twofold VALUES (1, '2000-01-01', '2010-01-01')",
    "UPDATE twofold SET s = '2001-01-01'",
    "UPDATE p SET e = '2009-01-01' WHERE e = '2010-01-01'",
    "DELETE FROM twofold",
    "SET binlog_format = ROW",
    "UPDATE p FOR PORTION OF app FROM '2002-01-01' TO '2003-01-01' SET id = 2",
    "DELETE FROM p FOR PORTION OF app FROM '2004-01-01' TO '2005-01-01'",
    "ALTER TABLE p DROP PRIMARY KEY, DROP PERIOD FOR app",
    "ALTER TABLE p ADD PERIOD FOR q (s, e), ADD UNIQUE uq (id, q WITHOUT OVERLAPS)",
    "ALTER TABLE p DROP PERIOD IF EXISTS FOR nothing",
];

/// Rows that change with a versioned row because of a foreign key, which a source does not log, and
/// partitions.
const FURTHER: &[&str] = &[
    "CREATE TABLE parents (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING",
    "CREATE TABLE children (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE)",
    "CREATE TABLE orphans (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE SET NULL)",
    "INSERT INTO parents VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO children VALUES (10, 1), (20, 2), (30, 3)",
    "INSERT INTO orphans VALUES (10, 1), (20, 2), (30, 3)",
    "UPDATE parents SET a = a + 1",
    "DELETE FROM parents WHERE id = 2",
    "CREATE TABLE history (id INT, a INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT 2 \
     (PARTITION p0 HISTORY COMMENT 'x', PARTITION p1 HISTORY, PARTITION pc CURRENT)",
    "INSERT INTO history VALUES (1, 1), (2, 2), (3, 3)",
    "UPDATE history SET a = 10 WHERE id < 3",
    "DELETE FROM history WHERE id = 3",
    "ALTER TABLE history ADD PARTITION (PARTITION p2 HISTORY)",
    "CREATE TABLE daily (id INT) WITH SYSTEM VERSIONING \
     PARTITION BY SYSTEM_TIME INTERVAL 2 WEEK STARTS '2020-01-01 00:00:00' PARTITIONS 4",
    "ALTER TABLE daily ADD PARTITION PARTITIONS 2",
    "CREATE TABLE halves (id INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME",
    "CREATE TABLE listed (a INT) PARTITION BY LIST (a) (PARTITION p0 VALUES IN (1, 2), PARTITION pd DEFAULT)",
    "INSERT INTO listed VALUES (1), (5), (NULL)",
];

/// Queries that return the same rows on all servers, in any time zone.
const QUERIES: &[&str] = &[
    "SELECT * FROM t ORDER BY id",
    "SELECT id, a, b, n, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) FROM t FOR SYSTEM_TIME ALL ORDER BY 1, 6, 5",
    "SELECT COUNT(*) FROM t",
    "SELECT a FROM t FORCE INDEX (a) WHERE a > 0 ORDER BY a, id",
    "SELECT id FROM t WHERE id = 1",
    "SELECT * FROM e ORDER BY id",
    "SELECT * FROM k ORDER BY a, b",
    "SELECT first, a, b, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) FROM k FOR SYSTEM_TIME ALL ORDER BY 2, 5, 4, 1",
    "SELECT * FROM renamed ORDER BY a",
    "SELECT a, b, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) FROM renamed FOR SYSTEM_TIME ALL ORDER BY 1, 4, 3",
    "SELECT * FROM later ORDER BY id",
    "SELECT COUNT(*) FROM twin FOR SYSTEM_TIME ALL",
    "SELECT x.id, y.a FROM t FOR SYSTEM_TIME ALL AS x LEFT JOIN t y ON x.id = y.id ORDER BY 1, 2",
    "SELECT l.id, k.a FROM later l LEFT JOIN k ON k.a = l.id ORDER BY 1, 2",
    "SELECT (SELECT COUNT(*) FROM k), (SELECT COUNT(*) FROM (SELECT a FROM k) AS derived)",
    "SELECT id FROM t UNION SELECT id FROM dated ORDER BY id",
    "SELECT id, a, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) FROM dated FOR SYSTEM_TIME ALL ORDER BY 1, 3",
    "SELECT * FROM dated FOR SYSTEM_TIME AS OF FROM_UNIXTIME(1600000000) ORDER BY id",
    "SELECT * FROM dated FOR SYSTEM_TIME AS OF FROM_UNIXTIME(1599999999) ORDER BY id",
    "SELECT * FROM dated FOR SYSTEM_TIME AS OF '2019-01-01' ORDER BY id",
    "SELECT * FROM dated FOR SYSTEM_TIME AS OF TIMESTAMP'2019-01-01 00:00:00' AS x WHERE x.id > 1",
    "SELECT COUNT(*) FROM dated FOR SYSTEM_TIME AS OF TIMESTAMP '2010-01-01 00:00:00'",
    "SELECT COUNT(*) FROM dated FOR SYSTEM_TIME AS OF NULL",
    "SELECT * FROM dated FOR SYSTEM_TIME BETWEEN FROM_UNIXTIME(1600000000) AND FROM_UNIXTIME(1700000000) ORDER BY id, a",
    "SELECT * FROM dated FOR SYSTEM_TIME BETWEEN FROM_UNIXTIME(1500000000) AND FROM_UNIXTIME(1600000000) ORDER BY id, a",
    "SELECT * FROM dated FOR SYSTEM_TIME FROM FROM_UNIXTIME(1500000000) TO FROM_UNIXTIME(1600000000) ORDER BY id, a",
    "SELECT COUNT(*) FROM dated FOR SYSTEM_TIME FROM FROM_UNIXTIME(1400000000) TO FROM_UNIXTIME(1500000000)",
    "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'd' ORDER BY 1",
    "SELECT table_name, column_name, ordinal_position FROM information_schema.columns WHERE table_schema = 'd' ORDER BY 1, 3",
    "SELECT * FROM p ORDER BY id, s",
    "SELECT * FROM parents ORDER BY id",
    "SELECT id, a, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) FROM parents FOR SYSTEM_TIME ALL ORDER BY 1, 3",
    "SELECT * FROM children ORDER BY id",
    "SELECT * FROM orphans ORDER BY id",
    "SELECT * FROM history ORDER BY id",
    "SELECT id, a, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) FROM history FOR SYSTEM_TIME ALL ORDER BY 1, 3",
    "SELECT * FROM listed PARTITION (pd) ORDER BY a",
    "SELECT * FROM listed PARTITION (p0)",
    "SELECT id, s, e, UNIX_TIMESTAMP(row_start), UNIX_TIMESTAMP(row_end) FROM twofold FOR SYSTEM_TIME ALL ORDER BY 5",
];

/// What SHOW CREATE TABLE must show in addition to what MySQL's tables have.
const SHOWN: &[(&str, &[&str])] = &[
    (
        "t",
        &[
            "`b` int DEFAULT NULL WITHOUT SYSTEM VERSIONING",
            "PRIMARY KEY (`id`),",
            "KEY `n` (`n`,`id`),",
            " WITH SYSTEM VERSIONING",
        ],
    ),
    ("k", &["`a` int DEFAULT NULL,", "`b` bigint DEFAULT NULL,", " WITH SYSTEM VERSIONING"]),
    ("renamed", &["`a` int DEFAULT NULL,", "`b` int DEFAULT NULL WITHOUT SYSTEM VERSIONING\n"]),
    (
        "written",
        &[
            "`rs` timestamp(6) GENERATED ALWAYS AS ROW START,",
            "`re` timestamp(6) GENERATED ALWAYS AS ROW END INVISIBLE,",
            "PRIMARY KEY (`id`,`re`),",
            "PERIOD FOR SYSTEM_TIME (`rs`, `re`)\n",
        ],
    ),
    (
        "history",
        &[
            " WITH SYSTEM VERSIONING\n PARTITION BY SYSTEM_TIME LIMIT 2\n(PARTITION p0 HISTORY COMMENT = 'x' ENGINE = InnoDB,\n \
             PARTITION p1 HISTORY ENGINE = InnoDB,\n PARTITION p2 HISTORY ENGINE = InnoDB,\n PARTITION pc CURRENT ENGINE = InnoDB)",
        ],
    ),
    (
        "daily",
        &[" PARTITION BY SYSTEM_TIME INTERVAL 14 DAY STARTS TIMESTAMP'2020-01-01 00:00:00'\nPARTITIONS 6"],
    ),
    ("halves", &[" PARTITION BY SYSTEM_TIME \nPARTITIONS 2"]),
    ("listed", &["(PARTITION p0 VALUES IN (1,2) ENGINE = InnoDB,\n PARTITION pd DEFAULT ENGINE = InnoDB)"]),
    ("p", &["PERIOD FOR `q` (`s`, `e`),", "UNIQUE KEY `uq` (`id`,`q` WITHOUT OVERLAPS)\n"]),
    ("twofold", &["UNIQUE KEY `u` (`id`,`app` WITHOUT OVERLAPS)\n", " WITH SYSTEM VERSIONING"]),
];

fn rows(server: &Server, sql: &str) -> Vec<String> {
    let mut client = server.connect();
    for setting in ["USE d", "SET time_zone = '+05:00'"] {
        client.query(setting).unwrap_or_else(|error| panic!("{setting}: {error}"));
    }
    let rows = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")).collect()
}

fn follow(format: &str, workers: u32) {
    if !testkit::available("replicate_mariadb_versioned", &[Flavor::MariaDb]) {
        return;
    }
    let settings = Settings { row_image: RowImage::Full, ..Settings::default() };
    let under_test = (flavor_under_test(), workers);
    let Pair { source, mut replica, proxy: _proxy, .. } =
        Pair::start_each((Flavor::MariaDb, &settings), under_test, By::Gtid);
    let further = Replica::start(flavor_under_test(), &Settings { server_id: 3, ..Settings::default() });
    further.follow(replica.flavor(), replica.port(), &beginning(&replica));
    let mut session = source.connect();
    let first = ["CREATE DATABASE d".to_owned(), "USE d".to_owned(), format!("SET binlog_format = {format}")];
    let written = ["CREATE TABLE written LIKE e"];
    let first = first.iter().map(String::as_str);
    for sql in first.chain(
        TABLES
            .iter()
            .chain(&written)
            .chain(CHANGES)
            .chain(ALTERATIONS)
            .chain(FURTHER)
            .chain(PERIODS)
            .copied(),
    ) {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    further.catch_up(&replica);
    for sql in QUERIES {
        let theirs = rows(&source, sql);
        assert_eq!(rows(&replica, sql), theirs, "{format}: {sql}");
        assert_eq!(rows(&further, sql), theirs, "{format}, further: {sql}");
    }
    for (table, parts) in SHOWN {
        let shown = rows(&replica, &format!("SHOW CREATE TABLE {table}")).concat();
        for part in *parts {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(!shown.contains("row_end"), "{shown}");
        assert_eq!(rows(&further, &format!("SHOW CREATE TABLE {table}")).concat(), shown);
    }
    // What is in the redo log is restored after a crash.
    replica.kill();
    replica.come_back();
    for sql in QUERIES.iter().filter(|sql| sql.contains("SYSTEM_TIME ALL")) {
        assert_eq!(rows(&replica, sql), rows(&source, sql), "{format}: {sql}");
    }
}

/// Tables whose history is in partitions, some of which are dropped or emptied. Partitions that a
/// table adds by itself (`AUTO`) are not compared.
const HISTORY: &[&str] = &[
    "CREATE TABLE limited (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT 3 \
     (PARTITION p0 HISTORY, PARTITION p1 HISTORY, PARTITION p2 HISTORY, PARTITION pn CURRENT)",
    "INSERT INTO limited VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
    "UPDATE limited SET b = b + 10",
    "UPDATE limited SET b = b + 10 WHERE a < 3",
    "UPDATE limited SET b = b + 10 WHERE a < 4",
    "ALTER TABLE limited TRUNCATE PARTITION p0",
    "UPDATE limited SET b = b + 10",
    "UPDATE limited SET b = b + 10",
    "ALTER TABLE limited ADD PARTITION (PARTITION p3 HISTORY)",
    "UPDATE limited SET b = b + 10 WHERE a = 1",
    "ALTER TABLE limited DROP PARTITION p0",
    "DELETE FROM limited WHERE a = 4",
    "ALTER TABLE limited DROP PARTITION p1",
    "SET timestamp = 1000000000",
    "CREATE TABLE hours (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME INTERVAL 1 HOUR \
     (PARTITION p0 HISTORY, PARTITION p1 HISTORY, PARTITION p2 HISTORY, PARTITION pn CURRENT)",
    "INSERT INTO hours VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
    "SET timestamp = 1000000100",
    "UPDATE hours SET b = b + 10",
    "SET timestamp = 1000004000",
    "UPDATE hours SET b = b + 10 WHERE a < 3",
    "SET timestamp = 1000014000",
    "UPDATE hours SET b = b + 10",
    "ALTER TABLE hours DROP PARTITION p0",
    "ALTER TABLE hours ADD PARTITION (PARTITION p3 HISTORY)",
    "ALTER TABLE hours DROP PARTITION p1, p2",
    "SET timestamp = DEFAULT",
    "CREATE TABLE plain (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME \
     (PARTITION p0 HISTORY, PARTITION pn CURRENT)",
    "INSERT INTO plain VALUES (1, 1), (2, 2)",
    "UPDATE plain SET b = b + 10",
    "ALTER TABLE plain ADD PARTITION (PARTITION p1 HISTORY)",
    "ALTER TABLE plain DROP PARTITION p0",
    "UPDATE plain SET b = b + 10",
    "CREATE TABLE later (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING",
    "INSERT INTO later VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
    "UPDATE later SET b = b + 10",
    "UPDATE later SET b = b + 10",
    "ALTER TABLE later PARTITION BY SYSTEM_TIME LIMIT 2 PARTITIONS 3",
    "UPDATE later SET b = b + 10",
    "ALTER TABLE later DROP PARTITION p0",
    "CREATE TABLE taken (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING",
    "ALTER TABLE later EXCHANGE PARTITION p1 WITH TABLE taken",
    "CREATE TABLE auto (a INT PRIMARY KEY, b INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT 2 AUTO",
    "INSERT INTO auto VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
    "UPDATE auto SET b = b + 10",
    "UPDATE auto SET b = b + 10",
    "UPDATE auto SET b = b + 10",
    "ALTER TABLE auto DROP PARTITION p1",
];

#[test]
fn partitions_of_history_are_dropped_with_their_rows() {
    if !testkit::available("replicate_mariadb_versioned", &[Flavor::MariaDb]) {
        return;
    }
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start(Flavor::MariaDb, flavor_under_test(), RowImage::Full, By::Gtid);
    let mut session = source.connect();
    for sql in ["CREATE DATABASE d", "USE d"].iter().chain(HISTORY) {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let Some(rest) = sql.strip_prefix("ALTER TABLE ") else { continue };
        let table = rest.split(' ').next().expect("the table's name");
        replica.catch_up(&source);
        let all = format!("SELECT *, row_start, row_end FROM {table} FOR SYSTEM_TIME ALL ORDER BY 1, 2, 3");
        assert_eq!(rows(&replica, &all), rows(&source, &all), "{sql}");
        if table != "auto" {
            let partitions = format!(
                "SELECT partition_name FROM information_schema.partitions WHERE table_name = '{table}' ORDER BY 1"
            );
            assert_eq!(rows(&replica, &partitions), rows(&source, &partitions), "{sql}");
        }
    }
    let all = "SELECT *, row_start, row_end FROM taken FOR SYSTEM_TIME ALL ORDER BY 1, 2, 3";
    assert_eq!(rows(&replica, all), rows(&source, all));
    let start_of = |server: &Server| {
        // MariaDB shows the start in the session's time zone, and the replica as it was written.
        let shown = server.rows("SHOW CREATE TABLE d.hours").concat();
        shown.split("STARTS ").nth(1).expect("the start is shown")[..30].to_owned()
    };
    assert_eq!(start_of(&replica), start_of(&source));
}

#[test]
fn as_rows() {
    follow("ROW", 0);
}

#[test]
fn as_statements_where_they_are_safe() {
    follow("MIXED", 0);
}

#[test]
fn with_workers() {
    follow("ROW", 4);
}

/// Clients of Slipstream make such tables and change them, and get the rows that MariaDB has.
#[test]
fn clients_change_rows_as_at_mariadb() {
    if !testkit::available("replicate_mariadb_versioned", &[Flavor::MariaDb]) {
        return;
    }
    let servers = [Server::start(Flavor::MariaDb, &Settings::default()), Server::under_test()];
    // For a client, a foreign key needs a key of the parent that is unique without the row's end.
    let of_keys = |sql: &&&str| ["parents", "children", "orphans"].iter().any(|table| sql.contains(table));
    let further = FURTHER.iter().filter(|sql| !of_keys(sql));
    for server in &servers {
        let mut session = server.connect();
        for sql in ["CREATE DATABASE d", "USE d"].iter().chain(TABLES) {
            session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
        }
        let alterations = ALTERATIONS.iter().filter(|sql| !sql.starts_with("SET system_versioning"));
        let alterations =
            alterations.filter(|sql| !sql.contains("row_start") && !sql.contains("IF NOT EXISTS"));
        for (at, sql) in CHANGES.iter().chain(alterations).chain(further.clone()).enumerate() {
            let keeps = "SET system_versioning_alter_history = KEEP";
            if server.flavor() == Flavor::MariaDb {
                session.query(keeps).unwrap_or_else(|error| panic!("{keeps}: {error}"));
            }
            let timed = sql.starts_with("SET timestamp");
            if !timed && !sql.contains("dated") {
                session.query(&format!("SET timestamp = {}", 1_400_000_000 + at)).expect("is set");
            }
            session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
        }
    }
    let [theirs, ours] = &servers;
    let of_these = |sql: &&&str| {
        !["FROM e ", "FROM p ", "FROM twofold ", "information_schema"].iter().any(|o| sql.contains(o))
    };
    for sql in QUERIES.iter().filter(of_these).filter(|sql| !of_keys(sql)) {
        assert_eq!(rows(ours, sql), rows(theirs, sql), "{sql}");
    }
    // The message about a duplicate key does not mention the end of the row, which nobody wrote.
    let doubled =
        ["INSERT INTO d.t (id, a) VALUES (1, 1)"].map(|sql| servers.each_ref().map(|s| s.refuses(sql)));
    for [(_, at_mariadb), (code, here)] in doubled {
        assert!(at_mariadb.starts_with("Duplicate entry '1' for key"), "{at_mariadb}");
        assert_eq!((code, &here[..28]), (1062, "Duplicate entry '1' for key "), "{here}");
    }
    let refused = [
        ("TRUNCATE d.t", 4137),
        ("SELECT * FROM d.later FOR SYSTEM_TIME ALL", 4124),
        ("ALTER TABLE d.t ADD SYSTEM VERSIONING", 4135),
        ("ALTER TABLE d.later DROP SYSTEM VERSIONING", 4124),
        ("CREATE TABLE d.x (a INT, rs TIMESTAMP(6) AS ROW START) WITH SYSTEM VERSIONING", 4125),
    ];
    for (sql, _) in refused {
        theirs.refuses(sql);
    }
    for (sql, code) in refused {
        assert_eq!(ours.refuses(sql).0, code, "{sql}");
    }
    assert_eq!(ours.refuses("INSERT INTO d.t (id, row_start) VALUES (77, NOW())").0, 3105);
    assert_eq!(ours.refuses("UPDATE d.t SET row_end = NOW()").0, 3105);
}
