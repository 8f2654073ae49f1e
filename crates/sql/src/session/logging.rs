//! Applies `binlog_format`: decides whether the binary log gets a statement's rows or its text, and
//! adds what the text needs.
//!
//! With STATEMENT, the text is logged, and note 1592 tells what makes it unsafe. With MIXED, unsafe
//! statements are logged as rows, and so are all statements below REPEATABLE READ. A statement that
//! has changed no rows is not logged.

use super::Session;
use super::state::Bound;
use crate::bind::LoggingNeeds;
use crate::binlog_format::BinlogFormat;
use crate::error::{Result, SqlError};
use crate::expr::{Level, UserVariable, text_of};
use crate::lexer::{LexMode, TokenKind, tokenize};
use binlog::event::{UserVarEvent, UserVarValue};
use engine::{Isolation, LoggedStatement, Transaction, TriggerEvent};
use std::borrow::Cow;
use types::{Value, collation};

/// The values from before a statement that is to be logged as text, which its text depends on.
pub(super) struct TextContext {
    last_insert_id: Option<u64>,
    rand_seeds: Option<(u64, u64)>,
    user_variables: Vec<LoggedVariable>,
}

/// A user variable in the form of its event.
struct LoggedVariable {
    name: String,
    /// The value. `None` means NULL.
    value: Option<LoggedValue>,
}

struct LoggedValue {
    /// The type of the value, as MySQL's `Item_result`.
    kind: u8,
    collation: u16,
    bytes: Vec<u8>,
    unsigned: bool,
}

impl LoggedVariable {
    fn event(&self) -> UserVarEvent<'_> {
        let value = self.value.as_ref().map(|value| UserVarValue {
            kind: value.kind,
            collation: u32::from(value.collation),
            bytes: &value.bytes,
            unsigned: value.unsigned,
        });
        UserVarEvent { name: self.name.as_bytes(), value }
    }
}

/// Returns the values to log with a statement's text, or `None` if the statement is not logged as
/// text.
///
/// # Errors
/// Returns 1665 when `binlog_format` is STATEMENT and the isolation level allows only rows.
pub(super) fn text_context(
    session: &Session,
    transaction: &Transaction,
    bound: &Bound,
) -> Result<Option<TextContext>> {
    let format = session.settings.variables.binlog_format;
    if format == BinlogFormat::Row
        || bound.is_query()
        || !session.settings.variables.sql_log_bin
        || !session.server.engine.log_bin()
    {
        return Ok(None);
    }
    if uses_temporary(session, bound) {
        return Ok(None);
    }
    let needs_rows = matches!(transaction.isolation(), Isolation::ReadCommitted | Isolation::ReadUncommitted);
    match format {
        BinlogFormat::Statement if needs_rows => Err(SqlError::new(
            1665,
            "Cannot execute statement: impossible to write to binary log since BINLOG_FORMAT = STATEMENT and at least one table uses \
             a storage engine limited to row-based logging. InnoDB is limited to row-logging when transaction isolation level is \
             READ COMMITTED or READ UNCOMMITTED.",
        )),
        BinlogFormat::Mixed if needs_rows || !bound.logging.reasons.is_empty() => Ok(None),
        // The file would have to be logged with the statement.
        _ if bound.plan.is_load() => Ok(None),
        // A function or a trigger may do something else on a replica than it did here.
        BinlogFormat::Mixed if bound.logging.runs_functions || has_triggers(bound) => Ok(None),
        _ => Ok(Some(context_of(session, &bound.logging))),
    }
}

/// Reports whether the statement uses temporary tables, or may do so in a stored program. Replicas
/// do not have these tables, so they get the rows.
fn uses_temporary(session: &Session, bound: &Bound) -> bool {
    bound.tables.iter().any(|table| table.is_temporary())
        || (bound.logging.runs_functions || has_triggers(bound)) && !session.temporary.is_empty()
}

fn context_of(session: &Session, needs: &LoggingNeeds) -> TextContext {
    let variables = session.settings.user_variables.borrow();
    let value_of = |name: &String| LoggedVariable {
        name: name.clone(),
        value: variables.get(name).and_then(logged_value),
    };
    let seeds = session.settings.random.get();
    TextContext {
        last_insert_id: needs.last_insert_id.then(|| session.settings.last_insert_id.get()),
        rand_seeds: needs.rand.then_some((seeds & 0xffff_ffff, seeds >> 32)),
        user_variables: needs.user_variables.iter().map(value_of).collect(),
    }
}

/// Ends a statement that is logged as text.
pub(super) fn end_statement_as_text(
    session: &Session,
    transaction: &mut Transaction,
    (text, now_us): (&[u8], u64),
    context: &TextContext,
    insert_id: Option<u64>,
    needs: &LoggingNeeds,
) {
    let schema = session.settings.schema.as_deref().unwrap_or_default();
    if !session.server.engine.binlog_filter().allows(schema) {
        transaction.end_statement_unlogged();
        return;
    }
    transaction.end_statement_as_text(&LoggedStatement {
        session: &session.session_context(now_us),
        schema,
        text,
        last_insert_id: context.last_insert_id,
        insert_id,
        rand_seeds: context.rand_seeds,
        user_variables: context.user_variables.iter().map(LoggedVariable::event).collect(),
    });
    for reason in &needs.reasons {
        let message = format!(
            "Unsafe statement written to the binary log using statement format since BINLOG_FORMAT = STATEMENT. {}",
            reason.reason()
        );
        session.statement.diagnostics.borrow_mut().push(Level::Note, 1592, message);
    }
}

