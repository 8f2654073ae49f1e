//! Tests that clients see of definitions what MySQL shows: the counts and the messages of OK
//! packets, the order of indexes, and everything that contains expressions, which is generated
//! columns, CHECK constraints, defaults and functional indexes.

use bench::instance::{Flavor, Settings};
use protocol::command;
use testkit::{Server, available};

/// Statements that both servers must answer with the same count of rows, count of warnings and
/// message.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE DATABASE IF NOT EXISTS d",
    "ALTER DATABASE d CHARACTER SET latin1",
    "ALTER DATABASE d CHARACTER SET utf8mb4",
    "ALTER DATABASE d READ ONLY = 0",
    "ALTER SCHEMA d READ ONLY DEFAULT COLLATE utf8mb4_0900_ai_ci",
    "CREATE TABLE d.a (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE d.b LIKE d.a",
    "INSERT INTO d.a VALUES (1, 1), (2, 2)",
    "ALTER TABLE d.a ADD c INT",
    "ALTER TABLE d.a ADD KEY (v)",
    "ALTER TABLE d.a MODIFY v BIGINT",
    "ALTER TABLE d.a ALGORITHM=COPY, ADD e INT",
    "ALTER TABLE d.a DROP COLUMN c",
    "ALTER TABLE d.a COMMENT 'words'",
    "CREATE INDEX x ON d.a (e)",
    "DROP INDEX x ON d.a",
    "RENAME TABLE d.a TO d.c",
    "CREATE TABLE d.e AS SELECT 1 AS x UNION SELECT 2",
    "CREATE TABLE d.f (j JSON, t TEXT, b BLOB NOT NULL, u INT, n INT NOT NULL, KEY k (u, n), UNIQUE KEY uu (u), UNIQUE KEY nn (n))",
    "TRUNCATE d.c",
    "DROP TABLE d.b",
    // An index that a foreign key made gives way to other indexes, and to those of later foreign
    // keys.
    "CREATE TABLE d.p (a INT, b INT, c INT, UNIQUE KEY (a), UNIQUE KEY (a, b), UNIQUE KEY (b), UNIQUE KEY (c))",
    "CREATE TABLE d.g (a INT, b INT, c INT, FOREIGN KEY k (a) REFERENCES p (a), \
     CONSTRAINT `x_y` FOREIGN KEY (b) REFERENCES p (b), CONSTRAINT `XAY` FOREIGN KEY (c) REFERENCES p (c))",
    "CREATE INDEX mine ON d.g (c, a)",
    "ALTER TABLE d.g ADD CONSTRAINT longer FOREIGN KEY (a, b) REFERENCES p (a, b)",
    // The index of a foreign key has the place of the foreign key among the keys.
    "CREATE TABLE d.o1 (a INT, b INT, c INT REFERENCES p (a), FOREIGN KEY (a) REFERENCES p (a), KEY (b))",
    "CREATE TABLE d.o2 (a INT, b INT, c INT, KEY (b), FOREIGN KEY (a) REFERENCES p (a), KEY (c), UNIQUE (b))",
    "CREATE TABLE d.o3 (a INT, b INT, FOREIGN KEY (a) REFERENCES p (a), FOREIGN KEY (b) REFERENCES p (b), \
     KEY both_of (b, a))",
    "ALTER TABLE d.g DROP FOREIGN KEY x_y",
    "ALTER TABLE d.g ADD CONSTRAINT later FOREIGN KEY (b) REFERENCES p (b)",
    "ALTER TABLE d.g ADD INDEX other (b), ADD INDEX third (c)",
    // Indexes are put in order when a table is altered, and keep their places afterwards.
    "CREATE TABLE d.h (a INT, b INT NOT NULL, c INT NOT NULL, KEY x (a), UNIQUE KEY n (a), UNIQUE KEY y (b), KEY z (c))",
    "ALTER TABLE d.h MODIFY b INT NULL",
    "ALTER TABLE d.h ADD UNIQUE KEY w (c), ADD (e VARCHAR(9) DEFAULT 'it\\'s' COLLATE utf8mb4_bin, KEY v (e), UNIQUE u (e))",
    "CREATE TABLE d.i (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v INT)",
    "ALTER TABLE d.i ALTER id SET DEFAULT 5, ADD w INT",
    // DROP CONSTRAINT takes every kind of constraint; a SPATIAL index keeps its place.
    "CREATE TABLE d.j (a VARCHAR(10), b INT, c INT, g POINT NOT NULL SRID 0, CONSTRAINT uu UNIQUE (a), \
     CONSTRAINT fu UNIQUE ((b + 1)), UNIQUE KEY uc (c), SPATIAL KEY (g), PRIMARY KEY (b))",
    "ALTER TABLE d.j DROP CONSTRAINT fu",
    "ALTER TABLE d.j DROP CONSTRAINT uu, DROP CONSTRAINT `PRIMARY`",
    "ALTER TABLE d.j DROP COLUMN c",
];

