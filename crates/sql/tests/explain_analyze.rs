//! Tests EXPLAIN ANALYZE: the counts of loops and rows of each operation, which do not depend on
//! time, and what the statement leaves as it was.

mod support;

use sql::{Session, SqlError};
use support::{TextSink, engine, rows, run, session};

fn tables(s: &mut Session) {
    for statement in [
        "CREATE TABLE t1 (a INT PRIMARY KEY, b INT, c INT, KEY b (b))",
        "CREATE TABLE t2 (a INT PRIMARY KEY, b INT, c INT, KEY b (b))",
        "INSERT INTO t1 VALUES (1,1,1),(2,2,1),(3,3,2),(4,4,2),(5,5,5)",
        "INSERT INTO t2 VALUES (1,1,1),(2,2,2),(3,3,3),(4,4,4),(5,5,5)",
    ] {
        run(s, statement);
    }
}

/// Runs a statement that has to fail, and returns its error.
fn error(s: &mut Session, statement: &str) -> SqlError {
    s.execute(statement.as_bytes(), &mut TextSink::default()).expect_err(statement)
}

/// Returns the tree with the estimates and the times left out, one line for each operation.
fn counted(s: &mut Session, statement: &str) -> Vec<String> {
    let tree = rows(s, &format!("EXPLAIN ANALYZE {statement}")).join("\n").replace("\\n", "\n");
    let line = |line: &str| {
        let (text, figures) = line.split_once("  (").unwrap_or((line, ""));
        let actual = figures.split_once("(actual time=").map(|(_, actual)| actual);
        let actual = actual.or(figures.strip_prefix("actual time="));
        let counts =
            actual.and_then(|actual| actual.split_once(' ')).map(|(_, counts)| format!(" ({counts}"));
        let never = figures.contains("never executed").then(|| " (never)".to_owned());
        format!("{text}{}", counts.or(never).unwrap_or_default())
    };
    tree.lines().map(line).collect()
}

