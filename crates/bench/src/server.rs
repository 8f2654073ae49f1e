//! A server under measurement, which the kit has started or which ran already.
//!
//! This module has what the benchmarks do to both kinds: connect, set the durability of commits,
//! fill sysbench's tables, ask for settings, and read what the process has used. A server that the
//! kit started ends when its value is dropped. A server that ran already gets its former durability
//! back.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use protocol::client::{Address, Client, ClientError, ConnectOptions, ResultSet};

use crate::described::Described;
use crate::error::MeasureError;
use crate::instance::{Flavor, Instance, Settings, USER};
use crate::progress::{Progress, grouped};
use crate::sbtest::{self, Size};
use crate::usage::{self, Usage};

/// How long a connect may take. A server that is under full load, or that is just making its RSA
/// key, may take long to answer.
const CONNECTED_WITHIN: Duration = Duration::from_secs(60);

/// `ER_NO_SUCH_TABLE` and `ER_BAD_DB_ERROR`.
const NO_SUCH_TABLE: [u16; 2] = [1146, 1049];

/// The variables that decide how fast a server is. A server lacks some of them; they are left out
/// of its description.
const SETTINGS: [&str; 13] = [
    "innodb_buffer_pool_size",
    "innodb_page_size",
    "innodb_doublewrite",
    "innodb_flush_method",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "log_bin",
    "binlog_format",
    "binlog_row_image",
    "performance_schema",
    "transaction_isolation",
];

/// The durability of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// `sync_binlog=0, innodb_flush_log_at_trx_commit=2`.
    Relaxed,
    /// `sync_binlog=1, innodb_flush_log_at_trx_commit=1`.
    Durable,
}

impl Mode {
    /// Returns the name of the mode.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Relaxed => "relaxed",
            Mode::Durable => "durable",
        }
    }

    /// Returns the values of the two variables in this mode.
    fn variables(self) -> [(&'static str, &'static str); 2] {
        let (sync_binlog, flush) = match self {
            Mode::Relaxed => ("0", "2"),
            Mode::Durable => ("1", "1"),
        };
        [("sync_binlog", sync_binlog), ("innodb_flush_log_at_trx_commit", flush)]
    }
}

/// A server that runs already, given as `name=host:port,user,password` or
/// `name=/socket,user,password`.
#[derive(Clone, PartialEq, Eq)]
pub struct ByAddress {
    /// The name of the server in the report.
    pub name: String,
    /// How to connect to the server.
    pub options: ConnectOptions,
}

/// Leaves the password out, because plans are printed.
impl fmt::Debug for ByAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?},{}", self.name, self.options.address, self.options.user)
    }
}

impl std::str::FromStr for ByAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ByAddress, String> {
        let wrong = || format!("'{text}' is not name=host:port,user,password or name=/socket,user,password");
        let (name, rest) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
        let mut parts = rest.splitn(3, ',');
        let address = parts.next().unwrap_or_default();
        let options = if address.starts_with('/') {
            ConnectOptions::unix(address)
        } else {
            let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
            ConnectOptions::tcp(host, port.parse().map_err(|_| wrong())?)
        };
        let options = options.user(parts.next().unwrap_or("root"), parts.next().unwrap_or_default());
        Ok(ByAddress { name: name.to_string(), options })
    }
}

/// A server and the kit's session with it.
pub struct Server {
    name: String,
    options: ConnectOptions,
    client: Client,
    /// The id of the process; `None` when it runs on another machine or cannot be seen.
    pid: Option<u32>,
    /// The instance; `None` for a server that ran already.
    instance: Option<Instance>,
    /// The variables that [`Server::set_mode`] has changed on a server that ran already, with their
    /// former values.
    put_back: Vec<(&'static str, String)>,
}

impl Server {
    /// Starts a server on fresh data. The kit connects to it over its Unix socket.
    pub fn start(flavor: Flavor, settings: &Settings) -> Result<Server, MeasureError> {
        Server::of(Instance::start(flavor, settings)?)
    }

