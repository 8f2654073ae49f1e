//! Tests of functions and operators beside values of other types: dates, collations, bytes, numbers
//! without a sign.

use bench::instance::Settings;
use testkit::answers::{answer, same_answers};
use testkit::server::same_as_mysql;

/// Tables with a date, a time and others.
const OF_DATES: [&str; 3] = [
    "create database d",
    "create table d.t (id int primary key, d date, dt datetime, tm time(3), y year, j json, f float)",
    "insert into d.t values (1, '2020-01-01', '2020-01-01 10:00:00', '10:00:00', 2000, '\"2024-01-02\"', 1.1), \
     (2, '2020-01-02', null, '11:00:00.5', 0, '[]', 2.5)",
];

fn same_about_dates(test: &str, statements: &[&str]) -> Vec<String> {
    let statements: Vec<&str> = OF_DATES.iter().chain(&["use d"]).chain(statements).copied().collect();
    same_answers(test, &statements)
}

#[test]
fn a_call_that_is_no_date_is_refused_beside_a_date_as_by_mysql() {
    let answers = same_about_dates(
        "calls_beside_dates",
        &[
            "select d = concat('x', 'y') from t",
            "select * from t where d = upper('xy')",
            "select d = lower('X') and 0 from t",
            "select if(0, d = concat('x', 'y'), 1) from t",
            "select d <=> ifnull('x', 'y'), 1 from t",
            "select d = cast('x' as char) from t",
            "select dt = date_format('2020-01-01', '%x') from t",
            "select dt > space(5) from t",
            "select d in (concat('x', 'y')) from t",
            "select nullif(d, concat('x', 'y')) from t",
            "select d + interval 1 day = lower('X') from t",
            "select curdate() > lower('A')",
            "select d = concat('2020-01-', '02') from t",
            "select dt = concat('2020-01-01', ' 10:00:00') from t",
            "set sql_mode = ''",
            "delete from t where d = concat('x', 'y')",
            "select count(*) from t",
        ],
    );
    assert!(answers[4].contains("1525 (HY000) Incorrect DATE value: 'xy'"), "{answers:#?}");
    assert!(answers.last().is_some_and(|last| last.ends_with(": 2")), "{answers:#?}");
}

/// SHOW WARNINGS is not asked, because MySQL has two errors there, 1292 and 1525.
#[test]
fn a_strict_change_beside_a_call_that_is_no_date_is_refused_as_by_mysql() {
    let answers = same_as_mysql("calls_beside_dates_strictly", &Settings::default(), |server| {
        let mut client = server.connect();
        let statements = OF_DATES.iter().chain(&["use d", "delete from t where d = concat('x', 'y')"]);
        statements.map(|statement| answer(&mut client, statement)).collect()
    });
    assert!(answers.last().is_some_and(|last| last.contains("1292")), "{answers:#?}");
}

#[test]
fn sums_of_dates_out_of_range_warn_and_are_refused_as_by_mysql() {
    let answers = same_about_dates(
        "sums_out_of_range",
        &[
            "select date'9999-12-31' + interval 1 day, date'2020-01-01' - interval 9999 year",
            "select date'2020-01-01' + interval 9223372036854775807 day",
            "select dt + interval 99999 year from t",
            "select '9999-12-31' + interval 1 day",
            "select time'10:00:00' + interval 999 hour",
            "insert into t (id, d) values (3, date'9999-12-31' + interval 1 day)",
            "insert into t (id, d) values (3, from_days(99999999))",
            "insert into t (id, dt) values (3, '9999-12-31' + interval 1 day)",
            "insert ignore into t (id, d) values (3, from_days(99999999))",
            "update t set d = from_days(99999999) where id = 1",
            "select id, d from t",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("6527 (22008)")), "{answers:#?}");
}

