//! The plan of a run of `bench copy`, and what the run has measured.

use crate::instance::Flavor;
use crate::sbtest::Size;
use crate::server::Mode;

/// A way to make a new replica of a source that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `slipstream attach`, which makes a Slipstream replica.
    Attach,
    /// The programs mydumper and myloader, which fill a fresh server of the source's own flavor.
    Dump,
    /// `CLONE INSTANCE FROM` of MySQL's clone plugin, in a fresh MySQL server.
    Clone,
    /// The program mariadb-backup, whose files a fresh MariaDB server starts on.
    Backup,
}

impl Method {
    /// Every way, that of this project first.
    pub const ALL: [Method; 4] = [Method::Attach, Method::Dump, Method::Clone, Method::Backup];

    /// Returns the name of the way, as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Attach => "attach",
            Method::Dump => "dump",
            Method::Clone => "clone",
            Method::Backup => "backup",
        }
    }

    /// Returns the name of the programs or the statement, for reports.
    pub fn shown(self) -> &'static str {
        match self {
            Method::Attach => "slipstream attach",
            Method::Dump => "mydumper + myloader",
            Method::Clone => "CLONE INSTANCE",
            Method::Backup => "mariadb-backup",
        }
    }

    /// Reports whether a source of this flavor can be copied in this way.
    pub fn is_for(self, source: Flavor) -> bool {
        match self {
            Method::Attach => true,
            Method::Dump => source != Flavor::Slipstream,
            Method::Clone => source == Flavor::MySql,
            Method::Backup => source == Flavor::MariaDb,
        }
    }
}

/// What a run of `bench copy` measures, and with which settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The flavor of the source, which is MySQL or MariaDB; `bench demo` also takes Slipstream.
    /// `None` means MySQL, or else MariaDB, whichever is on the machine.
    pub source: Option<Flavor>,
    /// The number of sysbench's tables at the source, and of their rows.
    pub size: Size,
    /// The ways to copy. Those that the source does not have are left out.
    pub methods: Vec<Method>,
    /// The rates of the load at the source while it is copied, in transactions a second. Each way
    /// is measured with each rate. 0 is a source without changes.
    pub changes_per_second: Vec<u64>,
    /// The number of clients of the load.
    pub clients: u32,
    /// The number of threads of each program. `None` means the program's own default.
    pub threads: Option<u32>,
    /// The durability of commits on source and replicas.
    pub mode: Mode,
    /// The size of every server's buffer pool in bytes.
    pub pool_bytes: u64,
    /// How long the load goes on after the last row has been copied, in seconds. The lag is looked
    /// at in this time.
    pub lag_seconds: u64,
    /// How often everything is measured.
    pub rounds: u32,
    /// The seed of the rows and of the load.
    pub seed: u64,
}

/// The figures of one new replica.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The number of the round, from 1.
    pub round: u32,
    /// The way in which the replica was made.
    pub method: Method,
    /// The rate of the load that was asked for, in transactions a second.
    pub changes_per_second: u64,
    /// The transactions of the load a second that the source has committed.
    pub rate: f64,
    /// The flavor and version of the replica.
    pub replica: String,
    /// The seconds from the beginning until all rows were in the replica.
    pub copied_seconds: f64,
    /// The seconds from the beginning until the replica had applied within one second what the
    /// source had logged. `None` means that it fell further and further behind.
    pub caught_up_seconds: Option<f64>,
    /// The lag at every 100 ms after the last row was copied, in milliseconds; empty without a
    /// load. `None` means that the look before took so long that this one was left out.
    pub lag_ms: Vec<Option<f64>>,
    /// The peak of the replica's resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Whether source and replica held the same rows at the end.
    pub equal: bool,
}

/// The options of the server that a way has made.
#[derive(Clone, Debug)]
pub struct Made {
    /// The way.
    pub method: Method,
    /// The options on the replica's command line.
    pub options: Vec<String>,
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan of the run.
    pub plan: Plan,
    /// The flavor and version of the source.
    pub source: String,
    /// The bytes of all values in the source's rows, before the load.
    pub data_bytes: u64,
    /// The ways that took part.
    pub made: Vec<Made>,
    /// What was not on the machine, each with the reason.
    pub missing: Vec<String>,
    /// The figures, one sample for each new replica.
    pub samples: Vec<Sample>,
}

impl Outcome {
    /// Reports whether every replica held the same rows as its source.
    pub fn all_equal(&self) -> bool {
        self.samples.iter().all(|sample| sample.equal)
    }
}
