//! Replicas whose transactions are prepared by several workers, behind every kind of source.

use bench::instance::{Flavor, RowImage};
use testkit::following::{By, catches_up_with_workers};
use testkit::server::flavor_under_test;

#[test]
fn behind_slipstream() {
    catches_up_with_workers(Flavor::Slipstream, flavor_under_test(), RowImage::Minimal, By::Position, 4);
}

#[test]
fn behind_mysql() {
    if testkit::available("replicate_with_workers::behind_mysql", &[Flavor::MySql]) {
        catches_up_with_workers(Flavor::MySql, flavor_under_test(), RowImage::Full, By::Gtid, 2);
    }
}

#[test]
fn behind_mariadb() {
    if testkit::available("replicate_with_workers::behind_mariadb", &[Flavor::MariaDb]) {
        catches_up_with_workers(Flavor::MariaDb, flavor_under_test(), RowImage::Minimal, By::Gtid, 16);
    }
}