#[test]
fn documents_and_times_are_read_as_dates_by_functions_as_by_mysql() {
    let answers = same_about_dates(
        "documents_as_dates",
        &[
            "select j + interval 5 year, date_add(j, interval 1 second), adddate(j, 1) from t where id = 1",
            "select least(j, 1), greatest(j, 'a') from t",
            "select greatest(least(j, 1), 2) from t where id = 1",
            "select group_concat(id + tm), concat(tm * 2), concat(hour(tm) + tm) from t group by id",
            "insert into t (id, y) values (4, time'10:00:00')",
            "update t set y = time'11:00:00' where id = 2",
            "select id, y = year(now()) from t",
            "insert into t (id, y) select id + 10, tm from t where id = 1",
            "insert into t (id, y) select 20, time'10:00:00'",
            "select y = year(now()) from t where id = 20",
            "select cast(if(null, 5, tm) as decimal(20, 3)), cast(if(null, 5, time'00:00:01') as decimal) from t where id = 1",
            "select tm between date'2020-01-01' and timestamp'2130-01-01 00:00:00', \
             tm between '2020-01-01' and timestamp'2130-01-01 00:00:00', \
             tm between date'2130-01-01' and timestamp'2131-01-01 00:00:00' from t where id = 1",
            "select (1, '1.0') in ((1, 1), (2, 2)), (1, '1.0') in ((1, 1)), (1, 'b') in ((1, 0), (2, 2)), \
             (1, '1') in ((1, 1), (2, 2))",
            "create table bits (bt bit(16))",
            "insert into bits values (2024)",
            "select conv(bt, 16, 10), conv(bt + 0, 16, 10), conv(b'11111', 16, 10), conv(x'31', 16, 10) from bits",
            "select from_unixtime(x'31322E35'), addtime(timestamp'2020-01-01 10:00:00', x'31'), sec_to_time(x'31')",
            "select id from t where if(false, 1999, tm) between 90000 and 105959",
            "select lead(dt, 1, 1) over (order by id), lead(tm, 0, 'x') over (order by id) from t where id < 3",
            "select lead(timestamp'2020-01-01 10:00:00.500', 0, 'x') over (order by id) from t where id < 3",
        ],
    );
    assert!(answers[4].contains("2029-01-02,2024-01-02 00:00:01,2024-01-03"), "{answers:#?}");
}

#[test]
fn null_takes_a_collation_and_collations_of_bytes_mix_as_in_mysql() {
    let answers = same_answers(
        "collations_of_null",
        &[
            "select null collate utf8mb4_bin",
            "select (select null) collate latin1_bin",
            "create database d",
            "use d",
            "create table t (a varchar(10) collate utf8mb4_bin, b varchar(10) collate utf8mb4_0900_bin, \
             c varchar(10) collate utf8mb4_0900_ai_ci)",
            "insert into t values ('a', 'a', 'a')",
            "select a = b from t",
            "select concat(a, b) from t",
            "select a = c, b = c, concat(a, c) from t",
            "select rpad(a, 3, b), replace(a, b, b), insert(a, 1, 1, b) from t",
            "set collation_connection = utf8mb4_general_ci",
            "select char(65 using utf8mb4) = 'a'",
            "select regexp_instr(char(65 using utf8mb4), '^a')",
            "select convert('a' using utf8mb4) = 'a', concat('a', 1) = 'a1', c = 'a', hex('a') = '61' from t",
        ],
    );
    assert!(answers[0].contains("1253 (42000)") && answers[6].contains("1267 (HY000)"), "{answers:#?}");
    assert!(answers.last().is_some_and(|last| last.ends_with(": 1,1,1,1")), "{answers:#?}");
}

