//! The fuzzer of pages under a running server: a statement that reads a damaged page must get an
//! error or the right rows, no other statement may notice, and once the page is as it was
//! everything must be right again. A commit that is already in the log and meets a damaged page may
//! end the server, with a message that names the place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use os::disk::OpenMode;
use os::random::Rng;
use protocol::client::{Client, ClientError};
use testkit::{Server, Settings};

use crate::campaign::Campaign;
use crate::watched::{disgrace, forget_log};

const PAGE_BYTES: u64 = 16 << 10;
const POOL_BYTES: u64 = 16 << 20;
/// How long a statement may take.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);
/// The rows of a table. The tables have some 35 MB, so that pages leave the pool.
const ROWS: u32 = 1 << 15;
const FILES: [&str; 3] = ["fuzzed/wide.ibd", "fuzzed/long_values.ibd", "fuzzed/wide.ibd"];

/// Queries that must be answered right or refused, whatever page they meet.
const QUERIES: [&str; 5] = [
    "SELECT COUNT(*), SUM(CRC32(v)), SUM(k) FROM fuzzed.wide",
    "SELECT COUNT(*), SUM(k), SUM(id) FROM fuzzed.wide FORCE INDEX (by_k) WHERE k >= 0",
    "SELECT id, LENGTH(big), MD5(big) FROM fuzzed.long_values ORDER BY id",
    "SELECT id, v FROM fuzzed.wide WHERE id IN (7, 777, 7777, 17777, 27777) ORDER BY id",
    "SELECT k, id FROM fuzzed.wide FORCE INDEX (by_k) WHERE k BETWEEN 500 AND 503 ORDER BY k, id",
];
/// Statements that meet pages in order to change them.
const CHANGES: [&str; 8] = [
    "UPDATE fuzzed.wide SET v = CONCAT(v, 'z') WHERE id BETWEEN 9000 AND 9400",
    "UPDATE fuzzed.wide SET k = k + 1 WHERE id % 500 = 3",
    "DELETE FROM fuzzed.wide WHERE k BETWEEN 100 AND 120",
    "INSERT INTO fuzzed.wide (k, v) SELECT k, v FROM fuzzed.wide WHERE id < 3000",
    "UPDATE fuzzed.long_values SET big = CONCAT(big, big)",
    "DELETE FROM fuzzed.long_values WHERE id % 3 = 0",
    "ALTER TABLE fuzzed.wide ADD INDEX by_v (v(20))",
    "DROP TABLE fuzzed.long_values",
];
const TABLES: [&str; 2] = ["fuzzed.wide", "fuzzed.long_values"];

/// What is done to a page.
#[derive(Debug)]
enum How {
    Bytes(u64),
    Zero,
    /// The page is replaced by another page of the file, as after a write to a wrong place.
    Misplaced(u64),
}

#[derive(Debug)]
struct Damage {
    file: &'static str,
    page: u64,
    how: How,
}

type Answer = Vec<Vec<Option<Vec<u8>>>>;

fn connect(server: &Server) -> Result<Client, ClientError> {
    let client = server.try_connect()?;
    client.set_read_timeout(Some(ANSWERED_WITHIN))?;
    Ok(client)
}

/// The server, a copy of its data directory after a clean end, and the answers to [`QUERIES`].
struct Stage {
    server: Server,
    kept: PathBuf,
    answers: Vec<Answer>,
}

fn open() -> Stage {
    let settings =
        Settings { pool_bytes: POOL_BYTES, redo_bytes: 32 << 20, durable: false, ..Settings::default() };
    let mut server = crate::watched::start(settings);
    let mut client = connect(&server).expect("it has started");
    let mut run = |sql: &str| drop(client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")));
    run("CREATE DATABASE fuzzed");
    run("CREATE TABLE fuzzed.wide (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(800), KEY by_k (k))");
    run("CREATE TABLE fuzzed.long_values (id INT PRIMARY KEY, big MEDIUMBLOB)");
    run("INSERT INTO fuzzed.wide (k, v) VALUES (1, REPEAT('x', 700))");
    let mut rows = 1;
    while rows < ROWS {
        run(
            "INSERT INTO fuzzed.wide (k, v) SELECT k + id % 1000, CONCAT(REPEAT('y', 700 - k % 50), id) FROM fuzzed.wide",
        );
        rows *= 2;
    }
    for id in 0..40 {
        run(&format!(
            "INSERT INTO fuzzed.long_values VALUES ({id}, REPEAT('long {id}', {}))",
            100 + id * 900
        ));
    }
    drop(client);
    // After the shutdown everything is in its place, and nothing is dirty.
    server.shut_down();
    let kept = server.datadir().with_file_name("kept");
    crate::datadir::copy(&server.datadir(), &kept);
    server.come_back();
    let mut client = connect(&server).expect("it has started");
    let answers = QUERIES.iter().map(|query| client.query(query).expect("nothing is damaged").rows);
    let answers = answers.collect();
    Stage { server, kept, answers }
}

impl Stage {
    /// Starts the server again on the data directory that was kept.
    fn begin_again(&mut self) {
        self.server.kill();
        let datadir = self.server.datadir();
        std::fs::remove_dir_all(&datadir).expect("it is ours");
        crate::datadir::copy(&self.kept, &datadir);
        forget_log(&self.server);
        self.server.come_back();
    }

    /// Changes rows while the page is damaged. Each statement must be carried out or refused; the
    /// server may end with a message that names the file.
    fn change(&mut self, damage: &Damage, rng: &mut Rng) -> Result<&'static str, String> {
        damage.inflict(&self.server.datadir());
        let outcome = self.changed(rng);
        // A server that ends closes its connections a moment before its process is gone.
        let running = match &outcome {
            Ok(_) => self.server.is_running(),
            Err(_) => self.server.wait_ended().is_err(),
        };
        let (words, log) = (disgrace(&self.server), self.server.log_tail());
        self.begin_again();
        let last = log.lines().rfind(|line| line.contains("[ERROR]") || line.contains("[Error]"));
        let name = damage.file.rsplit('/').next().unwrap_or_default();
        match (words, outcome) {
            (Some(words), _) => Err(words),
            (None, outcome) if running => outcome,
            (None, _) if last.is_some_and(|line| line.contains(name)) => Ok("ended with a message"),
            (None, _) => Err(format!("the server ended: {}", last.unwrap_or_default())),
        }
    }

    fn changed(&self, rng: &mut Rng) -> Result<&'static str, String> {
        let mut client = connect(&self.server).map_err(|error| format!("no connection: {error}"))?;
        let mut outcome = "changed";
        for _ in 0..4 {
            let change = *rng.pick(&CHANGES);
            match client.query(change) {
                Ok(_) => {}
                Err(ClientError::Server(_)) => outcome = "a change refused",
                Err(error) => return Err(format!("{change}: {error}")),
            }
        }
        Ok(outcome)
    }
}

