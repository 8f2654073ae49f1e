//! Pages read before they are wanted: linear and random read-ahead, as InnoDB does them, and the
//! reading part of the warm-up.
//!
//! Whoever comes to the last (or first) page of 64 neighbours for the first time leaves a note; a
//! thread of its own looks whether most of the 64 were read in that order, and if so reads the 64
//! behind (or before) them. With random read-ahead (off by default) every page that is read in
//! leaves a note, and where enough of its 64 are here and were used, whatever their order, the
//! thread reads the rest of the 64. It takes spare frames only and stops when there are none.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use os::account::{State, enter};
use os::aligned::AlignedBuffer;
use parking_lot::Mutex;

use crate::bell::Bell;
use crate::error::Result;
use crate::instance::EXTENT_PAGES;
use crate::options::PoolOptions;
use crate::page::{PageId, PageNo, SpaceId};
use crate::pool::Pool;
use crate::space::Space;
use crate::status::count;
use crate::verify::verify;

thread_local! {
    /// What a run of pages is read into: memory that is new each time costs as much as the reading.
    static BYTES: Cell<Option<AlignedBuffer>> = const { Cell::new(None) };
}

/// Pages of 64 that were used before random read-ahead reads the others: InnoDB's
/// `BUF_READ_AHEAD_RANDOM_THRESHOLD`.
const RANDOM_THRESHOLD: usize = 5 + EXTENT_PAGES as usize / 8;

/// Notes that wait at most; more are dropped: what is read ahead too late is no help.
const NOTES: usize = 64;
/// How often the thread looks around unasked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Notes for the read-ahead thread.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    /// `PoolOptions::read_ahead_threshold`.
    threshold: AtomicU32,
    /// `PoolOptions::random_read_ahead`.
    random: AtomicBool,
    /// Leaf in the lock order.
    notes: Mutex<VecDeque<PageId>>,
    pub bell: Bell,
}

impl ReadAhead {
    pub fn new(options: &PoolOptions) -> ReadAhead {
        ReadAhead {
            threshold: AtomicU32::new(options.read_ahead_threshold),
            random: AtomicBool::new(options.random_read_ahead),
            notes: Mutex::new(VecDeque::new()),
            bell: Bell::default(),
        }
    }

    pub fn set_options(&self, options: &PoolOptions) {
        self.threshold.store(options.read_ahead_threshold, Ordering::Relaxed);
        self.random.store(options.random_read_ahead, Ordering::Relaxed);
    }
}

fn is_at_edge(id: PageId) -> bool {
    let place = id.no % EXTENT_PAGES;
    place == 0 || place == EXTENT_PAGES - 1
}

/// The read-ahead thread. It does not keep the pool while it waits, as the LRU flushers do not.
pub(crate) fn run(pool: &Weak<Pool>, ahead: &ReadAhead) {
    while ahead.bell.wait(PATIENCE) {
        let Some(pool) = pool.upgrade() else { return };
        loop {
            let note = ahead.notes.lock().pop_front();
            let Some(id) = note else { break };
            if let Err(error) = pool.read_beyond(id).and_then(|()| pool.read_around(id)) {
                log::warn!("read-ahead at page {} of tablespace {}: {error}", id.no, id.space);
            }
        }
    }
}

impl Pool {
    /// Leaves a note if the page, used for the first time, is the last or first of its 64, or if
    /// any page may be worth one.
    #[inline]
    pub(crate) fn consider_read_ahead(&self, id: PageId) {
        let ahead = &self.read_ahead;
        let linear = is_at_edge(id) && ahead.threshold.load(Ordering::Relaxed) != 0;
        if !linear && !ahead.random.load(Ordering::Relaxed) {
            return;
        }
        let mut notes = ahead.notes.lock();
        if notes.len() < NOTES {
            notes.push_back(id);
            drop(notes);
            ahead.bell.ring();
        }
    }

    /// Reads pages of one space that will be wanted soon, those that are not here, as far as there
    /// are spare frames. Returns how many were not.
    ///
    /// # Errors
    /// An I/O error; whoever wants the page meets it again.
    pub fn read_ahead_of(&self, space: SpaceId, mut pages: Vec<PageNo>) -> Result<usize> {
        let is_here = |no: &PageNo| {
            let packed = PageId::new(space, *no).packed();
            self.table.shard(packed).contains_key(&packed)
        };
        pages.retain(|no| !is_here(no));
        let missing = pages.len();
        // One alone is read by whom it is for.
        if missing > 1 {
            pages.sort_unstable();
            self.read_unasked(space, pages)?;
        }
        Ok(missing)
    }

