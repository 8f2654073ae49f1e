//! Overflow pages: each value that is too long for its row is in a chain of pages.
//! docs/formats/page.md has the layout byte by byte.
//!
//! The chain is made before the row's commit is logged, and the commit record names its pages and
//! holds the value. Only the allocation is logged separately. After a crash the engine calls
//! [`rewrite`] for every commit that it replays. Pages that are older than the commit get their
//! content again. Pages with a later LSN have been put to another use since and are left alone. A
//! chain whose commit never came is not freed, and its space is lost.

use buffer::page::{self, PageType};
use buffer::{PageId, PageNo, Pool, RecordLsn, SpaceId};

use crate::error::{Result, TreeError};
use crate::pages::{alloc_unlogged, free_pages};

const NEXT_AT: usize = 24;
const LEN_AT: usize = 28;
const DATA_AT: usize = 32;

/// Returns how many bytes of a value one page holds.
pub const fn bytes_per_page(page_size: usize) -> usize {
    page_size - DATA_AT
}

/// Stores a value, which is not empty, and returns its pages. [`load`] reads the value from the
/// first page on.
///
/// # Errors
/// Returns an error when the space cannot grow, and I/O errors. Pages taken by then stay taken.
pub fn store(pool: &Pool, space: SpaceId, bytes: &[u8]) -> Result<Vec<PageNo>> {
    let wanted = bytes.len().div_ceil(bytes_per_page(pool.page_size())).max(1);
    let (mut pages, mut lsns) = (Vec::with_capacity(wanted), Vec::with_capacity(wanted));
    while pages.len() < wanted {
        let chunk = pool.pages_at_once().min(wanted - pages.len());
        let (numbers, lsn) = alloc_unlogged(pool, space, chunk, PageType::Overflow)?;
        lsns.extend(numbers.iter().map(|_| lsn));
        pages.extend(numbers);
    }
    assert_eq!(pages.len(), lsns.len(), "each page has the LSN of its allocation");
    write_chain(pool, space, &pages, bytes, |index| lsns[index], |_, _| true)?;
    Ok(pages)
}

/// Gives, at recovery, the pages of a chain their content again where they are older than the
/// commit at `lsn`.
///
/// # Errors
/// Returns an error for a damaged page, and I/O errors.
pub fn rewrite(pool: &Pool, space: SpaceId, pages: &[PageNo], bytes: &[u8], lsn: RecordLsn) -> Result<()> {
    for &no in pages {
        pool.check_allocated(PageId::new(space, no))?;
    }
    write_chain(pool, space, pages, bytes, |_| lsn, |found, _| page::lsn(found) < lsn.end)
}

fn write_chain(
    pool: &Pool,
    space: SpaceId,
    pages: &[PageNo],
    bytes: &[u8],
    lsn_of: impl Fn(usize) -> RecordLsn,
    wants: impl Fn(&[u8], usize) -> bool,
) -> Result<()> {
    let per_page = bytes_per_page(pool.page_size());
    for (index, &no) in pages.iter().enumerate() {
        let part = bytes.chunks(per_page).nth(index).unwrap_or_default();
        let next = pages.get(index + 1).copied().unwrap_or(0);
        let mut guard = pool.write_or_blank(PageId::new(space, no))?;
        if wants(&guard, index) {
            let page = guard.bytes_mut();
            page::reformat(page, PageType::Overflow, 0);
            page[NEXT_AT..NEXT_AT + 4].copy_from_slice(&next.to_le_bytes());
            page[LEN_AT..LEN_AT + 4].copy_from_slice(&(part.len() as u32).to_le_bytes());
            page[DATA_AT..DATA_AT + part.len()].copy_from_slice(part);
            guard.changed(lsn_of(index));
        }
    }
    Ok(())
}

/// Reads a value of `len` bytes.
///
/// # Errors
/// Returns [`TreeError::Damaged`] when the chain does not hold a value of this length, an error for
/// a damaged page, and I/O errors.
pub fn load(pool: &Pool, space: SpaceId, first: PageNo, len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    let mut no = first;
    while bytes.len() < len {
        let (part, next) = read_part(pool, space, no)?;
        if part.is_empty() || bytes.len() + part.len() > len {
            let reason = format!("a chain of overflow pages for {len} bytes does not have that length");
            return Err(TreeError::damaged(PageId::new(space, no), reason));
        }
        bytes.extend_from_slice(&part);
        no = next;
    }
    Ok(bytes)
}

fn read_part(pool: &Pool, space: SpaceId, no: PageNo) -> Result<(Vec<u8>, PageNo)> {
    let id = PageId::new(space, no);
    let page = pool.read(id)?;
    let word = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"));
    let len = word(LEN_AT) as usize;
    if page::page_type(&page) != Some(PageType::Overflow) || DATA_AT + len > page.len() {
        return Err(TreeError::damaged(id, "it should be an overflow page"));
    }
    Ok((page[DATA_AT..DATA_AT + len].to_vec(), word(NEXT_AT)))
}

/// Frees a chain that holds `len` bytes.
///
/// # Errors
/// Returns the errors of [`load`]. Nothing is freed then.
pub fn free(pool: &Pool, space: SpaceId, first: PageNo, len: usize) -> Result<()> {
    let (mut pages, mut seen, mut no) = (Vec::new(), 0, first);
    while seen < len {
        let (part, next) = read_part(pool, space, no)?;
        if part.is_empty() {
            return Err(TreeError::damaged(PageId::new(space, no), "an overflow page holds nothing"));
        }
        pages.push(no);
        seen += part.len();
        no = next;
    }
    free_pages(pool, space, &pages)
}
