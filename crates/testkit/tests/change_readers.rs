//! Tests that the libraries on which change data capture is built can follow our binary log as a
//! stream of changed rows. Each library reads values of every column type, which must be the values
//! in the tables.

use std::path::Path;
use std::process::Command;

use testkit::every_type::LAST;
use testkit::{Server, reader};

/// Lets the reader `program`, which `scripts/peers.sh` has installed, follow a server. `words` come
/// before the server's address, `more` after it.
fn follows(test: &str, program: &Path, words: &[String], more: &[&str]) {
    if testkit::reader_available(&format!("change_readers::{test}"), program) {
        following(&Server::under_test(), program, words, more);
    }
}

fn following(server: &Server, program: &Path, words: &[String], more: &[&str]) {
    let mut command = Command::new(program);
    command.args(words).args(reader::address(server)).args(more);
    reader::follow(server, &mut command);
}

fn python(test: &str, by: &str) {
    let program = reader::place("python/bin/python");
    if testkit::reader_available(&format!("change_readers::{test}"), &program) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("readers/python/follow.py");
        let server = Server::under_test();
        // The library needs this setting: it takes what it knows of columns from the events.
        server.run("SET GLOBAL binlog_row_metadata = 'FULL'");
        following(&server, &program, &[script.display().to_string()], &[LAST, by]);
    }
}

#[test]
fn mysql_replication_for_python() {
    python("mysql_replication_for_python", "position");
}

#[test]
fn mysql_replication_for_python_by_gtid() {
    python("mysql_replication_for_python_by_gtid", "gtid");
}

#[test]
fn canal_of_go_mysql() {
    follows("canal_of_go_mysql", &reader::place("canal"), &[], &["mysql", LAST, "position"]);
}

#[test]
fn canal_of_go_mysql_by_gtid() {
    follows("canal_of_go_mysql_by_gtid", &reader::place("canal"), &[], &["mysql", LAST, "gtid"]);
}

/// Debezium begins with a snapshot of the tables and goes on with the binary log.
#[test]
fn debezium() {
    let home = reader::place("debezium");
    let words = ["-cp", &format!("{0}/classes:{0}/lib/*", home.display()), "Follow"].map(String::from);
    if testkit::reader_available("change_readers::debezium", &home.join("classes/Follow.class")) {
        follows("debezium", Path::new("/usr/bin/java"), &words, &[LAST]);
    }
}
