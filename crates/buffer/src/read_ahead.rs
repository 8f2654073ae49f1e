//! Pages read before they are wanted: linear and random read-ahead, as InnoDB does them, and the
//! part of the warm-up that reads.
//!
//! A thread that uses the last (or first) page of 64 neighbours for the first time leaves a note
//! (`notes`). The read-ahead thread checks whether most of the 64 were used in ascending (or
//! descending) order, and if so reads the 64 pages after (or before) them. With random read-ahead
//! (off by default) every page that is read in leaves a note, and where enough of its 64 neighbours
//! are in the pool and were used, in any order, the thread reads the rest of the 64. It takes spare
//! frames only, and stops when there are none.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use os::account::{State, enter};
use os::aligned::AlignedBuffer;

use crate::error::Result;
use crate::frames::Frames;
use crate::instance::EXTENT_PAGES;
use crate::notes::is_at_edge;
use crate::page::{PageId, PageNo, SpaceId};
use crate::space::Space;
use crate::spaces::Spaces;
use crate::status::count;
use crate::verify::verify;

thread_local! {
    /// The buffer that a run of pages is read into. Allocating a new one each time would cost as
    /// much as the reading.
    static BYTES: Cell<Option<AlignedBuffer>> = const { Cell::new(None) };
}

/// How many of 64 pages must have been used for random read-ahead to read the others: InnoDB's
/// `BUF_READ_AHEAD_RANDOM_THRESHOLD`.
const RANDOM_THRESHOLD: usize = 5 + EXTENT_PAGES as usize / 8;

/// The most pages that are read into frames at once. So many frames are latched until their pages
/// have come.
const PAGES_AT_ONCE: usize = 256;

/// How long the thread waits before it looks around unasked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads pages that nobody waits for. It has no state of its own.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    frames: Arc<Frames>,
    spaces: Arc<Spaces>,
}

impl ReadAhead {
    pub fn new(frames: Arc<Frames>, spaces: Arc<Spaces>) -> ReadAhead {
        ReadAhead { frames, spaces }
    }

    /// Runs the read-ahead thread until its bell is stopped.
    pub fn run(&self) {
        while self.frames.notes().bell.wait(PATIENCE) {
            while let Some(id) = self.frames.notes().take() {
                if let Err(error) = self.read_beyond(id).and_then(|()| self.read_around(id)) {
                    log::warn!("read-ahead at page {} of tablespace {}: {error}", id.no, id.space);
                }
            }
        }
    }

    /// Does the work of [`crate::Pool::read_ahead_of`].
    pub fn read_listed(&self, space: SpaceId, mut pages: Vec<PageNo>) -> Result<usize> {
        let is_here = |no: &PageNo| self.frames.holder_of(PageId::new(space, *no).packed()).is_some();
        pages.retain(|no| !is_here(no));
        let missing = pages.len();
        // A single missing page is read by the thread that wants it.
        if missing > 1 {
            pages.sort_unstable();
            self.read_unasked(space, pages)?;
        }
        Ok(missing)
    }

    /// Reads the next 64 pages if the 64 around `id` were used in order.
    fn read_beyond(&self, id: PageId) -> Result<()> {
        let threshold = self.frames.notes().threshold();
        if threshold == 0 || !is_at_edge(id) {
            return Ok(());
        }
        let first = id.no - id.no % EXTENT_PAGES;
        let ascending = id.no != first;
        let ticks: Vec<u32> = (first..first + EXTENT_PAGES)
            .filter_map(|no| self.frames.used_at(PageId::new(id.space, no)))
            .collect();
        let in_order = |pair: &&[u32]| if ascending { pair[0] <= pair[1] } else { pair[0] >= pair[1] };
        let ordered = 1 + ticks.windows(2).filter(in_order).count();
        if ticks.is_empty() || ordered < threshold {
            return Ok(());
        }
        let next = if ascending { first.checked_add(EXTENT_PAGES) } else { first.checked_sub(EXTENT_PAGES) };
        let Some(next) = next else { return Ok(()) };
        self.frames.order().begin();
        self.read_unasked(id.space, (next..next.saturating_add(EXTENT_PAGES)).collect()).map(|_| ())
    }

