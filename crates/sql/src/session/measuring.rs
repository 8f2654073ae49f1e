//! Measures the statements of a client, for performance_schema.

use super::Session;
use super::classes::is_about_rows;
use super::state::{Bound, Known, Measuring, Plan, PreparedStatement};
use super::statement_names::name_of;
use crate::ast::{Show, Statement};
use crate::digest::Digest;
use crate::error::{Result, SqlError};
use crate::measured::{Begun, Ended, EventName, MeasuredSession, Outcome, PreparedRow};
use crate::sink::ResultSink;
use crate::statement_log::CountingSink;
use os::account::State;
use os::clock::ticks;
use std::borrow::Cow;
use std::sync::Arc;

/// The most bytes of an error's text that are shown.
const MESSAGE_BYTES: usize = 128;

/// Runs a client's statement and measures it. `text` is the text that has come, up to its end; it
/// is shown where no statement is found in it.
pub(super) fn run<T>(
    session: &mut Session,
    sink: &mut dyn ResultSink,
    text: &[u8],
    run: impl FnOnce(&mut Session, &mut dyn ResultSink) -> Result<T>,
) -> Result<T> {
    let Some(measured) = session.server.measured.clone() else { return run(session, sink) };
    let lock_ticks = os::account::wall_ticks_of_this_thread(State::RowLockWait);
    session.client.measuring = Measuring { since_ticks: ticks(), ..Measuring::default() };
    let mut counting = CountingSink::new(sink);
    let done = run(session, &mut counting);
    let (rows_sent, answer) = (counting.rows, counting.answer);
    let measuring = std::mem::take(&mut session.client.measuring);
    if !measuring.has_begun {
        let begun = begun("sql/error", Some(text), session, measuring.since_ticks);
        measured.begin(&begun);
    }
    let mut ended = Ended {
        ticks: ticks(),
        lock_ticks: os::account::wall_ticks_of_this_thread(State::RowLockWait).saturating_sub(lock_ticks),
        rows_sent: if measuring.sends_uncounted { 0 } else { rows_sent },
        prepared: measuring.prepared,
        conditions: session.statement.diagnostics.borrow_mut().take_happened(),
        ..Ended::default()
    };
    match &done {
        Ok(_) => {
            ended.rows_affected = answer.affected_rows;
            ended.warnings = u64::from(answer.warnings);
            ended.outcome.sqlstate = answer.is_ok.then_some(*b"00000");
            ended.outcome.message = answer.info;
        }
        Err(error) => ended.outcome = outcome_of(error),
    }
    let of = &session.transaction;
    measured.end(ended, of.whole.as_ref().map(|whole| (whole, &of.whole_gtid)), &session.server.counters);
    session.transaction.whole = None;
    done
}

fn outcome_of(error: &SqlError) -> Outcome {
    let sqlstate = error.state;
    let mut message = error.message.clone();
    let end = (0..=MESSAGE_BYTES.min(message.len())).rev().find(|at| message.is_char_boundary(*at));
    message.truncate(end.unwrap_or(0));
    Outcome { error_code: error.code, sqlstate: Some(sqlstate), message }
}

fn begun<'s>(name: &str, text: Option<&'s [u8]>, session: &'s Session, ticks: u64) -> Begun<'s> {
    let schema = session.settings.schema.as_deref();
    Begun { name: EventName::of(name), text, digest: None, schema, ticks }
}

/// Notes that a statement begins which was bound earlier.
#[inline]
pub(super) fn begin_bound(session: &mut Session, bound: &Bound, text: &[u8]) {
    if session.server.measured.is_none() {
        return;
    }
    match bound.known.get() {
        Some(known) if !known.is_rest() => begin_as(session, known, text),
        Some(known) => {
            let known = known_of(session, known.name, "", text);
            begin_as(session, &known, text);
        }
        None => {
            let Plan::Insert(plan) = &bound.plan else { return };
            assert!(plan.literal_rows().is_some(), "only an INSERT of literals runs again as another text");
            let name = EventName::of(if plan.is_replace() { "sql/replace" } else { "sql/insert" });
            let known = known_by_shape(session, name, text);
            begin_as(session, &known, text);
            let is_first = bound.known.set(known).is_ok();
            assert!(is_first, "only one session runs an INSERT that it has bound");
        }
    }
}

