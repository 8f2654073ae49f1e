//! The way of a commit from a finished write set to a visible and durable transaction.
//!
//! The protocol, in the order in which a commit goes through it:
//!
//! 1. Row locks are held and the write set is complete. `log.free_check()` waits for log space with
//!    no latch held.
//! 2. Long values are placed on overflow pages ([`crate::overflow`]).
//! 3. [`sequencer::Sequencer::enter`] assigns the GTID and reserves the log space under one mutex,
//!    so that GTID order, log order and commit order are one. The end of the record is the commit's
//!    sequence number (`seq`). While commits are held back ([`hold`]) the commit waits here.
//! 4. The record ([`record`]) is copied into the log buffer.
//! 5. The rows are applied to leaf pages with `lsn = seq` ([`crate::apply`]).
//! 6. [`sequencer::Sequencer::complete`] moves the visible sequence number to the end of the
//!    longest prefix of completed commits.
//! 7. Row locks are released.
//! 8. The session waits for the log as `innodb_flush_log_at_trx_commit` says, and until its commit
//!    is visible. An applier waits for neither.
//!
//! Invariants:
//! - After step 3 a commit cannot fail: everything that can be refused (duplicate, missing row, too
//!   large, locks) was refused before. A page that cannot be read or written after step 3 stops the
//!   server, and the log then has the commit.
//! - While a commit is between steps 3 and 6 the checkpoint stays at or before the start of the
//!   commit's record.
//! - `seq` orders versions, so nothing is visible before everything with a smaller `seq` is.

pub(crate) mod group_delay;
pub(crate) mod handed_keys;
pub(crate) mod hold;
#[cfg(all(test, feature = "model"))]
mod model;
mod numbers;
pub(crate) mod pipeline;
pub(crate) mod position;
pub(crate) mod record;
pub(crate) mod sequencer;
pub(crate) mod sidecar;
pub(crate) mod stream;
