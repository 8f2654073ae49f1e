//! Tests of INSERT, REPLACE, UPDATE and DELETE through views, compared with MySQL: their answers,
//! the warnings, the rows that they leave, and what is refused.

mod checked;
mod random;
mod statements;

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::answers::shown;
use testkit::{Server, available};

/// Starts both servers with a client each, or returns `None` if MySQL is not available.
fn both(test: &str) -> Option<([Server; 2], [Client; 2])> {
    available(test, &[Flavor::MySql]).then(|| {
        let extra = vec!["--innodb-stats-auto-recalc=OFF".to_owned()];
        let settings = Settings { extra, ..Settings::default() };
        let servers = [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &settings));
        let clients = [0, 1].map(|at: usize| servers[at].connect());
        (servers, clients)
    })
}

/// Returns rows, or the counts and the message of the OK packet, or the error, each with the
/// warnings.
fn ask(client: &mut Client, text: &str) -> String {
    let answer = match client.query(text) {
        Ok(result) if result.columns.is_empty() => {
            let ok = &result.ok;
            format!("{} rows, id {}, '{}'", ok.affected_rows, ok.last_insert_id, ok.info)
        }
        Ok(result) => shown(&result),
        Err(error) => error.to_string(),
    };
    match client.query("SHOW WARNINGS") {
        Ok(warnings) if !warnings.rows.is_empty() => {
            // MySQL adds a second error for some failed statements.
            let again = [
                " Error|1105|An error occurred in multi-table update",
                " Error|1030|Got error 0 - \\'Success\\' from storage engine",
            ];
            let warnings = again.iter().fold(shown(&warnings), |text, again| text.replace(again, ""));
            format!("{answer} [{warnings}]")
        }
        _ => answer,
    }
}

/// Runs each statement on both servers, and returns the differences in their answers or in the
/// tables afterwards.
fn compare(clients: &mut [Client; 2], statements: &[&str], tables: &[&str]) -> Vec<String> {
    let mut differences = Vec::new();
    for text in statements {
        let [ours, theirs] = clients.each_mut().map(|client| {
            let mut answer = ask(client, text);
            for table in tables {
                let rows = ask(client, &format!("SELECT * FROM {table} ORDER BY 1, 2"));
                answer.push_str(&format!("\n    {table}: {rows}"));
            }
            answer
        });
        if ours != theirs {
            differences.push(format!("{text}\n  here:  {ours}\n  MySQL: {theirs}"));
        }
    }
    differences
}

/// Makes a schema, and the views in it.
fn set_up(clients: &mut [Client; 2]) {
    for client in clients.iter_mut() {
        client.query("CREATE DATABASE v").unwrap_or_else(|e| panic!("{e}"));
        client.query("USE v").unwrap_or_else(|e| panic!("{e}"));
    }
    let differences = compare(clients, statements::VIEWS, &[]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn information_schema_tells_which_views_are_updatable() {
    let Some((_servers, mut clients)) = both("updatable_views") else { return };
    set_up(&mut clients);
    let asked = "SELECT TABLE_NAME, IS_UPDATABLE, CHECK_OPTION FROM information_schema.VIEWS \
                 WHERE TABLE_SCHEMA = 'v' ORDER BY 1";
    let refused = [
        "CREATE VIEW z1 AS SELECT DISTINCT a FROM t1 WITH CHECK OPTION",
        "CREATE VIEW z2 AS SELECT t1.a FROM t1 LEFT JOIN t2 ON t1.a = t2.a WITH LOCAL CHECK OPTION",
        "CREATE VIEW z3 AS SELECT a FROM t1 WITH LOCAL CHECK OPTION",
        asked,
    ];
    let differences = compare(&mut clients, &refused, &[]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(ask(&mut clients[0], asked).contains("v1|YES|NONE"));
}

#[test]
fn rows_are_put_through_views_as_in_mysql() {
    let Some((_servers, mut clients)) = both("updatable_views") else { return };
    set_up(&mut clients);
    let differences = compare(&mut clients, statements::INSERTS, &["t1", "t2"]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn rows_are_changed_through_views_as_in_mysql() {
    let Some((_servers, mut clients)) = both("updatable_views") else { return };
    set_up(&mut clients);
    let differences = compare(&mut clients, statements::CHANGES, &["t1", "t2"]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn check_option_and_locks_hold_as_in_mysql() {
    let Some((_servers, mut clients)) = both("updatable_views") else { return };
    set_up(&mut clients);
    let differences = compare(&mut clients, checked::CHECKED, &[]);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
