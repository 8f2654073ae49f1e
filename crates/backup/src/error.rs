//! The errors of backups and restores.

use std::fmt;
use std::io;
use std::path::Path;

use protocol::client::ClientError;

/// The reason why a backup or a restore ends.
#[derive(Debug)]
pub enum BackupError {
    /// A file or directory could not be read or written. The text names it.
    Io(String, io::Error),
    /// The object store refused something or could not be reached. The text names the object and
    /// says why.
    Store(String),
    /// A file that the manifest names is not there. The text names it.
    Missing(String),
    /// The server refused something or could not be reached.
    Server(ClientError),
    /// A file of the backup is not what the manifest says. The text names the file and what is
    /// wrong.
    Damaged(String),
    /// What is asked for cannot be done. The text says why, as a sentence.
    Refused(String),
}

/// A result with this error.
pub type Result<T> = std::result::Result<T, BackupError>;

impl BackupError {
    pub(crate) fn io(path: &Path, error: io::Error) -> BackupError {
        BackupError::Io(path.display().to_string(), error)
    }

    pub(crate) fn damaged(name: impl fmt::Display, what: impl fmt::Display) -> BackupError {
        BackupError::Damaged(format!("{name}: {what}"))
    }

    /// Says what an error of reading a file of a backup means. Errors of the decoders mean that the
    /// file is damaged.
    pub(crate) fn unread(name: &str, error: io::Error) -> BackupError {
        match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
                BackupError::damaged(name, error)
            }
            io::ErrorKind::NotFound => BackupError::Missing(format!("{name}: {error}")),
            _ => BackupError::Io(name.to_owned(), error),
        }
    }
}

impl fmt::Display for BackupError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackupError::Io(place, error) => write!(formatter, "{place}: {error}"),
            BackupError::Server(error) => write!(formatter, "the server: {error}"),
            BackupError::Store(what)
            | BackupError::Missing(what)
            | BackupError::Damaged(what)
            | BackupError::Refused(what) => formatter.write_str(what),
        }
    }
}

impl std::error::Error for BackupError {}

impl From<ClientError> for BackupError {
    fn from(error: ClientError) -> BackupError {
        BackupError::Server(error)
    }
}
