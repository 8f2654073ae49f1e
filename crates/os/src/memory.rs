//! Hints about memory, for code that keeps much of it, and an allocator for tests that watches how
//! much is asked for at once. Wrong or refused hints cost speed, never correctness.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which notes the largest single piece that was asked of it. A decoder
/// that believes a length which it has read asks for far more memory than its input is long. A test
/// makes this its global allocator to find such a decoder.
#[derive(Debug, Default)]
pub struct WatchedAllocator {
    /// The largest piece in bytes. Relaxed, since it stands for itself.
    largest_bytes: AtomicUsize,
}

impl WatchedAllocator {
    /// Makes an allocator that was not asked for anything yet.
    pub const fn new() -> WatchedAllocator {
        WatchedAllocator { largest_bytes: AtomicUsize::new(0) }
    }

    /// Returns the largest piece since the last call, in bytes.
    pub fn take_largest_bytes(&self) -> usize {
        self.largest_bytes.swap(0, Ordering::Relaxed)
    }

    fn note(&self, bytes: usize) {
        self.largest_bytes.fetch_max(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator.
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

/// The limits that the system sets for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The limit of address space in bytes (`ulimit -v`). `u64::MAX` means no limit.
    pub address_space_bytes: u64,
    /// The limit of private writable memory in bytes (`ulimit -d`). `u64::MAX` means no limit.
    pub data_bytes: u64,
    /// The machine's memory in bytes.
    pub physical_bytes: u64,
}

/// Returns the limits that the system sets for this process.
pub fn limits() -> Limits {
    let of = |resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a valid place for the answer.
        let got = unsafe { libc::getrlimit(resource, &raw mut limit) };
        // RLIM_INFINITY is the largest number.
        if got == 0 { limit.rlim_cur } else { u64::MAX }
    };
    // SAFETY: sysconf takes a number and returns one; -1 means that it does not know.
    let ask = |name| u64::try_from(unsafe { libc::sysconf(name) }).unwrap_or(u64::MAX);
    Limits {
        address_space_bytes: of(libc::RLIMIT_AS),
        data_bytes: of(libc::RLIMIT_DATA),
        physical_bytes: ask(libc::_SC_PHYS_PAGES).saturating_mul(ask(libc::_SC_PAGESIZE)),
    }
}

/// How much this process uses of what [`Limits`] limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InUse {
    /// The address space in bytes, including parts without memory behind them.
    pub address_space_bytes: u64,
    /// The private writable memory in bytes, including parts that have not been touched, such as
    /// the stacks of threads.
    pub data_bytes: u64,
}

/// Returns what this process uses now. The figures are 0 where the system does not tell.
pub fn in_use() -> InUse {
    /// The position of the address space among the numbers in the file. `DATA` is that of private
    /// writable memory.
    const ADDRESS_SPACE: usize = 0;
    const DATA: usize = 5;
    // SAFETY: sysconf takes a number and returns one; -1 means that it does not know.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0);
    // Such a file has the length 0 in its metadata, so it has to be read to its end.
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let bytes = |at: usize| {
        let pages = statm.split_whitespace().nth(at).and_then(|pages| pages.parse::<u64>().ok());
        pages.unwrap_or(0) * page_bytes
    };
    InUse { address_space_bytes: bytes(ADDRESS_SPACE), data_bytes: bytes(DATA) }
}

/// Returns how many bytes the system would still give this process. `u64::MAX` means that the
/// process has no limit of its own.
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
/// address cache covers 2 MB instead of 4 KB. The system may have none, and does not tell.
pub fn prefer_huge_pages(start: *mut u8, bytes: usize) {
    // SAFETY: this advice changes neither content nor validity of any mapping, whatever the range.
    unsafe {
        libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
    }
}

/// Gives the memory of the whole pages among `bytes` bytes from `start` back to the system. When
/// the pages are touched next, they are zeros.
///
/// # Safety
/// The caller may write the bytes, and nobody needs their content.
pub unsafe fn release(start: *mut u8, bytes: usize) {
    // SAFETY: the call asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    let before = start.align_offset(page);
    let whole = bytes.saturating_sub(before) / page * page;
    if whole > 0 {
        // SAFETY: these are whole pages of the caller's, which may hold any bytes. Refused advice
        // changes nothing.
        unsafe { libc::madvise(start.add(before).cast(), whole, libc::MADV_DONTNEED) };
    }
}

/// Starts loading the cache line at `address` and returns at once. Any address is allowed.
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
        // Other tests of this process give memory back in the meantime.
        assert!(in_use().data_bytes + (BYTES as u64) / 2 > before.data_bytes + BYTES as u64, "{before:?}");
        drop(piece);
    }
}
