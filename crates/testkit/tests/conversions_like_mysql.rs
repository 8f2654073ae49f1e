//! Tests of texts where numbers and dates are wanted: which rows are found and changed, which
//! warnings there are, and what strict mode refuses. A real MySQL gets the same statements and must
//! answer the same.

use bench::instance::Settings;
use testkit::answers::{answer, same_answers};
use testkit::server::same_as_mysql;

#[test]
fn whole_numbers_in_texts_are_exact_beside_columns() {
    let answers = same_answers(
        "numbers_in_texts",
        &[
            "create database d",
            "use d",
            "create table t(b bigint, u bigint unsigned, d decimal(30,5), f float, v varchar(30), k bigint, key(k))",
            "insert into t values(9007199254740992,1,1.1,1.1,'1.1',9007199254740992),(9007199254740993,18446744073709551615,123456789012345678901234.12345,2.5,'2.5',9007199254740993)",
            "select b from t where b='9007199254740993'",
            "select b from t where k='9007199254740993'",
            "select b from t where b+0='9007199254740993'",
            "select b from t where b in ('9007199254740993')",
            "select b from t where b in ('9007199254740993','7')",
            "select b from t where b between '9007199254740993' and '9007199254740993'",
            "select b from t where '9007199254740993'=b",
            "select b from t where u='18446744073709551615'",
            "select b from t where b>'9007199254740992'",
            "select b from t where b<>'9007199254740993'",
            "select b from t where d='123456789012345678901234.12345'",
            "select d from t where d='1.10'",
            "select f from t where f='1.1'",
            "select f from t where f=1.1",
            "select b from t where b='9007199254740993.0'",
            "select b from t where b='1e3'",
            "select b from t where b=' 9007199254740993 '",
            "select b from t where b='x'",
            "select b from t where k='x'",
            "select b from t where b='9007199254740993x'",
            "select b from t where b between 'x' and 'y'",
            "select b from t where u='-1'",
            "select b from t where b<>''",
            "select b from t where b=''",
            "set @p='x'",
            "prepare s from 'select b from t where b=?'",
            "set @p='9007199254740993'",
            "execute s using @p",
            "select b from t where b=@p",
            "update t set f=3 where b=''",
            "update t set f=3 where b='x'",
            "delete from t where k='x'",
            "delete from t where v=99",
            "delete from t where b=@q",
            "select v from t where v=2.5",
            "select if(b='x',1,0) from t",
            "select case b when 'x' then 1 when '9007199254740993' then 2 end from t",
            "select nullif(b,'9007199254740993') from t",
            "select * from t t1 join t t2 on t1.b=t2.v",
            "select b from t where b='9007199254740993' or b='y'",
            "select b from t having b='9007199254740993'",
            "select b from t group by b having b='x'",
        ],
    );
    assert_eq!(answers[5], "select b from t where k='9007199254740993': 9007199254740993");
}