impl Damage {
    fn any(datadir: &Path, rng: &mut Rng) -> Damage {
        let file = *rng.pick(&FILES);
        let len = std::fs::metadata(datadir.join(file)).expect("it is there").len();
        let pages = len / PAGE_BYTES;
        let page = if rng.one_in(4) { rng.below(pages.min(8)) } else { rng.below(pages) };
        let how = match rng.below(4) {
            0 => How::Zero,
            1 => How::Misplaced(rng.below(pages)),
            _ => How::Bytes(rng.u64()),
        };
        Damage { file, page, how }
    }

    fn path(&self, datadir: &Path) -> PathBuf {
        datadir.join(self.file)
    }

    /// Damages the page and returns its bytes from before.
    fn inflict(&self, datadir: &Path) -> Vec<u8> {
        let read = |page: u64| {
            let file = os::disk::real().open(&self.path(datadir), OpenMode::Read).expect("it is ours");
            let mut bytes = vec![0; PAGE_BYTES as usize];
            file.read_at(&mut bytes, page * PAGE_BYTES).expect("the disk works");
            bytes
        };
        let before = read(self.page);
        let mut bytes = match self.how {
            How::Bytes(seed) => Rng::new(seed).damaged(&before),
            How::Zero => Vec::new(),
            How::Misplaced(other) => read(other),
        };
        bytes.resize(PAGE_BYTES as usize, 0);
        self.put(datadir, &bytes);
        before
    }

    fn put(&self, datadir: &Path, bytes: &[u8]) {
        let file = os::disk::real().open(&self.path(datadir), OpenMode::ReadWrite).expect("it is ours");
        file.write_all_at(bytes, self.page * PAGE_BYTES).expect("the disk works");
    }
}

/// Runs all queries and checks all tables. Returns false if something was refused.
fn ask(server: &Server, answers: &[Answer]) -> Result<bool, String> {
    let mut client = connect(server).map_err(|error| format!("no connection: {error}"))?;
    let mut is_right = true;
    for (query, expected) in QUERIES.iter().zip(answers) {
        match client.query(query) {
            Ok(found) if found.rows == *expected => {}
            Ok(_) => return Err(format!("{query}: other rows")),
            Err(ClientError::Server(_)) => is_right = false,
            Err(error) => return Err(format!("{query}: {error}")),
        }
    }
    for table in TABLES {
        let found =
            client.query(&format!("CHECK TABLE {table}")).map_err(|error| format!("CHECK: {error}"))?;
        is_right &=
            found.rows.iter().all(|row| row.last().is_some_and(|cell| cell.as_deref() == Some(b"OK")));
    }
    Ok(is_right)
}

fn play(server: &Server, answers: &[Answer], damage: &Damage) -> Result<&'static str, String> {
    let datadir = server.datadir();
    let before = damage.inflict(&datadir);
    // The queries run twice: by then a page that was in the pool may have left it, or the other way
    // round.
    let asked = ask(server, answers).and_then(|first| Ok(ask(server, answers)? && first));
    damage.put(&datadir, &before);
    let is_right = asked?;
    if !ask(server, answers)? {
        return Err("refused though the page is as it was".to_owned());
    }
    Ok(if is_right { "right" } else { "a statement refused" })
}

#[test]
fn live() {
    let mut campaign = Campaign::start("live");
    let mut stage = open();
    while campaign.goes_on() {
        let damage = Damage::any(&stage.server.datadir(), &mut campaign.rng);
        let outcome = match campaign.rng.one_in(3) {
            true => stage.change(&damage, &mut campaign.rng),
            false => play(&stage.server, &stage.answers, &damage),
        };
        let server = &mut stage.server;
        let running = server.is_running();
        match (disgrace(server), outcome) {
            (None, Ok(outcome)) if running => campaign.note(outcome),
            (words, outcome) => {
                let log = server.log_tail();
                let ended = format!("the server ended: {}", log.lines().last().unwrap_or_default());
                let said = words.or(if running { outcome.err() } else { Some(ended) });
                campaign.fault(&said.unwrap_or_default(), &format!("{damage:?}\n{log}"));
                stage.begin_again();
            }
        }
    }
    campaign.finish();
}
