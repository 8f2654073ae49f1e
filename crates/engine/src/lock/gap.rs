//! Locks on gaps between keys, and the keys that running transactions are about to put into gaps.
//!
//! InnoDB attaches a gap lock to the record behind the gap, and an uncommitted row is a record
//! there. Here pages hold committed rows only, so both gaps and new keys are kept beside the pages,
//! for each table:
//!
//! - An **interval** is what a locking scan has passed: no other transaction may put a key of that
//!   index strictly between its ends. Intervals never conflict with each other. They do not follow
//!   the records at their ends: a row that goes away leaves the interval as it was, which is enough
//!   for the transaction that scanned it.
//! - An **announced key** is one that a transaction will put into an index when it commits. A scan
//!   that comes across an announced key waits for the row's record lock, as it would for the
//!   uncommitted record.
//!
//! **Meeting.** The inserter announces its key and *then* looks for intervals; the scan enters its
//! interval and *then* looks for announced keys. Both lists are read and written under mutexes, so
//! at least one of the two sees the other. When both do, the inserter takes its announcement back
//! before it waits.
//!
//! **Committed meanwhile.** A key whose transaction committed between the scan's copy of a leaf and
//! the scan's interval is on the page and no longer announced. `released` counts the transactions
//! with announced keys that have ended, and it is raised before their keys are forgotten. A scan
//! that finds the count changed reads the pages again.
//!
//! Lock order: `inserters`, then an inserter's keys; `gaps` beside them; a waiter's mutex below
//! all.

use super::mode::{LockType, OwnerId};
use super::wait::Waiter;
use crate::bytes::KeyBuf;
use crate::gathered::GatheredMap;
use btree::Direction;
use os::sync::Mutex;
use os::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use smallvec::SmallVec;
use std::ops::Bound;
use std::sync::Arc;

/// The place of an interval in its table's list.
pub(crate) type GapId = usize;

#[derive(Debug)]
struct Interval {
    owner: OwnerId,
    index_id: u32,
    /// The lower end, which is not in the interval. `None` means that the interval begins before
    /// the first key.
    low: Option<KeyBuf>,
    /// The upper end, which is not in the interval. `None` means that the interval ends after the
    /// last key.
    high: Option<KeyBuf>,
}

impl Interval {
    fn covers(&self, key: &[u8]) -> bool {
        self.low.as_deref().is_none_or(|low| low < key) && self.high.as_deref().is_none_or(|high| key < high)
    }

    fn contains(&self, low: Option<&[u8]>, high: Option<&[u8]>) -> bool {
        let below = self.low.as_deref().is_none_or(|own| low.is_some_and(|low| own <= low));
        let above = self.high.as_deref().is_none_or(|own| high.is_some_and(|high| own >= high));
        below && above
    }
}

struct GapWaiter {
    index_id: u32,
    key: KeyBuf,
    waiter: Arc<Waiter>,
}

#[derive(Default)]
struct Gaps {
    /// The intervals. Unused places are empty and listed in `free`.
    intervals: Vec<Option<Interval>>,
    free: Vec<GapId>,
    waiters: Vec<GapWaiter>,
}

impl Gaps {
    fn blockers<'g>(
        &'g self,
        owner: OwnerId,
        index_id: u32,
        key: &'g [u8],
    ) -> impl Iterator<Item = OwnerId> + 'g {
        let against =
            move |gap: &&Interval| gap.owner != owner && gap.index_id == index_id && gap.covers(key);
        self.intervals.iter().flatten().filter(against).map(|gap| gap.owner)
    }
}

#[derive(Clone, Copy)]
struct Announced {
    /// The number of keys that the owner had announced before this one.
    number: u64,
    /// The number of bytes of the key before the clustered key.
    secondary_len: u16,
}

/// The announced keys, by index id.
type Keys = SmallVec<[(u32, GatheredMap<Announced>); 1]>;

/// The announced keys of one owner at one table.
pub(super) struct Inserter {
    owner: OwnerId,
    keys: Mutex<Keys>,
}

