//! Where a statement's result goes.
//!
//! A statement calls either [`ResultSink::ok`] once, or [`ResultSink::columns`], then
//! [`ResultSink::row`] for each row, then [`ResultSink::end_rows`]; or returns an error, possibly
//! after some rows. A text with several statements repeats this, with
//! [`status::MORE_RESULTS_EXISTS`] in the status of all but the last.

use crate::error::Result;
use types::{ColumnType, Value};

/// Bits of the status field of OK and EOF packets (`SERVER_STATUS_...`).
#[allow(missing_docs, reason = "the names are the protocol's own")]
pub mod status {
    pub const IN_TRANS: u16 = 0x0001;
    pub const AUTOCOMMIT: u16 = 0x0002;
    pub const MORE_RESULTS_EXISTS: u16 = 0x0008;
    pub const NO_GOOD_INDEX_USED: u16 = 0x0010;
    pub const NO_INDEX_USED: u16 = 0x0020;
    pub const DB_DROPPED: u16 = 0x0100;
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
    pub const METADATA_CHANGED: u16 = 0x0400;
    pub const PS_OUT_PARAMS: u16 = 0x1000;
    pub const IN_TRANS_READONLY: u16 = 0x2000;
    pub const SESSION_STATE_CHANGED: u16 = 0x4000;
}

/// Bits of a column's flags in its definition packet.
#[allow(missing_docs, reason = "the names are the protocol's own")]
pub mod column_flag {
    pub const NOT_NULL: u16 = 0x0001;
    pub const PRI_KEY: u16 = 0x0002;
    pub const UNIQUE_KEY: u16 = 0x0004;
    pub const MULTIPLE_KEY: u16 = 0x0008;
    pub const BLOB: u16 = 0x0010;
    pub const UNSIGNED: u16 = 0x0020;
    pub const ZEROFILL: u16 = 0x0040;
    pub const BINARY: u16 = 0x0080;
    pub const ENUM: u16 = 0x0100;
    pub const AUTO_INCREMENT: u16 = 0x0200;
    pub const TIMESTAMP: u16 = 0x0400;
    pub const SET: u16 = 0x0800;
    pub const NO_DEFAULT_VALUE: u16 = 0x1000;
    pub const ON_UPDATE_NOW: u16 = 0x2000;
    pub const PART_KEY: u16 = 0x4000;
}

/// A column of a result set.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMeta {
    /// Schema of the table it comes from; empty for an expression.
    pub schema: String,
    /// Alias of that table.
    pub table: String,
    /// The table's own name.
    pub org_table: String,
    /// Name or alias in the result.
    pub name: String,
    /// The column's own name; empty for an expression.
    pub org_name: String,
    /// Type of its values. ENUM and SET arrive as the text of their members, BIT as big-endian
    /// bytes, and TIMESTAMP as `Value::DateTime` in the session's time zone.
    pub ty: ColumnType,
    /// [`column_flag`] bits.
    pub flags: u16,
    /// Decimals shown: the scale, the fractional second digits, or 31 for a floating-point value
    /// without one.
    pub decimals: u8,
    /// It is an integer that a condition or a function makes. Clients are told of a BIGINT, and
    /// tables that are made of the result have an INT.
    pub is_made_integer: bool,
}

/// What an OK packet says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OkInfo {
    /// Rows changed (or found, with the client's flag FOUND_ROWS).
    pub affected_rows: u64,
    /// First generated value of an auto_increment column, or 0.
    pub last_insert_id: u64,
    /// Number of warnings.
    pub warnings: u16,
    /// [`status`] bits.
    pub status: u16,
    /// `Records: 3  Duplicates: 0  Warnings: 0` and the like; often empty.
    pub info: String,
}

/// What the packet at the end of a result set says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndOfRows {
    /// Number of warnings.
    pub warnings: u16,
    /// [`status`] bits.
    pub status: u16,
}

/// A whole result set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VirtualTable {
    /// Its columns; `schema` and `table` fields may be left empty.
    pub columns: Vec<ColumnMeta>,
    /// Its rows, as many values each as there are columns.
    pub rows: Vec<Vec<Value>>,
}

/// A file that the client has, for LOAD DATA LOCAL.
pub trait ClientFile {
    /// Asks the client for the file of this name. From here on [`ClientFile::next_piece`] is called
    /// until the file has ended, unless that fails.
    ///
    /// # Errors
    /// The connection broke.
    fn request(&mut self, name: &[u8]) -> Result<()>;

    /// Puts the next bytes into `into`, which is empty; none are the file's end.
    ///
    /// # Errors
    /// The connection broke.
    fn next_piece(&mut self, into: &mut Vec<u8>) -> Result<()>;
}

/// Receives results. An error that it returns (the connection broke, the packet is too large) ends
/// the statement.
pub trait ResultSink {
    /// Starts a result set.
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()>;
    /// One row, as many values as there are columns.
    fn row(&mut self, row: &[Value]) -> Result<()>;
    /// Ends the result set.
    fn end_rows(&mut self, end: EndOfRows) -> Result<()>;

    /// Ends the rows of a result set that was begun, if one was: a handler of a stored program has
    /// taken the error of the statement that it is of. Only what hands on the results of a program
    /// needs to know.
    ///
    /// # Errors
    /// As [`ResultSink::end_rows`].
    fn end_begun_rows(&mut self, _end: EndOfRows) -> Result<()> {
        Ok(())
    }
    /// The statement has no result set and is done.
    fn ok(&mut self, info: &OkInfo) -> Result<()>;

    /// What asks the client for its files; `None`: nobody who has any is there.
    fn client_file(&mut self) -> Option<&mut dyn ClientFile> {
        None
    }
}

/// Takes results that nobody reads, and keeps what the last statement has said of its rows.
#[derive(Default)]
pub(crate) struct Unread {
    pub affected_rows: u64,
}

impl ResultSink for Unread {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[Value]) -> Result<()> {
        Ok(())
    }

    fn end_rows(&mut self, _: EndOfRows) -> Result<()> {
        Ok(())
    }

    fn ok(&mut self, told: &OkInfo) -> Result<()> {
        self.affected_rows = told.affected_rows;
        Ok(())
    }
}
