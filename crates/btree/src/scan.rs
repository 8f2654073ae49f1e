//! Scans: a run of one leaf's entries at a time is copied, and no latch is held in between. The
//! first run is short, because many scans end after a few entries. Each further one is longer, up
//! to the whole leaf.
//!
//! A leaf's fences say where the next leaf begins, whatever happens to the tree meanwhile: keys
//! from the high fence on were not in this leaf, and a split or merge moves entries to other pages
//! but not past their keys. So an entry that exists throughout is seen exactly once.

use std::ops::Bound;
use std::sync::Arc;

use buffer::slotted;

use crate::descend::{Fences, Target, leaf_read};
use crate::error::Result;
use crate::root::Root;
use crate::spot::Spot;

/// The number of bytes of a page that are copied at once. For more, the C library uses a single
/// instruction, which takes time to begin and which counts of instructions take for one a byte.
const PIECE_BYTES: usize = 1 << 10;

/// The number of entries of the first run.
const FIRST_RUN: usize = 32;
/// The factor by which each run is longer than the one before.
const GROWTH: usize = 4;

/// The direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The scan goes in key order.
    Forward,
    /// The scan goes against the key order.
    Backward,
}

/// The place where the scan goes on.
#[derive(Debug)]
enum Next {
    /// The scan goes on at this bound, in its direction.
    From(Bound<Vec<u8>>),
    Done,
}

/// An entry in the scan's buffer: its key begins at byte `at`, and its value follows.
#[derive(Debug, Clone, Copy)]
struct Copied {
    at: u32,
    key_len: u16,
    value_len: u16,
}

impl Copied {
    /// Returns the entry's key and value in the scan's buffer.
    #[inline]
    fn parts<'b>(&self, buffer: &'b [u8]) -> (&'b [u8], &'b [u8]) {
        let (at, key_len) = (self.at as usize, self.key_len as usize);
        buffer[at..at + key_len + self.value_len as usize].split_at(key_len)
    }
}

/// The place of an entry among those that a scan has copied. The scan comes to it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    run: u64,
    at: usize,
}

impl Place {
    /// Returns the place this many entries further on in the same run.
    #[inline]
    pub fn plus(self, entries: usize) -> Place {
        Place { at: self.at + entries, ..self }
    }
}

/// A running scan; see [`crate::Tree::scan`].
#[derive(Debug)]
pub struct Scan {
    root: Arc<Root>,
    direction: Direction,
    /// The end of the scan: the upper bound of a forward scan, the lower bound of a backward scan.
    end: Bound<Vec<u8>>,
    next: Next,
    /// The memory of a bound that is no longer wanted.
    spare: Vec<u8>,
    buffer: Vec<u8>,
    entries: Vec<Copied>,
    /// The number of entries of the run that were given out already.
    given: usize,
    /// The most entries that the next run may have.
    run: usize,
    /// How many runs have been copied.
    runs: u64,
}

fn owned(bound: Bound<&[u8]>) -> Bound<Vec<u8>> {
    bound.map(<[u8]>::to_vec)
}

impl Scan {
    pub(crate) fn new(root: Arc<Root>, start: Bound<&[u8]>, end: Bound<&[u8]>, direction: Direction) -> Scan {
        let (first, end) = match direction {
            Direction::Forward => (owned(start), owned(end)),
            Direction::Backward => (owned(end), owned(start)),
        };
        let next = Next::From(first);
        Scan {
            root,
            direction,
            end,
            next,
            spare: Vec::new(),
            buffer: Vec::new(),
            entries: Vec::new(),
            given: 0,
            run: FIRST_RUN,
            runs: 0,
        }
    }

    /// Makes this forward scan one of the keys from `start` up to `end`, not included, in the
    /// memory that it has. `None` is the tree's end.
    pub fn begin_again(&mut self, start: &[u8], end: Option<&[u8]>) {
        assert_eq!(self.direction, Direction::Forward, "a scan backwards begins at its end");
        let mut from = std::mem::take(&mut self.spare);
        from.clear();
        from.extend_from_slice(start);
        self.next = Next::From(Bound::Included(from));
        match (end, &mut self.end) {
            (Some(end), Bound::Excluded(own)) => {
                own.clear();
                own.extend_from_slice(end);
            }
            (end, own) => *own = end.map_or(Bound::Unbounded, |end| Bound::Excluded(end.to_vec())),
        }
        self.buffer.clear();
        self.entries.clear();
        (self.given, self.run) = (0, FIRST_RUN);
        self.runs += 1;
    }

