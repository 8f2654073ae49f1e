//! The errors of the engine, as one enum in the engine's own words. Crate `sql` gives each of them
//! MySQL's number.

use std::fmt;

/// The failure of an engine operation. The failed operation leaves nothing behind unless a variant
/// says otherwise.
#[derive(Debug)]
pub enum EngineError {
    /// A row with this key exists already (MySQL 1062).
    Duplicate {
        /// `schema.table` of the row.
        table: String,
        /// Name of the violated index, `PRIMARY` for the primary key.
        index: String,
        /// The key as MySQL prints it: column texts joined by `-`.
        key: String,
    },
    /// A row has no parent row (MySQL 1452). The text names the table and the constraint.
    NoParentRow(String),
    /// A row that is to be deleted, or whose key is to change, has child rows (MySQL 1451).
    HasChildRows {
        /// The table and the constraint that the change would violate.
        constraint: String,
        /// Whether nothing of the change has been done yet.
        is_undone: bool,
    },
    /// A cascade over child rows and their child rows has too many levels (MySQL 3008). The
    /// statement is to be rolled back.
    CascadeTooDeep,
    /// The row that a change names does not exist (MySQL 1032).
    RowNotFound {
        /// `schema.table` of the row.
        table: String,
        /// The key of the row as text.
        key: String,
    },
    /// A row lock or metadata lock was not granted in time (MySQL 1205). The statement is to be
    /// rolled back.
    LockWaitTimeout,
    /// Waiting would have closed a cycle of waits (MySQL 1213). The transaction is to be rolled
    /// back.
    Deadlock,
    /// A row is locked, and the reader does not want to wait (MySQL 3572).
    LockNotAvailable,
    /// The session was killed while it waited (MySQL 1317).
    Interrupted,
    /// The schema does not exist (MySQL 1049).
    UnknownSchema(String),
    /// The schema exists already (MySQL 1007).
    SchemaExists(String),
    /// The table does not exist (MySQL 1146).
    UnknownTable(String, String),
    /// The table exists already (MySQL 1050).
    TableExists(String),
    /// DDL changed the table since the caller looked it up (MySQL 1412). The caller must look it up
    /// again.
    TableChanged(String),
    /// The engine cannot hold this definition (MySQL 1031 or 1105). The text says what it cannot
    /// hold and why.
    BadDefinition(String),
    /// A row is larger than a page can hold even with its long columns off page (MySQL 1118).
    RowTooLarge {
        /// The row's length in bytes.
        bytes: usize,
        /// The largest length that fits, in bytes.
        limit: usize,
    },
    /// The definition of a table is longer than the dictionary can hold (MySQL 1117, which in MySQL
    /// also counts the bytes that describe columns).
    TableTooLarge,
    /// The definition of a view is longer than the dictionary can hold (MySQL 1406).
    ViewTooLarge,
    /// The definition of the trigger, routine or event of this name is longer than the dictionary
    /// can hold (MySQL 1437).
    BodyTooLarge(String),
    /// An index key is longer than a page can hold (MySQL 1071).
    KeyTooLong {
        /// The key's length in bytes.
        bytes: usize,
        /// The largest length that fits, in bytes.
        limit: usize,
    },
    /// The transaction's event group is over `max_binlog_cache_size` (MySQL 1197). The transaction
    /// is to be rolled back.
    TransactionTooLarge {
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// An auto-increment column has no value left (MySQL 1467).
    AutoIncrementExhausted,
    /// Other sessions changed the table too much while an index of it was being built (MySQL 1799).
    OnlineLogTooBig {
        /// The name of the first index that was being built.
        index: String,
    },
    /// The transaction is read only (MySQL 1792).
    ReadOnlyTransaction,
    /// The transaction's snapshot needs versions of rows that memory had no room for (MySQL 3170).
    /// The transaction can read no more.
    SnapshotTooOld {
        /// The value of `slipstream_version_memory_limit`, in bytes.
        limit_bytes: u64,
    },
    /// No snapshot slot is free: too many transactions are reading at once (MySQL 1040).
    TooManySnapshots,
    /// A received event does not fit the table (MySQL 1677).
    Incompatible {
        /// `schema.table` of the rows.
        table: String,
        /// The part that does not fit, and why.
        reason: String,
    },
    /// The caller's own conversion of a value raised an error, with MySQL's number and message.
    Statement {
        /// MySQL's error number.
        code: u16,
        /// MySQL's message.
        message: String,
    },
    /// A transaction that is applied ahead needs something that it can only have in its turn. It is
    /// to be applied again in its turn.
    NeedsTurn,
    /// The GTID was executed before, so that the transaction is to be skipped silently, or the GTID
    /// cannot be used. The text says why.
    GtidUnusable(String),
    /// This server has no number left for a new GTID (MySQL 1775).
    GtidsExhausted,
    /// `super_read_only`, or else `read_only`, was turned on before the session's transaction had
    /// its place in the log (MySQL 1290).
    ServerIsReadOnly {
        /// True for `super_read_only`.
        for_all: bool,
    },
    /// There is an XA transaction with this XID already (MySQL 1440).
    XidExists,
    /// No prepared XA transaction has this XID (MySQL 1397).
    UnknownXid,
    /// A copy of the data directory is being made already (MySQL 3634).
    CopyRunning,
    /// A copy of the data directory would not be one state of the server. The text says why.
    CopyUnusable(String),
    /// The data directory cannot be used. The text says where the trouble is and what it is.
    Datadir(String),
    /// Stored or received bytes are not what they must be. The text says where they are and what is
    /// wrong.
    Corrupt(String),
    /// A row image does not decode.
    Row(types::row::RowError),
    /// A binary log event does not decode.
    Event(String),
    /// The redo log failed.
    Redo(redo::RedoError),
    /// The trees or the pages under them failed.
    Pages(btree::TreeError),
    /// The disk, or the table's file, has no room for more (MySQL 1114).
    TableFull(String),
    /// The operating system refused an operation on the file or directory that the text names.
    Io(String, std::io::Error),
}

/// The largest number of levels of a foreign key cascade, which is InnoDB's `FK_MAX_CASCADE_DEL`.
pub(crate) const MAX_CASCADE_DEPTH: usize = 15;

impl EngineError {
    /// Turns an error of the pages of `table` into an engine error. A full disk or file becomes
    /// [`EngineError::TableFull`].
    pub(crate) fn of_pages_of(table: &str, error: btree::TreeError) -> EngineError {
        match &error {
            btree::TreeError::Buffer(buffer::BufferError::Io(io))
                if io.kind() == std::io::ErrorKind::StorageFull =>
            {
                EngineError::TableFull(table.to_owned())
            }
            btree::TreeError::Buffer(buffer::BufferError::SpaceFull(_)) => {
                EngineError::TableFull(table.to_owned())
            }
            _ => EngineError::Pages(error),
        }
    }

