//! The words in which the applier says why it stopped: MySQL's, with what it says about the place.

use binlog::DecodeError;
use binlog::event::RowsKind;
use engine::EngineError;
use types::json::JsonDiffError;

use super::bind_error::BindError;
use crate::error::{ThreadError, number};

/// Where an event stands in the source's log.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The source's file.
    pub file: &'a str,
    /// End of the event in it.
    pub end_log_pos: u64,
}

/// Why an event within a group cannot be taken.
#[derive(Debug)]
pub enum GroupError {
    /// It cannot be taken apart.
    Damaged(DecodeError),
    /// A row event without its TABLE_MAP event.
    NoTableMap,
    /// A TABLE_MAP event does not fit a table of ours.
    Table(BindError),
    /// The metadata lock on this table was not granted.
    Held(String, EngineError),
    /// A row of this kind of event, for this table, could not be changed.
    Row(RowsKind, String, EngineError),
    /// A document of this table and column (from 0) is not changed by what the event says of it.
    Json(String, usize, JsonDiffError),
    /// A row was looked for in the whole of this table, which has no keys, and not found.
    NotInScan(RowsKind, String),
    /// The group's changes could not be committed.
    Commit(EngineError),
}

impl From<DecodeError> for GroupError {
    fn from(error: DecodeError) -> GroupError {
        GroupError::Damaged(error)
    }
}

/// An event within a group could not be taken.
pub fn group(error: &GroupError, place: Place<'_>) -> ThreadError {
    match error {
        GroupError::Damaged(error) => damaged(error, place),
        GroupError::Commit(error) => commit(error, place),
        GroupError::NoTableMap => damaged(&"a row event without its table map event", place),
        GroupError::Table(error) => table_map(error, place),
        GroupError::Held(table, error) => ThreadError::now(
            held_number(error),
            format!(
                "Error executing row event on table {table}: '{error}'; the event's source log {}, end_log_pos {}",
                place.file, place.end_log_pos
            ),
        ),
        GroupError::Row(_, _, error @ EngineError::Incompatible { .. }) => {
            ThreadError::now(number::CONVERSION_FAILED, error.to_string())
        }
        GroupError::Row(kind, table, error) => row_event(*kind, table, cause(table, error), place),
        GroupError::Json(table, column, error) => {
            let number = match error {
                JsonDiffError::Corrupted => number::CORRUPTED_JSON_DIFF,
                JsonDiffError::DoesNotFit => number::COULD_NOT_APPLY_JSON_DIFF,
            };
            let text = format!("{error} in table {table}, column number {}.", column + 1);
            row_event_of("Update_rows_partial", table, (number, text, "HA_ERR_CORRUPT_EVENT"), place)
        }
        GroupError::NotInScan(kind, table) => {
            let (number, text, _) = not_found(table);
            row_event(*kind, table, (number, text, "HA_ERR_END_OF_FILE"), place)
        }
    }
}

fn held_number(error: &EngineError) -> u32 {
    match error {
        EngineError::Interrupted => number::QUERY_INTERRUPTED,
        _ => number::LOCK_WAIT_TIMEOUT,
    }
}

/// A table was not to be had.
pub fn blocked(error: &EngineError, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        held_number(error),
        format!("{error}; the event's source log {}, end_log_pos {}", place.file, place.end_log_pos),
    )
}

/// Number, text and handler error of a row that could not be changed.
type Cause = (u32, String, &'static str);

fn not_found(table: &str) -> Cause {
    let name = table.split_once('.').map_or(table, |(_, name)| name);
    (number::KEY_NOT_FOUND, format!("Can't find record in '{name}'"), "HA_ERR_KEY_NOT_FOUND")
}

fn cause(table: &str, error: &EngineError) -> Cause {
    match error {
        EngineError::RowNotFound { .. } => not_found(table),
        error => {
            let (number, handler) = number_and_handler(error);
            (number, error.to_string(), handler)
        }
    }
}

/// An error's number, and what InnoDB calls it.
fn number_and_handler(error: &EngineError) -> (u32, &'static str) {
    match error {
        EngineError::Duplicate { .. } => (number::DUP_ENTRY, "HA_ERR_FOUND_DUPP_KEY"),
        EngineError::LockWaitTimeout => (number::LOCK_WAIT_TIMEOUT, "HA_ERR_LOCK_WAIT_TIMEOUT"),
        EngineError::Deadlock => (number::LOCK_DEADLOCK, "HA_ERR_LOCK_DEADLOCK"),
        EngineError::Interrupted => (number::QUERY_INTERRUPTED, "HA_ERR_QUERY_INTERRUPTED"),
        _ => (number::ERROR_ON_WRITE, "HA_ERR_GENERIC"),
    }
}

/// MySQL's number of the error of a row that is not as the source says; `None` for other errors.
pub fn row_number(error: &EngineError) -> Option<u32> {
    match error {
        EngineError::RowNotFound { .. } => Some(number::KEY_NOT_FOUND),
        EngineError::Duplicate { .. } => Some(number::DUP_ENTRY),
        _ => None,
    }
}

/// A row event could not be carried out.
fn row_event(kind: RowsKind, table: &str, cause: Cause, place: Place<'_>) -> ThreadError {
    let event = match kind {
        RowsKind::Write => "Write_rows",
        RowsKind::Update => "Update_rows",
        RowsKind::Delete => "Delete_rows",
    };
    row_event_of(event, table, cause, place)
}

fn row_event_of(event: &str, table: &str, (number, cause, handler): Cause, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        number,
        format!(
            "Could not execute {event} event on table {table}; {cause}, Error_code: {number}; handler error {handler}; the event's \
             source log {}, end_log_pos {}",
            place.file, place.end_log_pos
        ),
    )
}

