//! The player of scripts of statements and logins, which writes down the outcome of each line.
//!
//! - `> SQL`: the administrator runs a statement.
//! - `in USER PASSWORD`: a login over TCP. The password `-` means no password. The word `tls` at
//!   the end encrypts the connection.
//! - `keep NAME USER PASSWORD`: a login whose session stays open under this name. The word
//!   `expired` at the end: the client can change a password that has expired.
//! - `NAME> SQL`: that session runs a statement. `NAME ping`, `NAME change USER PASSWORD`
//!   (COM_CHANGE_USER) and `NAME drop` are its other commands.

use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::command;
use protocol::tls::{ClientTls, Trust};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use testkit::Server;

/// Plays the script and returns each line with its outcome.
pub fn play(server: &Server, script: &str) -> Vec<String> {
    let mut sessions = BTreeMap::from([(String::new(), server.connect())]);
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| format!("{line} => {}", carry_out(server, &mut sessions, line))).collect()
}

fn carry_out(server: &Server, sessions: &mut BTreeMap<String, Client>, line: &str) -> String {
    if let Some((name, sql)) = line.split_once("> ") {
        return told(query(sessions.get_mut(name).expect(line), sql));
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["in", user, password, more @ ..] => told(login(server, user, password, more).map(|_| "in".into())),
        ["keep", name, user, password, more @ ..] => match login(server, user, password, more) {
            Ok(client) => {
                sessions.insert((*name).to_owned(), client);
                "in".into()
            }
            Err(error) => told(Err(error)),
        },
        [name, "ping"] => {
            let client = sessions.get_mut(*name).expect(line);
            told(client.command(command::PING, &[]).map(|_| "alive".into()))
        }
        [name, "change", user, password] => {
            let client = sessions.get_mut(*name).expect(line);
            told(client.change_user(user, secret(password), "").map(|()| "in".into()))
        }
        [name, "drop"] => {
            let client = sessions.remove(*name).expect(line);
            let id = client.connection_id();
            client.quit();
            // The server counts the connection until it has seen that it ended.
            let gone = format!("SELECT COUNT(*) FROM performance_schema.processlist WHERE ID = {id}");
            while server.rows(&gone) != ["0"] {
                os::clock::sleep(std::time::Duration::from_millis(5));
            }
            "gone".into()
        }
        _ => panic!("no line of a script: {line}"),
    }
}

fn secret(word: &str) -> &str {
    if word == "-" { "" } else { word }
}

fn login(server: &Server, user: &str, password: &str, more: &[&str]) -> Result<Client, ClientError> {
    let mut options = ConnectOptions::tcp("127.0.0.1", server.port()).user(user, secret(password));
    options.can_handle_expired_passwords = more.contains(&"expired");
    options.tls = more.contains(&"tls").then(anybody);
    Client::connect(&options)
}

/// Returns options of a connection that is encrypted and accepts any server.
pub fn anybody() -> ClientTls {
    Trust::Anybody.into()
}

fn query(client: &mut Client, sql: &str) -> Result<String, ClientError> {
    let result = client.query(sql)?;
    let mut out = String::from("ok");
    for row in &result.rows {
        let cells: Vec<String> = row.iter().map(|cell| text(cell.as_deref())).collect();
        // Writing to a String cannot fail.
        let _infallible = write!(out, " [{}]", cells.join(" | "));
    }
    Ok(out)
}

/// Returns a cell as text, without the random data that a plugin has stored.
fn text(cell: Option<&[u8]>) -> String {
    let Some(bytes) = cell else { return "NULL".into() };
    let text = String::from_utf8_lossy(bytes).into_owned();
    if let (Some(start), Some(end)) = (text.find(" AS '$A$"), text.rfind("' REQUIRE")) {
        return format!("{} AS '(stored){}", &text[..start], &text[end..]);
    }
    match text.find("\"additional_password\": ") {
        Some(start) => format!("{}\"additional_password\"", &text[..start]),
        None => text,
    }
}

fn told(outcome: Result<String, ClientError>) -> String {
    match outcome {
        Ok(text) => text,
        // The servers differ in whether they look up the name of the loopback address.
        Err(ClientError::Server(e)) => {
            format!(
                "{} ({}) {}",
                e.code,
                String::from_utf8_lossy(&e.state),
                e.message.replace("127.0.0.1", "localhost")
            )
        }
        Err(error) => format!("{error}"),
    }
}
