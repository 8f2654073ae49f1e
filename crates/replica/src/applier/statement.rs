//! Query events, which hold what a source logs as text. The SQL layer carries out DDL and commits
//! it together with the received event. The server carries out statements about accounts, likewise
//! in one commit. Statements about rows run in the group's transaction, and this server's own log
//! has the rows that they changed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use binlog::event::{QueryEvent, QueryStatus, UserVarEvent};
use engine::{CommitOptions, Engine, SessionContext, Transaction};
use os::disk::TempFile;
use sql::SqlError;
use sql::replicated::{
    ChangeAccounts, Executed, LoggedContext, ReceivedChange, ReceivedStatement, ReceivedStatements,
    RefusedValues, SelectedTable, create_within_group, execute_ddl,
};
use sql::touched::Touched;
use types::{ColumnType, Value};

use super::report::{self, Place};
use crate::error::{ThreadError, number};
use crate::filter::Filters;

/// The reason why a statement was not carried out.
#[derive(Debug)]
pub(super) enum StatementError {
    /// The statement was carried out and failed.
    Failed {
        /// MySQL's error number.
        code: u32,
        /// The error's message in MySQL's words.
        message: String,
        /// The statement's current schema.
        schema: String,
        /// The text of the statement.
        text: String,
    },
    /// The statement is of a kind that is not carried out, which the text names.
    NotSupported(String),
}

impl StatementError {
    /// Returns MySQL's error number.
    pub fn number(&self) -> Option<u32> {
        match self {
            StatementError::Failed { code, .. } => Some(*code),
            StatementError::NotSupported(_) => Some(number::NOT_SUPPORTED_YET),
        }
    }

    /// Builds the error that the applier reports.
    pub fn at(self, place: Place<'_>) -> ThreadError {
        match self {
            StatementError::Failed { code, message, schema, text } => {
                report::query(code, &message, &schema, &text)
            }
            StatementError::NotSupported(what) => report::not_supported(&what, place),
        }
    }
}

/// Reports whether the filters let a statement be applied.
pub(super) fn is_allowed(filters: &Filters, query: &QueryEvent<'_>) -> bool {
    filters.allows_statement(&String::from_utf8_lossy(query.schema), &touched(query))
}

/// What a statement changes, as far as its text tells.
pub(super) fn touched(query: &QueryEvent<'_>) -> Touched {
    let schema = String::from_utf8_lossy(query.schema);
    // Without status variables the text is read as utf8mb4, in which names are most often.
    let status = query.status().unwrap_or_default();
    let character_set = status.charset.map_or(255, |(client, ..)| client);
    sql::touched::touched(&schema, query.statement, character_set, status.sql_mode.unwrap_or(0))
}

/// Reports whether a statement is the CREATE TABLE before the rows of a CREATE TABLE ... SELECT.
pub(super) fn is_create_table(query: &QueryEvent<'_>) -> bool {
    let mut words = query.statement.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut next_is = |known: &[u8]| words.next().is_some_and(|word| word.eq_ignore_ascii_case(known));
    next_is(b"CREATE") && (next_is(b"TABLE") || (next_is(b"REPLACE") && next_is(b"TABLE")))
}

/// What the applier knows about a statement besides its query event.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    /// The session's state as the events before the statement tell it.
    pub logged: &'a LoggedContext,
    /// The file of a LOAD DATA statement.
    pub file: Option<&'a TempFile>,
    /// True when the source is a MariaDB server.
    pub of_mariadb: bool,
    /// The values that are errors.
    pub refused: RefusedValues,
}

