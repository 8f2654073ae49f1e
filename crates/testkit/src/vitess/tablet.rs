//! One tablet: a vttablet, and the server that it manages.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bench::instance::Port;
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ClientError, ConnectOptions};

use super::place::{Place, programs};
use crate::lines::lines_of;
use crate::running::Running;
use crate::server::SOON;

/// The cell in which everything runs.
pub(super) const CELL: &str = "zone1";

/// A server with the vttablet that manages it.
pub struct Tablet {
    /// The number of the tablet, which is unique in the cluster.
    pub uid: u32,
    /// The keyspace.
    pub keyspace: String,
    /// The shard, such as `0` or `-80`.
    pub shard: String,
    /// The directory of the server.
    directory: PathBuf,
    /// The ports of the server, and of vttablet for HTTP and for its peers.
    ports: [Port; 3],
    /// The arguments of vttablet.
    words: Vec<String>,
    vttablet: Option<Running>,
    /// The program that starts and stops the server, where that is not mysqlctl.
    mysqlctld: Option<Running>,
}

impl Tablet {
    pub(super) fn new(place: &Place, uid: u32, keyspace: &str, shard: &str) -> Tablet {
        let port = || Port::reserve().unwrap_or_else(|error| panic!("{error}"));
        Tablet {
            uid,
            keyspace: keyspace.to_owned(),
            shard: shard.to_owned(),
            directory: place.path(&format!("data/vt_{uid:010}")),
            ports: [port(), port(), port()],
            words: Vec::new(),
            vttablet: None,
            mysqlctld: None,
        }
    }

    /// Returns the tablet's name as Vitess writes it.
    pub fn alias(&self) -> String {
        format!("{CELL}-{:010}", self.uid)
    }

    /// Returns the shard's name with its keyspace, as Vitess writes it.
    pub fn place_name(&self) -> String {
        format!("{}/{}", self.keyspace, self.shard)
    }

    /// Opens a session at the server itself.
    pub fn connect(&self) -> Client {
        self.try_connect().unwrap_or_else(|error| panic!("{}: {error}", self.alias()))
    }

    /// Tries to open a session at the server itself.
    ///
    /// # Errors
    /// Fails when the server is not there.
    pub fn try_connect(&self) -> Result<Client, ClientError> {
        Client::connect(&ConnectOptions::unix(self.directory.join("mysql.sock")).user("vt_dba", ""))
    }

    /// Returns the rows of a query at the server itself, as text.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        self.try_rows(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", self.alias()))
    }

    /// Returns the rows of a query at the server itself, as text.
    ///
    /// # Errors
    /// Fails when the server is not there or refuses the query.
    pub fn try_rows(&self, sql: &str) -> Result<Vec<String>, ClientError> {
        self.try_connect()?.query(sql).map(|result| lines_of(&result))
    }

    /// Returns the port of the server.
    pub fn server_port(&self) -> u16 {
        self.ports[0].number()
    }

    /// Returns the ports of vttablet for HTTP and for its peers.
    pub(super) fn vttablet_ports(&self) -> [&Port; 2] {
        [&self.ports[1], &self.ports[2]]
    }

    /// Runs a command of mysqlctl, which must succeed.
    pub(super) fn mysqlctl(&self, place: &Place, words: &[&str]) {
        let mut arguments = vec![
            "--config-file-not-found-handling=ignore".to_owned(),
            format!("--log_dir={}", place.path("data/tmp").display()),
            format!("--tablet-uid={}", self.uid),
            format!("--mysql-port={}", self.server_port()),
        ];
        arguments.extend(words.iter().map(|&word| word.to_owned()));
        let (succeeded, said) = place.run("mysqlctl", &arguments);
        assert!(succeeded, "mysqlctl {words:?}: {said}\n{}", place.logs());
    }

    /// Starts a mysqlctld, which makes the server. It returns the socket at which it listens.
    pub(super) fn run_mysqlctld(&mut self, place: &Place) -> PathBuf {
        let socket = place.path(&format!("data/mysqlctld{}.sock", self.uid));
        let words = [
            "--config-file-not-found-handling=ignore".to_owned(),
            format!("--log_dir={}", place.path("data/tmp").display()),
            format!("--tablet-uid={}", self.uid),
            format!("--mysql-port={}", self.server_port()),
            format!("--socket-file={}", socket.display()),
        ];
        let name = format!("mysqlctld{}", self.uid);
        self.mysqlctld = Some(place.run_beside(&name, &programs().join("mysqlctld"), &words));
        socket
    }

    /// Starts vttablet with these arguments.
    pub(super) fn begin(&mut self, place: &Place, words: Vec<String>) {
        self.words = words;
        self.run_vttablet(place);
    }

    /// Starts vttablet with the arguments that it had before.
    pub(super) fn run_vttablet(&mut self, place: &Place) {
        assert!(self.vttablet.is_none(), "{} runs already", self.alias());
        let name = format!("vttablet{}", self.uid);
        self.vttablet = Some(place.run_beside(&name, &programs().join("vttablet"), &self.words));
    }

    /// Reports whether vttablet runs, as far as the test has ended it.
    pub(super) fn has_vttablet(&self) -> bool {
        self.vttablet.is_some()
    }

    /// Kills vttablet.
    pub(super) fn kill_vttablet(&mut self) {
        self.vttablet = None;
    }

    /// Kills the server, and returns when it is gone.
    pub(super) fn kill_server(&self) {
        let text = fs::read_to_string(self.directory.join("mysql.pid")).expect("the server's pid file");
        let pid: i32 = text.trim().parse().expect("a process id");
        let program = fs::read_link(format!("/proc/{pid}/exe")).expect("the server runs");
        assert!(program.ends_with("slipstream"), "process {pid} is {}", program.display());
        // SAFETY: kill takes no pointers, and the process is the tablet's own server.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        let clock = Stopwatch::start();
        // A process that is dead and not yet waited for has no program.
        while fs::read_link(format!("/proc/{pid}/exe")).is_ok() {
            assert!(clock.elapsed() < SOON, "{} does not die", self.alias());
            sleep(Duration::from_millis(5));
        }
    }

    /// Returns the directory of the server.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }
}
