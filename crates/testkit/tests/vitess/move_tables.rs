//! Tables that move from a server which Vitess does not manage into shards, and back, under load.

use bench::instance::{Flavor, Settings, USER};
use testkit::Server;
use testkit::vitess::{Cluster, available};

use crate::load::{Load, add_shards, agree};
use crate::vdiff::vdiff;

/// The shards of the target, each with its first tablet.
const SHARDS: [(u32, &str); 2] = [(100, "-80"), (200, "80-")];

const SHARDED: &str = r#"{"sharded": true, "vindexes": {"hashed": {"type": "xxhash"}}, "tables": {
    "t": {"column_vindexes": [{"column": "id", "name": "hashed"}]},
    "kinds": {"column_vindexes": [{"column": "id", "name": "hashed"}]}}}"#;

/// Makes the schema that moves, with one table of many types.
fn fill(server: &Server) {
    server.run("CREATE DATABASE legacy");
    server.run("CREATE TABLE legacy.t (id BIGINT UNSIGNED PRIMARY KEY, v VARCHAR(40))");
    server.run(
        "CREATE TABLE legacy.kinds (id BIGINT UNSIGNED PRIMARY KEY, d DECIMAL(20,5), f DOUBLE, \
         e ENUM('one','two'), s SET('a','b'), j JSON, b VARBINARY(20), x TEXT CHARACTER SET latin1, \
         ts TIMESTAMP(3) NULL, dt DATETIME(6), y YEAR, bits BIT(9), g INT GENERATED ALWAYS AS (id * 2) STORED)",
    );
    let mut session = server.connect();
    session.query("USE legacy").expect("the schema");
    for id in 1..=500u32 {
        let row = format!(
            "INSERT INTO legacy.kinds (id, d, f, e, s, j, b, x, ts, dt, y, bits) VALUES ({id}, {id}.00125, {id} / 3, \
             {id} % 2 + 1, {id} % 4, JSON_OBJECT('id', {id}, 'list', JSON_ARRAY({id}, 'ü', NULL)), LEFT(UNHEX(SHA2({id}, 256)), 20), \
             CONCAT('é', {id}), '2024-02-29 01:02:03.004' + INTERVAL {id} HOUR, NOW(6), 2000 + {id} % 100, {id})"
        );
        session.query(&row).unwrap_or_else(|error| panic!("{row}: {error}"));
    }
}

const TABLES: [&str; 2] = [
    "SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('#', id, v))), 0) FROM",
    "SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('#', id, d, f, e, s, j, HEX(b), x, ts, dt, y, HEX(bits), g))), 0) FROM",
];

/// Adds the numbers of the lines.
fn added<'a>(lines: impl Iterator<Item = &'a String>) -> [u64; 2] {
    let mut sums = [0; 2];
    for line in lines {
        for (sum, cell) in sums.iter_mut().zip(line.split('\t')) {
            *sum += cell.parse::<u64>().expect("a number");
        }
    }
    sums
}

/// Waits until the source has the rows of the shards.
fn source_has_the_rows(cluster: &Cluster, source: &Server) {
    for (sums, table) in TABLES.into_iter().zip(["t", "kinds"]) {
        let sql = format!("{sums} vt_sharded.{table}");
        let ours: Vec<String> = SHARDS
            .iter()
            .flat_map(|(uid, _)| agree(cluster, cluster.tablet(*uid), cluster.tablet(uid + 1), &sql))
            .collect();
        let ours = added(ours.iter());
        cluster.until("the source has the rows of the shards", || {
            let theirs = added(source.rows(&format!("{sums} legacy.{table}")).iter());
            (ours == theirs, format!("{table}: {ours:?} and {theirs:?}"))
        });
        assert!(ours[0] > 0, "{table} is empty");
    }
}

/// Moves the tables of a server of this flavor into two shards of Slipstream, back, and there
/// again.
fn move_from(flavor: Flavor) {
    let source = Server::start(flavor, &Settings { server_id: 9, ..Settings::default() });
    fill(&source);
    let mut cluster = Cluster::start("sharded");
    add_shards(&mut cluster, &SHARDS);
    cluster.add_unmanaged(900, "legacy", source.port(), USER, USER);
    cluster.ctl(&["ApplyVSchema", "--vschema", SHARDED, "sharded"]);
    cluster.start_vtgate();
    let moved = |words: &[&str]| {
        let begin = ["MoveTables", "--workflow", "moved", "--target-keyspace", "sharded"];
        cluster.ctl(&[&begin[..], words].concat())
    };
    moved(&["create", "--source-keyspace", "legacy", "--tables", "t,kinds"]);
    let load = Load::start(&cluster);
    load.goes_on(&cluster);
    cluster.until("the copy is complete", || {
        let status = moved(&["status"]);
        (status.matches("Status: Running").count() == SHARDS.len(), status)
    });
    println!("{}", vdiff(&cluster, "moved", "sharded"));
    moved(&["SwitchTraffic"]);
    load.goes_on(&cluster);
    println!("{}", vdiff(&cluster, "moved_reverse", "legacy"));
    moved(&["ReverseTraffic"]);
    load.goes_on(&cluster);
    moved(&["SwitchTraffic"]);
    load.goes_on(&cluster);
    let acknowledged = load.end();
    source_has_the_rows(&cluster, &source);
    acknowledged.are_in(&source.rows("SELECT id FROM legacy.t"));
    moved(&["complete"]);
    assert_eq!(
        source.rows("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'legacy'"),
        ["0"]
    );
}

#[test]
fn tables_move_from_mysql_into_shards_and_back() {
    let test = "tables_move_from_mysql_into_shards_and_back";
    if available(test) && testkit::available(test, &[Flavor::MySql]) {
        move_from(Flavor::MySql);
    }
}

#[test]
fn tables_move_from_an_unmanaged_server_into_shards_and_back() {
    if available("tables_move_from_an_unmanaged_server_into_shards_and_back") {
        move_from(Flavor::Slipstream);
    }
}
