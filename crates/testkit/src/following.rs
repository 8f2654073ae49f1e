//! Tests of a replica that follows a source through disturbances. They are the same for every pair
//! of flavors; each pair has a test file of its own.

use bench::instance::{Flavor, Port, RowImage, Settings, USER};
use bench::replication::{Position, StartFrom, Thread};
use bench::sbtest::{RandType, Size, Workload};

use crate::background::Background;
use crate::proxy::Proxy;
use crate::repertoire;
use crate::server::{Replica, Server};

/// The size of the tables, small enough that loads often meet the same rows.
pub const SIZE: Size = Size { tables: 2, rows: 500 };

/// How a replica finds the place to begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By the GTIDs that it has.
    Gtid,
    /// By file and position.
    Position,
}

/// A source, a replica, and the proxy between them.
pub struct Pair {
    /// The source.
    pub source: Server,
    /// The proxy that the replica connects to.
    pub proxy: Proxy,
    /// The replica.
    pub replica: Replica,
    /// How the replica found the place to begin at.
    pub by: By,
    /// The source's port for MariaDB replicas, if it has one.
    _mariadb_port: Option<Port>,
}

/// Returns the beginning of the first binary log file of a source, after the magic number.
pub fn beginning(source: &Server) -> StartFrom {
    let file = source.rows("SHOW BINARY LOGS")[0].split('\t').next().unwrap_or_default().to_string();
    StartFrom::Position(Position { file, offset: 4 })
}

/// Starts a source. If it is Slipstream and the replica is MariaDB, it also listens on the port for
/// MariaDB replicas that use GTIDs.
fn start_source(source: Flavor, replica: Flavor, settings: &Settings) -> (Server, Option<Port>) {
    let mut settings = Settings { server_id: 1, ..settings.clone() };
    let port = ((source, replica) == (Flavor::Slipstream, Flavor::MariaDb))
        .then(|| Port::reserve().unwrap_or_else(|error| panic!("{error}")));
    if let Some(port) = &port {
        settings.extra.push(format!("--slipstream-mariadb-port={}", port.number()));
    }
    (Server::start(source, &settings), port)
}

fn mariadb_port(source: &Server) -> u16 {
    source.rows("SELECT @@slipstream_mariadb_port")[0].parse().expect("a port")
}

impl Pair {
    /// Starts a source and a replica that begins at the start of the source's binary log.
    pub fn start(source: Flavor, replica: Flavor, image: RowImage, by: By) -> Pair {
        Pair::start_with(source, replica, &Settings { row_image: image, ..Settings::default() }, by)
    }

    /// Starts a source and a replica with these settings.
    pub fn start_with(source: Flavor, replica: Flavor, settings: &Settings, by: By) -> Pair {
        let source = start_source(source, replica, settings);
        let replica = Replica::start(replica, &Settings { server_id: 2, ..settings.clone() });
        Pair::of(source, replica, by)
    }

    /// Starts a source with its own settings, and a replica with this number of workers.
    pub fn start_each(source: (Flavor, &Settings), (replica, workers): (Flavor, u32), by: By) -> Pair {
        let source = start_source(source.0, replica, source.1);
        let settings = Settings { server_id: 2, replica_workers: workers, ..Settings::default() };
        Pair::of(source, Replica::start(replica, &settings), by)
    }

