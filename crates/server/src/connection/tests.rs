//! A connection whose thread panics in the middle of a statement: it is gone, and nothing of it
//! stays.

use super::Origin;
use crate::options;
use crate::panic_hook::PANICS;
use crate::server::Server;
use crate::start::start;
use os::disk::Disk;
use os::sim::SimDisk;
use protocol::client::{Client, ConnectOptions};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// A server in this process, on a simulated disk.
struct InProcess {
    server: Arc<Server>,
    listener: TcpListener,
}

impl InProcess {
    fn new() -> InProcess {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
        let started = |more: &str| {
            let args =
                ["--no-defaults", "--datadir=/data", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"];
            let args: Vec<String> = args.iter().copied().chain([more]).map(str::to_owned).collect();
            start(&disk, &options::read(&args, &*disk).unwrap()).unwrap()
        };
        started("--initialize-insecure").server.engine.close().unwrap();
        let server = started("--skip-grant-tables").server;
        InProcess { server, listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap() }
    }

    fn connect(&self) -> Client {
        let port = self.listener.local_addr().unwrap().port();
        let options = ConnectOptions::tcp("127.0.0.1", port);
        let client = os::thread::spawn("client", move || Client::connect(&options).unwrap());
        let (stream, peer) = self.listener.accept().unwrap();
        super::start(&self.server, stream.into(), Origin { peer: Some(peer), version: "9.7.0" });
        client.join().unwrap()
    }

    fn wait_until(&self, what: &str, holds: impl Fn(&Server) -> bool) {
        let watch = os::clock::Stopwatch::start();
        while !holds(&self.server) {
            assert!(!watch.remaining(Duration::from_secs(60)).is_zero(), "{what}");
            os::clock::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_panic_ends_its_connection_and_leaves_nothing_behind() {
    let here = InProcess::new();
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
    // Its row locks, its metadata locks and its GTID are free, and its changes are gone.
    other.query("SET innodb_lock_wait_timeout=1, lock_wait_timeout=1").unwrap();
    let rows = other.query("SELECT v FROM p.t ORDER BY id FOR UPDATE").unwrap();
    assert_eq!((rows.cell(0, 0).as_deref(), rows.cell(1, 0).as_deref()), (Some("10"), Some("20")));
    other.query("ALTER TABLE p.t ADD COLUMN w INT, ALGORITHM=COPY").unwrap();
    other.query(gtid).unwrap();
    other.query("UPDATE p.t SET v = 12 WHERE id = 1").unwrap();
    here.wait_until("places are free", |server| server.sessions.take_place().1 == 2);
}
