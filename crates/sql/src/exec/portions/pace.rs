//! How many threads may read, and when one of them leaves the processor to others.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The threads of the process that read beside statements' own threads. Relaxed accesses are
/// enough: the number bounds them, and guards nothing else.
static READING: AtomicUsize = AtomicUsize::new(0);

/// The number of processors when the first query asked. To ask the system takes 2,800 instructions
/// and calls of it.
static PROCESSORS: LazyLock<usize> = LazyLock::new(os::thread::processors);

/// Returns how many threads a query may have that is allowed so many.
pub(super) fn most_threads(allowed: u64) -> usize {
    allowed.min(*PROCESSORS as u64) as usize
}

/// The right to start a number of threads. There are no more in the process than processors beside
/// the one that a statement has.
pub(super) struct Places(usize);

impl Places {
    /// Takes up to `wanted` places.
    pub fn take(wanted: usize) -> Places {
        let most = *PROCESSORS - 1;
        let mut taken = 0;
        let take = |reading: usize| {
            taken = wanted.min(most.saturating_sub(reading));
            Some(reading + taken)
        };
        let _ = READING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        Places(taken)
    }

    /// Returns the number of places that were taken.
    pub fn count(&self) -> usize {
        self.0
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let before = READING.fetch_sub(self.0, Ordering::Relaxed);
        assert!(before >= self.0, "places are given back once");
    }
}

/// How much of a processor a thread gets. One that gets less than most of one takes it from other
/// threads of the process, such as the applier, or from other processes.
pub(super) struct Pace {
    began_ns: u64,
    began_cpu_ns: u64,
    preemptions: u64,
}

impl Pace {
    /// Begins to look at the calling thread.
    pub fn begin() -> Pace {
        Pace {
            began_ns: os::clock::monotonic_ns(),
            began_cpu_ns: os::clock::thread_cpu_ns(),
            preemptions: os::thread::preemptions(),
        }
    }

    /// Reports whether the calling thread, which has begun the pace, has waited for a processor for
    /// a good part of its time. Time in which it has waited for pages alone does not count.
    pub fn has_waited(&self) -> bool {
        const LEAST_NS: u64 = 4_000_000;
        let all_ns = os::clock::monotonic_ns().saturating_sub(self.began_ns);
        let own_ns = os::clock::thread_cpu_ns().saturating_sub(self.began_cpu_ns);
        let waits = all_ns >= LEAST_NS && own_ns < all_ns / 4 * 3;
        waits && os::thread::preemptions() > self.preemptions
    }
}
