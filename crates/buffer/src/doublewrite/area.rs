//! Areas of the doublewrite file: the pages gathered for a batch, and the header that says where
//! they belong.

use std::path::Path;

use os::aligned::AlignedBuffer;

use crate::error::{BufferError, Result};
use crate::page::{self, PageId, put_u32, put_u64, u32_at};

pub(super) const MAGIC: &[u8; 8] = b"SLIPDBL2";
pub(super) const CHECKSUM_AT: usize = 8;
pub(super) const HEADER_LEN_AT: usize = 12;
pub(super) const PAGE_SIZE_AT: usize = 16;
pub(super) const PAGES_AT: usize = 20;
pub(super) const BATCH_AT: usize = 24;
pub(super) const WITH_COPIES_AT: usize = 32;
pub(super) const ENTRIES_AT: usize = 36;
pub(super) const ENTRY_BYTES: usize = 16;
/// The bytes at an area's start that are kept for its header.
pub(super) const HEADER_BYTES: usize = 64 << 10;
/// The bytes that the pages of one area take, as those of InnoDB's old doublewrite buffer did. A
/// small pool has smaller areas: its size divided by `PART_OF_POOL`.
const PAGES_BYTES: usize = 2 << 20;
const PART_OF_POOL: usize = 16;
const LEAST_PAGES: usize = 16;

/// Returns how many pages an area holds in a pool of `pool_bytes` bytes.
pub(super) fn area_pages(pool_bytes: usize, page_size: usize) -> usize {
    (PAGES_BYTES.min(pool_bytes / PART_OF_POOL) / page_size).max(LEAST_PAGES)
}

/// Returns how many bytes of the file an area of `pages` pages takes.
pub(super) fn area_bytes(pages: usize, page_size: usize) -> usize {
    HEADER_BYTES + pages * page_size
}

/// Memory that gathers the pages of one batch of writes, doublewritten or not.
#[derive(Debug)]
pub(crate) struct WriteArea {
    /// The byte offset of the area in the doublewrite file.
    offset: u64,
    page_size: usize,
    capacity: usize,
    /// The header, then the pages.
    buffer: AlignedBuffer,
    pages: usize,
}

impl WriteArea {
    pub(super) fn new(number: usize, capacity: usize, page_size: usize) -> WriteArea {
        let bytes = area_bytes(capacity, page_size);
        let buffer = AlignedBuffer::zeroed(bytes);
        WriteArea { offset: (number * bytes) as u64, page_size, capacity, buffer, pages: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.pages = 0;
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns how many pages the area has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Appends a copy of a page.
    pub fn push(&mut self, page: &[u8]) {
        let at = HEADER_BYTES + self.pages * self.page_size;
        self.buffer[at..at + self.page_size].copy_from_slice(page);
        self.pages += 1;
    }

    /// Returns the bytes of the batch's pages `range`.
    pub fn pages(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.buffer[HEADER_BYTES + range.start * self.page_size..HEADER_BYTES + range.end * self.page_size]
    }

    pub(super) fn all_pages(&self) -> &[u8] {
        self.pages(0..self.pages)
    }

    pub(super) fn header(&self, len: usize) -> &[u8] {
        &self.buffer[..len]
    }

    /// Computes and stores the checksums of all pages.
    pub fn seal_all(&mut self) {
        let end = HEADER_BYTES + self.pages * self.page_size;
        self.buffer[HEADER_BYTES..end].chunks_exact_mut(self.page_size).for_each(page::seal);
    }

    /// Writes the header of batch number `batch` into the buffer, and returns its length in bytes.
    pub(super) fn put_header(
        &mut self,
        datadir: &Path,
        places: &[(PageId, &Path)],
        batch: u64,
        with_copies: bool,
    ) -> Result<usize> {
        assert_eq!(places.len(), self.pages, "every page has a place");
        let page_size = self.page_size;
        let (header, pages) = self.buffer.split_at_mut(HEADER_BYTES);
        header[..MAGIC.len()].copy_from_slice(MAGIC);
        put_u32(header, PAGE_SIZE_AT, page_size as u32);
        put_u32(header, PAGES_AT, places.len() as u32);
        put_u64(header, BATCH_AT, batch);
        put_u32(header, WITH_COPIES_AT, with_copies as u32);
        let mut end = ENTRIES_AT + places.len() * ENTRY_BYTES;
        let mut last: Option<(&Path, usize)> = None;
        for (index, (id, path)) in places.iter().enumerate() {
            // Batches are sorted by space, so equal paths follow each other.
            let path_at = match last {
                Some((same, at)) if same == *path => at,
                _ => put_path(header, &mut end, datadir, path)?,
            };
            last = Some((path, path_at));
            let at = ENTRIES_AT + index * ENTRY_BYTES;
            put_u32(header, at, id.space);
            put_u32(header, at + 4, id.no);
            put_u32(header, at + 8, path_at as u32);
            put_u32(header, at + 12, u32_at(pages, index * page_size));
        }
        put_u32(header, HEADER_LEN_AT, end as u32);
        let sum = crc32c::crc32c(&header[HEADER_LEN_AT..end]);
        put_u32(header, CHECKSUM_AT, sum);
        Ok(end)
    }
}

fn put_path(header: &mut [u8], end: &mut usize, datadir: &Path, path: &Path) -> Result<usize> {
    let name = path.strip_prefix(datadir).unwrap_or(path);
    let Some(text) = name.to_str().filter(|text| *end + 2 + text.len() <= HEADER_BYTES) else {
        let message = format!("{}: this path cannot be kept in the doublewrite file", path.display());
        return Err(BufferError::Config(message));
    };
    let at = *end;
    header[at..at + 2].copy_from_slice(&(text.len() as u16).to_le_bytes());
    header[at + 2..at + 2 + text.len()].copy_from_slice(text.as_bytes());
    *end = at + 2 + text.len();
    Ok(at)
}
