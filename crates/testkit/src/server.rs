//! Servers under test, their sessions, and replicas that follow a source.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use bench::instance::{Flavor, Instance, Settings};
use bench::replication::{self, Position, StartFrom, Status, Thread};
use bench::sbtest::{self, Checksum, Size};
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ClientError, ConnectOptions, ResultSet};

use crate::lines::lines_of;

/// How long a test waits for something that should happen soon. The time is long, because it only
/// ends tests that have failed.
pub const SOON: Duration = Duration::from_secs(60);

/// Returns the flavor that tests of a single server are about: the one that `SERVER_UNDER_TEST`
/// names, or Slipstream. A test that fails with MariaDB or MySQL has a wrong expectation.
pub fn flavor_under_test() -> Flavor {
    match std::env::var("SERVER_UNDER_TEST").as_deref() {
        Err(_) | Ok("slipstream") => Flavor::Slipstream,
        Ok("mariadb") => Flavor::MariaDb,
        Ok("mysql") => Flavor::MySql,
        Ok(other) => panic!("SERVER_UNDER_TEST={other} is no flavor"),
    }
}

/// Runs `play` on Slipstream and, if it is on the machine, on MySQL. Both must return the same
/// lines. It returns Slipstream's lines.
pub fn same_as_mysql(test: &str, settings: &Settings, play: impl Fn(&Server) -> Vec<String>) -> Vec<String> {
    let ours = play(&Server::start(Flavor::Slipstream, settings));
    if crate::available(test, &[Flavor::MySql]) {
        let theirs = play(&Server::start(Flavor::MySql, settings));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(ours.len(), theirs.len());
    }
    ours
}

/// A running server. Dropping it ends the server and removes its data.
pub struct Server {
    instance: Instance,
}

impl Deref for Server {
    type Target = Instance;

    fn deref(&self) -> &Instance {
        &self.instance
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Instance {
        &mut self.instance
    }
}

impl Server {
    /// Starts a server of this flavor on fresh data.
    pub fn start(flavor: Flavor, settings: &Settings) -> Server {
        let mut settings = settings.clone();
        if flavor == Flavor::Slipstream && settings.slipstream.is_none() {
            settings.slipstream = Some(crate::binary::slipstream().to_path_buf());
        }
        let instance = Instance::start(flavor, &settings).unwrap_or_else(|error| panic!("{error}"));
        Server { instance }
    }

    /// Starts a server of [`flavor_under_test`] with default settings.
    pub fn under_test() -> Server {
        Server::start(flavor_under_test(), &Settings::default())
    }

    /// Starts the server again on its data.
    pub fn come_back(&mut self) {
        self.instance.start_again().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Asks the server to shut down. It must end without an error.
    pub fn shut_down(&mut self) {
        let status = self.instance.stop().unwrap_or_else(|error| panic!("{error}"));
        assert!(status.success(), "stopped with {status}:\n{}", self.log_tail());
    }

    /// Returns the options to connect as the kit's user.
    pub fn connect_options(&self) -> ConnectOptions {
        replication::connect_options(&self.instance)
    }

    /// Opens a session as the kit's user.
    pub fn connect(&self) -> Client {
        self.try_connect().unwrap_or_else(|error| panic!("{}: {error}\n{}", self.flavor(), self.log_tail()))
    }

    /// Tries to open a session as the kit's user.
    pub fn try_connect(&self) -> Result<Client, ClientError> {
        replication::connect(&self.instance)
    }

    /// Runs one statement in a session of its own.
    pub fn run(&self, sql: &str) -> ResultSet {
        self.connect().query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", self.flavor()))
    }

    /// Returns the rows of a query as text, with tabs between columns. NULL is the text `NULL`.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        lines_of(&self.run(sql))
    }

    /// Makes sysbench's tables and fills them. The statements go to the binary log.
    pub fn fill(&self, size: Size, seed: u64) {
        sbtest::fill(&self.connect_options(), size, seed, true, &mut |_| {})
            .unwrap_or_else(|error| panic!("{}: {error}", self.flavor()));
    }

    /// Returns the checksums of sysbench's tables.
    pub fn checksums(&self, tables: u32) -> Vec<Checksum> {
        sbtest::checksums(&mut self.connect(), tables)
            .unwrap_or_else(|error| panic!("{}: {error}", self.flavor()))
    }

