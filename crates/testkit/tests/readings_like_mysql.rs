//! Tests of how values of one type are read as another: literals of bytes as numbers, large numbers
//! as integers, numbers and texts as dates and times. A real MySQL has to answer the same.

use testkit::answers::same_answers;

#[test]
fn literals_of_bytes_are_numbers_where_functions_want_numbers() {
    let answers = same_answers(
        "literals_of_bytes",
        &[
            "select ceil(x'41'), floor(x'41'), round(x'41'), abs(x'41'), sqrt(x'41'), atan(x'41'), ln(x'41')",
            "select cot(b'1'), asin(b'1'), acos(b'1'), format(x'41', 2), pow(x'41', 2), atan2(x'41', x'42')",
            "select left('abc', x'02'), right('abc', x'02'), repeat('a', x'02'), space(x'02'), elt(x'01', 'a')",
            "select make_set(x'01', 'a'), export_set(x'05', 'Y', 'N', ',', 4), inet_ntoa(x'41')",
            "select makedate(x'07e4', x'01'), from_days(x'0b0000'), substring('abc', x'02'), mid('abc', x'01', x'01')",
            "select lpad('a', x'03', 'b'), insert('abc', x'02', x'01', 'X'), locate('a', 'bab', x'02')",
            "select interval(b'101', 1, 9), interval(x'41', '1.5'), week('2020-01-01', x'01'), nullif(0.000, b'101')",
            "select date_add('2020-01-01', interval x'02' day), timestampadd(day, x'02', '2020-01-01')",
            "select format(1234.567, x'01'), substring_index('a.b.c', '.', x'01'), truncate(1.234, x'01')",
            "select hex(x'41'), concat(x'41'), length(x'4142'), x'41' = 65, x'41' = 'A', x'41' + 0",
        ],
    );
    assert!(answers[0].contains("65,65,65,65"), "{answers:#?}");
}

#[test]
fn numbers_beyond_bigint_stop_at_the_largest_integer() {
    let answers = same_answers(
        "numbers_beyond_bigint",
        &[
            "select cast(1e300 as unsigned), cast(1.8e19 as unsigned), cast(1e19 as unsigned), cast(1e300 as signed)",
            "select cast(12345678901234567890.5 as unsigned), cast(-1.5 as unsigned)",
            "select cast(12345678901234567890.5 as signed)",
            "select cast(18446744073709551615 as signed), cast(-1.5 as unsigned), cast(-1 as unsigned)",
            "select 1e300|0, 1e19|0, 12345678901234567890.5|0, 99999999999999999999|0, -1.5|0, ~1e19, 1e19>>1",
            "select bit_count(1e300), bit_count(12345678901234567890.5), '18446744073709551615'|0, 18446744073709551615|0",
            "select make_set(12345678901234567890.5, 'a', 'b', 'c'), export_set(1e19, 'y', 'n', ',', 4)",
        ],
    );
    assert!(answers[0].contains("9223372036854775807"), "{answers:#?}");
}