    /// Reports whether a statement with IGNORE leaves the row out and goes on.
    pub fn is_ignorable(&self) -> bool {
        matches!(
            self,
            EngineError::Duplicate { .. }
                | EngineError::NoParentRow(_)
                | EngineError::HasChildRows { is_undone: true, .. }
        )
    }

    /// Reports whether the error says that the disk is full.
    pub fn is_disk_full(&self) -> bool {
        let io = match self {
            EngineError::Io(_, io) => io,
            EngineError::Pages(btree::TreeError::Buffer(buffer::BufferError::Io(io))) => io,
            _ => return false,
        };
        io.kind() == std::io::ErrorKind::StorageFull
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Duplicate { table, index, key } => {
                write!(f, "Duplicate entry '{key}' for key '{}.{index}'", unqualified(table))
            }
            EngineError::NoParentRow(constraint) => {
                write!(f, "Cannot add or update a child row: a foreign key constraint fails ({constraint})")
            }
            EngineError::HasChildRows { constraint, .. } => {
                write!(
                    f,
                    "Cannot delete or update a parent row: a foreign key constraint fails ({constraint})"
                )
            }
            EngineError::CascadeTooDeep => {
                write!(f, "Foreign key cascade delete/update exceeds max depth of {MAX_CASCADE_DEPTH}.")
            }
            EngineError::RowNotFound { table, key } => {
                write!(f, "Can't find record with key '{key}' in '{table}'")
            }
            EngineError::LockWaitTimeout => {
                write!(f, "Lock wait timeout exceeded; try restarting transaction")
            }
            EngineError::Deadlock => {
                write!(f, "Deadlock found when trying to get lock; try restarting transaction")
            }
            EngineError::LockNotAvailable => write!(
                f,
                "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set."
            ),
            EngineError::OnlineLogTooBig { index } => write!(
                f,
                "Creating index '{index}' required more than 'innodb_online_alter_log_max_size' bytes of \
                 modification log. Please try again."
            ),
            EngineError::Interrupted => write!(f, "Query execution was interrupted"),
            EngineError::UnknownSchema(name) => write!(f, "Unknown database '{name}'"),
            EngineError::SchemaExists(name) => write!(f, "Can't create database '{name}'; database exists"),
            EngineError::UnknownTable(schema, table) => write!(f, "Table '{schema}.{table}' doesn't exist"),
            EngineError::TableExists(name) => write!(f, "Table '{name}' already exists"),
            EngineError::TableChanged(name) => {
                write!(f, "Table definition of '{name}' has changed, please retry transaction")
            }
            EngineError::BadDefinition(what) => write!(f, "{what}"),
            EngineError::RowTooLarge { bytes, limit } => {
                write!(f, "Row size too large ({bytes} bytes > {limit})")
            }
            EngineError::TableTooLarge => write!(f, "Too many columns"),
            EngineError::ViewTooLarge => write!(f, "Data too long for column 'view_definition' at row 1"),
            EngineError::BodyTooLarge(name) => write!(f, "Routine body for '{name}' is too long"),
            EngineError::KeyTooLong { bytes, limit } => {
                write!(f, "Specified key was too long ({bytes} bytes); max key length is {limit} bytes")
            }
            EngineError::TransactionTooLarge { limit_bytes } => write!(
                f,
                "Multi-statement transaction required more than 'max_binlog_cache_size' bytes of storage \
                 ({limit_bytes}); increase this mysqld variable and try again"
            ),
            EngineError::AutoIncrementExhausted => {
                write!(f, "Failed to read auto-increment value from storage engine")
            }
            EngineError::ReadOnlyTransaction => {
                write!(f, "Cannot execute statement in a READ ONLY transaction")
            }
            EngineError::SnapshotTooOld { limit_bytes } => write!(
                f,
                "Memory capacity of {limit_bytes} bytes for 'slipstream_version_memory_limit' exceeded. \
                 The snapshot is too old; restart the transaction."
            ),
            EngineError::NeedsTurn => write!(f, "The transaction cannot be applied ahead of its turn"),
            EngineError::TooManySnapshots => write!(f, "Too many transactions read at the same time"),
            EngineError::Incompatible { table, reason } => write!(f, "Table '{table}': {reason}"),
            EngineError::Statement { message, .. } => write!(f, "{message}"),
            EngineError::GtidUnusable(why) => write!(f, "{why}"),
            EngineError::GtidsExhausted => write!(
                f,
                "Impossible to generate GTID: the integer component reached the maximum value. Restart the server with a new server_uuid."
            ),
            EngineError::ServerIsReadOnly { for_all } => {
                write!(
                    f,
                    "The server is read only ({})",
                    if *for_all { "super_read_only" } else { "read_only" }
                )
            }
            EngineError::XidExists => write!(f, "XAER_DUPID: The XID already exists"),
            EngineError::UnknownXid => write!(f, "XAER_NOTA: Unknown XID"),
            EngineError::CopyRunning => {
                write!(f, "Too many concurrent clone operations. Maximum allowed - 1.")
            }
            EngineError::Datadir(what) | EngineError::Corrupt(what) | EngineError::CopyUnusable(what) => {
                write!(f, "{what}")
            }
            EngineError::Row(error) => write!(f, "{error}"),
            EngineError::Event(what) => write!(f, "{what}"),
            EngineError::Redo(error) => write!(f, "redo log: {error}"),
            EngineError::Pages(error) => write!(f, "{error}"),
            EngineError::TableFull(table) => write!(f, "The table '{table}' is full"),
            EngineError::Io(place, error) => write!(f, "{place}: {error}"),
        }
    }
}

