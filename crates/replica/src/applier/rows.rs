//! Row events: taken apart into row images, handed to the engine's write set, and copied in the form that the log holds.

use std::sync::Arc;

use engine::{EngineError, PartialRow, Table, Transaction};
use types::ColumnMask;

use super::tables::take_length;
use crate::event::{self, HEADER_BYTES};

/// STMT_END_F
const ENDS_STATEMENT: u16 = 1;
/// Table id of a row event that carries nothing and only ends a statement.
const DUMMY_TABLE_ID: u64 = 0x00FF_FFFF;
/// Offset of the flags behind the table id.
const FLAGS_OFFSET: usize = HEADER_BYTES + 6;

/// What a row event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Write,
    Update,
    Delete,
}

/// A row event (without its checksum), taken apart.
#[derive(Debug)]
pub(super) struct RowsEvent<'a> {
    /// The source's number of the table.
    pub table_id: u64,
    /// It is the last one of its statement.
    pub ends_statement: bool,
    change: Change,
    /// Columns of the before image of updates and deletes, of the after image of inserts.
    mask: ColumnMask,
    /// Columns of the after image of updates.
    after_mask: Option<ColumnMask>,
    rows: &'a [u8],
}

/// The table id of a TABLE_MAP or row event.
pub(super) fn table_id(event: &[u8]) -> Option<u64> {
    let bytes = event.get(HEADER_BYTES..FLAGS_OFFSET)?;
    let mut value = [0; 8];
    value[..6].copy_from_slice(bytes);
    Some(u64::from_le_bytes(value))
}

/// Puts our table id into a TABLE_MAP or row event.
pub(super) fn set_table_id(event: &mut [u8], table_id: u64) {
    event[HEADER_BYTES..FLAGS_OFFSET].copy_from_slice(&table_id.to_le_bytes()[..6]);
}

/// Appends an event with no end position, no artificial flag, and its size without checksum.
pub(super) fn append_bare(group: &mut Vec<u8>, event: &[u8]) {
    let start = group.len();
    group.extend_from_slice(event);
    finish_bare(&mut group[start..]);
}

fn finish_bare(event: &mut [u8]) {
    let size = event.len() as u32;
    event[9..13].copy_from_slice(&size.to_le_bytes());
    event[13..17].fill(0);
    event[17] &= !((event::FLAG_ARTIFICIAL | event::FLAG_RELAY_LOG) as u8);
}

/// Appends a row event in version 2. Version 1 (MariaDB's) differs in its type and lacks the extra data's length.
pub(super) fn append_v2(group: &mut Vec<u8>, event: &[u8], is_v1: bool) {
    if !is_v1 {
        return append_bare(group, event);
    }
    let start = group.len();
    group.extend_from_slice(&event[..FLAGS_OFFSET + 2]);
    group.extend_from_slice(&2u16.to_le_bytes());
    group.extend_from_slice(&event[FLAGS_OFFSET + 2..]);
    group[start + 4] += event::WRITE_ROWS - event::WRITE_ROWS_V1;
    finish_bare(&mut group[start..]);
}

impl<'a> RowsEvent<'a> {
    /// `None`: the event is damaged.
    pub fn parse(event: &'a [u8], is_v1: bool) -> Option<RowsEvent<'a>> {
        let change = match event::kind(event) {
            event::WRITE_ROWS | event::WRITE_ROWS_V1 => Change::Write,
            event::UPDATE_ROWS | event::UPDATE_ROWS_V1 => Change::Update,
            event::DELETE_ROWS | event::DELETE_ROWS_V1 => Change::Delete,
            _ => return None,
        };
        let table_id = table_id(event)?;
        let flags = u16::from_le_bytes(event.get(FLAGS_OFFSET..FLAGS_OFFSET + 2)?.try_into().ok()?);
        let mut rest = &event[FLAGS_OFFSET + 2..];
        if !is_v1 {
            let extra = usize::from(u16::from_le_bytes(rest.get(..2)?.try_into().ok()?));
            rest = rest.get(extra.max(2)..)?;
        }
        let columns = take_length(&mut rest)?;
        let mask = take_mask(&mut rest, columns)?;
        let after_mask = if change == Change::Update { Some(take_mask(&mut rest, columns)?) } else { None };
        let ends_statement = flags & ENDS_STATEMENT != 0;
        Some(RowsEvent { table_id, ends_statement, change, mask, after_mask, rows: rest })
    }

    /// It changes nothing and only ends a statement.
    pub fn is_dummy(&self) -> bool {
        self.table_id == DUMMY_TABLE_ID && self.rows.is_empty()
    }
}

fn take_mask(rest: &mut &[u8], columns: usize) -> Option<ColumnMask> {
    let (bitmap, left) = rest.split_at_checked(columns.div_ceil(8))?;
    *rest = left;
    ColumnMask::from_bitmap(bitmap, columns)
}

/// Hands every row of the event to the transaction.
pub(super) fn apply(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    event: &RowsEvent<'_>,
) -> Result<(), EngineError> {
    if event.mask.columns() != table.columns() {
        return Err(EngineError::Incompatible {
            table: table.qualified_name().to_string(),
            reason: format!(
                "a row event has {} columns, the table {}",
                event.mask.columns(),
                table.columns()
            ),
        });
    }
    let mut rest = event.rows;
    while !rest.is_empty() {
        let first = PartialRow { mask: &event.mask, image: take_image(&mut rest, table, &event.mask)? };
        match (event.change, &event.after_mask) {
            (Change::Write, _) => transaction.apply_insert(table, first)?,
            (Change::Delete, _) => transaction.apply_delete(table, first)?,
            (Change::Update, Some(mask)) => {
                let after = PartialRow { mask, image: take_image(&mut rest, table, mask)? };
                transaction.apply_update(table, first, after)?;
            }
            (Change::Update, None) => unreachable!("an update event has two bitmaps"),
        }
    }
    Ok(())
}

fn take_image<'a>(rest: &mut &'a [u8], table: &Table, mask: &ColumnMask) -> Result<&'a [u8], EngineError> {
    let length = table.layout.partial_len(mask, rest)?;
    let (image, left) = rest.split_at_checked(length).ok_or_else(|| EngineError::Incompatible {
        table: table.qualified_name().to_string(),
        reason: "a row image is longer than its event".to_string(),
    })?;
    *rest = left;
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::bare;

    fn update_v1() -> Vec<u8> {
        let mut body = vec![9, 0, 0, 0, 0, 0, 1, 0, 2, 0b01, 0b10];
        body.extend_from_slice(&[0, 7, 0, 0, 0, 0, 8, 0, 0, 0]);
        bare(event::UPDATE_ROWS_V1, &body)
    }

    #[test]
    fn version_1_becomes_version_2() {
        let mut group = Vec::new();
        append_v2(&mut group, &update_v1(), true);
        assert_eq!(event::kind(&group), event::UPDATE_ROWS);
        assert_eq!(event::size(&group), group.len());
        let parsed = RowsEvent::parse(&group, false).expect("is whole");
        assert_eq!((parsed.table_id, parsed.ends_statement, parsed.rows.len()), (9, true, 10));
        set_table_id(&mut group, 0x0102_0304_0506);
        assert_eq!(table_id(&group), Some(0x0102_0304_0506));
    }

    #[test]
    fn a_cut_event_is_damaged() {
        let event = update_v1();
        for cut in HEADER_BYTES..HEADER_BYTES + 11 {
            assert!(RowsEvent::parse(&event[..cut], true).is_none(), "cut at {cut}");
        }
    }
}
