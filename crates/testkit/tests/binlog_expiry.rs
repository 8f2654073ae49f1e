//! Tests that old files of the binary log are removed by themselves, on MySQL and on Slipstream:
//! `binlog_expire_logs_seconds` and `binlog_expire_logs_auto_purge`.

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use testkit::{Server, available};

fn has_first_file(server: &Server) -> bool {
    server.rows("SHOW BINARY LOGS").iter().any(|row| row.starts_with("binlog.000001"))
}

fn old_files_go(flavor: Flavor) {
    let extra = ["--log-bin=binlog", "--max-binlog-size=4096"].map(str::to_string).to_vec();
    let server = Server::start(flavor, &Settings { extra, ..Settings::default() });
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(1000))");
    server.run("SET GLOBAL binlog_expire_logs_auto_purge = OFF");
    server.run("SET GLOBAL binlog_expire_logs_seconds = 1");
    server.run("FLUSH BINARY LOGS");
    os::clock::sleep(Duration::from_millis(2500));
    server.run("FLUSH BINARY LOGS");
    assert!(has_first_file(&server), "{flavor:?}: gone although nothing is to go by itself");
    server.run("SET GLOBAL binlog_expire_logs_auto_purge = ON");
    assert!(has_first_file(&server), "{flavor:?}: gone without a new file");
    // These transactions fill a file, so that a new one follows.
    (0..10).for_each(|_| drop(server.run("INSERT INTO d.t (v) VALUES (REPEAT('x', 1000))")));
    // Slipstream writes its binary log a little later than the commits.
    let tries = (0..100).find(|_| {
        os::clock::sleep(Duration::from_millis(20));
        !has_first_file(&server)
    });
    assert!(tries.is_some(), "{flavor:?}: not gone with a new file");
}

#[test]
fn old_files_of_ours_go() {
    old_files_go(Flavor::Slipstream);
}

#[test]
fn old_files_of_mysql_go() {
    if available("binlog_expiry::old_files_of_mysql_go", &[Flavor::MySql]) {
        old_files_go(Flavor::MySql);
    }
}
