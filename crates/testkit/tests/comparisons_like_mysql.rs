//! Tests that values of different types are compared as in MySQL: binary strings by their bytes,
//! constants beside dates, times and years as values of the column, and the operands of BETWEEN in
//! one way.

use testkit::answers::same_answers;

#[test]
fn binary_strings_are_compared_by_their_bytes() {
    let answers = same_answers(
        "comparisons_like_mysql::binary_strings_are_compared_by_their_bytes",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, c BINARY(4), v VARBINARY(6), k VARBINARY(6), s VARCHAR(6), KEY (k))",
            "INSERT INTO t VALUES (1, 'B', 'B', 'B', 'b'), (2, 'b', 'b', 'b', 'B'), \
             (3, 'b\\0\\0\\0', 'b\\0\\0\\0', 'b\\0\\0\\0', 'b')",
            "SELECT id FROM t WHERE v = 'b'",
            "SELECT id FROM t WHERE c = 'b'",
            "SELECT id FROM t WHERE v > 'B' ORDER BY id",
            "SELECT id FROM t WHERE v LIKE 'b'",
            "SELECT id FROM t WHERE k IN ('b', 'x')",
            "SELECT id FROM t WHERE k = CONCAT('', 'b')",
            "SELECT id FROM t WHERE v BETWEEN 'b' AND 'b'",
            "SELECT STRCMP(v, 'b'), NULLIF(v, 'b') IS NULL, CASE v WHEN 'b' THEN 1 END FROM t ORDER BY id",
            "SELECT COERCIBILITY(v), COERCIBILITY(c), COLLATION(CONCAT('x', v)), LEAST(v, 'a') FROM t ORDER BY id",
            "SELECT COERCIBILITY((SELECT v FROM t WHERE id = 1))",
            "SELECT a.id, b.id FROM t a JOIN t b ON a.v = b.s ORDER BY 1, 2",
            "SELECT id FROM t WHERE v IN (SELECT s FROM t) ORDER BY id",
            "SELECT id FROM t WHERE v = ANY (SELECT s FROM t) ORDER BY id",
            "SELECT id FROM t WHERE v = (SELECT MAX(s) FROM t WHERE id = 2) ORDER BY id",
            "SELECT COUNT(*) FROM (SELECT v FROM t UNION SELECT s FROM t) u",
            "PREPARE p FROM 'SELECT id FROM t WHERE v = ?'",
            "SET @b = 'b'",
            "EXECUTE p USING @b",
            "DELETE FROM t WHERE v = 'b'",
            "SELECT id FROM t ORDER BY id",
        ],
    );
    assert!(answers[4].ends_with(": 2"), "{}", answers[4]);
}

