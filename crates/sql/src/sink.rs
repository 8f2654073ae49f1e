//! Sinks: where the result of a statement goes.
//!
//! A statement calls either [`ResultSink::ok`] once, or [`ResultSink::columns`], then
//! [`ResultSink::row`] for each row, then [`ResultSink::end_rows`]. Or it returns an error,
//! possibly after some rows. A text with several statements repeats this, with
//! [`status::MORE_RESULTS_EXISTS`] in the status of all but the last statement.

use crate::error::Result;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use types::row::{RowError, RowLayout};
use types::{ColumnType, Value};

/// The number of a bound statement, which no other one of the process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanNumber(NonZeroU64);

impl PlanNumber {
    /// Returns a number that none has yet.
    pub(crate) fn next() -> PlanNumber {
        // Relaxed: only that each number is given once counts.
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        PlanNumber(NonZeroU64::new(number).expect("the numbers do not come to their end"))
    }
}

/// The bits of the status field in OK and EOF packets (`SERVER_STATUS_...`).
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

/// The bits of a column's flags in its definition packet.
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
    /// The schema of the table that the column comes from. Empty for an expression.
    pub schema: String,
    /// The alias of that table.
    pub table: String,
    /// The table's own name.
    pub org_table: String,
    /// The name or alias in the result.
    pub name: String,
    /// The column's own name. Empty for an expression.
    pub org_name: String,
    /// The type of the values. ENUM and SET arrive as the text of their members, BIT as big-endian
    /// bytes, and TIMESTAMP as `Value::DateTime` in the session's time zone.
    pub ty: ColumnType,
    /// The [`column_flag`] bits.
    pub flags: u16,
    /// The number of decimals shown: the scale, the number of fractional digits of seconds, or 31
    /// for a floating-point value without a fixed number.
    pub decimals: u8,
}

/// The contents of an OK packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OkInfo {
    /// The number of rows changed, or found if the client has set the flag FOUND_ROWS.
    pub affected_rows: u64,
    /// The first generated value of an auto_increment column. 0 means none.
    pub last_insert_id: u64,
    /// The number of warnings.
    pub warnings: u16,
    /// The [`status`] bits.
    pub status: u16,
    /// A text such as `Records: 3  Duplicates: 0  Warnings: 0`. Often empty.
    pub info: String,
}

/// The contents of the packet at the end of a result set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndOfRows {
    /// The number of warnings.
    pub warnings: u16,
    /// The [`status`] bits.
    pub status: u16,
}

/// A complete result set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VirtualTable {
    /// The columns. Their fields `schema` and `table` may be left empty.
    pub columns: Vec<ColumnMeta>,
    /// The rows. Each has as many values as there are columns.
    pub rows: Vec<Vec<Value>>,
}

/// A row of a result whose values are columns of one stored row, in the form in which it is stored.
#[derive(Debug, Clone, Copy)]
pub struct StoredRow<'r> {
    /// The columns of the table.
    pub layout: &'r RowLayout,
    /// The full image of the table's row.
    pub image: &'r [u8],
    /// The column of the table that each column of the result is. Both have the same type, which is
    /// not TIMESTAMP.
    pub columns: &'r [usize],
}

impl StoredRow<'_> {
    /// Returns the row's values.
    ///
    /// # Errors
    /// Returns an error for an image that does not decode.
    pub fn values(&self) -> std::result::Result<Vec<Value>, RowError> {
        self.columns.iter().map(|column| self.layout.decode(self.image, *column)).collect()
    }
}

/// A file at the client, for LOAD DATA LOCAL.
pub trait ClientFile {
    /// Asks the client for the file with this name. If this succeeds, [`ClientFile::next_piece`]
    /// has to be called until the file has ended or the call fails.
    ///
    /// # Errors
    /// Returns an error when the connection broke.
    fn request(&mut self, name: &[u8]) -> Result<()>;

    /// Puts the next bytes of the file into `into`, which is empty. It stays empty at the end of
    /// the file.
    ///
    /// # Errors
    /// Returns an error when the connection broke.
    fn next_piece(&mut self, into: &mut Vec<u8>) -> Result<()>;
}

/// How grave a warning of the host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningLevel {
    /// A note, as on a statement that had nothing to do.
    Note,
    /// A warning.
    Warning,
}

/// A receiver of results. An error that it returns (the connection broke, the packet is too large)
/// ends the statement.
pub trait ResultSink {
    /// Starts a result set.
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()>;

    /// Starts a result set whose columns are those of a plan. No other columns ever have its
    /// number, so that a sink can know them again without a look at them.
    ///
    /// # Errors
    /// Returns the errors of [`ResultSink::columns`].
    fn plan_columns(&mut self, columns: &[ColumnMeta], _plan: PlanNumber) -> Result<()> {
        self.columns(columns)
    }

    /// Receives one row, which has as many values as there are columns.
    fn row(&mut self, row: &[Value]) -> Result<()>;

    /// Receives one row in the form in which it is stored. A sink that has a shorter way from there
    /// to its own form implements it.
    ///
    /// # Errors
    /// Returns the errors of [`ResultSink::row`], and an error for a damaged row.
    fn stored_row(&mut self, row: &StoredRow<'_>) -> Result<()> {
        self.row(&row.values()?)
    }

    /// Ends the result set.
    fn end_rows(&mut self, end: EndOfRows) -> Result<()>;

    /// Ends the rows of a result set if one was begun and not ended. This happens when a handler of
    /// a stored program takes the error of the statement that yields the rows. Only a sink that
    /// hands on the results of a program has to implement it.
    ///
    /// # Errors
    /// Returns the errors of [`ResultSink::end_rows`].
    fn end_begun_rows(&mut self, _end: EndOfRows) -> Result<()> {
        Ok(())
    }
    /// Receives the end of a statement without a result set. The sink may keep the text and leave
    /// an empty one behind.
    fn ok(&mut self, info: &mut OkInfo) -> Result<()>;

    /// Notes a warning of a statement that the host carries out, before the end of its result. A
    /// sink beyond which nobody asks for warnings need not keep it.
    fn warn(&mut self, _level: WarningLevel, _code: u16, _message: String) {}

    /// Returns what asks the client for its files. `None` if there is no client that could have
    /// files.
    fn client_file(&mut self) -> Option<&mut dyn ClientFile> {
        None
    }
}

/// A sink for results that nobody reads. It keeps the number of rows that the last statement
/// changed.
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

    fn ok(&mut self, told: &mut OkInfo) -> Result<()> {
        self.affected_rows = told.affected_rows;
        Ok(())
    }
}
