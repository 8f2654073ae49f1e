//! Tests with files and statements that were written by hand.

use super::{client, same_as_mysql, say};
use bench::instance::Settings;

/// Loads each file into a fresh table with each of the statements, under several modes, and
/// compares the answers and the rows.
fn load(test: &str, table: &str, files: &[&[u8]], statements: &[&str]) {
    same_as_mysql(test, &Settings::default(), |server| {
        let mut client = client(server);
        let mut lines = Vec::new();
        for mode in ["DEFAULT", "''", "'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'"] {
            lines.push(say(&mut client, &format!("SET sql_mode = {mode}"), b""));
            for (number, file) in files.iter().enumerate() {
                for statement in statements {
                    for definition in table.split(';') {
                        client.query(definition).expect("the table can be made");
                    }
                    lines.push(format!("file {number}"));
                    lines.push(say(&mut client, statement, file));
                    lines.push(say(&mut client, "SELECT * FROM t", b""));
                }
            }
        }
        lines
    });
}

#[test]
fn fields_become_values_as_in_mysql() {
    load(
        "load_data_fields",
        "DROP TABLE IF EXISTS t;\
         CREATE TABLE t (a INT NOT NULL, b VARCHAR(3), c INT DEFAULT 7, d CHAR(4) NOT NULL)",
        &[
            b"1\ta\t3\tx\n2\tb\n3\n4\tccccc\t5\t6\t7\n\\N\t\\N\t\\N\t\\N\nabc\td\te\tf\n",
            b"1,a,,\n\"2\",\"b\",\"3\",\"x\"\n'3',NULL,NULL,NULL\n,,,\n",
            b"",
            b"\n\n",
            b"7\tx\t8\ty",
            b"7\t\xe2\x82\xac\t1\t\xf0\x9f\x98\x80\n",
            b"a\\tb\\\nc\t\\Z\\b\\r\\q\t\"\t'\n1\\N\tN\\\\N\t\\\\N\t\\N\\N\n",
            b"99999999999\t1e3\t1.5\t-1\n-5\t 5 \t5x\t0x41\n",
        ],
        &[
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
            "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE t",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\\'' ESCAPED BY ''",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (d, a)",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (c, @x, b) SET a = 1, d = @x",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t IGNORE 1 LINES (a, b, c, d)",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY '' ENCLOSED BY ''",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t LINES STARTING BY 'c' TERMINATED BY ','",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET latin1 FIELDS TERMINATED BY '\\t'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET binary (b, d)",
        ],
    );
}

#[test]
fn separators_are_found_as_in_mysql() {
    load(
        "load_data_separators",
        "DROP TABLE IF EXISTS t; CREATE TABLE t (a VARCHAR(20), b VARCHAR(20), c VARCHAR(20))",
        &[
            b"a||b||c\r\nd|e||f|||g\r\n",
            b"\"a\"\"b\",\"c\"d\",e\n\"x,\ny\",z\n\"open,1,2\n3,4\n",
            b"junk>>1,a,b;more>>2,b;>3;>>4;>>>5,6,7",
            b"a,b,c\na,b\\,c,d\na,\\\"b,\"c\\\"\"\n",
            b"1\n2\n3\n4\n5\n",
            b"a,b,c,d,e,f,g",
            b"x\x01y\x01z\x02u\x01v\x01w\x02",
        ],
        &[
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY '||' LINES TERMINATED BY '\\r\\n'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"' LINES TERMINATED BY '\\n'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"' ESCAPED BY '\"'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\n' IGNORE 1 ROWS",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' LINES STARTING BY '>>' TERMINATED BY ';'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' LINES TERMINATED BY ','",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' LINES TERMINATED BY ''",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY '\\n' LINES TERMINATED BY '\\n' IGNORE 1 LINES",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t COLUMNS TERMINATED BY x'01' LINES TERMINATED BY 0x02",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' IGNORE 2 LINES (a)",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY 'a,b' ESCAPED BY 'b'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY '' ENCLOSED BY '\"'",
        ],
    );
}

