//! Multi-version reading: which reader reads at which sequence number, which older versions are
//! kept for readers, and how both are released.
//!
//! A row on a page carries the sequence number (`seq`) of the commit that made it, and only
//! committed rows are on pages. A snapshot is one number: it sees what commits with `seq <=
//! snapshot` left. When the page's row is newer, the [`store::VersionStore`] has the version that
//! the snapshot needs. Spilled commits are the exception. They take long to get onto their pages,
//! so later commits do not wait for them, and a snapshot that is opened meanwhile leaves them out
//! ([`view::View`]).
//!
//! Invariants:
//! - A version is in the store before the page stops showing it (it is pushed under the leaf's
//!   latch).
//! - A version superseded at `seq` is dropped, and a delete mark of `seq` removed, only when every
//!   open snapshot and every snapshot that can still open is at or past `seq`
//!   ([`snapshot::Snapshots::purge_limit`]).
//! - After a restart no snapshot exists: marks left on pages count as deleted, and the store is
//!   empty.

pub(crate) mod purge;
pub(crate) mod queue;
pub(crate) mod snapshot;
pub(crate) mod store;
pub(crate) mod view;
