//! The binary log as files, and the dump sessions through which replicas read it.
//!
//! In: the engine's stream of committed event groups. Out: ordinary binary log files with their
//! index, and the same events over connections. There is one durable stream, the redo log. A
//! background writer derives the files from it, and no commit waits for them.
//!
//! Invariants:
//! - The files hold every committed group complete and in commit order, at positions that a crash
//!   does not change: groups that the checkpoint has not seen in a synced file are written again at
//!   the same positions ([`state::SafePoint`], `recover`).
//! - A file is complete and synced, and the redo log is synced up to the file's end, before the
//!   file's successor enters the index.
//! - A group is sent only when the redo log holds it as safely as `innodb_flush_log_at_trx_commit`
//!   asks for.
//!
//! The modules build on each other: `series` (the files and their index), then `files` (the series,
//! and the state that the writer, the sessions and the statements share). On these stand `recover`,
//! `writer`, `purge`, `reset`, `show` and `dump`, which do not know each other, except that others
//! use `purge`. `binary_log` owns all of them.

mod binary_log;
pub mod compression;
mod config;
mod dependencies;
mod disk_full;
pub mod dump;
pub mod error;
pub mod events;
mod failure;
mod files;
mod find;
mod lost;
mod mariadb_gtid;
mod passed;
mod position;
mod purge;
mod reading;
mod recent;
mod recover;
mod reset;
pub mod semi_sync;
mod sequence;
pub mod series;
pub mod show;
pub mod state;
mod tail;
mod writer;

pub use binary_log::Binlog;
pub use config::BinlogConfig;
pub use position::FilePosition;
pub use purge::{LogFile, LogStatus};
