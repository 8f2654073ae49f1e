//! Tests of clients that fall silent: they do not read what they are sent, or stop in the middle of
//! what they send. Their sessions end, and what the sessions held is free. A real MySQL gets the
//! same clients and must treat them the same.

use bench::instance::Settings;
use os::clock::Stopwatch;
use protocol::client::Client;
use std::net::Ipv4Addr;
use std::time::Duration;
use testkit::Server;
use testkit::caller::{Caller, Said};
use testkit::server::same_as_mysql;

/// The rows have 60 000 bytes, so that their result is larger than what sockets take in advance.
const SETUP: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.n (n INT PRIMARY KEY)",
    "INSERT INTO d.n VALUES (0), (1), (2), (3), (4), (5), (6), (7)",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, s MEDIUMTEXT)",
    "INSERT INTO d.t SELECT a.n * 8 + b.n, 0, REPEAT('x', 60000) FROM d.n a, d.n b",
    "CREATE USER u",
    "CREATE USER p IDENTIFIED BY 'secret'",
    "GRANT ALL ON d.* TO u",
];

/// Returns the last cell of a query's first row. The session stays open, because one that goes
/// without COM_QUIT would be counted too.
fn cell(client: &mut Client, query: &str) -> Option<String> {
    let result = client.query(query).unwrap_or_else(|e| panic!("{query}: {e}"));
    result
        .rows
        .first()
        .and_then(|row| row.last()?.as_ref().map(|text| String::from_utf8_lossy(text).into_owned()))
}

fn aborted(client: &mut Client) -> u64 {
    let count = cell(client, "SHOW GLOBAL STATUS LIKE 'Aborted_clients'");
    count.and_then(|n| n.parse().ok()).expect("a number")
}

/// Returns a session that makes the tables and watches the other sessions.
fn watcher(server: &Server) -> Client {
    let mut client = server.connect();
    for statement in SETUP {
        client.query(statement).unwrap_or_else(|e| panic!("{statement}: {e}"));
    }
    client.query("SET innodb_lock_wait_timeout = 120").expect("a variable of the session");
    client
}

/// Returns a client that has changed a row and not committed.
fn begin(server: &Server, settings: &str) -> Caller {
    let mut caller = Caller::of_small_buffer(Ipv4Addr::LOCALHOST, server.port());
    assert_eq!(caller.log_in("u", ""), Said::Ok);
    for statement in [settings, "BEGIN", "UPDATE d.t SET v = v + 1 WHERE id = 1"] {
        caller.command(&[b"\x03", statement.as_bytes()].concat());
        assert_eq!(caller.hear(), Said::Ok, "{statement}");
    }
    caller
}

/// Waits for the silent client's row lock. Returns the row's value once the lock is free, and the
/// number of aborted clients once the client is no longer listed.
fn wait_for_lock(watcher: &mut Client, aborted_before: u64) -> String {
    let row = cell(watcher, "SELECT v FROM d.t WHERE id = 1 FOR UPDATE");
    let watch = Stopwatch::start();
    let lists = "SELECT id FROM information_schema.processlist WHERE user = 'u'";
    while cell(watcher, lists).is_some() || aborted(watcher) == aborted_before {
        assert!(watch.elapsed() < Duration::from_secs(60), "the client stays");
    }
    format!("v = {row:?}, {} more aborted", aborted(watcher) - aborted_before)
}

#[test]
fn a_client_that_reads_nothing_of_a_long_result_loses_its_session() {
    let answers = same_as_mysql("net_write_timeout", &Settings::default(), |server| {
        let mut watcher = watcher(server);
        let before = aborted(&mut watcher);
        let mut caller = begin(server, "SET net_write_timeout = 1, wait_timeout = 1000");
        caller.command(b"\x03SELECT s, s, s, s, s, s, s, s FROM d.t");
        let freed = wait_for_lock(&mut watcher, before);
        // Rows that were on their way may still come, but not the end of the rows.
        let mut rows = 0;
        let last = loop {
            match caller.hear() {
                Said::Packet(packet) if packet.len() > 60_000 => rows += 1,
                Said::Packet(_) => {}
                other => break other,
            }
        };
        vec![freed, format!("{last:?}, all rows: {}", rows == 64)]
    });
    assert_eq!(answers, ["v = Some(\"0\"), 1 more aborted", "Nothing, all rows: false"]);
}

/// A way in which a client stops talking: its name, the session's settings, and what the client
/// does.
type Stop = (&'static str, &'static str, fn(&mut Caller));

const STOPS: &[Stop] = &[
    ("idle", "SET wait_timeout = 1, net_read_timeout = 1000", |_| ()),
    ("half a header", "SET wait_timeout = 1, net_read_timeout = 1000", |c| c.shout(b"\x20\0")),
    ("a header", "SET wait_timeout = 1, net_read_timeout = 1000", |c| c.shout(b"\x20\0\0\0")),
    ("half a command", "SET wait_timeout = 1, net_read_timeout = 1000", |c| c.shout(b"\x20\0\0\0\x03SEL")),
    ("no answer to a challenge", "SET wait_timeout = 1000, net_read_timeout = 1", |c| {
        c.command(b"\x11p\0\0\0\xff\0caching_sha2_password\0");
        assert!(matches!(c.hear(), Said::Packet(_)), "a challenge comes first");
    }),
    ("the end, for the ear", "SET wait_timeout = 1000", |c| c.stop_talking()),
    ("the end within a command", "SET wait_timeout = 1000", |c| {
        c.shout(b"\x20\0\0\0\x03SEL");
        c.stop_talking();
    }),
    ("the end within a header", "SET wait_timeout = 1000", |c| {
        c.shout(b"\x20\0");
        c.stop_talking();
    }),
];

#[test]
fn a_client_that_stops_talking_is_told_and_loses_its_session() {
    let answers = same_as_mysql("net_read_timeout", &Settings::default(), |server| {
        let mut watcher = watcher(server);
        let play = |(what, settings, stop): &Stop| {
            let before = aborted(&mut watcher);
            let mut caller = begin(server, settings);
            stop(&mut caller);
            let freed = wait_for_lock(&mut watcher, before);
            format!("{what}: {freed}: {:?}, {:?}", caller.hear(), caller.hear())
        };
        STOPS.iter().map(play).collect()
    });
    let codes = ["4031", "4031", "1159", "1159", "1159", "1158", "1158", "1158"];
    for (answer, code) in answers.iter().zip(codes) {
        assert!(answer.contains(&format!("v = Some(\"0\"), 1 more aborted: Error({code},")), "{answer}");
    }
}
