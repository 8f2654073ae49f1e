//! What tests of whole servers need: instances on temporary directories and free ports, sysbench, checksums, and a
//! TCP proxy that cuts.
//!
//! Flows in: a flavor and settings of [`bench::instance`]. Flows out: servers under test, what clients saw, and
//! checksums to compare. Everything here panics with a sentence when it fails: a test has nobody to hand errors to.
//!
//! Invariants: a test that cannot run for want of a peer says so ([`available`]), and the summary of `make test`
//! repeats it; the binary under test is built from the sources beside it ([`binary::slipstream`]).

pub mod binary;
pub mod proxy;
mod skipped;

pub use skipped::{available, tool_available};
