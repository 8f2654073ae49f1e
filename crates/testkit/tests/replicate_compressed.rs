//! Tests of replicas whose sources compress their events.

use bench::instance::Flavor;
use testkit::following::carries_with;
use testkit::server::flavor_under_test;

const MYSQL: &[&str] = &["SET GLOBAL binlog_transaction_compression = ON"];
const MARIADB: &[&str] = &["SET GLOBAL log_bin_compress_min_len = 10", "SET GLOBAL log_bin_compress = ON"];

#[test]
fn by_mysql() {
    if testkit::available("replicate_compressed::by_mysql", &[Flavor::MySql]) {
        carries_with(Flavor::MySql, flavor_under_test(), 0, MYSQL, "Transaction_payload");
    }
}

#[test]
fn by_mysql_with_workers() {
    if testkit::available("replicate_compressed::by_mysql_with_workers", &[Flavor::MySql]) {
        carries_with(Flavor::MySql, flavor_under_test(), 4, MYSQL, "Transaction_payload");
    }
}

#[test]
fn by_mariadb() {
    if testkit::available("replicate_compressed::by_mariadb", &[Flavor::MariaDb]) {
        carries_with(Flavor::MariaDb, flavor_under_test(), 0, MARIADB, "Update_rows_compressed_v1");
    }
}

#[test]
fn by_mariadb_with_workers() {
    if testkit::available("replicate_compressed::by_mariadb_with_workers", &[Flavor::MariaDb]) {
        carries_with(Flavor::MariaDb, flavor_under_test(), 4, MARIADB, "Update_rows_compressed_v1");
    }
}

const BY_US: &[&str] = &[
    "SET GLOBAL binlog_transaction_compression = ON",
    "SET GLOBAL binlog_transaction_compression_level_zstd = 7",
];

#[test]
fn by_us_to_mysql() {
    if testkit::available("replicate_compressed::by_us_to_mysql", &[Flavor::MySql]) {
        carries_with(Flavor::Slipstream, Flavor::MySql, 4, BY_US, "Transaction_payload");
    }
}

#[test]
fn by_us_to_us() {
    carries_with(Flavor::Slipstream, Flavor::Slipstream, 4, BY_US, "Transaction_payload");
}
