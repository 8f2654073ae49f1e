//! Tests of queries whose rows do not fit in their memory: with the least memory they give the same
//! answers as with much, and they leave no file behind, however they end.

mod support;

use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use sql::Session;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use support::{TestHost, engine_on, outcome, rows, run, session_of};

const COLUMNS: &[&str] =
    &["i", "u", "dec", "dbl", "v", "vb", "bin", "d", "dt", "ts", "t", "e", "s", "y", "b"];

/// Makes a table with columns of many types, and rows of which many are equal in some columns.
fn fill(s: &mut Session, rng: &mut Rng, count: u64) {
    run(
        s,
        "CREATE TABLE t (id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, dec DECIMAL(20, 6), dbl DOUBLE, v VARCHAR(60), \
         vb VARCHAR(30) COLLATE utf8mb4_bin, bin VARBINARY(20), d DATE, dt DATETIME(3), ts TIMESTAMP NULL, t TIME(2), \
         e ENUM('one', 'two', 'three'), s SET('a', 'b', 'c'), y YEAR, b BIT(9))"
            .replace(" dec ", " `dec` ")
            .as_str(),
    );
    let texts = ["", " ", "a", "A", "á", "ab", "AB ", "b", "ß", "ss", "zz", "x\\0y", "10", "9"];
    for first in (0..count).step_by(200) {
        let row = |id: u64| {
            let signed = |rng: &mut Rng, limit: u64| rng.below(2 * limit) as i64 - limit as i64;
            let number = signed(rng, 300);
            let text = *rng.pick(&texts);
            let values = [
                number.to_string(),
                (rng.u64() >> rng.below(64)).to_string(),
                format!("{}.{:06}", signed(rng, 1000), rng.below(3) * 500_000),
                format!("{}e{}", signed(rng, 50), rng.below(9)),
                format!("'{text}{}'", text.repeat(rng.below(4) as usize)),
                format!("'{text}'"),
                format!("'{text}{text}'"),
                format!("'20{:02}-0{}-11'", rng.below(30), rng.between(1, 9)),
                format!("'1999-12-31 23:59:{:02}.{:03}'", rng.below(60), rng.below(1000)),
                format!("'2020-02-0{} 01:02:03'", rng.between(1, 9)),
                format!("'{}:59:01.5'", signed(rng, 800)),
                format!("{}", rng.between(1, 3)),
                format!("{}", rng.below(8)),
                format!("{}", rng.between(1990, 2030)),
                format!("{}", rng.below(512)),
            ];
            let values = values.map(|value| if rng.one_in(10) { "NULL".to_owned() } else { value });
            format!("({id}, {})", values.join(", "))
        };
        let list: Vec<String> = (first..(first + 200).min(count)).map(row).collect();
        run(s, &format!("INSERT INTO t VALUES {}", list.join(",")));
    }
}

/// Gives the session the least memory that is possible, or much.
fn set_memory(s: &mut Session, is_small: bool) {
    let (sort, table) = if is_small { (32_768, 1024) } else { (256 << 20, 256 << 20) };
    run(
        s,
        &format!(
            "SET sort_buffer_size = {sort}, tmp_table_size = {table}, join_buffer_size = {table}, group_concat_max_len = 100000"
        ),
    );
}

