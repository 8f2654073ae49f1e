//! Tests that CHECKSUM TABLE computes MySQL's number for the same rows, and that ANALYZE, CHECK,
//! OPTIMIZE and REPAIR TABLE say of a table what MySQL's say.

use testkit::answers::same_answers;

#[test]
fn a_checksum_is_mysqls_for_rows_of_every_type() {
    let answers = same_answers(
        "maintenance_like_mysql::a_checksum_is_mysqls_for_rows_of_every_type",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE two (a INT PRIMARY KEY, b VARCHAR(20))",
            "INSERT INTO two VALUES (1, 'one'), (2, 'two')",
            "CREATE TABLE fixed (a INT PRIMARY KEY, b INT DEFAULT 5, c INT)",
            "INSERT INTO fixed VALUES (1, NULL, NULL), (2, 3, 4)",
            "CREATE TABLE dynamic (a INT PRIMARY KEY) ROW_FORMAT=DYNAMIC",
            "INSERT INTO dynamic VALUES (1)",
            "CREATE TABLE eight (a INT PRIMARY KEY, b INT, c INT, d INT, e INT, f INT, g INT, h INT)",
            "INSERT INTO eight VALUES (1, 1, 1, 1, 1, 1, 1, 1), (2, NULL, 1, NULL, 1, NULL, 1, NULL)",
            "CREATE TABLE integers (a TINYINT, b SMALLINT, c MEDIUMINT, d BIGINT UNSIGNED, e DECIMAL(7,3), \
             f FLOAT, g DOUBLE, h BIT(11), i YEAR)",
            "INSERT INTO integers VALUES (1, 2, 3, 4, 1.25, 1.5, 2.5, 5, 2000), \
             (-1, -2, -3, 5, -1.25, -1.5, -2.5, NULL, 1970), \
             (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            "CREATE TABLE texts (a CHAR(3) CHARACTER SET utf8mb4, b CHAR(2) CHARACTER SET utf16, c BINARY(3), \
             d CHAR(5) DEFAULT 'de', e VARCHAR(10) DEFAULT 'abc', f VARBINARY(5), g TEXT, h MEDIUMBLOB, \
             i CHAR(0), j ENUM('a','b') DEFAULT 'b', k SET('a','b','c','d','e','f','g','h','i'))",
            "INSERT INTO texts VALUES ('x', 'y', 'z', '', 'é', 'f', 'g', 'h', '', 'a', 'a,i'), \
             (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            "CREATE TABLE times (a DATE, b TIME(3), c DATETIME(2), d TIMESTAMP(1) NULL)",
            "INSERT INTO times VALUES ('2020-02-02', '1:2:3.5', '2020-1-1 1:2:3.25', '2021-1-1'), \
             (NULL, NULL, NULL, NULL)",
            "CREATE TABLE documents (a INT PRIMARY KEY, b JSON, c POINT, d VECTOR(2))",
            "INSERT INTO documents VALUES (1, '{\"b\":1, \"a\":[1,2]}', POINT(1, 2), TO_VECTOR('[1,2]')), \
             (2, NULL, NULL, NULL)",
            "CREATE TABLE made (a INT PRIMARY KEY, g INT AS (a + 1), s INT AS (a * 2) STORED, \
             v VARCHAR(3), i INT INVISIBLE DEFAULT 7)",
            "INSERT INTO made (a, v) VALUES (1, NULL), (2, 'x')",
            "CREATE TEMPORARY TABLE own (a INT)",
            "CHECKSUM TABLE own",
            "INSERT INTO own VALUES (1), (NULL)",
            "CHECKSUM TABLES two, fixed, dynamic, eight, integers, texts, times, documents, made, own",
            "UPDATE two SET b = 'One' WHERE a = 1",
            "CHECKSUM TABLE two EXTENDED",
            "CHECKSUM TABLE two QUICK",
            "CHECKSUM TABLE two QUICK EXTENDED",
            "CHECKSUM TABLE two EXTENDED QUICK",
            "CREATE VIEW v AS SELECT 1 AS a",
            "CHECKSUM TABLE v, missing, nowhere.t, two",
            "CHECKSUM TABLE two, two",
        ],
    );
    let of_two = answers.iter().find(|answer| answer.starts_with("CHECKSUM TABLES")).expect("the answer");
    assert!(of_two.contains("d.two,2742102162"), "{of_two}");
}

#[test]
fn what_statements_say_of_views_and_missing_tables_is_what_mysql_says() {
    same_answers(
        "maintenance_like_mysql::what_statements_say_of_views_and_missing_tables_is_what_mysql_says",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT PRIMARY KEY)",
            "CREATE TABLE u (a INT PRIMARY KEY)",
            "CREATE VIEW v AS SELECT * FROM t",
            "CREATE VIEW broken AS SELECT * FROM u",
            "DROP TABLE u",
            "ANALYZE TABLE v, missing, nowhere.t, t",
            "CHECK TABLE v, broken, missing, nowhere.t, t",
            "OPTIMIZE TABLE v, missing, nowhere.t",
            "REPAIR TABLE v, missing, nowhere.t, t",
            "ANALYZE TABLE t, t",
            "CHECK TABLE t, d.t QUICK",
        ],
    );
}
