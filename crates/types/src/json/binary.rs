//! The parts of the binary form: type bytes, numbers, and the table of offsets of objects and
//! arrays.

pub(super) const SMALL_OBJECT: u8 = 0;
pub(super) const LARGE_OBJECT: u8 = 1;
pub(super) const SMALL_ARRAY: u8 = 2;
pub(super) const LARGE_ARRAY: u8 = 3;
pub(super) const LITERAL: u8 = 4;
pub(super) const INT16: u8 = 5;
pub(super) const UINT16: u8 = 6;
pub(super) const INT32: u8 = 7;
pub(super) const UINT32: u8 = 8;
pub(super) const INT64: u8 = 9;
pub(super) const UINT64: u8 = 10;
pub(super) const DOUBLE: u8 = 11;
pub(super) const STRING: u8 = 12;
pub(super) const OPAQUE: u8 = 15;

pub(super) const LITERAL_NULL: u8 = 0;
pub(super) const LITERAL_TRUE: u8 = 1;
pub(super) const LITERAL_FALSE: u8 = 2;

/// The most levels of nesting that MySQL allows. A deeper document is error 3157.
pub const MAX_DEPTH: usize = 100;

/// The limits while a document is read: the depth so far, and how many bytes and values there may
/// still be.
pub(super) struct Limits {
    pub(super) depth: usize,
    pub(super) values: usize,
}

impl Limits {
    /// Counts bytes of a document, which belong to only one value. If values shared bytes, a small
    /// document would make a tree of any size. Returns `None` when the limit is exceeded.
    pub(super) fn charge<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        self.values = self.values.checked_sub(bytes.len())?;
        Some(bytes)
    }
}

/// Returns the little-endian number of `width` bytes at a place.
pub(super) fn unsigned(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    Some(bytes.get(at..at + width)?.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)))
}

/// Returns the bytes after a length, which is in groups of seven bits.
pub(super) fn variable_length(bytes: &[u8]) -> Option<&[u8]> {
    let mut len = 0usize;
    for (i, &byte) in bytes.iter().take(5).enumerate() {
        len |= usize::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return bytes.get(i + 1..)?.get(..len);
        }
    }
    None
}

/// An object or array whose table of offsets has been located.
pub(super) struct Container<'a> {
    body: &'a [u8],
    /// The number of bytes of each number in it.
    width: usize,
    /// The number of its members or elements.
    pub(super) count: usize,
    /// The place where the table of values starts.
    values_at: usize,
    pub(super) is_object: bool,
}

impl<'a> Container<'a> {
    /// Returns the container at the start of `body`, whose numbers have `width` bytes.
    pub(super) fn of(body: &'a [u8], width: usize, is_object: bool) -> Option<Container<'a>> {
        let count = unsigned(body, 0, width)? as usize;
        let size = unsigned(body, width, width)? as usize;
        let key_entry_len = if is_object { width + 2 } else { 0 };
        let values_at = 2 * width + count.checked_mul(key_entry_len)?;
        Some(Container { body: body.get(..size)?, width, count, values_at, is_object })
    }

    /// Returns the name of a member.
    pub(super) fn key(&self, i: usize) -> Option<&'a [u8]> {
        let entry = 2 * self.width + i * (self.width + 2);
        let at = unsigned(self.body, entry, self.width)? as usize;
        let len = unsigned(self.body, entry + self.width, 2)? as usize;
        self.body.get(at..)?.get(..len)
    }

    /// Returns the type and the bytes of a value. The bytes of short values are in the table
    /// itself.
    pub(super) fn value(&self, i: usize) -> Option<(u8, &'a [u8])> {
        let entry = self.values_at + i * (1 + self.width);
        let kind = *self.body.get(entry)?;
        let inlined =
            matches!(kind, LITERAL | INT16 | UINT16) || (self.width == 4 && matches!(kind, INT32 | UINT32));
        let value = if inlined {
            self.body.get(entry + 1..entry + 1 + self.width)?
        } else {
            self.body.get(unsigned(self.body, entry + 1, self.width)? as usize..)?
        };
        Some((kind, value))
    }
}
