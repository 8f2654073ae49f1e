//! Tests of time zones, compared with MySQL: TIMESTAMP columns in another zone than UTC, zones by
//! name, and the hours that clocks skip and repeat; and of a source that loads its time zones.

use bench::replication::StartFrom;
use testkit::answers::same_answers;
use testkit::following::beginning;
use testkit::server::flavor_under_test;
use testkit::{Flavor, Replica, RowImage, Server, Settings, available};

/// The statements that load a zone which only the tables have: Berlin's clocks of 2023 to 2025.
const ZONE: &[&str] = &[
    "TRUNCATE TABLE mysql.time_zone",
    "TRUNCATE TABLE mysql.time_zone_name",
    "TRUNCATE TABLE mysql.time_zone_transition",
    "TRUNCATE TABLE mysql.time_zone_transition_type",
    "START TRANSACTION",
    "INSERT INTO mysql.time_zone (Use_leap_seconds) VALUES ('N')",
    "SET @id = LAST_INSERT_ID()",
    "INSERT INTO mysql.time_zone_name VALUES ('Mine/Berlin', @id)",
    "INSERT INTO mysql.time_zone_transition_type VALUES (@id, 0, 7200, 1, 'CEST'), (@id, 1, 3600, 0, 'CET')",
    "INSERT INTO mysql.time_zone_transition VALUES (@id, 1679792400, 0), (@id, 1698541200, 1), (@id, 1711846800, 0), (@id, 1729990800, 1), (@id, 1743296400, 0), (@id, 1761440400, 1)",
    "COMMIT",
];

#[test]
fn moments_are_numbers_and_texts_of_the_sessions_clocks() {
    let answers = same_answers(
        "time_zones::clocks",
        &[
            "create database zz",
            "use zz",
            r#"drop table if exists tt"#,
            r#"create table tt(id int primary key auto_increment, a timestamp, b timestamp(3), d datetime)"#,
            r#"set time_zone='+02:00'"#,
            r#"insert into tt(a,b,d) values('2024-01-01 10:00:00','2024-01-01 10:00:00.5','2024-01-01 10:00:00')"#,
            r#"select a+0, a*1, round(a), a>20240101095900, a=20240101100000, concat(a,''), a in (20240101100000), if(1,a,0), cast(a as signed), abs(a), a div 1, b+0, -a, a%7, floor(b), greatest(a,0), coalesce(a,0), a between 20240101095900 and 20240101100001, (select a)+0, case when 1 then a end + 0, mod(a,100), a|0, a&1, a<=>20240101100000, truncate(b,0), format(a,0), conv(a,10,16), hex(a), left(a,4), length(a), cast(a as char), cast(a as decimal(20)), cast(a as double), cast(a as json), json_array(a), json_object('k',a), a=d, a=d+0, min(a)+0 from tt group by id"#,
            r#"select sum(a), avg(a), max(a), min(a)+0, std(a), group_concat(a), count(distinct a), json_arrayagg(a), bit_or(a) from tt"#,
            r#"select * from tt where a=20240101100000"#,
            r#"select * from tt where a>20240101095959"#,
            r#"select * from tt where a+0=20240101100000"#,
            r#"select x+0 from (select a x from tt) q"#,
            r#"select x+0 from (select a x from tt union select a from tt) q"#,
            r#"with c as (select a x from tt) select x+0,x from c"#,
            r#"select max(a) over () + 0, lag(a) over (order by id)+0, first_value(a) over ()+0 from tt"#,
            r#"create table cs as select a, a+0 n, max(a) m from tt group by a"#,
            r#"select * from cs"#,
            r#"set @z=0"#,
            r#"create table i(n bigint, v varchar(30), dbl double, dt datetime, tm time, y date, j json)"#,
            r#"insert into i select a,a,a,a,a,null,cast(a as json) from tt"#,
            r#"select * from i"#,
            r#"update i,tt set i.n=tt.a, i.v=tt.a"#,
            r#"select n,v from i"#,
            r#"select tt.id from tt join i on tt.a=i.n"#,
            r#"select tt.id from tt join i on tt.a=i.dt"#,
            r#"select tt.id from tt join i on tt.a=i.v"#,
            r#"drop table i"#,
            r#"drop table cs"#,
            r#"create function f(x bigint) returns bigint deterministic no sql return x+1"#,
            r#"select f(a) from tt"#,
            r#"drop function f"#,
            r#"select elt(1,a), field(a,a), find_in_set(a,a), interval(a,5), least(a,d), year(a), extract(hour from a), addtime(a,'1:0:0'), timediff(a,d), a + interval 1 hour, date(a), time(a), to_seconds(a), unix_timestamp(a), dayname(a), str_to_date(a,'%Y-%m-%d %H:%i:%s'), timestampdiff(hour,a,d), maketime(a,1,1), date_format(a,'%H'), replace(a,'-','') , lpad(a,22,'x'), reverse(a), strcmp(a,'2024-01-01 10:00:00'), a like '%10:00%', a regexp '10:00', char(a), bin(a), oct(a), crc32(a), insert(a,1,1,'x'), instr(a,'10:'), upper(a), quote(a), to_base64(a), substring(a,12), trim(a), ascii(a), space(a%3), rpad(a,3,''), weight_string(a) is null, a is true, not a, a and 1, a xor 1, ~a, a<<1, a>>1, a^1, sign(a), sqrt(a), pow(a,0), ln(a)>0, ceil(b), round(b,1), crc32(b) from tt"#,
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("20240101100000")), "{answers:#?}");
}