    /// Reads the rest of the 64 pages around `id`, if random read-ahead is on and enough of the 64
    /// were used.
    fn read_around(&self, id: PageId) -> Result<()> {
        if !self.frames.notes().is_random() {
            return Ok(());
        }
        let first = id.no - id.no % EXTENT_PAGES;
        let extent = first..first.saturating_add(EXTENT_PAGES);
        if extent.clone().filter_map(|no| self.frames.used_at(PageId::new(id.space, no))).count()
            < RANDOM_THRESHOLD
        {
            return Ok(());
        }
        self.frames.order().begin();
        self.read_unasked_for(id.space, extent.collect(), &self.frames.counters.read_ahead_random).map(|_| ())
    }

    /// Reads those of the pages (in ascending order) that are not in the pool, as far as there are
    /// spare frames. Returns how many were read, and whether there were enough frames.
    pub fn read_unasked(&self, space: SpaceId, pages: Vec<PageNo>) -> Result<(usize, bool)> {
        self.read_unasked_for(space, pages, &self.frames.counters.read_ahead)
    }

    fn read_unasked_for(
        &self,
        space: SpaceId,
        pages: Vec<PageNo>,
        counter: &AtomicU64,
    ) -> Result<(usize, bool)> {
        let Ok(space) = self.spaces.get(space) else { return Ok((0, true)) };
        let _reading = enter(State::PageRead);
        let mut taken: Vec<(PageNo, u32)> = Vec::with_capacity(pages.len());
        let mut sufficed = true;
        for no in pages.into_iter().take_while(|&no| no < space.file_pages()) {
            let packed = PageId::new(space.id, no).packed();
            if self.frames.holder_of(packed).is_some() {
                continue;
            }
            let Some(number) = self.frames.take_spare(self.frames.instance_of_page(packed)) else {
                sufficed = false;
                break;
            };
            if self.frames.enter(number, packed) {
                self.frames.frame(number).used_tick.store(0, Ordering::Relaxed);
                taken.push((no, number));
            }
        }
        let mut read = 0;
        for pages in taken.chunks(PAGES_AT_ONCE) {
            read += self.read_into_frames(&space, pages)?;
        }
        count(counter, read as u64);
        Ok((read, sufficed))
    }

    /// Fills the frames, latched exclusively, of these pages, and lets go of them. Neighbouring
    /// pages are read together, and many reads are in flight at the same time. Pages that do not
    /// verify (most of them were never written) are thrown away again: whoever really wants such a
    /// page gets the error.
    fn read_into_frames(&self, space: &Space, pages: &[(PageNo, u32)]) -> Result<usize> {
        let page_size = self.frames.page_size();
        let wanted = pages.len() * page_size;
        let kept = BYTES.take().filter(|kept| kept.len() >= wanted);
        let mut bytes = kept.unwrap_or_else(|| AlignedBuffer::zeroed(wanted));
        let runs: Vec<&[(PageNo, u32)]> = pages.chunk_by(|before, after| before.0 + 1 == after.0).collect();
        let (mut pieces, mut rest) = (Vec::with_capacity(runs.len()), &mut bytes[..wanted]);
        for run in &runs {
            let (piece, behind) = rest.split_at_mut(run.len() * page_size);
            pieces.push((run[0].0, piece));
            rest = behind;
        }
        let (mut read, mut come, mut failed) = (0, 0, None);
        space.read_raw_batch(pieces, &mut |number, outcome| {
            let content = outcome.unwrap_or_else(|error| {
                failed.get_or_insert(error);
                &[]
            });
            let mut contents = content.chunks_exact(page_size);
            for &(no, number) in runs[number] {
                let id = PageId::new(space.id, no);
                match contents.next().filter(|content| verify(content, id).is_ok()) {
                    Some(content) => {
                        self.bring_in(id, number, content);
                        read += 1;
                    }
                    None => self.frames.discard(number),
                }
            }
            come += 1;
        });
        assert_eq!(come, runs.len(), "every frame that was taken is filled or given back");
        BYTES.set(Some(bytes));
        failed.map_or(Ok(read), |error| Err(error.into()))
    }

    /// Puts a page's content into its frame, which is latched exclusively, and lets go of the
    /// frame.
    fn bring_in(&self, id: PageId, number: u32, content: &[u8]) {
        // SAFETY: `read_unasked_for` has latched the frame exclusively.
        let page = unsafe { std::slice::from_raw_parts_mut(self.frames.page_ptr(number), content.len()) };
        page.copy_from_slice(content);
        self.frames.list(number, false);
        self.frames.set_hint(id.packed(), number);
        self.frames.frame(number).latch.release_exclusive();
    }
}