    /// Returns the next entry's key and value. `None` means that the scan is at its end.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    #[allow(
        clippy::should_implement_trait,
        reason = "it lends from the scan's buffer, which Iterator cannot"
    )]
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        while self.is_at_end_of_run() {
            let Next::From(from) = std::mem::replace(&mut self.next, Next::Done) else { return Ok(None) };
            self.buffer.clear();
            self.entries.clear();
            self.given = 0;
            self.runs += 1;
            match self.direction {
                Direction::Forward => self.copy_forward(&from)?,
                Direction::Backward => self.copy_backward(&from)?,
            }
            if let Bound::Included(key) | Bound::Excluded(key) = from {
                self.spare = key;
            }
            self.run = self.run.saturating_mul(GROWTH);
        }
        self.given += 1;
        Ok(self.current())
    }

    /// Returns the entry that was given out last, until [`Scan::next`] is called again.
    #[inline]
    pub fn current(&self) -> Option<(&[u8], &[u8])> {
        Some(self.entries.get(self.given.checked_sub(1)?)?.parts(&self.buffer))
    }

    /// Gives out the entry that comes next if it is copied already and `accepts` says so of its
    /// value. Returns the value.
    #[inline(always)]
    pub fn next_value_if(&mut self, accepts: impl FnOnce(&[u8]) -> bool) -> Option<&[u8]> {
        let (_, value) = self.entries.get(self.given)?.parts(&self.buffer);
        if !accepts(value) {
            return None;
        }
        self.given += 1;
        Some(value)
    }

    /// Returns the keys and values of the entries that were copied together with the one that was
    /// given out last, in the direction of the scan.
    pub fn run(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|entry| entry.parts(&self.buffer))
    }

    /// Returns the entries that are copied and come next, and the place of the first of them.
    pub fn ahead(&self) -> (Place, impl Iterator<Item = (&[u8], &[u8])>) {
        let entries = self.entries[self.given..].iter().map(|entry| entry.parts(&self.buffer));
        (self.place(), entries)
    }

    /// Returns the place of the entry that comes next, if it is copied already.
    #[inline]
    pub fn place(&self) -> Place {
        Place { run: self.runs, at: self.given }
    }

    /// Reports whether the next call of [`Scan::next`] reads pages, or finds nothing.
    #[inline]
    pub fn is_at_end_of_run(&self) -> bool {
        self.given == self.entries.len()
    }

    fn copy_forward(&mut self, from: &Bound<Vec<u8>>) -> Result<()> {
        let root = Arc::clone(&self.root);
        let target = match from {
            Bound::Included(key) | Bound::Excluded(key) => Target::Of(key),
            Bound::Unbounded => Target::First,
        };
        if let (Target::Of(key), Bound::Included(_) | Bound::Excluded(_)) = (&target, &self.end) {
            // Most ranges with an end are short and lie in one leaf, which is found without a latch
            // on the way to it. Its fences are not needed then.
            let spot = Spot::find(&root, key);
            if spot.leaf().is_some() {
                let leaf = spot.read(&root)?;
                let extent = Extent::of(&leaf, from, &self.end);
                if extent.ends_here || extent.len() > self.run {
                    self.copy_extent(&leaf, &extent);
                    return Ok(());
                }
            }
        }
        let mut fences = Fences::default();
        let leaf = leaf_read(&root, target, Some(&mut fences))?;
        let extent = Extent::of(&leaf, from, &self.end);
        let is_whole = self.copy_extent(&leaf, &extent);
        if let Some(high) = fences.high
            && is_whole
            && !extent.ends_here
            && !is_past(&self.end, &high)
        {
            self.next = Next::From(Bound::Included(high));
        }
        Ok(())
    }

    /// Copies the entries, as many of them as the run may have. Returns whether these are all. If
    /// not, the scan goes on behind them.
    fn copy_extent(&mut self, leaf: &[u8], extent: &Extent) -> bool {
        let (start, is_whole) = (extent.start, extent.len() <= self.run);
        let stop = if is_whole { extent.stop } else { start + self.run };
        copy_entries(&mut self.buffer, &mut self.entries, leaf, start..stop);
        if !is_whole {
            self.next = Next::From(Bound::Excluded(slotted::key(leaf, stop - 1).to_vec()));
        }
        is_whole
    }

    fn copy_backward(&mut self, from: &Bound<Vec<u8>>) -> Result<()> {
        let target = match from {
            Bound::Included(key) => Target::Of(key),
            Bound::Excluded(key) => Target::Below(key),
            Bound::Unbounded => Target::Last,
        };
        let mut fences = Fences::default();
        let leaf = leaf_read(&self.root, target, Some(&mut fences))?;
        let stop = match from {
            Bound::Unbounded => slotted::count(&leaf),
            Bound::Included(key) => slotted::search(&leaf, key).map_or_else(|index| index, |index| index + 1),
            Bound::Excluded(key) => slotted::search(&leaf, key).unwrap_or_else(|index| index),
        };
        let start = first_at_or_after(&leaf, &self.end);
        if stop.saturating_sub(start) > self.run {
            copy_entries(&mut self.buffer, &mut self.entries, &leaf, (stop - self.run..stop).rev());
            self.next = Next::From(Bound::Excluded(slotted::key(&leaf, stop - self.run).to_vec()));
            return Ok(());
        }
        copy_entries(&mut self.buffer, &mut self.entries, &leaf, (start..stop).rev());
        let goes_on = |low: &Vec<u8>| match &self.end {
            Bound::Unbounded => true,
            Bound::Included(end) | Bound::Excluded(end) => end < low,
        };
        if start == 0
            && let Some(low) = fences.low.filter(goes_on)
        {
            self.next = Next::From(Bound::Excluded(low));
        }
        Ok(())
    }
}

