//! Long columns on overflow pages: which columns are moved, where to, and how they are read back.
//!
//! A row whose clustered entry would not fit has its variable-length columns moved to overflow
//! pages, longest first, until the entry fits. An update that leaves such a column alone keeps the
//! column's pages. Purge frees the pages of replaced values when no snapshot can read them. Pages
//! placed by a transaction that a crash cuts off stay allocated until the table is rebuilt, because
//! recovery frees nothing through a pointer that it finds in a row.

use crate::entry::{self, ClusteredValue, Extern, Externs};
use crate::error::{EngineError, Result};
use crate::table::Table;
use buffer::{Pool, SpaceId};
use std::sync::Arc;

/// Columns shorter than this many bytes stay in the row: an overflow page would cost more than it
/// saves.
const WORTH_MOVING_BYTES: usize = 64;

/// Returns the full image of a stored row, with its long values read in.
pub(crate) fn resolve(pool: &Arc<Pool>, table: &Table, value: &ClusteredValue<'_>) -> Result<Vec<u8>> {
    let image = table.image_of(value)?;
    let externs = table.externs_of(value)?;
    if externs.is_empty() {
        return Ok(image.into_owned());
    }
    let mut loaded = Vec::with_capacity(externs.len());
    // Nobody reads a dropped column.
    for entry in externs.iter().filter(|entry| entry.column != entry::NO_COLUMN) {
        let bytes = btree::overflow::load(pool, table.placement.space, entry.first_page, entry.len as usize)?;
        loaded.push((usize::from(entry.column), bytes));
    }
    let mut columns: Vec<Option<&[u8]>> = Vec::with_capacity(table.columns());
    table.layout.walk(&image, |_, raw| columns.push(raw))?;
    for (column, bytes) in &loaded {
        let slot = columns.get_mut(*column).ok_or_else(|| {
            EngineError::Corrupt(format!("{}: an off-page column does not exist", table.qualified_name))
        })?;
        *slot = Some(bytes);
    }
    let long_bytes = loaded.iter().map(|(_, value)| value.len()).sum::<usize>();
    let mut whole = Vec::with_capacity(image.len() + long_bytes);
    table.layout.encode_raw(&columns, &mut whole)?;
    Ok(whole)
}

/// A row as its clustered entry will hold it.
pub(crate) struct Placed {
    /// The row image, in which off-page columns are empty.
    pub image: Vec<u8>,
    pub externs: Externs,
    /// The pages of each extern that was newly placed; empty for an extern that was kept.
    pub pages: Vec<Vec<u32>>,
}

/// Reports whether columns of a row with an image of this length may have to be moved off page. It
/// is asked before the image is read.
pub(crate) fn may_place(table: &Table, key_len: usize, image_len: usize) -> bool {
    /// A number of bytes that is greater than an entry's flags and sequence number take.
    const HEAD_BYTES: usize = 64;
    key_len + image_len + HEAD_BYTES > table.clustered.max_entry_len()
}

/// Moves long columns of a row off page. `kept` has the columns that are off page already with the
/// same value. `None` means that the row fits as it is and keeps nothing off page.
pub(crate) fn place(
    pool: &Arc<Pool>,
    table: &Table,
    key_len: usize,
    image: &[u8],
    kept: &[Extern],
) -> Result<Option<Placed>> {
    let limit = table.clustered.max_entry_len().saturating_sub(key_len);
    if kept.is_empty() && entry::clustered_len(0, image.len()) <= limit {
        return Ok(None);
    }
    let mut columns: Vec<Option<&[u8]>> = Vec::with_capacity(table.columns());
    table.layout.walk(image, |_, raw| columns.push(raw))?;
    let movable = columns_to_move(table, &columns, image.len(), kept, limit)?;
    let mut externs = Externs::new();
    let mut all_pages = Vec::new();
    for column in movable {
        let raw = columns[column].expect("only columns with a value are moved");
        if let Some(known) = kept.iter().find(|known| usize::from(known.column) == column) {
            externs.push(*known);
            all_pages.push(Vec::new());
        } else {
            let pages = btree::overflow::store(pool, table.placement.space, raw)?;
            let first_page = *pages.first().ok_or_else(|| {
                EngineError::Corrupt(format!("{}: an off-page value has no page", table.qualified_name))
            })?;
            externs.push(Extern { column: column as u16, len: raw.len() as u32, first_page });
            all_pages.push(pages);
        }
    }
    Ok(Some(Placed { image: emptied(table, &columns, &externs)?, externs, pages: all_pages }))
}

/// Returns the row image in which the off-page columns are empty.
pub(crate) fn emptied(table: &Table, columns: &[Option<&[u8]>], externs: &[Extern]) -> Result<Vec<u8>> {
    const EMPTY: [u8; 4] = [0; 4];
    let mut columns = columns.to_vec();
    for entry in externs {
        let column = usize::from(entry.column);
        columns[column] = Some(&EMPTY[..prefix_len(table, column)]);
    }
    let mut image = Vec::new();
    table.layout.encode_raw(&columns, &mut image)?;
    Ok(image)
}

/// Returns the length of the length prefix of a variable-length column's packed value; 0 for a
/// fixed-length column.
fn prefix_len(table: &Table, column: usize) -> usize {
    match types::packed::width(table.column_type(column)) {
        types::packed::Width::Fixed(_) => 0,
        types::packed::Width::Prefixed(len) => usize::from(len),
    }
}

fn columns_to_move(
    table: &Table,
    columns: &[Option<&[u8]>],
    image_len: usize,
    kept: &[Extern],
    limit: usize,
) -> Result<Vec<usize>> {
    let mut moved: Vec<usize> = kept.iter().map(|known| usize::from(known.column)).collect();
    let saved = |column: usize| columns[column].map_or(0, |raw| raw.len() - prefix_len(table, column));
    let mut image_len = image_len - moved.iter().map(|&column| saved(column)).sum::<usize>();
    // A column of which the primary key has only the beginning may be long itself.
    let is_whole_key = |column: usize| {
        table.primary.iter().flatten().any(|part| part.column == column && part.prefix.is_none())
    };
    let mut candidates: Vec<usize> = (0..columns.len())
        .filter(|&column| {
            prefix_len(table, column) > 0
                && saved(column) >= WORTH_MOVING_BYTES
                && !moved.contains(&column)
                && !is_whole_key(column)
        })
        .collect();
    candidates.sort_by_key(|&column| saved(column));
    while entry::clustered_len(moved.len(), image_len) > limit {
        // One byte of the entry counts the columns that are off page.
        let candidate = candidates.pop().filter(|_| moved.len() < entry::MAX_EXTERNS);
        let Some(column) = candidate else {
            return Err(EngineError::RowTooLarge { bytes: image_len, limit });
        };
        image_len -= saved(column);
        moved.push(column);
    }
    moved.sort_unstable();
    Ok(moved)
}

/// Frees the pages of a value.
pub(crate) fn free(pool: &Arc<Pool>, space: SpaceId, first_page: u32, len: u32) -> Result<()> {
    Ok(btree::overflow::free(pool, space, first_page, len as usize)?)
}