#[test]
fn named_zones_are_those_of_the_tables() {
    let mut statements = ZONE.to_vec();
    statements.extend([
        r#"set time_zone='mine/berlin'"#,
        r#"set time_zone='Mine/Berlin '"#,
        r#"set time_zone='Nowhere/Land'"#,
        r#"set time_zone=''"#,
        r#"set time_zone=null"#,
        r#"set time_zone=1"#,
        r#"set time_zone='system'"#,
        r#"select @@time_zone"#,
        r#"set time_zone='Mine/Berlin'"#,
        r#"select unix_timestamp('2024-03-31 01:59:59'), unix_timestamp('2024-03-31 02:00:00'), unix_timestamp('2024-03-31 02:59:59'), unix_timestamp('2024-03-31 03:00:00')"#,
        r#"select unix_timestamp('2024-10-27 01:59:59'), unix_timestamp('2024-10-27 02:30:00'), unix_timestamp('2024-10-27 03:00:00')"#,
        r#"select from_unixtime(1711846799), from_unixtime(1711846800), from_unixtime(1729990799), from_unixtime(1729990800)"#,
        r#"select convert_tz('2024-07-01 12:00:00', '+00:00', 'Mine/Berlin'), convert_tz('2024-03-31 02:30:00', 'MINE/BERLIN', '+00:00'), convert_tz('2024-10-27 02:30:00', 'Mine/Berlin', '+00:00'), convert_tz('2024-07-01 12:00:00.25', 'Mine/Berlin', '+05:30'), convert_tz('2024-07-01 12:00:00', 'Nowhere/Land', '+00:00'), convert_tz('3001-07-01 02:30:00', 'Mine/Berlin', '+00:00'), convert_tz('1969-12-31 02:30:00', 'Mine/Berlin', '+00:00')"#,
        r#"create table s(ts timestamp, key(ts))"#,
        r#"set sql_mode='STRICT_TRANS_TABLES'"#,
        r#"insert into s values('2024-03-31 02:30:00')"#,
        r#"set sql_mode=''"#,
        r#"insert into s values('2024-03-31 02:30:00')"#,
        r#"select ts, unix_timestamp(ts) from s"#,
        r#"create table k(a timestamp default '2024-07-01 12:00:00')"#,
        r#"show create table k"#,
        r#"set time_zone='+00:00'"#,
        r#"show create table k"#,
        r#"set time_zone='Mine/Berlin'"#,
        r#"create event e on schedule every 1 day starts '2024-07-01 12:00:00' do select 1"#,
        r#"select time_zone, starts from information_schema.events"#,
        r#"set timestamp=1719828000"#,
        r#"select now(), utc_timestamp(), curtime(), current_date(), timediff(now(), utc_timestamp())"#,
        r#"select timestamp'2024-07-01 12:00:00+01:00', cast('2024-07-01 12:00:00' as datetime) = timestamp'2024-07-01 12:00:00+02:00'"#,
        r#"set timestamp=default"#,
        r#"set sql_mode='STRICT_TRANS_TABLES'"#,
        r#"set time_zone='Mine/Berlin'"#,
        r#"create table d4(a timestamp default '2024-03-31 02:30:00')"#,
        r#"set sql_mode=''"#,
        r#"create table d5(a timestamp default '2024-03-31 02:30:00')"#,
        r#"insert into d5 values()"#,
        r#"select * from d5"#,
        r#"show create table d5"#,
        r#"alter table d5 add b timestamp default '2024-03-31 02:30:00'"#,
        r#"select * from d5"#,
        r#"update d5 set a='2025-03-30 02:10:10'"#,
        r#"select * from d5"#,
        r#"select a='2025-03-30 02:10:10' from d5"#,
        r#"select count(*) from d5 where a='2025-03-30 02:10:10'"#,
        r#"select count(*) from d5 where a<'2025-03-30 02:10:10'"#,
        r#"select cast(a as date), date_format(a,'%H'), a+0, unix_timestamp(a) from d5"#,
        r#"create table o(id int primary key auto_increment, t timestamp, key(t))"#,
        r#"set time_zone='+00:00'"#,
        r#"insert into o(t) values('2024-10-27 00:30:00'),('2024-10-27 01:30:00'),('2024-10-27 00:45:00'),('2024-10-27 01:15:00')"#,
        r#"set time_zone='Mine/Berlin'"#,
        r#"select * from o order by t"#,
        r#"select id,t from o ignore index(t) order by t"#,
        r#"select t,count(*) from o group by t"#,
        r#"select distinct t from o"#,
        r#"select count(distinct t) from o"#,
        r#"select * from o where t='2024-10-27 02:30:00'"#,
        r#"select * from o ignore index(t) where t='2024-10-27 02:30:00'"#,
        r#"select * from o where t between '2024-10-27 02:20:00' and '2024-10-27 02:40:00'"#,
        r#"select max(t), min(t) from o"#,
        r#"select a.id,b.id from o a join o b on a.t=b.t order by 1,2"#,
        r#"select t from o union select t from o"#,
        r#"set @x=(select t from o where id=2)"#,
        r#"select @x"#,
        r#"update o set t=t"#,
        r#"select * from o"#,
        r#"set time_zone='+00:00'"#,
        r#"select * from o"#,
    ]);
    let answers = same_answers("time_zones::named", &statements);
    assert!(answers.iter().any(|answer| answer.contains("1729989000")), "{answers:#?}");
}

