//! Tests of multi-valued indexes: definitions, rows, errors and what is found by the indexes are as
//! in MySQL, a replica keeps them whatever images its source logs, and a crash leaves them whole.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::StartFrom;
use os::random::{Rng, test_seed};
use testkit::answers::answer;
use testkit::server::same_as_mysql;
use testkit::{Replica, Server, available};

/// The tables: indexes alone and with other parts before and behind the array, unique ones, and one
/// table without a primary key.
const TABLES: [&str; 4] = [
    "CREATE TABLE m.a (id INT PRIMARY KEY, n INT, j JSON, KEY u ((CAST(j->'$.a' AS UNSIGNED ARRAY))), \
     KEY of_n (n, (CAST(j->'$.a' AS SIGNED ARRAY)), id))",
    "CREATE TABLE m.b (id INT, n INT, j JSON, KEY c ((CAST(j->'$.a' AS CHAR(12) ARRAY)), n), \
     KEY d ((CAST(j->'$.a' AS DECIMAL(8,2) ARRAY))))",
    "CREATE TABLE m.c (id INT PRIMARY KEY, n INT, j JSON, UNIQUE KEY s ((CAST(j->'$.a' AS SIGNED ARRAY))))",
    "CREATE TABLE m.d (id INT PRIMARY KEY, n INT, j JSON, \
     UNIQUE KEY nc (n, (CAST(j->'$.a' AS CHAR(12) ARRAY))), KEY b ((CAST(j->'$.a' AS BINARY(12) ARRAY))))",
];

const NAMES: [&str; 4] = ["m.a", "m.b", "m.c", "m.d"];

/// Elements that are most often accepted, and some that seldom are.
const ELEMENTS: [&str; 16] =
    ["1", "2", "3", "4", "5", "6", "7", "8", "1.5", "\"3\"", "\"9\"", "true", "-2", "\"x\"", "null", "[1]"];
const DOCUMENTS: [&str; 9] = [
    "{}",
    "{\"a\": []}",
    "{\"a\": 5}",
    "{\"a\": \"7\"}",
    "{\"a\": null}",
    "{\"a\": {}}",
    "{\"a\": true}",
    "{\"b\": [1]}",
    "[1, 2]",
];

/// What the conditions look for.
const MEMBERS: [&str; 10] =
    ["1", "3", "-2", "'3'", "'x'", "1.5", "2.00", "TRUE", "CAST('4' AS JSON)", "'much too long for it'"];
const CANDIDATES: [&str; 10] = [
    "'[1, 2]'",
    "'3'",
    "'[3, 4, 5, 6, 7]'",
    "'\"3\"'",
    "'[\"x\", 1]'",
    "'[1.5]'",
    "'[]'",
    "'[1, null]'",
    "JSON_ARRAY(1, 8)",
    "'{\"a\": 1}'",
];

fn document(rng: &mut Rng) -> String {
    if rng.one_in(12) {
        return "NULL".to_owned();
    }
    if rng.one_in(8) {
        return format!("'{}'", rng.pick(&DOCUMENTS));
    }
    // Most documents have elements that every index takes.
    let most = if rng.one_in(4) { ELEMENTS.len() } else { 11 };
    let elements: Vec<&str> = (0..rng.below(5)).map(|_| *rng.pick(&ELEMENTS[..most])).collect();
    format!("'{{\"a\": [{}], \"b\": {}}}'", elements.join(", "), rng.below(5))
}

