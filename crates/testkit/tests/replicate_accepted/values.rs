//! Tests of values that statements of a source generate, find and cut in a way of their own.

use bench::instance::Flavor;

use crate::same_behind;

/// Values that continue from `insert_id`, with values between them that are given.
const GIVEN_IDS: &[&str] = &[
    "CREATE TABLE a (k INT AUTO_INCREMENT PRIMARY KEY, b INT) AUTO_INCREMENT = 200",
    "SET insert_id = 77",
    "INSERT INTO a VALUES (NULL, 1), (100, 2), (NULL, 3), (NULL, 4)",
    "INSERT INTO a VALUES (NULL, 5)",
    "CREATE TABLE b LIKE a",
    "ALTER TABLE b AUTO_INCREMENT = 200",
    "SET insert_id = 77",
    "INSERT INTO b VALUES (NULL, 1), (78, 2), (NULL, 3), (-5, 4), (50, 5), (NULL, 6)",
    "INSERT INTO b VALUES (NULL, 1), (1000, 2), (NULL, 3), (NULL, 4), (2000, 5), (NULL, 6), (NULL, 7)",
    "INSERT INTO b VALUES (NULL, 5)",
    "CREATE TABLE c LIKE a",
    "ALTER TABLE c AUTO_INCREMENT = 200",
    "SET insert_id = 77",
    "INSERT INTO c SELECT IF(k = 50, 300, NULL), b FROM b ORDER BY k",
    "INSERT INTO c VALUES (NULL, 5)",
    "CREATE TABLE tiny (k TINYINT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 126",
    "INSERT INTO tiny VALUES (NULL), (5), (NULL)",
    "SET auto_increment_increment = 10, auto_increment_offset = 3",
    "SET insert_id = 7",
    "INSERT INTO a VALUES (NULL, 1), (NULL, 2), (90, 3), (NULL, 4), (500, 5), (NULL, 6)",
];

#[test]
fn values_continue_from_insert_id_as_far_as_the_source_lets_them() {
    same_behind("given_ids_mysql", Flavor::MySql, &["STATEMENT"], GIVEN_IDS);
    same_behind("given_ids_mariadb", Flavor::MariaDb, &["STATEMENT"], GIVEN_IDS);
}

/// Zero dates that `IS NULL` finds, or does not find, in derived tables, in subqueries and under
/// NOT.
const ZERO_DATES_AROUND: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE z (k INT PRIMARY KEY, d DATE NOT NULL, seen BIGINT DEFAULT 0)",
    "INSERT INTO z VALUES (1, 0, 0), (2, 20200101, 0), (3, '2020-00-00', 0)",
    "CREATE TABLE other (k INT PRIMARY KEY, d DATE NOT NULL)",
    "INSERT INTO other VALUES (1, 0), (2, 0), (4, 20200101)",
    "CREATE VIEW merged AS SELECT k, d FROM z",
    "CREATE VIEW made AS SELECT k, d FROM z LIMIT 10",
    "CREATE TABLE seen (k INT, what VARCHAR(20))",
    "INSERT INTO seen SELECT k, 'merged' FROM (SELECT k, d FROM z) x WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'limited' FROM (SELECT k, d FROM z ORDER BY k LIMIT 10) x WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'united' FROM (SELECT k, d FROM z UNION SELECT k, d FROM other) x WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'grouped' FROM (SELECT k, d FROM z GROUP BY k, d) x WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'minimum' FROM (SELECT k, MIN(d) AS d FROM z GROUP BY k) x WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'distinct' FROM (SELECT DISTINCT k, d FROM z) x WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'view' FROM merged WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'made view' FROM made WHERE d IS NULL",
    "INSERT INTO seen SELECT k, 'exists' FROM z WHERE EXISTS (SELECT 1 FROM other WHERE z.d IS NULL)",
    "INSERT INTO seen SELECT k, 'in' FROM z WHERE k IN (SELECT k FROM other WHERE z.d IS NULL)",
    "INSERT INTO seen SELECT (SELECT COUNT(*) FROM other WHERE z.d IS NULL), 'scalar' FROM z ORDER BY k",
    "INSERT INTO seen SELECT (SELECT COUNT(*) FROM other WHERE z.d IS NULL OR other.k = z.k), 'or' FROM z ORDER BY k",
    "INSERT INTO seen SELECT k, 'not' FROM z WHERE NOT (d IS NOT NULL OR k > 5)",
    "INSERT INTO seen SELECT k, 'having' FROM z HAVING k IS NOT NULL",
    "INSERT INTO seen SELECT COUNT(*), 'having' FROM z GROUP BY d HAVING d IS NULL",
    "INSERT INTO seen SELECT k, 'having or' FROM z GROUP BY k, d HAVING d IS NULL OR k = 2",
    "INSERT INTO seen SELECT MAX(k), 'maximum' FROM z GROUP BY k HAVING MAX(d) IS NULL",
    "INSERT INTO seen SELECT k, 'having sub' FROM z GROUP BY k, d \
     HAVING (SELECT COUNT(*) FROM other WHERE z.d IS NULL) > 0",
    "UPDATE other JOIN (SELECT k, d FROM z ORDER BY k LIMIT 10) x ON other.k = x.k SET other.k = 100 WHERE x.d IS NULL",
];

