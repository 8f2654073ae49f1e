//! Tests of queries that have little memory, compared with MySQL's answers, of what such queries
//! count in status variables, and of a full tmpdir.

mod joins;
mod layers;

use bench::instance::{Flavor, Settings};
use os::random::{Rng, test_seed};
use protocol::client::Client;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{Server, available};

const CREATE: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, n DECIMAL(20, 6), f DOUBLE, r FLOAT, v VARCHAR(60), \
     g VARCHAR(40) COLLATE utf8mb4_general_ci, l VARCHAR(40) CHARACTER SET latin1, vb VARCHAR(30) COLLATE utf8mb4_bin, \
     bin VARBINARY(20), x TEXT, d DATE, dt DATETIME(3), ts TIMESTAMP NULL, c TIME(2), e ENUM('one', 'two', 'three'), \
     s SET('a', 'b', 'c'), y YEAR, b BIT(9), j JSON)",
    "USE d",
];

const COLUMNS: &[&str] = &[
    "i", "u", "n", "f", "r", "v", "g", "l", "vb", "bin", "x", "d", "dt", "ts", "c", "e", "s", "y", "b", "j",
];

/// Returns INSERT statements of 250 rows each.
fn inserts(rng: &mut Rng, count: u64) -> Vec<String> {
    let texts = ["", "a", "A", "á", "ab", "AB", "a b", "b", "ß", "ss", "zz", "10", "9", "-", "ÿ"];
    let signed = |rng: &mut Rng, limit: u64| rng.below(2 * limit) as i64 - limit as i64;
    let row = |rng: &mut Rng, id: u64| {
        let text = *rng.pick(&texts);
        let values = [
            signed(rng, 300).to_string(),
            (rng.u64() >> rng.below(64)).to_string(),
            format!("{}.{:06}", signed(rng, 1000), rng.below(3) * 500_000),
            format!("{}e{}", signed(rng, 50), rng.below(9)),
            format!("{}.5", signed(rng, 90)),
            format!("'{text}{}'", text.repeat(rng.below(4) as usize)),
            format!("'{}{text}'", rng.pick(&texts)),
            format!("'{}{text}'", rng.pick(&texts)),
            format!("'{text}'"),
            format!("'{text}{text}'"),
            format!("'{}'", text.repeat(rng.below(100) as usize)),
            format!("'20{:02}-0{}-11'", rng.below(30), rng.between(1, 9)),
            format!("'1999-12-31 23:59:{:02}.{:03}'", rng.below(60), rng.below(1000)),
            format!("'2020-02-0{} 01:02:03'", rng.between(1, 9)),
            format!("'{}:59:01.5'", signed(rng, 800)),
            rng.between(1, 3).to_string(),
            rng.below(8).to_string(),
            rng.between(1990, 2030).to_string(),
            rng.below(512).to_string(),
            format!(
                "'{}'",
                rng.pick(&["null", "-1.5", "7", "7.0", "true", "\"a\"", "\"\"", "1e20", "false"])
            ),
        ];
        let values = values.map(|value| if rng.one_in(10) { "NULL".to_owned() } else { value });
        format!("({id}, {})", values.join(", "))
    };
    let ids: Vec<u64> = (0..count).collect();
    ids.chunks(250)
        .map(|ids| {
            let rows: Vec<String> = ids.iter().map(|id| row(rng, *id)).collect();
            format!("INSERT INTO t VALUES {}", rows.join(", "))
        })
        .collect()
}

