//! Tests of LOAD DATA, compared with a real MySQL statement by statement: the answer to the client,
//! every warning, and the rows that the table has afterwards.

mod asked;
mod files;
mod random;
mod xml;

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError, ConnectOptions, ResultSet};
use testkit::server::Server;

/// Runs `play` on Slipstream and, if it is available, on MySQL. All lines that it returns must be
/// the same; all that differ are reported.
fn same_as_mysql(test: &str, settings: &Settings, play: impl Fn(&Server) -> Vec<String>) {
    let ours = play(&Server::start(Flavor::Slipstream, settings));
    if !testkit::available(test, &[Flavor::MySql]) {
        return;
    }
    let theirs = play(&Server::start(Flavor::MySql, settings));
    assert_eq!(ours.len(), theirs.len());
    let (mut differences, all) = (Vec::new(), &theirs);
    for (at, (ours, theirs)) in
        ours.iter().zip(&theirs).enumerate().filter(|(_, (ours, theirs))| ours != theirs)
    {
        let before = at.checked_sub(2).map_or("", |before| &all[before]);
        differences.push(format!("line {at}\n ours   {ours}\n theirs {theirs}\n after  {before}"));
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// Returns a client in a schema of its own that sends the files it is asked for.
fn client(server: &Server) -> Client {
    server.run("SET GLOBAL local_infile = ON");
    server.run("CREATE DATABASE IF NOT EXISTS loads");
    let options = ConnectOptions { local_files: true, ..server.connect_options() };
    let mut client = Client::connect(&options).expect("a client may come in");
    client.query("USE loads").expect("the schema is there");
    client
}

fn shown(result: &ResultSet) -> String {
    let text = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_owned(),
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(text).collect::<Vec<_>>().join(",");
    result.rows.iter().map(row).collect::<Vec<_>>().join(" | ")
}

/// Returns the outcome of a statement with its warnings. The warnings of a statement that failed
/// are not compared, because MySQL reads on after the error.
fn told(client: &mut Client, statement: &str, outcome: Result<ResultSet, ClientError>) -> String {
    let said = match outcome {
        Ok(result) if result.columns.is_empty() => {
            let ok = &result.ok;
            let warnings = client.query("SHOW WARNINGS").expect("the connection is still there");
            format!(
                "{} rows, id {}, {} warnings, {}: {}",
                ok.affected_rows,
                ok.last_insert_id,
                ok.warnings,
                ok.info,
                shown(&warnings)
            )
        }
        Ok(result) => shown(&result),
        Err(ClientError::Server(e)) => {
            format!("{} ({}) {}", e.code, String::from_utf8_lossy(&e.state), e.message)
        }
        Err(e) => panic!("{statement}: {e}"),
    };
    format!("{statement}: {said}")
}

/// Runs a statement, sends this file if the server asks for one, and returns the outcome.
fn say(client: &mut Client, statement: &str, file: &[u8]) -> String {
    let outcome = match statement.contains("LOCAL INFILE") {
        true => client.query_with_file(statement, file),
        false => client.query(statement),
    };
    told(client, statement, outcome)
}
