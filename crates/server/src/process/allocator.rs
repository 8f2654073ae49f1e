//! The allocator of the binary: mimalloc, called by the functions that do not ask for more than its
//! own alignment.
//!
//! The `mimalloc` crate's `GlobalAlloc` calls `mi_malloc_aligned` for every layout. That function
//! takes mimalloc's short way only where the size is a power of two; all other sizes get a block of
//! the next larger class, which its free list never serves. Two thirds of the instructions of
//! allocating in a point select were spent on this.

use libmimalloc_sys::{mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned};
use libmimalloc_sys::{mi_zalloc, mi_zalloc_aligned};
use std::alloc::{GlobalAlloc, Layout};

/// The alignment in bytes of every block of at least as many bytes (`MI_MAX_ALIGN_SIZE` of
/// mimalloc's types.h). Smaller blocks are aligned to [`WORD_BYTES`].
const BLOCK_ALIGN_BYTES: usize = 16;
/// The alignment in bytes of every block.
const WORD_BYTES: usize = 8;

/// Reports whether each block of the size has the alignment by itself.
#[inline]
fn is_aligned_by_itself(size_bytes: usize, align_bytes: usize) -> bool {
    align_bytes <= WORD_BYTES || (align_bytes <= BLOCK_ALIGN_BYTES && size_bytes >= BLOCK_ALIGN_BYTES)
}

/// The allocator. Memory that one thread allocates and another one frees, as the appliers' workers
/// do, takes no lock in it.
pub struct Allocator;

// SAFETY: mimalloc's functions return a block of at least the size that nobody else has, or null,
// and never unwind. The block has the layout's alignment: `mi_malloc` and its kin give it where
// `is_aligned_by_itself` holds, and the functions with `aligned` in their names everywhere. All of
// these blocks may be given to `mi_free` and to both functions of reallocation.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_aligned_by_itself(layout.size(), layout.align()) {
            // SAFETY: a size of any number of bytes may be asked for.
            true => unsafe { mi_malloc(layout.size()) }.cast(),
            // SAFETY: the alignment of a layout is a power of two.
            false => unsafe { mi_malloc_aligned(layout.size(), layout.align()) }.cast(),
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match is_aligned_by_itself(layout.size(), layout.align()) {
            // SAFETY: a size of any number of bytes may be asked for.
            true => unsafe { mi_zalloc(layout.size()) }.cast(),
            // SAFETY: the alignment of a layout is a power of two.
            false => unsafe { mi_zalloc_aligned(layout.size(), layout.align()) }.cast(),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, _layout: Layout) {
        // SAFETY: the caller got the block from this allocator, and does not use it again.
        unsafe { mi_free(ptr.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        match is_aligned_by_itself(new_size, layout.align()) {
            // SAFETY: the caller got the block from this allocator. The block that comes back is
            // aligned as a new one of this size.
            true => unsafe { mi_realloc(ptr.cast(), new_size) }.cast(),
            // SAFETY: as above, and the alignment of a layout is a power of two.
            false => unsafe { mi_realloc_aligned(ptr.cast(), new_size, layout.align()) }.cast(),
        }
    }
}

// SAFETY: the declaration is mimalloc.h's. The function may be called by any thread at any time,
// and touches nothing that is allocated.
unsafe extern "C" {
    safe fn mi_collect(force: bool);
}

/// Gives the memory that this thread has freed back to the system. Otherwise the allocator would
/// keep it until the thread allocates as much again, or ends.
pub fn give_back() {
    mi_collect(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocates blocks of every small size and alignment, more than a page of a class has, and
    /// checks the alignment of each of them, and again after it has grown and shrunk.
    #[test]
    fn every_block_has_the_alignment_of_its_layout() {
        let mut blocks = Vec::new();
        for align in [1, 2, 4, 8, 16, 32, 64, 4096] {
            for size in (1..=130).chain([160, 200, 1000, 1025, 2100, 4000, 70_000, 3_000_000]) {
                let layout = Layout::from_size_align(size, align).unwrap();
                for zeroed in [false, true] {
                    // SAFETY: the size is not 0.
                    let block = unsafe {
                        if zeroed { Allocator.alloc_zeroed(layout) } else { Allocator.alloc(layout) }
                    };
                    assert!(!block.is_null());
                    assert_eq!(block as usize % align, 0, "{layout:?}");
                    blocks.push((block, layout));
                }
            }
        }
        for (block, layout) in blocks {
            let other = if layout.size() % 2 == 0 { layout.size() * 2 + 3 } else { layout.size() / 2 + 1 };
            // SAFETY: the block has this layout, and the new size is not 0.
            let block = unsafe { Allocator.realloc(block, layout, other) };
            assert_eq!(block as usize % layout.align(), 0, "{layout:?} grown to {other}");
            // SAFETY: the block has the new size now, and is not used again.
            unsafe { Allocator.dealloc(block, Layout::from_size_align(other, layout.align()).unwrap()) };
        }
    }
}
