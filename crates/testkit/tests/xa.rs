//! Tests of XA transactions: what sessions are answered and what the binary log gets is compared
//! with MySQL, and servers are killed between the phases.

use bench::instance::{Flavor, Settings};
use binlog::event::{Event, event_type};
use os::random::{Rng, test_seed};
use protocol::client::{Client, ClientError};
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::{Server, available, binlog_events};

/// Runs a statement and returns its outcome in one line.
fn outcome(client: &mut Client, sql: &str) -> String {
    let text = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_string(),
    };
    match client.query(sql) {
        Ok(result) => {
            let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(text).collect::<Vec<_>>().join(",");
            format!("ok [{}]", result.rows.iter().map(row).collect::<Vec<_>>().join("; "))
        }
        Err(ClientError::Server(error)) => {
            format!("{} ({}): {}", error.code, String::from_utf8_lossy(&error.state), error.message)
        }
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// The statements of two sessions. A line that begins with `2:` belongs to the second one.
const CONVERSATION: &str = "
    xa start 'a'; xa start 'b'; begin; commit; rollback; insert into d.t values (4, 40); create table d.x (a int); set autocommit = 1;
    truncate d.t; lock tables d.t read; set gtid_next = 'automatic'; set sql_log_bin = 0; set xa_detach_on_prepare = 0;
    xa prepare 'a'; xa commit 'a'; xa commit 'a' one phase; xa rollback 'a'; xa commit 'z'; xa end 'z'; xa end 'a' suspend; savepoint s;
    insert into d.t values (5, 50); rollback to s; xa end 'a';
    select * from d.t; insert into d.t values (6, 60); savepoint s; rollback to s; xa start 'a'; xa commit 'a'; xa prepare 'z'; select 1; begin; rollback;
    2: xa start 'a'; xa commit 'a'; xa rollback 'a'; xa recover;
    xa prepare 'a'; select id from d.t; xa recover; xa recover convert xid; xa start 'a'; xa end 'a'; xa prepare 'a';
    2: set innodb_lock_wait_timeout = 1; update d.t set v = 0 where id = 4; select v from d.t where id = 1 for update; rollback;
    begin; xa start 'c'; xa commit 'a'; xa rollback 'a'; xa recover; commit;
    2: xa commit 'a';
    xa commit 'a'; xa rollback 'a'; select * from d.t;
    xa start 'a', 'bq', 77; insert into d.t values (7, 7); xa end 'a', 'bq', 77; xa commit 'a', 'bq', 77; xa rollback 'a', 'bq', 77;
    xa start X'00ff', 'b', 3; insert into d.t values (7, 7); xa end X'00ff', 'b', 3; xa prepare X'00ff', 'b', 3; xa recover; xa recover convert xid;
    xa rollback X'00ff', 'b', 3;
    xa start 'one'; insert into d.t values (8, 8); xa end 'one'; xa commit 'one' one phase;
    xa start 'e'; xa end 'e'; xa prepare 'e'; xa recover; xa commit 'e'; xa recover;
    xa start 'r'; select * from d.t; xa end 'r'; xa prepare 'r'; xa rollback 'r';
    xa start 'n'; xa end 'n'; xa commit 'n' one phase;
    xa start 'j' join; xa start 'j' resume; xa start 'j'; xa end 'j'; xa start 'x' resume; xa start 'j' resume; xa start 'j' join;
    xa end 'j' suspend for migrate; xa end 'j'; xa rollback 'j';
    xa start ''; xa end ''; xa rollback '';
    xa start '0123456789012345678901234567890123456789012345678901234567890123'; xa end '0123456789012345678901234567890123456789012345678901234567890123';
    xa rollback '0123456789012345678901234567890123456789012345678901234567890123';
    xa start 'f', '', 2147483647; insert into d.t values (70, 70); xa end 'f', '', 2147483647; xa prepare 'f', '', 2147483647; xa recover;
    xa rollback 'f', '', 2147483647;
    xa start 0x61; xa end b'1100001'; xa rollback 'a';
    set autocommit = 0; insert into d.t values (30, 3); xa start 'x'; rollback; select 1; xa start 'x'; xa end 'x'; xa rollback 'x'; select * from d.u;
    xa start 'x'; rollback; set autocommit = 1;
    set xa_detach_on_prepare = 0; xa start 'nd'; insert into d.t values (40, 4); xa end 'nd'; xa prepare 'nd'; select 1; insert into d.t values (41, 4);
    2: xa recover; xa commit 'nd'; xa rollback 'nd';
    xa start 'x'; begin; commit; xa end 'nd'; xa prepare 'nd'; xa commit 'nd' one phase; xa commit 'nd'; xa commit 'nd'; set xa_detach_on_prepare = 1;
    lock tables d.t write; xa start 'lt'; unlock tables;
    set transaction read only; xa start 'ro'; insert into d.t values (50, 1); xa end 'ro'; xa rollback 'ro';
    xa start 'dd'; create user nobody@localhost; flush tables; xa end 'dd'; xa rollback 'dd';
    prepare p from 'xa start ''p'''; xa start a; xa start 'a', ''; xa rollback 'a'; xa end 'a'; xa rollback 'a';
    set gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:1'; xa start 'g'; insert into d.t values (60, 6); xa end 'g'; xa prepare 'g'; xa start 'h';
    xa rollback 'g'; set gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:2'; xa commit 'g'; set gtid_next = 'automatic';
    select * from d.t; xa recover
";

fn converse(server: &Server) -> Vec<String> {
    let mut sessions = [server.connect(), server.connect()];
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE d.u (v INT)",
        "INSERT INTO d.t VALUES (1, 10), (2, 20), (3, 30)",
    ] {
        sessions[0].query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let mut said = Vec::new();
    for line in CONVERSATION.lines() {
        let (session, line) = match line.trim().strip_prefix("2:") {
            Some(line) => (1, line),
            None => (0, line),
        };
        for sql in line.split(';').map(str::trim).filter(|sql| !sql.is_empty()) {
            said.push(format!("{session} {sql}: {}", outcome(&mut sessions[session], sql)));
        }
    }
    said.extend(deadlock(server));
    said
}

/// Tests that an XA transaction that a deadlock rolls back stays with its session until the session
/// rolls it back too.
fn deadlock(server: &Server) -> Vec<String> {
    let (mut heavy, mut light) = (server.connect(), server.connect());
    heavy.query("BEGIN").expect("a transaction");
    heavy.query("INSERT INTO d.u VALUES (1), (2), (3), (4), (5), (6), (7), (8)").expect("it weighs more");
    heavy.query("UPDATE d.t SET v = v + 1 WHERE id = 1").expect("it is free");
    let mut said = Vec::new();
    let mut say = |client: &mut Client, sql: &str| said.push(format!("{sql}: {}", outcome(client, sql)));
    say(&mut light, "xa start 'd'");
    say(&mut light, "update d.t set v = v + 1 where id = 2");
    let other = os::thread::spawn("heavy", move || {
        heavy.query("UPDATE d.t SET v = v + 1 WHERE id = 2").expect("it is the heavier one");
        heavy.query("ROLLBACK").expect("it ends");
    });
    for sql in [
        "update d.t set v = v + 1 where id = 1",
        "insert into d.t values (90, 1)",
        "select 1",
        "xa start 'q'",
        "begin",
        "xa prepare 'd'",
        "xa end 'd'",
        "xa end 'd'",
        "xa commit 'd' one phase",
        "xa rollback 'd'",
        "select 1 from d.t where id = 1",
    ] {
        say(&mut light, sql);
    }
    other.join().expect("it ended");
    said
}

/// Returns what is compared of each event.
fn logged(server: &Server) -> Vec<String> {
    server.run("FLUSH BINARY LOGS");
    let events = binlog_events::of(server);
    let shown = events.iter().filter_map(|event| {
        let (header, decoded) = event.decode();
        Some(match decoded {
            Event::Query(query) if query.statement.starts_with(b"XA") => {
                let status = query.status().expect("they decode");
                let text = String::from_utf8_lossy(query.statement);
                format!(
                    "{text} flags {} schema {:?} {:?} {:?}",
                    header.flags, query.schema, status.flags2, status.sql_mode
                )
            }
            Event::XaPrepare(_) => format!("XA_PREPARE flags {} {:?}", header.flags, event.body()),
            Event::Gtid(gtid) => format!("GTID {}", gtid.flags),
            Event::TableMap(_) | Event::Rows(_) | Event::Xid(_) => event_type::name(event.kind()).to_string(),
            _ => return None,
        })
    });
    shown.collect()
}

#[test]
fn sessions_and_the_binary_log_are_mysqls() {
    if !available("xa::sessions_and_the_binary_log_are_mysqls", &[Flavor::MySql]) {
        return;
    }
    let [theirs, ours] = [Flavor::MySql, Flavor::Slipstream].map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        (converse(&server), logged(&server))
    });
    for (theirs, ours) in theirs.0.iter().zip(&ours.0) {
        assert_eq!(ours, theirs);
    }
    let from = |log: &[String]| log[log.iter().position(|line| line.starts_with("XA")).unwrap()..].to_vec();
    let (theirs, ours) = (from(&theirs.1), from(&ours.1));
    assert!(theirs.iter().filter(|line| line.starts_with("XA_PREPARE")).count() > 5, "{theirs:?}");
    assert_eq!(ours, theirs);
}

