//! Tests of texts whose collations do not go together, compared with MySQL: which texts may be put
//! together, which collation the result has, and what an error calls the operation that compares
//! them.

use bench::instance::Settings;
use testkit::answers::{answer_with_warnings, same_answers};
use testkit::server::same_as_mysql;

const BOTH: &[&str] = &[
    "CREATE DATABASE mix DEFAULT CHARACTER SET utf8mb4",
    "USE mix",
    "CREATE TABLE t (a VARCHAR(9) COLLATE utf8mb4_0900_ai_ci, b VARCHAR(9) COLLATE utf8mb4_general_ci, \
     c VARCHAR(9) COLLATE utf8mb4_unicode_ci)",
    "INSERT INTO t VALUES ('a', 'b', 'c')",
];

fn answers(test: &str, asked: &[&str]) -> Vec<String> {
    same_answers(test, &[BOTH, asked].concat()).split_off(BOTH.len())
}

#[test]
fn the_error_names_the_operation() {
    let answers = answers(
        "mixed_collations_named",
        &[
            "SELECT a < b FROM t",
            "SELECT a = b FROM t",
            "SELECT a <> b FROM t",
            "SELECT a != b FROM t",
            "SELECT a <= b FROM t",
            "SELECT a > b FROM t",
            "SELECT a >= b FROM t",
            "SELECT a <=> b FROM t",
            "SELECT a LIKE b FROM t",
            "SELECT a NOT LIKE b FROM t",
            "SELECT a IN (b) FROM t",
            "SELECT a NOT IN (b) FROM t",
            "SELECT a IN (b, 'x') FROM t",
            "SELECT a NOT IN (b, c, 'x') FROM t",
            "SELECT a IN ('x', b) FROM t",
            "SELECT a BETWEEN b AND c FROM t",
            "SELECT a NOT BETWEEN 'x' AND b FROM t",
            "SELECT CASE a WHEN b THEN 1 END FROM t",
            "SELECT CASE a WHEN b THEN 1 WHEN c THEN 1 END FROM t",
            "SELECT CASE WHEN 1 THEN a COLLATE utf8mb4_bin ELSE b COLLATE utf8mb4_general_ci END FROM t",
            "SELECT NULLIF(a, b) FROM t",
            "SELECT STRCMP(a, b) FROM t",
            "SELECT FIND_IN_SET(a, b) FROM t",
            "SELECT a REGEXP b FROM t",
            "SELECT REGEXP_REPLACE(a, b, c) FROM t",
            "SELECT a FROM t UNION SELECT b FROM t",
            "SELECT a IN (SELECT b FROM t) FROM t",
            "SELECT a NOT IN (SELECT b FROM t) FROM t",
            "SELECT a = (SELECT b FROM t) FROM t",
            "SELECT a < ANY (SELECT b FROM t) FROM t",
            "SELECT a <= ALL (SELECT b FROM t) FROM t",
            "SELECT a <> ALL (SELECT b FROM t) FROM t",
            "SELECT (a, 1) = (b, 1) FROM t",
            "SELECT (a, 1) < (b, 1) FROM t",
            "SELECT (a, 1) IN ((b, 1)) FROM t",
            "SELECT 1 FROM t x JOIN t y ON x.a = y.b",
            "SELECT 1 FROM (SELECT a k FROM t) x JOIN (SELECT b k FROM t) y USING (k)",
            "DELETE FROM t WHERE a > b",
            "SELECT CONCAT(a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci) FROM t",
            "SELECT CONCAT(a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci, c) FROM t",
            "SELECT CONCAT(a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci, c, c) FROM t",
            "SELECT IF(1, a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci) FROM t",
            "SELECT COALESCE(a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci) FROM t",
            "SELECT GREATEST(a COLLATE utf8mb4_bin, b COLLATE utf8mb4_general_ci) FROM t",
        ],
    );
    let wanted = "(utf8mb4_0900_ai_ci,IMPLICIT) and (utf8mb4_general_ci,IMPLICIT) for operation '<'";
    assert!(answers[0].ends_with(wanted), "{answers:?}");
}

