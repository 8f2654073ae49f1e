//! The changes of a transaction to temporary tables.
//!
//! Rows of temporary tables wait for the commit as all others do, so statements and savepoints take
//! them back in the same way. But they are in a write set of their own, of which nothing goes into
//! the event group or the log. The commit puts them on their pages when the rest of the commit is
//! safe.
//!
//! No other session reads the tables, so no versions are kept: a changed row is replaced, and a
//! deleted row is removed.

use crate::entry;
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::spill::{NewImage, SpillFile, SpillFiles};
use crate::table::Table;
use crate::transaction::row_change::RowChange;
use crate::transaction::write_set::{TableWrites, WriteSet};
use btree::{Change, Spot};
use buffer::{Pool, RecordLsn};
use std::borrow::Cow;
use std::sync::Arc;

/// The sequence number of all rows of temporary tables, which every view sees.
const SEQ: u64 = 1;

/// The changes of temporary tables. When the images of rows take more than their share of memory,
/// they go to a file.
pub(super) struct TemporaryWrites {
    pub writes: WriteSet,
    spills: Arc<SpillFiles>,
    images: Option<SpillFile>,
    /// The bytes of images that are in memory.
    image_bytes: usize,
    limit_bytes: usize,
}

impl TemporaryWrites {
    pub fn new(spills: Arc<SpillFiles>, limit_bytes: usize) -> TemporaryWrites {
        TemporaryWrites { writes: WriteSet::new(true), spills, images: None, image_bytes: 0, limit_bytes }
    }

    /// Counts the image of a row that is about to be staged.
    #[inline]
    pub fn note_image(&mut self, image: &[u8]) {
        self.image_bytes += image.len();
    }

    /// Returns a row's image, from memory or from the file.
    pub fn image<'i>(&self, image: &'i NewImage) -> Result<Cow<'i, [u8]>> {
        match image {
            NewImage::Here(image) => Ok(Cow::Borrowed(image)),
            NewImage::Spilled { at, len, .. } => {
                let file = self.images.as_ref();
                let file =
                    file.ok_or_else(|| EngineError::Corrupt("a spilled row has no file".to_owned()))?;
                Ok(Cow::Owned(file.read(*at, *len as usize)?))
            }
        }
    }

    /// Moves images out of memory when they take more than the limit.
    #[inline]
    pub fn let_images_go(&mut self) -> Result<()> {
        if self.image_bytes < self.limit_bytes { Ok(()) } else { self.spill_images() }
    }

    #[cold]
    fn spill_images(&mut self) -> Result<()> {
        if self.images.is_none() {
            self.images = Some(self.spills.create()?);
        }
        let file = self.images.as_mut().expect("just made");
        self.writes.let_images_go(0, |images| {
            let at = file.len();
            file.append(images)?;
            Ok(at)
        })?;
        self.image_bytes = 0;
        Ok(())
    }

    /// Makes sure, before anything of the commit is done, that the rows will have pages.
    ///
    /// # Errors
    /// Returns [`EngineError::TableFull`] when there is no room, and I/O errors.
    pub fn reserve(&mut self) -> Result<()> {
        self.writes.settle();
        for writes in self.writes.tables.iter().filter(|writes| !writes.table.is_gone()) {
            let news =
                writes.rows.iter().filter_map(|(key, change)| Some(key.len() + change.new.as_ref()?.len()));
            let entries = writes.entries.iter().flat_map(|entries| entries.settled());
            let entries = entries.filter(|(_, change)| change.present);
            let sizes = news.chain(entries.map(|(key, _)| key.len()));
            let (count, bytes) = sizes.fold((0, 0), |(count, bytes), len| (count + 1, bytes + len));
            if count > 0 {
                let reserved = writes.table.clustered.reserve(count, bytes);
                reserved.map_err(|error| EngineError::of_pages_of(&writes.table.def.name, error))?;
            }
        }
        Ok(())
    }

    /// Puts the rows on their pages. A table that does not get its rows is marked
    /// as damaged and cannot be used any more, because the commit has been done.
    pub fn put_on_pages(self, pool: &Arc<Pool>) {
        for writes in self.writes.tables.iter().filter(|writes| !writes.table.is_gone()) {
            if let Err(error) = self.put_table(pool, writes) {
                writes.table.set_damaged();
                log::error!("InnoDB: rows of the temporary table {}: {error}", writes.table.qualified_name);
            }
        }
    }

    fn put_table(&self, pool: &Arc<Pool>, writes: &TableWrites) -> Result<()> {
        for (key, change) in &writes.rows {
            self.put_row(pool, &writes.table, key, change)?;
        }
        assert_eq!(writes.entries.len(), writes.table.indexes.len(), "every index has its entries");
        for (index, entries) in writes.table.indexes.iter().zip(&writes.entries) {
            for (key, change) in entries.settled() {
                if !change.present && change.derivable {
                    continue;
                }
                let value = entry::secondary(0, SEQ, usize::from(change.secondary_len));
                index.tree.modify(key, RecordLsn::UNLOGGED, |_| match change.present {
                    true => Change::Put(value[..].into()),
                    false => Change::Remove,
                })?;
            }
        }
        Ok(())
    }

    fn put_row(&self, pool: &Arc<Pool>, table: &Arc<Table>, key: &[u8], change: &RowChange) -> Result<()> {
        let mut value = Vec::new();
        if let Some(new) = &change.new {
            let image = self.image(new)?;
            match overflow::place(pool, table, key.len(), &image, &[])? {
                Some(placed) => entry::put_clustered(&mut value, &placed.externs, &placed.image),
                None => entry::put_clustered(&mut value, &[], &image),
            }
            entry::set_seq(&mut value, SEQ);
        } else if change.old.is_none() {
            return Ok(());
        }
        let spot = match change.leaf {
            Some(leaf) => Spot::again(key, leaf),
            None => table.clustered.locate(key),
        };
        table.clustered.modify_at(&spot, RecordLsn::UNLOGGED, |_| match change.new {
            Some(_) => Change::Put(value.as_slice().into()),
            None => Change::Remove,
        })?;
        for held in change.old.iter().flat_map(|old| &old.externs) {
            overflow::free(pool, table.placement.space, held.first_page, held.len)?;
        }
        Ok(())
    }
}
