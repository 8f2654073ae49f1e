//! Claims, which say what pages of a space belong to a tree that the dictionary does not name yet,
//! or no longer names.
//!
//! An index that is being built has pages before the commit that makes it part of its table, and a
//! dropped index has pages after the commit that took it away. A crash in between must not lose
//! these pages. So the space itself says whose they are, on *claim pages* in a list that begins on
//! page 0. Each claim page names an index and its root page, and either the page ranges that the
//! builder has taken, or that all pages below the root belong to the index. Every change of a claim
//! is in the same structure record as the allocation or freeing that it tells of, so a claim is
//! exact at every moment that a crash can leave. Recovery compares claims with the dictionary: for
//! an index that the dictionary names, only the claim goes; for any other, its pages go too.
//! docs/formats/page.md has the layout byte by byte.
//!
//! A builder's pages come from the free list, or *fresh* from the space's end. Fresh pages were
//! never in the pool and in no record, so they are written straight to the file, many at once
//! ([`Pool::write_fresh`]), without frames and without doublewrite. That is right because nothing
//! names them before [`Pool::sync_space`]: a torn one is freed with its claim.
//!
//! All of this happens under the space's structure lock, so threads never compete for claim pages.

use crate::error::{BufferError, Result};
use crate::mtr::{Held, Mtr};
use crate::page::{self, PageId, PageNo, PageType, RecordLsn, SpaceId, put_u32, u32_at};
use crate::pool::Pool;
use crate::space::SpaceHeader;

const NEXT_AT: usize = 24;
const INDEX_AT: usize = 28;
const ROOT_AT: usize = 32;
const KIND_AT: usize = 36;
const COUNT_AT: usize = 40;
const RANGES_AT: usize = 44;
const RANGE_BYTES: usize = 8;

/// What a claim covers besides the root page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum ClaimKind {
    /// Ranges of pages, because the tree is being built.
    Pages = 1,
    /// Every page that can be reached from the root.
    Tree = 2,
}

/// An index that the dictionary may not name, and what of the space belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The index's number.
    pub index_id: u32,
    /// The number of the index's root page.
    pub root: PageNo,
    /// What the claim covers.
    pub kind: ClaimKind,
}

/// Pages handed to a builder.
#[derive(Debug, Clone)]
pub struct Extent {
    /// The pages' numbers, which follow each other when the pages are fresh.
    pub pages: Vec<PageNo>,
    /// The log record of the pages' allocation. The builder gives its pages the record's end as
    /// their LSN.
    pub lsn: RecordLsn,
    /// Whether the pages have never been used and are to be written by [`Pool::write_fresh`]. Pages
    /// that are not fresh are in the pool.
    pub fresh: bool,
}

/// A claim page, as found in the list.
#[derive(Debug, Clone, Copy)]
struct Found {
    no: PageNo,
    /// The claim page before this one in the list. 0 means that page 0 names this one.
    before: PageNo,
    claim: Claim,
}

fn read_claim(page: &[u8]) -> std::result::Result<Claim, String> {
    let kind = match u32_at(page, KIND_AT) {
        1 => ClaimKind::Pages,
        2 => ClaimKind::Tree,
        other => return Err(format!("it is a claim of unknown kind {other}")),
    };
    if page::page_type(page) != Some(PageType::Claim) {
        return Err("it is in the list of claims but holds none".to_owned());
    }
    if u32_at(page, COUNT_AT) as usize > capacity(page) {
        return Err("it claims more ranges than a page holds".to_owned());
    }
    Ok(Claim { index_id: u32_at(page, INDEX_AT), root: u32_at(page, ROOT_AT), kind })
}

fn capacity(page: &[u8]) -> usize {
    (page.len() - RANGES_AT) / RANGE_BYTES
}

fn put_claim(page: &mut [u8], claim: Claim, next: PageNo) {
    put_u32(page, NEXT_AT, next);
    put_u32(page, INDEX_AT, claim.index_id);
    put_u32(page, ROOT_AT, claim.root);
    put_u32(page, KIND_AT, claim.kind as u32);
}

fn range(page: &[u8], index: usize) -> (PageNo, u32) {
    let at = RANGES_AT + index * RANGE_BYTES;
    (u32_at(page, at), u32_at(page, at + 4))
}

fn put_range(page: &mut [u8], index: usize, (first, count): (PageNo, u32)) {
    let at = RANGES_AT + index * RANGE_BYTES;
    put_u32(page, at, first);
    put_u32(page, at + 4, count);
}

/// Reports whether the claim page has room for `pages` more ranges.
fn has_room(page: &[u8], pages: usize) -> bool {
    u32_at(page, COUNT_AT) as usize + pages <= capacity(page)
}

