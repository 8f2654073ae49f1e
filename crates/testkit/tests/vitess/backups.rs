//! Backups of a tablet, and tablets that begin with one.

use testkit::vitess::{Cluster, available};

use crate::load::agree;

#[test]
fn a_tablet_begins_with_a_backup_of_the_builtin_engine() {
    if !available("a_tablet_begins_with_a_backup_of_the_builtin_engine") {
        return;
    }
    let mut cluster = Cluster::start("backed");
    cluster.add_tablet(100, "0");
    // The engine stops the server that it copies and starts it again, here through mysqlctld.
    cluster.add_tablet_of_mysqlctld(101, "0");
    cluster.promote_first(100);
    cluster.ctl(&["ApplySchema", "--sql", "CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR(40))", "backed"]);
    let fill = |from: u32| {
        let rows: Vec<String> = (from..from + 1000).map(|id| format!("({id}, 'row {id}')")).collect();
        let insert = format!("INSERT INTO vt_backed.t VALUES {}", rows.join(", "));
        cluster.tablet(100).connect().query(&insert).expect("the primary takes rows");
    };
    fill(0);
    let sums = "SELECT COUNT(*), SUM(id), SUM(CRC32(v)), MD5(@@gtid_executed) FROM vt_backed.t";
    agree(&cluster, cluster.tablet(100), cluster.tablet(101), sums);
    cluster.ctl(&["Backup", &cluster.tablet(101).alias()]);
    fill(1000);
    cluster.add_restored_tablet(102, "0");
    cluster.until("the restored server answers", || {
        let said =
            cluster.try_ctl(&["ExecuteFetchAsDBA", &cluster.tablet(102).alias(), "SELECT COUNT(*) FROM t"]);
        (said.0 && said.1.contains("2000"), said.1)
    });
    let rows = agree(&cluster, cluster.tablet(100), cluster.tablet(102), sums);
    assert!(rows.concat().starts_with("2000\t"), "{rows:?}");
    let first = "SELECT GTID_SUBTRACT(@@gtid_executed, @@gtid_purged) <> @@gtid_executed";
    assert_eq!(cluster.tablet(102).rows(first), ["1"], "the rows before the backup did not come by the log");
}