#[test]
fn bytes_of_another_length_are_between_values_of_an_indexed_binary_column() {
    let literals =
        ["'b'", "'b\\0'", "'b\\0\\0'", "'b\\0\\0\\0'", "''", "'c\\0\\0'", "x'ffffff00'", "x'ff'", "'bb'"];
    let mut statements = vec![
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        "CREATE TABLE t (id INT PRIMARY KEY, c BINARY(3), KEY (c))".to_owned(),
        "INSERT INTO t VALUES (1, 'b'), (2, 'bb'), (3, ''), (4, 'c'), (5, x'ffffff'), (6, x'62ffff'), (7, NULL)"
            .to_owned(),
    ];
    for literal in literals {
        for operator in ["=", "<", "<=", ">", ">="] {
            statements.push(format!(
                "SELECT GROUP_CONCAT(id ORDER BY id) FROM t FORCE INDEX (c) WHERE c {operator} {literal}"
            ));
        }
        statements.push(format!("SELECT COUNT(*) FROM t FORCE INDEX (c) WHERE c IN ({literal}, 'bb\\0')"));
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_answers(
        "comparisons_like_mysql::bytes_of_another_length_are_between_values_of_an_indexed_binary_column",
        &statements,
    );
}

#[test]
fn constants_beside_dates_times_and_years_are_values_of_the_column() {
    same_answers(
        "comparisons_like_mysql::constants_beside_dates_times_and_years_are_values_of_the_column",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE d (id INT PRIMARY KEY, y YEAR, dt DATE, dm DATETIME, t TIME(2), ts TIMESTAMP, t0 TIME)",
            "INSERT INTO d VALUES (1, 0, '2020-01-01', '2020-01-01 10:00:00', '12:34:56.79', '2020-01-01', '10:00:00'), \
             (2, 1999, '1999-12-31', '1999-12-31 23:59:59', '10:00:00', '1999-12-31 23:59:59', '01:00:00'), \
             (3, 2001, NULL, NULL, NULL, NULL, NULL), \
             (4, 2002, '2000-02-02', '2020-01-01', '00:20:20', '2020-01-01 10:00:01', '00:20:20')",
            "SELECT id FROM d WHERE dt > 202",
            "SELECT id FROM d WHERE dm > 20200101.5 ORDER BY id",
            "SELECT id FROM d WHERE dm = 20200101",
            "SELECT id FROM d WHERE dm IN (20200101, 20000101)",
            "SELECT id FROM d WHERE dm NOT IN (20200101) ORDER BY id",
            "SELECT id FROM d WHERE dm BETWEEN 20200101 AND 20200102 ORDER BY id",
            "SELECT id FROM d WHERE ts < 20200101",
            "SELECT id FROM d WHERE dt = 20200101000000",
            "SELECT id FROM d WHERE 99 < dt ORDER BY id",
            "SELECT id FROM d WHERE dm < 1999",
            "SELECT id FROM d WHERE dm IN (99, 20200101)",
            "SELECT id FROM d WHERE t = '12:34:56.789'",
            "SELECT id FROM d WHERE t <> '12:34:56.789' ORDER BY id",
            "SELECT id FROM d WHERE t0 > '2020-01-01'",
            "SELECT id FROM d WHERE t0 = '2020-01-01'",
            "SELECT id FROM d WHERE t0 = TIMESTAMP'2020-01-01 10:00:00'",
            "SELECT id FROM d WHERE t0 = DATE'2020-01-01'",
            "SELECT id FROM d WHERE y <= 2.25 ORDER BY id",
            "SELECT id FROM d WHERE y = 0.5",
            "SELECT id FROM d WHERE y = 1.5e0",
            "SELECT id FROM d WHERE y = '2001.4'",
            "SELECT id FROM d WHERE y IN (1, 69)",
            "SELECT id FROM d WHERE y = DATE'2001-01-01'",
            "PREPARE p FROM 'SELECT id FROM d WHERE dm = ?'",
            "SET @n = 20200101",
            "EXECUTE p USING @n",
        ],
    );
}

#[test]
fn times_beside_texts_that_are_no_constants_are_texts() {
    same_answers(
        "comparisons_like_mysql::times_beside_texts_that_are_no_constants_are_texts",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (t TIME, t2 TIME(2), dm DATETIME, s VARCHAR(20))",
            "INSERT INTO t VALUES ('10:00:00', '10:00:00', '2020-01-01', '10:00:00'), \
             ('10:00:00', '10:00:00', '2020-01-01', '10:00'), \
             ('10:00:00', '10:00:00', '2020-01-01', '10:00:00.00'), \
             ('10:00:00', '10:00:00', '2020-01-01', '9:00'), \
             ('10:00:00', '10:00:00', '2020-01-01', 'abc'), \
             ('10:00:00', '10:00:00', '2020-01-01', '2020-01-01 09:00:00')",
            "SELECT s, t = s, t > s, s = t, t2 = s, t + INTERVAL 0 SECOND = s, t = CONCAT(s) FROM t ORDER BY s",
            "SELECT s, t2 BETWEEN s AND s FROM t ORDER BY s",
            "SELECT TIME('10:00:00') = '10:00', CAST('10:00:00' AS TIME) BETWEEN '9:00' AND '11:00'",
            "SELECT t = '10:00', t2 = '10:00' FROM t LIMIT 1",
        ],
    );
}

