//! The fuzzer of statements: several sessions run statements of the grammar at once on small
//! tables, with KILL in between. Each statement must end with rows or an error, and the tables must
//! be sound afterwards.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use os::clock::sleep;
use os::random::Rng;
use protocol::client::{Client, ClientError};
use testkit::{Server, Settings};

use crate::campaign::Campaign;
use crate::grammar::Grammar;
use crate::schema::Schema;
use crate::watched::{disgrace, forget_log};

const CORPUS: &str = include_str!("corpus/sql.txt");
const SESSIONS: usize = 3;
/// The statements of each session between two checks of the server.
const STATEMENTS: usize = 150;
/// The statements after which a session reads again which tables there are.
const LOOKS_EVERY: usize = 25;
/// Of a hundred statements at least this many must be carried out. With fewer, the grammar knows
/// too little, because a statement that is refused at once tries nothing.
const DONE_PERCENT: u64 = 60;
/// How long a statement may take. The tables are tiny, and waits for locks are short.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);

fn connect(server: &Server) -> Result<Client, ClientError> {
    let mut client = server.try_connect()?;
    client.set_read_timeout(Some(ANSWERED_WITHIN))?;
    client.query("USE fuzzed")?;
    client.query("SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1")?;
    Ok(client)
}

fn open() -> Server {
    let extra = vec!["--max-execution-time=5000".to_owned(), "--max-allowed-packet=1M".to_owned()];
    let server = crate::watched::start(Settings {
        pool_bytes: 32 << 20,
        redo_bytes: 32 << 20,
        extra,
        ..Settings::default()
    });
    server.run("CREATE DATABASE fuzzed");
    server
}

/// The numbers of statements that succeeded, were refused, or were not parsed.
#[derive(Default)]
struct Tally {
    done: AtomicU64,
    refused: AtomicU64,
    unparsed: AtomicU64,
}

/// The statements of a session, for the developer who looks for the cause of a fault.
type Journal = Mutex<Vec<String>>;

fn changes_tables(statement: &str) -> bool {
    ["CREATE", "DROP", "ALTER"].iter().any(|verb| statement.starts_with(verb))
}

/// Runs statements made from a seed. The error names the statement that was not answered, and why.
fn session(
    server: &Server,
    seed: u64,
    id: &AtomicU32,
    journal: &Journal,
    tally: &Tally,
) -> Result<(), String> {
    let mut rng = Rng::new(seed);
    let mut client = connect(server).map_err(|error| error.to_string())?;
    id.store(client.connection_id(), Ordering::Relaxed);
    let mut grammar = Grammar::new(&mut rng, seed as u32);
    let mut is_stale = true;
    for number in 0..STATEMENTS {
        if is_stale || number % LOOKS_EVERY == 0 {
            // Another session may kill this query as well; then the session goes on with the tables
            // that it knew.
            if let Ok(schema) = Schema::read(&mut client) {
                (grammar.schema, is_stale) = (schema, false);
            }
        }
        let statement = grammar.statement();
        journal.lock().expect("nobody panics with it").push(statement.clone());
        match client.query(&statement) {
            Ok(_) => {
                tally.done.fetch_add(1, Ordering::Relaxed);
                is_stale |= changes_tables(&statement);
            }
            Err(ClientError::Server(error)) => {
                // These errors mean that another session changed the table.
                is_stale |= matches!(error.code, 1054 | 1146);
                let of = if error.code == 1064 { &tally.unparsed } else { &tally.refused };
                of.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) if error.is_timeout() => return Err(format!("no answer: {error}")),
            // The session was killed, or the server is gone, which is noticed soon.
            Err(ClientError::Io(_)) => match connect(server) {
                Ok(again) => {
                    client = again;
                    grammar.forget();
                    id.store(client.connection_id(), Ordering::Relaxed);
                }
                Err(error) => return Err(format!("the connection broke, and no other is given: {error}")),
            },
            Err(error) => return Err(format!("the answer is none: {error}")),
        }
    }
    Ok(())
}