#[test]
fn numbers_and_texts_are_read_as_dates_and_times() {
    let answers = same_answers(
        "read_as_dates",
        &[
            "select cast(1000101 as date), cast(1000100 as date), cast(991232 as date), cast(9991231 as date)",
            "select cast(101000000 as datetime), cast(100999999 as datetime), cast(700101000000 as datetime)",
            "select cast(20200102.5 as datetime), cast(20200102.5 as datetime(2)), cast(20200102030405.25 as datetime(2))",
            "select cast(20200102030405.5e0 as datetime(1)), cast(1e300 as datetime), cast(-20200102.5 as datetime)",
            "select to_days('0000-01-01'), to_days('0000-02-28'), to_days('0000-03-01'), to_days('0000-12-31')",
            "select second(''), minute(''), hour(''), time(''), time_to_sec(''), cast('' as time)",
            "select addtime('', '1:0:0'), subtime('1:0:0', ''), extract(hour from '')",
            "select cast('' as year), cast('x' as year), cast('1.5' as year), cast('12x' as year), cast(2.5 as year)",
            "select cast(time'10:00:00' as year) = year(now()), cast('00' as year), cast('2020' as year)",
            "select period_add(1, 1), period_add(6912, 1), period_add(7001, -1), period_diff(202001, 1), period_add(null, 0)",
            "select period_add(0, 1)",
            "select period_add(202013, 1)",
            "select period_diff(202001, -1)",
            "select date_add(time'01:02:03', interval 1 day) = date_add(timestamp(curdate(), '01:02:03'), interval 1 day)",
            "select date_add(time'01:02:03', interval 1 month) is null, date_sub(time'01:02:03', interval 1 hour)",
            "select timestampadd(week, 1, time'01:02:03') = timestamp(curdate(), '01:02:03') + interval 7 day",
            "create database d",
            "use d",
            "create table t (e enum('a', 'b'), s set('x', 'y'), b bit(9))",
            "insert into t values ('b', 'x,y', 5)",
            "select second(e), minute(s), time(e), cast(s as time), time_to_sec(e) from t",
            "select cast(b as time), time_to_sec(b), hour(b) from t",
        ],
    );
    assert!(answers[0].contains("0100-01-01"), "{answers:#?}");
}

#[test]
fn texts_of_functions_have_the_connections_collation() {
    const FUNCTIONS: &[&str] = &[
        "concat(1)",
        "hex(1)",
        "format(1,2)",
        "inet_ntoa(1)",
        "conv(1,10,10)",
        "monthname(now())",
        "sha2('a',256)",
        "to_base64('a')",
        "bin(1)",
        "oct(1)",
        "dayname(now())",
        "make_set(1,1)",
        "export_set(1,1,2)",
        "soundex(1)",
        "lpad(1,2,1)",
        "replace(1,1,1)",
        "substring(1,1)",
        "left(1,1)",
        "reverse(1)",
        "concat_ws(1,2,3)",
        "elt(1,1)",
        "space(1)",
        "repeat(1,2)",
        "get_format(date,'usa')",
        "inet6_ntoa(inet6_aton('::'))",
        "date_format(now(),'%a')",
        "concat('a',1)",
        "user()",
        "version()",
    ];
    let mut statements = vec!["create database d".to_string(), "use d".to_string()];
    for names in ["utf8mb4", "utf8mb4 collate utf8mb4_general_ci", "latin1", "utf8mb4 collate utf8mb4_bin"] {
        statements.push(format!("set names {names}"));
        for function in FUNCTIONS {
            statements.push(format!("select collation({function}), charset({function})"));
        }
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let answers = same_answers("collations_of_functions", &statements);
    assert!(answers.iter().any(|answer| answer.contains("latin1_swedish_ci")), "{answers:#?}");
}

#[test]
fn benchmark_computes_again_and_again() {
    let answers = same_answers(
        "benchmark",
        &[
            "select benchmark(3, 1 + 1), benchmark(0, 1), benchmark(-1, 1), benchmark(null, 1), benchmark('x', 1)",
            "set @n = 0",
            "select benchmark(5, @n := @n + 1)",
            "select @n",
            "select benchmark(2, (select 1)), benchmark(1, null), benchmark(2, 2) + 1",
            "select benchmark(1)",
            "select benchmark(2, (1, 2))",
            "select @@persist.sql_mode",
            "select @@persist_only.max_connections",
        ],
    );
    assert!(answers[3].ends_with(": 5"), "{answers:#?}");
}

#[test]
fn what_is_not_base64_is_null() {
    let answers = same_answers(
        "what_is_not_base64_is_null",
        &[
            "select from_base64('QUJD'), from_base64(' QU\nI= '), from_base64('QQ=='), from_base64('')",
            "select from_base64('A==='), from_base64('===='), from_base64('Q=Q='), from_base64('QUJ'), from_base64('QQ!=')",
        ],
    );
    assert!(answers[1].contains("NULL,NULL,NULL,NULL,NULL"), "{answers:#?}");
}
