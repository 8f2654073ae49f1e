//! Rows of dropped and truncated partitions are as gone as on a MySQL server, while they are still
//! being deleted: the same random statements get the same answers.

use os::random::{Rng, test_seed};
use testkit::answers::same_answers;

const COUNT: usize = 250;

/// A partitioned table with an integer key `id`, a partitioned column and others.
struct Kind {
    create: &'static str,
    /// An expression for the partitioned column `p`, by a number.
    value: fn(u64) -> String,
    /// What takes all rows of some partitions away.
    removals: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        create: "CREATE TABLE t (id INT, p INT, v INT, c VARCHAR(40), b MEDIUMTEXT, PRIMARY KEY (id, p), \
                 UNIQUE KEY u (v, p), KEY k (c, v)) PARTITION BY RANGE (p) (PARTITION p0 VALUES LESS THAN (3), \
                 PARTITION p1 VALUES LESS THAN (6), PARTITION p2 VALUES LESS THAN MAXVALUE)",
        value: |number| number.to_string(),
        removals: &[
            "ALTER TABLE t TRUNCATE PARTITION p0",
            "ALTER TABLE t TRUNCATE PARTITION p1, p2",
            "ALTER TABLE t TRUNCATE PARTITION ALL",
            "ALTER TABLE t DROP PARTITION p1",
            "ALTER TABLE t REORGANIZE PARTITION p2 INTO (PARTITION p1 VALUES LESS THAN (6), \
             PARTITION p2 VALUES LESS THAN MAXVALUE)",
            "ALTER TABLE t REORGANIZE PARTITION p0 INTO (PARTITION p0 VALUES LESS THAN (3))",
        ],
    },
    Kind {
        create: "CREATE TABLE t (id INT, p DATE, v INT, c VARCHAR(40), b MEDIUMTEXT, PRIMARY KEY (id, p), \
                 UNIQUE KEY u (v, p), KEY k (c, v)) PARTITION BY RANGE (TO_DAYS(p)) SUBPARTITION BY HASH (id) \
                 SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (TO_DAYS('2020-01-04')), \
                 PARTITION p1 VALUES LESS THAN (TO_DAYS('2020-01-07')), PARTITION p2 VALUES LESS THAN MAXVALUE)",
        value: |number| format!("'2020-01-{:02}'", number + 1),
        removals: &[
            "ALTER TABLE t TRUNCATE PARTITION p0",
            "ALTER TABLE t TRUNCATE PARTITION p1sp1",
            "ALTER TABLE t DROP PARTITION p0",
            "ALTER TABLE t TRUNCATE PARTITION p2",
        ],
    },
    Kind {
        create: "CREATE TABLE t (id INT, p VARCHAR(10), v INT, c VARCHAR(40), b MEDIUMTEXT, PRIMARY KEY (id, p), \
                 UNIQUE KEY u (v, p), KEY k (c, v)) PARTITION BY LIST COLUMNS (p) (PARTITION p0 VALUES IN ('0', '1', '2'), \
                 PARTITION p1 VALUES IN ('3', '4', '5'), PARTITION p2 VALUES IN ('6', '7', '8', '9'))",
        value: |number| format!("'{number}'"),
        removals: &[
            "ALTER TABLE t TRUNCATE PARTITION p0",
            "ALTER TABLE t DROP PARTITION p1",
            "ALTER TABLE t ADD PARTITION (PARTITION p1 VALUES IN ('3', '4', '5'))",
        ],
    },
    Kind {
        create: "CREATE TABLE t (id INT, p INT, v INT, c VARCHAR(40), b MEDIUMTEXT, KEY (id), KEY k (c, v)) \
                 PARTITION BY KEY (p) PARTITIONS 3",
        value: |number| number.to_string(),
        removals: &["ALTER TABLE t TRUNCATE PARTITION p0", "ALTER TABLE t TRUNCATE PARTITION p1, p2"],
    },
];

fn rows(rng: &mut Rng, kind: &Kind) -> String {
    let row = |rng: &mut Rng| {
        let (id, v) = (rng.below(40), rng.below(30));
        let p = (kind.value)(rng.below(10));
        format!("({id}, {p}, {v}, 'c{}', REPEAT('b', {}))", rng.below(9), *rng.pick(&[0, 10, 10, 9000]))
    };
    let count = 1 + rng.below(5);
    (0..count).map(|_| row(rng)).collect::<Vec<_>>().join(", ")
}

fn statement(rng: &mut Rng, kind: &Kind) -> String {
    let (id, p) = (rng.below(40), (kind.value)(rng.below(10)));
    let columns = "id, p, v, c, LENGTH(b)";
    match rng.below(24) {
        0..=3 => format!("INSERT INTO t (id, p, v, c, b) VALUES {}", rows(rng, kind)),
        4 | 5 => format!("INSERT IGNORE INTO t (id, p, v, c, b) VALUES {}", rows(rng, kind)),
        6 => format!("REPLACE INTO t (id, p, v, c, b) VALUES {}", rows(rng, kind)),
        7 => format!(
            "INSERT INTO t (id, p, v, c, b) VALUES {} ON DUPLICATE KEY UPDATE v = v + 100, c = 'twice'",
            rows(rng, kind)
        ),
        8 => format!("UPDATE t SET p = {p} WHERE id = {id}"),
        9 => format!("UPDATE t SET id = id + 1, v = v + 50 WHERE p = {p} AND id > {id} ORDER BY id DESC"),
        10 => format!("DELETE FROM t WHERE id BETWEEN {id} AND {}", id + 3),
        11 => "ALTER TABLE t ADD COLUMN n INT DEFAULT 5".to_owned(),
        12 => "ALTER TABLE t DROP COLUMN n".to_owned(),
        13 => "CREATE INDEX later ON t (v, c)".to_owned(),
        14 => "DROP INDEX later ON t".to_owned(),
        15..=17 => (*rng.pick(kind.removals)).to_owned(),
        18 => format!("SELECT {columns} FROM t ORDER BY id, p, v, c, 5"),
        19 => "SELECT COUNT(*), SUM(v), COUNT(DISTINCT c) FROM t".to_owned(),
        20 => "SELECT c, v FROM t WHERE c >= 'c3' ORDER BY c, v".to_owned(),
        21 => format!("SELECT {columns} FROM t WHERE id = {id} ORDER BY 2, 3, 4"),
        22 => "SELECT id, v, c FROM t PARTITION (p1) ORDER BY 1, 2, 3".to_owned(),
        _ => format!("SELECT v, COUNT(*) FROM t WHERE p > {p} GROUP BY v ORDER BY v FOR UPDATE"),
    }
}

#[test]
fn rows_of_dropped_partitions_are_gone_as_on_mysql() {
    let mut rng = Rng::new(test_seed("rows_of_dropped_partitions_are_gone_as_on_mysql"));
    let mut statements = vec!["CREATE DATABASE d".to_owned(), "USE d".to_owned()];
    for kind in KINDS {
        statements.push("DROP TABLE IF EXISTS t".to_owned());
        statements.push(kind.create.to_owned());
        statements.extend((0..COUNT).map(|_| statement(&mut rng, kind)));
        statements.push("CHECK TABLE t".to_owned());
        statements.push("SELECT id, p, v, c, LENGTH(b) FROM t ORDER BY id, p, v, c, 5".to_owned());
    }
    let texts: Vec<&str> = statements.iter().map(String::as_str).collect();
    let name = "dropped_partitions_like_mysql::rows_of_dropped_partitions_are_gone_as_on_mysql";
    same_answers(name, &texts);
}