/// Returns a random change of one of the tables. Where a unique index could be in the way of a row
/// by several of its elements, MySQL does not do what REPLACE and ON DUPLICATE KEY UPDATE promise.
fn change(rng: &mut Rng) -> String {
    let table = *rng.pick(&NAMES);
    let is_unique = matches!(table, "m.c" | "m.d");
    let (id, n, j) = (rng.below(60), rng.below(4), document(rng));
    let into = format!("INTO {table} (id, n, j) VALUES ({id}, {n}, {j})");
    match rng.below(12) {
        5 if !is_unique => format!("REPLACE {into}"),
        6 if !is_unique => format!("INSERT {into} ON DUPLICATE KEY UPDATE n = n + 1, j = {}", document(rng)),
        0..=5 => format!("INSERT {into}"),
        6 | 7 => format!("UPDATE {table} SET j = {j} WHERE id = {id}"),
        8 => {
            let (at, element) = (rng.below(3), rng.below(9));
            format!("UPDATE {table} SET j = JSON_SET(j, '$.a[{at}]', {element}) WHERE id = {id}")
        }
        9 => format!("UPDATE {table} SET n = {n} WHERE id = {id}"),
        10 => format!("DELETE FROM {table} WHERE {}", condition(rng)),
        _ => format!("DELETE FROM {table} WHERE id BETWEEN {id} AND {}", id + 2),
    }
}

fn condition(rng: &mut Rng) -> String {
    let document = if rng.one_in(10) { "j->'$.b'" } else { "j->'$.a'" };
    let searched = match rng.below(4) {
        0 => format!("{} MEMBER OF ({document})", rng.pick(&MEMBERS)),
        1 => format!("JSON_CONTAINS({document}, {})", rng.pick(&CANDIDATES)),
        2 => format!("JSON_OVERLAPS({document}, {})", rng.pick(&CANDIDATES)),
        _ => format!("JSON_OVERLAPS({}, {document})", rng.pick(&CANDIDATES)),
    };
    match rng.below(8) {
        // MySQL reads only the entries with this number then, and misses rows with empty arrays.
        0 | 1 | 4 if searched.contains("'[]'") || document.contains("$.b") => searched,
        0 => format!("n = {} AND {searched}", rng.below(4)),
        1 => format!("n = {} AND {searched} AND id > 20", rng.below(4)),
        2 => format!("({searched} OR {} MEMBER OF (j->'$.a'))", rng.pick(&MEMBERS)),
        3 => format!("NOT {searched}"),
        4 => format!("n IN (1, 2) AND {searched}"),
        _ => searched,
    }
}

/// Returns a query about the rows that a condition finds. With FORCE INDEX the index is used for a
/// small table, too.
fn question(rng: &mut Rng) -> String {
    let at = rng.below(NAMES.len() as u64) as usize;
    let indexes: [&[&str]; 4] = [&["u", "of_n"], &["c", "d"], &["s"], &["nc", "b"]];
    let hint = match rng.below(4) {
        0 => String::new(),
        1 => format!(" IGNORE INDEX ({})", rng.pick(indexes[at])),
        _ => format!(" FORCE INDEX ({})", rng.pick(indexes[at])),
    };
    let (table, condition) = (NAMES[at], condition(rng));
    match rng.below(5) {
        0 => format!("SELECT COUNT(*), MIN(n), MAX(id) FROM {table}{hint} WHERE {condition}"),
        1 => format!("SELECT n, COUNT(*) FROM {table}{hint} WHERE {condition} GROUP BY n ORDER BY n"),
        2 => format!("SELECT DISTINCT n FROM {table}{hint} WHERE {condition} ORDER BY n"),
        _ => format!("SELECT id, n, j FROM {table}{hint} WHERE {condition} ORDER BY id, n, CAST(j AS CHAR)"),
    }
}

fn all_rows() -> Vec<String> {
    let query = |table: &&str| format!("SELECT id, n, j FROM {table} ORDER BY id, n, CAST(j AS CHAR)");
    NAMES.iter().map(query).collect()
}

fn check_tables(server: &Server) {
    for table in NAMES {
        assert_eq!(server.rows(&format!("CHECK TABLE {table}")), [format!("{table}\tcheck\tstatus\tOK")]);
    }
}

fn fill(server: &Server) {
    server.run("CREATE DATABASE m");
    TABLES.iter().for_each(|table| {
        server.run(table);
    });
}