#[test]
fn rows_of_odd_tables_are_as_in_mysql() {
    load(
        "load_data_tables",
        "DROP TABLE IF EXISTS t;\
         CREATE TABLE t (a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b VARCHAR(5), \
           g INT AS (n + 1), n INT NOT NULL, h INT INVISIBLE DEFAULT 3, e ENUM('x', 'y'), \
           f ENUM('p', 'q') NOT NULL, s SET('k', 'l'), i BIT(9), \
           d DATE, m DECIMAL(6, 2) NOT NULL DEFAULT 1.25, UNIQUE (b))",
        &[
            b"1\ta\t5\t6\tx\tp\tk\t7\t2024-01-02\t3.4\n\\N\tb\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n0\tc\n",
            b"5\ta\n5\tb\n6\ta\n7\tc\n0\td\nx\te\n",
            b"a\t1\nb\t2\na\t3\n",
            b"1\tlonger\t1\t1\tz\tz\tk,z\t17\t2024-13-01\t99999.99\n",
        ],
        &[
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
            "LOAD DATA LOCAL INFILE 'x' IGNORE INTO TABLE t (a, b) SET n = 4",
            "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE t (a, b) SET n = a + 1, f = 'q'",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (b, n)",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (b, g, a)",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (@a, b, @c) SET n = b, b = n, e = @a IS NULL, h = h + 1",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (b, @n) SET n = (SELECT @n + 1), g = 5",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a, b) SET n = DEFAULT, m = DEFAULT, h = DEFAULT",
        ],
    );
}

#[test]
fn a_character_that_a_column_has_not_is_a_question_mark() {
    load(
        "load_data_characters",
        "DROP TABLE IF EXISTS t; CREATE TABLE t (a VARCHAR(4), b TEXT) CHARSET latin1",
        &["aΩb\tΩ\nplain\té\nΩΩΩΩΩ\tx\n".as_bytes()],
        &[
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET utf8mb4",
            "LOAD DATA LOCAL INFILE 'x' IGNORE INTO TABLE t CHARACTER SET utf8mb4 (b, a)",
        ],
    );
}

#[test]
fn bytes_are_characters_of_the_column_that_they_come_into() {
    load(
        "load_data_bytes",
        "DROP TABLE IF EXISTS t; CREATE TABLE t (l VARCHAR(9) CHARSET latin1, u VARCHAR(9) CHARSET utf16, \
         g VARCHAR(9) CHARSET gbk, m VARCHAR(9), b VARBINARY(9), e ENUM('é', 'b') CHARSET latin1)",
        &[b"\xe9\t\x00\xe9\t\xc4\xe3\t\xc3\xa9\t\xff\t\xe9\nplain\t\x00a\tx\tx\tx\tb\n"],
        &[
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET binary",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET binary (l, u, g, @m, b, e) SET m = @m",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET binary (m, @u, @g, @x, b) SET u = @u",
        ],
    );
}

