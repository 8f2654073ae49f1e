//! Tests of aggregates over values at their limits. A real MySQL gets the same statements and must
//! answer the same.

use testkit::answers::same_answers;

#[test]
fn texts_that_are_one_number_are_summed_once() {
    let answers = same_answers(
        "aggregates::texts_that_are_one_number_are_summed_once",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (g INT, v VARCHAR(10), c CHAR(4), x TEXT, b VARBINARY(10), o BLOB)",
            "INSERT INTO t VALUES (1, '1', '1', '1', '1', '1'), (1, '1.0', '01', '1e0', '1.00', '01'), \
             (2, '2', '2', '2', '2', '2'), (2, ' 1', '+1', '1', '1', '1'), (2, NULL, NULL, NULL, NULL, NULL)",
            "SELECT AVG(DISTINCT v), SUM(DISTINCT v), COUNT(DISTINCT v) FROM t",
            "SELECT AVG(DISTINCT c), SUM(DISTINCT x), AVG(DISTINCT b), SUM(DISTINCT o) FROM t",
            "SELECT g, AVG(DISTINCT v), SUM(DISTINCT c) FROM t GROUP BY g WITH ROLLUP",
        ],
    );
    assert!(answers[4].contains("1.5"), "{}", answers[4]);
}

/// A sum of 66 digits loses one of them, and so a number cannot be taken from it again.
#[test]
fn sums_over_windows_are_exact_behind_sums_that_were_too_long() {
    let answers = same_answers(
        "aggregates::sums_over_windows_are_exact",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT, n DECIMAL(65,30))",
            "INSERT INTO t VALUES (1, 99999999999999999999999999999999999.999999999999999999999999999999), \
             (2, -0.000000000000000000000000000001), (3, 1.5), (4, 5), (5, NULL), (6, 5)",
            "SELECT * FROM (SELECT id, SUM(n) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS total \
             FROM t) d WHERE id > 2 ORDER BY id",
            "SELECT * FROM (SELECT id, AVG(n) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS average \
             FROM t) d WHERE id > 2 ORDER BY id",
        ],
    );
    assert!(answers[4].contains("6.499999999999999999999999999999"), "{}", answers[4]);
}

/// The handler takes the place of the error's text, in which MySQL shows the expression.
#[test]
fn a_variance_that_is_too_large_is_an_error() {
    let answers = same_answers(
        "aggregates::a_variance_that_is_too_large_is_an_error",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (x DOUBLE)",
            "INSERT INTO t VALUES (1e300), (-0.1), (5)",
            "CREATE PROCEDURE deviation() BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'too large'; \
             SELECT STD(x) INTO @deviation FROM t; END",
            "CREATE PROCEDURE sample() BEGIN DECLARE EXIT HANDLER FOR 1690 SELECT 'too large'; \
             SELECT VAR_SAMP(x) INTO @sample FROM t; END",
            "CALL deviation()",
            "CALL sample()",
            "SELECT STD(x), VAR_POP(x) FROM t WHERE x < 1e300",
        ],
    );
    assert!(answers[6].contains("too large"), "{}", answers[6]);
}

#[test]
fn bytes_are_no_names_of_members() {
    let answers = same_answers(
        "aggregates::bytes_are_no_names_of_members",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (v VARBINARY(4), b BIT(10), c VARCHAR(4), n INT, j JSON)",
            "INSERT INTO t VALUES (x'ff41', b'1', 'é', 5, '1.5')",
            "SELECT JSON_OBJECT(v, 1) FROM t",
            "SELECT JSON_OBJECT(b, 1) FROM t",
            "SELECT JSON_OBJECT(x'41', 1)",
            "SELECT JSON_OBJECTAGG(v, 1) FROM t",
            "SELECT JSON_OBJECTAGG(b, 1) FROM t",
            "SELECT JSON_OBJECTAGG(IFNULL(v, 'n'), 1) FROM t",
            "SELECT JSON_OBJECT(c, 1, n, 2, j, 3), JSON_OBJECTAGG(n, c) FROM t GROUP BY c, n, j",
            "SELECT JSON_OBJECT(NULL, 1)",
            "PREPARE s FROM 'SELECT JSON_OBJECT(?, 1)'",
            "SET @name = 'é', @number = 1.50",
            "EXECUTE s USING @name",
            "EXECUTE s USING @number",
        ],
    );
    assert!(answers[4].contains("3144"), "{}", answers[4]);
}
