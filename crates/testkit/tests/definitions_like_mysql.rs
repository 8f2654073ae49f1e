//! Tests that nothing of a definition is lost: what MySQL shows of a view and reads through it is
//! shown and read here, and constraints need no name behind the word CONSTRAINT.

use bench::instance::Settings;
use testkit::answers::same_answers;
use testkit::server::same_as_mysql;

#[test]
fn rollups_and_common_tables_of_views_are_kept() {
    let answers = same_answers(
        "definitions_like_mysql::rollups_and_common_tables_of_views_are_kept",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT, b INT)",
            "INSERT INTO t VALUES (1, 1), (1, 2), (2, 3)",
            "CREATE VIEW v AS SELECT a, SUM(b) s FROM t GROUP BY a WITH ROLLUP",
            "SHOW CREATE VIEW v",
            "SELECT * FROM v",
            "CREATE VIEW w AS SELECT a, b, COUNT(*) FROM t GROUP BY ROLLUP(a, b)",
            "SHOW CREATE VIEW w",
            "SELECT * FROM w",
            "CREATE VIEW x AS WITH t AS (SELECT 5 AS a) SELECT a FROM t",
            "SELECT * FROM x",
            "CREATE VIEW y AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3) \
             SELECT n FROM c",
            "SELECT * FROM y",
            "CREATE VIEW z AS WITH c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
        ],
    );
    assert!(answers[6].ends_with("1,3 2,3 NULL,6"), "{}", answers[6]);
}

/// MySQL takes TRUE and FALSE as no default of an AUTO_INCREMENT column, and refuses every other
/// default but NULL.
#[test]
fn defaults_of_auto_increment_columns_are_refused_or_are_none() {
    let defaults = ["FALSE", "TRUE", "NULL", "0", "'1'", "(1)", "(NULL)", "1.5"];
    let mut statements = vec!["CREATE DATABASE d".to_owned(), "USE d".to_owned()];
    for (at, default) in defaults.iter().enumerate() {
        statements.extend([
            format!("CREATE TABLE t{at} (a INT AUTO_INCREMENT UNIQUE KEY DEFAULT {default})"),
            format!("SHOW CREATE TABLE t{at}"),
            format!("INSERT INTO t{at} (a) VALUES (NULL), (NULL)"),
            format!("SELECT * FROM t{at} ORDER BY a"),
        ]);
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_answers(
        "definitions_like_mysql::defaults_of_auto_increment_columns_are_refused_or_are_none",
        &statements,
    );
}

#[test]
fn the_names_of_a_views_columns_are_those_of_its_list() {
    same_answers(
        "definitions_like_mysql::the_names_of_a_views_columns_are_those_of_its_list",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
            "INSERT INTO t VALUES (1, 10), (2, 20)",
            "CREATE VIEW u (p, q) AS SELECT id, a FROM t UNION SELECT 3, 30",
            "SELECT p, q FROM u",
            "CREATE VIEW e (p, q) AS SELECT x.k0, x.k1 FROM (SELECT id, a FROM t) x (k0, k1)",
            "SELECT q FROM e WHERE p = 2",
            "CREATE VIEW r (p, q) AS SELECT a, RANK() OVER (ORDER BY id) FROM t",
            "SELECT q FROM r ORDER BY p",
            "CREATE VIEW n (p, q) AS SELECT a, id FROM t WHERE (id, a) IN (SELECT id, a FROM t)",
            "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 'n' \
             ORDER BY ORDINAL_POSITION",
            "SELECT id FROM u",
        ],
    );
}

