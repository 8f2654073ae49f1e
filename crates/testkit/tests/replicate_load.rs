//! Tests of LOAD DATA on sources that log statements: the file comes in blocks, and the replica
//! loads it as the source did.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ConnectOptions};
use testkit::{Replica, Server};

const TABLES: &[&str] = &[
    "CREATE DATABASE d DEFAULT CHARACTER SET latin1",
    "CREATE TABLE d.t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(200) CHARACTER SET utf8mb4, at TIMESTAMP(3) NULL)",
    "CREATE TABLE d.k (a INT PRIMARY KEY, b VARCHAR(20) NOT NULL)",
];

/// Returns a file of several blocks, with everything that a field may contain.
fn long_file() -> Vec<u8> {
    let mut file = Vec::new();
    for number in 0..12_000 {
        file.extend_from_slice(format!("{number}\tline {number} \\t \\\\ '{number}'\\\n on\n").as_bytes());
    }
    file
}

fn load(client: &mut Client, statement: &str, file: &[u8]) {
    if let Err(error) = client.query_with_file(statement, file) {
        panic!("{statement}: {error}");
    }
}

/// Tests that a replica of this source has the same rows, and that no file stays in its directory.
fn is_followed(flavor: Flavor, format: &str) {
    if !testkit::available("replicate_load", &[flavor]) {
        return;
    }
    let extra = vec!["--local-infile=ON".into(), format!("--binlog-format={format}")];
    let source = Server::start(flavor, &Settings { extra, ..Settings::default() });
    TABLES.iter().for_each(|statement| drop(source.run(statement)));
    let options = ConnectOptions { local_files: true, ..source.connect_options() };
    let mut client = Client::connect(&options).expect("a client may come in");
    client.query("USE d").expect("the schema is there");
    load(&mut client, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a, b)", &long_file());
    load(&mut client, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a, b)", b"1\t\xe9\xfc\n2\tzwei\n");
    let variables = "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' \
                     OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES (@first, @second) \
                     SET a = @first + 1, b = CONCAT(@second, '\u{e9}'), at = NOW(3)";
    load(&mut client, variables, "head\n1,\"x,\u{20ac}\"\n2,y\n".as_bytes());
    load(&mut client, "LOAD DATA LOCAL INFILE 'x' INTO TABLE k", b"1\ta\n2\tb\n2\tc\n3\n");
    load(&mut client, "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE k", b"1\tnew\n4\tfour\n");
    client.query("BEGIN").expect("it begins");
    client.query("INSERT INTO k VALUES (100, 'before')").expect("it is inserted");
    load(&mut client, "LOAD DATA LOCAL INFILE 'x' INTO TABLE k", b"101\twithin\n102\twithin\n");
    load(&mut client, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (b)", b"one\ntwo\n");
    client.query("COMMIT").expect("it commits");
    client.query("SET sql_mode = ''").expect("it is set");
    load(&mut client, "LOAD DATA LOCAL INFILE 'x' IGNORE INTO TABLE k", b"x\ty\t z\n");
    let failing = "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE k SET b = (SELECT 1 UNION SELECT 2)";
    client.query_with_file(failing, b"7\t7\n").expect_err("there are two rows");
    client.query("INSERT INTO k VALUES (200, 'after')").expect("it is inserted");

    let settings = Settings { server_id: 2, ..Settings::default() };
    let replica = Replica::start(Flavor::Slipstream, &settings);
    replica.follow(flavor, source.port(), &testkit::following::beginning(&source));
    replica.catch_up(&source);
    for query in [
        "SELECT COUNT(*), SUM(a), SUM(LENGTH(b)), SUM(CRC32(b)), MIN(id), MAX(id) FROM d.t",
        "SELECT HEX(b), a FROM d.t WHERE id > 12000 ORDER BY id",
        "SELECT a, b FROM d.k ORDER BY a",
    ] {
        replica.equals_by(&source, query);
    }
    let left: Vec<_> = std::fs::read_dir(replica.datadir())
        .expect("it can be read")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("#sql-load"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn mysqls_statements_bring_their_files() {
    is_followed(Flavor::MySql, "STATEMENT");
}

#[test]
fn mysqls_mixed_log_has_rows() {
    is_followed(Flavor::MySql, "MIXED");
}

#[test]
fn mariadbs_statements_bring_their_files() {
    is_followed(Flavor::MariaDb, "STATEMENT");
}

#[test]
fn mariadbs_mixed_log_is_followed() {
    is_followed(Flavor::MariaDb, "MIXED");
}

#[test]
fn our_own_statements_are_followed() {
    is_followed(Flavor::Slipstream, "STATEMENT");
}
