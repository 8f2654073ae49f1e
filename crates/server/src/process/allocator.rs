//! The memory that was freed and that the allocator keeps.

// The binary uses it as its allocator; here only its library is linked.
use mimalloc as _;

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
