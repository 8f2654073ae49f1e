//! Joins whose hash tables do not fit in `join_buffer_size`, compared with the same joins in much
//! memory and with MySQL's answers.

use super::answer;
use bench::instance::{Flavor, Settings};
use os::random::{Rng, test_seed};
use testkit::{Server, available};

const TABLES: &[(&str, u64)] = &[("t0", 2000), ("t1", 2600), ("t2", 900)];

/// Columns of different types and distributions. In `k` some keys have many rows.
const COLUMNS: &str = "id INT, k INT, u BIGINT UNSIGNED, n DECIMAL(12, 2), f DOUBLE, v VARCHAR(40), \
                       l VARCHAR(20) CHARACTER SET latin1, d DATE, dt DATETIME, e ENUM('a', 'b', 'c'), p VARCHAR(300)";

/// Pairs of columns of two tables that are compared. Each value has only a few rows.
const KEYS: &[(&str, &str)] = &[
    ("id", "id"),
    ("k", "k"),
    ("u", "id"),
    ("u", "u"),
    ("n", "n"),
    ("n", "id"),
    ("f", "f"),
    ("f", "u"),
    ("v", "v"),
    ("v", "l"),
    ("d", "dt"),
    ("dt", "dt"),
];

fn create(rng: &mut Rng) -> Vec<String> {
    let mut statements = vec!["CREATE DATABASE d".to_owned(), "USE d".to_owned()];
    for (table, count) in TABLES {
        statements.push(format!("CREATE TABLE {table} ({COLUMNS})"));
        let row = |id: u64, rng: &mut Rng| {
            let n = rng.below(1500);
            let values = [
                id.to_string(),
                if rng.one_in(20) { "7".into() } else { rng.below(2000).to_string() },
                n.to_string(),
                format!("{}.{}", rng.below(1500), rng.below(2) * 5),
                rng.below(1500).to_string(),
                format!("'{}{}'", rng.pick(&["a", "A", "á", "b"]), rng.below(700)),
                format!("'{}{}'", rng.pick(&["a", "A", "ä", "b"]), rng.below(700)),
                format!("'19{:02}-0{}-1{}'", rng.below(100), rng.between(1, 9), rng.below(3)),
                format!("'19{:02}-0{}-1{} 00:00:00'", rng.below(100), rng.between(1, 9), rng.below(3)),
                rng.between(1, 3).to_string(),
                format!("'{}'", "p".repeat(rng.below(300) as usize)),
            ];
            let null = |value: String| if rng.one_in(15) { "NULL".into() } else { value };
            let mut values = values.into_iter();
            let id = values.next().unwrap_or_default();
            format!("({id}, {})", values.map(null).collect::<Vec<_>>().join(", "))
        };
        let ids: Vec<u64> = (0..*count).collect();
        for ids in ids.chunks(300) {
            let rows: Vec<String> = ids.iter().map(|id| row(*id, rng)).collect();
            statements.push(format!("INSERT INTO {table} VALUES {}", rows.join(", ")));
        }
    }
    statements.push("ANALYZE TABLE t0, t1, t2".into());
    statements
}

/// Returns a join with only one right answer, and whether the order of its rows counts.
fn random_join(rng: &mut Rng) -> (String, bool) {
    let on = |rng: &mut Rng, a: &str, b: &str| {
        let (left, right) = rng.pick(KEYS);
        let more = match rng.below(5) {
            0 => format!(" AND {a}.e = {b}.e"),
            1 => format!(" AND {a}.id <> {b}.id"),
            2 => format!(" AND {b}.e < 'c'"),
            3 => format!(" AND {a}.e > 'a'"),
            _ => String::new(),
        };
        format!("{a}.{left} = {b}.{right}{more}")
    };
    let (one, other, third) = (on(rng, "a", "b"), on(rng, "b", "c"), on(rng, "a", "c"));
    let hint = rng.pick(&["", "/*+ JOIN_FIXED_ORDER() */ "]);
    let few = rng.pick(&["a.id < 300", "a.e = 'a'", "a.id >= 0", "a.k > 500"]);
    match rng.below(10) {
        0 => (format!("SELECT {hint}a.id, b.id, b.p FROM t0 a JOIN t1 b ON {one} WHERE {few}"), false),
        1 => (format!("SELECT {hint}a.id, b.id, b.v FROM t0 a LEFT JOIN t1 b ON {one} WHERE {few}"), false),
        2 => (format!("SELECT a.id, a.p FROM t0 a WHERE EXISTS (SELECT 1 FROM t1 b WHERE {one})"), false),
        3 => (format!("SELECT a.id, a.v FROM t1 a WHERE NOT EXISTS (SELECT 1 FROM t0 b WHERE {one})"), false),
        4 => (
            format!(
                "SELECT {hint}COUNT(*), SUM(a.id), SUM(b.id * 3), SUM(c.id), MAX(c.p) FROM t0 a JOIN t1 b ON {one} \
                 JOIN t2 c ON {other} WHERE {few}"
            ),
            true,
        ),
        5 => (
            format!(
                "SELECT COUNT(*), SUM(a.id), COUNT(b.id), SUM(c.id) FROM t0 a LEFT JOIN (t2 b JOIN t1 c ON {other}) \
                 ON {one} WHERE {few}"
            ),
            true,
        ),
        6 => (
            format!(
                "SELECT COUNT(*), SUM(a.id), COUNT(b.id), COUNT(c.id) FROM t0 a LEFT JOIN t2 b ON {one} LEFT JOIN t1 c \
                 ON {third} WHERE {few}"
            ),
            true,
        ),
        7 => (
            format!(
                "SELECT COUNT(*), SUM(a.id) FROM t0 a WHERE {few} AND EXISTS (SELECT 1 FROM t2 b JOIN t1 c ON {other} \
                 WHERE {one})"
            ),
            true,
        ),
        8 => (
            format!(
                "SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM t2 a LEFT JOIN t0 b ON {one} WHERE {few} AND NOT EXISTS \
                 (SELECT 1 FROM t1 c WHERE {third})"
            ),
            true,
        ),
        _ => (
            format!(
                "SELECT a.e, COUNT(*), SUM(b.n) FROM t0 a JOIN (SELECT * FROM t1 LIMIT 100000) b ON {one} GROUP BY \
                 a.e ORDER BY a.e"
            ),
            true,
        ),
    }
}

