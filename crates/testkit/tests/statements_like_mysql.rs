//! Tests of statements whose answers have to be MySQL's to the letter: names in errors, statements
//! that cannot be prepared, values that no vector or geometry accepts, and how many warnings a
//! result reports. A real MySQL gets the same statements and must answer the same.

use bench::instance::Settings;
use std::net::Ipv4Addr;
use testkit::answers::same_answers;
use testkit::caller::{Caller, Said};
use testkit::server::same_as_mysql;

#[test]
fn statements_about_errors_leave_the_number_of_rows_found() {
    let statements = &[
        "SELECT 1 UNION SELECT 2 UNION SELECT 3",
        "SHOW ERRORS",
        "SHOW COUNT(*) ERRORS",
        "SELECT FOUND_ROWS() - 1",
    ];
    let answers = same_as_mysql("statements_about_errors", &Settings::default(), |server| {
        let mut client = server.connect();
        statements.iter().map(|statement| testkit::answers::answer(&mut client, statement)).collect()
    });
    assert_eq!(answers.len(), statements.len());
}

/// The digits of a number that is written count, not those of its type.
#[test]
fn types_of_decimals_are_as_wide_as_in_mysql() {
    same_answers(
        "types_of_decimals",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (d DECIMAL(10,2), i INT, u BIGINT UNSIGNED)",
            "CREATE TABLE made AS SELECT d * 2 a, d + 1 b, d - 100 c, d * 12.5 e, d / 3 f, i * d g, d % 7 h, 7 * d j, \
             u * d k, 2 * 3.5 l, d * -2 m, 1 / 3 n, SUM(d * 2) o, AVG(d + 1000) p FROM t GROUP BY d, i, u",
            "SHOW CREATE TABLE made",
        ],
    );
}

#[test]
fn errors_name_functions_and_routines_as_they_are_written() {
    let answers = same_answers(
        "names_in_errors",
        &[
            "CREATE DATABASE d",
            "USE d",
            "SELECT NoSuch()",
            "SELECT `No Such`(1)",
            "SELECT d.NoSuch(1)",
            "SELECT Sleep2(), ST_Nope(1)",
            "DO NoSuch()",
            "SET @a = NoSuch(1)",
            "CALL NoSuch()",
            "PREPARE s FROM 'CALL NoSuch()'",
            "PREPARE s FROM 'SELECT NoSuch()'",
            "PREPARE s FROM 'SHOW WARNINGS'",
            "PREPARE s FROM 'SHOW COUNT(*) ERRORS'",
            "DROP PROCEDURE NoSuch",
            "SHOW CREATE FUNCTION NoSuch",
            "CREATE TABLE t (a INT)",
            "INSERT INTO t VALUES (1), (2)",
            // An aggregate in other capitals is the same aggregate.
            "SELECT Max(a), MAX(a) FROM t HAVING max(a) = 2",
            "SELECT Upper(a) FROM t GROUP BY upper(a)",
        ],
    );
    let refused = "SELECT NoSuch(): 1305 (42000) FUNCTION d.NoSuch does not exist";
    assert!(answers[2].starts_with(refused), "{}", answers[2]);
}

#[test]
fn vectors_take_no_text() {
    let answers = same_answers(
        "text_for_vectors",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE v (id INT PRIMARY KEY, v VECTOR(1))",
            "CREATE TABLE s (s VARCHAR(10), b VARBINARY(10), c BLOB)",
            "INSERT INTO s VALUES ('abcd', 'abcd', 'abcd')",
            "INSERT INTO v VALUES (1, 'abcd')",
            "INSERT INTO v VALUES (1, 'ab\\ncd')",
            "INSERT INTO v VALUES (1, NULL), (2, 'abcd')",
            "INSERT INTO v VALUES (2, _binary'abcd')",
            "INSERT INTO v VALUES (3, x'61626364')",
            "INSERT INTO v VALUES (4, CONCAT('ab', 'cd'))",
            "INSERT INTO v VALUES (4, CAST('abcd' AS BINARY))",
            "INSERT INTO v SELECT 5, 'abcd'",
            "INSERT INTO v SELECT 5, s FROM s",
            "INSERT INTO v SELECT 5, b FROM s",
            "INSERT INTO v SELECT 6, c FROM s",
            "INSERT INTO v VALUES (7, _latin1'abcd')",
            "INSERT IGNORE INTO v VALUES (7, 'abcd')",
            "REPLACE INTO v VALUES (5, 'abcd')",
            "UPDATE v SET v = 'abcd' WHERE id = 5",
            "UPDATE v SET v = NULL WHERE id = 5",
            "UPDATE v SET v = TO_VECTOR('[1]') WHERE id = 5",
            "INSERT INTO v VALUES (5, x'00') ON DUPLICATE KEY UPDATE v = 'abcd'",
            "SET @b = x'61626364'",
            "INSERT INTO v VALUES (8, @b)",
            "SET sql_mode = ''",
            "INSERT INTO v VALUES (9, 'abcd')",
            "SELECT id, HEX(v) FROM v ORDER BY id",
        ],
    );
    let refused = "6136 (HY000) Value of type 'string, size: 4' cannot be converted to 'vector' type.";
    assert!(answers.iter().filter(|answer| answer.contains(refused)).count() >= 10, "{answers:#?}");
}

