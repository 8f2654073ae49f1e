//! Tests with programs from a grammar: no body, right or wrong, ends the server, and programs that
//! both servers accept are answered alike.

use super::told;
use bench::instance::{Flavor, Settings};
use os::clock::Stopwatch;
use os::random::{Rng, test_seed, test_seed_or};
use protocol::capability::STATUS_MORE_RESULTS;
use protocol::client::{Client, ClientError};
use std::time::Duration;
use testkit::Server;

/// A maker of bodies with a number of statements.
struct Grammar<'r> {
    rng: &'r mut Rng,
    /// The number of blocks around the current place.
    depth: usize,
    /// The number of loops so far. Each loop counts with a variable of its own.
    loops: usize,
}

/// The most loops that a body may have.
const MOST_LOOPS: usize = 3;

impl Grammar<'_> {
    fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.rng.below(words.len() as u64) as usize]
    }

    fn number(&mut self) -> String {
        (self.rng.below(7) as i64 - 2).to_string()
    }

    fn value(&mut self) -> String {
        match self.rng.below(8) {
            0 | 1 => self.number(),
            2 | 3 => self.pick(&["x", "y", "s"]).to_owned(),
            4 => format!("({} + {})", self.value(), self.number()),
            5 => format!("g({})", self.number()),
            6 => format!("(SELECT COUNT(*) FROM t WHERE a > {})", self.number()),
            _ => self.pick(&["NULL", "'7'", "1.5"]).to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        let operator = self.pick(&["=", "<", ">", "<=>"]);
        format!("{} {operator} {}", self.value(), self.value())
    }

    fn statements(&mut self) -> String {
        let count = 1 + self.rng.below(3);
        (0..count).map(|_| self.statement() + "; ").collect()
    }

    fn block(&mut self) -> String {
        let handler = match self.rng.below(3) {
            0 => String::new(),
            _ => {
                let how = self.pick(&["CONTINUE", "EXIT"]);
                let what =
                    self.pick(&["SQLEXCEPTION", "1062", "SQLSTATE '45000'", "NOT FOUND", "SQLWARNING"]);
                format!("DECLARE {how} HANDLER FOR {what} SET y = y + 1; ")
            }
        };
        format!("BEGIN DECLARE x INT DEFAULT {}; {handler}{}END", self.number(), self.statements())
    }

    fn counted(&mut self) -> String {
        self.loops += 1;
        let counter = format!("@n{}", self.loops);
        let body = self.statements();
        match self.rng.below(3) {
            0 => format!(
                "BEGIN SET {counter} = 0; WHILE {counter} < 3 DO SET {counter} = {counter} + 1; {body}END WHILE; END"
            ),
            1 => format!(
                "BEGIN SET {counter} = 0; REPEAT SET {counter} = {counter} + 1; {body}UNTIL {counter} >= 2 END REPEAT; END"
            ),
            _ => format!(
                "BEGIN SET {counter} = 0; l{}: LOOP SET {counter} = {counter} + 1; IF {counter} > 2 THEN LEAVE l{}; END IF; \
                 {body}END LOOP; END",
                self.loops, self.loops
            ),
        }
    }

    fn statement(&mut self) -> String {
        self.depth += 1;
        let deep = self.depth > 4;
        let made = match self.rng.below(if deep { 7 } else { 12 }) {
            0 => format!("SET {} = {}", self.pick(&["x", "y", "s"]), self.value()),
            1 => format!("INSERT INTO t VALUES ({}, {})", self.value(), self.value()),
            2 => format!("UPDATE t SET b = {} WHERE a = {}", self.value(), self.value()),
            3 => format!("DELETE FROM t WHERE a = {}", self.value()),
            4 => format!("SELECT {}, x, y, s", self.value()),
            5 => format!("SELECT b INTO y FROM t WHERE a = {}", self.value()),
            6 => format!("SIGNAL SQLSTATE '{}'", self.pick(&["45000", "01000", "02000"])),
            7 => {
                format!("IF {} THEN {}ELSE {}END IF", self.condition(), self.statements(), self.statements())
            }
            8 => format!("CASE {} WHEN {} THEN {}END CASE", self.value(), self.value(), self.statements()),
            9 if self.loops < MOST_LOOPS => self.counted(),
            _ => self.block(),
        };
        self.depth -= 1;
        made
    }
}

/// Returns a body in which some words are lost, doubled or moved.
fn damaged(rng: &mut Rng, body: &str) -> String {
    let mut words: Vec<&str> = body.split(' ').collect();
    for _ in 0..1 + rng.below(3) {
        let (at, other) = (rng.below(words.len() as u64) as usize, rng.below(words.len() as u64) as usize);
        match rng.below(3) {
            0 if words.len() > 1 => drop(words.remove(at)),
            1 => words.insert(at, words[other]),
            _ => words.swap(at, other),
        }
    }
    words.join(" ")
}

