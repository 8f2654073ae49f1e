//! The demonstration of `make cluster-demo`: two shards that are reparented, and become four, under
//! sysbench's load.

use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use testkit::vitess::{Cluster, available};

use crate::load::{add_shards, agree};
use crate::sysbench::{SHARDED, sysbench};
use crate::vdiff::vdiff;

/// The shards of the demonstration before and after its resharding, each with its first tablet.
const HALVES: [(u32, &str); 2] = [(100, "-80"), (200, "80-")];
const QUARTERS: [(u32, &str); 4] = [(300, "-40"), (400, "40-80"), (500, "80-c0"), (600, "c0-")];

/// Tells the step of the demonstration, with the seconds since it began.
fn step(clock: &Stopwatch, what: &str) {
    println!("[{:>4} s] {what}", clock.elapsed().as_secs());
}

/// Returns count and sums of a table over these shards, whose two servers must agree.
fn sums(cluster: &Cluster, shards: &[(u32, &str)], table: &str) -> [u64; 3] {
    let sql = format!(
        "SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('#', id, k, c, pad))), 0), COALESCE(SUM(k), 0) FROM vt_ks.{table}"
    );
    let mut all = [0; 3];
    for (uid, _) in shards {
        let line = agree(cluster, cluster.tablet(*uid), cluster.tablet(uid + 1), &sql).concat();
        for (sum, cell) in all.iter_mut().zip(line.split('\t')) {
            *sum += cell.parse::<u64>().expect("a number");
        }
    }
    all
}

#[test]
fn the_demonstration_reshards_under_load() {
    if std::env::var_os("SLIPSTREAM_CLUSTER_DEMO").is_none() || !available("cluster_demo") {
        return;
    }
    if !testkit::tool_available("cluster_demo", "sysbench") {
        return;
    }
    let clock = Stopwatch::start();
    step(&clock, "etcd and vtctld start");
    let mut cluster = Cluster::start("ks");
    step(&clock, "two shards of two tablets each: mysqlctl makes the servers");
    add_shards(&mut cluster, &HALVES);
    cluster.ctl(&["ApplyVSchema", "--vschema", SHARDED, "ks"]);
    cluster.start_vtgate();
    step(&clock, "sysbench fills two tables through vtgate");
    let filled = sysbench(&cluster, "prepare", &[]).output().expect("sysbench");
    assert!(filled.status.success(), "{}", String::from_utf8_lossy(&filled.stdout));

    step(&clock, "sysbench's load begins; each shard gets another primary, and its first one back");
    let options = ["--time=600", "--report-interval=5"];
    let mut load = sysbench(&cluster, "run", &options).spawn().expect("sysbench");
    sleep(Duration::from_secs(6));
    for primary in [101, 201, 100, 200] {
        let reparent = Stopwatch::start();
        cluster.reparent(primary);
        step(&clock, &format!("PlannedReparentShard took {} ms", reparent.elapsed().as_millis()));
        sleep(Duration::from_secs(2));
    }
    step(&clock, "four new shards of two tablets each");
    add_shards(&mut cluster, &QUARTERS);
    let reshard = |words: &[&str]| {
        let begin = ["Reshard", "--workflow", "quarters", "--target-keyspace", "ks"];
        cluster.ctl(&[&begin[..], words].concat())
    };
    step(&clock, "VReplication copies the rows, and then follows the load");
    reshard(&["create", "--source-shards=-80,80-", "--target-shards=-40,40-80,80-c0,c0-"]);
    cluster.until("the copy is complete", || {
        let status = reshard(&["status"]);
        (
            status.matches("Status: Running").count() == QUARTERS.len() && !status.contains("not started"),
            status,
        )
    });
    step(&clock, "VDiff compares");
    println!("{}", vdiff(&cluster, "quarters", "ks"));
    let switch = Stopwatch::start();
    println!("{}", reshard(&["SwitchTraffic"]));
    step(
        &clock,
        &format!("SwitchTraffic took {} ms; the load goes on at four shards", switch.elapsed().as_millis()),
    );
    sleep(Duration::from_secs(10));
    // SIGTERM would end sysbench without its report; the lines of each interval are the progress.
    load.kill().expect("sysbench runs");
    load.wait().expect("sysbench ends");

    step(&clock, "the load has ended; count and checksums");
    for table in ["sbtest1", "sbtest2"] {
        // The workflow that Vitess makes for the way back carries the changes of the new shards to
        // the old ones.
        cluster.until("the old shards have the changes of the new ones", || {
            let (old, new) = (sums(&cluster, &HALVES, table), sums(&cluster, &QUARTERS, table));
            (old == new, format!("{old:?} and {new:?}"))
        });
        let new = sums(&cluster, &QUARTERS, table);
        println!("{table}: {} rows at the new shards, checksum {}, the same at the old ones", new[0], new[1]);
        assert!(new[0] > 19_000, "{new:?}");
    }
}
