//! Tests of UNION, INTERSECT, EXCEPT, VALUES and TABLE, compared with MySQL.

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

/// Statements about columns of FLOAT and YEAR beside others.
const OF_FLOATS: &[&str] = &[
    "CREATE TABLE f (f FLOAT, db DOUBLE, ti TINYINT, i INT, bi BIGINT, y YEAR, v VARCHAR(10))",
    "INSERT INTO f VALUES (1.1, 2.2, 3, 4, 5, 0, 'a'), (2.3, 3.3, 3, 4, 5, 1999, 'b')",
    "SELECT f FROM f UNION ALL SELECT ti FROM f",
    "SELECT f FROM f UNION ALL SELECT i FROM f",
    "SELECT f FROM f UNION ALL SELECT bi FROM f",
    "SELECT bi FROM f UNION ALL SELECT f FROM f",
    "SELECT ti FROM f UNION ALL SELECT f FROM f",
    "SELECT f FROM f UNION ALL SELECT 1",
    "SELECT 1 UNION ALL SELECT f FROM f",
    "SELECT f FROM f UNION ALL SELECT db FROM f",
    "SELECT f FROM f UNION ALL SELECT 1.5",
    "SELECT f FROM f UNION ALL SELECT y FROM f",
    "SELECT y FROM f UNION ALL SELECT f FROM f",
    "SELECT COALESCE(f, 1), COALESCE(1, f), IF(ti, f, bi), IFNULL(f, i), CASE ti WHEN 3 THEN f ELSE ti END FROM f",
    "SELECT y FROM f UNION SELECT 'z'",
    "SELECT v FROM f UNION ALL SELECT y FROM f",
];

