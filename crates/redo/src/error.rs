//! The errors of the log.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::Lsn;

/// An error of the log.
#[derive(Debug, Clone)]
pub enum RedoError {
    /// A file operation failed. The text names the file and the operation.
    Io(String),
    /// The disk is full. The text names the file.
    DiskFull(String),
    /// A write or sync of the log failed earlier. Nothing more is written, and waits fail with the
    /// first cause, which is the text.
    Poisoned(String),
    /// What is on disk is not a log that can be opened. The text names the place.
    Corrupt(String),
    /// [`crate::Log::create`] found a log in this directory.
    Exists(PathBuf),
    /// [`crate::Log::open`] found no log in this directory.
    Missing(PathBuf),
    /// The record does not fit into the log's capacity. Nothing was reserved.
    RecordTooLarge {
        /// The length in bytes of the payload that was asked for.
        payload_bytes: u64,
        /// The length in bytes of the longest payload that the capacity allows.
        max_payload_bytes: u64,
    },
    /// A reader's position is no longer in the log, because the checkpoint has passed it.
    Gone {
        /// The position of the reader.
        lsn: Lsn,
        /// The oldest position that is still in the log.
        oldest_lsn: Lsn,
    },
}

impl fmt::Display for RedoError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RedoError::Io(what) | RedoError::DiskFull(what) => write!(formatter, "redo log: {what}"),
            RedoError::Poisoned(cause) => write!(formatter, "redo log: stopped after a failure: {cause}"),
            RedoError::Corrupt(place) => write!(formatter, "redo log: corrupt: {place}"),
            RedoError::Exists(dir) => write!(formatter, "redo log: {} has a log already", dir.display()),
            RedoError::Missing(dir) => write!(formatter, "redo log: {} has no log", dir.display()),
            RedoError::RecordTooLarge { payload_bytes, max_payload_bytes } => write!(
                formatter,
                "redo log: a record of {payload_bytes} bytes exceeds the {max_payload_bytes} that the capacity allows"
            ),
            RedoError::Gone { lsn, oldest_lsn } => {
                write!(formatter, "redo log: position {lsn} is gone, the oldest is {oldest_lsn}")
            }
        }
    }
}

impl std::error::Error for RedoError {}

impl From<io::Error> for RedoError {
    fn from(error: io::Error) -> RedoError {
        match error.kind() {
            io::ErrorKind::StorageFull => RedoError::DiskFull(error.to_string()),
            _ => RedoError::Io(error.to_string()),
        }
    }
}
