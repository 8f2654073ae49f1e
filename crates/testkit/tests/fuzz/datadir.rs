//! The fuzzer of data directories: files are damaged, cut short or removed, then the server is
//! started. It must start and give right answers, or end with a message that names the file.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use bench::instance::InstanceError;
use os::disk::OpenMode;
use os::random::Rng;
use protocol::client::ClientError;
use testkit::{Server, Settings};

use crate::campaign::Campaign;
use crate::watched::{disgrace, forget_log};

const CORPUS: &str = include_str!("corpus/datadir.txt");

/// Queries that must have the same answers after a start, unless the server refuses them.
const QUERIES: [&str; 7] = [
    "SELECT * FROM fuzzed.keyed ORDER BY id",
    "SELECT k, id FROM fuzzed.keyed FORCE INDEX (by_k) ORDER BY k, id",
    "SELECT * FROM fuzzed.keyless",
    "SELECT id, LENGTH(big), MD5(big) FROM fuzzed.long_values ORDER BY id",
    "SHOW CREATE TABLE fuzzed.keyed",
    "SHOW TABLES FROM fuzzed",
    "SELECT user, host, plugin FROM mysql.user ORDER BY user",
];
const TABLES: [&str; 3] = ["fuzzed.keyed", "fuzzed.keyless", "fuzzed.long_values"];

/// What is done to a file.
#[derive(Debug, Clone, PartialEq)]
enum How {
    /// The numbers are the offset of a byte and the bit in it that is flipped.
    Flip(u64, u8),
    /// The numbers are an offset and the count of bytes from there on that become zero.
    Zero(u64, u64),
    /// The numbers are an offset, the count of bytes from there on that are replaced, and the seed
    /// of the new bytes.
    Noise(u64, u64, u64),
    /// The numbers are the count of bytes before the file's end (without the zeros there) that are
    /// replaced, and the seed of the new bytes.
    Last(u64, u64),
    Cut(u64),
    Remove,
}

/// One damage, as in a line of the corpus: the state of the directory, the file, and what is done
/// to it.
#[derive(Debug, Clone, PartialEq)]
struct Damage {
    state: String,
    file: String,
    how: How,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.state, self.file)?;
        match self.how {
            How::Flip(at, bit) => write!(f, "flip {at} {bit}"),
            How::Zero(at, len) => write!(f, "zero {at} {len}"),
            How::Noise(at, len, seed) => write!(f, "noise {at} {len} {seed}"),
            How::Last(len, seed) => write!(f, "last {len} {seed}"),
            How::Cut(len) => write!(f, "cut {len}"),
            How::Remove => write!(f, "remove"),
        }
    }
}

impl Damage {
    fn parse(line: &str) -> Damage {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| -> u64 {
            words[at]
                .parse()
                .unwrap_or_else(|_| panic!("corpus/datadir.txt: {line}: {} is no number", words[at]))
        };
        let how = match words[2] {
            "flip" => How::Flip(number(3), number(4) as u8),
            "zero" => How::Zero(number(3), number(4)),
            "noise" => How::Noise(number(3), number(4), number(5)),
            "last" => How::Last(number(3), number(4)),
            "cut" => How::Cut(number(3)),
            "remove" => How::Remove,
            other => panic!("corpus/datadir.txt: {line}: nothing is called {other}"),
        };
        Damage { state: words[0].to_owned(), file: words[1].to_owned(), how }
    }