/// The statements, in order. Each sees what those before it have changed.
const STATEMENTS: &[&str] = &[
    "VALUES ROW()",
    "VALUES ROW(1,DEFAULT)",
    "VALUES ROW(1), ROW(1,2)",
    "VALUES ROW(NULL), ROW(1)",
    "VALUES ROW('a'), ROW(1)",
    "SELECT * FROM (VALUES ROW(1,2), ROW(3,4)) v(a,b) WHERE a > 1",
    "SELECT * FROM (VALUES ROW(1,2), ROW(3,4)) v ORDER BY column_1 DESC",
    "SELECT (VALUES ROW(7))",
    "SELECT 3 IN (VALUES ROW(1), ROW(3)), 5 IN (VALUES ROW(1), ROW(3))",
    "SELECT id FROM t1 WHERE (id, a) IN (VALUES ROW(1,1), ROW(3,2))",
    "TABLE t2",
    "TABLE t2 ORDER BY id DESC LIMIT 2",
    "TABLE t2 LIMIT 1 OFFSET 1",
    "TABLE nosuch",
    "TABLE t1 UNION TABLE t1",
    "(TABLE t2 LIMIT 1) UNION ALL (TABLE t2 LIMIT 1)",
    "SELECT 1 UNION SELECT 2 EXCEPT SELECT 1",
    // What comes behind a first query without rows is not computed.
    "SELECT a FROM t1 WHERE id > 99 EXCEPT SELECT a + 9223372036854775807 FROM t1",
    "SELECT a FROM t1 WHERE id > 99 INTERSECT ALL SELECT a + 9223372036854775807 FROM t1",
    "SELECT a FROM t1 WHERE id > 99 UNION SELECT a FROM t2 WHERE id > 99 EXCEPT SELECT a + 9223372036854775807 FROM t1",
    "SELECT a FROM t1 EXCEPT ALL (SELECT a + 9223372036854775807 FROM t1 WHERE id > 99)",
    "SELECT 1 UNION ALL SELECT 1 EXCEPT SELECT 2",
    "SELECT a FROM t1 EXCEPT ALL SELECT a FROM t2",
    "SELECT a FROM t1 INTERSECT SELECT a FROM t2",
    "SELECT a FROM t1 INTERSECT ALL SELECT a FROM t2",
    "SELECT a FROM t1 INTERSECT ALL SELECT a FROM t1",
    "SELECT 1 UNION SELECT 2 INTERSECT SELECT 2",
    "(SELECT 1 UNION SELECT 2) INTERSECT SELECT 2",
    "SELECT 1 INTERSECT SELECT 1 UNION SELECT 3",
    "SELECT 1 EXCEPT (SELECT 2 EXCEPT SELECT 1)",
    "SELECT 1 AS x EXCEPT SELECT 2 EXCEPT SELECT 1",
    "SELECT a, b FROM t1 UNION SELECT a FROM t2",
    "SELECT a, b FROM t1 INTERSECT SELECT a FROM t2",
    "SELECT a FROM t1 UNION SELECT c FROM t2 ORDER BY a",
    "SELECT a FROM t1 UNION SELECT c FROM t2 ORDER BY c",
    "SELECT a FROM t1 UNION SELECT c FROM t2 ORDER BY 1 DESC LIMIT 2",
    "SELECT a x FROM t1 UNION SELECT c FROM t2 ORDER BY x+1",
    "SELECT a x FROM t1 UNION SELECT c FROM t2 ORDER BY t1.a",
    "(SELECT a FROM t1 ORDER BY id DESC LIMIT 2) UNION ALL (SELECT a FROM t2 ORDER BY id LIMIT 1)",
    "(SELECT a FROM t1) ORDER BY a",
    "(SELECT a FROM t1 ORDER BY a LIMIT 2) LIMIT 1",
    "((SELECT a FROM t1 ORDER BY a LIMIT 3) LIMIT 2) LIMIT 1",
    "((SELECT 1) UNION (SELECT 2)) UNION ALL SELECT 2",
    "SELECT ((SELECT 1) UNION (SELECT 1))",
    "SELECT id FROM t1 WHERE id IN ((SELECT 1) UNION (SELECT 2))",
    "SELECT EXISTS((SELECT 1) UNION (SELECT 2))",
    "SELECT * FROM ((SELECT 1 AS q) UNION (SELECT 2)) d",
    "SELECT s FROM t1 EXCEPT SELECT 'a'",
    "SELECT s FROM t1 INTERSECT SELECT 'A'",
    "SELECT 1.5 INTERSECT SELECT 1.50",
    "SELECT 1 INTERSECT SELECT 1.0",
    "SELECT '1' INTERSECT SELECT 1",
    "SELECT 1 EXCEPT ALL SELECT 1",
    "SELECT a FROM t1 UNION DISTINCT SELECT a FROM t1",
    "SELECT a FROM t1 UNION ALL DISTINCT SELECT a FROM t1",
    "SELECT a FROM t1 UNION ALL SELECT a FROM t2 LIMIT 3",
    "SELECT a FROM t1 LIMIT 1 UNION SELECT 1",
    "SELECT a FROM t1 ORDER BY a UNION SELECT 1",
    "SELECT 1 FROM t1 WHERE id = 1 UNION ALL SELECT 2 FOR UPDATE",
    "SELECT 1 UNION (SELECT 2 FOR UPDATE)",
    "INSERT INTO t2 VALUES ROW(50,1,2), ROW(51,2,3)",
    "INSERT INTO t2 (id, a) TABLE t3",
    "INSERT INTO t2 TABLE t2",
    "INSERT INTO t2 (id) SELECT 77 EXCEPT SELECT 78",
    "INSERT INTO t2 (id) (SELECT 79) UNION (SELECT 80)",
    "SELECT DISTINCT a FROM t1 UNION ALL SELECT DISTINCT a FROM t1",
    "SELECT 'a' UNION SELECT 'A'",
    "SELECT 'a' UNION ALL SELECT 'ab' UNION SELECT 'a '",
    "SELECT date'2020-01-01' UNION SELECT '2020-01-01'",
    "SELECT 1 UNION SELECT NULL",
];

#[test]
fn unions_of_floats_and_years_answer_as_mysqls() {
    let Some(mut both) = Both::start("unions_of_floats_and_years_answer_as_mysqls", TABLES) else { return };
    let succeeded = OF_FLOATS.iter().filter(|statement| both.ask(statement, Rows::Described)).count();
    assert_eq!(succeeded, OF_FLOATS.len());
    both.finish();
}

#[test]
fn set_operations_answer_as_mysqls() {
    let Some(mut both) = Both::start("set_operations_answer_as_mysqls", TABLES) else { return };
    let succeeded = STATEMENTS.iter().filter(|statement| both.ask(statement, Rows::Described)).count();
    assert!(succeeded > 50, "{succeeded} succeeded");
    both.finish();
}
