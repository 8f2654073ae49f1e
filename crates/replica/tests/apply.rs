//! Tests of a channel in this process behind a real source: every transaction that it applies is in
//! the engine and in our own binary log, and is there once only.

mod panicking_disk;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{Direction, Engine, EngineConfig, IndexRef, Isolation, KeyRange, LockMode};
use replica::relay::RelayLogConfig;
use replica::{Replica, ReplicaSettings, Threads};
use source::{Binlog, BinlogConfig};
use sql::admin::SourceOptions;
use testkit::server::Server;

const UUID: &str = "11111111-2222-3333-4444-555555555555";
const ROWS: i64 = 500;

/// The parts of a replica on a directory of its own, which is removed at the end.
struct Ours {
    dir: PathBuf,
    engine: Arc<Engine>,
    binlog: Arc<Binlog>,
    replica: Replica,
}

impl Ours {
    fn open(dir: &Path) -> Ours {
        Ours::open_on(dir, os::disk::real())
    }

    /// Opens a replica whose channel has its files on `channels_disk`.
    fn open_on(dir: &Path, channels_disk: Arc<dyn os::disk::Disk>) -> Ours {
        let disk = os::disk::real();
        let config = EngineConfig {
            log_bin: true,
            gtid_mode: true,
            server_id: 77,
            server_uuid: UUID.parse().expect("a UUID"),
            ..EngineConfig::new(disk.clone(), dir)
        };
        let engine = Engine::open(config).expect("the engine opens");
        let binlog =
            Binlog::open(disk.clone(), engine.clone(), binlog_config(dir)).expect("the binary log opens");
        let replica = Replica::open(engine.clone(), channels_disk, settings(dir)).expect("the channel opens");
        Ours { dir: dir.to_path_buf(), engine, binlog, replica }
    }

    /// Returns `id k c` of every row, in the order of the ids.
    fn rows(&self) -> Vec<String> {
        let table = self.engine.catalog().table("d", "t").expect("d.t is there");
        let mut transaction = self.engine.begin(Isolation::RepeatableRead);
        let mut scan = transaction
            .scan(&table, IndexRef::Primary, KeyRange::all(), Direction::Forward, LockMode::Snapshot)
            .expect("scans");
        let mut rows = Vec::new();
        while let Some(row) = scan.next(&mut transaction).expect("reads") {
            let values = table.layout.decode_all(&row.image).expect("decodes");
            let cells: Vec<String> = values
                .iter()
                .enumerate()
                .map(|(column, value)| {
                    let mut text = Vec::new();
                    value.to_text(Some(table.column_type(column)), &mut text);
                    String::from_utf8(text).expect("is text")
                })
                .collect();
            rows.push(cells.join("\t"));
        }
        rows
    }

    fn follow(&self, server: &Server, gtid: bool) {
        let mariadb = server.flavor() == testkit::Flavor::MariaDb;
        let first_file =
            server.rows("SHOW BINARY LOGS")[0].split('\t').next().unwrap_or_default().to_string();
        let options = SourceOptions {
            host: Some("127.0.0.1".to_string()),
            port: Some(server.port()),
            user: Some(testkit::USER.to_string()),
            password: Some(testkit::USER.to_string()),
            get_public_key: Some(true),
            connect_retry_s: Some(1),
            auto_position: Some(gtid && !mariadb),
            use_gtid: (gtid && mariadb).then(|| "slave_pos".to_string()),
            log_file: (!gtid).then_some(first_file),
            log_pos: (!gtid).then_some(4),
            ..SourceOptions::default()
        };
        self.replica.change_source(&options).expect("the source is accepted");
        self.replica.start(Threads::BOTH, None).expect("the threads start");
    }

    fn wait_for(&self, server: &Server) {
        let target = server.position();
        for _ in 0..600 {
            let status = self.replica.status().expect("is configured");
            assert_eq!((&status.io_error, &status.sql_error), (&None, &None), "{status:?}");
            if (status.exec_file.as_str(), status.exec_pos) >= (target.file.as_str(), target.offset) {
                return;
            }
            os::clock::sleep(Duration::from_millis(50));
        }
        panic!("{target} is not reached: {:?}", self.replica.status());
    }

