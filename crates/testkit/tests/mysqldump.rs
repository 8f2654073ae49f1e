//! Tests of mysqldump with its default options, which lock the tables of a schema (`LOCK TABLES ...
//! READ`) and nothing else: the dump shows all tables at one moment.

use bench::instance::{Flavor, USER, peers_dir};
use testkit::{Server, program};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Dumps the schema several times while a writer changes both tables together, and checks that each
/// dump shows both tables at one moment.
fn dumps_one_state(program: &str, before: &[String]) {
    let server = Server::under_test();
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.a (id INT PRIMARY KEY, n INT, pad LONGTEXT)",
        "CREATE TABLE d.b (id INT PRIMARY KEY, n INT)",
        "INSERT INTO d.a VALUES (1, 0, REPEAT('x', 1000000))",
        "INSERT INTO d.b VALUES (1, 0)",
    ] {
        server.run(sql);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (mut client, stopped) = (server.connect(), stop.clone());
    let writer = os::thread::spawn("writer", move || {
        while !stopped.load(Ordering::Relaxed) {
            for sql in ["BEGIN", "UPDATE d.a SET n = n + 1", "UPDATE d.b SET n = n + 1", "COMMIT"] {
                client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
        }
    });
    let words = [
        "--no-defaults",
        "--host=127.0.0.1",
        &format!("--port={}", server.port()),
        &format!("--user={USER}"),
        &format!("--password={USER}"),
        "--skip-extended-insert",
        "d",
    ];
    let words: Vec<String> = before.iter().cloned().chain(words.map(str::to_string)).collect();
    for _ in 0..3 {
        let dump = program::succeed(program, &words);
        let of = |table: &str| -> Vec<&str> {
            let start = format!("INSERT INTO `{table}` VALUES (1,");
            let rows = dump.lines().filter_map(|line| line.strip_prefix(&start));
            rows.map(|rest| rest.split([',', ')']).next().unwrap_or_default()).collect()
        };
        assert_eq!((of("a").len(), of("a")), (1, of("b")), "not the same state");
        assert!(dump.contains("LOCK TABLES `a` WRITE"), "it locks when it is loaded, too");
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("the writer was kept waiting and nothing else");
}

#[test]
fn of_mariadb_dumps_one_state() {
    if testkit::tool_available("mysqldump::of_mariadb_dumps_one_state", "mariadb-dump") {
        dumps_one_state("mariadb-dump", &[]);
    }
}

#[test]
fn of_mysql_dumps_one_state() {
    if testkit::available("mysqldump::of_mysql_dumps_one_state", &[Flavor::MySql]) {
        let chroot = peers_dir().join("mysql-chroot").display().to_string();
        dumps_one_state("chroot", &[chroot, "mysqldump".to_string()]);
    }
}
