//! Tests of SHOW ENGINE INNODB STATUS and of the figures that other statements show of the same
//! things.

use bench::instance::{Flavor, Settings};
use testkit::Server;

/// InnoDB's sections in InnoDB's order. TIME ACCOUNTS is this server's own.
const SECTIONS: &[&str] = &[
    "INNODB MONITOR OUTPUT",
    "Per second averages calculated from the last ",
    "BACKGROUND THREAD",
    "SEMAPHORES",
    "TRANSACTIONS",
    "TIME ACCOUNTS",
    "FILE I/O",
    "LOG",
    "BUFFER POOL AND MEMORY",
    "ROW OPERATIONS",
    "END OF INNODB MONITOR OUTPUT",
];

fn monitor(server: &Server) -> Vec<String> {
    let shown = server.connect().query("SHOW ENGINE INNODB STATUS").unwrap();
    shown.text(0, "Status").expect("a text").lines().map(str::to_owned).collect()
}

/// Returns the number after `label`, wherever in the text the label is.
fn figure(text: &[String], label: &str) -> u64 {
    let tail = text
        .iter()
        .find_map(|line| line.split_once(label))
        .unwrap_or_else(|| panic!("no {label}: {text:#?}"))
        .1;
    tail.trim().split([' ', ',']).next().unwrap_or_default().parse().expect("a number")
}

/// Returns how often a thread entered a state, and the wall and CPU milliseconds that it spent
/// there.
fn account(text: &[String], thread: &str, state: &str) -> Option<(u64, f64, f64)> {
    let line = text.iter().find(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some(thread) && words.next() == Some(state)
    })?;
    let numbers: Vec<f64> =
        line.split_whitespace().skip(2).map(|word| word.parse().expect("a number")).collect();
    Some((numbers[0] as u64, numbers[1], numbers[2]))
}

fn status(server: &Server, name: &str) -> u64 {
    let row = server.rows(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).remove(0);
    row.split('\t').nth(1).expect("a value").parse().expect("a number")
}

#[test]
fn the_sections_come_in_innodbs_order_and_the_figures_grow() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let before = monitor(&server);
    let mut at = 0;
    for section in SECTIONS {
        let found = before[at..].iter().position(|line| line.ends_with(section) || line.starts_with(section));
        at += found.unwrap_or_else(|| panic!("{section} is missing or too late: {before:#?}"));
    }
    let written = (status(&server, "Innodb_data_writes"), status(&server, "Innodb_data_written"));
    let synced = status(&server, "Innodb_data_fsyncs");
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)");
    for id in 0..20 {
        server.run(&format!("INSERT INTO d.t VALUES ({id}, 0)"));
    }
    server.run("UPDATE d.t SET v = 1 WHERE id < 7");
    let after = monitor(&server);
    for (label, grown) in [("Number of rows inserted ", 20), (" updated ", 7)] {
        assert!(figure(&after, label) >= figure(&before, label) + grown, "{label}: {after:#?}");
    }
    assert!(figure(&after, "Log sequence number ") > figure(&before, "Log sequence number "));
    assert!(status(&server, "Innodb_data_writes") > written.0);
    assert!(status(&server, "Innodb_data_written") > written.1);
    // Each statement was a durable commit.
    assert!(status(&server, "Innodb_data_fsyncs") >= synced + 20);
}

#[test]
fn every_threads_time_is_accounted_for_in_wall_and_cpu_time() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("DO SLEEP(0.2)");
    let text = monitor(&server);
    let (entered, wall_ms, cpu_ms) = account(&text, "connection", "sleep").expect("somebody has slept");
    assert!(entered >= 1 && wall_ms > 0.0 && cpu_ms < wall_ms, "{text:#?}");
    for thread in ["log_writer", "log_flusher", "page_cleaner", "lru_flusher", "purge", "main", "listener"] {
        let idle = account(&text, thread, "idle");
        assert!(idle.is_some_and(|(_, wall_ms, _)| wall_ms > 0.0), "{thread} is always busy: {text:#?}");
    }
}
