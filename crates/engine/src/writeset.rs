//! What a committed transaction has written, as hashes of the keys that it put, changed and removed: two transactions without a common
//! key may be applied in either order (MySQL's writesets, worklog 9556).
//!
//! The keys are those of the row events and, for entries of unique indexes that an update or delete removes, of the sidecar: row
//! images may be minimal. They are looked at some time after the commit, with the definitions of that time. A definition that is newer than the
//! commit may lack a unique index that the rows still had, so then nothing is known.

use crate::Engine;
use crate::commit::sidecar::Sidecar;
use crate::commit::stream::{CommittedGroup, GroupBytes};
use crate::error::Result;
use crate::table::{KeyPart, Table};
use binlog::event::{Event, RowsEvent, RowsKind, event_type, rows_kind};
use std::sync::Arc;
use types::ColumnMask;

/// What is known of what a transaction has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writeset {
    /// The keys are all.
    Complete,
    /// It has written to a table without a primary key besides: whoever writes there has no complete set either.
    Keyless,
    /// Perhaps anything.
    Unknown,
}

impl Engine {
    /// The keys that a transaction has written, into `keys`.
    pub fn writeset(&self, committed: &CommittedGroup<'_>, keys: &mut Vec<u64>) -> Writeset {
        keys.clear();
        let GroupBytes::Here(group) = committed.group else { return Writeset::Unknown };
        if committed.header.ddl {
            return Writeset::Unknown;
        }
        let mut tables = Tables { engine: self, seq: committed.seq, newest: None };
        // Bytes of the log that cannot be read are reported where they are written.
        collect(group, committed.sidecar, &mut tables, keys).unwrap_or(Writeset::Unknown)
    }
}

/// The tables of one transaction.
struct Tables<'e> {
    engine: &'e Engine,
    seq: u64,
    newest: Option<Arc<Table>>,
}

impl Tables<'_> {
    fn get(&mut self, id: u64) -> Option<&Table> {
        if self.newest.as_ref().is_none_or(|table| table.id != id) {
            self.newest = self.engine.catalog.table_as_of(id, self.seq);
        }
        self.newest.as_deref()
    }
}

fn collect(group: &[u8], sidecar: &[u8], tables: &mut Tables<'_>, keys: &mut Vec<u64>) -> Result<Writeset> {
    let mut known = Writeset::Complete;
    for event in binlog::group::walk(group) {
        let event = event?;
        match event.header.event_type {
            event_type::TABLE_MAP | event_type::XID | event_type::ROWS_QUERY => {}
            kind if rows_kind(kind).is_some() || kind == event_type::QUERY => {
                match binlog::event::decode_body(&event.header, event.bytes)? {
                    Event::Query(query) if query.is_begin() || query.is_end() => {}
                    Event::Rows(rows) => {
                        let Some(table) = tables.get(rows.table_id) else { return Ok(Writeset::Unknown) };
                        if table.is_related() {
                            // What it needs of its parents' rows, or they of its own, is no key of its own.
                            return Ok(Writeset::Unknown);
                        }
                        if !table.has_primary_key() {
                            known = Writeset::Keyless;
                        } else if !table.add_keys(&rows, keys)? {
                            return Ok(Writeset::Unknown);
                        }
                    }
                    _ => return Ok(Writeset::Unknown),
                }
            }
            _ => return Ok(Writeset::Unknown),
        }
    }
    if sidecar.is_empty() {
        return Ok(known);
    }
    for op in Sidecar::parse(sidecar)?.index_ops()? {
        let Some(table) = tables.get(op.table_id) else { return Ok(Writeset::Unknown) };
        let index = table.indexes.iter().find(|index| index.id == op.index_id);
        let key = &op.key[..op.secondary_len];
        if index.is_some_and(|index| index.unique && !has_null(&index.parts, key)) {
            keys.push(hash(table.id, op.index_id, key));
        }
    }
    Ok(known)
}

/// Stands for the primary key among the numbers of indexes.
const PRIMARY: u32 = u32::MAX;

impl Table {
    /// The primary keys in a row event, and the unique keys of the rows that it inserts. False: it does not name them all.
    fn add_keys(&self, rows: &RowsEvent<'_>, keys: &mut Vec<u64>) -> Result<bool> {
        let (before, after) = (rows.before_mask(), rows.after_mask());
        let names_key = |mask: &&ColumnMask| {
            mask.columns() == self.columns() && self.primary_mask.iter().all(|part| mask.contains(part))
        };
        let has_part = |mask: &ColumnMask| self.primary_mask.iter().any(|part| mask.contains(part));
        let (old, new) = (before.as_ref().filter(names_key), after.as_ref().filter(names_key));
        let is_known = match rows.kind {
            RowsKind::Write => new.is_some_and(ColumnMask::is_full),
            RowsKind::Update => old.is_some() && (new.is_some() || !after.as_ref().is_some_and(has_part)),
            RowsKind::Delete => old.is_some(),
        };
        if !is_known {
            return Ok(false);
        }
        for row in rows.iter(&self.layout) {
            let row = row?;
            let primary = |mask: Option<&ColumnMask>, image: Option<&[u8]>| -> Result<Option<u64>> {
                let Some((mask, image)) = mask.zip(image) else { return Ok(None) };
                let key = match mask.is_full() {
                    true => self.clustered_key(image, None)?,
                    false => self.key_from_partial(mask, image)?,
                };
                Ok(Some(hash(self.id, PRIMARY, &key)))
            };
            let (old, new) = (primary(old, row.before)?, primary(new, row.after)?);
            keys.extend(old);
            keys.extend(new.filter(|_| new != old));
            if let (RowsKind::Write, Some(image)) = (rows.kind, row.after) {
                self.add_unique_keys(image, keys)?;
            }
        }
        Ok(true)
    }

    /// The unique keys of a full row, but for those that have a NULL: they exclude nothing.
    fn add_unique_keys(&self, image: &[u8], keys: &mut Vec<u64>) -> Result<()> {
        for (at, index) in self.indexes.iter().enumerate().filter(|(_, index)| index.unique) {
            let key = self.secondary_key(at, image, &[])?;
            if !key.has_null {
                keys.push(hash(self.id, index.id, &key.key));
            }
        }
        Ok(())
    }
}

/// A key has a NULL, as far as can be told without its values: where they cannot be read, it is taken for one without.
fn has_null(parts: &[KeyPart], key: &[u8]) -> bool {
    let mut rest = key;
    for part in parts {
        if part.nullable && rest.first() == Some(&types::key::NULL_MARK) {
            return true;
        }
        let is_readable = types::key::is_readable(&part.ty, part.prefix);
        let len =
            is_readable.then(|| types::key::read_part(&part.ty, part.nullable, rest, None).ok()).flatten();
        let Some(behind) = len.and_then(|len| rest.get(len..)) else { return false };
        rest = behind;
    }
    false
}

/// Hashes a key of an index; of a few that are the same by chance one waits for the other for nothing.
fn hash(table_id: u64, index: u32, key: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    let mut hash = mix(table_id, u64::from(index) << 32 | key.len() as u64);
    for chunk in key.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    let hash = (hash ^ hash >> 32).wrapping_mul(MULTIPLIER);
    hash ^ hash >> 29
}
