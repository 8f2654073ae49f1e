//! Hints about memory, for those who keep much of it. Wrong or refused hints cost speed, never correctness.

/// Asks for huge pages behind `bytes` bytes from `start`, so that one entry of the processor's address cache covers 2 MB instead of 4 KB. The system
/// may not have them; nothing tells.
pub fn prefer_huge_pages(start: *mut u8, bytes: usize) {
    // SAFETY: this advice changes neither content nor validity of any mapping, whatever the range.
    unsafe {
        libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
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