#[test]
fn who_may_see_prepared_transactions() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE USER u@localhost IDENTIFIED BY 'u'");
    server.run("GRANT SELECT ON *.* TO u@localhost");
    let options = server.connect_options().user("u", "u");
    let mut client = Client::connect(&options).expect("it may come in");
    assert!(outcome(&mut client, "XA RECOVER").starts_with("1401 (XAE03): XAER_RMERR"));
    server.run("GRANT XA_RECOVER_ADMIN ON *.* TO u@localhost");
    let mut client = Client::connect(&options).expect("it may come in");
    assert_eq!(outcome(&mut client, "XA RECOVER"), "ok []");
}

const ACCOUNTS: u64 = 40;
const CLIENTS: u64 = 4;

/// Moves money between two accounts in one XA transaction after another, until the server is gone.
fn transfer(mut client: Client, number: u64, seed: u64) {
    let mut rng = Rng::new(seed);
    for turn in 0.. {
        let xid = format!("'c{number}', '{seed}-{turn}'");
        let (from, to) = (rng.below(ACCOUNTS), rng.below(ACCOUNTS));
        let statements = [
            format!("XA START {xid}"),
            format!("UPDATE d.account SET balance = balance - 1 WHERE id = {from}"),
            format!("UPDATE d.account SET balance = balance + 1 WHERE id = {to}"),
            format!("INSERT INTO d.journal (client, turn) VALUES ({number}, {turn})"),
            format!("XA END {xid}"),
            format!("XA PREPARE {xid}"),
            format!("XA {} {xid}", if rng.one_in(4) { "ROLLBACK" } else { "COMMIT" }),
        ];
        for sql in &statements {
            match client.query(sql) {
                Ok(_) => {}
                // After a deadlock, or a wait for a lock that a prepared transaction holds, the
                // transaction is given up.
                Err(ClientError::Server(error)) if [1213, 1205].contains(&error.code) => {
                    let _ = client.query(&format!("XA END {xid}"));
                    if client.query(&format!("XA ROLLBACK {xid}")).is_err() {
                        return;
                    }
                    break;
                }
                Err(ClientError::Server(error)) => panic!("{sql}: {error:?}"),
                Err(_) => return,
            }
        }
    }
}