#[test]
fn zero_dates_are_found_as_null_in_derived_tables_and_subqueries() {
    same_behind("zero_dates_around_mysql", Flavor::MySql, &["STATEMENT"], ZERO_DATES_AROUND);
    same_behind("zero_dates_around_mariadb", Flavor::MariaDb, &["STATEMENT"], ZERO_DATES_AROUND);
}

/// Bytes that are no characters of their columns, outside of strict mode.
const NO_CHARACTERS: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE c (k INT PRIMARY KEY, a VARCHAR(5) CHARACTER SET ucs2, b VARCHAR(5) CHARACTER SET utf16, \
     c VARCHAR(5) CHARACTER SET utf32, d VARCHAR(5), e TEXT CHARACTER SET utf16le, \
     f CHAR(3) CHARACTER SET utf32, g VARCHAR(9) CHARACTER SET sjis, h VARCHAR(9) CHARACTER SET utf8mb3)",
    "CREATE TABLE bytes (k INT PRIMARY KEY, b VARBINARY(20))",
    "INSERT INTO bytes VALUES (1, X'41'), (2, X'4142'), (3, X'414243'), (4, X'41424344'), (5, X'4142434445'), \
     (6, X'0000004142'), (7, X'00000041FFFFFFFF'), (8, X'FF'), (9, X'C3'), (10, X'61C361'), \
     (11, X'61FF62FF63'), (12, X'000000'), (13, X'00410042004300440045004600'), (14, X'C3A9'), (15, X'00110000')",
    "INSERT INTO c SELECT k, b, b, b, b, b, b, b, b FROM bytes",
    "INSERT INTO c VALUES (20, X'414243', X'414243', X'414243', X'41FF43', X'414243', X'414243', X'81', X'41FF43'), \
     (21, X'41', X'41', X'41', X'41', X'41', X'41', X'41', X'41')",
    "INSERT INTO c (k, c, d) VALUES (22, CONCAT(X'0000', X'004142434445'), CONCAT(X'41C3', X'41'))",
    "UPDATE c SET a = X'FF42FF', b = X'414243', c = X'00000042414243', d = X'4142FF' WHERE k = 1",
    "UPDATE c JOIN bytes USING (k) SET c.a = bytes.b, c.c = bytes.b, c.d = bytes.b WHERE k IN (2, 3, 8)",
];

#[test]
fn bytes_that_are_no_characters_are_cut_or_replaced_as_at_the_source() {
    same_behind("no_characters_mysql", Flavor::MySql, &["STATEMENT"], NO_CHARACTERS);
    same_behind("no_characters_mariadb", Flavor::MariaDb, &["STATEMENT"], NO_CHARACTERS);
}

