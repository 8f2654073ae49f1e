//! A running cluster: its programs, its tablets, and what a test does with them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bench::instance::{Flavor, Port};
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ConnectOptions};

use super::place::{Place, path_of, programs};
use super::tablet::{CELL, Tablet};
use crate::running::Running;
use crate::server::SOON;
use crate::skipped::{tell, tool_available};

/// The number of clusters that this process has started. It guards no data.
static CLUSTERS: AtomicU32 = AtomicU32::new(0);

/// Reports whether a cluster can be started on this machine. If not, it reports the calling test as
/// skipped, and the test should return.
#[must_use]
pub fn available(test: &str) -> bool {
    // The script puts all of Vitess' programs there at once.
    let built = programs().join("vttablet").exists();
    if !built {
        tell(test, "Vitess is not there (scripts/peers.sh --vitess puts it there)");
    }
    built && ["etcd", "mysql", "mysqladmin"].iter().all(|program| tool_available(test, program))
}

/// A running cluster. The fields are dropped in their order: vttablet ends before the servers,
/// which end with the place.
pub struct Cluster {
    keyspace: String,
    tablets: Vec<Tablet>,
    /// The programs beside the tablets.
    programs: Vec<Running>,
    place: Place,
    etcd: [Port; 2],
    vtctld: [Port; 2],
    vtgate: [Port; 3],
    vtorc: Port,
}

fn port() -> Port {
    Port::reserve().unwrap_or_else(|error| panic!("{error}"))
}

impl Cluster {
    /// Starts etcd and vtctld, and makes a keyspace whose commits wait for a replica.
    pub fn start(keyspace: &str) -> Cluster {
        Cluster::start_with(keyspace, Flavor::Slipstream)
    }

    /// Does what [`Cluster::start`] does, for tablets with servers of this flavor: the binary under
    /// test or MySQL.
    pub fn start_with(keyspace: &str, server: Flavor) -> Cluster {
        // Tests of one process may give their keyspaces the same name.
        let number = CLUSTERS.fetch_add(1, Ordering::Relaxed);
        let place = Place::make(&format!("slipstream-vitess-{}-{number}", std::process::id()), server);
        let mut cluster = Cluster {
            keyspace: keyspace.to_owned(),
            tablets: Vec::new(),
            programs: Vec::new(),
            place,
            etcd: [port(), port()],
            vtctld: [port(), port()],
            vtgate: [port(), port(), port()],
            vtorc: port(),
        };
        cluster.start_etcd();
        cluster.start_vtctld();
        cluster.ctl(&["CreateKeyspace", "--durability-policy=semi_sync", keyspace]);
        cluster
    }

    fn start_etcd(&mut self) {
        let [client, peer] =
            [&self.etcd[0], &self.etcd[1]].map(|port| format!("http://127.0.0.1:{}", port.number()));
        let arguments = [
            "--data-dir".into(),
            self.place.path("data/etcd").display().to_string(),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
        ];
        self.programs.push(self.place.run_beside("etcd", &path_of("etcd"), &arguments));
        let mut add = self.topology();
        add.extend(["--server", "internal", "AddCellInfo", "--root", "/vitess/zone1"].map(str::to_owned));
        add.extend([format!("--server-address=127.0.0.1:{}", self.etcd[0].number()), CELL.to_owned()]);
        self.until("etcd answers", || self.place.run("vtctldclient", &add));
    }

    /// Returns the options with which a program finds etcd.
    fn topology(&self) -> Vec<String> {
        vec![
            "--topo-implementation=etcd2".into(),
            format!("--topo-global-server-address=127.0.0.1:{}", self.etcd[0].number()),
            "--topo-global-root=/vitess/global".into(),
        ]
    }

    /// Returns the options of every server of Vitess.
    fn common(&self, [http, grpc]: [&Port; 2]) -> Vec<String> {
        let mut words = self.topology();
        words.push("--config-file-not-found-handling=ignore".into());
        words.push(format!("--log_dir={}", self.place.path("data/tmp").display()));
        words.push(format!("--port={}", http.number()));
        words.push(format!("--grpc-port={}", grpc.number()));
        words
    }

    fn start_vtctld(&mut self) {
        let mut words = self.common([&self.vtctld[0], &self.vtctld[1]]);
        words.push(format!("--cell={CELL}"));
        words.push("--service-map=grpc-vtctl,grpc-vtctld".into());
        self.programs.push(self.place.run_beside("vtctld", &programs().join("vtctld"), &words));
        self.until("vtctld answers", || self.try_ctl(&["GetCellInfoNames"]));
    }