/// Queries for which both servers must show the same rows.
const SHOWN: &[&str] = &[
    "SHOW CREATE TABLE d.f",
    "SHOW INDEX FROM d.f",
    "SHOW CREATE TABLE d.c",
    "SHOW CREATE TABLE d.g",
    "SHOW INDEX FROM d.g",
    "SHOW CREATE TABLE d.h",
    "SHOW CREATE TABLE d.i",
    "SHOW CREATE TABLE d.j",
];

fn answers(flavor: Flavor) -> Vec<String> {
    let server = Server::start(flavor, &Settings::default());
    let mut client = server.connect();
    let mut run = |text: &str| {
        let ok = client
            .command(command::QUERY, text.as_bytes())
            .unwrap_or_else(|e| panic!("{flavor}: {text}: {e}"));
        format!("{text}: {} rows, {} warnings, '{}'", ok.affected_rows, ok.warnings, ok.info)
    };
    let mut told: Vec<String> = STATEMENTS.iter().map(|text| run(text)).collect();
    for text in SHOWN {
        told.extend(server.rows(text).into_iter().map(|row| format!("{text}: {row}")));
    }
    told.push(run("DROP DATABASE d"));
    told
}

#[test]
fn definitions_are_answered_as_mysql_answers_them() {
    if available("definitions_are_answered_as_mysql_answers_them", &[Flavor::MySql]) {
        assert_eq!(answers(Flavor::Slipstream), answers(Flavor::MySql));
    }
}

/// CREATE TABLE ... SELECT keeps defaults and comments of columns; names in SHOW CREATE of programs
/// are quoted as the program's sql_mode says; the small print of FULLTEXT and of partitions.
const KEPT: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b INT DEFAULT 5, c VARCHAR(10) NOT NULL DEFAULT 'x', \
     d TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP, e INT NOT NULL, f VARCHAR(5) NOT NULL, \
     g DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), h INT DEFAULT (1 + 2), \
     i BIGINT UNSIGNED NOT NULL UNIQUE COMMENT 'c', j INT GENERATED ALWAYS AS (b + 1), k INT INVISIBLE DEFAULT 3)",
    "CREATE TABLE u AS SELECT * FROM t",
    "SHOW CREATE TABLE u",
    "CREATE TABLE u2 AS SELECT NULL AS z, a, a + 0 AS aa, k FROM t",
    "SHOW CREATE TABLE u2",
    "CREATE TABLE u3 AS SELECT b FROM t UNION SELECT e FROM t",
    "SHOW CREATE TABLE u3",
    "CREATE TABLE u4 AS SELECT t.a, t.e, x.c, x.a AS xa, x.b FROM t LEFT JOIN t AS x ON t.a = x.b",
    "SHOW CREATE TABLE u4",
    "CREATE VIEW v AS SELECT a, b, c FROM t",
    "CREATE TABLE u6 AS SELECT * FROM v",
    "SHOW CREATE TABLE u6",
    "CREATE TABLE u7 AS SELECT MAX(b) AS m, c FROM t GROUP BY c",
    "SHOW CREATE TABLE u7",
    "CREATE TEMPORARY TABLE u8 AS SELECT b, c FROM t",
    "SHOW CREATE TABLE u8",
    "CREATE TABLE p (e MEDIUMINT NOT NULL DEFAULT 0) PARTITION BY KEY(e) PARTITIONS 2",
    "ALTER TABLE p REORGANIZE PARTITION",
    "SHOW CREATE TABLE p",
    "CREATE TABLE p3 (e MEDIUMINT NOT NULL DEFAULT 0) PARTITION BY HASH(e) (PARTITION x, PARTITION y)",
    "ALTER TABLE p3 REORGANIZE PARTITION",
    "SHOW CREATE TABLE p3",
    "CREATE TABLE p4 (e MEDIUMINT NOT NULL DEFAULT 0) PARTITION BY RANGE(e) (PARTITION p0 VALUES LESS THAN (10))",
    "ALTER TABLE p4 REORGANIZE PARTITION",
    // A subpartition has its partition's options where it has none of its own.
    "CREATE TABLE p5 (e INT) PARTITION BY RANGE (e) SUBPARTITION BY KEY (e) (PARTITION p0 VALUES LESS THAN (5) \
     MAX_ROWS = 7 MIN_ROWS = 3 COMMENT = 'of p0' (SUBPARTITION a COMMENT 'own' MIN_ROWS = 4, SUBPARTITION b), \
     PARTITION p1 VALUES LESS THAN (9) (SUBPARTITION c, SUBPARTITION d))",
    "SHOW CREATE TABLE p5",
    "SELECT subpartition_name, partition_comment FROM information_schema.partitions WHERE table_name = 'p5' ORDER BY 1",
    "CREATE TABLE w (t TEXT, FULLTEXT KEY k (t) WITH PARSER ngram)",
    "ALTER TABLE w ALTER INDEX k INVISIBLE",
    "SHOW CREATE TABLE w",
    "SET sql_mode = 'ANSI_QUOTES'",
    "CREATE PROCEDURE q1() COMMENT 'x' SELECT \"a b\" FROM \"t\"",
    "CREATE FUNCTION f1(x INT) RETURNS INT DETERMINISTIC RETURN \"x\"",
    "SHOW CREATE PROCEDURE q1",
    "SET sql_mode = ''",
    "SHOW CREATE PROCEDURE q1",
    "SHOW CREATE FUNCTION f1",
    "CREATE PROCEDURE q2() SELECT 1",
    "SET sql_mode = 'ANSI_QUOTES'",
    "SHOW CREATE PROCEDURE q2",
];

