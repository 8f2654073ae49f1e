//! Filling trees in key order: for a new index, and for a table that is rebuilt.
//!
//! Sorting is in memory up to a limit; beyond it the sorted runs are kept as they are and merged, so that the input need
//! not fit twice. (The runs are in memory too: a table whose index keys exceed the memory of the machine needs a sort on
//! disk, which is later work.)

use crate::entry::{self, ClusteredValue};
use crate::error::{EngineError, Result};
use crate::table::{IndexRef, Table};
use crate::{Engine, overflow};
use btree::{Direction, SortedBuild, Tree};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Bound;

/// Keys and values back to back, with the offset of each pair: one allocation for many entries.
#[derive(Default)]
struct Run {
    bytes: Vec<u8>,
    /// Start of the key, its length, length of the value.
    entries: Vec<(usize, u32, u32)>,
}

impl Run {
    fn key(&self, at: usize) -> &[u8] {
        let (start, key_len, _) = self.entries[at];
        &self.bytes[start..start + key_len as usize]
    }

    fn value(&self, at: usize) -> &[u8] {
        let (start, key_len, value_len) = self.entries[at];
        &self.bytes[start + key_len as usize..start + key_len as usize + value_len as usize]
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |&(start, key_len, _): &(usize, u32, u32)| &bytes[start..start + key_len as usize];
        self.entries.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    }
}

const RUN_BYTES: usize = 64 << 20;

/// Collects entries in any order and gives them to a tree in key order.
#[derive(Default)]
pub(super) struct Sorter {
    runs: Vec<Run>,
    current: Run,
}

impl Sorter {
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        if self.current.bytes.len() >= RUN_BYTES {
            self.close_run();
        }
        let start = self.current.bytes.len();
        self.current.bytes.extend_from_slice(key);
        self.current.bytes.extend_from_slice(value);
        self.current.entries.push((start, key.len() as u32, value.len() as u32));
    }

    fn close_run(&mut self) {
        let mut run = std::mem::take(&mut self.current);
        run.sort();
        self.runs.push(run);
    }

    /// Builds the tree. `finish` sees each entry after the key before it, and says what value is stored.
    pub fn build(
        mut self,
        tree: &Tree,
        mut finish: impl for<'v> FnMut(Option<&[u8]>, &[u8], &'v [u8]) -> Result<&'v [u8]>,
    ) -> Result<()> {
        self.close_run();
        let mut build = SortedBuild::new(tree)?;
        let runs = &self.runs;
        let mut heads: BinaryHeap<Reverse<(&[u8], usize, usize)>> = runs
            .iter()
            .enumerate()
            .filter(|(_, run)| !run.entries.is_empty())
            .map(|(at, run)| Reverse((run.key(0), at, 0)))
            .collect();
        let mut last: Option<&[u8]> = None;
        while let Some(Reverse((key, run, at))) = heads.pop() {
            let value = finish(last, key, runs[run].value(at))?;
            build.push(key, value)?;
            last = Some(key);
            if at + 1 < runs[run].entries.len() {
                heads.push(Reverse((runs[run].key(at + 1), run, at + 1)));
            }
        }
        Ok(build.finish()?)
    }
}

impl Engine {
    /// Fills an index of `table` from the newest rows of `table`'s clustered tree.
    pub(super) fn fill_index(&self, table: &Table, at: usize, seq: u64) -> Result<()> {
        let mut sorter = Sorter::default();
        self.for_each_row(table, |key, image| sorter.push_entry(table, at, key, image, seq))?;
        self.build_index(table, at, sorter)
    }

    /// Builds an index from its entries, checked for uniqueness.
    pub(super) fn build_index(&self, table: &Table, at: usize, sorter: Sorter) -> Result<()> {
        let index = &table.indexes[at];
        sorter.build(&index.tree, |last, key, value| {
            let (has_null, value) = value.split_last().expect("push_entry adds a byte");
            let columns = &key[..entry::secondary_len(value)?];
            // Encoded columns are no prefix of other encoded columns, so this compares exactly them.
            if index.unique && *has_null == 0 && last.is_some_and(|last| last.starts_with(columns)) {
                let row = self.read_newest(table, &key[columns.len()..])?;
                let text = row.map(|row| table.key_text(IndexRef::Secondary(at), &row.image));
                return Err(EngineError::Duplicate {
                    table: table.qualified_name.clone(),
                    index: index.name.clone(),
                    key: text.unwrap_or_default(),
                });
            }
            Ok(value)
        })
    }

    /// Calls `visit` with key and full image of every newest committed row. Nobody may be changing the table.
    pub(super) fn for_each_row(
        &self,
        table: &Table,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut scan = table.clustered.scan(Bound::Unbounded, Bound::Unbounded, Direction::Forward);
        while let Some((key, value)) = scan.next()? {
            let parsed = ClusteredValue::parse(value)?;
            if !parsed.is_deleted() {
                visit(key, &overflow::resolve(&self.pool, table, &parsed)?)?;
            }
        }
        Ok(())
    }
}

impl Sorter {
    /// Adds the entry of a row in the index at `at`, with a last byte that says whether a NULL is in it.
    pub fn push_entry(&mut self, table: &Table, at: usize, key: &[u8], image: &[u8], seq: u64) -> Result<()> {
        let secondary = table.secondary_key(at, image, key)?;
        table.check_key_len(secondary.key.len())?;
        let mut value = [0; entry::SECONDARY_LEN + 1];
        value[..entry::SECONDARY_LEN].copy_from_slice(&entry::secondary(0, seq, secondary.secondary_len));
        value[entry::SECONDARY_LEN] = u8::from(secondary.has_null);
        self.push(&secondary.key, &value);
        Ok(())
    }
}
