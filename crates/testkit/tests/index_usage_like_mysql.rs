//! Tests of performance_schema's tables about the uses of tables and indexes, and of sys' views
//! over them: a real MySQL gets the same statements.

use bench::instance::{Flavor, Settings};
use protocol::client::Client;
use testkit::Server;
use testkit::answers::rows;
use testkit::server::same_as_mysql;

fn measuring() -> Settings {
    let mut settings = Settings::default();
    settings.extra.push("--performance-schema=ON".into());
    settings
}

fn run(client: &mut Client, sql: &str) {
    client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn begin(server: &Server) -> Client {
    server.run("CREATE DATABASE d");
    let mut client = server.connect();
    for sql in [
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, u INT, KEY ka (a), KEY kb (b), UNIQUE KEY ku (u))",
        "CREATE TABLE n (x INT, KEY kx (x))",
        "INSERT INTO t VALUES (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)",
        "INSERT INTO n VALUES (1), (2)",
        "TRUNCATE performance_schema.table_io_waits_summary_by_table",
    ] {
        run(&mut client, sql);
    }
    client
}

/// Returns what was counted since the tables were emptied last, and empties them.
fn counted(client: &mut Client, what: &str) -> Vec<String> {
    let found = rows(
        client,
        &format!(
            "SELECT object_name, index_name, {what} \
             FROM performance_schema.table_io_waits_summary_by_index_usage \
             WHERE object_schema = 'd' AND count_star > 0 ORDER BY 1, 2"
        ),
    );
    run(client, "TRUNCATE performance_schema.table_io_waits_summary_by_index_usage");
    found
}

#[test]
fn rows_that_are_read_count_for_their_index() {
    let test = "index_usage_like_mysql::rows_that_are_read_count_for_their_index";
    let lines = same_as_mysql(test, &measuring(), |server| {
        let mut client = begin(server);
        let mut lines = Vec::new();
        for sql in [
            "SELECT * FROM t WHERE id = 1",
            "SELECT * FROM t WHERE id = 99",
            "SELECT * FROM t",
            "SELECT * FROM t FORCE INDEX (ka) WHERE a >= 2",
            "SELECT * FROM t FORCE INDEX (ka) WHERE a = 2",
            "SELECT * FROM t WHERE u = 2",
            "SELECT a FROM t FORCE INDEX (kb) ORDER BY b LIMIT 2",
            "SELECT * FROM t WHERE id IN (1, 3)",
        ] {
            run(&mut client, sql);
            lines.push(sql.to_owned());
            lines.extend(counted(&mut client, "count_star, count_read, count_fetch, count_write"));
        }
        lines
    });
    assert!(lines.len() > 14, "{lines:?}");
}

#[test]
fn rows_that_are_changed_count_for_the_index_that_found_them() {
    let test = "index_usage_like_mysql::rows_that_are_changed_count_for_the_index_that_found_them";
    same_as_mysql(test, &measuring(), |server| {
        let mut client = begin(server);
        let mut lines = Vec::new();
        for sql in [
            "INSERT INTO t VALUES (4, 4, 4, 4), (5, 5, 5, 5)",
            "UPDATE t SET b = b + 1 WHERE id = 1",
            "UPDATE t FORCE INDEX (ka) SET b = b + 1 WHERE a = 2",
            "UPDATE t SET b = 9",
            "DELETE FROM t WHERE id = 3",
            "DELETE FROM t WHERE u = 4",
            "INSERT INTO t VALUES (9, 9, 9, 1) ON DUPLICATE KEY UPDATE b = 7",
        ] {
            run(&mut client, sql);
            lines.push(sql.to_owned());
            lines.extend(counted(&mut client, "count_write, count_insert, count_update, count_delete"));
        }
        lines
    });
}

