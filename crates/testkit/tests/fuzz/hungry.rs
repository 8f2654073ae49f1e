//! The fuzzer of statements that want much memory, on a server under a limit of memory. They come
//! from accounts that the variables' limits apply to and from one that is exempt, alone and several
//! at once. Each statement must end with a result or with the server's error, the server must go
//! on, and no memory may stay charged.

use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError};
use protocol::scalar::Scalar;
use testkit::{Server, Settings};

use crate::campaign::Campaign;
use crate::watched::{disgrace, forget_log};
use crate::worst::{KINDS, Step, TABLES};

/// The bytes that the variables allow one connection.
const CONNECTION_BYTES: u64 = 128 << 20;
/// The bytes that the variables allow all connections together.
const ALL_BYTES: u64 = 256 << 20;
/// The seconds for which `make test` goes on after one statement of each kind.
const USUAL_SECONDS: u64 = 15;
/// The milliseconds that a statement may run. A statement that needs longer is not about memory.
const STATEMENT_MS: u64 = 20_000;
/// How long an answer may take.
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);
/// The most sessions at once.
const MOST_SESSIONS: u64 = 5;

/// The part of one session.
#[derive(Debug, Clone)]
struct Attack {
    kind: usize,
    size: u64,
    seed: u64,
    /// Set if the variables' limits apply to the session's account.
    is_limited: bool,
}

impl Attack {
    fn any(kind: usize, rng: &mut Rng) -> Attack {
        let size = if rng.one_in(2) { 100 } else { rng.between(1, 100) };
        Attack { kind, size, seed: rng.u64(), is_limited: !rng.one_in(3) }
    }

    /// Returns the attack as a line for the developer who looks for the cause.
    fn line(&self) -> String {
        let (name, make) = KINDS[self.kind];
        let steps = make(self.size, &mut Rng::new(self.seed));
        let last: String = format!("{:?}", steps.last()).chars().take(300).collect();
        format!("{name}, {self:?}, {} steps, the last: {last}", steps.len())
    }
}

fn run(client: &mut Client, step: &Step) -> Result<(), ClientError> {
    match step {
        Step::Query(text) => client.query_discard(text).map(drop),
        Step::LongData { statement, parts, part_bytes } => {
            let prepared = client.prepare(statement)?;
            let part = vec![b'x'; *part_bytes];
            for _ in 0..*parts {
                client.send_long_data(&prepared, 0, &part)?;
            }
            client.execute_discard(&prepared, &[Scalar::Null]).map(drop)
        }
        Step::Prepare { statement, times } => {
            (0..*times).try_for_each(|_| client.prepare(statement).map(drop))
        }
    }
}

/// Runs the attack and returns its outcome. The error tells which answer did not come.
fn play(server: &Server, attack: &Attack) -> Result<String, String> {
    let account = if attack.is_limited { "limited" } else { "administrator" };
    let options = server.connect_options().user(account, "");
    let mut client = Client::connect(&options).map_err(|error| format!("no connection: {error}"))?;
    client.set_read_timeout(Some(ANSWERED_WITHIN)).expect("a socket takes a timeout");
    let steps = (KINDS[attack.kind].1)(attack.size, &mut Rng::new(attack.seed));
    for step in &steps {
        match run(&mut client, step) {
            Ok(()) => {}
            Err(ClientError::Server(error)) => return Ok(format!("{}", error.code)),
            // Parts of long data have no answer, and the connection is closed when there is no room
            // for one. The error that reports this may come between two packets of a long part.
            Err(ClientError::Io(_) | ClientError::Protocol(_)) if matches!(step, Step::LongData { .. }) => {
                return Ok("closed".to_owned());
            }
            Err(error) => return Err(format!("no answer: {error}")),
        }
    }
    Ok("done".to_owned())
}

