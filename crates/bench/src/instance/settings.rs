//! What an instance is: the server software, and the settings it is started with.

use std::fmt;
use std::path::PathBuf;

/// The user that every instance has, with all privileges. The password is the same word.
pub const USER: &str = "kit";

/// Which server software an instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flavor {
    /// This project's own server.
    Slipstream,
    /// MariaDB: the machine's `mariadbd`.
    MariaDb,
    /// MySQL: `mysqld` in the chroot that `scripts/peers.sh` builds.
    MySql,
}

impl Flavor {
    /// Every flavor, Slipstream first.
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

/// What the binary log holds of a changed row (`binlog_row_image`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowImage {
    /// All columns, before and after the change.
    Full,
    /// The key before the change, and the changed columns after it.
    Minimal,
    /// All columns except unchanged BLOBs.
    NoBlob,
}

impl RowImage {
    /// Returns the value of the option.
    pub fn name(self) -> &'static str {
        match self {
            RowImage::Full => "FULL",
            RowImage::Minimal => "MINIMAL",
            RowImage::NoBlob => "NOBLOB",
        }
    }
}

/// How pages are protected against torn writes (`innodb_doublewrite`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doublewrite {
    /// No protection.
    Off,
    /// The server's own way.
    On,
    /// One shared buffer, as in servers before MySQL 8.0.20. Only Slipstream has this choice; the
    /// other servers take it as `On`.
    Legacy,
    /// A separate buffer for each writer. Only Slipstream has this choice; the other servers take
    /// it as `On`.
    Parallel,
}

impl Doublewrite {
    /// All ways of protection.
    pub const ALL: [Doublewrite; 4] =
        [Doublewrite::Off, Doublewrite::On, Doublewrite::Legacy, Doublewrite::Parallel];

    /// Returns the name of the choice, as the kit's option takes it.
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
    /// `server_id`. Source and replica must have different ones.
    pub server_id: u32,
    /// `innodb_buffer_pool_size`, in bytes.
    pub pool_bytes: u64,
    /// `innodb_redo_log_capacity` in bytes, or `innodb_log_file_size` on MariaDB.
    pub redo_bytes: u64,
    /// Whether the server keeps a binary log.
    pub log_bin: bool,
    /// Whether a replica writes what it applies to its own binary log. This takes effect only with
    /// `log_bin`.
    pub log_replica_updates: bool,
    /// Whether `gtid_mode` is ON, for flavors that have it.
    pub gtid: bool,
    /// Whether commits are durable: `sync_binlog=1, innodb_flush_log_at_trx_commit=1` if true, 0
    /// and 2 if false.
    pub durable: bool,
    /// `binlog_row_image`.
    pub row_image: RowImage,
    /// `innodb_doublewrite`. `None` means the server's default.
    pub doublewrite: Option<Doublewrite>,
    /// `innodb_page_size` in bytes. `None` means the server's default.
    pub page_bytes: Option<u64>,
    /// The number of worker threads of the applier. Slipstream always uses all of them, even where
    /// one alone would be faster (`slipstream_parallel_adaptive=OFF`).
    pub replica_workers: u32,
    /// Whether a replica starts its threads when the server starts.
    pub start_replica: bool,
    /// Further options, which are appended verbatim after all others.
    pub extra: Vec<String>,
    /// Variables of the environment that the server has beside those of this process.
    pub environment: Vec<(String, String)>,
    /// The path of the `slipstream` binary, for [`Flavor::Slipstream`]. `None` means the running
    /// program.
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
            environment: Vec::new(),
            slipstream: None,
        }
    }
}
