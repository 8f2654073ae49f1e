//! Tests that what `mysqlbinlog` prints of a binary log brings an empty server to the same state:
//! the way of point-in-time recovery.

use bench::instance::peers_dir;
use testkit::{Flavor, Server, Settings, USER, available, program};

/// Statements of all kinds whose events `mysqlbinlog` prints.
const CHANGES: &[&str] = &[
    "CREATE DATABASE p",
    "USE p",
    "CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20), j JSON, g INT AS (id * 2) VIRTUAL, \
     d DECIMAL(10,2), t TIMESTAMP(3) NULL, b BIT(5), e ENUM('x','y'), s SET('p','q'))",
    "INSERT INTO a (id, v, j, d, t, b, e, s) VALUES (1, 'one', '{\"a\":1}', 1.5, \
     '2020-01-01 01:02:03.456', 5, 'x', 'p,q'), (2, 'two', '[1,2,3]', -2.25, NULL, NULL, 'y', '')",
    "UPDATE a SET v = 'ONE', j = JSON_SET(j, '$.b', 'text') WHERE id = 1",
    "DELETE FROM a WHERE id = 2",
    "CREATE TABLE par (id INT PRIMARY KEY, x INT)",
    "CREATE TABLE chi (id INT PRIMARY KEY, p INT, \
     FOREIGN KEY (p) REFERENCES par (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "INSERT INTO par VALUES (1, 1), (2, 2)",
    "INSERT INTO chi VALUES (1, 1), (2, 1), (3, 2)",
    "UPDATE par SET id = 10 WHERE id = 1",
    "DELETE FROM par WHERE id = 2",
    "SET binlog_row_image = MINIMAL",
    "UPDATE a SET v = 'min' WHERE id = 1",
    "INSERT INTO a (id) VALUES (77)",
    "SET binlog_row_image = FULL",
    "CREATE TABLE nk (a INT, b TEXT)",
    "INSERT INTO nk VALUES (1, 'x'), (1, 'x'), (2, 'y')",
    "UPDATE nk SET b = 'z' WHERE a = 1",
    "DELETE FROM nk WHERE a = 2",
    "BEGIN",
    "INSERT INTO a (id, v) VALUES (100, 'c')",
    "UPDATE a SET v = 'cc' WHERE id = 100",
    "INSERT INTO nk VALUES (9, 'n')",
    "COMMIT",
    "CREATE TABLE ctas AS SELECT * FROM nk",
    "CREATE VIEW vv AS SELECT * FROM a",
    "CREATE PROCEDURE pp() SELECT 1",
    "CREATE USER u1@localhost IDENTIFIED BY 'x'",
    "XA START 'x1'",
    "INSERT INTO nk VALUES (5, 'xa')",
    "XA END 'x1'",
    "XA PREPARE 'x1'",
    "XA COMMIT 'x1'",
    "SET binlog_rows_query_log_events = 1",
    "INSERT INTO nk VALUES (6, 'query text')",
    "SET binlog_transaction_compression = 1",
    "INSERT INTO nk VALUES (7, 'compressed')",
    "SET binlog_transaction_compression = 0",
    "SET binlog_format = STATEMENT",
    "INSERT INTO nk VALUES (8, 'as a statement')",
    "SET binlog_format = ROW",
    "CREATE TABLE late (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "INSERT INTO late (v) VALUES (1), (2)",
];

/// What MySQL alone logs in this form: the differences of a document.
const OF_MYSQL: &[&str] = &[
    "SET binlog_row_value_options = PARTIAL_JSON",
    "UPDATE a SET j = JSON_SET(j, '$.a', 2) WHERE id = 1",
    "SET binlog_row_value_options = ''",
];

