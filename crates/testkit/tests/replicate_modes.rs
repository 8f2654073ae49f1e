//! Tests of what a replica does about rows that are not as the source had them, and about
//! transactions that it is told to leave out.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::{StartFrom, Thread};
use testkit::following::{By, Pair};
use testkit::{Replica, Server};

/// A table, the statements that make the replica's table different, and what the source does.
/// Whatever the source does must end in an error with STRICT.
struct Case {
    table: &'static str,
    rows: &'static str,
    here: &'static [&'static str],
    changes: &'static [&'static str],
}

const KEYED: &str = "id INT PRIMARY KEY, u INT, v VARCHAR(10), UNIQUE KEY by_u (u)";
const ROWS: &str = "(1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, 'd')";

const CASES: &[Case] = &[
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["DELETE FROM d.t WHERE id = 2"],
        changes: &["UPDATE d.t SET v = 'x' WHERE id = 2"],
    },
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["DELETE FROM d.t WHERE id = 2"],
        changes: &["DELETE FROM d.t WHERE id > 1"],
    },
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["INSERT INTO d.t VALUES (5, 55, 'z')"],
        changes: &["INSERT INTO d.t VALUES (5, 50, 'e')"],
    },
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["INSERT INTO d.t VALUES (6, 50, 'z'), (7, 77, 'y')"],
        changes: &["INSERT INTO d.t VALUES (8, 80, 'h'), (5, 50, 'e'), (7, 70, 'g')"],
    },
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["INSERT INTO d.t VALUES (6, 60, 'z')"],
        changes: &["UPDATE d.t SET u = 60 WHERE id = 1"],
    },
    Case {
        table: "a INT, b VARCHAR(10)",
        rows: "(1, 'a'), (2, 'b'), (2, 'b'), (3, 'c')",
        here: &["DELETE FROM d.t WHERE a = 1"],
        changes: &["UPDATE d.t SET b = 'x' WHERE a < 3"],
    },
    Case {
        table: "a INT, b VARCHAR(10), KEY by_a (a)",
        rows: "(1, 'a'), (2, 'b'), (2, 'b'), (3, 'c')",
        here: &["DELETE FROM d.t WHERE a = 1"],
        changes: &["DELETE FROM d.t WHERE a < 3"],
    },
];

/// Runs statements on one server without logging them.
fn alone(server: &Server, statements: &[&str]) {
    let mut session = server.connect();
    for sql in [&["SET sql_log_bin = 0"], statements].concat() {
        session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
    }
}

fn stops_with(replica: &Replica) -> (u32, String) {
    let status = replica.wait_until("stopped", |status| status.sql_running == "No");
    let mut message = status.sql_error.clone();
    if replica.flavor() == Flavor::MySql {
        // MySQL's coordinator only reports that a worker has stopped.
        let of_worker = "SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker \
                         WHERE LAST_ERROR_NUMBER <> 0";
        message = replica.rows(of_worker).remove(0);
        message = message.split_once("; ").map_or(message.clone(), |(_, cause)| cause.to_string());
        // MySQL gives the cause twice if it has searched an index.
        let cause = "Can't find record in 't', Error_code: 1032; ";
        message = message.replace(&cause.repeat(2), cause);
    }
    (status.sql_errno, message)
}

fn as_mysql_does(image: RowImage) {
    if !testkit::available("replicate_modes::as_mysql_does", &[Flavor::MySql]) {
        return;
    }
    let settings = |server_id| Settings { server_id, row_image: image, ..Settings::default() };
    let source = Server::start(Flavor::MySql, &settings(1));
    let mut replicas = [Flavor::MySql, Flavor::Slipstream].map(|flavor| {
        let replica = Replica::start(flavor, &settings(if flavor == Flavor::MySql { 2 } else { 3 }));
        replica.follow(Flavor::MySql, source.port(), &StartFrom::Gtid);
        replica
    });
    // A replica of Slipstream checks that its binary log has what happened.
    let behind = Replica::start(Flavor::Slipstream, &settings(4));
    behind.follow(Flavor::Slipstream, replicas[1].port(), &StartFrom::Gtid);
    source.run("CREATE DATABASE d");
    let all = "SELECT * FROM d.t ORDER BY 1, 2, 3";
    let both = "SELECT * FROM d.t ORDER BY 1, 2";
    let mut differences = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let rows = if case.table == KEYED { all } else { both };
        for sql in [
            "DROP TABLE IF EXISTS d.t",
            &format!("CREATE TABLE d.t ({})", case.table),
            &format!("INSERT INTO d.t VALUES {}", case.rows),
        ] {
            source.run(sql);
        }
        for replica in &replicas {
            replica.catch_up(&source);
            replica.run("SET GLOBAL replica_exec_mode = STRICT");
        }
        behind.catch_up(&replicas[1]);
        replicas.iter().for_each(|replica| alone(replica, case.here));
        alone(&behind, case.here);
        case.changes.iter().for_each(|sql| drop(source.run(sql)));
        let [theirs, ours] = [0, 1].map(|at| stops_with(&replicas[at]));
        if ours != theirs {
            differences.push(format!("case {number}:\n  ours    {ours:?}\n  MySQL's {theirs:?}"));
        }
        for replica in &replicas {
            replica.run("SET GLOBAL replica_exec_mode = IDEMPOTENT");
            replica.start_thread(Thread::Sql);
            replica.catch_up(&source);
        }
        assert_eq!(replicas[1].rows(rows), replicas[0].rows(rows), "case {number}");
        behind.catch_up(&replicas[1]);
        assert_eq!(behind.rows(rows), replicas[0].rows(rows), "case {number}, behind us");
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    // Recovery restores what was done.
    let before = replicas[1].rows(both);
    replicas[1].kill();
    replicas[1].come_back();
    assert_eq!(replicas[1].rows(both), before);
}

