//! The errors of the binary log.

use std::fmt;
use std::io;

/// The reason why the binary log cannot be opened or written. [`crate::failure`] says what the
/// writer does about it.
#[derive(Debug)]
pub enum BinlogError {
    /// A file could not be used; the message names it.
    Io(io::Error),
    /// A file could not be synced; the message names it.
    Sync(io::Error),
    /// The engine's commit stream failed.
    Engine(engine::EngineError),
    /// A file and the log contradict each other, or an event is damaged.
    Damaged {
        /// The name of the file.
        file: String,
        /// The offset in the file.
        pos: u64,
        /// A description of the damage or contradiction.
        what: String,
    },
}

impl fmt::Display for BinlogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinlogError::Io(error) | BinlogError::Sync(error) => write!(f, "{error}"),
            BinlogError::Engine(error) => write!(f, "{error}"),
            BinlogError::Damaged { file, pos, what } => {
                write!(f, "binary log file '{file}', position {pos}: {what}")
            }
        }
    }
}

impl BinlogError {
    /// Reports whether a file is at fault, and not the redo log from which it is derived.
    pub(crate) fn is_of_a_file(&self) -> bool {
        matches!(self, BinlogError::Io(_) | BinlogError::Sync(_))
    }
}

impl std::error::Error for BinlogError {}

impl From<io::Error> for BinlogError {
    fn from(error: io::Error) -> BinlogError {
        BinlogError::Io(error)
    }
}

impl From<engine::EngineError> for BinlogError {
    fn from(error: engine::EngineError) -> BinlogError {
        BinlogError::Engine(error)
    }
}

/// The refusal of a statement or a dump request, with MySQL's number, SQLSTATE and wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// MySQL's error number.
    pub code: u16,
    /// The SQLSTATE, five characters.
    pub state: &'static str,
    /// MySQL's wording.
    pub message: String,
}

impl Refusal {
    /// Builds a refusal with this number and text, and SQLSTATE HY000.
    pub fn new(code: u16, message: impl Into<String>) -> Refusal {
        Refusal { code, state: "HY000", message: message.into() }
    }

    /// Builds error 1236 (`ER_SOURCE_FATAL_ERROR_READING_BINLOG`), after which a replica does not
    /// ask again.
    pub fn fatal_1236(message: impl Into<String>) -> Refusal {
        Refusal::new(1236, message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}
