//! Conditions that the range of a primary key answers are not decided again for its rows. The same
//! conditions, with the key ignored, must find the same rows, whatever values they compare with.

mod support;

use os::random::{Rng, test_seed};
use sql::Session;
use support::{engine, outcome, run, session};

const TYPES: &[&str] = &["TINYINT", "SMALLINT UNSIGNED", "INT", "BIGINT", "BIGINT UNSIGNED"];

/// Values of every kind with which a number may be compared, many of them near the values of the
/// rows or at the ends of a type.
fn value(rng: &mut Rng) -> String {
    let near = rng.below(12) as i64 - 3;
    match rng.below(16) {
        0..4 => near.to_string(),
        4 => format!("{near}.5"),
        5 => format!("{near}.0"),
        6 => format!("{near}e0"),
        7 => format!("{near}.25e0"),
        8 => format!("'{near}'"),
        9 => format!("'{near}x'"),
        10 => format!("' {near}.5'"),
        11 => "NULL".to_owned(),
        12 => format!("x'0{}'", rng.below(9)),
        13 => (*rng.pick(&["DATE'2024-01-02'", "TIME'00:00:05'", "TRUE", "''", "b'101'"])).to_owned(),
        14 => {
            let ends = ["-128", "127", "65535", "2147483647", "-9223372036854775808"];
            (*rng.pick(&ends)).to_owned()
        }
        _ => {
            let ends = ["9223372036854775807", "18446744073709551615", "9007199254740993", "1e30", "-1e30"];
            (*rng.pick(&ends)).to_owned()
        }
    }
}

/// Returns a comparison of a column with values, which are given where the text has `?`.
fn comparison(rng: &mut Rng, column: &str) -> (String, usize) {
    match rng.below(10) {
        0 | 1 => (format!("{column} BETWEEN ? AND ?"), 2),
        2 => (format!("? < {column}"), 1),
        _ => {
            let op = rng.pick(&["=", "<", "<=", ">", ">=", "<=>"]);
            (format!("{column} {op} ?"), 1)
        }
    }
}

/// Returns the statement that asks for the rows that meet the condition.
fn query(table: &str, use_of_index: &str, condition: &str) -> String {
    format!("SELECT a, b, c FROM {table} {use_of_index} WHERE {condition} ORDER BY a, b")
}

#[test]
fn a_range_of_the_primary_key_has_the_rows_that_its_conditions_want() {
    let mut rng = Rng::new(test_seed("exact_ranges"));
    let engine = engine();
    let mut s = session(&engine);
    run(&mut s, "SET sql_mode = ''");
    for (at, first) in TYPES.iter().enumerate() {
        let second = *rng.pick(TYPES);
        let key = if rng.one_in(3) { "b DESC, a" } else { "a, b" };
        run(&mut s, &format!("CREATE TABLE t{at} (a {first}, b {second}, c INT, PRIMARY KEY ({key}))"));
        // Numbers that the type cannot hold become its ends.
        let mut rows: Vec<String> = (0..60)
            .map(|c| format!("({}, {}, {c})", rng.below(12) as i64 - 3, rng.below(12) as i64 - 3))
            .collect();
        rows.push("(-9223372036854775808, 0, 60), (18446744073709551615, 1, 61)".to_owned());
        rows.push("(9007199254740993, 18446744073709551615, 62), (5, 9007199254740993, 63)".to_owned());
        run(&mut s, &format!("INSERT IGNORE INTO t{at} VALUES {}", rows.join(", ")));
    }
    let mut found = 0;
    for _ in 0..1_500 {
        let table = format!("t{}", rng.below(TYPES.len() as u64));
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for _ in 0..=rng.below(3) {
            let column = *rng.pick(&["a", "a", "b"]);
            let (part, wants) = comparison(&mut rng, column);
            parts.push(part);
            values.extend((0..wants).map(|_| value(&mut rng)));
        }
        let condition = parts.join(" AND ");
        let mut literal = condition.clone();
        for value in &values {
            literal = literal.replacen('?', value, 1);
        }
        let expected = outcome(&mut s, &query(&table, "IGNORE INDEX (PRIMARY)", &literal));
        let answer = outcome(&mut s, &query(&table, "", &literal));
        assert_eq!(answer, expected, "{table}: {literal}");
        found += answer.len();
        let prepared = executed(&mut s, &query(&table, "", &condition), &values);
        let expected = executed(&mut s, &query(&table, "IGNORE INDEX (PRIMARY)", &condition), &values);
        assert_eq!(prepared, expected, "{table}: {condition} with {values:?}");
    }
    assert!(found > 5_000, "{found} rows were found");
}

/// Prepares a statement and executes it with these values.
fn executed(s: &mut Session, text: &str, values: &[String]) -> Vec<String> {
    run(s, &format!("PREPARE p FROM '{}'", text.replace('\'', "''")));
    let names: Vec<String> = (0..values.len()).map(|at| format!("@v{at}")).collect();
    for (name, value) in names.iter().zip(values) {
        run(s, &format!("SET {name} = {value}"));
    }
    outcome(s, &format!("EXECUTE p USING {}", names.join(", ")))
}
