//! Converts values to text, as a whole or as much of it as messages show.

use std::borrow::Cow;
use types::escaped::escaped;
use types::{ColumnType, Value};

/// Returns a value as text (bytes for binary values), which is empty for NULL.
pub(crate) fn text_of(value: &Value) -> Cow<'_, [u8]> {
    match value {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        Value::Float(number) => Cow::Owned(text_of_float(*number)),
        other => Cow::Owned(other.text_bytes(None).unwrap_or_default()),
    }
}

/// Returns the text of a value of the type `ty`: its fraction has the type's digits, and a number
/// is written as its column shows it.
pub(crate) fn text_as<'v>(value: &'v Value, ty: &ColumnType) -> Cow<'v, [u8]> {
    match value {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        Value::Float(number) if ty.form.is_none_or(|form| form.decimals().is_none() && !form.zerofill()) => {
            Cow::Owned(text_of_float(*number))
        }
        other => Cow::Owned(other.text_bytes(Some(ty)).unwrap_or_default()),
    }
}

fn text_of_float(number: f32) -> Vec<u8> {
    let mut text = Vec::new();
    types::number::write_f32_as_text(number, &mut text);
    text
}

/// Returns a value as messages show it: at most as much of it as MySQL shows.
pub(crate) fn shown(value: &Value) -> String {
    const MOST_BYTES: usize = 128;
    let text = text_of(value);
    let cut = &text[..text.len().min(MOST_BYTES)];
    if matches!(value, Value::Bit { .. }) {
        return escaped(cut);
    }
    match std::str::from_utf8(cut) {
        // Such characters are in bytes, which messages show as numbers, and hardly in texts.
        Ok(cut) if cut.bytes().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) => {
            escaped(cut.as_bytes())
        }
        Ok(cut) => cut.to_owned(),
        // The cut goes through the last character.
        Err(error) if error.error_len().is_none() && cut.len() < text.len() => {
            String::from_utf8_lossy(&cut[..error.valid_up_to()]).into_owned()
        }
        Err(_) => escaped(cut),
    }
}