#[test]
fn comparisons_with_what_is_no_date_are_refused() {
    let answers = same_answers(
        "texts_that_are_no_dates",
        &[
            "create database d",
            "use d",
            "create table t(a int primary key, dt datetime, d date, ts timestamp null, tm time, y year, key(dt))",
            "insert into t values(1,'2020-01-01 10:00:00','2020-01-01','2020-01-01 10:00:00','10:00:00',2020),(2,'2021-01-01',null,null,null,1999)",
            "select a from t where dt='foo'",
            "select a from t where d='foo'",
            "select a from t where ts='foo'",
            "select a from t where tm='foo'",
            "select a from t where y='foo'",
            "select a from t where dt='2020-01-01x'",
            "select a from t where d='2020-01-01 10:00:00'",
            "select a from t where d='2020-01-01x'",
            "select a from t where dt=''",
            "select a from t where d='2020-13-01'",
            "select a from t where d='2020-02-30'",
            "select a from t where d>'2020-00-00'",
            "select a from t where d='0000-00-00'",
            "set @v='foo'",
            "prepare s from 'select a from t where dt=?'",
            "select a from t where dt+0='foo'",
            "select a from t where date(dt)='foo'",
            "select 'foo'=dt from t",
            "select a from t where dt<>'foo'",
            "select a from t where dt<=>'foo'",
            "select * from t having dt='foo'",
            "select nullif(dt,'foo') from t",
            "select if(dt>'foo',1,2) from t",
            "select dt='foo' from t",
            "select date'2020-01-01'='foo'",
            "select now()>'foo'",
            "select dt=20200101100000 from t",
            "select dt>20200101 from t",
            "select tm>'25:61:00' from t",
            "select tm='10' from t",
            "select tm=10 from t",
            "select tm=100000 from t",
            "select tm='100000' from t",
            "select y='20' from t",
            "select y=20 from t",
            "select y='2020.0' from t",
            "select d='20200101' from t",
            "select d=20200101 from t",
            "select dt='2020-01-01T10:00:00' from t",
            "select dt='2020-01-01 10:00' from t",
            "select dt='2020-01-01 10:00:00.0000001' from t",
            "select ts='2020-01-01 10:00:00+00:00' from t",
            "select dt='2020-01-01 10:00:00+00:00' from t",
            "select dt='20-1-1 10:0:0' from t",
            "update t set y=2000 where tm='foo'",
            "delete from t where y='foo'",
            "update ignore t set y=2000 where dt='foo'",
            "set sql_mode=''",
            "select a from t where dt='foo'",
            "update t set y=2000 where dt='foo'",
            "update t set y=2000 where d='2020-02-30'",
            "select a from t where d='2020-02-30'",
        ],
    );
    assert!(answers[4].contains("1525 (HY000)"), "{answers:#?}");
}

#[test]
fn strict_mode_refuses_changes_that_read_half_a_text() {
    let answers = same_answers(
        "half_texts_in_strict_mode",
        &[
            "create database d",
            "use d",
            "create table t(a int primary key, f double, dt datetime, i int, v varchar(20))",
            "insert into t values(1,1,'2020-01-01',1,'x')",
            "update ignore t set f=1/0",
            "update t set f=1/0",
            "update ignore t set f='a'+1",
            "update t set i=cast('abc' as signed)",
            "update t set f=cast('abc' as double)",
            "update t set i=cast('1.5' as signed)",
            "update t set f=cast('abc' as decimal)",
            "update t set dt=cast('foo' as datetime)",
            "update t set dt=date('foo')",
            "update t set f=hour('foo')",
            "update t set f=sum_('x')",
            "update t set f=abs('x')",
            "update t set f=round('1x')",
            "update t set v=left('abc','1x')",
            "update t set v=repeat('a','2x')",
            "update t set f=-v",
            "update t set f=v|1",
            "update t set f=~v",
            "update t set f=not v",
            "update t set f=if(v,1,2)",
            "update t set f=case when v then 1 else 2 end",
            "update t set f=(v and 1)",
            "update t set f=1 where v",
            "update t set f=1 order by v+0 limit 1",
            "update t set f=(select sum(v) from (select 'z' v) q)",
            "update t set f=(select avg('z'))",
            "update t set f='x' div 1",
            "update t set f=truncate('x',1)",
            "update t set f=mod('x',2)",
            "update t set v=char('65x')",
            "update t set v=format('1x',2)",
            "update t set f=unix_timestamp('foo')",
            "update t set dt=from_unixtime('1x')",
            "update t set f=extract(year from 'foo')",
            "update t set dt=date_add('foo', interval 1 day)",
            "update t set dt=date_add('2020-01-01', interval 'x' day)",
            "update t set dt='2020-01-01'+interval '1x' hour",
            "update t set f=datediff('foo','2020-01-01')",
            "update t set f=to_days('foo')",
            "update t set f=year('2020-13-01')",
            "update t set v=date_format('foo','%Y')",
            "update t set f='1e400'+0",
            "update t set f=''+0",
            "update t set f=' '+0",
            "update t set f='1 '+0",
            "update t set f='1 x'+0",
            "update t set i='5x'",
            "update t set v=elt('1x','a')",
            "update t set f=power('x',2)",
            "update t set f=sqrt('x')",
            "update t set f=bit_count('x')",
            "update t set f=ascii('x')",
            "update t set v=hex('x')",
            "update t set v=insert('abc','1x',1,'z')",
            "update t set f=locate('a','abc','1x')",
            "update t set v=lpad('a','3x','b')",
            "update t set v=space('2x')",
            "update t set f=field(1,'1x')",
            "update t set f=strcmp(1,'1x')",
            "update t set f='1x'=1",
            "update t set f='1x' in (1,2)",
            "update t set f='1x' between 1 and 2",
            "update t set f=(1,'x')=(1,2)",
            "update t set f=1 limit 0",
            "insert into t values('1'+0,'2y'+0,null,null,null)",
            "insert into t(a) values('7z')",
            "insert into t(a,f) values(8,'7z'*1) on duplicate key update f='x'+1",
            "insert ignore into t(a,f) values(9,'7z'*1)",
            "replace into t(a,f) values(9,'7z'*1)",
            "set @x=cast('abc' as signed)",
            "do 'a'+1",
        ],
    );
    assert!(answers.iter().filter(|answer| answer.contains("1292 (22007)")).count() > 40, "{answers:#?}");
}

