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

#[test]
fn bits_are_numbers_for_short_texts_and_bytes_for_long_ones() {
    let answers = same_answers(
        "conversions_like_mysql::bits_are_numbers_for_short_texts_and_bytes_for_long_ones",
        &[
            "create database d",
            "use d",
            "create table b (id int primary key, s bit(8), l bit(64), d date, m datetime, j json)",
            "insert into b values (1, 65, 66, '2024-01-02', '2024-01-02', '3'), (2, 0, 1, null, null, null)",
            "create table v (id int primary key, c char(4), v varchar(4), vb varbinary(4), t text, bl blob)",
            "insert into v select id, s, s, s, s, s from b",
            "select id, hex(c), hex(v), hex(vb), hex(t), hex(bl) from v order by id",
            "update v join b using (id) set v.v = b.l, v.bl = b.l",
            "select id, hex(v), hex(bl) from v order by id",
            "select hex(coalesce(s)), concat(ifnull(s, s)), concat(ifnull(s, l)), any_value(s) from b order by id",
            "select length(ifnull(l, l)), length(any_value(l)), concat(least(s, l)) from b order by id",
            "select s from b union select 'x' order by 1",
            "select hex(x) from (select s x from b union select l from b) z order by 1",
            "select any_value(s) from b group by id order by id",
            "update ignore b set l = d",
            "select hex(l) from b order by id",
            "update ignore b set l = j, s = j",
            "select hex(l), hex(s) from b order by id",
            "create table a (s bit(8), t bit(8))",
            "insert into a values (65, 65)",
            "alter table a modify s varchar(9), modify t blob",
            "select hex(s), hex(t) from a",
        ],
    );
    assert!(answers[6].contains("1,3635,3635,3635,41,41"), "{answers:#?}");
}

#[test]
fn literals_of_bits_have_a_sign_and_those_of_bytes_have_none() {
    same_answers(
        "literals_of_bits",
        &[
            "select b'1' - 2, 2 - b'11', -b'1', b'1' * -1, b'11' div -1, 0b11 - 5, b'1' in (-1)",
            "select b'1111111111111111111111111111111111111111111111111111111111111111' + 0",
            "select abs(b'1') - 2, round(b'1') - 2, b'11' % -2, sum(b'1') - 2",
            "select b'1' | 0, ~b'1', b'1' = 1, b'1' + '1', hex(b'11'), concat(b'1000001'), b'1000001' = 'A'",
            "select x'01' + 1, 0x01 * 3, 0xffffffffffffffff + 0",
            "create database d",
            "use d",
            "create table t (a bigint, b bit(8) default b'101', c bigint unsigned, e int default b'11')",
            "insert into t (a, c) values (b'11', b'11'), (b'1' - 2, 0x01)",
            "select a, b + 0, c, e from t order by a",
            "select a from t where a = b'1' - 2",
        ],
    );
}

#[test]
fn real_is_float_where_the_mode_says_so() {
    let answers = same_answers(
        "conversions_like_mysql::real_is_float_where_the_mode_says_so",
        &[
            "create database d",
            "use d",
            "set sql_mode = 'REAL_AS_FLOAT'",
            "create table r (a real, c double precision, d float8)",
            "show create table r",
            "select cast(20240229 as real), cast(20240229 as double)",
            "set sql_mode = ''",
            "select cast(20240229 as real)",
            "create table f (a float)",
            "insert into f values (1e12), (1e10), (1.5e-7), (123456e-12), (-1e11), (1234567)",
            "select concat(a), length(a), cast(a as char), upper(a), left(a, 3) from f order by a",
            "select a from f order by a",
            "select - -9223372036854775808, -(-9223372036854775807)",
        ],
    );
    assert!(answers[4].contains("`a` float"), "{answers:#?}");
}

