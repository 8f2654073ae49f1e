//! The errors that end a measurement.

use std::fmt;
use std::time::Duration;

use protocol::client::ClientError;

use crate::instance::InstanceError;
use crate::sbtest::SbtestError;

/// How long a replica may make no progress before the run is given up.
pub const STALLED_AFTER: Duration = Duration::from_secs(120);

/// Why a measurement was given up.
#[derive(Debug)]
pub enum MeasureError {
    /// A server could not be started.
    Instance(InstanceError),
    /// The tables could not be made, or the load failed.
    Sbtest(SbtestError),
    /// A server refused a request: the server's name, the request, and the server's answer.
    Refused(String, String, ClientError),
    /// A thread of a replica stopped with an error: the replica's name, and the error.
    Broken(String, String),
    /// A replica made no progress for [`STALLED_AFTER`]: the replica's name, and its position.
    Stalled(String, String),
    /// A program that the kit runs failed: the program's name, and its message.
    Program(String, String),
    /// A result could not be written: the name of the file, and the error.
    NotWritten(String, std::io::Error),
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeasureError::Instance(error) => write!(f, "{error}"),
            MeasureError::Sbtest(error) => write!(f, "{error}"),
            MeasureError::Refused(who, what, error) => write!(f, "{who}: {what}: {error}"),
            MeasureError::Broken(who, error) => write!(f, "{who} stopped replicating: {error}"),
            MeasureError::Stalled(who, at) => {
                write!(f, "{who} got no further for {} s, it stands at {at}", STALLED_AFTER.as_secs())
            }
            MeasureError::Program(program, said) => write!(f, "{program}: {said}"),
            MeasureError::NotWritten(file, error) => write!(f, "writing {file}: {error}"),
        }
    }
}

impl std::error::Error for MeasureError {}

impl From<InstanceError> for MeasureError {
    fn from(error: InstanceError) -> MeasureError {
        MeasureError::Instance(error)
    }
}

impl From<SbtestError> for MeasureError {
    fn from(error: SbtestError) -> MeasureError {
        MeasureError::Sbtest(error)
    }
}
