//! Query events: what a source logs as text. DDL is carried out by the SQL layer and committed with the received event; statements
//! about accounts are logged only, since accounts are each server's own here; statement-format DML stops the applier.

use std::sync::Arc;

use binlog::event::QueryEvent;
use engine::{CommitOptions, Engine, SessionContext};
use sql::replicated::{Executed, ReceivedStatement, execute_ddl};

use super::report::{self, Place};
use crate::error::ThreadError;

/// Why a statement was not carried out.
#[derive(Debug)]
pub(super) enum StatementError {
    /// It failed.
    Failed {
        /// MySQL's number.
        code: u32,
        /// MySQL's wording.
        message: String,
        /// Current schema.
        schema: String,
        /// The statement.
        text: String,
    },
    /// It is of a kind that is not carried out.
    NotSupported(String),
}

impl StatementError {
    /// What the applier reports.
    pub fn at(self, place: Place<'_>) -> ThreadError {
        match self {
            StatementError::Failed { code, message, schema, text } => {
                report::query(code, &message, &schema, &text)
            }
            StatementError::NotSupported(what) => report::not_supported(&what, place),
        }
    }
}

/// A statement between BEGIN and COMMIT that is not one of these two.
pub(super) fn in_transaction(query: &QueryEvent<'_>) -> Result<(), StatementError> {
    let text = String::from_utf8_lossy(query.statement);
    let first_word = text.split_ascii_whitespace().next().unwrap_or_default();
    if first_word.eq_ignore_ascii_case("SAVEPOINT") {
        // Everything that a savepoint undoes is gone from the log already; the event only marks the place.
        return Ok(());
    }
    Err(StatementError::NotSupported(format!("statement-based replication of '{text}'")))
}

/// A statement that is a group of its own: carried out and committed with `group`, which holds its event.
pub(super) fn ddl(
    engine: &Arc<Engine>,
    query: &QueryEvent<'_>,
    timestamp_s: u32,
    group: &[u8],
    options: &CommitOptions<'_>,
) -> Result<(), StatementError> {
    let schema = String::from_utf8_lossy(query.schema).into_owned();
    let failed = |code: u32, message: String| StatementError::Failed {
        code,
        message,
        schema: schema.clone(),
        text: String::from_utf8_lossy(query.statement).into_owned(),
    };
    let status = query.status().map_err(|error| {
        StatementError::NotSupported(format!("a query event's status variables ({error})"))
    })?;
    let (character_set_client, collation_connection, collation_server) =
        status.charset.unwrap_or((255, 255, 255));
    let session = SessionContext {
        thread_id: query.thread_id,
        flags2: status.flags2.unwrap_or(0),
        sql_mode: status.sql_mode.unwrap_or(0),
        character_set_client,
        collation_connection,
        collation_server,
        time_zone: String::from_utf8_lossy(status.time_zone.unwrap_or_default()).into_owned(),
        timestamp_us: u64::from(timestamp_s) * 1_000_000 + u64::from(status.microseconds.unwrap_or(0)),
        exec_time_s: query.exec_time,
    };
    let received = ReceivedStatement {
        schema: &schema,
        statement: query.statement,
        session,
        default_collation_for_utf8mb4: status.default_collation_for_utf8mb4,
        group: Some(group),
        options: *options,
        accounts: None,
    };
    match execute_ddl(engine, &received) {
        Ok(Executed::Changed) => Ok(()),
        Ok(Executed::OnlyLogged) => {
            // Two words: what follows may hold a password's hash.
            let text = String::from_utf8_lossy(query.statement);
            let words: Vec<&str> = text.split_ascii_whitespace().take(2).collect();
            log::info!(
                "Replica SQL for channel '': logged, and nothing changed here: {} ...",
                words.join(" ")
            );
            Ok(())
        }
        // The statement failed on the source in the same way, after it had changed something there.
        Err(error) if query.error_code != 0 && error.code == query.error_code => engine
            .commit_empty(options)
            .map(|_| ())
            .map_err(|error| failed(crate::error::number::ERROR_ON_WRITE, error.to_string())),
        Err(error) => Err(failed(error.code.into(), error.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savepoints_pass_and_statement_format_is_named() {
        let query = |statement| QueryEvent {
            thread_id: 1,
            exec_time: 0,
            error_code: 0,
            status_vars: &[],
            schema: b"s",
            statement,
        };
        assert!(in_transaction(&query(b"savepoint `a`")).is_ok());
        let refused = in_transaction(&query(b"INSERT INTO t VALUES (1)")).expect_err("is refused");
        let report = refused.at(Place { file: "f", end_log_pos: 9 });
        assert_eq!(report.number, 1235);
        assert!(report.message.contains("INSERT INTO t VALUES (1)"), "{}", report.message);
    }
}
