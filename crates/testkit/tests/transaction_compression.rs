//! Tests of `binlog_transaction_compression`: the parts of a session's transactions that MySQL
//! compresses are compressed, and no others.

use bench::instance::{Flavor, Settings};
use os::disk::OpenMode;
use testkit::Server;
use testkit::server::flavor_under_test;

fn column(row: &str, number: usize) -> String {
    row.split('\t').nth(number).unwrap_or_default().to_string()
}

/// Returns the types and descriptions of the events after the head of the current binary log file.
fn events(server: &Server) -> Vec<(String, String)> {
    let file = column(&server.rows("SHOW BINARY LOG STATUS")[0], 0);
    let rows = server.rows(&format!("SHOW BINLOG EVENTS IN '{file}'"));
    let events: Vec<_> = rows.iter().map(|row| (column(row, 2), column(row, 5))).collect();
    events
        .into_iter()
        .filter(|(kind, _)| !matches!(kind.as_str(), "Format_desc" | "Previous_gtids"))
        .collect()
}

fn kinds(server: &Server) -> Vec<String> {
    events(server).into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn transactions_of_rows_are_compressed_and_nothing_else() {
    let server = Server::start(flavor_under_test(), &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)");
    let mut session = server.connect();
    let mut run = |sql: &str| session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("SET SESSION binlog_transaction_compression = ON");
    run("FLUSH BINARY LOGS");
    run("INSERT INTO d.t VALUES (1, REPEAT('text ', 1000))");
    let shown = events(&server);
    let kinds_shown: Vec<&str> = shown.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds_shown, ["Gtid", "Transaction_payload", "Query", "Table_map", "Write_rows", "Xid"]);
    assert!(shown[1].1.starts_with("compression='ZSTD', decompressed_size="), "{shown:?}");
    // Events in the payload are shown at the payload's end.
    let file = column(&server.rows("SHOW BINARY LOG STATUS")[0], 0);
    let rows = server.rows(&format!("SHOW BINLOG EVENTS IN '{file}' LIMIT 3, 3"));
    let places: Vec<_> = rows.iter().map(|row| (column(row, 1), column(row, 2), column(row, 4))).collect();
    let end = places[0].2.clone();
    assert_eq!(places[1], (end.clone(), "Query".to_string(), end.clone()), "{places:?}");
    assert_eq!(places[2], (end.clone(), "Table_map".to_string(), end), "{places:?}");
    // Definitions and statements are not compressed.
    run("FLUSH BINARY LOGS");
    run("CREATE TABLE d.u (id INT PRIMARY KEY)");
    assert_eq!(kinds(&server), ["Gtid", "Query"]);
    run("FLUSH BINARY LOGS");
    run("SET SESSION binlog_format = STATEMENT");
    run("INSERT INTO d.u VALUES (1)");
    run("SET SESSION binlog_format = ROW");
    assert!(!kinds(&server).contains(&"Transaction_payload".to_string()), "{:?}", kinds(&server));
    run("FLUSH BINARY LOGS");
    run("SET SESSION binlog_transaction_compression = OFF");
    run("INSERT INTO d.u VALUES (2)");
    assert_eq!(kinds(&server), ["Gtid", "Query", "Table_map", "Write_rows", "Xid"]);
    // The setting applies to a whole transaction, so it cannot change within one.
    run("BEGIN");
    run("INSERT INTO d.u VALUES (3)");
    let refused = session.query("SET SESSION binlog_transaction_compression = ON").expect_err("is refused");
    assert!(refused.to_string().contains("cannot be set when there is an ongoing transaction"), "{refused}");
}

#[test]
fn what_it_saves_is_counted() {
    let server = Server::start(flavor_under_test(), &Settings::default());
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)");
    let mut session = server.connect();
    let mut run = |sql: &str| session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("SET SESSION binlog_transaction_compression = ON");
    for id in 0..3 {
        run(&format!("INSERT INTO d.t VALUES ({id}, REPEAT('text ', 1000))"));
    }
    server.rows("SHOW BINARY LOG STATUS");
    let rows = server.rows(
        "SELECT LOG_TYPE, COMPRESSION_TYPE, TRANSACTION_COUNTER, COMPRESSED_BYTES_COUNTER, UNCOMPRESSED_BYTES_COUNTER, \
         COMPRESSION_PERCENTAGE, LAST_TRANSACTION_ID FROM performance_schema.binary_log_transaction_compression_stats \
         WHERE COMPRESSION_TYPE = 'ZSTD'",
    );
    assert_eq!(rows.len(), 1, "{rows:?}");
    let number = |at| column(&rows[0], at).parse::<u64>().expect("is a number");
    assert_eq!((column(&rows[0], 0).as_str(), number(2)), ("BINARY", 3));
    assert!(number(4) > 15_000 && number(3) < number(4) / 5, "{rows:?}");
    assert!(number(5) > 80, "{rows:?}");
    let executed = server.rows("SELECT @@gtid_executed")[0].clone();
    let last = executed.rsplit('-').next().unwrap_or_default();
    assert!(column(&rows[0], 6).ends_with(&format!(":{last}")), "{rows:?}, {executed}");
}

/// Recovery writes the file again, with the compression level that each transaction had.
#[test]
fn after_a_kill_the_files_are_as_they_were() {
    let mut server = Server::start(Flavor::Slipstream, &Settings { durable: true, ..Settings::default() });
    server.run("CREATE DATABASE d");
    // The table has no key: dependencies of transactions that are written again follow the order of
    // commits, not the keys that were written.
    server.run("CREATE TABLE d.t (id INT, v TEXT)");
    let mut session = server.connect();
    let mut run = |sql: &str| session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run("SET SESSION binlog_transaction_compression = ON");
    for (id, level) in [1, 22, 3, 12].into_iter().enumerate() {
        run(&format!("SET SESSION binlog_transaction_compression_level_zstd = {level}"));
        run(&format!("INSERT INTO d.t VALUES ({id}, REPEAT('{level} and text ', 1000))"));
    }
    let file = column(&server.rows("SHOW BINARY LOG STATUS")[0], 0);
    let shown = |server: &Server| server.rows(&format!("SHOW BINLOG EVENTS IN '{file}'"));
    let (disk, path) = (os::disk::real(), server.datadir().join(&file));
    let bytes = |server: &Server| {
        shown(server);
        disk.read(&path).expect("is there")
    };
    let before = (shown(&server), bytes(&server));
    server.kill();
    // Nothing is left of the file's transactions but what the redo log has.
    let head =
        before.0[2].split('\t').nth(1).and_then(|pos| pos.parse().ok()).expect("the first group's place");
    disk.open(&path, OpenMode::ReadWrite).and_then(|file| file.set_len(head)).expect("cuts the file");
    server.come_back();
    let after = (shown(&server), bytes(&server));
    assert_eq!(after.0, before.0);
    // The header's byte that says whether the file is open is not compared.
    assert!(after.1[head as usize..] == before.1[head as usize..], "the groups' bytes differ");
}
