//! Replication from a MySQL, MariaDB or Slipstream source: receiver, relay log, applier, positions.
//!
//! In: the source's binary log, which arrives over a connection (`COM_BINLOG_DUMP` or
//! `COM_BINLOG_DUMP_GTID`). Out: transactions that are committed in the engine. One commit record
//! holds a transaction's event group and the channel's position behind it.
//!
//! ```text
//! source -> receiver thread -> relay log files -> applier thread -> engine
//! ```
//!
//! Invariants:
//! - The position of a transaction is in the transaction's own commit record, so after any crash
//!   the engine says exactly what has been applied. The relay log of an earlier process is dropped,
//!   and reception goes on from the position in the engine (mysqld's `relay_log_recovery=ON`).
//! - Reception resumes at the end of the last complete event group, and the applier drops a group
//!   that a new connection, a format description or a GTID event interrupts. So no transaction is
//!   applied twice, and none is left out.
//! - The applier never waits for the redo log's sync. A transaction that cannot be applied is
//!   rolled back as a whole and stops the applier.
//!
//! The modules build on each other in this order: the values (`config`, `stores`, `settings`,
//! `times`, `filter`, `gtid`, `until`, `status`), then `relay`, then `channel`, which a channel's
//! threads and the statements about it share, then the bodies of the threads (`receiver`,
//! `applier`), and at the top `replica` (one channel) and `channels` (all of them).

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
pub mod stores;
mod times;
pub mod until;

pub use applier::{ApplySettings, ExecMode, Policy, SessionRows, SkippedErrors, TypeConversions};
pub use channels::Channels;
pub use receiver::Feed;
pub use replica::{Replica, Threads};
pub use settings::ReplicaSettings;
pub use times::CommitTimes;
