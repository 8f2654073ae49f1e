//! Tests of the death of a source under load: a Slipstream replica is promoted, the other replica
//! (a MySQL, where there is one) follows it, and the old source comes back as a replica. Nothing
//! that was acknowledged may be lost, because the source replicates semi-synchronously.

use std::process::Command;
use std::time::Duration;

use bench::instance::{Flavor, Port, Settings, USER};
use bench::replication::{StartFrom, Thread};
use os::clock::{Stopwatch, sleep};
use os::random::{Rng, test_seed};
use protocol::client::{Client, ConnectOptions};
use testkit::ledger::Ledger;
use testkit::running::Running;
use testkit::server::SOON;
use testkit::{Replica, Server, tool_available};

/// The rows of the ledger, which must be the same on all servers.
const ROWS: [&str; 3] = [
    "SELECT client, n FROM ledger.total ORDER BY client",
    "SELECT client, COUNT(*), MIN(number), MAX(number), SUM(number) FROM ledger.entry \
     GROUP BY client ORDER BY client",
    "SELECT 'debit', account, n FROM ledger.debit UNION ALL SELECT 'credit', account, n FROM \
     ledger.credit ORDER BY 1, 2",
];

/// A member that a client may write to: a Slipstream with a port for the balancer's checks.
struct Member {
    server: Replica,
    check: Port,
}

impl Member {
    fn start(server_id: u32) -> Member {
        let check = Port::reserve().unwrap_or_else(|error| panic!("{error}"));
        let mut settings = Settings { server_id, ..Settings::default() };
        settings.extra.push(format!("--http-address=127.0.0.1:{}", check.number()));
        Member { server: Replica::start(Flavor::Slipstream, &settings), check }
    }

