//! What the allocator keeps of memory that was freed.

// The binary allocates by it; here only its library is linked.
use mimalloc as _;

// SAFETY: the declaration is mimalloc.h's. The function may be called by any thread at any time,
// and touches nothing that is allocated.
unsafe extern "C" {
    safe fn mi_collect(force: bool);
}

/// Gives what this thread has freed back to the system. Left to itself the allocator keeps it until
/// the thread allocates as much again, or ends.
pub fn give_back() {
    mi_collect(true);
}
