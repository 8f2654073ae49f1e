//! Disks and files behind two traits, so that tests can use a disk that fails
//! ([`crate::sim::SimDisk`]).
//!
//! Every error names the path and what was tried. Offsets and lengths are in bytes. All methods may
//! be called from any thread.

mod buffered;
mod direct;
mod interface;
mod late_sync;
mod real;
mod temporary;
pub mod uses;

pub use direct::has_native_aio;
pub(crate) use interface::placed;
pub use interface::{Access, Disk, File, LockGuard, OpenMode};
pub use late_sync::LateSync;
pub use real::real;
pub use temporary::TempFile;
