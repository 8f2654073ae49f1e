//! B+trees on pages: lookup, change, scan, structure changes, sorted build; and overflow pages for
//! values too long for their row.
//!
//! **In.** The engine gives byte-string keys that compare by memcmp, values that it alone
//! understands, and with every change the place of its commit record in the log. **Out.** Values
//! under a latch, copies of entries in key order, and structure records in the log.
//!
//! # Shape
//! Leaves (level 0) hold entries. Inner nodes hold children; entry 0's key is empty and stands for
//! everything below entry 1's key, so the node at entry `i` holds the keys from `key(i)` up to
//! `key(i + 1)`. The bounds of a leaf (its *fences*) are thus in its ancestors and nowhere else.
//! There are no links between siblings: a scan asks for the leaf at the last one's fence, which
//! costs a descent for each leaf and saves every structure change a latch, a write and a log record
//! for its neighbour. The root keeps its page number for life: when it is full, its content moves
//! to a new child.
//!
//! # Latches
//! Descents couple latches from the root down, shared on inner nodes, on the leaf as wanted; nobody
//! else holds more than one page. A structure change holds its space's structure lock, so only one
//! at a time changes inner nodes of the space, and latches exclusively, top down, the part of the
//! path that it may change, then siblings, then (in `buffer::Mtr`) page 0 and free pages. Waits
//! thus go from ancestors to descendants only, and among siblings nobody but the one structure
//! change holds one while it asks for another: no deadlock.
//!
//! # Log
//! Changes of rows are logged by the engine; [`Tree::modify`] only raises the leaf's LSN to the
//! commit's. Structure changes log themselves, see `buffer::Mtr` for what and why. What is
//! particular to the tree:
//! - A *split* logs the new right page's image, "drop everything from key K on" for the left page,
//!   and one delta for the parent. The operation on the left page is right on any older state of
//!   it: keys from K on belong to the right page, whose image was taken later.
//! - A split for a *run of inserts* cuts where the run is. Behind the last entry it moves nothing:
//!   its image is an empty page, and a few dozen bytes are logged in all. Before the first it moves
//!   everything, so that the old page is the empty one: a page's number is that of its lowest keys.
//! - A *merge* logs the image of the page that took the entries, and frees the other.
//! - A *sorted build* logs only its allocations; its pages are on disk before the engine logs the
//!   commit that names the tree. Until then, and while a dropped tree is being freed, a claim says
//!   whose the pages are (`claimed`).

mod build;
mod claimed;
mod descend;
mod error;
mod estimate;
mod leaves;
mod merge;
pub mod overflow;
mod run;
mod scan;
mod split;
mod spot;
mod tree;
mod validate;

pub use build::{BuildOptions, SortedBuild, make_durable};
pub use error::{Result, TreeError};
pub use estimate::ApproximatePages;
pub use leaves::Leaves;
pub use run::Run;
pub use scan::{Direction, Scan};
pub use spot::Spot;
pub use tree::{Change, Tree};
pub use validate::TreeStats;