#[test]
fn texts_of_all_functions_are_refused_beside_a_date_as_by_mysql() {
    let answers = same_about_dates(
        "texts_beside_dates",
        &[
            "select dayname(timestamp'2000-01-01 23:59:59.5') > timestamp'1970-01-01 00:00:00'",
            "select cast(1 as datetime) > dayname(date'1970-01-01')",
            "select collation('a') > now()",
            "select json_type('1') > now()",
            "select json_quote('a') <=> dt from t",
            "select nullif('x', 1) = date'2024-12-30'",
            "select nullif('a', 'b') > now()",
            "select if(1 > 2, 'x', 'y') > now()",
            "select time_format(time'10:00:00', '%Hx') > now()",
            "select extractvalue('<a>b</a>', '/a') > now()",
            "select get_format(date, 'eur') > now()",
            "select database() > now()",
            "select d > database() from t",
            "select (1, '2020-1-1') in ((1, d), (2, d)), (1, '2020-01-01') in ((1, d), (2, d)), \
             (1, d) in ((1, '2020-1-1'), (2, '2020-1-3')) from t where id = 1",
            "select (1, concat('x', 'y')) in ((1, d), (2, d)) from t",
            "select (1, concat('x', 'y')) in ((1, d)) from t",
        ],
    );
    let refused = answers.iter().filter(|answer| answer.contains("1525 (HY000)")).count();
    assert!(refused > 10, "{answers:#?}");
}

/// TIME_FORMAT() of a date with a time shows the numbers of the date, and no place in a week.
#[test]
fn times_are_shown_without_the_days_of_their_dates() {
    let letters = "abcDdefHhIijklMmprSsTUuVvWwXxYyz";
    let shown = |moment: &str| {
        let all: Vec<String> =
            letters.chars().map(|letter| format!("time_format({moment}, '%{letter}')")).collect();
        format!("select {}", all.join(", "))
    };
    let asked = [
        shown("'2024-05-06 17:08:09.5'"),
        shown("timestamp'2024-05-06 17:08:09.5'"),
        shown("time'26:08:09.5'"),
        shown("dt") + " from t where id = 1",
        shown("d") + " from t where id = 1",
    ];
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    same_about_dates("shown_times", &asked);
}

#[test]
fn numbers_beside_moments_addresses_and_negative_zeros_are_mysqls() {
    let answers = same_about_dates(
        "numbers_beside_moments",
        &[
            "select timediff(0, dt), timediff(dt, 0), timediff(10203, dt), timediff(20200101, dt) from t where id = 1",
            "select timediff(0, '2024-01-01 00:00:00'), timediff(0, 0), timediff(700101, date'2024-01-01'), \
             timediff(field('', 'a'), date'2024-01-01')",
            "select is_ipv4(1 - f), is_ipv6(1 - f), is_ipv4(dt), is_ipv4(null), is_ipv4('1.2.3.4'), is_ipv6('::1') \
             from (select null f, dt from t where id = 2) x",
            "select is_ipv4(n), is_ipv6(n) from (select nullif(id, 1) n from t where id = 1) x",
            "select format(-'abc', 0), format(-0e0, 2), format(-0.0, 0), format(-0.4, 0), format(-1.5e0, 1)",
        ],
    );
    assert!(answers.last().is_some_and(|last| last.contains("-0,-0.00,0,0,-1.5")), "{answers:#?}");
}