#[test]
fn what_definitions_keep_of_others_is_mysqls() {
    let told = testkit::answers::same_answers("what_definitions_keep", KEPT);
    assert!(told[4].contains("DEFAULT 'x'"), "{}", told[4]);
}

/// CREATE TABLE ... SELECT that passes over duplicates or replaces rows, and whose columns have
/// expressions.
const FILLED: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE s (a INT, b VARCHAR(9))",
    "INSERT INTO s VALUES (1, 'x'), (1, 'y'), (2, 'z')",
    "CREATE TABLE r1 (a INT PRIMARY KEY) IGNORE SELECT a, b FROM s",
    "SELECT * FROM r1",
    "CREATE TABLE r2 (a INT PRIMARY KEY) REPLACE AS SELECT a, b FROM s",
    "SELECT * FROM r2",
    "CREATE TABLE r3 (a INT PRIMARY KEY) SELECT a, b FROM s",
    "SELECT * FROM r3",
    "CREATE TABLE r4 (c INT AS (a + 1), e INT DEFAULT 7, f VARCHAR(9) DEFAULT (CONCAT('a', 'b')), CHECK (a < 100)) \
     SELECT a, b FROM s",
    "SELECT * FROM r4",
    "SHOW CREATE TABLE r4",
    "CREATE TABLE r5 (CHECK (a < 2)) SELECT a FROM s",
    "CREATE TABLE r6 (a INT AS (5)) SELECT a FROM s",
    "SHOW TABLES LIKE 'r%'",
    "CREATE TABLE r7 (a TINYINT UNSIGNED) IGNORE SELECT -1 AS a UNION SELECT 300",
    "SELECT * FROM r7",
    "CREATE TEMPORARY TABLE r8 (a INT PRIMARY KEY) REPLACE SELECT a, b FROM s",
    "SELECT * FROM r8",
    "CREATE TEMPORARY TABLE r9 (a INT PRIMARY KEY) IGNORE SELECT a, b FROM s",
    "SELECT * FROM r9",
    "CREATE TABLE r10 (a INT PRIMARY KEY) IGNORE",
    "CREATE TABLE r10 (id INT AUTO_INCREMENT PRIMARY KEY) SELECT b FROM s",
    "SELECT *, LAST_INSERT_ID() FROM r10",
    "CREATE TABLE r11 (a INT, KEY ((a + 1))) PARTITION BY HASH (a) PARTITIONS 2 SELECT a FROM s",
    "SHOW CREATE TABLE r11",
    "SELECT * FROM r11 PARTITION (p0)",
    "CREATE TABLE IF NOT EXISTS r11 SELECT 5 AS a",
    "CREATE TABLE r12 (b DATE) SELECT b FROM s",
    "CREATE TABLE bits AS SELECT b'1' AS one, 2 AS two",
    "CREATE TABLE b1 (a BIT(7) DEFAULT 1, b BIT(7) NOT NULL DEFAULT b'101', c BIT(7) NOT NULL)",
    "CREATE TABLE b2 AS SELECT * FROM b1",
    "SHOW CREATE TABLE b2",
    "SET sql_mode = ''",
    "CREATE TABLE r13 (b DATE) SELECT b FROM s",
    "ALTER TABLE s ADD p POINT NOT NULL",
    "CREATE TABLE empty (a INT)",
    "ALTER TABLE empty ADD p POINT NOT NULL, ADD UNIQUE k ((a + 1))",
    "SHOW CREATE TABLE empty",
    "CREATE TRIGGER g BEFORE INSERT ON r1 FOR EACH ROW SET @x = 1",
    "CREATE TRIGGER IF NOT EXISTS g BEFORE INSERT ON r2 FOR EACH ROW SET @x = 2",
    "CREATE FUNCTION f() RETURNS INT DETERMINISTIC COMMENT 'plain' RETURN 1",
    "ALTER FUNCTION f COMMENT ''",
    "SHOW CREATE FUNCTION f",
];

#[test]
fn tables_are_filled_by_queries_as_in_mysql() {
    let told = testkit::answers::same_answers("tables_filled_by_queries", FILLED);
    assert!(told[9].contains("1146"), "{}", told[9]);
}

