//! Filling the trees of new indexes: one scan of the table for all of them, then for each index an
//! external sort and a sorted build.
//!
//! The scan is divided among a few threads, each with sorters of its own. Then every index is
//! merged and built by one thread. Others may be changing the table meanwhile, see
//! [`super::online`].

use super::context::{AlterStage, StageHook};
use super::sort::{Merge, SortLimits, Sorted, Sorter};
use crate::commit::sequencer::Sequencer;
use crate::entry::{self, ClusteredValue};
use crate::error::{EngineError, Result};
use crate::rows::Rows;
use crate::table::Table;
use crate::version::snapshot::Snapshots;
use btree::{BuildOptions, SortedBuild};
use os::account::{State, enter};
use parking_lot::Mutex;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest number of threads of one statement.
const MAX_THREADS: usize = 4;

/// The number of entries between two looks at the statement's interrupt flag.
const CHECK_EVERY: u64 = 1024;

pub(super) fn check_interrupt(interrupt: Option<&AtomicBool>) -> Result<()> {
    if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        return Err(EngineError::Interrupted);
    }
    Ok(())
}

/// The indexes to build, and the options of the build.
pub(super) struct IndexBuild<'a> {
    pub table: &'a Table,
    /// The positions of the indexes to build in the table's list.
    pub made: &'a [usize],
    pub limits: SortLimits,
    pub fill_factor: u8,
    /// The sequence number of all entries.
    pub seq: u64,
    /// Whether the pages are under claims. Otherwise they are in a space that is dropped if the
    /// statement fails.
    pub claimed: bool,
    pub interrupt: Option<&'a AtomicBool>,
    /// The hook of the statement that is told of the stages.
    pub stages: Option<StageHook<'a>>,
}

impl IndexBuild<'_> {
    pub fn enter(&self, stage: AlterStage) {
        if let Some(hook) = self.stages {
            (hook.0)(stage);
        }
    }

    fn options(&self, at: usize) -> BuildOptions {
        let claim = self.claimed.then(|| self.table.indexes[at].id);
        BuildOptions { fill_factor: self.fill_factor, claim }
    }

    pub fn sorters(&self) -> Vec<Sorter> {
        self.made.iter().map(|_| Sorter::new(&self.limits)).collect()
    }

    /// Adds a row's entries to the sorters. The value of an entry in the sort is the length of the
    /// index's own columns, and whether one of them is NULL.
    pub fn push_row(&self, sorters: &mut [Sorter], key: &[u8], image: &[u8]) -> Result<()> {
        for (&at, sorter) in self.made.iter().zip(sorters) {
            for secondary in self.table.entry_keys(at, image, key)?.as_slice() {
                self.table.check_key_len(secondary.key.len())?;
                let [low, high] = (secondary.secondary_len as u16).to_le_bytes();
                sorter.push(&secondary.key, &[low, high, u8::from(secondary.has_null)])?;
            }
        }
        Ok(())
    }
}

/// Fills the trees of indexes, and reads the committed rows that the indexes are about while others
/// may be changing the rows.
pub(super) struct IndexBuilder<'d> {
    pub rows: &'d Rows,
    pub snapshots: &'d Snapshots,
    pub sequencer: &'d Sequencer,
}

