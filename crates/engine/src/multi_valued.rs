//! Indexes in which a row has several entries or none. Rows of all other indexes have one entry
//! each, and pay no more than a look at a flag.
//!
//! A multi-valued index, one of whose parts is an array, has an entry for each different element of
//! the array, and none for an empty one. NULL has one entry. The array is a hidden JSON column, the
//! elements of which are in order and different from each other.
//!
//! A FULLTEXT index has an entry for each different word of its columns' texts, and a SPATIAL index
//! one for each of the few cells that cover a geometry (decision 0080).

use crate::array_elements::element_value;
use crate::definition::{ColumnDef, EntryRule};
use crate::error::{EngineError, Result};
use crate::key_parts::{self, KeyPart, SecondaryKey};
use types::cells::{Surface, Window};
use types::geometry::Geometry;
use types::json::{self, Node};
use types::row::RowLayout;
use types::words::Rules;
use types::{ColumnType, Value};

/// Which entries a row has in an index.
pub(crate) enum RowEntries {
    /// One, which is made of the index's columns.
    One,
    /// One for each element of the array, which is the part at this position.
    OfArray(usize),
    /// One for each word of some columns.
    OfWords(Box<WordEntries>),
    /// One for each cell of the geometry in the column at this position.
    OfCells(usize, Surface),
}

impl RowEntries {
    /// Reports whether gaps between the entries may be locked. Those of words are read by snapshots
    /// alone.
    pub fn are_locked(&self) -> bool {
        !matches!(self, RowEntries::OfWords(_))
    }
}

/// The entries that a FULLTEXT index has.
pub(crate) struct WordEntries {
    /// The positions of the columns.
    pub columns: Vec<usize>,
    rules: Rules,
}

/// Returns the part that the keys of a rule's entries consist of, and which entries a row has.
pub(crate) fn of_rule(
    columns: &[ColumnDef],
    positions: Vec<usize>,
    rule: &EntryRule,
) -> (KeyPart, RowEntries) {
    let first = positions[0];
    match *rule {
        EntryRule::Words { is_ngram, sizes } => {
            let ty = word_type();
            let part = KeyPart { column: first, prefix: None, nullable: false, ty, is_array: true };
            let rules = Rules::new(columns[first].ty.collation, is_ngram, sizes);
            (part, RowEntries::OfWords(Box::new(WordEntries { columns: positions, rules })))
        }
        EntryRule::Cells(surface) => {
            let ty = ColumnType::bigint(true);
            let part = KeyPart { column: first, prefix: None, nullable: false, ty, is_array: true };
            (part, RowEntries::OfCells(first, surface))
        }
    }
}

/// Returns the type of the entries of words, which are not longer.
fn word_type() -> ColumnType {
    ColumnType::varbinary(255)
}

impl WordEntries {
    /// Returns the keys of a row's entries, in order and each once.
    ///
    /// # Errors
    /// Returns an error for an image that does not decode.
    pub fn keys(&self, layout: &RowLayout, image: &[u8], clustered: &[u8]) -> Result<Vec<SecondaryKey>> {
        let mut texts = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            if let Value::Bytes(text) = layout.decode(image, *column)? {
                texts.push(text);
            }
        }
        // A text that is not well-formed has no words, for a search does not find it either.
        let texts = texts.iter().filter_map(|text| std::str::from_utf8(text).ok());
        let key = |word: Vec<u8>| {
            let mut key = Vec::with_capacity(word.len() + 4 + clustered.len());
            word_key(&word, &mut key);
            let secondary_len = key.len();
            key.extend_from_slice(clustered);
            SecondaryKey { key: key.as_slice().into(), secondary_len, has_null: false }
        };
        Ok(self.rules.entries(texts).into_iter().map(key).collect())
    }
}

/// Returns the keys of a row's entries in a SPATIAL index over the column, in order. A geometry
/// without points has none, and neither has NULL.
///
/// # Errors
/// Returns an error for an image that does not decode.
pub(crate) fn cell_keys(
    layout: &RowLayout,
    (column, surface): (usize, Surface),
    image: &[u8],
    clustered: &[u8],
) -> Result<Vec<SecondaryKey>> {
    let Value::Bytes(stored) = layout.decode(image, column)? else { return Ok(Vec::new()) };
    let window = Geometry::from_stored(&stored).and_then(|(_, geometry)| Window::around(&geometry, surface));
    let cells = window.map_or_else(Vec::new, |window| window.cells());
    let key = |cell: u64| {
        let mut key = Vec::with_capacity(size_of::<u64>() + clustered.len());
        key.extend_from_slice(&cell.to_be_bytes());
        let secondary_len = key.len();
        key.extend_from_slice(clustered);
        SecondaryKey { key: key.as_slice().into(), secondary_len, has_null: false }
    };
    Ok(cells.into_iter().map(key).collect())
}

