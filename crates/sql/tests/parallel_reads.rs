//! Queries that several threads read for give the same answers, in the same order and with the same
//! conditions, as with one thread.

mod support;

use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use sql::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{TestHost, engine_on, outcome, rows, run, session_of};

/// Makes a table of 20,000 rows with gaps between them, which is worth several threads, and two
/// small ones.
fn fill(s: &mut Session) {
    // Rows that wait for a part of a hash table in a file would come in another order, which does
    // not happen where all of the table is in memory.
    run(s, "SET join_buffer_size = 67108864");
    run(s, "CREATE TABLE digits (n INT PRIMARY KEY)");
    run(s, "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)");
    run(
        s,
        "CREATE TABLE t (id INT PRIMARY KEY, g INT, u BIGINT UNSIGNED, c DECIMAL(20, 4), x DOUBLE, \
         v VARCHAR(20), d DATE, dt DATETIME(2), KEY (g), KEY (v))",
    );
    run(
        s,
        "INSERT INTO t SELECT n * 3, IF(n % 11 = 0, NULL, n * 7919 % 97), n * n, (n - 9000) * 1.25, n / 3, \
         ELT(n % 5 + 1, 'a', 'A', 'b ', 'ä', CONCAT('t', n % 1000)), DATE '2000-01-01' + INTERVAL n % 500 DAY, \
         IF(n % 13 = 0, NULL, TIMESTAMP '2001-02-03 04:05:06.07' + INTERVAL n SECOND) \
         FROM (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * e.n + 10000 * f.n n \
               FROM digits a, digits b, digits c, digits e, digits f WHERE f.n < 2) numbers",
    );
    run(s, "CREATE TABLE parts (g INT, n SMALLINT, x DOUBLE, id INT, PRIMARY KEY (g, n), KEY (x, g))");
    run(s, "INSERT INTO parts SELECT id DIV 11, id % 11, id DIV 55, id FROM t");
    run(s, "CREATE TABLE groups_of (g INT PRIMARY KEY, name VARCHAR(10), parent INT)");
    run(s, "INSERT INTO groups_of SELECT a.n + 10 * b.n, CONCAT('g', a.n), b.n FROM digits a, digits b");
}

