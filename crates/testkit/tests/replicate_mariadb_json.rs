//! Tests of MariaDB's JSON columns: such a column is a LONGTEXT with a CHECK that a statement of
//! the source may violate.

use bench::instance::{Flavor, Settings};
use os::random::Rng;
use protocol::client::Client;
use testkit::following::{By, Pair};
use testkit::server::flavor_under_test;

fn pair(test: &str) -> Option<(Pair, Client)> {
    testkit::available(test, &[Flavor::MariaDb]).then(|| {
        let pair = Pair::start_with(Flavor::MariaDb, flavor_under_test(), &Settings::default(), By::Gtid);
        let mut session = pair.source.connect();
        for sql in ["SET binlog_format = STATEMENT", "CREATE DATABASE d", "USE d"] {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        (pair, session)
    })
}

fn answer(client: &mut Client, sql: &str) -> Vec<String> {
    let result = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".to_string(), |bytes| bytes.escape_ascii().to_string())
    };
    result.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")).collect()
}

/// Returns the constraints in a SHOW CREATE TABLE, each with the name of its column or constraint.
fn checks(client: &mut Client) -> Vec<String> {
    let shown = answer(client, "SHOW CREATE TABLE t").concat();
    let lines = shown.split("\\n").filter(|line| line.contains("longtext") || line.contains("CONSTRAINT"));
    lines
        .map(|line| {
            let name = line.split('`').nth(1).unwrap_or_default();
            let check = line.find("CHECK").map_or("none", |at| &line[at..]);
            // MySQL's canonical text of a condition has additional parentheses.
            let check = check.trim_end_matches(',').replace("((", "(").replace("))", ")");
            format!("{name} {check}")
        })
        .collect()
}

/// Statements after each of which there is one table `t` whose first column is `id`.
const DEFINITIONS: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON NOT NULL DEFAULT '{}' COMMENT 'x', \
     l LONGTEXT CHECK (json_valid(l)), m JSON CHECK (m IS NOT NULL), n JSON CHECK (json_valid(n)), \
     o JSON COLLATE utf8mb4_general_ci, p JSON INVISIBLE, q JSON AS (CONCAT('[', id, ']')) VIRTUAL, \
     CHECK (json_valid(k)), CHECK (json_length(k) < 5))",
    "ALTER TABLE t MODIFY j LONGTEXT",
    "ALTER TABLE t CHANGE k k2 JSON",
    "ALTER TABLE t MODIFY m JSON, MODIFY COLUMN n LONGTEXT CHECK (n IS NOT NULL)",
    "ALTER TABLE t RENAME COLUMN j TO jj, RENAME COLUMN k2 TO k, ADD x JSON, ADD COLUMN (y JSON, z JSON)",
    "ALTER TABLE t ADD COLUMN IF NOT EXISTS x LONGTEXT CHECK (x IS NOT NULL), \
     ADD COLUMN IF NOT EXISTS v LONGTEXT CHECK (v IS NOT NULL)",
    "ALTER TABLE t CHANGE COLUMN IF EXISTS nowhere y LONGTEXT CHECK (y IS NOT NULL)",
    "ALTER TABLE t DROP COLUMN y, MODIFY l LONGTEXT CHARACTER SET utf8mb4",
    "ALTER TABLE t ALTER COLUMN x SET DEFAULT '5', MODIFY z JSON FIRST",
    "ALTER TABLE t CONVERT TO CHARACTER SET latin1",
    "CREATE OR REPLACE TABLE u LIKE t",
    "DROP TABLE t",
    "RENAME TABLE u TO t",
];

#[test]
fn definitions_have_the_constraints_of_the_source() {
    let Some((pair, mut session)) = pair("definitions_have_the_constraints_of_the_source") else { return };
    for sql in DEFINITIONS {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        if sql.starts_with("DROP") {
            continue;
        }
        pair.replica.catch_up(&pair.source);
        let mut here = pair.replica.connect();
        here.query("USE d").expect("is there");
        assert_eq!(checks(&mut here), checks(&mut session), "{sql}");
        // MariaDB lists the constraint of a renamed column under the old name.
        let listed = "SELECT constraint_type, COUNT(*) FROM information_schema.table_constraints \
                      WHERE table_schema = 'd' AND table_name = 't' GROUP BY constraint_type ORDER BY 1";
        assert_eq!(answer(&mut here, listed), answer(&mut session, listed), "{sql}");
    }
}