    /// Starts a server that died. It must take no writes before somebody has looked at it.
    fn come_back_read_only(&mut self) {
        let mut settings = self.server.settings().clone();
        settings.extra.push("--super-read-only=ON".to_owned());
        self.server.server.start_again_with(&settings).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Returns the single cell of a query's answer.
fn ask(server: &Server, sql: &str) -> String {
    let rows = server.rows(sql);
    assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
    rows[0].clone()
}

/// Returns the GTIDs that the server has executed.
fn executed(server: &Server) -> String {
    ask(server, "SELECT @@global.gtid_executed")
}

/// Returns the GTIDs that `server` has and `other` has not.
fn beyond(server: &Server, other: &Server) -> String {
    ask(server, &format!("SELECT GTID_SUBTRACT(@@global.gtid_executed, '{}')", executed(other)))
}

/// Waits until the server has executed a set of GTIDs.
fn wait_for(server: &Server, gtids: &str) {
    let sql = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', {})", SOON.as_secs());
    assert_eq!(ask(server, &sql), "0", "{}: {gtids} do not come\n{}", server.flavor(), server.log_tail());
}

/// Lets a replica apply everything that it has received of a source that is gone.
fn apply_the_relay_log(replica: &Replica) {
    replica.stop_thread(Thread::Io);
    let shown = replica.run("SHOW REPLICA STATUS");
    let received = shown.text(0, "Retrieved_Gtid_Set").expect("the column").replace('\n', "");
    wait_for(replica, &received);
}

fn follow(replica: &Replica, source: &Server) {
    replica.run("STOP REPLICA");
    replica.follow(source.flavor(), source.port(), &StartFrom::Gtid);
}

/// Makes a replica the source: first it takes from the other replica what that one alone has
/// received.
fn promote(candidate: &Replica, other: &Replica) {
    apply_the_relay_log(candidate);
    apply_the_relay_log(other);
    if !beyond(other, candidate).is_empty() {
        follow(candidate, other);
        wait_for(candidate, &executed(other));
    }
    candidate.run("STOP REPLICA");
    candidate.run("RESET REPLICA ALL");
    candidate.run("SET GLOBAL super_read_only = OFF");
    candidate.run("SET GLOBAL read_only = OFF");
    become_source(candidate);
    follow(other, candidate);
}

/// Makes every commit of the server wait for a replica.
fn become_source(server: &Server) {
    server.run("SET GLOBAL rpl_semi_sync_source_timeout = 600000");
    server.run("SET GLOBAL rpl_semi_sync_source_enabled = ON");
}

/// Makes the server follow a source as a replica that acknowledges and takes no writes.
fn become_replica(replica: &Replica, source: &Server) {
    if replica.flavor() == Flavor::MySql {
        replica.run("INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'");
    }
    replica.run("SET GLOBAL rpl_semi_sync_replica_enabled = ON");
    replica.run("SET GLOBAL super_read_only = ON");
    replica.follow(source.flavor(), source.port(), &StartFrom::Gtid);
}

fn wait_for_acknowledging(source: &Server, replicas: u32) {
    let wanted = format!("Rpl_semi_sync_source_clients\t{replicas}");
    let clock = Stopwatch::start();
    while ask(source, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_clients'") != wanted {
        assert!(clock.elapsed() < SOON, "the replicas do not come\n{}", source.log_tail());
        sleep(Duration::from_millis(10));
    }
}

/// Waits until clients of a source have committed so many transactions more.
#[track_caller]
fn wait_for_commits(source: &Server, ledger: &Ledger, more: u64) {
    let (before, clock) = (ledger.acknowledged(), Stopwatch::start());
    while ledger.acknowledged() < before + more {
        if clock.elapsed() > SOON {
            let sessions = source.rows("SHOW PROCESSLIST");
            let semi_sync = source.rows("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source%'");
            panic!("the clients stand still: {sessions:#?}, {semi_sync:#?}\n{}", source.log_tail());
        }
        sleep(Duration::from_millis(1));
    }
}

/// The way of the clients: haproxy, which finds the source by `/ready?role=source`, or, where there
/// is no haproxy, the server that is named.
struct Balancer {
    port: Port,
    _haproxy: Running,
    file: std::path::PathBuf,
}

impl Balancer {
    fn start(members: [&Member; 2]) -> Option<Balancer> {
        if !tool_available("failover (through haproxy)", "haproxy") {
            return None;
        }
        let port = Port::reserve().unwrap_or_else(|error| panic!("{error}"));
        let servers = members.map(|member| {
            let (sql, check) = (member.server.port(), member.check.number());
            format!(
                "    server port{sql} 127.0.0.1:{sql} check port {check} inter 100ms fall 1 rise 1 \
                 on-marked-down shutdown-sessions\n"
            )
        });
        let text = format!(
            "defaults\n    mode tcp\n    timeout connect 10s\n    timeout client 600s\n    timeout server 600s\n    timeout check 10s\n\
             listen source\n    bind 127.0.0.1:{}\n    option httpchk\n    \
             http-check send meth GET uri /ready?role=source\n    http-check expect status 200\n{}",
            port.number(),
            servers.concat()
        );
        let file = std::env::temp_dir().join(format!("slipstream-failover-{}.cfg", port.number()));
        os::disk::real().write_atomically(&file, text.as_bytes()).expect("a configuration");
        let haproxy = Running::start(Command::new("haproxy").arg("-f").arg(&file));
        Some(Balancer { port, _haproxy: haproxy, file })
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.file);
    }
}

/// Returns how clients reach the source, after waiting until a client arrives there.
fn way_to(source: &Server, balancer: Option<&Balancer>) -> ConnectOptions {
    let Some(balancer) = balancer else { return source.connect_options() };
    let options = ConnectOptions::tcp("127.0.0.1", balancer.port.number()).user(USER, USER);
    let wanted = source.settings().server_id.to_string();
    let reached = || Client::connect(&options).ok()?.query("SELECT @@server_id").ok()?.cell(0, 0);
    let clock = Stopwatch::start();
    while reached().as_ref() != Some(&wanted) {
        assert!(clock.elapsed() < SOON, "haproxy does not find server {wanted}: {:?}", reached());
        sleep(Duration::from_millis(20));
    }
    options
}

fn other_replica(test: &str) -> Replica {
    let has_mysql = testkit::available(&format!("{test} (with MySQL)"), &[Flavor::MySql]);
    let flavor = if has_mysql { Flavor::MySql } else { Flavor::Slipstream };
    Replica::start(flavor, &Settings { server_id: 3, ..Settings::default() })
}

/// Compares the ledgers of all servers, after each replica has what the source has.
fn are_equal(source: &Server, replicas: [&Replica; 2]) {
    let gtids = executed(source).replace('\n', "");
    for replica in replicas {
        wait_for(replica, &gtids);
        assert_eq!(beyond(replica, source), "", "{} has more than its source", replica.flavor());
        for sql in ROWS {
            replica.equals_by(source, sql);
        }
    }
}

#[test]
fn a_replica_is_promoted_when_its_source_dies_under_load() {
    let mut rng = Rng::new(test_seed("failover"));
    let (mut old, mut new) = (Member::start(1), Member::start(2));
    let other = other_replica("failover::a_replica_is_promoted_when_its_source_dies_under_load");
    let ledger = Ledger::create(&old.server, 4);
    become_replica(&new.server, &old.server);
    become_replica(&other, &old.server);
    wait_for_acknowledging(&old.server, 2);
    become_source(&old.server);

    for round in 0..testkit::times("SLIPSTREAM_FAILOVERS", 2) {
        let balancer = Balancer::start([&old, &new]);
        let working = ledger.work_at(&way_to(&old.server, balancer.as_ref()));
        wait_for_commits(&old.server, &ledger, rng.between(20, 200));
        if round % 2 == 0 {
            // From here on only the other replica acknowledges, so that it alone has the last
            // commits.
            new.server.stop_thread(Thread::Io);
            wait_for_commits(&old.server, &ledger, rng.between(1, 50));
        }
        old.server.kill();
        working.end();
        promote(&new.server, &other);
        let commits = ledger.check(&new.server);

        let working = ledger.work_at(&way_to(&new.server, balancer.as_ref()));
        wait_for_commits(&new.server, &ledger, 50);
        old.come_back_read_only();
        // What the old source logged and nobody received was never acknowledged. Nobody else will
        // ever have it, so the server that has it must not go on as a replica.
        let alone = beyond(&old.server, &new.server);
        println!("death {round}: {commits} commits are there; the old source alone has '{alone}'");
        if !alone.is_empty() {
            drop(old);
            old = Member::start(1 + 10 * (round as u32 + 1));
        }
        become_replica(&old.server, &new.server);
        wait_for_commits(&new.server, &ledger, 50);
        working.end();
        ledger.check(&new.server);
        are_equal(&new.server, [&old.server, &other]);
        std::mem::swap(&mut old, &mut new);
    }
}

#[test]
fn transactions_that_died_with_their_source_are_told_apart_when_it_comes_back() {
    let (mut old, new) = (Member::start(1), Member::start(2));
    let other = other_replica("failover::transactions_that_died_with_their_source");
    old.server.run("CREATE DATABASE d");
    old.server.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    become_replica(&new.server, &old.server);
    become_replica(&other, &old.server);
    wait_for_acknowledging(&old.server, 2);
    become_source(&old.server);
    old.server.run("INSERT INTO d.t VALUES (1)");
    for replica in [&new.server, &other] {
        wait_for(replica, &executed(&old.server));
        replica.stop_thread(Thread::Io);
    }
    let received = executed(&old.server);
    let mut session = old.server.connect();
    let waiting = os::thread::spawn("commits_alone", move || {
        session.query("INSERT INTO d.t VALUES (2)").expect_err("nobody acknowledges it");
    });
    let clock = Stopwatch::start();
    while ask(&old.server, "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_wait_sessions'")
        != "Rpl_semi_sync_source_wait_sessions\t1"
    {
        assert!(clock.elapsed() < SOON, "the commit does not wait for a replica");
        sleep(Duration::from_millis(5));
    }
    old.server.kill();
    waiting.join().expect("the client learns that its server is gone");

    promote(&new.server, &other);
    assert_eq!(executed(&new.server), received, "the new source has everything that was acknowledged");
    old.come_back_read_only();
    assert_eq!(old.server.rows("SELECT id FROM d.t"), ["1", "2"], "the old source logged the commit");
    let uuid = ask(&old.server, "SELECT @@server_uuid");
    let last = received.rsplit(['-', ':']).next().and_then(|last| last.parse::<u64>().ok());
    let alone = format!("{uuid}:{}", last.expect("the number of the last GTID") + 1);
    assert_eq!(beyond(&old.server, &new.server), alone);
    // No source refuses a replica that has them, MySQL's neither, so the replica says it.
    become_replica(&old.server, &new.server);
    let told = format!("this server has transactions that its source does not have: '{alone}'");
    let clock = Stopwatch::start();
    while !std::fs::read_to_string(old.server.error_log()).expect("the error log").contains(&told) {
        assert!(clock.elapsed() < SOON, "nothing is told: {}", old.server.log_tail());
        sleep(Duration::from_millis(20));
    }
}
