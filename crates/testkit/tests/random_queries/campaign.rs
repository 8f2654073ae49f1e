//! A campaign: random tables, random statements about them, the same on both servers, and the
//! differences that show.

use std::collections::BTreeMap;

use bench::instance::{Flavor, Settings};
use os::random::Rng;
use protocol::client::Client;
use testkit::Server;
use testkit::grammar::Grammar;

use crate::answers::{Answer, Certain, Difference, Kind, Said, ask, difference};
use crate::expressions::Names;
use crate::known::is_known;
use crate::reduction::reduced;
use crate::schema::{Table, tables};

/// The number of statements about the same tables.
const OF_ONE_SCHEMA: u64 = 150;

/// The values of `sql_mode`, of which each schema has one.
const MODES: &[&str] = &[
    "DEFAULT",
    "DEFAULT",
    "''",
    "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'",
    "'TRADITIONAL'",
    "'NO_UNSIGNED_SUBTRACTION,STRICT_TRANS_TABLES'",
    "'PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE'",
    "'PAD_CHAR_TO_FULL_LENGTH,TIME_TRUNCATE_FRACTIONAL'",
    "'ANSI'",
    "'ALLOW_INVALID_DATES,REAL_AS_FLOAT'",
];

/// A statement whose answers differ.
pub struct Finding {
    pub difference: Difference,
    pub statement: String,
    pub ours: String,
    pub theirs: String,
    /// The statements that made the tables.
    pub made: Vec<String>,
}

/// A random statement, the table that it changes, and how its answers are compared.
struct Statement {
    text: String,
    changed: Option<String>,
    certain: Certain,
}

/// Both servers and what has been found.
pub struct Campaign {
    servers: [Server; 2],
    clients: [Client; 2],
    grammar: Grammar,
    /// The statement that sets the session's `sql_mode`.
    mode: String,
    pub findings: Vec<Finding>,
    pub asked: u64,
    /// The number of statements that MySQL carried out.
    pub carried_out: u64,
    /// The number of differences that a rule passes over.
    pub passed_over: u64,
}

fn statement(tables: &[Table], grammar: &Grammar, rng: &mut Rng) -> Statement {
    let mut names = Names::new(tables, rng);
    if rng.one_in(5) {
        let change = names.change(grammar, rng);
        return Statement { text: change.text, changed: Some(change.table), certain: Certain::default() };
    }
    let query = names.query(grammar, rng);
    let certain = Certain { is_ordered: query.is_ordered, folds: query.folds };
    Statement { text: query.text, changed: None, certain }
}

impl Campaign {
    /// Starts both servers.
    pub fn start(rules: &[&str]) -> Campaign {
        let servers =
            [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &Settings::default()));
        let clients = servers.each_ref().map(|server| server.connect());
        let grammar = Grammar::new(rules, Flavor::MySql, true);
        let mut campaign = Campaign {
            servers,
            clients,
            grammar,
            mode: "SET sql_mode = DEFAULT".to_owned(),
            findings: Vec::new(),
            asked: 0,
            carried_out: 0,
            passed_over: 0,
        };
        for sql in ["SET GLOBAL time_zone = '+00:00'", "CREATE DATABASE random"] {
            campaign.run(sql);
        }
        campaign
    }

    /// Runs a statement that has to succeed on both servers.
    fn run(&mut self, sql: &str) {
        for client in &mut self.clients {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }

    /// Asks this many random statements. The reduction of a difference takes at most `tries`
    /// statements.
    pub fn ask(&mut self, statements: u64, tries: usize, rng: &mut Rng) {
        for _ in 0..statements.div_ceil(OF_ONE_SCHEMA) {
            let (tables, mut made) = tables(rng);
            self.clients = self.servers.each_ref().map(|server| server.connect());
            self.run("DROP DATABASE random");
            self.run("CREATE DATABASE random");
            self.run("USE random");
            self.run("SET max_execution_time = 20000");
            made.iter().for_each(|sql| self.run(sql));
            self.mode = format!("SET sql_mode = {}", rng.pick(MODES));
            let mode = self.mode.clone();
            self.run(&mode);
            made.push(mode);
            for _ in 0..OF_ONE_SCHEMA.min(statements - self.asked) {
                let statement = statement(&tables, &self.grammar, rng);
                self.one(&statement, tries, &made);
            }
        }
    }

    fn one(&mut self, statement: &Statement, tries: usize, made: &[String]) {
        self.asked += 1;
        let (difference, [ours, theirs]) = self.compared(&statement.text, statement);
        self.carried_out += u64::from(matches!(theirs.said, Said::Rows(_) | Said::Done(..)));
        let Some(difference) = difference else { return };
        if is_known(&theirs) {
            self.passed_over += 1;
            return;
        }
        let (mut text, mut shown) = (statement.text.clone(), [ours.shown(), theirs.shown()]);
        if difference.kind != Kind::Gone && tries > 0 {
            text = reduced(&statement.text, tries, |fewer| {
                let (found, [_, theirs]) = self.compared(fewer, statement);
                found.as_ref() == Some(&difference) && !is_known(&theirs)
            });
            shown = self.compared(&text, statement).1.map(|answer| answer.shown());
        }
        let [ours, theirs] = shown;
        self.findings.push(Finding { difference, statement: text, ours, theirs, made: made.to_vec() });
    }

    /// Asks both servers, and compares the answers. What the statement changes is undone.
    fn compared(&mut self, text: &str, statement: &Statement) -> (Option<Difference>, [Answer; 2]) {
        let select = statement.changed.as_ref().map(|table| format!("SELECT * FROM {table} ORDER BY id"));
        let both = self.clients.each_mut().map(|client| {
            // A client that is lost is noticed at the statement itself.
            let _ = client.query("BEGIN");
            let answer = ask(client, text);
            let after = select.as_ref().map(|select| ask(client, select));
            let _ = client.query("ROLLBACK");
            (answer, after)
        });
        let [(ours, our_rows), (theirs, their_rows)] = both;
        let of_answer = difference(&ours, &theirs, statement.certain);
        if of_answer.as_ref().is_some_and(|found| found.kind == Kind::Gone) {
            self.connect_again(text);
        }
        let is_refused = matches!((&ours.said, &theirs.said), (Said::Refused(..), Said::Refused(..)));
        let (false, Some(our_rows), Some(their_rows)) = (is_refused, our_rows, their_rows) else {
            return (of_answer, [ours, theirs]);
        };
        let of_rows = difference(&our_rows, &their_rows, Certain { is_ordered: true, folds: false });
        match (of_answer, of_rows) {
            // A refusal explains rows that differ.
            (Some(found), Some(_)) if found.kind <= Kind::Refusal => (Some(found), [ours, theirs]),
            (_, Some(found)) => (Some(found), [our_rows, their_rows]),
            (found, None) => (found, [ours, theirs]),
        }
    }

    /// Connects again after this statement has ended a connection.
    fn connect_again(&mut self, text: &str) {
        println!("a connection has ended at: {text}");
        self.clients = self.servers.each_ref().map(|server| server.connect());
        self.run("USE random");
        let mode = self.mode.clone();
        self.run(&mode);
    }

    /// Returns the number of findings of each kind.
    pub fn counts(&self) -> BTreeMap<Kind, u64> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.difference.kind).or_default() += 1;
        }
        counts
    }
}
