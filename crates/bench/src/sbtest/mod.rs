//! sysbench's tables and workloads, without sysbench: the same schema, the same distribution of
//! values, the same statements by prepared statements, so that the kit needs nothing but itself.
//!
//! Flows in: an open [`Session`] to any server. Flows out: filled tables, transactions, and
//! checksums that can be compared between any two servers. The rows of a table follow from the
//! seed, the table's number and its size.

mod fill;
mod random;
pub mod slap;
mod workload;

use std::fmt;

use protocol::client::{Client, ClientError, ConnectOptions};

pub use fill::{Filled, fill};
pub use random::{C_LEN, PAD_LEN, digits, special};
pub use workload::{Load, Loaded, Workload, run as run_workload};

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

/// Rows and a checksum of one table: the sum over all rows of the CRC-32 of the row's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// Rows.
    pub rows: u64,
    /// Sum of the rows' CRC-32.
    pub sum: u64,
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, {:016x}", self.rows, self.sum)
    }
}

/// The checksum of every table.
pub fn checksums(client: &mut Client, tables: u32) -> Result<Vec<Checksum>, SbtestError> {
    (1..=tables).map(|number| checksum(client, &format!("sbtest{number}"), "id, k, c, pad")).collect()
}

/// The checksum of one table, by statements that MySQL, MariaDB and Slipstream all answer alike.
pub(crate) fn checksum(client: &mut Client, table: &str, columns: &str) -> Result<Checksum, SbtestError> {
    let sql = format!("SELECT COUNT(*), SUM(CRC32(CONCAT_WS('#', {columns}))) FROM {SCHEMA}.{table}");
    let result = doing(|| format!("the checksum of {table}"), client.query(&sql))?;
    let number_at = |at| result.cell(0, at).and_then(|text| text.parse::<u64>().ok());
    // An empty table has no sum, but NULL.
    match (number_at(0), number_at(1)) {
        (Some(rows), sum) if rows == 0 || sum.is_some() => Ok(Checksum { rows, sum: sum.unwrap_or(0) }),
        _ => Err(SbtestError {
            doing: format!("the checksum of {table}"),
            cause: ClientError::Protocol(format!("no numbers in {:?}", result.rows)),
        }),
    }
}