#[test]
fn documents_and_numbers_become_other_types_as_in_mysql() {
    let answers = same_answers(
        "documents_and_numbers",
        &[
            "create database d",
            "use d",
            "create table j (k int, j json)",
            "insert into j values (1, 'true'), (2, 'false'), (3, '12'), (4, '1.5'), (5, '-7')",
            "create table n (i bigint, t tinyint, d double, f float, c decimal(10, 2), v varchar(20))",
            "insert into n select j, j, j, j, j, j from j",
            "insert into n (i) select j from j group by j",
            "select * from n",
            "select json_array(strcmp('a', 'b'), strcmp('b', 'a'), strcmp('a', 'a'), strcmp(null, 'a'))",
            "select json_array(0 / 3, 0.00, -0.0, 0.0 * 1, 1.00, 2 - 2.0, 4.0 % 2.0), cast(0 / 3 as json)",
            "select json_object('a', strcmp('a', 'b')), cast(strcmp('a', 'b') as json), strcmp('a', 'b')",
            "select timestamp'2000-01-01 10:11:12' - interval 18446744073709551615 second",
            "select timestamp'2000-01-01 10:11:12' + interval 18446744073709551615 second",
            "select format(1999, 18446744073709551615), format(1999.5, 9223372036854775808), format(1.5, 31)",
            "select (2024, '0') <= (X'31322E35', 'a'), (2024, 1) < (X'31', 1), (X'31', 1) = (49, 1)",
            "select (1, X'31') in ((1, 49), (2, 3)), (1, 49) in ((1, X'31'), (2, 3))",
            "create table c (k int, b binary(4), c char(4), i bit(5), t time, d date)",
            "insert into c values (1, 'a', 'b', 3, '10:11:12', '2024-01-02')",
            "select hex(b), length(b) from (select b from c union all select 12345) x",
            "select hex(b), length(b) from (select b from c union all select d from c) x",
            "select hex(b), length(b) from (select b from c union all select i from c) x",
            "select hex(b), length(b) from (select b from c union all select 1e0) x",
            "select hex(b), length(b) from (select b from c union all select 'x') x",
            "select b from c union select 1",
            "select c from c union select 1 union select t from c",
            "select if(k, c, 1), case when k then c else d end, ifnull(c, 1.5), coalesce(c, 'x') from c",
            "create table made as select if(k, c, 1) as a, ifnull(b, 1) as b, coalesce(c, 'x') as e from c",
            "show create table made",
            "create table united as select k, b, c from c union select 1, 2, 3",
            "show create table united",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("[true, true, false, null]")), "{answers:#?}");
}

#[test]
fn bits_are_no_dates_and_a_number_of_bits_is_a_text_in_documents() {
    let answers = same_answers(
        "conversions_like_mysql::bits_are_no_dates_and_a_number_of_bits_is_a_text_in_documents",
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (b BIT(4), w BIT(12))",
            "INSERT INTO t VALUES (5, 2730), (0, 0), (NULL, 0)",
            "SELECT CAST(IFNULL(b, w) AS JSON), CAST(IFNULL(b, 0) AS JSON), CAST(b AS JSON) FROM t",
            "SELECT JSON_ARRAY(COALESCE(b, w), GREATEST(b, w), IF(1, b, w)) FROM t",
            "SELECT CAST(b AS DATE), DATE(w), YEAR(b), DAYOFWEEK(b) FROM t",
            "SET sql_mode = ''",
            "SELECT CAST(b AS DATE), CAST(w AS DATETIME), TIMESTAMP(b) FROM t",
        ],
    );
    assert!(answers[4].contains("base64:type16:NQ=="), "{}", answers[4]);
}

#[test]
fn a_time_in_a_column_of_dates_is_one_of_today() {
    let answers = same_answers(
        "conversions_like_mysql::a_time_in_a_column_of_dates_is_one_of_today",
        &[
            "CREATE DATABASE d",
            "USE d",
            "SET timestamp = 1600000000",
            "CREATE TABLE t (a DATE, b DATETIME, c TIMESTAMP NULL, e DATETIME(3))",
            "INSERT INTO t VALUES (TIME'10:00:00', TIME'-10:00:00', TIME'10:00:00', TIME'10:00:00.5')",
            "INSERT INTO t (a, b) SELECT CAST('24:00:00' AS TIME), CAST('838:00:00' AS TIME)",
            "SELECT * FROM t",
            "UPDATE t SET a = CAST('-1:00:00' AS TIME), b = TIME'00:00:00'",
            "SET sql_mode = ''",
            "INSERT INTO t (a, b) VALUES (TIME'30:00:00', TIME'30:00:00')",
            "SELECT a, b FROM t",
        ],
    );
    assert!(answers[6].contains("2020-09-13,2020-09-12 14:00:00"), "{}", answers[6]);
}