#[test]
fn ignore_leaves_the_same_rows_out() {
    let Some((pair, mut session)) = pair("ignore_leaves_the_same_rows_out") else { return };
    for sql in [
        "CREATE TABLE t (id INT PRIMARY KEY, j JSON, n INT)",
        "INSERT INTO t VALUES (1, '1', 1), (2, '\"a\"', 2), (3, NULL, 3), (4, '[1]', 4)",
        // Strings are no JSON any more after this.
        "UPDATE IGNORE t SET j = TRIM(LEADING '\"' FROM j), n = n + 10",
        "INSERT IGNORE INTO t VALUES (5, '{', 1), (6, '{}', 2), (7, 7.5, 3), (8, '', 4)",
        "INSERT INTO t VALUES (6, '1', 0), (1, '1', 0) ON DUPLICATE KEY UPDATE j = CONCAT(j, ' '), n = 99",
        "REPLACE INTO t VALUES (4, ' null ', 4)",
        "INSERT IGNORE INTO t (id, j) SELECT id + 100, CONCAT(j, j) FROM t ORDER BY id",
        "CREATE TABLE s (id INT PRIMARY KEY, j JSON)",
        "INSERT INTO s VALUES (1, '{'), (2, '1')",
    ] {
        let done = session.query(sql);
        // The last statement is refused as a whole.
        assert_eq!(done.is_ok(), !sql.contains("INTO s"), "{sql}: {done:?}");
    }
    pair.replica.catch_up(&pair.source);
    let mut here = pair.replica.connect();
    for sql in ["SELECT * FROM d.t ORDER BY id", "SELECT * FROM d.s"] {
        assert_eq!(answer(&mut here, sql), answer(&mut session, sql), "{sql}");
    }
    // The constraint holds for a client too.
    let refused = here.query("INSERT INTO d.s VALUES (1, '{')").expect_err("is no JSON");
    assert_eq!(refused.server_code(), Some(3819));
}

/// Returns a text that is JSON, or nearly.
fn text(rng: &mut Rng, levels: u32) -> String {
    const SCALARS: &[&str] = &[
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.5",
        "1e5",
        "1.",
        "1e",
        "-",
        "01",
        ".5",
        "1e+",
        "nul",
        "tRue",
        "\"\"",
        "\"a\"",
        "\"ä€😀\"",
        "\"\\u00e4\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\x\"",
        "\"\\",
        "\"\\u12\"",
        "\"\t\"",
        "\"\u{7f}\"",
        "1e5.5",
        "-.5",
        "0.5",
        "",
        "'a'",
    ];
    let space = *rng.pick(&["", "", " ", "\n", "\u{b}"]);
    match rng.below(if levels == 0 { 1 } else { 3 }) {
        0 => format!("{space}{}", rng.pick(SCALARS)),
        kind => {
            let items: Vec<String> = (0..rng.below(4))
                .map(|_| match kind {
                    1 => text(rng, levels - 1),
                    _ => format!("{}:{}", text(rng, 0), text(rng, levels - 1)),
                })
                .collect();
            let (open, close) = if kind == 1 { ('[', ']') } else { ('{', '}') };
            format!("{space}{open}{}{close}{space}", items.join(*rng.pick(&[",", ",", ", ", " ,", ",,"])))
        }
    }
}

#[test]
fn random_texts_are_judged_as_at_the_source() {
    let Some((pair, mut session)) = pair("random_texts_are_judged_as_at_the_source") else { return };
    let seed = os::random::test_seed("random_texts_are_judged_as_at_the_source");
    let mut rng = Rng::new(seed);
    session.query("CREATE TABLE t (id INT PRIMARY KEY, j JSON)").expect("is made");
    const TEXTS: usize = 6000;
    for from in (0..TEXTS).step_by(500) {
        let one = |id: usize, rng: &mut Rng| {
            let mut text = text(rng, 3);
            if rng.below(3) == 0 && !text.is_empty() {
                // One character is lost, doubled or replaced.
                let mut characters: Vec<char> = text.chars().collect();
                let at = rng.below(characters.len() as u64) as usize;
                match rng.below(3) {
                    0 => drop(characters.remove(at)),
                    1 => characters.insert(at, characters[at]),
                    _ => characters[at] = *rng.pick(&['e', '.', '-', '0', ']', '}', '"', '\\', ' ', ',']),
                }
                text = characters.into_iter().collect();
            }
            let nested = rng.below(8) == 0;
            let levels = rng.below(40) as usize;
            if nested {
                text = format!("{}{text}{}", "[".repeat(levels), "]".repeat(levels));
            }
            format!("({id}, '{}')", text.replace('\\', "\\\\").replace('\'', "''"))
        };
        let rows: Vec<String> = (from..from + 500).map(|id| one(id, &mut rng)).collect();
        session.query(&format!("INSERT IGNORE INTO t VALUES {}", rows.join(", "))).expect("is inserted");
    }
    pair.replica.catch_up(&pair.source);
    let mut here = pair.replica.connect();
    let sql = "SELECT * FROM d.t ORDER BY id";
    let [ours, theirs] = [&mut here, &mut session].map(|client| answer(client, sql));
    let differ: Vec<&String> = ours
        .iter()
        .filter(|row| !theirs.contains(row))
        .chain(theirs.iter().filter(|row| !ours.contains(row)))
        .collect();
    assert!(differ.is_empty(), "SEED={seed}: {differ:#?}");
    assert!((TEXTS / 10..TEXTS * 9 / 10).contains(&ours.len()), "{} rows", ours.len());
}
