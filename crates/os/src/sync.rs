//! What threads share memory and wait by, for the parts that a model checker tries every order of:
//! the log, page latches, row locks, the order of commits. In an ordinary build these are the
//! standard library's and `parking_lot`'s own types. With the feature `model`, in which only the
//! tests made for it run, they are `shuttle`'s, which decides at each use which thread goes on.
//!
//! The model knows sequential consistency only: what weaker orders allow is argued where they are
//! used, not tried.
//!
//! Time does not pass in a model. A wait with a limit of a second or more ends by its notification
//! alone, so that one that was lost is found; a shorter one may end at any time.

#[cfg(not(feature = "model"))]
mod real {
    pub use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
    pub use std::hint::spin_loop;
    pub use std::sync::atomic;
}

#[cfg(not(feature = "model"))]
pub use real::*;

#[cfg(feature = "model")]
mod model;

#[cfg(feature = "model")]
pub use model::*;