    /// Starts a server on the data in this directory, which it takes over. The data has the kit's
    /// accounts.
    pub fn start_on(flavor: Flavor, settings: &Settings, data: &Path) -> Result<Server, MeasureError> {
        Server::of(Instance::start_on(flavor, settings, data)?)
    }

    fn of(instance: Instance) -> Result<Server, MeasureError> {
        let mut options = ConnectOptions::unix(instance.socket()).user(USER, USER);
        options.connect_timeout = CONNECTED_WITHIN;
        let mut server = Server::connect(instance.flavor().to_string(), options)?;
        server.pid = instance.pid();
        server.instance = Some(instance);
        Ok(server)
    }

    /// Starts `slipstream attach` on fresh data, and connects to its server as soon as that has the
    /// source's accounts. The rows are still being copied then.
    pub fn attached(
        source: &Instance,
        settings: &Settings,
        threads: Option<u32>,
    ) -> Result<Server, MeasureError> {
        let mut instance = Instance::attach(source, settings, threads)?;
        let mut options = ConnectOptions::unix(instance.socket()).user(USER, USER);
        options.connect_timeout = CONNECTED_WITHIN;
        let waited = Stopwatch::start();
        loop {
            match Server::connect(Flavor::Slipstream.to_string(), options.clone()) {
                Ok(mut server) => {
                    server.pid = instance.pid();
                    server.instance = Some(instance);
                    return Ok(server);
                }
                Err(_) if instance.is_running() && waited.elapsed() < CONNECTED_WITHIN => {
                    sleep(Duration::from_millis(10));
                }
                Err(error) => {
                    return Err(MeasureError::Program(
                        "slipstream attach".into(),
                        format!("{error}\n{}", instance.log_tail()),
                    ));
                }
            }
        }
    }

    /// Starts a server. If it is not on this machine, the reason is added to `missing` and `None`
    /// is returned.
    pub fn start_if_there(
        flavor: Flavor,
        settings: &Settings,
        missing: &mut Vec<String>,
        progress: &mut Progress,
    ) -> Result<Option<Server>, MeasureError> {
        if let Some(why) = flavor.unavailable() {
            let why = format!("{flavor}: {why}");
            if !missing.contains(&why) {
                missing.push(why);
            }
            return Ok(None);
        }
        progress.step(format!("{flavor}: starting"));
        let server = Server::start(flavor, settings)?;
        progress.done(server.version());
        Ok(Some(server))
    }

    /// Connects to a server that runs already.
    pub fn by_address(server: &ByAddress) -> Result<Server, MeasureError> {
        let mut options = server.options.clone();
        options.connect_timeout = CONNECTED_WITHIN;
        let mut server = Server::connect(server.name.clone(), options)?;
        server.pid = server.local_process();
        Ok(server)
    }

    fn connect(name: String, options: ConnectOptions) -> Result<Server, MeasureError> {
        let refused = |error| MeasureError::Refused(name.clone(), "connecting".into(), error);
        let client = Client::connect(&options).map_err(refused)?;
        Ok(Server { name, options, client, pid: None, instance: None, put_back: Vec::new() })
    }

    /// Returns the name of the server in the report.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how to connect to the server.
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// Returns the kit's session with the server.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Returns the instance of a server that the kit started; `None` for others.
    pub fn instance(&self) -> Option<&Instance> {
        self.instance.as_ref()
    }

    /// Returns the version in the server's greeting, without what a distribution has appended.
    pub fn version(&self) -> &str {
        let version = self.client.server_version();
        // MariaDB's greeting has 5.5.5- before its own version, for old replicas.
        let own = version.strip_prefix("5.5.5-").unwrap_or(version);
        own.split(['-', '+']).next().unwrap_or(own)
    }

    /// Kills the process of a server that the kit started, so that it cannot write anything more.
    pub fn kill(&mut self) {
        self.instance.as_mut().expect("a server that the kit started").kill();
    }

    /// Starts the process again that [`Server::kill`] ended, and does not wait until it is ready.
    /// The kit's session stays closed.
    pub fn launch(&mut self) -> Result<(), MeasureError> {
        let instance = self.instance.as_mut().expect("a server that the kit started");
        instance.launch()?;
        self.pid = instance.pid();
        Ok(())
    }