/// Rows that IGNORE adjusts before a partition takes them.
const IGNORED_IN_PARTITIONS: &[&str] = &[
    "CREATE TABLE u (a UUID NOT NULL, i BOOL, PRIMARY KEY (i), UNIQUE KEY (i) USING HASH, KEY (a) IGNORED, \
     UNIQUE KEY (a DESC, i DESC)) \
     PARTITION BY LIST(i) (PARTITION p0 VALUES IN (1), PARTITION p1 DEFAULT)",
    "INSERT IGNORE INTO u (a, i) VALUES (DEFAULT, 10), ('00000000-0000-0000-0000-000000000001', -1), (NULL, TRUE)",
    "CREATE TABLE copied AS SELECT * FROM u",
    "ALTER TABLE u DROP PARTITION p1",
    "refused: UPDATE u SET a = '00000000-0000-0000-0000-000000000001', i = 10 WHERE i IS NOT NULL",
];

#[test]
fn rows_that_ignore_adjusts_are_in_their_partitions() {
    same_behind("ignored_in_partitions", Flavor::MariaDb, &["ROW", "STATEMENT"], IGNORED_IN_PARTITIONS);
}

/// ENUM and SET columns with values that are no members, of which conversions make others.
const NO_MEMBERS: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE e (k INT, e ENUM('a', 'b') CHARACTER SET big5, s SET('a', 'b'))",
    "INSERT INTO e VALUES (1, 'x', 'x'), (2, 'a', 'a,b'), (3, NULL, NULL), (4, 0, 0)",
    "SET sql_mode = DEFAULT",
    "ALTER TABLE e CONVERT TO CHARACTER SET latin2",
    "ALTER TABLE e MODIFY e ENUM('a', 'b', 'c') CHARACTER SET utf8mb4",
];