#[test]
fn texts_put_together_have_the_order_of_bytes() {
    let answers = answers(
        "mixed_collations_put_together",
        &[
            "SELECT CONCAT(a, b), IF(1, a, b), IFNULL(a, b), COALESCE(a, b, c), ELT(1, a, b) FROM t",
            "SELECT COLLATION(CONCAT(a, b)), COERCIBILITY(CONCAT(a, b)), COLLATION(IF(1, a, b)) FROM t",
            "SELECT COLLATION(CONCAT(a, b, a COLLATE utf8mb4_unicode_ci)) FROM t",
            "SELECT CONCAT(a, b) = 'AB', CONCAT(a, b) = a, CONCAT(a, b) LIKE 'x' FROM t",
            "SELECT CONCAT(a, b) = CONCAT(b, a) FROM t",
            "SELECT CONCAT(CONCAT(a, b), c), CONCAT('x', a, b) FROM t",
            "SELECT GREATEST(a, b), LEAST(a, b), FIELD(a, b, 'A'), LOCATE(a, b) FROM t",
            "SELECT CONCAT(a, b) k FROM t GROUP BY k ORDER BY k",
            "SELECT DISTINCT CONCAT(a, b) FROM t",
            "SELECT COUNT(DISTINCT CONCAT(a, b)) FROM t",
            "SELECT CONCAT(a, b) FROM t UNION SELECT 'x'",
            "CREATE TABLE u AS SELECT CONCAT(a, b) x FROM t",
            "SHOW CREATE TABLE u",
        ],
    );
    assert!(answers[0].ends_with(": ab,a,a,a,a"), "{answers:?}");
}

#[test]
fn all_that_is_compared_decides_the_collation() {
    let answers = answers(
        "mixed_collations_all_decide",
        &[
            "SELECT a IN ('A', c COLLATE utf8mb4_bin), a IN ('A', 'x'), 'A' IN ('b', a COLLATE utf8mb4_bin) FROM t",
            "SELECT a BETWEEN 'A' AND 'B' COLLATE utf8mb4_bin, a BETWEEN 'A' AND 'B' FROM t",
            "SELECT CASE a WHEN 'A' THEN 1 WHEN 'a' COLLATE utf8mb4_bin THEN 2 END FROM t",
        ],
    );
    assert!(answers[0].ends_with(": 0,1,0"), "{answers:?}");
}

/// Columns of two character sets of Unicode: utf32 holds all others, utf8mb4 all but utf32.
#[test]
fn one_unicode_holds_another() {
    const SETS: [&str; 8] = ["utf8mb4", "utf16", "utf8mb3", "latin1", "ucs2", "utf32", "utf16le", "gb18030"];
    let columns: Vec<String> =
        SETS.iter().map(|charset| format!("{charset}_ VARCHAR(9) CHARACTER SET {charset}")).collect();
    let mut statements = Vec::new();
    for one in SETS {
        for other in SETS.iter().filter(|other| **other != one) {
            statements.push(format!("SELECT COLLATION(CONCAT({one}_, {other}_)) FROM t"));
            statements.push(format!("SELECT {one}_ = {other}_ FROM t"));
        }
    }
    let answers = same_as_mysql("one_unicode_holds_another", &Settings::default(), |server| {
        let mut client = server.connect();
        for statement in [
            "CREATE DATABASE mix",
            "USE mix",
            &format!("CREATE TABLE t ({})", columns.join(", ")),
            &format!("INSERT INTO t VALUES ({})", vec!["'\u{e9}'"; SETS.len()].join(", ")),
        ] {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        statements.iter().map(|statement| answer_with_warnings(&mut client, statement)).collect()
    });
    assert!(answers.iter().any(|answer| answer.contains("1267")), "{answers:#?}");
}