/// Returns a query with only one right answer, and whether the order of its rows counts. Where any
/// of several values that are equal and look different may be the answer, the query shows a count
/// or an id.
fn random_query(rng: &mut Rng) -> (String, bool) {
    let mut column = || (*rng.pick(COLUMNS)).to_owned();
    let (a, b, k) = (column(), column(), column());
    let direction = if rng.one_in(2) { " DESC" } else { "" };
    let limit = match rng.below(3) {
        0 => format!(" LIMIT {}", rng.below(60)),
        1 => format!(" LIMIT {}, {}", rng.below(1500), rng.below(1500)),
        _ => String::new(),
    };
    let aggregate = |rng: &mut Rng| match rng.below(8) {
        0 => "COUNT(*)".to_owned(),
        1 => format!("COUNT(DISTINCT {})", rng.pick(COLUMNS)),
        2 => format!("COUNT(DISTINCT {}, {})", rng.pick(COLUMNS), rng.pick(COLUMNS)),
        3 => "SUM(i), AVG(n)".to_owned(),
        4 => "SUM(DISTINCT n)".to_owned(),
        5 => "MIN(dt), MAX(c), MIN(n)".to_owned(),
        6 => "GROUP_CONCAT(i ORDER BY i DESC, id)".to_owned(),
        _ => "GROUP_CONCAT(DISTINCT i ORDER BY i), BIT_XOR(b)".to_owned(),
    };
    match rng.below(6) {
        0 => (format!("SELECT id, {a}, {b} FROM t ORDER BY {k}{direction}, {a}, id{limit}"), true),
        1 => (format!("SELECT COUNT(*), SUM(m) FROM (SELECT MIN(id) m FROM t GROUP BY {a}, {b}) x"), true),
        2 => (format!("SELECT COUNT(*) FROM (SELECT DISTINCT {a} p, {b} q, {k} r FROM t) x"), true),
        3 => {
            let (one, other) = (aggregate(rng), aggregate(rng));
            (
                format!("SELECT MIN(id) m, {one}, {other} FROM t GROUP BY {a} ORDER BY m{direction}{limit}"),
                true,
            )
        }
        4 => {
            (format!("SELECT COUNT(*) FROM (SELECT {a}, id FROM t UNION SELECT {a}, id + 1 FROM t) x"), true)
        }
        _ => {
            let derived = format!("(SELECT MIN(id) m, COUNT(*) n FROM t GROUP BY {a}, {b})");
            (format!("SELECT x.n, t.id FROM t JOIN {derived} x ON x.m = t.id"), false)
        }
    }
}

