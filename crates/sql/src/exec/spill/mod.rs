//! Keeps what a query has beyond its memory in temporary files under `tmpdir`: rows, sorted runs,
//! partitions of groups and of joins.
//!
//! In: values. Out: the same values, in the order that each structure promises. A sort has
//! `sort_buffer_size` in memory, the hash table of a join `join_buffer_size`; groups, DISTINCT and
//! materialized tables have `tmp_table_size` each. None of them takes more than a part of the
//! memory that the connection may still use. The files have no names, so they vanish with the
//! statement, however it ends, and with the process.

mod firsts;
mod partitions;
mod room;
mod row;
mod row_list;
mod rows;
mod table;
mod tape;

pub(crate) use firsts::{Firsts, later_parts};
pub(crate) use partitions::{Entries, Part, Partitions, push_entry};
pub(crate) use room::{join_bytes, sort_bytes, table_bytes};
pub(crate) use row::{RowCodec, damaged, read_bytes, write_bytes};
pub(crate) use row_list::RowList;
pub(crate) use rows::Rows;
pub(crate) use table::{Entered, KeyTable, hash_of};
pub(crate) use tape::{Tape, TapeFile, TapeReader};
