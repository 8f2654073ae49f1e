//! Tests with real servers that replicate from Slipstream.

use bench::instance::{Flavor, RowImage};
use testkit::following::{By, carries_everything, catches_up_with_workers, survives_interruptions};

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