impl Inserter {
    pub fn announce(&self, number: u64, index_id: u32, key: &[u8], secondary_len: usize) {
        assert!(secondary_len <= key.len(), "an index's columns are a part of its key");
        let mut keys = self.keys.lock();
        let at = keys.iter().position(|(id, _)| *id == index_id).unwrap_or_else(|| {
            keys.push((index_id, GatheredMap::default()));
            keys.len() - 1
        });
        // A key that is announced again keeps its old number, because savepoints go by the number.
        keys[at].1.add(key, Announced { number, secondary_len: secondary_len as u16 });
    }

    /// Takes back the keys that were announced with this number or a later one.
    pub fn withdraw(&self, from_number: u64) {
        for (_, keys) in self.keys.lock().iter_mut() {
            keys.keep_first(|announced| announced.number < from_number);
        }
    }

    fn find(
        &self,
        index_id: u32,
        range: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
    ) -> Option<(KeyBuf, usize)> {
        let mut keys = self.keys.lock();
        let (_, keys) = keys.iter_mut().find(|(id, _)| *id == index_id)?;
        let mut range = keys.ordered().range(range);
        let found = if direction == Direction::Forward { range.next() } else { range.next_back() };
        found.map(|(key, announced)| (key.clone(), usize::from(announced.secondary_len)))
    }
}

/// An interval that an owner has locked.
#[derive(Clone, Debug)]
pub(crate) struct HeldGap {
    pub id: GapId,
    pub owner: OwnerId,
    pub index_id: u32,
    pub low: Option<KeyBuf>,
    pub high: Option<KeyBuf>,
}

impl HeldGap {
    /// Reports whether the gap right before this key is in the interval: the key is inside the
    /// interval or is its upper end.
    pub fn reaches(&self, key: &[u8]) -> bool {
        self.low.as_deref().is_none_or(|low| low < key) && self.high.as_deref().is_none_or(|high| key <= high)
    }
}

/// The gap locks and announced keys of one table.
#[derive(Default)]
pub(crate) struct TableLocks {
    /// The number of intervals. Every insert looks at it, and usually it is 0.
    gap_count: AtomicUsize,
    gaps: Mutex<Gaps>,
    inserter_count: AtomicUsize,
    inserters: Mutex<Vec<Arc<Inserter>>>,
    /// The number of owners of announced keys that have ended; see the module's head.
    released: AtomicU64,
    /// The newest commit whose intervals were released. It is written before the intervals are
    /// removed, so that Acquire and Release are enough.
    released_seq: AtomicU64,
}

impl std::fmt::Debug for TableLocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableLocks").field("gaps", &self.gap_count).finish_non_exhaustive()
    }
}

impl TableLocks {
    pub(super) fn inserter(&self, owner: OwnerId) -> Arc<Inserter> {
        let inserter = Arc::new(Inserter { owner, keys: Mutex::default() });
        self.inserters.lock().push(inserter.clone());
        self.inserter_count.fetch_add(1, Ordering::SeqCst);
        inserter
    }

    /// Forgets the announced keys of an owner, whose rows are on the pages by now or never will be.
    pub(super) fn forget_inserter(&self, inserter: &Arc<Inserter>) {
        self.released.fetch_add(1, Ordering::SeqCst);
        let inserters = self.inserter_count.fetch_sub(1, Ordering::SeqCst);
        assert!(inserters > 0, "an owner of announced keys ends that was not counted");
        let mut inserters = self.inserters.lock();
        let at = inserters.iter().position(|other| Arc::ptr_eq(other, inserter));
        inserters.swap_remove(at.expect("an inserter is forgotten once"));
    }

    /// Returns how many owners of announced keys have ended so far.
    pub fn released(&self) -> u64 {
        self.released.load(Ordering::SeqCst)
    }

    /// Returns the newest commit that a transaction which found no interval in its way can depend
    /// on.
    pub(super) fn released_seq(&self) -> u64 {
        self.released_seq.load(Ordering::Acquire)
    }

    /// Returns the number of intervals that are held.
    pub fn gap_count(&self) -> usize {
        self.gap_count.load(Ordering::SeqCst)
    }

    /// Returns the first key in the range, in the scan's direction, that another owner has
    /// announced, with the length of the key's part before the clustered key.
    pub fn announced_by_others(
        &self,
        owner: OwnerId,
        index_id: u32,
        range: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
    ) -> Option<(KeyBuf, usize)> {
        if self.inserter_count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let inserters = self.inserters.lock();
        let others = inserters.iter().filter(|inserter| inserter.owner != owner);
        let found = others.filter_map(|inserter| inserter.find(index_id, range, direction));
        match direction {
            Direction::Forward => found.min(),
            Direction::Backward => found.max(),
        }
    }

