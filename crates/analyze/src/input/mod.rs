//! The sources of events: files, or a server over the wire.

mod files;
mod live;

pub use files::{FileEvents, find};
pub use live::{Live, keys_of};