    /// Stops a server that the kit started, which makes it write everything to its files, and
    /// starts it again.
    pub fn start_anew(&mut self, progress: &mut Progress) -> Result<(), MeasureError> {
        progress.step(format!("{}: stopping and starting", self.name));
        self.instance.as_mut().expect("a server that the kit started").stop()?;
        self.start_again()?;
        progress.done("started");
        Ok(())
    }

    /// Waits until a server has ended that the kit started and that shuts down by itself, and
    /// starts it again.
    pub fn start_after_end(&mut self) -> Result<(), MeasureError> {
        self.instance.as_mut().expect("a server that the kit started").wait_ended()?;
        self.start_again()
    }

    fn start_again(&mut self) -> Result<(), MeasureError> {
        let instance = self.instance.as_mut().expect("a server that the kit started");
        instance.start_again()?;
        self.pid = instance.pid();
        let refused = self.refused("connecting");
        self.client = Client::connect(&self.options).map_err(refused)?;
        Ok(())
    }

    /// Reports whether the process of a server that the kit started is running.
    pub fn is_running(&mut self) -> bool {
        self.instance.as_mut().is_some_and(Instance::is_running)
    }

    /// Returns a function that makes an error of this server's refusal of `what`.
    pub fn refused(&self, what: &str) -> impl FnOnce(ClientError) -> MeasureError + use<> {
        let (name, what) = (self.name.clone(), what.to_string());
        move |error| MeasureError::Refused(name, what, error)
    }

    /// Runs a statement and discards its result.
    pub fn run(&mut self, sql: &str) -> Result<(), MeasureError> {
        let refused = self.refused(sql);
        self.client.query_discard(sql).map(|_| ()).map_err(refused)
    }

    /// Returns the value of a global variable; `None` when the server has no variable of this name.
    pub fn variable(&mut self, name: &str) -> Result<Option<String>, MeasureError> {
        let sql = format!("SHOW GLOBAL VARIABLES LIKE '{name}'");
        let refused = self.refused(&sql);
        Ok(self.client.query(&sql).map_err(refused)?.cell(0, 1))
    }

    /// Returns the rows of a query; `None` when the server has no such table.
    pub fn table(&mut self, sql: &str) -> Result<Option<ResultSet>, MeasureError> {
        match self.client.query(sql) {
            Ok(rows) => Ok(Some(rows)),
            Err(ClientError::Server(error)) if NO_SUCH_TABLE.contains(&error.code) => Ok(None),
            Err(error) => Err(self.refused(sql)(error)),
        }
    }

    /// Returns the value of a global status variable; `None` when the server has no variable of
    /// this name.
    pub fn status(&mut self, name: &str) -> Result<Option<String>, MeasureError> {
        let sql = format!("SHOW GLOBAL STATUS LIKE '{name}'");
        let refused = self.refused(&sql);
        Ok(self.client.query(&sql).map_err(refused)?.cell(0, 1))
    }

    /// Returns what a report tells of the server, with the settings that the server itself reports.
    pub fn describe(&mut self) -> Result<Described, MeasureError> {
        let mut settings = Vec::new();
        for name in SETTINGS {
            if let Some(value) = self.variable(name)?.filter(|value| !value.is_empty()) {
                settings.push((name, value));
            }
        }
        let options = self.instance.as_ref().map(Instance::options_shown).unwrap_or_default();
        Ok(Described { name: self.name.clone(), version: self.version().to_string(), options, settings })
    }

    /// Changes the durability of a running server.
    pub fn set_mode(&mut self, mode: Mode) -> Result<(), MeasureError> {
        for (name, value) in mode.variables() {
            if self.instance.is_none() && !self.put_back.iter().any(|(changed, _)| *changed == name) {
                let was = self.variable(name)?.unwrap_or_default();
                self.put_back.push((name, was));
            }
            self.run(&format!("SET GLOBAL {name} = {value}"))?;
        }
        Ok(())
    }