/// A table map event could not be bound to a table of ours.
fn table_map(error: &BindError, place: Place<'_>) -> ThreadError {
    match error {
        BindError::NoSuchTable(schema, table) => ThreadError::now(
            number::NO_SUCH_TABLE,
            format!("Error executing row event: 'Table '{schema}.{table}' doesn't exist'"),
        ),
        BindError::Damaged(what) => damaged(what, place),
        BindError::ColumnType { table, column, theirs, ours } => ThreadError::now(
            number::CONVERSION_FAILED,
            format!(
                "Column {} (counting the first column as number 1) of table '{table}' cannot be converted from type '{theirs}' to type \
                 '{ours}'",
                column + 1
            ),
        ),
    }
}

/// A statement ended with an error here.
pub fn query(code: u32, message: &str, schema: &str, text: &str) -> ThreadError {
    ThreadError::now(
        code,
        format!("Error '{message}' on query. Default database: '{schema}'. Query: '{}'", shortened(text)),
    )
}

/// A commit that the engine refused, or whose wait was ended: by the error's own number, as in
/// MySQL.
pub fn commit(error: &EngineError, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        number_and_handler(error).0,
        format!(
            "Error in Xid_log_event: Commit could not be completed, '{error}'; the event's source log {}, end_log_pos {}",
            place.file, place.end_log_pos
        ),
    )
}

/// An event that cannot be taken apart although its checksum is right.
pub fn damaged(what: &dyn std::fmt::Display, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        number::RELAY_LOG_READ_FAILURE,
        format!(
            "Relay log read failure: Could not parse relay log event entry ({what}); the event's source log {}, \
             end_log_pos {}",
            place.file, place.end_log_pos
        ),
    )
}

/// An event of a kind that is not carried out.
pub fn not_supported(what: &str, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        number::NOT_SUPPORTED_YET,
        format!(
            "This version of Slipstream doesn't yet support '{what}' on a replica; the event's source log {}, end_log_pos {}",
            place.file, place.end_log_pos
        ),
    )
}

/// The source says that its log has a gap.
pub fn incident(message: &str) -> ThreadError {
    ThreadError::now(
        number::INCIDENT,
        format!("The incident LOST_EVENTS occurred on the source. Message: {message}"),
    )
}

/// Statements are shown up to a length at which an error message stays readable.
fn shortened(text: &str) -> String {
    const LIMIT: usize = 1024;
    match text.char_indices().nth(LIMIT) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_row_is_reported_as_mysql_does() {
        let error = EngineError::RowNotFound { table: "s.t".into(), key: "0x01".into() };
        let place = Place { file: "binlog.000002", end_log_pos: 777 };
        let report = group(&GroupError::Row(RowsKind::Update, "s.t".into(), error), place);
        assert_eq!(report.number, 1032);
        assert_eq!(
            report.message,
            "Could not execute Update_rows event on table s.t; Can't find record in 't', Error_code: 1032; handler error \
             HA_ERR_KEY_NOT_FOUND; the event's source log binlog.000002, end_log_pos 777"
        );
    }

    #[test]
    fn a_commit_that_fails_is_reported_by_what_it_failed_of() {
        let place = Place { file: "binlog.000002", end_log_pos: 777 };
        let report = commit(&EngineError::Interrupted, place);
        assert_eq!(report.number, 1317);
        assert_eq!(
            report.message,
            "Error in Xid_log_event: Commit could not be completed, 'Query execution was interrupted'; the event's source log \
             binlog.000002, end_log_pos 777"
        );
        assert_eq!(commit(&EngineError::LockWaitTimeout, place).number, 1205);
        assert_eq!(commit(&EngineError::UnknownSchema("d".into()), place).number, 1026);
    }
}