/// Runs all sessions for a round, while their statements and connections are killed.
fn round(server: &Server, rng: &mut Rng, tally: &Tally) -> Result<(), String> {
    let ids: Vec<AtomicU32> = (0..SESSIONS).map(|_| AtomicU32::new(0)).collect();
    let journals: Vec<Journal> = (0..SESSIONS).map(|_| Journal::default()).collect();
    let seeds: Vec<u64> = (0..SESSIONS).map(|_| rng.u64()).collect();
    let over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|at| {
                let (seed, id, journal) = (seeds[at], &ids[at], &journals[at]);
                scope.spawn(move || session(server, seed, id, journal, tally))
            })
            .collect();
        let killer = scope.spawn(|| {
            let mut rng = Rng::new(seeds[0]);
            while !over.load(Ordering::Relaxed) {
                let id = rng.pick(&ids).load(Ordering::Relaxed);
                let what = if rng.one_in(4) { "CONNECTION" } else { "QUERY" };
                // The session may have ended meanwhile.
                let _ = server
                    .try_connect()
                    .and_then(|mut client| client.query(&format!("KILL {what} {id}")))
                    .is_ok();
                sleep(Duration::from_millis(rng.between(1, 60)));
            }
        });
        let outcomes: Vec<_> =
            sessions.into_iter().map(|session| session.join().expect("no panic here")).collect();
        over.store(true, Ordering::Relaxed);
        killer.join().expect("no panic here");
        outcomes.into_iter().collect::<Result<Vec<()>, String>>()
    });
    let last = |journal: &Journal| {
        let journal = journal.lock().expect("nobody panics with it");
        journal[journal.len().saturating_sub(2)..].join("\n    ")
    };
    let said = || journals.iter().map(last).collect::<Vec<_>>().join("\n    ");
    outcome.map_err(|fault| format!("{fault}\n    {}", said()))?;
    match disgrace(server) {
        Some(words) => Err(format!("{words}\n    {}", said())),
        None => Ok(()),
    }
}

/// Checks that every table is sound.
fn check(server: &Server) -> Result<(), String> {
    let mut client = connect(server).map_err(|error| error.to_string())?;
    for table in server.rows("SHOW TABLES FROM fuzzed") {
        let found = client
            .query(&format!("CHECK TABLE fuzzed.{table}"))
            .map_err(|error| format!("CHECK TABLE: {error}"))?;
        for row in &found.rows {
            let text =
                String::from_utf8_lossy(row.last().and_then(|cell| cell.as_deref()).unwrap_or_default())
                    .into_owned();
            if text != "OK" && !text.contains("doesn't exist") {
                return Err(format!("CHECK TABLE {table}: {text}"));
            }
        }
    }
    Ok(())
}

/// Notes the outcome of a round. The first line of a fault is its kind.
fn note(campaign: &mut Campaign, server: &mut Server, outcome: Result<(), String>) {
    let running = server.is_running();
    match outcome {
        Ok(()) if running => campaign.note("answered"),
        outcome => {
            let text = disgrace(server).or(outcome.err()).unwrap_or_default();
            let log = match running {
                true => server.rows("SHOW FULL PROCESSLIST").join("\n"),
                false => server.log_tail(),
            };
            let mut lines = text.splitn(2, '\n');
            let kind = lines.next().unwrap_or_default().to_owned();
            campaign.fault(&kind, &format!("{}\n{log}", lines.next().unwrap_or_default()));
            forget_log(server);
            server.kill();
            *server = open();
        }
    }
}

#[test]
fn sql() {
    let mut campaign = Campaign::start("sql");
    let mut server = open();
    for statement in CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let outcome = connect(&server).and_then(|mut client| match client.query(statement) {
            Ok(_) | Err(ClientError::Server(_)) => Ok(()),
            Err(error) => Err(error),
        });
        note(&mut campaign, &mut server, outcome.map_err(|error| format!("{error}\n{statement}")));
    }
    let tally = Tally::default();
    while campaign.goes_on() {
        let outcome = round(&server, &mut campaign.rng, &tally).and_then(|()| check(&server));
        note(&mut campaign, &mut server, outcome);
    }
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let (done, refused, unparsed) = (of(&tally.done), of(&tally.refused), of(&tally.unparsed));
    println!("sql: {done} statements done, {refused} refused, {unparsed} not parsed");
    let all = done + refused + unparsed;
    campaign.finish();
    assert!(done * 100 >= all * DONE_PERCENT, "{done} of {all} statements were carried out");
}
