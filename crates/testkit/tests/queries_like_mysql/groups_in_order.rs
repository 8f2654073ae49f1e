//! Groups whose rows come one after the other, by an index whose columns are those of GROUP BY,
//! compared with MySQL; beside them queries that look alike and are not grouped so.

use bench::instance::Settings;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

const STATEMENTS: &[&str] = &[
    "CREATE DATABASE gio",
    "USE gio",
    "CREATE TABLE t (a INT, b INT, c VARCHAR(10), d INT, f DOUBLE NOT NULL, PRIMARY KEY (a, b), KEY (c, d), KEY (f, d))",
    "INSERT INTO t VALUES (1,1,'x',5,0), (1,2,'X',6,-0e0), (1,5,NULL,7,1.5), (2,1,'y',8,0), (2,7,'é',9,-0e0), \
     (3,1,'e',1,2), (4,0,'x ',2,0), (4,1,NULL,NULL,-0e0), (4,9,'z',3,0)",
    "CREATE TABLE s (a INT PRIMARY KEY, n VARCHAR(10))",
    "INSERT INTO s VALUES (1,'one'), (2,'two'), (4,'four'), (5,'five')",
    "SELECT a, COUNT(*), SUM(d), MIN(c), GROUP_CONCAT(b ORDER BY b) FROM t GROUP BY a",
    "SELECT a, b, MAX(d) FROM t GROUP BY b, a ORDER BY a, b",
    "SELECT b, a, MAX(d) FROM t WHERE a = 4 GROUP BY b ORDER BY b",
    "SELECT b, COUNT(*) FROM t WHERE a IN (1, 4) GROUP BY b ORDER BY b",
    "SELECT b, COUNT(*) FROM t WHERE a BETWEEN 1 AND 4 GROUP BY b ORDER BY b",
    "SELECT a FROM t WHERE a > 1 GROUP BY a",
    "SELECT a, SUM(d) FROM t GROUP BY a HAVING SUM(d) > 10",
    "SELECT a, SUM(d) FROM t GROUP BY a HAVING SUM(d) > 10 ORDER BY a DESC",
    "SELECT a, SUM(d) AS total FROM t GROUP BY a ORDER BY total DESC, a LIMIT 2",
    "SELECT a, SUM(d) FROM t GROUP BY a LIMIT 2",
    "SELECT a, SUM(d) FROM t GROUP BY a LIMIT 1 OFFSET 2",
    "SELECT a, COUNT(DISTINCT c), SUM(DISTINCT d) FROM t GROUP BY a",
    "SELECT a, COUNT(*) FROM t WHERE d > 100 GROUP BY a",
    "SELECT DISTINCT COUNT(*) FROM t GROUP BY a ORDER BY 1",
    "SELECT a, SUM(d) FROM t GROUP BY a WITH ROLLUP",
    "SELECT a, SUM(SUM(d)) OVER (ORDER BY a) FROM t GROUP BY a",
    "SELECT c, COUNT(*) FROM t FORCE INDEX (c) GROUP BY c ORDER BY c",
    "SELECT c, d, COUNT(*) FROM t FORCE INDEX (c) GROUP BY c, d ORDER BY COUNT(*), d",
    "SELECT f, COUNT(*) FROM t FORCE INDEX (f) GROUP BY f ORDER BY f",
    "SELECT f, d, COUNT(*) FROM t FORCE INDEX (f) GROUP BY f, d ORDER BY d",
    "SELECT t.a, n, COUNT(*), SUM(d) FROM t JOIN s ON s.a = t.a GROUP BY t.a ORDER BY t.a",
    "SELECT t.a, COUNT(s.n), SUM(d) FROM t LEFT JOIN s ON s.a = t.b GROUP BY t.a ORDER BY t.a",
    "SELECT STRAIGHT_JOIN s.a, n, COUNT(t.b) FROM s LEFT JOIN t ON t.a = s.a GROUP BY s.a ORDER BY s.a",
    "SELECT s.a FROM s WHERE s.a IN (SELECT a FROM t GROUP BY a HAVING SUM(d) > 10)",
    "SELECT s.a, (SELECT SUM(x.d) FROM t x WHERE x.a = s.a GROUP BY x.a) FROM s ORDER BY s.a",
    "SELECT s.a, (SELECT COUNT(*) FROM t x WHERE x.b < s.a GROUP BY x.a ORDER BY 1 DESC LIMIT 1) FROM s ORDER BY s.a",
    "CREATE TABLE copy SELECT a, SUM(d) AS d FROM t GROUP BY a",
    "SELECT * FROM copy ORDER BY a",
    "BEGIN",
    "INSERT INTO t VALUES (2, 3, 'own', 100, 0), (0, 0, 'own', 50, 0)",
    "DELETE FROM t WHERE a = 1 AND b = 2",
    "SELECT a, COUNT(*), SUM(d) FROM t GROUP BY a",
    "ROLLBACK",
];

#[test]
fn groups_in_the_order_of_an_index_are_mysqls() {
    let answers = same_as_mysql("groups_in_order", &Settings::default(), |server| {
        let mut client = server.connect();
        STATEMENTS.iter().map(|statement| answer(&mut client, statement)).collect()
    });
    assert!(answers[6].contains("1,3,18,x,1,2,5"), "{}", answers[6]);
}