    /// Reads the 64 pages that come next if those around `id` were used in order.
    fn read_beyond(&self, id: PageId) -> Result<()> {
        let threshold = self.read_ahead.threshold.load(Ordering::Relaxed) as usize;
        if threshold == 0 || !is_at_edge(id) {
            return Ok(());
        }
        let first = id.no - id.no % EXTENT_PAGES;
        let ascending = id.no != first;
        let ticks: Vec<u32> =
            (first..first + EXTENT_PAGES).filter_map(|no| self.used_at(id.space, no)).collect();
        let in_order = |pair: &&[u32]| if ascending { pair[0] <= pair[1] } else { pair[0] >= pair[1] };
        let ordered = 1 + ticks.windows(2).filter(in_order).count();
        if ticks.is_empty() || ordered < threshold {
            return Ok(());
        }
        let next = if ascending { first.checked_add(EXTENT_PAGES) } else { first.checked_sub(EXTENT_PAGES) };
        let Some(next) = next else { return Ok(()) };
        self.ordering.store(true, Ordering::Relaxed);
        self.read_unasked(id.space, (next..next.saturating_add(EXTENT_PAGES)).collect()).map(|_| ())
    }

    /// Reads the rest of the 64 pages around `id` if random read-ahead is on and enough of them
    /// were used.
    fn read_around(&self, id: PageId) -> Result<()> {
        if !self.read_ahead.random.load(Ordering::Relaxed) {
            return Ok(());
        }
        let first = id.no - id.no % EXTENT_PAGES;
        let extent = first..first.saturating_add(EXTENT_PAGES);
        if extent.clone().filter_map(|no| self.used_at(id.space, no)).count() < RANDOM_THRESHOLD {
            return Ok(());
        }
        self.ordering.store(true, Ordering::Relaxed);
        self.read_unasked_for(id.space, extent.collect(), &self.counters.read_ahead_random).map(|_| ())
    }

    /// When the page, if it is in the pool, was first used.
    fn used_at(&self, space: SpaceId, no: PageNo) -> Option<u32> {
        let packed = PageId::new(space, no).packed();
        let number = self.table.shard(packed).get(&packed).copied()?;
        let tick = self.frame(number).used_tick.load(Ordering::Relaxed);
        (tick != 0).then_some(tick)
    }

    /// Reads those of the pages (ascending) that are not here, as far as there are spare frames;
    /// returns how many were read, and whether frames sufficed.
    pub(crate) fn read_unasked(&self, space: SpaceId, pages: Vec<PageNo>) -> Result<(usize, bool)> {
        self.read_unasked_for(space, pages, &self.counters.read_ahead)
    }

    fn read_unasked_for(
        &self,
        space: SpaceId,
        pages: Vec<PageNo>,
        counter: &AtomicU64,
    ) -> Result<(usize, bool)> {
        let Ok(space) = self.space(space) else { return Ok((0, true)) };
        let _reading = enter(State::PageRead);
        let mut taken: Vec<(PageNo, u32)> = Vec::with_capacity(pages.len());
        let mut sufficed = true;
        for no in pages.into_iter().take_while(|&no| no < space.file_pages()) {
            let packed = PageId::new(space.id, no).packed();
            if self.table.shard(packed).contains_key(&packed) {
                continue;
            }
            let Some(number) = self.take_spare(self.instance_of_page(packed)) else {
                sufficed = false;
                break;
            };
            if self.enter(number, packed) {
                self.frame(number).used_tick.store(0, Ordering::Relaxed);
                taken.push((no, number));
            }
        }
        let mut read = 0;
        for run in taken.chunk_by(|before, after| before.0 + 1 == after.0) {
            read += self.read_run(&space, run)?;
        }
        count(counter, read as u64);
        Ok((read, sufficed))
    }

    /// Enters the page into the table with this frame, which is latched exclusively; false, and the
    /// frame is free again, when the page has one already.
    pub(crate) fn enter(&self, number: u32, packed: u64) -> bool {
        let frame = self.frame(number);
        let mut shard = self.table.shard(packed);
        if shard.contains_key(&packed) {
            drop(shard);
            frame.latch.release_exclusive();
            self.give_free(number);
            return false;
        }
        shard.insert(packed, number);
        frame.page_id.store(packed, Ordering::Relaxed);
        true
    }

    /// Fills the frames, latched exclusively, of neighbouring pages with one read, and lets go of
    /// them. Pages that do not verify (most were never written) are thrown away again: who really
    /// wants one gets the error.
    fn read_run(&self, space: &Space, run: &[(PageNo, u32)]) -> Result<usize> {
        let page_size = self.page_size();
        let wanted = run.len() * page_size;
        let kept = BYTES.take().filter(|kept| kept.len() >= wanted);
        let mut bytes = kept.unwrap_or_else(|| AlignedBuffer::zeroed(wanted));
        let outcome = space.read_raw(run[0].0, &mut bytes[..wanted]);
        let mut read = 0;
        for (&(no, number), content) in run.iter().zip(bytes.chunks_exact(page_size)) {
            let id = PageId::new(space.id, no);
            if outcome.is_err() || verify(content, id).is_err() {
                self.discard(number);
                continue;
            }
            // SAFETY: the frame's latch is held exclusively, by `read_unasked`.
            let page = unsafe { std::slice::from_raw_parts_mut(self.memory.page_ptr(number), page_size) };
            page.copy_from_slice(content);
            self.instance_of_frame(number).lists.lock().insert(&self.frames, number);
            self.table.set_hint(id.packed(), number);
            self.frame(number).latch.release_exclusive();
            read += 1;
        }
        BYTES.set(Some(bytes));
        outcome.map(|()| read)
    }
}
