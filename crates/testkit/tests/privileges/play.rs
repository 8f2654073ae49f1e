//! The player of the whole matrix on one server.

use crate::accounts::{Row, rows};
use crate::statements::{Ask, Case, SCHEMA, cases};
use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError, ConnectOptions, ResultSet};
use std::fmt;
use testkit::Server;

/// The numbers of the errors with which MySQL says that a privilege is missing.
pub const PRIVILEGE_ERRORS: &[u16] = &[1044, 1045, 1095, 1142, 1143, 1227, 1370, 1401, 1621, 3630, 6038];

/// The answer of a server to a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The statement was allowed. The rows are given if it shows what the account may see.
    Allowed(Option<String>),
    Refused {
        code: u16,
        message: String,
    },
}

impl Answer {
    /// Reports whether two answers are the same. The messages of errors about privileges have to be
    /// the same too.
    pub fn is_like(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Allowed(ours), Answer::Allowed(theirs)) => ours == theirs,
            (Answer::Refused { code, message }, Answer::Refused { code: theirs, message: words }) => {
                code == theirs && (!has_mysqls_words(*code) || comparable(message) == comparable(words))
            }
            _ => false,
        }
    }

    /// Returns the number of the error. `None` means that the statement was allowed.
    pub fn code(&self) -> Option<u16> {
        match self {
            Answer::Allowed(_) => None,
            Answer::Refused { code, .. } => Some(*code),
        }
    }
}

/// Reports whether an error's message is compared: those about privileges are, and those about
/// foreign keys, which name tables.
fn has_mysqls_words(code: u16) -> bool {
    PRIVILEGE_ERRORS.contains(&code) || matches!(code, 1451 | 1452)
}

/// Returns a message without what differs between servers: the numbers of connections, and the name
/// of 127.0.0.1.
fn comparable(message: &str) -> String {
    message.replace("@'localhost'", "@'127.0.0.1'").replace(|c: char| c.is_ascii_digit(), "#")
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Allowed(None) => f.write_str("allowed"),
            Answer::Allowed(Some(rows)) => write!(f, "rows {rows}"),
            Answer::Refused { code, message } => {
                write!(f, "{code} {}", message.replace(|c: char| c.is_ascii_digit(), "#"))
            }
        }
    }
}

/// A cell of the matrix.
pub struct Cell {
    pub account: String,
    pub statement: &'static str,
    pub not_here: Option<u16>,
    pub answer: Answer,
}

/// All cells of one server.
pub struct Matrix {
    pub cells: Vec<Cell>,
}

struct Player {
    server: Server,
    admin: Client,
    /// The connections that statements may kill: one of an account without SYSTEM_USER and one of
    /// an account with it.
    victims: [Client; 2],
}

impl Matrix {
    pub fn play(flavor: Flavor) -> Matrix {
        let settings = Settings { durable: false, ..Settings::default() };
        let server = Server::start(flavor, &settings);
        let mut admin = server.connect();
        for text in SCHEMA {
            run(&mut admin, text);
        }
        let victims = ["victim", "powerful"].map(|user| connect(&server, user));
        let mut player = Player { server, admin, victims };
        let mut cells = Vec::new();
        let cases = cases();
        for (number, row) in rows().into_iter().enumerate() {
            player.row(number, &row, &cases, &mut cells);
        }
        Matrix { cells }
    }
}

impl Player {
    fn row(&mut self, number: usize, row: &Row, cases: &[Case], cells: &mut Vec<Cell>) {
        let user = format!("row{number}");
        run(&mut self.admin, &format!("CREATE USER {user} IDENTIFIED BY 'row'"));
        let holder = if row.by_role { format!("role{number}") } else { user.clone() };
        if row.by_role {
            run(&mut self.admin, &format!("CREATE ROLE {holder}"));
            run(&mut self.admin, &format!("GRANT {holder} TO {user}"));
            run(&mut self.admin, &format!("SET DEFAULT ROLE ALL TO {user}"));
        }
        for text in &row.grants {
            let word = if text.starts_with("REVOKE") { "FROM" } else { "TO" };
            run(&mut self.admin, &format!("{text} {word} {holder}"));
        }
        let mut client = connect(&self.server, &user);
        for case in cases {
            let answer = match case.ask {
                Ask::Query(text) => self.query(&mut client, case, &self.filled_in(text)),
                Ask::Command(code, body) => {
                    let answer = command(&mut client, code, body);
                    client = connect(&self.server, &user);
                    answer
                }
            };
            if let Answer::Allowed(_) = answer {
                for text in case.undo {
                    run(&mut self.admin, text);
                }
            }
            cells.push(Cell {
                account: row.name.clone(),
                statement: case.name,
                not_here: case.not_here,
                answer,
            });
        }
        drop(client);
        run(&mut self.admin, &format!("DROP USER {user}"));
        if row.by_role {
            run(&mut self.admin, &format!("DROP ROLE {holder}"));
        }
    }

    fn filled_in(&self, text: &str) -> String {
        text.replace("{victim}", &self.victims[0].connection_id().to_string())
            .replace("{system}", &self.victims[1].connection_id().to_string())
    }

    fn query(&self, client: &mut Client, case: &Case, text: &str) -> Answer {
        let answer = match client.query(text) {
            Ok(result) => Answer::Allowed(case.shows.then(|| shown(&result))),
            Err(ClientError::Server(error)) => Answer::Refused { code: error.code, message: error.message },
            Err(error) => panic!("{}: {text}: {error}\n{}", self.server.flavor(), self.server.log_tail()),
        };
        if let Answer::Allowed(_) = answer {
            for own in case.own_undo {
                run(client, own);
            }
        }
        answer
    }
}

fn shown(result: &ResultSet) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".to_owned(),
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join(",");
    format!("[{}]", result.rows.iter().map(row).collect::<Vec<_>>().join(" "))
}

/// Sends a command that is no query. Only whether the first packet of its answer is an error
/// counts.
fn command(client: &mut Client, code: u8, body: &[u8]) -> Answer {
    client.send_command(code, body).unwrap_or_else(|error| panic!("command {code}: {error}"));
    match client.read_packet_checked() {
        Ok(_) => Answer::Allowed(None),
        Err(ClientError::Server(error)) => Answer::Refused { code: error.code, message: error.message },
        Err(error) => panic!("command {code}: {error}"),
    }
}

fn run(client: &mut Client, text: &str) {
    client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
}

fn connect(server: &Server, user: &str) -> Client {
    let password = if user.starts_with("row") { "row" } else { "" };
    let options: ConnectOptions = server.connect_options().user(user, password);
    Client::connect(&options)
        .unwrap_or_else(|error| panic!("{}: {user}: {error}\n{}", server.flavor(), server.log_tail()))
}
