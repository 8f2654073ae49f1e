//! The dictionary: which schemas, tables, views, triggers, routines and events exist, in a B+tree
//! of the system tablespace (space 0, `mysql.ibd`).
//!
//! A key is `[kind u8][id u64 BE][part u16 BE]`, and the value of an object is cut into parts that
//! fit a page. A schema's value is its definition. A table's value is its placement (id, space,
//! roots, creation positions), then its definition, then the older forms of its rows, then the
//! notes about rows that went with their partitions. The values are put and deleted by the commit
//! records of DDL, in the same log as everything else.

use crate::bytes::{Put, Reader};
use crate::definition::{ObjectDef, ObjectKind, SchemaDef, TableDef, codec, object};
use crate::dropped_partitions;
use crate::error::{EngineError, Result};
use crate::row_forms::FormHistory;
use crate::table::Placement;
use btree::{Direction, Tree};
use std::collections::BTreeMap;
use std::ops::Bound;

/// The number of the system tablespace.
pub(crate) const SYSTEM_SPACE: u32 = 0;
/// The file of the system tablespace in the data directory.
pub(crate) const SYSTEM_FILE: &str = "mysql.ibd";

const SCHEMA: u8 = 1;
const TABLE: u8 = 2;
/// The kind of a view, trigger, routine or event.
const OBJECT: u8 = 3;

/// A dictionary entry that is put (`Some`) or deleted (`None`): its key and its value.
pub(crate) type DictionaryOp = (Vec<u8>, Option<Vec<u8>>);

/// The number of bytes of an object's value in one entry.
const PART_BYTES: usize = 1024;
/// The largest length of an object's value in bytes: its parts have numbers of 16 bits.
const VALUE_BYTES: usize = PART_BYTES << 16;

fn key(kind: u8, id: u64, part: u16) -> Vec<u8> {
    let mut key = vec![kind];
    key.extend_from_slice(&id.to_be_bytes());
    key.extend_from_slice(&part.to_be_bytes());
    key
}

/// Returns the entries that replace `old`, an object's value if it exists, by `new`.
fn replace(kind: u8, id: u64, old: Option<&[u8]>, new: Option<&[u8]>) -> Vec<DictionaryOp> {
    let parts = |value: Option<&[u8]>| value.map_or(0, |value| value.len().div_ceil(PART_BYTES).max(1));
    let mut ops = Vec::new();
    if let Some(new) = new {
        assert!(new.len() <= VALUE_BYTES, "a part would take the place of another one");
        for part in 0..parts(Some(new)) {
            let end = new.len().min((part + 1) * PART_BYTES);
            ops.push((key(kind, id, part as u16), Some(new[part * PART_BYTES..end].to_vec())));
        }
    }
    for part in parts(new)..parts(old) {
        ops.push((key(kind, id, part as u16), None));
    }
    ops
}

fn schema_value(def: &SchemaDef) -> Vec<u8> {
    let mut value = Vec::new();
    codec::put_schema(&mut value, def);
    value
}

fn table_value(placement: &Placement, def: &TableDef) -> Vec<u8> {
    let mut value = Vec::new();
    value.put_u32(placement.space);
    value.put_u32(placement.clustered_root);
    value.put_u64(placement.created_lsn);
    value.put_varint(placement.indexes.len() as u64);
    for (root, created_lsn) in &placement.indexes {
        value.put_u32(*root);
        value.put_u64(*created_lsn);
    }
    codec::put_table(&mut value, def);
    if !placement.forms.older.is_empty() || !placement.dropped.is_empty() {
        placement.forms.put(&mut value);
    }
    if !placement.dropped.is_empty() {
        dropped_partitions::put(&mut value, &placement.dropped);
    }
    value
}

fn read_table_value(id: u64, value: &[u8]) -> Result<(Placement, TableDef)> {
    let mut reader = Reader::new(value, "table definition in the dictionary");
    let (space, clustered_root, created_lsn) = (reader.u32()?, reader.u32()?, reader.u64()?);
    let mut indexes = Vec::new();
    for _ in 0..reader.count()? {
        indexes.push((reader.u32()?, reader.u64()?));
    }
    let def = codec::read_table(&mut reader)?;
    if indexes.len() != def.index_ids().count() {
        return Err(reader.impossible("number of indexes"));
    }
    let forms = match reader.is_empty() {
        true => FormHistory::default(),
        false => FormHistory::read(&mut reader, &def.columns)?,
    };
    let dropped = match reader.is_empty() {
        true => Vec::new(),
        false => dropped_partitions::read(&mut reader)?,
    };
    Ok((Placement { id, space, clustered_root, created_lsn, indexes, forms, dropped }, def))
}

