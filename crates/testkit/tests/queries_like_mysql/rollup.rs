//! Tests of GROUP BY ... WITH ROLLUP and GROUPING(), compared with MySQL.

use crate::beside::{Both, Rows};

const TABLES: &[&str] = &[
    "CREATE DATABASE q",
    "USE q",
    "CREATE TABLE r (id INT PRIMARY KEY, a INT, b VARCHAR(5), c INT, d INT NOT NULL)",
    "INSERT INTO r VALUES (1, 1, 'x', 10, 1), (2, 1, 'y', 20, 2), (3, 2, 'x', 30, 3), (4, NULL, 'x', 40, 4), \
     (5, 2, NULL, 50, 5), (6, 1, 'x', 60, 6)",
    "CREATE TABLE years (id INT PRIMARY KEY, y YEAR)",
    "INSERT INTO years VALUES (1, 0), (2, 2024), (3, 2000)",
];

/// Queries with super-aggregate rows, and queries that are refused.
const STATEMENTS: &[&str] = &[
    "SELECT y, count(*) FROM years GROUP BY y WITH ROLLUP",
    "SELECT y, count(*) FROM years GROUP BY y",
    "SELECT min(y), max(y) FROM years",
    "SELECT min(y), max(y) FROM years HAVING min(y) = 0",
    "SELECT id, max(y) OVER (), min(y) OVER (ORDER BY id) FROM years",
    "SELECT m FROM (SELECT min(y) m FROM years) x",
    "SELECT a, sum(c) FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, b, sum(c), count(*) FROM r GROUP BY a, b WITH ROLLUP",
    "SELECT a, b, sum(c), GROUPING(a), GROUPING(b), GROUPING(a,b) FROM r GROUP BY a, b WITH ROLLUP",
    "SELECT a, b, sum(c) FROM r GROUP BY a, b WITH ROLLUP HAVING GROUPING(a) = 1 OR sum(c) > 50",
    "SELECT a, b, sum(c) FROM r GROUP BY a, b WITH ROLLUP HAVING b IS NULL",
    "SELECT a, b, sum(c) FROM r GROUP BY a, b WITH ROLLUP ORDER BY a DESC, b",
    "SELECT a, b, sum(c) FROM r GROUP BY a, b WITH ROLLUP ORDER BY GROUPING(a), sum(c)",
    "SELECT a, b, sum(c) FROM r GROUP BY a, b WITH ROLLUP LIMIT 3",
    "SELECT a+1, sum(c) FROM r GROUP BY a+1 WITH ROLLUP",
    "SELECT a+1 AS x, x FROM r GROUP BY x WITH ROLLUP",
    "SELECT a, a+1, concat(b,'!'), ifnull(b,'total') FROM r GROUP BY a, b WITH ROLLUP",
    "SELECT d, sum(c) FROM r GROUP BY d WITH ROLLUP",
    "SELECT d, d IS NULL, sum(c) FROM r GROUP BY d WITH ROLLUP",
    "SELECT count(*) FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, a + 1, coalesce(a, 7), GROUPING(a), count(*) FROM r WHERE FALSE GROUP BY a WITH ROLLUP",
    "SELECT 5, concat('a', 1), cast('[1]' AS JSON), json_array(a) FROM r WHERE NULL GROUP BY 1, 2, 3, 4 WITH ROLLUP",
    "SELECT 5, concat('a', 1), json_array(a) FROM r WHERE d = 99 GROUP BY 1, 2, 3 WITH ROLLUP",
    "SELECT a, c FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, max(b), min(c), avg(c), count(DISTINCT b) FROM r GROUP BY a WITH ROLLUP",
    "SELECT if(GROUPING(a), 'all', a) x, sum(c) FROM r GROUP BY a WITH ROLLUP ORDER BY 1",
    "SELECT GROUPING(a) FROM r GROUP BY a",
    "SELECT GROUPING(c) FROM r GROUP BY a WITH ROLLUP",
    "SELECT GROUPING(a) FROM r",
    "SELECT a FROM r WHERE GROUPING(a) GROUP BY a WITH ROLLUP",
    "SELECT GROUPING(a+1) FROM r GROUP BY a WITH ROLLUP",
    "SELECT GROUPING(sum(a)) FROM r GROUP BY a WITH ROLLUP",
    "SELECT DISTINCT a FROM r GROUP BY a, b WITH ROLLUP",
    "SELECT a, sum(c) FROM r WHERE 0 GROUP BY a WITH ROLLUP",
    "SELECT a, b, sum(c) FROM r GROUP BY ROLLUP (a, b)",
    "SELECT a, b, sum(c) FROM r GROUP BY ROLLUP (a), b",
    "SELECT a, sum(c), RANK() OVER (ORDER BY sum(c)) FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, sum(sum(c)) OVER () FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, (SELECT max(x.c) FROM r x WHERE x.a = r.a) FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, sum(c) FROM r GROUP BY a WITH ROLLUP UNION SELECT 1, 2",
    "SELECT * FROM (SELECT a, b, sum(c) s FROM r GROUP BY a, b WITH ROLLUP) q WHERE a IS NULL",
    "SELECT a, a FROM r GROUP BY a, a WITH ROLLUP",
    "SELECT a, b, count(*) FROM r GROUP BY b, a WITH ROLLUP",
    "SELECT upper(b) u, count(*) FROM r GROUP BY b WITH ROLLUP",
    "SELECT b, count(*) FROM r GROUP BY upper(b) WITH ROLLUP",
    "SELECT a, any_value(b), sum(c) FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, sum(a) FROM r GROUP BY a WITH ROLLUP",
    "SELECT a, sum(a + c) FROM r GROUP BY a WITH ROLLUP HAVING sum(a) > 2",
    "SELECT a, count(a), max(a) FROM r GROUP BY a WITH ROLLUP",
    "SELECT a AS b, count(*) FROM r GROUP BY b WITH ROLLUP",
    "SELECT 1, count(*) FROM r GROUP BY 1 WITH ROLLUP",
    "SELECT 'k' k, count(*) FROM r GROUP BY k WITH ROLLUP",
    "SELECT a, sum(c) FROM r GROUP BY a ASC WITH ROLLUP",
    "SELECT a, sum(c) FROM r GROUP BY a DESC",
    "SELECT a, sum(c) FROM r GROUP BY a WITH ROLLUP ORDER BY a IS NULL, a",
    "SELECT a, b FROM r GROUP BY a, b WITH ROLLUP ORDER BY b",
    "SELECT EXISTS(SELECT a FROM r GROUP BY a WITH ROLLUP HAVING a > 5)",
    "SELECT a FROM r GROUP BY a WITH ROLLUP HAVING count(*) > 1 AND GROUPING(a)=0",
    "SELECT coalesce(a, -1) k, sum(c) FROM r GROUP BY coalesce(a,-1) WITH ROLLUP",
    "SELECT a, b, d, count(*) FROM r GROUP BY a, b, d WITH ROLLUP",
    "SELECT k, count(*) FROM (SELECT a AS k FROM r WHERE NULL) x GROUP BY k WITH ROLLUP",
    "SELECT 1 = 2 k, count(*) FROM r WHERE 1 = NULL GROUP BY k WITH ROLLUP",
    "SELECT k, count(*) FROM (SELECT a, 5 AS k FROM r WHERE a < -100) x GROUP BY k WITH ROLLUP",
    "SELECT a, k, count(*) FROM (SELECT a, 5 AS k FROM r) x GROUP BY a WITH ROLLUP",
    "SELECT a, k + 1, count(*) FROM (SELECT a, 5 AS k FROM r) x GROUP BY a WITH ROLLUP HAVING k > 4",
];

#[test]
fn rollups_answer_as_mysqls() {
    let Some(mut both) = Both::start("rollups_answer_as_mysqls", TABLES) else { return };
    let succeeded = STATEMENTS.iter().filter(|statement| both.ask(statement, Rows::Described)).count();
    assert!(succeeded > 35, "{succeeded} succeeded");
    both.finish();
}
