//! The writeset of a committed transaction: hashes of the keys that it put, changed and removed.
//! Two transactions without a common key may be applied in either order (MySQL's writesets, worklog
//! 9556).
//!
//! Most commits hand the hashes of their keys over ([`crate::commit::handed_keys`]). The keys of
//! the others are those of the row events and, for entries of unique indexes that an update or
//! delete removes, those of the sidecar, because row images may be minimal. These are looked at
//! some time after the commit, with the definitions of that time. A definition that is newer than
//! the commit may lack a unique index that the rows still had, so then the writeset is unknown.

use crate::Engine;
use crate::commit::sidecar::Sidecar;
use crate::commit::stream::{CommittedGroup, GroupBytes};
use crate::error::Result;
use crate::key_hash::{PRIMARY, has_null, hash};
use crate::table::Table;
use binlog::event::{RowsEvent, RowsKind, TYPE_OFFSET, decode_rows, event_type, rows_kind};
use binlog::reader::event_len;
use std::sync::Arc;
use types::ColumnMask;

/// What is known of the keys that a transaction has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writeset {
    /// All keys are known.
    Complete,
    /// The transaction has also written to a table without a primary key. Other writers of that
    /// table have no complete set either.
    Keyless,
    /// Nothing is known. The transaction may have written any key.
    Unknown,
}

/// The number of tables whose definitions are kept. Others are looked up each time.
const TABLES_AT_HAND: usize = 16;

/// Finds out which keys the transactions of a commit stream have written.
pub struct WritesetReader {
    tables: Tables,
    keys: Vec<u64>,
}

impl WritesetReader {
    /// Returns a reader for commits of this engine.
    pub fn new(engine: Arc<Engine>) -> WritesetReader {
        let tables = Tables { engine, seq: 0, changes: 0, at_hand: Default::default(), encoded: Vec::new() };
        WritesetReader { tables, keys: Vec::new() }
    }

    /// Reads a transaction, which must come after the earlier ones in the order of commits.
    pub fn read(&mut self, committed: &CommittedGroup<'_>) -> Writeset {
        self.keys.clear();
        if committed.header.ddl {
            // No table that this statement may drop is kept.
            self.tables.at_hand = Default::default();
            return Writeset::Unknown;
        }
        let GroupBytes::Here(group) = committed.group else { return Writeset::Unknown };
        if let Some(handed) = &self.tables.engine.committer.handed_keys
            && handed.take(committed.seq, &mut self.keys)
        {
            return Writeset::Complete;
        }
        self.tables.seq = committed.seq;
        let known = collect(group, committed.sidecar, &mut self.tables, &mut self.keys);
        // Unreadable bytes of the log are reported where they are written to the binary log.
        known.unwrap_or(Writeset::Unknown)
    }

    /// Returns the hashes of the keys that the transaction read last has written.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }
}

/// The tables' definitions, as the present transaction has seen them.
struct Tables {
    engine: Arc<Engine>,
    /// The sequence number of the present transaction.
    seq: u64,
    /// The catalog's count of changes when the kept definitions were looked up.
    changes: u64,
    /// The kept definitions, each in the place that its id gives it.
    at_hand: [Option<Arc<Table>>; TABLES_AT_HAND],
    /// The buffer of the present key.
    encoded: Vec<u8>,
}

impl Tables {
    /// Returns the table, and the buffer in which its keys are put together.
    fn get(&mut self, id: u64) -> Option<(&Table, &mut Vec<u8>)> {
        let catalog = &self.engine.catalog;
        // A transaction that saw a newer definition is after the change in the log.
        let changes = catalog.changes();
        if changes != self.changes {
            (self.at_hand, self.changes) = (Default::default(), changes);
        }
        let place = &mut self.at_hand[id as usize % TABLES_AT_HAND];
        if place.as_ref().is_none_or(|table| table.id != id) {
            *place = catalog.table_as_of(id, self.seq);
        }
        place.as_deref().map(|table| (table, &mut self.encoded))
    }
}

