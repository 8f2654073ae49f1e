//! Tests of the binary log of an engine on a simulated disk: what is in it, what a power cut leaves
//! of it, and which readers may go on reading.

mod damaged;
mod error_action;
mod reset;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use binlog::gtid::GtidSet;
use engine::{CommitOptions, DdlContext, Engine, EngineConfig, SessionContext};
use os::disk::Disk;
use os::random::Rng;
use os::sim::SimDisk;
use source::dump::{Acknowledgement, Checksum, DumpClient, DumpEnd, DumpRequest, DumpSink, DumpStart};
use source::show::{ShowRange, ShownEvent};
use source::{Binlog, BinlogConfig};

const UUID: &str = "11111111-2222-3333-4444-555555555555";

const CLIENT: DumpClient =
    DumpClient { checksum: Checksum::Crc32, heartbeat_period_ns: 0, is_mariadb: false, semi_sync: false };

struct Life {
    engine: Arc<Engine>,
    binlog: Arc<Binlog>,
}

fn datadir() -> PathBuf {
    PathBuf::from("/data")
}

impl Life {
    fn start(disk: &SimDisk) -> Life {
        Life::start_with(disk, 2_000)
    }

    fn start_with(disk: &SimDisk, max_file_bytes: u64) -> Life {
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let config = EngineConfig {
            log_bin: true,
            gtid_mode: true,
            server_uuid: UUID.parse().expect("a UUID"),
            redo_capacity_bytes: 8 << 20,
            pool_bytes: 8 << 20,
            ..EngineConfig::new(disk.clone(), datadir())
        };
        let engine = Engine::open(config).expect("the engine opens");
        let config = BinlogConfig {
            datadir: datadir(),
            basename: "binlog".to_string(),
            index: None,
            max_file_bytes,
            expire_after_s: 0,
            dependency_history_size: 10_000,
            checksum: binlog::Checksum::Crc32,
            server_id: 1,
            server_uuid: UUID.to_string(),
            server_version: "8.4.0-slipstream".to_string(),
        };
        let binlog = Binlog::open(disk, engine.clone(), config).expect("the binary log opens");
        Life { engine, binlog }
    }

    /// Commits a transaction of one statement and waits until it is durable.
    fn commit(&self, number: u64) {
        let session = SessionContext::default();
        let statement = format!("GRANT SELECT ON *.* TO user_{number}");
        let context = DdlContext {
            options: CommitOptions { wait: true, ..CommitOptions::default() },
            ..DdlContext::new(&statement, "", &session)
        };
        self.engine.log_statement(&context).expect("commits");
    }

    /// Returns every event of every file.
    fn events(&self) -> Vec<ShownEvent> {
        let mut events = Vec::new();
        for file in self.binlog.list().expect("lists") {
            let shown = self.binlog.events(Some(&file.name), &ShowRange::default()).expect("is readable");
            assert_eq!(shown.first().map(|event| event.event_type), Some("Format_desc"));
            events.extend(shown);
        }
        events
    }

    fn queries(&self) -> Vec<String> {
        self.events()
            .into_iter()
            .filter(|event| event.event_type == "Query")
            .map(|event| event.info)
            .collect()
    }

    fn dump(&self, start: DumpStart) -> (DumpEnd, Vec<Vec<u8>>) {
        let request = DumpRequest { start, non_blocking: true, server_id: 9, client: CLIENT };
        let mut sink = Collect::default();
        let end = self.binlog.dump(&request, &mut sink);
        (end, sink.events)
    }

    fn end(self) {
        self.binlog.close();
        self.engine.close().expect("closes");
    }
}

#[derive(Default)]
struct Collect {
    events: Vec<Vec<u8>>,
}

impl DumpSink for Collect {
    fn send_semi_sync(&mut self, event: &[u8], _wants_ack: bool) -> io::Result<()> {
        self.send(event)
    }

    fn read_acknowledgement(&mut self) -> io::Result<Option<Acknowledgement>> {
        Err(io::Error::other("no replica is semi-synchronous"))
    }

