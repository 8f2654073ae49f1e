//! A pair of servers, Slipstream and a real MySQL, that get the same statements. Their answers and
//! the warnings of each statement are compared.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ResultSet};
use protocol::column::Column;
use testkit::{Server, available};

/// Slipstream and MySQL, each with a client.
pub struct Both {
    _servers: [Server; 2],
    clients: [Client; 2],
    asked: usize,
    wrong: Vec<String>,
}

fn row_shown(row: &[Option<Vec<u8>>]) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_owned(),
    };
    row.iter().map(cell).collect::<Vec<_>>().join("|")
}

/// Returns what is compared of a column. Integers of all sizes count as one type, and so do texts
/// of all lengths.
fn column_shown(column: &Column) -> String {
    let field_type = match column.field_type {
        1 | 2 | 3 | 9 => 8,
        249..=253 => 253,
        other => other,
    };
    format!("{} {field_type}", column.name)
}

fn shown(result: &ResultSet) -> String {
    let rows: Vec<String> = result.rows.iter().map(|row| row_shown(row)).collect();
    let columns: Vec<String> = result.columns.iter().map(column_shown).collect();
    format!("{} [{}]", rows.join(" "), columns.join(", "))
}

fn ask(client: &mut Client, text: &str) -> String {
    let answer = match client.query(text) {
        Ok(result) if result.columns.is_empty() => format!("{} rows", result.ok.affected_rows),
        Ok(result) => shown(&result),
        // The further warnings beside an error are not compared.
        Err(error) => return error.to_string(),
    };
    match client.query("SHOW WARNINGS") {
        Ok(warnings) => {
            let warnings: Vec<String> = warnings.rows.iter().map(|row| row_shown(row)).collect();
            format!("{answer} {}", warnings.join(" "))
        }
        Err(error) => format!("{answer} {error}"),
    }
}

impl Both {
    /// Starts both servers and runs the statements on them. Returns `None` if MySQL is not
    /// available.
    pub fn start(test: &str, statements: &[&str]) -> Option<Both> {
        if !available(test, &[Flavor::MySql]) {
            return None;
        }
        let servers =
            [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &Settings::default()));
        let clients = servers.each_ref().map(|server| server.connect());
        let mut both = Both { _servers: servers, clients, asked: 0, wrong: Vec::new() };
        for statement in statements {
            for client in &mut both.clients {
                client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
            }
        }
        Some(both)
    }

    /// Sends a statement to both servers, and notes a difference.
    pub fn ask(&mut self, statement: &str) {
        self.asked += 1;
        let [ours, theirs] = self.clients.each_mut().map(|client| ask(client, statement));
        if ours != theirs {
            self.wrong.push(format!("{statement}\n  here:  {ours}\n  MySQL: {theirs}"));
        }
    }

    /// Returns the number of compared statements.
    ///
    /// # Panics
    ///
    /// Panics when two answers were different.
    pub fn finish(self) -> usize {
        let shown = self.wrong.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.wrong.is_empty(), "{} of {} differ\n{shown}", self.wrong.len(), self.asked);
        self.asked
    }
}
