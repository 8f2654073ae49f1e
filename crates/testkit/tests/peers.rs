//! Tests that the peers that the other tests compare with can be started, killed, started again and
//! stopped.

use bench::instance::{Flavor, Instance, Settings};

fn lives_and_comes_back(flavor: Flavor) {
    let mut peer = Instance::start(flavor, &Settings::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(peer.is_running());
    let usage = peer.usage().expect("the process's /proc entry");
    assert!(usage.peak_rss_bytes > 1 << 20, "{usage:?} is not a server's, but a shell's");
    peer.kill();
    assert!(!peer.is_running());
    assert_eq!(peer.usage(), None);
    peer.start_again().unwrap_or_else(|error| panic!("after kill -9: {error}"));
    let status = peer.stop().unwrap_or_else(|error| panic!("{error}"));
    assert!(status.success(), "stopped with {status}: {}", peer.log_tail());
    let datadir = peer.datadir();
    assert!(datadir.exists());
    drop(peer);
    assert!(!datadir.exists(), "{} is left behind", datadir.display());
}

#[test]
fn mariadb_lives_and_comes_back() {
    if testkit::available("mariadb_lives_and_comes_back", &[Flavor::MariaDb]) {
        lives_and_comes_back(Flavor::MariaDb);
    }
}

#[test]
fn mysql_lives_and_comes_back() {
    if testkit::available("mysql_lives_and_comes_back", &[Flavor::MySql]) {
        lives_and_comes_back(Flavor::MySql);
    }
}

#[test]
fn a_server_that_cannot_start_says_why() {
    if !testkit::available("a_server_that_cannot_start_says_why", &[Flavor::MariaDb]) {
        return;
    }
    let settings = Settings { extra: vec!["--no-such-option=1".to_string()], ..Settings::default() };
    let Err(error) = Instance::start(Flavor::MariaDb, &settings) else {
        panic!("an unknown option was accepted")
    };
    assert!(error.to_string().contains("no-such-option"), "{error}");
}
