//! Tests of partitioned tables: definitions, errors and rows are as in MySQL, and tables of MySQL
//! and MariaDB sources are replicated.

use bench::instance::{Flavor, RowImage, Settings};
use protocol::client::Client;
use protocol::command;
use testkit::following::{By, Pair};
use testkit::server::flavor_under_test;
use testkit::{Server, available};

/// Statements that both servers must answer alike, with the same errors too.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    // Forms of definitions.
    "create table f1 (id int, d date, primary key (id,d)) partition by range (year(d)) (partition p0 values less than (1990) comment 'it''s', partition p1 values less than (2000) max_rows 10, partition p2 values less than maxvalue)",
    "create table f2 (id int primary key) partition by hash(id) partitions 4",
    "create table f3 (id int primary key) partition by hash(id)",
    "create table f4 (id int primary key) partition by linear hash(id+1) (partition a, partition b)",
    "create table f5 (id int primary key, c varchar(10)) partition by key() partitions 3",
    "create table f6 (id int primary key) partition by linear key algorithm=1 (id) partitions 3",
    "create table f7 (id int, c int) partition by list(c) (partition a values in (1,2,null), partition `b b` values in (-3))",
    "create table f8 (a int, b varchar(10), d date) partition by range columns(a,b,d) (partition p0 values less than (1,'x','2020-01-01'), partition p1 values less than (maxvalue,maxvalue,maxvalue))",
    "create table f9 (a int, b varchar(10)) partition by list columns(a,b) (partition p0 values in ((1,'a'),(2,'b')), partition p1 values in ((null,null)))",
    "create table f10 (id int, d date) partition by range(year(d)) subpartition by hash(to_days(d)) subpartitions 2 (partition p0 values less than (1990), partition p1 values less than maxvalue)",
    "create table f11 (id int, d date) partition by range(year(d)) subpartition by key(id) (partition p0 values less than (1990) (subpartition s0, subpartition s1), partition p1 values less than maxvalue (subpartition s2, subpartition s3))",
    "create table f12 (id int, t timestamp) partition by range(unix_timestamp(t)) (partition p0 values less than (1577836800), partition p1 values less than maxvalue)",
    "create table f13 (`my col` int, `month` int) partition by range columns(`my col`,`month`) (partition `month` values less than (1,2), partition P1 values less than (5,6), partition `1a` values less than (7,8), partition `9` values less than (8,8), partition a$b values less than (9,9))",
    "create table f14 (b varbinary(10)) partition by list columns(b) (partition p0 values in (x'ff00','a''b'), partition p1 values in ('c'))",
    "create table f15 (a int unsigned) partition by list(a) (partition p0 values in (5,1,3), partition p1 values in (2+2, 18446744073709551615 div 2))",
    "create table f16 (a int, b int) partition by list(a) subpartition by linear key algorithm=1 (b) subpartitions 3 (partition p0 values in (1))",
    "create table f17 like f8",
    "show create table f1",
    "show create table f2",
    "show create table f3",
    "show create table f4",
    "show create table f5",
    "show create table f6",
    "show create table f7",
    "show create table f8",
    "show create table f9",
    "show create table f10",
    "show create table f11",
    "show create table f12",
    "show create table f13",
    "show create table f14",
    "show create table f15",
    "show create table f16",
    "show create table f17",
    "select table_name,partition_name,subpartition_name,partition_ordinal_position,subpartition_ordinal_position,partition_method,subpartition_method,partition_expression,subpartition_expression,partition_description,partition_comment,nodegroup,tablespace_name from information_schema.partitions where table_schema='d' order by 1,4,5",
    "select create_options from information_schema.tables where table_schema='d' and table_name in ('f1','f2')",
    // Definitions that are refused.
    "create table x (id int) partition by list(id) (partition p0 values in (1,2), partition p1 values in (2))",
    "create table x (id int) partition by range(id) (partition p0 values less than (5), partition p1 values less than (5))",
    "create table x (id int primary key, b int) partition by hash(b)",
    "create table x (id int, b int, unique key(id)) partition by hash(b)",
    "create table x (id int) partition by range(id) (partition p0 values less than (5), partition p0 values less than (6))",
    "create table x (id int) partition by range(id) partitions 2",
    "create table x (id int) partition by hash(y)",
    "create table x (id varchar(10)) partition by hash(id)",
    "create table x (id int) partition by hash(5)",
    "create table x (id int) partition by hash(id) partitions 0",
    "create table x (id int) partition by hash(id) partitions 9000",
    "create table x (id int) partition by hash(id) (partition p0 values in (1))",
    "create table x (id int) partition by list(id) (partition p0 values in ('a'))",
    "create table x (id float) partition by range columns(id) (partition p0 values less than (1))",
    "create table x (id int) partition by range columns(id) (partition p0 values less than ('x'))",
    "create table x (id int, foreign key (id) references f2(id)) partition by hash(id)",
    "create table x (id int, t timestamp) partition by range(t) (partition p0 values less than (5))",
    "create table x (id int) partition by range(id) (partition p0 values less than (null))",
    "create table x (id int) partition by range(id) (partition p0 values less than maxvalue, partition p1 values less than (4))",
    // Changes by ALTER TABLE.
    "create table r (id int, d date, primary key (id,d)) partition by range (year(d)) (partition p0 values less than (1990), partition p1 values less than (2000))",
    "alter table r add partition (partition p2 values less than (2010), partition p3 values less than maxvalue)",
    "alter table r add partition (partition p4 values less than (2020))",
    "insert into r values (1,'1980-01-01'),(2,'1995-01-01'),(3,'2005-01-01'),(4,'2015-01-01')",
    "alter table r drop partition p0,p1",
    "show create table r",
    "select * from r order by id",
    "alter table r reorganize partition p2 into (partition a values less than (2000), partition b values less than (2010))",
    "alter table r truncate partition b",
    "select * from r order by id",
    "alter table r drop partition nope",
    "alter table r reorganize partition a,nope into (partition x values less than (3))",
    "alter table r reorganize partition a into (partition x values less than (3))",
    "alter table r coalesce partition 1",
    "alter table r drop partition a,b,p3",
    "alter table r truncate partition nope",
    "alter table r truncate partition all",
    "alter table r remove partitioning",
    "alter table r remove partitioning",
    "alter table r drop partition p0",
    "select * from r partition (p0)",
    "alter table r partition by hash(id) partitions 3",
    "alter table r coalesce partition 1",
    "alter table r add partition partitions 3",
    "alter table r add partition (partition x, partition y)",
    "alter table r add partition (partition x)",
    "alter table r drop partition p0",
    "alter table r coalesce partition 0",
    "alter table r coalesce partition 7",
    "alter table r rebuild partition p0, p1",
    "show create table r",
    "alter table r add column z int, drop primary key",
    "alter table r drop column id",
    "alter table r rename column id to id2",
    "alter table r modify id bigint",
    "alter table r add unique key (z)",
    "alter table r add column w int, drop partition p0",
    "alter table r drop partition p0, add column w int",
    "alter table r add column w int partition by range(id) (partition p0 values less than (5))",
    "show create table r",
    // Rows and the partitions that they belong to.
    "insert into r values (7,'2000-01-01',1,1)",
    "insert ignore into r values (7,'2000-01-01',1,1),(1,'2000-01-01',1,1)",
    "update r set id=8",
    "update ignore r set id=8",
    "insert into r partition (p0) values (7,'2000-01-01',1,1)",
    "insert into r partition (p9) values (7,'2000-01-01',1,1)",
    "select * from r partition (p9)",
    "delete from r partition (p0) where id=1",
    "select count(*) from r",
    "alter table r partition by range columns(id) (partition p0 values less than (5))",
    "insert into r values (7,'2000-01-01',1,1)",
    "create table s (a int, b int, key(b)) partition by range(a) subpartition by hash(b) subpartitions 2 (partition p0 values less than (5), partition p1 values less than (10))",
    "insert into s values (1,1),(1,2),(6,1),(6,2),(null,-3)",
    "select * from s partition (p0sp1) order by 1,2",
    "select * from s partition (p1,p0sp0) order by 1,2",
    "select x.a, y.a from f2 f left join s partition (p0) x on x.a = f.id left join s partition (p1) y on y.a = 6",
    "insert into s partition (p0sp1) values (1,2)",
    "update s partition (p0) set a=7",
    "delete from s partition (p1sp1)",
    "alter table s truncate partition p0sp0",
    "select * from s order by 1,2",
    "create table q (a int) partition by list(a) (partition p0 values in (5), partition p1 values in (4,2))",
    "insert into q values (4),(2),(5)",
    "alter table q reorganize partition p1 into (partition p1 values in (2))",
    "select * from q order by 1",
    "alter table q partition by list(a) (partition p0 values in (5))",
    "select * from q order by 1",
    // Rows that change places with EXCHANGE PARTITION.
    "create table e (id int, d date, v varchar(10), primary key (id,d), key(v)) partition by range (year(d)) (partition p0 values less than (1990), partition p1 values less than (2000))",
    "create table n (id int, d date, v varchar(10), primary key (id,d), key(v))",
    "insert into e values (1,'1980-01-01','a'),(2,'1995-01-01','b')",
    "insert into n values (3,'1981-01-01','c')",
    "alter table e exchange partition p0 with table n",
    "select * from e order by id",
    "select * from e where v = 'c'",
    "select * from n",
    "alter table e exchange partition p1 with table n",
    "alter table e exchange partition p9 with table n",
    "alter table n exchange partition p9 with table e",
    "create table m (id int, d date, primary key(id,d))",
    "alter table e exchange partition p1 with table m",
    "create table o like e",
    "alter table e exchange partition p1 with table o",
    "alter table e exchange partition p1 with table nope",
    "alter table f10 exchange partition p0 with table m",
    "select * from e order by id",
    // Values are different, and in order, by the collation of their column.
    "create table cased (a varchar(10) collate utf8mb4_bin) partition by list columns(a) (partition p values in ('a'), partition q values in ('A'))",
    "insert into cased values ('a'),('A')",
    "select * from cased partition (q)",
    "create table risen (a varchar(10) collate utf8mb4_bin) partition by range columns(a) (partition p values less than ('A'), partition q values less than ('a'))",
    "create table fallen (a varchar(10) collate utf8mb4_bin) partition by range columns(a) (partition p values less than ('a'), partition q values less than ('A'))",
    "create table same (a varchar(10)) partition by list columns(a) (partition p values in ('a'), partition q values in ('A'))",
    "create table longer (a varchar(10)) partition by range columns(a) (partition p values less than ('a'), partition q values less than ('a b'))",
    "DROP DATABASE d",
];