/// Returns the table's name without its schema, as MySQL prints it in `for key 'table.index'`.
fn unqualified(table: &str) -> &str {
    table.split_once('.').map_or(table, |(_, name)| name)
}

impl std::error::Error for EngineError {}

impl From<binlog::DecodeError> for EngineError {
    fn from(error: binlog::DecodeError) -> EngineError {
        EngineError::Corrupt(format!("an event group: {error}"))
    }
}

impl From<types::row::RowError> for EngineError {
    fn from(error: types::row::RowError) -> EngineError {
        EngineError::Row(error)
    }
}

impl From<redo::RedoError> for EngineError {
    fn from(error: redo::RedoError) -> EngineError {
        EngineError::Redo(error)
    }
}

impl From<btree::TreeError> for EngineError {
    fn from(error: btree::TreeError) -> EngineError {
        EngineError::Pages(error)
    }
}

impl From<buffer::BufferError> for EngineError {
    fn from(error: buffer::BufferError) -> EngineError {
        EngineError::Pages(btree::TreeError::Buffer(error))
    }
}

impl From<types::packed::PackedError> for EngineError {
    fn from(error: types::packed::PackedError) -> EngineError {
        EngineError::Corrupt(error.to_string())
    }
}

/// The result of an engine operation.
pub type Result<T> = std::result::Result<T, EngineError>;