/// Columns of characters that become columns of bytes, and the other way round: the bytes stay.
const CHARACTERS_AND_BYTES: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (id INT PRIMARY KEY, l VARCHAR(10) CHARACTER SET latin1, u VARCHAR(10) CHARACTER SET utf32, \
     k TEXT CHARACTER SET utf16, m VARCHAR(10) CHARACTER SET utf8mb4, g CHAR(6) CHARACTER SET gbk, \
     e ENUM('a', 'é') CHARACTER SET latin1)",
    "INSERT INTO t VALUES (1, 'é', 'it', '😀', 'é😀', '汉', 'é'), (2, NULL, '', 'a', NULL, 'ab', 'a')",
    "ALTER TABLE t MODIFY l VARBINARY(10), MODIFY u BLOB, MODIFY k VARBINARY(40), MODIFY m BLOB, \
     MODIFY g VARBINARY(12), MODIFY e VARBINARY(4)",
    "SELECT id, HEX(l), HEX(u), HEX(k), HEX(m), HEX(g), HEX(e) FROM t ORDER BY id",
    "ALTER TABLE t MODIFY l VARCHAR(10) CHARACTER SET latin2, MODIFY u VARCHAR(10) CHARACTER SET utf8mb4, \
     MODIFY k TEXT CHARACTER SET utf16, MODIFY m VARCHAR(20) CHARACTER SET latin1, MODIFY g CHAR(6) CHARACTER SET gbk",
    "SELECT id, l, HEX(u), k, m, g FROM t ORDER BY id",
    "SELECT id, HEX(l), HEX(u), HEX(k), HEX(m), HEX(g) FROM t ORDER BY id",
    "CREATE TABLE wrong (b VARBINARY(10))",
    "INSERT INTO wrong VALUES (x'41e942434445464748')",
    "ALTER TABLE wrong MODIFY b VARCHAR(10) CHARACTER SET utf8mb4",
    "ALTER TABLE wrong MODIFY b VARCHAR(10) CHARACTER SET ascii",
    "ALTER TABLE wrong MODIFY b VARCHAR(10) CHARACTER SET latin1",
    "SELECT b FROM wrong",
];

#[test]
fn columns_of_characters_become_columns_of_the_bytes_that_they_stored() {
    let told = testkit::answers::same_answers("characters_and_bytes", CHARACTERS_AND_BYTES);
    assert!(told.iter().any(|line| line.contains("1,E9,0000006900000074,")), "{told:?}");
}

/// A column that becomes AUTO_INCREMENT and may be NULL: the old rows have NULL there.
const NULL_NUMBERS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (a INT NULL, b INT, UNIQUE (a))",
    "INSERT INTO t VALUES (NULL, 1), (NULL, 2), (5, 3), (0, 4)",
    "ALTER TABLE t MODIFY a INT AUTO_INCREMENT NULL",
    "SELECT a, b FROM t ORDER BY b",
    "CREATE TABLE v (b INT)",
    "INSERT INTO v VALUES (1), (2)",
    "ALTER TABLE v ADD e SERIAL NULL DEFAULT NULL",
    "INSERT INTO v VALUES (3, 0)",
    "SELECT e, b FROM v ORDER BY b",
    "ALTER TABLE v DROP e, ADD f INT AUTO_INCREMENT UNIQUE",
    "ALTER TABLE v DROP f, ADD g INT NOT NULL AUTO_INCREMENT UNIQUE",
    "SELECT g, b FROM v ORDER BY b",
];

#[test]
fn null_stays_in_columns_that_become_numbered() {
    let told = testkit::answers::same_answers("null_numbers", NULL_NUMBERS);
    assert!(told.iter().any(|line| line.contains("NULL")), "{told:?}");
}

/// Columns of texts that become columns of bits: the bits are those of the number in the text.
const TEXTS_AND_BITS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "SET sql_mode = 'STRICT_TRANS_TABLES'",
    "CREATE TABLE u (o VARCHAR(40))",
    "INSERT INTO u VALUES ('abc')",
    "ALTER TABLE u MODIFY o BIT(64)",
    "UPDATE u SET o = '9'",
    "ALTER TABLE u MODIFY o BIT(2)",
    "ALTER TABLE u MODIFY o BIT(4)",
    "SELECT HEX(o) FROM u",
];

#[test]
fn columns_of_texts_become_columns_of_bits() {
    let told = testkit::answers::same_answers("texts_and_bits", TEXTS_AND_BITS);
    assert!(told.iter().any(|line| line.contains("INTEGER value: 'abc'")), "{told:?}");
}

/// Columns of times that become columns of dates: a time is one of the statement's day.
const TIMES_AND_DATES: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "SET time_zone = '+00:00', timestamp = 1764000000",
    "CREATE TABLE k (t TIME(2), u TIME, w TIME)",
    "INSERT INTO k VALUES ('10:11:12.34', '-10:11:12', '24:00:00'), ('23:59:59.99', '00:00:00', '-48:00:00'), \
     (NULL, '838:59:59', NULL)",
    "ALTER TABLE k MODIFY t DATETIME, MODIFY u TIMESTAMP NOT NULL, MODIFY w DATE",
    "SELECT * FROM k",
];

#[test]
fn columns_of_times_become_columns_of_dates() {
    let told = testkit::answers::same_answers("times_and_dates", TIMES_AND_DATES);
    assert!(told.iter().any(|line| line.contains("2025-11-23 13:48:48")), "{told:?}");
}

