//! Tests with statements as a careless or malicious client might send them. They must be parsed or
//! refused without a panic, however deeply they are nested.

use os::random::{Rng, test_seed};

use super::parse;
use crate::lexer::LexMode;

const CASES: [&str; 6] = [
    include_str!("../../tests/cases/changes.sql"),
    include_str!("../../tests/cases/dates.sql"),
    include_str!("../../tests/cases/definitions.sql"),
    include_str!("../../tests/cases/expressions.sql"),
    include_str!("../../tests/cases/queries.sql"),
    include_str!("../../tests/cases/strings.sql"),
];

const MORE: &str = "CHANGE REPLICATION SOURCE TO SOURCE_HOST='h', SOURCE_PORT=3306, SOURCE_AUTO_POSITION=1
SHOW REPLICA STATUS FOR CHANNEL 'c'
START REPLICA SQL_THREAD
PURGE BINARY LOGS TO 'binlog.000003'
SET GLOBAL a.b = 1, @@SESSION.sql_mode = DEFAULT, @x := 'y', PERSIST max_connections = 5
GRANT SELECT, INSERT (a, b) ON `db`.* TO 'u'@'%' WITH GRANT OPTION
CREATE USER 'u'@'localhost' IDENTIFIED WITH caching_sha2_password BY 'secret' PASSWORD EXPIRE NEVER
ALTER TABLE t ADD COLUMN (x INT, y DECIMAL(10,2) DEFAULT 1.5), DROP INDEX k, RENAME TO u, ENGINE = InnoDB
CREATE TABLE t (a INT UNSIGNED ZEROFILL NOT NULL AUTO_INCREMENT PRIMARY KEY, b ENUM('x','y') CHARACTER SET latin1 COLLATE latin1_bin, KEY k (b(1) DESC) USING BTREE COMMENT 'c') ROW_FORMAT=DYNAMIC
/*!50003 SELECT */ 1 /* comment */ + 2 -- rest
SELECT SQL_NO_CACHE DISTINCT a.*, COUNT(*) c FROM a LEFT JOIN b USING (x) WHERE a.x IN (SELECT 1) GROUP BY 1 HAVING c > 1 ORDER BY c DESC LIMIT 5, 10 FOR UPDATE SKIP LOCKED
INSERT INTO t (a, b) VALUES (1, 'x'), (DEFAULT, NULL) ON DUPLICATE KEY UPDATE a = VALUES(a) + 1
BINLOG 'AAAA'
SHOW BINLOG EVENTS IN 'f' FROM 4 LIMIT 1, 2";

fn modes() -> [LexMode; 3] {
    let strange = LexMode {
        ansi_quotes: true,
        no_backslash_escapes: true,
        pipes_as_concat: true,
        real_as_float: true,
        oracle: true,
        empty_is_null: true,
        of_source: true,
        of_mysql: false,
    };
    [LexMode::default(), LexMode { of_source: true, ..LexMode::default() }, strange]
}

#[test]
fn damaged_statements_are_parsed_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_statements_are_parsed_or_refused"));
    let statements: Vec<&str> = CASES.iter().flat_map(|case| case.lines()).chain(MORE.lines()).collect();
    for _ in 0..60_000 {
        let statement = *rng.pick(&statements);
        let mut text = rng.damaged(statement.as_bytes());
        if rng.one_in(3) {
            // The text becomes the beginning of one statement and the end of another, so that the
            // parser knows its tokens.
            let other = rng.pick(&statements).as_bytes();
            let from = rng.below(other.len() as u64 + 1) as usize;
            let to = rng.below(text.len() as u64 + 1) as usize;
            text.splice(to.., other[from..].iter().copied());
        }
        let mode = *rng.pick(&modes());
        if let Ok(Some(parsed)) = parse(&text, mode) {
            assert!(parsed.end <= text.len() && parsed.next <= text.len());
            let _ = format!("{:?}", parsed.statement);
        }
    }
}

#[test]
fn statements_nested_without_end_are_refused() {
    let nestings = [
        ("(", ")"),
        ("NOT ", ""),
        ("- ", ""),
        ("~", ""),
        ("! ", ""),
        ("BINARY ", ""),
        ("CASE WHEN 1 THEN ", " END"),
        ("ABS(", ")"),
        ("CAST(", " AS SIGNED)"),
        ("(SELECT ", ")"),
        ("1 IN (", ")"),
        ("EXISTS (SELECT ", ")"),
        ("1 + (", ")"),
        ("INTERVAL 1 DAY + ", ""),
        ("1 LIKE ", ""),
        ("1 BETWEEN 1 AND ", ""),
        ("(1, ", ")"),
        ("_utf8mb4 ", ""),
    ];
    for (before, after) in nestings {
        for depth in [100, 10_000, 300_000] {
            println!("{before} {depth}");
            let text = format!("SELECT {}1{}", before.repeat(depth), after.repeat(depth));
            let _ = parse(text.as_bytes(), LexMode::default()).is_ok();
        }
    }
    for repeated in
        ["SELECT 1 FROM (", "SELECT * FROM a JOIN (", "/*! ", "SELECT 1 UNION ", "(", "WITH a AS ("]
    {
        println!("{repeated}");
        let text = repeated.repeat(100_000);
        let _ = parse(text.as_bytes(), LexMode::default()).is_ok();
    }
    for operator in
        [" + 1", " AND 1", " = 1", " || 1", " IS NULL", " COLLATE utf8mb4_bin", ", 1", " UNION SELECT 1"]
    {
        println!("{operator}");
        let text = format!("SELECT 1{}", operator.repeat(100_000));
        // A tree that is deep on its left side must be dropped without a stack of that depth, too.
        let _ = parse(text.as_bytes(), LexMode::default()).is_ok();
    }
}
