//! Tests that columns which are added and dropped without writing the rows anew show what they show
//! on a MySQL server, and that the same statements are refused.

use testkit::answers::same_answers;

/// The statement that shows the versions of a table's rows, and whether the table is the one whose
/// number is in `@id`.
const VERSIONS: &str = "SELECT TOTAL_ROW_VERSIONS, INSTANT_COLS, TABLE_ID = @id \
                        FROM information_schema.INNODB_TABLES WHERE NAME = 'd/t'";
const DEFAULTS: &str = "SELECT NAME, POS, HAS_DEFAULT, DEFAULT_VALUE FROM information_schema.INNODB_COLUMNS \
                        WHERE TABLE_ID = (SELECT TABLE_ID FROM information_schema.INNODB_TABLES \
                        WHERE NAME = 'd/t') ORDER BY POS";
const KEEP_ID: &str = "SET @id = (SELECT TABLE_ID FROM information_schema.INNODB_TABLES WHERE NAME = 'd/t')";

#[test]
fn columns_come_and_go_as_on_mysql() {
    let answers = same_answers(
        "instant_columns_like_mysql::columns_come_and_go_as_on_mysql",
        &[
            "CREATE DATABASE d",
            "USE d",
            "SET timestamp = 1700000000, time_zone = '+00:00'",
            "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10), KEY (a))",
            "INSERT INTO t VALUES (1, 'x'), (2, 'y')",
            KEEP_ID,
            "ALTER TABLE t ADD COLUMN b INT NOT NULL DEFAULT 7, ALGORITHM=INSTANT",
            "INSERT INTO t VALUES (3, 'z', 3)",
            "ALTER TABLE t ADD COLUMN c VARCHAR(20) DEFAULT 'abc' AFTER id, ALGORITHM=INSTANT",
            "SELECT * FROM t ORDER BY id",
            "UPDATE t SET c = 'new', b = b + 1 WHERE id <> 2",
            "ALTER TABLE t ADD COLUMN e DATETIME, ADD f TIMESTAMP DEFAULT CURRENT_TIMESTAMP FIRST",
            "SELECT * FROM t ORDER BY id",
            VERSIONS,
            DEFAULTS,
            "ALTER TABLE t DROP COLUMN b, ALGORITHM=INSTANT",
            "SELECT * FROM t ORDER BY id",
            "SELECT id FROM t WHERE a > 'x' ORDER BY a DESC",
            "ALTER TABLE t ADD COLUMN m BLOB NOT NULL, ADD n ENUM('a','b') NOT NULL, ADD o BIT(3) DEFAULT b'101', \
             ADD p DECIMAL(10,2) DEFAULT 1.5, DROP COLUMN c",
            "SELECT id, a, e, m, n, o + 0, p FROM t ORDER BY id",
            "ALTER TABLE t RENAME COLUMN p TO q, ADD r INT, ALGORITHM=INSTANT",
            VERSIONS,
            DEFAULTS,
            "ALTER TABLE t ADD COLUMN i INT, ADD KEY (i), ALGORITHM=INSTANT",
            "ALTER TABLE t ADD COLUMN j INT, ALGORITHM=INSTANT, LOCK=NONE",
            "ALTER TABLE t ADD COLUMN j INT, LOCK=NONE",
            "ALTER TABLE t ADD COLUMN g INT AS (id + 1) STORED, ALGORITHM=INSTANT",
            "ALTER TABLE t ADD COLUMN g INT DEFAULT (1 + 1), ALGORITHM=INSTANT",
            "ALTER TABLE t DROP COLUMN a, ALGORITHM=INSTANT",
            VERSIONS,
            "DELETE FROM t WHERE id = 2",
            "REPLACE INTO t (id, a) VALUES (1, 'again'), (4, 'new')",
            "SELECT id, a, e, m, n, o + 0, q, r FROM t ORDER BY a",
            "ALTER TABLE t ENGINE=InnoDB",
            VERSIONS,
            DEFAULTS,
            "SELECT id, a, e, m, n, o + 0, q, r FROM t ORDER BY id",
            "ALTER TABLE t ADD (s DATE DEFAULT '2020-05-06', t SMALLINT DEFAULT -2, u BIGINT UNSIGNED DEFAULT 5, \
             v YEAR DEFAULT 2001, w SET('a','b','c','d','e','f','g','h','i','j') DEFAULT 'a,j')",
            "ALTER TABLE t ADD (x CHAR(5) DEFAULT 'ab', y BINARY(4) DEFAULT 'ab', z FLOAT DEFAULT 1.5, \
             aa DOUBLE DEFAULT 1.5, ab TIME(2) DEFAULT '10:11:12.34', ac DATETIME(3) DEFAULT '2020-01-02 03:04:05.678')",
            "ALTER TABLE t ADD (ad MEDIUMINT DEFAULT -7, ae TINYINT UNSIGNED NOT NULL, af VARCHAR(300) DEFAULT 'xyz', \
             ag JSON, ah BIT(12) DEFAULT b'110000000001', ai CHAR(3) CHARACTER SET utf8mb4 DEFAULT 'é', \
             aj VARCHAR(5) CHARACTER SET utf16 DEFAULT 'a')",
            DEFAULTS,
            "SELECT s, t, u, v, w, x, HEX(y), z, aa, ab, ac, ad, ae, af, ag, ah + 0, ai, aj FROM t ORDER BY id",
            "TRUNCATE t",
            VERSIONS,
            "CREATE TABLE f (id INT PRIMARY KEY, n INT, a TEXT, FULLTEXT KEY (a))",
            "ALTER TABLE f ADD COLUMN b INT, ALGORITHM=INSTANT",
            "ALTER TABLE f DROP COLUMN n, ALGORITHM=INSTANT",
            "CREATE TABLE c (id INT PRIMARY KEY, a INT) ROW_FORMAT=COMPRESSED",
            "ALTER TABLE c ADD COLUMN b INT, ALGORITHM=INSTANT",
            "ALTER TABLE c DROP COLUMN a, ALGORITHM=INSTANT",
            "ALTER TABLE c ADD COLUMN b INT",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("80000007")), "{answers:?}");
}

