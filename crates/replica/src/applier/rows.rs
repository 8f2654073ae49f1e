//! Row events handed to the engine's write set.

use std::sync::Arc;

use binlog::event::{RowsEvent, RowsKind};
use engine::{EngineError, PartialRow, Table, Transaction};
use types::ColumnMask;

/// Hands every row of the event to the transaction.
pub(super) fn apply(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    event: &RowsEvent<'_>,
) -> Result<(), EngineError> {
    if event.columns != table.columns() {
        return Err(incompatible(
            table,
            format!("a row event has {} columns, the table {}", event.columns, table.columns()),
        ));
    }
    let none = ColumnMask::empty(0);
    let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
    let before_mask = before_mask.as_ref().unwrap_or(&none);
    let after_mask = after_mask.as_ref().unwrap_or(&none);
    for row in event.iter(&table.layout) {
        let row = row.map_err(|error| incompatible(table, error.to_string()))?;
        let before = PartialRow { mask: before_mask, image: row.before.unwrap_or_default() };
        let after = PartialRow { mask: after_mask, image: row.after.unwrap_or_default() };
        match event.kind {
            RowsKind::Write => transaction.apply_insert(table, after)?,
            RowsKind::Update => transaction.apply_update(table, before, after)?,
            RowsKind::Delete => transaction.apply_delete(table, before)?,
        }
    }
    Ok(())
}

fn incompatible(table: &Table, reason: String) -> EngineError {
    EngineError::Incompatible { table: table.qualified_name().to_string(), reason }
}
