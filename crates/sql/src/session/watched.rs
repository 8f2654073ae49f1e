//! Statements of a client that the host logs: when they begin and end, and what they took.

use super::Session;
use super::logging::expanded_by;
use super::measuring;
use super::state::{LoggedText, ToldStatement};
use crate::ast::{Maintenance, Statement};
use crate::error::{Result, SqlError};
use crate::sink::ResultSink;
use crate::statement_log::{CountingSink, EndedStatement, StatementOrigin};
use os::account::State;
use os::clock::Stopwatch;
use types::Value;

/// What is known of a logged statement when it begins.
struct Begun {
    since: Stopwatch,
    lock_wait_ns: u64,
    figures: Vec<u64>,
}

/// Runs a client's statement, measures it where that is wanted, and tells the host's log of it
/// where there is one. `text` is the text that has come.
pub(super) fn run<T>(
    session: &mut Session,
    sink: &mut dyn ResultSink,
    text: &[u8],
    run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> Result<T>,
) -> Result<T> {
    if session.server.host.statement_log().is_none() {
        return measuring::run(session, sink, text, run);
    }
    measuring::run(session, sink, text, |session, sink| run_logged(session, sink, run))
}

/// Runs a client's statement for whose end a log waits.
fn run_logged<T>(
    session: &mut Session,
    sink: &mut dyn ResultSink,
    run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> Result<T>,
) -> Result<T> {
    session.client.logged = LoggedText { is_wanted: true, ..LoggedText::default() };
    let begun = Begun {
        since: Stopwatch::start(),
        lock_wait_ns: os::account::wall_ns_of_this_thread(State::RowLockWait),
        figures: session.server.counters.figures(),
    };
    let mut counting = CountingSink::new(sink);
    let done = run(session, &mut counting);
    let rows = (counting.rows, counting.answer.affected_rows);
    let logged = std::mem::take(&mut session.client.logged);
    match (logged.told, &done) {
        (Some(told), _) => tell_end(session, &told, &begun, rows, done.as_ref().err()),
        // A text that was not understood is no statement.
        (None, Err(error)) => {
            if let Some(log) = session.server.host.statement_log() {
                log.not_understood(error.code, begun.since.elapsed_us());
            }
        }
        (None, Ok(_)) => {}
    }
    done
}

fn tell_end(
    session: &Session,
    told: &ToldStatement,
    begun: &Begun,
    (rows_sent, rows_affected): (u64, u64),
    error: Option<&SqlError>,
) {
    let figures = session.server.counters.figures();
    let added = figures.iter().zip(&begun.figures).map(|(now, before)| now.saturating_sub(*before));
    let lock_wait_ns = os::account::wall_ns_of_this_thread(State::RowLockWait);
    let ended = EndedStatement {
        text: &told.text,
        origin: told.origin,
        is_administrative: told.is_administrative,
        schema: session.settings.schema.as_deref(),
        timestamp_s: session.settings.now_us() / 1_000_000,
        took_us: begun.since.elapsed_us(),
        lock_wait_us: lock_wait_ns.saturating_sub(begun.lock_wait_ns) / 1000,
        rows_sent,
        rows_affected,
        figures: added.collect(),
        last_insert_id: session.settings.last_insert_id.get(),
        error_code: error.map_or(0, |error| error.code),
        digesting: (session.settings.variables.lex_mode(), digest_bytes(session)),
    };
    if let Some(log) = session.server.host.statement_log() {
        log.ended(&ended);
    }
}

/// Tells that a statement of the client has been understood and begins. `statement` is `None` for
/// one that was bound earlier, which is about rows.
#[inline]
pub(super) fn tell_begin(session: &mut Session, statement: Option<&Statement>, text: &[u8]) {
    // One that is run again has begun already.
    if session.client.logged.is_wanted && session.client.logged.told.is_none() {
        let is_administrative = statement.is_some_and(is_administrative);
        tell_begin_as(session, StatementOrigin::Query, text.to_vec(), is_administrative);
    }
}

/// Tells that the text of a PREPARE has been understood.
pub(super) fn tell_prepare(session: &Session, text: &[u8]) {
    if session.client.logged.is_wanted
        && let Some(log) = session.server.host.statement_log()
    {
        log.begins(StatementOrigin::Prepare, text);
    }
}

/// Tells that a prepared statement begins with these parameters.
pub(super) fn tell_begin_of_prepared(
    session: &mut Session,
    statement: &Statement,
    text: &[u8],
    parameters: &[Value],
) {
    if session.client.logged.is_wanted {
        let mode = session.settings.variables.lex_mode();
        let text = expanded_by(text, parameters, mode, put_literal).into_owned();
        tell_begin_as(session, StatementOrigin::Execute, text, is_administrative(statement));
    }
}

#[cold]
fn tell_begin_as(session: &mut Session, origin: StatementOrigin, text: Vec<u8>, is_administrative: bool) {
    if let Some(log) = session.server.host.statement_log() {
        log.begins(origin, &text);
    }
    // An EXECUTE has begun as itself; its end is told with the text of the statement that it names.
    session.client.logged.told = Some(ToldStatement { text, origin, is_administrative });
}

/// Returns the number of bytes that the units of a digest may take.
fn digest_bytes(session: &Session) -> usize {
    const USUAL: usize = 1024;
    let measured = session.server.measured.as_ref();
    measured.map_or(USUAL, |measured| measured.measured().settings().digest_bytes)
}

/// Reports whether a statement is one of those that `log_slow_admin_statements` is about.
fn is_administrative(statement: &Statement) -> bool {
    match statement {
        Statement::AlterTable(_) | Statement::CreateIndex { .. } | Statement::DropIndex { .. } => true,
        Statement::Maintain { what, .. } => !matches!(what, Maintenance::Checksum { .. }),
        _ => false,
    }
}

/// Appends a value in the form that MySQL's logs have. It is for people: it may not be read back as
/// the same value, as `logging::put_literal`'s form is.
fn put_literal(value: &Value, out: &mut Vec<u8>) {
    let Some(text) = value.text_bytes(None) else { return out.extend_from_slice(b"NULL") };
    let is_number = matches!(
        value,
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_)
    );
    if is_number {
        return out.extend_from_slice(&text);
    }
    out.push(b'\'');
    for byte in text.iter() {
        match byte {
            b'\0' => out.extend_from_slice(b"\\0"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x1a => out.extend_from_slice(b"\\Z"),
            b'\'' | b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            _ => out.push(*byte),
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_where_the_question_marks_did() {
        let values = [Value::Int(-5), Value::Null, Value::text("it's\n"), Value::Double(1.5)];
        let shown = expanded_by(
            b"SELECT '?', ?, ? /* ? */, `?` FROM t WHERE a=? AND b>?",
            &values,
            crate::lexer::LexMode::default(),
            put_literal,
        );
        assert_eq!(
            std::str::from_utf8(&shown),
            Ok("SELECT '?', -5, NULL /* ? */, `?` FROM t WHERE a='it\\'s\\n' AND b>1.5")
        );
    }
}
