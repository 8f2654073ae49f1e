//! Tests of JSON documents where columns of other types store them, and of arguments of JSON
//! functions that no document is read from, compared with MySQL.

use crate::beside::{Both, Rows};

const TABLES: &[&str] = &[
    "CREATE DATABASE q",
    "USE q",
    "CREATE TABLE s (id INT PRIMARY KEY, js JSON, i INT, u INT UNSIGNED, f DOUBLE, de DECIMAL(5,2), \
     d DATE, t TIME, dt DATETIME, ts TIMESTAMP NULL, ye YEAR, se SET('a','b','x'), \
     en ENUM('a','b','abc','x'), v VARCHAR(30), vb VARBINARY(30), b BIT(5))",
    "INSERT INTO s (id, js, v) VALUES (1, '\"9\"', 'abc'), (2, NULL, NULL), (3, 'true', NULL), \
     (4, '2', NULL), (5, '\"2024-01-02\"', NULL), (6, '1.5', NULL)",
    "CREATE TABLE o (id INT AUTO_INCREMENT PRIMARY KEY, i INT, f DOUBLE, de DECIMAL(5,2), d DATE, t TIME, \
     dt DATETIME, ts TIMESTAMP NULL, ye YEAR, se SET('a','b','x'), en ENUM('a','b','abc','x'), \
     vb VARBINARY(30), b BIT(5))",
];

/// Documents that columns of other types store, as values, from queries and in UPDATE.
const STORED: &[&str] = &[
    "INSERT INTO o (dt) VALUES (CAST('null' AS JSON))",
    "INSERT INTO o (d) VALUES (CAST('null' AS JSON))",
    "INSERT INTO o (ts) VALUES (CAST('[1]' AS JSON))",
    "INSERT INTO o (t) VALUES (CAST('null' AS JSON))",
    "INSERT INTO o (ye) VALUES (CAST('\"2024\"' AS JSON))",
    "INSERT INTO o (ye) VALUES (CAST('2024' AS JSON))",
    "INSERT INTO o (ye) VALUES (CAST('true' AS JSON))",
    "INSERT INTO o (ye) SELECT js FROM s WHERE id = 3",
    "INSERT INTO o (ye) SELECT js FROM s WHERE id = 1",
    "INSERT INTO o (se) VALUES (CAST('\"a\"' AS JSON))",
    "INSERT INTO o (se) VALUES (CAST('3' AS JSON))",
    "INSERT INTO o (se) SELECT js FROM s WHERE id = 6",
    "INSERT INTO o (en) SELECT js FROM s WHERE id = 4",
    "INSERT INTO o (en) SELECT js FROM s WHERE id = 6",
    "INSERT INTO o (b) SELECT js FROM s WHERE id = 4",
    "INSERT INTO o (d) SELECT js FROM s WHERE id = 5",
    "INSERT INTO o (t) SELECT CAST('null' AS JSON)",
    "INSERT INTO o (t) SELECT CAST('\"10:11:12\"' AS JSON)",
    "INSERT INTO o (t) SELECT CAST('10203' AS JSON)",
    "INSERT INTO o (t) SELECT CAST(TIME'04:05:06' AS JSON)",
    "INSERT INTO o (d) SELECT CAST(TIMESTAMP'2024-02-03 04:05:06' AS JSON)",
    "INSERT INTO o (dt) SELECT CAST(DATE'2024-02-03' AS JSON)",
    "INSERT INTO o (dt) SELECT CAST('\"2024-01-02 03:04:05\"' AS JSON)",
    "INSERT INTO o (d) SELECT CAST('20240102' AS JSON)",
    "INSERT INTO o (d) SELECT JSON_EXTRACT('{\"a\": \"2024-01-02\"}', '$.a')",
    "INSERT INTO o (i) SELECT DISTINCT CAST('true' AS JSON)",
    "INSERT INTO o (i) SELECT DISTINCT CAST('\"7\"' AS JSON)",
    "INSERT INTO o (i) SELECT CAST('\"7\"' AS JSON) UNION SELECT CAST('true' AS JSON)",
    "INSERT INTO o (d) SELECT CAST('\"2024-01-02\"' AS JSON) UNION SELECT CAST('\"2024-01-03\"' AS JSON)",
    "INSERT INTO o (i) SELECT MAX(js) FROM s WHERE id = 1",
    "INSERT INTO o (f) SELECT j FROM (SELECT js j FROM s WHERE id = 1 LIMIT 1) x",
    "INSERT INTO o (de) SELECT FIRST_VALUE(js) OVER () FROM s WHERE id = 1",
    "INSERT INTO o (i) SELECT x FROM JSON_TABLE('[\"7\"]', '$[*]' COLUMNS (x JSON PATH '$')) t",
    "INSERT INTO o (i) WITH RECURSIVE r AS (SELECT 1 AS n, 1 AS x UNION ALL \
     SELECT n + 1, CAST('\"5\"' AS JSON) FROM r WHERE n < 2) SELECT x FROM r",
    "INSERT INTO o (vb) SELECT js FROM s WHERE id = 1",
    "UPDATE s SET i = js WHERE id = 3",
    "UPDATE s SET d = js WHERE id = 5",
    "UPDATE s SET d = js WHERE id = 1",
    "UPDATE s SET i = js WHERE id = 5",
    "UPDATE s SET ye = js WHERE id = 4",
    "UPDATE s SET se = js WHERE id = 3",
    "SELECT * FROM s ORDER BY id",
    "SELECT i, f, de, d, t, dt, ts, ye, se, en, vb, HEX(b) FROM o",
];