/// Partitionings of a table (a INT, b VARCHAR(10), d DATETIME). The test puts [`ROWS`] into it and
/// compares which row is in which partition.
const PARTITIONINGS: &[&str] = &[
    "hash(a) partitions 3",
    "hash(a * 7 + 2) partitions 5",
    "linear hash(a) partitions 5",
    "linear hash(a) partitions 8",
    "range(a) (partition p0 values less than (-1), partition p1 values less than (3), partition p2 values less than maxvalue)",
    "list(a) (partition p0 values in (null, -7, 1, 2), partition p1 values in (-5, 0, 3, 4, 12, 2147483647))",
    "range columns(b) (partition p0 values less than ('B'), partition p1 values less than ('é'), partition p2 values less than (maxvalue))",
    "range columns(a, b) (partition p0 values less than (1, 'b'), partition p1 values less than (3, maxvalue), partition p2 values less than (maxvalue, maxvalue))",
    "range(to_days(d)) (partition p0 values less than (730000), partition p1 values less than (738000), partition p2 values less than maxvalue)",
    "range columns(d) (partition p0 values less than ('2000-01-01'), partition p1 values less than (maxvalue))",
    "key(a) partitions 5",
    "key(b) partitions 5",
    "key(d, a, b) partitions 5",
    "linear key(a, b) partitions 5",
    "key algorithm=1 (a, d) partitions 5",
    "range(a) subpartition by key(b) subpartitions 2 (partition p0 values less than (2), partition p1 values less than maxvalue)",
];

