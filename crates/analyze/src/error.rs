//! The reasons why a log could not be analyzed.

use std::io;

use binlog::DecodeError;
use protocol::client::ClientError;

/// The reason why a log could not be analyzed.
#[derive(Debug)]
pub enum AnalyzeError {
    /// A file could not be read.
    File(io::Error),
    /// The bytes at this position of a file are no event, or not the event that they claim to be.
    Event {
        /// The path of the file.
        file: String,
        /// The offset in the file where the event begins.
        pos: u64,
        /// The description of the error, and the byte of the event at which it is.
        error: DecodeError,
    },
    /// The file is encrypted.
    Encrypted(String),
    /// A directory has nothing to read, or too much.
    Directory(String),
    /// A server could not be reached, or refused a request.
    Server(ClientError),
    /// The source sent something that it must not send.
    Stream(String),
    /// The log has more row changes than can be counted.
    TooLarge,
}

impl std::fmt::Display for AnalyzeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AnalyzeError::File(error) => write!(f, "{error}"),
            AnalyzeError::Event { file, pos, error } => write!(f, "{file}, event at {pos}: {error}"),
            AnalyzeError::Encrypted(file) => write!(f, "{file} is encrypted"),
            AnalyzeError::Directory(what) | AnalyzeError::Stream(what) => f.write_str(what),
            AnalyzeError::Server(error) => write!(f, "{error}"),
            AnalyzeError::TooLarge => {
                f.write_str("more than 4 billion row changes; take a part of the log with --limit")
            }
        }
    }
}

impl std::error::Error for AnalyzeError {}

impl From<io::Error> for AnalyzeError {
    fn from(error: io::Error) -> AnalyzeError {
        AnalyzeError::File(error)
    }
}

impl From<ClientError> for AnalyzeError {
    fn from(error: ClientError) -> AnalyzeError {
        AnalyzeError::Server(error)
    }
}
