//! Long columns off page: which ones, where, and back again.
//!
//! A row whose clustered entry would not fit has its longest variable-length columns moved to
//! overflow pages, longest first, until it fits. An update that leaves such a column alone keeps
//! its pages. Pages of replaced values are freed by purge, when no snapshot can read them; pages
//! placed by a transaction that a crash cuts off stay allocated until the table is rebuilt, for
//! recovery frees nothing through a pointer that it finds in a row.

use crate::entry::{self, ClusteredValue, Extern, Externs};
use crate::error::{EngineError, Result};
use crate::table::Table;
use buffer::{Pool, SpaceId};
use std::sync::Arc;

/// Columns shorter than this stay in the row: an overflow page would cost more than it saves.
const WORTH_MOVING_BYTES: usize = 64;

/// The full image of a stored row, long values read in.
pub(crate) fn resolve(pool: &Arc<Pool>, table: &Table, value: &ClusteredValue<'_>) -> Result<Vec<u8>> {
    let externs = value.externs();
    if externs.is_empty() {
        return Ok(value.image.to_vec());
    }
    let mut loaded = Vec::with_capacity(externs.len());
    for entry in &externs {
        let bytes = btree::overflow::load(pool, table.placement.space, entry.first_page, entry.len as usize)?;
        loaded.push((usize::from(entry.column), bytes));
    }
    let mut columns: Vec<Option<&[u8]>> = Vec::with_capacity(table.columns());
    table.layout.walk(value.image, |_, raw| columns.push(raw))?;
    for (column, bytes) in &loaded {
        let slot = columns.get_mut(*column).ok_or_else(|| {
            EngineError::Corrupt(format!("{}: an off-page column does not exist", table.qualified_name))
        })?;
        *slot = Some(bytes);
    }
    let mut image =
        Vec::with_capacity(value.image.len() + loaded.iter().map(|(_, b)| b.len()).sum::<usize>());
    table.layout.encode_raw(&columns, &mut image)?;
    Ok(image)
}

/// A row as its clustered entry will hold it.
pub(crate) struct Placed {
    /// The row image, off-page columns empty.
    pub image: Vec<u8>,
    pub externs: Externs,
    /// The pages of each extern that was newly placed, none for one that was kept.
    pub pages: Vec<Vec<u32>>,
}

/// Whether a row with an image of this length may have to have columns moved off page; asked before
/// the image is read.
pub(crate) fn may_place(table: &Table, key_len: usize, image_len: usize) -> bool {
    /// More than an entry's flags and sequence number take.
    const HEAD_BYTES: usize = 64;
    key_len + image_len + HEAD_BYTES > table.clustered.max_entry_len()
}

/// Moves long columns of a row off page. `kept` are columns that are off page already with the same
/// value. `None`: the row fits as it is and keeps nothing off page.
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

/// The row image with the off-page columns empty.
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

/// Length of the length prefix of a variable-length column's packed value; 0 for a fixed-length
/// one.
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
    let mut candidates: Vec<usize> = (0..columns.len())
        .filter(|&column| {
            prefix_len(table, column) > 0
                && saved(column) >= WORTH_MOVING_BYTES
                && !moved.contains(&column)
                && !table.primary_mask.contains(column)
        })
        .collect();
    candidates.sort_by_key(|&column| saved(column));
    while entry::clustered_len(moved.len(), image_len) > limit {
        let Some(column) = candidates.pop() else {
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
