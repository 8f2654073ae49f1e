//! Tests of a source that logs only the changed parts of a JSON document
//! (`binlog_row_value_options=PARTIAL_JSON`).

use bench::instance::{Flavor, RowImage, Settings};
use protocol::client::Client;
use testkit::following::{By, Pair};
use testkit::{Replica, Server};

const ROWS: u64 = 12;
const STATEMENTS: u64 = 400;

/// A small generator of random choices. The same seed gives the same choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }

    fn path(&mut self) -> String {
        let leg =
            ["$.a", "$.b", "$.\"odd \\\"key\\\"\"", "$.list[0]", "$.list[3]", "$.list[40]", "$.deep.er[1].x"];
        let mut path = self.of(&leg).to_string();
        if self.below(4) == 0 {
            path.push_str(self.of(&[".x", "[0]", ".y[2]"]));
        }
        path.replace('\\', "\\\\")
    }

    fn value(&mut self) -> String {
        match self.below(9) {
            0 => self.below(100).to_string(),
            1 => (self.below(1 << 40) as i64 - (1 << 39)).to_string(),
            2 => format!("'{}'", "xyz".repeat(self.below(60) as usize)),
            3 => "CAST('{\"x\": 1, \"y\": [1, 2, {\"z\": null}]}' AS JSON)".to_string(),
            4 => "CAST('[[1, 2], {\"x\": \"q\"}]' AS JSON)".to_string(),
            5 => self.of(&["NULL", "TRUE", "1.5e10", "18446744073709551615"]).to_string(),
            6 => "CAST('2024-02-29 12:34:56.789' AS DATETIME(3))".to_string(),
            7 => format!("CAST({}.25 AS DECIMAL(20, 2))", self.below(100_000)),
            _ => "'\u{e9}\u{4e16}\u{1f600}'".to_string(),
        }
    }

    fn change(&mut self, column: &str) -> String {
        match self.below(4) {
            0 => format!("{column} = JSON_REMOVE({column}, '{}')", self.path()),
            1 => format!("{column} = JSON_REPLACE({column}, '{}', {})", self.path(), self.value()),
            2 => {
                let (first, second) = (self.path(), self.path());
                let (one, two) = (self.value(), self.value());
                format!("{column} = JSON_SET({column}, '{first}', {one}, '{second}', {two})")
            }
            _ => format!("{column} = JSON_SET({column}, '{}', {})", self.path(), self.value()),
        }
    }

    fn update(&mut self, table: &str) -> String {
        let mut changes = match self.below(4) {
            0 => vec![self.change("a"), self.change("b")],
            1 => vec![self.change("a")],
            _ => vec![self.change("b")],
        };
        if self.below(3) == 0 {
            changes.push("n = n + 1".to_string());
        }
        let rows = match self.below(3) {
            0 => format!("id % 4 = {}", self.below(4)),
            _ => format!("id = {}", self.below(ROWS)),
        };
        format!("UPDATE d.{table} SET {} WHERE {rows}", changes.join(", "))
    }
}

fn fill(client: &mut Client) {
    let padding = "p".repeat(300);
    let document = format!(
        r#"{{"a": 1, "b": {{"x": 5}}, "odd \\"key\\"": 2, "list": [1, "two", {{"x": 3}}, [4]], "deep": {{"er": [0, {{"x": 9}}]}}, "pad": "{padding}"}}"#
    );
    let mut run = |sql: &str| {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    run("CREATE DATABASE d");
    run("CREATE TABLE d.keyed (id INT PRIMARY KEY, a JSON, n INT, b JSON)");
    run("CREATE TABLE d.plain (id INT, a JSON, n INT, b JSON)");
    for id in 0..ROWS {
        run(&format!("INSERT INTO d.keyed VALUES ({id}, '{document}', 0, '{document}')"));
        run(&format!("INSERT INTO d.plain VALUES ({id}, '{document}', 0, '{document}')"));
    }
}

fn documents(server: &Server) -> Vec<String> {
    let mut rows = server.rows("SELECT id, n, a, b FROM d.keyed ORDER BY id");
    rows.extend(server.rows("SELECT id, n, a, b FROM d.plain ORDER BY id"));
    rows
}

fn event_types(server: &Server, wanted: &str) -> usize {
    let files = server.rows("SHOW BINARY LOGS");
    let count = |line: &String| {
        let file = line.split('\t').next().expect("a name");
        let events = server.rows(&format!("SHOW BINLOG EVENTS IN '{file}'"));
        events.iter().filter(|event| event.split('\t').nth(2) == Some(wanted)).count()
    };
    files.iter().map(count).sum()
}

fn carries(image: RowImage, workers: u32) {
    let seed = std::env::var("SEED").map_or(7, |text| text.parse().expect("SEED is a number"));
    println!("SEED={seed}");
    let mut choices = Choices(seed);
    let settings =
        Settings { row_image: image, replica_workers: workers, durable: false, ..Settings::default() };
    let mut pair = Pair::start_with(Flavor::MySql, Flavor::Slipstream, &settings, By::Gtid);
    pair.source.run("SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'");
    let mut client = pair.source.connect();
    fill(&mut client);
    for at in 0..STATEMENTS {
        let tables = if at % 4 == 0 { ["plain"] } else { ["keyed"] };
        let update = choices.update(tables[0]);
        // MySQL refuses some statements, for instance for a path through a value that is no object.
        let _refused = client.query(&update);
    }
    let partial = event_types(&pair.source, "Update_rows_partial");
    assert!(partial > STATEMENTS as usize / 4, "{partial} partial updates only");
    pair.replica.catch_up(&pair.source);
    let there = documents(&pair.source);
    assert_eq!(documents(&pair.replica), there);
    // The replica logs whole documents, so that recovery needs nothing but its log.
    assert_eq!(event_types(&pair.replica, "Update_rows_partial"), 0);
    kill_and_compare(&mut pair.replica, &there);
}

fn kill_and_compare(replica: &mut Replica, there: &[String]) {
    replica.kill();
    replica.come_back();
    assert_eq!(documents(replica), there);
}

#[test]
fn with_full_images() {
    if testkit::available("replicate_partial_json::with_full_images", &[Flavor::MySql]) {
        carries(RowImage::Full, 0);
    }
}

#[test]
fn with_minimal_images_and_workers() {
    if testkit::available("replicate_partial_json::with_minimal_images_and_workers", &[Flavor::MySql]) {
        carries(RowImage::Minimal, 2);
    }
}

#[test]
fn a_document_that_is_not_what_it_was_stops_the_applier() {
    if !testkit::available("replicate_partial_json::a_document_that_is_not_what_it_was", &[Flavor::MySql]) {
        return;
    }
    let settings = Settings { row_image: RowImage::Minimal, durable: false, ..Settings::default() };
    let pair = Pair::start_with(Flavor::MySql, Flavor::Slipstream, &settings, By::Gtid);
    pair.source.run("SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'");
    fill(&mut pair.source.connect());
    pair.replica.catch_up(&pair.source);
    pair.replica.run("SET GLOBAL super_read_only = OFF");
    pair.replica.run("UPDATE d.keyed SET b = '{}' WHERE id = 3");
    pair.source.run("UPDATE d.keyed SET b = JSON_REPLACE(b, '$.a', 2) WHERE id = 3");
    let status = pair.replica.wait_until("stopped", |status| status.sql_errno != 0);
    assert_eq!(status.sql_errno, 3648, "{}", status.sql_error);
    assert!(status.sql_error.contains("Could not apply JSON diff in table d.keyed"), "{}", status.sql_error);
}
