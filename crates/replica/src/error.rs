//! Errors: of the statements that command a channel, and of its threads.

use std::fmt;

/// A statement about a channel that is refused, with MySQL's number, SQLSTATE and wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelError {
    /// MySQL's error number.
    pub code: u16,
    /// SQLSTATE.
    pub state: &'static str,
    /// MySQL's wording.
    pub message: String,
}

impl ChannelError {
    /// One with this number, SQLSTATE and text.
    pub fn new(code: u16, state: &'static str, message: impl Into<String>) -> ChannelError {
        ChannelError { code, state, message: message.into() }
    }
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.code, self.state, self.message)
    }
}

impl std::error::Error for ChannelError {}

/// Why a replication thread stopped or waits: what `Last_IO_Error` and `Last_SQL_Error` show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadError {
    /// MySQL's number (`Last_IO_Errno`, `Last_SQL_Errno`).
    pub number: u32,
    /// MySQL's wording.
    pub message: String,
    /// When, in microseconds of unix time.
    pub at_us: u64,
}

impl ThreadError {
    /// Whether the same transaction may well succeed when it is tried again: a lock was not granted
    /// (1205), or a deadlock found (1213).
    pub fn is_temporary(&self) -> bool {
        number::is_temporary(self.number)
    }

    /// The thread has panicked: what it did is rolled back, and START REPLICA begins again behind
    /// the last transaction that is complete.
    pub fn panicked(panic: &os::panic::Panicked) -> ThreadError {
        let text = format!("Fatal error: the thread has panicked, see the error log: {}", panic.0);
        ThreadError::now(number::REPLICA_FATAL_ERROR, text)
    }

    /// An error of this moment.
    pub fn now(number: u32, message: impl Into<String>) -> ThreadError {
        ThreadError { number, message: message.into(), at_us: os::clock::now_us() }
    }
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Error_code: MY-{:06}", self.message, self.number)
    }
}

/// Numbers of MySQL 8 and later for the errors of replication threads.
pub mod number {
    /// See [`super::ThreadError::is_temporary`].
    pub(crate) fn is_temporary(number: u32) -> bool {
        matches!(number, LOCK_WAIT_TIMEOUT | LOCK_DEADLOCK)
    }

    /// ER_ROW_IS_... a query or event that could not be carried out.
    pub const CANT_CONNECT: u32 = 2003;
    /// CR_SSL_CONNECTION_ERROR.
    pub const SSL_CONNECTION_ERROR: u32 = 2026;
    /// CR_AUTH_PLUGIN_ERR.
    pub const AUTH_PLUGIN_ERROR: u32 = 2061;
    /// ER_SERVER_SOURCE_FATAL_ERROR_READING_BINLOG.
    pub const SOURCE_FATAL_ERROR_READING_BINLOG: u32 = 13114;
    /// ER_REPLICA_FATAL_ERROR of the error log, as shown for equal server ids.
    pub const REPLICA_FATAL_ERROR: u32 = 13117;
    /// ER_REPLICA_RELAY_LOG_READ_FAILURE.
    pub const RELAY_LOG_READ_FAILURE: u32 = 13121;
    /// ER_REPLICA_RELAY_LOG_WRITE_FAILURE.
    pub const RELAY_LOG_WRITE_FAILURE: u32 = 13122;
    /// ER_REPLICA_SOURCE_COM_FAILURE.
    pub const SOURCE_COM_FAILURE: u32 = 13124;
    /// ER_KEY_NOT_FOUND.
    pub const KEY_NOT_FOUND: u32 = 1032;
    /// ER_DUP_ENTRY.
    pub const DUP_ENTRY: u32 = 1062;
    /// ER_LOCK_WAIT_TIMEOUT.
    pub const LOCK_WAIT_TIMEOUT: u32 = 1205;
    /// ER_LOCK_DEADLOCK.
    pub const LOCK_DEADLOCK: u32 = 1213;
    /// ER_COULD_NOT_APPLY_JSON_DIFF.
    pub const COULD_NOT_APPLY_JSON_DIFF: u32 = 3648;
    /// ER_CORRUPTED_JSON_DIFF.
    pub const CORRUPTED_JSON_DIFF: u32 = 3649;
    /// ER_QUERY_INTERRUPTED.
    pub const QUERY_INTERRUPTED: u32 = 1317;
    /// ER_NO_SUCH_TABLE.
    pub const NO_SUCH_TABLE: u32 = 1146;
    /// ER_SERVER_REPLICA_CONVERSION_FAILED, which was 1677 before MySQL 8.
    pub const CONVERSION_FAILED: u32 = 13146;
    /// ER_BINLOG_ROW_... an event that the applier does not carry out.
    pub const NOT_SUPPORTED_YET: u32 = 1235;
    /// ER_REPLICA_INCIDENT.
    pub const INCIDENT: u32 = 1590;
    /// ER_REPLICA_RELAY_LOG_READ... the engine could not take the transaction.
    pub const ERROR_ON_WRITE: u32 = 1026;
}