/// Texts that KEY spreads over the partitions.
const TEXTS: &[&str] = &["''", "'abc'", "'a '", "'A'", "'a'", "'zz'", "'é'", "'Straße'", "'  x  '", "'ch'"];

/// The same for character sets that lack letters with accents.
const ASIAN: &[&str] =
    &["''", "'abc'", "'a '", "'A'", "'a'", "'zz'", "'中'", "'文中'", "'  x 中 '", "'z文Z'"];
const THAI: &[&str] = &["''", "'abc'", "'a '", "'A'", "'ก'", "'เก'", "'ก่า'", "'แกA '"];

/// The same with characters beside the letters.
const MARKS: &[&str] = &["''", "'a'", "'A'", "'['", "']'", "'~'", "'`'", "'{'", "'y'", "'[]~`'", "'\\\\'"];
/// The same for gb18030, which has all of Unicode.
const OF_GB18030: &[&str] = &[
    "''",
    "'a '",
    "'Z'",
    "'中'",
    "'文a中'",
    "'é'",
    "'É'",
    "'ÿ'",
    "'я'",
    "'€'",
    "'😀'",
    "'\u{20000}'",
    "'\u{e000}'",
];

/// The beginning of a table with such a column.
const HASHED_TABLE: &str = "create table d.t (n int, v ";