/// The entries of a leaf that a forward scan wants.
struct Extent {
    start: usize,
    stop: usize,
    /// Whether the scan ends on this leaf.
    ends_here: bool,
}

impl Extent {
    fn of(leaf: &[u8], from: &Bound<Vec<u8>>, end: &Bound<Vec<u8>>) -> Extent {
        let start = first_at_or_after(leaf, from);
        let (stop, ends_here) = match end {
            Bound::Unbounded => (slotted::count(leaf), false),
            Bound::Included(key) => match slotted::search(leaf, key) {
                Ok(index) => (index + 1, true),
                Err(index) => (index, index < slotted::count(leaf)),
            },
            Bound::Excluded(key) => match slotted::search(leaf, key) {
                Ok(index) => (index, true),
                Err(index) => (index, index < slotted::count(leaf)),
            },
        };
        Extent { start, stop, ends_here }
    }

    fn len(&self) -> usize {
        self.stop.saturating_sub(self.start)
    }
}

fn first_at_or_after(leaf: &[u8], bound: &Bound<Vec<u8>>) -> usize {
    match bound {
        Bound::Unbounded => 0,
        Bound::Included(key) => slotted::search(leaf, key).unwrap_or_else(|index| index),
        Bound::Excluded(key) => slotted::search(leaf, key).map_or_else(|index| index, |index| index + 1),
    }
}

/// Reports whether every key from `from` on is past the end of a forward scan.
fn is_past(end: &Bound<Vec<u8>>, from: &[u8]) -> bool {
    match end {
        Bound::Unbounded => false,
        Bound::Included(end) => from > &end[..],
        Bound::Excluded(end) => from >= &end[..],
    }
}

fn copy_entries(
    buffer: &mut Vec<u8>,
    entries: &mut Vec<Copied>,
    leaf: &[u8],
    indexes: impl ExactSizeIterator<Item = usize>,
) {
    entries.reserve(indexes.len());
    let mut left = indexes.len();
    if left > 1 && left * 2 >= slotted::count(leaf) {
        // The whole page is copied faster than most of its entries are, one by one.
        let page_at = buffer.len();
        buffer.reserve(leaf.len());
        leaf.chunks(PIECE_BYTES).for_each(|piece| buffer.extend_from_slice(piece));
        for index in indexes {
            let (at, key_len, value_len) = slotted::entry_at(leaf, index);
            entries.push(Copied {
                at: (page_at + at) as u32,
                key_len: key_len as u16,
                value_len: value_len as u16,
            });
        }
        return;
    }
    for index in indexes {
        let (entry, key_len) = slotted::entry(leaf, index);
        if buffer.capacity() - buffer.len() < entry.len() {
            // Entries of one tree mostly have the same length.
            buffer.reserve(left * entry.len());
        }
        left -= 1;
        let value_len = entry.len() - key_len;
        entries.push(Copied {
            at: buffer.len() as u32,
            key_len: key_len as u16,
            value_len: value_len as u16,
        });
        buffer.extend_from_slice(entry);
    }
}
