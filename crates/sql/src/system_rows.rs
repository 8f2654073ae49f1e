//! The rows of a system table in the schema `mysql`, for functions and statements that look into
//! one. The table may be one that a user has made in another form.

use crate::error::Result;
use crate::memory::{Charge, growth, heap_bytes};
use engine::{Direction, EngineError, IndexRef, KeyRange, LockMode, Table, Transaction};
use std::sync::Arc;
use types::Value;

/// Returns the positions of the columns, whose names are compared without regard to case. `None`
/// means that the table lacks one of them.
pub(crate) fn places<const N: usize>(table: &Table, columns: [&str; N]) -> Option<[usize; N]> {
    let place =
        |name: &str| table.def.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
    let found: Vec<usize> = columns.into_iter().map_while(place).collect();
    found.try_into().ok()
}

/// Returns the values at these positions in the rows of a range of the primary key.
///
/// # Errors
/// Returns the errors of reading the table.
pub(crate) fn rows<const N: usize>(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    places: [usize; N],
    range: KeyRange,
) -> engine::Result<Vec<[Value; N]>> {
    let mut found = Vec::new();
    let keep = |row| -> engine::Result<()> {
        found.push(row);
        Ok(())
    };
    each(transaction, table, places, range, keep)?;
    Ok(found)
}

/// As [`rows`], for tables of any size: the rows are charged before the next one is read.
///
/// # Errors
/// Returns the errors of reading the table, and those of [`Charge::add`].
pub(crate) fn charged_rows<const N: usize>(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    places: [usize; N],
    range: KeyRange,
    charge: &mut Charge,
) -> Result<Vec<[Value; N]>> {
    let mut found = Vec::new();
    let keep = |row: [Value; N]| -> Result<()> {
        charge.add(row.iter().map(heap_bytes).sum())?;
        growth::push(&mut found, row, charge)
    };
    each(transaction, table, places, range, keep)?;
    Ok(found)
}

/// Calls `take` with the values at these positions of each row of a range of the primary key.
fn each<const N: usize, E: From<EngineError>>(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    places: [usize; N],
    range: KeyRange,
    mut take: impl FnMut([Value; N]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    assert!(places.iter().all(|at| *at < table.columns()), "the columns are those of the table");
    let mut scan =
        transaction.scan(table, IndexRef::Primary, range, Direction::Forward, LockMode::Snapshot)?;
    while let Some(row) = scan.next(transaction)? {
        let mut values = table.layout.decode_all(&row.image).map_err(EngineError::from)?;
        take(places.map(|at| std::mem::replace(&mut values[at], Value::Null)))?;
    }
    Ok(())
}
