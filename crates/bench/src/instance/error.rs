//! The errors of starting an instance.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use super::settings::Flavor;

/// The reason why an instance could not be started.
#[derive(Debug)]
pub enum InstanceError {
    /// The flavor is not on this machine: the flavor, and the reason.
    Unavailable(Flavor, String),
    /// The operating system refused a request: what was attempted, and the error.
    Io(String, io::Error),
    /// A process ended before it was ready: its name, its exit status, and the end of its log.
    Ended(String, ExitStatus, String),
    /// A server refused a statement of its setup: what was attempted, and the error.
    Refused(String, protocol::client::ClientError),
    /// A process did not answer in time: its name, how long the kit waited, and the end of its log.
    Silent(String, Duration, String),
}

impl fmt::Display for InstanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceError::Unavailable(flavor, why) => write!(f, "{flavor} is not available: {why}"),
            InstanceError::Io(what, error) => write!(f, "{what}: {error}"),
            InstanceError::Ended(what, status, log) => write!(f, "{what} ended with {status}:\n{log}"),
            InstanceError::Refused(what, error) => write!(f, "{what}: {error}"),
            InstanceError::Silent(what, after, log) => {
                write!(f, "{what} did not get ready within {} s:\n{log}", after.as_secs())
            }
        }
    }
}

impl std::error::Error for InstanceError {}