/// Notes that a statement begins which has been understood.
pub(super) fn begin(session: &mut Session, statement: &Statement, text: &[u8]) {
    if session.server.measured.is_none() || session.client.measuring.has_begun {
        return;
    }
    session.client.measuring.sends_uncounted = sends_uncounted(statement);
    if !is_about_rows(statement) {
        let known = known_of(session, name_of(statement), "", text);
        let shown = session.server.host.without_secrets(text).into_owned();
        return begin_as(session, &known, &shown);
    }
    let known = known_by_shape(session, name_of(statement), text);
    begin_as(session, &known, text);
    session.client.measuring.known = Some(known);
}

/// Returns how a statement about rows is known. Statements of the same shape have the same digest,
/// which is computed once.
fn known_by_shape(session: &mut Session, name: EventName, text: &[u8]) -> Known {
    let generation = session.cache.generation();
    match session.client.shapes.get(text, generation) {
        (_, Some(known)) => known,
        (shape, None) => {
            let known = known_of(session, name, "", text);
            if let Some(shape) = shape {
                session.client.shapes.keep(shape, &known);
            }
            known
        }
    }
}

/// Reports whether MySQL does not count the rows that a statement sends, because they are not those
/// of a query.
fn sends_uncounted(statement: &Statement) -> bool {
    match statement {
        Statement::Show { show, .. } => matches!(
            show,
            Show::CreateTable(_)
                | Show::CreateSequence(_)
                | Show::CreateObject { .. }
                | Show::CreateSchema { .. }
                | Show::Warnings { .. }
        ),
        Statement::Admin(_) | Statement::Maintain { .. } => true,
        _ => false,
    }
}

fn begin_as(session: &mut Session, known: &Known, text: &[u8]) {
    let Some(measured) = &session.server.measured else { return };
    if session.client.measuring.has_begun {
        return;
    }
    let schema = session.settings.schema.as_deref();
    let ticks = session.client.measuring.since_ticks;
    measured.begin(&Begun {
        name: known.name,
        text: Some(text),
        digest: known.digest.as_ref(),
        schema,
        ticks,
    });
    session.client.measuring.has_begun = true;
}

/// Returns a statement's text as others may see it.
fn shown<'t>(session: &Session, statement: &Statement, text: &'t [u8]) -> Cow<'t, [u8]> {
    match is_about_rows(statement) {
        true => Cow::Borrowed(text),
        false => session.server.host.without_secrets(text),
    }
}

/// Finds the digest of a text; `command` stands in front of it.
fn known_of(session: &Session, name: EventName, command: &str, text: &[u8]) -> Known {
    let Some(measured) = &session.server.measured else { return Known { name, digest: None } };
    let most_bytes = measured.measured().settings().digest_bytes;
    let digest = Digest::of(text, session.settings.variables.lex_mode(), most_bytes);
    known_as(session, measured, name, &format!("{command}{}", digest.text))
}

fn known_as(session: &Session, measured: &MeasuredSession, name: EventName, digest: &str) -> Known {
    Known { name, digest: measured.measured().digest(session.settings.schema.as_deref(), digest) }
}

/// Runs the preparing of a statement that has come by the protocol, and measures it.
pub(super) fn run_prepare(
    session: &mut Session,
    text: &[u8],
    prepare: impl FnOnce(&mut Session) -> Result<Box<PreparedStatement>>,
) -> Result<Box<PreparedStatement>> {
    let Some(measured) = session.server.measured.clone() else { return prepare(session) };
    let since_ticks = ticks();
    measured.begin(&begun("com/Prepare", Some(text), session, since_ticks));
    let mut done = prepare(session);
    let conditions = session.statement.diagnostics.borrow_mut().take_happened();
    let mut ended = Ended { ticks: ticks(), conditions, ..Ended::default() };
    match &mut done {
        Ok(prepared) => {
            ended.outcome.sqlstate = Some(*b"00000");
            let known = known_of(session, EventName::of("com/Prepare"), "PREPARE ", text);
            let shown = shown(session, &prepared.statement, text);
            measured.retell(&Begun {
                name: known.name,
                text: Some(&shown),
                digest: known.digest.as_ref(),
                schema: session.settings.schema.as_deref(),
                ticks: since_ticks,
            });
            keep(prepared, &measured, since_ticks, &shown);
        }
        Err(error) => ended.outcome = outcome_of(error),
    }
    measured.end(ended, None, &session.server.counters);
    done
}

