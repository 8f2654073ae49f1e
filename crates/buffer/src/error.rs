//! The errors of pages and tablespaces. Every error names its place.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use redo::{Lsn, RedoError};

use crate::page::{PageNo, SpaceId};

/// An error of the buffer pool, its tablespaces or the doublewrite file.
#[derive(Debug)]
pub enum BufferError {
    /// An error of the operating system. Its text names the path.
    Io(io::Error),
    /// A page read from disk is not what was written there, and the doublewrite file had no copy of
    /// it.
    Corrupt {
        /// The tablespace's file.
        path: PathBuf,
        /// The number of the page in the tablespace.
        page_no: PageNo,
        /// What is wrong, as the middle of a sentence.
        reason: String,
    },
    /// The tablespace was made with another page size.
    PageSize {
        /// The tablespace's file.
        path: PathBuf,
        /// The page size in bytes that the tablespace was made with.
        found: u32,
        /// The page size of this server, in bytes.
        expected: u32,
    },
    /// The file is not a tablespace of this server.
    NotASpace {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong, as the middle of a sentence.
        reason: String,
    },
    /// No tablespace of this number is open.
    NoSuchSpace(SpaceId),
    /// A tablespace of this number is open already.
    SpaceInUse(SpaceId),
    /// The tablespace has no page numbers left.
    SpaceFull(PathBuf),
    /// The configuration cannot work. The text says why.
    Config(String),
    /// The log failed.
    Log(RedoError),
    /// A structure record of the log cannot be applied.
    BadRecord {
        /// The LSN at which the record begins.
        start_lsn: Lsn,
        /// What is wrong, as the middle of a sentence.
        reason: String,
    },
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, BufferError>;

impl BufferError {
    pub(crate) fn corrupt(path: &Path, page_no: PageNo, reason: impl Into<String>) -> BufferError {
        BufferError::Corrupt { path: path.to_owned(), page_no, reason: reason.into() }
    }
}

impl fmt::Display for BufferError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::Io(error) => error.fmt(formatter),
            BufferError::Corrupt { path, page_no, reason } => {
                write!(formatter, "{}: page {page_no} is damaged: {reason}", path.display())
            }
            BufferError::PageSize { path, found, expected } => write!(
                formatter,
                "{}: made with a page size of {found} bytes, but innodb_page_size is {expected}",
                path.display()
            ),
            BufferError::NotASpace { path, reason } => {
                write!(formatter, "{}: not a tablespace: {reason}", path.display())
            }
            BufferError::NoSuchSpace(space) => write!(formatter, "tablespace {space} is not open"),
            BufferError::SpaceInUse(space) => write!(formatter, "tablespace {space} exists already"),
            BufferError::SpaceFull(path) => {
                write!(formatter, "{}: the tablespace has no page numbers left", path.display())
            }
            BufferError::Config(what) => formatter.write_str(what),
            BufferError::Log(error) => error.fmt(formatter),
            BufferError::BadRecord { start_lsn, reason } => {
                write!(formatter, "the structure record at LSN {start_lsn} cannot be applied: {reason}")
            }
        }
    }
}

impl std::error::Error for BufferError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BufferError::Io(error) => Some(error),
            BufferError::Log(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for BufferError {
    fn from(error: io::Error) -> BufferError {
        BufferError::Io(error)
    }
}

impl From<RedoError> for BufferError {
    fn from(error: RedoError) -> BufferError {
        BufferError::Log(error)
    }
}