#[test]
fn the_bytes_of_a_cast_are_a_varbinary_beside_others() {
    let mut statements = vec!["create database d".to_owned(), "use d".to_owned()];
    for query in [
        "select cast('a' as binary(3)) x",
        "select cast('a' as binary(3)) x union select cast('b' as binary(2))",
        "select 1 x union select cast('b' as binary(2))",
        "select 1.5 x union select cast('b' as binary(2))",
        "select 1e0 x union select cast('b' as binary(2))",
        "select date'2020-01-01' x union select cast('b' as binary(2))",
        "select 'abc' x union select cast('b' as binary(2))",
        "select null x union select cast('b' as binary(2))",
        "select x'41' x union select cast('b' as binary(2))",
        "select ifnull(1, cast('b' as binary(2))) x union select if(1, 1, cast('b' as binary(2)))",
        "select coalesce(cast('b' as binary(5)), 1) x",
        "select concat(cast('b' as binary(5)), 1) x",
        "select cast('abcdef' as binary(3)) x",
    ] {
        statements.extend([query.to_owned(), format!("create table c as {query}")]);
        statements.extend(["show create table c", "select hex(x) from c", "drop table c"].map(str::to_owned));
    }
    statements.extend(
        [
            "create table t (a varchar(10), index f ((cast(a as binary(4)))))",
            "insert into t values ('a'), ('abcd'), ('abcdefg'), (null)",
            "select a from t where cast(a as binary(4)) = 'abcd'",
            "select a from t where cast(a as binary(4)) = 'a'",
            "select a from t where cast(a as binary(4)) = x'61000000'",
            "select a from t where cast(a as binary(4)) > 'a' order by a",
            "select cast(a as binary(4)) x, count(*) from t group by x order by x",
            "select cast('a' as binary(3)) = 'a', cast('a' as binary(3)) like 'a%', length(cast(5 as binary(3)))",
        ]
        .map(str::to_owned),
    );
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_answers("bytes_of_a_cast", &statements);
}

/// The sum of a number and an interval is a text: a date alone where the number has no time.
#[test]
fn numbers_with_intervals_are_dates_where_they_have_no_time() {
    let mut statements = vec!["create database d".to_owned(), "use d".to_owned()];
    statements.extend(
        [
            "create table t (a int, b bigint, c decimal(20,2), e double, v varchar(40))",
            "insert into t (a, b, c, e) values (20200101, 20200101101112, 20200101.0, 20200101e0), (101, 991231, null, null)",
            "insert into t (v) values (date_add(20200101, interval 1 day)), (20200101101112 - interval 1 year)",
        ]
        .map(str::to_owned),
    );
    for unit in ["day", "month", "year_month", "second", "day_hour", "microsecond"] {
        statements.push(format!(
            "select date_add(20200101, interval 1 {unit}), date_add(20200101101010, interval 1 {unit}), \
             date_sub(200101, interval 1 {unit}), 20200101e0 + interval 1 {unit}, 20200101.0 + interval 1 {unit}, \
             date_add(20200101000000, interval 1 {unit}), date_add(101, interval 1 {unit}), \
             concat(20200101 + interval 1 {unit}, 'x'), length(20200101 + interval 1 {unit})"
        ));
        statements.push(format!(
            "select a + interval 1 {unit}, b + interval 1 {unit}, c + interval 1 {unit}, e + interval 1 {unit} from t"
        ));
    }
    statements.push("select adddate(20200101, 5), subdate(20200101101112, 5), v from t".to_owned());
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    same_answers("numbers_with_intervals", &statements);
}

#[test]
fn bits_become_characters_by_their_bytes() {
    same_answers(
        "bits_as_characters",
        &[
            "create database d",
            "use d",
            "create table b (b bit(16), n bit(3), v varbinary(4))",
            "insert into b values (b'1101011011100110', b'101', x'd6e6'), (b'0110000101100010', b'1', 'ab'), (null, null, null)",
            "select hex(convert(b using latin1)), hex(convert(convert(b using latin1) using utf8mb4)) from b",
            "select convert(b using latin1), convert(v using latin1), concat(convert(b using latin1), 'x') from b",
            "select cast(b as char character set latin1), cast(v as char character set latin1) from b",
            "select hex(cast(b as char)), hex(cast(v as char)) from b where v = 'ab'",
            "select hex(cast(b as binary)), hex(cast(n as binary(4))), hex(convert(n using utf8mb4)) from b",
            "select cast(b as signed), b + 0, hex(cast(b as binary(1))) from b",
            "select length(convert(b using utf8mb4)), char_length(convert(b using latin1)) from b where v = 'ab'",
        ],
    );
}

/// The texts of the warnings differ, because MySQL shows the expression.
#[test]
fn sums_beyond_the_longest_time_are_null() {
    same_as_mysql("sums_of_times", &Settings::default(), |server| {
        let mut client = server.connect();
        let statements = [
            "select time'838:59:59' + interval 1 microsecond, time'838:59:59' + interval 0 second",
            "select time'838:59:58.5' + interval 600000 microsecond, time'-838:59:59' - interval 1 microsecond",
            "select time'838:59:58' + interval 1 second, time'838:59:58' + interval 2 second",
            "select time'838:59:58.999999' + interval 1 microsecond, time'-838:59:59' + interval 1 microsecond",
        ];
        statements.map(|statement| answer(&mut client, statement)).into()
    });
}

