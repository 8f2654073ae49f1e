//! The hybrid latch of a frame, which can be held shared, held exclusively, or used optimistically:
//! the reader reads, and then asks whether anything changed.
//!
//! The latch is one word: bits 0-15 count the shared holders, bit 16 is the exclusive holder, bit
//! 17 says that somebody is parked, bits 18-63 are a version that every exclusive release advances.
//! An optimistic reader notes the version, reads, and validates. It writes no shared memory, so
//! that the upper nodes of a tree stay in every core's cache.
//!
//! A thread that does not get the latch spins, yields, and then parks on one of a fixed set of
//! condition variables. Memory order: acquiring is an acquire operation on the word, releasing is a
//! release operation; optimistic validation is a load after an acquire fence, and the exclusive
//! side has a release fence between taking the bit and its first write (a seqlock).
//!
//! Lock order: latches of pages come before everything else in this crate except a space's
//! structure lock. Among pages the order is `btree`'s (from the root down), and page 0 of a space
//! comes after all of its index pages. The parking mutex is a leaf.

use os::sync::atomic::{AtomicU64, Ordering, fence};

use os::sync::{Condvar, Mutex};

const SHARED: u64 = 0xFFFF;
const EXCLUSIVE: u64 = 1 << 16;
const PARKED: u64 = 1 << 17;
const VERSION: u64 = 1 << 18;
const VERSION_BITS: u64 = !(VERSION - 1);

/// The number of attempts before a thread yields. Under the model checker every attempt is a choice
/// among schedules, and one attempt covers as much as sixty.
const SPINS: u32 = if cfg!(feature = "model") { 1 } else { 60 };
const YIELDS: u32 = if cfg!(feature = "model") { 1 } else { 4 };

struct Bucket {
    mutex: Mutex<()>,
    condvar: Condvar,
}

static BUCKETS: [Bucket; 64] = [const { Bucket { mutex: Mutex::new(()), condvar: Condvar::new() } }; 64];

/// A hybrid latch. See the module's head.
#[derive(Debug, Default)]
pub struct Latch {
    word: AtomicU64,
}

impl Latch {
    /// Makes a free latch.
    pub const fn new() -> Latch {
        Latch { word: AtomicU64::new(0) }
    }

    /// Takes the latch shared if that is possible at once. Returns whether it did.
    #[inline]
    pub fn try_shared(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & (EXCLUSIVE | PARKED) == 0 && self.shared_from(word)
    }

    #[inline]
    fn shared_from(&self, word: u64) -> bool {
        word & EXCLUSIVE == 0
            && word & SHARED < SHARED
            && self.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the latch exclusively if that is possible at once. Returns whether it did.
    #[inline]
    pub fn try_exclusive(&self) -> bool {
        self.exclusive_from(self.word.load(Ordering::Relaxed))
    }

    #[inline]
    fn exclusive_from(&self, word: u64) -> bool {
        let taken = word & (EXCLUSIVE | SHARED) == 0
            && self
                .word
                .compare_exchange(word, word | EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        if taken {
            fence(Ordering::Release);
        }
        taken
    }

    /// Takes the latch shared, waiting as long as needed.
    pub fn shared(&self) {
        // While new sharers spin they let parked threads go first, so that a stream of readers
        // cannot starve a writer for ever. A reader that has spun and yielded in vain takes the
        // latch as soon as nobody holds it exclusively.
        let polite = |word: u64| word & PARKED == 0 && self.shared_from(word);
        self.wait(polite, |word| self.shared_from(word), EXCLUSIVE);
    }

    /// Takes the latch exclusively, waiting as long as needed.
    pub fn exclusive(&self) {
        let take = |word: u64| self.exclusive_from(word);
        self.wait(take, take, EXCLUSIVE | SHARED);
    }

    /// Tries `first` for a while, then tries `then`, parking while any bit of `blocked_by` is set.
    fn wait(&self, first: impl Fn(u64) -> bool, then: impl Fn(u64) -> bool, blocked_by: u64) {
        for _ in 0..SPINS {
            if first(self.word.load(Ordering::Relaxed)) {
                return;
            }
            os::sync::spin_loop();
        }
        for _ in 0..YIELDS {
            os::thread::yield_now();
            if first(self.word.load(Ordering::Relaxed)) {
                return;
            }
        }
        let _waiting = os::account::enter(os::account::State::LatchWait);
        let bucket = self.bucket();
        let mut held = bucket.mutex.lock();
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & blocked_by == 0 {
                if then(word) {
                    return;
                }
                continue;
            }
            // The parked bit must be set while the latch is seen held. Then the holder's release
            // sees the bit, and its wake-up needs the mutex that the wait below gives up. So no
            // wake-up is lost.
            let parked = word | PARKED;
            if self.word.compare_exchange(word, parked, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                bucket.condvar.wait(&mut held);
            }
        }
    }

    fn bucket(&self) -> &'static Bucket {
        &BUCKETS[(std::ptr::from_ref(self).addr() / 64) % BUCKETS.len()]
    }