    fn send(&mut self, event: &[u8]) -> io::Result<()> {
        self.events.push(event.to_vec());
        Ok(())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn is_killed(&self) -> bool {
        false
    }
}

fn count_of(events: &[Vec<u8>], kind: u8) -> usize {
    events.iter().filter(|event| source::events::kind(event) == kind).count()
}

fn new_disk(seed: u64) -> SimDisk {
    let disk = SimDisk::new(seed);
    disk.create_dir_all(Path::new("/data")).expect("makes the directory");
    disk.sync_dir(Path::new("/")).expect("syncs");
    disk
}

fn expected(upto: u64) -> Vec<String> {
    (0..upto).map(|number| format!("GRANT SELECT ON *.* TO user_{number}")).collect()
}

#[test]
fn every_commit_is_in_the_files_once_and_in_order() {
    let disk = new_disk(1);
    let life = Life::start(&disk);
    for number in 0..50 {
        life.commit(number);
    }
    assert_eq!(life.queries(), expected(50));
    assert!(life.binlog.list().expect("lists").len() > 3, "files of 2,000 bytes were to be rotated");
    life.end();
    // A start begins a new file and leaves the older files alone.
    let life = Life::start(&disk);
    let files = life.binlog.list().expect("lists").len();
    life.commit(50);
    assert_eq!(life.queries(), expected(51));
    assert_eq!(life.binlog.list().expect("lists").len(), files);
    life.end();
}

#[test]
fn after_a_power_cut_every_event_is_where_it_was() {
    let seed = os::random::test_seed("after_a_power_cut_every_event_is_where_it_was");
    let mut rng = Rng::new(seed);
    let mut disk = new_disk(rng.u64());
    let mut committed = 0;
    for _ in 0..25 {
        let life = Life::start(&disk);
        assert_eq!(life.queries(), expected(committed), "after a power cut");
        for _ in 0..rng.below(60) {
            life.commit(committed);
            committed += 1;
            if rng.one_in(20) {
                life.binlog.rotate().expect("rotates");
            }
            if rng.one_in(30) {
                life.engine.checkpoint().expect("makes a checkpoint");
            }
        }
        let before = life.events();
        let cut = disk.power_cut();
        life.binlog.close();
        drop(life);
        disk = cut;
        let life = Life::start(&disk);
        let after = life.events();
        let same = after.iter().zip(&before).take_while(|(after, before)| after == before).count();
        assert_eq!(same, before.len(), "first difference: {:?} was {:?}", after.get(same), before.get(same));
        life.end();
    }
    assert!(committed > 100, "too few commits to tell anything");
}

#[test]
fn dumps_start_where_they_are_asked_to() {
    let disk = new_disk(3);
    let life = Life::start(&disk);
    for number in 0..40 {
        life.commit(number);
    }
    let (end, all) = life.dump(DumpStart::Position { file: String::new(), pos: 4 });
    assert!(matches!(end, DumpEnd::Complete), "{end:?}");
    assert_eq!(count_of(&all, source::events::event_type::GTID), 40);
    for event in &all {
        binlog::checksum::verify_checksum(event).expect("the checksum is right");
    }
    let has: GtidSet = format!("{UUID}:1-25").parse().expect("a GTID set");
    let (end, rest) = life.dump(DumpStart::Gtids(has));
    assert!(matches!(end, DumpEnd::Complete), "{end:?}");
    assert_eq!(count_of(&rest, source::events::event_type::GTID), 15);
    assert!(
        count_of(&rest, source::events::event_type::HEARTBEAT) >= 1,
        "what was left out moves the position"
    );
    // A dump by GTID sends the format description with its position. Its creation time is sent only
    // to replicas that begin with the file.
    let format = |events: &[Vec<u8>]| {
        let is_format = |event: &&Vec<u8>| event[4] == source::events::event_type::FORMAT_DESCRIPTION;
        let event = events.iter().find(is_format).expect("each dump has one");
        let number = |at: usize| u32::from_le_bytes(event[at..at + 4].try_into().unwrap());
        (number(13) != 0, number(19 + 2 + 50) != 0)
    };
    assert_eq!(format(&all), (true, true));
    assert_eq!(format(&rest), (true, false));
    let fresh = life.dump(DumpStart::Gtids(GtidSet::default())).1;
    assert_eq!(format(&fresh), (true, true));
    let within = life.dump(DumpStart::Position { file: String::new(), pos: 200 }).1;
    assert_eq!(format(&within), (false, false));
    life.end();
}

/// A client during whose reading of the first file the log is purged.
struct Purging<'l> {
    life: &'l Life,
    files: Vec<String>,
    events: usize,
}