#[test]
fn there_are_no_sums_of_geometries_and_vectors() {
    let aggregates = [
        "SUM",
        "AVG",
        "MIN",
        "MAX",
        "COUNT",
        "BIT_AND",
        "BIT_OR",
        "BIT_XOR",
        "STD",
        "STDDEV_SAMP",
        "VARIANCE",
        "VAR_SAMP",
        "SUM(DISTINCT",
    ];
    let calls = aggregates.iter().flat_map(|name| {
        let open = if name.contains('(') { " " } else { "(" };
        ["p", "g", "v"].map(|column| format!("SELECT {name}{open}{column}) IS NULL FROM t"))
    });
    let mut statements: Vec<String> = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, p POINT, g GEOMETRY, v VECTOR(2))",
        "INSERT INTO t VALUES (1, 1, POINT(1, 1), POINT(2, 2), TO_VECTOR('[1,2]')), (2, 1, POINT(1, 1), NULL, NULL)",
        "SELECT k, SUM(p) FROM t GROUP BY k",
        "SELECT k FROM t GROUP BY k HAVING Max(g) IS NULL",
        "SELECT 1 FROM t ORDER BY AVG(p)",
        "SELECT SUM(POINT(1, 1))",
        "SELECT COUNT(DISTINCT p) FROM t",
        "SELECT MIN(ST_SRID(p)), MAX(ST_ASTEXT(g)) FROM t",
        "SELECT k, COUNT(*) FROM t GROUP BY k, p",
    ]
    .map(str::to_owned)
    .to_vec();
    statements.extend(calls);
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let answers = same_answers("aggregates_of_shapes", &statements);
    assert!(
        answers.iter().filter(|answer| answer.contains("1210 (HY000) Incorrect arguments to")).count() > 20
    );
}

/// Returns the number of warnings in the packet that ends a result, by the protocol without
/// CLIENT_DEPRECATE_EOF.
fn warnings_of(caller: &mut Caller, statement: &str) -> String {
    caller.command(&[b"\x03", statement.as_bytes()].concat());
    let mut ends = 0;
    loop {
        match caller.hear() {
            Said::Packet(packet) if packet.len() == 5 && packet[0] == 0xfe => {
                ends += 1;
                if ends == 2 {
                    return format!("{statement}: {}", u16::from_le_bytes([packet[1], packet[2]]));
                }
            }
            Said::Packet(_) => {}
            other => return format!("{statement}: {other:?}"),
        }
    }
}

#[test]
fn show_warnings_has_none_itself() {
    let answers = same_as_mysql("warnings_of_show_warnings", &Settings::default(), |server| {
        server.run("CREATE USER u");
        let mut caller = Caller::from(Ipv4Addr::LOCALHOST, server.port());
        assert_eq!(caller.log_in("u", ""), Said::Ok);
        let statements = [
            "SELECT 1/0",
            "SHOW WARNINGS",
            "SHOW WARNINGS",
            "SHOW ERRORS",
            "SHOW COUNT(*) WARNINGS",
            "SHOW WARNINGS LIMIT 1",
            "SELECT 1/0, 2/0",
            "SHOW STATUS LIKE 'nope'",
            "SHOW WARNINGS",
            "SELEKT",
            "SHOW WARNINGS",
            "SELECT CAST('a' AS SIGNED)",
            "SHOW COUNT(*) ERRORS",
        ];
        statements.map(|statement| warnings_of(&mut caller, statement)).to_vec()
    });
    assert_eq!(answers[..2], ["SELECT 1/0: 1", "SHOW WARNINGS: 0"]);
}

