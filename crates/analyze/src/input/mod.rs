//! Where events come from: files, or a source over the wire.

mod files;
mod live;

pub use files::{FileEvents, find};
pub use live::{Live, keys_of};
