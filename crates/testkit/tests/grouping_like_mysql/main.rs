//! Tests of ONLY_FULL_GROUP_BY, and of DISTINCT with ORDER BY, compared with a real MySQL: both
//! accept and refuse the same queries, with the same messages, and give the same rows for those
//! that they accept.

mod more_statements;
mod random;
mod statements;

use bench::instance::Settings;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

const SETUP: &[&str] = &[
    "CREATE DATABASE gb_dev",
    "USE gb_dev",
    "CREATE TABLE b (id INT PRIMARY KEY, name VARCHAR(10), u INT NOT NULL UNIQUE, v INT)",
    "CREATE TABLE a (id INT PRIMARY KEY, b_id INT)",
    "CREATE TABLE nk (x INT UNIQUE, y INT, p INT NOT NULL, q INT NOT NULL, UNIQUE (p, q))",
    "CREATE TABLE g (id INT, w INT AS (id * 2), z INT AS (COALESCE(id, 3)))",
    "INSERT INTO b VALUES (1, 'x', 10, 5), (2, 'y', 20, 5), (3, 'z', 30, 6)",
    "INSERT INTO a VALUES (1, 1), (2, 1), (3, 9), (4, NULL)",
];

/// Returns how many of the answers are errors with this number.
fn refused(answers: &[String], code: &str) -> usize {
    answers.iter().filter(|answer| answer.contains(&format!(": {code} ("))).count()
}

/// Runs the statements on both servers, and checks how many are refused with each error number.
fn play(test: &str, statements: &[&str], expected: &[(&str, usize)]) {
    let all: Vec<&str> = SETUP.iter().chain(statements).copied().collect();
    let answers = same_as_mysql(test, &Settings::default(), |server| {
        let mut client = server.connect();
        all.iter().map(|statement| answer(&mut client, statement)).collect()
    });
    for (code, count) in expected {
        assert_eq!(refused(&answers, code), *count, "{code}: {answers:#?}");
    }
}

#[test]
fn orders_and_keys_are_as_in_mysql() {
    play(
        "grouping_orders",
        statements::ORDERS,
        &[("1054", 3), ("1055", 7), ("1140", 10), ("3065", 6), ("3066", 1)],
    );
}

#[test]
fn conditions_make_columns_equal_as_in_mysql() {
    play("grouping_conditions", statements::CONDITIONS, &[("1054", 1), ("1055", 2), ("1140", 15)]);
}

#[test]
fn tables_have_dependences_as_in_mysql() {
    play("grouping_tables", statements::TABLES, &[("1055", 17), ("1140", 3)]);
}

#[test]
fn clauses_are_checked_as_in_mysql() {
    play(
        "grouping_clauses",
        more_statements::CLAUSES,
        &[("1054", 4), ("1055", 22), ("1140", 7), ("3029", 2), ("3065", 4)],
    );
}

#[test]
fn queries_within_queries_are_checked_as_in_mysql() {
    play("grouping_inner", more_statements::INNER, &[("1055", 7), ("1140", 2)]);
}

#[test]
fn names_are_checked_as_in_mysql() {
    play(
        "grouping_names",
        more_statements::NAMES,
        &[("1054", 9), ("1055", 5), ("1140", 1), ("3029", 1), ("3065", 13), ("3066", 1)],
    );
}

#[test]
fn a_name_of_several_tables_is_the_listed_column() {
    play("grouping_listed_names", more_statements::LISTED_NAMES, &[("1052", 6), ("1054", 0)]);
}

#[test]
fn aliases_are_checked_as_in_mysql() {
    play(
        "grouping_aliases",
        more_statements::ALIASES,
        &[("1055", 2), ("1140", 13), ("3065", 1), ("3066", 1)],
    );
}

#[test]
fn views_and_other_statements_are_checked_as_in_mysql() {
    let statements = [
        "CREATE VIEW vb AS SELECT id, name n, v + 1 w FROM b",
        "SELECT n FROM vb GROUP BY id",
        "SELECT n FROM vb GROUP BY w",
        "SELECT w + 1 FROM vb GROUP BY w",
        "SELECT DISTINCT w FROM vb ORDER BY n",
        "SELECT x.n FROM vb x GROUP BY w",
        "CREATE VIEW vc AS SELECT v, COUNT(*) c FROM b GROUP BY v",
        "SELECT c FROM vc GROUP BY v",
        "SELECT v FROM vc GROUP BY c",
        "CREATE TABLE ct AS SELECT DISTINCT v FROM b ORDER BY name",
        "INSERT INTO a SELECT u, name FROM b GROUP BY v",
        "SET sql_mode = ''",
        "SELECT v, MAX(name) FROM b GROUP BY u ORDER BY u",
        "SELECT id FROM b ORDER BY COUNT(*)",
    ];
    play("grouping_others", &statements, &[("1055", 4), ("3065", 2)]);
}
