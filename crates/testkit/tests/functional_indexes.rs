//! Tests of functional indexes: rows, errors and what is found by the indexes are as in MySQL, and
//! a replica keeps them whatever images its source logs.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::StartFrom;
use os::random::{Rng, test_seed};
use testkit::answers::answer_with_warnings;
use testkit::{Replica, Server, available};

/// The tables, which have functional indexes beside other ones: unique and not, of several parts,
/// over all kinds of types, and one table without a primary key.
const TABLES: [&str; 3] = [
    "CREATE TABLE f.a (id INT PRIMARY KEY, t VARCHAR(12), n INT, d DATETIME, j JSON, \
     KEY low ((LOWER(t))), UNIQUE KEY sums ((n + 1), t DESC), KEY days ((DATE(d)), n), \
     KEY of_json ((CAST(j->>'$.k' AS SIGNED))))",
    "CREATE TABLE f.b (t VARCHAR(12) COLLATE utf8mb4_bin, n INT, d DATETIME, j JSON, id INT, \
     KEY up ((UPPER(t)), (n % 7)), KEY plain (n), KEY lengths ((n * CHAR_LENGTH(t))))",
    "CREATE TABLE f.c (id INT PRIMARY KEY, n INT, g INT AS (n * 2), t VARCHAR(12), d DATETIME, j JSON, \
     UNIQUE KEY thirds ((n DIV 3)), KEY of_generated ((g + 1)), KEY g (g), KEY lens ((CHAR_LENGTH(t))))",
];

const NAMES: [&str; 3] = ["f.a", "f.b", "f.c"];

const TEXTS: [&str; 10] =
    ["NULL", "''", "'abc'", "'ABC'", "'Abd'", "'12'", "'12x'", "'é'", "'e'", "'longer text'"];
const DATES: [&str; 4] = ["NULL", "'2026-01-02 03:04:05'", "'2026-01-02 23:00:00'", "'1999-12-31'"];
const DOCUMENTS: [&str; 4] = ["NULL", "'{}'", "'{\"k\": 5}'", "'{\"k\": \"7\"}'"];

/// The conditions that an index decides, by table.
const CONDITIONS: [&[&str]; 3] = [
    &[
        "LOWER(t) = 'abc'",
        "LOWER(t) > 'abc'",
        "n + 1 IN (3, 8, 12)",
        "n + 1 = 4 AND t = 'abc'",
        "n + 1 BETWEEN 2 AND 9",
        "DATE(d) = '2026-01-02'",
        "CAST(j->>'$.k' AS SIGNED) < 6",
        "LOWER(t) = 'abc' OR n + 1 = 5",
    ],
    &["UPPER(t) = 'ABC'", "UPPER(t) = 'ABC' AND n % 7 = 3", "n * CHAR_LENGTH(t) = 36", "UPPER(t) < 'B'"],
    &[
        "n DIV 3 = 4",
        "n DIV 3 >= 5",
        "g + 1 = 21",
        "n * 2 = 20",
        "CHAR_LENGTH(t) = 3",
        "n * 2 BETWEEN 4 AND 30",
    ],
];

fn number(rng: &mut Rng) -> String {
    if rng.one_in(12) { "NULL".to_owned() } else { rng.below(60).to_string() }
}

/// Returns a random change of one of the tables.
fn change(rng: &mut Rng) -> String {
    let table = *rng.pick(&NAMES);
    let (id, n) = (rng.below(80), number(rng));
    let (t, d, j) = (*rng.pick(&TEXTS), *rng.pick(&DATES), *rng.pick(&DOCUMENTS));
    let row = format!("({id}, {n}, {t}, {d}, {j})");
    let into = format!("INTO {table} (id, n, t, d, j) VALUES {row}");
    match rng.below(12) {
        0..=3 => format!("INSERT {into}"),
        4 => format!("INSERT IGNORE {into}, ({}, {n}, {t}, {d}, {j})", rng.below(80)),
        5 => format!("REPLACE {into}"),
        6 => format!("INSERT {into} ON DUPLICATE KEY UPDATE n = {}, t = {t}", number(rng)),
        7 => format!("UPDATE {table} SET n = {n}, d = {d} WHERE id = {id}"),
        8 if rng.one_in(2) => {
            let k = rng.below(9);
            format!("UPDATE {table} SET j = JSON_SET(j, '$.k', {k}) WHERE id BETWEEN {id} AND {}", id + 20)
        }
        8 => format!("UPDATE {table} SET t = {t}, j = {j} WHERE id = {id}"),
        9 => format!("UPDATE IGNORE {table} SET t = {t}, n = n + 1 WHERE id = {id}"),
        10 => format!("DELETE FROM {table} WHERE id = {id}"),
        _ => format!("DELETE FROM {table} WHERE id BETWEEN {id} AND {}", id + 2),
    }
}

