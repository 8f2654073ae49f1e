//! The buffer pool: pages, tablespaces, flushing and doublewrite.
//!
//! **In.** `btree` asks for pages by [`PageId`], latched shared or exclusively ([`Pool::read`],
//! [`Pool::write`]). It changes rows in leaves and reports each change with the commit's LSN
//! ([`PageWrite::changed`]), and it changes the structure of trees through a mini-transaction
//! ([`Mtr`]), which logs the change. **Out.** Pages go to their tablespace files, through the
//! doublewrite file. Structure records go to the log. [`Pool::checkpoint_lsn`] tells the engine how
//! far the log is no longer needed, and [`Pool::replay`] applies structure records again at
//! recovery.
//!
//! Invariants, each argued in the module that keeps it:
//! - *Log before page*: a page is written only when the log is durable past the page's newest
//!   change (`flush`).
//! - *Structure changes are physical, rows are logical*: `mtr` says how a mini-transaction logs,
//!   and why replay goes by the page's LSN.
//! - A change counts as not on disk from the start of its record until the write that holds it is
//!   synced (`flush_list`), or the removal of its file is synced ([`Pool::drop_space`]).
//! - A page torn in its place has a whole copy in the doublewrite file (`doublewrite`).
//! - Every page that comes from disk is verified: its checksum, its identity, and everything that
//!   the code relies on (`verify`, `slotted`).
//! - A frame's bytes are touched only as its latch allows, or read and then validated
//!   (`optimistic`), and a frame holds a page as long as anybody holds its latch (`frame`).
//!
//! The modules from the bottom up: `page`, `slotted`, `space` (what bytes mean); `frame`, `frames`
//! (pages in memory, with no I/O); `batch`, `flush` (writing pages); `free_frames`, `fetch`,
//! `read_ahead` (bringing pages in); `background` (threads); `pool` (all of it together); `mtr`,
//! `record` and `claim` (changes of structure).
//!
//! Lock order: a space's structure lock, page latches, write areas, a space's path; then, as
//! leaves, the page table's shards, the instances' lists, their flush lists, mini-transactions
//! about to log, the bells of the background threads.

mod background;
mod batch;
mod bell;
mod cached;
mod claim;
mod cleaner;
mod config;
mod copy;
mod dirty;
mod doublewrite;
mod error;
mod fetch;
mod flush;
mod flush_list;
mod flushed;
mod frame;
mod frames;
mod free_frames;
mod guard;
mod instance;
mod latch;
mod lru;
mod lru_flusher;
mod lru_order;
mod mtr;
mod neighbors;
mod notes;
mod optimistic;
mod options;
mod pace;
pub mod page;
mod pool;
mod read_ahead;
mod record;
mod resident;
pub mod slotted;
mod space;
mod spaces;
mod status;
mod table;
mod verify;
mod warm_up;

pub use claim::{Claim, ClaimKind, Extent};
pub use config::PoolConfig;
pub use copy::SpaceCopy;
pub use error::{BufferError, Result};
pub use flushed::FlushNotes;
pub use guard::{PageRead, PageWrite};
pub use mtr::{Held, Mtr};
pub use optimistic::FoundLeaf;
pub use options::{Doublewrite, FlushMethod, FlushNeighbors, PoolOptions};
pub use page::{PageId, PageNo, PageType, RecordLsn, SpaceId};
pub use pool::Pool;
pub use resident::{ResidentContent, ResidentPage};
pub use space::{SpaceRoom, StructureLock};
pub use status::PoolStatus;
