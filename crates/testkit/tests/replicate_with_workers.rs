//! Tests of replicas whose transactions are prepared by several workers, behind every kind of
//! source.

use bench::instance::{Flavor, RowImage, Settings};
use bench::sbtest::Workload;
use testkit::background::Background;
use testkit::following::{By, Pair, SIZE, catches_up_with_workers};
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

#[test]
fn number_and_policy_change_while_it_runs() {
    let settings = Settings { row_image: RowImage::Minimal, ..Settings::default() };
    let pair = Pair::start_with(Flavor::Slipstream, Flavor::Slipstream, &settings, By::Gtid);
    pair.source.fill(SIZE, 1);
    let load = Background::start(pair.source.connect_options(), Workload::ReadWrite, SIZE, 2, 7);
    for (workers, policy, adaptive) in [
        (4, "DATABASE", "ON"),
        (4, "ROW", "OFF"),
        (4, "ROW", "ON"),
        (0, "ROW", "ON"),
        (3, "WRITESET", "OFF"),
        (16, "LOGICAL_CLOCK", "ON"),
        (1, "ROW", "ON"),
        (2, "ROW", "OFF"),
    ] {
        pair.replica.run(&format!("SET GLOBAL slipstream_parallel_adaptive = {adaptive}"));
        pair.replica.run(&format!("SET GLOBAL slipstream_parallel_policy = '{policy}'"));
        pair.replica.run(&format!("SET GLOBAL replica_parallel_workers = {workers}"));
        let threads = if workers == 1 { 0 } else { workers };
        let count = "SELECT COUNT(*) FROM performance_schema.threads WHERE NAME = 'replica_worker'";
        pair.replica.wait_until("changed over", |_| pair.replica.rows(count) == [threads.to_string()]);
        pair.replica.catch_up(&pair.source);
    }
    load.stop();
    pair.is_equal();
    pair.replica.run("SET GLOBAL replica_parallel_type = 'DATABASE'");
    let shown = "SELECT @@GLOBAL.slave_parallel_type, @@GLOBAL.slipstream_parallel_policy";
    assert_eq!(pair.replica.rows(shown), ["DATABASE\tDATABASE"]);
}
