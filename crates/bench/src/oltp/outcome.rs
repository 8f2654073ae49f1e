//! The plan of a run of `bench oltp`, and what the run has measured.

use std::fmt;

use super::accounts::Accounts;
use super::sysbench::Report;
use crate::described::Described;
use crate::instance::{Doublewrite, Flavor, RowImage};
use crate::sbtest::Size;
use crate::server::{ByAddress, Mode};
use crate::usage::PerOperation;

/// The settings of a started server that the plan varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variation {
    /// `log_bin`.
    pub log_bin: bool,
    /// `innodb_doublewrite`. `None` means the server's default.
    pub doublewrite: Option<Doublewrite>,
    /// `innodb_buffer_pool_size`, in bytes.
    pub pool_bytes: u64,
    /// `innodb_page_size`, in bytes. `None` means the server's default.
    pub page_bytes: Option<u64>,
}

/// What a run of `bench oltp` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The number of tables and of their rows.
    pub size: Size,
    /// The names of the scripts, out of `sysbench::SCRIPTS`.
    pub scripts: Vec<String>,
    /// The numbers of concurrent clients.
    pub clients: Vec<u32>,
    /// The durability of the servers' commits.
    pub modes: Vec<Mode>,
    /// The settings that servers are started with. Each flavor gets one server for each.
    pub variations: Vec<Variation>,
    /// `innodb_redo_log_capacity` of every started server, in bytes.
    pub redo_bytes: u64,
    /// `binlog_row_image` of every started server.
    pub image: RowImage,
    /// The flavors of the servers to start. Those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// The servers that run already.
    pub addresses: Vec<ByAddress>,
    /// Whether the tables are made anew on servers that run already, too.
    pub fill_addresses: bool,
    /// The name of the server that ratios are relative to. `None` means the first server.
    pub base: Option<String>,
    /// The duration of each measurement in seconds.
    pub seconds: u64,
    /// The seconds that each server runs before it is measured.
    pub warmup_seconds: u64,
    /// How often everything is measured.
    pub rounds: u32,
    /// Whether servers that keep time accounts are asked where the time of a transaction goes.
    pub accounts: bool,
    /// The seed of the data and of the loads.
    pub seed: u64,
}

/// A server that takes part in the run.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The description of the server.
    pub server: Described,
    /// The settings that the server was started with. `None` means that it ran already.
    pub variation: Option<Variation>,
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The number of the round, from 1.
    pub round: u32,
    /// The name of the script.
    pub script: String,
    /// The number of concurrent clients.
    pub clients: u32,
    /// The durability of the server's commits.
    pub mode: Mode,
    /// The index of the server in [`Outcome::subjects`].
    pub subject: usize,
    /// What sysbench reported.
    pub report: Report,
    /// What a transaction cost the server. `None` means that its process cannot be seen.
    pub server: Option<PerOperation>,
    /// What a transaction cost sysbench.
    pub sysbench: Option<PerOperation>,
    /// Where the time of a transaction went. `None` means that this was not asked for or that the
    /// server does not know.
    pub accounts: Option<Accounts>,
}

/// Everything that a run has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan of the run.
    pub plan: Plan,
    /// The servers that took part.
    pub subjects: Vec<Subject>,
    /// The peers that were not on the machine, each with the reason.
    pub missing: Vec<String>,
    /// The figures, one sample for each measurement.
    pub samples: Vec<Sample>,
}

impl fmt::Display for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on_off = |on| if on { "on" } else { "off" };
        write!(f, "binlog {}, pool {}M", on_off(self.log_bin), self.pool_bytes >> 20)?;
        if let Some(doublewrite) = self.doublewrite {
            write!(f, ", doublewrite {}", doublewrite.name())?;
        }
        match self.page_bytes {
            Some(bytes) => write!(f, ", page {}K", bytes >> 10),
            None => Ok(()),
        }
    }
}

impl Subject {
    /// Returns the settings that the server was started with, in words.
    pub(super) fn settings_shown(&self) -> String {
        self.variation.map_or("as it is".to_string(), |variation| variation.to_string())
    }
}