fn open() -> Server {
    let options = [
        format!("--connection-memory-limit={CONNECTION_BYTES}"),
        format!("--global-connection-memory-limit={ALL_BYTES}"),
        "--global-connection-memory-tracking=ON".to_owned(),
        format!("--max-execution-time={STATEMENT_MS}"),
        "--max-prepared-stmt-count=100000".to_owned(),
    ];
    let server = crate::watched::start(Settings {
        pool_bytes: 32 << 20,
        redo_bytes: 64 << 20,
        durable: false,
        extra: options.to_vec(),
        ..Settings::default()
    });
    TABLES.iter().for_each(|statement| drop(server.run(statement)));
    server.run("CREATE USER limited IDENTIFIED BY '', administrator IDENTIFIED BY ''");
    server.run("GRANT ALL ON worst.* TO limited");
    server.run("GRANT ALL ON *.* TO administrator");
    server
}

/// Returns the bytes that the connections have charged, as another session is told.
fn charged_bytes(server: &Server) -> Result<u64, ClientError> {
    let shown = server.try_connect()?.query("SHOW GLOBAL STATUS LIKE 'Slipstream_connection_memory'")?;
    Ok(shown.cell(0, 1).and_then(|bytes| bytes.parse().ok()).unwrap_or(u64::MAX))
}

/// Waits until nothing is charged any more except for the session that asks. The error tells what
/// did not happen.
fn settles(server: &mut Server) -> Result<(), String> {
    const LITTLE_BYTES: u64 = 1 << 20;
    let waited = Stopwatch::start();
    loop {
        let charged = charged_bytes(server);
        if matches!(charged, Ok(bytes) if bytes <= LITTLE_BYTES) {
            return Ok(());
        }
        if !server.is_running() {
            return Err(format!("the server ended: {}", server.log_tail()));
        }
        if waited.elapsed() > ANSWERED_WITHIN {
            return Err(match charged {
                Ok(bytes) => format!("{bytes} bytes stay charged"),
                Err(error) => format!("another session is not answered: {error}"),
            });
        }
        sleep(Duration::from_millis(20));
    }
}

/// Runs all attacks at once and returns the outcome of each.
fn attack_with(server: &Server, attacks: &[Attack]) -> Vec<Result<String, String>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            attacks.iter().map(|attack| scope.spawn(move || play(server, attack))).collect();
        threads.into_iter().map(|thread| thread.join().expect("an attack does not panic")).collect()
    })
}

/// Runs the attacks and checks the server. Returns false if the server had to be started again.
fn try_out(campaign: &mut Campaign, server: &mut Server, attacks: &[Attack]) -> bool {
    let came = attack_with(server, attacks);
    let settled = settles(server);
    let lost = came.iter().find_map(|came| came.as_ref().err());
    let said = disgrace(server).or(settled.err()).or(lost.cloned());
    let Some(said) = said else {
        came.iter().flatten().for_each(|outcome| campaign.note(outcome));
        return true;
    };
    let lines: Vec<String> = attacks.iter().map(Attack::line).collect();
    campaign.fault(&said, &lines.join("\n    "));
    forget_log(server);
    server.kill();
    *server = open();
    false
}

#[test]
fn hungry() {
    let mut campaign = Campaign::start_for("hungry", USUAL_SECONDS);
    let mut server = open();
    for kind in 0..KINDS.len() {
        let attack = Attack { size: 100, ..Attack::any(kind, &mut campaign.rng) };
        try_out(&mut campaign, &mut server, &[attack]);
    }
    while campaign.goes_on() {
        let sessions = if campaign.rng.one_in(2) { 1 } else { campaign.rng.between(2, MOST_SESSIONS) };
        let attacks: Vec<Attack> = (0..sessions)
            .map(|_| Attack::any(campaign.rng.below(KINDS.len() as u64) as usize, &mut campaign.rng))
            .collect();
        try_out(&mut campaign, &mut server, &attacks);
    }
    campaign.finish();
}