#[test]
fn characters_of_casts_numbers_and_nullif_have_mysqls_say() {
    let answers = same_answers(
        "characters_of_casts",
        &[
            "create database d",
            "use d",
            "create table s (v varchar(10), c char(8) character set latin1, vb varbinary(10), i int, b bit(5), d date)",
            "insert into s values ('abc', 'x', x'6162', 1, 2, '2024-01-02')",
            "select coercibility(cast(1 as time)), coercibility(cast(20240101 as date)), coercibility(cast(1 as signed)), \
             coercibility(cast(1 as decimal)), coercibility(cast('1' as char)), coercibility(cast('1' as binary)), \
             coercibility(cast('1' as json)), coercibility(cast(1 as year))",
            "select collation(nullif('a b', v)), coercibility(nullif('a b', v)), collation(nullif(v, 'a')), \
             collation(nullif('a', c)) from s",
            "select char(65 using utf8mb4) < nullif('a b', v) from s",
            "select cast(1 as time) <> cast(timestamp'1970-01-01 00:00:00' as char)",
            "select d <> cast(timestamp'1970-01-01 00:00:00' as char) from s",
            "select (0, cast(1 as char)) in ((i, b), (1, 1)) from s",
            "select ('a', cast(i as char)) in ((v, b), (1, 1)) from s",
            "select strcmp(cast(1 as char), v) from s where false",
            "select substring(x'61', 1) collate utf8mb4_0900_ai_ci",
            "select concat(x'61', 'a') collate utf8mb4_0900_ai_ci",
            "select vb collate utf8mb4_0900_ai_ci from s",
            "select upper(vb) collate utf8mb4_bin from s",
            "select vb collate `binary`, concat(v, 'x') collate utf8mb4_bin, cast(i as char) collate utf8mb4_bin from s",
            "select 'a' collate utf8mb4_bin, concat(1, i) collate utf8mb4_bin, hex(vb) collate utf8mb4_bin from s",
            "select date_format(d, '%Y') collate utf8mb4_bin, ifnull(d, v) collate utf8mb4_bin from s",
        ],
    );
    assert!(answers.iter().filter(|answer| answer.contains("1253")).count() >= 4, "{answers:#?}");
}

#[test]
fn numbers_without_a_sign_have_none_in_results_as_in_mysql() {
    let answers = same_answers(
        "numbers_without_a_sign",
        &[
            "create database d",
            "use d",
            "create table n (a decimal(5,2) unsigned, b decimal(8,3) unsigned, c decimal(5,2), u int unsigned, i int)",
            "insert into n values (1.5, 2.5, -1.5, 3, -5)",
            "select b - a, a - c, a + c, a * c, a / c, a % c, c % b, 1 - a - 1, a - 5.5, c - a from n",
            "select -a, -a - b, round(a) - round(b), truncate(a, 1) - b, greatest(a, a) - b, sum(a) - sum(b) from n \
             group by a, b",
            "select -5 % u, 5 % u - 10, -7 mod u, i % u, i % u - 3, u % -2, c % b - 5, 5 % a - 3 from n",
            "set sql_mode = 'NO_UNSIGNED_SUBTRACTION'",
            "select a - b, a - 18446744073709551615 from n",
            "set max_error_count = 0",
            "create table made as select a + b s, a * b p, a / b q, a % c r, c % a t, abs(a) x, -a y, i % u z, u % i w from n",
            "show create table made",
            "set max_error_count = default",
            "select coercibility(weight_string(a)), coercibility(weight_string(upper(a))), coercibility(weight_string('a')) \
             from (select cast('a' as char) a) x",
            "select coalesce(a, a) - b, if(1, a, a) - b, any_value(a) - b, case when 1 then a end - b, u - b from n",
            "select period_add(199912, 18446744073709551615), period_add(199912, -1)",
            "select cast(cast(timestamp'2024-02-03 04:05:06' as json) as time), cast(cast(date'2024-02-03' as json) as time), \
             cast(cast('\"2024-02-03 04:05:06\"' as json) as time), cast(cast(time'04:05:06' as json) as time)",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("decimal(9,3) unsigned")), "{answers:#?}");
}

/// MySQL shows the expression in its message, and values are shown here, so the messages are not
/// compared.
#[test]
fn differences_of_decimals_without_a_sign_are_not_below_zero_as_in_mysql() {
    let answers = same_as_mysql("differences_without_a_sign", &Settings::default(), |server| {
        let mut client = server.connect();
        let statements = [
            "create database d",
            "use d",
            "create table n (id int primary key, a decimal(5,2) unsigned, b decimal(8,3) unsigned, u int unsigned)",
            "insert into n values (1, 1.5, 2.5, 3), (2, 2.5, 1.5, 3)",
            "select a - b from n",
            "select a - u from n",
            "select a - 18446744073709551615 from n",
            "select max(a) - max(u) from n",
            "select abs(a) - b from n",
            "select (a + b) - (b * b) from n where id = 1",
            "select a / b - b / a from n where id = 1",
            "select sum(a - b) from n",
            "select nullif(a, 5) - b from n",
            "select mod(a, 1) - b from n",
            "select x - b from (select a x, b from n limit 1) y",
            "select id from n where a - b < 0",
            "create table m (d decimal(9,3))",
            "insert into m select a - b from n",
            "update n set b = a - b",
            "select id, a - b from n where id = 2",
            "select count(*) from m",
        ];
        let said = statements.map(|statement| answer(&mut client, statement));
        said.into_iter().map(|said| said.split(" in '").next().unwrap_or_default().to_owned()).collect()
    });
    assert!(answers.iter().filter(|answer| answer.contains("1690")).count() >= 9, "{answers:#?}");
}

