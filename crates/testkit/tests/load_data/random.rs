//! Tests that load random files of random formats into random tables. SEED repeats a run, and TIMES
//! is the number of files.

use super::{client, same_as_mysql, say};
use bench::instance::Settings;
use os::random::{Rng, test_seed_or};
use protocol::client::{Client, ClientError};

const TYPES: &[&str] = &[
    "INT",
    "INT NOT NULL",
    "TINYINT UNSIGNED",
    "BIGINT NOT NULL DEFAULT 9",
    "VARCHAR(6)",
    "VARCHAR(6) NOT NULL",
    "VARBINARY(6)",
    "CHAR(4) CHARACTER SET latin1",
    "TEXT",
    "BLOB NOT NULL",
    "DECIMAL(5,2)",
    "DOUBLE NOT NULL",
    "DATE",
    "DATETIME NOT NULL",
    "ENUM('a','b','')",
    "ENUM('a','b') NOT NULL",
    "SET('a','b')",
    "BIT(10)",
];

const SEPARATORS: &[&str] = &["\\t", ",", "||", ";;", "ab", "\\n", "a", ""];
const QUOTES: &[&str] = &["", "\"", "'", "a"];
const ESCAPES: &[&str] = &["\\\\", "", "\"", "#"];
const ENDS: &[&str] = &["\\n", "\\r\\n", ";", "ab", "", "a"];
const STARTS: &[&str] = &["", "", "", ">>", "a"];

/// The pieces of which files are made.
const BITS: &[&str] = &[
    "1",
    "-5",
    "300",
    "abc",
    "a",
    "b",
    "",
    "\\N",
    "NULL",
    "\"",
    "'",
    "\\",
    "#",
    "\"x\"",
    "2024-01-02",
    "10:11:12",
    "1.5",
    "\u{e9}",
    "ab",
    "aab",
    " ",
    "\\t",
    "\\0",
    ">>",
    ">",
    "\r",
    "x,y",
    "||",
    "|",
];

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    random.pick::<&'a str>(from)
}

/// Returns a separator as it is in the file.
fn plain(written: &str) -> String {
    written.replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r").replace("\\\\", "\\")
}

struct Case {
    table: String,
    statement: String,
    file: String,
}

fn case(random: &mut Rng) -> Case {
    let columns = 1 + random.below(5) as usize;
    let types: Vec<&str> = (0..columns).map(|_| pick(random, TYPES)).collect();
    let defined: Vec<String> = types.iter().enumerate().map(|(at, ty)| format!("c{at} {ty}")).collect();
    let key = match random.below(4) {
        0 if !types[0].starts_with("TEXT") && !types[0].starts_with("BLOB") => ", UNIQUE (c0)",
        _ => "",
    };
    let (field, quote, escape) = (pick(random, SEPARATORS), pick(random, QUOTES), pick(random, ESCAPES));
    let (end, start) = (pick(random, ENDS), pick(random, STARTS));
    let duplicates = pick(random, &["", "IGNORE ", "REPLACE "]);
    let mut statement = format!("LOAD DATA LOCAL INFILE 'x' {duplicates}INTO TABLE t");
    let charset = pick(random, &["", "", " CHARACTER SET latin1", " CHARACTER SET utf8mb4"]);
    statement += charset;
    let optionally = pick(random, &["", "OPTIONALLY "]);
    let quoted = if quote == "'" { "\\'" } else { quote };
    statement +=
        &format!(" FIELDS TERMINATED BY '{field}' {optionally}ENCLOSED BY '{quoted}' ESCAPED BY '{escape}'");
    statement += &format!(" LINES STARTING BY '{start}' TERMINATED BY '{end}'");
    if random.below(4) == 0 {
        statement += &format!(" IGNORE {} LINES", random.below(3));
    }
    if random.below(3) == 0 {
        let named: Vec<String> = (0..columns).rev().map(|at| format!("c{at}")).collect();
        statement += &format!(" ({}, @x)", named.join(", "));
    }
    let mut file = String::new();
    for _ in 0..random.below(6) {
        file += start;
        for at in 0..random.below(columns as u64 + 2) {
            if at > 0 {
                file += &plain(field);
            }
            let is_quoted = random.below(3) == 0;
            file += if is_quoted { quote } else { "" };
            for _ in 0..=random.below(2) {
                file += pick(random, BITS);
            }
            file += if is_quoted { quote } else { "" };
        }
        file += &plain(end);
    }
    Case { table: format!("CREATE TABLE t ({}{key})", defined.join(", ")), statement, file }
}

/// Loads the file and returns the counts and the warnings that are not about conversions.
fn loaded(client: &mut Client, case: &Case) -> String {
    let ok = match client.query_with_file(&case.statement, case.file.as_bytes()) {
        Ok(result) => result.ok,
        Err(ClientError::Server(error)) => {
            return format!("{}: {} {}", case.statement, error.code, error.message);
        }
        Err(error) => panic!("{}: {error}", case.statement),
    };
    let counted = ok.info.split("  Warnings").next().unwrap_or_default().to_owned();
    let warnings = client.query("SHOW WARNINGS").expect("the connection is still there");
    let own = ["1062", "1261", "1262", "1263", "1638"];
    let is_own = |row: &usize| own.contains(&warnings.cell(*row, 1).unwrap_or_default().as_str());
    let text = |row| warnings.cell(row, 2).unwrap_or_default();
    let warned: Vec<String> = (0..warnings.rows.len()).filter(is_own).map(text).collect();
    format!("{}: {} rows, {counted}: {}", case.statement, ok.affected_rows, warned.join(" | "))
}

#[test]
fn random_files_are_read_as_by_mysql() {
    let seed = test_seed_or("random_files_are_read_as_by_mysql", 7);
    let times = testkit::times("TIMES", 300);
    same_as_mysql("load_data_random", &Settings::default(), |server| {
        let mut client = client(server);
        client.query("SET sql_mode = 'NO_ENGINE_SUBSTITUTION'").expect("it can be set");
        let mut random = Rng::new(seed);
        let mut lines = Vec::new();
        for _ in 0..times {
            let case = case(&mut random);
            client.query("DROP TABLE IF EXISTS t").expect("it can go");
            client.query(&case.table).expect("it can be made");
            lines.push(format!("{} {:?}", case.table, case.file));
            lines.push(loaded(&mut client, &case));
            // The order of the rows may be that of a key, so they are sorted.
            let said = say(&mut client, "SELECT * FROM t", b"").replacen(": ", ": | ", 1);
            let mut rows: Vec<&str> = said.split(" | ").collect();
            rows.sort_unstable();
            lines.push(rows.join(" | "));
        }
        lines
    });
}