#[test]
fn what_a_statement_says_of_itself_is_mysqls() {
    same_as_mysql("load_data_statements", &Settings::default(), |server| {
        let mut client = client(server);
        let mut lines = Vec::new();
        for setup in [
            "CREATE TABLE t (a INT, b VARCHAR(10), c TEXT)",
            "CREATE TABLE p (a INT) PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))",
            "CREATE TABLE k (a INT PRIMARY KEY, CHECK (a < 100))",
            "CREATE TABLE child (a INT, FOREIGN KEY (a) REFERENCES k (a))",
            "CREATE TABLE log (a INT, b VARCHAR(20))",
            "CREATE TRIGGER before_k BEFORE INSERT ON k FOR EACH ROW SET NEW.a = NEW.a + 1",
            "CREATE TRIGGER after_k AFTER INSERT ON k FOR EACH ROW INSERT INTO log VALUES (NEW.a, 'in')",
            "CREATE TRIGGER gone_k AFTER DELETE ON k FOR EACH ROW INSERT INTO log VALUES (OLD.a, 'out')",
        ] {
            client.query(setup).expect("it can be made");
        }
        for (statement, file) in [
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE nosuch", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a, a)", "1\t2\n3\t4\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a, zz)", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (t.a, loads.t.b) SET t.c = a + 1", "1\t2\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (x.b)", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a) SET zz = 1", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a) SET a = t2.x", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a) SET b = (SELECT MAX(b) FROM t)", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a, @@sort_buffer_size)", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS ENCLOSED BY 'ab'", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS ESCAPED BY 'ab'", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY '\u{e9}'", "1\u{e9}2\u{e9}3\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET nosuch", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t ()", "1\t2\t3\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t IGNORE 1", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t IGNORE -1 LINES", ""),
            ("LOAD DATA LOCAL INFILE 'x' REPLACE IGNORE INTO TABLE t", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t LINES TERMINATED BY ',' FIELDS TERMINATED BY ';'", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO t", ""),
            ("LOAD DATA LOCAL INFILE 'x' 'y' INTO TABLE t", ""),
            ("LOAD DATA LOCAL INFILE x INTO TABLE t", ""),
            ("LOAD DATA CONCURRENT LOCAL INFILE 'x' INTO TABLE t CHARSET latin1 (a)", "1\n"),
            ("LOAD DATA LOW_PRIORITY LOCAL INFILE 'x' INTO TABLE t (a,)", "1\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a b)", "1\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t AS y (a)", "1\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t PARALLEL = 3", "1\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t ALGORITHM = BULK", "1\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY '' (a, @b)", ""),
            (
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY '' LINES TERMINATED BY '' (c)",
                "",
            ),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t PARTITION (p0)", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE p PARTITION (p0)", "1\n11\n2\n30\n"),
            ("LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE p PARTITION (p0, p1)", "1\n11\n30\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE p PARTITION (p7)", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE k", "1\n2\n2\n99\n98\n"),
            ("LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE k", "1\n2\n5\n"),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE child", "2\n7\n3\n"),
            ("LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE child", "3\n7\n"),
            ("EXPLAIN LOAD DATA LOCAL INFILE 'x' INTO TABLE t", ""),
            ("CREATE PROCEDURE q() LOAD DATA INFILE 'x' INTO TABLE t", ""),
            ("PREPARE s FROM 'LOAD DATA INFILE \"x\" INTO TABLE t'", ""),
            ("PREPARE s FROM 'LOAD DATA INFILE \"x\" INTO TABLE nosuch'", ""),
            ("LOAD DATA INFILE 'x' INTO TABLE t", ""),
            ("SELECT * FROM t", ""),
            ("SELECT * FROM p", ""),
            ("SELECT * FROM k", ""),
            ("SELECT * FROM child", ""),
            ("SELECT * FROM log", ""),
            // A temporary table hides the stored table of its name.
            ("CREATE TABLE hidden (a INT)", ""),
            ("CREATE TEMPORARY TABLE hidden (a INT, b INT)", ""),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE hidden", "1\t2\n3\t4\n"),
            ("SELECT * FROM hidden", ""),
            ("DROP TEMPORARY TABLE hidden", ""),
            ("SELECT * FROM hidden", ""),
        ] {
            lines.push(say(&mut client, statement, file.as_bytes()));
        }
        client.query("SET GLOBAL local_infile = OFF").expect("it can be set");
        lines.push(say(&mut client, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t", b""));
        client.query("SET GLOBAL local_infile = ON").expect("it can be set");
        let mut cautious = server.connect();
        lines.push(say(&mut cautious, "LOAD DATA LOCAL INFILE 'x' INTO TABLE loads.t", b""));
        lines
    });
}
