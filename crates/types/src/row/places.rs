//! Where the columns of a row image begin.
//!
//! Without a NULL before it, a column's place depends only on the lengths of the columns of
//! variable length before it. So a walk goes from one of these to the next, and never over a column
//! of fixed length.

use crate::packed::{PackedError, Width, prefixed_len};

/// The places of the columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// For each column of variable length: the bytes between the end of the one before it, or of
    /// the null bitmap, and its start; and the bytes of its length.
    variable: Vec<(u32, u8)>,
    /// For each column: the number of columns of variable length before it, and the bytes between
    /// the end of the last of them, or of the null bitmap, and its start.
    columns: Vec<(u16, u32)>,
    /// The bytes between the end of the last column of variable length, or of the null bitmap, and
    /// the end of the image.
    last_gap: u32,
}

impl Places {
    pub fn new(widths: &[Width]) -> Places {
        let (mut variable, mut columns, mut gap) = (Vec::new(), Vec::new(), 0);
        for width in widths {
            columns.push((variable.len() as u16, gap));
            match width {
                Width::Fixed(len) => gap += u32::from(*len),
                Width::Prefixed(prefix) => {
                    variable.push((gap, *prefix));
                    gap = 0;
                }
            }
        }
        assert_eq!(columns.len(), widths.len(), "each column has a place");
        Places { variable, columns, last_gap: gap }
    }

    /// Returns the byte offset of a column of an image, before which no column is NULL. Whether the
    /// image has the column's bytes is for the caller to see.
    #[inline]
    pub fn start(&self, image: &[u8], null_bytes: usize, column: usize) -> Result<usize, PackedError> {
        let (variable, last_gap) = self.columns[column];
        Ok(self.behind(image, null_bytes, usize::from(variable))? + last_gap as usize)
    }

    /// Returns the length in bytes of an image in which no column is NULL. Whether there are as
    /// many bytes is for the caller to see.
    #[inline]
    pub fn end(&self, image: &[u8], null_bytes: usize) -> Result<usize, PackedError> {
        Ok(self.behind(image, null_bytes, self.variable.len())? + self.last_gap as usize)
    }

    /// Returns the end of the first columns of variable length, so many, in an image without a NULL
    /// before it.
    #[inline]
    fn behind(&self, image: &[u8], null_bytes: usize, variable: usize) -> Result<usize, PackedError> {
        let mut at = null_bytes;
        for (gap, prefix) in &self.variable[..variable] {
            let start = at + *gap as usize;
            let len = prefixed_len(*prefix, image.get(start..).unwrap_or_default())?;
            at = start + usize::from(*prefix) + len;
        }
        Ok(at)
    }
}
