//! Writing pages out: capture, log before page, doublewrite, write in place, sync.
//!
//! The steps of one batch ([`Flusher::write_out`]), and why they are in this order:
//! 1. Each page is copied under its shared latch, so the copy is whole. At that moment the page
//!    moves from the `dirty` list to `writing`; changes made after it dirty the page again.
//! 2. The log is made durable up to the newest LSN of the copies: **log before page**. That
//!    includes the images that structure changes put into the log, and the commits applied to the
//!    page, since both reserve their log space before they let go of the page.
//! 3. The copies are sealed, written to the doublewrite area and synced. Then they are written in
//!    place (`batch`), and then the tablespaces are synced. Once it is written in place a page may
//!    be evicted, or written again by another batch, whose area then has the newer copy. It may not
//!    be earlier, or a read might overtake the page's write.
//! 4. The changes are on disk only when the tablespaces are synced. Then they leave `writing`,
//!    which lets the checkpoint pass them.
//!
//! **For frames** ([`Purpose::Frames`]) somebody may be waiting, so nothing is waited for that need
//! not be. Pages whose changes the log has not synced yet are left for the next batch if there are
//! others, and frames become free before the tablespaces are synced.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use os::account::{State, enter};
use redo::Lsn;

use crate::batch::{Batches, Captured, Purpose};
use crate::doublewrite::WriteArea;
use crate::error::Result;
use crate::frame::NO_PAGE;
use crate::frames::Frames;
use crate::instance::Instance;
use crate::neighbors::with_neighbors;
use crate::options::OptionsInForce;
use crate::page::{self, PageId, SpaceId};
use crate::spaces::Spaces;
use crate::status::count;

/// The outcome of an attempt to copy a page for writing.
enum Capture {
    Done(Captured, Lsn),
    /// The log is not durable as far as the page's newest change.
    TooNew,
    /// The page is clean, latched, being written or gone.
    Nothing,
}

/// Chooses dirty pages and writes them out. It has no state of its own.
#[derive(Debug)]
pub(crate) struct Flusher {
    frames: Arc<Frames>,
    spaces: Arc<Spaces>,
    batches: Arc<Batches>,
    options: Arc<OptionsInForce>,
}

impl Flusher {
    pub fn new(
        frames: Arc<Frames>,
        spaces: Arc<Spaces>,
        batches: Arc<Batches>,
        options: Arc<OptionsInForce>,
    ) -> Flusher {
        Flusher { frames, spaces, batches, options }
    }

    /// Writes the dirty ones of the numbered frames that can be latched at once, up to an area's
    /// worth and at most `limit`. Returns how many were written. Their changes are durable only
    /// when the batch is finished: see [`Batches::finish`].
    fn write_out(&self, numbers: Vec<u32>, limit: usize, purpose: Purpose) -> Result<usize> {
        // The pages are sorted by place, so that neighbours go in one write, and each space's pages
        // follow each other. A frame that is given to another page in between is passed over.
        let mut pages: Vec<(u64, u32)> = numbers
            .iter()
            .map(|&number| (self.frames.frame(number).page_id.load(Ordering::Relaxed), number))
            .collect();
        pages.sort_unstable();
        pages.dedup();
        let mut place = self.batches.take_area()?;
        let limit = limit.min(place.area().capacity());
        let (batch, newest) = self.capture_batch(&pages, limit, purpose, place.area());
        if batch.is_empty() {
            return Ok(0);
        }
        let written = batch.len();
        self.batches.write(place, batch, newest, purpose)?;
        count(&self.frames.counters.pages_written, written as u64);
        Ok(written)
    }