#[test]
fn decimals_beyond_bigint_are_out_of_range() {
    let answers = same_answers(
        "decimals_beyond_bigint_are_out_of_range",
        &[
            "create database d",
            "use d",
            "create table t(s bigint, u bigint unsigned, i int)",
            "insert into t(u) values(18446744073709551616)",
            "insert into t(u) values(18446744073709551615.5)",
            "insert into t(u) values(18446744073709551615.4)",
            "insert into t(u) select 18446744073709551615 + 1.0",
            "insert into t(s) values(-9223372036854775809)",
            "insert into t(s) values(-9223372036854775808.4), (9223372036854775807.4)",
            "update t set u = 99999999999999999999999999999999999999999999999999",
            "set sql_mode = ''",
            "insert into t(u) values(18446744073709551616)",
            "insert into t(s) values(-9223372036854775809), (-99999999999999999999999999999999999999999999999999)",
            "select * from t",
        ],
    );
    assert!(answers[3].contains("1264"), "{}", answers[3]);
}

#[test]
fn literals_beyond_double_are_refused() {
    let answers = same_answers(
        "literals_beyond_double_are_refused",
        &[
            "create database d",
            "use d",
            "create table t(f double)",
            "select 1e400",
            "select -1.8e308",
            "insert into t values(1e309)",
            "insert into t values(1), (2e999)",
            "insert into t values(1.7e308), (1e-400), (1e007)",
            "select f from t",
            "select '1e400' + 0",
        ],
    );
    assert!(answers[3].contains("1367"), "{}", answers[3]);
}

#[test]
fn numbers_are_invalid_dates_where_these_are_allowed() {
    let answers = same_answers(
        "numbers_are_invalid_dates",
        &[
            "create database d",
            "use d",
            "create table t(id int, d date, dt datetime(2))",
            "set sql_mode = 'ALLOW_INVALID_DATES'",
            "insert into t values(1, 20240230, 20240231101112), (2, 20230229.0, 20230231101112.25)",
            "select * from t",
            "set sql_mode = 'ALLOW_INVALID_DATES,STRICT_ALL_TABLES'",
            "insert into t(d) values(20240431)",
            "set sql_mode = 'STRICT_ALL_TABLES'",
            "insert into t(d) values(20240230)",
            "select d from t",
        ],
    );
    assert!(answers[5].contains("2024-02-30"), "{}", answers[5]);
}

/// A number of 16 digits before the point is written without an exponent if it has a fraction.
#[test]
fn the_largest_doubles_with_a_fraction_are_written_as_by_mysql() {
    let answers = same_answers(
        "the_largest_doubles_with_a_fraction",
        &[
            "select 1234567890123456.5e0, -1377330929923511.25e0, 1377330929923511.75e0, 4503599627370495.5e0",
            "select 1125899906842624.25e0, 2251799813685248.25e0, 1234567890123456e0, 12345678901234567e0",
            "select concat(1234567890123456.5e0), cast(1377330929923511.2e0 as char), 999999999999999.1e0",
        ],
    );
    assert!(answers[0].contains("1234567890123456.5"), "{}", answers[0]);
}

#[test]
fn moments_outside_of_unix_timestamps_range_are_zero() {
    let answers = same_answers(
        "moments_outside_of_unix_timestamps_range",
        &[
            "set time_zone = '+00:00'",
            "select unix_timestamp('2024-01-00'), unix_timestamp('2024-00-10'), unix_timestamp(20240010)",
            "select unix_timestamp('3001-01-18 23:59:59'), unix_timestamp('3001-01-18 23:59:59.999999')",
            "select unix_timestamp('3001-01-19'), unix_timestamp('9999-12-31 23:59:59.9'), unix_timestamp(date'9999-12-31')",
            "select unix_timestamp('1970-01-01 00:00:00.5'), unix_timestamp('1969-12-31 23:59:59.5')",
            "select unix_timestamp('1970-01-01 00:00:01.5'), unix_timestamp('1970-01-01 00:00:01')",
            "select from_unixtime(32536771199), from_unixtime(32536771200), from_unixtime(32536771199.999999)",
        ],
    );
    assert!(!answers[1].contains("17"), "{}", answers[1]);
}
