//! What two and three sessions do to each other, here and on the real servers: who waits, who deadlocks, what is read.
//!
//! The scenarios are in `scenarios.rs` with the outcome of every step. Each test runs all of them on one server and
//! compares: so the outcomes are MySQL's and MariaDB's, and ours are the same.

mod play;
mod scenarios;

use bench::instance::{Flavor, Settings};
use play::play;
use scenarios::{SCENARIOS, Scenario};
use testkit::Server;

fn applies(scenario: &Scenario, flavor: Flavor) -> bool {
    // The scenario says why.
    flavor != Flavor::MariaDb || !scenario.text.starts_with("not on MariaDB")
}

fn all_on(flavor: Flavor) {
    let settings =
        Settings { extra: vec!["--innodb-lock-wait-timeout=60".to_string()], ..Settings::default() };
    let server = Server::start(flavor, &settings);
    let mut wrong = String::new();
    for scenario in SCENARIOS.iter().filter(|scenario| applies(scenario, flavor)) {
        if let Err(difference) = play(&server, scenario.text) {
            wrong.push_str(&format!("\n--- {flavor}: {}\n{difference}", scenario.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn slipstream_isolates() {
    all_on(Flavor::Slipstream);
}

#[test]
fn mysql_isolates_the_same_way() {
    if testkit::available("mysql_isolates_the_same_way", &[Flavor::MySql]) {
        all_on(Flavor::MySql);
    }
}

#[test]
fn mariadb_isolates_the_same_way() {
    if testkit::available("mariadb_isolates_the_same_way", &[Flavor::MariaDb]) {
        all_on(Flavor::MariaDb);
    }
}