#[test]
fn constraints_need_no_name() {
    same_answers(
        "definitions_like_mysql::constraints_need_no_name",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE p (id BIGINT NOT NULL AUTO_INCREMENT, CONSTRAINT PRIMARY KEY (id))",
            "SHOW CREATE TABLE p",
            "CREATE TABLE u (a INT, b BIGINT, CONSTRAINT UNIQUE (a), CONSTRAINT UNIQUE KEY k (b), \
             CONSTRAINT CHECK (a > 0), CONSTRAINT FOREIGN KEY (b) REFERENCES p (id))",
            "SHOW CREATE TABLE u",
            "CREATE TABLE c (a INT CONSTRAINT CHECK (a > 1), b INT, d BIGINT)",
            "ALTER TABLE c ADD CONSTRAINT UNIQUE (b), ADD CONSTRAINT CHECK (a > 3), \
             ADD CONSTRAINT FOREIGN KEY (d) REFERENCES p (id), ADD CONSTRAINT PRIMARY KEY (a)",
            "SHOW CREATE TABLE c",
            "CREATE TABLE e (a INT, CONSTRAINT INDEX (a))",
            "CREATE TABLE f (a INT CONSTRAINT UNIQUE)",
        ],
    );
}

#[test]
fn a_foreign_keys_column_gets_another_name_whatever_its_rows_are() {
    same_answers(
        "definitions_like_mysql::a_foreign_keys_column_gets_another_name_whatever_its_rows_are",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE p (id INT PRIMARY KEY)",
            "CREATE TABLE c (id INT PRIMARY KEY, pid INT, own INT, CONSTRAINT f FOREIGN KEY (pid) REFERENCES p (id), \
             CONSTRAINT g FOREIGN KEY (own) REFERENCES c (id))",
            "SET foreign_key_checks = 0",
            "INSERT INTO c VALUES (1, 77, 77)",
            "SET foreign_key_checks = 1",
            "ALTER TABLE c RENAME COLUMN pid TO ppid",
            "ALTER TABLE c CHANGE own self INT, RENAME COLUMN id TO number",
            "SHOW CREATE TABLE c",
        ],
    );
}

#[test]
fn an_altered_table_has_the_time_of_the_statement() {
    let statements = [
        "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY)",
        "ALTER TABLE d.t ADD COLUMN a INT",
        "ALTER TABLE d.t ADD KEY k (a)",
        "CREATE INDEX k2 ON d.t (a, id)",
        "ALTER TABLE d.t RENAME COLUMN a TO b",
        "ALTER TABLE d.t COMMENT 'x'",
        "ALTER TABLE d.t MODIFY b BIGINT",
        "ALTER TABLE d.t AUTO_INCREMENT = 100",
        "ALTER TABLE d.t FORCE",
        "ALTER TABLE d.t",
        "ALTER TABLE d.t RENAME TO d.t2",
        "RENAME TABLE d.t2 TO d.t",
        "INSERT INTO d.t (b) VALUES (1)",
        "TRUNCATE d.t",
    ];
    same_as_mysql("an_altered_table_has_the_time_of_the_statement", &Settings::default(), |server| {
        server.run("CREATE DATABASE d");
        let mut client = server.connect();
        let mut times = Vec::new();
        for (second, statement) in (1_700_000_000..).zip(statements) {
            client.query(&format!("SET timestamp = {second}")).expect("a time");
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
            let times_of =
                "SELECT UNIX_TIMESTAMP(create_time) FROM information_schema.tables WHERE table_schema = 'd'";
            let told = testkit::lines::lines_of(&client.query(times_of).expect("the tables")).concat();
            times.push(format!("{statement}: {told}"));
        }
        times
    });
}

