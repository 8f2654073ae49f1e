//! Sampling the rows of a table from a few leaves of each of its trees. The figures are of no
//! single moment, and count rows that are not visible yet or not purged yet.

use crate::definition::IndexRef;
use crate::entry::ClusteredValue;
use crate::error::Result;
use crate::statistics::TableStatistics;
use crate::table::{KeyPart, Table};
use btree::ApproximatePages;
use btree::estimate::SampledLeaf;
use std::sync::Arc;

/// The number of leaves of an index that are looked at, some of them perhaps more than once.
pub const LEAVES: u64 = 20;

/// How many rows of a table are kept at most.
const KEPT_ROWS: usize = 240;

/// The longest row that is kept, and what all kept rows of a table take at most, in bytes.
const MOST_ROW_BYTES: usize = 1024;
const MOST_BYTES: usize = 64 << 10;

/// The number of pairs of neighbours, and of those pairs that differ in their first parts. The
/// last entry of a leaf and what lies behind the leaf are a pair too: where rows came in the order
/// of an index, many leaves hold one value each.
struct Pairs {
    all: u64,
    /// The differing pairs, by the number of leading parts that are compared, minus one.
    differing: Vec<u64>,
}

impl TableStatistics {
    /// Returns the statistics of a table. They were sampled when the table had about as many rows
    /// as now, and are sampled anew when the number of rows has changed by a tenth.
    ///
    /// # Errors
    /// Returns an error for a damaged page, and I/O errors.
    pub fn of(table: &Table) -> Result<Arc<TableStatistics>> {
        let rows = btree::estimate::entries(&table.clustered)?;
        let known = table.statistics.lock().clone();
        match known {
            Some(known) if known.rows.abs_diff(rows) <= known.rows / 10 => Ok(known),
            _ => TableStatistics::anew(table),
        }
    }

    /// Samples the statistics of a table anew.
    ///
    /// # Errors
    /// Returns the errors of [`TableStatistics::of`].
    pub fn anew(table: &Table) -> Result<Arc<TableStatistics>> {
        let sampled = Arc::new(sampled(table)?);
        *table.statistics.lock() = Some(sampled.clone());
        Ok(sampled)
    }
}

/// Samples the table's leaves.
fn sampled(table: &Table) -> Result<TableStatistics> {
    let rows = btree::estimate::entries(&table.clustered)?;
    let secondary = (0..table.indexes.len()).map(IndexRef::Secondary);
    let indexes = std::iter::once(IndexRef::Primary).chain(secondary);
    let distinct = indexes.clone().map(|index| distinct(table, index, rows)).collect::<Result<_>>()?;
    let pages: Vec<ApproximatePages> =
        indexes.map(|index| Ok(btree::estimate::pages(table.tree(index))?)).collect::<Result<_>>()?;
    let kept_rows = kept_rows(table, pages.first().map_or(1, |pages| pages.leaves))?;
    Ok(TableStatistics { rows, distinct, pages, kept_rows, at_us: os::clock::now_us() })
}

/// Returns the images of some rows of a table whose clustered index has about so many leaves. They
/// are all rows if these fit into a leaf and are few. Rows with values outside of their page, and
/// long ones, are left out.
fn kept_rows(table: &Table, leaves: u64) -> Result<Vec<Box<[u8]>>> {
    let looked_at = leaves.clamp(1, LEAVES);
    let of_leaf = KEPT_ROWS / looked_at as usize;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for number in 0..looked_at {
        let leaf = btree::estimate::sampled_leaf(&table.clustered, number)?;
        let step = leaf.entries().len().div_ceil(of_leaf).max(1);
        for (_, value) in leaf.entries().step_by(step) {
            let Ok(value) = ClusteredValue::parse(value) else { continue };
            let is_plain = !value.is_deleted() && !value.has_externs();
            let Ok(image) = table.image_of(&value) else { continue };
            if is_plain && image.len() <= MOST_ROW_BYTES.min(MOST_BYTES - bytes) {
                bytes += image.len();
                rows.push(image.into());
            }
        }
    }
    assert!(rows.len() <= KEPT_ROWS && bytes <= MOST_BYTES, "the kept rows of a table have a bound");
    Ok(rows)
}

fn distinct(table: &Table, index: IndexRef, rows: u64) -> Result<Vec<Option<f64>>> {
    let parts = table.parts(index);
    let is_unique = match index {
        IndexRef::Primary => true,
        IndexRef::Secondary(at) => table.indexes[at].unique && parts.iter().all(|part| !part.nullable),
    };
    // The ends of the parts after these cannot be told.
    let readable = parts.iter().take_while(|part| types::key::is_readable(&part.ty, part.prefix));
    let readable = &parts[..readable.count()];
    let mut pairs = Pairs { all: 0, differing: vec![0; readable.len()] };
    for number in 0..LEAVES {
        pairs.count(readable, &btree::estimate::sampled_leaf(table.tree(index), number)?);
    }
    let mut distinct: Vec<Option<f64>> = parts.iter().map(|_| None).collect();
    for (of, differing) in distinct.iter_mut().zip(&pairs.differing) {
        let share = *differing as f64 / pairs.all.max(1) as f64;
        *of = Some((share * rows as f64 + 1.0).min(rows as f64));
    }
    if let (true, Some(all)) = (is_unique, distinct.last_mut()) {
        *all = Some(rows as f64);
    }
    Ok(distinct)
}

impl Pairs {
    fn count(&mut self, parts: &[KeyPart], leaf: &SampledLeaf<'_>) {
        let mut keys = leaf.entries().map(|(key, _)| key).chain(leaf.behind());
        let Some(mut before) = keys.next() else { return };
        for key in keys {
            self.all += 1;
            let common = before.iter().zip(key).take_while(|(a, b)| a == b).count();
            let mut end = 0;
            for (part, differing) in parts.iter().zip(&mut self.differing) {
                let rest = key.get(end..).unwrap_or_default();
                // What lies behind a leaf may end within a part, by which it differs.
                end += types::key::read_part(&part.ty, part.nullable, rest, None).unwrap_or(rest.len());
                *differing += u64::from(common < end);
            }
            before = key;
        }
    }
}
