//! Query events: what a source logs as text. DDL is carried out by the SQL layer and committed with the received event; statements
//! about accounts are passed over, since accounts are each server's own here; statement-format DML stops the applier.

use std::sync::Arc;

use binlog::event::QueryEvent;
use engine::{CommitOptions, DdlContext, Engine, SessionContext};

use super::report::{self, Place};
use crate::error::{ThreadError, number};

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
    if starts_with(&text, &["SAVEPOINT"]) {
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
    let text = String::from_utf8_lossy(query.statement).into_owned();
    if is_of_accounts(&text) {
        log::warn!(
            "Replica SQL for channel '': statement about accounts passed over: {}",
            first_words(&text)
        );
        return log_only(engine, &schema, &text, group, options);
    }
    let _ = timestamp_s;
    Err(StatementError::NotSupported(format!("statement '{text}'")))
}

/// Logs a received statement that changes nothing here.
fn log_only(
    engine: &Arc<Engine>,
    schema: &str,
    text: &str,
    group: &[u8],
    options: &CommitOptions<'_>,
) -> Result<(), StatementError> {
    let session = SessionContext::default();
    let context = DdlContext {
        received_group: Some(group),
        options: *options,
        ..DdlContext::new(text, schema, &session)
    };
    engine.log_statement(&context).map(|_| ()).map_err(|error| StatementError::Failed {
        code: number::ERROR_ON_WRITE,
        message: error.to_string(),
        schema: schema.to_string(),
        text: text.to_string(),
    })
}

/// Accounts, and what only tells the server to look at its own tables again.
fn is_of_accounts(text: &str) -> bool {
    const FIRST_WORDS: [&str; 15] = [
        "CREATE USER",
        "ALTER USER",
        "DROP USER",
        "RENAME USER",
        "CREATE ROLE",
        "DROP ROLE",
        "GRANT",
        "REVOKE",
        "SET PASSWORD",
        "SET DEFAULT ROLE",
        "FLUSH",
        "ANALYZE",
        "OPTIMIZE",
        "REPAIR",
        "CREATE OR REPLACE USER",
    ];
    starts_with(text, &FIRST_WORDS)
}

/// Whether the text begins with one of these sequences of words, whatever its case and spaces.
fn starts_with(text: &str, beginnings: &[&str]) -> bool {
    let words: Vec<String> =
        without_comments(text).split_ascii_whitespace().take(4).map(str::to_ascii_uppercase).collect();
    beginnings.iter().any(|beginning| {
        let wanted: Vec<&str> = beginning.split(' ').collect();
        words.len() >= wanted.len() && wanted.iter().zip(&words).all(|(wanted, word)| word == wanted)
    })
}

/// The text behind comments at its front.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("/*").filter(|c| !c.starts_with('!')) {
        rest = comment.split_once("*/").map_or("", |(_, behind)| behind).trim_start();
    }
    rest
}

fn first_words(text: &str) -> String {
    text.split_ascii_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_statements_about_accounts() {
        for text in [
            "CREATE USER 'a'@'%'",
            "/* x */ grant all on *.* to a",
            "FLUSH PRIVILEGES",
            "set  password for a = 'x'",
        ] {
            assert!(is_of_accounts(text), "{text}");
        }
        for text in
            ["CREATE TABLE user (a INT)", "DROP TABLE grants", "/*!40000 ALTER TABLE t DISABLE KEYS */"]
        {
            assert!(!is_of_accounts(text), "{text}");
        }
    }
}
