//! AUTO_INCREMENT in groups: a source's MyISAM table may have the column behind others in a key,
//! and counts anew for each combination of the values before it.

use super::generator::Generator;
use crate::error::Result;
use crate::exec::Run;
use engine::{Direction, IndexRef, KeyRange, LockMode, Table, TableDef};
use std::sync::Arc;
use types::Value;

/// Returns the index in whose groups the table counts, and the number of columns before the
/// AUTO_INCREMENT column. `None` means that the table counts as a whole.
pub(in crate::exec) fn of(def: &TableDef) -> Option<(IndexRef, usize)> {
    let column = def.auto_increment_column()?;
    let secondary =
        def.indexes.iter().enumerate().map(|(at, index)| (IndexRef::Secondary(at), &index.columns));
    let indexes = def.primary.iter().map(|parts| (IndexRef::Primary, parts)).chain(secondary);
    let mut found = None;
    for (index, parts) in indexes {
        match parts.iter().position(|part| part.column == column) {
            Some(0) => return None,
            Some(before) if found.is_none() => found = Some((index, before)),
            _ => {}
        }
    }
    found
}

/// Returns the value that follows the greatest one in the group of the row with these values, or
/// `None` where the table counts as a whole.
#[inline(never)]
pub(super) fn next(
    table: &Arc<Table>,
    run: &mut Run<'_, '_>,
    values: &[Value],
    generator: &mut Generator,
) -> Result<Option<u64>> {
    let Some((index, before)) = of(&table.def) else { return Ok(None) };
    let columns = table.index_columns(index);
    let column = columns[before].column;
    let group: Vec<Value> = columns[..before].iter().map(|part| values[part.column].clone()).collect();
    let range = KeyRange::prefix(&table.encode_key(index, &group)?);
    let last = run.with(|txn| {
        let mut scan = txn.scan(table, index, range, Direction::Backward, LockMode::Update)?;
        scan.next(txn)
    })?;
    let greatest = match last {
        None => 0,
        Some(row) => match table.layout.decode(&row.image, column)? {
            Value::UInt(value) => value,
            Value::Int(value) => u64::try_from(value).unwrap_or(0),
            _ => 0,
        },
    };
    Ok(Some(generator.take(greatest.saturating_add(1), run)))
}
