//! Tests that rows of literals, which INSERT stores in a way of its own, are stored as the same
//! rows written as expressions are: the values, the warnings, the errors, and what a client is told
//! are equal.

mod support;

use os::random::{Rng, test_seed};
use sql::Session;
use support::{engine, outcome, rows, run, session};

const TABLE: &str = "(id INT AUTO_INCREMENT PRIMARY KEY, n SMALLINT, u BIGINT UNSIGNED NOT NULL, d DECIMAL(6,2), f DOUBLE, \
                     at DATETIME(2), day DATE, seen TIMESTAMP NULL, name VARCHAR(6), fix CHAR(4) NOT NULL DEFAULT 'dflt', \
                     raw VARBINARY(5), e ENUM('a','b'), note TEXT, made DATETIME DEFAULT CURRENT_TIMESTAMP, UNIQUE KEY (n))";

const COLUMNS: [&str; 11] = ["id", "n", "u", "d", "f", "at", "day", "seen", "name", "fix", "raw"];

fn literal(rng: &mut Rng, column: &str) -> String {
    let number = |rng: &mut Rng| match rng.below(8) {
        0 => format!("{}", rng.below(1 << 40)),
        1 => format!("-{}", rng.below(70_000)),
        2 => format!("{}.{}", rng.below(100), rng.below(1000)),
        3 => format!("'{}'", rng.below(300)),
        4 => "1e2".to_string(),
        _ => format!("{}", rng.below(200)),
    };
    let text = |rng: &mut Rng| {
        let texts =
            ["''", "'a'", "'abcd  '", "'it''s'", "'\\n\\0'", "'\u{e9}\u{e8}'", "'too long'", "12", "1.5"];
        texts[rng.below(texts.len() as u64) as usize].to_string()
    };
    let time = |rng: &mut Rng| match rng.below(6) {
        0 => "'0000-00-00 00:00:00'".to_string(),
        1 => "'2024-02-30 00:00:00'".to_string(),
        2 => "'2024-1-2'".to_string(),
        3 => "20240102030405".to_string(),
        _ => format!("'20{:02}-{:02}-11 1{}:00:59'", rng.below(40), 1 + rng.below(12), rng.below(10)),
    };
    match (rng.below(15), column) {
        (0, _) => "NULL".to_string(),
        (1, "id") => "0".to_string(),
        (_, "id") => format!("{}", 1 + rng.below(500)),
        (_, "n" | "u" | "d" | "f") => number(rng),
        (_, "at" | "day" | "seen") => time(rng),
        _ => text(rng),
    }
}

/// Returns the statement's answer, its warnings, the rows of the table and the next AUTO_INCREMENT
/// value.
fn state(s: &mut Session, table: &str, said: Vec<String>) -> Vec<String> {
    let mut state = said;
    state.extend(outcome(s, "SHOW WARNINGS"));
    let columns = "n, u, d, f, at, day, seen, name, HEX(fix), HEX(raw), e, note, made IS NULL";
    state.extend(rows(s, &format!("SELECT id, {columns} FROM {table} ORDER BY id")));
    state.extend(rows(
        s,
        &format!("SELECT auto_increment FROM information_schema.tables WHERE table_name = '{table}'"),
    ));
    state.iter().map(|line| line.replace(&format!("'{table}."), "'table.")).collect()
}

#[test]
fn literals_are_stored_as_expressions_are() {
    let mut rng = Rng::new(test_seed("literal_rows literals_are_stored"));
    let engine = engine();
    let mut s = session(&engine);
    let mut stored = 0;
    for round in 0..400 {
        if round % 10 == 0 {
            run(&mut s, "DROP TABLE IF EXISTS l; DROP TABLE IF EXISTS x");
            run(&mut s, &format!("CREATE TABLE l {TABLE}; CREATE TABLE x {TABLE}"));
        }
        let mode = ["''", "'STRICT_TRANS_TABLES'", "'NO_AUTO_VALUE_ON_ZERO'"][rng.below(3) as usize];
        run(&mut s, &format!("SET sql_mode = {mode}"));
        let mut columns: Vec<&str> = COLUMNS.iter().copied().filter(|_| rng.below(3) > 0).collect();
        if columns.is_empty() {
            continue;
        }
        let by = rng.below(columns.len() as u64) as usize;
        columns.rotate_left(by);
        let of_row = |rng: &mut Rng| columns.iter().map(|column| literal(rng, column)).collect::<Vec<_>>();
        let values: Vec<Vec<String>> = (0..1 + rng.below(4)).map(|_| of_row(&mut rng)).collect();
        let verb = ["INSERT", "INSERT", "INSERT IGNORE", "REPLACE"][rng.below(4) as usize];
        let update = if verb == "INSERT" && rng.below(3) == 0 {
            " ON DUPLICATE KEY UPDATE note = CONCAT('again ', VALUES(name)), u = u + 1"
        } else {
            ""
        };
        let mut outcomes = Vec::new();
        for (table, open, close) in [("l", "", ""), ("x", "(", ")")] {
            let list: Vec<String> = values
                .iter()
                .map(|row| {
                    let row: Vec<String> = row.iter().map(|text| format!("{open}{text}{close}")).collect();
                    format!("({})", row.join(", "))
                })
                .collect();
            let text =
                format!("{verb} INTO {table} ({}) VALUES {}{update}", columns.join(", "), list.join(",\n"));
            let said = outcome(&mut s, &text);
            stored += usize::from(said.is_empty());
            outcomes.push((state(&mut s, table, said), text));
        }
        assert_eq!(outcomes[0].0, outcomes[1].0, "round {round}\n{}\n{}", outcomes[0].1, outcomes[1].1);
    }
    assert!(stored > 100, "{stored} statements stored something");
}

