//! One look at a server: what it answers to a few queries.

use std::collections::{BTreeMap, HashMap};

use protocol::client::{Client, ClientError, ResultSet};

use crate::channel::Channel;

/// Who the server is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Server {
    /// The version.
    pub version: String,
    /// The name of the machine.
    pub host: String,
    /// The TCP port.
    pub port: u64,
    /// The server id.
    pub server_id: u64,
    /// The UUID, which MariaDB does not have.
    pub server_uuid: String,
    /// The variable `read_only`.
    pub is_read_only: bool,
    /// The time since the server's start, in seconds.
    pub uptime_s: u64,
}

/// A replica that is connected to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// The replica's server id.
    pub server_id: u64,
    /// The host that the replica reports, which may be empty.
    pub host: String,
    /// The port that the replica reports.
    pub port: u64,
    /// The replica's UUID.
    pub server_uuid: String,
}

/// Times that only grow, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The wall time.
    pub wall_ns: u64,
    /// The processor time.
    pub cpu_ns: u64,
}

/// What one look has seen.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// The time of the look, by a clock that begins somewhere, in nanoseconds.
    pub at_ns: u64,
    /// Who the server is.
    pub server: Server,
    /// The replication channels.
    pub channels: Vec<Channel>,
    /// The replicas that are connected.
    pub replicas: Vec<Connected>,
    /// The status variables that are numbers, by name in small letters.
    pub status: HashMap<String, u64>,
    /// The time of threads, by the thread's name and the state. It is empty for a server that keeps
    /// no such accounts.
    pub threads: BTreeMap<(String, String), Spent>,
}

impl Look {
    /// Looks at the server.
    ///
    /// # Errors
    /// Returns an error when the connection breaks, and when the server refuses to show its status
    /// variables or its replication channels.
    pub fn take(client: &mut Client) -> Result<Look, ClientError> {
        let status = client.query("SHOW GLOBAL STATUS")?;
        let variables = client.query(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN \
             ('version', 'hostname', 'port', 'server_id', 'server_uuid', 'read_only')",
        )?;
        let channels = match client.query("SHOW REPLICA STATUS") {
            // MySQL before 8.0.22 and MariaDB before 10.5 do not know the words.
            Err(ClientError::Server(error)) if error.code == 1064 => client.query("SHOW SLAVE STATUS")?,
            shown => shown?,
        };
        let mut look = Look {
            at_ns: os::clock::monotonic_ns(),
            server: Server::of(&pairs(&variables)),
            channels: Channel::all(&channels),
            status: numbers(&pairs(&status)),
            ..Look::default()
        };
        look.server.uptime_s = look.figure("uptime").unwrap_or(0);
        if let Some(replicas) = if_shown(client, "SHOW REPLICAS")? {
            look.replicas = connected(&replicas);
        }
        let times = "SELECT THREAD_NAME, STATE, SUM(WALL_NS), SUM(CPU_NS) \
                     FROM performance_schema.thread_times GROUP BY THREAD_NAME, STATE";
        if let Some(times) = if_shown(client, times)? {
            look.threads = spent(&times);
        }
        let lags = "SELECT CHANNEL_NAME, LAG_US, HELD_BACK_BY FROM performance_schema.replication_lag";
        if let Some(lags) = if_shown(client, lags)? {
            look.add_lags(&lags);
        }
        Ok(look)
    }

    /// Returns a status variable that is a number, by its name in small letters.
    pub fn figure(&self, name: &str) -> Option<u64> {
        self.status.get(name).copied()
    }

    /// Replaces the channels' lags by the true ones that a Slipstream tells.
    fn add_lags(&mut self, lags: &ResultSet) {
        for row in 0..lags.rows.len() {
            let name = lags.cell(row, 0).unwrap_or_default();
            for channel in self.channels.iter_mut().filter(|channel| channel.name == name) {
                let us = lags.cell(row, 1).and_then(|us| us.parse::<u64>().ok());
                channel.lag_ms = us.map(|us| us as f64 / 1000.0);
                channel.held_back_by = lags.cell(row, 2).unwrap_or_default();
            }
        }
    }

    /// Returns in one word what the server is to others.
    pub fn role(&self) -> &'static str {
        match (self.channels.is_empty(), self.replicas.is_empty()) {
            (true, true) => "alone",
            (true, false) => "source",
            (false, true) => "replica",
            (false, false) => "replica and source",
        }
    }

    /// Returns in words everything that is wrong.
    pub fn problems(&self) -> Vec<String> {
        self.channels.iter().flat_map(Channel::problems).collect()
    }

    /// Reports whether every channel runs. A receiver that connects again still runs.
    pub fn is_well(&self) -> bool {
        !self.channels.iter().any(Channel::has_stopped)
    }
}

/// Runs a query whose answer may be left out. `None` means that the server refuses it.
fn if_shown(client: &mut Client, sql: &str) -> Result<Option<ResultSet>, ClientError> {
    match client.query(sql) {
        Ok(shown) => Ok(Some(shown)),
        Err(ClientError::Server(_)) => Ok(None),
        Err(broken) => Err(broken),
    }
}

/// Returns the rows of SHOW STATUS or SHOW VARIABLES, with names in small letters.
fn pairs(shown: &ResultSet) -> HashMap<String, String> {
    let cell = |row, column| shown.cell(row, column).unwrap_or_default();
    (0..shown.rows.len()).map(|row| (cell(row, 0).to_ascii_lowercase(), cell(row, 1))).collect()
}

fn numbers(pairs: &HashMap<String, String>) -> HashMap<String, u64> {
    pairs.iter().filter_map(|(name, value)| Some((name.clone(), value.parse().ok()?))).collect()
}

impl Server {
    fn of(variables: &HashMap<String, String>) -> Server {
        let text = |name: &str| variables.get(name).cloned().unwrap_or_default();
        let number = |name: &str| text(name).parse().unwrap_or(0);
        Server {
            version: text("version"),
            host: text("hostname"),
            port: number("port"),
            server_id: number("server_id"),
            server_uuid: text("server_uuid"),
            is_read_only: text("read_only") != "OFF",
            uptime_s: 0,
        }
    }
}

fn connected(shown: &ResultSet) -> Vec<Connected> {
    let text =
        |row, names: [&str; 2]| names.iter().find_map(|name| shown.text(row, name)).unwrap_or_default();
    let replica = |row| Connected {
        server_id: text(row, ["Server_Id", "Server_id"]).parse().unwrap_or(0),
        host: text(row, ["Host", "Host"]),
        port: text(row, ["Port", "Port"]).parse().unwrap_or(0),
        server_uuid: text(row, ["Replica_UUID", "Slave_UUID"]),
    };
    (0..shown.rows.len()).map(replica).collect()
}

fn spent(shown: &ResultSet) -> BTreeMap<(String, String), Spent> {
    let text = |row, column| shown.cell(row, column).unwrap_or_default();
    let number = |row, column| text(row, column).parse().unwrap_or(0);
    let entry =
        |row| ((text(row, 0), text(row, 1)), Spent { wall_ns: number(row, 2), cpu_ns: number(row, 3) });
    (0..shown.rows.len()).map(entry).collect()
}
