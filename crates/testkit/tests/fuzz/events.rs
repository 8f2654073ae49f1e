//! The fuzzer of events: events of real captures are changed and sent to a replica by a source of
//! our own. The receiver or the applier must refuse them with an error or apply them, and every row
//! must be readable afterwards.

use std::path::{Path, PathBuf};
use std::time::Duration;

use binlog::Checksum;
use binlog::event::{HEADER_LEN, event_type};
use binlog::reader::EventReader;
use os::clock::{Stopwatch, sleep};
use os::random::Rng;
use protocol::client::{Client, ClientError};
use protocol::compression::Algorithm;
use testkit::{Server, Settings};

use crate::campaign::Campaign;
use crate::compressed;
use crate::pipe::{Damage, Pipe, Way};
use crate::source::{FakeSource, Play};
use crate::watched::{disgrace, forget_log};

const CAPTURES: [(&str, bool, &[u8]); 5] = [
    ("mysql-full", false, include_bytes!("../../../binlog/tests/data/mysql-full.binlog")),
    ("mysql-minimal", false, include_bytes!("../../../binlog/tests/data/mysql-minimal.binlog")),
    ("mysql-noblob", false, include_bytes!("../../../binlog/tests/data/mysql-noblob.binlog")),
    ("mariadb-full", true, include_bytes!("../../../binlog/tests/data/mariadb-full.binlog")),
    ("mariadb-minimal", true, include_bytes!("../../../binlog/tests/data/mariadb-minimal.binlog")),
];

/// The ways in which frames are compressed.
const FRAMES: [Algorithm; 2] = [Algorithm::Zlib, Algorithm::Zstd(3)];

/// How long an applier may need for one play. Only a replica that hangs needs as long.
const PLAYED_WITHIN: Duration = Duration::from_secs(60);

type Events = Vec<Vec<u8>>;

fn events_of(capture: &[u8]) -> Events {
    let reader = EventReader::of_file(capture).expect("a capture is sound");
    reader.map(|event| event.expect("a capture is sound").bytes.to_vec()).collect()
}