#[test]
fn types_become_wider_without_another_table_as_on_mysql() {
    let answers = same_answers(
        "instant_columns_like_mysql::types_become_wider_without_another_table_as_on_mysql",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10) COLLATE latin1_bin, e ENUM('a','b'), s SET('x','y'), \
             g VARCHAR(3) AS (LEFT(a, 3)) STORED, KEY (a), KEY (e))",
            "INSERT INTO t (id, a, e, s) VALUES (1, 'one', 'b', 'x'), (2, 'two', 'a', 'x,y')",
            KEEP_ID,
            "ALTER TABLE t MODIFY a VARCHAR(20) COLLATE latin1_bin, ALGORITHM=INPLACE, LOCK=NONE",
            VERSIONS,
            "ALTER TABLE t MODIFY a VARCHAR(30) COLLATE latin1_bin, ALGORITHM=INSTANT",
            "ALTER TABLE t MODIFY e ENUM('a','b','c'), MODIFY s SET('x','y','z'), ALGORITHM=INSTANT",
            VERSIONS,
            "INSERT INTO t (id, a, e, s) VALUES (3, 'a text of 18 chars', 'c', 'z')",
            "SELECT * FROM t ORDER BY e DESC",
            "SELECT id FROM t WHERE a > 'b' ORDER BY a",
            "ALTER TABLE t MODIFY e ENUM('b','a','c'), ALGORITHM=INSTANT",
            "ALTER TABLE t MODIFY a VARCHAR(300) COLLATE latin1_bin, ALGORITHM=INPLACE",
            "ALTER TABLE t MODIFY a VARCHAR(19) COLLATE latin1_bin, ALGORITHM=INPLACE",
            "ALTER TABLE t MODIFY a VARCHAR(300) COLLATE latin1_bin",
            "SELECT * FROM t ORDER BY id",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("1845")), "{answers:?}");
}

#[test]
fn a_table_has_as_many_row_versions_as_on_mysql() {
    let added: Vec<String> =
        (0..255).map(|number| format!("ALTER TABLE t ADD COLUMN c{number} INT, ALGORITHM=INSTANT")).collect();
    let mut statements = vec![
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY)",
        "INSERT INTO t VALUES (1)",
        KEEP_ID,
    ];
    statements.extend(added.iter().map(String::as_str));
    statements.extend([
        VERSIONS,
        "ALTER TABLE t ADD COLUMN one_more INT, ALGORITHM=INSTANT",
        "ALTER TABLE t DROP COLUMN c0, ALGORITHM=INSTANT",
        "ALTER TABLE t ADD COLUMN one_more INT",
        VERSIONS,
        "SELECT c0, c254, one_more FROM t",
    ]);
    let answers =
        same_answers("instant_columns_like_mysql::a_table_has_as_many_row_versions_as_on_mysql", &statements);
    assert!(answers.iter().any(|answer| answer.contains("Maximum row versions reached")), "{answers:?}");
}
