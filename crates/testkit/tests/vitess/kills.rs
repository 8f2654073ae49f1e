//! Primaries that are killed under load, and vtorc that makes a replica the primary.
//!
//! `SLIPSTREAM_VITESS_KILLS` and `SLIPSTREAM_VITESS_REPARENTS` set how often primaries are killed
//! and changed.

use os::random::{Rng, test_seed};
use testkit::vitess::{Cluster, available};

use crate::load::{Load, agree, one_shard};

const TABLETS: [u32; 3] = [100, 101, 102];

/// The state of a server: its rows and its transactions.
const SUMS: &str = "SELECT COUNT(*), SUM(id), SUM(CRC32(v)), MD5(@@gtid_executed) FROM vt_kills.t";

/// Waits until a replica follows this primary and has what the primary has had at some moment.
fn follows(cluster: &Cluster, replica: u32, primary: u32) {
    let wanted = cluster.tablet(primary).rows("SELECT @@global.gtid_executed").concat();
    let port = cluster.tablet(primary).server_port();
    let ask = format!(
        "SELECT (SELECT COUNT(*) FROM performance_schema.replication_connection_status s \
         JOIN performance_schema.replication_connection_configuration c USING (channel_name) \
         JOIN performance_schema.replication_applier_status a USING (channel_name) \
         WHERE c.port = {port} AND s.service_state = 'ON' AND a.service_state = 'ON'), \
         GTID_SUBSET('{wanted}', @@global.gtid_executed), @@global.super_read_only"
    );
    cluster.until(&format!("{replica} follows {primary}"), || match cluster.tablet(replica).try_rows(&ask) {
        Ok(rows) => (rows == ["1\t1\t1"], rows.concat()),
        Err(error) => (false, error.to_string()),
    });
}

/// Reports whether the server of a tablet has transactions that the primary does not have. They
/// were not acknowledged: the tablet was the primary and died before a replica had received them.
fn has_errant(cluster: &Cluster, uid: u32, primary: u32) -> bool {
    let has = cluster.tablet(uid).rows("SELECT @@global.gtid_executed").concat();
    let errant = cluster
        .tablet(primary)
        .rows(&format!("SELECT GTID_SUBTRACT('{has}', @@global.gtid_executed)"))
        .concat();
    if !errant.is_empty() {
        println!("{uid} has {errant} alone");
    }
    !errant.is_empty()
}

/// Kills the primary, waits for vtorc's choice of another one, and brings the killed one back as a
/// replica. It returns whether the killed one had to be made anew.
fn kill_primary(cluster: &mut Cluster, load: &Load, with_vttablet: bool) -> bool {
    let old = cluster.primary("0").expect("a primary");
    load.goes_on(cluster);
    if with_vttablet {
        cluster.kill_tablet(old);
    } else {
        cluster.kill_server(old);
    }
    cluster.until("another primary is chosen", || {
        let now = cluster.primary("0");
        (now.is_some_and(|now| now != old), format!("{now:?} after {old}"))
    });
    load.goes_on(cluster);
    let new = cluster.primary("0").expect("a primary");
    cluster.come_back(old);
    let errant = has_errant(cluster, old, new);
    if errant {
        cluster.make_anew(old);
    }
    for replica in TABLETS.into_iter().filter(|uid| *uid != new) {
        follows(cluster, replica, new);
    }
    errant
}

#[test]
fn vtorc_replaces_killed_primaries_and_no_acknowledged_row_is_lost() {
    if !available("vtorc_replaces_killed_primaries_and_no_acknowledged_row_is_lost") {
        return;
    }
    let kills = testkit::times("SLIPSTREAM_VITESS_KILLS", 2);
    let reparents = testkit::times("SLIPSTREAM_VITESS_REPARENTS", 2);
    let mut rng = Rng::new(test_seed("vitess_kills"));
    let mut cluster = one_shard("kills", &TABLETS);
    cluster.start_vtorc();

    follows(&cluster, TABLETS[1], TABLETS[0]);
    follows(&cluster, TABLETS[2], TABLETS[0]);
    let load = Load::start(&cluster);
    let mut anew = 0;
    for kill in 0..kills {
        let errant = kill_primary(&mut cluster, &load, kill % 2 == 1);
        anew += u64::from(errant);
        println!("kill {kill}: {:?} is the primary", cluster.primary("0"));
    }
    for reparent in 0..reparents {
        load.goes_on(&cluster);
        let old = cluster.primary("0").expect("a primary");
        let others: Vec<u32> = TABLETS.into_iter().filter(|uid| *uid != old).collect();
        let new = others[usize::try_from(rng.between(0, 1)).expect("an index")];
        cluster.reparent(new);
        println!("reparent {reparent}: {new} is the primary");
    }
    let acknowledged = load.end();
    let primary = cluster.primary("0").expect("a primary");
    for replica in TABLETS.into_iter().filter(|uid| *uid != primary) {
        agree(&cluster, cluster.tablet(primary), cluster.tablet(replica), SUMS);
    }
    TABLETS.iter().for_each(|uid| acknowledged.are_at(cluster.tablet(*uid)));
    println!("{kills} kills, {anew} servers made anew, {reparents} reparents");
}