/// The queries whose answers must be the same at both servers.
const STATE: &[&str] = &[
    "SELECT * FROM p.a ORDER BY id",
    "SELECT * FROM p.par ORDER BY id",
    "SELECT * FROM p.chi ORDER BY id",
    "SELECT * FROM p.nk ORDER BY a, b",
    "SELECT * FROM p.ctas ORDER BY a, b",
    "SELECT * FROM p.late ORDER BY id",
    "SELECT id, v FROM p.vv ORDER BY id",
    "SELECT routine_name FROM information_schema.routines WHERE routine_schema = 'p'",
    "SELECT user FROM mysql.user WHERE user = 'u1'",
];

/// A program in MySQL's chroot, with the words before its own.
fn in_chroot(words: &[&str]) -> Vec<String> {
    let chroot = peers_dir().join("mysql-chroot").display().to_string();
    std::iter::once(chroot).chain(words.iter().map(|word| (*word).to_string())).collect()
}

/// What `mysqlbinlog` prints of the binary log of a server that runs.
fn printed(server: &Server) -> String {
    let port = format!("--port={}", server.port());
    let (user, password) = (format!("--user={USER}"), format!("--password={USER}"));
    let files = server.rows("SHOW BINARY LOGS");
    let names: Vec<&str> = files.iter().filter_map(|row| row.split('\t').next()).collect();
    let mut words =
        vec!["mysqlbinlog", "--read-from-remote-server", "--host=127.0.0.1", &port, &user, &password];
    words.extend(names);
    let said = program::succeed("chroot", &in_chroot(&words));
    // What the program complains of comes behind what it prints.
    let end = said.find("mysqlbinlog: [Warning]").unwrap_or(said.len());
    said[..end].to_string()
}

/// Gives a text to the `mysql` client, as a shell's pipe does. The file lies in the chroot.
fn run_text(server: &Server, text: &str) {
    let name = format!("slipstream-piped-{}-{}.sql", std::process::id(), server.port());
    let path = peers_dir().join("mysql-chroot/tmp").join(&name);
    os::disk::real()
        .write_atomically(&path, text.as_bytes())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    // The first error ends the client. --binary-mode is what the text of mysqlbinlog asks for.
    let command = format!(
        "mysql --no-defaults --binary-mode --host=127.0.0.1 --port={} --user={USER} --password={USER} < /tmp/{name}",
        server.port()
    );
    let (success, said) = program::run("chroot", &in_chroot(&["/bin/sh", "-c", &command]));
    std::fs::remove_file(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(success, "{}: {said}", server.flavor());
}

fn gtid_server(flavor: Flavor) -> Server {
    Server::start(flavor, &Settings { gtid: true, ..Settings::default() })
}

/// Runs the changes at one server, and gives what `mysqlbinlog` prints of them to the other.
fn brings_to_the_same_state(from: Flavor, to: Flavor, more: &[&str]) {
    let [source, target] = [from, to].map(gtid_server);
    let mut client = source.connect();
    for statement in CHANGES.iter().chain(more) {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    run_text(&target, &printed(&source));
    for query in STATE {
        assert_eq!(target.rows(query), source.rows(query), "{query}");
    }
    // The table of CREATE TABLE ... SELECT has a GTID of its own in a log of ours.
    let executed = source.rows("SELECT @@GLOBAL.gtid_executed").concat();
    assert_eq!(target.rows(&format!("SELECT GTID_SUBSET('{executed}', @@GLOBAL.gtid_executed)")), ["1"]);
}

#[test]
fn a_log_of_mysql_that_mysqlbinlog_prints_is_applied() {
    if available("binlog_statements::of_mysql", &[Flavor::MySql]) {
        brings_to_the_same_state(Flavor::MySql, Flavor::Slipstream, OF_MYSQL);
    }
}

#[test]
fn our_log_that_mysqlbinlog_prints_is_applied_here_and_by_mysql() {
    if available("binlog_statements::of_ours", &[Flavor::MySql]) {
        brings_to_the_same_state(Flavor::Slipstream, Flavor::Slipstream, &[]);
        brings_to_the_same_state(Flavor::Slipstream, Flavor::MySql, &[]);
    }
}