    /// Enters an interval. Returns `None` when the owner has an interval that contains it.
    pub(super) fn add_gap(
        &self,
        owner: OwnerId,
        index_id: u32,
        low: Option<&[u8]>,
        high: Option<&[u8]>,
    ) -> Option<GapId> {
        let is_in_order = low.is_none_or(|low| high.is_none_or(|high| low <= high));
        assert!(is_in_order, "an interval of index {index_id} ends before it begins");
        let mut gaps = self.gaps.lock();
        let own = |gap: &&Interval| gap.owner == owner && gap.index_id == index_id;
        if gaps.intervals.iter().flatten().filter(own).any(|gap| gap.contains(low, high)) {
            return None;
        }
        let interval = Interval {
            owner,
            index_id,
            low: low.map(KeyBuf::from_slice),
            high: high.map(KeyBuf::from_slice),
        };
        self.gap_count.fetch_add(1, Ordering::SeqCst);
        Some(match gaps.free.pop() {
            Some(at) => {
                gaps.intervals[at] = Some(interval);
                at
            }
            None => {
                gaps.intervals.push(Some(interval));
                gaps.intervals.len() - 1
            }
        })
    }

    /// Moves one end of an interval outward: the upper end for a forward scan, the lower end for a
    /// backward scan.
    pub fn extend_gap(&self, gap: GapId, direction: Direction, to: Option<&[u8]>) {
        let mut gaps = self.gaps.lock();
        let interval = gaps.intervals[gap].as_mut().expect("an owner extends its own interval");
        let end = match direction {
            Direction::Forward => &mut interval.high,
            Direction::Backward => &mut interval.low,
        };
        match (end, to) {
            (Some(end), Some(to)) => {
                end.clear();
                end.extend_from_slice(to);
            }
            (end, to) => *end = to.map(KeyBuf::from_slice),
        }
    }

    /// Reports whether another owner's interval covers the key.
    pub fn is_covered(&self, owner: OwnerId, index_id: u32, key: &[u8]) -> bool {
        self.gaps.lock().blockers(owner, index_id, key).next().is_some()
    }

    /// Enters a wait until no other owner's interval covers the key. Returns `None` when none
    /// covers it now.
    pub(super) fn wait_for_key(&self, owner: OwnerId, index_id: u32, key: &[u8]) -> Option<Arc<Waiter>> {
        let mut gaps = self.gaps.lock();
        gaps.blockers(owner, index_id, key).next()?;
        let waiter = Arc::new(Waiter::new(owner, LockType::Exclusive, false));
        gaps.waiters.push(GapWaiter { index_id, key: key.into(), waiter: waiter.clone() });
        Some(waiter)
    }

    /// Removes a waiter. Returns false when its request has been granted already.
    pub(super) fn withdraw_waiter(&self, waiter: &Arc<Waiter>) -> bool {
        let mut gaps = self.gaps.lock();
        gaps.waiters.retain(|other| !Arc::ptr_eq(&other.waiter, waiter));
        !waiter.is_granted()
    }

    /// Appends the owners whose intervals cover a key that `owner` waits to insert.
    pub(super) fn blockers(&self, owner: OwnerId, index_id: u32, key: &[u8], out: &mut Vec<OwnerId>) {
        out.extend(self.gaps.lock().blockers(owner, index_id, key));
    }

    /// Returns all intervals of the table.
    pub fn held_gaps(&self) -> Vec<HeldGap> {
        let gaps = self.gaps.lock();
        let held =
            gaps.intervals.iter().enumerate().filter_map(|(id, interval)| Some((id, interval.as_ref()?)));
        held.map(|(id, interval)| HeldGap {
            id,
            owner: interval.owner,
            index_id: interval.index_id,
            low: interval.low.clone(),
            high: interval.high.clone(),
        })
        .collect()
    }