#[test]
fn conversions_leave_values_that_are_no_members() {
    same_behind("no_members_mysql", Flavor::MySql, &["ROW", "STATEMENT"], NO_MEMBERS);
    same_behind("no_members_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], NO_MEMBERS);
}

/// Generated columns whose values would not fit in strict mode, in rows that change elsewhere.
const GENERATED_ELSEWHERE: &[&str] = &[
    "CREATE TABLE g (k INT, e ENUM('A') CHARACTER SET latin1 COLLATE latin1_bin AS ('a'), \
     s TINYINT AS (k * 100) STORED, t TINYINT AS (s + 1) STORED, u INT, KEY ((k + 1)))",
    "INSERT IGNORE INTO g (k, u) VALUES (1, 1), (2, 2), (3, 3)",
    "UPDATE g SET u = 5",
    "UPDATE g SET u = 6 WHERE s = 127",
    "refused: UPDATE g SET k = 2 WHERE k = 2",
    "refused: UPDATE g SET k = 5, u = 7 WHERE k = 1",
    "UPDATE g SET k = 0 WHERE k = 1",
    "UPDATE IGNORE g SET k = 4 WHERE k = 3",
    "UPDATE g SET u = u + 1",
];

#[test]
fn generated_columns_that_depend_on_nothing_that_changes_keep_their_values() {
    same_behind("generated_elsewhere", Flavor::MySql, &["STATEMENT"], GENERATED_ELSEWHERE);
}

/// Texts without characters, which are NULL in a mode of MariaDB wherever they are expressions.
const EMPTY_TEXTS: &[&str] = &[
    "CREATE TABLE held (k INT, a VARCHAR(9) DEFAULT '')",
    "SET sql_mode = 'EMPTY_STRING_IS_NULL'",
    "CREATE TABLE e (k INT PRIMARY KEY, a VARCHAR(9) DEFAULT '', b ENUM('', 'b') COMMENT '', \
     g VARCHAR(9) AS (CONCAT(a, '')), CHECK (a <> ''))",
    "INSERT INTO e (k, a, b) VALUES (1, '', ''), (2, \"\", 'b')",
    "INSERT INTO e (k, a) VALUES (3, 'a' ''), (4, '' 'a'), (5, '' '')",
    "INSERT INTO e (k, a) VALUES (6, x''), (7, _latin1''), (8, _latin1 x''), (9, N''), (10, CONCAT('b', ''))",
    "INSERT INTO e (k) VALUES (11)",
    "UPDATE e SET b = '' WHERE k = 2",
    "UPDATE e SET b = 'b' WHERE a IN ('', 'a') OR a = ''",
    "INSERT INTO held (k) VALUES (1)",
    "INSERT INTO held SELECT k, IF(k > 3, a, '') FROM e ORDER BY k",
    "ALTER TABLE held ADD c VARCHAR(9) DEFAULT '', COMMENT ''",
    "CREATE TABLE l (a VARCHAR(5)) PARTITION BY LIST COLUMNS (a) \
     (PARTITION p0 VALUES IN (''), PARTITION p1 VALUES IN ('a'))",
    "INSERT INTO l VALUES (''), ('a')",
    "CREATE PROCEDURE p(x VARCHAR(9)) INSERT INTO held VALUES (50, x, ''), (51, '', 'c')",
    "CREATE TRIGGER t BEFORE UPDATE ON l FOR EACH ROW INSERT INTO held VALUES (60, '', 'trigger')",
    "CALL p('')",
    "SET sql_mode = ''",
    "CALL p('')",
    "UPDATE l SET a = 'a'",
    "INSERT INTO e (k, a, b) VALUES (70, '', '')",
];

#[test]
fn empty_texts_are_null_in_the_mode_of_mariadb_that_says_so() {
    same_behind("empty_texts", Flavor::MariaDb, &["STATEMENT", "ROW"], EMPTY_TEXTS);
}

/// Assignments that read what others of the same statement set, in a mode of MariaDB.
const SIMULTANEOUS: &[&str] = &[
    "CREATE TABLE s (k INT PRIMARY KEY, a INT, b INT, c INT AS (a + 1) STORED)",
    "INSERT INTO s (k, a, b) VALUES (1, 10, 20), (2, 30, 40)",
    "SET sql_mode = 'SIMULTANEOUS_ASSIGNMENT'",
    "UPDATE s SET a = b, b = a",
    "UPDATE s SET a = a + 1, b = a, k = k + 10",
    "UPDATE s SET b = a, a = 5.7 WHERE k = 11",
    "INSERT INTO s (k, a, b) VALUES (11, 1, 2) ON DUPLICATE KEY UPDATE a = 100, b = a",
    "UPDATE s x JOIN s y USING (k) SET x.a = 7, x.b = x.a WHERE x.k = 12",
    "CREATE PROCEDURE p() UPDATE s SET a = b, b = a WHERE k = 12",
    "SET sql_mode = ''",
    "CALL p()",
    "UPDATE s SET a = 3, b = a WHERE k = 11",
];

#[test]
fn assignments_read_the_row_before_them_in_the_mode_of_mariadb_that_says_so() {
    same_behind("simultaneous", Flavor::MariaDb, &["STATEMENT", "ROW"], SIMULTANEOUS);
}

/// DEFAULT in AUTO_INCREMENT columns, which is 0 where 0 generates no value.
const DEFAULT_IDS: &[&str] = &[
    "CREATE TABLE i (k INT NOT NULL AUTO_INCREMENT, v INT, KEY (k))",
    "CREATE TABLE f (k FLOAT NOT NULL, u INT UNSIGNED NOT NULL AUTO_INCREMENT, KEY (u))",
    "INSERT INTO i VALUES (5, 1), (DEFAULT, 2), (NULL, 3), (0, 4)",
    "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
    "INSERT INTO i VALUES (20, 10), (DEFAULT, 11), (NULL, 12), (0, 13), (DEFAULT(k), 14)",
    "INSERT INTO i VALUES (DEFAULT, 20)",
    "INSERT INTO i (v) VALUES (30), (31)",
    "INSERT INTO i VALUES (), ()",
    "REPLACE INTO i VALUES (DEFAULT, 40)",
    "INSERT INTO i SET k = DEFAULT, v = 50",
    "INSERT INTO f VALUES (1, DEFAULT), (2, NULL), (3, DEFAULT)",
];

#[test]
fn default_is_zero_in_an_auto_increment_column_where_zero_generates_nothing() {
    same_behind("default_ids_mysql", Flavor::MySql, &["STATEMENT"], DEFAULT_IDS);
    same_behind("default_ids_mariadb", Flavor::MariaDb, &["STATEMENT"], DEFAULT_IDS);
}
