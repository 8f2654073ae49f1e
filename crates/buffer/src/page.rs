//! The header that every page begins with, and the page's checksum. docs/formats/page.md has the
//! layout byte by byte.
//!
//! All integers on pages are little-endian except those in keys, which are compared by memcmp and
//! mean nothing here.

use redo::Lsn;

/// The number of a tablespace. The engine gives each number once.
pub type SpaceId = u32;
/// The number of a page in its space. Page 0 is the space header, so 0 also stands for "no page".
pub type PageNo = u32;

/// The place of a page: space and page number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId {
    /// The number of the space.
    pub space: SpaceId,
    /// The number of the page in the space.
    pub no: PageNo,
}

impl PageId {
    /// Names the page `no` of `space`.
    pub const fn new(space: SpaceId, no: PageNo) -> PageId {
        PageId { space, no }
    }

    /// Returns one number for space and page, for atomics and hashing.
    pub(crate) const fn packed(self) -> u64 {
        (self.space as u64) << 32 | self.no as u64
    }
}

impl std::fmt::Display for PageId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.space, self.no)
    }
}

/// The place in the log of a change's record. Replay of the change needs the log from `start`, and
/// the page carries `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLsn {
    /// The LSN of the record's first byte. Recovery from a checkpoint at or before it replays the
    /// record.
    pub start: Lsn,
    /// The LSN just past the record's last byte.
    pub end: Lsn,
}

impl RecordLsn {
    /// A change that no record describes and that may be lost in a crash, such as one of purge.
    pub const UNLOGGED: RecordLsn = RecordLsn { start: 0, end: 0 };

    /// Names the record from `start` to `end`.
    pub const fn new(start: Lsn, end: Lsn) -> RecordLsn {
        RecordLsn { start, end }
    }
}

/// The number of bytes of the header that all pages share.
pub const PAGE_HEADER_BYTES: usize = 24;
/// The page sizes in bytes that a data directory may be made with.
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
    /// A page on the space's free list.
    Free = 2,
    /// A node of a B+tree: a leaf at level 0, an inner node above.
    Index = 3,
    /// A part of a value that is too long for its row.
    Overflow = 4,
    /// A page that says which pages belong to an index that the dictionary may not name; see
    /// [`crate::claim`].
    Claim = 5,
}

impl PageType {
    /// Returns the word that InnoDB has for pages of this kind (`INNODB_BUFFER_PAGE.PAGE_TYPE`).
    pub fn name(self) -> &'static str {
        match self {
            PageType::SpaceHeader => "FILE_SPACE_HEADER",
            PageType::Free => "ALLOCATED",
            PageType::Index => "INDEX",
            PageType::Overflow => "BLOB",
            PageType::Claim => "INODE",
        }
    }

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

/// Returns the page's LSN: the end of the newest record whose change is in it. It is 0 on a page
/// that was never changed.
#[inline]
pub fn lsn(page: &[u8]) -> Lsn {
    u64_at(page, LSN)
}

/// Raises the page's LSN to `end`. It is never lowered, since rows of an older commit may arrive
/// after those of a newer one.
#[inline]
pub fn raise_lsn(page: &mut [u8], end: Lsn) {
    if end > lsn(page) {
        put_u64(page, LSN, end);
    }
}

/// Returns what the page holds. `None` means that its type byte names no type.
#[inline]
pub fn page_type(page: &[u8]) -> Option<PageType> {
    PageType::from_byte(page[TYPE])
}

/// Returns the page's height above the leaves. A leaf has level 0.
#[inline]
pub fn level(page: &[u8]) -> u8 {
    page[LEVEL]
}

/// Makes `page` an empty page of the given identity and type. All else becomes zero, the LSN
/// included.
pub fn format(page: &mut [u8], id: PageId, page_type: PageType, level: u8) {
    page.fill(0);
    put_u32(page, SPACE, id.space);
    put_u32(page, NUMBER, id.no);
    page[TYPE] = page_type as u8;
    page[LEVEL] = level;
}

/// Changes the page's type and level, keeping its identity and LSN. The rest becomes zero.
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

/// Returns the identity that the page claims.
pub fn id(page: &[u8]) -> PageId {
    PageId::new(u32_at(page, SPACE), u32_at(page, NUMBER))
}

/// Computes and stores the checksum. This is the last thing done to a page's copy before it is
/// written.
pub fn seal(page: &mut [u8]) {
    let sum = content_checksum(page);
    put_u32(page, CHECKSUM, sum);
}

/// Returns the checksum that [`seal`] stored in the page.
pub(crate) fn stored_checksum(page: &[u8]) -> u32 {
    u32_at(page, CHECKSUM)
}

/// Computes the checksum of the page's content.
pub(crate) fn content_checksum(page: &[u8]) -> u32 {
    crc32c::crc32c(&page[SPACE..])
}

/// Returns the byte that says what the page holds. It may name no type.
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