    /// Calls `visit` for every announced key, with its owner, its index, the key itself, and the
    /// length of the key's part before the clustered key.
    pub fn for_each_announced(&self, mut visit: impl FnMut(OwnerId, u32, &[u8], usize)) {
        // The list is copied, so that transactions can begin to insert meanwhile.
        let inserters = self.inserters.lock().clone();
        for inserter in inserters {
            for (index_id, keys) in inserter.keys.lock().iter_mut() {
                for (key, announced) in &*keys.ordered() {
                    visit(inserter.owner, *index_id, key, usize::from(announced.secondary_len));
                }
            }
        }
    }

    /// Removes an owner's intervals and grants the waits that no other interval is in the way of.
    /// `seq` is the number under which the owner has committed; 0 means that it has not.
    pub(super) fn release_gaps(&self, released: &[GapId], seq: u64) {
        if released.is_empty() {
            return;
        }
        self.released_seq.fetch_max(seq, Ordering::AcqRel);
        let mut guard = self.gaps.lock();
        let gaps = &mut *guard;
        for gap in released {
            let gone = gaps.intervals[*gap].take();
            assert!(gone.is_some(), "an interval is let go once");
            gaps.free.push(*gap);
        }
        let count = self.gap_count.fetch_sub(released.len(), Ordering::SeqCst);
        assert!(count >= released.len(), "{} intervals go of {count} that were counted", released.len());
        let mut at = 0;
        while at < gaps.waiters.len() {
            let GapWaiter { index_id, key, waiter } = &gaps.waiters[at];
            if gaps.blockers(waiter.owner, *index_id, key).next().is_some() {
                at += 1;
            } else {
                gaps.waiters.swap_remove(at).waiter.grant();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_keeps_others_out_and_lets_them_in_when_it_goes() {
        let locks = TableLocks::default();
        let gap = locks.add_gap(1, 7, Some(b"b"), Some(b"d")).unwrap();
        assert!(locks.is_covered(2, 7, b"c"));
        assert!(!locks.is_covered(1, 7, b"c"), "its own");
        assert!(!locks.is_covered(2, 8, b"c"), "another index");
        assert!(!locks.is_covered(2, 7, b"b") && !locks.is_covered(2, 7, b"d"), "the ends are outside");
        assert_eq!(locks.add_gap(1, 7, Some(b"bb"), Some(b"d")), None, "contained");
        locks.extend_gap(gap, Direction::Forward, None);
        assert!(locks.is_covered(2, 7, b"zzz"));
        let waiter = locks.wait_for_key(2, 7, b"zzz").unwrap();
        locks.release_gaps(&[gap], 30);
        assert_eq!(locks.released_seq(), 30);
        assert!(waiter.is_granted());
        assert!(!locks.is_covered(2, 7, b"c"));
        assert!(locks.wait_for_key(2, 7, b"c").is_none());
        assert_eq!(locks.gap_count(), 0);
    }

    #[test]
    fn announced_keys_are_found_in_the_scan_direction_and_withdrawn() {
        let locks = TableLocks::default();
        let inserter = locks.inserter(1);
        for (number, key) in [b"m", b"c", b"x"].into_iter().enumerate() {
            inserter.announce(number as u64, 3, key, 0);
        }
        let all = (Bound::Unbounded, Bound::Unbounded);
        let first = |direction| {
            let found = locks.announced_by_others(2, 3, all, direction);
            found.map(|(key, _)| key.to_vec())
        };
        assert_eq!(first(Direction::Forward), Some(b"c".to_vec()));
        assert_eq!(first(Direction::Backward), Some(b"x".to_vec()));
        assert!(locks.announced_by_others(1, 3, all, Direction::Forward).is_none(), "its own");
        assert!(locks.announced_by_others(2, 2, all, Direction::Forward).is_none(), "another index");
        let between = (Bound::Excluded(&b"c"[..]), Bound::Excluded(&b"m"[..]));
        assert!(locks.announced_by_others(2, 3, between, Direction::Forward).is_none());
        inserter.announce(3, 3, b"a", 0);
        inserter.withdraw(1);
        assert_eq!(first(Direction::Forward), Some(b"m".to_vec()));
        assert_eq!(first(Direction::Backward), Some(b"m".to_vec()));
        locks.forget_inserter(&inserter);
        assert_eq!((first(Direction::Forward), locks.released()), (None, 1));
    }
}
