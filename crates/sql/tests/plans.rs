//! Tests of which index a statement uses, according to EXPLAIN.

mod support;

use sql::{Host, Session};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use support::{TestHost, engine, outcome, rows, run, session, session_of};

fn table(s: &mut Session) {
    run(
        s,
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(10), d DATE, UNIQUE KEY ua (a), KEY bc (b, c), \
         KEY kd (d), KEY pre (c(3)))",
    );
    let values: Vec<String> =
        (1..=200).map(|i| format!("({i}, {i}, {}, 'c{}', '2020-01-01')", i % 10, i % 7)).collect();
    run(s, &format!("INSERT INTO t VALUES {}", values.join(",")));
}

/// Returns `type key` of the first table in the plan.
fn access(s: &mut Session, statement: &str) -> String {
    let explained = rows(s, &format!("EXPLAIN FORMAT=TRADITIONAL {statement}"));
    let cells: Vec<&str> = explained[0].split('|').collect();
    format!("{} {}", cells[4], cells[6])
}

#[test]
fn the_index_that_costs_least_is_taken() {
    let engine = engine();
    let mut s = session(&engine);
    table(&mut s);
    for (filter, expected) in [
        ("id = 5", "const PRIMARY"),
        ("id = 5 AND b = 3", "const PRIMARY"),
        ("a = 5", "const ua"),
        ("b = 5", "ref bc"),
        ("b = 5 AND c = 'x'", "ref bc"),
        ("b = 5 AND c > 'x'", "range bc"),
        ("id BETWEEN 1 AND 5", "range PRIMARY"),
        ("id IN (1, 2, 3)", "range PRIMARY"),
        ("a BETWEEN 1 AND 2 OR a BETWEEN 7 AND 9", "range ua"),
        ("d >= '2020-01-02'", "range kd"),
        // All rows are in this range, so the table is scanned.
        ("d >= '2020-01-01'", "ALL NULL"),
        ("c = 'c1'", "ref pre"),
        // No index can serve these conditions.
        ("b + 1 = 5", "ALL NULL"),
        ("c = 5", "ALL NULL"),
        ("id = 1 OR b = 2", "ALL NULL"),
        ("c = 'x' COLLATE utf8mb4_bin", "ALL NULL"),
    ] {
        assert_eq!(access(&mut s, &format!("SELECT * FROM t WHERE {filter}")), expected, "{filter}");
    }
}

#[test]
fn an_index_that_has_all_columns_is_enough() {
    let engine = engine();
    let mut s = session(&engine);
    table(&mut s);
    for (statement, expected) in [
        ("SELECT a FROM t FORCE INDEX (ua) WHERE a > 5", "Using where; Using index"),
        ("SELECT id, a FROM t FORCE INDEX (ua) ORDER BY a LIMIT 3", "Using index"),
        ("SELECT COUNT(*) FROM t FORCE INDEX (kd) WHERE d > '2019-01-01'", "Using where; Using index"),
        ("SELECT id FROM t FORCE INDEX (bc) WHERE b = 3", "Using where; Using index"),
        // The index does not suffice: for another column, a text of which it has only weights, a
        // prefix, all columns of the clustered index, or a lock.
        ("SELECT a, b FROM t FORCE INDEX (ua) WHERE a > 5", "Using where"),
        ("SELECT c FROM t FORCE INDEX (bc) WHERE b = 3", "Using where"),
        ("SELECT c FROM t FORCE INDEX (pre) WHERE c > 'c1'", "Using where"),
        ("SELECT id FROM t WHERE id > 5", "Using where"),
        ("SELECT a FROM t FORCE INDEX (ua) WHERE a > 5 FOR UPDATE", "Using where"),
    ] {
        let explained = rows(&mut s, &format!("EXPLAIN FORMAT=TRADITIONAL {statement}"));
        assert_eq!(explained[0].split('|').next_back(), Some(expected), "{statement}");
    }
}

#[test]
fn order_and_hints() {
    let engine = engine();
    let mut s = session(&engine);
    table(&mut s);
    assert_eq!(access(&mut s, "SELECT * FROM t ORDER BY b, c LIMIT 3"), "index bc");
    assert_eq!(access(&mut s, "SELECT * FROM t ORDER BY id DESC LIMIT 3"), "ALL NULL");
    assert_eq!(access(&mut s, "SELECT * FROM t IGNORE INDEX (ua) WHERE a = 1"), "ALL NULL");
    assert_eq!(access(&mut s, "SELECT * FROM t FORCE INDEX (bc) WHERE a = 1"), "index bc");
    assert_eq!(access(&mut s, "DELETE FROM t WHERE id >= 3 ORDER BY id LIMIT 2"), "range PRIMARY");
    assert_eq!(access(&mut s, "UPDATE t SET b = 1 WHERE a = 7"), "const ua");
    assert_eq!(rows(&mut s, "SELECT id FROM t ORDER BY id DESC LIMIT 2"), ["200", "199"]);
    assert_eq!(rows(&mut s, "SELECT id FROM t WHERE b = 3 ORDER BY c DESC, id LIMIT 2"), ["13", "83"]);
}