impl<'a> Beside<'a> {
    /// Returns what is known about a statement without a file that is as it was at the source.
    pub fn plain(logged: &'a LoggedContext, of_mariadb: bool) -> Beside<'a> {
        Beside { logged, file: None, of_mariadb, refused: RefusedValues::OfColumns }
    }
}

/// Runs a statement that stands between BEGIN and COMMIT in the transaction, which then holds the
/// row events of its changes.
pub(super) fn change(
    statements: &mut ReceivedStatements,
    transaction: &mut Transaction,
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    beside: Beside<'_>,
) -> Result<(), StatementError> {
    let run = &mut |received: &ReceivedChange<'_>| statements.run(transaction, received);
    with_change(query, timestamp_s, beside, run)
}

/// Runs a statement outside of a transaction if it is only about temporary tables. Returns false
/// when it is not and was not run.
pub(super) fn define_temporary(
    statements: &mut ReceivedStatements,
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    of_mariadb: bool,
) -> Result<bool, StatementError> {
    if query.error_code != 0 {
        return Ok(false);
    }
    let logged = LoggedContext::default();
    let mut is_one = false;
    let run = &mut |received: &ReceivedChange<'_>| {
        is_one = statements.define_temporary(received)?;
        Ok(())
    };
    with_change(query, timestamp_s, Beside::plain(&logged, of_mariadb), run)?;
    Ok(is_one)
}

/// Returns what a CREATE TABLE defines whose columns come from a query or from a temporary table,
/// or `None` for another statement.
pub(super) fn define_selected(
    statements: &mut ReceivedStatements,
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    of_mariadb: bool,
) -> Result<Option<SelectedTable>, StatementError> {
    if query.error_code != 0 || !is_create_table(query) {
        return Ok(None);
    }
    let logged = LoggedContext::default();
    let mut defined = None;
    let run = &mut |received: &ReceivedChange<'_>| {
        defined = statements.define_selected(received)?;
        Ok(())
    };
    with_change(query, timestamp_s, Beside::plain(&logged, of_mariadb), run)?;
    Ok(defined)
}

/// Returns the status variables of a query event with the statement in utf8mb4, and with an empty
/// `sql_mode` if `clears_mode` is true.
///
/// # Errors
/// Returns an error for status variables that cannot be read.
pub(super) fn status_of_definition(
    query: &QueryEvent<'_>,
    clears_mode: bool,
) -> Result<Vec<u8>, StatementError> {
    let mut status = query.status().map_err(|error| {
        StatementError::NotSupported(format!("a query event's status variables ({error})"))
    })?;
    let utf8mb4 = types::collation::UTF8MB4_GENERAL_CI;
    let server = status.charset.map_or(utf8mb4, |(.., server)| server);
    status.charset = Some((utf8mb4, utf8mb4, server));
    if clears_mode {
        status.sql_mode = Some(0);
    }
    let mut encoded = Vec::new();
    binlog::encode::write_status(&status, &mut encoded);
    Ok(encoded)
}

