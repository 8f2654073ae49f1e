//! Tests of a replica behind a real MariaDB source.

use bench::instance::{Flavor, RowImage};
use testkit::expressions::carries_expressions;
use testkit::following::{
    By, Pair, carries_everything, carries_with, notices_damage, survives_interruptions,
    tells_that_logs_are_lost,
};
use testkit::server::flavor_under_test;

const SOURCE: Flavor = Flavor::MariaDb;

#[test]
fn by_gtid_with_full_images() {
    if testkit::available("replicate_mariadb::by_gtid_with_full_images", &[SOURCE]) {
        carries_everything(SOURCE, flavor_under_test(), RowImage::Full, By::Gtid);
    }
}

#[test]
fn by_gtid_with_minimal_images() {
    if testkit::available("replicate_mariadb::by_gtid_with_minimal_images", &[SOURCE]) {
        carries_everything(SOURCE, flavor_under_test(), RowImage::Minimal, By::Gtid);
    }
}

#[test]
fn with_noblob_images() {
    if testkit::available("replicate_mariadb::with_noblob_images", &[SOURCE]) {
        let switch = ["SET GLOBAL binlog_row_image = 'NOBLOB'"];
        carries_with(SOURCE, flavor_under_test(), 0, &switch, "Update_rows_v1");
    }
}

/// MariaDB's COMPRESSED columns are plain columns on the replica. The values are long, short or
/// missing, with and without zlib's header, and rows are also found by them.
#[test]
fn compressed_columns() {
    if !testkit::available("replicate_mariadb::compressed_columns", &[SOURCE]) {
        return;
    }
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start(SOURCE, flavor_under_test(), RowImage::Full, By::Gtid);
    source.run("CREATE DATABASE c");
    source.run(
        "CREATE TABLE c.t (id INT PRIMARY KEY, a VARCHAR(2000) COMPRESSED, b VARBINARY(900) COMPRESSED=zlib, \
         d TEXT /*M!100301 COMPRESSED*/, e LONGBLOB COMPRESSED, f TINYTEXT COMPRESSED NOT NULL)",
    );
    source.run("CREATE TABLE c.keyless (a VARCHAR(2000) CHARACTER SET latin1 COMPRESSED, b TEXT COMPRESSED)");
    for (wrap, image, id) in [("OFF", "FULL", 0), ("ON", "MINIMAL", 10)] {
        source.run(&format!("SET GLOBAL column_compression_zlib_wrap = {wrap}"));
        source.run(&format!("SET GLOBAL binlog_row_image = {image}"));
        // A session takes over these settings when it begins.
        let mut session = source.connect();
        for statement in [
            format!("INSERT INTO c.t VALUES ({id}, REPEAT('räksmörgås ', 90), REPEAT('b', 900), REPEAT('d', 30000), REPEAT('e', 100000), REPEAT('f', 200))"),
            format!("INSERT INTO c.t VALUES ({id} + 1, 'short', '', NULL, '', 'f'), ({id} + 2, NULL, NULL, REPEAT('x', 65535), NULL, '')"),
            format!("UPDATE c.t SET a = CONCAT(a, 'y'), d = CONCAT('z', IFNULL(d, '')) WHERE id IN ({id}, {id} + 1)"),
            "INSERT INTO c.keyless VALUES (REPEAT('k', 1500), 'one'), ('å', REPEAT('two', 1000)), (NULL, NULL)".to_string(),
            "UPDATE c.keyless SET a = REPEAT('l', 1600) WHERE b = 'one' LIMIT 1".to_string(),
            "DELETE FROM c.keyless WHERE a = 'å' LIMIT 1".to_string(),
        ] {
            session.query(&statement).expect("runs");
        }
    }
    replica.catch_up(&source);
    for table in ["c.t", "c.keyless"] {
        replica.equals_by(&source, &format!("SELECT * FROM {table} ORDER BY 1, 2"));
    }
}

#[test]
fn by_file_and_position() {
    if testkit::available("replicate_mariadb::by_file_and_position", &[SOURCE]) {
        carries_everything(SOURCE, flavor_under_test(), RowImage::Minimal, By::Position);
    }
}

#[test]
fn through_interruptions() {
    if testkit::available("replicate_mariadb::through_interruptions", &[SOURCE]) {
        survives_interruptions(SOURCE, flavor_under_test(), By::Gtid);
    }
}

#[test]
fn through_interruptions_by_position() {
    if testkit::available("replicate_mariadb::through_interruptions_by_position", &[SOURCE]) {
        survives_interruptions(SOURCE, flavor_under_test(), By::Position);
    }
}

#[test]
fn through_damage() {
    if testkit::available("replicate_mariadb::through_damage", &[SOURCE]) {
        notices_damage(SOURCE, flavor_under_test());
    }
}

#[test]
fn when_logs_are_lost() {
    if testkit::available("replicate_mariadb::when_logs_are_lost", &[SOURCE]) {
        tells_that_logs_are_lost(SOURCE, flavor_under_test(), By::Position);
    }
}

/// Definitions in MariaDB's forms: constraints of columns, defaults without parentheses, IGNORED,
/// PERSISTENT.
const WITH_EXPRESSIONS: &[&str] = &[
    "CREATE TABLE e.t (id INT PRIMARY KEY, a INT, b INT DEFAULT (a + 3), t VARCHAR(30), \
     v INT AS (a + b) VIRTUAL, s BIGINT AS (a * 2) PERSISTENT, l VARCHAR(30) AS (LOWER(t)) VIRTUAL, \
     n INT INVISIBLE DEFAULT 5, c INT CHECK (c <> 3), x VARCHAR(20) DEFAULT CONCAT('x', 'y'), \
     KEY by_v (v), UNIQUE KEY (s), KEY d (a DESC, id), KEY i (b) IGNORED, CHECK (a < 100000))",
    "CREATE TABLE e.keyless (a INT, v INT AS (a + 1) VIRTUAL, b INT, w VARCHAR(20) AS (CONCAT('w', b)) STORED)",
];

#[test]
fn expressions_of_definitions_with_full_images() {
    if testkit::available("replicate_mariadb::expressions_of_definitions_with_full_images", &[SOURCE]) {
        carries_expressions(SOURCE, RowImage::Full, WITH_EXPRESSIONS, false);
    }
}

#[test]
fn expressions_of_definitions_with_minimal_images() {
    if testkit::available("replicate_mariadb::expressions_of_definitions_with_minimal_images", &[SOURCE]) {
        carries_expressions(SOURCE, RowImage::Minimal, WITH_EXPRESSIONS, false);
    }
}