#[test]
fn nothing_is_changed_by_what_is_no_date() {
    let answers = same_as_mysql("changes_by_no_date", &Settings::default(), |server| {
        let mut client = server.connect();
        let statements = [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT PRIMARY KEY, dt DATETIME, d DATE, n INT)",
            "INSERT INTO t VALUES (1, '2020-01-01 10:00:00', '2020-01-01', 1), (2, '2021-01-01', NULL, 2)",
            "UPDATE t SET n = 9 WHERE dt = 'foo'",
            "UPDATE t SET n = 9 WHERE dt <> 'foo'",
            "UPDATE t SET n = 9 WHERE d = '2020-02-30'",
            "DELETE FROM t WHERE dt = '2020-01-01x'",
            "DELETE FROM t WHERE d IN ('foo')",
            "INSERT INTO t (a) SELECT a + 10 FROM t WHERE dt = 'foo'",
            "UPDATE IGNORE t SET n = 9 WHERE dt <> 'foo'",
            "SET sql_mode = ''",
            "UPDATE t SET n = 9 WHERE dt <> 'foo'",
            "SELECT a, n FROM t",
        ];
        statements.map(|statement| answer(&mut client, statement)).to_vec()
    });
    assert_eq!(answers[13], "SELECT a, n FROM t: 1,1 2,2");
}

#[test]
fn a_character_that_a_column_has_not_is_a_question_mark() {
    let answers = same_answers(
        "characters_not_there",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (x VARCHAR(20), y TEXT, z CHAR(4), w VARCHAR(3) CHARSET cp1251) CHARSET latin1",
            "INSERT INTO t (x) VALUES ('aΩb')",
            "INSERT IGNORE INTO t VALUES ('aΩb', 'ΩΩΩ', 'Ωaé', 'aΩé')",
            "SELECT * FROM t",
            "SET sql_mode = ''",
            "UPDATE t SET x = 'ΩxΩy', z = 'Ωéaxy'",
            "SELECT * FROM t",
            "CREATE TABLE m (x VARCHAR(9) CHARSET cp1250, y VARCHAR(9) CHARSET ascii)",
            "INSERT INTO m VALUES ('a😀b', 'aéb'), ('é', 'x')",
            "SELECT * FROM m",
            "INSERT INTO t (x) SELECT y FROM (SELECT 'pΩq' y) AS one",
            "SELECT x FROM t ORDER BY x",
        ],
    );
    assert_eq!(answers[5], "SELECT * FROM t: a?b,???,?aé,a??");
}

