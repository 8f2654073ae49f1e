//! Tests of LATERAL tables, compared with MySQL.

use crate::beside::{Both, Rows};

const TABLES: &[&str] = &[
    "CREATE DATABASE q",
    "USE q",
    "CREATE TABLE t1 (id INT PRIMARY KEY, a INT, b INT NOT NULL, s VARCHAR(10))",
    "INSERT INTO t1 VALUES (1, 1, 10, 'a'), (2, 1, 20, 'b'), (3, 2, 30, NULL), (4, NULL, 40, 'd')",
    "CREATE TABLE t2 (id INT PRIMARY KEY, a INT, c DECIMAL(5,2))",
    "INSERT INTO t2 VALUES (1, 1, 1.5), (2, 2, 2.5), (3, NULL, 3.5)",
    "CREATE TABLE t3 (n INT, parent INT)",
    "INSERT INTO t3 VALUES (1, NULL), (2, 1), (3, 1), (4, 2), (5, 4)",
];

/// Statements that show what may be named in LATERAL tables, and what may not.
const STATEMENTS: &[&str] = &[
    "SELECT t1.id, d.x FROM t1, LATERAL (SELECT t1.a AS x) d",
    "SELECT t1.id, d.* FROM t1 LEFT JOIN LATERAL (SELECT t2.id, t2.c FROM t2 WHERE t2.a = t1.a ORDER BY t2.id LIMIT 1) d ON TRUE ORDER BY t1.id",
    "SELECT t1.id, d.* FROM t1 JOIN (SELECT t1.a AS x) d",
    "SELECT t1.id, d.* FROM t1 JOIN LATERAL (SELECT count(*) n FROM t2 WHERE t2.a <= t1.id) d ORDER BY 1",
    "SELECT t1.id, d.* FROM t1 CROSS JOIN LATERAL (SELECT t1.b UNION ALL SELECT t1.a) d ORDER BY 1,2",
    "SELECT t1.id, e.z FROM t1 JOIN LATERAL (SELECT t1.a AS x) d JOIN LATERAL (SELECT d.x + 1 AS z) e ORDER BY 1",
    "SELECT id, (SELECT max(x) FROM LATERAL (SELECT t1.a AS x) d) m FROM t1 ORDER BY 1",
    "SELECT * FROM t1 JOIN LATERAL t2",
    "SELECT * FROM t1 JOIN LATERAL (SELECT 1)",
    "SELECT * FROM t1 JOIN LATERAL (SELECT 1) d(a) WHERE t1.id=1",
    "SELECT t1.id, d.* FROM t1 JOIN LATERAL (WITH q AS (SELECT t1.a AS x) SELECT x FROM q) d ORDER BY 1",
    "SELECT t1.id, d.* FROM t1 JOIN LATERAL (VALUES ROW(t1.a), ROW(t1.b)) d ORDER BY 1,2",
    "SELECT t1.id, d.* FROM t1 JOIN LATERAL (SELECT row_number() OVER (ORDER BY t2.id DESC) r, t2.id FROM t2 WHERE t2.a >= t1.a) d ORDER BY 1,2",
    "SELECT t1.id, d.q FROM t1 STRAIGHT_JOIN LATERAL (SELECT sum(t2.c) q FROM t2 WHERE t2.id < t1.id) d WHERE d.q IS NOT NULL ORDER BY 1",
    "SELECT * FROM (t1 JOIN LATERAL (SELECT t1.id AS y) d) JOIN t2 ON t2.id = d.y ORDER BY 1",
    "SELECT t1.id FROM t1 JOIN LATERAL (SELECT nosuch.x) d",
];

#[test]
fn lateral_tables_answer_as_mysqls() {
    let Some(mut both) = Both::start("lateral_tables_answer_as_mysqls", TABLES) else { return };
    let succeeded = STATEMENTS.iter().filter(|statement| both.ask(statement, Rows::Described)).count();
    assert!(succeeded > 10, "{succeeded} succeeded");
    both.finish();
}