#[test]
fn between_compares_texts_beside_a_number_as_numbers() {
    same_answers(
        "comparisons_like_mysql::between_compares_texts_beside_a_number_as_numbers",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (s VARCHAR(10) PRIMARY KEY, i INT)",
            "INSERT INTO t VALUES ('1', 1), ('1.0', 2), ('1a', 3), ('abc', 4), ('B', 5), ('10', 6)",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE s BETWEEN 1 AND '1'",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE s BETWEEN '1' AND 100",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE s BETWEEN 1e0 AND 'z'",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE s NOT BETWEEN '1' AND i",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE i BETWEEN '1' AND '4'",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE i BETWEEN s AND 4",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE '3' BETWEEN s AND i",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE s BETWEEN 0.5 AND '1'",
            "SELECT GROUP_CONCAT(s ORDER BY i) FROM t WHERE s BETWEEN '1' AND '2'",
        ],
    );
}

#[test]
fn a_year_is_its_first_day_where_a_date_is_wanted() {
    same_answers(
        "comparisons_like_mysql::a_year_is_its_first_day_where_a_date_is_wanted",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (y YEAR PRIMARY KEY)",
            "INSERT INTO t VALUES (2020), (1999), (2000)",
            "SELECT YEAR(y), MONTH(y), DATE(y), TIMESTAMP(y), WEEKDAY(y), DAYNAME(y), YEARWEEK(y), TO_DAYS(y) \
             FROM t ORDER BY y",
            "SELECT TIME(y), HOUR(y), DAYOFYEAR(y), LAST_DAY(y), QUARTER(y), DATEDIFF(y, '2020-01-01') FROM t ORDER BY y",
            "SELECT TIMESTAMP(NULL) UNION ALL SELECT TIMESTAMP'2020-01-01 00:00:00' + INTERVAL 1 HOUR",
            "SELECT DATE_FORMAT(y, '%Y-%m-%d'), CAST(y AS DATE), CAST(y AS DATETIME) FROM t ORDER BY y",
            "SELECT LPAD('A', 3, ''), RPAD('A', 3, ''), LPAD('ABC', 2, ''), LPAD('', 3, '')",
        ],
    );
}

#[test]
fn a_literal_of_bytes_is_a_number_where_a_condition_stands() {
    let answers = same_answers(
        "comparisons_like_mysql::a_literal_of_bytes_is_a_number_where_a_condition_stands",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, b VARBINARY(4))",
            "INSERT INTO t VALUES (1, 'a'), (2, '1')",
            "SELECT id FROM t WHERE X'FF01' ORDER BY id",
            "SELECT id FROM t WHERE NOT X'FF01'",
            "SELECT id FROM t WHERE X'00'",
            "SELECT a.id, b.id FROM t a LEFT JOIN t b ON X'61' ORDER BY 1, 2",
            "SELECT id FROM t GROUP BY id HAVING X'61' ORDER BY id",
            "SELECT IF(X'61', 1, 0), CASE WHEN X'61' THEN 1 ELSE 0 END, X'61' IS TRUE, X'61' AND 1",
            "UPDATE t SET b = '2' WHERE X'61'",
            "SELECT id, b FROM t ORDER BY id",
            "DELETE FROM t WHERE X'61'",
            "SELECT COUNT(*) FROM t",
        ],
    );
    assert!(answers[4].ends_with(": 1 2"), "{answers:#?}");
}