/// Reports whether the statement may fire triggers.
fn has_triggers(bound: &Bound) -> bool {
    let any = TriggerEvent::ALL.into_iter().fold(0, |bits, event| bits | event.bit());
    bound.plan.changed_tables().iter().any(|table| table.has_triggers(any))
}

fn logged_value(variable: &UserVariable) -> Option<LoggedValue> {
    const STRING: u8 = 0;
    const REAL: u8 = 1;
    const INTEGER: u8 = 2;
    const DECIMAL: u8 = 4;
    let number = |kind, bytes, unsigned| LoggedValue { kind, collation: collation::BINARY, bytes, unsigned };
    Some(match &variable.value {
        Value::Null => return None,
        Value::Int(n) => number(INTEGER, n.to_le_bytes().to_vec(), false),
        Value::UInt(n) => number(INTEGER, n.to_le_bytes().to_vec(), true),
        Value::Double(n) => number(REAL, n.to_le_bytes().to_vec(), false),
        value @ Value::Decimal(_) => {
            let ty = value.natural_type();
            // The precision and the scale come first, then the digits as a column stores them.
            let mut bytes = vec![ty.precision(), ty.scale()];
            types::packed::encode(&ty, value, &mut bytes).ok()?;
            number(DECIMAL, bytes, false)
        }
        other => {
            let collation = variable.ty().collation;
            let bytes = collation::from_utf8mb4_lossy(collation, &text_of(other)).into_owned();
            LoggedValue { kind: STRING, collation, bytes, unsigned: false }
        }
    })
}

/// Returns a prepared statement's text with the parameters as literals, as MySQL logs it.
pub(super) fn expanded<'t>(text: &'t [u8], parameters: &[Value], mode: LexMode) -> Cow<'t, [u8]> {
    expanded_by(text, parameters, mode, |value, out| put_literal(value, mode, out))
}

/// Returns a prepared statement's text with the parameters in the form that `put` appends.
pub(super) fn expanded_by<'t>(
    text: &'t [u8],
    parameters: &[Value],
    mode: LexMode,
    put: impl Fn(&Value, &mut Vec<u8>),
) -> Cow<'t, [u8]> {
    if parameters.is_empty() {
        return Cow::Borrowed(text);
    }
    let Ok(tokens) = tokenize(text, mode) else { return Cow::Borrowed(text) };
    let (mut out, mut taken) = (Vec::with_capacity(text.len() + 16 * parameters.len()), 0);
    let places = tokens.iter().filter(|token| token.kind == TokenKind::Parameter);
    for (token, value) in places.zip(parameters) {
        out.extend_from_slice(&text[taken..token.start as usize]);
        put(value, &mut out);
        taken = token.end as usize;
    }
    out.extend_from_slice(&text[taken..]);
    Cow::Owned(out)
}

pub(super) fn put_literal(value: &Value, mode: LexMode, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => out.extend_from_slice(&text_of(value)),
        // An exponent makes the literal a DOUBLE; without it, it would be a DECIMAL.
        Value::Float(n) => out.extend_from_slice(format!("{n:e}").as_bytes()),
        Value::Double(n) => out.extend_from_slice(format!("{n:e}").as_bytes()),
        other => put_string(&text_of(other), mode, out),
    }
}

fn put_string(text: &[u8], mode: LexMode, out: &mut Vec<u8>) {
    if std::str::from_utf8(text).is_err() {
        out.extend_from_slice(b"x'");
        text.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02x}").as_bytes()));
    } else {
        out.push(b'\'');
        for &byte in text {
            match byte {
                b'\'' if mode.no_backslash_escapes => out.extend_from_slice(b"''"),
                _ if mode.no_backslash_escapes => out.push(byte),
                b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
                0 => out.extend_from_slice(b"\\0"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                0x1a => out.extend_from_slice(b"\\Z"),
                _ => out.push(byte),
            }
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_literals() {
        let parameters = [
            Value::Null,
            Value::Int(-3),
            Value::text("it's \\"),
            Value::Bytes(vec![0xff, 0]),
            Value::Double(0.25),
        ];
        let text = b"INSERT INTO t VALUES (?, ?, '?', ?, ?, ?) -- ?";
        let expected = b"INSERT INTO t VALUES (NULL, -3, '?', 'it\\'s \\\\', x'ff00', 2.5e-1) -- ?";
        assert_eq!(&*expanded(text, &parameters, LexMode::default()), &expected[..]);
        let plain = LexMode { no_backslash_escapes: true, ..LexMode::default() };
        assert_eq!(&*expanded(b"SELECT ?", &parameters[2..3], plain), b"SELECT 'it''s \\'");
    }
}