impl DumpSink for Purging<'_> {
    fn send_semi_sync(&mut self, event: &[u8], _wants_ack: bool) -> io::Result<()> {
        self.send(event)
    }

    fn read_acknowledgement(&mut self) -> io::Result<Option<Acknowledgement>> {
        Err(io::Error::other("no replica is semi-synchronous"))
    }

    fn send(&mut self, event: &[u8]) -> io::Result<()> {
        self.events += usize::from(event[4] == source::events::event_type::GTID);
        if self.events == 1 && self.files.is_empty() {
            for number in 40..60 {
                self.life.commit(number);
            }
            let newest = self.life.binlog.status().expect("has a status").file;
            self.life.binlog.rotate().expect("rotates");
            self.life.binlog.purge_to(&newest).expect("purges what it can");
            self.files = self.life.binlog.list().expect("lists").into_iter().map(|file| file.name).collect();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn is_killed(&self) -> bool {
        false
    }
}

#[test]
fn what_a_session_reads_is_not_purged() {
    let disk = new_disk(6);
    let life = Life::start(&disk);
    for number in 0..40 {
        life.commit(number);
    }
    let request = DumpRequest {
        start: DumpStart::Gtids(GtidSet::default()),
        non_blocking: true,
        server_id: 9,
        client: CLIENT,
    };
    let mut sink = Purging { life: &life, files: Vec::new(), events: 0 };
    let end = life.binlog.dump(&request, &mut sink);
    assert!(matches!(end, DumpEnd::Complete), "{end:?}");
    assert!(sink.files.len() > 2 && sink.files[0] == "binlog.000001", "{:?}", sink.files);
    assert_eq!(sink.events, 60);
    let newest = life.binlog.status().expect("has a status").file;
    life.binlog.purge_to(&newest).expect("purges");
    assert!(life.binlog.list().expect("lists").len() < sink.files.len(), "nobody reads any more");
    life.end();
}

/// A replica that follows, now and then more slowly than the log grows, until it has `wanted`
/// transactions.
struct Following {
    rng: Rng,
    events: Vec<Vec<u8>>,
    transactions: usize,
    wanted: usize,
}

impl DumpSink for Following {
    fn send_semi_sync(&mut self, event: &[u8], _wants_ack: bool) -> io::Result<()> {
        self.send(event)
    }

    fn read_acknowledgement(&mut self) -> io::Result<Option<Acknowledgement>> {
        Err(io::Error::other("no replica is semi-synchronous"))
    }

    fn send(&mut self, event: &[u8]) -> io::Result<()> {
        self.transactions += usize::from(event[4] == source::events::event_type::GTID);
        self.events.push(event.to_vec());
        if self.rng.one_in(50) {
            os::clock::sleep(Duration::from_millis(self.rng.below(5)));
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn is_killed(&self) -> bool {
        self.transactions >= self.wanted
    }
}

/// Followers are served from memory or from the files, depending on how fast they are. All get the
/// same events.
#[test]
fn who_follows_gets_what_is_in_the_files() {
    const COMMITS: u64 = 600;
    let seed = os::random::test_seed("who_follows_gets_what_is_in_the_files");
    let disk = new_disk(seed);
    let life = Life::start_with(&disk, 20_000);
    let request = DumpRequest {
        start: DumpStart::Position { file: String::new(), pos: 4 },
        non_blocking: false,
        server_id: 9,
        client: CLIENT,
    };
    let mut followers: Vec<_> = (0..3)
        .map(|number| {
            let rng = Rng::new(seed + number);
            let (binlog, request) = (life.binlog.clone(), request.clone());
            os::thread::spawn("follower", move || {
                let mut sink =
                    Following { rng, events: Vec::new(), transactions: 0, wanted: COMMITS as usize };
                let end = binlog.dump(&request, &mut sink);
                assert!(matches!(end, DumpEnd::Killed), "{end:?}");
                sink.events
            })
        })
        .collect();
    for number in 0..COMMITS {
        life.commit(number);
    }
    let files = life.dump(request.start).1;
    for follower in followers.drain(..) {
        let mut events = follower.join().expect("follows to the end");
        // Only a follower that comes to an open file gets its format description with the in-use
        // flag, and the last rotation may not have arrived yet.
        let of_groups = |events: &mut Vec<Vec<u8>>| {
            events.retain(|event| event[4] != source::events::event_type::FORMAT_DESCRIPTION);
        };
        let mut wanted = files.clone();
        of_groups(&mut wanted);
        of_groups(&mut events);
        let same = events.iter().zip(&wanted).take_while(|(own, other)| own == other).count();
        assert!(
            same == events.len() && same + 3 > wanted.len(),
            "{same} of {} and {}",
            events.len(),
            wanted.len()
        );
    }
    life.end();
}

fn refused(end: DumpEnd) -> String {
    match end {
        DumpEnd::Refused(refusal) => {
            assert_eq!(refusal.code, 1236);
            refusal.message
        }
        other => panic!("was to be refused: {other:?}"),
    }
}

/// A replica that lacks transactions which were declared purged is refused, because nothing else
/// would tell it that the files do not have them either.
#[test]
fn what_was_declared_purged_is_not_passed_over() {
    let life = Life::start(&new_disk(41));
    life.commit(1);
    let other: GtidSet = "22222222-2222-3333-4444-555555555555:1-5".parse().expect("is a GTID set");
    life.engine.add_gtid_purged(&other).expect("is added");
    let lacks = refused(life.dump(DumpStart::Gtids(GtidSet::default())).0);
    assert!(lacks.ends_with(&format!("the missing transactions are '{other}'")), "{lacks}");
    let has = life.dump(DumpStart::Gtids(other)).0;
    assert!(matches!(has, DumpEnd::Complete), "{has:?}");
    life.end();
}

#[test]
fn what_is_not_there_is_refused_with_1236() {
    let disk = new_disk(4);
    let life = Life::start(&disk);
    for number in 0..40 {
        life.commit(number);
    }
    let position = |file: &str, pos: u64| DumpStart::Position { file: file.to_string(), pos };
    let unknown = refused(life.dump(position("binlog.000099", 4)).0);
    assert_eq!(unknown, "Could not find first log file name in binary log index file");
    let beyond = refused(life.dump(position("binlog.000001", 1 << 30)).0);
    assert_eq!(beyond, "Client requested source to start replication from position > file size");
    let newest = life.binlog.status().expect("has a status").file;
    // The file in which the checkpoint lies may have to stay, so one more is begun before the
    // purge.
    life.binlog.rotate().expect("rotates");
    life.binlog.purge_to(&newest).expect("purges");
    let purged = refused(life.dump(DumpStart::Gtids(GtidSet::default())).0);
    assert!(
        purged.starts_with("Cannot replicate because the source purged required binary logs."),
        "{purged}"
    );
    assert!(purged.contains(&format!("the missing transactions are '{UUID}:1-")), "{purged}");
    let more: GtidSet = format!("{UUID}:1-4000").parse().expect("a GTID set");
    let lost = refused(life.dump(DumpStart::Gtids(more)).0);
    assert!(lost.starts_with("Replica has more GTIDs than the source has"), "{lost}");
    life.end();
}

#[test]
fn a_reset_starts_everything_anew() {
    let disk = new_disk(5);
    let life = Life::start(&disk);
    for number in 0..20 {
        life.commit(number);
    }
    life.binlog.reset(7).expect("resets");
    assert_eq!(life.engine.gtid_executed(), GtidSet::default());
    let files = life.binlog.list().expect("lists");
    assert_eq!(files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["binlog.000007"]);
    life.commit(0);
    assert_eq!(life.engine.gtid_executed().to_string(), format!("{UUID}:1"));
    let cut = disk.power_cut();
    life.binlog.close();
    drop(life);
    let life = Life::start(&cut);
    assert_eq!(life.engine.gtid_executed().to_string(), format!("{UUID}:1"));
    assert_eq!(life.queries(), expected(1));
    life.end();
}

#[test]
fn an_engine_and_its_binary_log_keep_nothing_alive_once_they_are_let_go_of() {
    let life = Life::start(&new_disk(77));
    life.commit(1);
    let (engine, binlog) = (Arc::downgrade(&life.engine), Arc::downgrade(&life.binlog));
    life.end();
    assert!(binlog.upgrade().is_none() && engine.upgrade().is_none());
}
