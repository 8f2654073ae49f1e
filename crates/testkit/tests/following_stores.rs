//! Tests of replicas that follow the log in a store in place of their source: whatever is killed,
//! purged or merged meanwhile, they come to the source's rows and GTIDs, and can go over to the
//! source and back.

use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use os::random::test_seed;
use testkit::known::{Known, restore_in, restored_in, rows_of};
use testkit::proxy::Proxy;
use testkit::running::Running;
use testkit::s3::S3;
use testkit::{Replica, Server};

/// Error 1236 of a source, as a receiver reports it.
const NOT_IN_THE_LOG: u32 = 13114;

/// A source whose log is shipped to a store.
struct Shipped {
    known: Known,
    to: String,
    words: Vec<String>,
    environment: Vec<(String, String)>,
    shipping: Option<Running>,
}

impl Shipped {
    /// Starts a source, makes the backup, and ships the log from then on. `place` names the store
    /// and further words of the command line.
    fn start(
        test: &str,
        environment: &[(&str, String)],
        place: impl Fn(&Known) -> (String, Vec<String>),
    ) -> Shipped {
        let mut known = Known::start(test_seed(test), &Settings::default());
        known.change(10);
        let ((to, mut words), staging) = (place(&known), known.place("staging"));
        os::disk::real().create_dir_all(&staging).expect("a directory");
        words.extend(["--staging".to_owned(), staging.display().to_string()]);
        let environment = environment.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let mut shipped = Shipped { known, to, words, environment, shipping: None };
        shipped.run(&[]);
        shipped.ship();
        shipped
    }

    fn environment(&self) -> Vec<(&str, String)> {
        self.environment.iter().map(|(name, value)| (&**name, value.clone())).collect()
    }

    fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        self.words.iter().map(String::as_str).chain(more.iter().copied()).collect()
    }

    /// Runs `slipstream backup` to its end.
    fn run(&self, more: &[&str]) {
        let output = self.known.try_backup(&self.to, &self.words(more), &self.environment());
        assert!(output.status.success(), "{more:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Kills what ships the log, and starts it anew.
    fn ship(&mut self) {
        if let Some(shipping) = self.shipping.take() {
            shipping.kill();
        }
        let words = self.words(&["--follow"]);
        let mut command = self.known.backup_command(&self.to, &words, &self.environment());
        self.shipping = Some(Running::start(&mut command));
    }

    /// Starts a replica from the backup, which does not follow anything yet.
    fn replica(&self, server_id: u32) -> Replica {
        let settings = Settings { server_id, environment: self.environment.clone(), ..Settings::default() };
        let mut replica = Replica::start(Flavor::Slipstream, &settings);
        let key = self.words.iter().position(|word| word == "--encrypt").map(|at| self.words[at + 1].clone());
        let words: Vec<String> = key.into_iter().flat_map(|key| ["--decrypt".to_owned(), key]).collect();
        restored_in(&mut replica, &self.to, &words, &self.environment());
        replica
    }

    fn follow_store(&self, replica: &Server, more: &str) {
        replica.run("STOP REPLICA");
        let host = &self.to;
        replica.run(&format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='{host}', SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=0, {more}"
        ));
        replica.run("START REPLICA");
    }

    fn has_all(&self, replica: &Replica) {
        replica.catch_up(&self.known.source);
        assert_eq!(rows_of(replica), self.known.rows, "{}", replica.log_tail());
        let executed = "SELECT @@GLOBAL.gtid_executed";
        assert_eq!(replica.rows(executed), self.known.source.rows(executed));
        assert_eq!(replica.rows("CHECK TABLE d.t"), ["d.t\tcheck\tstatus\tOK"]);
    }
}

fn in_s3(test: &str, s3: &S3, prefix: &str, words: &[&str]) -> Shipped {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    Shipped::start(test, &s3.environment(), |_| (s3.url(prefix), words.clone()))
}

#[test]
fn a_replica_follows_the_store_while_everything_is_killed_and_the_source_purges_its_log() {
    let test = "a_replica_follows_the_store_while_everything_is_killed_and_the_source_purges_its_log";
    let Some(s3) = S3::start(test) else { return };
    let mut shipped = in_s3(test, &s3, "followed", &["--compress"]);
    let mut replica = shipped.replica(2);
    shipped.follow_store(&replica, "SOURCE_AUTO_POSITION=1");
    for _ in 0..testkit::times("SLIPSTREAM_STORE_KILLS", 8) {
        let count = shipped.known.rng.between(1, 20);
        shipped.known.change(count);
        match shipped.known.rng.below(6) {
            0 => {
                replica.kill();
                replica.come_back();
            }
            1 => shipped.ship(),
            2 => {
                shipped.known.source.kill();
                shipped.known.source.come_back();
            }
            3 => {
                replica.run("STOP REPLICA");
                shipped.known.change(10);
                replica.run("START REPLICA");
            }
            4 => shipped.run(&["--keep-full", "9"]),
            _ => {
                // What was logged before is in the store alone afterwards.
                shipped.known.source.run("FLUSH BINARY LOGS");
                shipped.known.change(3);
                let file = shipped.known.source.position().file;
                shipped.has_all(&replica);
                shipped.known.source.run(&format!("PURGE BINARY LOGS TO '{file}'"));
            }
        }
    }
    shipped.has_all(&replica);
    let dumps = "SELECT COUNT(*) FROM performance_schema.processlist WHERE COMMAND LIKE 'Binlog Dump%'";
    assert_eq!(shipped.known.source.rows(dumps), ["1"], "the source serves what ships, and no replica");
    let shown = "SELECT HOST, AUTO_POSITION FROM performance_schema.replication_connection_configuration";
    assert_eq!(replica.rows(shown), [format!("{}\t1", shipped.to)]);
}

