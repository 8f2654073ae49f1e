//! Checksums of tables, which can be compared between any two servers.

use std::fmt;

use protocol::client::{Client, ClientError};

use super::table::{SCHEMA, SbtestError, doing};

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
