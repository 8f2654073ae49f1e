//! Hints about memory, for those who keep much of it: wrong or refused hints cost speed, never
//! correctness. And an allocator for tests that watches how much is asked for at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, and the largest single piece that was asked of it. A decoder that
/// believes a length which it has read asks for far more than its input; a test makes this its
/// global allocator and looks.
#[derive(Debug, Default)]
pub struct WatchedAllocator {
    /// Relaxed: a figure of its own.
    largest_bytes: AtomicUsize,
}

impl WatchedAllocator {
    /// Nothing was asked for yet.
    pub const fn new() -> WatchedAllocator {
        WatchedAllocator { largest_bytes: AtomicUsize::new(0) }
    }

    /// The largest piece since the last call, in bytes.
    pub fn take_largest_bytes(&self) -> usize {
        self.largest_bytes.swap(0, Ordering::Relaxed)
    }

    fn note(&self, bytes: usize) {
        self.largest_bytes.fetch_max(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for WatchedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        self.note(new_size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(ptr, layout, new_size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// What the system lets a process have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Address space (`ulimit -v`); `u64::MAX` is no limit.
    pub address_space_bytes: u64,
    /// Private writable memory (`ulimit -d`); `u64::MAX` is no limit.
    pub data_bytes: u64,
    /// The machine's memory.
    pub physical_bytes: u64,
}

/// What the system lets this process have.
pub fn limits() -> Limits {
    let of = |resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a valid place for the answer.
        let got = unsafe { libc::getrlimit(resource, &raw mut limit) };
        // RLIM_INFINITY is the largest number.
        if got == 0 { limit.rlim_cur } else { u64::MAX }
    };
    // SAFETY: sysconf takes a number and returns one; -1 where it does not know.
    let ask = |name| u64::try_from(unsafe { libc::sysconf(name) }).unwrap_or(u64::MAX);
    Limits {
        address_space_bytes: of(libc::RLIMIT_AS),
        data_bytes: of(libc::RLIMIT_DATA),
        physical_bytes: ask(libc::_SC_PHYS_PAGES).saturating_mul(ask(libc::_SC_PAGESIZE)),
    }
}

/// What this process has of what [`Limits`] are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InUse {
    /// Address space, also where nothing is behind it.
    pub address_space_bytes: u64,
    /// Private writable memory, also where it has not been touched: the stacks of threads are that.
    pub data_bytes: u64,
}

/// What this process has now; nothing where the system does not tell.
pub fn in_use() -> InUse {
    /// Which of the numbers in the file they are.
    const ADDRESS_SPACE: usize = 0;
    const DATA: usize = 5;
    // SAFETY: sysconf takes a number and returns one; -1 where it does not know.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0);
    // Such a file says of itself that it is empty: it has to be read to its end.
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let bytes = |at: usize| {
        let pages = statm.split_whitespace().nth(at).and_then(|pages| pages.parse::<u64>().ok());
        pages.unwrap_or(0) * page_bytes
    };
    InUse { address_space_bytes: bytes(ADDRESS_SPACE), data_bytes: bytes(DATA) }
}

/// What the system would still give this process; `u64::MAX` where it has no limit of its own.
pub fn left_bytes() -> u64 {
    let limits = limits();
    if limits.address_space_bytes == u64::MAX && limits.data_bytes == u64::MAX {
        return u64::MAX;
    }
    let used = in_use();
    let address_space = limits.address_space_bytes.saturating_sub(used.address_space_bytes);
    address_space.min(limits.data_bytes.saturating_sub(used.data_bytes))
}

/// Asks for huge pages behind `bytes` bytes from `start`, so that one entry of the processor's
/// address cache covers 2 MB instead of 4 KB. The system may not have them; nothing tells.
pub fn prefer_huge_pages(start: *mut u8, bytes: usize) {
    // SAFETY: this advice changes neither content nor validity of any mapping, whatever the range.
    unsafe {
        libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
    }
}

/// Gives the memory of the whole pages among `bytes` bytes from `start` back to the system, which
/// has it again, as zeros, when it is touched next.
///
/// # Safety
/// The caller may write the bytes, and nobody needs what they are.
pub unsafe fn release(start: *mut u8, bytes: usize) {
    // SAFETY: asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    let before = start.align_offset(page);
    let whole = bytes.saturating_sub(before) / page * page;
    if whole > 0 {
        // SAFETY: whole pages of the caller's, in which any bytes will do. Refused advice changes
        // nothing.
        unsafe { libc::madvise(start.add(before).cast(), whole, libc::MADV_DONTNEED) };
    }
}

/// Starts loading the cache line at `address` and returns at once. Any address will do.
#[inline(always)]
pub fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch neither faults nor changes anything that a program can see.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_the_system_is_in_use() {
        const BYTES: usize = 64 << 20;
        let before = in_use();
        assert!(before.data_bytes > 0 && before.address_space_bytes > before.data_bytes, "{before:?}");
        let piece = std::hint::black_box(vec![1u8; BYTES]);
        // Other tests of this process give memory back meanwhile.
        assert!(in_use().data_bytes + (BYTES as u64) / 2 > before.data_bytes + BYTES as u64, "{before:?}");
        drop(piece);
    }
}
