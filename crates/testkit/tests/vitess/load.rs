//! Clients that insert rows through vtgate while the cluster changes, and what they know of it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use protocol::client::{Client, ConnectOptions};
use testkit::vitess::{Cluster, Tablet};
use testkit::work::Work;

/// The number of clients that insert rows while primaries change.
const WRITERS: u64 = 3;

/// Adds shards of two tablets each, the first of which becomes the primary.
pub fn add_shards(cluster: &mut Cluster, shards: &[(u32, &str)]) {
    for (uid, shard) in shards {
        cluster.add_tablet(*uid, shard);
        cluster.add_tablet(uid + 1, shard);
    }
    shards.iter().for_each(|(uid, _)| cluster.promote_first(*uid));
}

/// Starts a cluster whose keyspace is one shard of these tablets, the first of which is the
/// primary. vtgate knows the table that the load fills.
pub fn one_shard(keyspace: &str, tablets: &[u32]) -> Cluster {
    let mut cluster = Cluster::start(keyspace);
    tablets.iter().for_each(|uid| cluster.add_tablet(*uid, "0"));
    cluster.promote_first(tablets[0]);
    cluster.start_vtgate();
    make_table(&cluster);
    cluster
}

/// Starts a cluster with one shard of the tablets 100, the primary, and 101, under load.
pub fn two_tablets_under_load(keyspace: &str) -> (Cluster, Load) {
    let cluster = one_shard(keyspace, &[100, 101]);
    let load = Load::start(&cluster);
    load.goes_on(&cluster);
    (cluster, load)
}

/// Makes the table that the load fills, and waits until vtgate knows it.
fn make_table(cluster: &Cluster) {
    let table = "CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, v VARCHAR(40))";
    cluster.ctl(&["ApplySchema", "--sql", table, cluster.keyspace()]);
    cluster.until("vtgate knows the table", || match cluster.gate().query("SELECT COUNT(*) FROM t") {
        Ok(_) => (true, String::new()),
        Err(error) => (false, error.to_string()),
    });
}

/// Inserts rows one by one until the test ends it, and notes those that were acknowledged. A client
/// that gets an error connects anew and goes on with the next row.
fn insert_rows(
    options: &ConnectOptions,
    writer: u64,
    acknowledged: &Mutex<BTreeSet<u64>>,
    ends: &AtomicBool,
) {
    let mut session: Option<Client> = None;
    let mut id = writer;
    while !ends.load(Ordering::Relaxed) {
        id += WRITERS;
        let Some(client) = session.as_mut() else {
            session = Client::connect(options).ok();
            continue;
        };
        match client.query(&format!("INSERT INTO t (id, v) VALUES ({id}, 'row {id}')")) {
            Ok(_) => {
                acknowledged.lock().expect("no writer panics").insert(id);
            }
            Err(_) => session = None,
        }
    }
}

/// Waits until the queries answer the same at both servers, and returns the answer.
pub fn agree(cluster: &Cluster, one: &Tablet, other: &Tablet, sql: &str) -> Vec<String> {
    cluster.until("both servers have the same rows", || {
        let (ours, theirs) = (one.rows(sql), other.rows(sql));
        (ours == theirs, format!("{ours:?} and {theirs:?}"))
    });
    one.rows(sql)
}

/// Clients that insert rows until the load ends.
pub struct Load {
    work: Work,
    acknowledged: Arc<Mutex<BTreeSet<u64>>>,
}

impl Load {
    /// Starts the clients, at the table of [`one_shard`].
    pub fn start(cluster: &Cluster) -> Load {
        let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
        let writer = |number| {
            let (options, acknowledged) = (cluster.gate_options(), Arc::clone(&acknowledged));
            move |ends: &AtomicBool| insert_rows(&options, number, &acknowledged, ends)
        };
        Load { work: Work::start((0..WRITERS).map(writer)), acknowledged }
    }

    /// Waits until the clients have inserted some more rows.
    pub fn goes_on(&self, cluster: &Cluster) {
        let count = || self.acknowledged.lock().expect("no writer panics").len();
        let before = count();
        cluster.until("clients write", || (count() > before + 20, format!("{} rows", count())));
    }

    /// Ends the clients, and returns what they know.
    pub fn end(self) -> Acknowledged {
        drop(self.work);
        let acknowledged = std::mem::take(&mut *self.acknowledged.lock().expect("no writer panics"));
        println!("{} rows were acknowledged", acknowledged.len());
        Acknowledged(acknowledged)
    }
}

/// The rows whose insertion was acknowledged.
pub struct Acknowledged(BTreeSet<u64>);

impl Acknowledged {
    /// Checks that a server has all these rows.
    pub fn are_at(&self, tablet: &Tablet) {
        self.are_in(&tablet.rows(&format!("SELECT id FROM vt_{}.t", tablet.keyspace)));
    }

    /// Checks that these ids are all there.
    pub fn are_in(&self, ids: &[String]) {
        let there: BTreeSet<u64> = ids.iter().map(|id| id.parse().expect("a number")).collect();
        let lost: Vec<u64> = self.0.difference(&there).copied().collect();
        assert!(lost.is_empty(), "{} acknowledged rows are lost: {lost:?}", lost.len());
        assert!(!self.0.is_empty(), "nothing was acknowledged");
    }
}