#[test]
fn between_reads_a_text_that_is_no_date_as_the_zero_date() {
    let answers = same_answers(
        "comparisons_like_mysql::between_reads_a_text_that_is_no_date_as_the_zero_date",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, d DATE, m DATETIME, t TIME, v VARCHAR(9))",
            "INSERT INTO t VALUES (1, '2024-02-29', '2024-02-29 10:11:12', '10:11:12', '101112'), \
             (2, '1999-12-31', '1999-12-31', 0, '0')",
            "SELECT d BETWEEN 'x' AND '3000-01-01', d BETWEEN '1000-01-01' AND 'x' FROM t WHERE id = 1",
            "SELECT m BETWEEN 'x' AND '3000-01-01', m BETWEEN 'x' AND NULL FROM t WHERE id = 1",
            "SELECT DATE'2024-01-01' BETWEEN 'x' AND DATE'3000-01-01'",
            "SELECT d BETWEEN '2024-02-30' AND '3000-01-01' FROM t WHERE id = 1",
            "SELECT SEC_TO_TIME(id) BETWEEN 1 AND DATE'2024-02-29', \
             DATE'2000-01-01' BETWEEN 1 AND SEC_TO_TIME(id) FROM t ORDER BY id",
            "SELECT t IN (v), v IN (t), t = v FROM t ORDER BY id",
            "SELECT v IN (CAST('1' AS JSON), id), FALSE IN (CAST('1' AS JSON), v) FROM t ORDER BY id",
            "SELECT 1 < CASE WHEN 0 THEN m ELSE X'FF01' END, 1 = IF(1, X'01', 'a') FROM t WHERE id = 1",
            "SELECT NULLIF(CAST(2024 AS YEAR), DATE'1999-12-31'), NULLIF('3', id) FROM t ORDER BY id",
        ],
    );
    assert!(answers[4].contains(": 1,0"), "{answers:#?}");
}

#[test]
fn texts_in_a_list_with_dates_or_times_are_dates_or_times() {
    let answers = same_answers(
        "comparisons_like_mysql::texts_in_a_list_with_dates_or_times_are_dates_or_times",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), b VARBINARY(20), d DATE, ti TIME)",
            "INSERT INTO t VALUES (1, 'x', 'y', '2020-01-02', '10:11:12'), (2, '2020-01-02', 'y', '2020-01-02', NULL), \
             (3, '2020-01-03', '', NULL, '10:11:12')",
            "SELECT id FROM t WHERE id = 1 AND s IN (d, b)",
            "SELECT id FROM t WHERE id = 2 AND s IN (d, b)",
            "SELECT id FROM t WHERE id = 3 AND s NOT IN (d, b)",
            "SELECT id FROM t WHERE id = 1 AND s IN (ti, b)",
            "SELECT id FROM t WHERE id = 1 AND s IN (ti, 'no time')",
            "SELECT id FROM t WHERE id = 1 AND CONCAT(ti) IN (ti, b)",
            "SELECT id FROM t WHERE id = 1 AND s IN (d, '2020-01-02')",
            "SELECT id FROM t WHERE id = 1 AND s IN (CAST(d AS DATE), CONCAT(b))",
        ],
    );
    assert!(answers[4].contains(": 1"), "{}", answers[4]);
    assert!(answers[6].contains("(d, b): \n"), "{}", answers[6]);
}

#[test]
fn a_text_that_is_no_date_is_named_by_the_type_beside_it() {
    same_answers(
        "comparisons_like_mysql::a_text_that_is_no_date_is_named_by_the_type_beside_it",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), d DATE, dt DATETIME)",
            "INSERT INTO t VALUES (1, 'x', '2020-01-02', '2020-01-02'), (2, '', '2020-01-02', '2020-01-02')",
            "SELECT s < d, CONCAT(s) = d FROM t",
            "SELECT s < dt, s = dt FROM t",
        ],
    );
}