/// A statement that inserts several rows is not refused for a NULL unless the mode is strict, and a
/// value may be computed from the columns of its own row.
#[test]
fn values_of_rows_that_are_inserted() {
    const STATEMENTS: &[&str] = &[
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL, b VARCHAR(9) DEFAULT 'x', c DATE NOT NULL)",
        "SET sql_mode = ''",
        "INSERT INTO d.t (a, c) VALUES (1, '2020-01-01'), (NULL, NULL)",
        "INSERT INTO d.t (a, c) VALUES (NULL, '2020-01-01')",
        "INSERT INTO d.t (a, c) VALUES (NULL, NULL), (1 + 1, '2020-01-01')",
        "REPLACE INTO d.t (a, c) VALUES (NULL, NULL), (1, '2020-01-01')",
        "INSERT INTO d.t (a, c) SELECT NULL, NULL",
        "INSERT INTO d.t SET a = a + 1, b = CONCAT(b, 'y', a), c = '2020-01-01'",
        "INSERT INTO d.t (b, a, c) VALUES (CONCAT(b, a), id + 2, c), (b, 7, '2021-01-01')",
        "INSERT INTO d.t SET a = nowhere + 1",
        "SET sql_mode = 'STRICT_TRANS_TABLES'",
        "INSERT INTO d.t (a, c) VALUES (1, '2020-01-01'), (NULL, '2020-01-01')",
        "INSERT INTO d.t SET a = a + 5, b = b, c = '2020-01-02'",
    ];
    same_as_mysql("values_of_rows_that_are_inserted", &Settings::default(), |server| {
        let mut client = server.connect();
        let mut told: Vec<String> = Vec::new();
        for sql in STATEMENTS {
            let answer = match client.command(protocol::command::QUERY, sql.as_bytes()) {
                Ok(ok) => format!("{} rows, {} warnings, '{}'", ok.affected_rows, ok.warnings, ok.info),
                Err(error) => error.to_string(),
            };
            told.push(format!("{sql}: {answer}"));
        }
        told.extend(server.rows("SELECT * FROM d.t ORDER BY id"));
        told
    });
}

/// A generated value after a value that a row gives is greater than that value.
#[test]
fn given_and_generated_values_stand_in_one_insert() {
    let (table, rows) =
        ("CREATE TABLE u (a INT PRIMARY KEY AUTO_INCREMENT, d INT NOT NULL DEFAULT 1)", "SELECT * FROM u");
    let mut statements = vec!["CREATE DATABASE d", "USE d", table];
    for inserts in [
        &["INSERT INTO u VALUES (DEFAULT, 1), (8, 1), (NULL, 8)"][..],
        &["INSERT INTO u VALUES (NULL, 1), (2, 1), (NULL, 8)"],
        &["INSERT INTO u VALUES (NULL, 1), (3, 1), (NULL, 8), (NULL, 9)", "INSERT INTO u VALUES (NULL, 1)"],
        &[
            "INSERT INTO u VALUES (5, 1), (NULL, 1), (3, 1), (NULL, 8), (0, 9)",
            "INSERT INTO u VALUES (NULL, 1)",
        ],
        &[
            "INSERT INTO u VALUES (NULL, 1), (100, 1), (NULL, 8), (7, 9), (NULL, 1)",
            "INSERT INTO u VALUES (0, 1)",
        ],
        &["INSERT INTO u SELECT NULL, 1 UNION ALL SELECT 3, 1 UNION ALL SELECT NULL, 2"],
        &[
            "INSERT INTO u VALUES (NULL, 1), (NULL, 2)",
            "INSERT INTO u VALUES (2, 1), (NULL, 3), (4, 4), (NULL, 5) ON DUPLICATE KEY UPDATE d = d + 10",
            "INSERT INTO u VALUES (NULL, 7)",
        ],
        &[
            "SET auto_increment_increment = 5, auto_increment_offset = 2",
            "INSERT INTO u VALUES (NULL, 1), (8, 1), (NULL, 2), (13, 3), (NULL, 1)",
            "SET auto_increment_increment = 1, auto_increment_offset = 1",
        ],
        &[
            "INSERT IGNORE INTO u VALUES (NULL, 1), (1, 1), (NULL, 2), (5, 2), (NULL, 3)",
            "INSERT INTO u VALUES (NULL, 7)",
        ],
        &["INSERT INTO u VALUES (NULL, 1), (-5, 1), (NULL, 2)"],
    ] {
        statements.push("TRUNCATE u");
        statements.extend_from_slice(inserts);
        statements.extend([rows, "SELECT LAST_INSERT_ID()"]);
    }
    let answers = same_answers("given_and_generated", &statements);
    assert!(answers.iter().any(|answer| answer.contains('9')), "{answers:#?}");
}

