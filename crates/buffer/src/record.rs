//! The payload of a STRUCTURE record, and its replay. docs/formats/page.md has the layout byte by
//! byte.

use redo::Lsn;

use crate::error::{BufferError, Result};
use crate::guard::PageWrite;
use crate::page::{self, PAGE_HEADER_BYTES, PageId, PageNo, PageType, RecordLsn, put_u32, u16_at, u32_at};
use crate::pool::Pool;
use crate::slotted;
use crate::space::{self, SpaceHeader};

const IMAGE: u8 = 1;
const SPACE_HEADER: u8 = 2;
const FREE: u8 = 3;
const TRUNCATE_FROM: u8 = 4;
const INSERT_CHILD: u8 = 5;
const REMOVE_CHILD: u8 = 6;

/// The bytes in front of each page's operations: the page's identity, and the length of the
/// operations.
const SECTION_HEADER_BYTES: usize = 12;
/// The byte of the page at which an image begins: after checksum and identity.
const IMAGE_FROM: usize = 12;
/// The most pages by which a record may raise the number of allocated pages. One structure change
/// takes an extent of a few megabytes at most, which is far fewer pages.
const MOST_PAGES_AT_ONCE: u32 = 1 << 20;
const LSN_RANGE: std::ops::Range<usize> = 16..24;

/// Collects the operations on one page.
#[derive(Debug, Default)]
pub(crate) struct RecordWriter {
    ops: Vec<u8>,
}

impl RecordWriter {
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    pub fn clear(&mut self) {
        self.ops.clear();
    }

    fn op(&mut self, kind: u8, parts: &[&[u8]]) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        self.ops.push(kind);
        self.ops.extend_from_slice(&(len as u32).to_le_bytes());
        parts.iter().for_each(|part| self.ops.extend_from_slice(part));
    }

    /// Logs the whole page, without the free space in the middle of index pages, and without the
    /// unused tail of others.
    pub fn image(&mut self, bytes: &[u8]) {
        let (lower, upper) = match page::page_type(bytes) {
            Some(PageType::Index) => slotted::image_bounds(bytes),
            _ => (
                bytes.iter().rposition(|&byte| byte != 0).map_or(PAGE_HEADER_BYTES, |last| last + 1),
                bytes.len(),
            ),
        };
        let lower = lower.max(PAGE_HEADER_BYTES);
        self.op(IMAGE, &[&(lower as u32).to_le_bytes(), &bytes[IMAGE_FROM..lower], &bytes[upper..]]);
    }

    pub fn space_header(&mut self, header: SpaceHeader) {
        let fields = [header.allocated, header.free_head, header.free_count, header.claim_head];
        self.op(SPACE_HEADER, &[fields.map(u32::to_le_bytes).as_flattened()]);
    }

    pub fn free(&mut self, next: PageNo) {
        self.ops.clear();
        self.op(FREE, &[&next.to_le_bytes()]);
    }

    pub fn truncate_from(&mut self, key: &[u8]) {
        self.op(TRUNCATE_FROM, &[key]);
    }

    pub fn insert_child(&mut self, key: &[u8], child: PageNo) {
        self.op(INSERT_CHILD, &[&child.to_le_bytes(), key]);
    }

    pub fn remove_child(&mut self, index: usize) {
        self.op(REMOVE_CHILD, &[&(index as u16).to_le_bytes()]);
    }

    /// Appends the page's section to the record, unless the page has no operations.
    pub fn append_to(&self, payload: &mut Vec<u8>, id: PageId) {
        if !self.ops.is_empty() {
            payload.extend_from_slice(&id.space.to_le_bytes());
            payload.extend_from_slice(&id.no.to_le_bytes());
            payload.extend_from_slice(&(self.ops.len() as u32).to_le_bytes());
            payload.extend_from_slice(&self.ops);
        }
    }
}

/// Splits `len` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> std::result::Result<&'a [u8], String> {
    let (front, rest) = bytes.split_at_checked(len).ok_or("it ends in the middle")?;
    *bytes = rest;
    Ok(front)
}

impl Pool {
    /// Applies, at recovery, the structure record from `start_lsn` to `end_lsn` to the pages that
    /// do not have it yet. Pages of spaces that are not open (which were dropped later) are passed
    /// over.
    ///
    /// # Errors
    /// Returns an error when the record makes no sense for the pages, and I/O errors.
    pub fn replay(&self, start_lsn: Lsn, end_lsn: Lsn, payload: &[u8]) -> Result<()> {
        let bad = |reason: String| BufferError::BadRecord { start_lsn, reason };
        let mut sections = Vec::new();
        let mut rest = payload;
        while !rest.is_empty() {
            let header = take(&mut rest, SECTION_HEADER_BYTES).map_err(bad)?;
            let id = PageId::new(u32_at(header, 0), u32_at(header, 4));
            let ops = take(&mut rest, u32_at(header, 8) as usize).map_err(bad)?;
            if self.has_space(id.space) {
                sections.push((id, ops));
            }
        }
        // Page 0 comes first, since it says which pages there are.
        sections.sort_by_key(|(id, _)| id.no != 0);
        for (id, ops) in sections {
            self.check_allocated(id).map_err(|error| bad(error.to_string()))?;
            let mut guard = self.write_or_blank(id)?;
            if page::lsn(&guard) >= end_lsn {
                continue;
            }
            replay_page(&mut guard, ops).map_err(|reason| bad(format!("page {id}: {reason}")))?;
            guard.changed(RecordLsn::new(start_lsn, end_lsn));
            if id.no == 0 {
                self.spaces.get(id.space)?.note_header(SpaceHeader::of(&guard));
            }
        }
        Ok(())
    }

