//! The reasons why an attachment is given up.

use std::fmt;

use protocol::client::ClientError;

/// The reason why an attachment was given up. What has been copied stays, and the same command
/// continues it.
#[derive(Debug)]
pub enum AttachError {
    /// The source refused a statement: its purpose, and the answer.
    Source(String, ClientError),
    /// This server refused a statement: its purpose, and the answer.
    Local(String, ClientError),
    /// The applier or the receiver stopped with an error.
    Stopped(String),
    /// The source cannot be copied as it is.
    Unfit(String),
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::Source(what, error @ ClientError::Tls(_)) => {
                write!(f, "the source: {what}: ERROR 2026 (HY000): {error}")
            }
            AttachError::Source(what, error) => write!(f, "the source: {what}: {error}"),
            AttachError::Local(what, error) => write!(f, "the new replica: {what}: {error}"),
            AttachError::Stopped(why) => write!(f, "replication stopped: {why}"),
            AttachError::Unfit(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for AttachError {}

/// The result of an attachment or of a part of it.
pub type Result<T> = std::result::Result<T, AttachError>;