/// Returns a query over the large table whose rows come in an order that MySQL does not promise,
/// and that one thread gives.
fn random_query(rng: &mut Rng) -> String {
    let aggregates = [
        "COUNT(*)",
        "COUNT(dt)",
        "SUM(g)",
        "SUM(c)",
        "AVG(c)",
        "AVG(g)",
        "MIN(d)",
        "MAX(dt)",
        "MAX(u)",
        "MIN(c)",
        "BIT_XOR(u)",
        "BIT_AND(g)",
        "BIT_OR(t.id)",
        "SUM(c * (1 - g))",
        "SUM(CASE WHEN v = 'a' THEN 1 ELSE 0 END)",
        // One thread has to read for these, unless the groups come in order.
        "SUM(x)",
        "MAX(v)",
        "SUM(DISTINCT t.g)",
        "MIN(DISTINCT d)",
        "COUNT(DISTINCT t.g)",
        "COUNT(DISTINCT v, d)",
        "GROUP_CONCAT(t.id)",
    ];
    let keys =
        ["t.g", "v", "d", "g, v", "YEAR(dt), MONTH(dt)", "t.id DIV 1000", "LENGTH(v)", "t.id % 7, v", "t.id"];
    let conditions = [
        "t.g < 50",
        "v LIKE 't%'",
        "d BETWEEN '2000-03-01' AND '2001-01-01'",
        "t.id > 1000 AND t.id < 55000",
        "t.id BETWEEN 20000 AND 58000 OR t.id < 9000",
        "u % 3 = 1",
        "c + 1 > 0",
        "dt IS NULL OR dt > '2001-02-03 06:00:00'",
        "v IN ('A', 'ä')",
        "v > 's'",
        // These raise warnings, or an error, in the order of the rows.
        "v = 5",
        "t.id < 30000 OR v + 1 > 0",
        "POW(t.id, 90) > 0",
        "t.id < 30000 OR g = @later",
        "t.g IN (SELECT n FROM digits)",
        "t.g NOT IN (SELECT n FROM digits WHERE n > 2)",
        "c > (SELECT AVG(c) FROM t)",
        "(t.g, 1) IN (SELECT n, n DIV 5 FROM digits) OR v < 'a'",
        "EXISTS (SELECT 1 FROM digits WHERE n > 5)",
        "EXISTS (SELECT 1 FROM digits WHERE n = t.g)",
        "t.id > (SELECT n FROM digits)",
        // The ranges, and the conditions of a hash table's rows, warn before the rows come.
        "t.id > CAST('7x' AS SIGNED)",
        "t.id BETWEEN CAST('10x' AS SIGNED) AND 50000",
    ];
    let tables = [
        "t",
        "t",
        "t JOIN groups_of o ON o.g = t.g",
        "t LEFT JOIN groups_of o ON o.g = t.g AND o.parent > 4",
        "t JOIN digits n ON n.n = t.g",
        "t JOIN groups_of o ON o.parent = t.g AND o.name + 1 > 0",
        "t LEFT JOIN (digits n JOIN groups_of o ON o.parent = n.n) ON o.g = t.g",
        "t STRAIGHT_JOIN digits n",
        "groups_of o STRAIGHT_JOIN t ON t.g = o.g",
        "digits n STRAIGHT_JOIN groups_of o ON o.parent = n.n STRAIGHT_JOIN t ON t.g = o.g",
        "groups_of o STRAIGHT_JOIN t ON t.g = o.g LEFT JOIN parts p ON p.g = t.id AND p.n > 2",
        "digits n LEFT JOIN (groups_of o JOIN parts p ON p.g = o.g) ON o.parent = n.n STRAIGHT_JOIN t ON t.id = n.n",
    ];
    let count = rng.between(1, 3);
    let chosen: Vec<_> = (0..count).map(|_| *rng.pick(&aggregates)).collect();
    let condition = if rng.one_in(3) { "TRUE" } else { *rng.pick(&conditions) };
    let (from, list) = (rng.pick(&tables), chosen.join(", "));
    match rng.below(5) {
        0 => {
            let key = rng.pick(&["g", "g", "g, n", "n", "x", "x, g"]);
            let list = "COUNT(*), SUM(x), MAX(x), GROUP_CONCAT(n), COUNT(DISTINCT n)";
            let having =
                rng.pick(&["", "HAVING COUNT(*) > 3", "HAVING SUM(id) % 3 = 0", "HAVING MAX(id) > @later"]);
            let limit = if rng.one_in(2) { " LIMIT 20" } else { "" };
            let list = list.split(", ").take(rng.between(1, 5) as usize).collect::<Vec<_>>().join(", ");
            format!("SELECT {key}, id, {list} FROM parts GROUP BY {key} {having}{limit}")
        }
        1 => format!("SELECT {list} FROM {from} WHERE {condition}"),
        2 => {
            let key = rng.pick(&keys);
            format!("SELECT {key}, {list} FROM {from} WHERE {condition} GROUP BY {key} HAVING COUNT(*) > 2")
        }
        // The columns are those of each group's first row.
        _ => {
            let key = rng.pick(&keys);
            let limit = if rng.one_in(2) { format!(" LIMIT {}", rng.below(200)) } else { String::new() };
            format!("SELECT t.id, v, {key}, {list} FROM {from} WHERE {condition} GROUP BY {key}{limit}")
        }
    }
}

/// Runs the query with so many threads. Returns its rows, or its error, and its conditions.
fn with_threads(s: &mut Session, threads: u64, query: &str) -> (Vec<String>, Vec<String>) {
    run(s, &format!("SET innodb_parallel_read_threads = {threads}"));
    let found = outcome(s, query);
    (found, rows(s, "SHOW WARNINGS"))
}

#[test]
fn several_threads_answer_as_one_does_while_others_write() {
    let mut rng = Rng::new(test_seed("parallel_reads several_threads"));
    let engine = engine_on(&SimDisk::new(1));
    let host = Arc::new(TestHost::default());
    let mut s = session_of(&engine, host.clone());
    fill(&mut s);
    run(&mut s, "SET sql_mode = 'STRICT_TRANS_TABLES'");
    let stop = AtomicBool::new(false);
    let seed = rng.u64();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = session_of(&engine, Arc::default());
            let mut rng = Rng::new(seed);
            while !stop.load(Ordering::Relaxed) {
                let id = rng.below(60_000);
                // A deadlock with a reader that locks its rows may end any of these.
                outcome(&mut writer, &format!("INSERT IGNORE INTO t SET id = {id}, g = {}", id % 60));
                let update = format!("UPDATE t SET c = c + 1, v = 'w' WHERE id BETWEEN {id} AND {}", id + 50);
                outcome(&mut writer, &update);
                outcome(&mut writer, &format!("DELETE FROM t WHERE id = {}", rng.below(60_000)));
            }
        });
        // A failure has to stop the writer too, which the scope waits for.
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..200 {
                let query = random_query(&mut rng);
                let isolation = *rng.pick(&["REPEATABLE READ", "SERIALIZABLE"]);
                run(&mut s, &format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"));
                run(&mut s, "START TRANSACTION READ ONLY");
                let (one, several) = (with_threads(&mut s, 1, &query), with_threads(&mut s, 8, &query));
                run(&mut s, "ROLLBACK");
                let differs = one.0.iter().zip(&several.0).find(|(a, b)| a != b);
                assert!(one == several, "{query}: {differs:?}, {:?} and {:?}", one.1, several.1);
            }
        }));
        stop.store(true, Ordering::Relaxed);
        failed.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    assert_shared(&host, 5);
}