#[test]
fn loops_and_rows_are_counted() {
    let engine = engine();
    let mut s = session(&engine);
    tables(&mut s);
    let cases: &[(&str, &[&str])] = &[
        ("SELECT 1", &["-> Rows fetched before execution (rows=1 loops=1)"]),
        (
            "SELECT * FROM t1 WHERE c > 1",
            &["-> Filter: (t1.c > 1) (rows=3 loops=1)", "    -> Table scan on t1 (rows=5 loops=1)"],
        ),
        (
            "SELECT /*+ HASH_JOIN(t2) */ STRAIGHT_JOIN * FROM t1 JOIN t2 ON t1.c = t2.c WHERE t1.a > 2",
            &[
                "-> Inner hash join (t2.c = t1.c) (rows=3 loops=1)",
                "    -> Filter: (t1.a > 2) (rows=3 loops=1)",
                "        -> Index range scan on t1 using PRIMARY over (2 < a) (rows=3 loops=1)",
                "    -> Hash",
                "        -> Table scan on t2 (rows=5 loops=1)",
            ],
        ),
        (
            "SELECT STRAIGHT_JOIN * FROM t1 JOIN t2 ON t2.a > t1.c WHERE t1.a = 100",
            &[
                "-> Nested loop inner join (rows=0 loops=1)",
                "    -> Filter: (t1.a = 100) (rows=0 loops=1)",
                "        -> Single-row index lookup on t1 using PRIMARY (a = 100) (rows=0 loops=1)",
                "    -> Filter: (t2.a > t1.c) (never)",
                "        -> Index range scan on t2 using PRIMARY over (t1.c < a) (never)",
            ],
        ),
        (
            "SELECT /*+ NO_HASH_JOIN(t2) */ * FROM t1 LEFT JOIN t2 ON t2.c = t1.a AND t2.a < 3 WHERE t2.c IS NULL",
            &[
                "-> Filter: (t2.c is null) (rows=3 loops=1)",
                "    -> Nested loop left join (rows=5 loops=1)",
                "        -> Table scan on t1 (rows=5 loops=1)",
                "        -> Filter: ((t2.c = t1.a) and (t2.a < 3)) (rows=0.4 loops=5)",
                "            -> Index range scan on t2 using PRIMARY over (a < 3) (rows=2 loops=5)",
            ],
        ),
        (
            "SELECT c, COUNT(*) FROM t1 GROUP BY c HAVING COUNT(*) > 1 ORDER BY 1 DESC LIMIT 1",
            &[
                "-> Limit: 1 row(s) (rows=1 loops=1)",
                "    -> Sort: t1.c DESC (rows=1 loops=1)",
                "        -> Filter: (count(0) > 1) (rows=2 loops=1)",
                "            -> Table scan on <temporary> (rows=3 loops=1)",
                "                -> Aggregate using temporary table (rows=3 loops=1)",
                "                    -> Table scan on t1 (rows=5 loops=1)",
            ],
        ),
        (
            "SELECT JSON_ARRAYAGG(c), STDDEV_SAMP(c), COUNT(DISTINCT c) FROM t1",
            &[
                "-> Aggregate: json_arrayagg(t1.c), stddev_samp(t1.c), count(distinct t1.c) (rows=1 loops=1)",
                "    -> Table scan on t1 (rows=5 loops=1)",
            ],
        ),
        (
            "SELECT /*+ HASH_JOIN(t2) */ STRAIGHT_JOIN 1 FROM t1 JOIN t2 IGNORE INDEX (b) \
             ON t1.c = t2.c AND t1.b = t2.b",
            &[
                "-> Inner hash join (t2.c = t1.c), (t2.b = t1.b) (rows=2 loops=1)",
                "    -> Table scan on t1 (rows=5 loops=1)",
                "    -> Hash",
                "        -> Table scan on t2 (rows=5 loops=1)",
            ],
        ),
        (
            "SELECT (SELECT MAX(t2.c) FROM t2 WHERE t2.a > t1.a) FROM t1 ORDER BY a",
            &[
                "-> Index scan on t1 using PRIMARY (rows=5 loops=1)",
                "-> Select #2 (subquery; dependent)",
                "    -> Limit: 2 row(s) (rows=1 loops=5)",
                "        -> Aggregate: max(t2.c) (rows=1 loops=5)",
                "            -> Filter: (t2.a > t1.a) (rows=2 loops=5)",
                "                -> Index range scan on t2 using PRIMARY over (t1.a < a) (rows=2 loops=5)",
            ],
        ),
        (
            "SELECT a FROM t1 UNION SELECT c FROM t1",
            &[
                "-> Union materialize with deduplication (rows=5 loops=1)",
                "    -> Table scan on t1 (rows=5 loops=1)",
                "    -> Table scan on t1 (rows=5 loops=1)",
            ],
        ),
        (
            "SELECT * FROM t1 WHERE 1 = 0",
            &["-> Filter: (1 = 0) (rows=0 loops=1)", "    -> Table scan on t1 (never)"],
        ),
        (
            "SELECT a, RANK() OVER (ORDER BY c) FROM t1",
            &[
                "-> Window aggregate with buffering (rows=5 loops=1)",
                "    -> Sort (rows=5 loops=1)",
                "        -> Table scan on t1 (rows=5 loops=1)",
            ],
        ),
        (
            "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT * FROM r",
            &[
                "-> Table scan on r (rows=4 loops=1)",
                "    -> Materialize (rows=4 loops=1)",
                "        -> Materialize recursive CTE (rows=4 loops=1)",
                "            -> Rows fetched before execution (rows=1 loops=1)",
                "            -> Repeat until convergence",
                "                -> Filter: (r.#1 < 4) (rows=0.75 loops=4)",
                "                    -> Scan new records on r (rows=1 loops=4)",
            ],
        ),
        (
            "INSERT INTO t2 SELECT a + 100, b, c FROM t1",
            &["-> Insert into t2", "    -> Table scan on t1 (rows=5 loops=1)"],
        ),
        (
            "UPDATE t1 JOIN t2 ON t1.c = t2.a SET t1.b = 7, t2.b = 7",
            &[
                "-> Update t1 (immediate), t2 (buffered) (rows=0 loops=1)",
                "    -> Nested loop inner join (rows=5 loops=1)",
                "        -> Table scan on t1 (rows=5 loops=1)",
                "        -> Filter: (t1.c = t2.a) (rows=1 loops=5)",
                "            -> Single-row index lookup on t2 using PRIMARY (a = t1.c) (rows=1 loops=5)",
            ],
        ),
        ("UPDATE t1 SET b = 7", &["-> <not executable by iterator executor>"]),
        ("DELETE FROM t1", &["-> <not executable by iterator executor>"]),
    ];
    for (statement, expected) in cases {
        assert_eq!(counted(&mut s, statement), *expected, "{statement}");
    }
    // Nothing has changed.
    assert_eq!(rows(&mut s, "SELECT COUNT(*), SUM(b) FROM t1"), ["5|15"]);
    assert_eq!(rows(&mut s, "SELECT COUNT(*), SUM(b) FROM t2"), ["5|15"]);
}