/// Asks `rounds` random queries of a server with little memory, of the same server with much, and
/// of MySQL. A query comes with whether the order of its rows counts.
pub fn beside_much_memory_and_mysql(
    name: &str,
    rounds: u64,
    mut query: impl FnMut(&mut Rng) -> (String, bool),
) {
    if !available(name, &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed(name));
    let servers =
        [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &Settings::default()));
    let statements = create(&mut rng);
    for server in &servers {
        let mut client = server.connect();
        for statement in &statements {
            client.query(statement).unwrap_or_else(|error| panic!("{statement:.200}: {error}"));
        }
    }
    let [mut little, mut much, mut theirs] = [&servers[0], &servers[0], &servers[1]].map(Server::connect);
    for client in [&mut little, &mut much, &mut theirs] {
        client.query("USE d").unwrap();
        client.query("SET cte_max_recursion_depth = 100000").unwrap();
    }
    little.query("SET join_buffer_size = 128, sort_buffer_size = 32768, tmp_table_size = 1024").unwrap();
    much.query("SET join_buffer_size = 1000000000, sort_buffer_size = 1000000000").unwrap();
    theirs.query("SET join_buffer_size = 8388608").unwrap();
    let mut wrong = Vec::new();
    for _ in 0..testkit::times("SPILLING", rounds) {
        let (query, is_ordered) = query(&mut rng);
        let [little, much, theirs] =
            [&mut little, &mut much, &mut theirs].map(|client| answer(client, &query, is_ordered));
        for (which, other) in [("much memory", much), ("MySQL", theirs)] {
            if little != other {
                let rows = (little.len(), other.len());
                let differs = little.iter().zip(&other).find(|(little, other)| little != other);
                wrong.push(format!("{query}: beside {which}: {rows:?} rows, {differs:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let counted = little.query("SHOW SESSION STATUS LIKE 'Created_tmp_files'").unwrap();
    assert_ne!(counted.cell(0, 1).unwrap_or_default(), "0", "some of them had too little memory");
}

#[test]
fn joins_with_little_memory_answer_as_mysql_does() {
    beside_much_memory_and_mysql("joins_with_little_memory", 60, random_join);
}

/// With a LIMIT the rows come in the order of the first table's, and a join that is killed or that
/// ends early leaves the connection usable.
#[test]
fn a_join_that_ends_early_keeps_the_order() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let mut client = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE a (id INT PRIMARY KEY, x INT)",
        "CREATE TABLE b (id INT PRIMARY KEY, x INT)",
        "SET cte_max_recursion_depth = 10000, join_buffer_size = 128",
        "INSERT INTO a WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 6000) SELECT i, i FROM n",
        "INSERT INTO b SELECT id, x + 3000 FROM a",
    ] {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let ids = |from: u32, to: u32| (from..=to).map(|id| id.to_string()).collect::<Vec<_>>();
    let limited = "SELECT /*+ JOIN_FIXED_ORDER() */ a.id FROM a JOIN b ON a.x = b.x LIMIT 4";
    assert_eq!(answer(&mut client, limited, true), ids(3001, 3004));
    let by_access =
        "SELECT /*+ JOIN_FIXED_ORDER() */ a.id FROM a JOIN b ON a.x = b.x WHERE a.id > 100 ORDER BY a.id";
    assert_eq!(answer(&mut client, by_access, true), ids(3001, 6000));
}