    /// Checks that mysqlbinlog reads our binary log and finds every checksum right.
    fn is_read_by_mysqlbinlog(&self, test: &str) {
        if !testkit::tool_available(test, "mysqlbinlog") {
            return;
        }
        let files = self.binlog.list().expect("lists");
        assert!(files.len() > 1, "nothing was rotated: {files:?}");
        let paths = files.iter().map(|file| self.dir.join(&file.name));
        let done =
            std::process::Command::new("mysqlbinlog").arg("--verify-binlog-checksum").args(paths).output();
        let done = done.expect("mysqlbinlog runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(text.matches("Table_map: `d`.`t`").count() > 40, "{text}");
        assert!(!text.contains("Unknown event"), "{text}");
    }

    fn close(self) -> PathBuf {
        self.replica.stop(Threads::BOTH);
        self.binlog.close();
        self.engine.close().expect("closes");
        self.dir
    }
}

fn binlog_config(dir: &Path) -> BinlogConfig {
    BinlogConfig {
        datadir: dir.to_path_buf(),
        basename: "binlog".to_string(),
        index: None,
        max_file_bytes: 10_000,
        expire_after_s: 0,
        dependency_history_size: 10_000,
        checksum: binlog::Checksum::Crc32,
        server_id: 77,
        server_uuid: UUID.to_string(),
        server_version: "8.4.0-slipstream".to_string(),
    }
}

fn settings(dir: &Path) -> ReplicaSettings {
    ReplicaSettings {
        datadir: dir.to_path_buf(),
        server_id: 77,
        server_uuid: UUID.to_string(),
        relay: RelayLogConfig {
            basename: "relay".to_string(),
            index: None,
            max_file_bytes: 50_000,
            space_limit_bytes: 0,
            purge: true,
        },
        net_timeout_s: Arc::new(60.into()),
        report_host: String::new(),
        report_port: 0,
        log_replica_updates: true,
        sql_verify_checksum: true,
        info: Default::default(),
        stores: Default::default(),
    }
}

fn source_with_table(flavor: testkit::Flavor) -> Server {
    let settings =
        testkit::Settings { row_image: testkit::RowImage::Minimal, ..testkit::Settings::default() };
    let server = Server::start(flavor, &settings);
    server.run("CREATE DATABASE d DEFAULT CHARSET utf8mb4");
    server.run("CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, c VARCHAR(120), KEY k (k))");
    server
}

fn load(server: &Server, seed: u64) {
    let mut session = server.connect();
    let mut rng = os::random::Rng::new(seed);
    for _ in 0..300 {
        let id = rng.below(ROWS as u64);
        let statement = match rng.below(4) {
            0 => format!(
                "INSERT IGNORE INTO d.t VALUES ({id}, {}, REPEAT('x', {}))",
                rng.below(100),
                rng.below(120)
            ),
            1 => format!("UPDATE d.t SET c = CONCAT('v', {}) WHERE id = {id}", rng.below(1000)),
            2 => format!("UPDATE d.t SET k = k + 1 WHERE id = {id}"),
            _ => format!("DELETE FROM d.t WHERE id = {id}"),
        };
        session.query(&statement).expect("the load runs");
    }
}

fn follows(flavor: testkit::Flavor, gtid: bool) {
    let test = format!("apply-{flavor}-{gtid}");
    if !testkit::available(&test, &[flavor]) {
        return;
    }
    let server = source_with_table(flavor);
    let dir = std::env::temp_dir().join(format!("slipstream-{test}-{}", std::process::id()));
    let ours = Ours::open(&dir);
    ours.follow(&server, gtid);
    load(&server, os::random::test_seed(&test));
    ours.wait_for(&server);
    let theirs = server.rows("SELECT id, k, c FROM d.t ORDER BY id");
    assert_eq!(ours.rows(), theirs);
    assert!(theirs.len() > 5, "the load left hardly a row");
    ours.is_read_by_mysqlbinlog(&test);
    // After it was closed and opened again, the replica goes on where it was.
    let dir = ours.close();
    load(&server, 5);
    let ours = Ours::open(&dir);
    ours.replica.start(Threads::BOTH, None).expect("the threads start");
    ours.wait_for(&server);
    assert_eq!(ours.rows(), server.rows("SELECT id, k, c FROM d.t ORDER BY id"));
    ours.is_read_by_mysqlbinlog(&test);
    let dir = ours.close();
    std::fs::remove_dir_all(dir).expect("removes the directory");
}

#[test]
fn mariadb_by_gtid() {
    follows(testkit::Flavor::MariaDb, true);
}

#[test]
fn mariadb_by_position() {
    follows(testkit::Flavor::MariaDb, false);
}

#[test]
fn mysql_by_gtid() {
    follows(testkit::Flavor::MySql, true);
}

#[test]
fn mysql_by_position() {
    follows(testkit::Flavor::MySql, false);
}

/// A panic of the applier becomes the applier's error. The receiver goes on, and START REPLICA
/// applies what is left, each transaction once.
fn survives_panics(workers: u64) {
    let test = format!("apply-panic-{workers}");
    let server = source_with_table(testkit::Flavor::Slipstream);
    let dir = std::env::temp_dir().join(format!("slipstream-{test}-{}", std::process::id()));
    let disk = panicking_disk::PanickingDisk::new();
    let ours = Ours::open_on(&dir, disk.clone());
    ours.replica.set_parallel_workers(workers);
    ours.follow(&server, false);
    for round in 0..3 {
        load(&server, round);
        ours.wait_for(&server);
        disk.panic_at_next_read_of("replica_sql", "replica_worker");
        load(&server, round + 10);
        let stopped = |ours: &Ours| ours.replica.status().expect("is configured").sql_error;
        let watch = os::clock::Stopwatch::start();
        let error = loop {
            if let Some(error) = stopped(&ours) {
                break error;
            }
            assert!(!watch.remaining(Duration::from_secs(60)).is_zero(), "the applier has not stopped");
            os::clock::sleep(Duration::from_millis(10));
        };
        assert_eq!(error.number, replica::error::number::REPLICA_FATAL_ERROR, "{error}");
        assert!(error.message.contains("the disk panics"), "{error}");
        let status = ours.replica.status().expect("is configured");
        assert_eq!(status.sql_running, replica::status::Running::No);
        assert_eq!(status.io_running, replica::status::Running::Yes);
        ours.replica.start(Threads { receiver: false, applier: true }, None).expect("the applier starts");
    }
    ours.wait_for(&server);
    assert_eq!(ours.rows(), server.rows("SELECT id, k, c FROM d.t ORDER BY id"));
    std::fs::remove_dir_all(ours.close()).expect("removes the directory");
}

#[test]
fn a_panic_stops_the_applier_and_nothing_else() {
    survives_panics(0);
}

#[test]
fn a_panic_of_a_worker_stops_the_applier_and_nothing_else() {
    survives_panics(4);
}
