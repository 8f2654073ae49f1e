//! CASE and FIELD, which compare documents as texts or as numbers.

use crate::beside::Both;

const TABLES: &[&str] = &[
    "CREATE DATABASE chosen",
    "USE chosen",
    "CREATE TABLE t (j JSON, s VARCHAR(10), i INT, b BIGINT UNSIGNED, f DOUBLE, n DECIMAL(10,2), e ENUM('x', 'y'), \
     d DATE, t TIME, dt DATETIME, bi BIT(8), y YEAR)",
    r#"INSERT INTO t VALUES ('"a"', '"a"', 5, 18446744073709551615, 5, 5.00, 'y', '2020-01-01', '10:00:00',
     '2020-01-01', 5, 2005)"#,
];

const STATEMENTS: &[&str] = &[
    r#"SELECT CASE CAST('1.0' AS JSON) WHEN CAST('1' AS JSON) THEN 'document' ELSE 'text' END"#,
    r#"SELECT CASE CAST('{"b":1,"a":2}' AS JSON) WHEN '{"a": 2, "b": 1}' THEN 'text' END"#,
    r#"SELECT CASE CAST('"A"' AS JSON) WHEN '"a"' THEN 1 END, CASE '"a"' WHEN CAST('"A"' AS JSON) THEN 1 END"#,
    r#"SELECT CASE JSON_EXTRACT('{"k":null}', '$.k') WHEN 'null' THEN 'text' ELSE 5 END"#,
    r#"SELECT CASE JSON_EXTRACT('{"k":null}', '$.x') WHEN 'null' THEN 'text' ELSE 5 END"#,
    r#"SELECT CASE JSON_EXTRACT('{"k":true}', '$.k') WHEN 'true' THEN 'text' WHEN TRUE THEN 'truth' END"#,
    r#"SELECT CASE JSON_EXTRACT('{"k":true}', '$.k') WHEN 1 THEN 'truth' WHEN 'true' THEN 'text' END"#,
    r#"SELECT CASE CAST('"5"' AS JSON) WHEN 5 THEN 'number' ELSE 'text' END"#,
    r#"SELECT CASE CAST('[5]' AS JSON) WHEN 0 THEN 'number' ELSE 'text' END"#,
    r#"SELECT CASE 5 WHEN CAST('"5"' AS JSON) THEN 'number' ELSE 'text' END"#,
    r#"SELECT CASE CAST('5' AS JSON) WHEN 4 THEN 4 WHEN '5' THEN 'text' WHEN 5 THEN 'number' END"#,
    r#"SELECT CASE CAST('6' AS JSON) WHEN 4 THEN 4 WHEN '5' THEN 'text' WHEN 5 THEN 'number' ELSE 'none' END"#,
    r#"SELECT CASE CAST(DATE'2020-01-01' AS JSON) WHEN '"2020-01-01"' THEN 1 WHEN '2020-01-01' THEN 2 END"#,
    "SELECT CASE j WHEN s THEN 1 END, CASE s WHEN j THEN 1 END, CASE j WHEN d THEN 1 ELSE 0 END FROM t",
    "SELECT CASE d WHEN '2020-1-1' THEN 1 END, CASE d WHEN dt THEN 1 END, CASE t WHEN '10:0' THEN 1 END FROM t",
    "SELECT CASE 18446744073709551615 WHEN -1 THEN 1 END, CASE -1 WHEN b THEN 1 END FROM t",
    "SELECT FIELD(d, '2020-1-1'), FIELD(d, s), FIELD(d, dt), FIELD(dt, d), FIELD(t, '10:0'), FIELD(t, dt) FROM t",
    "SELECT FIELD(d, 20200101), FIELD(d, 20200101, 'a') FROM t",
    "SELECT FIELD('b', 1, 'a'), FIELD('1x', 1, 'a')",
    "SELECT FIELD(b, -1), FIELD(-1, b), FIELD(i, n), FIELD(i, f), FIELD(e, 2), FIELD(e, 'Y') FROM t",
    "SELECT FIELD(i, '5x'), FIELD(bi, 5), FIELD(y, 2005), FIELD(y, 5) FROM t",
    r#"SELECT FIELD(j, 'a', '"a"'), FIELD(s, j), FIELD(j, 5), FIELD(NULL, NULL) FROM t"#,
    "SELECT FIELD('9007199254740993', '9007199254740992'), FIELD(9007199254740993, '9007199254740992')",
    "SELECT FIELD(9007199254740993, 9007199254740992.0), FIELD('a ', 'a'), FIELD('1', 1.0), FIELD('a', 'A')",
];

#[test]
fn case_and_field_compare_documents_as_texts_and_numbers() {
    let Some(mut both) = Both::start("json_like_mysql::chosen", TABLES) else { return };
    for statement in STATEMENTS {
        both.ask(statement);
    }
    assert_eq!(both.finish(), STATEMENTS.len());
}
