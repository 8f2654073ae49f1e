//! Tests of what the server refuses to start with: it prints a sentence that says what is wrong and
//! where, and its exit code is not 0.

use std::path::PathBuf;

use bench::instance::{Flavor, Settings};
use testkit::{Server, program};

/// A directory of one test, which is removed when this value is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("slipstream-refusals-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Directory(path)
    }

    fn data(&self) -> String {
        self.0.join("data").display().to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn serve(options: &[String]) -> (bool, String) {
    let words: Vec<String> = std::iter::once("serve".to_string()).chain(options.iter().cloned()).collect();
    program::run(&testkit::binary::slipstream().display().to_string(), &words)
}

/// Runs the server with options that it must refuse. Its output must have every word of `named`.
fn refuses(options: &[String], named: &[&str]) {
    let (success, said) = serve(options);
    assert!(!success, "{options:?} was accepted:\n{said}");
    for name in named {
        assert!(said.contains(name), "no word of {name:?} in:\n{said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn an_unknown_option() {
    let directory = Directory::new("unknown");
    refuses(&[format!("--datadir={}", directory.data()), "--no-such-option=3".into()], &["no-such-option"]);
}

#[test]
fn a_value_that_does_not_fit() {
    let directory = Directory::new("value");
    let datadir = format!("--datadir={}", directory.data());
    refuses(&[datadir.clone(), "--port=many".into()], &["port", "many"]);
    refuses(&[datadir, "--innodb-page-size=5000".into()], &["innodb"]);
}

#[test]
fn a_data_directory_that_cannot_be_used() {
    let directory = Directory::new("unusable");
    let file = directory.0.join("file");
    os::disk::real().write_atomically(&file, b"not a directory").expect("a file");
    let inside = file.join("data").display().to_string();
    refuses(&[format!("--datadir={inside}"), "--initialize-insecure".into()], &[&inside]);
    // The server does not initialize a directory that has files of another owner.
    let foreign = directory.0.display().to_string();
    refuses(&[format!("--datadir={foreign}"), "--initialize-insecure".into()], &[&foreign]);
}

#[test]
fn a_second_server_on_the_same_data() {
    let first = Server::start(Flavor::Slipstream, &Settings::default());
    let datadir = first.datadir().display().to_string();
    refuses(&[format!("--datadir={datadir}"), "--port=0".into()], &[&datadir]);
    assert_eq!(first.rows("SELECT 1"), ["1"]);
}

#[test]
fn another_page_size_than_the_datas() {
    let mut server = Server::start(Flavor::Slipstream, &Settings::default());
    server.shut_down();
    let datadir = format!("--datadir={}", server.datadir().display());
    refuses(&[datadir, "--innodb-page-size=8192".into()], &["8192", "16384"]);
    server.come_back();
    assert_eq!(server.rows("SELECT @@innodb_page_size"), ["16384"]);
}

/// A statement that is not supported ends with MySQL's error, which names the cause, and the
/// session goes on.
#[test]
fn statements_that_are_not_supported() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE DATABASE shop");
    server.run("CREATE TABLE shop.t (id INT PRIMARY KEY)");
    let mut session = server.connect();
    // Without a default schema an unknown function is error 1046, as in MySQL.
    session.query("USE shop").expect("it has been made");
    let refused = [
        ("SELECT * FROM shop.t WHERE MATCH (id) AGAINST ('a')", "FULLTEXT index"),
        ("CREATE TEMPORARY SEQUENCE shop.s", "TEMPORARY"),
        ("ALTER DATABASE shop READ ONLY = 1", "READ ONLY"),
        ("CHANGE REPLICATION SOURCE TO PRIVILEGE_CHECKS_USER = 'a'@'b'", "a@b"),
        ("CHANGE REPLICATION SOURCE TO PRIVILEGE_CHECKS_USER = c", "c@%"),
        ("SELECT no_such_function(1)", "no_such_function"),
        ("SELEC 1", "SELEC"),
        ("SELECT * FROM shop.no_such_table", "no_such_table"),
        ("INSERT INTO shop.t VALUES (1, 2)", "Column count"),
    ];
    for (statement, named) in refused {
        let error = session.query(statement).expect_err(statement);
        let code = error.server_code().unwrap_or_else(|| panic!("{statement}: {error}"));
        let said = error.to_string();
        assert!(code >= 1000, "{statement}: {said}");
        assert!(said.to_lowercase().contains(&named.to_lowercase()), "{statement}: {said}");
        let answer = session.query("SELECT 1").expect("the session goes on");
        assert_eq!(answer.cell(0, 0).as_deref(), Some("1"), "after {statement}");
    }
}
