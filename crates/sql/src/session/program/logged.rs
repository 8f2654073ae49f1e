//! The text of a program's statement for the binary log, in which the program's variables are
//! replaced by their named values, as in MySQL.

use crate::ast::program::InnerStatement;
use crate::binlog_format::BinlogFormat;
use crate::program::Frame;
use crate::session::Session;
use crate::session::logging::put_literal;
use std::borrow::Cow;
use types::{Value, collation};

/// Returns the text of a statement with its variables replaced, if it is going to be logged. Else
/// returns it as it is in the program.
pub(super) fn text_of<'i>(session: &Session, inner: &'i InnerStatement, frame: &Frame) -> Cow<'i, [u8]> {
    let is_read = session.settings.variables.binlog_format != BinlogFormat::Row
        || session.settings.variables.logs_rows_query;
    if inner.variables.is_empty() || !is_read || !session.server.engine.log_bin() {
        return Cow::Borrowed(inner.text.as_bytes());
    }
    let text = inner.text.as_bytes();
    let (mut out, mut taken) = (Vec::with_capacity(text.len() + 32 * inner.variables.len()), 0);
    for named in &inner.variables {
        out.extend_from_slice(&text[taken..named.start]);
        let name = &text[named.start..named.end];
        put_value(session, &frame.values[named.slot], frame.types[named.slot].collation, name, &mut out);
        taken = named.end;
    }
    out.extend_from_slice(&text[taken..]);
    Cow::Owned(out)
}

fn put_value(session: &Session, value: &Value, id: u16, name: &[u8], out: &mut Vec<u8>) {
    let mode = session.settings.variables.sql_mode.lex();
    out.extend_from_slice(b" NAME_CONST('");
    out.extend(name.iter().filter(|byte| !matches!(byte, b'\'' | b'`' | b'\\')));
    out.extend_from_slice(b"',");
    let is_text = matches!(value, Value::Bytes(bytes) if std::str::from_utf8(bytes).is_ok());
    if is_text && id != collation::BINARY {
        out.extend_from_slice(b"_utf8mb4");
    }
    put_literal(value, mode, out);
    if is_text && id != collation::BINARY {
        let name = match collation::charset_of(id) {
            collation::Charset::Utf8mb4 => collation::name(id),
            _ => collation::name(collation::UTF8MB4_0900_AI_CI),
        };
        out.extend_from_slice(format!(" COLLATE '{name}'").as_bytes());
    }
    out.push(b')');
}