/// Vitess exchanges views in this way when it changes one.
#[test]
fn views_and_tables_exchange_names_step_by_step() {
    let test = "definitions_like_mysql::views_and_tables_exchange_names_step_by_step";
    let steps = [
        "RENAME TABLE v1 TO tmp, v2 TO v1, tmp TO v2",
        "RENAME TABLE v1 TO w, t1 TO v1",
        "RENAME TABLE v1 TO t1, w TO v1",
        "RENAME TABLE t1 TO v1, v1 TO z",
        "RENAME TABLE v1 TO t1, t1 TO z",
        "RENAME TABLE t1 TO tz, v1 TO t1, tz TO v1",
        "RENAME TABLE t1 TO a1, a1 TO a2, a2 TO a3",
        "RENAME TABLE v2 TO b1, v2 TO b2",
        "RENAME TABLE v2 TO b1, b1 TO v2",
        "RENAME TABLE v2 TO t2, t2 TO x",
        "RENAME TABLE v2 TO a3",
        "RENAME TABLE t2 TO t3, v2 TO t2, a3 TO v2",
        "RENAME TABLE absent TO x, v2 TO y",
    ];
    let mut statements = vec![
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t1 (a INT)",
        "CREATE TABLE t2 (b INT)",
        "CREATE VIEW v1 AS SELECT 1 AS x",
        "CREATE VIEW v2 AS SELECT 2 AS y",
    ];
    for step in steps {
        statements.extend([step, "SHOW FULL TABLES", "SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = 'd' ORDER BY 1"]);
    }
    let answers = same_answers(test, &statements);
    assert!(!answers[6].contains("1050"), "the first exchange is carried out: {}", answers[6]);
}

#[test]
fn columns_that_are_written_beside_a_conversion_follow_it() {
    let answers = same_answers(
        "columns_beside_a_conversion",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT, h TEXT(70000), c CHAR(4), d VARCHAR(5) CHARSET koi8r)",
            "ALTER TABLE t CONVERT TO CHARACTER SET latin1, MODIFY h TEXT(1000) COLLATE utf8mb4_0900_bin AFTER c, \
             ADD x CHAR(3), ADD y CHAR(3) CHARSET utf8mb4 COLLATE utf8mb4_bin, CHANGE d d VARCHAR(6) CHARSET gbk, ADD b BINARY(2)",
            "SELECT column_name, column_type, collation_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
            "ALTER TABLE t MODIFY h TEXT(1000) COLLATE utf8mb4_0900_bin, CONVERT TO CHARACTER SET latin2 COLLATE latin2_bin",
            "SELECT column_name, column_type, collation_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
            "ALTER TABLE t CONVERT TO CHARACTER SET DEFAULT, ADD k CHAR(3) CHARSET latin1, ADD n ENUM('a') CHARSET latin1",
            "SELECT column_name, column_type, collation_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
            "ALTER TABLE t CONVERT TO CHARACTER SET koi8r, ADD q CHAR(3) CHARSET latin1 COLLATE utf8mb4_bin",
            "ALTER TABLE t DROP n, CONVERT TO CHARACTER SET binary, MODIFY h TEXT(1000) COLLATE utf8mb4_0900_bin",
            "SELECT column_name, column_type, collation_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
        ],
    );
    assert!(answers[4].contains("h,text,latin1_swedish_ci"), "{answers:#?}");
}

#[test]
fn columns_of_a_query_stand_where_the_query_has_them() {
    let answers = same_answers(
        "columns_of_a_query",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE x (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, d DECIMAL(38,0), f VARCHAR(10) UNIQUE)",
            "INSERT INTO x VALUES (1, 2, 'a'), (5, 6, 'b')",
            "CREATE TABLE t2 (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, a TIME(6) NULL) SELECT * FROM x",
            "SHOW COLUMNS FROM t2",
            "SELECT * FROM t2 ORDER BY id",
            "CREATE TABLE t3 (d INT, a TIME(6) NULL, z INT DEFAULT 5, KEY (z, d)) SELECT * FROM x",
            "SHOW COLUMNS FROM t3",
            "SELECT * FROM t3 ORDER BY id",
            "CREATE TABLE t4 (f VARCHAR(20), q INT, id BIGINT, KEY (q)) SELECT id, f FROM x",
            "SHOW CREATE TABLE t4",
            "CREATE TABLE t5 (f VARCHAR(20), q INT) SELECT f, id AS f FROM x",
            "CREATE TABLE t6 (f VARCHAR(20)) SELECT f, f FROM x",
            "CREATE TEMPORARY TABLE t7 (f VARCHAR(20), q INT) SELECT id, f FROM x",
            "SELECT * FROM t7 ORDER BY id",
        ],
    );
    assert!(answers[6].contains("NULL,1,2,a"), "{answers:#?}");
}

