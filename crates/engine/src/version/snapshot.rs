//! The open snapshots, and the protocol by which commits leave versions out when there are none.
//!
//! A commit that changes few rows while nobody reads would push versions only to have them dropped
//! at once. Such a commit may leave its versions out ("unversioned") under this protocol, whose
//! steps are sequentially consistent:
//!
//! - the committer adds itself to `unversioned`, *then* looks at `active`; if a snapshot is active,
//!   the committer takes itself off and pushes versions;
//! - a snapshot adds itself to `active`, *then* waits until `unversioned` is zero, and only then
//!   reads the visible sequence number;
//! - the committer is taken off `unversioned` only when the visible sequence number has passed its
//!   own.
//!
//! So either the committer saw the snapshot, or the snapshot saw the committer and reads at or past
//! its commit. Nobody starves: once a snapshot is active no further committer joins `unversioned`.
//!
//! A snapshot can be **evicted** to bound the memory of versions. From then on its slot says so and
//! no longer holds purge back. Versions and entries that only this snapshot needed are removed
//! *after* its slot was set. A reader that looks at its slot *after* it has read therefore either
//! reads what it may see or learns that it may not (MySQL 3170).

use crate::commit::sequencer::Sequencer;
use crate::error::{EngineError, Result};
use crate::version::view::View;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The value of a slot that no snapshot uses.
const FREE: u64 = u64::MAX;
/// The value of a slot whose snapshot may read no more.
const EVICTED: u64 = u64::MAX - 1;
const SLOTS: usize = 8192;

/// The number of times that an opening snapshot looks for unversioned commits before it sleeps
/// between looks.
const SPINS: u32 = 200;
const PAUSE: Duration = Duration::from_micros(20);

/// All open snapshots of an engine.
pub(crate) struct Snapshots {
    /// For each snapshot, the sequence number up to which it sees everything. [`FREE`] means
    /// unused, and 0 means that the snapshot is being opened (which holds purge back).
    slots: Box<[AtomicU64]>,
    /// Whether the snapshot in a slot must not be evicted. These are the engine's own snapshots,
    /// which are short.
    pinned: Box<[AtomicBool]>,
    /// The slots that can be taken. Those never used are at the bottom, so that scans of the slots
    /// stay short.
    free: Mutex<Vec<u32>>,
    /// The highest slot that was ever used, plus one.
    used_slots: AtomicUsize,
    active: AtomicUsize,
    unversioned: AtomicUsize,
    /// The number of snapshots evicted since the engine was opened.
    pub evictions: AtomicU64,
}

/// An open snapshot. [`Snapshots::close`] must close it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    slot: u32,
    pub view: View,
}

impl Snapshots {
    pub fn new() -> Snapshots {
        Snapshots {
            slots: (0..SLOTS).map(|_| AtomicU64::new(FREE)).collect(),
            pinned: (0..SLOTS).map(|_| AtomicBool::new(false)).collect(),
            free: Mutex::new((0..SLOTS as u32).rev().collect()),
            used_slots: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            unversioned: AtomicUsize::new(0),
            evictions: AtomicU64::new(0),
        }
    }

    /// Opens a snapshot of everything visible now.
    pub fn open(&self, sequencer: &Sequencer) -> Result<Snapshot> {
        let slot = self.free.lock().pop().ok_or(EngineError::TooManySnapshots)?;
        self.used_slots.fetch_max(slot as usize + 1, Ordering::SeqCst);
        self.active.fetch_add(1, Ordering::SeqCst);
        let mut looks = 0;
        while self.unversioned.load(Ordering::SeqCst) != 0 {
            looks += 1;
            if looks < SPINS {
                os::thread::yield_now();
            } else {
                os::clock::sleep(PAUSE);
            }
        }
        // The slot is 0 first, so that a purge that looks between the two stores is held back
        // rather than let through.
        let was = self.slots[slot as usize].swap(0, Ordering::SeqCst);
        assert_eq!(was, FREE, "a slot is one snapshot's at a time");
        let view = sequencer.view();
        assert!(view.complete_to() < EVICTED, "a snapshot of {} would read as none", view.seq);
        self.slots[slot as usize].store(view.complete_to(), Ordering::SeqCst);
        Ok(Snapshot { slot, view })
    }

