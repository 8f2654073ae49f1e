//! What is refused when a view is made, and other definitions that a MySQL replica would refuse.

use testkit::answers::same_answers;

#[test]
fn a_view_is_refused_as_in_mysql() {
    let answers = same_answers(
        "views_refused",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT, b INT)",
            "CREATE TABLE u (a INT, c INT)",
            "CREATE VIEW v AS SELECT @x",
            "CREATE VIEW v AS SELECT @@sql_mode",
            "CREATE VIEW v AS SELECT a FROM t WHERE a = (SELECT @@max_connections)",
            "CREATE VIEW v AS SELECT * FROM (SELECT @z) s",
            "CREATE VIEW v AS WITH q AS (SELECT @z AS z) SELECT * FROM q",
            "CREATE VIEW v AS SELECT a FROM t UNION SELECT @y ORDER BY 1",
            "CREATE VIEW v AS SELECT a INTO @x FROM t",
            "CREATE VIEW v AS SELECT a, a FROM t",
            "CREATE VIEW v AS SELECT * FROM t JOIN u",
            "CREATE VIEW v AS SELECT a AS x, b AS X FROM t",
            "CREATE VIEW v (x) AS SELECT a, b FROM t",
            "CREATE VIEW v (x, y, z) AS SELECT a, b FROM t",
            "CREATE VIEW v (x, X) AS SELECT a, b FROM t",
            "CREATE VIEW v (x, `y `) AS SELECT a, b FROM t",
            "CREATE VIEW v AS SELECT 1 AS `x `",
            "CREATE VIEW v AS SELECT 1 LIMIT 0+1",
            "CREATE VIEW v AS SELECT a FROM t FORCE INDEX () WHERE 1",
            "CREATE VIEW v AS SELECT a FROM t IGNORE INDEX ()",
            "CREATE VIEW v AS SELECT a FROM t PROCEDURE ANALYSE()",
            "CREATE VIEW v AS SELECT a FROM t, u",
            "CREATE VIEW v AS SELECT nope(a) FROM t",
            "CREATE VIEW v AS SELECT 1 UNION SELECT 1, 2",
            "CREATE VIEW v AS SELECT * FROM (SELECT 1, 1) s",
            "CREATE VIEW v AS SELECT *",
            "CREATE VIEW v AS SELECT x.* FROM t",
            "CREATE VIEW v AS SELECT (SELECT a, b FROM t)",
            "CREATE VIEW v AS SELECT a FROM t WHERE COUNT(*) > 1",
            "CREATE VIEW v AS VALUES ROW(1), ROW(1, 2)",
            "CREATE VIEW v (x, y) AS SELECT a, a FROM t",
            "SELECT * FROM v",
        ],
    );
    assert!(answers[4].contains("1351"), "{answers:#?}");
}

/// A client's mistake in such a statement would otherwise stop a replica of MySQL.
#[test]
fn definitions_are_refused_as_in_mysql() {
    let answers = same_answers(
        "definitions_refused",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT, b INT)",
            "CREATE TABLE p (id INT PRIMARY KEY)",
            "CREATE TABLE c (id INT PRIMARY KEY, a INT, CONSTRAINT fk FOREIGN KEY (a) REFERENCES p (id))",
            "ALTER TABLE t ADD COLUMN x1 INT, ALTER x1 SET DEFAULT 7",
            "ALTER TABLE t ADD y1 INT, DROP y1",
            "ALTER TABLE t ADD y2 INT, RENAME COLUMN y2 TO y3",
            "ALTER TABLE t ADD y5 INT, MODIFY y5 BIGINT",
            "ALTER TABLE c DROP FOREIGN KEY fk, ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES p (id) ON DELETE SET NULL",
            "CREATE TABLE x (a VARCHAR(10), h CHAR(32) AS (MD5(a)) STORED)",
            "CREATE TABLE x (a VARCHAR(40) DEFAULT (SHA1('x')))",
            "CREATE TABLE x (a VARCHAR(32), CHECK (MD5(a) = 'x'))",
            "CREATE TABLE x (a VARCHAR(32), KEY ((MD5(a))))",
            "CREATE TABLE x (a INT DEFAULT (b), b INT DEFAULT (a))",
            "CREATE TABLE x (a INT DEFAULT (a))",
            "CREATE TABLE x (a INT, b INT DEFAULT (c), c INT AS (a))",
            "CREATE TABLE x1 (a INT, b INT DEFAULT (a + 1), c INT DEFAULT (b))",
            "CREATE TABLE x2 (a INT, b INT DEFAULT (c), c INT DEFAULT 5)",
            "CREATE TABLE x (a INT) CHARSET utf8mb4 CHARSET latin1",
            "CREATE DATABASE e CHARSET utf8mb4 CHARSET latin1",
            "CREATE TABLE x (a YEAR(2))",
            "ALTER TABLE t ADD z YEAR(3)",
            "CREATE TABLE x (a INT NULL PRIMARY KEY)",
            "CREATE TABLE x (a INT NULL, b INT, PRIMARY KEY (b, a))",
            "CREATE TABLE x (a INT DEFAULT NULL, PRIMARY KEY (a))",
            "ALTER TABLE p MODIFY id INT NULL",
            "CREATE TABLE x (a VARCHAR(0) PRIMARY KEY)",
            "CREATE TABLE x (a BINARY(0), KEY (a))",
            "CREATE TABLE x (a INT, INDEX i USING RTREE (a))",
            "CREATE TABLE x (a INT, INDEX i (a) USING RTREE)",
            "CREATE INDEX i ON t (a) USING RTREE",
            "CREATE INDEX i USING RTREE ON t (a)",
            "SHOW TABLES",
        ],
    );
    assert!(answers[5].contains("1054"), "{answers:#?}");
}
