//! The errors of the statements that command a channel, and the errors of the channel's threads.

use std::fmt;

/// The refusal of a statement about a channel, with MySQL's number, SQLSTATE and wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelError {
    /// MySQL's error number.
    pub code: u16,
    /// The SQLSTATE, five characters.
    pub state: &'static str,
    /// MySQL's wording.
    pub message: String,
}

impl ChannelError {
    /// Builds an error with this number, SQLSTATE and text.
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

/// The reason why a replication thread stopped or waits, as `Last_IO_Error` and `Last_SQL_Error`
/// show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadError {
    /// MySQL's number (`Last_IO_Errno`, `Last_SQL_Errno`).
    pub number: u32,
    /// MySQL's wording.
    pub message: String,
    /// The time of the error, in microseconds of unix time.
    pub at_us: u64,
}

impl ThreadError {
    /// Reports whether the same transaction may well succeed when it is tried again, because a lock
    /// was not granted (1205) or a deadlock was found (1213).
    pub fn is_temporary(&self) -> bool {
        number::is_temporary(self.number)
    }

    /// Builds the error of a thread that has panicked. The work of that thread is rolled back, and
    /// START REPLICA begins again behind the last complete transaction.
    pub fn panicked(panic: &os::panic::Panicked) -> ThreadError {
        let text = format!("Fatal error: the thread has panicked, see the error log: {}", panic.0);
        ThreadError::now(number::REPLICA_FATAL_ERROR, text)
    }

    /// Builds an error whose time is the present moment.
    pub fn now(number: u32, message: impl Into<String>) -> ThreadError {
        ThreadError { number, message: message.into(), at_us: os::clock::now_us() }
    }
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Error_code: MY-{:06}", self.message, self.number)
    }
}

/// The error numbers of replication threads, as MySQL 8 and later have them.
pub mod number {
    /// Reports what [`super::ThreadError::is_temporary`] reports, for an error number.
    pub(crate) fn is_temporary(number: u32) -> bool {
        matches!(number, LOCK_WAIT_TIMEOUT | LOCK_DEADLOCK)
    }

    /// CR_CONN_HOST_ERROR: no connection to the source could be made.
    pub const CANT_CONNECT: u32 = 2003;
    /// CR_SSL_CONNECTION_ERROR: TLS with the source failed.
    pub const SSL_CONNECTION_ERROR: u32 = 2026;
    /// CR_AUTH_PLUGIN_ERR: the authentication at the source failed.
    pub const AUTH_PLUGIN_ERROR: u32 = 2061;
    /// ER_SERVER_SOURCE_FATAL_ERROR_READING_BINLOG: the source cannot serve the dump that this
    /// replica asks for.
    pub const SOURCE_FATAL_ERROR_READING_BINLOG: u32 = 13114;
    /// ER_REPLICA_FATAL_ERROR of the error log, which is also the error for equal server ids.
    pub const REPLICA_FATAL_ERROR: u32 = 13117;
    /// ER_REPLICA_RELAY_LOG_READ_FAILURE: the relay log, or an event in it, cannot be read.
    pub const RELAY_LOG_READ_FAILURE: u32 = 13121;
    /// ER_REPLICA_RELAY_LOG_WRITE_FAILURE: the receiver cannot write the relay log.
    pub const RELAY_LOG_WRITE_FAILURE: u32 = 13122;
    /// ER_REPLICA_SOURCE_COM_FAILURE: the source answered a command of the handshake with an error.
    pub const SOURCE_COM_FAILURE: u32 = 13124;
    /// ER_KEY_NOT_FOUND: this server does not have the row that an event changes or deletes.
    pub const KEY_NOT_FOUND: u32 = 1032;
    /// ER_DUP_ENTRY: a row with the same value of a unique key exists already.
    pub const DUP_ENTRY: u32 = 1062;
    /// ER_LOCK_WAIT_TIMEOUT: a lock was not granted in time.
    pub const LOCK_WAIT_TIMEOUT: u32 = 1205;
    /// ER_LOCK_DEADLOCK: the transaction was rolled back because of a deadlock.
    pub const LOCK_DEADLOCK: u32 = 1213;
    /// ER_COULD_NOT_APPLY_JSON_DIFF: an event's differences do not fit the JSON document.
    pub const COULD_NOT_APPLY_JSON_DIFF: u32 = 3648;
    /// ER_CORRUPTED_JSON_DIFF: an event's differences of a JSON document are damaged.
    pub const CORRUPTED_JSON_DIFF: u32 = 3649;
    /// ER_QUERY_INTERRUPTED: a wait was ended from outside.
    pub const QUERY_INTERRUPTED: u32 = 1317;
    /// ER_NO_SUCH_TABLE: this server does not have the table of an event.
    pub const NO_SUCH_TABLE: u32 = 1146;
    /// ER_SERVER_REPLICA_CONVERSION_FAILED: a column's type on the source cannot be converted to
    /// its type here. Before MySQL 8 the number was 1677.
    pub const CONVERSION_FAILED: u32 = 13146;
    /// ER_NOT_SUPPORTED_YET: the applier does not carry out events of this kind.
    pub const NOT_SUPPORTED_YET: u32 = 1235;
    /// ER_ERROR_ON_SOURCE: a statement was cut short at the source.
    pub const ERROR_ON_SOURCE: u32 = 3001;
    /// ER_INCONSISTENT_ERROR: a statement ended with another error than at the source.
    pub const INCONSISTENT_ERROR: u32 = 13113;
    /// ER_REPLICA_INCIDENT: the source says that its log has a gap.
    pub const INCIDENT: u32 = 1590;
    /// ER_ERROR_ON_WRITE: the engine could not take the transaction.
    pub const ERROR_ON_WRITE: u32 = 1026;
}
