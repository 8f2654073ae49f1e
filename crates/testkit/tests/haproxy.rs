//! Tests that haproxy sends clients by `/ready`: not to a replica that lags.

use std::process::Command;

use bench::instance::{Flavor, Port, Settings, USER};
use bench::replication::{StartFrom, Thread};
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ConnectOptions};
use testkit::http::address_of;
use testkit::running::Running;
use testkit::server::SOON;
use testkit::{Replica, Server, tool_available};

/// The lag in milliseconds at which haproxy takes a replica out.
const MOST_LAG_MS: u32 = 1000;

fn replica(server_id: u32, source: &Server) -> Replica {
    let mut settings = Settings { server_id, ..Settings::default() };
    settings.extra.push("--http-address=127.0.0.1:0".to_owned());
    let replica = Replica::start(Flavor::Slipstream, &settings);
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    replica
}

/// Returns the configuration with which haproxy shares its clients among the replicas, and asks
/// each ten times a second whether it is ready.
fn configuration(port: u16, replicas: [&Replica; 2]) -> String {
    let servers = replicas.map(|replica| {
        let check = address_of(replica).port();
        format!(
            "    server port{0} 127.0.0.1:{0} check port {check} inter 100ms fall 1 rise 1\n",
            replica.port()
        )
    });
    format!(
        "defaults\n    mode tcp\n    timeout connect 10s\n    timeout client 60s\n    timeout server 60s\n\
         listen replicas\n    bind 127.0.0.1:{port}\n    balance roundrobin\n    option httpchk\n    \
         http-check send meth GET uri /ready?max_lag_ms={MOST_LAG_MS}&role=replica\n    \
         http-check expect status 200\n{}",
        servers.concat()
    )
}

/// Returns the server ids that clients come to, one after the other, or `None` for a client that is
/// sent nowhere.
fn reached(port: u16, clients: usize) -> Vec<Option<u32>> {
    let come = || {
        let options = ConnectOptions::tcp("127.0.0.1", port).user(USER, USER);
        let shown = Client::connect(&options).ok()?.query("SELECT @@server_id").ok()?;
        shown.cell(0, 0)?.parse().ok()
    };
    (0..clients).map(|_| come()).collect()
}

/// Waits until clients come to exactly these servers.
fn wait_until_reached(port: u16, wanted: &[u32]) {
    let clock = Stopwatch::start();
    loop {
        let mut seen = reached(port, 8);
        seen.sort_unstable();
        seen.dedup();
        if seen == wanted.iter().map(|&id| Some(id)).collect::<Vec<_>>() {
            return;
        }
        assert!(clock.elapsed() < SOON, "clients come to {seen:?}, and not to {wanted:?}");
        sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_replica_that_lags_gets_no_connection() {
    if !tool_available("a_replica_that_lags_gets_no_connection", "haproxy") {
        return;
    }
    let source = Server::start(Flavor::Slipstream, &Settings { server_id: 1, ..Settings::default() });
    let (one, other) = (replica(2, &source), replica(3, &source));
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    one.catch_up(&source);
    other.catch_up(&source);
    let port = Port::reserve().unwrap_or_else(|error| panic!("{error}"));
    let file = std::env::temp_dir().join(format!("slipstream-haproxy-{}.cfg", port.number()));
    let text = configuration(port.number(), [&one, &other]);
    os::disk::real().write_atomically(&file, text.as_bytes()).expect("a configuration");
    let _haproxy = Running::start(Command::new("haproxy").arg("-f").arg(&file));
    wait_until_reached(port.number(), &[2, 3]);

    other.stop_thread(Thread::Sql);
    source.run("INSERT INTO d.t VALUES (1)");
    wait_until_reached(port.number(), &[2]);
    assert_eq!(reached(port.number(), 50), [Some(2); 50], "the other replica lags all the time");

    other.start_thread(Thread::Sql);
    wait_until_reached(port.number(), &[2, 3]);
    std::fs::remove_file(&file).expect("the configuration");
}
