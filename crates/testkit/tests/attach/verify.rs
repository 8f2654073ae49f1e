//! Tests of `--verify` and `--repair`: rows of a replica are spoilt on purpose, while the source
//! works, and every one of them is found and mended.

use bench::instance::{Flavor, Settings};
use os::random::{Rng, test_seed_or};
use protocol::client::Client;
use testkit::Server;

use crate::attaching::{Attaching, catch_up};
use crate::work::{are_the_same, fill, work_on};

/// Rows that the work leaves alone, so that the applier does not stop at a spoilt one.
const LEFT_ALONE: &[&str] = &[
    "INSERT INTO d.t1 (id, u, v, w, x) VALUES (100001, 200001, 'a', 1000001, 'x'), (100002, 200002, 'b', 1000002, 'y')",
    "INSERT INTO d.k VALUES (1000, 1, 'k'), (1000, 1, 'k'), (1001, 1, 'k')",
    "INSERT INTO d.h VALUES (1000, 1), (1001, 1)",
    "CREATE TABLE d.quiet (id INT, b INT, v VARCHAR(10), PRIMARY KEY (id, b))",
    "INSERT INTO d.quiet VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 1, 'c')",
    "CREATE TABLE d.gone (id ENUM('b', 'a') PRIMARY KEY, v INT)",
    "INSERT INTO d.gone VALUES ('a', 1), ('b', 2)",
];

const SPOILT: &[&str] = &[
    "SET sql_log_bin = 0",
    "UPDATE d.t1 SET x = 'spoilt' WHERE id = 100001",
    "DELETE FROM d.t1 WHERE id = 100002",
    "INSERT INTO d.t1 (id, u, v, w, x) VALUES (100500, 200002, 'b', 1000002, 'has the keys of a lost row')",
    "DELETE FROM d.k WHERE id = 1000 LIMIT 1",
    "UPDATE d.h SET v = 2 WHERE id = 1001",
    "UPDATE d.quiet SET v = 'B' WHERE b = 2",
    "DROP TABLE d.gone",
    "CREATE TABLE d.extra (id INT PRIMARY KEY)",
];

fn spoil(here: &mut Client) {
    SPOILT.iter().for_each(|sql| drop(here.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))));
}

fn spoilt_rows_are_found(test: &str, source: &Server) {
    let mut rng = Rng::new(test_seed_or(test, os::random::u64()));
    fill(source);
    LEFT_ALONE.iter().for_each(|sql| drop(source.run(sql)));
    source.run("CREATE USER admin IDENTIFIED BY 'admin'");
    source.run("GRANT ALL ON *.* TO admin WITH GRANT OPTION");
    let mut replica = Attaching::new(source);
    replica.set_words(&["--verify"]);
    replica.start();
    let mut here = replica.wait();
    let told = replica.wait_until_told(" MB, 0 differ");
    assert!(!told.contains("differs:"), "{told}");
    // The end of the log is in a file in which there is no transaction.
    source.run("FLUSH BINARY LOGS");
    let (code, told) = replica.verify(&[]);
    assert_eq!(code, Some(0), "nothing differs: {told}");
    let work = work_on(source, &mut rng);
    let (code, told) = replica.verify(&[]);
    assert_eq!(code, Some(0), "nothing differs: {told}");
    assert!(!told.contains("differs:"), "{told}");
    spoil(&mut here);
    let (code, told) = replica.verify(&[]);
    assert_eq!(code, Some(1), "{told}");
    let mut found: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("differs: ")).collect();
    found.iter_mut().for_each(|line| *line = line.split([':', ' ']).next().unwrap_or_default());
    found.dedup();
    assert_eq!(found, ["d.gone", "d.h", "d.k", "d.quiet", "d.t1", "d.extra"], "{told}");
    for what in ["100001", "100002", "100500", "d.gone: it is not here", "keys 1,2", "d.extra is here"] {
        assert!(told.contains(what), "{what} is not in: {told}");
    }
    here.query("DROP TABLE d.extra").expect("it can be dropped");
    let (code, told) = replica.verify(&["--repair"]);
    assert_eq!(code, Some(0), "{told}");
    for name in ["d.gone", "d.h", "d.k", "d.quiet", "d.t1"] {
        assert!(told.contains(&format!("repaired: {name} is the same now")), "{name}: {told}");
    }
    let (code, told) = replica.verify(&[]);
    assert_eq!(code, Some(0), "{told}");
    drop(work);
    catch_up(source, &mut here);
    are_the_same(source, &mut here);
}

fn source(test: &str, flavor: Flavor, gtid: bool) -> Option<Server> {
    let settings = Settings { server_id: 1, gtid, ..Settings::default() };
    testkit::available(test, &[flavor]).then(|| Server::start(flavor, &settings))
}

#[test]
fn spoilt_rows_of_mysql_are_found_and_mended() {
    let test = "spoilt_rows_of_mysql_are_found_and_mended";
    let Some(source) = source(test, Flavor::MySql, true) else { return };
    spoilt_rows_are_found(test, &source);
}

#[test]
fn spoilt_rows_of_a_source_without_gtids_are_found_and_mended() {
    let test = "spoilt_rows_of_a_source_without_gtids_are_found_and_mended";
    let Some(source) = source(test, Flavor::MySql, false) else { return };
    spoilt_rows_are_found(test, &source);
}

#[test]
fn spoilt_rows_of_mariadb_are_found_and_mended() {
    let test = "spoilt_rows_of_mariadb_are_found_and_mended";
    let Some(source) = source(test, Flavor::MariaDb, true) else { return };
    spoilt_rows_are_found(test, &source);
}
