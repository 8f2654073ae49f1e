//! Partial row images, as events have them: the full image of an inserted row, and the keys and
//! indexes by which the row of a before image can be found.

use crate::bytes::KeyBuf;
use crate::definition::{ColumnDef, IndexRef};
use crate::error::{EngineError, Result};
use crate::multi_valued::RowEntries;
use crate::table::{KeyPart, Table};
use crate::transaction::key_range::KeyRange;
use std::collections::BTreeMap;
use types::{ColumnMask, Value};

/// A partial row image of an event: the columns of `mask`, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct PartialRow<'a> {
    /// The columns that the image has. The mask has as many bits as the table has columns.
    pub mask: &'a ColumnMask,
    /// The null bitmap and the packed values of those columns.
    pub image: &'a [u8],
}

impl PartialRow<'_> {
    /// Returns the image as a full one, in which absent columns are NULL.
    pub(crate) fn widened(&self, table: &Table) -> Result<Vec<u8>> {
        if self.mask.is_full() {
            return Ok(self.image.to_vec());
        }
        let mut columns = vec![None; table.columns()];
        table.layout.walk_partial(self.mask, self.image, |column, raw| columns[column] = raw)?;
        let mut full = Vec::new();
        table.layout.encode_raw(&columns, &mut full)?;
        Ok(full)
    }
}

impl Table {
    /// Returns the clustered key of a partial image that has all columns of the primary key.
    pub(crate) fn partial_clustered_key(&self, row: PartialRow<'_>) -> Result<KeyBuf> {
        if row.mask.is_full() {
            return self.clustered_key(row.image, None);
        }
        self.key_from_partial(row.mask, row.image)
    }

    /// Calls `found` with each unique key that a partial image names, and with the number of its
    /// index: 0 for the primary key, otherwise the index's position plus one. False means that the
    /// image has only a part of a key, or that the table has no primary key.
    pub fn known_keys(&self, row: PartialRow<'_>, found: &mut dyn FnMut(usize, &[u8])) -> Result<bool> {
        if self.primary.is_none() {
            return Ok(false);
        }
        match row.mask.covers(&self.primary_mask) {
            true => found(0, &self.partial_clustered_key(row)?),
            false if row.mask.intersects(&self.primary_mask) => return Ok(false),
            false => {}
        }
        for (at, index) in self.indexes.iter().enumerate().filter(|(_, index)| index.unique) {
            let has = |part: &KeyPart| row.mask.contains(part.column);
            if index.parts.iter().all(has) {
                let keys = self.entry_keys(at, &row.widened(self)?, &[])?;
                keys.as_slice().iter().filter(|key| !key.has_null).for_each(|key| found(at + 1, &key.key));
            } else if index.parts.iter().any(has) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the ranges in which the rows of these images are, either of an index or of the whole
    /// table, and how many of the images are in each range.
    pub(crate) fn places_of(
        &self,
        index: Option<usize>,
        mask: &ColumnMask,
        images: &[&[u8]],
    ) -> Result<Vec<(IndexRef, KeyRange, usize)>> {
        let Some(at) = index else { return Ok(vec![(IndexRef::Primary, KeyRange::all(), images.len())]) };
        let mut keys: BTreeMap<KeyBuf, usize> = BTreeMap::new();
        for image in images {
            let full = PartialRow { mask, image }.widened(self)?;
            *keys.entry(self.secondary_key(at, &full, &[])?.key).or_default() += 1;
        }
        let range =
            |(key, images): (KeyBuf, usize)| (IndexRef::Secondary(at), KeyRange::prefix(&key), images);
        Ok(keys.into_iter().map(range).collect())
    }

    /// Returns the full image of an inserted row. Columns that the event does not have get their
    /// defaults.
    pub fn inserted_image(&self, row: PartialRow<'_>) -> Result<Vec<u8>> {
        self.layout.check_values(row.mask, row.image)?;
        if row.mask.is_full() { Ok(row.image.to_vec()) } else { self.with_defaults(row) }
    }

    /// Returns the full image of an inserted row whose event lacks columns, which get their
    /// defaults.
    fn with_defaults(&self, row: PartialRow<'_>) -> Result<Vec<u8>> {
        let mut values = Vec::with_capacity(self.columns());
        for (at, column) in self.def.columns.iter().enumerate() {
            values.push(if row.mask.contains(at) { Value::Null } else { self.default_of(column)? });
        }
        let (mut defaults, mut full) = (Vec::new(), Vec::new());
        self.layout.encode(&values, &mut defaults)?;
        self.layout.splice(&defaults, row.mask, row.image, &mut full)?;
        Ok(full)
    }

    fn default_of(&self, column: &ColumnDef) -> Result<Value> {
        let none = || EngineError::Incompatible {
            table: self.qualified_name.clone(),
            reason: format!("Field '{}' doesn't have a default value", column.name),
        };
        match column.default_literal() {
            Some(literal) => {
                let converted = types::convert::to_column(&literal, &column.ty, false);
                converted.map(|(value, _)| value).map_err(|_| none())
            }
            _ if column.nullable => Ok(Value::Null),
            // The source stored the row with the implicit default of the type.
            _ => types::convert::implicit_default(&column.ty).map_err(|_| none()),
        }
    }

    /// Returns the position of the index that leads to rows for which these columns are known, a
    /// unique one first. A multi-valued index does not lead to all rows.
    pub(crate) fn best_index(&self, mask: &ColumnMask) -> Option<usize> {
        let has = |at: &usize| {
            let index = &self.indexes[*at];
            matches!(index.entries, RowEntries::One)
                && index.parts.iter().all(|part| mask.contains(part.column))
        };
        (0..self.indexes.len()).filter(has).max_by_key(|at| self.indexes[*at].unique)
    }
}
