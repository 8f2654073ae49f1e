//! Reading committed rows, from the page or from the store of older versions.
//!
//! A table, an encoded key, and the view of a snapshot or none come in. Full images of rows go out,
//! with their long values. A leaf is latched no longer than its entry is copied; older versions and
//! overflow pages are read after the latch is released.

use crate::dropped_rows::DroppedRows;
use crate::entry::{ClusteredValue, Externs};
use crate::error::Result;
use crate::overflow;
use crate::table::Table;
use crate::version::store::{Found, VersionStore};
use crate::version::view::View;
use btree::Spot;
use buffer::{FoundLeaf, Pool};
use std::sync::Arc;

/// A committed row that the transaction changes.
#[derive(Clone, Debug)]
pub(crate) struct OldRow {
    /// The full image with its long values.
    pub image: Vec<u8>,
    /// The sequence number of the commit that the row is from; 0 for a row of the transaction's
    /// own.
    pub seq: u64,
    /// The places of the row's long values.
    pub externs: Externs,
    /// The leaf that the row was read from.
    pub leaf: Option<FoundLeaf>,
}

/// The committed rows of all tables.
pub(crate) struct Rows {
    pub pool: Arc<Pool>,
    pub versions: VersionStore,
    pub dropped: DroppedRows,
}

impl Rows {
    /// Returns the newest committed row with this key, with its long values.
    pub(crate) fn read_newest(&self, table: &Table, key: &[u8]) -> Result<Option<OldRow>> {
        self.read_newest_at(table, &table.clustered.locate(key))
    }

    /// Does what [`Rows::read_newest`] does, for a key that was located before.
    pub(crate) fn read_newest_at(&self, table: &Table, spot: &Spot<'_>) -> Result<Option<OldRow>> {
        let leaf = spot.leaf();
        let read = table.clustered.get_at(spot, |value| -> Result<_> {
            let parsed = ClusteredValue::parse(value)?;
            if parsed.is_deleted() {
                return Ok(None);
            }
            if !parsed.has_externs() && table.reads_as_stored(&parsed) {
                let (image, seq) = (parsed.stored.to_vec(), parsed.seq);
                return Ok(Some(Ok(OldRow { image, seq, externs: Externs::new(), leaf })));
            }
            // Overflow pages are read after the leaf's latch is released.
            Ok(Some(Err(value.to_vec())))
        })?;
        match read.transpose()?.flatten() {
            None => Ok(None),
            Some(Ok(row)) => Ok(Some(row)),
            Some(Err(value)) => {
                let parsed = ClusteredValue::parse(&value)?;
                let Some(image) = self.live_image(table, &parsed)? else { return Ok(None) };
                Ok(Some(OldRow { image, seq: parsed.seq, externs: table.externs_of(&parsed)?, leaf }))
            }
        }
    }

    /// Reports whether a committed row with this key exists now.
    pub(crate) fn row_exists_at(&self, table: &Table, spot: &Spot<'_>) -> Result<bool> {
        let is_live = |value: &[u8]| Ok(crate::entry::parse_header(value)?.0 & crate::entry::DELETED == 0);
        if table.dropped.is_some() {
            return Ok(self.read_newest_at(table, spot)?.is_some());
        }
        let live = table.clustered.get_at(spot, is_live)?;
        live.transpose().map(|live| live.unwrap_or(false))
    }

    /// Returns the row with this key as a snapshot sees it.
    #[inline]
    pub(crate) fn read_at(&self, table: &Table, key: &[u8], view: &View) -> Result<Option<Vec<u8>>> {
        let mut image = Vec::new();
        Ok(self.read_into(table, key, view, &mut image)?.then_some(image))
    }

    /// Puts the row with this key, as a snapshot sees it, into `image`. Returns false if there is
    /// none; what is in `image` then means nothing.
    #[inline]
    pub(crate) fn read_into(
        &self,
        table: &Table,
        key: &[u8],
        view: &View,
        image: &mut Vec<u8>,
    ) -> Result<bool> {
        self.read_into_at(table, (key, &table.clustered.locate(key)), view, image)
    }