    fn of((source, port): (Server, Option<Port>), replica: Replica, by: By) -> Pair {
        if replica.flavor() == Flavor::MariaDb && source.flavor() != Flavor::MariaDb {
            // MariaDB has no caching_sha2_password. The change is not logged, because the replica
            // has its own account of that name.
            let mut client = source.connect();
            let mut run =
                |sql: &str| drop(client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")));
            run("SET SESSION sql_log_bin = 0");
            for host in ["%", "localhost"] {
                let account = format!("'{USER}'@'{host}'");
                run(&format!("ALTER USER {account} IDENTIFIED WITH mysql_native_password BY '{USER}'"));
            }
        }
        let proxy = Proxy::start(match (source.flavor(), replica.flavor(), by) {
            (Flavor::Slipstream, Flavor::MariaDb, By::Gtid) => mariadb_port(&source),
            _ => source.port(),
        });
        let from = match by {
            By::Gtid => StartFrom::Gtid,
            By::Position => beginning(&source),
        };
        replica.follow(source.flavor(), proxy.port(), &from);
        Pair { source, proxy, replica, by, _mariadb_port: port }
    }

    /// Runs a load of this many transactions on the source.
    pub fn load(&self, workload: Workload, transactions: u64, seed: u64) {
        let load = bench::sbtest::Load {
            workload,
            size: SIZE,
            transactions,
            clients: 4,
            rand_type: RandType::Special,
            seed,
        };
        bench::sbtest::run_workload(&self.source.connect_options(), &load, &mut |_| {})
            .unwrap_or_else(|error| panic!("{error}"));
    }

    /// Waits until the connection has been cut and more than `bytes` bytes have passed since the
    /// start. A MariaDB replica by position that is cut among the rows events of a statement stops
    /// there: its receiver takes the format description that comes next for a missing end of the
    /// statement (error 1595). It is started again.
    fn receives_through_a_cut(&self, bytes: u64) {
        let stops = self.replica.flavor() == Flavor::MariaDb && self.by == By::Position;
        let has_passed = || self.proxy.passed_bytes() > bytes;
        loop {
            let has_stopped = |errno: u32| stops && errno == 1595;
            self.replica
                .wait_until("received through a cut", |status| has_passed() || has_stopped(status.io_errno));
            if has_passed() && !has_stopped(self.replica.status().io_errno) {
                return;
            }
            self.replica.start_thread(Thread::Io);
        }
    }

    /// Waits until the replica has caught up, and checks that it holds the same rows.
    pub fn is_equal(&self) {
        self.replica.equals(&self.source, SIZE.tables);
        if (self.replica.flavor(), self.by) == (Flavor::MariaDb, By::Gtid) {
            // A MariaDB replica that believes that its source has no GTIDs goes on by file and
            // position without an error.
            let status = self.replica.run("SHOW SLAVE STATUS");
            assert_eq!(
                status.text(0, "Using_Gtid").as_deref(),
                Some("Slave_Pos"),
                "{}",
                self.replica.log_tail()
            );
        }
    }
}

/// Checks that everything that replication must carry arrives.
pub fn carries_everything(source: Flavor, replica: Flavor, image: RowImage, by: By) {
    let pair = Pair::start(source, replica, image, by);
    pair.source.fill(SIZE, 1);
    everything_arrives(&pair);
}

/// Checks that everything arrives at a replica with workers. It begins far behind, so that the
/// workers have something to do.
pub fn catches_up_with_workers(source: Flavor, replica: Flavor, image: RowImage, by: By, workers: u32) {
    let settings = Settings { row_image: image, replica_workers: workers, ..Settings::default() };
    let pair = Pair::start_with(source, replica, &settings, by);
    pair.source.fill(SIZE, 1);
    pair.is_equal();
    pair.replica.stop_thread(Thread::Sql);
    for (workload, seed) in
        [Workload::UpdateNonIndex, Workload::ReadWrite, Workload::UpdateIndex].into_iter().zip(11..)
    {
        pair.load(workload, 1000, seed);
    }
    pair.replica.start_thread(Thread::Sql);
    everything_arrives(&pair);
}

/// Checks that everything arrives from a source on which the statements `switch` have run, and that
/// the source's log has many events of type `kind`.
pub fn carries_with(source: Flavor, replica: Flavor, workers: u32, switch: &[&str], kind: &str) {
    let settings = Settings { replica_workers: workers, ..Settings::default() };
    let pair = Pair::start_with(source, replica, &settings, By::Gtid);
    switch.iter().for_each(|sql| drop(pair.source.run(sql)));
    pair.source.fill(SIZE, 1);
    pair.is_equal();
    pair.replica.stop_thread(Thread::Sql);
    pair.load(Workload::ReadWrite, 500, 11);
    pair.replica.start_thread(Thread::Sql);
    everything_arrives(&pair);
    let mut kinds = Vec::new();
    for file in pair.source.rows("SHOW BINARY LOGS") {
        let file = file.split('\t').next().unwrap_or_default();
        let events = pair.source.rows(&format!("SHOW BINLOG EVENTS IN '{file}'"));
        kinds.extend(events.iter().filter_map(|row| row.split('\t').nth(2).map(str::to_string)));
    }
    assert!(
        kinds.iter().filter(|found| *found == kind).count() > 500,
        "the source wrote few events of type {kind}"
    );
}

fn everything_arrives(pair: &Pair) {
    repertoire::perform(&pair.source);
    for (workload, seed) in
        [Workload::ReadWrite, Workload::Insert, Workload::UpdateIndex, Workload::UpdateNonIndex]
            .into_iter()
            .zip(2..)
    {
        pair.load(workload, 300, seed);
    }
    pair.is_equal();
    repertoire::compare(&pair.source, &pair.replica);
    let status = pair.replica.status();
    assert_eq!((status.io_running.as_str(), status.sql_running.as_str()), ("Yes", "Yes"), "{status:?}");
}

/// Checks that nothing is lost or applied twice when threads are stopped and started, servers are
/// restarted and connections are cut.
pub fn survives_interruptions(source: Flavor, replica: Flavor, by: By) {
    let mut pair = Pair::start(source, replica, RowImage::Minimal, by);
    pair.source.fill(SIZE, 1);
    let load = Background::start(pair.source.connect_options(), Workload::ReadWrite, SIZE, 2, 7);
    let mut rng = os::random::Rng::new(os::random::test_seed("survives_interruptions"));
    for _ in 0..6 {
        let before = pair.proxy.passed_bytes();
        let cut_after = rng.between(1, 60_000);
        pair.proxy.cut_after(cut_after);
        pair.receives_through_a_cut(before + cut_after + 5_000);
    }
    pair.proxy.refuse(true);
    pair.proxy.cut();
    pair.replica.wait_until("reconnecting", |status| status.io_running == "Connecting");
    pair.proxy.refuse(false);
    for thread in [Thread::Sql, Thread::Io] {
        pair.replica.stop_thread(thread);
        let stopped = pair.replica.status();
        assert!([&stopped.io_running, &stopped.sql_running].contains(&&"No".to_string()), "{stopped:?}");
        pair.replica.start_thread(thread);
    }
    pair.replica.server.shut_down();
    pair.replica.server.come_back();
    load.stop();
    pair.is_equal();
    // The source shuts down and comes back with a new binary log file.
    pair.source.shut_down();
    pair.source.come_back();
    pair.load(Workload::ReadWrite, 100, 8);
    pair.is_equal();
}

/// Checks that a byte that changes on the way is noticed and not applied, and that the damaged
/// event is received again.
pub fn notices_damage(source: Flavor, replica: Flavor) {
    let pair = Pair::start(source, replica, RowImage::Full, By::Gtid);
    pair.source.fill(SIZE, 1);
    pair.is_equal();
    let mut rng = os::random::Rng::new(os::random::test_seed("notices_damage"));
    for seed in 0..5 {
        pair.proxy.damage_after(rng.between(2_000, 40_000));
        pair.load(Workload::UpdateNonIndex, 200, seed);
        // At the damage a replica may stop, as MySQL does, or fetch the event again. Both are
        // right.
        pair.replica.wait_until("past the damage", |status| pair.proxy.has_damaged() || status.io_errno != 0);
        let target = pair.source.position();
        pair.replica.wait_until("received", |status| {
            if status.io_running == "No" {
                pair.replica.start_thread(Thread::Io);
            }
            status.received.as_ref().is_some_and(|received| *received >= target)
        });
        pair.is_equal();
    }
}

/// Checks that a replica stops with the right error when its source no longer has the logs that it
/// needs, and that it skips nothing.
pub fn tells_that_logs_are_lost(source: Flavor, replica: Flavor, by: By) {
    let pair = Pair::start(source, replica, RowImage::Minimal, by);
    pair.source.fill(SIZE, 1);
    pair.is_equal();
    pair.replica.stop_thread(Thread::Io);
    let before = pair.replica.checksums(SIZE.tables);
    pair.load(Workload::UpdateNonIndex, 50, 3);
    pair.source.run("FLUSH BINARY LOGS");
    pair.load(Workload::UpdateNonIndex, 50, 4);
    let kept = pair.source.position();
    pair.source.run(&format!("PURGE BINARY LOGS TO '{}'", kept.file));
    pair.replica.start_thread(Thread::Io);
    let status = pair.replica.wait_until("told of the lost logs", |status| status.io_errno != 0);
    // MySQL 8 and later report error 13114, which contains the source's error 1236.
    assert!([1236, 13114].contains(&status.io_errno), "{status:?}");
    assert_eq!(status.io_running, "No", "{status:?}");
    assert_eq!(pair.replica.checksums(SIZE.tables), before, "something was applied past the gap");
}
