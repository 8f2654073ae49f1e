//! `slipstream attach`: one command that makes a replica of a running MySQL or MariaDB source.
//!
//! In: a source's address and a Slipstream server, which is either fresh or has a copy that was
//! interrupted. Out: the source's schemas, rows and stored objects in that server, which then
//! follows the source.
//!
//! ```text
//! checks ─▶ definitions, position ─▶ rounds: chunks of rows │ the log is applied ─▶ STRICT
//! ```
//!
//! Invariants (decision 0061 has the proof that the copy converges):
//! - The position was visible before anything was read: MySQL's `gtid_executed`, or the position of
//!   a consistent snapshot in MariaDB's log.
//! - Rows are loaded here while the applier stands still, and only after the source has been seen
//!   to have everything that was applied here.
//! - A chunk and its table's progress are stored in one transaction, so after a crash each worker
//!   reads at most one chunk again.
//! - A table at the source and the table of the same name here are the same: the definitions of the
//!   tables of a round are held at the source, the log is applied up to a moment after that, and
//!   the progress of a table is kept under this server's engine's id of it, which a rename does not
//!   change.
//! - Nothing is written at the source, and nothing is held there except these definitions, for a
//!   few seconds at a time, the definition of a table that is read in one snapshot, and a lock on
//!   one table at a time, for a moment.
//! - The server stays in `replica_exec_mode=CONVERGE` until the applier has passed the end that the
//!   source's log had when the last row had been read.

mod accounts;
mod applying;
mod checks;
mod choice;
mod chunk;
mod command_line;
mod compare;
mod copy;
mod definitions;
mod encryption;
mod error;
mod local;
mod log_place;
mod moment;
mod objects;
mod rounds;
mod sequences;
mod snapshot;
mod source;
mod state;
mod time_zones;
mod verify;

pub use checks::{Finding, check, has_gtids};
pub use choice::Choice;
pub use command_line::{Plan, command, parse};
pub use copy::attach;
pub use error::AttachError;
pub use verify::verify;
