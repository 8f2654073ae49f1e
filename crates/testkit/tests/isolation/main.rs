//! Tests of what two and three sessions do to each other, on Slipstream and on real servers: which
//! session waits, which one gets a deadlock, what each reads.
//!
//! The scenarios are in `scenarios.rs`, `foreign_keys.rs` and `lock_tables.rs`, with the outcome of
//! every step. Each test runs all of them on one server and compares the outcomes. This proves that
//! the outcomes are MySQL's and MariaDB's, and that ours are the same.

mod foreign_keys;
mod lock_tables;
mod play;
mod scenarios;

use bench::instance::{Flavor, Settings};
use foreign_keys::FAMILIES;
use lock_tables::LOCK_TABLES;
use play::play;
use scenarios::{SCENARIOS, Scenario};
use testkit::Server;

fn applies(scenario: &Scenario, flavor: Flavor) -> bool {
    // The text of such a scenario says why MariaDB is left out.
    flavor != Flavor::MariaDb || !scenario.text.starts_with("not on MariaDB")
}

fn all_on(flavor: Flavor, option: &str) -> Server {
    let extra = vec!["--innodb-lock-wait-timeout=60".to_string(), option.to_string()];
    let server = Server::start(flavor, &Settings { extra, ..Settings::default() });
    let mut wrong = String::new();
    for scenario in
        SCENARIOS.iter().chain(FAMILIES).chain(LOCK_TABLES).filter(|scenario| applies(scenario, flavor))
    {
        if let Err(difference) = play(&server, scenario.text) {
            wrong.push_str(&format!("\n--- {flavor}: {}\n{difference}", scenario.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    server
}

const ANY_NUMBER_INSIDE: &str = "--innodb-thread-concurrency=0";

#[test]
fn slipstream_isolates() {
    let server = all_on(Flavor::Slipstream, ANY_NUMBER_INSIDE);
    // Several scenarios ended in deadlocks.
    let status = &server.rows("SHOW ENGINE INNODB STATUS")[0];
    let report = status.split("LATEST DETECTED DEADLOCK").nth(1).expect("the section is there");
    assert!(report.contains("WAITING FOR THIS LOCK TO BE GRANTED"), "{report}");
    assert!(report.contains("`isolation`.`t`") && report.contains("WE ROLL BACK TRANSACTION ("), "{report}");
}

#[test]
fn slipstream_isolates_with_one_statement_inside_at_a_time() {
    // A session that waits for a lock must not count as inside, or the session with the lock could
    // not get in to release it.
    let server = all_on(Flavor::Slipstream, "--innodb-thread-concurrency=1");
    assert_eq!(server.rows("SELECT @@innodb_thread_concurrency, @@innodb_autoinc_lock_mode"), ["1\t2"]);
}

#[test]
fn mysql_isolates_the_same_way() {
    if testkit::available("mysql_isolates_the_same_way", &[Flavor::MySql]) {
        all_on(Flavor::MySql, ANY_NUMBER_INSIDE);
    }
}

#[test]
fn mariadb_isolates_the_same_way() {
    if testkit::available("mariadb_isolates_the_same_way", &[Flavor::MariaDb]) {
        all_on(Flavor::MariaDb, ANY_NUMBER_INSIDE);
    }
}
