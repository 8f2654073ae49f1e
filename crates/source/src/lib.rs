//! The binary log as files, and the dump sessions that replicas read it by.
//!
//! In: the engine's stream of committed event groups. Out: ordinary binary log files with their
//! index, and the same events over connections. There is one durable stream, the redo log; the
//! files are derived from it by a background writer, and no commit waits for them.
//!
//! Invariants:
//! - The files hold every committed group in commit order, complete, at places that a crash does
//!   not move: what the checkpoint has not seen safe in a synced file is put again where it was
//!   ([`state::SafePoint`], `recover`).
//! - A file is complete and synced, and so is the log up to its end, before its successor is in the
//!   index.
//! - A group is sent only when the log holds it as safely as `innodb_flush_log_at_trx_commit` asks
//!   for.
//!
//! From the bottom up: `series` (files and their index), `files` (they, and what the writer, the
//! sessions and the statements tell each other); on these `recover`, `writer`, `purge`, `reset`,
//! `show` and `dump`, which do not know one another but for `purge`; `binary_log` owns it all.

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
