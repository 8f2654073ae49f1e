//! Tests with the real sysbench 1.0, unchanged: prepare, run and cleanup of its scripts.

use testkit::Server;
use testkit::sysbench::{Script, Way, figure};

/// Runs one script over TCP, and again over the Unix socket.
fn runs(name: &str, options: &[&str]) {
    if !testkit::tool_available(&format!("sysbench::{name}"), "sysbench") {
        return;
    }
    let server = Server::under_test();
    for (way, threads) in [(Way::Tcp, 4), (Way::Socket, 1)] {
        let options = options.iter().map(|option| option.to_string()).collect();
        let report = Script { server: &server, name, way, threads, options }.whole(400);
        // Transactions that met a deadlock were repeated, so that all of them have been run.
        assert_eq!(figure(&report, "total number of events"), 400, "{report}");
        assert_eq!(figure(&report, "reconnects"), 0, "{report}");
    }
}

const TABLES: &[&str] = &["--tables=2", "--table-size=2000"];

#[test]
fn oltp_read_only() {
    runs("oltp_read_only", TABLES);
}

#[test]
fn oltp_read_write() {
    runs("oltp_read_write", TABLES);
}

#[test]
fn oltp_write_only() {
    runs("oltp_write_only", TABLES);
}

#[test]
fn oltp_point_select() {
    runs("oltp_point_select", TABLES);
}

#[test]
fn oltp_update_index() {
    runs("oltp_update_index", TABLES);
}

#[test]
fn oltp_update_non_index() {
    runs("oltp_update_non_index", TABLES);
}

#[test]
fn oltp_insert() {
    runs("oltp_insert", TABLES);
}

#[test]
fn oltp_delete() {
    runs("oltp_delete", TABLES);
}

#[test]
fn select_random_points() {
    runs("select_random_points", &["--tables=1", "--table-size=2000"]);
}

#[test]
fn select_random_ranges() {
    runs("select_random_ranges", &["--tables=1", "--table-size=2000"]);
}

#[test]
fn bulk_insert() {
    runs("bulk_insert", &[]);
}

/// The tables have other shapes: keys that the client makes, a secondary key in place of the
/// primary key, no transactions.
#[test]
fn oltp_read_write_in_other_shapes() {
    runs("oltp_read_write", &["--tables=1", "--table-size=1000", "--auto-inc=off"]);
    runs("oltp_read_only", &["--tables=1", "--table-size=1000", "--skip-trx=on"]);
    runs("oltp_read_write", &["--tables=1", "--table-size=500", "--secondary=on"]);
}

/// The statements are texts instead of prepared statements.
#[test]
fn oltp_read_write_without_prepared_statements() {
    runs("oltp_read_write", &["--tables=2", "--table-size=2000", "--db-ps-mode=disable"]);
}

/// Many clients on few rows wait for each other and run into deadlocks, and all of them get
/// through.
#[test]
fn oltp_read_write_with_64_clients_on_few_rows() {
    if !testkit::tool_available("sysbench::oltp_read_write_with_64_clients_on_few_rows", "sysbench") {
        return;
    }
    let server = Server::under_test();
    let options = vec!["--tables=1".to_string(), "--table-size=200".to_string()];
    let script = Script { server: &server, name: "oltp_read_write", way: Way::Tcp, threads: 64, options };
    let report = script.whole(2_000);
    assert_eq!(figure(&report, "total number of events"), 2_000, "{report}");
}
