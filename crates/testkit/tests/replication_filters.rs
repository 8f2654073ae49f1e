//! Tests of replication filters: what a replica has after a source's history is what a MySQL
//! replica with the same filters has.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::StartFrom;
use testkit::server::flavor_under_test;
use testkit::{Replica, Server, available};

/// Statements with their default schema. Every statement names tables of its default schema, or
/// tables that no filter excludes.
const HISTORY: &[(&str, &str)] = &[
    ("", "CREATE DATABASE a"),
    ("", "CREATE DATABASE b"),
    ("", "CREATE DATABASE shop1"),
    ("", "CREATE DATABASE z"),
    ("a", "CREATE TABLE t (id INT PRIMARY KEY, n INT)"),
    ("a", "CREATE TABLE u (id INT PRIMARY KEY, n INT)"),
    ("b", "CREATE TABLE t (id INT PRIMARY KEY, n INT)"),
    ("b", "CREATE TABLE y1 (id INT PRIMARY KEY, n INT)"),
    ("shop1", "CREATE TABLE orders (id INT PRIMARY KEY, n INT)"),
    ("a", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"),
    ("a", "INSERT INTO u VALUES (1, 1), (2, 2)"),
    ("b", "INSERT INTO t VALUES (1, 10), (2, 20)"),
    ("b", "INSERT INTO y1 VALUES (5, 5)"),
    ("shop1", "INSERT INTO orders VALUES (1, 1)"),
    // One transaction has rows of several schemas, of which a filter keeps only some.
    ("a", "BEGIN"),
    ("a", "UPDATE a.t SET n = n + 1"),
    ("a", "UPDATE b.t SET n = n + 1 WHERE id = 1"),
    ("a", "DELETE FROM shop1.orders"),
    ("a", "INSERT INTO b.y1 VALUES (6, 6)"),
    ("a", "COMMIT"),
    // For rows, the default schema does not matter.
    ("b", "INSERT INTO a.u VALUES (3, 3)"),
    ("a", "ALTER TABLE u ADD COLUMN m INT"),
    ("a", "UPDATE u SET m = 7 WHERE id = 1"),
    ("b", "DROP TABLE y1"),
    ("a", "TRUNCATE TABLE t"),
    ("a", "INSERT INTO t VALUES (9, 9)"),
];

fn source() -> Server {
    let settings = Settings { row_image: RowImage::Minimal, ..Settings::default() };
    let source = Server::start(Flavor::MySql, &settings);
    let mut client = source.connect();
    for (schema, statement) in HISTORY {
        if !schema.is_empty() {
            client.query(&format!("USE {schema}")).unwrap_or_else(|error| panic!("{error}"));
        }
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    source
}

/// Returns the schemas of the history, and every table in them with its rows.
fn contents(server: &Server) -> Vec<String> {
    let schemas = "('a', 'b', 'shop1', 'z')";
    let mut lines = server.rows(&format!(
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN {schemas} ORDER BY SCHEMA_NAME"
    ));
    let tables = server.rows(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN {schemas} \
         ORDER BY TABLE_SCHEMA, TABLE_NAME"
    ));
    for table in tables {
        let name = table.replace('\t', ".");
        lines.push(name.clone());
        lines.extend(server.rows(&format!("SELECT * FROM {name} ORDER BY id")));
    }
    lines
}

/// Returns the columns of SHOW REPLICA STATUS that are about filters.
fn shown(replica: &Replica) -> Vec<String> {
    let result = replica.run("SHOW REPLICA STATUS");
    [
        "Replicate_Do_DB",
        "Replicate_Ignore_DB",
        "Replicate_Do_Table",
        "Replicate_Ignore_Table",
        "Replicate_Wild_Do_Table",
        "Replicate_Wild_Ignore_Table",
        "Replicate_Rewrite_DB",
    ]
    .map(|column| format!("{column}={}", result.text(0, column).unwrap_or_default()))
    .into()
}

fn follower(flavor: Flavor, server_id: u32, workers: u32, source: &Server, filter: &str) -> Replica {
    let settings = Settings { server_id, replica_workers: workers, ..Settings::default() };
    let replica = Replica::start(flavor, &settings);
    replica.run(&format!("CHANGE REPLICATION FILTER {filter}"));
    replica.follow(source.flavor(), source.port(), &StartFrom::Gtid);
    replica
}

fn as_mysql_does(test: &str, filters: &[&str]) {
    if !available(test, &[Flavor::MySql]) {
        return;
    }
    let source = source();
    let executed = source.rows("SELECT @@GLOBAL.gtid_executed");
    for filter in filters {
        let theirs = follower(Flavor::MySql, 2, 4, &source, filter);
        theirs.catch_up(&source);
        let expected = (contents(&theirs), shown(&theirs));
        for workers in [0, 3] {
            let ours = follower(flavor_under_test(), 3, workers, &source, filter);
            ours.catch_up(&source);
            assert_eq!((contents(&ours), shown(&ours)), expected, "{filter}, {workers} workers");
            assert_eq!(
                ours.rows("SELECT @@GLOBAL.gtid_executed"),
                executed,
                "{filter}: what is left out counts"
            );
        }
    }
}

#[test]
fn by_schema() {
    as_mysql_does(
        "replication_filters::by_schema",
        &["REPLICATE_DO_DB = (a, z)", "REPLICATE_IGNORE_DB = (b, shop1)"],
    );
}

#[test]
fn by_table_and_pattern() {
    as_mysql_does(
        "replication_filters::by_table_and_pattern",
        &[
            "REPLICATE_IGNORE_TABLE = (a.u, b.y1)",
            "REPLICATE_WILD_IGNORE_TABLE = ('shop%.%', 'b.y_')",
            "REPLICATE_WILD_DO_TABLE = ('a.%', 'shop1.%'), REPLICATE_IGNORE_TABLE = (a.u)",
        ],
    );
}

#[test]
fn rewritten() {
    as_mysql_does(
        "replication_filters::rewritten",
        &["REPLICATE_REWRITE_DB = ((a, z)), REPLICATE_IGNORE_DB = (b)"],
    );
}

/// A filtered replica writes a log that another replica can follow: each statement still has its
/// end in it.
#[test]
fn a_replica_behind_a_filtered_one() {
    let flavor = flavor_under_test();
    let first = Server::start(flavor, &Settings::default());
    let middle = Replica::start(flavor, &Settings { server_id: 2, ..Settings::default() });
    let last = Replica::start(flavor, &Settings { server_id: 3, ..Settings::default() });
    middle.run("CHANGE REPLICATION FILTER REPLICATE_IGNORE_TABLE = (a.u)");
    for (schema, statement) in HISTORY.iter().take(12) {
        let mut client = first.connect();
        if !schema.is_empty() {
            client.query(&format!("USE {schema}")).unwrap_or_else(|error| panic!("{error}"));
        }
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    middle.follow(flavor, first.port(), &StartFrom::Gtid);
    middle.catch_up(&first);
    last.follow(flavor, middle.port(), &StartFrom::Gtid);
    last.catch_up(&middle);
    assert_eq!(contents(&last), contents(&middle));
    assert!(!contents(&last).contains(&"a.u".to_string()));
    assert_eq!(last.rows("SELECT @@GLOBAL.gtid_executed"), first.rows("SELECT @@GLOBAL.gtid_executed"));
}

/// Statements about tables that are left out: views and programs are kept, and privileges are
/// granted, although the tables are not there. MySQL's own replica would stop at the first GRANT.
#[test]
fn views_and_grants_on_tables_that_are_left_out() {
    if !available("views_and_grants_on_tables_that_are_left_out", &[Flavor::MySql]) {
        return;
    }
    let source = Server::start(Flavor::MySql, &Settings::default());
    let filter = "REPLICATE_WILD_IGNORE_TABLE = ('a.u%', 'a.fk')";
    let replica = follower(flavor_under_test(), 2, 0, &source, filter);
    let mut client = source.connect();
    for statement in [
        "CREATE DATABASE a",
        "USE a",
        "CREATE TABLE t (id INT PRIMARY KEY, n INT)",
        "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
        "CREATE VIEW v AS SELECT * FROM u",
        "CREATE VIEW w AS SELECT n + 1 AS c FROM u JOIN t USING (id, n)",
        "ALTER VIEW v AS SELECT n FROM u",
        "CREATE VIEW x (p) AS SELECT * FROM v WITH CHECK OPTION",
        "CREATE USER reader",
        "GRANT SELECT ON a.u TO reader",
        "GRANT SELECT (id), UPDATE (n) ON a.u TO reader",
        "GRANT SELECT ON a.v TO reader",
        "REVOKE SELECT ON a.u FROM reader",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW INSERT INTO u VALUES (NEW.id, 1)",
        "CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM u)",
        "GRANT EXECUTE ON FUNCTION a.f TO reader",
        "CREATE TABLE fk (id INT, FOREIGN KEY (id) REFERENCES u (id))",
        "INSERT INTO t VALUES (1, 1)",
        "DROP VIEW v",
        "DROP TABLE fk",
        "RENAME TABLE u TO u2",
        "DROP TABLE u2",
    ] {
        client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    replica.catch_up(&source);
    assert_eq!(replica.rows("SELECT * FROM a.t"), ["1\t1"]);
    replica.equals_by(&source, "SHOW GRANTS FOR reader");
}

#[test]
fn options_and_performance_schema() {
    let extra = [
        "--replicate-do-db=a",
        "--replicate-do-db=b",
        "--replicate-rewrite-db=x->a",
        "--replicate-wild-ignore-table=a.t%",
    ];
    let settings = Settings { extra: extra.map(String::from).into(), ..Settings::default() };
    let server = Server::start(flavor_under_test(), &settings);
    let rows = "SELECT FILTER_NAME, FILTER_RULE, CONFIGURED_BY FROM performance_schema.";
    assert_eq!(
        server.rows(&format!("{rows}replication_applier_global_filters")),
        [
            "REPLICATE_DO_DB\ta,b\tSTARTUP_OPTIONS",
            "REPLICATE_WILD_IGNORE_TABLE\ta.t%\tSTARTUP_OPTIONS",
            "REPLICATE_REWRITE_DB\t(x,a)\tSTARTUP_OPTIONS",
        ]
    );
    server.run("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (c) FOR CHANNEL ''");
    assert_eq!(
        server.rows(&format!("{rows}replication_applier_filters"))[0],
        "REPLICATE_DO_DB\tc\tCHANGE_REPLICATION_FILTER_FOR_CHANNEL"
    );
    assert_eq!(
        server.rows(&format!("{rows}replication_applier_global_filters"))[0],
        "REPLICATE_DO_DB\ta,b\tSTARTUP_OPTIONS"
    );
    let (code, _) = server.refuses("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (a) FOR CHANNEL 'none'");
    assert_eq!(code, 3074);
}

#[test]
fn refusals_are_mysqls() {
    if !available("replication_filters::refusals_are_mysqls", &[Flavor::MySql]) {
        return;
    }
    let theirs = Server::start(Flavor::MySql, &Settings::default());
    let ours = Server::start(flavor_under_test(), &Settings::default());
    for filter in
        ["REPLICATE_WILD_DO_TABLE = ('nodot')", "REPLICATE_DO_TABLE = (t)", "REPLICATE_SOME_DB = (a)"]
    {
        let statement = format!("CHANGE REPLICATION FILTER {filter}");
        assert_eq!(ours.refuses(&statement), theirs.refuses(&statement), "{filter}");
    }
}
