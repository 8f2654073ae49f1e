//! Tests of regular expressions, compared with MySQL: answers, errors, types and definitions.

mod random;

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::answers::{answer, same_answers};
use testkit::{Server, available};

/// Runs the statements on Slipstream and on MySQL, and reports those whose answers differ. Returns
/// the number of statements.
fn ask_both(test: &str, statements: impl Iterator<Item = String>) -> usize {
    if !available(test, &[Flavor::MySql]) {
        return 0;
    }
    let servers =
        [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &Settings::default()));
    let mut clients = servers.each_ref().map(|server| server.connect());
    let (mut asked, mut wrong) = (0, Vec::new());
    for statement in statements {
        asked += 1;
        let [ours, theirs] = clients.each_mut().map(|client| answer(client, &statement));
        if ours != theirs && !is_refused_here(&ours) && !has_timed_out(&theirs) {
            wrong.push(format!("here:  {ours}\nMySQL: {theirs}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {asked} differ\n{}", wrong.len(), wrong.join("\n"));
    asked
}

/// Reports whether Slipstream refused the pattern: a pattern that the library cannot handle gets
/// the error with which MySQL reports the same of its own library.
fn is_refused_here(answer: &str) -> bool {
    answer.contains(": 3690 (HY000)")
}

/// Reports whether MySQL timed out. Slipstream's library finds an answer where ICU gives up.
fn has_timed_out(answer: &str) -> bool {
    answer.contains(": 3699 (HY000)")
}

#[test]
fn every_statement_is_answered_as_in_mysql() {
    let statements = include_str!("statements.sql").lines();
    let statements = statements.filter(|line| !line.starts_with("--")).map(str::to_owned);
    let asked = ask_both("every_statement_is_answered_as_in_mysql", statements);
    assert!(asked == 0 || asked > 250, "{asked}");
}

const TABLE: &str = "CREATE TABLE d.t (v VARCHAR(20), c CHAR(5) COLLATE utf8mb4_bin, i INT, \
                     l VARCHAR(10) CHARACTER SET latin1, b VARBINARY(9))";

#[test]
fn types_and_definitions_are_those_of_mysql() {
    let answers = same_answers(
        "types_and_definitions_are_those_of_mysql",
        &[
            "CREATE DATABASE d",
            TABLE,
            "CREATE TABLE d.x AS SELECT v REGEXP 'a' a1, regexp_like(v,'a') a2, regexp_instr(v,'a') a3, \
             regexp_replace(v,'a','b') a4, regexp_substr(v,'a') a5, regexp_replace(c,'a','b') a6, \
             regexp_substr(c,'a') a7, regexp_replace(i,'a','b') a8, regexp_substr(i,'a') a9, \
             regexp_replace(b,b,b) a12, \
             regexp_substr(b,b) a13, regexp_substr('abc','b') a15, \
             NOT v REGEXP 'a' a16 FROM d.t",
            "SHOW CREATE TABLE d.x",
            "CREATE TABLE d.g (v VARCHAR(10), g INT AS (v REGEXP 'a'), \
             h LONGTEXT AS (regexp_replace(v,'a','b',1,0,'c')), \
             s VARCHAR(20) DEFAULT (regexp_substr('abc','b')), CHECK (v NOT RLIKE 'z'))",
            "SHOW CREATE TABLE d.g",
            "INSERT INTO d.g (v) VALUES ('ab'), ('x'), (NULL)",
            "INSERT INTO d.g (v) VALUES ('z')",
            "SELECT * FROM d.g",
            "CREATE VIEW d.w AS SELECT v REGEXP 'a' AND v NOT REGEXP v AS q, REGEXP_LIKE(v,'x','i') FROM d.t",
            "INSERT INTO d.t VALUES ('abc', 'A', 12, 'é', 'x'), ('(', NULL, NULL, NULL, NULL)",
            "SELECT v, l REGEXP 'É', c REGEXP 'a', i REGEXP '2$' FROM d.t WHERE i IS NOT NULL",
            "SELECT v REGEXP v FROM d.t",
            "SELECT v FROM d.t WHERE v REGEXP '^a' AND regexp_instr(v, 'c') = 3 ORDER BY v",
            "SELECT (SELECT count(*) FROM d.g WHERE g.v REGEXP t.v) FROM d.t WHERE i = 12",
            "UPDATE d.t SET v = regexp_replace(v, '(a)(b)', '$2$1') WHERE i = 12",
            "SELECT v FROM d.t ORDER BY v",
            "PREPARE p FROM 'SELECT ? REGEXP ?, regexp_replace(?, ?, ?)'",
            "SET @a = 'abc', @b = '[b]', @c = 'x'",
            "EXECUTE p USING @a, @b, @a, @b, @c",
            "SELECT @@regexp_time_limit, @@regexp_stack_limit",
        ],
    );
    assert!(answers.len() > 20);
}

fn error_of(client: &mut Client, statement: &str) -> String {
    let answer = answer(client, statement);
    answer.strip_prefix(statement).unwrap_or_default().get(2..6).unwrap_or_default().to_owned()
}

/// A pattern that takes too long, or would take too much memory, ends in an error.
#[test]
fn patterns_that_take_too_much_end_in_an_error() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    let mut ends_with = |statement: &str, code: &str| {
        assert_eq!(error_of(&mut client, statement), code, "{statement}");
    };
    ends_with("SELECT regexp_like(repeat('a', 40), '^(a|aa)+\\\\1b')", "3699");
    ends_with("SELECT 'a' REGEXP '(a{1000}){1000}'", "3700");
    ends_with("SELECT 'a' REGEXP '((a{1000}){1000}){1000}'", "3700");
    ends_with("SELECT 'a' REGEXP '(\\\\w{1000}){1000}'", "3700");
    ends_with("SELECT 'a' REGEXP repeat('(', 100000)", "3700");
    ends_with("SELECT 'a' REGEXP repeat('(', 5000)", "3687");
    ends_with("SELECT 'a' REGEXP repeat('[', 5000)", "3687");
    ends_with("SELECT regexp_replace(repeat('a', 100000), 'a', repeat('b', 10000))", "3684");
    answer(&mut client, "SET GLOBAL regexp_stack_limit = 239");
    let statement = "SELECT regexp_like(repeat('a', 40), '^(a|aa)+\\\\1b')";
    assert_eq!(error_of(&mut client, statement), "3698");
}