#[test]
fn formats_that_do_not_go_together_are_refused() {
    let engine = engine();
    let mut s = session(&engine);
    tables(&mut s);
    for (statement, number, text) in [
        (
            "EXPLAIN ANALYZE FORMAT=TRADITIONAL SELECT 1",
            1235,
            "This version of MySQL doesn't yet support 'EXPLAIN ANALYZE with TRADITIONAL format'",
        ),
        (
            "EXPLAIN ANALYZE FOR CONNECTION 1",
            1235,
            "This version of MySQL doesn't yet support 'EXPLAIN ANALYZE FOR CONNECTION'",
        ),
        ("EXPLAIN FORMAT=foo SELECT 1", 1791, "Unknown EXPLAIN format name: 'foo'"),
        ("EXPLAIN INTO @v SELECT 1", 6006, "EXPLAIN INTO does not support implicit FORMAT."),
        ("EXPLAIN FORMAT=TREE INTO @v SELECT 1", 6007, "EXPLAIN INTO does not support FORMAT=TREE."),
        (
            "EXPLAIN FORMAT=TRADITIONAL INTO @v SELECT 1",
            6007,
            "EXPLAIN INTO does not support FORMAT=TRADITIONAL.",
        ),
        (
            "EXPLAIN FORMAT=JSON INTO @v FOR CONNECTION 1",
            6009,
            "EXPLAIN FOR CONNECTION does not support the INTO clause.",
        ),
        ("EXPLAIN FOR SCHEMA nope SELECT 1", 1049, "Unknown database 'nope'"),
    ] {
        let refused = error(&mut s, statement);
        assert_eq!((refused.code, refused.message.as_str()), (number, text), "{statement}");
    }
    assert_eq!(error(&mut s, "EXPLAIN ANALYZE t1").code, 1064);
    assert_eq!(error(&mut s, "EXPLAIN PARTITIONS SELECT 1").code, 1064);
}

#[test]
fn plans_go_into_variables_and_are_of_schemas() {
    let engine = engine();
    let mut s = session(&engine);
    tables(&mut s);
    run(&mut s, "EXPLAIN ANALYZE FORMAT=JSON INTO @v SELECT * FROM t1 WHERE c > 1");
    let figures = rows(
        &mut s,
        "SELECT JSON_EXTRACT(@v, '$.query_plan.actual_rows'), JSON_EXTRACT(@v, \
         '$.query_plan.inputs[0].actual_loops')",
    );
    assert_eq!(figures, ["3.0|1"]);
    run(&mut s, "CREATE SCHEMA other");
    run(&mut s, "CREATE TABLE other.elsewhere (a INT)");
    assert_eq!(
        rows(&mut s, "EXPLAIN FOR SCHEMA other SELECT * FROM elsewhere"),
        ["-> Table scan on elsewhere\\n"]
    );
    assert_eq!(error(&mut s, "EXPLAIN SELECT * FROM elsewhere").code, 1146);
}
