//! Tests of dates and times among values of other kinds: what they are compared as, which number
//! and which text they are, and what is read as one. A real MySQL gets the same statements and must
//! answer the same, apart from warnings, whose texts name other rows there.

use bench::instance::Settings;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

const TABLE: &[&str] = &[
    "create database d",
    "use d",
    "set sql_mode=''",
    "create table t (id int primary key, ti time, ti3 time(3), d date, dt datetime, ts timestamp null, v varchar(20), y year)",
    "insert into t values (1,'00:00:01','00:00:01.5','2024-01-02','2024-01-02 10:11:12','2024-01-02 10:11:12','1',2024),(2,'10:11:12','10:11:12.123','2000-02-01','2000-02-01','2000-02-01','2000-02-01',2000),(3,null,null,null,null,null,null,null)",
    "insert into t values (4,'-01:00:00','100:00:00','1999-12-31','1999-12-31 23:59:59','1999-12-31 23:59:59','00:00:01',0),(5,'00:00:00','0','0000-00-00','0000-00-00','2001-01-01','0',1970),(6,'00:00:00','0','0000-00-00','0000-00-00',null,'abc',2155),(7,'24:00:00','0','2024-1-2','2024-1-2',null,'2024-1-2',1901)",
    "set sql_mode=default",
];

fn compare(test: &str, statements: &[&str]) {
    same_as_mysql(test, &Settings::default(), |server| {
        let mut client = server.connect();
        TABLE.iter().chain(statements).map(|statement| answer(&mut client, statement)).collect()
    });
}

#[test]
fn a_list_is_compared_as_values_of_one_type() {
    compare(
        "one_type",
        &[
            "select id from t where time'00:00:01' in (dt, v) order by id",
            "select id from t where time'00:00:01' in (v, dt) order by id",
            "select id from t where time'00:00:01' in (d, v) order by id",
            "select id from t where time'00:00:00' in (d, '0') order by id",
            "select id from t where ti in (dt, v) order by id",
            "select id from t where ti in (v, d) order by id",
            "select id from t where ti in (v, '00:00:01') order by id",
            "select id from t where ti in (v, ti3) order by id",
            "select id from t where dt in (ti, v) order by id",
            "select id from t where dt not in (ti, v) order by id",
            "select id from t where d in (ti3, v) order by id",
            "select id from t where d in (ti3, ti) order by id",
            "select id from t where date'1970-01-01' in (ti, v) order by id",
            "select id from t where d in (v, '2024-01-02') order by id",
            "select id from t where dt in (v, d) order by id",
            "select id from t where v in (dt, ti) order by id",
            "select id from t where v not in (dt, ti) order by id",
            "select id from t where v in (d, dt) order by id",
            "select id from t where v in (ti, d) order by id",
            "select id from t where v in (d, ti) order by id",
            "select id from t where v in (null, dt) order by id",
            "select id from t where 'abc' in (v, dt) order by id",
            "select time(date'2024-12-30') in (subtime(time'10:11:12', time'00:00:01'), '1e2')",
            "select id from t where '00:00:01' in (ti, dt) order by id",
            "select id from t where '00:00:01' in (ti, v) order by id",
        ],
    );
}

#[test]
fn a_case_is_compared_as_its_operand() {
    compare(
        "case_operand",
        &[
            "select id, case v when d then 1 else 0 end, case d when v then 1 else 0 end, case v when t.ti then 1 else 0 end, case ti when v then 1 else 0 end from t order by id",
            "select id, case v when dt then 1 else 0 end, case dt when v then 1 else 0 end, case '2024-1-2' when d then 1 else 0 end, case d when '2024-1-2' then 1 else 0 end from t order by id",
            "select id, case '0:0:0' when ti then 1 else 0 end, case ti when '0:0:0' then 1 else 0 end, case ti when '' then 1 else 0 end, case ti when dt then 1 else 0 end from t order by id",
            "select id, case v when d then 1 when ti then 2 else 0 end, case v when 20240102 then 1 when d then 2 else 0 end from t order by id",
            "select case when cast('[]' as json) then 1 end, if(cast('[]' as json), 1, 0), case when cast('1' as json) then 1 end",
        ],
    );
}

#[test]
fn computed_constants_are_read_as_literals_are() {
    compare(
        "computed_constants",
        &[
            "select id from t where ti <= timestampadd(month, 1, timestamp'2000-01-01 00:00:00') order by id",
            "select id from t where ti <= date_add(date'2000-02-01', interval 1 day) order by id",
            "select id from t where ti <= cast('2000-02-01 00:00:05' as datetime) order by id",
            "select id from t where ti between cast('1999-12-31 00:00:00' as datetime) and cast('2000-02-01 00:00:05' as datetime) order by id",
            "select id from t where ti3 = addtime('00:00:01', '0.5') order by id",
            "select id from t where y = 23 + 1 order by id",
            "select id from t where y = concat('2', '4') order by id",
            "select id, y = -0.1, y <> -0.1, y <= -0.1, y > -0.1, y = -0.1e0, y >= -0.6, y = 0.4, y = -1 from t order by id",
            "select id, ti3 = '', ti3 = x'', ti3 <=> '', nullif(ti3, ''), ti3 < '' from t order by id",
        ],
    );
}

