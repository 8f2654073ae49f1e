//! What an instance is: which server software, and how it is started.

use std::fmt;
use std::path::PathBuf;

/// The user that every instance knows, with all privileges; the password is the same word.
pub const USER: &str = "kit";

/// Which server software an instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flavor {
    /// This project's own server.
    Slipstream,
    /// `mariadbd` of the machine.
    MariaDb,
    /// `mysqld` in the chroot that `scripts/peers.sh` builds.
    MySql,
}

impl Flavor {
    /// Every flavor, the kit's own first.
    pub const ALL: [Flavor; 3] = [Flavor::Slipstream, Flavor::MariaDb, Flavor::MySql];
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavor::Slipstream => "Slipstream",
            Flavor::MariaDb => "MariaDB",
            Flavor::MySql => "MySQL",
        })
    }
}

/// What the binary log holds of a row that changed (`binlog_row_image`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowImage {
    /// Every column, before and after.
    Full,
    /// The key before, the changed columns after.
    Minimal,
    /// Every column but unchanged BLOBs.
    NoBlob,
}

impl RowImage {
    /// The option's value.
    pub fn name(self) -> &'static str {
        match self {
            RowImage::Full => "FULL",
            RowImage::Minimal => "MINIMAL",
            RowImage::NoBlob => "NOBLOB",
        }
    }
}

/// How pages are protected against a write that is torn (`innodb_doublewrite`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doublewrite {
    /// Not at all.
    Off,
    /// As the server does it.
    On,
    /// One shared buffer, as servers had it before MySQL 8.0.20. Slipstream's only; the peers do as
    /// they do.
    Legacy,
    /// A place for each writer. Slipstream's only; the peers do as they do.
    Parallel,
}

impl Doublewrite {
    /// All of them.
    pub const ALL: [Doublewrite; 4] =
        [Doublewrite::Off, Doublewrite::On, Doublewrite::Legacy, Doublewrite::Parallel];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Doublewrite::Off => "off",
            Doublewrite::On => "on",
            Doublewrite::Legacy => "legacy",
            Doublewrite::Parallel => "parallel",
        }
    }
}

/// How an instance is started. The same settings mean the same for every flavor.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `server_id`; replication needs it to differ between the two ends.
    pub server_id: u32,
    /// `innodb_buffer_pool_size`.
    pub pool_bytes: u64,
    /// `innodb_redo_log_capacity`, or MariaDB's `innodb_log_file_size`.
    pub redo_bytes: u64,
    /// Whether the server keeps a binary log.
    pub log_bin: bool,
    /// Whether what a replica applies goes to its own binary log; needs `log_bin`.
    pub log_replica_updates: bool,
    /// `gtid_mode=ON` where the flavor has such a mode.
    pub gtid: bool,
    /// True: `sync_binlog=1, innodb_flush_log_at_trx_commit=1`. False: 0 and 2.
    pub durable: bool,
    /// `binlog_row_image`.
    pub row_image: RowImage,
    /// `innodb_doublewrite`; the server's default when none is given.
    pub doublewrite: Option<Doublewrite>,
    /// `innodb_page_size`; the server's default when none is given.
    pub page_bytes: Option<u64>,
    /// Threads that apply beside the applier itself; of Slipstream all of them, even where one
    /// alone would be faster (`slipstream_parallel_adaptive=OFF`).
    pub replica_workers: u32,
    /// Whether a replica starts its threads by itself when the server starts.
    pub start_replica: bool,
    /// Further options, verbatim, after all others.
    pub extra: Vec<String>,
    /// The `slipstream` binary, for [`Flavor::Slipstream`]; the running one when none is given.
    pub slipstream: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            server_id: 1,
            pool_bytes: 128 << 20,
            redo_bytes: 256 << 20,
            log_bin: true,
            log_replica_updates: true,
            gtid: true,
            durable: true,
            row_image: RowImage::Full,
            doublewrite: None,
            page_bytes: None,
            replica_workers: 0,
            start_replica: false,
            extra: Vec::new(),
            slipstream: None,
        }
    }
}