/// Types of a column, with values that KEY spreads over the partitions.
const HASHED: &[(&str, &[&str])] = &[
    ("TINYINT UNSIGNED", &["0", "32", "97", "255"]),
    ("BIGINT", &["-1", "9223372036854775807", "97", "2314885530818453536"]),
    ("DECIMAL(12,3)", &["1.5", "-97.25", "0", "32.032"]),
    ("DOUBLE", &["1.5", "-97.25", "0", "1e100"]),
    ("FLOAT", &["1.5", "-97.25", "0"]),
    ("BIT(20)", &["b'1'", "b'100000'", "97"]),
    ("YEAR", &["1932", "1997", "2020"]),
    ("DATE", &["'2020-01-01'", "'1999-12-31'", "'2024-03-01'"]),
    ("DATETIME(3)", &["'2020-01-01 00:00:32'", "'1999-12-31 23:59:59.097'"]),
    ("TIME(2)", &["'-01:00:32'", "'23:59:59.97'", "'00:00:32'"]),
    ("ENUM('a','b','abc')", &["'a'", "'b'", "'abc'"]),
    ("SET('a','b','c','d','e','f')", &["'a'", "'a,b'", "'f'", "'a,f'"]),
    ("VARBINARY(20)", &["'abc'", "'a '", "'A'", "0x00FF"]),
    ("BINARY(4)", &["'abc'", "'a '", "'A'"]),
    ("VARCHAR(20)", TEXTS),
    ("CHAR(20)", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_0900_as_cs", TEXTS),
    ("CHAR(20) COLLATE utf8mb4_0900_as_cs", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_0900_bin", TEXTS),
    ("CHAR(20) COLLATE utf8mb4_0900_bin", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_de_pb_0900_ai_ci", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_bin", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_general_ci", TEXTS),
    ("CHAR(20) COLLATE utf8mb4_general_ci", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_unicode_ci", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_unicode_520_ci", TEXTS),
    ("VARCHAR(20) COLLATE utf8mb4_czech_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET latin1", TEXTS),
    ("CHAR(20) CHARACTER SET latin1 COLLATE latin1_bin", TEXTS),
    ("VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_general_cs", TEXTS),
    ("TIMESTAMP(3)", &["'2020-01-01 00:00:32'", "'1999-12-31 23:59:59.097'", "'2011-11-11 11:11:11'"]),
    ("VARCHAR(20) CHARACTER SET ucs2 COLLATE ucs2_general_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET ucs2 COLLATE ucs2_bin", TEXTS),
    ("VARCHAR(20) CHARACTER SET ucs2 COLLATE ucs2_unicode_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET ucs2 COLLATE ucs2_czech_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf16 COLLATE utf16_general_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf16 COLLATE utf16_bin", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf16 COLLATE utf16_unicode_520_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf16le COLLATE utf16le_general_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf16le COLLATE utf16le_bin", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf32 COLLATE utf32_general_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf32 COLLATE utf32_bin", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf32 COLLATE utf32_unicode_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET gbk COLLATE gbk_chinese_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET gbk COLLATE gbk_bin", ASIAN),
    ("VARCHAR(20) CHARACTER SET sjis COLLATE sjis_japanese_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET cp932 COLLATE cp932_japanese_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET big5 COLLATE big5_chinese_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET gb2312 COLLATE gb2312_chinese_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET euckr COLLATE euckr_korean_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET ujis COLLATE ujis_japanese_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET eucjpms COLLATE eucjpms_japanese_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET gb18030 COLLATE gb18030_bin", ASIAN),
    ("VARCHAR(20) CHARACTER SET gb18030 COLLATE gb18030_chinese_ci", OF_GB18030),
    ("CHAR(20) CHARACTER SET gb18030 COLLATE gb18030_chinese_ci", OF_GB18030),
    ("VARCHAR(20) CHARACTER SET gbk COLLATE gbk_chinese_ci", MARKS),
    ("VARCHAR(20) CHARACTER SET big5 COLLATE big5_chinese_ci", MARKS),
    ("VARCHAR(20) CHARACTER SET gb2312 COLLATE gb2312_chinese_ci", MARKS),
    ("VARCHAR(20) CHARACTER SET tis620 COLLATE tis620_thai_ci", MARKS),
    ("VARCHAR(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_mysql500_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_tolower_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET gb18030 COLLATE gb18030_unicode_520_ci", ASIAN),
    ("VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german2_ci", TEXTS),
    ("VARCHAR(20) CHARACTER SET tis620 COLLATE tis620_thai_ci", THAI),
    ("CHAR(20) CHARACTER SET ucs2", TEXTS),
    ("CHAR(20) CHARACTER SET gbk", ASIAN),
];
const ROWS: &str = "insert into d.t values (null,null,null),(-7,'a','1999-12-31 23:59:59'),(-5,'B','2000-01-01'),\
                    (0,'b','2020-02-02'),(1,'','2030-01-01'),(2,'e','1970-01-01'),(3,'É','2021-01-01'),(4,'z',null),\
                    (12,null,'1000-01-01'),(2147483647,'bb','9999-12-31')";

/// Returns what a server answers to one statement: rows, counts, or the error.
fn answer(client: &mut Client, text: &str) -> String {
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
fn partitions_are_mysqls() {
    if !available("partitions_are_mysqls", &[Flavor::MySql]) {
        return;
    }
    let ours = Server::start(flavor_under_test(), &Settings::default());
    let theirs = Server::start(Flavor::MySql, &Settings::default());
    let (mut us, mut them) = (ours.connect(), theirs.connect());
    let mut different = Vec::new();
    let mut compare = |text: &str| {
        let (ours, theirs) = (answer(&mut us, text), answer(&mut them, text));
        if ours != theirs {
            different.push(format!("{ours}\n  in MySQL: {theirs}"));
        }
    };
    STATEMENTS.iter().for_each(|text| compare(text));
    compare("create database d");
    for partitioning in PARTITIONINGS {
        compare(&format!("create table d.t (a int, b varchar(10), d datetime) partition by {partitioning}"));
        compare(ROWS);
        for partition in ["p0", "p1", "p2", "p3", "p4", "p7"] {
            compare(&format!("select a, b, d from d.t partition ({partition}) order by a, b"));
        }
        compare("alter table d.t truncate partition p1");
        compare("select a, b, d from d.t order by a, b");
        compare("drop table d.t");
    }
    for (ty, values) in HASHED {
        for form in ["key(v)", "key algorithm=1 (v)", "linear key(n, v)"] {
            let create = format!("{HASHED_TABLE}{ty}) partition by {form} partitions 7");
            compare(&create);
            let rows = values.iter().map(|value| format!("(1, {value})")).collect::<Vec<_>>().join(", ");
            compare(&format!("insert into d.t values (1, null), {rows}"));
            for partition in 0..7 {
                compare(&format!(
                    "select hex(v) from d.t partition (p{partition}) order by 1 -- {ty} {form}"
                ));
            }
            compare("drop table d.t");
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Tables of a source and changes to them. The replica must have the same rows throughout.
const REPLICATED: &[&str] = &[
    "CREATE DATABASE p",
    "USE p",
    "CREATE TABLE log (id INT NOT NULL, at DATE NOT NULL, v VARCHAR(20), PRIMARY KEY (id, at)) \
     PARTITION BY RANGE (YEAR(at)) (PARTITION p0 VALUES LESS THAN (2000), PARTITION p1 VALUES LESS THAN (2010), \
     PARTITION p2 VALUES LESS THAN MAXVALUE)",
    "CREATE TABLE spread (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 4",
    "CREATE TABLE keyed (id INT PRIMARY KEY, v INT) PARTITION BY KEY (id) PARTITIONS 3",
    "CREATE TABLE kinds (kind VARCHAR(10), v INT) PARTITION BY LIST COLUMNS (kind) \
     (PARTITION a VALUES IN ('x', 'y'), PARTITION b VALUES IN ('z', NULL))",
    "INSERT INTO log VALUES (1, '1999-05-05', 'old'), (2, '2005-05-05', 'mid'), (3, '2020-05-05', 'new')",
    "INSERT INTO spread VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)",
    "INSERT INTO keyed VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO kinds VALUES ('x', 1), ('z', 2), (NULL, 3), ('y', 4)",
    "UPDATE log SET at = '2006-01-01' WHERE id = 1",
    "UPDATE spread SET id = id + 10 WHERE v > 2",
    "UPDATE keyed SET v = v + 1",
    "DELETE FROM kinds WHERE v = 4",
    "ALTER TABLE log REORGANIZE PARTITION p2 INTO (PARTITION p2 VALUES LESS THAN (2015), PARTITION p3 VALUES LESS THAN MAXVALUE)",
    "ALTER TABLE spread ADD PARTITION PARTITIONS 2",
    "ALTER TABLE keyed COALESCE PARTITION 1",
    "INSERT INTO log VALUES (4, '2012-01-01', 'later'), (5, '2001-01-01', 'x')",
    "ALTER TABLE log DROP PARTITION p1",
    "ALTER TABLE spread TRUNCATE PARTITION p1",
    "ALTER TABLE keyed ADD COLUMN w INT DEFAULT 5",
    "CREATE TABLE swap (id INT NOT NULL, at DATE NOT NULL, v VARCHAR(20), PRIMARY KEY (id, at))",
    "INSERT INTO swap VALUES (9, '2011-11-11', 'swapped')",
    "ALTER TABLE log EXCHANGE PARTITION p2 WITH TABLE swap",
    "INSERT INTO log VALUES (6, '2013-01-01', 'more')",
    "ALTER TABLE kinds ADD PARTITION (PARTITION c VALUES IN ('w'))",
    "INSERT INTO kinds VALUES ('w', 6)",
    "ALTER TABLE log ANALYZE PARTITION p2",
    "ALTER TABLE log OPTIMIZE PARTITION ALL",
    "ALTER TABLE spread REMOVE PARTITIONING",
    "CREATE TABLE like_log LIKE log",
    "INSERT INTO like_log SELECT * FROM log",
    "ALTER TABLE like_log TRUNCATE PARTITION ALL",
    "CREATE TABLE by_key (id INT PRIMARY KEY, v INT) PARTITION BY KEY () PARTITIONS 3",
    "INSERT INTO by_key VALUES (1, 1), (2, 2), (3, 3), (97, 97), (32, 32), (-1, -1), (1000, 5)",
    "CREATE TABLE out_of_key (id INT PRIMARY KEY, v INT)",
    "ALTER TABLE by_key TRUNCATE PARTITION p1",
    "ALTER TABLE by_key EXCHANGE PARTITION p0 WITH TABLE out_of_key",
];

fn carries(source: Flavor, image: RowImage, shown: bool) {
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start(source, flavor_under_test(), image, By::Gtid);
    let mut session = source.connect();
    for statement in REPLICATED {
        session.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        if statement.starts_with("ALTER") {
            replica.catch_up(&source);
            replica.equals_by(&source, "SELECT * FROM p.log ORDER BY 1, 2");
            replica.equals_by(&source, "SELECT * FROM p.spread ORDER BY 1, 2");
        }
    }
    replica.catch_up(&source);
    for table in ["log", "spread", "keyed", "kinds", "swap", "like_log", "by_key", "out_of_key"] {
        replica.equals_by(&source, &format!("SELECT * FROM p.{table} ORDER BY 1, 2"));
        if shown {
            replica.equals_by(&source, &format!("SHOW CREATE TABLE p.{table}"));
        }
    }
}

#[test]
fn behind_mysql() {
    if available("behind_mysql", &[Flavor::MySql]) {
        carries(Flavor::MySql, RowImage::Full, true);
    }
}

#[test]
fn behind_mysql_with_minimal_images() {
    if available("behind_mysql_with_minimal_images", &[Flavor::MySql]) {
        carries(Flavor::MySql, RowImage::Minimal, true);
    }
}

#[test]
fn behind_mariadb() {
    if available("behind_mariadb", &[Flavor::MariaDb]) {
        carries(Flavor::MariaDb, RowImage::Full, false);
    }
}

#[test]
fn bounds_of_mariadb_may_be_longer_than_their_columns() {
    if !available("bounds_of_mariadb_may_be_longer_than_their_columns", &[Flavor::MariaDb]) {
        return;
    }
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start(Flavor::MariaDb, flavor_under_test(), RowImage::Full, By::Gtid);
    let mut session = source.connect();
    for statement in [
        "CREATE DATABASE p",
        "CREATE TABLE p.names (name VARCHAR(3)) PARTITION BY RANGE COLUMNS (name) \
         (PARTITION a VALUES LESS THAN ('kkkkk'), PARTITION b VALUES LESS THAN ('zzzzzz'))",
        "INSERT INTO p.names VALUES ('a'), ('kkk'), ('kkl'), ('z')",
        "ALTER TABLE p.names TRUNCATE PARTITION a",
    ] {
        session.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT * FROM p.names ORDER BY 1");
}