#[test]
fn sums_are_numbers_and_texts_of_their_own() {
    compare(
        "sums",
        &[
            "select 5 + addtime(1, 1), addtime('2024-01-01', '1') + 0, date_add('2024-01-01', interval 1 day) + 0, date_add('2024-01-01 10:00:00', interval 1 second) * 1, addtime('10:11:12.5', '1') + 0, addtime('10:11:12.5', '1') | 0",
            "select date_add('2024-01-01', interval 1 day) = 20240102, date_add('2024-01-01', interval 1 day) > 20240101, date_add('2024-01-01', interval 1 day) in (20240102), addtime(1, 1) = 2, addtime(1, 1) = '2', timestampadd(day, 1, '2024-01-01') + 0",
            "select sum(date_add('2024-01-01', interval 1 day)), abs(addtime(1, 1)), floor(addtime(1, 1)), if(addtime(1, 1), 1, 0), cast(addtime(1, 1) as signed), max(addtime(1, 1)) + 0",
            "select concat(ti3 + interval 1 second), upper(time'10:11:12.500' + interval 1 second), concat(dt + interval 0.5 second), left(ti3 - interval 1 hour, 20), ti3 + interval 1 second from t order by id",
            "select unix_timestamp(timestamp'2000-01-01 23:59:59.999999') | 0, ~unix_timestamp(timestamp'2000-01-01 23:59:59.999999'), 1 & unix_timestamp(timestamp'2000-01-01 23:59:59.999999')",
            "select id, datediff(date'2000-01-01', ti) = datediff(date'2000-01-01', current_date) from t order by id",
            "select timediff('1:2:3.5', '1'), timediff('10:11:12.5', '0:0:1'), timediff('1:2:3.5', 1), timediff('2024-01-02', '2024-01-01'), timediff('24:1:2', '1')",
            "select unix_timestamp(coalesce(timestamp'2024-02-29 23:59:59.5', 0)), time(concat('10:11:12', '.5')), timestamp(concat('2024-01-01', '')), addtime(time'10:11:12', concat('1', '.25'))",
        ],
    );
}

#[test]
fn texts_are_read_as_times() {
    let mut statements = vec![
        "select time('1 2'), time('1 02'), time('34 22'), cast('1 :2' as time), cast('1\t2:3' as time), time('-1 2'), hour('12x'), second('900:00:00')",
        "select time'1 2'",
        "select timestamp'2024-01-01'",
        "select timestamp'20240101'",
        "select timestamp'2024-01-01 10'",
        "select {ts '2024-01-01'} + 0, {ts '2024-01-01 1:1:1'} + 0, {ts 'x'}, {d '2024-01-01 10:00:00'}, {t 'x'}, {t '10:11'} + 0, {d '20240101'} + 0",
        "select {fn concat('a', 'b')}, {x 1 + 1}",
        "create table b (id int primary key, b bit(64), c bit(8))",
        "insert into b values (1, time'00:00:01', null), (2, timestamp'2024-01-02 01:02:03', null)",
        "insert into b values (2, time'00:00:01', null)",
        "insert into b values (3, null, time'00:00:01')",
        "insert into b select 10 + id, ti, null from t where id in (1, 2)",
        "insert into b select 20 + id, dt, null from t where id in (1, 2)",
        "select id, hex(b), hex(c) from b order by id",
    ];
    let texts =
        ["0", "12", "-5", "12x", "x", "", "3 10:11", "101112.5", "2024-01-02", "20241302", "0000-00-00"];
    let units = ["day_hour", "day_second", "day_microsecond", "hour", "hour_minute", "day", "year_month"];
    let asked: Vec<String> = texts
        .iter()
        .flat_map(|text| units.map(|unit| format!("select extract({unit} from '{text}')")))
        .collect();
    statements.extend(asked.iter().map(String::as_str));
    compare("read_as_times", &statements);
}

#[test]
fn texts_that_the_modes_refuse_are_the_zero_date() {
    let mut statements = vec![
        "create table w (id int primary key, v varchar(30), dt datetime, d date)",
        "set sql_mode=''",
        "insert into w values (1, '2024-00-01', '2024-01-01', '2024-01-01'), (2, '2024-01-02x', '2024-01-02', '2024-01-02'), (3, 'abc', '0000-00-00', '0000-00-00'), (4, '2024-00-00', '2024-00-00', '2024-00-00')",
        "insert into w values (5, '0000-00-00', '0000-00-00', '0000-00-00'), (6, '20240102', '2024-01-02', '2024-01-02'), (7, '2024-02-30', '0000-00-00', '0000-00-00')",
    ];
    let asked = [
        "select id from w where dt = v order by id",
        "select id from w where d = v order by id",
        "select id from w where v = timestamp'2024-01-02 00:00:00' order by id",
        "select id from w where v between d and dt order by id",
        "select id from w where (dt, id) = (v, id) order by id",
        "select id from w where dt <=> v order by id",
        "select a.id, b.id from w a join w b on a.dt = b.v order by 1, 2",
        "select id, case dt when v then 1 else 0 end, nullif(dt, v), if(dt = v, 1, 0) from w order by id",
    ];
    for mode in ["set sql_mode=default", "set sql_mode=''", "set sql_mode='allow_invalid_dates'"] {
        statements.push(mode);
        statements.extend(asked);
    }
    compare("refused_dates", &statements);
}