#[test]
fn as_mysql_does_with_full_images() {
    as_mysql_does(RowImage::Full);
}

#[test]
fn as_mysql_does_with_minimal_images() {
    as_mysql_does(RowImage::Minimal);
}

/// More cases: what the source does, and what differs at the replica.
const FAILING: &[Case] = &[
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["DROP TABLE d.t", "CREATE TABLE d.here (a INT)"],
        changes: &[
            "UPDATE d.t SET v = 'x'",
            "ALTER TABLE d.t ADD w INT",
            "CREATE TABLE d.here (b INT)",
            "DROP TABLE d.here",
            "CREATE TABLE d.t2 LIKE d.t",
            "DROP TABLE IF EXISTS d.t2",
            "DROP TABLE d.t",
            "CREATE TABLE d.t (id INT PRIMARY KEY, u INT, v INT)",
        ],
    },
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["ALTER TABLE d.t ADD w INT, ADD KEY by_v (v)", "CREATE DATABASE other"],
        changes: &[
            "ALTER TABLE d.t ADD w INT",
            "CREATE INDEX by_v ON d.t (v)",
            "CREATE DATABASE other",
            "DROP DATABASE other",
        ],
    },
    Case {
        table: KEYED,
        rows: ROWS,
        here: &["INSERT INTO d.t VALUES (6, 60, 'z')"],
        changes: &[
            "SET binlog_format = 'STATEMENT'",
            "INSERT INTO d.t VALUES (5, 50, 'e'), (6, 61, 'f'), (7, 70, 'g')",
            "DELETE FROM d.t WHERE id = 3",
            "UPDATE d.t SET u = u + 20 WHERE id IN (1, 4) ORDER BY id",
            "SET binlog_format = 'ROW'",
        ],
    },
];

fn skips_errors_as_mysql_does(workers: u32, errors: &str) {
    let test = format!("replicate_modes::skips_errors_as_mysql_does: {errors}, {workers} workers");
    if !testkit::available(&test, &[Flavor::MySql]) {
        return;
    }
    let settings = |server_id| Settings { server_id, replica_workers: workers, ..Settings::default() };
    let skipping = |server_id| Settings {
        extra: vec![format!("--replica-skip-errors={errors}")],
        ..settings(server_id)
    };
    let source = Server::start(Flavor::MySql, &settings(1));
    let replicas = [Flavor::MySql, Flavor::Slipstream].map(|flavor| {
        let replica = Replica::start(flavor, &skipping(if flavor == Flavor::MySql { 2 } else { 3 }));
        replica.follow(Flavor::MySql, source.port(), &StartFrom::Gtid);
        replica
    });
    let behind = Replica::start(Flavor::Slipstream, &settings(4));
    behind.follow(Flavor::Slipstream, replicas[1].port(), &StartFrom::Gtid);
    source.run("CREATE DATABASE d");
    for (number, case) in CASES.iter().chain(FAILING).enumerate() {
        for sql in [
            "DROP TABLE IF EXISTS d.t",
            &format!("CREATE TABLE d.t ({})", case.table),
            &format!("INSERT INTO d.t VALUES {}", case.rows),
        ] {
            source.run(sql);
        }
        replicas.iter().for_each(|replica| replica.catch_up(&source));
        behind.catch_up(&replicas[1]);
        replicas.iter().for_each(|replica| alone(replica, case.here));
        alone(&behind, case.here);
        let mut session = source.connect();
        for sql in case.changes {
            session.query(sql).unwrap_or_else(|error| panic!("case {number}: {sql}: {error}"));
        }
        // Other transactions succeed meanwhile, and workers apply them at once.
        let keyed = case.table.starts_with("id");
        let columns = if keyed { "(id, u)" } else { "(a, b)" };
        for id in 100..110 {
            source.run(&format!("REPLACE INTO d.t {columns} VALUES ({id}, {id})"));
        }
        replicas.iter().for_each(|replica| replica.catch_up(&source));
        behind.catch_up(&replicas[1]);
        let order = if keyed { "1, 2, 3" } else { "1, 2" };
        let rows = format!("SELECT * FROM d.t ORDER BY {order}");
        for query in ["SELECT @@replica_skip_errors", &rows, "SHOW TABLES IN d"] {
            assert_eq!(replicas[1].rows(query), replicas[0].rows(query), "case {number}: {query}");
        }
        behind.equals_by(&replicas[1], &rows);
    }
}

