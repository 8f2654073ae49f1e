//! Batches of page writes: how the copies of pages get into the doublewrite file, to their places
//! in the tablespaces, and synced.
//!
//! A batch keeps its area of the doublewrite file from the first copy until the tablespaces are
//! synced. Once the batch's pages are in their places, only the checkpoint waits for that sync. So
//! the batch joins the others that are *unfinished*, and one sync of each tablespace finishes all
//! of them ([`Batches::finish`]). That happens when the areas have run out, in every round of the
//! page cleaners, and when a checkpoint waits for it.
//!
//! A batch whose pages could not all be written in place is unfinished, too. One of those pages may
//! be torn, and the only whole version of it that survives a power cut is the copy in the area. So
//! the page counts as being written, in memory and for the checkpoint, and whoever finishes the
//! batch writes it again.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use os::account::{State, enter};
use os::disk::Disk;
use parking_lot::Mutex;
use redo::Lsn;

use crate::doublewrite::{BatchArea, WriteArea, WriteAreas};
use crate::error::Result;
use crate::flush_list::WriteTicket;
use crate::frames::Frames;
use crate::options::Doublewrite;
use crate::page::{PageId, SpaceId};
use crate::space::{Space, sync_or_stop};
use crate::spaces::Spaces;
use crate::status::count;

/// The number of runs of neighbouring pages that are written in place with one call. After each
/// call the frames of those pages can be freed, while the rest of the batch is still to be written.
const RUNS_AT_ONCE: usize = 32;

/// The reason why a batch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The pages' changes are old and keep the log from being cut. The pages stay in the pool.
    Age,
    /// Frames are needed. The pages leave the pool once they are written, as long as frames are
    /// short.
    Frames,
}

/// A page whose content has been copied for writing.
#[derive(Debug)]
pub(crate) struct Captured {
    pub frame: u32,
    pub ticket: WriteTicket,
    pub id: PageId,
    pub space: Arc<Space>,
}

/// Pages that are on the way to their places, or are there and not synced yet.
#[derive(Debug)]
struct Batch {
    area: WriteArea,
    pages: Vec<Captured>,
    /// The number of pages that are in their places. They are the first ones of `pages`.
    written: usize,
    /// Whether each page goes to its place by a write that the storage promises not to tear.
    untorn: bool,
}

impl Batch {
    /// Returns each tablespace of the batch once. The pages are sorted by place, so those of one
    /// tablespace follow each other.
    fn spaces(&self) -> impl Iterator<Item = &Arc<Space>> {
        self.pages.chunk_by(|one, other| one.id.space == other.id.space).map(|pages| &pages[0].space)
    }
}

/// Writes batches to their places, and keeps the unfinished ones.
#[derive(Debug)]
pub(crate) struct Batches {
    frames: Arc<Frames>,
    spaces: Arc<Spaces>,
    disk: Arc<dyn Disk>,
    areas: WriteAreas,
    /// Whether page writes are followed by a sync.
    syncs: bool,
    /// The batches that are not finished. The mutex is a leaf in the lock order.
    unfinished: Mutex<Vec<Batch>>,
}

impl Batches {
    pub fn new(
        frames: Arc<Frames>,
        spaces: Arc<Spaces>,
        disk: Arc<dyn Disk>,
        areas: WriteAreas,
        syncs: bool,
    ) -> Batches {
        Batches { frames, spaces, disk, areas, syncs, unfinished: Mutex::new(Vec::new()) }
    }