    /// Gives up a shared hold.
    #[inline]
    pub fn release_shared(&self) {
        let before = self.word.fetch_sub(1, Ordering::Release);
        debug_assert!(before & SHARED > 0, "released shared without a hold");
        if before & PARKED != 0 && before & SHARED == 1 {
            self.wake();
        }
    }

    /// Gives up the exclusive hold and advances the version.
    #[inline]
    pub fn release_exclusive(&self) {
        let before = self.word.fetch_add(VERSION - EXCLUSIVE, Ordering::Release);
        debug_assert!(before & EXCLUSIVE != 0, "released exclusive without a hold");
        if before & PARKED != 0 {
            self.wake();
        }
    }

    /// Turns the exclusive hold into a shared one, and advances the version.
    pub fn downgrade(&self) {
        let before = self.word.fetch_add(VERSION - EXCLUSIVE + 1, Ordering::Release);
        debug_assert!(before & EXCLUSIVE != 0, "downgraded without an exclusive hold");
        if before & PARKED != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let bucket = self.bucket();
        let _held = bucket.mutex.lock();
        self.word.fetch_and(!PARKED, Ordering::Relaxed);
        bucket.condvar.notify_all();
    }

    /// Returns the version for an optimistic read. `None` while somebody holds the latch
    /// exclusively.
    #[inline]
    pub fn version(&self) -> Option<u64> {
        let word = self.word.load(Ordering::Acquire);
        (word & EXCLUSIVE == 0).then_some(word & VERSION_BITS)
    }

    /// Reports whether nobody has held the latch exclusively since [`Latch::version`] returned
    /// `version`. If so, what was read in between is whole.
    #[inline]
    pub fn validate(&self, version: u64) -> bool {
        fence(Ordering::Acquire);
        self.word.load(Ordering::Relaxed) & (VERSION_BITS | EXCLUSIVE) == version
    }
}

#[cfg(all(test, feature = "model"))]
mod model;

#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;
    use std::sync::Arc;

    use super::*;

    struct Counted {
        latch: Latch,
        value: UnsafeCell<[u64; 2]>,
    }
    // SAFETY: `value` is only touched under `latch`.
    unsafe impl Sync for Counted {}

    #[test]
    fn exclusive_excludes_and_shared_sees_whole_values() {
        let counted = Arc::new(Counted { latch: Latch::new(), value: UnsafeCell::new([0; 2]) });
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let counted = Arc::clone(&counted);
                os::thread::spawn("latch_test", move || {
                    for _ in 0..20_000 {
                        if number % 2 == 0 {
                            counted.latch.exclusive();
                            // SAFETY: the latch is held exclusively.
                            let value = unsafe { &mut *counted.value.get() };
                            value[0] += 1;
                            value[1] += 1;
                            counted.latch.release_exclusive();
                        } else {
                            counted.latch.shared();
                            // SAFETY: the latch is held shared.
                            let value = unsafe { &*counted.value.get() };
                            assert_eq!(value[0], value[1]);
                            counted.latch.release_shared();
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("the thread's assertions hold");
        }
        // SAFETY: the threads have ended.
        assert_eq!(unsafe { *counted.value.get() }, [40_000; 2]);
    }

    #[test]
    fn a_version_dies_with_an_exclusive_hold() {
        let latch = Latch::new();
        let version = latch.version().expect("free");
        assert!(latch.try_shared() && latch.validate(version));
        assert!(!latch.try_exclusive());
        latch.release_shared();
        assert!(latch.try_exclusive() && latch.version().is_none());
        assert!(!latch.validate(version));
        latch.downgrade();
        let after = latch.version().expect("shared");
        assert!(after != version && latch.try_shared() && !latch.try_exclusive());
        assert!(latch.validate(after) && !latch.validate(version));
    }
}
