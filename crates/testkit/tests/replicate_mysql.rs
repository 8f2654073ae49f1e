//! A replica behind a real MySQL source.

use bench::instance::{Flavor, RowImage};
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
