//! The text of values, and as much of it as messages show.

use std::borrow::Cow;
use types::{ColumnType, Value};

/// A value as text (bytes for binary values); empty for NULL.
pub(crate) fn text_of(value: &Value) -> Cow<'_, [u8]> {
    match value {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        other => Cow::Owned(other.text_bytes(None).unwrap_or_default()),
    }
}

/// The text of a value of a type: its fraction has the digits of the type, and a number is written
/// as its column shows it.
pub(crate) fn text_as<'v>(value: &'v Value, ty: &ColumnType) -> Cow<'v, [u8]> {
    match value {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        other => Cow::Owned(other.text_bytes(Some(ty)).unwrap_or_default()),
    }
}

/// A value as messages show it: as much of it as MySQL does.
pub(crate) fn shown(value: &Value) -> String {
    const MOST_BYTES: usize = 128;
    let text = text_of(value);
    let cut = &text[..text.len().min(MOST_BYTES)];
    let cut = match std::str::from_utf8(cut) {
        // The last character is cut through.
        Err(error) if error.error_len().is_none() && cut.len() < text.len() => &cut[..error.valid_up_to()],
        _ => cut,
    };
    String::from_utf8_lossy(cut).into_owned()
}