/// Hands `run` the statement with the settings in its event and the state that came before it.
fn with_change(
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    beside: Beside<'_>,
    run: &mut dyn FnMut(&ReceivedChange<'_>) -> Result<(), SqlError>,
) -> Result<(), StatementError> {
    let schema = String::from_utf8_lossy(query.schema);
    let status = query.status().map_err(|error| {
        StatementError::NotSupported(format!("a query event's status variables ({error})"))
    })?;
    let Beside { logged, file, of_mariadb, refused } = beside;
    let received = ReceivedChange {
        schema: &schema,
        statement: query.statement,
        session: session_of(query, &status, timestamp_s, of_mariadb),
        of_mariadb,
        logged,
        file,
        refused,
    };
    run(&received).map_err(|error| StatementError::Failed {
        code: error.code.into(),
        message: error.message,
        schema: schema.to_string(),
        text: String::from_utf8_lossy(query.statement).into_owned(),
    })
}

/// MariaDB's `OPTION_EXPLICIT_DEF_TIMESTAMP` in `flags2`: `explicit_defaults_for_timestamp` is on.
const MARIADB_EXPLICIT_TIMESTAMPS: u32 = 1 << 24;

/// Returns MySQL's `sql_mode` that does what this one of MariaDB does. MariaDB cuts fractions of
/// seconds unless a mode tells it to round them.
fn mysql_mode(mariadb: u64) -> u64 {
    /// The bit is TIME_TRUNCATE_FRACTIONAL in MySQL and EMPTY_STRING_IS_NULL in MariaDB.
    const TRUNCATE: u64 = 1 << 32;
    const MARIADB_ROUND: u64 = 1 << 34;
    const MARIADB_SIMULTANEOUS: u64 = 1 << 33;
    let of = |mode: u64, is_on: bool| if is_on { mode } else { 0 };
    mariadb & (TRUNCATE - 1)
        | of(TRUNCATE, mariadb & MARIADB_ROUND == 0)
        | of(SessionContext::EMPTY_STRING_IS_NULL, mariadb & TRUNCATE != 0)
        | of(SessionContext::SIMULTANEOUS_ASSIGNMENT, mariadb & MARIADB_SIMULTANEOUS != 0)
}

/// Returns the settings of the session that ran the statement.
fn session_of(
    query: &QueryEvent<'_>,
    status: &QueryStatus<'_>,
    timestamp_s: u32,
    of_mariadb: bool,
) -> SessionContext {
    let flags2 = status.flags2.unwrap_or(0);
    let sql_mode = status.sql_mode.unwrap_or(0);
    // A server of ours that passes a statement of MariaDB on has numbered its modes as MySQL does.
    // It says what the default collation of utf8mb4 is, which MariaDB's own events never do.
    let passed_on = status.default_collation_for_utf8mb4.is_some();
    let (character_set_client, collation_connection, collation_server) =
        status.charset.unwrap_or((255, 255, 255));
    SessionContext {
        thread_id: query.thread_id,
        flags2,
        sql_mode: if of_mariadb && !passed_on { mysql_mode(sql_mode) } else { sql_mode },
        character_set_client,
        collation_connection,
        collation_server,
        auto_increment: status.auto_increment.unwrap_or((1, 1)),
        lc_time_names: status.lc_time_names.unwrap_or(0),
        explicit_timestamps: match of_mariadb {
            true => status.flags2.is_none_or(|flags2| flags2 & MARIADB_EXPLICIT_TIMESTAMPS != 0),
            false => status.explicit_defaults_for_timestamp.unwrap_or(true),
        },
        time_zone: String::from_utf8_lossy(status.time_zone.unwrap_or_default()).into_owned(),
        timestamp_us: u64::from(timestamp_s) * 1_000_000 + u64::from(status.microseconds.unwrap_or(0)),
        exec_time_s: query.exec_time,
    }
}

/// Returns the name, the value and the collation of a user variable that a statement uses.
///
/// # Errors
/// Returns an error for a value that no expression could have made.
pub(super) fn user_variable(event: &UserVarEvent<'_>) -> Result<(String, Value, u16), StatementError> {
    // The numbers are those of MySQL's `Item_result`.
    const STRING: u8 = 0;
    const REAL: u8 = 1;
    const INTEGER: u8 = 2;
    const DECIMAL: u8 = 4;
    let name = String::from_utf8_lossy(event.name).into_owned();
    let Some(value) = &event.value else { return Ok((name, Value::Null, types::collation::BINARY)) };
    let collation = u16::try_from(value.collation).unwrap_or(types::collation::BINARY);
    let number = || value.bytes.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes));
    let decoded = match value.kind {
        STRING => Some(Value::Bytes(types::collation::to_utf8mb4(collation, value.bytes).into_owned())),
        REAL => number().map(|bits| Value::Double(f64::from_bits(bits))),
        INTEGER if value.unsigned => number().map(Value::UInt),
        INTEGER => number().map(|bits| Value::Int(bits as i64)),
        DECIMAL => decimal(value.bytes),
        _ => None,
    };
    decoded
        .map(|value| (name.clone(), value, collation))
        .ok_or_else(|| StatementError::NotSupported(format!("the value of the user variable @{name}")))
}

/// Decodes a decimal: precision and scale, 1 byte each, then the digits in the form of a column.
fn decimal(bytes: &[u8]) -> Option<Value> {
    let [precision, scale, digits @ ..] = bytes else { return None };
    let fits =
        (1..=65).contains(precision) && *scale <= types::decimal::MAX_COLUMN_SCALE && scale <= precision;
    let ty = fits.then(|| ColumnType::decimal(*precision, *scale))?;
    types::packed::decode(&ty, digits).ok()
}

