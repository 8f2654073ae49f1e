//! The pages that a source's changes will want and that are not in the buffer pool, found before
//! the changes are applied.
//!
//! In: rows of row events, some time before the applier comes to them. Out: page numbers, which are
//! read together, many at the same time. A page that is guessed wrong costs a read and does no
//! other harm: nothing is latched, locked or changed here.
//!
//! Which pages a change of an indexed column wants is known only when the row is in the pool. So a
//! caller asks about such a row again after the pages that were missing have been read.

use crate::Engine;
use crate::error::Result;
use crate::partial::PartialRow;
use crate::table::Table;
use btree::Tree;
use buffer::{PageNo, SpaceId};
use types::ColumnMask;

/// A row of a row event.
#[derive(Clone, Copy, Debug)]
pub enum ComingRow<'a> {
    /// The row is inserted.
    Insert(PartialRow<'a>),
    /// The first image's row becomes the second image's.
    Update(PartialRow<'a>, PartialRow<'a>),
    /// The row is deleted.
    Delete(PartialRow<'a>),
}

/// Pages that are wanted and not in the pool.
#[derive(Debug, Default)]
pub struct MissingPages {
    spaces: Vec<(SpaceId, Vec<PageNo>)>,
    pages: usize,
}

impl MissingPages {
    /// Returns how many pages were found since they were last read. A page that several rows want
    /// counts once for each of them.
    pub fn len(&self) -> usize {
        self.pages
    }

    /// Reports whether no page was found.
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Adds the pages that the row's change will want and that are not in the pool. Returns whether
    /// it has to be asked again after these pages have been read, because they say which others are
    /// wanted. The table must be held.
    ///
    /// # Errors
    /// Returns an error for images that do not fit the table, for damaged pages, and I/O errors.
    /// The applier meets the same error if it is more than a wrong guess.
    pub fn add(&mut self, engine: &Engine, table: &Table, row: ComingRow<'_>) -> Result<bool> {
        let (ComingRow::Insert(named) | ComingRow::Update(named, _) | ComingRow::Delete(named)) = row;
        let has_key = table.primary.is_some() && named.mask.covers(&table.primary_mask);
        if named.mask.columns() != table.columns() || !has_key {
            return Ok(false);
        }
        let key = table.partial_clustered_key(named)?;
        let is_missing = self.add_way(&table.clustered, &key);
        match row {
            ComingRow::Insert(after) => {
                let mut asks_again = false;
                if !table.indexes.is_empty() {
                    asks_again = self.add_entries(table, &table.inserted_image(after)?, &key, None)?;
                }
                Ok(is_missing || asks_again)
            }
            ComingRow::Update(_, after) if !after.mask.intersects(&table.indexed_mask) => Ok(is_missing),
            ComingRow::Delete(_) if table.indexes.is_empty() => Ok(is_missing),
            _ if is_missing => Ok(true),
            ComingRow::Update(_, after) => {
                let Some(old) = engine.rows.read_newest(table, &key)? else { return Ok(false) };
                let mut new = Vec::with_capacity(old.image.len() + after.image.len());
                table.layout.check_values(after.mask, after.image)?;
                table.layout.splice(&old.image, after.mask, after.image, &mut new)?;
                let changed = table.layout.changed(&old.image, &new)?;
                let of_old = self.add_entries(table, &old.image, &key, Some(&changed))?;
                let of_new = self.add_entries(table, &new, &key, Some(&changed))?;
                Ok(of_old || of_new)
            }
            ComingRow::Delete(_) => {
                let Some(old) = engine.rows.read_newest(table, &key)? else { return Ok(false) };
                self.add_entries(table, &old.image, &key, None)
            }
        }
    }

    /// Adds the pages of a row's entries in the secondary indexes that have one of the `changed`
    /// columns. `None` stands for all indexes.
    fn add_entries(
        &mut self,
        table: &Table,
        image: &[u8],
        clustered: &[u8],
        changed: Option<&ColumnMask>,
    ) -> Result<bool> {
        let mut any = false;
        for (at, index) in table.indexes.iter().enumerate() {
            let is_touched =
                changed.is_none_or(|changed| index.columns.iter().any(|at| changed.contains(*at)));
            if is_touched {
                for key in table.entry_keys(at, image, clustered)?.as_slice() {
                    any |= self.add_way(&index.tree, &key.key);
                }
            }
        }
        Ok(any)
    }

    /// Adds the first page on the way to the key's leaf that is missing.
    fn add_way(&mut self, tree: &Tree, key: &[u8]) -> bool {
        let Some(no) = tree.missing_page(key) else { return false };
        let space = tree.space();
        match self.spaces.iter_mut().find(|(id, _)| *id == space) {
            Some((_, pages)) => pages.push(no),
            None => self.spaces.push((space, vec![no])),
        }
        self.pages += 1;
        true
    }

    /// Reads the pages, as far as there are spare frames, and forgets them. Returns how many were
    /// read, and whether there were enough frames.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn read(&mut self, engine: &Engine) -> Result<(usize, bool)> {
        let (mut read, mut sufficed) = (0, true);
        for (space, pages) in &mut self.spaces {
            if pages.is_empty() {
                continue;
            }
            let mut pages = std::mem::take(pages);
            pages.sort_unstable();
            pages.dedup();
            let (of_space, enough) = engine.pool.read_unasked(*space, pages)?;
            read += of_space;
            sufficed &= enough;
        }
        self.pages = 0;
        Ok((read, sufficed))
    }
}