    /// Does what [`Rows::read_into`] does, for a key that was located before.
    #[inline]
    pub(crate) fn read_into_at(
        &self,
        table: &Table,
        (key, spot): (&[u8], &Spot<'_>),
        view: &View,
        image: &mut Vec<u8>,
    ) -> Result<bool> {
        let read = table.clustered.get_at(spot, |value| -> Result<_> {
            let parsed = ClusteredValue::parse(value)?;
            let is_simple = view.sees(parsed.seq) && !parsed.is_deleted() && !parsed.has_externs();
            let is_simple = is_simple && table.reads_as_stored(&parsed);
            image.clear();
            image.extend_from_slice(if is_simple { parsed.stored } else { value });
            Ok(is_simple)
        })?;
        match read.transpose()? {
            None => Ok(false),
            Some(true) => Ok(true),
            // Older versions and overflow pages are read after the leaf's latch is released.
            Some(false) => match self.visible(table, key, Some(image), view)? {
                Some(seen) => {
                    *image = seen;
                    Ok(true)
                }
                None => Ok(false),
            },
        }
    }

    /// Returns what a snapshot sees of a row whose page entry is `value`.
    pub(crate) fn visible(
        &self,
        table: &Table,
        key: &[u8],
        value: Option<&[u8]>,
        view: &View,
    ) -> Result<Option<Vec<u8>>> {
        // Without an entry there is no version either: an entry is removed only when no snapshot
        // needs the row.
        let Some(value) = value else { return Ok(None) };
        let parsed = ClusteredValue::parse(value)?;
        if view.sees(parsed.seq) {
            return self.live_image(table, &parsed);
        }
        match self.versions.find(table.id, key, view) {
            Found::Nothing => Ok(None),
            Found::Value(value) => self.live_image(table, &ClusteredValue::parse(&value)?),
        }
    }

    /// Returns the full image of a stored row, with its long values. `None` means that the row does
    /// not exist: it is deleted or went with its partition. It must not be called while a page is
    /// latched.
    ///
    /// # Errors
    /// Returns an error for a row that does not decode, and I/O errors.
    pub(crate) fn live_image(&self, table: &Table, value: &ClusteredValue<'_>) -> Result<Option<Vec<u8>>> {
        self.dropped.live_image(&self.pool, table, value)
    }

    /// Returns the row with this key that went with its partition and is still on its page, so that
    /// it can be deleted. `None` means that there is none.
    ///
    /// # Errors
    /// Returns an error for a row that does not decode, and I/O errors.
    pub(crate) fn read_dropped(&self, table: &Table, key: &[u8]) -> Result<Option<OldRow>> {
        if table.dropped.is_none() {
            return Ok(None);
        }
        let Some(row) = self.stored_row(table, key)? else { return Ok(None) };
        let has_gone = self.dropped.has_gone(table, row.seq, &row.image)?;
        Ok(has_gone.then_some(row))
    }

    /// Returns the row with this key that is on its page, even if it went with its partition.
    ///
    /// # Errors
    /// Returns an error for a row that does not decode, and I/O errors.
    pub(crate) fn stored_row(&self, table: &Table, key: &[u8]) -> Result<Option<OldRow>> {
        if table.dropped.is_none() {
            return self.read_newest(table, key);
        }
        let Some(value) = table.clustered.get(key, <[u8]>::to_vec)? else { return Ok(None) };
        let parsed = ClusteredValue::parse(&value)?;
        if parsed.is_deleted() {
            return Ok(None);
        }
        let image = overflow::resolve(&self.pool, table, &parsed)?;
        let externs = table.externs_of(&parsed)?;
        Ok(Some(OldRow { image, seq: parsed.seq, externs, leaf: None }))
    }
}