#[test]
fn a_replica_goes_over_to_the_source_and_back_to_the_store_without_a_gap() {
    let test = "a_replica_goes_over_to_the_source_and_back_to_the_store_without_a_gap";
    let Some(s3) = S3::start(test) else { return };
    let mut shipped = in_s3(test, &s3, "both", &[]);
    let replica = shipped.replica(2);
    for _ in 0..3 {
        shipped.follow_store(&replica, "SOURCE_AUTO_POSITION=1");
        shipped.known.change(10);
        shipped.has_all(&replica);
        shipped.known.change(5);
        replica.run("STOP REPLICA");
        replica.follow(Flavor::Slipstream, shipped.known.source.port(), &StartFrom::Gtid);
        shipped.known.change(10);
        shipped.has_all(&replica);
    }
}

#[test]
fn a_replica_follows_an_encrypted_directory_by_positions() {
    let test = "a_replica_follows_an_encrypted_directory_by_positions";
    let mut shipped = Shipped::start(test, &[], |known| {
        let path = known.place("key");
        os::disk::real().write_secret_atomically(&path, &[7; 32]).expect("written");
        let to = format!("file://{}", known.place("store").display());
        (to, vec!["--encrypt".to_owned(), path.display().to_string()])
    });
    let path = shipped.known.place("key").display().to_string();
    let mut replica = shipped.replica(2);
    shipped.known.change(5);
    let purged = replica.rows("SELECT @@GLOBAL.gtid_executed").remove(0);
    let number: u64 = purged.rsplit('-').next().and_then(|n| n.parse().ok()).expect("a set of one server");
    assert!(number < shipped.known.last(), "the replica has the backup and not what came since");
    shipped.follow_store(&replica, "SOURCE_AUTO_POSITION=1");
    let refused = replica.wait_until("refused without the key", |status| status.io_errno != 0);
    assert!(refused.io_error.contains("is encrypted: the file with its key is needed"), "{refused:?}");
    shipped.follow_store(&replica, &format!("SOURCE_SSL_KEY='{path}'"));
    shipped.has_all(&replica);
    shipped.known.change(5);
    shipped.has_all(&replica);
    // The file and the position are those of the source's own log.
    let at = shipped.known.source.position();
    shipped.known.change(10);
    let from = format!("SOURCE_AUTO_POSITION=0, SOURCE_LOG_FILE='{}', SOURCE_LOG_POS={}", at.file, at.offset);
    shipped.follow_store(&replica, &from);
    shipped.has_all(&replica);
    replica.kill();
    shipped.known.change(10);
    replica.come_back();
    shipped.has_all(&replica);
}

#[test]
fn a_store_that_does_not_answer_is_asked_again() {
    let test = "a_store_that_does_not_answer_is_asked_again";
    let Some(s3) = S3::start(test) else { return };
    let mut shipped = in_s3(test, &s3, "silent", &[]);
    let proxy = Proxy::start(s3.port());
    let mut replica = shipped.replica(2);
    let by_proxy = s3.environment_by(proxy.port()).map(|(name, value)| (name.to_owned(), value));
    replica.shut_down();
    let settings = Settings { environment: by_proxy.to_vec(), ..replica.settings().clone() };
    replica.start_again_with(&settings).expect("it starts");
    shipped.follow_store(&replica, "SOURCE_AUTO_POSITION=1");
    for _ in 0..2 {
        shipped.known.change(10);
        shipped.has_all(&replica);
        proxy.refuse(true);
        proxy.cut();
        shipped.known.change(10);
        let status = replica.wait_until("without the store", |status| status.io_running == "Connecting");
        assert_eq!(status.sql_running, "Yes", "{status:?}");
        replica.run("STOP REPLICA");
        replica.kill();
        replica.come_back();
        proxy.refuse(false);
    }
    shipped.has_all(&replica);
}

