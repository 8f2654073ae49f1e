//! Walking the row changes of an event group, for recovery.

use crate::bytes::Reader;
use crate::error::{EngineError, Result};
use crate::table::Table;
use types::ColumnMask;

const WRITE_ROWS_V1: u8 = 23;
const DELETE_ROWS_V1: u8 = 25;
const WRITE_ROWS: u8 = super::WRITE_ROWS_EVENT;
const UPDATE_ROWS: u8 = super::UPDATE_ROWS_EVENT;
const DELETE_ROWS: u8 = super::DELETE_ROWS_EVENT;

/// A rows event of a group, not yet taken apart into rows.
pub(crate) struct RowsEvent<'a> {
    pub table_id: u64,
    kind: u8,
    /// Column count, bitmaps and rows.
    body: &'a [u8],
}

/// One row change: partial images of the columns in the event's masks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowChange<'a> {
    Insert(&'a [u8]),
    Update(&'a [u8], &'a [u8]),
    Delete(&'a [u8]),
}

/// The rows of an event.
pub(crate) struct Rows<'a> {
    pub before: ColumnMask,
    pub after: ColumnMask,
    pub changes: Vec<RowChange<'a>>,
}

fn malformed(what: &str) -> EngineError {
    EngineError::Corrupt(format!("the event group of a commit record has a malformed {what}"))
}

/// The rows events of a group, in order.
pub(crate) fn rows_events(group: &[u8]) -> Result<Vec<RowsEvent<'_>>> {
    let mut events = Vec::new();
    let mut rest = group;
    while !rest.is_empty() {
        let header = rest.get(..super::EVENT_HEADER_LEN).ok_or_else(|| malformed("event header"))?;
        let kind = header[4];
        let size = u32::from_le_bytes([header[9], header[10], header[11], header[12]]) as usize;
        if size < super::EVENT_HEADER_LEN || size > rest.len() {
            return Err(malformed("event size"));
        }
        let (event, after) = rest.split_at(size);
        rest = after;
        let v1 = (WRITE_ROWS_V1..=DELETE_ROWS_V1).contains(&kind);
        if !v1 && !(WRITE_ROWS..=DELETE_ROWS).contains(&kind) {
            continue;
        }
        let mut reader = Reader::new(&event[super::EVENT_HEADER_LEN..], "rows event of a commit record");
        let mut table_id = [0; 8];
        table_id[..6].copy_from_slice(reader.take(6)?);
        reader.u16()?;
        if !v1 {
            let extra_len = usize::from(reader.u16()?);
            reader.take(extra_len.checked_sub(2).ok_or_else(|| malformed("rows event"))?)?;
        }
        let kind = if v1 { kind - WRITE_ROWS_V1 + WRITE_ROWS } else { kind };
        events.push(RowsEvent { table_id: u64::from_le_bytes(table_id), kind, body: reader.rest() });
    }
    Ok(events)
}

impl<'a> RowsEvent<'a> {
    /// Takes the event apart by the layout of its table.
    pub fn rows(&self, table: &Table) -> Result<Rows<'a>> {
        let mut reader = Reader::new(self.body, "rows event of a commit record");
        let columns = read_lenenc(&mut reader)?;
        if columns != table.columns() as u64 {
            return Err(EngineError::Corrupt(format!(
                "a rows event of a commit record has {columns} columns, {} has {}",
                table.qualified_name,
                table.columns()
            )));
        }
        let mut mask = || -> Result<ColumnMask> {
            let bitmap = reader.take(table.columns().div_ceil(8))?;
            ColumnMask::from_bitmap(bitmap, table.columns()).ok_or_else(|| malformed("column bitmap"))
        };
        let first = mask()?;
        let (before, after) = match self.kind {
            UPDATE_ROWS => (first, mask()?),
            DELETE_ROWS => (first, ColumnMask::empty(table.columns())),
            _ => (ColumnMask::empty(table.columns()), first),
        };
        let mut changes = Vec::new();
        let image = |reader: &mut Reader<'a>, mask: &ColumnMask| -> Result<&'a [u8]> {
            let len = table.layout.partial_len(mask, reader.rest())?;
            reader.take(len)
        };
        while !reader.is_empty() {
            changes.push(match self.kind {
                UPDATE_ROWS => RowChange::Update(image(&mut reader, &before)?, image(&mut reader, &after)?),
                DELETE_ROWS => RowChange::Delete(image(&mut reader, &before)?),
                _ => RowChange::Insert(image(&mut reader, &after)?),
            });
        }
        Ok(Rows { before, after, changes })
    }
}

fn read_lenenc(reader: &mut Reader<'_>) -> Result<u64> {
    match reader.u8()? {
        first @ 0..=250 => Ok(u64::from(first)),
        0xfc => Ok(u64::from(reader.u16()?)),
        _ => Err(malformed("column count")),
    }
}
