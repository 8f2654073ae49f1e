//! A walk: cases of a hundred statements each at a source, with a replica that is compared with the
//! source after every few statements.

use std::time::Duration;

use bench::replication::{self, StartFrom};
use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError};
use testkit::grammar::Grammar;
use testkit::schema::{Catalog, cells, differences, picture};
use testkit::server::SOON;
use testkit::{Flavor, Replica, Server, Settings};

use crate::world::Names;

/// The beginning of the names of all databases and accounts that a walk makes.
const PREFIX: &str = "walk";
/// The number of statements in a case.
const CASE: u64 = 100;
/// The number of accepted statements between two comparisons.
const STEP: usize = 10;
/// The number of failures after which a walk ends.
const MOST_FAILURES: usize = 20;
/// The separator between the statements of an alternative that has several.
const THEN: &str = ";;";

/// A fault that a walk has found.
#[derive(Debug)]
pub enum Finding {
    /// The applier has stopped with this error number and message.
    Stopped(u32, String),
    /// Source and replica show different things: the first text says of what, the second what each
    /// shows.
    Different(String, String),
    /// The replica does not answer, or does not go on. The text says why.
    Gone(String),
}

impl Finding {
    /// Returns the part of the finding that must be the same after fewer statements for it to count
    /// as the same fault.
    fn kind(&self) -> String {
        match self {
            Finding::Stopped(number, _) => format!("stopped {number}"),
            Finding::Different(what, _) => what.split('`').next().unwrap_or_default().to_string(),
            Finding::Gone(_) => "gone".to_string(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Finding::Stopped(number, error) => format!("the applier stopped with {number}: {error}"),
            Finding::Different(what, both) => format!("{what}:\n{both}"),
            Finding::Gone(error) => format!("the replica does not go on: {error}"),
        }
    }
}

/// A source, its replica, and the grammar of the source's statements.
pub struct Walk {
    source: Server,
    replica: Replica,
    grammar: Grammar,
    /// The statements with which each session at the source begins.
    first: Vec<String>,
    /// Whether the source logs unsafe statements as text too.
    logs_all_text: bool,
}

/// Starts a replica that begins where the source's log ends.
fn attach(source: &Server) -> Replica {
    let mut settings = Settings { server_id: 2, ..relaxed() };
    // A machine that is busy with other tests may need more than ten seconds to make a server's
    // first keys.
    settings.extra.push("--connect-timeout=120".to_string());
    let replica = Replica::start(testkit::server::flavor_under_test(), &settings);
    replica.follow(source.flavor(), source.port(), &StartFrom::Position(source.position()));
    replica
}

/// Returns settings without syncs, because a walk need not survive a loss of power.
fn relaxed() -> Settings {
    Settings { durable: false, ..Settings::default() }
}

impl Walk {
    /// Starts a source and a replica. `format` is the source's `binlog_format`, `image` its
    /// `binlog_row_image`.
    pub fn start(source: Flavor, rules: &[&str], format: &str, image: &str) -> Walk {
        let mut settings = relaxed();
        settings.extra.push(format!("--binlog-format={format}"));
        settings.extra.push(format!("--binlog-row-image={image}"));
        settings.extra.push("--event-scheduler=OFF".to_string());
        let source = Server::start(source, &settings);
        let grammar = Grammar::new(rules, source.flavor(), format == "ROW");
        let first =
            ["SET NAMES utf8mb4", "SET lock_wait_timeout = 2, innodb_lock_wait_timeout = 1", "USE walk_a"];
        let replica = attach(&source);
        let logs_all_text = format == "STATEMENT";
        Walk { source, replica, grammar, first: first.map(String::from).to_vec(), logs_all_text }
    }

    /// Walks this many statements and panics with all failures.
    pub fn run(mut self, name: &str, seed: u64, statements: u64) {
        let tries = testkit::times("SLIPSTREAM_WALK_TRIES", 100);
        let mut failures = Vec::new();
        let (mut done, mut accepted) = (0, 0);
        while done < statements && failures.len() < MOST_FAILURES {
            let of_the_case = seed.wrapping_add(done / CASE);
            let count = CASE.min(statements - done);
            let (played, finding) = self.case(&mut Rng::new(of_the_case), count);
            accepted += played.len();
            done += count;
            let Some(finding) = finding else { continue };
            println!("{name}: SEED={of_the_case}: {}", finding.shown());
            let (least, finding) = self.shrink(played, finding, tries);
            let text = format!("SEED={of_the_case}: {}\nafter\n{};", finding.shown(), least.join(";\n"));
            println!("{name}: {text}\n");
            failures.push(text);
        }
        println!("{name}: {done} statements, {accepted} accepted");
        if failures.is_empty() {
            self.comes_back();
        }
        assert!(failures.is_empty(), "{name}: {} failures:\n{}", failures.len(), failures.join("\n\n"));
    }