/// An ENUM that is NOT NULL and has no default has its first member where an INSERT leaves it out.
#[test]
fn an_enum_without_a_default_has_its_first_member() {
    const STATEMENTS: &[&str] = &[
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE e (a ENUM('x', 'y') NOT NULL, b SET('a', 'b') NOT NULL)",
        "INSERT INTO e () VALUES ()",
        "INSERT INTO e (b) VALUES ('a')",
        "INSERT INTO e VALUES (DEFAULT, 'b')",
        "INSERT INTO e (a, b) VALUES ('y', DEFAULT)",
        "INSERT INTO e (a) VALUES (NULL)",
        "SELECT * FROM e",
        "UPDATE e SET a = 'y'",
        "UPDATE e SET a = DEFAULT WHERE b = 'a'",
        "UPDATE e SET b = DEFAULT",
        "CREATE VIEW v AS SELECT b FROM e",
        "INSERT INTO v VALUES ('a,b')",
        "CREATE VIEW w AS SELECT a FROM e",
        "INSERT INTO w VALUES ('y')",
        "SELECT * FROM e",
        "CREATE TABLE dropped (a ENUM('x', 'y'), b INT)",
        "ALTER TABLE dropped ALTER COLUMN a DROP DEFAULT, ALTER COLUMN b DROP DEFAULT",
        "INSERT INTO dropped (b) VALUES (1)",
        "INSERT INTO dropped (a) VALUES ('y')",
        "SELECT * FROM dropped",
        "CREATE TABLE fired (a ENUM('x', 'y') NOT NULL, b INT NOT NULL)",
        "CREATE TRIGGER t BEFORE INSERT ON fired FOR EACH ROW SET NEW.b = 5",
        "INSERT INTO fired () VALUES ()",
        "SELECT * FROM fired",
    ];
    same_answers("an_enum_without_a_default", STATEMENTS);
}

/// Comments are in the system character set, and options that MySQL forgets or keeps for nothing
/// are taken.
#[test]
fn comments_and_options_that_change_nothing() {
    const STATEMENTS: &[&str] = &[
        "CREATE DATABASE d",
        "USE d",
        "SET NAMES utf8mb4",
        "CREATE TABLE c (a INT COMMENT '\u{1F40D}\u{e9}\u{2728}', KEY k (a) COMMENT '\u{1F40D}k') \
         COMMENT '\u{1F40D}t' PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (5) COMMENT = '\u{1F40D}p')",
        "SHOW CREATE TABLE c",
        "CREATE PROCEDURE p() COMMENT '\u{1F40D}p' SELECT 1",
        "SELECT routine_comment FROM information_schema.routines WHERE routine_schema = 'd'",
        "CREATE TABLE k (a INT) CONNECTION = 'it''s' PASSWORD = 'x' UNION = (c)",
        "SHOW CREATE TABLE k",
        "ALTER TABLE k PASSWORD = 'y'",
        "ALTER TABLE k CONNECTION = 'other'",
        "SHOW CREATE TABLE k",
        "ALTER TABLE k CONNECTION = ''",
        "SHOW CREATE TABLE k",
    ];
    same_answers("comments_and_options", STATEMENTS);
}