#[test]
fn what_is_around_the_rows_is_read() {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (value INT PRIMARY KEY, b VARCHAR(9))");
    run(&mut s, "INSERT INTO t (value, b) VALUES (1, 'a'), (2, NULL); INSERT t VALUE (3,'c')");
    run(&mut s, "REPLACE t VALUES (3, 'd') /* the end */; INSERT INTO t (value) /* one */ VALUES (4)");
    run(&mut s, "INSERT INTO t VALUES (1, 'x') ON DUPLICATE KEY UPDATE b = VALUES(b)");
    assert_eq!(rows(&mut s, "SELECT * FROM t"), ["1|x", "2|NULL", "3|d", "4|NULL"]);
    for (text, expected) in [
        ("INSERT INTO t VALUES (5)", "ERROR 1136 (21S01): Column count doesn't match value count at row 1"),
        (
            "INSERT INTO t VALUES (5, 'a'), (6)",
            "ERROR 1136 (21S01): Column count doesn't match value count at row 2",
        ),
        ("INSERT INTO t VALUES (2, 'a')", "ERROR 1062 (23000): Duplicate entry '2' for key 't.PRIMARY'"),
    ] {
        assert_eq!(outcome(&mut s, text), [expected], "{text}");
    }
    let said = outcome(&mut s, "INSERT INTO t VALUES (5, 'a') (6, 'b')");
    assert!(said[0].starts_with("ERROR 1064 (42000)") && said[0].contains("near '(6, 'b')'"), "{said:?}");
}

/// Inserts one row of literals after the other, with `between` in between, and returns what the
/// last one says and what is in the table then. With `anew`, each text begins in its own way, so
/// that none is like one before it.
fn inserted_after(between: &[&str], last: &str, anew: bool) -> Vec<String> {
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10), c INT DEFAULT 7)");
    let lead = "INSERT INTO t (a, b) VALUES ";
    let begin = |at: usize| if anew { format!("/* {at} */ {lead}") } else { lead.to_owned() };
    for (at, rows) in ["(1, 'x')", "(2, NULL)", "(3, 'it''s'), (4, '5')"].iter().enumerate() {
        run(&mut s, &format!("{}{rows}", begin(at)));
    }
    between.iter().for_each(|text| _ = run(&mut s, text));
    let mut told = outcome(&mut s, &format!("{}{last}", begin(9)));
    told.extend(rows(&mut s, "SHOW WARNINGS"));
    told.extend(outcome(&mut s, "SELECT * FROM t ORDER BY a"));
    told
}

#[test]
fn an_insert_that_differs_in_its_rows_does_what_it_would_do_as_the_first_one() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "(5, 'y')"),
        (&[], "(1, 'again')"),
        (&[], "(5, 'much longer than it may be')"),
        (&[], "(5)"),
        (&[], "(5, 'y', 6)"),
        (&[], "(5, 'y'), (6)"),
        (&[], "(5, CONCAT('y', 'z'))"),
        (&[], "(5, 'y') ON DUPLICATE KEY UPDATE b = 'z'"),
        (&[], "(5, 'y') AS new ON DUPLICATE KEY UPDATE b = new.b"),
        (&[], "(5, 'y'); SELECT 1"),
        (&[], "(5, 'y' 'z')"),
        (&[], "(5, DEFAULT)"),
        (&[], "(5, 'y'"),
        (&["SET sql_mode = ''"], "(5, 'much longer than it may be')"),
        (&["SET sql_mode = 'ANSI_QUOTES'"], "(5, \"b\")"),
        (&["SET sql_mode = 'NO_BACKSLASH_ESCAPES'"], "(5, 'a\\')"),
        (&["ALTER TABLE t MODIFY b VARCHAR(4), ADD d INT NOT NULL DEFAULT 3 FIRST"], "(5, 'abcde')"),
        (&["ALTER TABLE t ADD CHECK (a < 5)"], "(5, 'y')"),
        (&["DROP TABLE t", "CREATE TABLE t (b INT, a INT)"], "(5, '6')"),
        (&["RENAME TABLE t TO u", "CREATE VIEW t AS SELECT a, b FROM u"], "(5, 'y')"),
        (&["CREATE TEMPORARY TABLE t (a INT, b INT)"], "(5, '6')"),
        (&["CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET NEW.c = NEW.a * 2"], "(5, 'y')"),
        (&["CREATE SCHEMA other", "CREATE TABLE other.t (a INT, b INT)", "USE other"], "(5, '6')"),
        (&["LOCK TABLES t READ"], "(5, 'y')"),
    ];
    for (between, last) in cases {
        let [again, anew] = [false, true].map(|anew| inserted_after(between, last, anew));
        assert_eq!(again, anew, "{between:?} {last}");
    }
}