#[test]
fn killed_between_the_phases() {
    const KILLS: u64 = 12;
    let mut rng = Rng::new(test_seed("killed_between_the_phases"));
    let settings = Settings { durable: true, ..Settings::default() };
    let mut server = Server::start(Flavor::Slipstream, &settings);
    server.run("CREATE DATABASE d");
    server.run(
        "CREATE TABLE d.account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, KEY balance (balance))",
    );
    // The table has no key, so recovery finds prepared rows again by their hidden row ids.
    server.run("CREATE TABLE d.journal (client INT, turn INT)");
    let values: Vec<String> = (0..ACCOUNTS).map(|id| format!("({id}, 100)")).collect();
    server.run(&format!("INSERT INTO d.account VALUES {}", values.join(", ")));
    let mut finished = 0;
    for kill in 1..=KILLS {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = server.connect();
                os::thread::spawn("client", move || transfer(client, number, kill))
            })
            .collect();
        os::clock::sleep(Duration::from_millis(rng.between(50, 300)));
        server.kill();
        clients.into_iter().for_each(|client| client.join().expect("a client lost its server"));
        server.come_back();
        let sums = "SELECT SUM(balance), COUNT(*) FROM d.account";
        let expected = [format!("{}\t{ACCOUNTS}", 100 * ACCOUNTS)];
        assert_eq!(server.rows(sums), expected, "after kill {kill}");
        let mut client = server.connect();
        let prepared = server.rows("XA RECOVER CONVERT XID");
        assert!(prepared.len() as u64 <= CLIENTS, "{prepared:?}");
        let mut by_client = BTreeMap::new();
        for row in &prepared {
            let cells: Vec<&str> = row.split('\t').collect();
            let [format_id, gtrid_len, _, data] = cells[..] else { panic!("{row}") };
            let (gtrid, bqual) = data[2..].split_at(2 * gtrid_len.parse::<usize>().expect("a length"));
            by_client.insert(gtrid.to_string(), ());
            let how = if rng.one_in(2) { "COMMIT" } else { "ROLLBACK" };
            client
                .query(&format!("XA {how} X'{gtrid}', X'{bqual}', {format_id}"))
                .unwrap_or_else(|error| panic!("{row}: {error}"));
            finished += 1;
        }
        assert_eq!(by_client.len(), prepared.len(), "a client has one at a time");
        assert_eq!(server.rows(sums), expected, "after finishing what kill {kill} left");
        assert_eq!(server.rows("CHECK TABLE d.account, d.journal").len(), 2);
    }
    println!("killed_between_the_phases: {KILLS} kills, {finished} prepared transactions finished");
}