/// Clients are told of a CHAR in the first of these, and a VARCHAR column is made of it.
#[test]
fn sums_of_dates_become_columns_of_mysqls_types() {
    const COLUMNS: &str = "SELECT column_name, column_type, collation_name FROM information_schema.columns \
                           WHERE table_name = 'c' ORDER BY ordinal_position";
    let mut statements = vec![
        "CREATE DATABASE d".to_owned(),
        "USE d".to_owned(),
        "CREATE TABLE t (s VARCHAR(40), dt DATETIME(3), d DATE, ti TIME(2), i INT)".to_owned(),
        "INSERT INTO t VALUES ('2020-01-31', '2020-01-31 10:00:00.5', '2020-01-31', '10:00:00.25', 5)"
            .to_owned(),
    ];
    for names in ["utf8mb4 COLLATE utf8mb4_bin", "latin1", "utf8mb4"] {
        statements.push(format!("SET NAMES {names}"));
        let sums = "s + INTERVAL 1 DAY AS a, '2020-01-01' + INTERVAL i MONTH AS b, d + INTERVAL 1 HOUR AS c, \
                    dt - INTERVAL 1 MICROSECOND AS e, ti + INTERVAL 1 SECOND AS f, ADDTIME(s, '1:00:00') AS g, \
                    ADDTIME(dt, '1:00') AS h, SUBTIME(ti, '0:00:00.5') AS j, TIMESTAMP(d, ti) AS k, \
                    DATE_ADD(20200101, INTERVAL 1 DAY) AS l";
        statements.push(format!("CREATE TABLE c AS SELECT {sums} FROM t"));
        statements.extend([COLUMNS, "SELECT * FROM c", "DROP TABLE c"].map(str::to_owned));
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    testkit::answers::same_answers("sums_of_dates", &statements);
}

#[test]
fn foreign_keys_to_columns_that_are_not_unique_are_warned_of() {
    let statements = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE p (a INT, b INT, c INT, KEY (a), UNIQUE KEY ub (b, c), PRIMARY KEY (c, a))",
        "CREATE TABLE c0 (x INT, FOREIGN KEY (x) REFERENCES p (a))",
        "SET restrict_fk_on_non_standard_key = OFF",
        "CREATE TABLE c1 (x INT, FOREIGN KEY (x) REFERENCES p (a))",
        "CREATE TABLE c2 (x INT, CONSTRAINT cc FOREIGN KEY (x) REFERENCES p (b))",
        "CREATE TABLE c3 (x INT, y INT, FOREIGN KEY (x, y) REFERENCES p (b, c))",
        "CREATE TABLE c4 (x INT, FOREIGN KEY (x) REFERENCES p (c), FOREIGN KEY (x) REFERENCES p (a))",
        "CREATE TABLE c5 (x INT)",
        "ALTER TABLE c5 ADD FOREIGN KEY (x) REFERENCES p (a), ADD CONSTRAINT c5b FOREIGN KEY (x) REFERENCES p (b)",
        "ALTER TABLE c5 ADD y INT",
        "CREATE TABLE c6 (x INT REFERENCES p (a))",
        "SET foreign_key_checks = 0",
        "CREATE TABLE c7 (x INT, FOREIGN KEY (x) REFERENCES later (a))",
        "CREATE TABLE later (a INT, KEY (a))",
    ];
    testkit::answers::same_answers("unsafe_foreign_keys", &statements);
}

