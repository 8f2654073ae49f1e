//! Sets of columns, which say what columns a partial row image has.

/// A set of column numbers below `columns()`. Up to 64 columns need no allocation.
#[derive(Clone, Debug)]
pub struct ColumnMask {
    first: u64,
    /// The bits of columns 64 and up.
    rest: Vec<u64>,
    columns: u32,
}

impl PartialEq for ColumnMask {
    /// Compares two masks, which is done for each row of a row event. An empty `rest` is not
    /// compared: comparing nothing at a vector's dangling pointer costs the C library's masked
    /// loads a microcode assist of some hundred cycles.
    #[inline]
    fn eq(&self, other: &ColumnMask) -> bool {
        self.first == other.first
            && self.columns == other.columns
            && (self.columns <= 64 || self.rest == other.rest)
    }
}

impl Eq for ColumnMask {}

impl ColumnMask {
    /// Returns the empty set of a table with `columns` columns.
    pub fn empty(columns: usize) -> ColumnMask {
        ColumnMask {
            first: 0,
            rest: vec![0; columns.saturating_sub(64).div_ceil(64)],
            columns: columns as u32,
        }
    }

    /// Returns the set of all columns of a table with `columns` columns.
    pub fn full(columns: usize) -> ColumnMask {
        let mut mask = ColumnMask::empty(columns);
        for column in 0..columns {
            mask.insert(column);
        }
        mask
    }

