//! Tests of `slipstream switchover` under load, with Slipstream and MySQL on each side.

use std::process::{Command, Output, Stdio};

use bench::instance::{Flavor, Settings, USER};
use bench::replication::{StartFrom, Thread};
use os::clock::{Stopwatch, sleep};
use testkit::ledger::Ledger;
use testkit::server::SOON;
use testkit::{Replica, Server, available};

/// The rows of the ledger, which must be the same on all servers.
const ROWS: [&str; 2] = [
    "SELECT client, n FROM ledger.total ORDER BY client",
    "SELECT client, COUNT(*), MIN(number), MAX(number), SUM(number) FROM ledger.entry \
     GROUP BY client ORDER BY client",
];

/// A source and two replicas that report where they are.
struct Three {
    source: Replica,
    replica: Replica,
    other: Replica,
}

fn start(flavor: Flavor, server_id: u32) -> Replica {
    let mut settings = Settings { server_id, ..Settings::default() };
    settings.extra.push("--report-host=127.0.0.1".to_owned());
    Replica::start(flavor, &settings)
}

impl Three {
    fn start(source: Flavor, replica: Flavor) -> Three {
        let three = Three {
            source: start(source, 1),
            replica: start(replica, 2),
            other: start(Flavor::Slipstream, 3),
        };
        for replica in [&three.replica, &three.other] {
            replica.follow(source, three.source.port(), &StartFrom::Gtid);
            replica.run("SET GLOBAL super_read_only = ON");
        }
        three
    }

    /// Waits until the source knows its replicas and they are not behind.
    fn settle(&self) {
        let clock = Stopwatch::start();
        while self.source.rows("SHOW REPLICAS").len() < 2 {
            assert!(clock.elapsed() < SOON, "the replicas do not register");
            sleep(std::time::Duration::from_millis(10));
        }
        for replica in [&self.replica, &self.other] {
            replica.catch_up(&self.source);
            replica.wait_until("connected", |status| status.seconds_behind == Some(0));
        }
    }

    fn switch(&self, words: &[&str]) -> Output {
        switch(&self.source, &self.replica, words)
    }
}

fn command(source: &Server, replica: &Server, words: &[&str]) -> Command {
    let address = |server: &Server| format!("mysql://{USER}@127.0.0.1:{}/", server.port());
    let mut command = Command::new(testkit::binary::slipstream());
    command.args(["switchover", &address(source), "--to", &address(replica)]).args(words);
    command.env("SLIPSTREAM_PASSWORD", USER).env("SLIPSTREAM_REPLICATION_PASSWORD", USER);
    command
}

fn switch(source: &Server, replica: &Server, words: &[&str]) -> Output {
    let output = command(source, replica, words).output();
    output.unwrap_or_else(|error| panic!("slipstream switchover: {error}"))
}

/// Returns what was printed to both outputs.
fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text in UTF-8");
    text(&output.stdout) + &text(&output.stderr)
}

fn ask(server: &Server, sql: &str) -> String {
    server.rows(sql).concat()
}

fn wait_for_commits(ledger: &Ledger, more: u64) {
    let (before, clock) = (ledger.acknowledged(), Stopwatch::start());
    while ledger.acknowledged() < before + more {
        assert!(clock.elapsed() < SOON, "the clients stand still");
        sleep(std::time::Duration::from_millis(1));
    }
}

/// Waits until the replica has what its source has, and compares the rows.
fn is_equal(replica: &Server, source: &Server) {
    let executed = ask(source, "SELECT @@global.gtid_executed").replace('\n', "");
    let sql = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', {})", SOON.as_secs());
    assert_eq!(ask(replica, &sql), "0", "{}", replica.log_tail());
    let alone = format!("SELECT GTID_SUBTRACT(@@global.gtid_executed, '{executed}')");
    assert_eq!(ask(replica, &alone), "", "a replica has what its source does not have");
    for sql in ROWS {
        assert_eq!(replica.rows(sql), source.rows(sql), "{sql}");
    }
}

