//! Tests that statements are answered as MySQL answers them: the statements and MySQL's answers are
//! in `cases/*.result`, which `cases/generate.py` made on a MySQL 9.7 server.

mod support;

use support::{engine, outcome, session};

/// Runs the statements of one file and reports every one whose answer differs from MySQL's.
fn check(file: &str, text: &str) {
    let engine = engine();
    let mut session = session(&engine);
    let mut cases: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("> "), cases.last_mut()) {
            (Some(statement), _) => cases.push((statement, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => panic!("{file}: a result without a statement"),
        }
    }
    let mut wrong = Vec::new();
    for (statement, expected) in &cases {
        let got = outcome(&mut session, statement);
        // Both sides write a row with values of several lines as one line.
        if got != *expected {
            wrong.push(format!("> {statement}\n  MySQL: {expected:?}\n  here:  {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{file}: {} of {} differ\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

macro_rules! files {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), include_str!(concat!("cases/", stringify!($name), ".result")));
            }
        )*
    };
}

files! { number_forms auto_increment duplicates read_only date_modes defaults foreign_keys expressions strings dates queries changes definitions algorithms covering joins numbers }
