//! Tests of the redo log's variables and status figures through SQL: the capacity, the buffer and
//! the threads that write the log change under load, and nothing is lost.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::Server;

/// Returns the value of a status variable.
fn status(client: &mut Client, name: &str) -> String {
    let shown = client.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).expect("it is known");
    shown.cell(0, 1).unwrap_or_else(|| panic!("there is no {name}"))
}

fn number(client: &mut Client, name: &str) -> u64 {
    status(client, name).parse().unwrap_or_else(|_| panic!("{name} is no number"))
}

fn until(client: &mut Client, what: &str, mut holds: impl FnMut(&mut Client) -> bool) {
    let watch = os::clock::Stopwatch::start();
    while !holds(client) {
        assert!(watch.elapsed_ms() < 120_000, "{what} does not come");
        os::clock::sleep(std::time::Duration::from_millis(5));
    }
}

const MB: u64 = 1 << 20;

#[test]
fn capacity_buffer_and_writer_threads_change_under_load() {
    let settings = Settings { redo_bytes: 8 * MB, log_bin: false, ..Settings::default() };
    let mut server = Server::start(Flavor::Slipstream, &settings);
    let mut client = server.connect();
    server.run("CREATE DATABASE b");
    server.run("CREATE TABLE b.t (id INT PRIMARY KEY, v VARCHAR(2000))");
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..2)
        .map(|number| {
            let (mut client, stop) = (server.connect(), Arc::clone(&stop));
            os::thread::spawn("writer", move || {
                let mut rows = 0u64;
                while !stop.load(Ordering::Relaxed) {
                    let id = number * 1_000_000 + rows;
                    let sql = format!("INSERT INTO b.t VALUES ({id}, REPEAT('x', 1900))");
                    client.query_discard(&sql).expect("a commit");
                    rows += 1;
                }
                rows
            })
        })
        .collect();
    let changes = [(64, "ON", 512), (16, "OFF", 65_536), (256, "ON", 256), (8, "ON", 1024), (32, "OFF", 300)];
    for (mb, threads, buffer_kb) in changes {
        // MySQL rounds the size of the buffer down to KB.
        server.run(&format!("SET GLOBAL innodb_log_buffer_size = {}", buffer_kb * 1024 + 7));
        assert_eq!(server.rows("SELECT @@innodb_log_buffer_size"), [(buffer_kb * 1024).to_string()]);
        server.run(&format!("SET GLOBAL innodb_redo_log_capacity = {}", mb * MB));
        server.run(&format!("SET GLOBAL innodb_log_writer_threads = {threads}"));
        until(&mut client, "the new capacity", |client| {
            status(client, "Innodb_redo_log_resize_status") == "OK"
                && number(client, "Innodb_redo_log_capacity_resized") == mb * MB
        });
        // The log grows by half as much again as it could hold at first.
        let from = number(&mut client, "Innodb_redo_log_current_lsn");
        until(&mut client, "more log", |client| {
            number(client, "Innodb_redo_log_current_lsn") > from + 12 * MB
        });
        let [checkpoint, durable, current] = ["checkpoint_lsn", "flushed_to_disk_lsn", "current_lsn"]
            .map(|name| number(&mut client, &format!("Innodb_redo_log_{name}")));
        assert!(checkpoint <= durable && durable <= current);
        assert!(number(&mut client, "Innodb_redo_log_physical_size") > 0);
        assert!(number(&mut client, "Innodb_redo_log_logical_size") <= mb * MB);
    }
    stop.store(true, Ordering::Relaxed);
    let rows: u64 = writers.into_iter().map(|writer| writer.join().expect("no panic")).sum();
    server.kill();
    server.come_back();
    assert_eq!(server.rows("SELECT COUNT(*), SUM(LENGTH(v)) FROM b.t"), [format!("{rows}\t{}", rows * 1900)]);
}
