//! Memory for direct I/O.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The alignment of an [`AlignedBuffer`] in bytes: what direct I/O asks for on every common device.
pub const IO_ALIGNMENT: usize = 4096;

/// Zeroed memory that begins at a multiple of [`IO_ALIGNMENT`], for direct I/O.
pub struct AlignedBuffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is plain and owned by the value alone.
unsafe impl Send for AlignedBuffer {}
// SAFETY: shared access through `&self` is read-only.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Returns `len` zero bytes. The system provides the memory when it is first touched.
    ///
    /// # Panics
    /// Panics when `len` is 0.
    pub fn zeroed(len: usize) -> AlignedBuffer {
        assert!(len > 0, "an empty buffer has no place");
        let layout = Layout::from_size_align(len, IO_ALIGNMENT).expect("a length below isize::MAX");
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) });
        AlignedBuffer { start: start.unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the memory was allocated with this size and initialised with zeros; it lives as
        // long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory is valid as in `deref`, and `&mut self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated in `zeroed` with the same layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AlignedBuffer({} bytes)", self.layout.size())
    }
}