impl IndexBuilder<'_> {
    /// Fills new indexes from the committed rows of the table.
    pub(super) fn fill_indexes(&self, build: &IndexBuild<'_>) -> Result<()> {
        build.enter(AlterStage::ReadPk);
        let threads = os::thread::processors().min(MAX_THREADS);
        let points = build.table.clustered.split_points(threads)?;
        let mut starts: Vec<&[u8]> = vec![&[]];
        starts.extend(points.iter().map(Vec::as_slice));
        let part = |at: usize| (starts[at], starts.get(at + 1).copied());
        let scanned: Vec<Result<Vec<Sorted>>> = if starts.len() == 1 {
            vec![self.scan_part(build, part(0))]
        } else {
            let jobs = (0..starts.len()).map(|at| move || self.scan_part(build, part(at))).collect();
            os::thread::run_all("index scan", jobs)
        };
        build.enter(AlterStage::MergeSort);
        let mut of_index: Vec<Vec<Sorted>> = build.made.iter().map(|_| Vec::new()).collect();
        for sorted in scanned {
            sorted?.into_iter().zip(&mut of_index).for_each(|(sorted, all)| all.push(sorted));
        }
        self.build_indexes(build, of_index, if starts.len() == 1 { 1 } else { threads })
    }

    fn scan_part(&self, build: &IndexBuild<'_>, part: (&[u8], Option<&[u8]>)) -> Result<Vec<Sorted>> {
        let _state = enter(State::IndexScan);
        let table = build.table;
        let mut sorters = build.sorters();
        let mut leaves = table.clustered.leaves(part.0, part.1);
        while leaves.advance()? {
            check_interrupt(build.interrupt)?;
            for (key, value) in leaves.entries() {
                let parsed = ClusteredValue::parse(value)?;
                if parsed.is_deleted() {
                    continue;
                }
                if parsed.flags & entry::EXTERN == 0 {
                    build.push_row(&mut sorters, key, &table.image_of(&parsed)?)?;
                } else if let Some((_, image)) = self.committed_row(table, key)? {
                    build.push_row(&mut sorters, key, &image)?;
                }
            }
        }
        sorters.into_iter().map(Sorter::finish).collect()
    }

    /// Builds each index from its sorted entries.
    pub(super) fn build_indexes(
        &self,
        build: &IndexBuild<'_>,
        sorted: Vec<Vec<Sorted>>,
        threads: usize,
    ) -> Result<()> {
        let queue = Mutex::new(build.made.iter().copied().zip(sorted));
        let work = || -> Result<()> {
            loop {
                // The guard must not live through the build.
                let next = queue.lock().next();
                let Some((at, sorted)) = next else { return Ok(()) };
                self.build_index(build, at, sorted)?;
            }
        };
        match threads.min(build.made.len()) {
            0 | 1 => work(),
            threads => os::thread::run_all("index build", vec![&work; threads]).into_iter().collect(),
        }
    }

    fn build_index(&self, build: &IndexBuild<'_>, at: usize, sorted: Vec<Sorted>) -> Result<()> {
        let _state = enter(State::IndexBuild);
        let index = &build.table.indexes[at];
        let mut merge = Merge::new(sorted)?;
        let mut tree = SortedBuild::new(&index.tree, build.options(at))?;
        // For a unique index, the entry that the next one may be a duplicate of.
        let mut holder: Option<Vec<u8>> = None;
        let mut pushed = 0u64;
        while let Some((key, value)) = merge.next()? {
            let (secondary_len, has_null) =
                (usize::from(u16::from_le_bytes([value[0], value[1]])), value[2] != 0);
            if index.unique && !has_null {
                self.check_duplicate(build.table, at, &mut holder, key, secondary_len)?;
            }
            tree.push(key, &entry::secondary(0, build.seq, secondary_len))?;
            pushed += 1;
            if pushed.is_multiple_of(CHECK_EVERY) {
                check_interrupt(build.interrupt)?;
            }
        }
        Ok(tree.finish()?)
    }

    /// Refuses a key whose columns the holder's row has too. Afterwards the holder is an entry with
    /// the key's columns. If several entries have these columns, the holder's row is known to have
    /// them now.
    fn check_duplicate(
        &self,
        table: &Table,
        at: usize,
        holder: &mut Option<Vec<u8>>,
        key: &[u8],
        secondary_len: usize,
    ) -> Result<()> {
        let columns = &key[..secondary_len];
        // The encoding of columns is never a prefix of another encoding, so this compares exactly
        // the columns.
        match holder {
            Some(held) if held.starts_with(columns) => {
                if self.holds_both(table, at, held, key, secondary_len)? {
                    return Err(self.duplicate_of(table, at, &key[secondary_len..])?);
                }
                if self.live_since(table, at, key, secondary_len)?.is_some() {
                    key.clone_into(held);
                }
            }
            Some(held) => key.clone_into(held),
            none => *none = Some(key.to_vec()),
        }
        Ok(())
    }
}

/// Calls `visit` with the key and the full image of every newest committed row. Nobody may be
/// changing the table.
pub(super) fn for_each_row(
    rows: &Rows,
    table: &Table,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let mut scan = table.clustered.scan(Bound::Unbounded, Bound::Unbounded, btree::Direction::Forward);
    while let Some((key, value)) = scan.next()? {
        let parsed = ClusteredValue::parse(value)?;
        if let Some(image) = rows.live_image(table, &parsed)? {
            visit(key, &image)?;
        }
    }
    Ok(())
}
