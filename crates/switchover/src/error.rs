//! How a switchover can end other than well.

use std::fmt;

use protocol::client::ClientError;

/// The end of a switchover that was not completed.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing has changed, for this reason.
    Unchanged(String),
    /// The replica was promoted, or may have been, and this is left to be done.
    Unfinished(String),
}

impl Outcome {
    /// Returns the process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Outcome::Unchanged(_) => 1,
            Outcome::Unfinished(_) => 3,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Unchanged(why) | Outcome::Unfinished(why) => write!(f, "{why}"),
        }
    }
}

/// The failure of a request to a member, with the member's name and what was asked.
#[derive(Debug)]
pub struct Failure {
    /// The description of the failure.
    pub what: String,
}

impl Failure {
    /// Builds the failure of a statement at a server.
    pub fn of(server: &str, doing: &str, error: &ClientError) -> Failure {
        Failure { what: format!("{server}: {doing}: {error}") }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