/// An INSERT may read its own table under another name, and sees the rows before.
#[test]
fn an_insert_reads_its_table_under_another_name() {
    const STATEMENTS: &[&str] = &[
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)",
        "INSERT INTO t (n) VALUES (5), (7)",
        "CREATE VIEW v AS SELECT * FROM t",
        "INSERT INTO t (n) VALUES ((SELECT MAX(n) FROM t))",
        "INSERT INTO t (n) VALUES ((SELECT MAX(n) FROM d.t))",
        "INSERT INTO t (n) VALUES ((SELECT MAX(n) FROM t x))",
        "INSERT INTO t (n) VALUES ((SELECT MAX(n) FROM t T))",
        "INSERT INTO t (n) VALUES (99), ((SELECT MAX(n) FROM t x))",
        "INSERT INTO t (n) VALUES (1 + (SELECT MAX(n) FROM t x)), (1 + (SELECT MAX(n) FROM t x))",
        "INSERT INTO t SET n = (SELECT COUNT(*) FROM t x)",
        "REPLACE INTO t (id, n) VALUES (1, (SELECT COUNT(*) FROM t x))",
        "INSERT INTO t (n) VALUES ((SELECT x.n FROM t x, t LIMIT 1))",
        "INSERT INTO v (n) VALUES ((SELECT MAX(n) FROM t x))",
        "INSERT INTO v (n) VALUES ((SELECT MAX(n) FROM t))",
        "INSERT INTO v (n) VALUES ((SELECT MAX(n) FROM v x))",
        "INSERT INTO t (n) VALUES ((SELECT MAX(n) FROM v x))",
        "UPDATE t SET n = (SELECT MAX(n) FROM t x)",
        "SELECT * FROM t",
    ];
    same_answers("an_insert_reads_its_table", STATEMENTS);
}

/// Characters by their numbers, in the character set that is named.
#[test]
fn characters_of_numbers() {
    const STATEMENTS: &[&str] = &[
        "SELECT HEX(CHAR(233 USING utf16)), CHAR(233 USING utf16), HEX(CHAR(0, 233 USING utf16))",
        "SELECT HEX(CHAR(65, 66 USING utf16)), HEX(CHAR(0x1F40D USING utf32)), HEX(CHAR(65 USING utf32))",
        "SELECT HEX(CHAR(0xD83DDC0D USING utf16)), HEX(CHAR(0x41)), HEX(CHAR(1.5, NULL, '66' USING utf16))",
        "SELECT HEX(CHAR(65, 0xD800, 66 USING utf16))",
        "SELECT HEX(CHAR(233 USING utf8mb4)), HEX(CHAR(0xC3A9 USING utf8mb4)), HEX(CHAR(233 USING latin1))",
        "SET sql_mode = ''",
        "SELECT HEX(CHAR(65, 0xD800, 66 USING utf16)), HEX(CHAR(65, 233, 66 USING utf8mb4))",
        "SELECT COERCIBILITY(CHAR(65 USING utf16)), COERCIBILITY(CONVERT('a' USING utf16)), CHAR(65 USING nothing)",
        "SELECT COERCIBILITY(CHAR(65 USING utf16)), COERCIBILITY(CONVERT('a' USING utf16))",
    ];
    same_answers("characters_of_numbers", STATEMENTS);
}

/// An index that begins with a foreign key's columns serves it unless one of them descends.
#[test]
fn a_descending_index_is_none_of_a_foreign_key() {
    const STATEMENTS: &[&str] = &[
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE p (id INT PRIMARY KEY)",
        "CREATE TABLE a (a INT, KEY k (a DESC), CONSTRAINT x FOREIGN KEY (a) REFERENCES p (id))",
        "SHOW CREATE TABLE a",
        "CREATE TABLE b (a INT, b INT, CONSTRAINT y FOREIGN KEY (a) REFERENCES p (id))",
        "CREATE INDEX i ON b (a DESC, b)",
        "SHOW CREATE TABLE b",
        "DROP INDEX i ON b",
        "CREATE INDEX i ON b (a, b DESC)",
        "SHOW CREATE TABLE b",
        "CREATE TABLE c (a INT, KEY k (a), CONSTRAINT z FOREIGN KEY (a) REFERENCES p (id))",
        "CREATE INDEX i ON c (a DESC)",
        "DROP INDEX k ON c",
        "DROP INDEX i ON c",
        "SHOW CREATE TABLE c",
    ];
    same_answers("a_descending_index", STATEMENTS);
}

