//! Tests of a connection whose thread panics in the middle of a statement: the connection ends, and
//! leaves nothing behind.

use crate::listener::{self, Accepting, Listener};
use crate::options;
use crate::process::panic_hook::{NEXT_EVENT_PANICS, PANICS};
use crate::server::Server;
use crate::start::start;
use os::disk::Disk;
use os::sim::SimDisk;
use protocol::client::{Client, ConnectOptions};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A server in this process, on a simulated disk.
struct InProcess {
    server: Arc<Server>,
    port: u16,
    disk: Arc<dyn Disk>,
    accepting: Option<Accepting>,
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.server.begin_stop();
        self.accepting.take().expect("it is stopped once").stop(&*self.disk);
    }
}

impl InProcess {
    fn new(server_id: u32) -> InProcess {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(server_id.into()));
        let id = format!("--server-id={server_id}");
        let started = |more: &str| {
            let args =
                ["--no-defaults", "--datadir=/data", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", &id];
            let args: Vec<String> = args.iter().copied().chain([more]).map(str::to_owned).collect();
            start(&disk, &options::read(&args, &*disk).unwrap()).unwrap()
        };
        started("--initialize-insecure").server.engine.close().unwrap();
        let server = started("--skip-grant-tables").server;
        let listeners = listener::bind_tcp("127.0.0.1", 0, None).unwrap();
        let port = listeners.iter().find_map(Listener::port).unwrap();
        let accepting = Some(listener::accept(&server, listeners));
        InProcess { server, port, disk, accepting }
    }

    fn connect(&self) -> Client {
        Client::connect(&ConnectOptions::tcp("127.0.0.1", self.port)).unwrap()
    }

    fn wait_until(&self, what: &str, mut holds: impl FnMut(&Server) -> bool) {
        let watch = os::clock::Stopwatch::start();
        while !holds(&self.server) {
            assert!(!watch.remaining(Duration::from_secs(60)).is_zero(), "{what}");
            os::clock::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_panic_ends_its_connection_and_leaves_nothing_behind() {
    let here = InProcess::new(1);
    let mut other = here.connect();
    other.query("CREATE DATABASE p").unwrap();
    other.query("CREATE TABLE p.t (id INT PRIMARY KEY, v INT)").unwrap();
    other.query("INSERT INTO p.t VALUES (1, 10), (2, 20)").unwrap();
    let mut victim = here.connect();
    let gtid = "SET gtid_next='22222222-2222-3333-4444-555555555555:7'";
    victim.query(gtid).unwrap();
    victim.query("PREPARE s FROM 'SELECT ?'").unwrap();
    victim.prepare("SELECT 1").unwrap();
    assert_eq!(here.server.status.prepared_statements.get(), 2);
    victim.query("BEGIN").unwrap();
    victim.query("UPDATE p.t SET v = 11 WHERE id = 1").unwrap();
    let panics = format!("UPDATE p.t SET v = SLEEP({}) WHERE id = 2", PANICS.as_secs_f64());
    let lost = victim.query(&panics).unwrap_err();
    assert_eq!(lost.server_code(), None, "{lost}");
    here.wait_until("the connection is removed", |server| server.sessions.count() == 1);
    let status = &here.server.status;
    assert_eq!((status.prepared_statements.get(), status.aborted_clients.get()), (0, 1));
    here.wait_until("one command at most runs", |server| server.status.threads_running.get() == 0);
    // The connection's row locks, metadata locks and GTID are free, and its changes are rolled
    // back.
    other.query("SET innodb_lock_wait_timeout=1, lock_wait_timeout=1").unwrap();
    let rows = other.query("SELECT v FROM p.t ORDER BY id FOR UPDATE").unwrap();
    assert_eq!((rows.cell(0, 0).as_deref(), rows.cell(1, 0).as_deref()), (Some("10"), Some("20")));
    other.query("ALTER TABLE p.t ADD COLUMN w INT, ALGORITHM=COPY").unwrap();
    other.query(gtid).unwrap();
    other.query("UPDATE p.t SET v = 12 WHERE id = 1").unwrap();
    here.wait_until("places are free", |server| server.sessions.take_place().1 == 2);
}

/// The replica connects again and goes on where it was, even while a commit waits for its
/// acknowledgement. No other connection notices.
#[test]
fn a_panic_in_a_dump_ends_that_dump_and_its_replica_comes_back() {
    let (source, replica) = (InProcess::new(1), InProcess::new(2));
    let mut writer = source.connect();
    for statement in
        ["CREATE DATABASE p", "CREATE TABLE p.t (id INT PRIMARY KEY)", "INSERT INTO p.t VALUES (0)"]
    {
        writer.query(statement).unwrap();
    }
    let mut follower = replica.connect();
    let points = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='r', \
         SOURCE_AUTO_POSITION=1, SOURCE_CONNECT_RETRY=1",
        source.port
    );
    follower.query("SET GLOBAL rpl_semi_sync_replica_enabled = ON").unwrap();
    follower.query(&points).unwrap();
    follower.query("START REPLICA").unwrap();
    let mut wait_for_row = |id: u32| {
        let watch = os::clock::Stopwatch::start();
        let found = format!("SELECT id FROM p.t WHERE id = {id}");
        while follower.query(&found).map_or(true, |result| result.rows.is_empty()) {
            assert!(!watch.remaining(Duration::from_secs(60)).is_zero(), "row {id} never comes");
            os::clock::sleep(Duration::from_millis(5));
        }
    };
    wait_for_row(0);
    let panicked = || source.server.status.aborted_clients.get();
    NEXT_EVENT_PANICS.store(true, Ordering::Relaxed);
    writer.query("INSERT INTO p.t VALUES (1)").unwrap();
    wait_for_row(1);
    assert_eq!(panicked(), 1);
    // Ten minutes are longer than the test has, so the commit returns because of the replica's
    // acknowledgement.
    for setting in ["enabled = ON", "timeout = 600000"] {
        writer.query(&format!("SET GLOBAL rpl_semi_sync_source_{setting}")).unwrap();
    }
    let waiting = "SHOW STATUS LIKE 'Rpl_semi_sync_source_clients'";
    source.wait_until("the replica is semi-synchronous", |_| {
        writer.query(waiting).unwrap().cell(0, 1).as_deref() == Some("1")
    });
    NEXT_EVENT_PANICS.store(true, Ordering::Relaxed);
    writer.query("INSERT INTO p.t VALUES (2)").unwrap();
    wait_for_row(2);
    assert_eq!(panicked(), 2);
    let listed = writer.query("SHOW REPLICAS").unwrap();
    assert_eq!((listed.rows.len(), listed.cell(0, 0).as_deref()), (1, Some("2")));
    follower.query("STOP REPLICA").unwrap();
    source.server.sessions.all().iter().for_each(|entry| entry.kill(false));
    source.wait_until("the replica is listed no more", |server| server.replicas.list().is_empty());
}
