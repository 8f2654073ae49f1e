//! The types by which threads share memory and wait, for those parts where a model checker tries
//! every order: the log, page latches, row locks, the order of commits. In an ordinary build these
//! are the types of the standard library and of `parking_lot`. With the feature `model`, in which
//! only the tests made for it run, they are those of `shuttle`, which decides at each use which
//! thread goes on.
//!
//! The model has sequential consistency only: what weaker orders allow is argued where they are
//! used, not tried.
//!
//! Time does not pass in a model. A wait with a limit of a second or more ends only by its
//! notification, so that a lost notification is found. A shorter wait may end at any time.

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