#[test]
fn errors_are_skipped_as_mysql_skips_them() {
    skips_errors_as_mysql_does(0, "all");
}

#[test]
fn errors_are_skipped_as_mysql_skips_them_with_workers() {
    skips_errors_as_mysql_does(4, "ddl_exist_errors,1062,1032");
}

#[test]
fn an_error_that_is_not_listed_stops_the_applier() {
    let skipping = Settings { extra: vec!["--replica-skip-errors=1062".into()], ..Settings::default() };
    let source = Server::start(Flavor::Slipstream, &Settings::default());
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..skipping });
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    replica.catch_up(&source);
    alone(&replica, &["INSERT INTO d.t VALUES (1)"]);
    // The rows before the duplicate one stay.
    source.run("INSERT INTO d.t VALUES (2), (1)");
    replica.catch_up(&source);
    assert_eq!(replica.rows("SELECT * FROM d.t"), ["1", "2"]);
    alone(&replica, &["DELETE FROM d.t WHERE id = 2"]);
    source.run("DELETE FROM d.t WHERE id = 2");
    assert_eq!(stops_with(&replica).0, 1032);
}

fn skips(workers: u32) {
    let settings = Settings { gtid: false, replica_workers: workers, ..Settings::default() };
    let mut pair = Pair::start_with(Flavor::Slipstream, Flavor::Slipstream, &settings, By::Position);
    pair.source.run("CREATE DATABASE d");
    pair.source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    pair.replica.catch_up(&pair.source);
    let (code, message) = pair.replica.refuses("SET GLOBAL sql_replica_skip_counter = 1");
    assert_eq!(code, 3017, "{message}");
    pair.replica.stop_thread(Thread::Sql);
    for ids in ["(1), (2)", "(3)", "(4)", "(5)"] {
        pair.source.run(&format!("INSERT INTO d.t VALUES {ids}"));
    }
    // Whatever the number, a transaction whose beginning is skipped is skipped as a whole.
    pair.replica.run("SET GLOBAL sql_replica_skip_counter = 5");
    assert_eq!(pair.replica.rows("SELECT @@GLOBAL.sql_replica_skip_counter"), ["5"]);
    pair.replica.start_thread(Thread::Sql);
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT * FROM d.t ORDER BY id"), ["4", "5"]);
    assert_eq!(pair.replica.rows("SELECT @@GLOBAL.sql_replica_skip_counter"), ["0"]);
    pair.replica.stop_thread(Thread::Sql);
    pair.source.run("DROP TABLE d.t");
    pair.source.run("CREATE TABLE d.u (id INT PRIMARY KEY)");
    pair.replica.run("SET GLOBAL sql_replica_skip_counter = 1");
    pair.replica.start_thread(Thread::Sql);
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SHOW TABLES IN d"), ["t", "u"]);
    pair.replica.kill();
    pair.replica.come_back();
    pair.source.run("INSERT INTO d.u VALUES (1)");
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT * FROM d.t ORDER BY id"), ["4", "5"]);
}

#[test]
fn a_count_of_events_is_passed_over() {
    skips(0);
}

#[test]
fn a_count_of_events_is_passed_over_with_workers() {
    skips(2);
}

