//! `slipstream attach`: a replica of a MySQL or MariaDB source that runs, made by one command.
//!
//! Flows in: a source's address and a server of ours, fresh or one whose copy was interrupted.
//! Flows out: the source's schemas, rows and stored objects in that server, which then follows the
//! source.
//!
//! ```text
//! checks ─▶ definitions, position ─▶ rounds: chunks of rows │ the log is applied ─▶ STRICT
//! ```
//!
//! Invariants (decision 0061 has the proof that the copy converges):
//! - The position is one that was visible before anything was read: MySQL's `gtid_executed`, the
//!   place of a consistent snapshot in MariaDB's log.
//! - Rows are put here while the applier stands still, and only once the source has shown to have
//!   everything that was applied here.
//! - A chunk and how far its table is are one transaction: after a crash at most one chunk of each
//!   worker is read again.
//! - A name at the source and the same name here are the same table: the definitions of the tables
//!   of a round are held at the source, the log is applied to a moment behind that, and how far a
//!   table is, is known by our engine's number of it, which stays when it is renamed.
//! - Nothing is written at the source, and nothing is held there but these definitions, for a few
//!   seconds at a time.
//! - The server stays in `replica_exec_mode=CONVERGE` until the applier has passed the end that the
//!   source's log had when the last row had been read.

mod accounts;
mod checks;
mod chunk;
mod command_line;
mod copy;
mod definitions;
mod error;
mod local;
mod log_place;
mod moment;
mod objects;
mod source;
mod state;
mod time_zones;

pub use checks::{Finding, check};
pub use command_line::{Plan, command, parse};
pub use copy::attach;
pub use error::AttachError;