/// Appends the key of a word's entry.
pub(crate) fn word_key(word: &[u8], key: &mut Vec<u8>) {
    types::collation::write_key(types::collation::BINARY, word, key);
}

/// The keys of a row's entries in one index.
#[derive(Clone, Debug)]
pub(crate) enum EntryKeys {
    /// The key of the entry in an index of columns.
    One(SecondaryKey),
    /// The keys of the entries in a multi-valued index, in order. No two of them are the same.
    Several(Vec<SecondaryKey>),
}

impl EntryKeys {
    /// Returns the keys in order.
    pub fn as_slice(&self) -> &[SecondaryKey] {
        match self {
            EntryKeys::One(key) => std::slice::from_ref(key),
            EntryKeys::Several(keys) => keys,
        }
    }

    /// Calls `each` with every key.
    #[inline]
    pub fn for_each(self, mut each: impl FnMut(SecondaryKey)) {
        match self {
            EntryKeys::One(key) => each(key),
            EntryKeys::Several(keys) => keys.into_iter().for_each(each),
        }
    }

    /// Returns the keys that a row loses and gets when these keys take the place of `old`.
    pub fn changes(old: EntryKeys, new: EntryKeys) -> (Vec<SecondaryKey>, Vec<SecondaryKey>) {
        let without = |keys: &EntryKeys, others: &EntryKeys| {
            let has = |key: &SecondaryKey| {
                others.as_slice().binary_search_by(|other| other.key.cmp(&key.key)).is_ok()
            };
            keys.as_slice().iter().filter(|key| !has(key)).cloned().collect()
        };
        (without(&old, &new), without(&new, &old))
    }
}

/// Returns the keys of a row's entries in a multi-valued index whose array is the part at the given
/// place of `parts`.
///
/// # Errors
/// Returns [`EngineError::Corrupt`] for an image that does not have an array of elements.
pub(crate) fn keys(
    layout: &RowLayout,
    (parts, place): (&[KeyPart], usize),
    image: &[u8],
    clustered: &[u8],
) -> Result<Vec<SecondaryKey>> {
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    let nulls = key_parts::encode(layout, &parts[..place], image, &mut before)?
        | key_parts::encode(layout, &parts[place + 1..], image, &mut behind)?;
    let array = &parts[place];
    let mut keys = Vec::new();
    for element in elements(layout, array, image)? {
        let mut key = before.clone();
        types::key::encode_value(&array.ty, &element, array.nullable, None, &mut key)?;
        key.extend_from_slice(&behind);
        let (secondary_len, has_null) = (key.len(), nulls | element.is_null());
        key.extend_from_slice(clustered);
        keys.push(SecondaryKey { key: key.as_slice().into(), secondary_len, has_null });
    }
    keys.sort_by(|a, b| a.key.cmp(&b.key));
    keys.dedup_by(|a, b| a.key == b.key);
    Ok(keys)
}

/// Returns the elements of a row's array, each as a value of their type. NULL is one element.
fn elements(layout: &RowLayout, part: &KeyPart, image: &[u8]) -> Result<Vec<Value>> {
    let malformed = || EngineError::Corrupt("a row has no array of the elements of an index".to_string());
    let document = match layout.decode(image, part.column)? {
        Value::Null => return Ok(vec![Value::Null]),
        Value::Json(document) => json::read_document(&document).ok_or_else(malformed)?,
        _ => return Err(malformed()),
    };
    let Node::Array(elements) = document else { return Err(malformed()) };
    elements.iter().map(|element| element_value(element, &part.ty).ok_or_else(malformed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_update_changes() {
        let key = |n: u8| SecondaryKey { key: [n].as_slice().into(), secondary_len: 1, has_null: false };
        let keys = |all: &[u8]| EntryKeys::Several(all.iter().map(|n| key(*n)).collect());
        let bytes = |keys: Vec<SecondaryKey>| keys.iter().map(|key| key.key[0]).collect::<Vec<_>>();
        let (lost, got) = EntryKeys::changes(keys(&[1, 2, 4]), keys(&[2, 3]));
        assert_eq!((bytes(lost), bytes(got)), (vec![1, 4], vec![3]));
        let (lost, got) = EntryKeys::changes(keys(&[1]), keys(&[]));
        assert_eq!((bytes(lost), bytes(got)), (vec![1], vec![]));
    }
}
