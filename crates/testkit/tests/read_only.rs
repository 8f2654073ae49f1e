//! Tests of what `read_only` and `super_read_only` keep from being committed, compared with MySQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError, ConnectOptions};
use testkit::Server;
use testkit::server::same_as_mysql;
use testkit::work::Work;

fn outcome(session: &mut Client, sql: &str) -> String {
    match session.query(sql) {
        Ok(shown) => {
            let rows: Vec<String> = (0..shown.rows.len()).filter_map(|row| shown.cell(row, 0)).collect();
            format!("{sql}: {rows:?}")
        }
        Err(ClientError::Server(error)) => format!("{sql}: {} {}", error.code, error.message),
        Err(broken) => panic!("{sql}: {broken}"),
    }
}

/// Begins a change, turns a variable on, and tries to end the change in each way.
fn changes_that_had_begun(server: &Server) -> Vec<String> {
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    server.run("CREATE USER ordinary IDENTIFIED BY 'o'");
    server.run("GRANT ALL ON d.* TO ordinary");
    let as_ordinary =
        ConnectOptions { user: "ordinary".into(), password: "o".into(), ..server.connect_options() };
    let mut lines = Vec::new();
    let ends = [
        &["COMMIT"][..],
        &["BEGIN"],
        &["ROLLBACK"],
        &["CREATE TABLE d.u (id INT)"],
        &["SELECT COUNT(*) FROM d.t", "COMMIT AND CHAIN"],
        &["SET autocommit = 1"],
    ];
    for variable in ["read_only", "super_read_only"] {
        for (account, options) in [("ordinary", &as_ordinary), ("kit", &server.connect_options())] {
            for end in ends {
                let mut session = Client::connect(options).expect("a session");
                let run = |session: &mut Client, sql: &str| {
                    session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                };
                run(&mut session, "SET autocommit = 0");
                run(&mut session, "INSERT INTO d.t VALUES (1)");
                server.run(&format!("SET GLOBAL {variable} = ON"));
                for sql in end {
                    lines.push(format!("{variable}, {account}: {}", outcome(&mut session, sql)));
                }
                lines.push(outcome(&mut session, "SELECT COUNT(*) FROM d.t"));
                drop(session);
                server.run("SET GLOBAL read_only = OFF");
                lines.push(format!("left: {:?}", server.rows("SELECT COUNT(*) FROM d.t")));
                server.run("DELETE FROM d.t");
                server.run("DROP TABLE IF EXISTS d.u");
            }
        }
        // A transaction that has only read, or has changed a temporary table alone, may end.
        let mut session = server.connect();
        for sql in ["CREATE TEMPORARY TABLE d.w (id INT)", "BEGIN", "INSERT INTO d.w VALUES (1)"] {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        server.run(&format!("SET GLOBAL {variable} = ON"));
        lines.push(outcome(&mut session, "COMMIT"));
        lines.push(outcome(&mut session, "SELECT COUNT(*) FROM d.w"));
        server.run("SET GLOBAL read_only = OFF");
    }
    lines
}

#[test]
fn a_change_that_had_begun_is_rolled_back_when_it_is_to_be_committed() {
    let name = "read_only::a_change_that_had_begun_is_rolled_back_when_it_is_to_be_committed";
    let lines = same_as_mysql(name, &Settings::default(), changes_that_had_begun);
    let refused = |line: &&String| line.contains(" COMMIT: 1290 ");
    assert_eq!(lines.iter().filter(refused).count(), 3, "{lines:#?}");
}

/// While sessions commit as fast as they can, the GTIDs that were executed stay what they are from
/// the moment when SET GLOBAL has answered.
fn nothing_is_committed_after_the_answer(server: &Server) {
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, n INT)");
    let commits = Arc::new(AtomicBool::new(false));
    let works = (0..4).map(|client| {
        let (options, commits) = (server.connect_options(), Arc::clone(&commits));
        move |ends: &AtomicBool| {
            let mut session = Client::connect(&options).expect("a session");
            while !ends.load(Ordering::Relaxed) {
                let change = if client % 2 == 0 {
                    session.query("INSERT INTO d.t (n) VALUES (1)").map(drop)
                } else {
                    let parts = ["BEGIN", "INSERT INTO d.t (n) VALUES (1)", "COMMIT"];
                    parts.iter().try_for_each(|sql| session.query(sql).map(drop))
                };
                match change {
                    Ok(()) => commits.store(true, Ordering::Relaxed),
                    Err(error) => assert_eq!(error.server_code(), Some(1290), "{error}"),
                }
            }
        }
    });
    let work = Work::start(works);
    let mut session = server.connect();
    let mut ask = |sql: &str| session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).cell(0, 0);
    for _round in 0..50 {
        while !commits.swap(false, Ordering::Relaxed) {
            std::thread::yield_now();
        }
        ask("SET GLOBAL super_read_only = ON");
        let before = ask("SELECT @@global.gtid_executed");
        let rows = ask("SELECT COUNT(*) FROM d.t");
        for _look in 0..20 {
            std::thread::yield_now();
            assert_eq!(ask("SELECT @@global.gtid_executed"), before);
        }
        assert_eq!(ask("SELECT COUNT(*) FROM d.t"), rows);
        ask("SET GLOBAL read_only = OFF");
        commits.store(false, Ordering::Relaxed);
    }
    drop(work);
}

#[test]
fn nothing_is_committed_once_super_read_only_is_on() {
    nothing_is_committed_after_the_answer(&Server::start(Flavor::Slipstream, &Settings::default()));
}