/// Notes that PREPARE has understood the text that it names.
pub(super) fn told_prepared(session: &Session, prepared: &mut PreparedStatement, name: &str) {
    let Some(measured) = session.server.measured.clone() else { return };
    retell(session, &measured, "PREPARE ", prepared);
    let shown = shown(session, &prepared.statement, &prepared.text).into_owned();
    keep(prepared, &measured, session.client.measuring.since_ticks, &shown);
    if let Some(kept) = &prepared.measured {
        kept.call(0, Some(name));
    }
}

/// Notes that EXECUTE or DEALLOCATE names this statement.
pub(super) fn told_named(session: &mut Session, command: &str, prepared: &PreparedStatement) {
    let Some(measured) = session.server.measured.clone() else { return };
    retell(session, &measured, command, prepared);
    session.client.measuring.prepared = prepared.measured.as_ref().map(|kept| kept.place());
}

fn retell(session: &Session, measured: &MeasuredSession, command: &str, prepared: &PreparedStatement) {
    let known = known_of(session, EventName::of("sql/execute_sql"), command, &prepared.text);
    let shown = shown(session, &prepared.statement, &prepared.text);
    let schema = session.settings.schema.as_deref();
    let (text, digest) = (Some(&*shown), known.digest.as_ref());
    measured.retell(&Begun { name: known.name, text, digest, schema, ticks: 0 });
}

fn keep(prepared: &mut PreparedStatement, measured: &Arc<MeasuredSession>, since_ticks: u64, text: &[u8]) {
    let row = PreparedRow {
        id: 0,
        name: None,
        text: text.into(),
        event: 0,
        prepare_ns: 0,
        reprepared: 0,
        figures: Default::default(),
    };
    prepared.measured = Some(measured.keep_prepared(row, ticks().saturating_sub(since_ticks)));
}

/// Notes that a prepared statement begins that was called by the protocol.
pub(super) fn begin_prepared(session: &mut Session, prepared: &mut PreparedStatement) {
    if session.server.measured.is_none() || session.client.measuring.has_begun {
        return;
    }
    let schema = session.settings.schema.as_deref();
    let is_its = |known: &Known| {
        known.digest.as_ref().is_some_and(|digest| !digest.is_rest() && digest.schema.as_deref() == schema)
    };
    if !prepared.known.as_ref().is_some_and(is_its) {
        let name = EventName::of("com/Execute");
        prepared.known = Some(known_of(session, name, "EXECUTE ", &prepared.text));
    }
    if let Some(known) = &prepared.known {
        match is_about_rows(&prepared.statement) {
            true => begin_as(session, known, &prepared.text),
            false => {
                let shown = shown(session, &prepared.statement, &prepared.text).into_owned();
                begin_as(session, known, &shown);
            }
        }
    }
    session.client.measuring.prepared = prepared.measured.as_ref().map(|kept| kept.place());
}

/// Notes that a command has closed a prepared statement.
pub(super) fn closed(session: &Session, prepared: &PreparedStatement) {
    let Some(measured) = &session.server.measured else { return };
    let known = known_of(session, EventName::of("com/Close stmt"), "DEALLOCATE ", &prepared.text);
    let shown = shown(session, &prepared.statement, &prepared.text);
    measured.begin(&Begun {
        name: known.name,
        text: Some(&shown),
        digest: known.digest.as_ref(),
        schema: session.settings.schema.as_deref(),
        ticks: ticks(),
    });
    measured.end(Ended { ticks: ticks(), ..Ended::default() }, None, &session.server.counters);
}

/// Measures a command that is no statement, by its name behind `com/`.
pub(super) fn command(session: &Session, name: &str, since_ticks: u64, error: Option<&SqlError>) {
    let Some(measured) = &session.server.measured else { return };
    measured.begin(&begun(name, None, session, since_ticks));
    let outcome = match error {
        Some(error) => outcome_of(error),
        None => Outcome { sqlstate: Some(*b"00000"), ..Outcome::default() },
    };
    measured.end(Ended { ticks: ticks(), outcome, ..Ended::default() }, None, &session.server.counters);
}