/// Hands the source's place over and back while clients commit, and checks that nothing is lost
/// and that everybody follows.
fn under_load(source: Flavor, replica: Flavor) {
    let mut three = Three::start(source, replica);
    let ledger = Ledger::create(&three.source, 4);
    for _round in 0..2 {
        three.settle();
        let working = ledger.work(&three.source);
        wait_for_commits(&ledger, 100);
        let dry = three.switch(&["--dry-run", "--max-lag=60"]);
        assert_eq!(dry.status.code(), Some(0), "{}", told(&dry));
        wait_for_commits(&ledger, 10);
        let done = three.switch(&["--max-lag=60"]);
        working.end();
        assert_eq!(done.status.code(), Some(0), "{}", told(&done));
        assert!(told(&done).contains("\n6. "), "both others follow: {}", told(&done));
        println!("{}", told(&done));
        ledger.check(&three.replica);
        assert_eq!(ask(&three.source, "SELECT @@read_only, @@super_read_only"), "1\t1");
        assert_eq!(ask(&three.replica, "SELECT @@read_only, @@super_read_only"), "0\t0");
        assert_eq!(three.replica.rows("SHOW REPLICA STATUS"), [""; 0]);
        let working = ledger.work(&three.replica);
        wait_for_commits(&ledger, 100);
        working.end();
        ledger.check(&three.replica);
        is_equal(&three.source, &three.replica);
        is_equal(&three.other, &three.replica);
        std::mem::swap(&mut three.source, &mut three.replica);
    }
}

#[test]
fn slipstream_hands_over_to_slipstream_and_back() {
    under_load(Flavor::Slipstream, Flavor::Slipstream);
}

#[test]
fn slipstream_hands_over_to_mysql_and_back() {
    if available("switchover::slipstream_hands_over_to_mysql_and_back", &[Flavor::MySql]) {
        under_load(Flavor::Slipstream, Flavor::MySql);
    }
}

/// Returns what a switchover could change, of all servers.
fn state(three: &Three) -> Vec<String> {
    let of = |server: &Server| {
        let shown = server.run("SHOW REPLICA STATUS");
        let text = |name: &str| shown.text(0, name).unwrap_or_default();
        let channel = ["Source_Port", "Replica_IO_Running", "Replica_SQL_Running"].map(text).join(" ");
        format!(
            "{channel} {}",
            ask(server, "SELECT @@read_only, @@super_read_only, @@rpl_semi_sync_source_enabled")
        )
    };
    vec![of(&three.source), of(&three.replica), of(&three.other)]
}

#[test]
fn everything_is_put_back_when_the_replica_does_not_come_after() {
    let three = Three::start(Flavor::Slipstream, Flavor::Slipstream);
    three.source.run("CREATE DATABASE d");
    three.source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    three.settle();
    let before = state(&three);
    // The lock keeps the applier from the transaction, without an error and without lag so far.
    let mut holder = three.replica.connect();
    holder.query("LOCK TABLES d.t READ").expect("a lock");
    three.source.run("INSERT INTO d.t VALUES (1)");
    let done = three.switch(&["--timeout=1", "--max-lag=60"]);
    assert_eq!(done.status.code(), Some(1), "{}", told(&done));
    assert!(
        told(&done).contains("does not have everything within 1 s; everything is put back"),
        "{}",
        told(&done)
    );
    holder.query("UNLOCK TABLES").expect("an end of the lock");
    three.settle();
    assert_eq!(state(&three), before);
    three.source.run("INSERT INTO d.t VALUES (2)");
    let done = three.switch(&["--max-lag=60"]);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    three.replica.run("INSERT INTO d.t VALUES (3)");
    for follower in [&three.source, &three.other] {
        follower.catch_up(&three.replica);
        assert_eq!(follower.rows("SELECT id FROM d.t"), ["1", "2", "3"]);
    }
}

