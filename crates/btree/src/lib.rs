//! B+trees on pages: lookup, change, scan, structure changes, sorted build; and overflow pages for
//! values that are too long for their row.
//!
//! **In.** The engine passes keys, which are byte strings compared by memcmp, values that only the
//! engine understands, and with every change the place of its commit record in the log. **Out.**
//! Callers get values under a latch and copies of entries in key order. Structure records go to the
//! log.
//!
//! # Shape
//! Leaves (level 0) hold entries. Inner nodes hold children; entry 0's key is empty and stands for
//! everything below entry 1's key, so the node at entry `i` holds the keys from `key(i)` up to
//! `key(i + 1)`. So the bounds of a leaf (its *fences*) are in its ancestors and nowhere else.
//! There are no links between siblings: a scan asks for the leaf at the last one's fence, which
//! costs a descent for each leaf and saves every structure change a latch, a write and a log record
//! for a sibling. The root keeps its page number for life: when it is full, its content moves to a
//! new child.
//!
//! # Latches
//! Descents couple latches from the root down: shared on inner nodes, shared or exclusive on the
//! leaf. Otherwise nobody but a structure change holds more than one page. A structure change holds
//! its space's structure lock, so only one at a time changes inner nodes of the space. It latches
//! exclusively, top down, the part of the path that it may change, then siblings, then (in
//! `buffer::Mtr`) page 0 and free pages. So waits go from ancestors to descendants only, and among
//! siblings only the one structure change holds one while it asks for another. There can be no
//! deadlock.
//!
//! # Log
//! The engine logs changes of rows; [`Tree::modify`] only raises the leaf's LSN to the commit's.
//! Structure changes log themselves; `buffer::Mtr` says what they log and why. What is particular
//! to the tree:
//! - A *split* logs the new right page's image, "drop everything from key K on" for the left page,
//!   and one delta for the parent. The operation on the left page is right on any older state of
//!   it: keys from K on belong to the right page, whose image was taken later.
//! - A split for a *run of inserts* cuts where the run is. Behind the last entry it moves nothing:
//!   the new page's image is empty, and a few dozen bytes are logged in all. Before the first entry
//!   it moves everything, so that the old page is the empty one: a page keeps the lowest keys of
//!   its range.
//! - A *merge* logs the image of the page that took the entries, and frees the other page.
//! - A *sorted build* logs only its allocations; its pages are on disk before the engine logs the
//!   commit that names the tree. Until then, and while a dropped tree is being freed, a claim says
//!   whose the pages are (`claimed`).
//!
//! # Files
//! A file uses only files that are named before it here. `root` says where a tree is and knows
//! nothing of what is done there. `descend` goes from the root to a leaf by coupling latches, and
//! `spot` keeps the leaf that was found for a key. `leaf` changes one latched leaf, `split` and
//! `merge` change the structure, and `modify` does all three for one change. `run` makes many
//! changes in order; `scan` and `leaves` read. [`Tree`] offers all of these under one name. What
//! works on a whole tree stands above it: `build`, [`claimed`], [`estimate`] and [`validate()`].

mod build;
pub mod claimed;
mod descend;
mod error;
pub mod estimate;
mod leaf;
mod leaves;
mod merge;
mod modify;
pub mod overflow;
mod pages;
mod root;
mod run;
mod scan;
mod split;
mod spot;
mod tree;
mod validate;

pub use build::{BuildOptions, SortedBuild, build_sorted, make_durable};
pub use error::{Result, TreeError};
pub use estimate::ApproximatePages;
pub use leaf::Change;
pub use leaves::Leaves;
pub use run::Run;
pub use scan::{Direction, Place, Scan};
pub use spot::Spot;
pub use tree::Tree;
pub use validate::{TreeStats, validate, validate_while};
