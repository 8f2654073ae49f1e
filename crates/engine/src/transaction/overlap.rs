//! Unique keys of MariaDB that end in WITHOUT OVERLAPS: two rows with the same leading columns have
//! periods without a common moment. Rows of row events need no check, because the source has made
//! it. Clients change no such table, so only an applier's statements come here, one after the
//! other, and the rows that they look at need no locks.

use super::foreign_key::values_of;
use super::key_range::KeyRange;
use super::row_access::RowAccess;
use super::scan::Scan;
use super::unique::duplicate;
use crate::definition::IndexRef;
use crate::error::Result;
use crate::table::Table;
use std::ops::Bound;
use std::sync::Arc;

/// Refuses a row whose period overlaps that of another row than the one with clustered key `own`.
///
/// # Errors
/// Returns [`crate::EngineError::Duplicate`] for such a row, and nothing of it is left behind.
#[inline]
pub(super) fn check_overlaps(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    image: &[u8],
    own: Option<&[u8]>,
) -> Result<()> {
    if table.def.temporal.without_overlaps.is_empty() || !table.is_current(image)? {
        return Ok(());
    }
    for name in &table.def.temporal.without_overlaps {
        let secondary = table.indexes.iter().position(|index| index.name == *name);
        let index = secondary.map_or(IndexRef::Primary, IndexRef::Secondary);
        check_index(rows, table, index, image, own)?;
    }
    Ok(())
}

fn check_index(
    rows: &mut RowAccess,
    table: &Arc<Table>,
    index: IndexRef,
    image: &[u8],
    own: Option<&[u8]>,
) -> Result<()> {
    let columns: Vec<usize> = table.index_columns(index).iter().map(|part| part.column).collect();
    assert!(columns.len() > 2, "a key WITHOUT OVERLAPS ends in the end and the start of a period");
    let leading = columns.len() - 2;
    let Some(mut values) = values_of(table, &columns, image)? else { return Ok(()) };
    let start_value = values.pop().expect("a key has a start");
    let end = table.encode_key(index, &values)?;
    values[leading] = start_value;
    // Both edges are of one type, so a start can be encoded as an end.
    let start = table.encode_key(index, &values)?;
    let prefix = table.encode_key(index, &values[..leading])?;
    let range = KeyRange::between(Bound::Excluded(&start), Bound::Included(&prefix));
    let had_snapshot = rows.view.is_open();
    let mut scan = Scan::open_newest(rows, table, index, range)?;
    let mut is_free = true;
    while let Some(row) = scan.next_row(rows)? {
        if own == Some(&row.key[..]) {
            continue;
        }
        values[leading] = table.layout.decode(&row.image, columns[leading + 1])?;
        is_free = table.encode_key(index, &values)? >= end;
        // The rows are in the order of their ends, and do not overlap each other.
        break;
    }
    if !had_snapshot {
        rows.close_snapshot();
    }
    if is_free { Ok(()) } else { Err(duplicate(table, index, image)) }
}
