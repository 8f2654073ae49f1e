//! Row images: a null bitmap, then the packed value of each column that is not NULL, as in MySQL's
//! row events.
//!
//! A *full* image has all columns. A *partial* image has those of a [`ColumnMask`], in order, with
//! a null bitmap of as many bits. `docs/formats/row.md` has the bytes.

mod comparable;
mod places;
mod plain_form;

use crate::packed::{self, PackedError, Width, packed_len};
use crate::{ColumnMask, ColumnType, Value};
use places::Places;
use plain_form::PlainForm;

/// The error for a row image that cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowError {
    /// The column, from 0. The number of columns stands for the image as a whole.
    pub column: usize,
    /// The byte offset in the image (for an encode, the end of the output).
    pub offset: usize,
    /// The reason of the error.
    pub cause: PackedError,
}

impl std::fmt::Display for RowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "row image, column {} at byte {}: {}", self.column, self.offset, self.cause)
    }
}

impl std::error::Error for RowError {}

/// The columns of a table, prepared for walking over row images.
#[derive(Clone, Debug)]
pub struct RowLayout {
    types: Vec<ColumnType>,
    widths: Vec<Width>,
    /// The byte offsets of the leading columns whose place is fixed as long as no column before
    /// them is NULL. The last of these columns may itself be of variable length.
    fixed_offsets: Vec<u32>,
    places: Places,
    /// For each column, whether its bytes behind their length are those of its values.
    plain: Vec<bool>,
    hints: Vec<Hint>,
    /// Whether some column may have bytes that are no value of its type.
    fallible: bool,
}

/// The part of a column's layout that reading it wants first.
#[derive(Clone, Copy, Debug)]
struct Hint {
    /// The column's byte offset as in `fixed_offsets`; 0 if the column has none.
    fixed_offset: u32,
    /// The number of bytes of a text's length, if its bytes are those of its value and there is one
    /// byte or two. 0 for all other columns.
    text_prefix: u8,
    /// How the column is read, if it is of a kind that most columns are of.
    plain: PlainForm,
}

/// Reports whether bit `column` of a null bitmap is set. The bitmap must be long enough.
#[inline]
fn is_null(bitmap: &[u8], column: usize) -> bool {
    bitmap[column >> 3] >> (column & 7) & 1 == 1
}

impl RowLayout {
    /// Makes the layout of rows with these columns.
    pub fn new(types: &[ColumnType]) -> RowLayout {
        let widths: Vec<Width> = types.iter().map(packed::width).collect();
        let mut fixed_offsets = Vec::new();
        let mut offset = types.len().div_ceil(8) as u32;
        for width in &widths {
            fixed_offsets.push(offset);
            match width {
                Width::Fixed(len) => offset += u32::from(*len),
                Width::Prefixed(_) => break,
            }
        }
        let fallible = types.iter().any(packed::may_be_no_value);
        let plain = types.iter().map(packed::is_plain_text).collect();
        let places = Places::new(&widths);
        let hint = |(column, width): (usize, &Width)| Hint {
            fixed_offset: fixed_offsets.get(column).copied().unwrap_or(0),
            text_prefix: match width {
                Width::Prefixed(prefix @ 1..=2) if packed::is_plain_text(&types[column]) => *prefix,
                _ => 0,
            },
            plain: PlainForm::of(&types[column]),
        };
        let hints = widths.iter().enumerate().map(hint).collect();
        RowLayout { types: types.to_vec(), widths, fixed_offsets, places, plain, hints, fallible }
    }

    /// Returns the columns' types.
    pub fn types(&self) -> &[ColumnType] {
        &self.types
    }
    /// Reports whether a column's bytes behind their length are those of its values, which are
    /// texts.
    pub fn is_plain_text(&self, column: usize) -> bool {
        self.plain.get(column).copied().unwrap_or(false)
    }
    /// Reports whether a column's bytes behind their length are those of its values, which are
    /// texts of less than 64 KB.
    pub fn is_short_text(&self, column: usize) -> bool {
        self.hints.get(column).is_some_and(|hint| hint.text_prefix != 0)
    }
    /// Returns how many columns the table has.
    pub fn columns(&self) -> usize {
        self.types.len()
    }
    /// Returns the number of bytes of the null bitmap of a full image.
    pub fn null_bytes(&self) -> usize {
        self.types.len().div_ceil(8)
    }

