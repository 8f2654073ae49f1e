//! Tests of stored programs, compared with MySQL: procedures, functions, triggers, handlers,
//! cursors, and what is refused when a program is made. Each corpus is a file of statements with
//! empty lines between them. Both servers run all of its statements and have to answer the same:
//! every result set with its headings, the number of changed rows, errors, and SHOW WARNINGS.

mod events;
mod random;
mod replicated;

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError, ResultSet};
use protocol::scalar::Scalar;
use std::time::Duration;
use testkit::Server;
use testkit::answers::same_answers;
use testkit::server::same_as_mysql;

/// Returns the statements of a corpus.
fn statements(corpus: &str) -> Vec<&str> {
    corpus.split("\n\n").map(str::trim).filter(|statement| !statement.is_empty()).collect()
}

fn shown(result: &ResultSet) -> String {
    if result.columns.is_empty() {
        return format!("{} rows changed", result.affected_rows());
    }
    let names: Vec<&str> = result.columns.iter().map(|column| &*column.name).collect();
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".to_owned(),
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join(",");
    format!("[{}] {}", names.join(","), result.rows.iter().map(row).collect::<Vec<_>>().join(" "))
}

/// Runs a statement and returns everything that a client is told.
fn told(client: &mut Client, statement: &str) -> String {
    let said = match client.query_all(statement) {
        Ok(results) => results.iter().map(shown).collect::<Vec<_>>().join("; "),
        Err(ClientError::Server(e)) => {
            format!("{} ({}) {}", e.code, String::from_utf8_lossy(&e.state), e.message)
        }
        Err(e) => panic!("{statement}: {e}"),
    };
    let warnings = client.query("SHOW WARNINGS").expect("the connection is still there");
    format!("{statement}: {said}\n    {}", shown(&warnings))
}

/// Runs a corpus on both servers and compares all answers.
fn compare(test: &str, corpus: &str) {
    let settings =
        Settings { extra: vec!["--log-bin-trust-function-creators=1".into()], ..Settings::default() };
    compare_with(test, corpus, &settings);
}

/// Compares like [`compare`], on servers with these settings.
fn compare_with(test: &str, corpus: &str, settings: &Settings) {
    let statements = statements(corpus);
    if !testkit::available(test, &[Flavor::MySql]) {
        return;
    }
    let servers = [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, settings));
    let mut clients = servers.each_ref().map(|server| server.connect());
    let mut wrong = Vec::new();
    for statement in &statements {
        let [ours, theirs] = clients.each_mut().map(|client| told(client, statement));
        if ours != theirs {
            wrong.push(format!("here:  {ours}\nMySQL: {theirs}"));
        }
    }
    println!("{test}: {} statements", statements.len());
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), statements.len(), wrong.join("\n"));
}

#[test]
fn control_flow_arguments_and_functions_are_mysqls() {
    compare("programs_flow", include_str!("flow.sql"));
}

#[test]
fn conditions_handlers_and_cursors_are_mysqls() {
    compare("programs_handlers", include_str!("handlers.sql"));
}

#[test]
fn what_no_program_may_have_is_refused_as_mysql_does() {
    compare("programs_create", include_str!("create.sql"));
}

#[test]
fn triggers_are_mysqls() {
    compare("programs_triggers", include_str!("triggers.sql"));
}

#[test]
fn auto_increment_values_come_after_functions_and_triggers_as_mysqls_do() {
    compare("programs_generated_ids", include_str!("generated_ids.sql"));
}

#[test]
fn definers_and_invokers_rights_are_mysqls() {
    same_answers("programs_definers", &statements(include_str!("definers.sql")));
    let settings = Settings::default();
    same_as_mysql("programs_definers", &settings, |server| {
        let mut maker = server.connect();
        for statement in statements(include_str!("definers.sql")) {
            told(&mut maker, statement);
        }
        let options = server.connect_options().user("caller", "");
        let mut client = Client::connect(&options).expect("the account is let in");
        statements(include_str!("as_caller.sql"))
            .iter()
            .map(|statement| told(&mut client, statement))
            .collect()
    });
}

/// Bits of a result's status flags.
const MORE_RESULTS: u16 = 8;
const OUT_PARAMETERS: u16 = 0x1000;

#[test]
fn out_parameters_of_a_prepared_call_are_a_result_set() {
    let settings = Settings::default();
    let answers = same_as_mysql("programs_out_parameters", &settings, |server| {
        let mut client = server.connect();
        for sql in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE PROCEDURE p(IN a INT, OUT b INT, INOUT c VARCHAR(20)) \
             BEGIN SELECT a; SET b = a * 2; SET c = CONCAT(c, '!'); END",
        ] {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let statement = client.prepare("CALL p(?, ?, ?)").expect("it can be prepared");
        let parameters = [Scalar::Int(21), Scalar::Null, Scalar::Bytes(b"text")];
        client.send_execute(&statement, &parameters).expect("it is sent");
        let mut results = Vec::new();
        loop {
            let result = client.read_summary().expect("it runs");
            let bits = client.status() & (MORE_RESULTS | OUT_PARAMETERS);
            results.push(format!("{} rows, status {bits}", result.rows));
            if bits & MORE_RESULTS == 0 {
                return results;
            }
        }
    });
    assert_eq!(answers.len(), 3, "a result set, the OUT parameters, and OK: {answers:?}");
}

#[test]
fn a_program_without_end_is_killed() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE PROCEDURE d.forever() BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; LOOP DO 1; END LOOP; END");
    let mut victim = server.connect();
    let id = victim.connection_id();
    let running = os::thread::spawn("victim", move || victim.query("CALL d.forever()").map(|_| ()));
    let is_running = || {
        let list = server.run("SHOW PROCESSLIST");
        (0..list.rows.len()).any(|row| list.text(row, "Info").is_some_and(|info| info.starts_with("CALL")))
    };
    let clock = os::clock::Stopwatch::start();
    while !is_running() {
        assert!(clock.elapsed() < testkit::server::SOON, "the procedure does not run");
        os::clock::sleep(Duration::from_millis(5));
    }
    server.run(&format!("KILL QUERY {id}"));
    let ended = running.join().expect("the thread has not panicked");
    assert_eq!(ended.err().and_then(|error| error.server_code()), Some(1317));
}
