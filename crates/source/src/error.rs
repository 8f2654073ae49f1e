//! What can go wrong with the binary log.

use std::fmt;
use std::io;

/// Why the binary log cannot be opened or written. The writer stops the server on these: a commit that the log has and its binary
/// log cannot get would be lost for replicas.
#[derive(Debug)]
pub enum BinlogError {
    /// A file could not be used; the message names it.
    Io(io::Error),
    /// The engine's commit stream failed.
    Engine(engine::EngineError),
    /// A file and the log contradict each other, or an event is damaged.
    Damaged {
        /// The file.
        file: String,
        /// Offset in it.
        pos: u64,
        /// What is wrong.
        what: String,
    },
}

impl fmt::Display for BinlogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinlogError::Io(error) => write!(f, "{error}"),
            BinlogError::Engine(error) => write!(f, "{error}"),
            BinlogError::Damaged { file, pos, what } => {
                write!(f, "binary log file '{file}', position {pos}: {what}")
            }
        }
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

/// A statement or a dump request that is refused: MySQL's number, SQLSTATE and wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// MySQL's error number.
    pub code: u16,
    /// SQLSTATE.
    pub state: &'static str,
    /// MySQL's wording.
    pub message: String,
}

impl Refusal {
    /// One with this number and text, SQLSTATE HY000.
    pub fn new(code: u16, message: impl Into<String>) -> Refusal {
        Refusal { code, state: "HY000", message: message.into() }
    }

    /// ER_SOURCE_FATAL_ERROR_READING_BINLOG: ends a dump for good.
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