#[test]
fn doubles_are_shortened_for_short_texts_as_by_mysql() {
    let answers = same_answers(
        "doubles_in_short_texts",
        &[
            "create database d",
            "use d",
            "create table t (id int auto_increment primary key, a varchar(20), b char(8), c varchar(12), e varchar(5))",
            "insert into t (a) values (-0.7e0/1999), (1e0/3), (1e20/3), (1e15/3), (1e-5/3), (12345678901234567890e0), \
             (1e100/3), (-1e-10/3), (123456.789e0), (-1e0/3), (1e-16/3), (1e14/3), (-1e-14/3), (0.00012345678901234567e0)",
            "insert ignore into t (b) values (-0.7e0/1999), (1e0/3), (1e20/3), (1e15/3), (1e-5/3), (12345678e0), \
             (1e100/3), (-1e-10/3), (123456.789e0), (123456789e0), (-1234567.8e0), (0.000123456e0)",
            "insert ignore into t (c) values (-0.7e0/1999), (1e0/3), (1e20/3), (1e15/3), (1e-5/3), (12345678.12345e0), \
             (-1e100/3), (-1e-10/3), (999999999999.9e0), (0.0099999999999e0), (-0.001234567891234e0)",
            "select id, a, b, c, e from t",
        ],
    );
    assert!(answers.last().is_some_and(|last| last.contains("-3.50175087543772e-4")), "{answers:#?}");
}

#[test]
fn bytes_that_are_no_characters_are_refused_beside_characters_as_by_mysql() {
    let answers = same_answers(
        "bytes_beside_characters",
        &[
            "create database d",
            "use d",
            "create table s (id int primary key, v varchar(20), vb varbinary(16), c char(8) character set latin1, j json)",
            "insert into s values (1, 'abc', x'ff01', 'x', '{}')",
            "select v = x'ff01' from s",
            "select v <= vb, v = x'616263', v = _binary'abc', c = x'ff01', j = x'ff01' from s",
            "select vb <= v collate utf8mb4_0900_ai_ci from s",
            "select v in ('a', x'ff01') from s",
            "select v between x'ff01' and 'b' from s",
            "select v like x'ff01' from s",
            "select case v when x'ff01' then 1 end from s",
            "select concat(v, x'ff01') from s",
            "select hex(concat('a', x'ff01')), hex(concat(v, vb)), hex(concat(1, x'ff01')), hex(concat(c, x'ff01')) from s",
            "select concat(v, unhex('ff01')) from s",
            "select if(1, x'ff01', v) from s",
            "select if(1, v, x'ff01') from s",
            "select ifnull(v, x'ff01') from s",
            "select greatest(v, x'ff01') from s",
            "select strcmp(v, x'ff01') from s",
            "select replace(v, x'ff01', 'a') from s",
            "select nullif(v, x'ff01') from s",
            "select v = aes_encrypt('a', 'b') from s",
            "select count(*) from s where id = -1 and v = x'ff01'",
            "insert into s (id, vb) values (2, x'ff01')",
            "insert into s (id, v) values (3, x'ff01')",
            "update s set v = concat(v, x'ff01') where id = 1",
            "select id, v, hex(vb) from s order by id",
        ],
    );
    assert!(answers.iter().filter(|answer| answer.contains("3854")).count() > 10, "{answers:#?}");
}