/// ALTER TABLE ... SET DEFAULT takes a literal in parentheses for one without them, and an
/// expression for an expression.
#[test]
fn literals_in_parentheses_that_become_defaults() {
    let defaults = [
        "(-7)",
        "(+3)",
        "(TRUE)",
        "(NULL)",
        "((4))",
        "(X'41')",
        "(0x7F)",
        "(b'101')",
        "('9')",
        "(_latin1'9')",
        "(2 + 1)",
    ];
    let mut statements: Vec<String> = [
        "CREATE DATABASE d",
        "USE d",
        "SET NAMES utf8mb4",
        "CREATE TABLE t (a INT, b BIT(8), c VARCHAR(9), f BINARY(3), h INT NOT NULL)",
    ]
    .map(str::to_owned)
    .into();
    for default in defaults {
        let set = |column: char| format!("ALTER TABLE t ALTER {column} SET DEFAULT {default}");
        statements.extend("abcfh".chars().map(set));
        statements.push("SHOW CREATE TABLE t".to_owned());
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_answers("definitions_like_mysql::literals_in_parentheses_that_become_defaults", &statements);
}

/// A key that is written with USING BTREE is shown with it, and keeps it when its table changes.
#[test]
fn keys_using_btree() {
    same_answers(
        "definitions_like_mysql::keys_using_btree",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT, b INT, c INT NOT NULL, PRIMARY KEY USING BTREE (c), KEY ka (a), \
             UNIQUE (b) USING BTREE, KEY kb (a, b) USING BTREE COMMENT 'x', KEY ki (b) USING BTREE INVISIBLE, \
             KEY kf ((a + 1)) USING BTREE)",
            "SHOW CREATE TABLE t",
            "CREATE INDEX kc USING BTREE ON t (c)",
            "CREATE INDEX kd ON t (c, a) USING BTREE",
            "ALTER TABLE t RENAME INDEX kb TO kz, MODIFY b BIGINT, DROP INDEX ka",
            "SHOW CREATE TABLE t",
            "CREATE TABLE u LIKE t",
            "SHOW CREATE TABLE u",
            "ALTER TABLE u DROP PRIMARY KEY, DROP INDEX kz",
            "ALTER TABLE u ADD PRIMARY KEY (c), ADD KEY kz (a, b)",
            "SHOW CREATE TABLE u",
            "SELECT index_name, index_type FROM information_schema.statistics WHERE table_schema = 'd' ORDER BY 1, 2",
        ],
    );
}

/// The character set of a column is shown where the statement names it, even if it is the table's.
#[test]
fn character_sets_that_are_written() {
    same_answers(
        "definitions_like_mysql::character_sets_that_are_written",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a VARCHAR(9), b VARCHAR(9) CHARACTER SET utf8mb4, c VARCHAR(9) COLLATE utf8mb4_0900_ai_ci, \
             e VARCHAR(9) COLLATE utf8mb4_bin, f VARCHAR(9) BINARY, g VARCHAR(9) CHARACTER SET latin1, \
             j ENUM('a') CHARACTER SET utf8mb4, k TEXT COLLATE utf8mb4_0900_ai_ci, l VARCHAR(9) ASCII, m CHAR(5) CHARACTER SET binary, \
             n NATIONAL VARCHAR(5), o VARCHAR(5) CHARACTER SET utf8mb4 BINARY, q VARCHAR(9) BYTE, \
             r VARCHAR(9) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')))",
            "SHOW CREATE TABLE t",
            "ALTER TABLE t ADD z VARCHAR(3) CHARACTER SET utf8mb4, MODIFY a VARCHAR(9) CHARACTER SET utf8mb4, \
             MODIFY b VARCHAR(9), CHANGE c cc VARCHAR(9) COLLATE utf8mb4_0900_ai_ci, RENAME COLUMN j TO jj",
            "SHOW CREATE TABLE t",
            "ALTER TABLE t DEFAULT CHARACTER SET latin1",
            "SHOW CREATE TABLE t",
            "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4",
            "SHOW CREATE TABLE t",
            "CREATE TABLE u LIKE t",
            "SHOW CREATE TABLE u",
            "ALTER TABLE u MODIFY a VARCHAR(9), ALGORITHM=INSTANT",
            "ALTER TABLE u MODIFY a VARCHAR(9) COLLATE utf8mb4_0900_ai_ci, ALGORITHM=INPLACE, LOCK=NONE",
            "SHOW CREATE TABLE u",
            "CREATE TABLE w (x VARCHAR(3) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, y VARCHAR(3) COLLATE utf8mb4_bin, z VARCHAR(3)) \
             COLLATE utf8mb4_bin",
            "SHOW CREATE TABLE w",
        ],
    );
}
