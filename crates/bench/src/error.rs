//! Why a measurement is given up.

use std::fmt;
use std::time::Duration;

use protocol::client::ClientError;

use crate::instance::InstanceError;
use crate::sbtest::SbtestError;

/// How long a replica may stand still before the run is given up.
pub const STALLED_AFTER: Duration = Duration::from_secs(120);

/// Why a measurement was given up.
#[derive(Debug)]
pub enum MeasureError {
    /// A server could not be started.
    Instance(InstanceError),
    /// The tables or the load failed.
    Sbtest(SbtestError),
    /// A server refused something: its name, what, and its answer.
    Refused(String, String, ClientError),
    /// A replica's thread stopped with an error: the replica's name, and the error.
    Broken(String, String),
    /// A replica got no further for [`STALLED_AFTER`]: its name, and where it stands.
    Stalled(String, String),
    /// A program that the kit drives failed: which, and what it said.
    Program(String, String),
    /// A result could not be written: the file, and why.
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