/// Makes the length in the header and the checksum after the event right again. Otherwise a replica
/// looks at hardly anything else.
fn fix_up(event: &mut [u8], checksum: Checksum) {
    let len = event.len();
    if len < HEADER_LEN + checksum.len_bytes() {
        return;
    }
    event[9..13].copy_from_slice(&(len as u32).to_le_bytes());
    if checksum == Checksum::Crc32 {
        let checksum = binlog::checksum::crc32(&event[..len - 4]);
        event[len - 4..].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn mutate(events: &mut Events, checksum: Checksum, rng: &mut Rng) {
    for _ in 0..*rng.pick(&[1, 1, 1, 2, 3, 8]) {
        if events.is_empty() {
            return;
        }
        let at = rng.below(events.len() as u64) as usize;
        match rng.below(12) {
            0 => drop(events.remove(at)),
            1 => {
                let other = rng.below(events.len() as u64) as usize;
                events.swap(at, other);
            }
            2 => {
                let again = events[at].clone();
                let to = rng.below(events.len() as u64 + 1) as usize;
                events.insert(to, again);
            }
            3 if events[at].len() > 4 => events[at][4] = rng.below(45) as u8,
            4 => events[at] = rng.damaged(&events[at]),
            // Most of the time only the body is damaged, because it is what the checks of lengths
            // and checksums guard.
            _ => {
                let end = events[at].len().saturating_sub(checksum.len_bytes());
                let from = if rng.one_in(6) { 0 } else { HEADER_LEN.min(end) };
                let mut event = events[at][..from].to_vec();
                event.extend(rng.damaged(&events[at][from..end]));
                event.resize(event.len() + checksum.len_bytes(), 0);
                fix_up(&mut event, checksum);
                events[at] = event;
            }
        }
        if rng.one_in(2) {
            events.iter_mut().for_each(|event| fix_up(event, checksum));
        }
    }
}

/// Returns the events of a capture as a compressing source sends them, some of them changed inside.
fn compress_changed(events: &[Vec<u8>], mariadb: bool, rng: &mut Rng) -> Events {
    // One event in `rarity` is changed, so that it is not always the first one that is refused.
    let rarity = rng.between(1, 20);
    match mariadb {
        true => compressed::mariadb(events, |bytes| match rng.one_in(rarity) {
            true => rng.damaged(&bytes),
            false => bytes,
        }),
        false => compressed::mysql(events, |inner| {
            if rng.one_in(rarity) {
                mutate(inner, Checksum::None, rng);
            }
        }),
    }
}

/// A play, and the damage that is done to its frames on their way.
#[derive(Debug, Clone, Default)]
struct Input {
    play: Play,
    damage: Option<Damage>,
}

/// Encodes an input as a file of the corpus. The first byte is `M` for MariaDB or `m` for MySQL.
/// The second is a letter for how the events are sent: `S` as they are, `Z` and `T` in frames of
/// zlib or zstd; it is a capital with semi-sync and small without. With compression the damage to
/// the frames follows. Then come the events, each with its length in front.
fn encode(input: &Input) -> Vec<u8> {
    let play = &input.play;
    let way = match play.compression {
        None => b's',
        Some(Algorithm::Zlib) => b'z',
        Some(Algorithm::Zstd(_)) => b't',
    };
    let way = if play.semi_sync { way.to_ascii_uppercase() } else { way };
    let mut bytes = vec![if play.mariadb { b'M' } else { b'm' }, way];
    if play.compression.is_some() {
        let none = Damage { piece: u64::MAX, seed: 0 };
        let Damage { piece, seed } = input.damage.unwrap_or(none);
        bytes.extend_from_slice(&piece.to_le_bytes());
        bytes.extend_from_slice(&seed.to_le_bytes());
    }
    for event in &play.events {
        bytes.extend_from_slice(&(event.len() as u32).to_le_bytes());
        bytes.extend_from_slice(event);
    }
    bytes
}

fn decode(bytes: &[u8]) -> Input {
    let mut play =
        Play { mariadb: bytes[0] == b'M', semi_sync: bytes[1].is_ascii_uppercase(), ..Play::default() };
    let (mut rest, mut damage) = (&bytes[2..], None);
    play.compression = match bytes[1].to_ascii_lowercase() {
        b'z' => Some(Algorithm::Zlib),
        b't' => Some(Algorithm::Zstd(3)),
        _ => None,
    };
    if play.compression.is_some() {
        let mut number = || {
            let (bytes, tail) = rest.split_first_chunk::<8>().expect("the corpus has the damage");
            rest = tail;
            u64::from_le_bytes(*bytes)
        };
        let of = Damage { piece: number(), seed: number() };
        damage = (of.piece != u64::MAX).then_some(of);
    }
    while let Some((len, tail)) = rest.split_first_chunk::<4>() {
        let (event, tail) = tail.split_at(u32::from_le_bytes(*len) as usize);
        play.events.push(event.to_vec());
        rest = tail;
    }
    Input { play, damage }
}

fn corpus() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/events");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Writes an input that failed to a file, from which it can be moved to the corpus, and returns the
/// file's path.
fn keep(input: &Input, execution: u64) -> String {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("events-{}-{execution}", std::process::id()));
    os::disk::real().write_atomically(&path, &encode(input)).expect("the target's directory can be written");
    path.display().to_string()
}

struct Theatre {
    server: Server,
    source: FakeSource,
    pipe: Pipe,
    workers: u64,
}

impl Theatre {
    fn open() -> Theatre {
        let settings = Settings { pool_bytes: 32 << 20, redo_bytes: 32 << 20, ..Settings::default() };
        Theatre {
            server: crate::watched::start(settings),
            source: FakeSource::start(),
            pipe: Pipe::start(Way::FromTarget),
            workers: 0,
        }
    }

    /// Removes what the last play has left.
    fn clear(&self, client: &mut Client) -> Result<(), ClientError> {
        client.query("STOP REPLICA")?;
        client.query("RESET REPLICA ALL")?;
        for row in client.query("SHOW DATABASES")?.rows {
            let name = String::from_utf8_lossy(row[0].as_deref().unwrap_or_default()).into_owned();
            if !["mysql", "information_schema", "performance_schema", "sys"].contains(&name.as_str()) {
                client.query(&format!("DROP DATABASE `{}`", name.replace('`', "``")))?;
            }
        }
        client.query("RESET BINARY LOGS AND GTIDS").map(|_| ())
    }

    fn play(&mut self, input: &Input) -> Result<String, String> {
        forget_log(&self.server);
        self.source.set_play(input.play.clone());
        self.pipe.set(self.source.port(), input.damage);
        let outcome = self.perform(input).map_err(|error| error.to_string()).and_then(|outcome| outcome);
        let words = disgrace(&self.server);
        let ended = !self.server.is_running();
        if outcome.is_err() || words.is_some() || ended {
            let tail = self.server.log_tail();
            self.server.kill();
            *self = Theatre::open();
            let outcome = outcome.err().unwrap_or_default();
            return Err(words.unwrap_or(if ended { format!("ended: {tail}") } else { outcome }));
        }
        outcome
    }

    fn perform(&mut self, input: &Input) -> Result<Result<String, String>, ClientError> {
        let play = &input.play;
        let mut client = self.server.connect();
        client.set_read_timeout(Some(PLAYED_WITHIN))?;
        self.clear(&mut client)?;
        client.query(&format!("SET GLOBAL replica_parallel_workers = {}", self.workers))?;
        client.query(&format!("SET GLOBAL rpl_semi_sync_replica_enabled = {}", u8::from(play.semi_sync)))?;
        let port = self.pipe.port();
        let compression = match play.compression {
            None => "uncompressed",
            Some(Algorithm::Zlib) => "zlib",
            Some(Algorithm::Zstd(_)) => "zstd",
        };
        let from = if play.mariadb { "MASTER_USE_GTID=slave_pos" } else { "MASTER_AUTO_POSITION=1" };
        client.query(&format!(
            "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='u', MASTER_CONNECT_RETRY=60, MASTER_COMPRESSION_ALGORITHMS='{compression}', {from}"
        ))?;
        client.query("START REPLICA")?;
        let outcome = match self.wait(&mut client, input.damage.is_some())? {
            Ok(outcome) => outcome,
            Err(fault) => return Ok(Err(fault)),
        };
        client.query("STOP REPLICA")?;
        Ok(self.look(&mut client)?.map(|()| outcome))
    }

    /// Waits until the applier has stopped, or has nothing more to do after the receiver has
    /// stopped. A receiver whose frames were damaged may wait for bytes that never come, or for its
    /// next try to connect.
    fn wait(&self, client: &mut Client, is_damaged: bool) -> Result<Result<String, String>, ClientError> {
        let (stopwatch, mut still) = (Stopwatch::start(), Stopwatch::start());
        let mut last = None;
        loop {
            let status = bench::replication::status(client, testkit::Flavor::Slipstream)
                .map_err(|error| ClientError::Protocol(error.to_string()))?;
            if status.sql_errno != 0 {
                return Ok(Ok(format!("applier {}", status.sql_errno)));
            }
            if last.as_ref() != Some(&status) {
                last = Some(status.clone());
                still = Stopwatch::start();
            }
            let rows = client.query("SHOW REPLICA STATUS")?.rows;
            let idle = rows.iter().flatten().flatten().any(|cell| cell.starts_with(b"Replica has read all"));
            // An applier that waits for the rest of a group does not report that it has read
            // everything.
            if status.io_errno != 0 && (idle || still.elapsed() > Duration::from_millis(200)) {
                return Ok(Ok(match status.io_errno {
                    13114 => "applied".to_owned(),
                    other => format!("receiver {other}"),
                }));
            }
            if is_damaged && still.elapsed() > Duration::from_millis(300) {
                return Ok(Ok("receiver waits".to_owned()));
            }
            if stopwatch.elapsed() > PLAYED_WITHIN {
                return Ok(Err(format!("neither applied nor refused: {status:?}")));
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Reads every row and checks every table.
    fn look(&self, client: &mut Client) -> Result<Result<(), String>, ClientError> {
        let tables = client.query(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')",
        )?;
        for row in tables.rows {
            let name = |at: usize| {
                String::from_utf8_lossy(row[at].as_deref().unwrap_or_default()).replace('`', "``")
            };
            let table = format!("`{}`.`{}`", name(0), name(1));
            client.query(&format!("SELECT * FROM {table}"))?;
            let checked = client.query(&format!("CHECK TABLE {table}"))?;
            let text = |row: &Vec<Option<Vec<u8>>>| {
                String::from_utf8_lossy(row.last().and_then(|cell| cell.as_deref()).unwrap_or_default())
                    .into_owned()
            };
            if let Some(fault) = checked.rows.iter().map(text).find(|text| text != "OK") {
                return Ok(Err(format!("CHECK TABLE after the play: {fault}")));
            }
        }
        Ok(Ok(()))
    }
}

#[test]
fn events() {
    let mut campaign = Campaign::start("events");
    let mut theatre = Theatre::open();
    for (name, mariadb, capture) in CAPTURES {
        let play = Play { mariadb, events: events_of(capture), ..Play::default() };
        assert_eq!(play.events[0][4], event_type::FORMAT_DESCRIPTION);
        let mut outcome = |play: Play| theatre.play(&Input { play, damage: None });
        assert_eq!(outcome(play.clone()).as_deref(), Ok("applied"), "{name}, unchanged");
        for algorithm in FRAMES {
            let in_frames = Play { compression: Some(algorithm), ..play.clone() };
            assert_eq!(outcome(in_frames).as_deref(), Ok("applied"), "{name}, {algorithm:?}");
        }
        let events = match mariadb {
            true => compressed::mariadb(&play.events, |bytes| bytes),
            false => compressed::mysql(&play.events, |_| ()),
        };
        assert_ne!(events, play.events, "something of {name} is compressed");
        assert_eq!(outcome(Play { events, ..play }).as_deref(), Ok("applied"), "{name}, compressed");
    }
    for path in corpus() {
        let input = decode(&os::disk::real().read(&path).expect("the corpus is readable"));
        match theatre.play(&input) {
            Ok(outcome) => campaign.note(&outcome),
            Err(fault) => campaign.fault(&fault, &path.display().to_string()),
        }
    }
    while campaign.goes_on() {
        let rng = &mut campaign.rng;
        let (_, mariadb, capture) = *rng.pick(&CAPTURES);
        theatre.workers = *rng.pick(&[0, 0, 2]);
        let mut play =
            Play { mariadb, semi_sync: rng.one_in(4), compression: None, events: events_of(capture) };
        let mut damage = None;
        let is_compressed = rng.one_in(2);
        if is_compressed {
            play.events = compress_changed(&play.events, mariadb, rng);
        }
        if rng.one_in(5) {
            play.compression = Some(*rng.pick(&FRAMES));
            damage = Some(Damage::any(rng));
        } else if !is_compressed || rng.one_in(4) {
            mutate(&mut play.events, Checksum::Crc32, rng);
        }
        let input = Input { play, damage };
        match theatre.play(&input) {
            Ok(outcome) => campaign.note(&outcome),
            Err(fault) => {
                let kept = keep(&input, campaign.executions);
                campaign.fault(&fault, &kept);
            }
        }
    }
    campaign.finish();
}
