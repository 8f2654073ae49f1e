//! The rows of a system table in the schema `mysql`, for functions and statements that look into
//! one. The table may be one that a user has made in another form.

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
) -> Result<Vec<[Value; N]>, EngineError> {
    assert!(places.iter().all(|at| *at < table.columns()), "the columns are those of the table");
    let mut scan =
        transaction.scan(table, IndexRef::Primary, range, Direction::Forward, LockMode::Snapshot)?;
    let mut found = Vec::new();
    while let Some(row) = scan.next(transaction)? {
        let values = table.layout.decode_all(&row.image)?;
        found.push(places.map(|at| values[at].clone()));
    }
    Ok(found)
}