/// Members of ENUM and SET that are numbers with white space before them.
const NUMBERED: &[&str] = &[
    "INSERT IGNORE INTO s (id, se, en) VALUES (10, ' 7', ' 3'), (11, '7', '3'), (12, '7 ', '3 '), (13, '+7', '+3')",
    "INSERT IGNORE INTO s (id, se, en) VALUES (14, '\\t7', '\\t3'), (15, '8', '5'), (16, '-1', '-1'), (17, '7.0', '3.0')",
    "SELECT id, se, en FROM s WHERE id > 9 ORDER BY id",
];

/// JSON functions with arguments that are NULL and of types that no document is read from.
const WRONG_TYPES: &[&str] = &[
    "SELECT JSON_KEYS(t) FROM s WHERE id = 2",
    "SELECT JSON_KEYS(v), JSON_KEYS(NULL) FROM s WHERE id = 2",
    "SELECT JSON_KEYS(b) FROM s WHERE id = 2",
    "SELECT JSON_KEYS(vb) FROM s WHERE id = 2",
    "SELECT JSON_KEYS(1 - i) FROM s WHERE id = 2",
    "SELECT JSON_KEYS(IF(0, 1, NULL))",
    "SELECT JSON_KEYS(COALESCE(NULL, NULL))",
    "SELECT JSON_PRETTY(CAST(NULL AS TIME))",
    "SELECT JSON_LENGTH(i) FROM s WHERE id = 2",
    "SELECT JSON_DEPTH(i) FROM s WHERE id = 2",
    "SELECT JSON_TYPE(i) FROM s WHERE id = 2",
    "SELECT JSON_EXTRACT(i, '$') FROM s WHERE id = 2",
    "SELECT JSON_EXTRACT(i, NULL) FROM s WHERE id = 2",
    "SELECT JSON_CONTAINS('1', i) FROM s WHERE id = 2",
    "SELECT JSON_CONTAINS(NULL, i) FROM s WHERE id = 2",
    "SELECT JSON_SET(i, '$', 1) FROM s WHERE id = 2",
    "SELECT JSON_MERGE_PATCH(NULL, i) FROM s WHERE id = 2",
    "SELECT JSON_MERGE_PRESERVE(NULL, i) FROM s WHERE id = 2",
    "SELECT JSON_MERGE_PRESERVE('{}', i) FROM s WHERE id = 2",
    "SELECT JSON_SEARCH(i, 'one', 'x') FROM s WHERE id = 2",
    "SELECT JSON_VALUE(i, '$') FROM s WHERE id = 2",
    "SELECT JSON_OVERLAPS('1', i) FROM s WHERE id = 2",
    "SELECT JSON_OVERLAPS(NULL, 1)",
    "SELECT JSON_REMOVE(i, '$.a') FROM s WHERE id = 2",
    "SELECT JSON_STORAGE_SIZE(i) FROM s WHERE id = 2",
    "SELECT JSON_STORAGE_FREE(i) FROM s WHERE id = 2",
    "SELECT JSON_CONTAINS_PATH(i, 'one', '$.a') FROM s WHERE id = 2",
    "SELECT 1 MEMBER OF (i) FROM s WHERE id = 2",
    "SELECT NULL MEMBER OF (i) FROM s WHERE id = 2",
    "SELECT JSON_ARRAY_APPEND(i, '$.a', 1) FROM s WHERE id = 2",
    "SELECT JSON_SCHEMA_VALID('{}', i) FROM s WHERE id = 2",
    "SELECT JSON_QUOTE(v), JSON_UNQUOTE(v) FROM s WHERE id = 2",
    "SELECT JSON_VALID(1 - i), JSON_VALID(t), JSON_VALID(NULL), JSON_VALID(js), JSON_VALID(v), JSON_VALID(vb), \
     JSON_VALID(d), JSON_VALID(f) FROM s WHERE id = 2",
    "SELECT t.x FROM s, JSON_TABLE(i, '$' COLUMNS (x INT PATH '$')) t WHERE id = 2",
];

#[test]
fn documents_are_stored_in_columns_of_other_types_as_by_mysql() {
    let Some(mut both) = Both::start("documents_are_stored_in_columns_of_other_types", TABLES) else {
        return;
    };
    let succeeded = STORED.iter().chain(NUMBERED).filter(|text| both.ask(text, Rows::Described)).count();
    assert!(succeeded > 25, "{succeeded} succeeded");
    both.finish();
}

#[test]
fn arguments_that_are_no_documents_are_refused_where_they_are_null_as_by_mysql() {
    let Some(mut both) = Both::start("arguments_that_are_no_documents", TABLES) else { return };
    let succeeded = WRONG_TYPES.iter().filter(|text| both.ask(text, Rows::Described)).count();
    assert!((8..20).contains(&succeeded), "{succeeded} succeeded");
    both.finish();
}
