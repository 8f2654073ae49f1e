//! Tests of a replica whose connection to the source is compressed.

use bench::instance::{Flavor, Settings, USER};
use bench::replication::Thread;
use testkit::proxy::Proxy;
use testkit::{Replica, Server};

const ROWS: usize = 40;
const ROW_BYTES: usize = 50_000;

/// Tests, with each of these lists of algorithms, that rows that compress well arrive in few bytes.
fn follows(source: Flavor, lists: &[&str]) {
    let source = Server::start(source, &Settings { durable: false, ..Settings::default() });
    let proxy = Proxy::start(source.port());
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, b LONGTEXT)");
    for (at, list) in lists.iter().enumerate() {
        replica.run("STOP REPLICA");
        replica.run(&format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='{USER}', SOURCE_PASSWORD='{USER}', \
             SOURCE_CONNECT_RETRY=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_COMPRESSION_ALGORITHMS='{list}'",
            proxy.port()
        ));
        replica.start_thread(Thread::Io);
        replica.start_thread(Thread::Sql);
        replica.catch_up(&source);
        let before = proxy.passed_bytes();
        let mut client = source.connect();
        for row in 0..ROWS {
            // Between the long rows there are short ones, whose frames are not compressed.
            let len = if row % 2 == 0 { ROW_BYTES } else { 3 };
            client.query(&format!("INSERT INTO d.t (b) VALUES (REPEAT('x{row}', {len}))")).unwrap();
        }
        replica.catch_up(&source);
        let passed = (proxy.passed_bytes() - before) as usize;
        let compressed = passed < ROWS / 2 * ROW_BYTES;
        assert_eq!(compressed, *list != "uncompressed", "{list}: {passed} bytes");
        let counted = "SELECT COUNT(*), SUM(LENGTH(b)) FROM d.t";
        assert_eq!(replica.rows(counted), source.rows(counted), "{list}, list {at}");
    }
}

#[test]
fn from_mysql() {
    if testkit::available("replicate_compressed_connection::from_mysql", &[Flavor::MySql]) {
        follows(Flavor::MySql, &["zlib", "uncompressed", "zstd,zlib"]);
    }
}

#[test]
fn from_mariadb() {
    if testkit::available("replicate_compressed_connection::from_mariadb", &[Flavor::MariaDb]) {
        // MariaDB has no zstd.
        follows(Flavor::MariaDb, &["zstd,zlib"]);
    }
}

#[test]
fn from_a_source_that_does_not_compress() {
    let source = Server::start(Flavor::Slipstream, &Settings::default());
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    let connect = |list: &str| {
        replica.run("STOP REPLICA");
        replica.run(&format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='{USER}', SOURCE_PASSWORD='{USER}', \
             SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_COMPRESSION_ALGORITHMS='{list}'",
            source.port()
        ));
        replica.start_thread(Thread::Io);
    };
    connect("zlib");
    replica.wait_until("refused", |status| status.io_errno != 0);
    connect("zlib,uncompressed");
    replica.wait_until("connected", |status| status.io_running == "Yes");
    let shown = "SELECT COMPRESSION_ALGORITHM FROM performance_schema.replication_connection_configuration";
    assert_eq!(replica.rows(shown), ["zlib,uncompressed"]);
}