/// Returns a random query, and whether its ORDER BY fixes the order of its rows.
fn random_query(rng: &mut Rng) -> (String, bool) {
    let column = |rng: &mut Rng| format!("`{}`", rng.pick(COLUMNS));
    let columns = |rng: &mut Rng, most: u64| -> String {
        let count = rng.between(1, most);
        (0..count).map(|_| column(rng)).collect::<Vec<_>>().join(", ")
    };
    let order = |rng: &mut Rng| -> String {
        let count = rng.between(1, 3);
        let keys = (0..count).map(|_| column(rng) + if rng.one_in(2) { " DESC" } else { "" });
        keys.collect::<Vec<_>>().join(", ")
    };
    let limit = |rng: &mut Rng| match rng.below(4) {
        0 => format!(" LIMIT {}", rng.below(50)),
        1 => format!(" LIMIT {}, {}", rng.below(2500), rng.below(2500)),
        _ => String::new(),
    };
    let aggregate = |rng: &mut Rng| match rng.below(12) {
        0 => "COUNT(*)".to_owned(),
        1 => format!("COUNT(DISTINCT {})", column(rng)),
        2 => format!("COUNT(DISTINCT {}, {})", column(rng), column(rng)),
        3 => "SUM(i), AVG(`dec`)".to_owned(),
        4 => "SUM(DISTINCT `dec`)".to_owned(),
        5 => "SUM(dbl), STD(dbl)".to_owned(),
        6 => format!("MIN({0}), MAX({0})", column(rng)),
        7 => "GROUP_CONCAT(i)".to_owned(),
        8 => format!("GROUP_CONCAT(v ORDER BY {}, id SEPARATOR '')", order(rng)),
        9 => format!("GROUP_CONCAT(DISTINCT vb ORDER BY {} DESC)", column(rng)),
        10 => "GROUP_CONCAT(DISTINCT d)".to_owned(),
        _ => "BIT_XOR(b), BIT_OR(u)".to_owned(),
    };
    match rng.below(9) {
        0 => (format!("SELECT id, {} FROM t ORDER BY {}{}", columns(rng, 4), order(rng), limit(rng)), true),
        1 => (format!("SELECT DISTINCT {} FROM t", columns(rng, 3)), false),
        2 => {
            let columns = columns(rng, 3);
            (format!("SELECT DISTINCT {columns} FROM t ORDER BY {columns}{}", limit(rng)), true)
        }
        3 => {
            let keys = columns(rng, 3);
            let having = if rng.one_in(3) { " HAVING COUNT(*) > 1" } else { "" };
            (
                format!(
                    "SELECT {keys}, {}, {} FROM t GROUP BY {keys}{having}",
                    aggregate(rng),
                    aggregate(rng)
                ),
                false,
            )
        }
        4 => {
            let keys = columns(rng, 2);
            (
                format!(
                    "SELECT MIN(id) m, {} FROM t GROUP BY {keys} ORDER BY m{}",
                    aggregate(rng),
                    limit(rng)
                ),
                true,
            )
        }
        5 => (format!("SELECT {}, {}, {} FROM t", aggregate(rng), aggregate(rng), aggregate(rng)), true),
        6 => {
            let column = column(rng);
            let all = if rng.one_in(2) { " ALL" } else { "" };
            (format!("SELECT {column} FROM t UNION{all} SELECT {column} FROM t WHERE i > 0"), false)
        }
        7 => {
            let (a, b) = (column(rng), order(rng));
            let query =
                format!("SELECT id, {a} FROM t UNION SELECT id + 1, {a} FROM t ORDER BY 2, 1{}", limit(rng));
            if rng.one_in(2) {
                (query, true)
            } else {
                (format!("SELECT x.* FROM (SELECT * FROM t ORDER BY {b} LIMIT 100) x"), true)
            }
        }
        _ => {
            let column = column(rng);
            let derived = format!("(SELECT {column} k, COUNT(*) n FROM t GROUP BY {column})");
            (format!("SELECT a.id, x.n FROM t a JOIN {derived} x ON x.k = a.{column} WHERE a.id < 40"), false)
        }
    }
}