    /// Refuses, at recovery, a page that its space has never handed out, before the file grows to
    /// hold it. Only a damaged record names such a page.
    ///
    /// # Errors
    /// Returns [`BufferError::Corrupt`] for such a page, and the errors of [`Pool::read`] of page
    /// 0.
    pub fn check_allocated(&self, id: PageId) -> Result<()> {
        if id.no == 0 {
            return Ok(());
        }
        let allocated = SpaceHeader::of(&self.read(PageId::new(id.space, 0))?).allocated;
        if id.no < allocated {
            return Ok(());
        }
        Err(self.spaces.get(id.space)?.corrupt(id.no, format!("the space has {allocated} pages")))
    }
}

fn replay_page(guard: &mut PageWrite<'_>, mut ops: &[u8]) -> std::result::Result<(), String> {
    let mut blank = guard.fresh;
    while !ops.is_empty() {
        let header = take(&mut ops, 5)?;
        let body = take(&mut ops, u32_at(header, 1) as usize)?;
        let kind = header[0];
        // A page that is damaged or was never written may only meet an operation that replaces it
        // whole.
        if blank && !matches!(kind, IMAGE | FREE) {
            return Err(
                "it is damaged or was never written, and the record does not hold all of it".to_owned()
            );
        }
        replay_op(guard.bytes_mut(), kind, body)?;
        blank = false;
    }
    Ok(())
}

fn replay_op(bytes: &mut [u8], kind: u8, body: &[u8]) -> std::result::Result<(), String> {
    let mut rest = body;
    let expect = |page_type: PageType, bytes: &[u8]| match page::page_type(bytes) {
        Some(found) if found == page_type => Ok(()),
        found => Err(format!("it should be of type {page_type:?} and is {found:?}")),
    };
    match kind {
        IMAGE => return replay_image(bytes, body),
        FREE => {
            page::reformat(bytes, PageType::Free, 0);
            space::put_next_free(bytes, u32_at(take(&mut rest, 4)?, 0));
        }
        SPACE_HEADER => {
            expect(PageType::SpaceHeader, bytes)?;
            let body = take(&mut rest, 16)?;
            let header = SpaceHeader {
                allocated: u32_at(body, 0),
                free_head: u32_at(body, 4),
                free_count: u32_at(body, 8),
                claim_head: u32_at(body, 12),
            };
            let had = SpaceHeader::of(bytes).allocated;
            if header.allocated.saturating_sub(had) > MOST_PAGES_AT_ONCE {
                return Err(format!("it has {had} pages and cannot have {} at once", header.allocated));
            }
            header.put(bytes);
        }
        TRUNCATE_FROM => {
            expect(PageType::Index, bytes)?;
            slotted::truncate_from(bytes, std::mem::take(&mut rest));
        }
        INSERT_CHILD => {
            expect(PageType::Index, bytes)?;
            let child = take(&mut rest, 4)?;
            let key = std::mem::take(&mut rest);
            if slotted::entry_bytes(key.len(), child.len()) > slotted::free_bytes(bytes) {
                return Err("it has no room for the child".to_owned());
            }
            let (Ok(index) | Err(index)) = slotted::search(bytes, key);
            slotted::insert(bytes, index, key, child);
        }
        REMOVE_CHILD => {
            expect(PageType::Index, bytes)?;
            let index = u16_at(take(&mut rest, 2)?, 0) as usize;
            if index >= slotted::count(bytes) || page::level(bytes) == 0 {
                return Err(format!("it has no child {index}"));
            }
            slotted::remove_child(bytes, index);
        }
        _ => return Err(format!("operation {kind} is unknown")),
    }
    if rest.is_empty() { Ok(()) } else { Err("an operation is longer than it should be".to_owned()) }
}

fn replay_image(bytes: &mut [u8], mut body: &[u8]) -> std::result::Result<(), String> {
    let lower = u32_at(take(&mut body, 4)?, 0) as usize;
    if lower < PAGE_HEADER_BYTES || lower > bytes.len() {
        return Err("an image does not fit its page".to_owned());
    }
    let front = take(&mut body, lower - IMAGE_FROM)?;
    if lower + body.len() > bytes.len() {
        return Err("an image does not fit its page".to_owned());
    }
    let own_lsn: [u8; 8] = bytes[LSN_RANGE].try_into().expect("eight bytes");
    bytes[IMAGE_FROM..lower].copy_from_slice(front);
    let upper = bytes.len() - body.len();
    bytes[lower..upper].fill(0);
    bytes[upper..].copy_from_slice(body);
    bytes[LSN_RANGE].copy_from_slice(&own_lsn);
    put_u32(bytes, 0, 0);
    let checked = match page::page_type(bytes) {
        None => Err("an image has no known type".to_owned()),
        Some(PageType::Index) => slotted::check(bytes).map_err(|reason| format!("in an image, {reason}")),
        Some(_) => Ok(()),
    };
    if checked.is_err() {
        // The frame is made a free page, so that nothing that follows reads entries out of what is
        // in it now.
        page::reformat(bytes, PageType::Free, 0);
    }
    checked
}
