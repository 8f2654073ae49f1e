//! The engine's errors as MySQL's numbers and texts.

use crate::error::SqlError;
use engine::EngineError;

impl From<EngineError> for SqlError {
    fn from(error: EngineError) -> SqlError {
        let message = error.to_string();
        let code = match &error {
            EngineError::Duplicate { .. } => 1062,
            EngineError::NoParentRow(_) => 1452,
            EngineError::HasChildRows { .. } => 1451,
            EngineError::CascadeTooDeep => 3008,
            EngineError::RowNotFound { .. } => 1032,
            EngineError::LockWaitTimeout => 1205,
            EngineError::Deadlock => 1213,
            EngineError::LockNotAvailable => 3572,
            EngineError::Interrupted => 1317,
            EngineError::UnknownSchema(_) => 1049,
            EngineError::SchemaExists(_) => 1007,
            EngineError::UnknownTable(..) => 1146,
            EngineError::TableExists(_) => 1050,
            EngineError::TableChanged(_) => 1412,
            EngineError::BadDefinition(_) => 1105,
            EngineError::RowTooLarge { .. } => 1118,
            EngineError::KeyTooLong { .. } => 1071,
            EngineError::TableTooLarge => 1117,
            EngineError::ViewTooLarge => 1406,
            EngineError::BodyTooLarge(_) => 1437,
            EngineError::TransactionTooLarge { .. } => 1197,
            EngineError::AutoIncrementExhausted => 1467,
            EngineError::OnlineLogTooBig { .. } => 1799,
            EngineError::ReadOnlyTransaction => {
                return SqlError::new(1792, "Cannot execute statement in a READ ONLY transaction.");
            }
            EngineError::TooManySnapshots => 1040,
            EngineError::SnapshotTooOld { .. } => 3170,
            EngineError::Incompatible { .. } => 1677,
            EngineError::GtidUnusable(_) => 1236,
            EngineError::GtidsExhausted => 1775,
            EngineError::TableFull(_) => 1114,
            EngineError::CopyRunning => 3634,
            EngineError::CopyUnusable(why) => {
                return SqlError::new(3862, format!("Clone Donor Error: {why}."));
            }
            EngineError::Statement { code, .. } => *code,
            EngineError::ServerIsReadOnly { for_all } => {
                return SqlError::option_prevents(if *for_all { "--super-read-only" } else { "--read-only" });
            }
            EngineError::XidExists => 1440,
            EngineError::UnknownXid => 1397,
            error if error.is_disk_full() => {
                let what = "waiting for someone to free some space... (errno: 28 - No space left on device)";
                return SqlError::new(1021, format!("Disk full ({message}); {what}"));
            }
            _ => {
                log::error!("{message}");
                1030
            }
        };
        match code {
            1030 => SqlError::new(1030, format!("Got error 168 - '{message}' from storage engine")),
            code => SqlError::new(code, message),
        }
    }
}

impl From<types::row::RowError> for SqlError {
    fn from(error: types::row::RowError) -> SqlError {
        SqlError::from(EngineError::Row(error))
    }
}

/// Reports whether the error rolls back the whole transaction and not the statement alone.
pub(crate) fn ends_transaction(error: &SqlError) -> bool {
    matches!(error.code, 1213 | 1197)
}