    /// Starts vtgate, which should be done when the tablets are there. It returns when clients can
    /// read and write the keyspace.
    pub fn start_vtgate(&mut self) {
        let mut words = self.common([&self.vtgate[0], &self.vtgate[1]]);
        words.extend([
            format!("--cell={CELL}"),
            format!("--cells-to-watch={CELL}"),
            format!("--mysql-server-port={}", self.vtgate[2].number()),
            "--mysql-server-bind-address=127.0.0.1".into(),
            "--mysql-auth-server-impl=none".into(),
            "--tablet-types-to-wait=PRIMARY,REPLICA".into(),
            "--tablet-refresh-interval=1s".into(),
            "--enable-buffer".into(),
        ]);
        self.programs.push(self.place.run_beside("vtgate", &programs().join("vtgate"), &words));
        self.until("vtgate answers", || match Client::connect(&self.gate_options()) {
            Ok(mut client) => match client.query("SHOW TABLES") {
                Ok(_) => (true, String::new()),
                Err(error) => (false, error.to_string()),
            },
            Err(error) => (false, error.to_string()),
        });
    }

    /// Makes a server and starts a tablet of this shard for it.
    pub fn add_tablet(&mut self, uid: u32, shard: &str) {
        self.start_tablet(uid, shard, false);
    }

    /// Does what [`Cluster::add_tablet`] does, for a tablet that restores the shard's last backup
    /// before it follows the primary.
    pub fn add_restored_tablet(&mut self, uid: u32, shard: &str) {
        self.start_tablet(uid, shard, true);
    }

    /// Does what [`Cluster::add_tablet`] does, with a mysqlctld that starts and stops the server.
    pub fn add_tablet_of_mysqlctld(&mut self, uid: u32, shard: &str) {
        let mut tablet = Tablet::new(&self.place, uid, &self.keyspace, shard);
        let socket = tablet.run_mysqlctld(&self.place);
        self.until("mysqlctld has made the server", || match tablet.try_rows("SELECT 1") {
            Ok(rows) => (rows == ["1"], rows.concat()),
            Err(error) => (false, error.to_string()),
        });
        let more = [format!("--mysqlctl-socket={}", socket.display())];
        self.begin_managed(tablet, false, &more);
    }

    fn start_tablet(&mut self, uid: u32, shard: &str, restores: bool) {
        let tablet = Tablet::new(&self.place, uid, &self.keyspace, shard);
        tablet.mysqlctl(&self.place, &["init"]);
        self.begin_managed(tablet, restores, &[]);
    }

    fn begin_managed(&mut self, mut tablet: Tablet, restores: bool, more: &[String]) {
        let mut words = self.vttablet_words(&tablet);
        words.extend([
            "--init-tablet-type=replica".into(),
            "--backup-engine-implementation=builtin".into(),
            "--backup-storage-implementation=file".into(),
            format!("--file-backup-storage-root={}", self.place.path("backups").display()),
            format!("--restore-from-backup={restores}"),
        ]);
        words.extend_from_slice(more);
        tablet.begin(&self.place, words);
        self.tablets.push(tablet);
    }

    /// Makes a keyspace of one shard whose only tablet stands before a server that Vitess does not
    /// manage. The schema of the server has the keyspace's name.
    pub fn add_unmanaged(&mut self, uid: u32, keyspace: &str, port: u16, user: &str, password: &str) {
        self.ctl(&["CreateKeyspace", "--durability-policy=none", keyspace]);
        let mut tablet = Tablet::new(&self.place, uid, keyspace, "0");
        let mut words = self.vttablet_words(&tablet);
        words.extend([
            "--unmanaged".into(),
            "--init-tablet-type=replica".into(),
            "--db-host=127.0.0.1".into(),
            format!("--db-port={port}"),
            format!("--init-db-name-override={keyspace}"),
        ]);
        for role in ["app", "allprivs", "appdebug", "dba", "erepl", "filtered", "repl"] {
            words.push(format!("--db-{role}-user={user}"));
            words.push(format!("--db-{role}-password={password}"));
        }
        tablet.begin(&self.place, words);
        let alias = tablet.alias();
        self.tablets.push(tablet);
        self.until("the unmanaged tablet is a primary", || {
            self.try_ctl(&["TabletExternallyReparented", &alias])
        });
    }

    /// Returns the options of every vttablet.
    fn vttablet_words(&self, tablet: &Tablet) -> Vec<String> {
        let mut words = self.common(tablet.vttablet_ports());
        words.extend([
            format!("--tablet-path={}", tablet.alias()),
            "--tablet-hostname=127.0.0.1".into(),
            format!("--init-keyspace={}", tablet.keyspace),
            format!("--init-shard={}", tablet.shard),
            "--health-check-interval=1s".into(),
            "--migration-check-interval=2s".into(),
            "--service-map=grpc-queryservice,grpc-tabletmanager,grpc-updatestream".into(),
        ]);
        words
    }

    /// Starts vtorc, which makes a replica the primary when the primary has died.
    pub fn start_vtorc(&mut self) {
        let mut words = self.topology();
        words.extend([
            "--config-file-not-found-handling=ignore".into(),
            format!("--log_dir={}", self.place.path("data/tmp").display()),
            format!("--port={}", self.vtorc.number()),
            "--bind-address=127.0.0.1".into(),
            "--instance-poll-time=1s".into(),
            "--recovery-poll-duration=1s".into(),
            "--topo-information-refresh-duration=1s".into(),
        ]);
        self.programs.push(self.place.run_beside("vtorc", &programs().join("vtorc"), &words));
    }