/// Expressions of every kind, to see what SHOW CREATE TABLE makes of them.
const EXPRESSIONS: &[&str] = &[
    "not a",
    "not (a > 1)",
    "not (t like 'x%')",
    "t not like 'x%' ",
    "a != 1",
    "a <=> 2",
    "a between 1 and 5",
    "a not between 1 and 5",
    "a in (1,2)",
    "a not in (1,2)",
    "t in ('x','y')",
    "a is null",
    "a is not null",
    "a is true",
    "a is not false",
    "a > 1 and b < 2 and c = 3",
    "a > 1 and (b < 2 or c = 3)",
    "a > 1 or b < 2 or c = 3",
    "a > 1 xor b",
    "a + b * c - 1",
    "a / 2",
    "a div 2",
    "a mod 2",
    "a % 2",
    "a & 3 | 1",
    "a ^ 1",
    "a << 2",
    "~a",
    "-a",
    "-1.5",
    "+a",
    "1.50",
    "1e3",
    "'it''s'",
    r#"'back\\slash'"#,
    "x'4142'",
    "b'101'",
    "0x41",
    "true",
    "false",
    "null",
    "case when a > 1 then 'x' else 'y' end",
    "case a when 1 then 2 when 3 then 4 end",
    "if(a>1,b,c)",
    "ifnull(a,1)",
    "coalesce(a,b)",
    "nullif(a,b)",
    "concat(t,'-',a)",
    "concat_ws(',',t,a)",
    "upper(t)",
    "lcase(t)",
    "substring(t,2,3)",
    "substring(t from 2)",
    "mid(t,1,2)",
    "left(t,3)",
    "trim(t)",
    "trim(leading 'x' from t)",
    "ltrim(t)",
    "replace(t,'a','b')",
    "length(t)",
    "char_length(t)",
    "character_length(t)",
    "position('x' in t)",
    "locate('x',t)",
    "instr(t,'x')",
    "cast(a as char)",
    "cast(a as char(10))",
    "cast(t as signed)",
    "cast(t as unsigned)",
    "cast(t as decimal(10,2))",
    "cast(t as date)",
    "cast(t as datetime(3))",
    "cast(t as binary(3))",
    "cast(t as json)",
    "convert(t, signed)",
    "convert(t using latin1)",
    "t collate utf8mb4_bin = 'x'",
    "d + interval 1 day",
    "date_add(d, interval 2 month)",
    "date_sub(d, interval 2 month)",
    "adddate(d, 3)",
    "extract(year from d)",
    "year(d)",
    "month(d)",
    "dayofmonth(d)",
    "day(d)",
    "date(d)",
    "date_format(d,'%Y-%m')",
    "datediff(d,'2020-01-01')",
    "timestampdiff(day,d,'2020-01-01')",
    "to_days(d)",
    "round(a,2)",
    "floor(a)",
    "ceil(a)",
    "pow(a,2)",
    "abs(a)",
    "mod(a,2)",
    "greatest(a,b)",
    "sha2(t,256)",
    "crc32(t)",
    "hex(t)",
    "unhex(t)",
    "json_extract(j,'$.a')",
    "j->'$.a'",
    "j->>'$.a'",
    "json_unquote(j->'$.a')",
    "json_valid(t)",
    "t regexp '^a'",
    "t not regexp '^a'",
    "regexp_like(t,'a')",
    "st_x(point(a,b))",
    "date '2020-01-01'",
    "timestamp '2020-01-01 00:00:00'",
    "_latin1'abc'",
    "json_object('a',a)",
    "json_array(a,b)",
    "a = b = c",
    "(a,b) = (1,2)",
    "elt(a,'x','y')",
    "field(t,'a')",
    "find_in_set(t,'a,b')",
    "lpad(t,5,'0')",
    "strcmp(t,'a')",
    "soundex(t)",
    "ascii(t)",
    "format(a,2)",
    "conv(a,10,16)",
    "bin(a)",
    "inet_aton(t)",
    "time_to_sec(d)",
    "str_to_date(t,'%Y')",
    "sign(a)",
    "a or b",
    "a and b",
    "not a and b",
    "t like 'a' escape '!'",
    "dayname(d)",
    "quarter(d)",
    "week(d,1)",
    "yearweek(d)",
    "last_day(d)",
    "makedate(a,b)",
    "reverse(t)",
    "repeat(t,2)",
    "space(a)",
    "insert(t,1,2,'x')",
    "char(a)",
    "char(a using utf8mb4)",
    "ord(t)",
    "log(a)",
    "log2(a)",
    "ln(a)",
    "exp(a)",
    "sqrt(a)",
    "truncate(a,1)",
    "pi()",
    "uuid_to_bin(t)",
    "bin_to_uuid(t)",
    "is_uuid(t)",
    "time(d)",
    "timestamp(d)",
    "timestamp(d,'10:00')",
    "addtime(d,'1:00')",
    "date_format(d, '%Y') = '2020'",
];