/// `sql_select_limit` is about the queries that a client sends, and not about those within others.
#[test]
fn queries_without_a_limit_have_that_of_the_session() {
    let answers = same_answers(
        "sql_select_limit",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT)",
            "INSERT INTO t VALUES (1), (2), (3), (4)",
            "CREATE PROCEDURE p() SELECT a FROM t",
            "SET sql_select_limit = 2",
            "SELECT a FROM t",
            "SELECT a FROM t ORDER BY a DESC",
            "SELECT a FROM t LIMIT 3",
            "SELECT a FROM t UNION ALL SELECT a FROM t",
            "(SELECT a FROM t)",
            "SELECT (SELECT COUNT(*) FROM t), a FROM t",
            "SELECT COUNT(*) FROM (SELECT * FROM t) d",
            "VALUES ROW(1), ROW(2), ROW(3)",
            "TABLE t",
            "WITH c AS (SELECT * FROM t) SELECT * FROM c",
            "CALL p()",
            "PREPARE s FROM 'SELECT a FROM t'",
            "EXECUTE s",
            "SET sql_select_limit = 3",
            "EXECUTE s",
            "CREATE TABLE u AS SELECT * FROM t",
            "INSERT INTO u SELECT * FROM t",
            "SELECT COUNT(*) FROM u",
            "SET sql_select_limit = 0",
            "SELECT a FROM t",
            "SET sql_select_limit = DEFAULT",
            "SELECT a FROM t",
        ],
    );
    assert!(answers.contains(&"SELECT a FROM t: 1 2".to_owned()), "{answers:#?}");
}

#[test]
fn definitions_have_the_quotes_of_sql_mode() {
    let answers = same_answers(
        "ansi_quotes",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (`a``b` INT COMMENT 'x`y', `c\"d` VARCHAR(20) DEFAULT 'it''s `q`', KEY (`a``b`))",
            "CREATE VIEW v AS SELECT `a``b` AS `z\"`, 'x`y' AS l FROM t",
            "SET sql_mode = 'ANSI_QUOTES'",
            "SHOW CREATE TABLE t",
            "SHOW CREATE VIEW v",
            "SHOW CREATE TABLE v",
            "SHOW CREATE DATABASE d",
            "SET sql_mode = ''",
            "SHOW CREATE TABLE t",
        ],
    );
    assert!(answers[5].contains("CREATE TABLE \"t\""), "{answers:#?}");
}

#[test]
fn help_is_what_the_help_tables_have() {
    let answers = same_answers(
        "statements_like_mysql::help_is_what_the_help_tables_have",
        &[
            "DELETE FROM mysql.help_topic",
            "DELETE FROM mysql.help_category",
            "DELETE FROM mysql.help_keyword",
            "DELETE FROM mysql.help_relation",
            "HELP 'select'",
            "HELP contents",
            "INSERT INTO mysql.help_category VALUES (1, 'Functions', 0, ''), (2, 'Bit Functions', 1, ''), \
             (3, 'Date Functions', 1, ''), (4, 'Empty', 0, '')",
            "INSERT INTO mysql.help_topic VALUES (1, 'BIT_COUNT', 2, 'counts bits', 'BIT_COUNT(3)', ''), \
             (2, '&', 2, 'and', '', ''), (3, 'BITS', 1, 'of all', '', ''), (4, 'NOW', 3, 'time', '', ''), \
             (5, '~', 2, 'not', '', '')",
            "INSERT INTO mysql.help_keyword VALUES (1, 'CLOCK'), (2, 'MANY'), (3, 'LONELY'), (4, 'CLOTH')",
            "INSERT INTO mysql.help_relation VALUES (4, 1), (1, 2), (2, 2)",
            "HELP 'now'",
            "HELP NOW",
            "HELP 'bit%'",
            "HELP 'Bit Functions'",
            "HELP 'functions'",
            "HELP '%functions'",
            "HELP 'clock'",
            "HELP 'clo%'",
            "HELP 'many'",
            "HELP 'lonely'",
            "HELP 'empty'",
            "HELP 'nosuch'",
            "HELP ''",
            "HELP '_'",
            "HELP",
            "HELP 'a' 'b'",
            "PREPARE s FROM 'HELP ''now'''",
        ],
    );
    assert!(answers[13].contains("Bit Functions,&,N"), "{answers:#?}");
}