    /// Copies up to `limit` of the pages into the area. Returns what was copied, and the newest LSN
    /// of the copies.
    fn capture_batch(
        &self,
        pages: &[(u64, u32)],
        limit: usize,
        purpose: Purpose,
        area: &mut WriteArea,
    ) -> (Vec<Captured>, Lsn) {
        let mut most = match purpose {
            Purpose::Age => Lsn::MAX,
            Purpose::Frames => self.frames.log.durable_lsn(),
        };
        let (mut batch, mut newest) = (Vec::with_capacity(limit.min(pages.len())), 0);
        loop {
            let mut too_new = false;
            for &(packed, frame) in pages {
                if batch.len() == limit {
                    break;
                }
                match self.capture(frame, packed, most, area) {
                    Capture::Done(captured, lsn) => {
                        newest = newest.max(lsn);
                        batch.push(captured);
                    }
                    Capture::TooNew => too_new = true,
                    Capture::Nothing => {}
                }
            }
            if !too_new {
                return (batch, newest);
            }
            if !batch.is_empty() {
                // The pages left out shall be ready for the next batch.
                self.frames.log.request_durable(self.frames.log.current_lsn());
                return (batch, newest);
            }
            most = Lsn::MAX;
        }
    }

    fn capture(&self, number: u32, packed: u64, most: Lsn, area: &mut WriteArea) -> Capture {
        let frame = self.frames.frame(number);
        if packed == NO_PAGE || !frame.is_dirty() || !frame.latch.try_shared() {
            return Capture::Nothing;
        }
        let captured = if frame.holds(packed) {
            self.capture_latched(number, packed, most, area)
        } else {
            Capture::Nothing
        };
        frame.latch.release_shared();
        captured
    }

    fn capture_latched(&self, number: u32, packed: u64, most: Lsn, area: &mut WriteArea) -> Capture {
        let frame = self.frames.frame(number);
        let id = PageId::new((packed >> 32) as u32, packed as u32);
        let Ok(space) = self.spaces.get(id.space) else {
            // The space is durably dropped: the page has no place to be written to, and must not
            // hold up a checkpoint any more.
            self.frames.forget_changes(number);
            return Capture::Nothing;
        };
        // SAFETY: the caller holds the latch shared.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.frames.page_ptr(number), self.frames.page_size()) };
        let lsn = page::lsn(bytes);
        if lsn > most {
            return Capture::TooNew;
        }
        // Another flusher may hold the latch shared as well. Whoever sets `writing` first has the
        // page.
        if frame.writing.swap(true, Ordering::AcqRel) {
            return Capture::Nothing;
        }
        let ticket = {
            let mut lists = self.frames.instance_of_frame(number).flush_lists.lock();
            let oldest = frame.oldest();
            if oldest == 0 {
                frame.writing.store(false, Ordering::Release);
                return Capture::Nothing;
            }
            frame.oldest_lsn.store(0, Ordering::Relaxed);
            lists.begin_write(number, oldest)
        };
        area.push(bytes);
        Capture::Done(Captured { frame: number, ticket, id, space }, lsn)
    }

    /// Does the work of [`crate::Pool::flush_until`].
    pub fn flush_until(&self, lsn: Lsn) -> Result<()> {
        self.frames.instances().iter().try_for_each(|instance| self.flush_instance_until(instance, lsn))
    }

    fn flush_instance_until(&self, instance: &Instance, lsn: Lsn) -> Result<()> {
        loop {
            let (frames, writing) = {
                let lists = instance.flush_lists.lock();
                (lists.older_than(lsn, 1024), lists.writes_older_than(lsn))
            };
            if frames.is_empty() && !writing {
                return Ok(());
            }
            let written = self.write_out(frames, usize::MAX, Purpose::Age)?;
            count(&self.frames.counters.list_flushed, written as u64);
            if written == 0 && !self.batches.finish()? {
                // The pages are latched, or another thread is writing them.
                let mut lists = instance.flush_lists.lock();
                instance.write_event.wait_for(&mut lists, Duration::from_millis(1));
            }
        }
    }

    /// Does the work of [`crate::Pool::flush_space`].
    pub fn flush_space(&self, id: SpaceId) -> Result<()> {
        let end = self.frames.log.current_lsn() + 1;
        self.frames.instances().iter().try_for_each(|instance| self.flush_space_in(instance, id, end))
    }

