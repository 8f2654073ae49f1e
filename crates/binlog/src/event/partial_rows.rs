//! PARTIAL_UPDATE_ROWS events: updated rows whose JSON documents may be given by their differences
//! from the documents before (`binlog_row_value_options=PARTIAL_JSON`).
//!
//! The event is an UPDATE_ROWS event of version 2 with additions in front of each after-image: a
//! packed integer of options and, if option PARTIAL_JSON_UPDATES is among them, a bit for every
//! JSON column *of the table*, whether it is in the image or not. The bit says whether the column's
//! bytes (after the usual four bytes of length) are differences.

use super::rows::RowsEvent;
use crate::cursor::{Cursor, DecodeError};
use types::row::RowLayout;
use types::{ColumnMask, TypeCode};

const PARTIAL_JSON_UPDATES: u64 = 1;

/// A PARTIAL_UPDATE_ROWS event, which is read as an update except for its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialUpdateEvent<'a>(pub RowsEvent<'a>);

/// One row of a PARTIAL_UPDATE_ROWS event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialUpdate<'a> {
    /// The image before the update.
    pub before: &'a [u8],
    /// The image after the update.
    pub after: PartialAfter<'a>,
}

/// An after-image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialAfter<'a> {
    /// The columns whose value is differences instead of a document. It has no columns if there are
    /// none.
    pub differences: ColumnMask,
    /// The image with the event's after columns.
    pub image: &'a [u8],
}

impl<'a> PartialUpdateEvent<'a> {
    /// Returns the rows. `layout` is that of the table at the source.
    pub fn rows(&self, layout: &RowLayout) -> Result<Vec<PartialUpdate<'a>>, DecodeError> {
        let none = ColumnMask::empty(layout.columns());
        let (before, after) = (self.0.before_mask(), self.0.after_mask());
        let (before, after) = (before.as_ref().unwrap_or(&none), after.as_ref().unwrap_or(&none));
        let mut cursor = Cursor::at(self.0.rows, 0);
        let mut rows = Vec::new();
        while !cursor.is_empty() {
            let row = PartialUpdate {
                before: image(&mut cursor, layout, before)?,
                after: PartialAfter {
                    differences: differences(&mut cursor, layout)?,
                    image: image(&mut cursor, layout, after)?,
                },
            };
            rows.push(row);
        }
        Ok(rows)
    }
}

fn image<'a>(
    cursor: &mut Cursor<'a>,
    layout: &RowLayout,
    mask: &ColumnMask,
) -> Result<&'a [u8], DecodeError> {
    let len = layout
        .partial_len(mask, cursor.clone().rest())
        .map_err(|_| cursor.error("row image does not fit the table map"))?;
    cursor.take(len)
}

fn differences(cursor: &mut Cursor<'_>, layout: &RowLayout) -> Result<ColumnMask, DecodeError> {
    let mut mask = ColumnMask::empty(layout.columns());
    let options = cursor.packed_int()?;
    if options & !PARTIAL_JSON_UPDATES != 0 {
        return Err(cursor.error("unknown option of a partial row image"));
    }
    if options == 0 {
        return Ok(mask);
    }
    let is_json = |(_, column): &(usize, &types::ColumnType)| column.code == TypeCode::Json;
    let json: Vec<usize> = layout.types().iter().enumerate().filter(is_json).map(|(at, _)| at).collect();
    let bits = cursor.take(json.len().div_ceil(8))?;
    for (bit, column) in json.into_iter().enumerate() {
        if bits[bit / 8] >> (bit % 8) & 1 == 1 {
            mask.insert(column);
        }
    }
    Ok(mask)
}
