//! Tests that MySQL's warnings about what it will remove come where a real MySQL gives them, with
//! the rules of syntax that are near them.

use testkit::answers::same_answers;

#[test]
fn operators_and_words() {
    same_answers(
        "deprecations_like_mysql::operators_and_words",
        &[
            "SELECT 1 && 2 && 3 || 4",
            "SELECT NOT NOT 1, 5 OR 0 AND 1",
            "SELECT BINARY BINARY 'a', 'a' = BINARY 'A'",
            "SELECT CONVERT('a', BINARY), CAST('a' AS BINARY)",
            "SELECT SQL_CALC_FOUND_ROWS DISTINCT SQL_NO_CACHE 1 UNION SELECT SQL_NO_CACHE 2",
            "SELECT FOUND_ROWS() + FOUND_ROWS()",
            "SET @x = 1 && 1",
            "DO 1 || 1",
            "SET sql_mode = 'PIPES_AS_CONCAT'",
            "SELECT 'a' || 'b'",
            "SET sql_mode = DEFAULT",
            "SELECT $a, `$a`, x$y FROM (SELECT 1 $a, 2 x$y) q",
        ],
    );
}

/// MySQL reads `!!` as one operator, so that it negates.
#[test]
fn exclamation_marks() {
    same_answers(
        "deprecations_like_mysql::exclamation_marks",
        &[
            "SELECT !1, !0, !NULL",
            "SELECT !!1, !!!1, !!!!1",
            "SELECT ! !1, ! ! !1, !-1, !~1, 1 | !1",
            "SELECT 1 = ! 1",
        ],
    );
}

#[test]
fn statements_that_keep_a_text() {
    same_answers(
        "deprecations_like_mysql::statements_that_keep_a_text",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT, b INT AS (a && 1), CHECK (a || 1), c INT DEFAULT (1 && 1))",
            "ALTER TABLE t ADD d INT",
            "INSERT INTO t (a) VALUES (100 && 1)",
            "INSERT INTO t (a) VALUES (0 && 1)",
            "UPDATE t SET d = 1 WHERE a = 0 && 1",
            "SELECT * FROM t",
            "CREATE PROCEDURE p() SELECT 1 && 1",
            "CALL p()",
            "CREATE VIEW v AS SELECT 1 && 1, BINARY 'a' b",
            "SELECT * FROM v",
            "CREATE TABLE $t ($i INT, KEY $k ($i))",
            "DROP TABLE d.$t",
            // The warnings come when a statement is prepared, and not again.
            "PREPARE s FROM 'SELECT 1 && 1, BINARY ?'",
            "SET @a = 1",
            "EXECUTE s USING @a",
            "PREPARE s FROM 'SET @b = 1 || 0'",
            "EXECUTE s",
            "SET @n = NULL",
            "PREPARE s FROM @n",
        ],
    );
}

#[test]
fn a_snapshot_that_the_isolation_level_does_not_have() {
    same_answers(
        "deprecations_like_mysql::a_snapshot_that_the_isolation_level_does_not_have",
        &[
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT",
            "COMMIT",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
            "COMMIT",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT",
            "COMMIT",
        ],
    );
}
