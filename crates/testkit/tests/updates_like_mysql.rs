//! Tests of UPDATE beside MySQL: values that columns take as they are, values that are converted,
//! and both in one statement.

use testkit::answers::same_answers;

const TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY, i INT, u TINYINT UNSIGNED NOT NULL, b BIGINT, \
    c CHAR(5), v VARCHAR(6) NOT NULL, l VARCHAR(6) CHARACTER SET latin1, x VARBINARY(4), y BINARY(4), \
    m TEXT, d DECIMAL(5,2), e ENUM('p','q'), n YEAR, KEY (i), KEY (c))";

const ROWS: &str = "INSERT INTO t VALUES (1, 10, 1, 100, 'one', 'eins', 'un', x'01', x'0100', 'long', 1.5, 'p', 2001), \
    (2, NULL, 2, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL), \
    (3, -3, 3, -300, 'three', 'drei', 'trois', x'030303', x'03', '', -3, 'q', 1999)";

/// Values that some columns take as they are, and others not at all.
const VALUES: [&str; 18] = [
    "7",
    "-7",
    "300",
    "3000000000",
    "18446744073709551615",
    "1.5",
    "'abc'",
    "'ab  '",
    "'abcdef'",
    "'abcdefgh'",
    "'\u{e9}t\u{e9}'",
    "'12'",
    "x'41420000'",
    "NULL",
    "DEFAULT",
    "''",
    "CONCAT(v, 'z')",
    "id + 4",
];

/// Returns the statements that make the table, and change it with each value in each column, with
/// what they warn of and leave behind.
fn each_value_in_each_column(mode: &str, ignore: &str) -> Vec<String> {
    let mut statements = vec![
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        TABLE.to_owned(),
        ROWS.to_owned(),
        format!("SET sql_mode = '{mode}'"),
    ];
    for column in ["i", "u", "b", "c", "v", "l", "x", "y", "m", "d", "e", "n"] {
        for value in VALUES {
            statements.push("BEGIN".to_owned());
            statements.push(format!("UPDATE{ignore} t SET {column} = {value}"));
            statements.push(format!("SELECT id, HEX({column}) FROM t ORDER BY id"));
            statements.push("ROLLBACK".to_owned());
        }
    }
    statements
}

#[test]
fn values_are_stored_as_mysql_stores_them() {
    let test = "updates_like_mysql::values_are_stored_as_mysql_stores_them";
    for (mode, ignore) in [
        ("STRICT_ALL_TABLES", ""),
        ("", ""),
        ("STRICT_ALL_TABLES", " IGNORE"),
        ("PAD_CHAR_TO_FULL_LENGTH", ""),
    ] {
        let statements = each_value_in_each_column(mode, ignore);
        same_answers(test, &statements.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn assignments_are_made_one_after_the_other() {
    let answers = same_answers(
        "updates_like_mysql::assignments_are_made_one_after_the_other",
        &[
            "CREATE DATABASE d",
            "USE d",
            TABLE,
            ROWS,
            "UPDATE t SET i = 5, u = 6, v = 'six' WHERE id = 1",
            "UPDATE t SET i = 5, u = 6, v = 'six' WHERE id = 1",
            "UPDATE t SET u = 7, i = 8, v = 'seven' WHERE id = 1",
            "UPDATE t SET i = 9, u = i, v = CONCAT(u, 'x')",
            "UPDATE t SET i = i + 1, b = 2, c = NULL, v = 'nulls' WHERE id <> 2",
            "UPDATE t SET i = 20, b = 21, d = 2.25, m = 'm' WHERE id = 3",
            "UPDATE t SET i = 22, d = '2.5', m = CONCAT(i, '/', d) WHERE id = 3",
            "SELECT * FROM t ORDER BY id",
            "UPDATE t SET i = 23, i = i + 1, v = 'twice' WHERE id = 3",
            "UPDATE t SET i = 30, u = 300 WHERE id = 3",
            "UPDATE t SET i = 31, u = NULL, v = 'x'",
            "SET sql_mode = ''",
            "UPDATE t SET i = 32, u = 300, v = 'abcdefghi', m = i + u WHERE id > 1",
            "UPDATE t SET i = 33, u = NULL, v = NULL, b = 9 / 0",
            "UPDATE t SET b = 9 / 0, v = '12345678'",
            "SET @n = 0",
            "UPDATE t SET i = (@n := @n + 1), u = (@n := @n + 1), v = CONCAT(@n, 'abcdefgh')",
            "SELECT @n",
            "SELECT * FROM t ORDER BY id",
            "SET sql_mode = DEFAULT",
            "UPDATE t SET i = (SELECT MAX(id) FROM (SELECT id FROM t) AS s), m = 'sub' WHERE v LIKE '%1%' OR id = 1",
            "PREPARE p FROM 'UPDATE t SET i = ?, v = ?, m = ? WHERE id = ?'",
            "SET @a = 1, @b = 'bb', @c = 'cc', @d = 2",
            "EXECUTE p USING @a, @b, @c, @d",
            "SET @a = '11', @b = 7, @c = NULL",
            "EXECUTE p USING @a, @b, @c, @d",
            "SET @b = 'too long a text'",
            "EXECUTE p USING @a, @b, @c, @d",
            "UPDATE t SET v = 'r' ORDER BY id DESC LIMIT 2",
            "UPDATE t SET v = 's' WHERE i > 0 AND v = 'r' ORDER BY v, id LIMIT 1",
            "UPDATE t SET id = id + 10 ORDER BY id DESC",
            "UPDATE t SET id = 11 WHERE id = 12",
            "UPDATE IGNORE t SET id = 11 WHERE id = 12",
            "SELECT * FROM t ORDER BY id",
            "CREATE TABLE plain (a INT, b VARCHAR(3))",
            "INSERT INTO plain VALUES (1, 'x'), (NULL, NULL)",
            "UPDATE plain SET a = 4, b = 'all'",
            "SELECT * FROM plain",
            "UPDATE plain SET a = 4, b = NULL",
            "SELECT * FROM plain",
            "PREPARE q FROM 'UPDATE plain SET b = ?'",
            "SET @b = 'no'",
            "EXECUTE q USING @b",
            "CREATE TRIGGER g BEFORE UPDATE ON plain FOR EACH ROW SET NEW.b = UPPER(NEW.b)",
            "SET @b = 'yes'",
            "EXECUTE q USING @b",
            "SELECT * FROM plain",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("Data too long")), "some texts are too long");
}