    /// Returns an empty area for one batch. When no area is idle, unfinished batches are finished
    /// and give theirs back.
    pub fn take_area(&self) -> Result<BatchArea<'_>> {
        loop {
            if let Some(place) = self.areas.take() {
                return Ok(place);
            }
            if !self.finish()? {
                self.areas.wait_for_idle();
            }
        }
    }

    /// Changes how pages are protected against being torn, once the batches under way are written.
    ///
    /// # Errors
    /// Returns an I/O error of the doublewrite file. The strategy then stays as it was.
    pub fn set_strategy(&self, kind: Doublewrite) -> Result<()> {
        self.areas.set_strategy(&*self.disk, kind, || self.finish_unfinished().map(|_| ()))
    }

    /// Writes copied pages to their places. After an error they are dirty as before, or part of an
    /// unfinished batch.
    pub fn write(
        &self,
        mut place: BatchArea<'_>,
        pages: Vec<Captured>,
        newest: Lsn,
        purpose: Purpose,
    ) -> Result<()> {
        if let Err(error) = self.save_batch(&mut place, &pages, newest) {
            self.take_back(&pages);
            return Err(error);
        }
        let page_size = self.frames.page_size();
        let untorn =
            place.relies_on_storage() && pages.iter().all(|page| page.space.writes_untorn(page_size));
        let mut batch = Batch { area: place.detach(), pages, written: 0, untorn };
        let outcome = self.write_in_place(&mut batch, purpose);
        self.unfinished.lock().push(batch);
        outcome?;
        if place.finishes_at_once() {
            self.finish_unfinished()?;
        }
        Ok(())
    }

    /// Does what must come before any page is written in its place: makes the log durable up to
    /// `newest`, and saves the copies in the doublewrite file.
    fn save_batch(&self, place: &mut BatchArea<'_>, pages: &[Captured], newest: Lsn) -> Result<()> {
        self.frames.log.wait_durable(newest)?;
        place.area().seal_all();
        let mut paths: Vec<(SpaceId, _)> = Vec::new();
        for page in pages {
            if paths.last().is_none_or(|&(id, _)| id != page.id.space) {
                paths.push((page.id.space, page.space.path.read()));
            }
        }
        let page_size = self.frames.page_size();
        if place.doublewrites(pages.iter().all(|page| page.space.writes_untorn(page_size))) {
            let path_of = |id: SpaceId| -> &Path {
                let at = paths.iter().position(|&(space, _)| space == id);
                &paths[at.expect("every space of the batch is here")].1
            };
            let places: Vec<(PageId, &Path)> =
                pages.iter().map(|page| (page.id, path_of(page.id.space))).collect();
            self.areas.save(&*self.disk, place, &places)?;
            count(&self.frames.counters.dblwr_writes, 1);
            count(&self.frames.counters.dblwr_pages_written, pages.len() as u64);
        }
        // The paths' locks are still held here: from now on a rename, which would leave the area
        // with a stale name, waits until the batch is finished.
        for of_space in pages.chunk_by(|one, other| one.id.space == other.id.space) {
            of_space[0].space.unsynced.fetch_add(1, Ordering::AcqRel);
        }
        Ok(())
    }

    /// Makes the batch's pages dirty as they were before. None of them has been written in its
    /// place.
    fn take_back(&self, pages: &[Captured]) {
        for page in pages {
            let frame = self.frames.frame(page.frame);
            let instance = self.frames.instance_of_frame(page.frame);
            let mut lists = instance.flush_lists.lock();
            lists.end_write(page.ticket);
            let (oldest, now) = (page.ticket.0, frame.oldest());
            if now == 0 || oldest < now {
                lists.add(page.frame, now, oldest);
                frame.oldest_lsn.store(oldest, Ordering::Relaxed);
            }
            frame.writing.store(false, Ordering::Release);
            instance.write_event.notify_all();
        }
    }

    /// Notes that these pages of a batch are in their places, and returns how many they are. They
    /// may now be evicted, or be written again by another batch, whose copies are then the newer
    /// ones.
    fn note_written(&self, pages: &[Captured], purpose: Purpose) -> usize {
        for page in pages {
            self.frames.frame(page.frame).writing.store(false, Ordering::Release);
        }
        if purpose == Purpose::Frames {
            self.free_written(pages);
        }
        pages.len()
    }

    /// Evicts pages that are in their places, as long as frames are short. A page that was used
    /// since it was chosen stays.
    fn free_written(&self, pages: &[Captured]) {
        for page in pages {
            let instance = self.frames.instance_of_frame(page.frame);
            if self.frames.frame(page.frame).young.load(Ordering::Relaxed)
                || instance.lists.lock().free_len() >= self.frames.free_target(instance)
            {
                continue;
            }
            if self.frames.evict_frame(page.frame) {
                count(&self.frames.counters.pages_evicted, 1);
            }
        }
    }

    fn write_in_place(&self, batch: &mut Batch, purpose: Purpose) -> Result<()> {
        if batch.untorn {
            return self.write_one_by_one(batch, purpose);
        }
        let _writing = enter(State::PageWrite);
        let Batch { area, pages, written, .. } = batch;
        let pages: &[Captured] = pages;
        let space_of = |run: &Range<usize>| &pages[run.start].space;
        for of_space in runs_of(pages).chunk_by(|one, other| space_of(one).id == space_of(other).id) {
            let space = space_of(&of_space[0]);
            for together in of_space.chunks(RUNS_AT_ONCE) {
                let piece =
                    |run: &Range<usize>| (space.offset_of(pages[run.start].id.no), area.pages(run.clone()));
                let pieces: Vec<(u64, &[u8])> = together.iter().map(piece).collect();
                space.file.write_batch(&pieces)?;
                let end = together[together.len() - 1].end;
                *written += self.note_written(&pages[*written..end], purpose);
            }
        }
        Ok(())
    }

    /// Writes, one at a time, the pages that are not in their places yet. This is needed where the
    /// storage promises only for single pages not to tear them, and for pages whose write failed
    /// before. Pages of a tablespace that has been dropped have no place any more and are passed
    /// over.
    fn write_one_by_one(&self, batch: &mut Batch, purpose: Purpose) -> Result<()> {
        let Batch { area, pages, written, untorn } = batch;
        while *written < pages.len() {
            let _writing = enter(State::PageWrite);
            let page = &pages[*written];
            if self.spaces.has(page.id.space) {
                let (offset, bytes) = (page.space.offset_of(page.id.no), area.pages(*written..*written + 1));
                match untorn {
                    true => page.space.file.write_untorn_at(bytes, offset)?,
                    false => page.space.file.write_all_at(bytes, offset)?,
                }
            }
            *written += self.note_written(&pages[*written..=*written], purpose);
        }
        Ok(())
    }

    /// Finishes the batches that are unfinished now. Returns false when there are none.
    ///
    /// # Errors
    /// Returns an error when a page still cannot be written in its place. Its batch stays
    /// unfinished.
    pub fn finish(&self) -> Result<bool> {
        let _strategy = self.areas.hold_strategy();
        self.finish_unfinished()
    }

    /// Does the same as [`Batches::finish`], for a thread that holds the strategy already.
    fn finish_unfinished(&self) -> Result<bool> {
        let batches = std::mem::take(&mut *self.unfinished.lock());
        if batches.is_empty() {
            return Ok(false);
        }
        let mut outcome = Ok(());
        let mut in_place = Vec::new();
        for mut batch in batches {
            match self.write_one_by_one(&mut batch, Purpose::Age) {
                Ok(()) => in_place.push(batch),
                Err(error) => {
                    outcome = Err(error);
                    self.unfinished.lock().push(batch);
                }
            }
        }
        if let Err(error) = self.sync_spaces(&in_place) {
            // The failed sync has stopped everything: from now on nothing may pass for durable.
            self.unfinished.lock().append(&mut in_place);
            return Err(error);
        }
        for batch in in_place {
            self.end_batch(batch);
        }
        outcome.map(|()| true)
    }

    /// Syncs each tablespace of these batches once.
    fn sync_spaces(&self, batches: &[Batch]) -> Result<()> {
        if !self.syncs {
            return Ok(());
        }
        let mut spaces: Vec<&Arc<Space>> = batches.iter().flat_map(Batch::spaces).collect();
        spaces.sort_unstable_by_key(|space| space.id);
        spaces.dedup_by_key(|space| space.id);
        spaces.into_iter().try_for_each(|space| sync_or_stop(&*self.disk, &*space.file))
    }

    /// Ends a batch whose pages are durable in their places.
    fn end_batch(&self, batch: Batch) {
        for space in batch.spaces() {
            let before = space.unsynced.fetch_sub(1, Ordering::AcqRel);
            assert!(before > 0, "a space that is synced for a batch was written by it");
        }
        // The area goes back before the tickets end, since a thread that waits for the tickets may
        // want the area.
        self.areas.give_back(batch.area);
        for page in &batch.pages {
            let instance = self.frames.instance_of_frame(page.frame);
            instance.flush_lists.lock().end_write(page.ticket);
            instance.write_event.notify_all();
        }
    }
}

/// Returns the runs of pages that are neighbours in one file, as ranges of indexes.
fn runs_of(pages: &[Captured]) -> Vec<Range<usize>> {
    let follows = |before: &Captured, page: &Captured| {
        before.id.space == page.id.space && before.id.no + 1 == page.id.no
    };
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if follows(&pages[run.end - 1], page) => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}
