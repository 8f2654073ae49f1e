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

/// Texts of `ascii` go together with those of any character set, and literals have to be characters
/// of a column's.
#[test]
fn characters_that_a_character_set_does_not_have() {
    let answers = answers(
        "characters_that_a_character_set_does_not_have",
        &[
            "SET NAMES utf8mb4",
            "CREATE TABLE s (g VARCHAR(9) COLLATE utf8mb4_general_ci, l VARCHAR(9) CHARACTER SET latin1, \
             l2 VARCHAR(9) CHARACTER SET latin1 COLLATE latin1_bin, a VARCHAR(9) CHARACTER SET ascii, \
             k VARCHAR(9) CHARACTER SET koi8r, u VARCHAR(9) CHARACTER SET utf8mb3, i INT)",
            "INSERT INTO s VALUES ('a', 'a', 'a', 'a', 'a', 'a', 1), ('B', 'b', 'B', 'b', 'B', 'b', 2), \
             ('\u{e9}', '\u{e9}', '\u{e9}', 'e', '\u{431}', '\u{e9}', 3)",
            "SELECT l = a, l2 = a, k = a, g = a, a = l, a = k FROM s",
            "SELECT CONCAT(l, a), COLLATION(CONCAT(l, a)), COLLATION(CONCAT(a, l2)), COLLATION(IFNULL(a, k)), \
             COLLATION(IF(i = 1, a, u)), COERCIBILITY(CONCAT(a, l)) FROM s LIMIT 1",
            "SELECT l FROM s UNION SELECT a FROM s ORDER BY 1",
            "SELECT FIELD(l, a, 'b'), ELT(1, l, a), COALESCE(l, a), GREATEST(l, a), INSTR(l, a), LOCATE(a, l), \
             STRCMP(l, a), FIND_IN_SET(l, a), l LIKE a, a LIKE l FROM s",
            "SELECT l IN (a, 'b'), (l, a) = (a, l) FROM s",
            "SELECT x.i, y.i FROM s x JOIN s y ON x.l = y.a ORDER BY 1, 2",
            "SELECT l = k FROM s",
            "SELECT a = '\u{e9}' FROM s",
            "SELECT l = '\u{e9}', l = 'e' FROM s",
            "SELECT l = '\u{6f22}' FROM s",
            "SELECT COUNT(*) FROM s WHERE l > '\u{6f22}'",
            "SELECT CONCAT(l, '\u{6f22}\u{5b57}\u{6f22}\u{5b57}') FROM s",
            "SELECT a IN ('\u{e9}', 'b') FROM s",
            "SELECT a LIKE '\u{e9}%' FROM s",
            "SELECT a BETWEEN 'a' AND '\u{e9}' FROM s",
            "SELECT CASE a WHEN '\u{e9}' THEN 1 END FROM s",
            "SELECT IF(1, a, '\u{e9}') FROM s",
            "SELECT COALESCE(l, '\u{6f22}') FROM s",
            "SELECT REPLACE(a, '\u{e9}', 'x') FROM s",
            "SELECT FIELD(a, '\u{e9}') FROM s",
            "SELECT a FROM s UNION SELECT '\u{e9}'",
            "SELECT a FROM s UNION SELECT 'x' ORDER BY 1",
            "UPDATE s SET i = 9 WHERE a = '\u{e9}'",
            "SELECT u = 'x\u{1f600}yy' FROM s",
            "SELECT a = _latin1 x'e9' FROM s",
            "SELECT l = _koi8r x'c1' FROM s",
            "SELECT l = _koi8r 'a' FROM s",
            "SELECT CONCAT(_koi8r x'c1', _latin1 x'e9')",
            "SELECT _koi8r x'c1' = _latin1 x'e9'",
            "SELECT COLLATION(CONCAT(_koi8r x'c1', _latin1 'a'))",
            "SELECT COLLATION(CONCAT(_latin1 x'e9', 'b')), COLLATION(CONCAT('b', _latin1 x'e9'))",
            "SELECT COLLATION(CONCAT(_latin1 'e', 'b')), COLLATION(CONCAT(_latin1 x'e9', '\u{e9}'))",
            "SELECT g = l COLLATE latin1_general_ci FROM s",
            "SELECT a = l COLLATE latin1_general_ci FROM s",
            "SELECT l = a COLLATE ascii_bin FROM s",
            "SELECT 'b' = l COLLATE latin1_general_ci FROM s",
            "SELECT g IN (l COLLATE latin1_general_ci, 'x') FROM s",
            "SELECT l = g COLLATE utf8mb4_bin FROM s",
            "SELECT x.i FROM s x JOIN s y ON x.g = y.l COLLATE latin1_bin",
        ],
    );
    assert!(answers[3].ends_with("1,1,1,1,1,1 1,0,1,1,1,1 1,0,0,1,1,0"), "{}", answers[3]);
}