    /// Checks that what the walk has left is still there after the replica was killed.
    fn comes_back(&mut self) {
        self.replica.kill();
        self.replica.come_back();
        assert!(self.settle().is_none(), "the replica goes on after it was killed");
        if let Some(found) = self.compare() {
            panic!("after the replica was killed: {}", found.shown());
        }
    }

    /// Plays one case from nothing. Returns the statements that were accepted or may be logged, and
    /// what went wrong.
    fn case(&mut self, rng: &mut Rng, count: u64) -> (Vec<String>, Option<Finding>) {
        let mut session = self.begin();
        let mut names = Names::new();
        let (mut played, mut since) = (Vec::new(), 0);
        let (mut asking, mut is_known) = (self.source.connect(), false);
        for number in 1..=count {
            if !is_known {
                names.catalog = Catalog::read(&mut asking, PREFIX).unwrap_or_else(|error| panic!("{error}"));
                is_known = true;
            }
            let text = self.grammar.expand("statement", &mut names, rng);
            for sql in text.split(THEN) {
                if self.is_left_out(sql) {
                    continue;
                }
                match session.query(sql) {
                    Ok(_) => {
                        is_known &= !defines(sql);
                        played.push(sql.to_string());
                        since += 1;
                    }
                    // MariaDB logs it all the same if the old table is gone already.
                    Err(ClientError::Server(_)) if sql.starts_with("CREATE OR REPLACE TABLE") => {
                        is_known = false;
                        played.push(sql.to_string());
                    }
                    Err(ClientError::Server(_)) => {}
                    Err(_) => return (Vec::new(), self.revive(sql)),
                }
            }
            if since >= STEP || number == count {
                since = 0;
                // An open transaction is committed, because a comparison does not see its changes.
                if session.query("COMMIT").is_ok() {
                    played.push("COMMIT".to_string());
                }
                if let Some(finding) = self.settle().or_else(|| self.compare()) {
                    return (played, Some(finding));
                }
            }
        }
        (played, None)
    }

    /// Goes on with a new replica after the source has ended, which is the source's own fault.
    fn revive(&mut self, sql: &str) -> Option<Finding> {
        println!("the source has ended at: {sql}");
        self.source.kill();
        self.source.come_back();
        self.replica = attach(&self.source);
        None
    }

    /// Reports whether no replica can have what the source has after this statement. The sources
    /// call UPDATE IGNORE and UUID() unsafe: which of the rows that want one key gets it goes by
    /// their order in the source's files. A column that is added with NEXTVAL() as its default is
    /// NULL at the replica (docs/schemas.md).
    fn is_left_out(&self, sql: &str) -> bool {
        const UNSAFE: [&str; 2] = ["UPDATE IGNORE", "UUID()"];
        self.logs_all_text && UNSAFE.iter().any(|part| sql.contains(part))
            || sql.starts_with("ALTER TABLE") && sql.contains("NEXTVAL(")
            || leaves_a_table(sql, self.source.flavor())
    }