/// A client's changes of both servers have the same outcome, the same rows are found, and a MySQL
/// replica of this server, whose binary log has no hidden columns, has them too.
#[test]
fn changes_and_answers_are_as_in_mysql() {
    if !available("multi_valued_indexes::changes_and_answers_are_as_in_mysql", &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed("multi_valued_changes_and_answers_are_as_in_mysql"));
    let settings = |server_id| Settings { server_id, durable: false, ..Settings::default() };
    let servers =
        [Server::start(Flavor::Slipstream, &settings(1)), Server::start(Flavor::MySql, &settings(2))];
    let replica = Replica::start(Flavor::MySql, &settings(3));
    replica.follow(Flavor::Slipstream, servers[0].port(), &StartFrom::Gtid);
    servers.iter().for_each(fill);
    let mut clients = servers.each_ref().map(Server::connect);
    let mut wrong = Vec::new();
    let mut compare = |clients: &mut [_; 2], statement: &str| {
        let [ours, theirs] = clients.each_mut().map(|client| answer(client, statement));
        if ours != theirs {
            wrong.push(format!("here:  {ours}\nMySQL: {theirs}"));
        }
    };
    for round in 0..1500 {
        match round % 3 {
            2 => compare(&mut clients, &question(&mut rng)),
            _ => compare(&mut clients, &change(&mut rng)),
        }
    }
    all_rows().iter().for_each(|question| compare(&mut clients, question));
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
    check_tables(&servers[0]);
    replica.catch_up(&servers[0]);
    all_rows().iter().for_each(|question| replica.equals_by(&servers[0], question));
    check_tables(&replica);
}

/// The rows of a MySQL source, which logs them without the hidden columns, get into the indexes.
/// Both servers find the same rows by them, also after the replica was killed.
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
    let questions: Vec<String> = all_rows().into_iter().chain((0..40).map(|_| question(&mut rng))).collect();
    let equal = |replica: &Replica| {
        questions.iter().for_each(|question| replica.equals_by(&source, question));
        check_tables(replica);
    };
    for _ in 0..3 {
        for _ in 0..300 {
            // Some are refused, because their values do not fit.
            let _ = client.query(&change(&mut rng));
        }
        replica.server.kill();
        replica.come_back();
        replica.catch_up(&source);
        equal(&replica);
    }
    for sql in [
        "ALTER TABLE m.a DROP KEY u, ADD COLUMN e INT DEFAULT 5",
        "ALTER TABLE m.b ADD KEY u (n, (CAST(j->'$.b' AS UNSIGNED ARRAY)))",
        "CREATE TABLE m.e LIKE m.c",
        "INSERT INTO m.e SELECT * FROM m.c",
        "TRUNCATE TABLE m.d",
        "INSERT INTO m.d VALUES (1, 1, '{\"a\": [\"x\", 3]}')",
        "ALTER TABLE m.a ADD KEY u ((CAST(j->'$.a' AS UNSIGNED ARRAY)))",
        "RENAME TABLE m.c TO m.f, m.e TO m.c",
    ] {
        let _ = client.query(sql);
    }
    replica.catch_up(&source);
    equal(&replica);
}

#[test]
fn full_images_are_replicated() {
    replicated(RowImage::Full, "multi_valued_indexes::full_images_are_replicated");
}

#[test]
fn minimal_images_are_replicated() {
    replicated(RowImage::Minimal, "multi_valued_indexes::minimal_images_are_replicated");
}

#[test]
fn images_without_blobs_are_replicated() {
    replicated(RowImage::NoBlob, "multi_valued_indexes::images_without_blobs_are_replicated");
}