#[test]
fn with_the_least_memory_queries_answer_as_with_much() {
    let mut rng = Rng::new(test_seed("spilling with_the_least_memory"));
    let engine = engine_on(&SimDisk::new(1));
    let (small_host, large_host) = (Arc::new(TestHost::default()), Arc::new(TestHost::default()));
    let mut small = session_of(&engine, small_host.clone());
    let mut large = session_of(&engine, large_host.clone());
    fill(&mut large, &mut rng, 3000);
    set_memory(&mut small, true);
    set_memory(&mut large, false);
    for _ in 0..250 {
        let (query, is_ordered) = random_query(&mut rng);
        let (mut a, mut b) = (outcome(&mut small, &query), outcome(&mut large, &query));
        if !is_ordered {
            a.sort();
            b.sort();
        }
        let differs = a.iter().zip(&b).find(|(a, b)| a != b);
        assert!(a == b, "{query}: {} rows, {} rows: {differs:?}", a.len(), b.len());
    }
    let (counted, uncounted) = (&small_host.counters, &large_host.counters);
    for count in [&counted.sort_merge_passes, &counted.created_tmp_disk_tables, &counted.created_tmp_files] {
        assert!(count.get() > 10, "{counted:?}");
    }
    assert_eq!(uncounted.created_tmp_files.get(), 0, "{uncounted:?}");
}

#[test]
fn statements_that_change_rows_find_the_same_rows() {
    let mut rng = Rng::new(test_seed("spilling statements_that_change_rows"));
    let mut changed = Vec::new();
    let seed = rng.u64();
    for is_small in [true, false] {
        let mut rng = Rng::new(seed);
        let mut s = session_of(&engine_on(&SimDisk::new(1)), Arc::default());
        fill(&mut s, &mut rng, 2000);
        set_memory(&mut s, is_small);
        run(&mut s, "CREATE TABLE copy LIKE t");
        for statement in [
            "INSERT INTO copy SELECT * FROM t ORDER BY v DESC, id",
            "UPDATE copy SET i = i + 1 ORDER BY `dec` DESC, id LIMIT 700",
            "UPDATE copy SET id = id + 10000 WHERE i > 0",
            "DELETE FROM copy ORDER BY dt, id DESC LIMIT 300",
            "UPDATE copy a JOIN t b ON a.id = b.id SET a.v = CONCAT(b.v, '+'), b.i = b.i - 1",
            "DELETE a FROM copy a JOIN t b ON a.id = b.id + 1 WHERE b.i < 0",
        ] {
            run(&mut s, statement);
        }
        changed.push((rows(&mut s, "SELECT * FROM copy"), rows(&mut s, "SELECT * FROM t")));
    }
    assert!(changed[0] == changed[1]);
}

/// Statements that need temporary files when they have little memory.
const HUNGRY: &[&str] = &[
    "SELECT * FROM t ORDER BY v, id DESC",
    "SELECT DISTINCT id, v FROM t",
    "SELECT id + 0, COUNT(*) FROM t GROUP BY id + 0",
    "SELECT COUNT(DISTINCT id) FROM t",
    "SELECT id, v FROM t UNION SELECT id, vb FROM t",
    "SELECT COUNT(*) FROM (SELECT id, v FROM t LIMIT 100000) x",
    "INSERT INTO copy SELECT * FROM t",
    "SELECT COUNT(a.v) FROM t a JOIN t b ON a.i = b.i",
    "SELECT COUNT(a.v), COUNT(c.v) FROM t a LEFT JOIN (t b JOIN t c ON b.i = c.i) ON a.i = b.i",
    "SELECT id, SUM(i) OVER (ORDER BY v, id), LAG(v, 900) OVER (ORDER BY id) FROM t",
    "SELECT id, v, COUNT(DISTINCT i) FROM t GROUP BY id, v WITH ROLLUP",
    "SELECT id, v FROM t INTERSECT SELECT id, v FROM t",
    "SELECT id, v FROM t EXCEPT ALL SELECT id, vb FROM t",
    "SELECT COUNT(*) FROM t WHERE id NOT IN (SELECT id + 1 FROM t UNION SELECT 5)",
    "WITH RECURSIVE r AS (SELECT id FROM t UNION SELECT id + 100000 FROM r WHERE id < 100000) SELECT COUNT(*) FROM r",
];

