//! Tests of EXPLAIN FORMAT=TRADITIONAL: the numbers and kinds of the query blocks, their tables,
//! and the remarks on whole blocks are MySQL's. How a table is read may differ.

use crate::beside::Both;

const CREATES: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t1 (id INT PRIMARY KEY, a INT, b INT)",
    "CREATE TABLE t2 (id INT PRIMARY KEY, a INT, b INT)",
    "CREATE TABLE t3 (id INT NOT NULL, a INT NOT NULL, b INT)",
    "INSERT INTO t1 VALUES (1, 1, 2), (2, NULL, 0), (3, 2, 1), (4, 0, 0), (5, 1, 3)",
    "INSERT INTO t2 VALUES (1, 1, NULL), (2, 2, 2), (3, 1, 1), (4, NULL, 3)",
    "INSERT INTO t3 VALUES (1, 1, NULL), (1, 2, 2), (2, 3, 1), (9, 1, 4)",
    "CREATE VIEW v AS SELECT id, a FROM t1 WHERE b > 0",
];

const STATEMENTS: &[&str] = &[
    "SELECT (SELECT MAX(a) FROM t1), (SELECT MIN(a) FROM t2 WHERE t2.b = t3.b) FROM t3, \
     (SELECT DISTINCT a FROM t1) d WHERE t3.a > (SELECT AVG(a) FROM t1)",
    "SELECT a FROM t1 UNION SELECT a FROM t2 UNION ALL SELECT b FROM t3",
    "SELECT a FROM t1 UNION ALL SELECT a FROM t2",
    "SELECT * FROM (SELECT a FROM t1 UNION SELECT a FROM t2) d",
    "SELECT a FROM t1 INTERSECT SELECT a FROM t2",
    "SELECT a FROM t1 EXCEPT SELECT a FROM t2",
    "(SELECT a FROM t1 ORDER BY b LIMIT 1) UNION ALL (SELECT a FROM t2) ORDER BY a",
    "SELECT a FROM t1 ORDER BY b",
    "SELECT b, COUNT(*) FROM t3 GROUP BY b ORDER BY 2",
    "SELECT DISTINCT b FROM t3",
    "SELECT COUNT(*) FROM t3 ORDER BY 1",
    "SELECT 1",
    "VALUES ROW(1, 2)",
    "WITH RECURSIVE c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT * FROM c",
    "SELECT a, ROW_NUMBER() OVER (ORDER BY b) FROM t3",
    "SELECT b, SUM(a) FROM t3 GROUP BY b WITH ROLLUP",
    "UPDATE t1 SET b = 1 WHERE a = (SELECT MAX(a) FROM t3)",
    "DELETE FROM t1 WHERE a = (SELECT MAX(a) FROM t3)",
    "INSERT INTO t3 SELECT * FROM t1 WHERE b > 0",
    "REPLACE INTO t2 VALUES (1, 1, 1)",
    "SELECT * FROM t1 WHERE a NOT IN (SELECT a FROM t2)",
    "SELECT MAX(id) FROM t1",
    "SELECT * FROM v",
    "SELECT * FROM v WHERE a = (SELECT MAX(a) FROM v)",
    "TABLE t1",
];

#[test]
fn blocks_are_explained_as_mysqls() {
    let Some(mut both) = Both::start("blocks_are_explained_as_mysqls", CREATES) else { return };
    for statement in STATEMENTS {
        let text = format!("EXPLAIN FORMAT=TRADITIONAL {statement}");
        both.ask_for(&text, |result| {
            let cell = |row, column| result.text(row, column).unwrap_or_else(|| "NULL".to_owned());
            let row = |at| ["id", "select_type", "table"].map(|column| cell(at, column)).join("|");
            let of_block = |at| {
                let notes = cell(at, "Extra");
                let of_block = ["Using temporary", "Using filesort", "No tables used", "Select tables"];
                let said =
                    notes.split("; ").filter(|note| of_block.iter().any(|said| note.starts_with(said)));
                said.collect::<Vec<_>>().join("; ")
            };
            let rows = (0..result.rows.len()).map(|at| format!("{}|{}", row(at), of_block(at)));
            rows.collect::<Vec<_>>().join("\n    ")
        });
    }
    both.ask_for("EXPLAIN FORMAT=TRADITIONAL SELECT * FROM t3", |result| {
        result.text(0, "filtered").unwrap_or_default()
    });
    // EXPLAIN without FORMAT prints the tree, which is MySQL 9's default format.
    both.ask_for("EXPLAIN SELECT 1", |result| {
        format!("{} {:?}", result.columns.len(), result.text(0, "EXPLAIN").is_some())
    });
    both.finish();
}
