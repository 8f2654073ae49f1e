//! The values of leaf entries.
//!
//! A clustered value is `[flags u8][seq u64 LE][externs when EXTERN][row image]`. That of a deleted
//! row is the first nine bytes alone. A secondary value is `[flags u8][seq u64 LE][secondary_len
//! u16 LE]`, where `secondary_len` is the number of key bytes that are the index's own columns (the
//! clustered key follows them).
//!
//! The externs are `[count u8]`, then for each off-page column `[column u16][len u32][first page
//! u32]`, all little-endian. In the row image such a column is an empty value. `len` counts its
//! packed bytes including the length prefix. `docs/formats/page.md` has the page around the
//! entries.

use crate::error::{EngineError, Result};

/// The flag of a deleted entry, which stays until no snapshot needs to know of it.
pub(crate) const DELETED: u8 = 1;
/// The flag of an entry with off-page columns.
pub(crate) const EXTERN: u8 = 2;

/// The bytes before the externs or the row image: flags and sequence number.
pub(crate) const HEADER_LEN: usize = 9;
/// The bytes of a secondary value.
pub(crate) const SECONDARY_LEN: usize = HEADER_LEN + 2;
const EXTERN_LEN: usize = 10;
/// The largest number of columns of a row that are off page; one byte counts them.
pub(crate) const MAX_EXTERNS: usize = 255;

/// The number of the column of an off-page value whose column was dropped. No table has a column
/// with this number.
pub(crate) const NO_COLUMN: u16 = u16::MAX;

/// The place of a column's value on overflow pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extern {
    pub column: u16,
    /// The number of packed bytes, including the length prefix.
    pub len: u32,
    pub first_page: u32,
}

pub(crate) type Externs = Vec<Extern>;

/// The parts of a clustered entry's value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusteredValue<'a> {
    pub flags: u8,
    pub seq: u64,
    externs: &'a [u8],
    /// The row image as it was written, in which off-page columns are empty. It may lack columns
    /// that the table got later (`crate::row_forms`).
    pub stored: &'a [u8],
}

fn corrupt() -> EngineError {
    EngineError::Corrupt("a clustered index entry is malformed".to_string())
}

impl<'a> ClusteredValue<'a> {
    pub fn parse(value: &'a [u8]) -> Result<ClusteredValue<'a>> {
        let (flags, seq) = parse_header(value)?;
        let mut externs: &[u8] = &[];
        let mut stored = &value[HEADER_LEN..];
        if flags & EXTERN != 0 {
            let count = usize::from(*stored.first().ok_or_else(corrupt)?);
            let len = 1 + count * EXTERN_LEN;
            externs = stored.get(1..len).ok_or_else(corrupt)?;
            stored = &stored[len..];
        }
        Ok(ClusteredValue { flags, seq, externs, stored })
    }

    pub fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }

    pub fn has_externs(&self) -> bool {
        !self.externs.is_empty()
    }

    pub fn externs(&self) -> Externs {
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        self.externs
            .chunks_exact(EXTERN_LEN)
            .map(|bytes| Extern {
                column: u16::from_le_bytes([bytes[0], bytes[1]]),
                len: number(&bytes[2..6]),
                first_page: number(&bytes[6..10]),
            })
            .collect()
    }
}

/// Returns the flags and the sequence number of any entry's value.
#[inline]
pub(crate) fn parse_header(value: &[u8]) -> Result<(u8, u64)> {
    let header = value.get(..HEADER_LEN).ok_or_else(corrupt)?;
    let seq = u64::from_le_bytes(header[1..].try_into().expect("nine less one is eight"));
    Ok((header[0], seq))
}

/// Returns how many bytes a clustered value with this many externs and this row image takes.
pub(crate) fn clustered_len(externs: usize, image_len: usize) -> usize {
    HEADER_LEN + if externs > 0 { 1 + externs * EXTERN_LEN } else { 0 } + image_len
}

/// Appends a clustered value. [`set_seq`] puts the sequence number in later.
pub(crate) fn put_clustered(out: &mut Vec<u8>, externs: &[Extern], image: &[u8]) {
    out.push(if externs.is_empty() { 0 } else { EXTERN });
    out.extend_from_slice(&[0; 8]);
    if !externs.is_empty() {
        assert!(externs.len() <= MAX_EXTERNS, "{} columns off page have no room", externs.len());
        out.push(externs.len() as u8);
        for entry in externs {
            out.extend_from_slice(&entry.column.to_le_bytes());
            out.extend_from_slice(&entry.len.to_le_bytes());
            out.extend_from_slice(&entry.first_page.to_le_bytes());
        }
    }
    out.extend_from_slice(image);
}

/// Puts the sequence number of the commit into a value.
pub(crate) fn set_seq(value: &mut [u8], seq: u64) {
    value[1..HEADER_LEN].copy_from_slice(&seq.to_le_bytes());
}

/// Returns the value of a deleted clustered row.
pub(crate) fn deleted_clustered(seq: u64) -> [u8; HEADER_LEN] {
    let mut value = [0; HEADER_LEN];
    value[0] = DELETED;
    set_seq(&mut value, seq);
    value
}

/// Returns the value of a secondary entry.
pub(crate) fn secondary(flags: u8, seq: u64, secondary_len: usize) -> [u8; SECONDARY_LEN] {
    let mut value = [0; SECONDARY_LEN];
    assert!(secondary_len <= usize::from(u16::MAX), "an entry has {secondary_len} bytes of columns");
    value[0] = flags;
    set_seq(&mut value, seq);
    value[HEADER_LEN..].copy_from_slice(&(secondary_len as u16).to_le_bytes());
    value
}

/// Returns how many bytes of a secondary entry's key are the index's own columns.
pub(crate) fn secondary_len(value: &[u8]) -> Result<usize> {
    match value.get(HEADER_LEN..SECONDARY_LEN) {
        Some(bytes) => Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))),
        None => Err(EngineError::Corrupt("a secondary index entry is malformed".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_apart_as_they_were_put() {
        let externs = [Extern { column: 3, len: 70_000, first_page: 12 }];
        let mut value = Vec::new();
        put_clustered(&mut value, &externs, b"image");
        set_seq(&mut value, 99);
        assert_eq!(value.len(), clustered_len(1, 5));
        let parsed = ClusteredValue::parse(&value).unwrap();
        assert_eq!((parsed.seq, parsed.stored, parsed.is_deleted()), (99, &b"image"[..], false));
        assert_eq!(parsed.externs().as_slice(), &externs);
        assert!(ClusteredValue::parse(&value[..12]).is_err());
        assert!(ClusteredValue::parse(&deleted_clustered(7)).unwrap().is_deleted());
        assert_eq!(secondary_len(&secondary(0, 1, 300)).unwrap(), 300);
    }
}