#[test]
fn a_store_that_cannot_be_followed_is_refused_with_the_reason() {
    let test = "a_store_that_cannot_be_followed_is_refused_with_the_reason";
    let Some(s3) = S3::start(test) else { return };
    let mut shipped = in_s3(test, &s3, "refused", &[]);
    let environment = shipped.environment.clone();
    let empty = Replica::start(
        Flavor::Slipstream,
        &Settings { server_id: 3, environment: environment.clone(), ..Settings::default() },
    );
    for host in ["ftp://host/x", "s3://", "file://relative"] {
        let refused = empty.refuses(&format!("CHANGE REPLICATION SOURCE TO SOURCE_HOST='{host}'"));
        assert_eq!(refused.0, 1210, "{refused:?}");
    }
    let stops = |replica: &Replica, why: &str| {
        let status = replica.wait_until("stopped", |status| status.io_errno != 0);
        assert_eq!(status.io_errno, NOT_IN_THE_LOG, "{status:?}");
        assert!(status.io_error.contains(why), "{status:?}");
    };
    shipped.follow_store(&empty, "SOURCE_AUTO_POSITION=1");
    stops(&empty, "which this server does not have: restore this server from there");
    shipped.follow_store(&empty, "SOURCE_AUTO_POSITION=0");
    stops(&empty, "SOURCE_AUTO_POSITION=1, or a file and a position, must say where the log begins");
    shipped.follow_store(&empty, "SOURCE_AUTO_POSITION=0, SOURCE_LOG_FILE='binlog.000099', SOURCE_LOG_POS=4");
    stops(&empty, "its log does not have the place binlog.000099:4");
    // A replica that sleeps while full backups and the log behind them go.
    let late = shipped.replica(4);
    for _ in 0..3 {
        shipped.known.change(10);
        shipped.known.source.run("FLUSH BINARY LOGS");
        shipped.known.change(10);
        shipped.run(&["--keep-full", "1"]);
    }
    shipped.follow_store(&late, "SOURCE_AUTO_POSITION=1");
    stops(&late, "which this server does not have: restore this server from there");
    // A server with the source's own id.
    let settings = Settings { server_id: 1, environment, ..Settings::default() };
    let mut same = Replica::start(Flavor::Slipstream, &settings);
    let datadir = same.datadir();
    same.shut_down();
    std::fs::remove_dir_all(&datadir).expect("the old data is removed");
    restore_in(&shipped.to, &datadir, &[], &shipped.environment()).expect("restored");
    same.come_back();
    shipped.known.change(3);
    shipped.follow_store(&same, "SOURCE_AUTO_POSITION=1");
    let status = same.wait_until("stopped", |status| status.io_errno != 0);
    assert!(status.io_error.contains("have equal MySQL server ids"), "{status:?}");
}

/// Prints what ten replicas cost their source: none, ten that connect to it, ten that follow the
/// store. docs/replication.md has the figures.
#[test]
#[ignore = "it measures, and needs a machine that does nothing else"]
fn what_ten_replicas_cost_their_source() {
    const TRANSACTIONS: u64 = 20_000;
    let test = "what_ten_replicas_cost_their_source";
    let Some(s3) = S3::start(test) else { return };
    let mut shipped = in_s3(test, &s3, "ten", &["--compress"]);
    let replicas: Vec<Replica> = (2..12).map(|server_id| shipped.replica(server_id)).collect();
    let usage = |shipped: &Shipped| shipped.known.source.usage().expect("it runs").cpu_ms;
    let measure = |shipped: &mut Shipped, name: &str, followers: usize| {
        let before = usage(shipped);
        let mut session = shipped.known.source.connect();
        for number in 0..TRANSACTIONS {
            let value = format!("v{number}");
            let sql = format!("REPLACE INTO d.t (id, v) VALUES ({}, '{value}')", number % 60);
            session.query(&sql).expect("changed");
            shipped.known.rows.insert(number % 60, value);
        }
        let sent = usage(shipped);
        replicas[..followers].iter().for_each(|replica| shipped.has_all(replica));
        let after = usage(shipped);
        println!("{name}: {} ms of CPU while it wrote, {} ms to the end", sent - before, after - before);
    };
    for _ in 0..3 {
        measure(&mut shipped, "nobody follows, the log is shipped", 0);
        replicas.iter().for_each(|replica| shipped.follow_store(replica, "SOURCE_AUTO_POSITION=1"));
        replicas.iter().for_each(|replica| shipped.has_all(replica));
        measure(&mut shipped, "ten follow the store", 10);
        for replica in &replicas {
            replica.run("STOP REPLICA");
            replica.follow(Flavor::Slipstream, shipped.known.source.port(), &StartFrom::Gtid);
        }
        replicas.iter().for_each(|replica| shipped.has_all(replica));
        measure(&mut shipped, "ten are connected", 10);
        replicas.iter().for_each(|replica| drop(replica.run("STOP REPLICA")));
    }
}
