//! What sysbench does through vtgate in a second, with Slipstream and with MySQL as the servers.

use bench::instance::Flavor;
use testkit::vitess::{Cluster, available};

use crate::load::add_shards;
use crate::sysbench::{SHARDED, sysbench};

/// The shards, each with its first tablet.
const SHARDS: [(u32, &str); 2] = [(100, "-80"), (200, "80-")];
/// How often each cluster has its turn.
const ROUNDS: u32 = 3;

fn start(server: Flavor) -> Cluster {
    let mut cluster = Cluster::start_with("ks", server);
    add_shards(&mut cluster, &SHARDS);
    cluster.ctl(&["ApplyVSchema", "--vschema", SHARDED, "ks"]);
    cluster.start_vtgate();
    let filled = sysbench(&cluster, "prepare", &[]).output().expect("sysbench");
    assert!(filled.status.success(), "{}", String::from_utf8_lossy(&filled.stdout));
    cluster
}

/// Runs the load for some seconds, and returns what sysbench counted in a second: its rounds of 18
/// statements.
fn rounds_a_second(cluster: &Cluster) -> f64 {
    let output = sysbench(cluster, "run", &["--time=20"]).output().expect("sysbench");
    let report = String::from_utf8_lossy(&output.stdout);
    let line = report.lines().find(|line| line.trim_start().starts_with("transactions:"));
    let figure = line.and_then(|line| line.split_once('(')?.1.split_whitespace().next()?.parse().ok());
    figure.unwrap_or_else(|| panic!("{report}"))
}

/// Compares two clusters that run side by side, by turns.
#[test]
fn the_same_cluster_has_a_throughput_with_each_server() {
    let test = "the_same_cluster_has_a_throughput_with_each_server";
    if std::env::var_os("SLIPSTREAM_CLUSTER_COMPARE").is_none() || !available(test) {
        return;
    }
    if !testkit::tool_available(test, "sysbench") || !testkit::available(test, &[Flavor::MySql]) {
        return;
    }
    let clusters = [Flavor::Slipstream, Flavor::MySql].map(|server| (server, start(server)));
    let mut sums = [0.0; 2];
    for round in 1..=ROUNDS {
        for ((server, cluster), sum) in clusters.iter().zip(&mut sums) {
            let figure = rounds_a_second(cluster);
            println!("round {round}: {server}: {figure:.1} rounds a second");
            *sum += figure;
        }
    }
    let [ours, theirs] = sums;
    assert!(ours > 0.0 && theirs > 0.0, "both clusters do something");
    println!("Slipstream does {:.2} of what MySQL does", ours / theirs);
}