/// Returns the rows of a query, sorted unless their order counts.
pub fn answer(client: &mut Client, query: &str, is_ordered: bool) -> Vec<String> {
    let result = client.query(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".into(), |bytes| bytes.escape_ascii().to_string())
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join("|");
    let mut rows: Vec<String> = result.rows.iter().map(row).collect();
    if !is_ordered {
        rows.sort();
    }
    rows
}

#[test]
fn queries_with_little_memory_answer_as_mysql_does() {
    if !available("queries_with_little_memory", &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed("queries_with_little_memory"));
    let servers =
        [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &Settings::default()));
    let mut clients = [servers[0].connect(), servers[1].connect()];
    let inserts = inserts(&mut rng, 2500);
    for client in &mut clients {
        for statement in CREATE.iter().copied().chain(inserts.iter().map(|insert| &insert[..])) {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        client.query("SET sort_buffer_size = 32768, group_concat_max_len = 100000").unwrap();
    }
    clients[0].query("SET tmp_table_size = 1024").unwrap();
    let mut wrong = Vec::new();
    for _ in 0..testkit::times("SPILLING", 150) {
        let (query, is_ordered) = random_query(&mut rng);
        let [ours, theirs] = &mut clients;
        let (ours, theirs) = (answer(ours, &query, is_ordered), answer(theirs, &query, is_ordered));
        if ours != theirs {
            let differs = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
            let at = differs.unwrap_or(ours.len().min(theirs.len()));
            wrong.push(format!(
                "{query}: {} and {} rows, {at}: {:?} {:?}",
                ours.len(),
                theirs.len(),
                ours.get(at),
                theirs.get(at)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let counted = "SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'";
    let counted = clients[0].query(counted).unwrap().cell(0, 1).unwrap_or_default();
    assert_ne!(counted, "0", "some of them had too little memory");
}

/// Statements count in status variables what MySQL counts.
#[test]
fn statements_count_as_mysqls_do() {
    let figures = "SHOW SESSION STATUS WHERE Variable_name IN ('Handler_delete', 'Handler_read_first', \
                   'Handler_read_key', 'Handler_read_last', 'Handler_read_next', 'Handler_read_prev', \
                   'Handler_read_rnd_next', 'Handler_update', 'Select_full_join', 'Select_range', 'Select_scan', \
                   'Sort_merge_passes', 'Sort_range', 'Sort_rows', 'Sort_scan') AND Value > 0";
    testkit::server::same_as_mysql("statements_count", &Settings::default(), |server| {
        let mut client = server.connect();
        for statement in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))",
            "INSERT INTO t VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'x'), (4, 3, 'z'), (5, 3, NULL), (6, 9, 'q')",
        ] {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let mut lines = Vec::new();
        for statement in [
            "SELECT * FROM t WHERE id = 3",
            "SELECT * FROM t",
            "SELECT * FROM t ORDER BY b, id",
            "SELECT * FROM t ORDER BY b, id LIMIT 2",
            "SELECT id FROM t WHERE a = 1",
            "SELECT id FROM t ORDER BY id LIMIT 3",
            "SELECT id FROM t ORDER BY id DESC LIMIT 3",
            "SELECT * FROM t WHERE id BETWEEN 2 AND 4",
            "SELECT * FROM t WHERE id > 2 ORDER BY b",
            "UPDATE t SET b = 'u' WHERE id = 4",
            "DELETE FROM t WHERE id = 5",
        ] {
            client.query("FLUSH STATUS").expect("it may");
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
            let counted = client.query(figures).expect("it may");
            let shown = counted.rows.iter().map(|row| {
                let cell =
                    |at: usize| String::from_utf8_lossy(row[at].as_deref().unwrap_or_default()).into_owned();
                format!("{} {}", cell(0), cell(1))
            });
            lines.push(format!("{statement}: {}", shown.collect::<Vec<_>>().join(", ")));
        }
        lines
    });
}

/// A small file system, which is unmounted when this value is dropped.
struct Small(PathBuf);

impl Small {
    fn mount() -> Small {
        let dir = std::env::temp_dir().join(format!("slipstream-small-{:x}", os::random::u64()));
        std::fs::create_dir(&dir).expect("a directory of its own");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(&dir);
        assert!(mount.status().is_ok_and(|status| status.success()), "root may mount");
        Small(dir)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).expect("it is there").map(|entry| entry.expect("a name").path()).collect()
}

#[test]
fn a_full_tmpdir_is_an_error_of_the_statement() {
    if !testkit::may_mount("a_full_tmpdir") {
        return;
    }
    let small = Small::mount();
    let extra = vec![format!("--tmpdir={}", small.0.display())];
    let mut server = Server::start(Flavor::Slipstream, &Settings { extra, ..Settings::default() });
    for statement in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(100))",
        "INSERT INTO d.t (v) VALUES (REPEAT('x', 90)), (REPEAT('y', 90)), ('z'), ('w')",
        "INSERT INTO d.t (v) SELECT CONCAT(a.id, b.v) FROM d.t a, d.t b, d.t c, d.t e, d.t f, d.t g",
        "INSERT INTO d.t (v) SELECT CONCAT(a.id, a.v) FROM d.t a, (SELECT 1 UNION SELECT 2 UNION SELECT 3) b",
    ] {
        server.run(statement);
    }
    let mut client = server.connect();
    client.query("SET sort_buffer_size = 32768, tmp_table_size = 1024, join_buffer_size = 128").unwrap();
    for statement in [
        "SELECT * FROM d.t ORDER BY v",
        "SELECT DISTINCT id, v FROM d.t",
        "SELECT id, v, COUNT(*) FROM d.t GROUP BY id, v",
        "SELECT COUNT(DISTINCT id, v) FROM d.t",
        "SELECT COUNT(*) FROM (SELECT id, v FROM d.t LIMIT 1000000) x",
        "SELECT COUNT(a.v) FROM d.t a JOIN d.t b ON a.v = b.v",
        "SELECT a.v FROM d.t a JOIN d.t b ON a.v = b.v LIMIT 1000000",
        "SELECT id, ROW_NUMBER() OVER (ORDER BY v) FROM d.t",
        "SELECT id, COUNT(*) OVER () FROM d.t",
        "SELECT v, id, COUNT(*) FROM d.t GROUP BY v, id WITH ROLLUP",
        "SELECT id, v FROM d.t INTERSECT SELECT id, v FROM d.t",
        "SELECT id, v FROM d.t EXCEPT ALL SELECT 1, 'x'",
        "SELECT COUNT(*) FROM d.t WHERE v IN (SELECT /*+ SUBQUERY(MATERIALIZATION) */ v FROM d.t)",
        "WITH RECURSIVE r AS (SELECT id, v FROM d.t UNION SELECT id, v FROM r) SELECT COUNT(*) FROM r",
    ] {
        let error = client.query(statement).expect_err(statement);
        assert_eq!(error.server_code(), Some(3), "{statement}: {error}");
        assert!(
            error.to_string().contains("(OS errno 28 - No space left on device)"),
            "{statement}: {error}"
        );
        assert_eq!(files(&small.0), Vec::<PathBuf>::new(), "{statement}");
    }
    // The file system has room for little data, and nothing stays there when the server is killed.
    let rows = client.query("SELECT id FROM d.t WHERE id < 300 ORDER BY v").unwrap().rows.len();
    assert!(rows > 200, "{rows}");
    server.kill();
    assert_eq!(files(&small.0), Vec::<PathBuf>::new());
}