/// A replica has the zones that its source loads, and what sessions of the source write in such a
/// zone.
#[test]
fn a_source_that_loads_its_time_zones_is_followed() {
    if !available("time_zones::a_source_that_loads_its_time_zones_is_followed", &[Flavor::MySql]) {
        return;
    }
    for format in ["ROW", "STATEMENT"] {
        let settings = Settings {
            row_image: RowImage::Minimal,
            extra: vec![format!("--binlog-format={format}")],
            ..Settings::default()
        };
        let source = Server::start(Flavor::MySql, &settings);
        let replica = Replica::start(flavor_under_test(), &Settings { server_id: 2, ..Settings::default() });
        replica.follow(source.flavor(), source.port(), &beginning(&source));
        let mut session = source.connect();
        let mut run = |sql: &str| drop(session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")));
        ZONE.iter().for_each(|sql| run(sql));
        for sql in [
            "CREATE DATABASE d",
            "USE d",
            "SET time_zone = 'Mine/Berlin', sql_mode = ''",
            "CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP DEFAULT '2024-03-31 02:30:00', shown DATETIME, n BIGINT)",
            "INSERT INTO t (id) VALUES (1)",
            "INSERT INTO t VALUES (2, '2024-03-31 02:59:00', FROM_UNIXTIME(1711846800), 0)",
            "INSERT INTO t VALUES (3, '2024-10-27 02:30:00', NOW(), 0)",
            "UPDATE t SET n = at + 0, shown = at",
            "CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2024-07-01 12:00:00' DISABLE DO SELECT 1",
            "UPDATE mysql.server_cost SET cost_value = 0.2 WHERE cost_name = 'row_evaluate_cost'",
        ] {
            run(sql);
        }
        replica.catch_up(&source);
        for asked in [
            "SELECT * FROM d.t ORDER BY id",
            "SHOW CREATE TABLE d.t",
            "SELECT time_zone, starts FROM information_schema.events",
            "SELECT * FROM mysql.time_zone_name",
            "SELECT * FROM mysql.time_zone_transition ORDER BY 1, 2",
            "SELECT * FROM mysql.time_zone_transition_type ORDER BY 1, 2",
            "SELECT cost_name, cost_value, default_value FROM mysql.server_cost ORDER BY 1",
        ] {
            replica.equals_by(&source, asked);
        }
        let further = Replica::start(Flavor::MySql, &Settings { server_id: 3, ..Settings::default() });
        further.follow(replica.flavor(), replica.port(), &StartFrom::Gtid);
        further.catch_up(&replica);
        further.equals_by(&source, "SELECT * FROM d.t ORDER BY id");
    }
}
