//! Tests of sequences of a MariaDB source: after each statement a replica has the same rows in
//! them, shows them as MariaDB does, and hands them on to a further replica.

use bench::instance::{Flavor, RowImage, Settings};
use testkit::following::{By, Pair};
use testkit::server::{Replica, Server, flavor_under_test};

/// Statements of the source, and the sequences that exist after them.
const STEPS: &[(&[&str], &[&str])] = &[
    (
        &[
            "CREATE SEQUENCE s1",
            "CREATE OR REPLACE SEQUENCE s2 START WITH 5 MINVALUE 1 MAXVALUE 20 INCREMENT 3 CACHE 4 CYCLE ENGINE=Aria COMMENT='c'",
            "CREATE SEQUENCE IF NOT EXISTS s2 START 9",
            "CREATE SEQUENCE down INCREMENT BY -5 MINVALUE=-100 START=-7 NOCACHE",
            "CREATE SEQUENCE plain NO MINVALUE NOMAXVALUE NOCYCLE",
            "CREATE SEQUENCE zero INCREMENT 0",
        ],
        &["s1", "s2", "down", "plain", "zero"],
    ),
    (
        &[
            "SELECT NEXTVAL(s1), NEXTVAL(s1)",
            "SELECT NEXT VALUE FOR s1, PREVIOUS VALUE FOR s1",
            "DO NEXTVAL(s2)",
            "DO NEXTVAL(s2)",
            "SELECT NEXTVAL(s2), NEXTVAL(s2), NEXTVAL(s2), NEXTVAL(s2), NEXTVAL(s2)",
            "SELECT NEXTVAL(down)",
            "SELECT SETVAL(plain, 2000, 0), SETVAL(plain, 3000, 1, 0)",
            "SELECT SETVAL(s1, 500)",
            "SELECT SETVAL(s1, 50, 0)",
        ],
        &["s1", "s2", "down", "plain"],
    ),
    (
        &[
            "ALTER SEQUENCE s1 RESTART 77 MAXVALUE 99999 NOCACHE",
            "ALTER SEQUENCE down RESTART",
            "ALTER SEQUENCE plain START 4 INCREMENT = 2 CYCLE",
            "ALTER SEQUENCE IF EXISTS nope RESTART",
            "SELECT NEXTVAL(s1)",
            "RENAME TABLE s1 TO s1b",
            "ALTER TABLE s2 RENAME TO s2b, COMMENT='other'",
            "SELECT NEXTVAL(s1b), NEXTVAL(s2b)",
            "CREATE TABLE copy LIKE s2b",
            "ALTER TABLE copy ENGINE=MyISAM",
            "CREATE TEMPORARY SEQUENCE passing",
            "SELECT NEXTVAL(passing)",
            "DROP SEQUENCE passing",
        ],
        &["s1b", "s2b", "down", "plain", "copy"],
    ),
    (
        &[
            "CREATE TABLE t (a BIGINT DEFAULT NEXTVAL(s1b) PRIMARY KEY, c INT DEFAULT (NEXT VALUE FOR s1b), b INT)",
            "INSERT INTO t (b) VALUES (1), (2)",
            "INSERT INTO t (a, b) VALUES (NEXTVAL(s2b), 9)",
            "BEGIN",
            "INSERT INTO t (b) VALUES (3)",
            "ROLLBACK",
            "BEGIN",
            "INSERT INTO t (b) VALUES (4)",
            "INSERT INTO t (b) SELECT b FROM t",
            "COMMIT",
            "ALTER TABLE copy SEQUENCE=0",
            "UPDATE copy SET start_value = 3",
            "ALTER TABLE copy SEQUENCE=1",
            "SELECT NEXTVAL(copy)",
            "CREATE TABLE written (next_not_cached_value BIGINT(21) NOT NULL, minimum_value BIGINT(21) NOT NULL, \
             maximum_value BIGINT(21) NOT NULL, start_value BIGINT(21) NOT NULL, increment BIGINT(21) NOT NULL, \
             cache_size BIGINT(21) UNSIGNED NOT NULL, cycle_option TINYINT(1) UNSIGNED NOT NULL, \
             cycle_count BIGINT(21) NOT NULL) SEQUENCE=1",
            "INSERT INTO written VALUES (10, 1, 1000, 1, 1, 1000, 0, 0)",
            "DROP SEQUENCE IF EXISTS plain, nope",
            "DROP SEQUENCE down",
        ],
        &["s1b", "s2b", "copy", "written"],
    ),
];

const NAMES: &str = "SELECT table_name, table_type, engine FROM information_schema.tables WHERE table_schema = 'd' ORDER BY 1";

/// A source and its replicas, which are compared with it.
struct Behind<'s> {
    source: &'s Server,
    replicas: [&'s Replica; 2],
}

impl Behind<'_> {
    fn catch_up(&self) {
        self.replicas[0].catch_up(self.source);
        self.replicas[1].catch_up(self.replicas[0]);
    }

    fn compare(&self, sql: &str) {
        let theirs = rows(self.source, sql);
        assert!(!theirs.is_empty(), "{sql}");
        for (at, replica) in self.replicas.iter().enumerate() {
            assert_eq!(rows(replica, sql), theirs, "replica {at}: {sql}");
        }
    }
}

fn rows(server: &Server, sql: &str) -> Vec<String> {
    let mut client = server.connect();
    client.query("USE d").unwrap_or_else(|error| panic!("{error}"));
    let rows = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")).collect()
}

fn follow(format: &str, workers: u32) {
    if !testkit::available("replicate_mariadb_sequences", &[Flavor::MariaDb]) {
        return;
    }
    let settings = Settings { row_image: RowImage::Full, ..Settings::default() };
    let under_test = (flavor_under_test(), workers);
    let Pair { source, mut replica, proxy: _proxy, .. } =
        Pair::start_each((Flavor::MariaDb, &settings), under_test, By::Gtid);
    let further = Replica::start(flavor_under_test(), &Settings { server_id: 3, ..Settings::default() });
    further.follow(replica.flavor(), replica.port(), &testkit::following::beginning(&replica));
    let mut session = source.connect();
    for sql in ["CREATE DATABASE d", "USE d", &format!("SET binlog_format = {format}")] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    for (statements, sequences) in STEPS {
        for sql in *statements {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let behind = Behind { source: &source, replicas: [&replica, &further] };
        behind.catch_up();
        behind.compare(NAMES);
        for name in *sequences {
            behind.compare(&format!("SELECT * FROM {name}"));
            behind.compare(&format!("SHOW CREATE SEQUENCE {name}"));
        }
    }
    let behind = Behind { source: &source, replicas: [&replica, &further] };
    behind.compare("SELECT * FROM t ORDER BY a");
    let shown = rows(&replica, "SHOW CREATE TABLE s2b").concat();
    assert!(shown.contains(") ENGINE=Aria SEQUENCE=1 "), "{shown}");
    // What is in the redo log is restored after a crash.
    replica.kill();
    replica.come_back();
    let behind = Behind { source: &source, replicas: [&replica, &further] };
    for name in STEPS[STEPS.len() - 1].1 {
        behind.compare(&format!("SELECT * FROM {name}"));
    }
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