#[test]
fn greatest_and_least_are_numbers_where_numbers_are_wanted() {
    let answers = same_answers(
        "comparisons_like_mysql::greatest_and_least_are_numbers_where_numbers_are_wanted",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (d DATE, dt DATETIME, ti TIME)",
            "INSERT INTO t VALUES ('2020-01-02', '2020-01-02 03:04:05', '10:11:12'), (NULL, NULL, NULL)",
            "SELECT GREATEST(d, 20200303) + 0, LEAST(d, '2019-01-01') + 0, GREATEST(d, 'x') + 0 FROM t",
            "SELECT LEAST(dt, '2010-01-01 01:02:03.5') + 0, GREATEST(dt, '2030-01-01') * 1 FROM t",
            "SELECT GREATEST(ti, '11:00:00') + 0, GREATEST('9', '10') + 0, LEAST('9', '10') + 0 FROM t",
            "SELECT GREATEST(ti, 5) + 0, GREATEST('5x', 10) + 0, LEAST('a', 1.5) + 0, LEAST(ti, '9') + 0 FROM t",
            "SELECT CAST(GREATEST(d, '2030-01-02') AS SIGNED), CAST(GREATEST(d, 3) AS DOUBLE) FROM t",
            "SELECT GREATEST(d, '2030-01-02') = 20300102, GREATEST(d, 3) IN (20200102, 7) FROM t",
            "SELECT GREATEST(d, '2030-01-02') BETWEEN 20300102 AND 20300103 FROM t",
            "SELECT GREATEST(d, '2030-01-02'), LEAST('9', '10') FROM t",
        ],
    );
    assert!(answers[4].contains("20200303,20190101,163831531"), "{}", answers[4]);
}

#[test]
fn hex_literals_are_numbers_beside_a_subquerys_row() {
    let answers = same_answers(
        "comparisons_like_mysql::hex_literals_are_numbers_beside_a_subquerys_row",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, n INT, f DOUBLE, v VARCHAR(5), b BIT(8))",
            "INSERT INTO t VALUES (1, 97, 97, 'a', 97), (2, 98, 1.5, '97', 1), (3, NULL, NULL, NULL, NULL)",
            "SELECT (x'61', 1) = (SELECT n, 1 FROM t WHERE id = 1), (x'61', 1) = (SELECT v, 1 FROM t WHERE id = 1)",
            "SELECT (x'61', 1) <=> (SELECT n, 1 FROM t WHERE id = 1), (x'61', 1) <> (SELECT f, 1 FROM t WHERE id = 1)",
            "SELECT (x'61', 1) = (SELECT n, 1 FROM t WHERE id = 3), ('a', x'61') = (SELECT v, n FROM t WHERE id = 1)",
        ],
    );
    assert!(answers[4].contains(": 1,"), "{}", answers[4]);
}

/// The collation of a subquery's value holds as strongly as that of what the subquery selects.
#[test]
fn a_subquery_of_a_literal_takes_the_collation_of_a_column() {
    let answers = same_answers(
        "comparisons_like_mysql::a_subquery_of_a_literal_takes_the_collation_of_a_column",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (b VARCHAR(5) COLLATE utf8mb4_bin, l VARCHAR(5) CHARACTER SET latin1, \
             g VARCHAR(5) COLLATE utf8mb4_general_ci)",
            "INSERT INTO t VALUES ('a', 'a', 'a'), ('A', 'A', 'A')",
            "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
            "SELECT b FROM t WHERE b = (SELECT 'A')",
            "SELECT l FROM t WHERE l = (SELECT 'A')",
            "SELECT g FROM t WHERE g = (SELECT CONCAT('A', ''))",
            "SELECT b FROM t WHERE b = (SELECT MAX('A'))",
            "SELECT b FROM t WHERE b = (SELECT 'A' UNION SELECT 'A')",
            "SELECT b FROM t WHERE b = (SELECT l FROM t LIMIT 1)",
            "SELECT b FROM t WHERE b = (SELECT g FROM t LIMIT 1)",
            "SELECT COERCIBILITY((SELECT 'r')), COERCIBILITY((SELECT 'r' LIMIT 1)), COERCIBILITY((SELECT MAX('r'))), \
             COERCIBILITY((SELECT 1)), COERCIBILITY((SELECT USER())), COERCIBILITY((SELECT b FROM t LIMIT 1)), \
             COERCIBILITY((SELECT 'r' UNION SELECT 'r')), COERCIBILITY((SELECT 'r' UNION SELECT b FROM t LIMIT 1)), \
             COERCIBILITY((VALUES ROW('r'))), COERCIBILITY((SELECT b COLLATE utf8mb4_bin FROM t LIMIT 1)), \
             COERCIBILITY((SELECT NULL)), COERCIBILITY((SELECT x FROM (SELECT 'r' x) q))",
            "SELECT COERCIBILITY((SELECT MAX('r') OVER () FROM t LIMIT 1)), \
             COERCIBILITY((SELECT MAX('r') FROM t GROUP BY b WITH ROLLUP LIMIT 1)), \
             COERCIBILITY((SELECT b FROM t GROUP BY b WITH ROLLUP LIMIT 1))",
            "SELECT b FROM t WHERE (b, 1) = (SELECT 'A', 1)",
            "SELECT b FROM t WHERE b IN (SELECT 'A')",
            "SELECT b FROM t WHERE b = ANY (SELECT 'A' UNION SELECT 'b')",
            "SELECT CONCAT(b, (SELECT 'A')) = 'aa', COLLATION(CONCAT(b, (SELECT 'A'))) FROM t",
        ],
    );
    assert!(answers[5].ends_with(": A"), "{answers:#?}");
}

