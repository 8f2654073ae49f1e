//! Tests of a replica behind a real MySQL source.

use bench::instance::{Flavor, RowImage};
use testkit::expressions::carries_expressions;
use testkit::following::{
    By, carries_everything, carries_with, notices_damage, survives_interruptions, tells_that_logs_are_lost,
};
use testkit::server::flavor_under_test;

const SOURCE: Flavor = Flavor::MySql;

#[test]
fn by_gtid_with_full_images() {
    if testkit::available("replicate_mysql::by_gtid_with_full_images", &[SOURCE]) {
        carries_everything(SOURCE, flavor_under_test(), RowImage::Full, By::Gtid);
    }
}

#[test]
fn by_gtid_with_minimal_images() {
    if testkit::available("replicate_mysql::by_gtid_with_minimal_images", &[SOURCE]) {
        carries_everything(SOURCE, flavor_under_test(), RowImage::Minimal, By::Gtid);
    }
}

#[test]
fn with_noblob_images() {
    if testkit::available("replicate_mysql::with_noblob_images", &[SOURCE]) {
        let switch = ["SET GLOBAL binlog_row_image = 'NOBLOB'"];
        carries_with(SOURCE, flavor_under_test(), 0, &switch, "Update_rows");
    }
}

#[test]
fn by_file_and_position() {
    if testkit::available("replicate_mysql::by_file_and_position", &[SOURCE]) {
        carries_everything(SOURCE, flavor_under_test(), RowImage::Minimal, By::Position);
    }
}

#[test]
fn through_interruptions() {
    if testkit::available("replicate_mysql::through_interruptions", &[SOURCE]) {
        survives_interruptions(SOURCE, flavor_under_test(), By::Gtid);
    }
}

#[test]
fn through_interruptions_by_position() {
    if testkit::available("replicate_mysql::through_interruptions_by_position", &[SOURCE]) {
        survives_interruptions(SOURCE, flavor_under_test(), By::Position);
    }
}

#[test]
fn through_damage() {
    if testkit::available("replicate_mysql::through_damage", &[SOURCE]) {
        notices_damage(SOURCE, flavor_under_test());
    }
}

#[test]
fn when_logs_are_lost() {
    if testkit::available("replicate_mysql::when_logs_are_lost", &[SOURCE]) {
        tells_that_logs_are_lost(SOURCE, flavor_under_test(), By::Position);
    }
}

#[test]
fn when_logs_are_lost_by_gtid() {
    if testkit::available("replicate_mysql::when_logs_are_lost_by_gtid", &[SOURCE]) {
        tells_that_logs_are_lost(SOURCE, flavor_under_test(), By::Gtid);
    }
}

/// Definitions with expressions that the replica computes, that it only keeps (JSON, missing
/// functions), and that its grammar does not have.
const WITH_EXPRESSIONS: &[&str] = &[
    "CREATE TABLE e.t (id INT PRIMARY KEY, a INT, b INT DEFAULT (a + 3), t VARCHAR(30), \
     v INT AS (a + b) VIRTUAL, s BIGINT AS (a * 2) STORED, l VARCHAR(30) AS (LOWER(t)) VIRTUAL, \
     n INT INVISIBLE DEFAULT 5, KEY by_v (v), UNIQUE KEY (s), KEY ((a + 5)), KEY f ((LOWER(t)), a DESC), \
     KEY d (a DESC, id), KEY i (b) INVISIBLE, CHECK (a < 100000), CONSTRAINT c CHECK (a > 5) NOT ENFORCED)",
    "CREATE TABLE e.keyless (a INT, v INT AS (a + 1) VIRTUAL, b INT, w VARCHAR(20) AS (CONCAT('w', b)) STORED)",
    "CREATE TABLE e.kept (id INT PRIMARY KEY, j JSON DEFAULT (JSON_ARRAY(1, 2)), u BINARY(16) DEFAULT (UUID_TO_BIN(UUID())), \
     x INT AS (j->'$[0]') VIRTUAL, UNIQUE KEY q ((id + 1)), KEY (x), \
     KEY m ((CAST(j->'$[*]' AS UNSIGNED ARRAY))), CHECK (JSON_VALID(j)))",
    "INSERT INTO e.kept (id) VALUES (1), (2)",
    "UPDATE e.kept SET j = '[7, 8]' WHERE id = 2",
    "CREATE TABLE e.like_t LIKE e.t",
    "CREATE TABLE e.unknown (id INT PRIMARY KEY, y VARCHAR(90) AS (HEX(WEIGHT_STRING(id))) VIRTUAL, \
     z INT AS (id MEMBER OF ('[1, 2]')) STORED)",
    "INSERT INTO e.unknown (id) VALUES (1), (3)",
];

#[test]
fn expressions_of_definitions_with_full_images() {
    if testkit::available("replicate_mysql::expressions_of_definitions_with_full_images", &[SOURCE]) {
        carries_expressions(SOURCE, RowImage::Full, &WITH_EXPRESSIONS[..3], true);
    }
}

#[test]
fn expressions_of_definitions_with_minimal_images() {
    if testkit::available("replicate_mysql::expressions_of_definitions_with_minimal_images", &[SOURCE]) {
        carries_expressions(SOURCE, RowImage::Minimal, WITH_EXPRESSIONS, false);
    }
}