    /// Returns a session at a source that has nothing but an empty database.
    fn begin(&mut self) -> Client {
        self.clean();
        let mut session = self.source.connect();
        session.query("CREATE DATABASE walk_a").expect("there was none");
        for sql in &self.first {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        session
    }

    /// Drops everything that a case has made.
    fn clean(&mut self) {
        let mut client = self.source.connect();
        for branch in ["'x1'", "'x1','branch',7"] {
            // Most often there is no such branch.
            let _ = client.query(&format!("XA ROLLBACK {branch}"));
        }
        client.query("SET foreign_key_checks = 0").expect("may be set");
        let catalog = Catalog::read(&mut client, PREFIX).unwrap_or_else(|error| panic!("{error}"));
        for database in &catalog.databases {
            // MariaDB has no READ ONLY databases and refuses this.
            let _ = client.query(&format!("ALTER DATABASE `{database}` READ ONLY = 0"));
            let sql = format!("DROP DATABASE `{database}`");
            client.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let sql = format!("SELECT user, host FROM mysql.user WHERE user LIKE '{PREFIX}%'");
        for row in cells(&mut client, &sql).unwrap_or_else(|error| panic!("{sql}: {error}")) {
            let (user, host) = (row[0].replace('\'', "''"), &row[1]);
            let dropped = [format!("DROP USER '{user}'@'{host}'"), format!("DROP ROLE '{user}'")];
            assert!(dropped.iter().any(|sql| client.query(sql).is_ok()), "{user}@{host} stays");
        }
    }

    /// Waits until the replica has applied everything that the source has logged.
    fn settle(&mut self) -> Option<Finding> {
        let target = self.source.position();
        let Ok(mut client) = self.replica.try_connect() else {
            return Some(Finding::Gone(self.replica.log_tail()));
        };
        let (mut moved, mut last) = (Stopwatch::start(), None);
        loop {
            let status = match replication::status(&mut client, self.replica.flavor()) {
                Ok(status) => status,
                Err(error) => return Some(Finding::Gone(format!("{error}\n{}", self.replica.log_tail()))),
            };
            if status.applied.as_ref().is_some_and(|applied| *applied >= target) {
                return None;
            }
            if status.sql_errno != 0 {
                return Some(Finding::Stopped(status.sql_errno, status.sql_error));
            }
            if status.applied != last {
                (last, moved) = (status.applied.clone(), Stopwatch::start());
            }
            if moved.elapsed() > SOON {
                return Some(Finding::Gone(format!("{status:?}\n{}", self.replica.log_tail())));
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Returns the first difference between what source and replica show.
    fn compare(&mut self) -> Option<Finding> {
        let flavor = self.source.flavor();
        let mut client = self.source.connect();
        let catalog = Catalog::read(&mut client, PREFIX).unwrap_or_else(|error| panic!("{error}"));
        let theirs = picture(&self.source, &catalog, flavor).unwrap_or_else(|error| panic!("{error}"));
        let ours = match picture(&self.replica, &catalog, flavor) {
            Ok(ours) => ours,
            Err(error) => return Some(Finding::Gone(format!("{error}\n{}", self.replica.log_tail()))),
        };
        let mut found = differences(&theirs, &ours);
        // Differences of rows come first, then those of definitions, then the rest.
        found.sort_by_key(|(what, _)| (!what.starts_with("rows"), what.starts_with("information")));
        found.into_iter().next().map(|(what, both)| Finding::Different(what, both))
    }

    /// Plays these statements again, from nothing.
    fn replay(&mut self, statements: &[String]) -> Option<Finding> {
        let mut session = self.begin();
        for sql in statements {
            if let Err(error) = session.query(sql)
                && !matches!(error, ClientError::Server(_))
            {
                return self.revive(sql);
            }
        }
        // The statement that gives the locks back may have been left out.
        for ends in ["COMMIT", "UNLOCK TABLES"] {
            let _ = session.query(ends);
        }
        self.settle().or_else(|| self.compare())
    }

    /// Leaves out ever smaller parts of the statements, as long as the same fault shows. Returns
    /// the statements that are left.
    fn shrink(&mut self, mut left: Vec<String>, mut finding: Finding, tries: u64) -> (Vec<String>, Finding) {
        self.renew();
        let (mut part, mut at) = (left.len().div_ceil(2).max(1), 0);
        for _ in 0..tries {
            if at >= left.len() {
                if part == 1 {
                    break;
                }
                (part, at) = (part.div_ceil(2), 0);
            }
            let mut fewer = left.clone();
            fewer.drain(at..(at + part).min(left.len()));
            match self.replay(&fewer) {
                Some(found) if found.kind() == finding.kind() => {
                    (left, finding) = (fewer, found);
                    self.renew();
                }
                Some(_) => {
                    self.renew();
                    at += part;
                }
                None => at += part,
            }
        }
        (left, finding)
    }

    /// Replaces a replica that has stopped or differs with a new one.
    fn renew(&mut self) {
        self.clean();
        self.replica = attach(&self.source);
    }
}

/// Reports whether MariaDB may leave the old table behind, which no replica can know of: it does so
/// where ALTER TABLE copies and renames a table whose name has a `%` (docs/schemas.md).
fn leaves_a_table(sql: &str, source: Flavor) -> bool {
    let renames = || {
        let mut words = sql.split_whitespace().skip_while(|word| *word != "RENAME").skip(1);
        words.next().is_some_and(|word| !["COLUMN", "KEY", "INDEX"].contains(&word))
    };
    source == Flavor::MariaDb && sql.starts_with("ALTER") && sql.contains("`t%_`") && renames()
}

/// Reports whether a statement may change anything but rows.
fn defines(sql: &str) -> bool {
    let first = sql.split_whitespace().next().unwrap_or_default();
    ["CREATE", "ALTER", "DROP", "RENAME", "SET"].contains(&first)
}
