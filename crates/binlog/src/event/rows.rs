//! WRITE_ROWS, UPDATE_ROWS and DELETE_ROWS events of versions 1 and 2: the rows that a statement
//! changed in one table.

use super::{DUMMY_TABLE_ID, HEADER_LEN, event_type};
use crate::cursor::{Cursor, DecodeError};
use std::borrow::Cow;
use types::ColumnMask;
use types::row::RowLayout;

/// The kind of a row event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsKind {
    /// Rows are inserted: the event has after-images.
    Write,
    /// Rows are updated: the event has a before-image and an after-image for each.
    Update,
    /// Rows are deleted: the event has before-images.
    Delete,
}

/// The flags of a row event.
#[allow(missing_docs)] // The names are those of MySQL.
pub mod rows_flag {
    pub const STMT_END: u16 = 1;
    pub const NO_FOREIGN_KEY_CHECKS: u16 = 2;
    pub const RELAXED_UNIQUE_CHECKS: u16 = 4;
    pub const COMPLETE_ROWS: u16 = 8;
    /// A flag since MySQL 8.4, whose foreign keys are checked by SQL.
    pub const USE_SQL_FOREIGN_KEY: u16 = 16;
}

/// A row event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsEvent<'a> {
    /// Whether the event inserts, updates or deletes rows.
    pub kind: RowsKind,
    /// The number of the table, which an earlier TABLE_MAP event defined.
    pub table_id: u64,
    /// The flags, bits of [`rows_flag`].
    pub flags: u16,
    /// The extra data of version 2 (NDB, partitions), without its length.
    pub extra_data: &'a [u8],
    /// How many columns the table has.
    pub columns: usize,
    /// The bitmap of the columns in each before-image (for Write, in each after-image).
    first_bitmap: &'a [u8],
    /// The bitmap of the columns in each after-image of an Update.
    second_bitmap: &'a [u8],
    /// The row images.
    pub rows: &'a [u8],
    /// The offset of `rows` in the event, for errors.
    rows_offset: usize,
}

/// One row of a row event: partial images of the columns in the event's masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowChange<'a> {
    /// The image of the row before the change, for Update and Delete.
    pub before: Option<&'a [u8]>,
    /// The image of the row after the change, for Write and Update.
    pub after: Option<&'a [u8]>,
}

/// Returns the kind of a row event type, and whether it is version 2.
#[inline]
pub fn rows_kind(event_type: u8) -> Option<(RowsKind, bool)> {
    Some(match event_type {
        event_type::WRITE_ROWS => (RowsKind::Write, true),
        event_type::UPDATE_ROWS => (RowsKind::Update, true),
        event_type::DELETE_ROWS => (RowsKind::Delete, true),
        event_type::WRITE_ROWS_V1 => (RowsKind::Write, false),
        event_type::UPDATE_ROWS_V1 => (RowsKind::Update, false),
        event_type::DELETE_ROWS_V1 => (RowsKind::Delete, false),
        _ => return None,
    })
}

/// Decodes a row event without checksum, as [`super::decode_body`] does. [`rows_kind`] gives the
/// kind and the version of its type.
#[inline]
pub fn decode(event: &[u8], kind: RowsKind, version_2: bool) -> Result<RowsEvent<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let table_id = cursor.uint(6)?;
    let flags = cursor.u16()?;
    let extra_data = if version_2 {
        let len = usize::from(cursor.u16()?);
        cursor.take(len.checked_sub(2).ok_or(cursor.error("extra data length below 2"))?)?
    } else {
        &[]
    };
    let columns = cursor.packed_int()?;
    if columns > 4096 {
        return Err(cursor.error("table has over 4096 columns"));
    }
    let columns = columns as usize;
    let first_bitmap = cursor.take(columns.div_ceil(8))?;
    let second_bitmap = if kind == RowsKind::Update { cursor.take(columns.div_ceil(8))? } else { &[] };
    let rows_offset = cursor.offset();
    Ok(RowsEvent {
        kind,
        table_id,
        flags,
        extra_data,
        columns,
        first_bitmap,
        second_bitmap,
        rows: cursor.rest(),
        rows_offset,
    })
}