/// A text with an offset from UTC names a point in time, which is read in the session's time zone.
#[test]
fn a_text_with_an_offset_is_read_in_the_sessions_time_zone() {
    let answers = same_answers(
        "texts_with_offsets",
        &[
            "create database d",
            "use d",
            "set time_zone='+03:00'",
            "create table t (id int primary key, d datetime(2), t timestamp(2) null, a date, c time)",
            "insert into t (id, d, t) values (1, '2020-01-01 00:00:00+01:00', '2020-01-01 00:00:00+01:00')",
            "insert into t (id, d, t) values (2, '2020-01-01 00:00:00.256-05:30', '2020-01-01T00:00:00+14:00')",
            "insert ignore into t (id, a) values (3, '2020-01-01 00:00:00+05:00')",
            "insert into t (id, d) values (4, '2020-01-01 00:00:00+14:01')",
            "insert into t (id, d) values (4, '2020-01-01 00:00:00+1:00')",
            "insert into t (id, d) values (4, '2020-01-01 00:00:00-00:00')",
            "insert into t (id, d) values (4, '2020-01-01 00:00:00+01')",
            "insert into t (id, d) values (4, '2020-01-01 00:00:00+01:00x')",
            "insert into t (id, d) values (4, cast('2020-01-01 00:00:00+01:00' as datetime))",
            "select * from t",
            "select id from t where d = '2020-01-01 00:00:00+01:00'",
            "select id from t where t = '2020-01-01 00:00:00+01:00'",
            "select id from t where d between '2020-01-01 00:00:00+01:00' and '2020-01-01 00:00:00+01:00'",
            "set @p = '2020-01-01 00:00:00+01:00'",
            "prepare s from 'select id from t where d = ?'",
            "execute s using @p",
            "select timestamp '2020-01-01 00:00:00+01:00', timestamp '2020-01-01 00:00:00.5-13:59'",
            "select timestamp '2020-01-01 00:00:00+15:00'",
            "select timestamp '2020-01-01 00:00:00x'",
            "select date '2020-01-01 00:00:00+01:00'",
            "select date '2020-01-01x'",
            "select time '10:11:12x'",
            "select time '00:00:00+01:00'",
            "select time '2020-01-01 00:00:00+01:00'",
            "select time '839:00:00'",
            "select time ''",
            "select cast('2020-01-01 00:00:00+01:00' as datetime), cast('2020-01-01 01:00:00+05:00' as date), \
             cast('2020-01-01 00:00:00.5-13:30' as time(1))",
            "select cast('2020-01-01 00:00:00+15:00' as datetime), cast('2020-01-01 00:00:00-00:00' as datetime)",
            "select cast('2020-01-01 00:00:00+01:60' as datetime), cast('2020-01-01 00:00:00+01:00 ' as datetime)",
            "select date_add('2020-01-01 00:00:00+01:00', interval 1 month), date('2020-01-01 01:00:00+05:00')",
            "select hour('2020-01-01 00:00:00+01:00'), minute('2020-01-01 00:00:00+01:30'), \
             extract(hour from '2020-01-01 00:00:00+01:00'), to_days('2020-01-01 01:00:00+05:00')",
            "select unix_timestamp('2020-01-01 00:00:00+01:00'), date_format('2020-01-01 00:00:00+01:00', '%H:%i')",
            "select timestampdiff(minute, '2020-01-01 00:00:00+01:00', '2020-01-01'), \
             timediff('2020-01-01 00:00:00+01:00', '2020-01-01 00:00:00')",
            "select '2020-01-01 00:00:00+01:00' = timestamp '2020-01-01 00:00:00'",
            "set time_zone='+00:00'",
            "execute s using @p",
            "select id from t where d = '2020-01-01 03:00:00+01:00'",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("2020-01-01 02:00:00")), "{answers:#?}");
}

/// A cast to BINARY without a length keeps all bytes of a text that has characters of several
/// bytes.
#[test]
fn a_text_that_is_cast_to_binary_keeps_its_bytes() {
    let answers = same_answers(
        "casts_to_binary",
        &[
            "create database d",
            "use d",
            "create table t (id int primary key, u varchar(10), l varchar(10) character set latin1, c text)",
            "insert into t values (1, 'éa€', 'éa', 'éa€')",
            "select hex(cast('é' as binary)), hex(cast('éé' as binary)), hex(convert('é', binary))",
            "select hex(cast(u as binary)), hex(cast(l as binary)), hex(cast(c as binary)) from t",
            "select hex(cast(concat(u, l) as binary)), hex(cast(12 as binary)) from t",
            "create table made as select cast(u as binary) as b, cast(l as binary) as c from t",
            "select hex(b), hex(c) from made",
            "select column_type from information_schema.columns where table_name = 'made' order by 1",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("C3A961E282AC")), "{answers:#?}");
}