    fn bitmap<'a>(&self, image: &'a [u8], columns: usize) -> Result<&'a [u8], RowError> {
        image.get(..columns.div_ceil(8)).ok_or(self.error(self.columns(), image.len(), PackedError::Short))
    }

    fn error(&self, column: usize, offset: usize, cause: PackedError) -> RowError {
        RowError { column, offset, cause }
    }

    /// Returns the offset just after column `column`, which is not NULL and starts at `offset`.
    #[inline]
    fn after(&self, image: &[u8], column: usize, offset: usize) -> Result<usize, RowError> {
        let rest = image.get(offset..).unwrap_or_default();
        match packed_len(self.widths[column], rest) {
            Ok(len) => Ok(offset + len),
            Err(cause) => Err(self.error(column, offset, cause)),
        }
    }

    /// Returns the length in bytes of the full image at the start of `image`.
    pub fn len_of(&self, image: &[u8]) -> Result<usize, RowError> {
        let bitmap = self.bitmap(image, self.columns())?;
        self.skip(image, bitmap, 0, self.columns(), bitmap.len())
    }

    /// Returns the offset after the columns `from..to` of a full image, where column `from` starts
    /// at `offset`.
    #[inline]
    fn skip(
        &self,
        image: &[u8],
        bitmap: &[u8],
        from: usize,
        to: usize,
        offset: usize,
    ) -> Result<usize, RowError> {
        let mut offset = offset;
        for column in from..to {
            if !is_null(bitmap, column) {
                offset = self.after(image, column, offset)?;
            }
        }
        Ok(offset)
    }

    /// Returns the length in bytes of the partial image of the mask's columns at the start of
    /// `image`. The mask must be of this table.
    pub fn partial_len(&self, mask: &ColumnMask, image: &[u8]) -> Result<usize, RowError> {
        self.check_mask(mask)?;
        if mask.is_full() {
            return self.len_of(image);
        }
        let bitmap = self.bitmap(image, mask.count())?;
        let (mut offset, mut at) = (bitmap.len(), 0);
        let mut pass = |column| {
            if !is_null(bitmap, at) {
                offset = self.after(image, column, offset)?;
            }
            at += 1;
            Ok(())
        };
        if let Some(mut left) = mask.bits() {
            while left != 0 {
                pass(left.trailing_zeros() as usize)?;
                left &= left - 1;
            }
        } else {
            mask.iter().try_for_each(pass)?;
        }
        Ok(offset)
    }

    #[inline]
    fn check_mask(&self, mask: &ColumnMask) -> Result<(), RowError> {
        if mask.columns() == self.columns() {
            Ok(())
        } else {
            Err(self.error(self.columns(), 0, PackedError::WrongKind))
        }
    }

    /// Returns the packed value of a column in a full image, with its length prefix. `None` for
    /// NULL.
    #[inline]
    pub fn get_raw<'a>(&self, image: &'a [u8], column: usize) -> Result<Option<&'a [u8]>, RowError> {
        let Some(start) = self.start_of(image, column)? else { return Ok(None) };
        if let Some((prefix, text)) = self.text_at(image, column, start) {
            return Ok(Some(&image[start..start + prefix + text.len()]));
        }
        let end = self.after(image, column, start)?;
        Ok(Some(&image[start..end]))
    }

    /// Returns the offset of a column in a full image. `None` means that the column is NULL.
    /// Whether the image has the column's bytes is for the caller to see.
    #[inline(always)]
    fn start_of(&self, image: &[u8], column: usize) -> Result<Option<usize>, RowError> {
        let (Some(bitmap), Some(hint)) = (image.get(..self.null_bytes()), self.hints.get(column)) else {
            return Err(self.lacks(image, column));
        };
        if is_null(bitmap, column) {
            return Ok(None);
        }
        if !no_null_before(bitmap, column) {
            return self.skip(image, bitmap, 0, column, bitmap.len()).map(Some);
        }
        if hint.fixed_offset != 0 {
            return Ok(Some(hint.fixed_offset as usize));
        }
        let start = self.places.start(image, bitmap.len(), column);
        start.map(Some).map_err(|cause| self.error(column, image.len(), cause))
    }

    /// Returns the error for an image without its bitmap, or for a column that there is not.
    #[cold]
    fn lacks(&self, image: &[u8], column: usize) -> RowError {
        match column < self.columns() {
            true => self.error(self.columns(), image.len(), PackedError::Short),
            false => self.error(column, 0, PackedError::WrongKind),
        }
    }

    /// Returns the length prefix and the bytes of a text that begins at `start` and whose bytes are
    /// those of its value. `None` means that the column is no such text, or that it has to be
    /// looked at in the general way.
    #[inline(always)]
    fn text_at<'a>(&self, image: &'a [u8], column: usize, start: usize) -> Option<(usize, &'a [u8])> {
        let prefix = usize::from(self.hints[column].text_prefix);
        let [low, high, ..] = image.get(start..)? else { return None };
        if prefix == 0 {
            return None;
        }
        let high = if prefix == 2 { usize::from(*high) << 8 } else { 0 };
        let from = start + prefix;
        Some((prefix, image.get(from..from + (usize::from(*low) | high))?))
    }

    /// Appends the image of some columns of a full image. It is a full image of the layout that has
    /// these columns alone, in this order.
    ///
    /// # Errors
    /// Returns an error if the image ends within a value, or has no such column.
    pub fn project(&self, image: &[u8], columns: &[usize], out: &mut Vec<u8>) -> Result<(), RowError> {
        let start = out.len();
        out.resize(start + columns.len().div_ceil(8), 0);
        for (at, column) in columns.iter().enumerate() {
            match self.get_raw(image, *column)? {
                Some(raw) => out.extend_from_slice(raw),
                None => out[start + at / 8] |= 1 << (at % 8),
            }
        }
        Ok(())
    }

    /// Returns the bytes of a column in a full image, without their length. `None` means NULL.
    ///
    /// # Errors
    /// Returns an error if the image ends within a value, or has no such column.
    #[inline(always)]
    pub fn find<'a>(&self, image: &'a [u8], column: usize) -> Result<Option<&'a [u8]>, RowError> {
        let Some(start) = self.start_of(image, column)? else { return Ok(None) };
        match self.text_at(image, column, start) {
            Some((_, text)) => Ok(Some(text)),
            None => self.find_at(image, column, start).map(Some),
        }
    }

    /// Returns the packed value of a column of variable length, and the number of bytes of its
    /// length, which stands before the value's own bytes. `None` means NULL.
    ///
    /// # Errors
    /// Returns an error if the image ends within the value, or has no such column.
    #[inline(always)]
    pub fn find_packed<'a>(
        &self,
        image: &'a [u8],
        column: usize,
    ) -> Result<Option<(usize, &'a [u8])>, RowError> {
        let Some(start) = self.start_of(image, column)? else { return Ok(None) };
        match self.text_at(image, column, start) {
            Some((prefix, text)) => Ok(Some((prefix, &image[start..start + prefix + text.len()]))),
            None => match self.widths[column] {
                Width::Prefixed(prefix) => {
                    let end = self.after(image, column, start)?;
                    Ok(Some((usize::from(prefix), &image[start..end])))
                }
                Width::Fixed(_) => Err(self.error(column, start, PackedError::WrongKind)),
            },
        }
    }

    /// Returns the bytes of a column that is not NULL and starts at `start`, without the length
    /// prefix.
    fn find_at<'a>(&self, image: &'a [u8], column: usize, start: usize) -> Result<&'a [u8], RowError> {
        let (skipped, end) = match self.widths[column] {
            Width::Fixed(len) => (0, start + usize::from(len)),
            Width::Prefixed(prefix) => (usize::from(prefix), self.after(image, column, start)?),
        };
        image.get(start + skipped..end).ok_or_else(|| self.error(column, start, PackedError::Short))
    }

    /// Returns the packed value of a column in a partial image: `None` if the mask does not have
    /// the column, `Some(None)` for NULL.
    pub fn get_raw_partial<'a>(
        &self,
        mask: &ColumnMask,
        image: &'a [u8],
        column: usize,
    ) -> Result<Option<Option<&'a [u8]>>, RowError> {
        self.check_mask(mask)?;
        if mask.is_full() {
            return self.get_raw(image, column).map(Some);
        }
        if !mask.contains(column) {
            return Ok(None);
        }
        let bitmap = self.bitmap(image, mask.count())?;
        let (mut offset, mut at, mut before) = (bitmap.len(), 0, mask.next(0, true));
        while before < column {
            if !is_null(bitmap, at) {
                offset = self.after(image, before, offset)?;
            }
            (at, before) = (at + 1, mask.next(before + 1, true));
        }
        if is_null(bitmap, at) {
            return Ok(Some(None));
        }
        Ok(Some(Some(&image[offset..self.after(image, column, offset)?])))
    }

    /// Calls `visit(column, packed value or None)` for every column of a partial image, and returns
    /// the image's length.
    #[inline]
    pub fn walk_partial<'a>(
        &self,
        mask: &ColumnMask,
        image: &'a [u8],
        mut visit: impl FnMut(usize, Option<&'a [u8]>),
    ) -> Result<usize, RowError> {
        self.check_mask(mask)?;
        let bitmap = self.bitmap(image, mask.count())?;
        let (mut offset, mut at) = (bitmap.len(), 0);
        let mut take = |column| {
            if is_null(bitmap, at) {
                visit(column, None);
            } else {
                let end = self.after(image, column, offset)?;
                visit(column, Some(&image[offset..end]));
                offset = end;
            }
            at += 1;
            Ok(())
        };
        if let Some(mut left) = mask.bits() {
            while left != 0 {
                take(left.trailing_zeros() as usize)?;
                left &= left - 1;
            }
        } else {
            mask.iter().try_for_each(take)?;
        }
        Ok(offset)
    }

    /// Refuses a partial image in which some bytes are no value of their column's type: once
    /// stored, nobody could read the row.
    pub fn check_values(&self, mask: &ColumnMask, image: &[u8]) -> Result<(), RowError> {
        if !self.fallible {
            return Ok(());
        }
        let mut failed = None;
        self.walk_partial(mask, image, |column, raw| {
            let ty = &self.types[column];
            if let Some(raw) = raw.filter(|_| failed.is_none() && packed::may_be_no_value(ty))
                && let Err(cause) = packed::decode(ty, raw)
            {
                failed = Some(self.error(column, raw.as_ptr() as usize - image.as_ptr() as usize, cause));
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Calls `visit(column, packed value or None)` for every column of a full image, and returns
    /// the image's length.
    pub fn walk<'a>(
        &self,
        image: &'a [u8],
        mut visit: impl FnMut(usize, Option<&'a [u8]>),
    ) -> Result<usize, RowError> {
        let bitmap = self.bitmap(image, self.columns())?;
        let mut offset = bitmap.len();
        for column in 0..self.columns() {
            if is_null(bitmap, column) {
                visit(column, None);
            } else {
                let end = self.after(image, column, offset)?;
                visit(column, Some(&image[offset..end]));
                offset = end;
            }
        }
        Ok(offset)
    }

    /// Returns a column's value in a full image.
    pub fn decode(&self, image: &[u8], column: usize) -> Result<Value, RowError> {
        match self.get_raw(image, column)? {
            None => Ok(Value::Null),
            Some(raw) => {
                packed::decode(&self.types[column], raw).map_err(|cause| self.error(column, 0, cause))
            }
        }
    }

    /// Reads the values of some columns of a full image, fastest in ascending order, into their
    /// places in `slots`, whose memory may be used again.
    pub fn decode_columns(
        &self,
        image: &[u8],
        columns: &[usize],
        slots: &mut [Value],
    ) -> Result<(), RowError> {
        let bitmap = self.bitmap(image, self.columns())?;
        if !no_null_before(bitmap, self.columns()) {
            return self.decode_beside_nulls(image, bitmap, columns, slots);
        }
        // What few rows and columns need is done elsewhere, so that this loop is short.
        let (mut at, mut offset) = (0, bitmap.len());
        for &column in columns {
            let Some(hint) = self.hints.get(column) else {
                return Err(self.error(column, 0, PackedError::WrongKind));
            };
            if hint.fixed_offset != 0 {
                offset = hint.fixed_offset as usize;
            } else if column != at {
                let start = self.places.start(image, bitmap.len(), column);
                offset = start.map_err(|cause| self.error(column, image.len(), cause))?;
            }
            at = column + 1;
            let prefix = usize::from(hint.text_prefix);
            offset = match (&mut slots[column], image.get(offset..)) {
                (Value::Bytes(bytes), Some([low, high, ..])) if prefix != 0 => {
                    let high = if prefix == 2 { usize::from(*high) << 8 } else { 0 };
                    let start = offset + prefix;
                    let end = start + (usize::from(*low) | high);
                    let text = image.get(start..end);
                    let text = text.ok_or_else(|| self.error(column, offset, PackedError::Short))?;
                    bytes.clear();
                    bytes.extend_from_slice(text);
                    end
                }
                (slot, Some(rest)) if let Some((value, len)) = hint.plain.read(rest) => {
                    *slot = value;
                    offset + len
                }
                (slot, _) => self.decode_at(image, column, offset, slot)?,
            };
        }
        Ok(())
    }

    /// Does what [`RowLayout::decode_columns`] does for an image with a NULL.
    fn decode_beside_nulls(
        &self,
        image: &[u8],
        bitmap: &[u8],
        columns: &[usize],
        slots: &mut [Value],
    ) -> Result<(), RowError> {
        let (mut at, mut offset) = (0, bitmap.len());
        for &column in columns {
            if column >= self.columns() {
                return Err(self.error(column, 0, PackedError::WrongKind));
            }
            if column < at {
                (at, offset) = (0, bitmap.len());
            }
            offset = self.skip(image, bitmap, at, column, offset)?;
            at = column + 1;
            if is_null(bitmap, column) {
                slots[column] = Value::Null;
            } else {
                offset = self.decode_at(image, column, offset, &mut slots[column])?;
            }
        }
        Ok(())
    }

    /// Reads the value of a column that is not NULL and starts at `offset`. Returns the offset just
    /// after it.
    fn decode_at(
        &self,
        image: &[u8],
        column: usize,
        offset: usize,
        slot: &mut Value,
    ) -> Result<usize, RowError> {
        let end = self.after(image, column, offset)?;
        let (packed, width) = (&image[offset..end], self.widths[column]);
        match (&mut *slot, width) {
            (Value::Bytes(bytes), Width::Prefixed(prefix)) if self.plain[column] => {
                bytes.clear();
                bytes.extend_from_slice(&packed[usize::from(prefix)..]);
            }
            _ => packed::decode_whole(&self.types[column], width, packed, slot)
                .map_err(|cause| self.error(column, offset, cause))?,
        }
        Ok(end)
    }

    /// Returns all values of a full image.
    pub fn decode_all(&self, image: &[u8]) -> Result<Vec<Value>, RowError> {
        let mut values = Vec::with_capacity(self.columns());
        let mut failed = None;
        self.walk(image, |column, raw| match raw.map(|raw| packed::decode(&self.types[column], raw)) {
            None => values.push(Value::Null),
            Some(Ok(value)) => values.push(value),
            Some(Err(cause)) => failed = failed.or(Some(self.error(column, 0, cause))),
        })?;
        match failed {
            None => Ok(values),
            Some(error) => Err(error),
        }
    }

    /// Appends the full image of values that [`crate::convert::to_column`] made, one value for each
    /// column.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), RowError> {
        if values.len() != self.columns() {
            return Err(self.error(self.columns(), out.len(), PackedError::WrongKind));
        }
        let start = out.len();
        out.resize(start + self.null_bytes(), 0);
        for (column, (ty, value)) in self.types.iter().zip(values).enumerate() {
            if value.is_null() {
                out[start + column / 8] |= 1 << (column % 8);
            } else {
                packed::encode(ty, value, out).map_err(|cause| self.error(column, out.len(), cause))?;
            }
        }
        Ok(())
    }

    /// Appends the full image that `base` (full) becomes when the mask's columns get other values.
    /// `values` has one value for every column of the table, in the form that [`RowLayout::encode`]
    /// takes. Unchanged runs of columns are copied whole.
    pub fn splice_values(
        &self,
        base: &[u8],
        mask: &ColumnMask,
        values: &[Value],
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        self.check_mask(mask)?;
        if values.len() != self.columns() {
            return Err(self.error(self.columns(), out.len(), PackedError::WrongKind));
        }
        let bitmap = self.bitmap(base, self.columns())?;
        let start = out.len();
        out.extend_from_slice(bitmap);
        let (mut base_at, mut column) = (bitmap.len(), 0);
        while column < self.columns() {
            let run_start = mask.next(column, true);
            let kept_end = self.skip(base, bitmap, column, run_start, base_at)?;
            out.extend_from_slice(&base[base_at..kept_end]);
            let run_end = mask.next(run_start, false);
            base_at = self.skip(base, bitmap, run_start, run_end, kept_end)?;
            for (column, value) in (run_start..run_end).zip(&values[run_start..run_end]) {
                let (byte, flag) = (start + column / 8, 1u8 << (column % 8));
                if value.is_null() {
                    out[byte] |= flag;
                } else {
                    out[byte] &= !flag;
                    packed::encode(&self.types[column], value, out)
                        .map_err(|cause| self.error(column, out.len(), cause))?;
                }
            }
            column = run_end;
        }
        Ok(())
    }

    /// Appends the full image of packed values (length prefixes included), `None` for NULL.
    pub fn encode_raw(&self, values: &[Option<&[u8]>], out: &mut Vec<u8>) -> Result<(), RowError> {
        if values.len() != self.columns() {
            return Err(self.error(self.columns(), out.len(), PackedError::WrongKind));
        }
        let start = out.len();
        out.resize(start + self.null_bytes(), 0);
        for (column, value) in values.iter().enumerate() {
            match value {
                None => out[start + column / 8] |= 1 << (column % 8),
                Some(raw) => out.extend_from_slice(raw),
            }
        }
        Ok(())
    }

    /// Appends the full image that `base` (full) becomes when the mask's columns are taken from
    /// `partial`. This takes one pass, and unchanged runs of columns are copied whole. Returns the
    /// length of `partial`.
    pub fn splice(
        &self,
        base: &[u8],
        mask: &ColumnMask,
        partial: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<usize, RowError> {
        if mask.is_full() {
            let len = self.len_of(partial)?;
            out.extend_from_slice(&partial[..len]);
            return Ok(len);
        }
        self.check_mask(mask)?;
        let base_bitmap = self.bitmap(base, self.columns())?;
        let partial_bitmap = self.bitmap(partial, mask.count())?;
        if let Some(bits) = mask.bits()
            && bits.is_power_of_two()
            && no_null_before(base_bitmap, self.columns())
            && !is_null(partial_bitmap, 0)
        {
            return self.splice_one(base, bits.trailing_zeros() as usize, partial, out);
        }
        let start = out.len();
        out.extend_from_slice(base_bitmap);
        let (mut base_at, mut partial_at, mut bit) = (base_bitmap.len(), partial_bitmap.len(), 0);
        let mut column = 0;
        while column < self.columns() {
            let run_end = mask.next(column, true);
            if run_end > column {
                let end = self.skip(base, base_bitmap, column, run_end, base_at)?;
                out.extend_from_slice(&base[base_at..end]);
                base_at = end;
                column = run_end;
                continue;
            }
            let run_end = mask.next(column, false);
            base_at = self.skip(base, base_bitmap, column, run_end, base_at)?;
            let run_start = partial_at;
            for column in column..run_end {
                let (byte, flag) = (start + column / 8, 1u8 << (column % 8));
                if is_null(partial_bitmap, bit) {
                    out[byte] |= flag;
                } else {
                    out[byte] &= !flag;
                    partial_at = self.after(partial, column, partial_at)?;
                }
                bit += 1;
            }
            out.extend_from_slice(&partial[run_start..partial_at]);
            column = run_end;
        }
        Ok(partial_at)
    }

    /// Does what [`RowLayout::splice`] does for one column, where no column is NULL: it looks only
    /// at the columns of variable length.
    fn splice_one(
        &self,
        base: &[u8],
        column: usize,
        partial: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<usize, RowError> {
        const PARTIAL_NULL_BYTES: usize = 1;
        let damaged = |cause| self.error(column, base.len(), cause);
        let start = self.places.start(base, self.null_bytes(), column).map_err(damaged)?;
        let end = self.after(base, column, start)?;
        let whole = self.places.end(base, self.null_bytes()).map_err(damaged)?;
        let behind = base.get(end..whole).ok_or_else(|| damaged(PackedError::Short))?;
        let partial_end = self.after(partial, column, PARTIAL_NULL_BYTES)?;
        out.extend_from_slice(&base[..start]);
        out.extend_from_slice(&partial[PARTIAL_NULL_BYTES..partial_end]);
        out.extend_from_slice(behind);
        Ok(partial_end)
    }

    /// Appends the partial image of the mask's columns, taken from a full image.
    pub fn extract(&self, base: &[u8], mask: &ColumnMask, out: &mut Vec<u8>) -> Result<(), RowError> {
        self.check_mask(mask)?;
        if mask.is_full() {
            let len = self.len_of(base)?;
            out.extend_from_slice(&base[..len]);
            return Ok(());
        }
        let bitmap = self.bitmap(base, self.columns())?;
        let start = out.len();
        out.resize(start + mask.count().div_ceil(8), 0);
        let (mut offset, mut column, mut bit) = (bitmap.len(), 0, 0);
        while column < self.columns() {
            let wanted = mask.next(column, true);
            offset = self.skip(base, bitmap, column, wanted, offset)?;
            let run_end = mask.next(wanted, false);
            let run_start = offset;
            for column in wanted..run_end {
                if is_null(bitmap, column) {
                    out[start + bit / 8] |= 1 << (bit % 8);
                } else {
                    offset = self.after(base, column, offset)?;
                }
                bit += 1;
            }
            out.extend_from_slice(&base[run_start..offset]);
            column = run_end;
        }
        Ok(())
    }

    /// Returns the columns in which two full images differ, by their packed bytes.
    pub fn changed(&self, before: &[u8], after: &[u8]) -> Result<ColumnMask, RowError> {
        let mut mask = ColumnMask::empty(self.columns());
        let (old_bitmap, new_bitmap) =
            (self.bitmap(before, self.columns())?, self.bitmap(after, self.columns())?);
        let first = self.first_that_may_differ(before, after, old_bitmap);
        let begin = if first == 0 { old_bitmap.len() } else { self.fixed_offsets[first] as usize };
        let (mut old_at, mut new_at) = (begin, begin);
        for column in first..self.columns() {
            let (old_start, new_start) = (old_at, new_at);
            if !is_null(old_bitmap, column) {
                old_at = self.after(before, column, old_at)?;
            }
            if !is_null(new_bitmap, column) {
                new_at = self.after(after, column, new_at)?;
            }
            let nulls_differ = is_null(old_bitmap, column) != is_null(new_bitmap, column);
            if nulls_differ || before[old_start..old_at] != after[new_start..new_at] {
                mask.insert(column);
                // Most updates change few columns, behind which everything is as it was.
                if old_bitmap == new_bitmap && before[old_at..] == after[new_at..] {
                    break;
                }
            }
        }
        Ok(mask)
    }

    /// Returns a column before which two full images are equal. `bitmap` is that of `before`.
    fn first_that_may_differ(&self, before: &[u8], after: &[u8], bitmap: &[u8]) -> usize {
        let end = self.fixed_offsets.last().map_or(0, |end| *end as usize).min(before.len()).min(after.len());
        let is_fixed = end >= bitmap.len() && bitmap.iter().all(|&byte| byte == 0);
        if !is_fixed || before[..bitmap.len()] != after[..bitmap.len()] {
            return 0;
        }
        let equal = before[..end].iter().zip(&after[..end]).take_while(|(old, new)| old == new).count();
        let is_before = |offset: &&u32| **offset as usize <= equal;
        self.fixed_offsets.iter().skip(1).take_while(is_before).count()
    }
}

#[inline]
fn no_null_before(bitmap: &[u8], column: usize) -> bool {
    let (bytes, bits) = (column / 8, column % 8);
    bitmap[..bytes].iter().all(|&byte| byte == 0) && (bits == 0 || bitmap[bytes] & ((1 << bits) - 1) == 0)
}

#[cfg(test)]
mod tests;
