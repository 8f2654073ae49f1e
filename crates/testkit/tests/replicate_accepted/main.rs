//! Tests of statements that a source accepts and that would be refused, or mean something else, if
//! they were a client's: foreign keys in engines that have none, names in another character set
//! than the one that the event names, tables like temporary ones, columns without a value,
//! conversions of partitions, and statements that a constraint ends half way. The replica goes on,
//! and shows and holds what the source does.

mod definitions;
mod values;

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use protocol::client::ClientError;
use testkit::schema::{Catalog, differences, picture};
use testkit::{Replica, Server};

/// The name of the source's database, with which the names of what is compared begin.
const DATABASE: &str = "accepted";

/// What stands before a statement that the source refuses half way.
const REFUSED: &str = "refused: ";

/// Runs the statements at a source with each of these binary log formats, and compares what its
/// replica shows and holds.
fn same_behind(test: &str, flavor: Flavor, formats: &[&str], statements: &[&str]) {
    if !testkit::available(&format!("replicate_accepted::{test}"), &[flavor]) {
        return;
    }
    for format in formats {
        let mut settings = Settings::default();
        settings.extra.push(format!("--binlog-format={format}"));
        let source = Server::start(flavor, &settings);
        let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
        replica.follow(flavor, source.port(), &StartFrom::Position(source.position()));
        let mut session = source.connect();
        session.query("SET NAMES utf8mb4").expect("may be set");
        for sql in [&format!("CREATE DATABASE {DATABASE}"), &format!("USE {DATABASE}")] {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        for sql in statements {
            match (session.query(sql.trim_start_matches(REFUSED)), sql.starts_with(REFUSED)) {
                (Ok(_), false) => {}
                (Err(ClientError::Server(_)), true) => {}
                (Err(error), _) => panic!("{sql}: {error}"),
                (Ok(_), true) => panic!("{sql}: was carried out"),
            }
        }
        replica.catch_up(&source);
        let catalog = Catalog::read(&mut session, DATABASE).expect("the source answers");
        assert!(!catalog.tables.is_empty(), "there is something to compare");
        let theirs = picture(&source, &catalog, flavor).expect("the source answers");
        let ours = picture(&replica, &catalog, flavor).expect("the replica answers");
        let found = differences(&theirs, &ours);
        assert!(found.is_empty(), "{test} {format}: {found:#?}");
    }
}

const FOREIGN_KEYS: &[&str] = &[
    "CREATE TABLE p (a INT PRIMARY KEY)",
    "INSERT INTO p VALUES (1), (2)",
    "CREATE TABLE c1 (a INT, FOREIGN KEY (a) REFERENCES p (a) ON DELETE CASCADE) ENGINE=MyISAM",
    "INSERT INTO c1 VALUES (1), (5)",
    "CREATE TABLE c2 (a INT, b VARCHAR(5), CONSTRAINT x FOREIGN KEY (b) REFERENCES p (a)) ENGINE=MyISAM",
    "CREATE TABLE c3 (a INT, FOREIGN KEY (a) REFERENCES nowhere (a)) ENGINE=MyISAM",
    "DELETE FROM p WHERE a = 1",
    "ALTER TABLE c1 ADD b INT, ADD FOREIGN KEY (b) REFERENCES p (nothing)",
    "ALTER TABLE c1 ENGINE=InnoDB",
    "INSERT INTO c1 VALUES (7, 8)",
    "DROP TABLE p",
];

#[test]
fn foreign_keys_in_engines_of_mysql_without_them_are_indexes() {
    same_behind("foreign_keys_of_mysql", Flavor::MySql, &["ROW", "STATEMENT"], FOREIGN_KEYS);
}

#[test]
fn foreign_keys_in_engines_of_mariadb_without_them_are_indexes() {
    let blobs = [
        "CREATE TABLE f1 (b BLOB(10), c TEXT, h INT, FOREIGN KEY (b) REFERENCES f1 (h)) ENGINE=Aria",
        "CREATE TABLE f2 (b BLOB, c TEXT, h INT, FOREIGN KEY k (c) REFERENCES f1 (h)) ENGINE=MyISAM",
        "CREATE TABLE f3 (b TINYBLOB, c TINYTEXT CHARACTER SET utf8mb4, h INT, \
         FOREIGN KEY (b) REFERENCES f1 (h), FOREIGN KEY (c) REFERENCES f1 (h)) ENGINE=MyISAM",
        "CREATE TABLE f4 (b BLOB, h INT) ENGINE=Aria",
        "ALTER TABLE f4 ADD CONSTRAINT x FOREIGN KEY y (b) REFERENCES f1 (h)",
        "INSERT INTO f4 VALUES ('a', 1), ('b', 2)",
    ];
    let statements = [FOREIGN_KEYS, &blobs].concat();
    same_behind("foreign_keys_of_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn names_that_mariadb_writes_in_utf8_for_a_session_in_latin1_are_the_same() {
    let statements = [
        "SET NAMES latin1",
        "CREATE TABLE `größe` (a INT)",
        "CREATE OR REPLACE TABLE `cü` AS SELECT 1 AS `ö`, 'ü' AS s",
        "CREATE TABLE `cü2` SELECT * FROM `cü`",
        "INSERT INTO `cü2` VALUES (2, 'ß')",
        "CREATE TEMPORARY TABLE `tümp` (`ä` INT)",
        "DROP TEMPORARY TABLE `tümp`",
        "RENAME TABLE `größe` TO `größe2`",
        "DROP TABLE `größe2`",
        "SET NAMES utf8mb4",
    ];
    same_behind("names", Flavor::MariaDb, &["ROW", "MIXED", "STATEMENT"], &statements);
}

/// Defaults with introducers, whose bytes are those that the client has sent.
const INTRODUCED: &[&str] = &[
    "CREATE TABLE a (c VARCHAR(70) DEFAULT _latin1'é')",
    "INSERT INTO a VALUES ()",
    "CREATE TABLE b (c VARCHAR(70) CHARSET latin1 DEFAULT _latin1'é', d VARCHAR(70) DEFAULT _latin1'é', \
     e VARCHAR(9) CHARSET latin1 DEFAULT 'é', f VARCHAR(9) CHARSET latin1 DEFAULT _utf8mb4'é', \
     g VARCHAR(9) CHARSET latin1 DEFAULT _binary'é', h VARCHAR(9) DEFAULT _binary'é', \
     i VARCHAR(9) CHARSET latin1 DEFAULT _latin1 x'e9', j VARBINARY(9) DEFAULT _latin1'é')",
    "INSERT INTO b VALUES ()",
    "ALTER TABLE b ADD k VARCHAR(9) DEFAULT _latin1'ü', ALTER e SET DEFAULT _latin1'ö'",
    "SET NAMES latin1",
    "CREATE TABLE l (c VARCHAR(70) DEFAULT _utf8mb4'é', d VARCHAR(70) DEFAULT _latin1'é', e VARCHAR(9) DEFAULT 'é')",
    "INSERT INTO l VALUES ()",
    "SET NAMES utf8mb4",
];

#[test]
fn defaults_with_introducers_are_the_bytes_that_clients_of_mysql_have_sent() {
    same_behind("introduced_mysql", Flavor::MySql, &["ROW", "STATEMENT"], INTRODUCED);
}

#[test]
fn defaults_with_introducers_are_the_bytes_that_clients_of_mariadb_have_sent() {
    let statements = [&["ALTER DATABASE CHARACTER SET utf8mb4"], INTRODUCED].concat();
    same_behind("introduced_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn checks_of_mysql_are_shown_in_the_order_of_their_names_in_either_case() {
    let statements = [
        "CREATE TABLE ck (a INT, CONSTRAINT zz CHECK (a > 1), CHECK (a > 2), CONSTRAINT B CHECK (a > 3), \
         CONSTRAINT a9 CHECK (a > 4), CONSTRAINT `é` CHECK (a > 5), CONSTRAINT k_ CHECK (a > 6), CONSTRAINT K1 CHECK (a > 7), \
         CONSTRAINT ka CHECK (a > 8))",
        "RENAME TABLE ck TO T0",
        "ALTER TABLE T0 ADD CONSTRAINT b2 CHECK (a > 9)",
        "CREATE TABLE wide (a TINYTEXT CHARSET ucs2, b TEXT(70000) CHARSET ucs2, c LONGTEXT CHARSET utf32)",
    ];
    same_behind("checks", Flavor::MySql, &["ROW"], &statements);
}

#[test]
fn compressed_stands_anywhere_among_the_attributes_of_a_column_of_mariadb() {
    let statements = [
        "CREATE TABLE a (a TEXT CHARSET latin1 COLLATE latin1_bin COMPRESSED, b TEXT COMPRESSED COLLATE latin1_bin, \
         c VARCHAR(2000) COMPRESSED=zlib CHARSET latin1, d TEXT COLLATE latin1_bin NOT NULL COMPRESSED)",
        "INSERT INTO a VALUES (REPEAT('a', 500), REPEAT('b', 500), REPEAT('c', 500), REPEAT('d', 500))",
    ];
    same_behind("compressed", Flavor::MariaDb, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn a_column_of_mariadb_that_is_added_and_modified_is_the_last_one() {
    let alterations = [
        "ADD x LONG VARBINARY NOT NULL FIRST, MODIFY x BLOB NOT NULL",
        "ADD x INT AFTER a, MODIFY x BLOB NOT NULL FIRST",
        "ADD x INT FIRST, MODIFY x BLOB AFTER a",
        "ADD x INT FIRST, ALTER x SET DEFAULT 5",
        "ADD x INT, MODIFY x BLOB, ADD y INT",
        "ADD x INT FIRST, MODIFY a BIGINT, MODIFY x BLOB, MODIFY x BIGINT",
        "ADD x INT FIRST, ADD y INT FIRST, MODIFY x BLOB, MODIFY y BLOB",
    ];
    let mut statements = Vec::new();
    for (at, alteration) in alterations.iter().enumerate() {
        statements.push(format!("CREATE TABLE t{at} (a INT, b INT)"));
        statements.push(format!("INSERT INTO t{at} VALUES (1, 2)"));
        statements.push(format!("ALTER TABLE t{at} {alteration}"));
        statements.push(format!("UPDATE t{at} SET b = 3"));
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_behind("added_and_modified", Flavor::MariaDb, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn null_is_no_default_of_an_auto_increment_column_and_no_error() {
    let statements = [
        "CREATE TABLE a (a SERIAL NULL DEFAULT NULL, c INT NOT NULL UNIQUE KEY)",
        "INSERT INTO a (c) VALUES (1), (2)",
        "CREATE TABLE b (a SERIAL DEFAULT NULL)",
        "CREATE TABLE c (a INT NULL DEFAULT NULL AUTO_INCREMENT UNIQUE KEY)",
        "INSERT INTO c VALUES (NULL)",
        "CREATE TEMPORARY TABLE d (a SERIAL NULL DEFAULT NULL)",
        "DROP TEMPORARY TABLE d",
    ];
    same_behind("null_default", Flavor::MySql, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn columns_of_queries_of_mysql_have_zero_dates_where_it_is_not_strict() {
    let columns = "SELECT NOW() AS at, CURDATE() AS c, CURTIME() AS t, NOW(3) AS n3, DATE'2001-01-01' AS d, 'a' AS x, \
                   5 AS i, 1.5 AS f, m.d AS md, COALESCE(m.d, m.d) AS co FROM m";
    let of_mode = |mode: &str, table: &str| {
        [format!("SET sql_mode = '{mode}'"), format!("CREATE TABLE {table} {columns}")]
    };
    let mut statements = vec!["CREATE TABLE m (d DATE NOT NULL)".to_owned()];
    for (mode, table) in
        [("", "a"), ("NO_ZERO_DATE", "b"), ("STRICT_TRANS_TABLES", "c"), ("TRADITIONAL", "d")]
    {
        statements.extend(of_mode(mode, table));
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_behind("zero_dates", Flavor::MySql, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn a_day_that_its_month_does_not_have_is_compared_as_at_mariadb() {
    let compared = |column: &str| {
        let tests =
            ["= '2020-02-31'", "< '2020-02-31'", "> '2020-02-31'", "<> '2020-02-31'", "> '2020-00-00'"];
        let tests = tests.map(|test| format!("{column} {test}")).join(", ");
        format!(
            "INSERT INTO n (c) SELECT CONCAT_WS(',', {column}, {tests}, {column} IN ('2020-02-31', '2020-03-05'), \
             {column} BETWEEN '2020-02-31' AND '2020-03-31') FROM dd ORDER BY id"
        )
    };
    let statements = [
        "CREATE TABLE dd (id INT PRIMARY KEY, d DATE, t DATETIME, KEY (d))".to_owned(),
        "CREATE TABLE n (k INT PRIMARY KEY AUTO_INCREMENT, c VARCHAR(200))".to_owned(),
        "SET sql_mode = ''".to_owned(),
        "INSERT INTO dd VALUES (1, '0000-00-00', '0000-00-00'), (2, '2020-02-29', '2020-02-29 10:00:00'), \
         (3, '2020-03-05', '2020-03-05'), (4, '2020-00-00', '2020-00-00')"
            .to_owned(),
        compared("d"),
        compared("t"),
        "SET sql_mode = DEFAULT".to_owned(),
        compared("d"),
        "UPDATE dd SET t = NULL WHERE d = '2020-02-31'".to_owned(),
        "UPDATE dd SET t = '2021-01-01' WHERE d < '2020-02-31'".to_owned(),
        "DELETE FROM dd WHERE d > '2020-02-31'".to_owned(),
    ];
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_behind("days", Flavor::MariaDb, &["STATEMENT"], &statements);
}

/// Statements of a session whose `default_storage_engine` has no foreign keys. The source does not
/// log this variable.
const OF_THE_SESSIONS_ENGINE: &[&str] = &[
    "CREATE TABLE p (a INT PRIMARY KEY) ENGINE=InnoDB PARTITION BY HASH (a) PARTITIONS 2",
    "CREATE TABLE whole (a INT PRIMARY KEY) ENGINE=InnoDB",
    "SET default_storage_engine = MyISAM",
    "CREATE TABLE c1 (a INT, FOREIGN KEY (a) REFERENCES p (a) ON DELETE CASCADE)",
    "INSERT INTO p VALUES (1), (2)",
    "INSERT INTO c1 VALUES (1), (5)",
    "DELETE FROM p WHERE a = 1",
    "CREATE TABLE c2 (a INT, FOREIGN KEY (a) REFERENCES whole (nothing))",
    "CREATE TABLE c3 (a VARCHAR(9), b TEXT, FOREIGN KEY (a) REFERENCES whole (a), FOREIGN KEY (b) REFERENCES p (a))",
    "CREATE TABLE c4 (a INT NOT NULL, FOREIGN KEY (a) REFERENCES nowhere (a) ON DELETE SET NULL)",
    "CREATE TABLE c5 (a INT, b INT) ENGINE=MyISAM",
    "ALTER TABLE c5 ADD FOREIGN KEY x (a, b) REFERENCES p (a, c)",
    "ALTER TABLE c1 ADD b INT, ADD CONSTRAINT y FOREIGN KEY (b) REFERENCES nowhere (a)",
    "ALTER TABLE c1 DROP FOREIGN KEY y",
    "INSERT INTO c1 VALUES (7, 8)",
    "DROP TABLE p",
];

#[test]
fn foreign_keys_that_only_the_sessions_engine_of_mysql_takes_are_indexes() {
    let statements: Vec<&str> =
        OF_THE_SESSIONS_ENGINE.iter().filter(|sql| !sql.contains("TEXT")).copied().collect();
    same_behind("sessions_engine_mysql", Flavor::MySql, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn foreign_keys_that_only_the_sessions_engine_of_mariadb_takes_are_indexes() {
    let statements: Vec<&str> =
        OF_THE_SESSIONS_ENGINE.iter().filter(|sql| !sql.contains("DROP FOREIGN KEY")).copied().collect();
    same_behind("sessions_engine_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], &statements);
}

/// Statements of which MySQL and MariaDB write some parts in utf8mb4 and leave others in the
/// characters of the session. The bytes of these names are other letters in latin1 and in gbk.
/// Programs are dropped again, because both servers show their own mixed texts wrongly.
fn with_names_in(charset: &str) -> Vec<String> {
    let set = format!("SET NAMES {charset}");
    let statements = [
        &set,
        "CREATE TABLE `测试` (`试测` INT, s VARCHAR(9) DEFAULT '测试') COMMENT '测试'",
        "INSERT INTO `测试` VALUES (1, '测试')",
        "CREATE VIEW `试测` (`测试`, x) AS SELECT `试测`, '测试' FROM `测试`",
        "ALTER VIEW `试测` (`测测`, x) AS SELECT `试测`, '测试' FROM `测试`",
        "CREATE VIEW `测测` AS SELECT * FROM `试测`",
        "CREATE OR REPLACE VIEW `测测` AS SELECT `试测` FROM `测试`",
        "DROP VIEW `试测`",
        "CREATE TEMPORARY TABLE `试试` (`测试` INT DEFAULT 3 COMMENT '测试')",
        "CREATE TABLE `测试测试` LIKE `试试`",
        "INSERT INTO `测试测试` VALUES (5)",
        "DROP TEMPORARY TABLE `试试`",
        "CREATE TABLE `试测试测` LIKE `测试`",
        "CREATE TABLE `试测测试` (`测试` INT COMMENT '测试') SELECT `试测` FROM `测试`",
        "CREATE PROCEDURE `测试`(`测试` VARCHAR(10)) COMMENT '测试' SELECT '测试', `测试`",
        "DROP PROCEDURE `测试`",
        "CREATE FUNCTION `测试`(`测试` VARCHAR(10)) RETURNS VARCHAR(10) DETERMINISTIC COMMENT '测试' RETURN '测试'",
        "DROP FUNCTION `测试`",
        "CREATE TRIGGER `测试` BEFORE INSERT ON `测试` FOR EACH ROW SET @a = '测试'",
        "DROP TRIGGER `测试`",
        "CREATE EVENT `测试` ON SCHEDULE EVERY 1 DAY COMMENT '测试' DO SELECT '测试'",
        "DROP EVENT `测试`",
        "RENAME TABLE `试测试测` TO `测测试试`",
        "DROP TABLE `试测测试`",
        "SET NAMES utf8mb4",
    ];
    statements.map(str::to_owned).to_vec()
}

#[test]
fn names_that_mysql_writes_in_utf8_for_sessions_in_other_characters_are_the_same() {
    for charset in ["latin1", "gbk"] {
        let statements = with_names_in(charset);
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        same_behind(&format!("names_{charset}"), Flavor::MySql, &["ROW", "MIXED", "STATEMENT"], &statements);
    }
}

#[test]
fn names_that_mariadb_writes_in_utf8_for_sessions_in_other_characters_are_the_same() {
    for charset in ["latin1", "gbk"] {
        let mut statements = with_names_in(charset);
        statements.insert(0, "ALTER DATABASE CHARACTER SET utf8mb4".to_owned());
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        same_behind(
            &format!("names_{charset}"),
            Flavor::MariaDb,
            &["ROW", "MIXED", "STATEMENT"],
            &statements,
        );
    }
}

#[test]
fn a_table_like_a_temporary_one_of_the_session_is_made() {
    let statements = [
        "CREATE TEMPORARY TABLE tt (a INT NOT NULL DEFAULT 7, b VARCHAR(9) CHARSET latin1, KEY (b))",
        "INSERT INTO tt VALUES (1, 'x')",
        "CREATE TABLE lt LIKE tt",
        "CREATE TABLE IF NOT EXISTS lt LIKE tt",
        "INSERT INTO lt (b) VALUES ('é')",
        "CREATE OR REPLACE TABLE lt2 LIKE tt",
        "CREATE OR REPLACE TABLE lt2 LIKE tt",
        "INSERT INTO lt2 SELECT * FROM tt",
        "DROP TEMPORARY TABLE tt",
    ];
    same_behind("like_temporary", Flavor::MariaDb, &["ROW", "MIXED", "STATEMENT"], &statements);
}

#[test]
fn a_column_that_on_duplicate_key_update_assigns_needs_no_value_at_mariadb() {
    let statements = [
        "CREATE TABLE t (a INT NOT NULL, b INT UNIQUE)",
        "INSERT INTO t () VALUES () ON DUPLICATE KEY UPDATE a = 5",
        "INSERT INTO t (b) VALUES (3), (3), (4) ON DUPLICATE KEY UPDATE a = a + 5",
    ];
    same_behind("on_duplicate", Flavor::MariaDb, &["MIXED", "STATEMENT"], &statements);
}

#[test]
fn partitions_of_mariadb_become_tables_and_tables_become_partitions() {
    let statements = [
        "CREATE TABLE r (a INT, b VARCHAR(9), KEY (a)) PARTITION BY RANGE (a) \
         (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN (30))",
        "INSERT INTO r VALUES (1, 'a'), (11, 'b'), (12, 'c'), (21, 'd'), (NULL, 'e')",
        "ALTER TABLE r CONVERT PARTITION p1 TO TABLE r1",
        "INSERT INTO r1 VALUES (100, 'f')",
        "ALTER TABLE r CONVERT PARTITION p2 TO TABLE r2",
        "ALTER TABLE r CONVERT TABLE r2 TO PARTITION p3 VALUES LESS THAN (30)",
        "INSERT INTO r VALUES (22, 'g')",
        "CREATE TABLE l (a INT PRIMARY KEY) PARTITION BY LIST (a) \
         (PARTITION one VALUES IN (1), PARTITION two VALUES IN (2))",
        "INSERT INTO l VALUES (1)",
        // Neither the partition nor the table has a row.
        "ALTER TABLE l CONVERT PARTITION two TO TABLE l2",
        "ALTER TABLE l CONVERT TABLE l2 TO PARTITION three VALUES IN (3)",
        "INSERT INTO l VALUES (3)",
    ];
    same_behind("conversions", Flavor::MariaDb, &["ROW", "STATEMENT"], &statements);
}

const CHECKED: &[&str] = &[
    "CREATE TABLE m (a INT CHECK (a > 0), b INT, CONSTRAINT c CHECK (a < b)) ENGINE=MyISAM",
    "refused: INSERT INTO m VALUES (1, 2), (2, 3), (-1, 5), (3, 4)",
    "refused: INSERT INTO m VALUES (5, 6), (6, 5), (3, 4)",
    "refused: UPDATE m SET a = a + 1, b = b - 1 ORDER BY a",
    "refused: UPDATE m SET b = IF(a = 2, 1, 9) ORDER BY a",
    "INSERT INTO m VALUES (7, 8)",
];

#[test]
fn a_check_of_mysql_ends_a_statement_at_the_row_at_which_it_did() {
    same_behind("checks_of_mysql", Flavor::MySql, &["STATEMENT", "MIXED"], CHECKED);
}

#[test]
fn a_check_of_mariadb_ends_a_statement_at_the_row_at_which_it_did() {
    let periods = [
        "CREATE TABLE n (a INT, s DATE, e DATE, PERIOD FOR p (s, e)) ENGINE=MyISAM",
        "refused: INSERT INTO n VALUES (1, '2020-01-01', '2020-01-02'), (2, '2020-01-01', '2019-01-01')",
    ];
    let statements = [CHECKED, &periods].concat();
    same_behind("checks_of_mariadb", Flavor::MariaDb, &["STATEMENT", "MIXED"], &statements);
}

#[test]
fn an_event_of_mariadb_keeps_its_end_when_alter_event_names_none() {
    let every =
        "ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ENDS '2031-01-01 00:00:00' DO SET @a = 1";
    let create = ["e1", "e2", "e3"].map(|name| format!("CREATE EVENT {name} {every}"));
    let mut statements: Vec<&str> = create.iter().map(String::as_str).collect();
    statements.extend([
        "CREATE TABLE t (a INT)",
        "ALTER EVENT e1 ON SCHEDULE EVERY 2 DAY STARTS '2029-01-01 00:00:00'",
        "ALTER EVENT e2 ON SCHEDULE AT '2033-01-01 00:00:00'",
        "ALTER EVENT e2 ON SCHEDULE EVERY 3 HOUR STARTS '2030-01-01 00:00:00'",
        "ALTER EVENT e3 ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ENDS '2035-01-01 00:00:00'",
    ]);
    same_behind("events", Flavor::MariaDb, &["ROW"], &statements);
}

#[test]
fn common_tables_in_views_of_mariadb_are_shown_without_quotes() {
    let statements = [
        "CREATE TABLE t (a INT, b INT)",
        "CREATE VIEW v1 AS WITH q AS (SELECT a AS c FROM t) SELECT * FROM q",
        "CREATE VIEW v2 AS WITH `q` AS (SELECT a AS c FROM t), größe AS (SELECT 1) SELECT c FROM `q` JOIN größe",
        "CREATE VIEW v3 AS SELECT a FROM t WHERE a = (WITH x AS (SELECT 2) SELECT * FROM x)",
    ];
    same_behind("common_tables", Flavor::MariaDb, &["ROW"], &statements);
}

const NULLABLE_NUMBERS: &[&str] = &[
    "CREATE TABLE a (a INT NOT NULL AUTO_INCREMENT UNIQUE KEY NULL, b INT)",
    "CREATE TABLE c (a INT NULL AUTO_INCREMENT UNIQUE KEY, b INT)",
    "INSERT INTO a (b) VALUES (1)",
    "INSERT INTO a VALUES (NULL, 2), (DEFAULT, 4)",
    "INSERT INTO a VALUES (0, 3), (0, 30)",
    "INSERT INTO a VALUES (NULL, 31), (0, 32), (DEFAULT, 33), (0, 34)",
    "INSERT INTO a SELECT NULL, 5",
    "INSERT INTO a SET b = 6",
    "UPDATE a SET a = NULL WHERE b = 3",
    "REPLACE INTO a (b) VALUES (7)",
    "INSERT IGNORE INTO a (a, b) VALUES (NULL, 8)",
    "INSERT IGNORE INTO a (a, b) VALUES (0, 9)",
    "INSERT INTO c VALUES (NULL, 1), (0, 2), (DEFAULT, 3)",
    "INSERT INTO c (b) VALUES (4)",
    "ALTER TABLE a ADD d INT",
];

#[test]
fn null_behind_auto_increment_of_mysql_makes_a_column_that_may_be_null() {
    same_behind("numbers_of_mysql", Flavor::MySql, &["ROW", "STATEMENT"], NULLABLE_NUMBERS);
}

#[test]
fn null_behind_auto_increment_of_mariadb_makes_a_column_that_may_be_null() {
    same_behind("numbers_of_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], NULLABLE_NUMBERS);
}

/// Rows that take the default of columns from which it was taken away.
const WITHOUT_DEFAULTS: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE t (k INT PRIMARY KEY, a INT, b VARCHAR(5), c INT NOT NULL)",
    "ALTER TABLE t ALTER a DROP DEFAULT, ALTER b DROP DEFAULT",
    "INSERT INTO t VALUES (1, DEFAULT, DEFAULT, DEFAULT)",
    "INSERT INTO t (k) VALUES (2)",
    "INSERT INTO t VALUES (3, DEFAULT, DEFAULT, DEFAULT) ON DUPLICATE KEY UPDATE a = 5",
    "INSERT INTO t VALUES (4, 1, 'x', 1)",
    "INSERT INTO t VALUES (4, 2, 'y', 2) ON DUPLICATE KEY UPDATE a = DEFAULT, c = DEFAULT",
    "REPLACE INTO t VALUES (1, DEFAULT, 'z', 3)",
];

/// Changes of rows to a default that was taken away. MySQL leaves a NULL where it is, gives zero to
/// other values, and NULL to rows that are changed after all of them were found.
const SET_TO_NO_DEFAULT: &[&str] = &[
    "UPDATE t SET a = 7, b = 'z' WHERE k > 2",
    "UPDATE t SET a = DEFAULT, b = DEFAULT, c = DEFAULT",
    "CREATE TABLE u LIKE t",
    "INSERT INTO u VALUES (1, 1, 'x', 1), (2, NULL, NULL, 2), (3, NULL, 'y', 3), (4, 5, NULL, 4)",
    "INSERT INTO u VALUES (1, 1, '', 1), (2, 2, '', 2) ON DUPLICATE KEY UPDATE a = DEFAULT, b = DEFAULT",
    "CREATE TABLE of_assigned LIKE t",
    "INSERT INTO of_assigned SELECT * FROM u",
    "UPDATE of_assigned SET a = NULL, a = DEFAULT, b = 'x', b = DEFAULT, c = COALESCE(a, 99)",
    "CREATE TABLE in_place LIKE t",
    "INSERT INTO in_place VALUES (1, 1, 'x', 1), (2, NULL, NULL, 2), (3, NULL, 'y', 3)",
    "CREATE TABLE found_first LIKE t",
    "INSERT INTO found_first SELECT * FROM in_place",
    "UPDATE in_place STRAIGHT_JOIN found_first SET in_place.a = DEFAULT, in_place.b = DEFAULT, \
     found_first.a = DEFAULT, found_first.b = DEFAULT, found_first.c = DEFAULT WHERE in_place.k = found_first.k",
    "CREATE VIEW v AS SELECT k, a AS x, b AS y FROM u",
    "UPDATE v SET x = 3, y = 'r' WHERE k = 1",
    "UPDATE v SET x = DEFAULT, y = DEFAULT",
    "SET sql_mode = DEFAULT",
    "UPDATE u SET a = 5, b = 'q' WHERE k > 2",
    "UPDATE IGNORE u SET a = DEFAULT, b = DEFAULT",
];

#[test]
fn a_column_of_mysql_whose_default_was_taken_away_is_null_where_it_may_be() {
    let statements = [WITHOUT_DEFAULTS, SET_TO_NO_DEFAULT].concat();
    same_behind("no_default_mysql", Flavor::MySql, &["STATEMENT"], &statements);
}

#[test]
fn a_column_of_mariadb_whose_default_was_taken_away_is_null_where_it_may_be() {
    same_behind("no_default_mariadb", Flavor::MariaDb, &["STATEMENT"], WITHOUT_DEFAULTS);
}

#[test]
fn a_text_that_is_no_address_of_mariadb_is_null_where_the_column_may_be() {
    let statements = [
        "CREATE TABLE t (k INT PRIMARY KEY, a INET4, b INET4 NOT NULL, c INET6, u UUID, v UUID NOT NULL)",
        "INSERT IGNORE INTO t VALUES (1, 'z', 'z', 'z', 'z', 'z')",
        "INSERT IGNORE INTO t VALUES (2, '::ffff:1.2.3.4', '::ffff:1.2.3.4', '1.2.3.4', '1', '1')",
        "SET sql_mode = ''",
        "INSERT INTO t VALUES (3, 'q', '', 'q', '', ''), (4, '1.2.3.4', '5.6.7.8', '::1', NULL, '')",
        "UPDATE t SET a = 'x', b = 'y' WHERE k = 4",
    ];
    same_behind("no_address", Flavor::MariaDb, &["STATEMENT"], &statements);
}

/// Conditions that find the zero date in columns that are NOT NULL, and conditions that do not.
const ZERO_DATES: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE z (k INT PRIMARY KEY, t DATETIME NOT NULL, d DATE NOT NULL, s TIMESTAMP NOT NULL, n DATE, \
     seen INT DEFAULT 0)",
    "INSERT INTO z VALUES (1, 0, 0, 0, 0, 0), (2, 20200101, 20200101, 20200101, NULL, 0), \
     (3, '2020-00-00', '2020-00-00', 0, '2020-01-00', 0)",
    "CREATE TABLE other (k INT PRIMARY KEY, d DATE NOT NULL)",
    "INSERT INTO other VALUES (1, 0), (2, 0), (4, 20200101)",
    "UPDATE z SET seen = seen + 1 WHERE d IS NULL AND k < 3",
    "UPDATE z SET seen = seen + 10 WHERE ISNULL(t)",
    "UPDATE z SET seen = seen + 100 WHERE NOT (d IS NOT NULL)",
    "UPDATE z SET seen = seen + 1000 WHERE s IS NULL",
    "UPDATE z SET seen = seen + 10000 WHERE (d IS NULL) = 1 OR n IS NULL",
    "UPDATE z SET seen = seen + 100000 WHERE d IS NULL OR k = 2",
    "UPDATE z LEFT JOIN other ON z.k = other.k SET seen = seen + 1000000 WHERE other.d IS NULL",
    "UPDATE z JOIN other ON z.k = other.k AND other.d IS NULL SET seen = seen + 10000000",
    "CREATE TABLE counted SELECT COUNT(*) AS n FROM other WHERE k IN (SELECT k FROM z WHERE d IS NULL)",
    "DELETE FROM other WHERE d IS NULL AND k = 1",
    "DELETE FROM z WHERE t IS NULL",
];

#[test]
fn a_date_of_mysql_that_may_not_be_null_is_found_as_null_when_it_is_zero() {
    same_behind("zero_dates_mysql", Flavor::MySql, &["STATEMENT"], ZERO_DATES);
}

#[test]
fn a_date_of_mariadb_that_may_not_be_null_is_found_as_null_when_it_is_zero() {
    same_behind("zero_dates_mariadb", Flavor::MariaDb, &["STATEMENT"], ZERO_DATES);
}

/// NULL in columns of members that are NOT NULL: MySQL's index 0, MariaDB's first member.
const NULL_MEMBERS: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE n (k INT, e ENUM('one', '', 'x') NOT NULL, f ENUM('one') NOT NULL, s SET('a', 'b') NOT NULL, \
     e_number INT AS (e + 0), f_number INT AS (f + 0))",
    "INSERT INTO n (k, e, f, s) VALUES (1, NULL, NULL, NULL), (2, DEFAULT, DEFAULT, DEFAULT)",
    "INSERT INTO n (k) VALUES (3)",
    "INSERT INTO n (k, e, f, s) VALUES (4, 'x', 'one', 'a')",
    "UPDATE n SET e = NULL, f = NULL, s = NULL WHERE k = 4",
];

#[test]
fn null_in_an_enum_that_may_not_be_null_is_no_member_or_the_first_one() {
    same_behind("null_members_mysql", Flavor::MySql, &["STATEMENT"], NULL_MEMBERS);
    same_behind("null_members_mariadb", Flavor::MariaDb, &["STATEMENT"], NULL_MEMBERS);
}

/// Literals with characters that the character set of `collation_connection` does not have.
const LOST_CHARACTERS: &[&str] = &[
    "ALTER DATABASE CHARACTER SET utf8mb4",
    "CREATE TABLE l (k INT PRIMARY KEY, a VARCHAR(9), e ENUM('?', 'x'))",
    "SET collation_connection = latin1_bin",
    "INSERT INTO l VALUES (1, '日本', '日'), (2, 'é', 'x'), (3, '日\\'é', 'x')",
    "INSERT INTO l SET k = 4, a = CONCAT('日', 'é')",
    "INSERT INTO l SELECT 5, 'ö日', '?'",
    "INSERT INTO l VALUES (6, _utf8mb4'日', 'x'), (7, X'E697A5', 'x')",
    "UPDATE l SET a = '語' WHERE a = 'é'",
    "SET NAMES utf8mb4",
    "INSERT INTO l VALUES (8, '日本', 'x')",
];

#[test]
fn literals_lose_the_characters_that_the_connection_does_not_have() {
    same_behind("lost_characters_mysql", Flavor::MySql, &["STATEMENT"], LOST_CHARACTERS);
    same_behind("lost_characters_mariadb", Flavor::MariaDb, &["STATEMENT"], LOST_CHARACTERS);
}

/// Statements in a table without transactions that adjusted a value before another error ended
/// them.
const ADJUSTED_BEFORE_AN_ERROR: &[&str] = &[
    "CREATE TABLE m (k INT PRIMARY KEY, u INT UNIQUE, v VARCHAR(3) NOT NULL) ENGINE=MyISAM",
    "INSERT INTO m VALUES (1, 1, 'a'), (2, 99999999999, 'long')",
    "refused: INSERT INTO m VALUES (3, 99999999999, 'b'), (4, 3, 'c')",
    "refused: INSERT INTO m VALUES (5, 7, 'd'), (6, 99999999999, 'e'), (7, 8, 'f')",
    "refused: INSERT INTO m VALUES (8, 9, 'long'), (9, 10, 'g')",
    "refused: INSERT INTO m VALUES (10, 11, 'h'), (11, 12, 'long'), (1, 13, 'i')",
];

#[test]
fn rows_are_adjusted_in_tables_without_transactions_before_another_error() {
    same_behind("adjusted_mysql", Flavor::MySql, &["STATEMENT"], ADJUSTED_BEFORE_AN_ERROR);
    same_behind("adjusted_mariadb", Flavor::MariaDb, &["STATEMENT"], ADJUSTED_BEFORE_AN_ERROR);
}

#[test]
fn values_for_generated_columns_of_mariadb_are_left_out() {
    let statements = [
        "CREATE TABLE g (k INT, c TIME AS (MAKETIME(1, 2, k)), s INT AS (k + 1) STORED)",
        "UPDATE g SET c = c + 1",
        "INSERT INTO g (c) SELECT 1 FROM g",
        "refused: INSERT INTO g (k, c) VALUES (1, 1)",
        "INSERT INTO g (k, c, s) VALUES (1, NULL, DEFAULT), (2, DEFAULT, NULL)",
        "refused: UPDATE g SET s = s + 1 WHERE k = 1",
        "UPDATE IGNORE g SET s = 100, k = s + 1 WHERE k = 1",
        "UPDATE g SET k = 7, c = NULL WHERE k = 2",
        "SET sql_mode = ''",
        "UPDATE g SET k = 9, s = 8 WHERE k = 7",
        "CREATE TABLE o (k INT)",
        "INSERT INTO o VALUES (9)",
        "UPDATE g, o SET g.k = 10, g.s = 8, o.k = 11 WHERE g.k = o.k",
        "INSERT INTO g (k, s) VALUES (5, 5), (6, NULL)",
        "INSERT INTO g (s) SELECT k FROM o",
    ];
    same_behind("given_generated", Flavor::MariaDb, &["STATEMENT"], &statements);
}

#[test]
fn null_in_a_timestamp_of_mariadb_that_may_not_be_null_is_the_time() {
    let statements = [
        "CREATE TABLE t (k INT, a TIMESTAMP(3) NULL NOT NULL, b TIMESTAMP NOT NULL DEFAULT '2020-01-01', c TIMESTAMP)",
        "INSERT INTO t VALUES (1, NULL, NULL, NULL), (2, 20200101, 20200101, 20200101)",
        "UPDATE t SET a = NULL, b = NULL, c = NULL WHERE k = 2",
    ];
    same_behind("null_times", Flavor::MariaDb, &["STATEMENT"], &statements);
}

#[test]
fn conditions_of_columns_of_mariadb_are_also_those_of_their_keys() {
    let statements = [
        "CREATE TABLE a (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, c VARCHAR(10), b CHAR(10))",
        "ALTER TABLE a MODIFY COLUMN IF EXISTS c VARCHAR(12) PRIMARY KEY",
        "ALTER TABLE a ADD COLUMN IF NOT EXISTS d VARCHAR(12) PRIMARY KEY",
        "ALTER TABLE a CHANGE COLUMN IF EXISTS b e VARCHAR(12) PRIMARY KEY",
        "ALTER TABLE a ADD COLUMN IF NOT EXISTS c VARCHAR(12) PRIMARY KEY",
        "ALTER TABLE a MODIFY COLUMN IF EXISTS c VARCHAR(12) UNIQUE",
        "CREATE TABLE b (b VARCHAR(12))",
        "ALTER TABLE b ADD COLUMN IF NOT EXISTS b VARCHAR(15) PRIMARY KEY",
        "ALTER TABLE b ADD COLUMN IF NOT EXISTS b VARCHAR(15) UNIQUE",
    ];
    same_behind("conditional_keys", Flavor::MariaDb, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn the_generated_key_of_mysql_stays_in_front_of_columns_that_are_put_first() {
    let statements = [
        "SET sql_generate_invisible_primary_key = 1",
        "CREATE TABLE a (a INT, b INT)",
        "INSERT INTO a VALUES (1, 2)",
        "ALTER TABLE a MODIFY b VARCHAR(5) FIRST",
        "ALTER TABLE a ADD c INT FIRST",
        "SET sql_generate_invisible_primary_key = 0",
        "ALTER TABLE a CHANGE a d BIGINT FIRST, ADD e INT FIRST",
    ];
    same_behind("generated_key", Flavor::MySql, &["ROW", "STATEMENT"], &statements);
}

#[test]
fn windows_in_views_of_mariadb_are_shown_in_its_words() {
    let statements = [
        "CREATE TABLE t (a INT, b INT, c DATE)",
        "CREATE VIEW w1 AS SELECT ROW_NUMBER() OVER () AS x FROM t",
        "CREATE VIEW w2 AS SELECT ROW_NUMBER() OVER (ORDER BY a DESC, b) x, SUM(a) OVER (PARTITION BY b, c) y FROM t",
        "CREATE VIEW w3 AS SELECT SUM(a) OVER (PARTITION BY b ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) \
         FROM t",
        "CREATE VIEW w4 AS SELECT SUM(a) OVER (ORDER BY a ROWS UNBOUNDED PRECEDING) AS x FROM t",
        "CREATE VIEW w5 AS SELECT SUM(a) OVER \
         (ORDER BY a RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS x FROM t",
        "CREATE VIEW w6 AS SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) AS x, \
         LAG(a, 1) OVER (ORDER BY b) AS y FROM t",
        "CREATE VIEW w7 AS SELECT SUM(a) OVER (ROWS CURRENT ROW) AS x, NTILE(3) OVER (ORDER BY a) AS n FROM t",
    ];
    same_behind("windows", Flavor::MariaDb, &["ROW"], &statements);
}

/// Columns that become AUTO_INCREMENT while they hold 0 and NULL.
const NUMBERED_LATER: &[&str] = &[
    "SET sql_mode = ''",
    "CREATE TABLE a (n INT NOT NULL, k INT)",
    "INSERT INTO a VALUES (1, 1), (50, 2), (0, 3), (2, 4), (0, 5), (7, 6)",
    "CREATE TABLE b LIKE a",
    "INSERT INTO b SELECT * FROM a",
    "CREATE TABLE c (n INT, k INT)",
    "INSERT INTO c SELECT * FROM a",
    "INSERT INTO c VALUES (NULL, 7), (-5, 8), (NULL, 9)",
    "CREATE TABLE d LIKE a",
    "INSERT INTO d SELECT * FROM a",
    "CREATE TABLE e (n INT NOT NULL PRIMARY KEY)",
    "INSERT INTO e VALUES (3), (0), (-1)",
    "ALTER TABLE a MODIFY n SERIAL",
    "ALTER TABLE b MODIFY n INT NOT NULL AUTO_INCREMENT PRIMARY KEY",
    "ALTER TABLE c MODIFY n INT NOT NULL AUTO_INCREMENT PRIMARY KEY",
    "ALTER TABLE e MODIFY n INT NOT NULL AUTO_INCREMENT",
    "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
    "ALTER TABLE d MODIFY n INT NOT NULL AUTO_INCREMENT, ADD KEY (n)",
    "SET sql_mode = DEFAULT",
    "ALTER TABLE d MODIFY n BIGINT NOT NULL AUTO_INCREMENT",
    "INSERT INTO a (k) VALUES (100)",
    "INSERT INTO c (k) VALUES (100)",
];

#[test]
fn zeros_of_a_column_that_becomes_auto_increment_make_way_for_numbers() {
    same_behind("numbered_mysql", Flavor::MySql, &["ROW", "STATEMENT"], NUMBERED_LATER);
    same_behind("numbered_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], NUMBERED_LATER);
}

/// Foreign keys between types that differ in their digits, and one between other types.
const OTHER_TYPES: &[&str] = &[
    "CREATE TABLE p (a DECIMAL(6, 2) NOT NULL UNIQUE, b DOUBLE NOT NULL UNIQUE, c DATETIME NOT NULL UNIQUE, \
     d TINYINT UNSIGNED NOT NULL UNIQUE)",
    "CREATE TABLE c1 (a DECIMAL(5, 2), FOREIGN KEY (a) REFERENCES p (a) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE c2 (b DOUBLE(7, 3) UNSIGNED, FOREIGN KEY (b) REFERENCES p (b) ON DELETE SET NULL)",
    "CREATE TABLE c3 (c DATETIME(3), FOREIGN KEY (c) REFERENCES p (c) ON DELETE CASCADE)",
    "INSERT INTO p VALUES (1.5, 2.5, '2020-01-01', 1), (2.5, 3.5, '2021-01-01', 2), (3.25, 4.5, '2022-01-01', 3)",
    "INSERT INTO c1 VALUES (1.5), (2.5), (NULL)",
    "refused: INSERT INTO c1 VALUES (9.5)",
    "INSERT INTO c2 VALUES (2.5), (3.5)",
    "INSERT INTO c3 VALUES (NULL)",
    "UPDATE p SET a = 7.75 WHERE a = 1.5",
    "DELETE FROM p WHERE a = 2.5",
];

#[test]
fn foreign_keys_of_numbers_with_other_digits_are_kept() {
    same_behind("other_digits_mysql", Flavor::MySql, &["ROW", "STATEMENT"], OTHER_TYPES);
    same_behind("other_digits_mariadb", Flavor::MariaDb, &["ROW", "STATEMENT"], OTHER_TYPES);
}

#[test]
fn a_foreign_key_that_only_innodb_can_have_does_not_stop_the_applier() {
    let sources = [(Flavor::MySql, "only_innodb_mysql"), (Flavor::MariaDb, "only_innodb_mariadb")];
    for (flavor, test) in sources {
        if !testkit::available(&format!("replicate_accepted::{test}"), &[flavor]) {
            continue;
        }
        let source = Server::start(flavor, &Settings::default());
        let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
        replica.follow(flavor, source.port(), &StartFrom::Position(source.position()));
        for sql in [
            "CREATE DATABASE f",
            "CREATE TABLE f.p (a TINYINT UNSIGNED NOT NULL UNIQUE)",
            "CREATE TABLE f.c (a ENUM('x', 'y'), FOREIGN KEY (a) REFERENCES p (a)) ENGINE=InnoDB",
            "INSERT INTO f.p VALUES (1)",
            "INSERT INTO f.c VALUES ('x'), (NULL)",
        ] {
            source.run(sql);
        }
        replica.catch_up(&source);
        replica.equals_by(&source, "SELECT a + 0 FROM f.c ORDER BY a");
    }
}

#[test]
fn default_character_sets_in_alter_table_of_mariadb_are_those_of_the_source() {
    let statements = [
        "CREATE TABLE a (x VARCHAR(5))",
        "CREATE TABLE b (x VARCHAR(5))",
        "CREATE TABLE c (x VARCHAR(5))",
        "CREATE TABLE d (x VARCHAR(5))",
        "ALTER DATABASE DEFAULT COLLATE utf8mb4_czech_ci",
        "ALTER TABLE a CONVERT TO CHARACTER SET DEFAULT",
        "ALTER TABLE b CHARSET ascii, CONVERT TO CHARACTER SET latin1",
        "ALTER TABLE c CONVERT TO CHARACTER SET latin1, CHARSET ascii",
        "ALTER TABLE d CHARACTER SET DEFAULT",
        "CREATE TABLE e (x VARCHAR(5)) CHARACTER SET DEFAULT",
    ];
    same_behind("default_charsets", Flavor::MariaDb, &["ROW"], &statements);
}