#[test]
fn an_interrupted_switchover_is_put_back() {
    let three = Three::start(Flavor::Slipstream, Flavor::Slipstream);
    three.source.run("CREATE DATABASE d");
    three.source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    three.settle();
    let before = state(&three);
    let mut holder = three.replica.connect();
    holder.query("LOCK TABLES d.t READ").expect("a lock");
    three.source.run("INSERT INTO d.t VALUES (1)");
    let command = command(&three.source, &three.replica, &["--timeout=600", "--max-lag=60"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    let clock = Stopwatch::start();
    while ask(&three.source, "SELECT @@super_read_only") != "1" {
        assert!(clock.elapsed() < SOON, "the switchover does not begin");
        sleep(std::time::Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &command.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let ended = command.wait_with_output().expect("its end");
    assert_eq!(ended.status.code(), Some(1), "{}", told(&ended));
    assert!(told(&ended).contains("interrupted; everything is put back"), "{}", told(&ended));
    holder.query("UNLOCK TABLES").expect("an end of the lock");
    three.settle();
    assert_eq!(state(&three), before);
}

#[test]
fn what_is_in_the_way_is_told_at_once_and_nothing_is_changed() {
    let three = Three::start(Flavor::Slipstream, Flavor::Slipstream);
    three.source.run("CREATE DATABASE d");
    three.settle();
    three.replica.stop_thread(Thread::Sql);
    // A transaction of the replica's own.
    three.replica.run("SET GLOBAL super_read_only = OFF");
    three.replica.run("CREATE DATABASE its_own");
    three.source.run("CREATE USER weak IDENTIFIED BY 'w'");
    three.source.run("GRANT REPLICATION CLIENT, REPLICATION SLAVE ON *.* TO weak");
    let before = state(&three);
    let (old, new) = (three.source.port(), three.replica.port());
    let address = format!("mysql://weak:w@127.0.0.1:{old}/");
    let mut command = Command::new(testkit::binary::slipstream());
    command.args(["switchover", &address, "--to", &format!("mysql://{USER}:{USER}@127.0.0.1:{new}/")]);
    let other = format!("mysql://{USER}:{USER}@127.0.0.1:{}/", three.other.port());
    let done = command.args(["--replica", &other]).output().expect("the command");
    let told = told(&done);
    assert_eq!(done.status.code(), Some(1), "{told}");
    for wanted in [
        format!("error: 127.0.0.1:{new}: replication does not run"),
        format!("error: 127.0.0.1:{new} has transactions that 127.0.0.1:{old} does not have"),
        format!("error: 127.0.0.1:{old}: the account lacks SYSTEM_VARIABLES_ADMIN"),
        "3 checks have failed, and nothing was changed".to_owned(),
    ] {
        assert!(told.contains(&wanted), "no '{wanted}' in\n{told}");
    }
    assert_eq!(state(&three), before);
    let to_itself = switch(&three.source, &three.source, &["--leave-unreached"]);
    assert_eq!(to_itself.status.code(), Some(1));
}

#[test]
fn commits_wait_for_replicas_of_the_new_source_as_they_did_before() {
    let three = Three::start(Flavor::Slipstream, Flavor::Slipstream);
    for replica in [&three.replica, &three.other] {
        replica.run("SET GLOBAL rpl_semi_sync_replica_enabled = ON");
        replica.stop_thread(Thread::Io);
        replica.start_thread(Thread::Io);
    }
    three.source.run("SET GLOBAL rpl_semi_sync_source_timeout = 600000");
    three.source.run("SET GLOBAL rpl_semi_sync_source_enabled = ON");
    three.source.run("CREATE DATABASE d");
    three.settle();
    let done = three.switch(&["--max-lag=60"]);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    let semi_sync = "SELECT @@rpl_semi_sync_source_enabled, @@rpl_semi_sync_source_timeout";
    assert_eq!(ask(&three.replica, semi_sync), "1\t600000");
    assert_eq!(
        ask(&three.source, "SELECT @@rpl_semi_sync_source_enabled, @@rpl_semi_sync_replica_enabled"),
        "0\t1"
    );
    three.replica.run("CREATE DATABASE after");
    assert_eq!(
        ask(&three.replica, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_no_tx'"),
        "Rpl_semi_sync_source_no_tx\t0"
    );
}

/// A commit that waits for a replica's answer is at the replicas, and not yet in `gtid_executed` of
/// the source.
#[test]
fn a_commit_that_replicas_have_first_is_waited_for() {
    let three = Three::start(Flavor::Slipstream, Flavor::Slipstream);
    three.source.run("CREATE DATABASE d");
    three.settle();
    three.source.run("SET GLOBAL rpl_semi_sync_source_timeout = 600000");
    three.source.run("SET GLOBAL rpl_semi_sync_source_enabled = ON");
    std::thread::scope(|scope| {
        scope.spawn(|| three.source.run("CREATE DATABASE waits"));
        let clock = Stopwatch::start();
        while three.replica.rows("SHOW DATABASES LIKE 'waits'").is_empty() {
            assert!(clock.elapsed() < SOON, "the replica does not get it");
            sleep(std::time::Duration::from_millis(1));
        }
        let checks = scope.spawn(|| three.switch(&["--dry-run", "--max-lag=60"]));
        sleep(std::time::Duration::from_secs(2));
        three.source.run("SET GLOBAL rpl_semi_sync_source_enabled = OFF");
        let done = checks.join().expect("the command");
        assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    });
}