/// Definitions that MySQL accepts and refuses, and the limits of a row's elements.
#[test]
fn definitions_and_limits_are_as_in_mysql() {
    let numbers = |from: u32, to: u32| (from..to).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let key = |table: &str, part: &str| format!("CREATE TABLE m.{table} (j JSON, a INT, KEY k ({part}))");
    let array = |ty: &str| format!("(CAST(j->'$.a' AS {ty} ARRAY))");
    let mut statements = vec!["CREATE DATABASE m".to_owned()];
    let types = [
        "UNSIGNED",
        "SIGNED INTEGER",
        "DECIMAL",
        "DECIMAL(8,3)",
        "CHAR(512)",
        "CHAR(513)",
        "CHAR",
        "BINARY(512)",
        "BINARY",
        "DATE",
        "TIME(3)",
        "DATETIME",
        "YEAR",
        "DOUBLE",
        "JSON",
        "CHAR(5) CHARACTER SET latin1",
    ];
    for (number, ty) in types.iter().enumerate() {
        statements.push(key(&format!("t{number}"), &array(ty)));
    }
    let of_parts = [
        format!("a, {}", array("UNSIGNED")),
        format!("{}, a DESC", array("UNSIGNED")),
        format!("{} DESC", array("UNSIGNED")),
        format!("{} ASC", array("UNSIGNED")),
        format!("{}, {}", array("UNSIGNED"), array("SIGNED")),
        "(JSON_LENGTH(CAST(j AS UNSIGNED ARRAY)))".to_owned(),
    ];
    for (number, parts) in of_parts.iter().enumerate() {
        statements.push(key(&format!("p{number}"), parts));
    }
    let more = [
        "SHOW CREATE TABLE m.t3".to_owned(),
        "SHOW CREATE TABLE m.p0".to_owned(),
        "SELECT CAST('[1]' AS UNSIGNED ARRAY)".to_owned(),
        "CREATE TABLE m.g (j JSON, g JSON AS (CAST(j AS UNSIGNED ARRAY)))".to_owned(),
        "CREATE TABLE m.g (j JSON, PRIMARY KEY ((CAST(j AS UNSIGNED ARRAY))))".to_owned(),
        format!("INSERT INTO m.t0 (j) VALUES ('{{\"a\": [{}]}}')", numbers(0, 1605)),
        format!("INSERT INTO m.t0 (j) VALUES ('{{\"a\": [{}]}}')", numbers(0, 1606)),
        format!("INSERT INTO m.t0 (j) VALUES ('{{\"a\": [{}]}}')", numbers(0, 1700)),
        format!("INSERT INTO m.t4 (j) VALUES ('{{\"a\": [{}]}}')", numbers(100, 1884)),
        format!("INSERT INTO m.t4 (j) VALUES ('{{\"a\": [{}]}}')", numbers(1000, 2339)),
        "SELECT COUNT(*) FROM m.t0 WHERE 1604 MEMBER OF (j->'$.a')".to_owned(),
        "INSERT INTO m.t1 (j) VALUES ('{\"a\": [7, 1, 1]}'), ('{\"a\": [12]}')".to_owned(),
        "ALTER TABLE m.t1 ADD UNIQUE KEY v ((CAST(j->'$.a' AS CHAR(5) ARRAY)))".to_owned(),
        "INSERT INTO m.t1 (j) VALUES ('{\"a\": [7, 1, 3]}')".to_owned(),
        "ALTER TABLE m.t1 DROP KEY v, ADD KEY w ((CAST(j->'$.a' AS CHAR(3) ARRAY)))".to_owned(),
        "INSERT INTO m.t9 (j) VALUES ('{\"a\": [\"2026-01-02\"]}')".to_owned(),
        "INSERT INTO m.t9 (j) VALUES ('{\"a\": [\"no date\"]}')".to_owned(),
    ];
    statements.extend(more);
    // MySQL reports a second error, about the range, after some of those about values.
    let test = "multi_valued_indexes::definitions_and_limits_are_as_in_mysql";
    let seen = same_as_mysql(test, &Settings::default(), |server| {
        let mut client = server.connect();
        statements.iter().map(|statement| answer(&mut client, statement)).collect()
    });
    let refused = |code: &str| seen.iter().filter(|answer| answer.contains(code)).count();
    assert!(refused(": 1235 (42000)") >= 8 && refused(": 3905 (HY000)") >= 1, "{}", seen.join("\n"));
}
