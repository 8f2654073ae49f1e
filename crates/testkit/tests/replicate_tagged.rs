//! Tests of GTIDs with a tag (MySQL 8.3 and later): how they are received, kept, logged and given.

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use protocol::client::Client;
use testkit::following::{By, Pair};
use testkit::{Replica, Server};

fn executed(server: &Server) -> String {
    server.rows("SELECT @@GLOBAL.gtid_executed").remove(0)
}

fn run(client: &mut Client, statements: &[&str]) {
    for sql in statements {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Runs transactions with tags, without one, under a given GTID, and an empty one.
fn tagged_work(server: &Server, from: u32) {
    let mut client = server.connect();
    let insert = |id: u32| format!("INSERT INTO d.t VALUES ({})", from + id);
    run(&mut client, &["SET gtid_next = 'AUTOMATIC:Tag_a'", &insert(1), &insert(2)]);
    run(&mut client, &["SET gtid_next = 'AUTOMATIC'", &insert(3)]);
    run(&mut client, &["SET gtid_next = 'AUTOMATIC:_b'", "BEGIN", &insert(4), &insert(5), "COMMIT"]);
    let given = format!("SET gtid_next = '11111111-2222-3333-4444-555555555555:zz:{}'", from + 7);
    run(&mut client, &[&given, &insert(6)]);
    let given = format!("SET gtid_next = '11111111-2222-3333-4444-555555555555:zz:{}'", from + 8);
    run(&mut client, &[&given, "BEGIN", "COMMIT", "SET gtid_next = 'AUTOMATIC'"]);
}

/// Returns how many transactions in the log have `wanted` in their GTID.
fn logged(server: &Server, wanted: &str) -> usize {
    let files = server.rows("SHOW BINARY LOGS");
    let count = |line: &String| {
        let file = line.split('\t').next().expect("a name");
        let events = server.rows(&format!("SHOW BINLOG EVENTS IN '{file}'"));
        let is_wanted =
            |event: &&String| event.contains("\tGtid_tagged_log_event\t") && event.contains(wanted);
        events.iter().filter(is_wanted).count()
    };
    files.iter().map(count).sum()
}

#[test]
fn from_mysql_and_on_to_mysql() {
    if !testkit::available("replicate_tagged::from_mysql_and_on_to_mysql", &[Flavor::MySql]) {
        return;
    }
    let settings = Settings { durable: false, replica_workers: 2, ..Settings::default() };
    let mut pair = Pair::start_with(Flavor::MySql, Flavor::Slipstream, &settings, By::Gtid);
    let last = Replica::start(Flavor::MySql, &Settings { server_id: 3, ..settings });
    last.follow(Flavor::Slipstream, pair.replica.port(), &StartFrom::Gtid);
    run(&mut pair.source.connect(), &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    tagged_work(&pair.source, 0);
    pair.replica.catch_up(&pair.source);
    assert_eq!(executed(&pair.replica), executed(&pair.source));
    // The replica asks for everything that it does not have, with regard to tags.
    pair.replica.stop_thread(Thread::Io);
    tagged_work(&pair.source, 100);
    pair.source.run("FLUSH BINARY LOGS");
    tagged_work(&pair.source, 200);
    pair.replica.start_thread(Thread::Io);
    pair.replica.catch_up(&pair.source);
    assert_eq!(executed(&pair.replica), executed(&pair.source));
    for (tag, count) in [(":tag_a:", 6), (":_b:", 3), (":zz:", 6)] {
        assert_eq!((logged(&pair.source, tag), logged(&pair.replica, tag)), (count, count), "{tag}");
    }

    // Everything is there after a crash, and new numbers come after the old ones.
    pair.replica.kill();
    pair.replica.come_back();
    assert_eq!(executed(&pair.replica), executed(&pair.source));
    tagged_work(&pair.replica, 300);
    last.catch_up(&pair.replica);
    assert_eq!(executed(&last), executed(&pair.replica));
    let counted = "SELECT COUNT(*), SUM(id) FROM d.t";
    assert_eq!(last.rows(counted), pair.replica.rows(counted));
}

#[test]
fn numbers_go_on_by_tag() {
    let mut server = Server::start(Flavor::Slipstream, &Settings::default());
    let uuid = server.rows("SELECT @@server_uuid").remove(0);
    run(&mut server.connect(), &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let own = |server: &Server| {
        let all = executed(server);
        all.lines()
            .find_map(|line| line.split_once(&*uuid))
            .expect("some of ours")
            .1
            .trim_end_matches(',')
            .to_string()
    };
    let before = own(&server);
    tagged_work(&server, 0);
    let (first, last) = before.rsplit_once('-').expect("an interval");
    let next: u64 = last.parse::<u64>().expect("a number") + 1;
    assert_eq!(own(&server), format!("{first}-{next}:_b:1:tag_a:1-2"));
    let mut client = server.connect();
    run(&mut client, &[&format!("SET gtid_next = '{uuid}:tag_a:9'"), "INSERT INTO d.t VALUES (50)"]);
    run(&mut client, &["SET gtid_next = 'AUTOMATIC:TAG_A'", "INSERT INTO d.t VALUES (51)"]);
    // The transaction gets the smallest free number, as in MySQL.
    let expected = format!("{first}-{next}:_b:1:tag_a:1-3:9");
    assert_eq!(own(&server), expected);
    assert_eq!(client.query("SELECT @@gtid_next").unwrap().cell(0, 0).as_deref(), Some("AUTOMATIC:tag_a"));
    for crash in [true, false] {
        if crash {
            server.kill()
        } else {
            server.shut_down()
        }
        server.come_back();
        assert_eq!(own(&server), expected);
    }
}

/// The results are compared with MySQL if it is available.
#[test]
fn functions_and_refusals_know_tags() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut peers = Vec::new();
    if testkit::available("replicate_tagged::functions_and_refusals_know_tags", &[Flavor::MySql]) {
        peers.push(Server::start(Flavor::MySql, &Settings::default()));
    }
    let a = "11111111-2222-3333-4444-555555555555";
    let b = "21111111-2222-3333-4444-555555555555";
    for expression in [
        format!("GTID_SUBSET('{a}:zz:7:1-5', '{a}:zz:7:8:6-9:aa:1-5:9:zz:1-3')"),
        format!("GTID_SUBSET('{a}:ZZ:7', '{a}:zz:7:8:6-9:aa:1-5')"),
        format!("GTID_SUBSET('{a}:7', '{a}:zz:7')"),
        format!("GTID_SUBTRACT('{b}:2,{a}:zz:7:8:6-9:aa:1-5:9:zz:1-3,{a}:1-3:5', '{a}:zz:7')"),
        format!("GTID_SUBTRACT('{a} : 1 - 3 : A : 4 , {b}:_:1', '{a}:2:a:1-9')"),
        format!("WAIT_FOR_EXECUTED_GTID_SET('{a}:zz:1', 0.01)"),
    ] {
        let ours = server.rows(&format!("SELECT {expression}"));
        for peer in &peers {
            assert_eq!(ours, peer.rows(&format!("SELECT {expression}")), "{expression}");
        }
    }
    for value in ["AUTOMATIC:1a", "AUTOMATIC:", "AUTOMATIC:a-b", &format!("{a}:zz:7:8"), &format!("{a}:zz")] {
        let statement = format!("SET gtid_next = '{value}'");
        let ours = server.refuses(&statement);
        assert_eq!(ours.0, 1774, "{statement}: {}", ours.1);
        for peer in &peers {
            assert_eq!(ours, peer.refuses(&statement), "{statement}");
        }
    }
}