#[test]
fn every_range_gives_the_rows_that_a_scan_gives() {
    let engine = engine();
    let mut s = session(&engine);
    table(&mut s);
    for filter in [
        "a > 10.5 AND a <= 20",
        "a < -1",
        "a > 99999999999",
        "a >= '17.2' AND a < '19'",
        "a IN (1, 2.5, '3', NULL, 400)",
        "b = 3 AND c BETWEEN 'c1' AND 'c4'",
        "b = 3 AND c > 'c'",
        "b IN (1, 2) OR b = 9",
        "b > 7 OR b < 2",
        "c > 'c5'",
        "d > '2019-12-31 23:59:59'",
        "id > 5 AND id > 100",
        "a <=> NULL",
    ] {
        let by_index = rows(&mut s, &format!("SELECT id FROM t WHERE {filter} ORDER BY id + 0"));
        let by_scan = rows(
            &mut s,
            &format!(
                "SELECT id FROM t IGNORE INDEX (PRIMARY, ua, bc, kd, pre) WHERE {filter} ORDER BY id + 0"
            ),
        );
        assert_eq!(by_index, by_scan, "{filter}");
    }
}

#[test]
fn the_inner_table_of_a_join_is_looked_up() {
    let engine = engine();
    let mut s = session(&engine);
    table(&mut s);
    run(&mut s, "CREATE TABLE u (t_id INT, n INT); INSERT INTO u VALUES (3, 1), (4, 2), (999, 3)");
    let explained = rows(&mut s, "EXPLAIN FORMAT=TRADITIONAL SELECT * FROM u JOIN t ON t.id = u.t_id");
    assert!(explained[1].contains("|eq_ref|PRIMARY|PRIMARY|4|test.u.t_id|"), "{explained:?}");
    assert_eq!(
        rows(&mut s, "SELECT u.n, t.id FROM u LEFT JOIN t ON t.id = u.t_id ORDER BY n"),
        ["1|3", "2|4", "3|NULL"]
    );
}

#[test]
fn schema_tables_are_queried_like_others() {
    let engine = engine();
    let mut s = session(&engine);
    table(&mut s);
    let text = "SELECT index_name, COUNT(*) FROM information_schema.statistics WHERE table_schema = 'test' AND \
                table_name = 't' GROUP BY index_name ORDER BY 1";
    assert_eq!(rows(&mut s, text), ["bc|2", "kd|1", "pre|1", "PRIMARY|1", "ua|1"]);
    assert_eq!(rows(&mut s, "SHOW TABLES LIKE 't%'"), ["t"]);
    assert_eq!(rows(&mut s, "SHOW VARIABLES WHERE Variable_name = 'autocommit'"), ["autocommit|ON"]);
    assert_eq!(
        rows(&mut s, "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'test'"),
        ["test"]
    );
}

/// The computation of a table of information_schema ends when KILL comes, not after its last row.
#[test]
fn schema_tables_are_not_computed_further_once_killed() {
    const TABLES: u64 = 20;
    const COLUMNS: u64 = 30;
    let engine = engine();
    let host: Arc<TestHost> = Arc::default();
    let mut s = session_of(&engine, host.clone());
    let columns: Vec<String> = (0..COLUMNS).map(|at| format!("c{at} INT")).collect();
    for at in 0..TABLES {
        run(&mut s, &format!("CREATE TABLE t{at} ({})", columns.join(", ")));
    }
    let text = "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'test'";
    host.sights.store(0, Ordering::Relaxed);
    assert_eq!(rows(&mut s, text), [(TABLES * COLUMNS).to_string()]);
    let of_all = host.sights.swap(0, Ordering::Relaxed);
    assert!(of_all >= TABLES * COLUMNS, "{of_all}: each column is looked for");
    let kill_at = of_all / 2;
    host.kill_at_sight.store(kill_at, Ordering::Relaxed);
    let said = outcome(&mut s, text);
    assert!(said[0].starts_with("ERROR 1317"), "{said:?}");
    assert_eq!(host.sights.load(Ordering::Relaxed), kill_at);
}

/// A table that the host computes has its columns known without its rows. Its rows are charged one
/// by one, and KILL is looked for at each.
#[test]
fn tables_of_the_host_are_computed_row_by_row() {
    let host: Arc<TestHost> = Arc::default();
    let mut s = session_of(&engine(), host.clone());
    let table = "performance_schema.endless";
    assert_eq!(outcome(&mut s, &format!("SHOW COLUMNS FROM {table}")), ["n\tvarchar(8)\tYES\t\tNULL\t"]);
    s.prepare(format!("SELECT n FROM {table}").as_bytes()).expect("it can be prepared");
    assert_eq!(host.endless_rows.load(Ordering::Relaxed), 0, "nobody has read it");

    host.kill_at_row.store(1_000, Ordering::Relaxed);
    let said = outcome(&mut s, &format!("SELECT COUNT(*) FROM {table}"));
    assert!(said[0].starts_with("ERROR 1317"), "{said:?}");
    assert_eq!(host.endless_rows.swap(0, Ordering::Relaxed), 1_000);

    host.kill_at_row.store(0, Ordering::Relaxed);
    host.interrupt.store(false, Ordering::Relaxed);
    let used_bytes = host.memory().used_bytes();
    host.memory().set_limits(used_bytes + (4 << 20), 0, false);
    let said = outcome(&mut s, &format!("SELECT COUNT(*) FROM {table}"));
    assert!(said[0].starts_with("ERROR 4082"), "{said:?}");
    assert!(host.endless_rows.load(Ordering::Relaxed) < 1_000_000, "a row takes more than 4 bytes");
    assert_eq!(host.memory().used_bytes(), used_bytes, "all is given back");
}
