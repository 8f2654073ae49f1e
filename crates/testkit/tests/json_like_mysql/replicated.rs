//! Tests with a source whose tables have columns, constraints and indexes that call JSON functions.

use bench::instance::{Flavor, Settings};
use os::random::{Rng, test_seed};
use testkit::following::{By, Pair};

const ROWS: u64 = 40;
const CHANGES: usize = 200;

const TABLE: &str = "CREATE TABLE r.t (id INT PRIMARY KEY, j JSON, \
    a INT AS (j->'$.a') STORED, \
    b VARCHAR(30) AS (j->>'$.b') VIRTUAL, \
    n INT AS (JSON_LENGTH(j)) VIRTUAL, \
    v DECIMAL(8,2) AS (JSON_VALUE(j, '$.a' RETURNING DECIMAL(8,2))) VIRTUAL, \
    o JSON AS (JSON_OBJECT('a', j->'$.a', 'k', JSON_KEYS(j), 's', 'x')) VIRTUAL, \
    m JSON AS (JSON_MERGE_PATCH(j, JSON_OBJECT('b', NULL))) VIRTUAL, \
    c TINYINT AS (JSON_CONTAINS(j, '2', '$.z')) VIRTUAL, \
    e TINYINT AS (5 MEMBER OF (j->'$.z')) VIRTUAL, \
    p VARCHAR(60) AS (JSON_UNQUOTE(JSON_SEARCH(j, 'one', 'x%'))) VIRTUAL, \
    KEY (a), KEY (b), KEY z ((CAST(j->'$.z' AS UNSIGNED ARRAY))), \
    KEY f ((CAST(j->>'$.b' AS CHAR(20)))), CHECK (JSON_CONTAINS_PATH(j, 'one', '$.a')))";

fn change(rng: &mut Rng) -> String {
    let id = rng.below(ROWS);
    let value = rng.below(9);
    match rng.below(6) {
        0 => format!(
            "REPLACE INTO r.t (id, j) VALUES ({id}, '{{\"a\": {value}, \"b\": \"x{value}\", \"z\": [2, {value}]}}')"
        ),
        1 => format!("UPDATE r.t SET j = JSON_SET(j, '$.a', {value}, '$.new', 1.50) WHERE id = {id}"),
        2 => format!("UPDATE r.t SET j = JSON_ARRAY_APPEND(j, '$.z', {value}) WHERE id = {id}"),
        3 => format!("UPDATE r.t SET j = JSON_REMOVE(j, '$.b') WHERE id = {id}"),
        4 => format!("UPDATE r.t SET j = JSON_SET(j, '$.b', DATE'2020-01-02') WHERE id = {id}"),
        _ => format!("DELETE FROM r.t WHERE id = {id}"),
    }
}

#[test]
fn generated_columns_are_the_sources() {
    const TEST: &str = "generated_columns_are_the_sources";
    if !testkit::available(TEST, &[Flavor::MySql]) {
        return;
    }
    let mut rng = Rng::new(test_seed(TEST));
    let settings = Settings { durable: false, ..Settings::default() };
    let pair = Pair::start_with(Flavor::MySql, Flavor::Slipstream, &settings, By::Gtid);
    let mut client = pair.source.connect();
    let mut run = |sql: &str| {
        client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    run("CREATE DATABASE r");
    run(TABLE);
    run("SET binlog_row_image = 'MINIMAL'");
    for _ in 0..CHANGES {
        run(&change(&mut rng));
    }
    pair.replica.catch_up(&pair.source);
    let all = "SELECT * FROM r.t ORDER BY id";
    let there = pair.source.rows(all);
    assert!(there.len() > 5, "{} rows", there.len());
    assert_eq!(pair.replica.rows(all), there);
    // A statement on the replica must compute what the same statement computes on the source.
    let computed =
        "SELECT id, a = j->'$.a', b, n, v, o, m, c, e, p FROM r.t WHERE 2 MEMBER OF (j->'$.z') ORDER BY id";
    assert_eq!(pair.replica.rows(computed), pair.source.rows(computed));
}
