//! Multi-version reading: who reads at which sequence number, which older versions are kept for
//! them, and how both are let go.
//!
//! A row on a page carries the sequence number (`seq`) of the commit that made it, and only
//! committed rows are on pages. A snapshot is one number: it sees what commits with `seq <=
//! snapshot` left. When the page's row is newer, the [`store::VersionStore`] has the version that
//! the snapshot needs. The exception are spilled commits, which take long to get onto their pages:
//! later ones do not wait for them, and a snapshot opened meanwhile leaves them out
//! ([`view::View`]).
//!
//! Invariants:
//! - A version is in the store before the page stops showing it (pushed under the leaf's latch).
//! - A version superseded at `seq` is dropped, and a delete mark of `seq` removed, only when every
//!   open snapshot and every one that can still open is at or past `seq`
//!   ([`snapshot::Snapshots::purge_limit`]).
//! - After a restart no snapshot exists: marks left on pages count as deleted, and the store is
//!   empty.

pub(crate) mod purge;
pub(crate) mod queue;
pub(crate) mod snapshot;
pub(crate) mod store;
pub(crate) mod view;
