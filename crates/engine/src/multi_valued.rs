//! Multi-valued indexes: an index one of whose parts is an array has an entry for each different
//! element of the array, and none for an empty one. NULL has one entry.
//!
//! The array is a hidden JSON column, the elements of which are in order and different from each
//! other. Rows of all other indexes have one entry each, and pay no more than a look at a flag.

use crate::definition::IndexRef;
use crate::error::{EngineError, Result};
use crate::table::{KeyPart, SecondaryKey, Table};
use types::json::{self, Node};
use types::{ColumnType, TypeCode, Value, collation};

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

impl Table {
    /// Returns the keys of a row's entries in a secondary index.
    ///
    /// # Errors
    /// Returns an error for an image that does not decode.
    #[inline]
    pub(crate) fn entry_keys(&self, at: usize, image: &[u8], clustered: &[u8]) -> Result<EntryKeys> {
        match self.indexes[at].array {
            None => Ok(EntryKeys::One(self.secondary_key(at, image, clustered)?)),
            Some(part) => Ok(EntryKeys::Several(self.array_keys(at, part, image, clustered)?)),
        }
    }

    /// Returns the key of the row's entry in a secondary index that has these bytes. `None` means
    /// that the row has no such entry.
    ///
    /// # Errors
    /// Returns the errors of [`Table::entry_keys`].
    pub(crate) fn entry_key(
        &self,
        at: usize,
        image: &[u8],
        clustered: &[u8],
        key: &[u8],
    ) -> Result<Option<SecondaryKey>> {
        let mut found = None;
        self.entry_keys(at, image, clustered)?.for_each(|own| {
            if own.key[..] == *key {
                found = Some(own);
            }
        });
        Ok(found)
    }

    /// Returns the index's own columns in each of the entries that a row has in a secondary index.
    ///
    /// # Errors
    /// Returns the errors of [`Table::encode_key`], and an error for an image that does not decode.
    pub fn row_keys(&self, at: usize, image: &[u8]) -> Result<Vec<Vec<u8>>> {
        let keys = self.entry_keys(at, image, &[])?;
        Ok(keys.as_slice().iter().map(|key| key.key.to_vec()).collect())
    }

    /// Reports whether an index is a multi-valued one.
    pub fn is_multi_valued(&self, index: IndexRef) -> bool {
        self.array_part(index).is_some()
    }

    /// Returns the position of the array among the parts of a multi-valued index. `None` means that
    /// the index is another one.
    pub fn array_part(&self, index: IndexRef) -> Option<usize> {
        match index {
            IndexRef::Primary => None,
            IndexRef::Secondary(at) => self.indexes[at].array,
        }
    }

    fn array_keys(
        &self,
        at: usize,
        part: usize,
        image: &[u8],
        clustered: &[u8],
    ) -> Result<Vec<SecondaryKey>> {
        let parts = &self.indexes[at].parts;
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        let nulls = self.encode_parts(&parts[..part], image, &mut before)?
            | self.encode_parts(&parts[part + 1..], image, &mut behind)?;
        let array = &parts[part];
        let mut keys = Vec::new();
        for element in self.elements(array, image)? {
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
    fn elements(&self, part: &KeyPart, image: &[u8]) -> Result<Vec<Value>> {
        let malformed = || {
            let name = &self.qualified_name;
            EngineError::Corrupt(format!("{name}: a row has no array of the elements of an index"))
        };
        let document = match self.layout.decode(image, part.column)? {
            Value::Null => return Ok(vec![Value::Null]),
            Value::Json(document) => json::read_document(&document).ok_or_else(malformed)?,
            _ => return Err(malformed()),
        };
        let Node::Array(elements) = document else { return Err(malformed()) };
        elements.iter().map(|element| element_value(element, &part.ty).ok_or_else(malformed)).collect()
    }
}

/// Returns the value of an element of an array whose elements have the type `ty`. `None` means that
/// it is of another type.
pub fn element_value(element: &Node, ty: &ColumnType) -> Option<Value> {
    Some(match (element, ty.code) {
        (Node::Int(n), TypeCode::LongLong) => match ty.unsigned {
            true => Value::UInt(u64::try_from(*n).ok()?),
            false => Value::Int(*n),
        },
        (Node::UInt(n), TypeCode::LongLong) => match ty.unsigned {
            true => Value::UInt(*n),
            false => Value::Int(i64::try_from(*n).ok()?),
        },
        (Node::String(text), TypeCode::Varchar) if ty.collation != collation::BINARY => {
            Value::Bytes(text.clone())
        }
        (Node::Opaque(_, bytes), TypeCode::Varchar) if ty.collation == collation::BINARY => {
            Value::Bytes(bytes.clone())
        }
        (_, TypeCode::NewDecimal) => Value::Decimal(element.as_decimal()?.with_scale(ty.scale())?),
        (_, TypeCode::Date) => Value::Date(element.as_datetime()?.date),
        (_, TypeCode::Datetime2) => Value::DateTime(element.as_datetime()?),
        (_, TypeCode::Time2) => Value::Time(element.as_time()?),
        _ => return None,
    })
}

/// Returns the text of a row's array as MySQL's duplicate key message has it: of numbers, dates and
/// bytes as many bytes of the text as an element has.
pub(crate) fn array_text(document: &[u8], elements: &ColumnType) -> String {
    let mut text = Vec::new();
    json::write_text(document, &mut text);
    if !elements.is_character() {
        text.truncate(elements.max_bytes() as usize);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{Date, Decimal};

    #[test]
    fn elements_are_of_their_type_or_refused() {
        let unsigned = ColumnType::bigint(true);
        assert_eq!(element_value(&Node::Int(7), &unsigned), Some(Value::UInt(7)));
        assert_eq!(element_value(&Node::Int(-7), &unsigned), None);
        assert_eq!(element_value(&Node::UInt(u64::MAX), &ColumnType::bigint(false)), None);
        let number = "1.50".parse::<Decimal>().unwrap();
        let decimal = ColumnType::decimal(5, 2);
        assert_eq!(element_value(&Node::decimal(&number), &decimal), Some(Value::Decimal(number)));
        assert_eq!(element_value(&Node::Int(1), &decimal), None);
        let day = Date::new(2024, 2, 29).unwrap();
        assert_eq!(element_value(&Node::date(&day), &ColumnType::date()), Some(Value::Date(day)));
        let text = Node::String(b"a".to_vec());
        assert_eq!(element_value(&text, &ColumnType::varchar(3, 309)), Some(Value::text("a")));
        assert_eq!(element_value(&text, &ColumnType::varbinary(3)), None);
        assert_eq!(element_value(&Node::Null, &unsigned), None);
    }

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
