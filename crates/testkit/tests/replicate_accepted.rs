//! Tests of statements that a source accepts and that would be refused, or mean something else, if
//! they were a client's: foreign keys in engines that have none, names in another character set
//! than the one that the event names, tables like temporary ones, columns without a value,
//! conversions of partitions, and statements that a constraint ends half way. The replica goes on,
//! and shows and holds what the source does.

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

#[test]
fn a_column_of_mysql_whose_default_was_taken_away_is_null_where_it_may_be() {
    same_behind("no_default_mysql", Flavor::MySql, &["STATEMENT"], WITHOUT_DEFAULTS);
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
