//! A server that takes part: its connection, and what it says of itself.

use std::time::Duration;

use binlog::gtid::GtidSet;
use os::clock::Stopwatch;
use protocol::client::{Address, Client, ClientError, ConnectOptions, ResultSet};

use crate::channel::Channel;
use crate::error::Failure;

/// How much longer than the plan's timeout a member may take to answer.
const GRACE: Duration = Duration::from_secs(10);

/// A server that takes part, with a session there.
pub struct Member {
    /// The server's address in words.
    pub name: String,
    options: ConnectOptions,
    lock_wait_timeout_s: u64,
    client: Client,
    /// What the server said of itself when it was connected to.
    pub facts: Facts,
}

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The UUID.
    pub uuid: String,
    /// The value of `gtid_mode`.
    pub gtid_mode: String,
    /// Whether there is a binary log.
    pub log_bin: bool,
    /// Whether the log has what the server replicates.
    pub log_replica_updates: bool,
    /// The value of `read_only`.
    pub read_only: bool,
    /// The value of `super_read_only`.
    pub super_read_only: bool,
    /// The host that the server reports, which may be empty.
    pub report_host: String,
    /// The port that the server reports, or else its own.
    pub report_port: u16,
}

impl Member {
    /// Connects to a server. `timeout` bounds the wait for locks and for answers.
    ///
    /// # Errors
    /// Returns a failure when the server cannot be reached or asked, and when it is a MariaDB.
    pub fn connect(options: &ConnectOptions, timeout: Duration) -> Result<Member, Failure> {
        let name = match &options.address {
            Address::Tcp { host, port } => format!("{host}:{port}"),
            Address::Unix(path) => path.display().to_string(),
        };
        let options = ConnectOptions { read_timeout: Some(timeout + GRACE), ..options.clone() };
        let lock_wait_timeout_s = timeout.as_secs().max(1);
        let failed = |error: ClientError| Failure::of(&name, "cannot connect", &error);
        let mut client = session(&options, lock_wait_timeout_s).map_err(failed)?;
        if client.is_mariadb() {
            return Err(Failure { what: format!("{name}: MariaDB's servers are not handed over") });
        }
        let facts = Facts::ask(&mut client).map_err(|error| Failure::of(&name, "its variables", &error))?;
        Ok(Member { name, options, lock_wait_timeout_s, client, facts })
    }

    /// Connects again, after the connection was lost.
    ///
    /// # Errors
    /// Returns a failure when the server cannot be reached.
    pub fn reconnect(&mut self) -> Result<(), Failure> {
        self.client = session(&self.options, self.lock_wait_timeout_s)
            .map_err(|error| Failure::of(&self.name, "cannot connect again", &error))?;
        Ok(())
    }

    /// Runs a statement. `doing` stands in the message of a failure, so that no password does.
    ///
    /// # Errors
    /// Returns a failure when the server refuses the statement or the connection breaks.
    pub fn run(&mut self, doing: &str, sql: &str) -> Result<ResultSet, Failure> {
        self.client.query(sql).map_err(|error| Failure::of(&self.name, doing, &error))
    }

    /// Runs a statement that waits for a lock, for so long at most. Each try waits for a second and
    /// then lets others go on. In MySQL a request for the global read lock stops the next statement
    /// of a transaction whose row locks another statement waits for, and waits for that statement
    /// itself: nobody gets on before a timeout.
    ///
    /// # Errors
    /// Returns a failure when the lock is not free in time, when the server refuses the statement,
    /// and when the connection breaks.
    pub fn run_patiently(&mut self, doing: &str, sql: &str, within: Duration) -> Result<(), Failure> {
        const LOCK_WAIT_TIMEOUT: u16 = 1205;
        self.run("lock_wait_timeout", "SET SESSION lock_wait_timeout = 1")?;
        let waited = Stopwatch::start();
        loop {
            match self.client.query(sql) {
                Ok(_) => return Ok(()),
                Err(error) if error.server_code() == Some(LOCK_WAIT_TIMEOUT) && waited.elapsed() < within => {
                }
                Err(error) => return Err(Failure::of(&self.name, doing, &error)),
            }
        }
    }

    /// Returns the only cell of a query's answer, which is empty for NULL.
    ///
    /// # Errors
    /// Returns a failure when the server refuses the query or the connection breaks.
    pub fn ask(&mut self, sql: &str) -> Result<String, Failure> {
        Ok(self.run(sql, sql)?.cell(0, 0).unwrap_or_default())
    }

    /// Returns a set of GTIDs that a global variable holds.
    ///
    /// # Errors
    /// Returns a failure when the server cannot be asked or its answer cannot be read.
    pub fn gtids(&mut self, variable: &str) -> Result<GtidSet, Failure> {
        let text = self.ask(&format!("SELECT @@global.{variable}"))?;
        text.parse().map_err(|error| Failure { what: format!("{}: {variable}: {error}", self.name) })
    }

    /// Returns the replication channels.
    ///
    /// # Errors
    /// Returns a failure when the server cannot be asked.
    pub fn channels(&mut self) -> Result<Vec<Channel>, Failure> {
        Ok(Channel::all(&self.run("SHOW REPLICA STATUS", "SHOW REPLICA STATUS")?))
    }

    /// Returns the channel through which the server follows another one.
    ///
    /// # Errors
    /// Returns a failure when the server cannot be asked.
    pub fn channel_from(&mut self, source_uuid: &str) -> Result<Option<Channel>, Failure> {
        let mut channels = self.channels()?;
        channels.retain(|channel| channel.source_uuid.eq_ignore_ascii_case(source_uuid));
        Ok(channels.pop())
    }

    /// Returns the host and the port at which replicas reach the server: what it reports, or else
    /// where this command has reached it.
    pub fn place(&self) -> (String, u16) {
        match &self.options.address {
            _ if !self.facts.report_host.is_empty() => {
                (self.facts.report_host.clone(), self.facts.report_port)
            }
            Address::Tcp { host, port } => (host.clone(), *port),
            Address::Unix(_) => ("localhost".to_owned(), self.facts.report_port),
        }
    }
}

/// Opens a session whose statements have literals without surprises and wait for no lock for ever.
fn session(options: &ConnectOptions, lock_wait_timeout_s: u64) -> Result<Client, ClientError> {
    let mut client = Client::connect(options)?;
    client.query("SET SESSION sql_mode = ''")?;
    client.query(&format!("SET SESSION lock_wait_timeout = {lock_wait_timeout_s}"))?;
    Ok(client)
}

impl Facts {
    fn ask(client: &mut Client) -> Result<Facts, ClientError> {
        let shown = client.query(
            "SELECT @@global.server_uuid uuid, @@global.gtid_mode gtid_mode, @@global.log_bin log_bin, \
             @@global.log_replica_updates log_replica_updates, @@global.read_only read_only, \
             @@global.super_read_only super_read_only, @@global.report_host report_host, \
             @@global.report_port report_port",
        )?;
        let text = |name: &str| shown.text(0, name).unwrap_or_default();
        let is_on = |name: &str| matches!(text(name).as_str(), "1" | "ON");
        Ok(Facts {
            uuid: text("uuid"),
            gtid_mode: text("gtid_mode"),
            log_bin: is_on("log_bin"),
            log_replica_updates: is_on("log_replica_updates"),
            read_only: is_on("read_only"),
            super_read_only: is_on("super_read_only"),
            report_host: text("report_host"),
            report_port: text("report_port").parse().unwrap_or(0),
        })
    }
}