/// Definitions with expressions, and rows of such tables. The answers must be the same, and so must
/// be the errors.
const WITH_EXPRESSIONS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "create table g(id int primary key, a int, v int as (a+1) virtual, s int generated always as (a*2) stored, vt varchar(20) as (concat('x',a)) virtual not null, key(v), key((a+5)), key f2((lower(vt)), a), check (a<100), constraint cc check (a > -5) not enforced, d varchar(10) default (concat('a','b')), e int invisible default 5, key dd(a desc, id), key iv(e) invisible, j json default (json_array()), u binary(16) default (uuid_to_bin(uuid())), col int check (col <> 3), constraint c2 check (col in (1,2,4)), index ((substr(vt,1,2)), (a*3) desc), key mv((cast(j->'$[*]' as unsigned array))))",
    "show create table g",
    "select ORDINAL_POSITION,COLUMN_NAME,COLUMN_DEFAULT,EXTRA,GENERATION_EXPRESSION,COLUMN_KEY from information_schema.columns where table_schema='d' order by 1",
    "select * from information_schema.check_constraints where constraint_schema='d' order by constraint_name",
    "select * from information_schema.table_constraints where constraint_schema='d' order by constraint_name",
    "create table h(id int primary key auto_increment, a int, v int as (a+1) virtual, s int as (v*2) stored, t varchar(20) as (concat('x',a)) virtual, d varchar(10) default (concat('a',a)), key(v), unique(t), check (a<100), constraint cc check (a > -5) not enforced, e int invisible default 5)",
    "insert into h(a) values(1),(2),(null)",
    "insert into h values (10,11,default,default,default,default),(11,13,default,default,default,'zz')",
    "insert into h values (12,11,1,default,default,default)",
    "insert into h(id,a,v) values (12,11,1)",
    "insert into h(id,a,v) select 20,20,20",
    "insert into h(a) values (200)",
    "insert ignore into h(a) values (200),(-20),(30)",
    "insert into h(a) values (2)",
    "select *,e from h",
    "update h set a=a+1 where id=1",
    "update h set a=20 where v=14",
    "update h set v=3",
    "update h set v=default where id=1",
    "update h set a=1000 where id=1",
    "update ignore h set a=1000+id",
    "update h set d=default where id=11",
    "select * from h",
    "insert into h(id,a) values (11,15) on duplicate key update a=16",
    "insert into h(id,a) values (11,15) on duplicate key update a=160",
    "insert into h(id,a) values (11,15) on duplicate key update v=160",
    "replace into h(id,a) values (11,17)",
    "select * from h where v=18",
    "select * from h where t='x17'",
    "alter table h add constraint zz check (a < 3)",
    "alter table h add constraint zz check (a < 300)",
    "alter table h alter check cc enforced",
    "show create table h",
    "update h set a=-3 where id=2",
    "alter table h alter constraint cc not enforced",
    "update h set a=-30 where id=2",
    "alter table h drop check cc",
    "alter table h drop check cc",
    "alter table h drop constraint zz",
    "alter table h drop constraint h_chk_1",
    "alter table h add check (a < 1000), add check (a < 2000)",
    "alter table h drop column a",
    "alter table h rename column a to b",
    "alter table h change a b int",
    "alter table h add w int as (a+s) stored, add x varchar(30) default (concat('q',id))",
    "select * from h",
    "alter table h modify v int as (a+2)",
    "select id,v,s,w from h",
    "alter table h modify v int as (a+2) stored",
    "alter table h modify v int",
    "show create table h",
    "alter table h drop column w",
    "create table h2 like h",
    "show create table h2",
    "rename table h2 to h3",
    "show create table h3",
    "create table k(a int, b int as (c) virtual)",
    "create table k(a int, b int as (rand()) virtual)",
    "create table k(a int, b int as (a+1) virtual, c int as (d) virtual, d int as (a))",
    "create table k(a int check (b > 1), b int)",
    "create table k(a int, check (c > 1))",
    "create table k(a int, b int as (a) virtual primary key)",
    "create table k(a int auto_increment primary key, b int as (a))",
    "create table k(a int, constraint zz check (a>1), constraint zz check (a>2))",
    "create table k(a int, constraint h_chk_1 check (a>1))",
    "drop table k",
    "create table k(a int, b int default (a+1), primary key((a+1)))",
    "create table k(a int, b int as (a+1) default 3)",
    "create table k(a int, check (now() > a))",
    "create table k(a int, b int as ((select 1)))",
    "create table k(a int, check ((select 1)))",
    "create table k(a int, key(((select 1))))",
    "create table k(a int, check (a=@b))",
    "create table k(a int, b int as (@b))",
    "create table k(a int, b int default (@b))",
    "create table k(a int, key((rand())))",
    "create table k(a int, key((b+1)))",
    "create table k(a int, b int default (c+1))",
    "create table k(a int, check (a))",
    "create table k(a int auto_increment primary key, check (a>1))",
    "create table k(a int, key((@b)))",
    "create table k(a int, b int default (sleep(1)))",
    "create table k(a int, key((a)))",
    "create table k(a int, b int default (a+2), c datetime default (now()), d date default (curdate()), e int not null default (1+1))",
    "show create table k",
    "insert into k(a) values (1)",
    "insert into k(a,b) values (1,default)",
    "insert into k(a,b,e) values (1,7,9)",
    "select a,b,e from k",
    "alter table k alter column b set default (a+3), alter index x visible",
    "alter table k alter column b set default (a+3)",
    "alter table k add key kk (a desc, b), add key k2 (b)",
    "alter table k alter index k2 invisible",
    "show create table k",
    "alter table k alter index k2 visible",
    "alter table k drop index kk",
    "create index fx on k ((a+b))",
    "create index fx on k ((a+b))",
    "alter table k rename index fx to fy",
    "show create table k",
    "drop index fy on k",
    "alter table k drop column a",
    "create table ci(a int, b varchar(10), c int as (a+1) stored unique, check (not (a>1 and b<2)), check (not(a or b = 3)), check (not (a is null)), check (b like 'x%' or not b like 'y'))",
    "show create table ci",
    "create table inv(a int invisible, b int)",
    "insert into inv values (1)",
    "insert into inv(a,b) values (1,2)",
    "select * from inv",
    "select a,b from inv",
    "alter table inv alter column a set visible",
    "show create table inv",
    "create table au(id int primary key, name varchar(20), ln varchar(20) as (lower(name)) stored, key(ln))",
    "insert into au(id,name) values (1,'ABC'),(2,'Def')",
    "select * from au where ln='def'",
    "delete from au where ln='abc'",
    "select * from au order by ln",
    "DROP DATABASE d",
];