#[test]
fn a_transaction_is_left_out_by_an_empty_one_with_its_gtid() {
    let pair = Pair::start(Flavor::Slipstream, Flavor::Slipstream, RowImage::Full, By::Gtid);
    pair.source.run("CREATE DATABASE d");
    pair.source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    pair.replica.catch_up(&pair.source);
    let (code, message) = pair.replica.refuses("SET GLOBAL sql_replica_skip_counter = 1");
    assert_eq!(code, 1858, "{message}");
    alone(&pair.replica, &["INSERT INTO d.t VALUES (7)"]);
    pair.source.run("INSERT INTO d.t VALUES (7), (8)");
    pair.replica.wait_until("stopped", |status| status.sql_errno == 1062);
    let executed = pair.source.rows("SELECT @@GLOBAL.gtid_executed").remove(0);
    let (uuid, numbers) = executed.split_once(':').expect("a GTID set");
    let last = numbers.rsplit('-').next().expect("a number");
    let mut session = pair.replica.connect();
    let gtid = format!("{uuid}:{last}");
    for sql in [&format!("SET gtid_next = '{gtid}'"), "BEGIN", "COMMIT"] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let spent = session.query("INSERT INTO d.t VALUES (9)").expect_err("is refused");
    assert!(spent.to_string().contains("1837"), "{spent}");
    session.query("SET gtid_next = 'AUTOMATIC'").expect("is set");
    pair.replica.start_thread(Thread::Sql);
    pair.source.run("INSERT INTO d.t VALUES (9)");
    pair.replica.catch_up(&pair.source);
    assert_eq!(pair.replica.rows("SELECT * FROM d.t ORDER BY id"), ["7", "9"]);
    // A transaction whose GTID was executed is skipped, and a GTID that a session chose is used
    // once.
    for sql in
        [&format!("SET gtid_next = '{gtid}'"), "INSERT INTO d.t VALUES (10)", "SET gtid_next = 'AUTOMATIC'"]
    {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let own = "99999999-2222-3333-4444-555555555555:4";
    for sql in
        [&format!("SET gtid_next = '{own}'"), "INSERT INTO d.t VALUES (11)", "SET gtid_next = 'AUTOMATIC'"]
    {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    assert_eq!(pair.replica.rows("SELECT * FROM d.t ORDER BY id"), ["7", "9", "11"]);
    assert!(pair.replica.rows("SELECT @@GLOBAL.gtid_executed")[0].contains(own));
    for (sql, code) in [("SET gtid_next = 'x'", 1774), ("SET gtid_next = 'ANONYMOUS'", 1782)] {
        assert_eq!(pair.replica.refuses(sql).0, code, "{sql}");
    }
}

#[test]
fn rows_of_one_event_without_a_key_are_found_in_one_scan() {
    let pair = Pair::start(Flavor::Slipstream, Flavor::Slipstream, RowImage::Full, By::Gtid);
    pair.source.run("CREATE DATABASE d");
    // A scan for each of the 2400 rows would read over 60 pages each, and a search of the index for
    // each would read 27,000 pages in all.
    for (table, key, most) in [("t", "", 70_000), ("k", ", KEY (b)", 21_000)] {
        let requests = requests_without_a_key(&pair, table, key);
        println!("{requests} page requests{key}");
        assert!(requests < most, "{requests} page requests{key}");
    }
}

/// Returns the page requests of a replica that changes many rows of a table without a unique key.
fn requests_without_a_key(pair: &Pair, table: &str, key: &str) -> u64 {
    pair.source.run(&format!("CREATE TABLE d.{table} (a INT, b INT, c VARCHAR(200){key})"));
    for base in [0, 1000, 2000, 3000] {
        let row = |n: u32| format!("({}, {}, REPEAT('c', 150))", base + n, n % 10);
        let rows: Vec<String> = (0..1000).map(row).collect();
        pair.source.run(&format!("INSERT INTO d.{table} VALUES {}", rows.join(",")));
    }
    // Some rows are the same, and some become what others were.
    let same = "(5000, 1, 'x'), (5000, 1, 'x'), (5000, 1, 'x'), (5001, 1, 'x')";
    pair.source.run(&format!("INSERT INTO d.{table} VALUES {same}"));
    pair.replica.catch_up(&pair.source);
    let reads = || -> u64 {
        let row = pair.replica.rows("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_requests'").remove(0);
        row.split('\t').nth(1).and_then(|n| n.parse().ok()).expect("a number")
    };
    let before = reads();
    pair.source.run(&format!("UPDATE d.{table} SET a = a + 1 WHERE b < 5"));
    pair.source.run(&format!("DELETE FROM d.{table} WHERE a = 5001 LIMIT 2"));
    pair.source.run(&format!("DELETE FROM d.{table} WHERE b = 7"));
    pair.replica.catch_up(&pair.source);
    let requests = reads() - before;
    pair.replica.equals_by(&pair.source, &format!("SELECT * FROM d.{table} ORDER BY a, b, c"));
    requests
}
