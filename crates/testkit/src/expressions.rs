//! Replication of tables whose definitions contain expressions: generated columns, CHECK
//! constraints, defaults, functional indexes.

use bench::instance::{Flavor, RowImage};

use crate::following::{By, Pair};
use crate::server::flavor_under_test;

/// Changes of the table `e.t`, which has the columns id, a, b, t and columns that are computed from
/// these, and of `e.keyless`.
const CHANGES: &[&str] = &[
    "INSERT INTO e.t (id, a, t) VALUES (1, 1, 'One'), (2, 2, NULL), (3, NULL, 'Three'), (4, 4, 'Four')",
    "INSERT INTO e.t (id, a, b, t) VALUES (5, 5, 50, 'five'), (6, 6, NULL, '')",
    "UPDATE e.t SET a = a + 10 WHERE id IN (1, 3, 5)",
    "UPDATE e.t SET t = CONCAT(t, 'x') WHERE id > 2",
    "UPDATE e.t SET b = 7 WHERE id = 6",
    "UPDATE e.t SET id = id + 100, a = 3 WHERE id = 2",
    "REPLACE INTO e.t (id, a, t) VALUES (4, 44, 'again')",
    "INSERT INTO e.t (id, a, t) VALUES (1, 0, 'new') ON DUPLICATE KEY UPDATE a = 90",
    "DELETE FROM e.t WHERE v = 61",
    "DELETE FROM e.t WHERE id = 5",
    "INSERT INTO e.keyless (a, b) VALUES (1, 1), (1, 1), (2, NULL), (NULL, 4)",
    "UPDATE e.keyless SET b = 5 WHERE a = 1 LIMIT 1",
    "DELETE FROM e.keyless WHERE a = 2 LIMIT 1",
    "UPDATE e.keyless SET a = a + 1",
    "ALTER TABLE e.t ADD w INT AS (a + 9) VIRTUAL, ADD CONSTRAINT small CHECK (a < 500)",
    "INSERT INTO e.t (id, a, t) VALUES (7, 7, 'seven')",
    "UPDATE e.t SET a = 200 + id",
    "ALTER TABLE e.t DROP CONSTRAINT small",
    "UPDATE e.t SET a = 1000 WHERE id = 7",
    "ALTER TABLE e.t RENAME INDEX by_v TO by_generated",
];

/// Runs the changes on a source where `definitions` have made the tables, and compares the rows at
/// both ends. If `shown` is set, it also compares the output of SHOW CREATE TABLE.
pub fn carries_expressions(source: Flavor, image: RowImage, definitions: &[&str], shown: bool) {
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start(source, flavor_under_test(), image, By::Gtid);
    source.run("CREATE DATABASE e");
    definitions.iter().for_each(|definition| drop(source.run(definition)));
    let mut session = source.connect();
    for statement in CHANGES {
        session.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    replica.catch_up(&source);
    let tables = source.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'e'");
    assert!(tables.len() >= 2, "{tables:?}");
    for table in tables {
        replica.equals_by(&source, &format!("SELECT * FROM e.{table} ORDER BY 1, 2"));
        if shown {
            replica.equals_by(&source, &format!("SHOW CREATE TABLE e.{table}"));
        }
    }
}
