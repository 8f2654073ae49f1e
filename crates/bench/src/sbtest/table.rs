//! The tables of the loads: their schema, their size, their definition, and sessions in their
//! schema.

use std::fmt;

use protocol::client::{Client, ClientError, ConnectOptions};

/// The schema of the tables, which is also sysbench's default.
pub const SCHEMA: &str = "sbtest";

/// The number of tables, and of rows in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of tables, which are called `sbtest1`, `sbtest2` and so on.
    pub tables: u32,
    /// The number of rows in each table.
    pub rows: u64,
}

/// An error of filling, loading or comparing the tables.
#[derive(Debug)]
pub struct SbtestError {
    /// What was being done.
    pub doing: String,
    /// The error of the server or of the connection.
    pub cause: ClientError,
}

impl fmt::Display for SbtestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doing, self.cause)
    }
}

impl std::error::Error for SbtestError {}

/// Adds what was being done to the error of a client.
pub(crate) fn doing<T>(
    what: impl FnOnce() -> String,
    result: Result<T, ClientError>,
) -> Result<T, SbtestError> {
    result.map_err(|cause| SbtestError { doing: what(), cause })
}

/// Returns the statement that makes table `number`. Its text is sysbench's own except for white
/// space.
pub fn create_table(number: u32) -> String {
    format!(
        "CREATE TABLE sbtest{number}(id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) /*! ENGINE = innodb */"
    )
}

/// Opens a session whose default schema is that of the tables.
pub fn connect(options: &ConnectOptions) -> Result<Client, SbtestError> {
    doing(|| format!("connecting to {:?}", options.address), Client::connect(&options.clone().schema(SCHEMA)))
}
