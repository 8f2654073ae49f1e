//! The applier's error messages, in MySQL's words and with the place in the source's log.

use binlog::DecodeError;
use binlog::event::{QueryEvent, RowsKind};
use engine::EngineError;
use types::json::JsonDiffError;

use super::bind_error::BindError;
use crate::error::{ThreadError, number};

/// The place of an event in the source's log.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The name of the source's binary log file.
    pub file: &'a str,
    /// The end of the event in the file.
    pub end_log_pos: u64,
}

/// The reason why an event within a group cannot be applied.
#[derive(Debug)]
pub enum GroupError {
    /// The event cannot be decoded.
    Damaged(DecodeError),
    /// The event is a row event without its TABLE_MAP event.
    NoTableMap,
    /// The TABLE_MAP event does not fit a table of this server.
    Table(BindError),
    /// The metadata lock on this table was not granted.
    Held(String, EngineError),
    /// A row of this table could not be changed by an event of this kind.
    Row(RowsKind, String, EngineError),
    /// The event's differences do not fit the document in this table and column, which is counted
    /// from 0.
    Json(String, usize, JsonDiffError),
    /// A scan of this table, which has no keys, did not find the row.
    NotInScan(RowsKind, String),
    /// The group's changes could not be committed.
    Commit(EngineError),
}

impl From<DecodeError> for GroupError {
    fn from(error: DecodeError) -> GroupError {
        GroupError::Damaged(error)
    }
}

/// Builds the error of an event within a group that could not be applied.
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

/// Builds the error of a table whose metadata lock was not granted.
pub fn blocked(error: &EngineError, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        held_number(error),
        format!("{error}; the event's source log {}, end_log_pos {}", place.file, place.end_log_pos),
    )
}

/// The error number, the text and the handler's error of a row that could not be changed.
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

/// Returns the number of an error, and InnoDB's name for it.
fn number_and_handler(error: &EngineError) -> (u32, &'static str) {
    match error {
        EngineError::Duplicate { .. } => (number::DUP_ENTRY, "HA_ERR_FOUND_DUPP_KEY"),
        EngineError::LockWaitTimeout => (number::LOCK_WAIT_TIMEOUT, "HA_ERR_LOCK_WAIT_TIMEOUT"),
        EngineError::Deadlock => (number::LOCK_DEADLOCK, "HA_ERR_LOCK_DEADLOCK"),
        EngineError::Interrupted => (number::QUERY_INTERRUPTED, "HA_ERR_QUERY_INTERRUPTED"),
        _ => (number::ERROR_ON_WRITE, "HA_ERR_GENERIC"),
    }
}

/// Returns MySQL's error number for a row that differs from the source's. `None` means that the
/// error is another one.
pub fn row_number(error: &EngineError) -> Option<u32> {
    match error {
        EngineError::RowNotFound { .. } => Some(number::KEY_NOT_FOUND),
        EngineError::Duplicate { .. } => Some(number::DUP_ENTRY),
        _ => None,
    }
}

/// Builds the error of a row event that could not be carried out.
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

/// Builds the error of a table map event that could not be bound to a table of this server.
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

/// Builds the error of a statement that failed on this server.
pub fn query(code: u32, message: &str, schema: &str, text: &str) -> ThreadError {
    ThreadError::now(
        code,
        format!("Error '{message}' on query. Default database: '{schema}'. Query: '{}'", shortened(text)),
    )
}

/// Builds the error of a statement of which nobody knows how far it came at the source.
pub fn partly_done(expected: u32, text: &str) -> ThreadError {
    ThreadError::now(
        number::ERROR_ON_SOURCE,
        format!(
            "Query partially completed on the source (error on source: {expected}) and was aborted. There is a chance that your \
             source is inconsistent at this point. If you are sure that your source is ok, run this query manually on the \
             replica and then restart the replica with SET GLOBAL SQL_REPLICA_SKIP_COUNTER=1; START REPLICA;. Query:'{}'",
            shortened(text)
        ),
    )
}

/// Returns MySQL's text of an error of changes of rows, with the places of its parameters.
fn format_of(code: u16) -> &'static str {
    match code {
        1048 => "Column '%s' cannot be null",
        1062 => "Duplicate entry '%-.192s' for key %d",
        1242 => "Subquery returns more than 1 row",
        1264 => "Out of range value for column '%s' at row %ld",
        1265 => "Data truncated for column '%s' at row %ld",
        1366 => "Incorrect %s value: '%s' for column '%s' at row %ld",
        1406 => "Data too long for column '%s' at row %ld",
        1690 => "%s value is out of range in '%s'",
        _ => "Unknown error",
    }
}

/// Builds the error of a statement that ended with another error than at the source. `actual` is
/// its error number and message here.
pub fn other_error(query: &QueryEvent<'_>, (code, message): (u32, &str)) -> ThreadError {
    let (schema, text) = (String::from_utf8_lossy(query.schema), String::from_utf8_lossy(query.statement));
    ThreadError::now(
        number::INCONSISTENT_ERROR,
        format!(
            "Query caused different errors on source and replica. Error on source: message (format)='{}' error code={}; Error on \
             replica:actual message='{message}', error code={code}. Default database:'{schema}'. Query:'{}'",
            format_of(query.error_code),
            query.error_code,
            shortened(&text)
        ),
    )
}

/// Builds the error of a commit that the engine refused, or whose wait was ended. As in MySQL, its
/// number is that of the cause.
pub fn commit(error: &EngineError, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        number_and_handler(error).0,
        format!(
            "Error in Xid_log_event: Commit could not be completed, '{error}'; the event's source log {}, end_log_pos {}",
            place.file, place.end_log_pos
        ),
    )
}

/// Builds the error of an event that cannot be decoded although its checksum is right.
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

/// Builds the error of an event of a kind that is not carried out.
pub fn not_supported(what: &str, place: Place<'_>) -> ThreadError {
    ThreadError::now(
        number::NOT_SUPPORTED_YET,
        format!(
            "This version of Slipstream doesn't yet support '{what}' on a replica; the event's source log {}, end_log_pos {}",
            place.file, place.end_log_pos
        ),
    )
}

/// Builds the error for a source's message that its log has a gap.
pub fn incident(message: &str) -> ThreadError {
    ThreadError::now(
        number::INCIDENT,
        format!("The incident LOST_EVENTS occurred on the source. Message: {message}"),
    )
}

/// Returns the statement, cut to a length with which an error message stays readable.
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