/// Returns what a server answers to one statement: rows, counts, or the error.
fn answer(client: &mut protocol::client::Client, text: &str) -> String {
    let is_query = ["show", "select"].iter().any(|word| text.starts_with(word));
    let answered = match is_query {
        true => client.query(text).map(|result| {
            let cell = |cell: &Option<Vec<u8>>| {
                cell.as_ref().map_or("NULL".to_string(), |cell| String::from_utf8_lossy(cell).into_owned())
            };
            let row = |row: &Vec<_>| row.iter().map(cell).collect::<Vec<_>>().join("\t");
            result.rows.iter().map(row).collect::<Vec<_>>().join("\n")
        }),
        false => client
            .command(command::QUERY, text.as_bytes())
            .map(|ok| format!("{} rows, {} warnings, '{}'", ok.affected_rows, ok.warnings, ok.info)),
    };
    format!("{text}: {}", answered.unwrap_or_else(|error| error.to_string()))
}

#[test]
fn expressions_are_answered_as_mysql_answers_them() {
    if !available("expressions_are_answered_as_mysql_answers_them", &[Flavor::MySql]) {
        return;
    }
    let ours = Server::start(Flavor::Slipstream, &Settings::default());
    let theirs = Server::start(Flavor::MySql, &Settings::default());
    let (mut us, mut them) = (ours.connect(), theirs.connect());
    let mut different = Vec::new();
    let mut compare = |text: &str| {
        let (ours, theirs) = (answer(&mut us, text), answer(&mut them, text));
        if ours != theirs {
            different.push(format!("{ours}\n  in MySQL: {theirs}"));
        }
    };
    for text in WITH_EXPRESSIONS {
        compare(text);
    }
    compare("CREATE DATABASE e");
    for expression in EXPRESSIONS {
        compare(&format!(
            "CREATE TABLE e.t (a INT, b INT, c INT, t VARCHAR(20), d DATETIME, j JSON, g TEXT AS ({expression}))"
        ));
        compare("show create table e.t");
        compare("DROP TABLE e.t");
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Statements whose types are told to be deprecated, in parts or as a whole.
const DEPRECATED: &[&str] = &[
    "create database d",
    "use d",
    "create table t (a decimal unsigned zerofill, b bool, c tinyint(1), d int(11) unsigned zerofill, e int zerofill, \
     f float(10), g float(10, 2) unsigned, h double unsigned zerofill, i double precision(5,2), j real(4,1), k numeric(3) \
     unsigned, l year, m serial, n bit(3), o year(4), p bigint(20), q integer, r smallint(3), s fixed(3,1) unsigned, \
     u int signed, w varchar(3) binary, x char(3) byte, y national char(3))",
    "alter table t modify q int(3), change r rr float(7,3) unsigned",
    "alter table t add z mediumint(4) zerofill",
    "create temporary table tt (a int(3))",
    "create table if not exists t (a int(3))",
    "create table c (y int(3)) as select 1",
    "create function f(x int) returns decimal(3) unsigned deterministic return 1",
    "create procedure p(x int) select x",
    "call p(5)",
    "select f(1)",
    "prepare s from 'create table u (a int(3))'",
    "execute s",
    "create table nothing (a nosuchtype(3))",
    "select cast('1' as decimal(3))",
    "select * from json_table('[1]', '$[*]' columns (a int(3) path '$', b decimal(3) unsigned path '$')) jt",
];

#[test]
fn deprecated_types_are_warned_of() {
    testkit::answers::same_answers("deprecated_types", DEPRECATED);
}

/// Names of character sets and collations that MySQL will remove, wherever they may stand.
const DEPRECATED_NAMES: &[&str] = &[
    "create database d",
    "use d",
    "create table a (x varchar(5) character set utf8mb3, y varchar(5) collate utf8_bin, z char(3) charset utf8)",
    "create table b (x varchar(5) character set ucs2, y enum('a') charset macroman) charset=macce",
    "create table c (x int) collate=dec8_swedish_ci",
    "create table e (x varchar(5) character set latin1 collate latin1_bin, y set('a') charset hp8) charset utf8",
    "create table f (x varchar(5) ascii, y char(3) unicode, z char(3) byte)",
    "create temporary table k (x varchar(5) charset utf8mb3)",
    "create table g as select _utf8mb3'a' as x",
    "alter table a convert to character set utf8mb3",
    "alter table a convert to character set ucs2 collate ucs2_bin",
    "alter table a default character set utf8mb3",
    "alter table a modify x varchar(6) charset utf8mb3, add w varchar(5) collate utf8mb3_general_ci",
    "create database h charset utf8mb3",
    "alter database h collate utf8mb3_bin",
    "alter database h charset ucs2",
    "select _utf8mb3'a', _utf8'a', _ucs2 0x0041, _dec8'a', _hp8 0x41",
    "select convert('a' using utf8mb3), convert('a' using utf8), char(65 using ucs2)",
    "select cast('a' as char character set utf8mb3), cast('a' as char(3) charset ucs2)",
    "select _utf8mb3'a' collate utf8mb3_bin",
    "create function f(a int) returns varchar(5) charset ucs2 deterministic return 'a'",
    "select * from json_table('[]', '$[*]' columns (a varchar(5) charset utf8mb3 path '$')) jt",
    "set character_set_server = utf8mb3",
    "set character_set_server = default",
    "set collation_database = 'utf8mb3_bin'",
    "set collation_database = 'utf8mb4_0900_ai_ci'",
    "set character_set_connection = 'macce'",
    "set collation_connection = utf8_bin",
    "set character_set_client = utf8mb3",
    "set names utf8",
    "set names utf8mb3 collate utf8mb3_bin",
    "set names utf8mb4 collate utf8mb4_bin",
    "set character set utf8mb3",
];

#[test]
fn deprecated_character_sets_are_warned_of() {
    testkit::answers::same_answers("deprecated_character_sets", DEPRECATED_NAMES);
}

/// Columns that change their types under rows that do not fit.
const CONVERTED_ROWS: &[&str] = &[
    "create database d",
    "use d",
    "set sql_mode = ''",
    "create table t (id int primary key, d decimal(3,1), e double, v varchar(10), i int, y year, b bit(3))",
    "insert into t values (1,1.5,1.5,'1.5',2,2001,1),(2,0.5,0.5,'2',1,1901,2),(3,2,2,'b',3,0,3),(4,-0.4,-1,'x',-1,1,0), \
     (5,null,null,null,null,null,null)",
    "create table members as select * from t",
    "alter table members modify d enum('2','b'), modify e enum('2','b'), modify v enum('a','b'), modify i enum('2','b')",
    "select id, d + 0, e + 0, v + 0, i + 0 from members order by id",
    "create table sets as select * from t",
    "alter table sets modify d set('2','b'), modify e set('2','b'), modify v set('a','b'), modify i set('2','b')",
    "select id, d + 0, e + 0, v + 0, i + 0 from sets order by id",
    "create table narrow (id int, a int, b varchar(20), c decimal(10,4), f datetime(6), g double)",
    "insert into narrow values (1, 300, '12abc', 1.2345, '2020-02-03 04:05:06.789', 3e9), (2, -1, 'word', -9, null, 1)",
    "alter table narrow modify a tinyint unsigned, modify b varchar(3)",
    "alter table narrow modify c decimal(4,2), modify g int, modify b int",
    "alter table narrow modify f datetime not null",
    "select * from narrow order by id",
    "alter table narrow modify f date",
    "create temporary table own (a int)",
    "insert into own values (1000)",
    "alter table own modify a tinyint",
    "update narrow set f = '2020-01-01'",
    "set sql_mode = default",
    "alter table narrow modify c decimal(3,1)",
    "alter table narrow modify a bit(1)",
];

#[test]
fn rows_that_do_not_fit_are_told_of() {
    testkit::answers::same_answers("converted_rows", CONVERTED_ROWS);
}

/// A column takes its own index along, and the hidden column of another index stays.
const BESIDE_HIDDEN_COLUMNS: &[&str] = &[
    "create database d",
    "use d",
    "create table t (id int primary key, a int, b enum('x','y') unique)",
    "create index f on t ((a + 1))",
    "insert into t values (1, 1, 'x'), (2, 2, 'y')",
    "alter table t drop b",
    "insert into t values (3, 3)",
    "select id from t where a + 1 = 3",
    "show create table t",
    "check table t",
];

#[test]
fn a_dropped_column_leaves_the_hidden_columns_of_other_indexes() {
    testkit::answers::same_answers("beside_hidden_columns", BESIDE_HIDDEN_COLUMNS);
}

/// The names of altered columns are those from before the statement.
const OLD_NAMES: &[&str] = &[
    "create database d",
    "use d",
    "create table t (p int, n int)",
    "alter table t rename column p to z, rename column z to p",
    "alter table t rename column p to n, rename column n to p",
    "show create table t",
    "alter table t rename column p to y, drop column p",
    "alter table t drop column p, modify p bigint",
    "alter table t drop column P, alter p set default 5",
    "alter table t add column q int, rename column q to r",
    "alter table t add column q int, alter q set default 7",
    "alter table t add column q int, modify q bigint",
    "alter table t change p y int, rename column y to p",
    "alter table t change p y int, add column p int",
    "show create table t",
];

#[test]
fn columns_are_altered_by_their_old_names() {
    testkit::answers::same_answers("old_names", OLD_NAMES);
}
