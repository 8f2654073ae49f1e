//! Tests of `binlog_error_action=IGNORE_ERROR` on a running server: what statements answer once the
//! binary log is off, and what a restart does about it.

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use testkit::Server;

#[test]
fn a_server_goes_on_without_its_binary_log_until_it_is_restarted() {
    let extra = vec!["--log-bin=binlog".to_string()];
    let mut server =
        Server::start(Flavor::Slipstream, &Settings { gtid: true, extra, ..Settings::default() });
    server.run("SET GLOBAL binlog_error_action = IGNORE_ERROR");
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    let logged = server.rows("SELECT @@global.gtid_executed");
    let files = server.rows("SHOW BINARY LOGS").len();
    // A directory takes the place of the next file, so that the file cannot be made.
    let in_the_way = server.datadir().join(format!("binlog.{:06}", files + 1));
    std::fs::create_dir(&in_the_way).expect("makes a directory");
    assert_eq!(server.refuses("FLUSH BINARY LOGS").0, 1381);
    server.run("INSERT INTO d.t VALUES (1)");
    assert_eq!(server.refuses("SHOW BINARY LOGS").0, 1381);
    assert_eq!(server.rows("SHOW BINARY LOG STATUS"), Vec::<String>::new());
    server.run("FLUSH BINARY LOGS");
    let all = server.rows("SELECT @@global.gtid_executed");
    assert_ne!(all, logged);
    std::fs::remove_dir(&in_the_way).expect("removes the directory");
    server.run("INSERT INTO d.t VALUES (2)");
    os::clock::sleep(Duration::from_millis(50));
    assert_eq!(server.refuses("SHOW BINARY LOGS").0, 1381, "it stays off");

    server.shut_down();
    server.come_back();
    assert_eq!(server.rows("SELECT COUNT(*) FROM d.t"), ["2"]);
    assert_eq!(server.rows("SHOW BINARY LOGS").len(), files + 1);
    let executed = &server.rows("SELECT @@global.gtid_executed")[0];
    let purged = &server.rows("SELECT @@global.gtid_purged")[0];
    let lost = format!("SELECT GTID_SUBTRACT('{executed}', '{}')", logged[0]);
    assert_eq!(&server.rows(&lost)[0], purged);
    assert!(!purged.is_empty());
    server.run("INSERT INTO d.t VALUES (3)");
    server.run("FLUSH BINARY LOGS");
    assert_eq!(server.rows("SHOW BINARY LOGS").len(), files + 2);
}