    fn any(states: &[State], rng: &mut Rng) -> Damage {
        let state = rng.pick(states);
        let file = rng.pick(&state.files).clone();
        let bytes = os::disk::real().read(&state.dir.join(&file)).expect("it is ours");
        let used = used_bytes(&bytes);
        if used == 0 || rng.one_in(12) {
            return Damage { state: state.name.to_owned(), file, how: How::Remove };
        }
        // The head and the end of a file have what the rest is found by.
        let at = match rng.below(3) {
            0 => rng.below(used.min(256)),
            1 => used - 1 - rng.below(used.min(512)),
            _ => rng.below(used),
        };
        let how = match rng.below(5) {
            0 | 1 => How::Flip(at, rng.below(8) as u8),
            2 => {
                let len = *rng.pick(&[1, 16, 512, 4096, 16384]);
                How::Zero(at / len * len, len)
            }
            3 if rng.one_in(4) => How::Last(rng.between(1, 4096), rng.u64()),
            3 => How::Noise(at, rng.between(1, 64), rng.u64()),
            _ => How::Cut(at),
        };
        Damage { state: state.name.to_owned(), file, how }
    }

    /// Damages a copy of the directory. Returns false if it has no such file.
    fn inflict(&self, datadir: &Path) -> bool {
        let path = datadir.join(&self.file);
        if !path.exists() {
            return false;
        }
        let open = || os::disk::real().open(&path, OpenMode::ReadWrite).expect("it is ours");
        let len = fs::metadata(&path).expect("it is there").len();
        let put = |at: u64, bytes: &[u8]| {
            let bytes = &bytes[..bytes.len().min(len.saturating_sub(at) as usize)];
            open().write_all_at(bytes, at).expect("the disk works");
        };
        match self.how {
            How::Flip(at, bit) => {
                let mut byte = [0];
                if open().read_at(&mut byte, at).expect("the disk works") == 1 {
                    put(at, &[byte[0] ^ 1 << bit]);
                }
            }
            How::Zero(at, len) => put(at, &vec![0; len as usize]),
            How::Noise(at, len, seed) => put(at, &Rng::new(seed).bytes(len as usize)),
            How::Last(len, seed) => {
                let used = used_bytes(&os::disk::real().read(&path).expect("it is ours"));
                put(used.saturating_sub(len), &Rng::new(seed).bytes(len.min(used) as usize));
            }
            How::Cut(to) => open().set_len(to.min(len)).expect("the disk works"),
            How::Remove => fs::remove_file(&path).expect("it is ours"),
        }
        true
    }
}

/// Returns the length in bytes without the zeros at the end.
fn used_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at as u64 + 1)
}

/// A data directory that a server has left.
struct State {
    name: &'static str,
    dir: PathBuf,
    files: Vec<String>,
    /// The answers to [`QUERIES`].
    answers: Vec<Answer>,
}

type Answer = Vec<Vec<Option<Vec<u8>>>>;

/// Copies a directory that no server has open.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a place for it");
    for entry in fs::read_dir(from).expect("it is ours") {
        let path = entry.expect("the disk works").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else if path.is_file() {
            fs::copy(&path, &target).expect("the disk works");
        }
    }
}

fn files_of(dir: &Path, below: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(below).expect("it is ours") {
        let path = entry.expect("the disk works").path();
        if path.is_dir() {
            files_of(dir, &path, found);
        } else if path.is_file() {
            found.push(path.strip_prefix(dir).expect("below it").display().to_string());
        }
    }
    found.sort();
}

fn ask(server: &Server) -> Result<Vec<Answer>, ClientError> {
    let mut client = server.try_connect()?;
    QUERIES.iter().map(|query| Ok(client.query(query)?.rows)).collect()
}