    /// Opens another snapshot of the view of one that is open. `None` means that the other one was
    /// evicted.
    pub fn open_beside(&self, other: &Snapshot) -> Result<Option<Snapshot>> {
        let slot = self.free.lock().pop().ok_or(EngineError::TooManySnapshots)?;
        self.used_slots.fetch_max(slot as usize + 1, Ordering::SeqCst);
        self.active.fetch_add(1, Ordering::SeqCst);
        let was = self.slots[slot as usize].swap(other.view.complete_to(), Ordering::SeqCst);
        assert_eq!(was, FREE, "a slot is one snapshot's at a time");
        let snapshot = Snapshot { slot, view: other.view.clone() };
        // The other slot held purge back until here. From the swap on, the new one does too: a
        // purge that follows on an eviction of the other one reads the slots after this look.
        if self.slots[other.slot as usize].load(Ordering::SeqCst) == EVICTED {
            self.close(snapshot);
            return Ok(None);
        }
        Ok(Some(snapshot))
    }

    /// Keeps a snapshot from being evicted.
    pub fn pin(&self, snapshot: &Snapshot) {
        let at = self.slots[snapshot.slot as usize].load(Ordering::SeqCst);
        assert_ne!(at, FREE, "a snapshot that is pinned is open");
        self.pinned[snapshot.slot as usize].store(true, Ordering::SeqCst);
    }

    /// Reports whether the snapshot may read no more. A reader must ask after it has read.
    #[inline(always)]
    pub fn is_evicted(&self, snapshot: &Snapshot) -> bool {
        let at = self.slots[snapshot.slot as usize].load(Ordering::Acquire);
        assert_ne!(at, FREE, "a reader reads at a snapshot that is open");
        at == EVICTED
    }

    /// Evicts the oldest snapshot that reads before `below`. Returns false when no such snapshot
    /// may be evicted.
    pub fn evict_oldest(&self, below: u64) -> bool {
        let used = self.used_slots.load(Ordering::SeqCst);
        let reads_at = |at: &usize| self.slots[*at].load(Ordering::SeqCst);
        let may_go =
            |at: &usize| (1..below).contains(&reads_at(at)) && !self.pinned[*at].load(Ordering::SeqCst);
        let Some(oldest) = (0..used).filter(may_go).min_by_key(reads_at) else { return false };
        let seq = reads_at(&oldest);
        // The snapshot may have been closed meanwhile, which serves as well.
        if (1..below).contains(&seq)
            && self.slots[oldest].compare_exchange(seq, EVICTED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        {
            self.evictions.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    pub fn close(&self, snapshot: Snapshot) {
        self.pinned[snapshot.slot as usize].store(false, Ordering::SeqCst);
        let was = self.slots[snapshot.slot as usize].swap(FREE, Ordering::SeqCst);
        assert_ne!(was, FREE, "a snapshot is closed once");
        let active = self.active.fetch_sub(1, Ordering::SeqCst);
        assert!(active > 0, "a snapshot is closed that was not counted");
        self.free.lock().push(snapshot.slot);
    }

    /// Asks to commit without versions. True means granted: the caller must call
    /// [`Snapshots::leave_unversioned`] once the commit is visible. False means that the commit
    /// must push versions.
    pub fn enter_unversioned(&self) -> bool {
        self.unversioned.fetch_add(1, Ordering::SeqCst);
        if self.active.load(Ordering::SeqCst) == 0 {
            return true;
        }
        self.unversioned.fetch_sub(1, Ordering::SeqCst);
        false
    }

    pub fn leave_unversioned(&self, commits: usize) {
        if commits > 0 {
            let inside = self.unversioned.fetch_sub(commits, Ordering::SeqCst);
            assert!(inside >= commits, "{commits} commits leave of {inside} that came in");
        }
    }

    /// Returns the largest sequence number for which nobody, now or later, needs a version
    /// superseded at or before it.
    pub fn purge_limit(&self, sequencer: &Sequencer) -> u64 {
        // `visible` is loaded first: a snapshot that opens after this load reads at or past it.
        let visible = sequencer.visible();
        // The passed commits come next, because a new snapshot would leave them out. A commit that
        // is gone from their list is seen by every snapshot that opens from now on.
        let visible = visible.min(sequencer.oldest_passed().saturating_sub(1));
        let used = self.used_slots.load(Ordering::SeqCst);
        let oldest = self.slots[..used].iter().map(|slot| slot.load(Ordering::SeqCst)).min();
        oldest.map_or(visible, |oldest| oldest.min(visible))
    }

    /// Returns the number of open snapshots.
    pub fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }
}
