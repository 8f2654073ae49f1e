//! Statements of a client that the host logs: when they begin and end, and what they took.

use super::Session;
use super::state::LoggedText;
use crate::error::{Result, SqlError};
use crate::lexer::{TokenKind, tokenize};
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

/// Runs a client's statement, and tells the host's log of it where there is one.
pub(super) fn run<T>(
    session: &mut Session,
    sink: &mut dyn ResultSink,
    run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> Result<T>,
) -> Result<T> {
    if session.server.host.statement_log().is_none() {
        return run(session, sink);
    }
    session.client.logged = LoggedText { is_wanted: true, text: None };
    let begun = Begun {
        since: Stopwatch::start(),
        lock_wait_ns: os::account::wall_ns_of_this_thread(State::RowLockWait),
        figures: session.server.counters.figures(),
    };
    let mut counting = CountingSink::new(sink);
    let done = run(session, &mut counting);
    let rows_sent = counting.rows;
    let logged = std::mem::take(&mut session.client.logged);
    // A text that was not understood is no statement.
    if let Some(text) = logged.text {
        tell_end(session, &text, &begun, rows_sent, done.as_ref().err());
    }
    done
}

fn tell_end(session: &Session, text: &[u8], begun: &Begun, rows_sent: u64, error: Option<&SqlError>) {
    let figures = session.server.counters.figures();
    let added = figures.iter().zip(&begun.figures).map(|(now, before)| now.saturating_sub(*before));
    let lock_wait_ns = os::account::wall_ns_of_this_thread(State::RowLockWait);
    let ended = EndedStatement {
        text,
        schema: session.settings.schema.as_deref(),
        timestamp_s: session.settings.now_us() / 1_000_000,
        took_us: begun.since.elapsed_us(),
        lock_wait_us: lock_wait_ns.saturating_sub(begun.lock_wait_ns) / 1000,
        rows_sent,
        figures: added.collect(),
        last_insert_id: session.settings.last_insert_id.get(),
        error_code: error.map_or(0, |error| error.code),
    };
    if let Some(log) = session.server.host.statement_log() {
        log.ended(&ended);
    }
}

/// A statement of the client has been understood and begins.
#[inline]
pub(super) fn tell_begin(session: &mut Session, text: &[u8]) {
    // One that is run again has begun already.
    if session.client.logged.is_wanted && session.client.logged.text.is_none() {
        tell_begin_as(session, StatementOrigin::Query, text.to_vec());
    }
}

/// The text of a PREPARE has been understood.
pub(super) fn tell_prepare(session: &Session, text: &[u8]) {
    if session.client.logged.is_wanted
        && let Some(log) = session.server.host.statement_log()
    {
        log.begins(StatementOrigin::Prepare, text);
    }
}

/// A prepared statement begins with these parameters.
pub(super) fn tell_begin_of_prepared(session: &mut Session, text: &[u8], parameters: &[Value]) {
    if session.client.logged.is_wanted {
        let text = with_parameters(text, parameters, session.settings.variables.lex_mode());
        tell_begin_as(session, StatementOrigin::Execute, text);
    }
}

#[cold]
fn tell_begin_as(session: &mut Session, origin: StatementOrigin, text: Vec<u8>) {
    if let Some(log) = session.server.host.statement_log() {
        log.begins(origin, &text);
    }
    session.client.logged.text = Some(text);
}

/// A prepared statement's text with its parameters in place of its `?`.
fn with_parameters(text: &[u8], parameters: &[Value], mode: crate::lexer::LexMode) -> Vec<u8> {
    let places = tokenize(text, mode).unwrap_or_default().into_iter();
    let places = places.filter(|token| token.kind == TokenKind::Parameter);
    let (mut out, mut kept) = (Vec::with_capacity(text.len()), 0);
    for (place, value) in places.zip(parameters) {
        out.extend_from_slice(&text[kept..place.start as usize]);
        put_literal(value, &mut out);
        kept = place.end as usize;
    }
    out.extend_from_slice(&text[kept..]);
    out
}

/// Appends a value as it is written in a statement.
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
        let shown = with_parameters(
            b"SELECT '?', ?, ? /* ? */, `?` FROM t WHERE a=? AND b>?",
            &values,
            crate::lexer::LexMode::default(),
        );
        assert_eq!(
            String::from_utf8(shown).as_deref(),
            Ok("SELECT '?', -5, NULL /* ? */, `?` FROM t WHERE a='it\\'s\\n' AND b>1.5")
        );
    }
}