/// Fills a server with work. More work follows after what is compared, because a log may lose its
/// last few kilobytes without noticing.
fn fill(server: &mut Server) {
    let mut client = server.connect();
    let mut run = |sql: &str| drop(client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")));
    run("CREATE DATABASE fuzzed");
    run("CREATE TABLE fuzzed.keyed (id INT PRIMARY KEY AUTO_INCREMENT, k INT, v VARCHAR(200), KEY by_k (k))");
    run("CREATE TABLE fuzzed.keyless (a INT, b VARCHAR(100))");
    run("CREATE TABLE fuzzed.long_values (id INT PRIMARY KEY, big MEDIUMBLOB)");
    run("CREATE TABLE fuzzed.behind (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(2000))");
    run(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=1, SOURCE_USER='u', SOURCE_AUTO_POSITION=1",
    );
    run("START REPLICA");
    run("CREATE USER other@'%' IDENTIFIED BY 'other'");
    run("GRANT SELECT ON fuzzed.* TO other@'%'");
    for round in 0..60 {
        let values: Vec<String> =
            (0..10).map(|i| format!("({}, REPEAT('{i}', {}))", round * i % 31, i * 17)).collect();
        run(&format!("INSERT INTO fuzzed.keyed (k, v) VALUES {}", values.join(",")));
        run(&format!("INSERT INTO fuzzed.keyless VALUES ({round}, 'row {round}')"));
        if round % 10 == 0 {
            run(&format!(
                "INSERT INTO fuzzed.long_values VALUES ({round}, REPEAT('long {round}', {}))",
                100 + round * 300
            ));
            run("FLUSH BINARY LOGS");
        }
    }
    run("UPDATE fuzzed.keyed SET v = CONCAT(v, 'x') WHERE id % 7 = 0");
    run("DELETE FROM fuzzed.keyed WHERE id % 11 = 0");
}

fn make_states(server: &mut Server, place: &Path) -> Vec<State> {
    fill(server);
    let answers = ask(server).expect("the undamaged answers");
    for _ in 0..60 {
        server.run("INSERT INTO fuzzed.behind (v) VALUES (REPEAT('y', 1000))");
    }
    let mut states = Vec::new();
    let datadir = server.datadir();
    let mut keep = |name| {
        let dir = place.join(name);
        copy(&datadir, &dir);
        let mut files = Vec::new();
        files_of(&dir, &dir, &mut files);
        files.retain(|file| !file.ends_with(".lock") && !file.ends_with(".pid"));
        states.push(State { name, dir, files, answers: answers.clone() });
    };
    server.kill();
    keep("killed");
    server.come_back();
    server.shut_down();
    keep("stopped");
    states
}

fn settings() -> Settings {
    Settings {
        pool_bytes: 16 << 20,
        redo_bytes: 8 << 20,
        log_bin: true,
        start_replica: true,
        ..Settings::default()
    }
}

/// Starts the server on a damaged copy of the state. Returns how that went, or what was wrong.
fn play(
    server: &mut Server,
    state: &State,
    damage: &Damage,
    looks_twice: bool,
) -> Result<&'static str, String> {
    server.kill();
    let datadir = server.datadir();
    fs::remove_dir_all(&datadir).expect("it is ours");
    copy(&state.dir, &datadir);
    forget_log(server);
    if !damage.inflict(&datadir) {
        return Ok("no such file");
    }
    let outcome = start_and_ask(server, state, damage, looks_twice);
    match disgrace(server) {
        Some(words) => Err(words),
        None => outcome,
    }
}

fn start_and_ask(
    server: &mut Server,
    state: &State,
    damage: &Damage,
    looks_twice: bool,
) -> Result<&'static str, String> {
    match server.start_again() {
        Ok(()) => {}
        Err(InstanceError::Ended(_, status, log)) => {
            server.kill();
            let name = Path::new(&damage.file).file_name().expect("a name").to_string_lossy().into_owned();
            if status.code() != Some(1) {
                return Err(format!("a start of {name} ended with {status}"));
            }
            let last = log.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
            let of_log = damage.file.starts_with("#innodb_redo") && last.contains("#innodb_redo");
            return match last.contains(&name) || last.contains("LSN") || of_log {
                true => Ok("refused"),
                false => Err(format!("{name} damaged, and the end is not told by its name: {last}")),
            };
        }
        Err(error) => return Err(format!("the start: {error}")),
    }
    let said = match_answers(server, state)?;
    if said == "right" {
        match_binary_logs(server, state, damage)?;
    }
    if !server.is_running() {
        return Err(format!("the server ended while it was asked: {}", server.log_tail()));
    }
    let mut ends_well = server.stop().map_err(|error| format!("the stop: {error}"))?.success();
    if said == "right" && looks_twice {
        // What the server has made of the damage must be sound too.
        server.start_again().map_err(|error| format!("the second start: {error}"))?;
        let again = match_answers(server, state)?;
        if again != said {
            return Err(format!("right at first, after a second start {again}"));
        }
        ends_well &= server.stop().map_err(|error| format!("the stop: {error}"))?.success();
    }
    if ends_well { Ok(said) } else { Err("the server did not end well".to_owned()) }
}

