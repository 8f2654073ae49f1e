//! The tables: their schema, their size, how they are made, and how clients come to them.

use std::fmt;

use protocol::client::{Client, ClientError, ConnectOptions};

/// The schema of the tables, which is sysbench's default too.
pub const SCHEMA: &str = "sbtest";

/// How many tables, and rows in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Tables `sbtest1` to `sbtestN`.
    pub tables: u32,
    /// Rows in each.
    pub rows: u64,
}

/// What failed, where, and how.
#[derive(Debug)]
pub struct SbtestError {
    /// What was being done.
    pub doing: String,
    /// What the server or the connection said.
    pub cause: ClientError,
}

impl fmt::Display for SbtestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doing, self.cause)
    }
}

impl std::error::Error for SbtestError {}

/// Names what was being done when a client failed.
pub(crate) fn doing<T>(
    what: impl FnOnce() -> String,
    result: Result<T, ClientError>,
) -> Result<T, SbtestError> {
    result.map_err(|cause| SbtestError { doing: what(), cause })
}

/// The statement that makes table `number`, sysbench's own text but for the blanks.
pub fn create_table(number: u32) -> String {
    format!(
        "CREATE TABLE sbtest{number}(id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) /*! ENGINE = innodb */"
    )
}

/// Opens a session in the tables' schema.
pub fn connect(options: &ConnectOptions) -> Result<Client, SbtestError> {
    doing(|| format!("connecting to {:?}", options.address), Client::connect(&options.clone().schema(SCHEMA)))
}