/// Hands `run` the statement with the settings in its event.
fn received(
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    options: &CommitOptions<'_>,
    run: &mut dyn FnMut(ReceivedStatement<'_>) -> Result<(), SqlError>,
) -> Result<(), StatementError> {
    let schema = String::from_utf8_lossy(query.schema).into_owned();
    let status = query.status().map_err(|error| {
        StatementError::NotSupported(format!("a query event's status variables ({error})"))
    })?;
    let session = session_of(query, &status, timestamp_s, options.is_of_mariadb());
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let received = ReceivedStatement {
        schema: &schema,
        statement: query.statement,
        error_code: query.error_code,
        session,
        invoker: status.invoker.map(|(user, host)| (words(user), words(host))),
        default_collation_for_utf8mb4: status.default_collation_for_utf8mb4,
        group: None,
        options: *options,
        accounts: None,
        lock_interrupt: None,
    };
    run(received).map_err(|error| StatementError::Failed {
        code: error.code.into(),
        message: error.message,
        schema: schema.clone(),
        text: words(query.statement),
    })
}

/// Carries out a statement that is a group of its own, and commits it with `group`, which holds its
/// event. When `interrupt` becomes true, the statement no longer waits for locks.
pub(super) fn ddl(
    engine: &Arc<Engine>,
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    group: &[u8],
    options: &CommitOptions<'_>,
    accounts: Option<&ChangeAccounts>,
    interrupt: &Arc<AtomicBool>,
) -> Result<(), StatementError> {
    received(query, timestamp_s, options, &mut |received| {
        let lock_interrupt = Some(interrupt.clone());
        let received = ReceivedStatement { group: Some(group), accounts, lock_interrupt, ..received };
        carry_out(engine, query, &received)
    })
}

/// Carries out a CREATE TABLE that is followed by row events in its group. When `interrupt` becomes
/// true, the statement no longer waits for locks.
pub(super) fn create(
    engine: &Arc<Engine>,
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    options: &CommitOptions<'_>,
    interrupt: &Arc<AtomicBool>,
) -> Result<(), StatementError> {
    received(query, timestamp_s, options, &mut |received| {
        let lock_interrupt = Some(interrupt.clone());
        create_within_group(engine, &ReceivedStatement { lock_interrupt, ..received })
    })
}

/// Carries out a statement that is a group of its own.
fn carry_out(
    engine: &Arc<Engine>,
    query: &QueryEvent<'_>,
    received: &ReceivedStatement<'_>,
) -> Result<(), SqlError> {
    match execute_ddl(engine, received) {
        Ok(Executed::Changed) => Ok(()),
        Ok(Executed::OnlyLogged) => {
            // Only two words are logged, because the rest may hold a password's hash.
            let text = String::from_utf8_lossy(query.statement);
            let words: Vec<&str> = text.split_ascii_whitespace().take(2).collect();
            log::info!("Replica SQL: logged, and nothing changed here: {} ...", words.join(" "));
            Ok(())
        }
        // The statement failed on the source in the same way, after it had changed something there.
        Err(error) if query.error_code != 0 && error.code == query.error_code => engine
            .commit_empty(&received.options)
            .map(|_| ())
            .map_err(|error| SqlError::new(number::ERROR_ON_WRITE as u16, error.to_string())),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::event::UserVarValue;

    #[test]
    fn user_variables_have_the_values_that_were_logged() {
        fn variable(kind: u8, bytes: &[u8]) -> Result<Value, StatementError> {
            let value = UserVarValue { kind, collation: 255, bytes, unsigned: false };
            user_variable(&UserVarEvent { name: b"v", value: Some(value) }).map(|(_, value, _)| value)
        }
        assert_eq!(variable(0, b"text").expect("a text"), Value::text("text"));
        assert_eq!(variable(1, &1.5f64.to_le_bytes()).expect("a number"), Value::Double(1.5));
        assert_eq!(variable(2, &(-7i64).to_le_bytes()).expect("a number"), Value::Int(-7));
        let decimal = variable(4, &[3, 1, 0x8c, 5]).expect("a number");
        assert_eq!(decimal.text_bytes(None).as_deref(), Some(&b"12.5"[..]));
        for (kind, bytes) in
            [(1, &b"1234567"[..]), (2, b""), (3, b"12345678"), (4, b""), (4, &[0, 0]), (4, &[70, 3, 1])]
        {
            assert!(variable(kind, bytes).is_err(), "{kind} {bytes:?}");
        }
    }
}
