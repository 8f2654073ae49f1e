//! Checksums of tables, which can be compared between any two servers.

use std::fmt;

use protocol::client::{Client, ClientError};

use super::table::{SCHEMA, SbtestError, doing};

/// The number of rows of a table, and its checksum: the sum over all rows of the CRC-32 of the
/// row's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The number of rows.
    pub rows: u64,
    /// The sum of the CRC-32 of all rows.
    pub sum: u64,
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, {:016x}", self.rows, self.sum)
    }
}

/// Returns the checksum of every table.
pub fn checksums(client: &mut Client, tables: u32) -> Result<Vec<Checksum>, SbtestError> {
    (1..=tables).map(|number| checksum(client, &format!("sbtest{number}"), "id, k, c, pad")).collect()
}

/// Returns the checksum of one table, from a statement that MySQL, MariaDB and Slipstream all
/// answer alike.
pub(crate) fn checksum(client: &mut Client, table: &str, columns: &str) -> Result<Checksum, SbtestError> {
    let sql = format!("SELECT COUNT(*), SUM(CRC32(CONCAT_WS('#', {columns}))) FROM {SCHEMA}.{table}");
    let result = doing(|| format!("the checksum of {table}"), client.query(&sql))?;
    let number_at = |at| result.cell(0, at).and_then(|text| text.parse::<u64>().ok());
    // The sum over an empty table is NULL.
    match (number_at(0), number_at(1)) {
        (Some(rows), sum) if rows == 0 || sum.is_some() => Ok(Checksum { rows, sum: sum.unwrap_or(0) }),
        _ => Err(SbtestError {
            doing: format!("the checksum of {table}"),
            cause: ClientError::Protocol(format!("no numbers in {:?}", result.rows)),
        }),
    }
}