/// Asserts that several threads have read for so many queries, where there are several processors.
fn assert_shared(host: &TestHost, least: u64) {
    let shared = host.counters.parallel_reads.get();
    match os::thread::processors() {
        1 => eprintln!("there is one processor, so that one thread has read for all queries"),
        _ => assert!(shared >= least, "several threads have read for {shared} queries only"),
    }
}

#[test]
fn rows_of_small_tables_are_shared_for_the_large_ones_behind_them() {
    let host = Arc::new(TestHost::default());
    let mut s = session_of(&engine_on(&SimDisk::new(1)), host.clone());
    fill(&mut s);
    run(&mut s, "ANALYZE TABLE t, groups_of, digits, parts");
    for (at, query) in [
        "SELECT o.name, COUNT(*), SUM(c) FROM groups_of o STRAIGHT_JOIN t ON t.g = o.g GROUP BY o.name",
        "SELECT n.n, COUNT(*), MAX(p.id) FROM digits n STRAIGHT_JOIN groups_of o ON o.parent = n.n \
         STRAIGHT_JOIN t ON t.g = o.g LEFT JOIN parts p ON p.g = t.id AND p.n > 2 GROUP BY n.n",
    ]
    .iter()
    .enumerate()
    {
        let (one, several) = (with_threads(&mut s, 1, query), with_threads(&mut s, 8, query));
        assert!(one == several && one.0.len() > 5, "{query}");
        assert_shared(&host, at as u64 + 1);
    }
}

#[test]
fn a_transaction_reads_its_own_changes() {
    let host = Arc::new(TestHost::default());
    let mut s = session_of(&engine_on(&SimDisk::new(1)), host.clone());
    fill(&mut s);
    run(&mut s, "SET innodb_parallel_read_threads = 8");
    let query = "SELECT COUNT(*), SUM(g) FROM t WHERE u >= 0";
    let before = rows(&mut s, query);
    assert_shared(&host, 1);
    run(&mut s, "START TRANSACTION");
    run(&mut s, "INSERT INTO t (id, g, u) VALUES (-5, 1000000, 1)");
    assert_ne!(rows(&mut s, query), before, "the row of the transaction is counted");
    run(&mut s, "ROLLBACK");
    assert_eq!(rows(&mut s, query), before);
}

#[test]
fn a_kill_ends_all_threads() {
    let host = Arc::new(TestHost::default());
    let mut s = session_of(&engine_on(&SimDisk::new(1)), host.clone());
    fill(&mut s);
    run(&mut s, "SET innodb_parallel_read_threads = 8");
    host.interrupt.store(true, Ordering::Relaxed);
    let shown = outcome(&mut s, "SELECT SUM(g) FROM t").join("");
    assert!(shown.contains("1317"), "{shown}");
    host.interrupt.store(false, Ordering::Relaxed);
    assert_eq!(rows(&mut s, "SELECT COUNT(*) FROM t"), ["20000"]);
}

#[test]
fn groups_beyond_their_memory_are_left_to_one_thread() {
    let host = Arc::new(TestHost::default());
    let mut s = session_of(&engine_on(&SimDisk::new(1)), host.clone());
    fill(&mut s);
    let query = "SELECT CONCAT(id, v) k, COUNT(*), SUM(c) FROM t GROUP BY k ORDER BY k";
    let expected = with_threads(&mut s, 1, query);
    run(&mut s, "SET tmp_table_size = 65536");
    let found = with_threads(&mut s, 8, query);
    assert!(found == expected && found.0.len() == 20_000, "the groups are the same in files");
    assert_eq!(host.counters.parallel_reads.get(), 0);
    assert!(host.counters.created_tmp_files.get() > 0);
}