/// In comparisons, functions and columns, a text that meets bytes becomes the bytes that its own
/// character set stores, and bytes that meet a column of characters become characters.
#[test]
fn texts_and_bytes_meet_in_the_character_set_of_the_text() {
    let answers = same_answers(
        "texts_and_bytes",
        &[
            "create database d",
            "use d",
            "create table t (k int primary key, a varchar(10) charset utf16, c varchar(10) charset utf32, \
             d varchar(10) charset latin1, e varchar(10) charset cp1251, f varchar(10) charset gbk, \
             n enum('é','b') charset latin1)",
            "insert into t values (1, 'aé', 'ab', 'aé', 'aж', 'a中', 'é')",
            "select length(c), bit_length(c), hex(c), length(_utf16 x'00610062'), ord(a), ord(f), ord(c), ord(x'c3a9') from t",
            "select d = x'61e9', a = x'006100e9', d < x'61ea', d <=> x'61e9', d like x'61e9', d in (x'61e9', 'z') from t",
            "select d = unhex('61e9'), unhex('61e9') in (d), (d, 1) = (unhex('61e9'), 1), n = unhex('e9') from t",
            "select d between unhex('61e9') and unhex('61e9'), case d when unhex('61e9') then 1 else 0 end, \
             nullif(d, unhex('61e9')) from t",
            "select strcmp(d, x'61e9'), instr(d, unhex('e9')), locate(unhex('e9'), d), field(unhex('61e9'), d), \
             find_in_set(unhex('61e9'), d) from t",
            "select hex(concat(d, x'e9')), hex(concat(d, unhex('ff'))), hex(concat(n, unhex('ff'))), \
             hex(concat_ws(unhex('2c'), d, d)), hex(elt(2, d, unhex('fe'))), hex(ifnull(d, x'ff')) from t",
            "select hex(if(0, d, unhex('fe'))), hex(coalesce(d, unhex('e9'))), \
             hex(case when 1 then d else unhex('ff') end), hex(trim(unhex('e9') from d)) from t",
            "select hex(replace(d, unhex('e9'), 'z')), hex(lpad(d, 4, unhex('e9'))), \
             hex(insert(d, 1, 1, unhex('e9'))), hex(greatest(d, unhex('e9'))), hex(group_concat(d, unhex('ff'))) from t",
            "select hex(convert(x'61e9' using latin1)), convert(x'61e9' using latin1) = 'aé', hex(cast(n as binary)) from t",
            "create table b (v varbinary(40))",
            "insert into b select d from t",
            "insert into b select a from t",
            "insert into b select n from t",
            "insert into b select distinct concat(e, '') from t",
            "insert into b values (concat(_latin1 x'e9', _latin1 x'e8'))",
            "update b, t set v = concat(d, d) where v = x'006100e9'",
            "select hex(v) from b order by v",
            "select count(*) from t join b on t.d = b.v",
            "insert into t (k, d, a) values (2, x'ffe9', unhex('006100e9'))",
            "update t set d = unhex('e8e8') where d = x'ffe9'",
            "select hex(d), hex(a), d from t where k = 2",
            "set names latin1",
            "create table l (b varbinary(20), l varchar(20) charset latin1, u varchar(20) charset utf8mb4)",
            "insert into l values ('aé', 'aé', 'aé'), ('è', 1, 2)",
            "insert into l (b) values (concat('aé')), (_binary 'aé')",
            "insert into l (b) values ('aé') on duplicate key update b = 'é'",
            "update l set b = 'é' where b = 'è'",
            "select hex(b), hex(l), hex(u), b = 'aé' from l",
            "select hex('é'), length('é'), 'é' = x'e9'",
            "set names utf8mb4",
            "insert into l values ('aé', 'aé', 'aé'), ('è', 1, 2)",
            "select hex(b), hex(l), hex(u), b = 'aé' from l",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("61E961E9")), "{answers:#?}");
}