fn temporary_files(disk: &SimDisk) -> Vec<String> {
    let names = disk.list(Path::new("/data")).unwrap();
    let names = names.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("#sql-")).collect()
}

#[test]
fn a_full_disk_and_a_failing_one_are_errors_and_leave_nothing() {
    let disk = SimDisk::new(1);
    let engine = engine_on(&disk);
    let mut s = session_of(&engine, Arc::default());
    fill(&mut s, &mut Rng::new(7), 2000);
    run(&mut s, "CREATE TABLE copy LIKE t");
    set_memory(&mut s, true);
    for statement in HUNGRY {
        disk.limit_space(Some(10_000));
        let shown = outcome(&mut s, statement).join("");
        disk.limit_space(None);
        let is_error = shown.contains("Error writing file '/data/#sql-spill-")
            && shown.contains("(OS errno 28 - No space left on device)");
        assert!(is_error, "{statement}: {}", shown.chars().take(200).collect::<String>());
        disk.fail_writes(Some("#sql-spill"));
        let shown = outcome(&mut s, statement).join("");
        disk.fail_writes(None);
        let is_error = shown.contains("Error writing file '/data/#sql-spill-");
        assert!(is_error, "{statement}: {}", shown.chars().take(200).collect::<String>());
        assert_eq!(temporary_files(&disk), Vec::<String>::new(), "{statement}");
        let lines = outcome(&mut s, statement);
        assert!(!lines.join("").contains("Error writing"), "{statement}: it goes on when there is room");
        run(&mut s, "DELETE FROM copy");
    }
}

/// A temporary file has no checksums, as in MySQL, so a damaged value is not seen. A damaged order,
/// length or number of entries is an error, and nothing ends the connection.
#[test]
fn damaged_files_are_errors_or_other_values_and_leave_nothing() {
    let (seed, mut refused) = (test_seed("spilling damaged_files"), 0);
    for round in 0..6 {
        let disk = SimDisk::new(seed.wrapping_add(round));
        let engine = engine_on(&disk);
        let mut s = session_of(&engine, Arc::default());
        fill(&mut s, &mut Rng::new(9), 2000);
        run(&mut s, "CREATE TABLE copy LIKE t");
        set_memory(&mut s, true);
        for statement in HUNGRY {
            disk.damage_writes(Some("#sql-spill"));
            refused += usize::from(outcome(&mut s, statement).join("").contains("1034"));
            disk.damage_writes(None);
            assert_eq!(temporary_files(&disk), Vec::<String>::new(), "{statement}");
            run(&mut s, "DELETE FROM copy");
        }
    }
    assert!(refused > 0, "no file was found damaged");
}

#[test]
fn a_kill_ends_them_and_leaves_nothing() {
    let disk = SimDisk::new(1);
    let engine = engine_on(&disk);
    let host = Arc::new(TestHost::default());
    let mut s = session_of(&engine, host.clone());
    fill(&mut s, &mut Rng::new(8), 2000);
    run(&mut s, "CREATE TABLE copy LIKE t");
    set_memory(&mut s, true);
    // The kill comes when the first file is made, or one or two changes of the disk later.
    let left = Arc::new(AtomicI64::new(i64::MAX));
    let (interrupt, kills_at) = (host.interrupt.clone(), left.clone());
    disk.before_each_change(move |_| {
        if kills_at.fetch_sub(1, Ordering::Relaxed) == 0 {
            interrupt.store(true, Ordering::Relaxed);
        }
    });
    for (at, statement) in HUNGRY.iter().cycle().take(3 * HUNGRY.len()).enumerate() {
        left.store((at / HUNGRY.len()) as i64, Ordering::Relaxed);
        let shown = outcome(&mut s, statement).join("");
        left.store(i64::MAX, Ordering::Relaxed);
        host.interrupt.store(false, Ordering::Relaxed);
        assert!(shown.contains("1317"), "{statement}: {shown}");
        assert_eq!(temporary_files(&disk), Vec::<String>::new(), "{statement}");
    }
}
