//! Tests that nothing of a definition is lost: what MySQL shows of a view and reads through it is
//! shown and read here, and constraints need no name behind the word CONSTRAINT.

use testkit::answers::same_answers;

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