fn collect(group: &[u8], sidecar: &[u8], tables: &mut Tables, keys: &mut Vec<u64>) -> Result<Writeset> {
    let mut known = Writeset::Complete;
    let mut events = group;
    while !events.is_empty() {
        let (event, behind) = events.split_at(event_len(events)?);
        events = behind;
        match event[TYPE_OFFSET] {
            event_type::TABLE_MAP | event_type::XID | event_type::ROWS_QUERY => {}
            event_type::QUERY if binlog::event::is_edge_of_group(event) => {}
            other => {
                let Some((kind, version_2)) = rows_kind(other) else { return Ok(Writeset::Unknown) };
                let rows = decode_rows(event, kind, version_2)?;
                let Some((table, encoded)) = tables.get(rows.table_id) else {
                    return Ok(Writeset::Unknown);
                };
                if table.is_related() {
                    // The transaction's demands on parent rows, or of child rows on its own rows,
                    // are not among its keys.
                    return Ok(Writeset::Unknown);
                }
                if !table.has_primary_key() {
                    known = Writeset::Keyless;
                } else if !add_keys(table, &rows, keys, encoded)? {
                    return Ok(Writeset::Unknown);
                }
            }
        }
    }
    if sidecar.is_empty() {
        return Ok(known);
    }
    for op in Sidecar::parse(sidecar)?.index_ops()? {
        let Some((table, _)) = tables.get(op.table_id) else { return Ok(Writeset::Unknown) };
        let index = table.indexes.iter().find(|index| index.id == op.index_id);
        let key = &op.key[..op.secondary_len];
        if index.is_some_and(|index| index.unique && !has_null(&index.parts, key)) {
            keys.push(hash(table.id, op.index_id, key));
        }
    }
    Ok(known)
}

/// Adds the primary keys in a row event, and the unique keys of the rows that it inserts. False
/// means that the event does not name them all.
fn add_keys(table: &Table, rows: &RowsEvent<'_>, keys: &mut Vec<u64>, encoded: &mut Vec<u8>) -> Result<bool> {
    let (before, after) = (rows.before_mask(), rows.after_mask());
    let names_key =
        |mask: &&ColumnMask| mask.columns() == table.columns() && mask.covers(&table.primary_mask);
    let has_part = |mask: &ColumnMask| mask.intersects(&table.primary_mask);
    let (old, new) = (before.as_ref().filter(names_key), after.as_ref().filter(names_key));
    let is_known = match rows.kind {
        RowsKind::Write => new.is_some_and(ColumnMask::is_full),
        RowsKind::Update => old.is_some() && (new.is_some() || !after.as_ref().is_some_and(has_part)),
        RowsKind::Delete => old.is_some(),
    };
    if !is_known {
        return Ok(false);
    }
    let mut rest = rows.rows;
    while !rest.is_empty() {
        let mut hash_before = None;
        for (mask, of_key) in [(&before, old), (&after, new)] {
            let Some(mask) = mask else { continue };
            let hashed =
                if of_key.is_some() { Some(primary_hash(table, mask, rest, encoded)?) } else { None };
            let len = match hashed {
                Some((_, len)) => len,
                None => table.layout.partial_len(mask, rest)?,
            };
            let (image, behind) = rest.split_at(len);
            rest = behind;
            if let Some((hash, _)) = hashed {
                keys.extend(Some(hash).filter(|hash| hash_before != Some(*hash)));
                hash_before = Some(hash);
            }
            if rows.kind == RowsKind::Write {
                add_unique_keys(table, image, keys, encoded)?;
            }
        }
    }
    Ok(true)
}

/// Returns the hash of the primary key of the image at the start of `bytes`, which has all columns
/// of the key, and the image's length.
fn primary_hash(
    table: &Table,
    mask: &ColumnMask,
    bytes: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<(u64, usize)> {
    encoded.clear();
    let len = match table.primary.as_deref() {
        // Most keys have one column, which is found on the way to the image's end.
        Some([part]) => {
            let mut found = None;
            let len = table.layout.walk_partial(mask, bytes, |column, raw| {
                if column == part.column {
                    found = raw;
                }
            })?;
            types::key::encode_raw(&part.ty, found, part.nullable, part.prefix, encoded)?;
            len
        }
        parts => {
            let len = table.layout.partial_len(mask, bytes)?;
            for part in parts.into_iter().flatten() {
                let raw = table.layout.get_raw_partial(mask, &bytes[..len], part.column)?.flatten();
                types::key::encode_raw(&part.ty, raw, part.nullable, part.prefix, encoded)?;
            }
            len
        }
    };
    Ok((hash(table.id, PRIMARY, encoded), len))
}

/// Adds the unique keys of a full row, except those with a NULL, which exclude no other row.
fn add_unique_keys(table: &Table, image: &[u8], keys: &mut Vec<u64>, encoded: &mut Vec<u8>) -> Result<()> {
    for index in table.indexes.iter().filter(|index| index.unique) {
        encoded.clear();
        let has_null = table.encode_parts(&index.parts, image, encoded)?;
        if !has_null {
            keys.push(hash(table.id, index.id, encoded));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
