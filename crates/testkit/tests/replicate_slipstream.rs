//! A replica behind a Slipstream source.

use bench::instance::{Flavor, RowImage};
use testkit::following::{
    By, carries_everything, notices_damage, survives_interruptions, tells_that_logs_are_lost,
};

const SOURCE: Flavor = Flavor::Slipstream;

#[test]
fn by_gtid_with_full_images() {
    carries_everything(SOURCE, Flavor::Slipstream, RowImage::Full, By::Gtid);
}

#[test]
fn by_gtid_with_minimal_images() {
    carries_everything(SOURCE, Flavor::Slipstream, RowImage::Minimal, By::Gtid);
}

#[test]
fn by_file_and_position() {
    carries_everything(SOURCE, Flavor::Slipstream, RowImage::Minimal, By::Position);
}

#[test]
fn through_interruptions() {
    survives_interruptions(SOURCE, Flavor::Slipstream, By::Gtid);
}

#[test]
fn through_interruptions_by_position() {
    survives_interruptions(SOURCE, Flavor::Slipstream, By::Position);
}

#[test]
fn through_damage() {
    notices_damage(SOURCE, Flavor::Slipstream);
}

#[test]
fn when_logs_are_lost() {
    tells_that_logs_are_lost(SOURCE, Flavor::Slipstream, By::Position);
}