impl<'a> RowsEvent<'a> {
    /// Returns the columns in each before-image. `None` for Write.
    pub fn before_mask(&self) -> Option<ColumnMask> {
        match self.kind {
            RowsKind::Write => None,
            _ => ColumnMask::from_bitmap(self.first_bitmap, self.columns),
        }
    }

    /// Returns the columns in each after-image. `None` for Delete.
    pub fn after_mask(&self) -> Option<ColumnMask> {
        match self.kind {
            RowsKind::Write => ColumnMask::from_bitmap(self.first_bitmap, self.columns),
            RowsKind::Update => ColumnMask::from_bitmap(self.second_bitmap, self.columns),
            RowsKind::Delete => None,
        }
    }

    /// Reports whether the statement ends with this event.
    pub fn ends_statement(&self) -> bool {
        self.flags & rows_flag::STMT_END != 0
    }

    /// Returns the rows. `layout` is that of the table *at the source* (of the TABLE_MAP event).
    pub fn iter<'l>(&self, layout: &'l RowLayout) -> RowsIter<'a, 'l> {
        self.iter_masked(layout, self.before_mask().map(Cow::Owned), self.after_mask().map(Cow::Owned))
    }

    /// Returns the rows as [`RowsEvent::iter`] does, for a caller that has the event's masks
    /// ([`RowsEvent::before_mask`], [`RowsEvent::after_mask`]).
    #[inline]
    pub fn iter_with<'l>(
        &self,
        layout: &'l RowLayout,
        before: Option<&'l ColumnMask>,
        after: Option<&'l ColumnMask>,
    ) -> RowsIter<'a, 'l> {
        self.iter_masked(layout, before.map(Cow::Borrowed), after.map(Cow::Borrowed))
    }

    #[inline]
    fn iter_masked<'l>(
        &self,
        layout: &'l RowLayout,
        before: Option<Cow<'l, ColumnMask>>,
        after: Option<Cow<'l, ColumnMask>>,
    ) -> RowsIter<'a, 'l> {
        RowsIter {
            layout,
            before,
            after,
            rows: self.rows,
            at: 0,
            holds_one: self.is_row_of_defaults(),
            offset: self.rows_offset,
        }
    }

    /// Reports whether the event inserts a row of which no column was written. The image of such a
    /// row takes no bytes.
    fn is_row_of_defaults(&self) -> bool {
        self.kind == RowsKind::Write
            && self.table_id != DUMMY_TABLE_ID
            && self.rows.is_empty()
            && self.first_bitmap.iter().all(|bits| *bits == 0)
    }
}

/// An iterator over the rows of a row event. It ends after an error.
pub struct RowsIter<'a, 'l> {
    layout: &'l RowLayout,
    before: Option<Cow<'l, ColumnMask>>,
    after: Option<Cow<'l, ColumnMask>>,
    rows: &'a [u8],
    at: usize,
    /// Whether there is one row although there are no bytes.
    holds_one: bool,
    offset: usize,
}

impl<'a> RowsIter<'a, '_> {
    fn image(&mut self, of_before: bool) -> Result<Option<&'a [u8]>, DecodeError> {
        let Some(mask) = (if of_before { &self.before } else { &self.after }) else { return Ok(None) };
        let rest = &self.rows[self.at..];
        match self.layout.partial_len(mask, rest) {
            Ok(len) => {
                self.at += len;
                Ok(Some(&rest[..len]))
            }
            Err(error) => Err(DecodeError {
                offset: self.offset + self.at + error.offset,
                what: "row image does not fit the table map",
            }),
        }
    }
}

impl<'a> Iterator for RowsIter<'a, '_> {
    type Item = Result<RowChange<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.rows.len() && !std::mem::take(&mut self.holds_one) {
            return None;
        }
        let start = self.at;
        let change = self.image(true).and_then(|before| Ok(RowChange { before, after: self.image(false)? }));
        if change.is_err() || self.at == start {
            self.at = self.rows.len(); // It ends after an error, and for images of no bytes.
        }
        Some(change)
    }
}
