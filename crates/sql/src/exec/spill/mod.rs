//! What a query keeps beyond its memory: rows, sorted runs and parts of groups in temporary files
//! under `tmpdir`.
//!
//! In: values. Out: the same values, in the order that each structure promises. A sort has
//! `sort_buffer_size` in memory; groups, duplicates and made tables `tmp_table_size` each, and all
//! of them no more than a part of what the connection may have. The files have no names: they are
//! gone when the statement is, whatever ended it, and when the process ends.

mod firsts;
mod partitions;
mod room;
mod row;
mod rows;
mod table;
mod tape;

pub(crate) use firsts::{Firsts, later_parts};
pub(crate) use partitions::{Part, Partitions};
pub(crate) use room::{sort_bytes, table_bytes};
pub(crate) use row::{RowCodec, damaged};
pub(crate) use rows::Rows;
pub(crate) use table::{Entered, KeyTable, hash_of};
pub(crate) use tape::{Tape, TapeFile, TapeReader};