fn push_page(page: &mut [u8], no: PageNo) {
    let count = u32_at(page, COUNT_AT) as usize;
    if count > 0 {
        let (first, len) = range(page, count - 1);
        if first + len == no {
            return put_range(page, count - 1, (first, len + 1));
        }
    }
    put_range(page, count, (no, 1));
    put_u32(page, COUNT_AT, count as u32 + 1);
}

/// Takes the last `wanted` pages off the ranges, or all pages if there are fewer, and returns their
/// numbers.
fn pop_pages(page: &mut [u8], wanted: usize) -> Vec<PageNo> {
    let mut taken = Vec::with_capacity(wanted);
    let mut count = u32_at(page, COUNT_AT) as usize;
    while taken.len() < wanted && count > 0 {
        let (first, len) = range(page, count - 1);
        taken.push(first + len - 1);
        if len > 1 {
            put_range(page, count - 1, (first, len - 1));
        } else {
            put_range(page, count - 1, (0, 0));
            count -= 1;
            put_u32(page, COUNT_AT, count as u32);
        }
    }
    taken
}

impl Pool {
    /// Returns the claims in a space, each index once.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn claims(&self, space: SpaceId) -> Result<Vec<Claim>> {
        let _lock = self.lock_structure(space)?;
        let mut claims: Vec<Claim> = Vec::new();
        for found in self.claim_pages(space)? {
            if !claims.iter().any(|claim| claim.index_id == found.claim.index_id) {
                claims.push(found.claim);
            }
        }
        Ok(claims)
    }

    /// Returns the claim pages of a space, newest first. The caller holds the structure lock.
    fn claim_pages(&self, space: SpaceId) -> Result<Vec<Found>> {
        let header = SpaceHeader::of(&self.read(PageId::new(space, 0))?);
        let (mut no, mut before, mut found) = (header.claim_head, 0, Vec::new());
        while no != 0 {
            let page = self.read(PageId::new(space, no))?;
            let claim = read_claim(&page).map_err(|reason| self.damaged(space, no, reason))?;
            if found.len() as u32 > header.allocated {
                return Err(self.damaged(space, no, "the list of claims has a loop".to_owned()));
            }
            found.push(Found { no, before, claim });
            before = no;
            no = u32_at(&page, NEXT_AT);
        }
        Ok(found)
    }

    fn damaged(&self, space: SpaceId, no: PageNo, reason: String) -> BufferError {
        match self.spaces.get(space) {
            Ok(space) => space.corrupt(no, reason),
            Err(error) => error,
        }
    }

    /// Returns the newest claim page of an index. The caller holds the structure lock.
    fn claim_of(&self, space: SpaceId, index_id: u32) -> Result<Found> {
        let found = self.claim_pages(space)?.into_iter().find(|found| found.claim.index_id == index_id);
        found.ok_or_else(|| self.damaged(space, 0, format!("index {index_id} has no claim")))
    }

    /// Allocates an empty page as the root of an index, under a new claim of kind
    /// [`ClaimKind::Pages`], and returns the root's number.
    ///
    /// # Errors
    /// Returns an error when the space cannot grow, and I/O errors.
    pub fn claim_new_root(&self, space: SpaceId, index_id: u32) -> Result<PageNo> {
        self.log().free_check();
        let lock = self.lock_structure(space)?;
        let mut mtr = Mtr::begin(self, &lock);
        let root = mtr.alloc()?;
        let held = mtr.alloc()?;
        let no = mtr.no(root);
        mtr.format(root, PageType::Index, 0);
        put_new_claim(&mut mtr, held, Claim { index_id, root: no, kind: ClaimKind::Pages });
        mtr.commit();
        Ok(no)
    }

    /// Claims all pages of an existing tree. The caller does this before the commit that drops the
    /// index.
    ///
    /// # Errors
    /// Returns an error when the space cannot grow, and I/O errors.
    pub fn claim_tree(&self, space: SpaceId, index_id: u32, root: PageNo) -> Result<()> {
        self.log().free_check();
        let lock = self.lock_structure(space)?;
        let mut mtr = Mtr::begin(self, &lock);
        let held = mtr.alloc()?;
        put_new_claim(&mut mtr, held, Claim { index_id, root, kind: ClaimKind::Tree });
        mtr.commit();
        Ok(())
    }

    /// Hands out pages for a build: a few from the free list if it has any, otherwise `wanted`
    /// fresh ones. `claim` is the index whose claim notes the pages. It is `None` for a build in a
    /// space that is dropped as a whole if the build fails.
    ///
    /// # Errors
    /// Returns an error when the space cannot grow, and I/O errors.
    pub fn take_extent(&self, space: SpaceId, wanted: usize, claim: Option<u32>) -> Result<Extent> {
        self.log().free_check();
        let lock = self.lock_structure(space)?;
        let found = claim.map(|index_id| self.claim_of(space, index_id)).transpose()?;
        let mut mtr = Mtr::begin(self, &lock);
        let free = mtr.space_header()?.free_count as usize;
        let most = wanted.min(self.pages_at_once());
        let (fresh, count) = if free > 0 { (false, free.min(most)) } else { (true, wanted) };
        // Every page from the free list may be a range of its own, so each needs room for one.
        let room = if fresh { 1 } else { count };
        let claim_page = match found {
            Some(found) => Some(self.claim_page_with_room(&mut mtr, found, room)?),
            None => None,
        };
        let mut held = Vec::new();
        let pages: Vec<PageNo> = if fresh {
            mtr.take_fresh(count as u32)?.collect()
        } else {
            for _ in 0..count {
                held.push(mtr.alloc()?);
            }
            held.iter().map(|&held| mtr.no(held)).collect()
        };
        if let Some((held, is_new, found)) = claim_page {
            if is_new {
                put_new_claim(&mut mtr, held, found.claim);
            }
            let bytes = mtr.page_mut(held);
            pages.iter().for_each(|&no| push_page(bytes, no));
            mtr.log_image(held);
        }
        for &held in &held {
            mtr.format(held, PageType::Index, 0);
        }
        let lsn = mtr.commit_marking(&held);
        Ok(Extent { pages, lsn, fresh })
    }

    /// Latches a claim page with room for `room` more ranges: the index's newest, or a page that is
    /// allocated for this. The flag returned says that the page is new.
    fn claim_page_with_room(
        &self,
        mtr: &mut Mtr<'_>,
        found: Found,
        room: usize,
    ) -> Result<(Held, bool, Found)> {
        let held = mtr.latch(found.no)?;
        if has_room(mtr.page(held), room) {
            Ok((held, false, found))
        } else {
            Ok((mtr.alloc()?, true, found))
        }
    }

    /// Seals fresh pages and writes them to the file. `first` is the number of the first one.
    ///
    /// # Errors
    /// Returns an error when the file cannot be written, or when the log has failed.
    pub fn write_fresh(&self, id: SpaceId, first: PageNo, pages: &mut [u8]) -> Result<()> {
        let newest = pages.chunks_exact(self.page_size()).map(page::lsn).max().unwrap_or(0);
        // The log comes first: otherwise a crash could leave pages that are newer than the log, and
        // replay would take them for up to date.
        self.log().wait_durable(newest)?;
        pages.chunks_exact_mut(self.page_size()).for_each(page::seal);
        let _writing = os::account::enter(os::account::State::PageWrite);
        self.spaces.write_fresh(id, first, pages)
    }

    /// Makes everything durable that was written to the space's file.
    ///
    /// # Errors
    /// Returns the error of a failed sync, which also stops the process.
    pub fn sync_space(&self, id: SpaceId) -> Result<()> {
        self.spaces.sync(id)
    }

    /// Turns an index's claim into one of kind [`ClaimKind::Tree`], which covers all pages that can
    /// be reached from the root. The tree is complete and on disk.
    ///
    /// # Errors
    /// Returns an error when the index has no claim, and I/O errors.
    pub fn claim_becomes_tree(&self, space: SpaceId, index_id: u32) -> Result<()> {
        // Only the newest claim page counts. Older ones are freed together with the claim.
        self.log().free_check();
        let lock = self.lock_structure(space)?;
        let found = self.claim_of(space, index_id)?;
        let mut mtr = Mtr::begin(self, &lock);
        let held = mtr.latch(found.no)?;
        let next = u32_at(mtr.page(held), NEXT_AT);
        let bytes = mtr.page_mut(held);
        page::reformat(bytes, PageType::Claim, 0);
        put_claim(bytes, Claim { kind: ClaimKind::Tree, ..found.claim }, next);
        mtr.log_image(held);
        mtr.commit();
        Ok(())
    }

    /// Frees the claim pages of an index: the dictionary names the index now, or no pages of it are
    /// left.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn release_claim(&self, space: SpaceId, index_id: u32) -> Result<()> {
        self.drop_claim_pages(space, index_id, 0).map(|_| ())
    }

    /// Frees claim pages of an index, oldest first, until `keep` are left.
    fn drop_claim_pages(&self, space: SpaceId, index_id: u32, keep: usize) -> Result<()> {
        loop {
            self.log().free_check();
            let lock = self.lock_structure(space)?;
            let pages = self.claim_pages(space)?;
            let mut of_index = pages.iter().filter(|found| found.claim.index_id == index_id);
            if of_index.clone().count() <= keep {
                return Ok(());
            }
            let oldest = *of_index.next_back().expect("there are more than `keep`");
            let mut mtr = Mtr::begin(self, &lock);
            let unlinked = Unlink::latch(&mut mtr, oldest)?;
            mtr.prepare_free()?;
            unlinked.unlink(&mut mtr);
            mtr.commit();
        }
    }

    /// Frees the last `wanted` pages that a claim of kind [`ClaimKind::Pages`] covers, a few in
    /// each mini-transaction, and returns how many it freed. The root is not among them.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn free_claimed_pages(&self, space: SpaceId, index_id: u32, wanted: usize) -> Result<usize> {
        let mut freed = 0;
        while freed < wanted {
            self.log().free_check();
            let lock = self.lock_structure(space)?;
            let found = self.claim_of(space, index_id)?;
            let mut mtr = Mtr::begin(self, &lock);
            let claim_page = mtr.latch(found.no)?;
            let mut copy = mtr.page(claim_page).to_vec();
            let pages = pop_pages(&mut copy, (wanted - freed).min(self.pages_at_once()));
            if pages.is_empty() {
                drop(mtr);
                drop(lock);
                if !self.drop_empty_claim_page(space, index_id)? {
                    return Ok(freed);
                }
                continue;
            }
            let held = pages.iter().map(|&no| mtr.latch_unread(no)).collect::<Result<Vec<Held>>>()?;
            mtr.prepare_free()?;
            mtr.page_mut(claim_page).copy_from_slice(&copy);
            mtr.log_image(claim_page);
            held.into_iter().for_each(|held| mtr.free(held));
            mtr.commit();
            freed += pages.len();
        }
        Ok(freed)
    }

    /// Frees the index's newest claim page, which covers nothing any more. Returns false when it is
    /// the index's only claim page, which stays.
    fn drop_empty_claim_page(&self, space: SpaceId, index_id: u32) -> Result<bool> {
        let lock = self.lock_structure(space)?;
        let pages = self.claim_pages(space)?;
        let mut of_index = pages.iter().filter(|found| found.claim.index_id == index_id);
        let (Some(newest), Some(_)) = (of_index.next(), of_index.next()) else { return Ok(false) };
        let mut mtr = Mtr::begin(self, &lock);
        let unlinked = Unlink::latch(&mut mtr, *newest)?;
        mtr.prepare_free()?;
        unlinked.unlink(&mut mtr);
        mtr.commit();
        Ok(true)
    }

    /// Frees the root and the last claim page of an index in one record.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn free_claimed_root(&self, space: SpaceId, index_id: u32) -> Result<()> {
        self.drop_claim_pages(space, index_id, 1)?;
        self.log().free_check();
        let lock = self.lock_structure(space)?;
        let found = self.claim_of(space, index_id)?;
        let mut mtr = Mtr::begin(self, &lock);
        let root = mtr.latch_unread(found.claim.root)?;
        let unlinked = Unlink::latch(&mut mtr, found)?;
        mtr.prepare_free()?;
        mtr.free(root);
        unlinked.unlink(&mut mtr);
        mtr.commit();
        Ok(())
    }

    /// Returns how many pages of the space have been handed out at some time, and how many of those
    /// are on the free list now.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn space_usage(&self, space: SpaceId) -> Result<(u32, u32)> {
        let header = SpaceHeader::of(&self.read(PageId::new(space, 0))?);
        Ok((header.allocated, header.free_count))
    }
}

