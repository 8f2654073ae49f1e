//! The comparison of both sides of a workflow by Vitess.

use testkit::vitess::Cluster;

/// Compares the tables of both sides of a workflow, which must be equal, and returns the summary.
pub fn vdiff(cluster: &Cluster, workflow: &str, target: &str) -> String {
    let vdiff = ["VDiff", "--workflow", workflow, "--target-keyspace", target];
    cluster.ctl(&[&vdiff[..], &["create"]].concat());
    let show = [&vdiff[..], &["show", "last"]].concat();
    cluster.until("VDiff ends", || {
        let (succeeded, said) = cluster.try_ctl(&show);
        (succeeded && said.contains("State:        completed"), said)
    });
    let summary = cluster.ctl(&show);
    assert!(summary.contains("HasMismatch:  false"), "{summary}");
    summary
}
