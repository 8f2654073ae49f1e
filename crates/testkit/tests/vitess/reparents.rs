//! Planned changes of the primary under load.

use testkit::vitess::available;

use crate::load::{agree, two_tablets_under_load};

#[test]
fn planned_reparents_under_load_lose_no_row() {
    if !available("planned_reparents_under_load_lose_no_row") {
        return;
    }
    let (cluster, load) = two_tablets_under_load("ks");
    for primary in [101, 100, 101, 100, 101, 100] {
        load.goes_on(&cluster);
        cluster.reparent(primary);
        assert_eq!(cluster.tablet(primary).rows("SELECT @@read_only, @@super_read_only"), ["0\t0"]);
    }
    let acknowledged = load.end();
    let (one, other) = (cluster.tablet(100), cluster.tablet(101));
    agree(&cluster, one, other, "SELECT COUNT(*), SUM(id), SUM(CRC32(v)), MD5(@@gtid_executed) FROM vt_ks.t");
    acknowledged.are_at(one);
    assert_eq!(one.rows("SELECT COUNT(*) FROM _vt.reparent_journal"), ["7"]);
    assert_eq!(
        one.rows("SHOW STATUS LIKE 'Rpl_semi_sync_source_clients'"),
        ["Rpl_semi_sync_source_clients\t1"]
    );
}
