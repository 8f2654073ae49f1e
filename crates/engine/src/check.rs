//! CHECK TABLE: verifies that trees are sound and that secondary indexes agree with the table.

use crate::definition::IndexRef;
use crate::entry::ClusteredValue;
use crate::error::{EngineError, Result};
use crate::table::Table;
use crate::transaction::Transaction;
use crate::transaction::key_range::KeyRange;
use crate::transaction::mode::LockMode;
use btree::Direction;
use buffer::Pool;
use std::sync::Arc;

/// The number of faults that are listed for an index at most.
const MAX_FAULTS: usize = 10;

/// The use of the pages of a table's file, as numbers of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpacePages {
    /// The pages that were handed out at some time.
    pub allocated: u64,
    /// The pages on the free list.
    pub free: u64,
    /// The pages in the table's trees.
    pub trees: u64,
    /// The pages that hold long values of rows.
    pub overflow: u64,
    /// The number of indexes that are being built or freed.
    pub claims: u64,
}

impl SpacePages {
    /// Returns the number of pages that nothing names, without page 0. Pages of indexes that are
    /// being built or freed are among them.
    pub fn unaccounted(&self) -> u64 {
        (self.allocated - 1).saturating_sub(self.free + self.trees + self.overflow)
    }

    /// Counts the pages of a table's file by what uses them, which reads the whole table. Nobody
    /// may be changing the table.
    pub(crate) fn count(pool: &Pool, table: &Table) -> Result<SpacePages> {
        let space = table.placement.space;
        let (allocated, free) = pool.space_usage(space)?;
        let mut pages =
            SpacePages { allocated: allocated.into(), free: free.into(), ..SpacePages::default() };
        for tree in std::iter::once(&table.clustered).chain(table.indexes.iter().map(|index| &index.tree)) {
            let stats = btree::validate(tree)?;
            pages.trees += stats.leaves + stats.inner_nodes;
        }
        let per_page = btree::overflow::bytes_per_page(pool.page_size());
        let mut leaves = table.clustered.leaves(&[], None);
        while leaves.advance()? {
            for (_, value) in leaves.entries() {
                let externs = ClusteredValue::parse(value)?.externs();
                pages.overflow +=
                    externs.iter().map(|long| (long.len as usize).div_ceil(per_page) as u64).sum::<u64>();
            }
        }
        pages.claims = pool.claims(space)?.len() as u64;
        Ok(pages)
    }
}

/// Checks a table, in a transaction that has not been used yet, while others may go on changing the
/// table. Returns what is wrong, each as a sentence. An empty list means that all is well.
///
/// The check verifies every page of every tree (order, bounds, levels). Then it checks, as one
/// snapshot sees the table, that every entry of a secondary index has a row with that key, and that
/// there are as many entries as rows, so that every row has its entry. In a multi-valued index
/// there must be as many as the arrays of the rows have elements.
pub(crate) fn check_table(mut txn: Transaction, table: &Arc<Table>) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    txn.use_table(table)?;
    txn.open_snapshot()?;
    let trees = std::iter::once(IndexRef::Primary).chain((0..table.indexes.len()).map(IndexRef::Secondary));
    for index in trees {
        match btree::validate_while(table.tree(index), &|| !txn.is_interrupted()) {
            Ok(Some(_)) => {}
            Ok(None) => return Err(EngineError::Interrupted),
            Err(error) => {
                let name = table.index_name(index);
                faults.push(format!("The B-tree of index {name} is corrupted. {error}"));
            }
        }
    }
    if !faults.is_empty() {
        return Ok(faults);
    }
    let mut rows = 0u64;
    let arrays = || (0..table.indexes.len()).filter(|at| table.is_multi_valued(IndexRef::Secondary(*at)));
    let mut of_arrays: Vec<(usize, u64)> = arrays().map(|at| (at, 0)).collect();
    let mut scan =
        txn.scan(table, IndexRef::Primary, KeyRange::all(), Direction::Forward, LockMode::Snapshot)?;
    while let Some(row) = scan.next(&mut txn)? {
        rows += 1;
        txn.check_interrupt()?;
        if table.layout.len_of(&row.image)? != row.image.len() {
            faults.push(format!("the row with key {:02x?} has bytes left over", row.key));
        }
        for (at, entries) in &mut of_arrays {
            *entries += table.entry_keys(*at, &row.image, &row.key)?.as_slice().len() as u64;
        }
    }
    for at in 0..table.indexes.len() {
        let of_array = of_arrays.iter().find(|(of, _)| *of == at);
        let entries = of_array.map_or(rows, |(_, entries)| *entries);
        check_index(table, at, entries, &mut txn, &mut faults)?;
    }
    Ok(faults)
}

fn check_index(
    table: &Arc<Table>,
    at: usize,
    wanted: u64,
    txn: &mut Transaction,
    faults: &mut Vec<String>,
) -> Result<()> {
    let name = &table.indexes[at].name;
    let mut entries = 0u64;
    let mut index_faults = 0;
    let index = IndexRef::Secondary(at);
    let mut scan = txn.scan(table, index, KeyRange::all(), Direction::Forward, LockMode::Snapshot)?;
    scan.report_strays();
    while let Some(row) = scan.next(txn)? {
        entries += 1;
        txn.check_interrupt()?;
        let key = scan.last_key().unwrap_or_default();
        let is_of_row = table.entry_key(at, &row.image, &row.key, key)?.is_some();
        if !is_of_row && index_faults < MAX_FAULTS {
            index_faults += 1;
            faults.push(format!("index {name}: an entry does not match its row with key {:02x?}", row.key));
        }
    }
    for stray in scan.strays().iter().take(MAX_FAULTS) {
        faults.push(format!("index {name}: the entry {stray:02x?} has no row"));
    }
    if entries != wanted {
        faults.push(format!("Index '{name}' contains {entries} entries, should be {wanted}."));
    }
    Ok(())
}
