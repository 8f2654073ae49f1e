//! Tests with real servers that replicate from Slipstream.

use bench::instance::{Flavor, RowImage, Settings};
use testkit::following::{
    By, beginning, carries_everything, catches_up_with_workers, survives_interruptions,
};
use testkit::{Replica, Server};

const SOURCE: Flavor = Flavor::Slipstream;

#[test]
fn mysql_by_gtid() {
    if testkit::available("feed_real_replicas::mysql_by_gtid", &[Flavor::MySql]) {
        carries_everything(SOURCE, Flavor::MySql, RowImage::Full, By::Gtid);
    }
}

#[test]
fn mysql_by_file_and_position_with_minimal_images() {
    if testkit::available(
        "feed_real_replicas::mysql_by_file_and_position_with_minimal_images",
        &[Flavor::MySql],
    ) {
        carries_everything(SOURCE, Flavor::MySql, RowImage::Minimal, By::Position);
    }
}

/// MySQL's workers go by the logical clock in Slipstream's GTID events.
#[test]
fn mysql_with_workers() {
    if testkit::available("feed_real_replicas::mysql_with_workers", &[Flavor::MySql]) {
        catches_up_with_workers(SOURCE, Flavor::MySql, RowImage::Full, By::Gtid, 4);
    }
}

#[test]
fn mysql_through_interruptions() {
    if testkit::available("feed_real_replicas::mysql_through_interruptions", &[Flavor::MySql]) {
        survives_interruptions(SOURCE, Flavor::MySql, By::Gtid);
    }
}

#[test]
fn mariadb_by_file_and_position() {
    if testkit::available("feed_real_replicas::mariadb_by_file_and_position", &[Flavor::MariaDb]) {
        carries_everything(SOURCE, Flavor::MariaDb, RowImage::Full, By::Position);
    }
}

#[test]
fn mariadb_through_interruptions() {
    if testkit::available("feed_real_replicas::mariadb_through_interruptions", &[Flavor::MariaDb]) {
        survives_interruptions(SOURCE, Flavor::MariaDb, By::Position);
    }
}

/// MySQL takes the column for an ordinary one that its own table lacks (13146), unless the table
/// map says that it is a generated key.
#[test]
fn mysql_follows_rows_with_a_generated_invisible_key() {
    let test = "feed_real_replicas::mysql_follows_rows_with_a_generated_invisible_key";
    if !testkit::available(test, &[Flavor::MySql]) {
        return;
    }
    let source = Server::start(SOURCE, &Settings::default());
    let replica = Replica::start(Flavor::MySql, &Settings { server_id: 2, ..Settings::default() });
    replica.follow(source.flavor(), source.port(), &beginning(&source));
    for sql in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE, a INT, \
         PRIMARY KEY (my_row_id))",
        "INSERT INTO d.t VALUES (5), (6)",
        "UPDATE d.t SET a = 7 WHERE a = 5",
        "DELETE FROM d.t WHERE a = 6",
    ] {
        source.run(sql);
    }
    replica.catch_up(&source);
    replica.equals_by(&source, "SELECT my_row_id, a FROM d.t");
}