    /// Returns the end of the binary log.
    pub fn position(&self) -> Position {
        replication::source_position(&mut self.connect(), self.flavor())
            .unwrap_or_else(|error| panic!("{}: {error}", self.flavor()))
    }

    /// Runs a statement that the server must refuse, and returns the number and the message of the
    /// error.
    pub fn refuses(&self, sql: &str) -> (u16, String) {
        match self.connect().query(sql) {
            Err(ClientError::Server(error)) => (error.code, error.message),
            Err(error) => panic!("{}: {sql}: {error}", self.flavor()),
            Ok(_) => panic!("{}: {sql}: was not refused", self.flavor()),
        }
    }
}

/// A replica under test.
pub struct Replica {
    /// The server.
    pub server: Server,
}

impl Deref for Replica {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for Replica {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

impl Replica {
    /// Starts a server that resumes its replication by itself after a restart.
    pub fn start(flavor: Flavor, settings: &Settings) -> Replica {
        let settings = Settings { start_replica: true, ..settings.clone() };
        Replica { server: Server::start(flavor, &settings) }
    }

    /// Makes it a replica of the server on this port, and starts both threads.
    pub fn follow(&self, source: Flavor, port: u16, from: &StartFrom) {
        let mut client = self.connect();
        replication::change_source(&mut client, self.flavor(), source, port, from)
            .unwrap_or_else(|error| panic!("CHANGE REPLICATION SOURCE: {error}"));
        self.start_thread(Thread::Io);
        self.start_thread(Thread::Sql);
    }

    /// Starts one of the replica's threads.
    pub fn start_thread(&self, thread: Thread) {
        replication::start(&mut self.connect(), self.flavor(), thread)
            .unwrap_or_else(|error| panic!("START {thread:?}: {error}"));
    }

    /// Stops one of the replica's threads.
    pub fn stop_thread(&self, thread: Thread) {
        replication::stop(&mut self.connect(), self.flavor(), thread)
            .unwrap_or_else(|error| panic!("STOP {thread:?}: {error}"));
    }

    /// Returns the replica's status.
    pub fn status(&self) -> Status {
        replication::status(&mut self.connect(), self.flavor()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Waits until the status satisfies `wanted`, and returns it. `what` describes the condition in
    /// messages.
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&Status) -> bool) -> Status {
        let mut client = self.connect();
        let clock = Stopwatch::start();
        loop {
            let status = replication::status(&mut client, self.flavor())
                .unwrap_or_else(|error| panic!("{what}: {error}\n{}", self.log_tail()));
            if wanted(&status) {
                return status;
            }
            assert!(clock.elapsed() < SOON, "not {what}: {status:?}\n{}", self.log_tail());
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits until everything that the source has logged so far is applied. An error that stops the
    /// applier fails the test. An error of the receiver fails it only if the replica then makes no
    /// progress.
    pub fn catch_up(&self, source: &Server) {
        self.reach(&source.position());
    }

    /// Waits until everything up to a position in the source's binary log is applied.
    pub fn reach(&self, target: &Position) {
        let mut client = self.connect();
        let mut moved = Stopwatch::start();
        let mut last = None;
        loop {
            let status = replication::status(&mut client, self.flavor())
                .unwrap_or_else(|error| panic!("SHOW REPLICA STATUS: {error}\n{}", self.log_tail()));
            if status.applied.as_ref().is_some_and(|applied| applied >= target) {
                return;
            }
            assert_eq!(status.sql_errno, 0, "the applier stopped: {}\n{}", status.sql_error, self.log_tail());
            if status.applied != last {
                last = status.applied.clone();
                moved = Stopwatch::start();
            }
            assert!(
                moved.elapsed() < SOON,
                "the replica stands still before {target}: {status:?}\n{}",
                self.log_tail()
            );
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the replica has caught up, and compares sysbench's tables.
    pub fn equals(&self, source: &Server, tables: u32) {
        self.catch_up(source);
        let (theirs, ours) = (source.checksums(tables), self.checksums(tables));
        assert_eq!(ours, theirs, "the replica's rows are not the source's\n{}", self.log_tail());
    }

    /// Compares the rows of a query at both ends.
    pub fn equals_by(&self, source: &Server, sql: &str) {
        assert_eq!(self.rows(sql), source.rows(sql), "{sql}");
    }
}
