//! The functions of MariaDB that make documents. They work on texts: what they return is a text, in
//! which numbers stand as they are written and names may stand twice. The text is in the character
//! set that the arguments have together. Where one of them is of bytes, the text is of bytes too: a
//! character up to U+00FF is one byte in it, and another one an escape.

use super::super::super::{Context, Expr, Node, aggregate_collations, is_text};
use super::super::{Call, Coercibility, Function};
use super::argument::is_truth;
use crate::error::{Result, SqlError};
use types::collation::BINARY;
use types::{ColumnType, TypeCode, Value, collation};

/// The most arguments of a call.
const MOST: usize = usize::MAX;

/// MariaDB's `JSON_ARRAY`. Statements cannot write its name.
pub(crate) static MARIADB_JSON_ARRAY: Function =
    Function::new("json_array of MariaDB", 0..=MOST, document_type, array).sees_nulls();

/// MariaDB's `JSON_OBJECT`. Statements cannot write its name.
pub(crate) static MARIADB_JSON_OBJECT: Function =
    Function::new("json_object of MariaDB", 0..=MOST, document_type, object).sees_nulls();

/// Returns the type of a document: a text in the character set of the arguments together.
fn document_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = match aggregate_collations(args.iter())?.0 {
        BINARY => ColumnType::longblob(),
        id => ColumnType::longtext(collation::charset_of(id).bin_collation()),
    };
    Ok((ty, Coercibility::Literal))
}

/// A document that is being written.
struct Document<'c> {
    text: Vec<u8>,
    /// The collation of the whole text. While it is written, all but bytes is in utf8mb4.
    collation: u16,
    ctx: &'c Context<'c>,
}

impl<'c> Document<'c> {
    fn begin(call: &'c Call<'_>, bracket: u8) -> Result<Document<'c>> {
        let collation = document_type(call.args)?.0.collation;
        Ok(Document { text: vec![bracket], collation, ctx: call.ctx })
    }

    fn end(mut self, call: &Call<'_>, bracket: u8) -> Result<Value> {
        self.text.push(bracket);
        call.check_room(self.text.len())?;
        Ok(Value::Bytes(self.text))
    }

    /// Appends a value of the document.
    ///
    /// # Errors
    /// Returns 1235 where MariaDB's text may be another one: for columns that may hold documents,
    /// and for documents in another character set than the one around them.
    fn put_value(&mut self, value: &Value, expr: &Expr) -> Result<()> {
        let is_document = matches!(&expr.node, Node::Call { function, .. }
            if std::ptr::eq(*function, &MARIADB_JSON_ARRAY) || std::ptr::eq(*function, &MARIADB_JSON_OBJECT));
        match value {
            Value::Null => self.text.extend_from_slice(b"null"),
            value if is_truth(expr) => {
                let text: &[u8] = if matches!(value, Value::Int(0)) { b"false" } else { b"true" };
                self.text.extend_from_slice(text);
            }
            Value::Bytes(inner) if is_document => self.put_document(inner, expr.ty.collation)?,
            Value::Int(_)
            | Value::UInt(_)
            | Value::Decimal(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::Bit { .. } => self.put_characters(value, expr)?,
            value => {
                self.text.push(b'"');
                self.put_characters(value, expr)?;
                self.text.push(b'"');
            }
        }
        Ok(())
    }

    /// Appends a document that is a value of this one.
    fn put_document(&mut self, inner: &[u8], collation: u16) -> Result<()> {
        if inner.is_ascii() || collation == self.collation {
            self.text.extend_from_slice(inner);
            return Ok(());
        }
        let stored = match (collation, self.collation) {
            (_, BINARY) => collation::from_utf8mb4(collation, inner),
            _ => None,
        };
        let stored = stored.ok_or_else(|| not_known("documents in several character sets"))?;
        self.text.extend_from_slice(&stored);
        Ok(())
    }

    /// Appends the characters of a value, with MariaDB's escapes.
    fn put_characters(&mut self, value: &Value, expr: &Expr) -> Result<()> {
        if matches!(expr.ty.code, TypeCode::Blob | TypeCode::Json) {
            return Err(not_known("columns that may hold documents"));
        }
        let mut written = Vec::new();
        match value {
            Value::Timestamp { .. } => {
                value.clone().in_zone(self.ctx.zone()).to_text(Some(&expr.ty), &mut written)
            }
            value => value.to_text(Some(&expr.ty), &mut written),
        }
        let is_of_bytes = expr.ty.code == TypeCode::Bit || is_text(&expr.ty) && expr.ty.collation == BINARY;
        if is_of_bytes {
            written.iter().for_each(|byte| self.put_byte(*byte));
            return Ok(());
        }
        let written = std::str::from_utf8(&written).map_err(|_| not_known("texts that are no UTF-8"))?;
        for character in written.chars() {
            match u8::try_from(character) {
                Ok(byte) if byte.is_ascii() || self.collation == BINARY => self.put_byte(byte),
                // MariaDB writes the two halves of a character behind one backslash.
                _ if self.collation == BINARY => {
                    self.text.extend_from_slice(b"\\u");
                    let mut units = [0; 2];
                    for unit in character.encode_utf16(&mut units) {
                        self.text.extend_from_slice(format!("{unit:04X}").as_bytes());
                    }
                }
                _ => {
                    let mut bytes = [0; 4];
                    self.text.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
                }
            }
        }
        Ok(())
    }

    fn put_byte(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => self.text.extend_from_slice(&[b'\\', byte]),
            0x08 => self.text.extend_from_slice(b"\\b"),
            0x0c => self.text.extend_from_slice(b"\\f"),
            b'\n' => self.text.extend_from_slice(b"\\n"),
            b'\r' => self.text.extend_from_slice(b"\\r"),
            b'\t' => self.text.extend_from_slice(b"\\t"),
            0..0x20 => self.text.extend_from_slice(format!("\\u{byte:04X}").as_bytes()),
            _ => self.text.push(byte),
        }
    }
}

fn not_known(what: &str) -> SqlError {
    SqlError::not_supported(format!("{what} in documents of MariaDB"))
}

fn array(call: &Call<'_>) -> Result<Value> {
    let mut document = Document::begin(call, b'[')?;
    for (at, value) in call.values.iter().enumerate() {
        if at > 0 {
            document.text.extend_from_slice(b", ");
        }
        document.put_value(value, &call.args[at])?;
    }
    document.end(call, b']')
}

fn object(call: &Call<'_>) -> Result<Value> {
    if call.values.len() % 2 == 1 {
        let text = format!("Incorrect parameter count in the call to native function '{}'", "JSON_OBJECT");
        return Err(SqlError::new(1582, text));
    }
    let mut document = Document::begin(call, b'{')?;
    for at in (0..call.values.len()).step_by(2) {
        if at > 0 {
            document.text.extend_from_slice(b", ");
        }
        document.text.push(b'"');
        if !call.values[at].is_null() {
            document.put_characters(&call.values[at], &call.args[at])?;
        }
        document.text.extend_from_slice(b"\": ");
        document.put_value(&call.values[at + 1], &call.args[at + 1])?;
    }
    document.end(call, b'}')
}
