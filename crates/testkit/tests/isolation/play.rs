//! The player of a scenario: each session runs in a thread, one step at a time, and the player asks
//! the server whether a step waits for a lock.

use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ClientError};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use testkit::Server;
use testkit::server::SOON;

/// The statements that make the tables with which every scenario begins.
const SETUP: [&str; 13] = [
    "DROP TABLE IF EXISTS t",
    "DROP TABLE IF EXISTS c, p",
    "DROP TABLE IF EXISTS u",
    "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, v INT NOT NULL, KEY k (k)) ENGINE=InnoDB",
    "CREATE TABLE u (id INT NOT NULL PRIMARY KEY, n INT NULL, UNIQUE KEY n (n)) ENGINE=InnoDB",
    "INSERT INTO t VALUES (10, 10, 0), (20, 20, 0), (30, 30, 0), (40, 40, 0)",
    "INSERT INTO u VALUES (1, 100), (2, 200), (3, NULL), (4, 400)",
    "CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
    "CREATE TABLE c (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB",
    "INSERT INTO p VALUES (1, 0), (2, 0), (3, 0)",
    "INSERT INTO c VALUES (1, 1, 0)",
    // The optimizers of the real servers need to know what is in the tables.
    "ANALYZE TABLE t",
    "ANALYZE TABLE u",
];

struct Session {
    statements: Option<Sender<String>>,
    outcomes: Receiver<String>,
    thread: Option<JoinHandle<()>>,
    busy: bool,
}

fn connect(server: &Server) -> Client {
    let mut client = server.connect();
    client.query("USE isolation").expect("the schema is there");
    client
}

impl Session {
    fn open(server: &Server) -> Session {
        let mut client = connect(server);
        let (statements, next) = channel::<String>();
        let (done, outcomes) = channel();
        let thread = os::thread::spawn("session", move || {
            while let Ok(sql) = next.recv() {
                let outcome = outcome_of(&mut client, &sql);
                if done.send(outcome).is_err() {
                    return;
                }
            }
        });
        Session { statements: Some(statements), outcomes, thread: Some(thread), busy: false }
    }

    /// Returns the outcome of the running statement if it has ended.
    fn poll(&mut self) -> Option<String> {
        match self.outcomes.try_recv() {
            Ok(outcome) => {
                self.busy = false;
                Some(outcome)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => panic!("a session's thread died"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.statements = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn outcome_of(client: &mut Client, sql: &str) -> String {
    match client.query(sql) {
        Ok(result) if result.columns.is_empty() => "ok".to_string(),
        Ok(result) => {
            let cell = |cell: &Option<Vec<u8>>| match cell {
                Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                None => "NULL".to_string(),
            };
            let rows = result.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("|"));
            format!("[{}]", rows.collect::<Vec<_>>().join(" "))
        }
        Err(ClientError::Server(error)) => format!("error {}", error.code),
        Err(error) => format!("{error}"),
    }
}

/// Returns the number of sessions that wait for a lock: of a row, which the server counts, or of a
/// table, which the real servers show.
fn waits(monitor: &mut Client) -> usize {
    let mut number = |sql: &str, column: usize| -> usize {
        let rows = monitor.query(sql).expect("a status").rows;
        String::from_utf8_lossy(rows[0][column].as_ref().expect("a number")).parse().expect("a number")
    };
    let for_rows = number("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'", 1);
    let states = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for % lock'";
    for_rows + number(states, 0)
}

/// Lets the sessions run until each has ended its statement or waits for a lock. Returns the
/// outcomes of the statements that ended.
fn settle(sessions: &mut BTreeMap<String, Session>, monitor: &mut Client) -> BTreeMap<String, String> {
    const STEADY_LOOKS: u32 = 8;
    let clock = Stopwatch::start();
    let mut ended = BTreeMap::new();
    let mut looks = 0;
    while looks < STEADY_LOOKS {
        for (name, session) in sessions.iter_mut().filter(|(_, session)| session.busy) {
            if let Some(outcome) = session.poll() {
                ended.insert(name.clone(), outcome);
                looks = 0;
            }
        }
        let busy = sessions.values().filter(|session| session.busy).count();
        if busy == 0 {
            return ended;
        }
        looks = if waits(monitor) == busy { looks + 1 } else { 0 };
        assert!(clock.elapsed() < SOON, "{busy} statements neither end nor wait for a row");
        sleep(Duration::from_millis(5));
    }
    ended
}

/// Plays a scenario. Its lines are `session statement => outcome`; a line without an outcome
/// expects `ok`. A line without a statement asks for the outcome of the statement that waited.
///
/// # Errors
///
/// Returns the lines, with what came instead where the outcome was different.
pub fn play(server: &Server, text: &str) -> Result<(), String> {
    server.run("CREATE DATABASE IF NOT EXISTS isolation");
    let mut monitor = connect(server);
    for sql in SETUP {
        monitor.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    let mut late: BTreeMap<String, String> = BTreeMap::new();
    let (mut log, mut is_wrong) = (String::new(), false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()).skip(1) {
        let (step, expected) = line.split_once(" => ").unwrap_or((line, "ok"));
        let (name, sql) = step.split_once(' ').unwrap_or((step, ""));
        let session = sessions.entry(name.to_string()).or_insert_with(|| Session::open(server));
        let outcome = if sql.is_empty() {
            late.remove(name).unwrap_or_else(|| "waits".to_string())
        } else {
            assert!(!session.busy, "{line}: the session is still waiting\n{log}");
            session.busy = true;
            session.statements.as_ref().expect("open").send(sql.to_string()).expect("the thread lives");
            late.append(&mut settle(&mut sessions, &mut monitor));
            late.remove(name).unwrap_or_else(|| "waits".to_string())
        };
        log.push_str(line);
        if outcome != expected {
            is_wrong = true;
            log.push_str(&format!("      <== {outcome}"));
        }
        log.push('\n');
        if is_wrong && outcome == "waits" {
            break;
        }
    }
    // When the other sessions end their transactions, every session that still waits goes on.
    for _ in 0..4 {
        for session in sessions.values_mut().filter(|session| !session.busy) {
            session.busy = true;
            session
                .statements
                .as_ref()
                .expect("open")
                .send("ROLLBACK".to_string())
                .expect("the thread lives");
        }
        settle(&mut sessions, &mut monitor);
        if sessions.values().all(|session| !session.busy) {
            break;
        }
    }
    drop(sessions);
    if is_wrong { Err(log) } else { Ok(()) }
}