/// Returns the entries that create, change or drop a schema.
pub(crate) fn schema_ops(id: u64, old: Option<&SchemaDef>, new: Option<&SchemaDef>) -> Vec<DictionaryOp> {
    replace(SCHEMA, id, old.map(schema_value).as_deref(), new.map(schema_value).as_deref())
}

/// Returns the entries that create, change or drop a table. Both definitions have the same id.
///
/// # Errors
/// Returns [`EngineError::TableTooLarge`] when the new value is longer than the dictionary can
/// hold.
pub(crate) fn table_ops(
    id: u64,
    old: Option<(&Placement, &TableDef)>,
    new: Option<(&Placement, &TableDef)>,
) -> Result<Vec<DictionaryOp>> {
    let value = |table: (&Placement, &TableDef)| table_value(table.0, table.1);
    let new = new.map(value);
    if new.as_ref().is_some_and(|new| new.len() > VALUE_BYTES) {
        return Err(EngineError::TableTooLarge);
    }
    Ok(replace(TABLE, id, old.map(value).as_deref(), new.as_deref()))
}

fn object_value(def: &ObjectDef) -> Vec<u8> {
    let mut value = Vec::new();
    object::put_object(&mut value, def);
    value
}

/// Returns the entries that create, change or drop a view, trigger, routine or event.
///
/// # Errors
/// Returns [`EngineError::ViewTooLarge`] or [`EngineError::BodyTooLarge`] when the new value is
/// longer than the dictionary can hold.
pub(crate) fn object_ops(
    id: u64,
    old: Option<&ObjectDef>,
    new: Option<&ObjectDef>,
) -> Result<Vec<DictionaryOp>> {
    let value = new.map(object_value);
    if let (Some(new), Some(value)) = (new, &value)
        && value.len() > VALUE_BYTES
    {
        return Err(match new.kind {
            ObjectKind::View => EngineError::ViewTooLarge,
            _ => EngineError::BodyTooLarge(new.name.clone()),
        });
    }
    Ok(replace(OBJECT, id, old.map(object_value).as_deref(), value.as_deref()))
}

/// The whole content of the dictionary.
#[derive(Default)]
pub(crate) struct Objects {
    pub schemas: Vec<(u64, SchemaDef)>,
    pub tables: Vec<(Placement, TableDef)>,
    pub objects: Vec<(u64, ObjectDef)>,
}

/// Reads the whole dictionary.
pub(crate) fn load(tree: &Tree) -> Result<Objects> {
    let mut values: BTreeMap<(u8, u64), Vec<u8>> = BTreeMap::new();
    let mut scan = tree.scan(Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    while let Some((key, part)) = scan.next()? {
        let mut reader = Reader::new(key, "dictionary key");
        let kind = reader.u8()?;
        let id = u64::from_be_bytes(reader.take(8)?.try_into().expect("eight were taken"));
        values.entry((kind, id)).or_default().extend_from_slice(part);
    }
    let mut objects = Objects::default();
    for ((kind, id), value) in values {
        match kind {
            SCHEMA => {
                let def =
                    codec::read_schema(&mut Reader::new(&value, "schema definition in the dictionary"))?;
                objects.schemas.push((id, def));
            }
            TABLE => objects.tables.push(read_table_value(id, &value)?),
            OBJECT => {
                let def = object::read_object(&mut Reader::new(&value, "object in the dictionary"))?;
                objects.objects.push((id, def));
            }
            _ => return Err(EngineError::Corrupt(format!("the dictionary holds an object of kind {kind}"))),
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_value_deletes_the_parts_that_are_left() {
        let ops = replace(TABLE, 7, Some(&[0; 3000]), Some(&[1; 1500]));
        let kinds: Vec<bool> = ops.iter().map(|(_, value)| value.is_some()).collect();
        assert_eq!(kinds, vec![true, true, false]);
        assert_eq!(replace(TABLE, 7, Some(&[0; 10]), None).len(), 1);
    }

    #[test]
    fn a_value_of_more_parts_than_have_numbers_is_refused() {
        let mut def = object::tests::trigger();
        def.body.clear();
        // The length of the longer body takes three bytes more.
        def.body = " ".repeat(VALUE_BYTES - object_value(&def).len() - 3);
        let ops = object_ops(7, None, Some(&def)).expect("fits");
        let keys: std::collections::HashSet<&[u8]> = ops.iter().map(|(key, _)| &key[..]).collect();
        assert_eq!((ops.len(), keys.len()), (1 << 16, 1 << 16), "every part has its own place");
        def.body.push(' ');
        assert!(matches!(object_ops(7, None, Some(&def)), Err(EngineError::BodyTooLarge(_))));
    }
}
