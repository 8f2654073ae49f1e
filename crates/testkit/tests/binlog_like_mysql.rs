//! Our binary log beside that of a MySQL server that was told the same: events are compared byte for byte.

use bench::instance::{Flavor, Settings};
use binlog::event::event_type;
use os::random::{Rng, test_seed};
use testkit::binlog_events::{self, FileEvent};
use testkit::{Server, available};

const FLAVORS: [Flavor; 2] = [Flavor::MySql, Flavor::Slipstream];

/// Both servers, which have run the statements.
fn both(statements: &[String]) -> [Server; 2] {
    FLAVORS.map(|flavor| {
        let server = Server::start(flavor, &Settings::default());
        let mut session = server.connect();
        for sql in statements {
            session.query(sql).unwrap_or_else(|error| panic!("{flavor}: {sql}: {error}"));
        }
        server
    })
}

const TYPES: &[&str] = &[
    "TINYINT",
    "TINYINT UNSIGNED",
    "SMALLINT",
    "SMALLINT UNSIGNED",
    "MEDIUMINT",
    "MEDIUMINT UNSIGNED",
    "INT",
    "INT UNSIGNED",
    "BIGINT",
    "BIGINT UNSIGNED",
    "FLOAT",
    "FLOAT UNSIGNED",
    "DOUBLE",
    "DECIMAL(20,6)",
    "DECIMAL(9,2) UNSIGNED",
    "BIT(11)",
    "YEAR",
    "DATE",
    "TIME",
    "TIME(3)",
    "DATETIME",
    "DATETIME(6)",
    "TIMESTAMP NULL",
    "TIMESTAMP(2) NULL",
    "CHAR(7)",
    "CHAR(200)",
    "VARCHAR(20)",
    "VARCHAR(300)",
    "BINARY(5)",
    "VARBINARY(700)",
    "TINYTEXT",
    "TEXT",
    "MEDIUMTEXT",
    "LONGTEXT",
    "TINYBLOB",
    "BLOB",
    "MEDIUMBLOB",
    "LONGBLOB",
    "JSON",
    "ENUM('a', 'b', 'ccc')",
    "SET('x', 'y', 'zz')",
];

const COLLATIONS: &[&str] = &[
    "",
    "",
    " COLLATE utf8mb4_bin",
    " COLLATE latin1_swedish_ci",
    " COLLATE utf8mb4_general_ci",
    " COLLATE ascii_bin",
];

fn has_collation(ty: &str) -> bool {
    ["CHAR", "TEXT", "ENUM", "SET"].iter().any(|word| ty.contains(word))
}

/// A table of some columns, with a primary key (or none) of whole columns or of their first characters.
fn random_table(rng: &mut Rng, name: &str) -> String {
    let mut parts = Vec::new();
    let mut may_be_key = Vec::new();
    for at in 0..rng.between(1, 14) {
        let ty = *rng.pick(TYPES);
        let collation = if has_collation(ty) { *rng.pick(COLLATIONS) } else { "" };
        let invisible = if at > 0 && rng.one_in(6) { " INVISIBLE" } else { "" };
        parts.push(format!("c{at} {ty}{collation}{invisible}"));
        match ty {
            _ if ty.contains("TEXT") || ty.contains("BLOB") => may_be_key.push(format!("c{at}(9)")),
            "VARCHAR(300)" | "CHAR(200)" if rng.one_in(2) => {
                may_be_key.push(format!("c{at}({})", rng.between(1, 50)))
            }
            "TIMESTAMP NULL" | "TIMESTAMP(2) NULL" | "JSON" => {}
            _ => may_be_key.push(format!("c{at}")),
        }
    }
    if !may_be_key.is_empty() && rng.one_in(2) {
        let key: Vec<String> = (0..rng.between(1, 3)).map(|_| rng.pick(&may_be_key).clone()).collect();
        let mut key: Vec<String> = key.into_iter().rev().collect();
        key.dedup_by_key(|part| part.split('(').next().unwrap_or_default().to_string());
        key.truncate(2);
        if key.len() < 2 || key[0].split('(').next() != key[1].split('(').next() {
            parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
    }
    format!("CREATE TABLE d.{name} ({})", parts.join(", "))
}

/// The event's body without the table's number, which is each server's own.
fn without_table_id(event: &FileEvent) -> Vec<u8> {
    event.body()[6..].to_vec()
}

#[test]
fn table_maps_are_mysqls_with_minimal_and_with_full_metadata() {
    if !available("binlog_like_mysql::table_maps", &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed("table_maps"));
    let mut statements = vec!["CREATE DATABASE d".to_string(), "SET sql_mode = ''".to_string()];
    for number in 0..60 {
        statements.push(random_table(&mut rng, &format!("t{number}")));
        for metadata in ["MINIMAL", "FULL"] {
            statements.push(format!("SET GLOBAL binlog_row_metadata = {metadata}"));
            statements.push(format!("INSERT INTO d.t{number} () VALUES ()"));
            statements.push(format!("DELETE FROM d.t{number}"));
        }
    }
    let maps = both(&statements).map(|server| {
        let events = binlog_events::of(&server);
        let maps = events.iter().filter(|event| event.kind() == event_type::TABLE_MAP);
        maps.map(without_table_id).collect::<Vec<_>>()
    });
    assert_eq!(maps[0].len(), 240);
    let [theirs, ours] = maps;
    for (at, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
        let table = &statements[2 + at / 4 * 7];
        assert_eq!(ours, theirs, "event {at}, {table}");
    }
    assert_eq!(ours.len(), theirs.len());
}
