//! The parts of the keys of a table's indexes, and how rows make keys of them.

use crate::array_elements::array_text;
use crate::bytes::KeyBuf;
use crate::definition::{ColumnDef, IndexColumn};
use crate::error::Result;
use types::row::RowLayout;
use types::{ColumnType, TypeCode, Value, collation};

/// A part of a key, ready for encoding.
#[derive(Clone, Debug)]
pub(crate) struct KeyPart {
    pub column: usize,
    pub prefix: Option<u32>,
    pub nullable: bool,
    /// The type of the column. For an array it is the type of its elements.
    pub ty: ColumnType,
    pub is_array: bool,
}

/// Returns the part of a value that a key has, as readable text: only the prefix, BINARY without
/// padding, and bytes that are not printable ASCII as `\xHH`.
pub(crate) fn part_text(value: &Value, part: &KeyPart) -> String {
    if let (Value::Json(document), true) = (value, part.is_array) {
        return array_text(document, &part.ty);
    }
    let mut text = Vec::new();
    value.to_text(Some(&part.ty), &mut text);
    let is_bytes = matches!(part.ty.code, TypeCode::String | TypeCode::Varchar | TypeCode::Blob)
        && part.ty.collation == collation::BINARY;
    let prefix = part.prefix.map_or(usize::MAX, |prefix| prefix as usize);
    if !is_bytes && part.ty.code != TypeCode::Bit {
        let text = String::from_utf8_lossy(&text);
        return text.chars().take(prefix).collect();
    }
    text.truncate(prefix);
    if part.ty.code == TypeCode::String {
        // A value that consists of padding alone shows one byte of it.
        let padding = text.iter().rev().take_while(|byte| **byte == 0).count();
        text.truncate((text.len() - padding).max(1));
    }
    types::escaped::escaped(&text)
}

/// Returns the parts of a key over columns.
pub(crate) fn of_columns(columns: &[ColumnDef], parts: &[IndexColumn]) -> Vec<KeyPart> {
    let part = |part: &IndexColumn| {
        let column = &columns[part.column];
        KeyPart {
            column: part.column,
            prefix: part.prefix,
            nullable: column.nullable,
            ty: column.elements.as_ref().unwrap_or(&column.ty).clone(),
            is_array: column.elements.is_some(),
        }
    };
    parts.iter().map(part).collect()
}

/// Appends the key made of `parts`. Returns true when one of them is NULL.
pub(crate) fn encode(layout: &RowLayout, parts: &[KeyPart], image: &[u8], key: &mut Vec<u8>) -> Result<bool> {
    let mut has_null = false;
    for part in parts {
        let raw = layout.get_raw(image, part.column)?;
        has_null |= raw.is_none();
        types::key::encode_raw(&part.ty, raw, part.nullable, part.prefix, key)?;
    }
    Ok(has_null)
}

/// The key of a secondary entry.
#[derive(Clone, Debug)]
pub(crate) struct SecondaryKey {
    /// The encoded columns of the index, then the clustered key.
    pub key: KeyBuf,
    pub secondary_len: usize,
    /// Whether a column of the index is NULL. A unique index allows any number of such entries.
    pub has_null: bool,
}