    /// Kills the server of a tablet.
    pub fn kill_server(&self, uid: u32) {
        self.tablet(uid).kill_server();
    }

    /// Kills a tablet: vttablet and the server, as when their machine dies.
    pub fn kill_tablet(&mut self, uid: u32) {
        self.tablet(uid).kill_server();
        self.tablet_mut(uid).kill_vttablet();
    }

    /// Starts what was killed of a tablet on the data that are there.
    pub fn come_back(&mut self, uid: u32) {
        self.tablet(uid).mysqlctl(&self.place, &["start"]);
        self.start_again(uid);
    }

    /// Gives a tablet a new server without rows in place of the one that it has, as one does with a
    /// server that has a transaction which no other server has.
    pub fn make_anew(&mut self, uid: u32) {
        self.kill_tablet(uid);
        let tablet = self.tablet(uid);
        std::fs::remove_dir_all(tablet.directory()).expect("the server's directory");
        tablet.mysqlctl(&self.place, &["init"]);
        self.start_again(uid);
    }

    fn start_again(&mut self, uid: u32) {
        let place = &self.place;
        let tablet = self.tablets.iter_mut().find(|tablet| tablet.uid == uid).expect("a tablet");
        if !tablet.has_vttablet() {
            tablet.run_vttablet(place);
        }
    }

    /// Makes this tablet the primary of its shard.
    pub fn reparent(&self, uid: u32) {
        let tablet = self.tablet(uid);
        let shard = tablet.place_name();
        self.ctl(&["PlannedReparentShard", &shard, "--new-primary", &tablet.alias()]);
    }

    /// Makes this tablet the first primary of its shard, as soon as the shard's tablets are up.
    pub fn promote_first(&self, uid: u32) {
        let tablet = self.tablet(uid);
        let shard = tablet.place_name();
        let alias = tablet.alias();
        let command = ["PlannedReparentShard", &shard, "--new-primary", &alias];
        self.until("the shard has a primary", || self.try_ctl(&command));
    }

    /// Returns a tablet.
    pub fn tablet(&self, uid: u32) -> &Tablet {
        self.tablets.iter().find(|tablet| tablet.uid == uid).expect("a tablet of this number")
    }

    fn tablet_mut(&mut self, uid: u32) -> &mut Tablet {
        self.tablets.iter_mut().find(|tablet| tablet.uid == uid).expect("a tablet of this number")
    }

    /// Returns the name of the keyspace.
    pub fn keyspace(&self) -> &str {
        &self.keyspace
    }

    /// Returns the number of the primary of a shard whose term is the latest, if the shard has one.
    pub fn primary(&self, shard: &str) -> Option<u32> {
        let listed = self.ctl(&["GetTablets", "--keyspace", &self.keyspace, "--shard", shard]);
        // A line is: alias, keyspace, shard, type, two addresses, tags, the begin of the term.
        let primaries = listed.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [alias, _, _, "primary", .., begin] = words[..] else { return None };
            let uid = alias.rsplit_once('-')?.1.parse().ok()?;
            Some((begin.to_owned(), uid))
        });
        primaries.max().map(|(_, uid)| uid)
    }

    /// Returns all tablets.
    pub fn tablets(&self) -> &[Tablet] {
        &self.tablets
    }

    /// Runs a command of vtctldclient, which must succeed, and returns what it said.
    pub fn ctl(&self, words: &[&str]) -> String {
        let (succeeded, said) = self.try_ctl(words);
        assert!(succeeded, "vtctldclient {}: {said}\n{}", words.join(" "), self.place.logs());
        said
    }

    /// Runs a command of vtctldclient. It returns whether the command succeeded, and what it said.
    pub fn try_ctl(&self, words: &[&str]) -> (bool, String) {
        let mut arguments = vec![format!("--server=127.0.0.1:{}", self.vtctld[1].number())];
        arguments.extend(words.iter().map(|&word| word.to_owned()));
        self.place.run("vtctldclient", &arguments)
    }

    /// Returns the options to connect to vtgate.
    pub fn gate_options(&self) -> ConnectOptions {
        ConnectOptions::tcp("127.0.0.1", self.gate_port()).user("app", "").schema(&self.keyspace)
    }

    /// Returns the port at which vtgate speaks MySQL's protocol.
    pub fn gate_port(&self) -> u16 {
        self.vtgate[2].number()
    }

    /// Opens a session at vtgate.
    pub fn gate(&self) -> Client {
        Client::connect(&self.gate_options())
            .unwrap_or_else(|error| panic!("vtgate: {error}\n{}", self.place.logs()))
    }

    /// Waits until `look` returns true. It also returns what was seen, for the message of a test
    /// that fails.
    pub fn until(&self, what: &str, look: impl Fn() -> (bool, String)) {
        let clock = Stopwatch::start();
        loop {
            let (holds, seen) = look();
            if holds {
                return;
            }
            assert!(clock.elapsed() < SOON, "never: {what}; {seen}\n{}", self.place.logs());
            sleep(Duration::from_millis(200));
        }
    }
}