#[test]
fn derived_columns_of_literals_take_the_collation_of_a_column() {
    let answers = same_answers(
        "comparisons_like_mysql::derived_columns_of_literals_take_the_collation_of_a_column",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (b VARCHAR(5) COLLATE utf8mb4_bin, g VARCHAR(5) COLLATE utf8mb4_general_ci)",
            "INSERT INTO t VALUES ('a', 'a'), ('A', 'A')",
            "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
            "SELECT b FROM t JOIN (SELECT 'A' x UNION ALL SELECT 'b') q ON t.b = q.x",
            "SELECT b FROM t JOIN (VALUES ROW('A'), ROW('b')) q (x) ON t.b = q.x",
            "SELECT b FROM t JOIN (SELECT 'A' x UNION ALL SELECT g FROM t) q ON t.b = q.x ORDER BY 1",
            "SELECT b FROM t LEFT JOIN (SELECT 'A' x) q ON t.b = q.x WHERE q.x IS NOT NULL",
            "WITH c AS (SELECT 'A' x) SELECT b FROM t, c WHERE b = x",
            "WITH c AS (SELECT 'A' x), e AS (SELECT x FROM c) SELECT b FROM t, c, e WHERE b = c.x AND b = e.x",
            "WITH RECURSIVE c AS (SELECT 'A' x UNION ALL SELECT 'b' FROM c WHERE x = 'A') SELECT b FROM t JOIN c ON b = x",
            "CREATE VIEW v AS SELECT 'A' x",
            "SELECT b FROM t JOIN v ON b = x",
            "SELECT b FROM t WHERE b IN (SELECT x FROM (SELECT 'A' x) q)",
            "SELECT b FROM t WHERE (b, g) IN (SELECT x, x FROM (SELECT 'A' x) q)",
            "SELECT CONCAT(b, x), COLLATION(CONCAT(b, x)), CONCAT(b, x) = 'AA' FROM t, (SELECT 'A' x) q",
            "SELECT COERCIBILITY(x), COERCIBILITY(y), COERCIBILITY(z), COERCIBILITY(u), COERCIBILITY(n) FROM \
             (SELECT 'A' x, CONCAT('A', b) y, 1 z, USER() u, NULL n FROM t LIMIT 1) q",
            "SELECT COERCIBILITY(x), COERCIBILITY(y) FROM (SELECT 'A' x, RANK() OVER () y FROM t LIMIT 1) q",
            "SELECT COERCIBILITY(x) FROM (SELECT 'A' x, b FROM t GROUP BY b WITH ROLLUP LIMIT 1) q",
            "SELECT * FROM (SELECT 'a' x) p JOIN (SELECT 'A' COLLATE utf8mb4_bin y) q ON x = y",
            "SELECT * FROM (SELECT 'a' x) p JOIN (SELECT 'A' y) q ON x = y",
        ],
    );
    assert!(answers[5].ends_with(": A"), "{answers:#?}");
}

