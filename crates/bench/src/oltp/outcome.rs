//! What a run is asked for, and what it has measured.

use std::fmt;

use super::accounts::Accounts;
use super::sysbench::Report;
use crate::described::Described;
use crate::instance::{Doublewrite, Flavor, RowImage};
use crate::sbtest::Size;
use crate::server::{ByAddress, Mode};
use crate::usage::PerOperation;

/// Settings of one started server that the plan varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variation {
    /// `log_bin`.
    pub log_bin: bool,
    /// `innodb_doublewrite`; the server's default when none is given.
    pub doublewrite: Option<Doublewrite>,
    /// `innodb_buffer_pool_size`.
    pub pool_bytes: u64,
    /// `innodb_page_size`; the server's default when none is given.
    pub page_bytes: Option<u64>,
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The tables.
    pub size: Size,
    /// Scripts of [`sysbench::SCRIPTS`].
    pub scripts: Vec<String>,
    /// How many clients at once.
    pub clients: Vec<u32>,
    /// The servers' durability.
    pub modes: Vec<Mode>,
    /// Settings that started servers are started with, each in turn.
    pub variations: Vec<Variation>,
    /// `innodb_redo_log_capacity` of every started server.
    pub redo_bytes: u64,
    /// `binlog_row_image` of every started server.
    pub image: RowImage,
    /// The servers to start; those that are not on the machine are left out.
    pub flavors: Vec<Flavor>,
    /// Somebody's own servers.
    pub addresses: Vec<ByAddress>,
    /// Whether the tables are made anew on somebody's own servers, too.
    pub fill_addresses: bool,
    /// The server that ratios are relative to, by its name; the first one when none is given.
    pub base: Option<String>,
    /// How long each measurement takes.
    pub seconds: u64,
    /// How long each runs before it is measured.
    pub warmup_seconds: u64,
    /// How often everything is measured.
    pub rounds: u32,
    /// Whether servers that keep time accounts are asked where the time of a transaction goes.
    pub accounts: bool,
    /// Makes the data and the loads.
    pub seed: u64,
}

/// A server of the run.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The server's name and version.
    pub server: Described,
    /// What it was started with; None for somebody's own server.
    pub variation: Option<Variation>,
}

/// One measurement.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Which round, from 1.
    pub round: u32,
    /// The script.
    pub script: String,
    /// Clients at once.
    pub clients: u32,
    /// The server's durability.
    pub mode: Mode,
    /// Which of [`Outcome::subjects`].
    pub subject: usize,
    /// sysbench's report.
    pub report: Report,
    /// What a transaction cost the server; None when its process cannot be seen.
    pub server: Option<PerOperation>,
    /// What a transaction cost sysbench.
    pub sysbench: Option<PerOperation>,
    /// Where the time of a transaction went, if that was asked for and the server knows.
    pub accounts: Option<Accounts>,
}

/// Everything that a run has measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was asked for.
    pub plan: Plan,
    /// The servers.
    pub subjects: Vec<Subject>,
    /// Peers that were not on the machine, and why.
    pub missing: Vec<String>,
    /// The figures.
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
    /// The settings that a started server has been given, in words.
    pub(super) fn settings_shown(&self) -> String {
        self.variation.map_or("as it is".to_string(), |variation| variation.to_string())
    }
}
