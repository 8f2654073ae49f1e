//! Copying the rows of tables into a new table: every row is converted and put into the trees of
//! the new table, whose secondary indexes are built from sorted entries.

use super::build::{IndexBuild, check_interrupt, for_each_row};
use super::sort::{Merge, Sorter};
use super::statement::Ddl;
use crate::definition::{IndexColumn, IndexRef};
use crate::entry;
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::table::Table;
use btree::{BuildOptions, SortedBuild};
use std::sync::atomic::{AtomicBool, Ordering};

/// A function that turns a row image of the old definition into one of the new. `None` means that
/// the row is left out.
pub type ConvertRow<'c> = dyn FnMut(&[u8]) -> Result<Option<Vec<u8>>> + 'c;

/// Converts every row of the tables in `sources` into the empty trees of `new`.
pub(crate) fn copy_rows(
    ddl: &Ddl,
    sources: &mut [(&Table, &mut ConvertRow<'_>)],
    new: &Table,
    interrupt: Option<&AtomicBool>,
) -> Result<()> {
    let all: Vec<usize> = (0..new.indexes.len()).collect();
    let build = IndexBuild {
        table: new,
        made: &all,
        limits: ddl.sort_limits(),
        fill_factor: ddl.settings.fill_factor(),
        seq: ddl.sequencer.visible(),
        claimed: false,
        interrupt,
        stages: None,
    };
    let options = BuildOptions { fill_factor: build.fill_factor, claim: None };
    let mut rows = Sorter::new(&build.limits);
    let mut entries = build.sorters();
    // Rows that come in the order of the new key go straight into the tree.
    let in_order = match sources {
        [(old, _)] => new.primary.is_none() || (old.primary.is_some() && same_key(old, new)),
        _ => new.primary.is_none(),
    };
    let mut direct = if in_order { Some(SortedBuild::new(&new.clustered, options)?) } else { None };
    for (old, convert) in sources {
        for_each_row(&ddl.rows, old, |_, image| {
            check_interrupt(interrupt)?;
            let Some(image) = convert(image)? else { return Ok(()) };
            let row_id = new.primary.is_none().then(|| new.counters.row_id.fetch_add(1, Ordering::Relaxed));
            let key = new.clustered_key(&image, row_id)?;
            new.check_key_len(key.len())?;
            build.push_row(&mut entries, &key, &image)?;
            note_stored_auto_increment(new, &image)?;
            let mut value = Vec::with_capacity(image.len() + entry::HEADER_LEN);
            match overflow::place(&ddl.pool, new, key.len(), &image, &[])? {
                Some(placed) => entry::put_clustered(&mut value, &placed.externs, &placed.image),
                None => entry::put_clustered(&mut value, &[], &image),
            }
            entry::set_seq(&mut value, build.seq);
            match &mut direct {
                Some(tree) => tree.push(&key, &value).map_err(EngineError::from),
                None => rows.push(&key, &value),
            }
        })?;
    }
    match direct {
        Some(tree) => tree.finish()?,
        None => build_clustered(new, rows, options)?,
    }
    let entries = entries.into_iter().map(|sorter| Ok(vec![sorter.finish()?]));
    ddl.builder().build_indexes(&build, entries.collect::<Result<_>>()?, os::thread::processors())
}

fn build_clustered(table: &Table, rows: Sorter, options: BuildOptions) -> Result<()> {
    let mut merge = Merge::new(vec![rows.finish()?])?;
    let mut tree = SortedBuild::new(&table.clustered, options)?;
    let mut last: Option<Vec<u8>> = None;
    while let Some((key, value)) = merge.next()? {
        if last.as_deref() == Some(key) {
            return Err(duplicate_primary(table, value));
        }
        tree.push(key, value)?;
        match &mut last {
            Some(last) => key.clone_into(last),
            none => *none = Some(key.to_vec()),
        }
    }
    Ok(tree.finish()?)
}

fn note_stored_auto_increment(table: &Table, image: &[u8]) -> Result<()> {
    if let Some(stored) = table.stored_auto_increment(image)? {
        table.note_auto_increment(stored);
    }
    Ok(())
}

fn duplicate_primary(table: &Table, value: &[u8]) -> EngineError {
    // The table is new, so all of its rows have all of its columns.
    let image = entry::ClusteredValue::parse(value).map(|parsed| parsed.stored).unwrap_or_default();
    EngineError::Duplicate {
        table: table.qualified_name.clone(),
        index: "PRIMARY".to_string(),
        key: table.key_text(IndexRef::Primary, image),
    }
}

/// Reports whether the primary keys are over columns of the same names and types, so that their
/// order is the same.
fn same_key(old: &Table, new: &Table) -> bool {
    let describe = |table: &Table| -> Vec<(String, types::ColumnType, Option<u32>, bool)> {
        let parts = table.def.primary.as_deref().unwrap_or_default();
        let part = |part: &IndexColumn| {
            let column = &table.def.columns[part.column];
            (column.name.to_lowercase(), column.ty.clone(), part.prefix, column.nullable)
        };
        parts.iter().map(part).collect()
    };
    describe(old) == describe(new)
}
