//! What every page begins with, and its checksum. Byte by byte: docs/formats/page.md.
//!
//! All integers on pages are little-endian, keys excepted (they compare by memcmp and mean nothing
//! here).

use redo::Lsn;

/// Number of a tablespace; given by the engine, never used again.
pub type SpaceId = u32;
/// Number of a page in its space. Page 0 is the space header, so 0 doubles as "no page".
pub type PageNo = u32;

/// A page's place: space and page number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId {
    /// The space.
    pub space: SpaceId,
    /// The page in it.
    pub no: PageNo,
}

impl PageId {
    /// The page `no` of `space`.
    pub const fn new(space: SpaceId, no: PageNo) -> PageId {
        PageId { space, no }
    }

    /// One number for both, for atomics and hashing.
    pub(crate) const fn packed(self) -> u64 {
        (self.space as u64) << 32 | self.no as u64
    }
}

impl std::fmt::Display for PageId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.space, self.no)
    }
}

/// Where in the log the record of a change lies: replay of the change needs the log from `start`,
/// the page carries `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLsn {
    /// First byte of the record. A checkpoint at or before it will replay the record.
    pub start: Lsn,
    /// One past the record's last byte.
    pub end: Lsn,
}

impl RecordLsn {
    /// A change that no record describes and that may be lost in a crash, as purge's.
    pub const UNLOGGED: RecordLsn = RecordLsn { start: 0, end: 0 };

    /// The record from `start` to `end`.
    pub const fn new(start: Lsn, end: Lsn) -> RecordLsn {
        RecordLsn { start, end }
    }
}

/// Bytes of the header that all pages share.
pub const PAGE_HEADER_BYTES: usize = 24;
/// The page sizes that a data directory may be made with.
pub const PAGE_SIZES: [usize; 5] = [4096, 8192, 16384, 32768, 65536];

const CHECKSUM: usize = 0;
const SPACE: usize = 4;
const NUMBER: usize = 8;
const TYPE: usize = 12;
const LEVEL: usize = 13;
const LSN: usize = 16;

/// What a page holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PageType {
    /// Page 0 of a space.
    SpaceHeader = 1,
    /// On the space's free list.
    Free = 2,
    /// A node of a B+tree: a leaf at level 0, an inner node above.
    Index = 3,
    /// A part of a value too long for its row.
    Overflow = 4,
    /// Says which pages belong to an index that the dictionary may not know; see [`crate::claim`].
    Claim = 5,
}

impl PageType {
    fn from_byte(byte: u8) -> Option<PageType> {
        match byte {
            1 => Some(PageType::SpaceHeader),
            2 => Some(PageType::Free),
            3 => Some(PageType::Index),
            4 => Some(PageType::Overflow),
            5 => Some(PageType::Claim),
            _ => None,
        }
    }
}

#[inline]
pub(crate) fn u16_at(page: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([page[at], page[at + 1]])
}

#[inline]
pub(crate) fn u32_at(page: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"))
}

#[inline]
pub(crate) fn u64_at(page: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(page[at..at + 8].try_into().expect("eight bytes"))
}

#[inline]
pub(crate) fn put_u16(page: &mut [u8], at: usize, value: u16) {
    page[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

#[inline]
pub(crate) fn put_u32(page: &mut [u8], at: usize, value: u32) {
    page[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

#[inline]
pub(crate) fn put_u64(page: &mut [u8], at: usize, value: u64) {
    page[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// The page's LSN: the end of the newest record whose change is in it. 0 on a page never changed.
#[inline]
pub fn lsn(page: &[u8]) -> Lsn {
    u64_at(page, LSN)
}

/// Raises the page's LSN to `end`; never lowers it (rows of an older commit may arrive after those
/// of a newer one).
#[inline]
pub fn raise_lsn(page: &mut [u8], end: Lsn) {
    if end > lsn(page) {
        put_u64(page, LSN, end);
    }
}

/// What the page holds; `None` for a byte that names no type.
#[inline]
pub fn page_type(page: &[u8]) -> Option<PageType> {
    PageType::from_byte(page[TYPE])
}

/// Height above the leaves.
#[inline]
pub fn level(page: &[u8]) -> u8 {
    page[LEVEL]
}

/// Makes `page` an empty page of the given identity and type: all else is zero, the LSN included.
pub fn format(page: &mut [u8], id: PageId, page_type: PageType, level: u8) {
    page.fill(0);
    put_u32(page, SPACE, id.space);
    put_u32(page, NUMBER, id.no);
    page[TYPE] = page_type as u8;
    page[LEVEL] = level;
}

/// Changes type and level, keeping identity and LSN; the rest becomes zero.
pub fn reformat(page: &mut [u8], page_type: PageType, level: u8) {
    let (id, lsn) = (id(page), lsn(page));
    format(page, id, page_type, level);
    put_u64(page, LSN, lsn);
}

/// Gives a page that was put together elsewhere its identity and LSN.
pub fn place(page: &mut [u8], id: PageId, lsn: Lsn) {
    put_u32(page, SPACE, id.space);
    put_u32(page, NUMBER, id.no);
    put_u64(page, LSN, lsn);
}

/// The identity that the page claims.
pub fn id(page: &[u8]) -> PageId {
    PageId::new(u32_at(page, SPACE), u32_at(page, NUMBER))
}

/// Computes and stores the checksum. The last thing done to a page's copy before it is written.
pub fn seal(page: &mut [u8]) {
    let sum = content_checksum(page);
    put_u32(page, CHECKSUM, sum);
}

/// The checksum that [`seal`] stored in the page.
pub(crate) fn stored_checksum(page: &[u8]) -> u32 {
    u32_at(page, CHECKSUM)
}

/// The checksum of what the page holds.
pub(crate) fn content_checksum(page: &[u8]) -> u32 {
    crc32c::crc32c(&page[SPACE..])
}

/// The byte that says what the page holds, which may name no type.
pub(crate) fn type_byte(page: &[u8]) -> u8 {
    page[TYPE]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lsn_only_rises() {
        let mut page = vec![0; 4096];
        raise_lsn(&mut page, 10);
        raise_lsn(&mut page, 5);
        assert_eq!(lsn(&page), 10);
    }
}
