//! Row images without the virtual columns of a table. Those of MariaDB with
//! `binlog_row_image=MINIMAL` leave out virtual columns that no index has. This server's rows have
//! all columns (decision 0033), so the event is logged with them, and recovery and a replica of
//! this server need not compute anything.

use std::sync::Arc;

use binlog::event::{Header, RowsEvent, RowsKind};
use engine::{EngineError, PartialRow, Table, Transaction};
use sql::VirtualColumns;
use types::ColumnMask;

use super::rows::{Done, check_columns, incompatible};

/// Reports whether the event writes rows without giving all their virtual columns.
pub(super) fn are_missing(table: &Table, event: &RowsEvent<'_>) -> bool {
    table.virtual_mask().is_some_and(|virtuals| event.after_mask().is_some_and(|mask| !mask.covers(virtuals)))
}

/// Returns the event with the virtual columns.
pub(super) fn whole_event(
    transaction: &mut Transaction,
    columns: &mut VirtualColumns,
    table: &Arc<Table>,
    header: &Header,
    event: &RowsEvent<'_>,
) -> Result<Vec<u8>, EngineError> {
    check_columns(table, event)?;
    let none = ColumnMask::empty(table.columns());
    let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
    let (before_mask, after_mask) =
        (before_mask.as_ref().unwrap_or(&none), after_mask.unwrap_or(none.clone()));
    let mut whole_mask = match event.kind {
        RowsKind::Write => ColumnMask::full(table.columns()),
        _ => after_mask.clone(),
    };
    table.virtual_mask().iter().flat_map(|virtuals| virtuals.iter()).for_each(|at| whole_mask.insert(at));
    let mut out = Vec::new();
    let mut done = Done::behind(&mut out, header, table, event.flags);
    for row in event.iter(&table.layout) {
        let row = row.map_err(|error| incompatible(table, error.to_string()))?;
        let before = PartialRow { mask: before_mask, image: row.before.unwrap_or_default() };
        let after = PartialRow { mask: &after_mask, image: row.after.unwrap_or_default() };
        let new = match event.kind {
            RowsKind::Write => table.inserted_image(after)?,
            _ => {
                let current = match before_mask.is_full() {
                    true => before.image.to_vec(),
                    false => transaction.find_current(table, before)?.1,
                };
                let mut new = Vec::with_capacity(current.len() + after.image.len());
                table.layout.check_values(after.mask, after.image)?;
                table.layout.splice(&current, after.mask, after.image, &mut new)?;
                new
            }
        };
        // The values that the source gives override the computed ones.
        let computed = columns.complete(table, &new);
        let mut new = Vec::with_capacity(computed.len());
        table.layout.splice(&computed, after.mask, after.image, &mut new)?;
        let mut image = Vec::with_capacity(new.len());
        table.layout.extract(&new, &whole_mask, &mut image)?;
        match event.kind {
            RowsKind::Write => done.row(event.kind, (before_mask, &whole_mask), &[&image]),
            _ => done.row(event.kind, (before_mask, &whole_mask), &[before.image, &image]),
        }
    }
    done.finish(event.ends_statement());
    Ok(out)
}