    /// Reads a row event's bitmap, least significant bit first. Returns `None` if the bitmap is too
    /// short. Bits beyond `columns` are ignored (MySQL sets them).
    #[inline]
    pub fn from_bitmap(bitmap: &[u8], columns: usize) -> Option<ColumnMask> {
        let bytes = bitmap.get(..columns.div_ceil(8))?;
        if let 1..=64 = columns {
            let word = match bytes {
                [byte] => u64::from(*byte),
                _ => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
            };
            let first = word & (u64::MAX >> (64 - columns));
            return Some(ColumnMask { first, rest: Vec::new(), columns: columns as u32 });
        }
        let mut mask = ColumnMask::empty(columns);
        for (i, chunk) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mut word = u64::from_le_bytes(word);
            if columns - i * 64 < 64 {
                word &= (1 << (columns - i * 64)) - 1;
            }
            match i {
                0 => mask.first = word,
                _ => mask.rest[i - 1] = word,
            }
        }
        Some(mask)
    }

    /// Appends the bitmap in the form of a row event.
    #[inline]
    pub fn write_bitmap(&self, out: &mut Vec<u8>) {
        // Most tables have few columns, and a row event has two bitmaps.
        match self.columns {
            1..=8 => out.push(self.first as u8),
            _ => self.write_words(out),
        }
    }

    #[inline(never)]
    fn write_words(&self, out: &mut Vec<u8>) {
        let mut left = self.columns().div_ceil(8);
        for word in std::iter::once(&self.first).chain(&self.rest) {
            let bytes = left.min(8);
            out.extend_from_slice(&word.to_le_bytes()[..bytes]);
            left -= bytes;
        }
    }

    /// Returns how many columns the table has.
    #[inline]
    pub fn columns(&self) -> usize {
        self.columns as usize
    }
    /// Adds a column, which must be below `columns()`.
    pub fn insert(&mut self, column: usize) {
        assert!(column < self.columns(), "column {column} of {}", self.columns);
        match column / 64 {
            0 => self.first |= 1 << column,
            word => self.rest[word - 1] |= 1 << (column % 64),
        }
    }
    /// Reports whether the column is in the set.
    #[inline]
    pub fn contains(&self, column: usize) -> bool {
        match column / 64 {
            0 => self.first >> column & 1 == 1,
            word => self.rest.get(word - 1).is_some_and(|bits| bits >> (column % 64) & 1 == 1),
        }
    }
    /// Reports whether two sets of columns of one table have a column in common.
    #[inline]
    pub fn intersects(&self, other: &ColumnMask) -> bool {
        self.first & other.first != 0 || self.rest.iter().zip(&other.rest).any(|(one, two)| one & two != 0)
    }
    /// Reports whether all columns of another set of the same table are in this one.
    #[inline]
    pub fn covers(&self, other: &ColumnMask) -> bool {
        other.first & !self.first == 0
            && self.rest.iter().zip(&other.rest).all(|(mine, other)| other & !mine == 0)
    }
    /// Returns how many columns are in the set.
    #[inline]
    pub fn count(&self) -> usize {
        let rest: u32 = self.rest.iter().map(|word| word.count_ones()).sum();
        (self.first.count_ones() + rest) as usize
    }
    /// Reports whether all columns are in the set.
    #[inline]
    pub fn is_full(&self) -> bool {
        match self.columns {
            1..=64 => self.first == u64::MAX >> (64 - self.columns),
            _ => self.count() == self.columns(),
        }
    }
    /// Returns the columns in the set of a table that has at most 64, as bits.
    #[inline]
    pub(crate) fn bits(&self) -> Option<u64> {
        (self.columns <= 64).then_some(self.first)
    }
    /// Reports whether no column is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.rest.iter().all(|&word| word == 0)
    }
    /// Returns the columns in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.columns()).filter(|&column| self.contains(column))
    }
    /// Returns the smallest column at or after `from` whose membership is `member`, or `columns()`
    /// if there is none.
    #[inline]
    pub(crate) fn next(&self, from: usize, member: bool) -> usize {
        if self.columns <= 64 {
            let word = if member { self.first } else { !self.first };
            // No column is at or behind the 64th, by which a word cannot be moved.
            let bits = if from < 64 { word >> from } else { 0 };
            return (from + bits.trailing_zeros() as usize).min(self.columns());
        }
        let mut column = from;
        while column < self.columns() {
            let word = if column < 64 { self.first } else { self.rest[column / 64 - 1] };
            let bits = if member { word } else { !word } >> (column % 64);
            if bits != 0 {
                return (column + bits.trailing_zeros() as usize).min(self.columns());
            }
            column = (column / 64 + 1) * 64;
        }
        self.columns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmap_round_trip() {
        for columns in [1, 7, 8, 9, 63, 64, 65, 130] {
            let mut mask = ColumnMask::empty(columns);
            assert!(mask.is_empty());
            for column in (0..columns).step_by(3) {
                mask.insert(column);
            }
            let mut bitmap = Vec::new();
            mask.write_bitmap(&mut bitmap);
            assert_eq!(bitmap.len(), columns.div_ceil(8));
            assert_eq!(ColumnMask::from_bitmap(&bitmap, columns), Some(mask.clone()));
            assert_eq!(mask.iter().collect::<Vec<_>>(), (0..columns).step_by(3).collect::<Vec<_>>());
            assert_eq!(mask.count(), columns.div_ceil(3));
            let ones = vec![0xff; columns.div_ceil(8)];
            assert!(ColumnMask::from_bitmap(&ones, columns).unwrap().is_full());
            assert_eq!(ColumnMask::from_bitmap(&ones, columns), Some(ColumnMask::full(columns)));
            let full = ColumnMask::full(columns);
            assert!(full.covers(&mask) && mask.intersects(&full) && mask.covers(&mask));
            assert_eq!(mask.covers(&full), columns == 1);
            let mut last = ColumnMask::empty(columns);
            assert!(!full.intersects(&last) && last.covers(&last));
            last.insert(columns - 1);
            let has_last = mask.contains(columns - 1);
            assert_eq!((mask.covers(&last), mask.intersects(&last)), (has_last, has_last));
            assert_eq!(mask.next(1, true), 3.min(columns));
            assert_eq!(mask.next(columns, false), columns);
            assert_eq!(mask == ColumnMask::full(columns), columns == 1, "the last columns count, too");
            assert_ne!(ColumnMask::empty(columns), ColumnMask::empty(columns + 1));
        }
        assert_eq!(ColumnMask::from_bitmap(&[0xff], 9), None);
    }
}