const TABLES: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
    "CREATE FUNCTION g(n INT) RETURNS INT DETERMINISTIC NO SQL BEGIN IF n < 0 THEN SIGNAL SQLSTATE '45000'; END IF; RETURN n * 2; END",
];

#[test]
fn random_programs_run_as_mysqls() {
    const PROGRAMS: usize = 150;
    let settings =
        Settings { extra: vec!["--log-bin-trust-function-creators=1".into()], ..Settings::default() };
    if !testkit::available("random_programs", &[Flavor::MySql]) {
        return;
    }
    // Other seeds find the differences that decision 0048 accepts.
    let mut rng = Rng::new(test_seed_or("random_programs_run_as_mysqls", 6));
    let servers = [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &settings));
    let mut clients = servers.each_ref().map(|server| server.connect());
    let mut both = |statement: &str| clients.each_mut().map(|client| told(client, statement));
    TABLES.iter().for_each(|sql| drop(both(sql)));
    for number in 0..PROGRAMS {
        let body = Grammar { rng: &mut rng, depth: 0, loops: 0 }.statements();
        let create = format!(
            "CREATE PROCEDURE p{number}() BEGIN DECLARE x, y INT DEFAULT 1; DECLARE s VARCHAR(20) DEFAULT '0'; {body}END"
        );
        for statement in [
            "DELETE FROM t",
            "INSERT INTO t VALUES (0, 1), (1, 2), (2, 3)",
            &create,
            &format!("CALL p{number}()"),
            "SELECT * FROM t",
        ] {
            // Conditions that stand in the list after an error because they came before it are not
            // compared.
            let first_condition = |told: String| match told.find(" Error,1048") {
                Some(second) if told.contains("(45000)") => told[..second].to_owned(),
                _ => told,
            };
            let [ours, theirs] = both(statement).map(first_condition);
            assert_eq!(ours, theirs, "{create}");
        }
    }
}

/// A call that is silent for this long, or gives more than [`MOST_RESULTS`] results, has an endless
/// loop.
const LONGEST_SILENCE: Duration = Duration::from_secs(2);
const MOST_RESULTS: usize = 20_000;

#[derive(Debug, PartialEq)]
enum End {
    /// The call has answered, and the connection can still be used.
    Answered,
    /// The connection was killed, and the call with it.
    Killed,
}

/// Calls a procedure and drops its results.
fn ends_or_is_killed(server: &Server, client: &mut Client, call: &str) -> End {
    client.send_query(call).unwrap_or_else(|error| panic!("{call}: {error}"));
    for _ in 0..MOST_RESULTS {
        match client.read_summary() {
            Ok(_) if client.status() & STATUS_MORE_RESULTS != 0 => {}
            Ok(_) | Err(ClientError::Server(_)) => return End::Answered,
            Err(error) if error.is_timeout() => break,
            Err(error) => panic!("{call}: {error}\n{}", server.log_tail()),
        }
    }
    let id = client.connection_id();
    server.run(&format!("KILL {id}"));
    let is_there = format!("SELECT 1 FROM information_schema.processlist WHERE id = {id}");
    let since = Stopwatch::start();
    while !server.rows(&is_there).is_empty() {
        assert!(since.elapsed() < Duration::from_secs(60), "{call} does not end when it is killed");
        os::clock::sleep(Duration::from_millis(10));
    }
    End::Killed
}

#[test]
fn no_body_ends_the_server() {
    const BODIES: usize = 600;
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut rng = Rng::new(test_seed("no_body_ends_the_server"));
    let mut client = server.connect();
    TABLES.iter().for_each(|sql| drop(told(&mut client, sql)));
    client.set_read_timeout(Some(LONGEST_SILENCE)).expect("is a socket's");
    let mut killed = 0;
    for number in 0..BODIES {
        let body = Grammar { rng: &mut rng, depth: 0, loops: 0 }.statements();
        let body = damaged(&mut rng, &format!("BEGIN DECLARE x, y INT DEFAULT 1; DECLARE s INT; {body}END"));
        told(&mut client, &format!("CREATE PROCEDURE p{number}() {body}"));
        if ends_or_is_killed(&server, &mut client, &format!("CALL p{number}()")) == End::Killed {
            killed += 1;
            client = server.connect();
            told(&mut client, "USE d");
            client.set_read_timeout(Some(LONGEST_SILENCE)).expect("is a socket's");
        }
    }
    println!("{killed} of {BODIES} bodies had no end");
    assert_eq!(server.run("SELECT 1").rows.len(), 1);
}
