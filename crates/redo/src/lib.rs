//! The redo log: every commit and every change of a tree's structure is one record in it, and what
//! the log holds is what happened.
//!
//! The log is a stream of bytes, and an [`Lsn`] is an offset in it. A record is a frame of 16 bytes
//! (see [`frame`]) and a payload that this crate does not look into. `docs/formats/redo.md` has the
//! files byte by byte.
//!
//! **In.** [`Log::reserve`] takes the next bytes of the stream by one atomic addition, so the order
//! of calls is the order of the log. [`Reservation::fill`] copies the record into the log buffer
//! and publishes it. No lock is taken. A thread that needs its record safe calls
//! [`Log::wait_durable`] (or [`Log::commit_wait`], which does what `innodb_flush_log_at_trx_commit`
//! asks for). A thread that does not need to wait calls [`Log::request_durable`].
//!
//! **Out.** A thread that needs bytes written or synced and finds no other thread doing it does it
//! itself, so that a lone client pays for one write and one sync and no thread switch. `log_writer`
//! and `log_flusher` do it for threads that do not wait, and go on while requests keep coming. A
//! thread that finds another one writing or syncing waits for that one write or sync, whose end
//! wakes all sleeping threads at once. All records published by then go with one write, all bytes
//! written by then with one sync: that is the group commit. [`Log::read_from`] reads records back,
//! from the files, up to what is written.
//!
//! Invariants:
//! - Bytes are written in the order of the stream; `durable_lsn <= written_lsn <= current_lsn`, and
//!   none of them ever goes back.
//! - Nothing is appended after a failed write or sync: the log is poisoned, and
//!   [`os::disk::Disk::fail_stop`] ends the process.
//! - Between `reserve` and `fill` nobody may wait for anything: every later record's write waits
//!   for the fill.
//! - A file is recycled only after a checkpoint beyond all of it is durable, and not while a copy
//!   of the log ([`LogCopy`]) is still to read it, unless that copy is too far behind.
//! - A scan accepts a record only with the checksum of its own bytes, position and log life, so no
//!   remnant of an earlier lap or of a tail that a crash cut off is ever taken for a record.

mod checkpoint;
mod checksum;
mod config;
mod copy;
mod core;
mod error;
mod files;
mod flush;
mod frame;
mod hold;
mod log_handle;
mod lsn;
mod make_space;
#[cfg(all(test, feature = "model"))]
mod model;
mod open;
mod reader;
mod reserve;
mod ring;
mod rings;
mod space;
mod write;

pub use checkpoint::Checkpoint;
pub use config::LogConfig;
pub use copy::LogCopy;
pub use error::RedoError;
pub use log_handle::{Log, LogStatus, Opened};
pub use lsn::{Lsn, START_LSN};
pub use reader::{Batch, BatchRecord, LogReader, Record, RecordHead};
pub use reserve::Reservation;

/// The kinds of records. The log stores a kind's number and leaves its meaning to the code that
/// writes and replays the record.
pub mod kind {
    /// A change of a tree's structure or another physical change of pages.
    pub const STRUCTURE: u8 = 1;
    /// A committed transaction.
    pub const COMMIT: u8 = 2;
    /// The binary log goes on in a new file.
    pub const ROTATE: u8 = 3;
}