#[test]
fn unused_indexes_are_those_that_nobody_has_used() {
    let test = "index_usage_like_mysql::unused_indexes_are_those_that_nobody_has_used";
    same_as_mysql(test, &measuring(), |server| {
        let mut client = begin(server);
        let unused = "SELECT * FROM sys.schema_unused_indexes WHERE object_schema = 'd' ORDER BY 2, 3";
        let mut lines = rows(&mut client, unused);
        // What another session has used counts while the session is open, and when it has ended.
        let mut other = server.connect();
        run(&mut other, "SELECT * FROM d.t FORCE INDEX (ka) WHERE a = 2");
        lines.push("ka is used".into());
        lines.extend(rows(&mut client, unused));
        drop(other);
        server.run("SELECT MAX(b) FROM d.t");
        lines.push("kb is used".into());
        lines.extend(rows(&mut client, unused));
        run(&mut client, "SELECT * FROM n WHERE x = 77");
        run(&mut client, "SELECT STRAIGHT_JOIN t.b FROM t JOIN n FORCE INDEX (kx) ON n.x = t.a");
        lines.push("kx is used".into());
        lines.extend(rows(&mut client, unused));
        lines.extend(rows(
            &mut client,
            "SELECT table_name, rows_fetched > 0, rows_inserted, rows_updated, rows_deleted \
             FROM sys.schema_table_statistics WHERE table_schema = 'd' ORDER BY 1",
        ));
        lines.extend(rows(
            &mut client,
            "SELECT table_name, index_name, rows_selected > 0 FROM sys.schema_index_statistics \
             WHERE table_schema = 'd' ORDER BY 1, 2",
        ));
        lines
    });
}

/// MySQL begins to count anew when an index is added.
#[test]
fn a_new_index_leaves_the_numbers_of_the_others() {
    let server = Server::start(Flavor::Slipstream, &measuring());
    let mut client = begin(&server);
    run(&mut client, "SELECT * FROM t FORCE INDEX (ka) WHERE a = 2");
    run(&mut client, "ALTER TABLE t ADD KEY kab (a, b), ALGORITHM=INPLACE");
    let unused = "SELECT index_name FROM sys.schema_unused_indexes WHERE object_name = 't' ORDER BY 1";
    assert_eq!(rows(&mut client, unused), ["kab", "kb"]);
    run(&mut client, "ALTER TABLE t DROP KEY kb, ALGORITHM=INPLACE");
    assert_eq!(rows(&mut client, unused), ["kab"]);
}

#[test]
fn full_scans_are_those_of_tables_read_without_an_index() {
    let test = "index_usage_like_mysql::full_scans_are_those_of_tables_read_without_an_index";
    same_as_mysql(test, &measuring(), |server| {
        let mut client = begin(server);
        run(&mut client, "SELECT * FROM t WHERE id = 1");
        let scanned = "SELECT object_name, rows_full_scanned FROM sys.schema_tables_with_full_table_scans \
                       WHERE object_schema = 'd'";
        let mut lines = rows(&mut client, scanned);
        run(&mut client, "SELECT * FROM t");
        lines.extend(rows(&mut client, scanned));
        lines
    });
}

/// MySQL counts locks of tables in the summary of objects too, unless their instrument is off. This
/// server does not have it.
#[test]
fn objects_have_the_uses_of_their_rows() {
    let test = "index_usage_like_mysql::objects_have_the_uses_of_their_rows";
    same_as_mysql(test, &measuring(), |server| {
        let mut client = begin(server);
        let mut lines = Vec::new();
        run(
            &mut client,
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME = 'wait/lock/table/sql/handler'",
        );
        let of_objects = "SELECT object_type, object_name, count_star FROM performance_schema.objects_summary_global_by_type \
                          WHERE object_schema = 'd' ORDER BY object_name";
        let of_locks = "SELECT object_type, object_name, count_star, count_read, count_write, count_read_external, \
                        count_write_external, sum_timer_wait FROM performance_schema.table_lock_waits_summary_by_table \
                        WHERE object_schema = 'd' ORDER BY object_name";
        run(&mut client, "TRUNCATE performance_schema.table_lock_waits_summary_by_table");
        run(&mut client, "TRUNCATE performance_schema.objects_summary_global_by_type");
        for sql in ["SELECT * FROM t", "UPDATE t SET b = 9 WHERE id = 1", "INSERT INTO n VALUES (3)"] {
            run(&mut client, sql);
            lines.push(sql.to_owned());
            lines.extend(rows(&mut client, of_objects));
            lines.extend(rows(&mut client, of_locks));
        }
        run(&mut client, "TRUNCATE performance_schema.objects_summary_global_by_type");
        lines.push("emptied".into());
        lines.extend(rows(&mut client, of_objects));
        let of_rows = "SELECT object_name, count_star FROM performance_schema.table_io_waits_summary_by_table \
                       WHERE object_schema = 'd' ORDER BY object_name";
        lines.extend(rows(&mut client, of_rows));
        lines
    });
}
