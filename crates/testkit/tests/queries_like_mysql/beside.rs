//! A pair of servers, Slipstream and a real MySQL, that get the same statements and whose answers
//! are compared.

use bench::instance::{Flavor, Settings};
use os::random::Rng;
use protocol::client::{Client, ResultSet};
use protocol::column::Column;
use testkit::{Server, available};

/// Slipstream and MySQL, each with a client.
pub struct Both {
    _servers: [Server; 2],
    clients: [Client; 2],
    asked: usize,
    wrong: Vec<String>,
    /// The statements that were run before the last question.
    ran: Vec<String>,
}

/// How random statements are made.
pub struct Random {
    pub seed: u64,
    pub statements: u64,
    /// The number of statements for which the tables keep their rows.
    pub of_one_filling: u64,
    /// The percentage of the statements that must succeed.
    pub least_percent: u64,
}

/// How the rows are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// In the order in which they come, with the descriptions of the columns.
    Described,
    /// In any order.
    AnyOrder,
}

fn row_shown(row: &[Option<Vec<u8>>]) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_owned(),
    };
    row.iter().map(cell).collect::<Vec<_>>().join("|")
}

/// Returns what is compared of a column. Integers of all sizes count as one type: MySQL says INT
/// for integers that it keeps in a temporary table, where it also changes a column's own name and
/// whether it may be NULL.
fn column_shown(column: &Column) -> String {
    use protocol::column::column_flag::UNSIGNED;
    let unsigned = if column.flags & UNSIGNED != 0 { " unsigned" } else { "" };
    let Column { table, name, field_type, decimals, .. } = column;
    let field_type = match field_type {
        1 | 2 | 3 | 9 => 8,
        other => *other,
    };
    format!("{table}.{name} {field_type}{unsigned} {decimals}")
}

fn shown(result: &ResultSet, how: Rows) -> String {
    let mut rows: Vec<String> = result.rows.iter().map(|row| row_shown(row)).collect();
    match how {
        Rows::AnyOrder => {
            rows.sort();
            rows.join(" ")
        }
        Rows::Described => {
            let columns: Vec<String> = result.columns.iter().map(column_shown).collect();
            format!("{} [{}]", rows.join(" "), columns.join(", "))
        }
    }
}

/// Sends a statement. Returns the answer as text, and whether the statement succeeded.
fn ask(client: &mut Client, text: &str, how: Rows) -> (String, bool) {
    match client.query(text) {
        Ok(result) if result.columns.is_empty() => {
            (format!("{} rows, '{}'", result.ok.affected_rows, result.ok.info), true)
        }
        Ok(result) => (shown(&result, how), true),
        Err(error) => (error.to_string(), false),
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
        let mut both = Both { _servers: servers, clients, asked: 0, wrong: Vec::new(), ran: Vec::new() };
        for statement in statements {
            both.run(statement);
        }
        Some(both)
    }

    /// Runs a statement that has to succeed on both servers.
    pub fn run(&mut self, statement: &str) {
        self.ran.push(statement.to_owned());
        for client in &mut self.clients {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }

    /// Forgets the statements that were run, so that they are not shown beside later differences.
    pub fn forget(&mut self) {
        self.ran.clear();
    }

    /// Sends a statement to both servers, and notes a difference. Returns true if it succeeded on
    /// MySQL.
    pub fn ask(&mut self, statement: &str, how: Rows) -> bool {
        let [(ours, _), (theirs, succeeded)] =
            self.clients.each_mut().map(|client| ask(client, statement, how));
        self.compare(statement, &ours, &theirs);
        succeeded
    }

    /// Sends a statement to both servers, and compares what `shown` returns for the results.
    pub fn ask_for(&mut self, statement: &str, shown: impl Fn(&ResultSet) -> String) {
        let ask = |client: &mut Client| match client.query(statement) {
            Ok(result) => shown(&result),
            Err(error) => error.to_string(),
        };
        let [ours, theirs] = self.clients.each_mut().map(ask);
        self.compare(statement, &ours, &theirs);
    }

    fn compare(&mut self, statement: &str, ours: &str, theirs: &str) {
        self.asked += 1;
        // MySQL refuses some subqueries with LIMIT, and has an error of its own engine. Both are
        // passed over.
        let is_passed_over = theirs.contains("'LIMIT & IN/ALL/ANY/SOME subquery'")
            || theirs.contains("Got error 124 - 'Wrong index given to function'");
        if ours != theirs && !is_passed_over {
            let ran = self.ran.join(";\n  ");
            self.wrong.push(format!("{statement}\n  here:  {ours}\n  MySQL: {theirs}\n  {ran}"));
        }
    }

    /// Sends random statements to both servers. `fill` gives the tables new rows now and then, and
    /// `make` makes the text of a statement. `SLIPSTREAM_TEST_STATEMENTS` can set the number of
    /// statements.
    pub fn ask_random(
        mut self,
        random: &Random,
        fill: impl Fn(&mut Both, &mut Rng),
        make: impl Fn(&mut Rng) -> String,
    ) {
        let mut rng = Rng::new(random.seed);
        let wanted = std::env::var("SLIPSTREAM_TEST_STATEMENTS").ok().and_then(|n| n.parse().ok());
        let statements: u64 = wanted.unwrap_or(random.statements);
        let mut succeeded = 0;
        for number in 0..statements {
            if number % random.of_one_filling == 0 {
                fill(&mut self, &mut rng);
            }
            succeeded += u64::from(self.ask(&make(&mut rng), Rows::AnyOrder));
        }
        println!("{succeeded} of {statements} succeeded");
        let enough = statements * random.least_percent;
        assert!(succeeded * 100 > enough, "{succeeded} of {statements} succeeded");
        assert_eq!(self.finish() as u64, statements);
    }

    /// Returns the number of compared statements.
    ///
    /// # Panics
    ///
    /// Panics when two answers were different.
    pub fn finish(self) -> usize {
        let shown = self.wrong.iter().take(50).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.wrong.is_empty(), "{} of {} differ\n{shown}", self.wrong.len(), self.asked);
        self.asked
    }
}