/// Checks that the binary log still has every file that it had, none of them shorter. There are two
/// exceptions: the damaged file, and a file that the server reports as cut off because the redo log
/// has lost its end, which nothing but that file can tell. (Groups that are written again may have
/// other dependencies, so that their bytes differ.)
fn match_binary_logs(server: &Server, state: &State, damage: &Damage) -> Result<(), String> {
    let of_log = |file: &str| file.starts_with("binlog.0");
    if of_log(&damage.file) {
        return Ok(());
    }
    let listed = server.rows("SHOW BINARY LOGS");
    for file in state.files.iter().filter(|file| of_log(file)) {
        if !listed.iter().any(|row| row.starts_with(file.as_str())) {
            return Err(format!("a file of the binary log is listed no more: {file} of {listed:?}"));
        }
        let len = |dir: &Path| fs::metadata(dir.join(file)).map_or(0, |metadata| metadata.len());
        let (before, after) = (len(&state.dir), len(&server.datadir()));
        let says_so =
            || server.log_tail().contains(&format!("'{file}' is cut off at position {after} of {before}:"));
        if after < before && !says_so() {
            return Err(format!("{file} had {before} bytes and has {after}"));
        }
    }
    Ok(())
}

fn match_answers(server: &Server, state: &State) -> Result<&'static str, String> {
    let mut client = match server.try_connect() {
        Ok(client) => client,
        Err(ClientError::Server(_)) => return Ok("nobody gets in"),
        Err(error) => return Err(format!("no connection: {error}")),
    };
    let mut refused = false;
    for (query, expected) in QUERIES.iter().zip(&state.answers) {
        match client.query(query) {
            Ok(found) if found.rows == *expected => {}
            Ok(found) => {
                return Err(format!(
                    "{query}: {} rows that are not the {}",
                    found.rows.len(),
                    expected.len()
                ));
            }
            Err(ClientError::Server(_)) => refused = true,
            Err(error) => return Err(format!("{query}: {error}")),
        }
    }
    let mut told = false;
    for table in TABLES {
        match client.query(&format!("CHECK TABLE {table}")) {
            Ok(found) => {
                told |=
                    found.rows.iter().any(|row| row.last().is_some_and(|cell| cell.as_deref() != Some(b"OK")))
            }
            Err(ClientError::Server(_)) => told = true,
            Err(error) => return Err(format!("CHECK TABLE {table}: {error}")),
        }
    }
    Ok(if refused || told { "a statement refused" } else { "right" })
}

#[test]
fn datadir() {
    let mut campaign = Campaign::start("datadir");
    let mut server = crate::watched::start(settings());
    let place = server.datadir().with_file_name("states");
    let states = make_states(&mut server, &place);
    let mut run = |campaign: &mut Campaign, damage: &Damage| {
        let state = states.iter().find(|state| state.name == damage.state).expect("one of the states");
        let looks_twice = campaign.rng.one_in(4);
        match play(&mut server, state, damage, looks_twice) {
            Ok(outcome) => campaign.note(outcome),
            Err(fault) => campaign.fault(&fault, &damage.to_string()),
        }
    };
    for line in CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        run(&mut campaign, &Damage::parse(line));
    }
    while campaign.goes_on() {
        let damage = Damage::any(&states, &mut campaign.rng);
        run(&mut campaign, &damage);
    }
    campaign.finish();
}