/// Returns queries about all rows and about the rows that the indexes find.
fn questions() -> Vec<String> {
    let mut all = Vec::new();
    for (table, conditions) in NAMES.iter().zip(CONDITIONS) {
        all.push(format!("SELECT id, n, t, d, j FROM {table} ORDER BY id, n, t, d, CAST(j AS CHAR)"));
        let query =
            |condition: &&str| format!("SELECT id, n, t FROM {table} WHERE {condition} ORDER BY id, n, t, d");
        all.extend(conditions.iter().map(query));
    }
    all
}

fn check_tables(server: &Server) {
    for table in NAMES {
        assert_eq!(server.rows(&format!("CHECK TABLE {table}")), [format!("{table}\tcheck\tstatus\tOK")]);
    }
}

fn fill(server: &Server) {
    server.run("CREATE DATABASE f");
    TABLES.iter().for_each(|table| {
        server.run(table);
    });
}

/// A client's changes of both servers have the same outcome, the same rows are found, and a MySQL
/// replica of this server, whose binary log has no hidden columns, has them too.
#[test]
fn changes_and_answers_are_as_in_mysql() {
    if !available("functional_indexes::changes_and_answers_are_as_in_mysql", &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed("changes_and_answers_are_as_in_mysql"));
    let settings = |server_id| Settings { server_id, durable: false, ..Settings::default() };
    let servers =
        [Server::start(Flavor::Slipstream, &settings(1)), Server::start(Flavor::MySql, &settings(2))];
    let replica = Replica::start(Flavor::MySql, &settings(3));
    replica.follow(Flavor::Slipstream, servers[0].port(), &StartFrom::Gtid);
    servers.iter().for_each(fill);
    let mut clients = servers.each_ref().map(Server::connect);
    let mut wrong = Vec::new();
    let mut compare = |clients: &mut [_; 2], statement: &str| {
        let [ours, theirs] = clients.each_mut().map(|client| answer_with_warnings(client, statement));
        if ours != theirs {
            wrong.push(format!("here:  {ours}\nMySQL: {theirs}"));
        }
    };
    for round in 0..600 {
        if round % 100 == 50 {
            for client in &mut clients {
                let image = *["FULL", "MINIMAL", "NOBLOB"].get(round / 100 % 3).expect("one of three");
                client.query(&format!("SET binlog_row_image = {image}")).expect("is set");
            }
        }
        compare(&mut clients, &change(&mut rng));
    }
    questions().iter().for_each(|question| compare(&mut clients, question));
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
    check_tables(&servers[0]);
    replica.catch_up(&servers[0]);
    questions().iter().for_each(|question| replica.equals_by(&servers[0], question));
    check_tables(&replica);
}

/// The rows of a MySQL source, which logs them without the hidden columns, get into the indexes.
fn replicated(image: RowImage, test: &str) {
    if !available(test, &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed(test));
    let settings =
        |server_id| Settings { server_id, row_image: image, durable: false, ..Settings::default() };
    let source = Server::start(Flavor::MySql, &settings(1));
    let mut replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(Flavor::MySql, source.port(), &StartFrom::Gtid);
    fill(&source);
    let mut client = source.connect();
    client.query("SET binlog_row_value_options = PARTIAL_JSON").expect("is set");
    for _ in 0..500 {
        // Some are refused, because their values do not fit.
        let _ = client.query(&change(&mut rng));
    }
    let equal = |replica: &Replica| {
        questions().iter().for_each(|question| replica.equals_by(&source, question));
        check_tables(replica);
    };
    replica.catch_up(&source);
    equal(&replica);
    for sql in [
        "ALTER TABLE f.a DROP KEY low, ADD KEY high ((UPPER(t))), ADD COLUMN e INT DEFAULT 5",
        "ALTER TABLE f.b ADD UNIQUE KEY e ((id * 1000 + n), t, d, (CAST(j AS CHAR(50))))",
        "UPDATE f.a SET n = n + 100, e = id",
        "DELETE FROM f.b WHERE UPPER(t) = 'ABC'",
    ] {
        let _ = client.query(sql);
    }
    replica.catch_up(&source);
    equal(&replica);
    replica.shut_down();
    replica.come_back();
    equal(&replica);
}

#[test]
fn full_images_are_replicated() {
    replicated(RowImage::Full, "functional_indexes::full_images_are_replicated");
}

#[test]
fn minimal_images_are_replicated() {
    replicated(RowImage::Minimal, "functional_indexes::minimal_images_are_replicated");
}

#[test]
fn images_without_blobs_are_replicated() {
    replicated(RowImage::NoBlob, "functional_indexes::images_without_blobs_are_replicated");
}
