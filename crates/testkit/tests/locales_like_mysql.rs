//! Names of days and months, numbers by locales, weeks and times as texts, beside MySQL.

use testkit::answers::same_answers;
use testkit::following::beginning;
use testkit::server::flavor_under_test;
use testkit::{Flavor, Replica, Server, Settings, available};

/// The numbers that `lc_time_names` takes, and the first one that it does not.
const NUMBERS: std::ops::RangeInclusive<u32> = 0..=111;

#[test]
fn all_locales_name_days_and_months() {
    let mut statements = vec!["set names utf8mb4".to_owned()];
    for number in NUMBERS {
        statements.extend([
            format!("set lc_time_names = {number}"),
            "with recursive d as (select date'2023-12-25' d union all select d + interval 5 day from d where d < '2024-12-20') \
             select @@lc_time_names, group_concat(date_format(d, '%a %W %b %M %D')), group_concat(dayname(d), monthname(d)) from d"
                .to_owned(),
            "select format(1234567.891, 2, @@lc_time_names), format(-12345678901.5, 0, @@lc_time_names), \
             format(999.995, 2, @@lc_time_names), format(1000, 1, @@lc_time_names)"
                .to_owned(),
        ]);
    }
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let answers = same_answers("locales_like_mysql::names", &statements);
    assert!(answers.iter().any(|answer| answer.contains("Donnerstag")), "{answers:#?}");
}

#[test]
fn locales_are_named_as_in_mysql() {
    let answers = same_answers(
        "locales_like_mysql::named",
        &[
            "set lc_time_names = 'de_de'",
            "select @@lc_time_names, monthname('2024-03-01'), str_to_date('March', '%M'), format(1234.5, 1)",
            "set lc_time_names = 'xx'",
            "set lc_time_names = ''",
            "select @@lc_time_names",
            "set lc_time_names = default",
            "select @@lc_time_names",
            "select format(1234.5, 1, 'DE_de'), format(1234.5, 1, 'xx_YY'), format(1234.5, 1, null)",
            "select format(null, 1, 'de_DE'), format(1, null, 'de_DE'), format(12345678, 0, 'en_IN')",
        ],
    );
    assert!(answers[1].contains("März"), "{answers:#?}");
}

#[test]
fn times_and_weeks_are_shown_as_by_mysql() {
    let answers = same_answers(
        "locales_like_mysql::times",
        &[
            "select time_format('100:00:00', '%H %k %h %I %l %i %S %s %f %p %r %T')",
            "select time_format('-100:02:03.45', '%H:%i:%s.%f %p %r %T %h %k %l'), time_format('-01:00:00', '%T')",
            "select time_format('838:59:59', '%k%l%p%f'), time_format('00:00:00', '%l %p %r'), time_format('1:2:3', '')",
            "select time_format('12:00:00', '%d'), time_format('12:00:00', '%j'), time_format('12:00:00', '%D %Y %y %m %c %e')",
            "select time_format('12:00:00', '%M'), time_format('12:00:00', '%a'), time_format('12:00:00', '%U')",
            "select time_format('12:00:00', '%% %z %q'), time_format(null, '%T'), time_format('10:00:00', null)",
            "select time_format('2024-01-02 23:00:00', '%T %Y'), time_format(timestamp'2024-01-01 10:11:12', '%H %d')",
            "select date_format('2024-01-01', ''), date_format('2024-00-00', '%M'), date_format('2024-01-00', '%W %a')",
            "select date_format('2024-00-01', '%d %b'), date_format('2024-01-01', '%'), date_format('2024-01-01', '%%%')",
            "set default_week_format = 3",
            "select week('2008-02-20'), week('2024-01-01'), week('2024-01-01', 0), week('2000-01-01', null)",
            "select yearweek('2000-01-01'), extract(week from '2000-01-01'), weekofyear('2000-01-01')",
            "set default_week_format = 8",
            "select @@default_week_format",
        ],
    );
    assert!(answers[0].contains("100 100 04 04 4"), "{answers:#?}");
}

#[test]
fn statements_of_a_source_have_its_locale() {
    if !available("locales_like_mysql::statements_of_a_source_have_its_locale", &[Flavor::MySql]) {
        return;
    }
    let extra = vec!["--binlog-format=STATEMENT".to_owned()];
    let source = Server::start(Flavor::MySql, &Settings { extra, ..Settings::default() });
    let replica = Replica::start(flavor_under_test(), &Settings { server_id: 2, ..Settings::default() });
    replica.follow(source.flavor(), source.port(), &beginning(&source));
    let mut session = source.connect();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(40), r DOUBLE)",
        "INSERT INTO d.t VALUES (1, MONTHNAME('2024-03-01'), 0)",
        "SET lc_time_names = 'de_DE'",
        "INSERT INTO d.t VALUES (2, MONTHNAME('2024-03-01'), 0), (3, DATE_FORMAT('2024-03-01', '%W'), 0)",
        "SET lc_time_names = 'en_US'",
        "INSERT INTO d.t VALUES (4, DAYNAME('2024-03-01'), 0)",
        "UPDATE d.t SET r = RAND(3) ORDER BY id",
    ] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT * FROM d.t ORDER BY id");
}