/// Makes a page the head of the list of claims. This mini-transaction has allocated the page, and
/// so holds page 0.
fn put_new_claim(mtr: &mut Mtr<'_>, held: Held, claim: Claim) {
    let no = mtr.no(held);
    let next = mtr.swap_claim_head(no);
    let bytes = mtr.format(held, PageType::Claim, 0);
    put_claim(bytes, claim, next);
}

/// A claim page that is to leave the list, with the claim page before it.
struct Unlink {
    held: Held,
    before: Option<Held>,
    next: PageNo,
}

impl Unlink {
    fn latch(mtr: &mut Mtr<'_>, found: Found) -> Result<Unlink> {
        let before = if found.before == 0 { None } else { Some(mtr.latch(found.before)?) };
        let held = mtr.latch(found.no)?;
        let next = u32_at(mtr.page(held), NEXT_AT);
        Ok(Unlink { held, before, next })
    }

    /// Takes the claim page out of the list and frees it. Page 0 is latched.
    fn unlink(self, mtr: &mut Mtr<'_>) {
        match self.before {
            Some(before) => {
                put_u32(mtr.page_mut(before), NEXT_AT, self.next);
                mtr.log_image(before);
            }
            None => {
                mtr.swap_claim_head(self.next);
            }
        }
        mtr.free(self.held);
    }
}