    fn flush_space_in(&self, instance: &Instance, id: SpaceId, end: Lsn) -> Result<()> {
        let of_space =
            |&frame: &u32| self.frames.frame(frame).page_id.load(Ordering::Relaxed) >> 32 == id as u64;
        loop {
            let (dirty, writing) = {
                let lists = instance.flush_lists.lock();
                (lists.older_than(end, usize::MAX), lists.writes_older_than(end))
            };
            let dirty: Vec<u32> = dirty.into_iter().filter(of_space).collect();
            if dirty.is_empty() && !writing {
                return Ok(());
            }
            let mut written = 0;
            for chunk in dirty.chunks(1024) {
                written += self.write_out(chunk.to_vec(), usize::MAX, Purpose::Age)?;
            }
            count(&self.frames.counters.list_flushed, written as u64);
            if written == 0 && !self.batches.finish()? {
                let mut lists = instance.flush_lists.lock();
                instance.write_event.wait_for(&mut lists, Duration::from_millis(1));
            }
        }
    }

    /// Writes one dirty page from the end of the instance's LRU list, for a foreground thread that
    /// needs a frame. Returns false when no page could be written. Only one thread of an instance
    /// does this at a time: each goes through the doublewrite file and syncs, so several would only
    /// hold each other up.
    pub fn flush_single_page(&self, instance: &Instance) -> Result<bool> {
        if instance.single_page_flushing.swap(true, Ordering::Relaxed) {
            return Ok(false);
        }
        let outcome = self.flush_single_page_alone(instance);
        instance.single_page_flushing.store(false, Ordering::Relaxed);
        outcome
    }

    fn flush_single_page_alone(&self, instance: &Instance) -> Result<bool> {
        let _flushing = enter(State::SinglePageFlush);
        let victims = self.dirty_from_tail(instance, 64, instance.frames);
        let written = self.write_out(victims, 1, Purpose::Frames)?;
        count(&self.frames.counters.single_page_flushes, written as u64);
        Ok(written > 0)
    }

    /// Returns up to `wanted` dirty frames that nobody is writing, out of the `scan` coldest of the
    /// instance.
    fn dirty_from_tail(&self, instance: &Instance, wanted: usize, scan: usize) -> Vec<u32> {
        let writable = |&frame: &u32| {
            let frame = self.frames.frame(frame);
            frame.is_dirty() && !frame.writing.load(Ordering::Relaxed)
        };
        instance.lists.lock().coldest_first().take(scan).filter(writable).take(wanted).collect()
    }

    /// Writes up to `limit` of the instance's oldest dirty pages, and returns how many it wrote.
    pub fn flush_oldest(&self, instance: &Instance, limit: usize) -> Result<usize> {
        let _flushing = enter(State::ListFlush);
        let frames = instance.flush_lists.lock().older_than(Lsn::MAX, limit);
        let which = self.options.get().flush_neighbors;
        let (frames, limit) = with_neighbors(&self.frames, which, frames, limit);
        let written = self.write_out(frames, limit, Purpose::Age)?;
        count(&self.frames.counters.list_flushed, written as u64);
        Ok(written)
    }

    /// Writes dirty pages from the end of the instance's LRU list, so that they can be evicted.
    /// Returns how many it wrote.
    pub fn flush_lru(&self, instance: &Instance, limit: usize, scan: usize) -> Result<usize> {
        let victims = self.dirty_from_tail(instance, limit, scan);
        let which = self.options.get().flush_neighbors;
        let (victims, limit) = with_neighbors(&self.frames, which, victims, limit);
        let written = self.write_out(victims, limit, Purpose::Frames)?;
        count(&self.frames.counters.lru_flushed, written as u64);
        Ok(written)
    }

    /// Discards all pages of a space whose file has been removed.
    pub fn forget_pages(&self, id: SpaceId) {
        for number in 0..self.frames.count() as u32 {
            let frame = self.frames.frame(number);
            let packed = frame.page_id.load(Ordering::Relaxed);
            if packed == NO_PAGE || packed >> 32 != id as u64 {
                continue;
            }
            frame.latch.exclusive();
            while frame.holds(packed) && frame.writing.load(Ordering::Acquire) {
                frame.latch.release_exclusive();
                // A batch that could not write the page lets go of it when it is finished. Whether
                // another page of that batch can be written does not matter here.
                let _ = self.batches.finish();
                os::clock::sleep(Duration::from_millis(1));
                frame.latch.exclusive();
            }
            if !frame.holds(packed) {
                frame.latch.release_exclusive();
                continue;
            }
            self.frames.forget_changes(number);
            self.frames.discard(number);
        }
    }
}
