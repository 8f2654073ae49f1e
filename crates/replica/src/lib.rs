//! Replication from a MySQL, MariaDB or Slipstream source: receiver, relay log, applier, positions.
//!
//! In: the source's binary log over a connection (`COM_BINLOG_DUMP`, `COM_BINLOG_DUMP_GTID`). Out:
//! transactions committed in the engine, each with its event group and the channel's position in
//! the one commit record.
//!
//! ```text
//! source -> receiver thread -> relay log files -> applier thread -> engine
//! ```
//!
//! Invariants:
//! - The position of a transaction is in the transaction's own commit record, so after any crash
//!   the engine says exactly what has been applied; the relay log of an earlier process is dropped
//!   and reception goes on from there (mysqld's `relay_log_recovery=ON`).
//! - Reception resumes at the end of the last complete event group, and the applier drops a group
//!   that a new connection, format description or GTID event interrupts: nothing is applied twice,
//!   nothing is left out.
//! - The applier never waits for the log's sync; a transaction that cannot be applied is wholly
//!   unapplied and stops the applier.
//!
//! From the bottom up: values (`config`, `settings`, `times`, `filter`, `gtid`, `until`, `status`);
//! `relay`; `channel`, which the threads of a channel and the statements about it share; the bodies
//! of the threads (`receiver`, `applier`); `replica` (one channel) and `channels` (all of them).

mod applier;
mod channel;
mod channel_name;
mod channels;
pub mod config;
pub mod error;
mod event;
pub mod filter;
mod gtid;
pub mod info;
mod receiver;
pub mod relay;
mod replica;
mod settings;
pub mod status;
mod times;
pub mod until;

pub use applier::{ApplySettings, ExecMode, Policy, SkippedErrors, TypeConversions};
pub use channels::Channels;
pub use replica::{Replica, Threads};
pub use settings::ReplicaSettings;
pub use times::CommitTimes;