#[test]
fn what_is_beside_null_is_not_computed() {
    same_answers(
        "beside_null",
        &[
            "create database d",
            "use d",
            "create table k (id int primary key, d decimal(10,2), v varchar(10), w varchar(10) collate utf8mb4_general_ci, x varchar(10) collate utf8mb4_bin, u bigint unsigned, i int)",
            "insert into k values (1,null,'abc','a','b',18446744073709551615,null),(2,1,'1','1','1',1,1)",
            "select i | (3 - u) from k where id = 1",
            "select null & (3 - 4), (null = pow(0, -1)), null in (pow(0, -1))",
            "delete from k where d = v and id = 1",
            "update k set w = 'q' where (null = str_to_date(v, '%Y'))",
            "select id from k where 1 in (v, w, x)",
            "select id from k where 1.5 in (v, w, x) order by id",
            "select -(~5), -(18446744073709551610), -(9223372036854775807 + 1), -cast(9223372036854775808 as unsigned), -(~5) + 1",
        ],
    );
}

#[test]
fn literals_of_bytes_are_numbers_between_numbers_and_beside_years() {
    let answers = same_answers(
        "comparisons_like_mysql::literals_of_bytes_are_numbers",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5), e ENUM('5', '60'), y YEAR, KEY (v), KEY (y))",
            "INSERT INTO t VALUES (1, '5', '5', 2005), (2, '60', '60', 2053), (3, '3', NULL, 1901), (4, '100', '5', 2070)",
            "SELECT id FROM t WHERE v BETWEEN b'101' AND 70 ORDER BY id",
            "SELECT id FROM t WHERE v BETWEEN x'35' AND 70.5 ORDER BY id",
            "SELECT id FROM t WHERE v NOT BETWEEN 0x05 AND 5e0 ORDER BY id",
            "SELECT '5' BETWEEN b'101' AND 70, '3' BETWEEN b'101' AND 70, x'35' BETWEEN '5' AND 60",
            "SELECT id FROM t WHERE y < x'35' ORDER BY id",
            "SELECT id FROM t WHERE y = x'35'",
            "SELECT id FROM t WHERE y >= 0x46 ORDER BY id",
            "SELECT id FROM t WHERE y IN (x'35', 2005) ORDER BY id",
            "SELECT id FROM t WHERE x'35' > y ORDER BY id",
        ],
    );
    assert!(answers[4].ends_with(": 1 2"), "{}", answers[4]);
}

#[test]
fn an_empty_text_is_no_time() {
    let answers = same_answers(
        "comparisons_like_mysql::an_empty_text_is_no_time",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, t TIME, k TIME(3), KEY (k))",
            "INSERT INTO t VALUES (1, '00:00:00', '00:00:00'), (2, '-00:00:01', '-00:00:01'), (3, '10:00:00', '10:00:00')",
            "SELECT id FROM t WHERE t = ''",
            "SELECT id FROM t WHERE t < '' OR k < ''",
            "SELECT id FROM t WHERE t >= '' ORDER BY id",
            "SELECT id FROM t WHERE k = ' '",
            "SELECT id FROM t WHERE k > '' ORDER BY id",
            "SELECT id, t <=> '', t <> '' FROM t ORDER BY id",
        ],
    );
    assert!(!answers[4].contains('1'), "{}", answers[4]);
}

#[test]
fn nullif_returns_the_characters_that_it_compares_as_bytes() {
    same_answers(
        "comparisons_like_mysql::nullif_returns_the_characters",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (l VARCHAR(5) CHARACTER SET latin1, b VARBINARY(5), u VARCHAR(5))",
            "INSERT INTO t VALUES ('é', 'e', 'é'), ('é', x'e9', x'c3a9'), ('5', '5', '5')",
            "SELECT NULLIF(l, b), HEX(NULLIF(l, b)), NULLIF(u, b), NULLIF(b, l) FROM t",
        ],
    );
}