    /// Sets the number of worker threads on a replica whose applier is stopped. A MariaDB replica
    /// applies optimistically with more than one.
    pub fn set_workers(&mut self, flavor: Flavor, workers: u32) -> Result<(), MeasureError> {
        match flavor {
            Flavor::MariaDb => {
                self.run(&format!("SET GLOBAL slave_parallel_threads = {workers}"))?;
                self.run("SET GLOBAL slave_parallel_mode = 'optimistic'")
            }
            Flavor::MySql | Flavor::Slipstream => {
                self.run(&format!("SET GLOBAL replica_parallel_workers = {workers}"))
            }
        }
    }

    /// Fills sysbench's tables, without writing to the binary log.
    pub fn fill(&mut self, size: Size, seed: u64, progress: &mut Progress) -> Result<(), MeasureError> {
        progress.step(format!("{}: {} tables of {} rows", self.name, size.tables, grouped(size.rows)));
        let all = u64::from(size.tables) * size.rows;
        sbtest::fill(&self.options, size, seed, false, &mut |rows| {
            progress.tell(|| format!("{} of {} rows", grouped(rows), grouped(all)));
        })?;
        progress.done("filled");
        Ok(())
    }

    /// Returns what the process has used; `None` when the process cannot be seen from here.
    pub fn usage(&self) -> Option<Usage> {
        usage::of(self.pid?)
    }

    /// Returns the id of the process that listens on the server's port; `None` when it is not on
    /// this machine or cannot be seen.
    fn local_process(&mut self) -> Option<u32> {
        let local = match &self.options.address {
            Address::Unix(_) => true,
            Address::Tcp { host, .. } => host == "localhost" || host.starts_with("127."),
        };
        let port = self.variable("port").ok().flatten().filter(|_| local)?.parse().ok()?;
        listener(port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for (name, value) in std::mem::take(&mut self.put_back) {
            // A server that is gone needs no variables back, so the error is ignored.
            let _ = self.run(&format!("SET GLOBAL {name} = {value}"));
        }
    }
}

/// Returns the id of the process that listens on a TCP port of this machine; `None` when it cannot
/// be seen. The inode of the listening socket is in the kernel's table, and the process has that
/// socket open.
fn listener(port: u16) -> Option<u32> {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|file| std::fs::read_to_string(file).unwrap_or_default());
    let inode = tables.iter().flat_map(|table| table.lines().skip(1)).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listens = fields.get(3) == Some(&"0A") && fields.get(1)?.ends_with(&format!(":{port:04X}"));
        listens.then(|| fields.get(9).map(|inode| inode.to_string())).flatten()
    })?;
    let wanted = format!("socket:[{inode}]");
    let opens = |pid: &u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files
            .flat_map(|file| std::fs::read_link(file.path()))
            .any(|target| target.as_os_str() == wanted.as_str())
    };
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).find(opens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_by_address() {
        let tcp: ByAddress = "old=db1.example:3306,root,a,b=c".parse().expect("a server");
        assert_eq!((tcp.name.as_str(), tcp.options.password.as_str()), ("old", "a,b=c"));
        assert_eq!(tcp.options.address, Address::Tcp { host: "db1.example".into(), port: 3306 });
        let socket: ByAddress = "new=/tmp/s.sock".parse().expect("a server");
        assert_eq!(socket.options.address, Address::Unix("/tmp/s.sock".into()));
        assert_eq!((socket.options.user.as_str(), socket.options.password.as_str()), ("root", ""));
        for wrong in ["", "x", "=h:1", "x=h", "x=h:port", "x=h:70000"] {
            assert!(wrong.parse::<ByAddress>().is_err(), "{wrong}");
        }
        assert!(!format!("{tcp:?}").contains("a,b"), "a password is shown");
    }

    #[test]
    fn a_port_leads_to_its_process() {
        let held = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = held.local_addr().expect("an address").port();
        assert_eq!(listener(port), Some(std::process::id()));
        drop(held);
        assert_eq!(listener(port), None);
    }
}
