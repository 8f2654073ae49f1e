//! Row events of parent tables where the source leaves the changes of child rows to its replicas'
//! engines, as MariaDB and MySQL before 9.6 do.
//!
//! MySQL since 9.6 logs the rows that a foreign key deletes or changes, and sets a flag on every
//! row event that says so.

use std::sync::Arc;

use binlog::event::{Header, RowsEvent, RowsKind, rows_flag};
use engine::{EngineError, PartialRow, StatementContext, Table, Transaction};
use types::ColumnMask;

use super::rows::{check_columns, incompatible};
use super::skipped_errors::{Answer, Tolerance};

/// Reports whether the source has left it to this server to work out which changes follow from rows
/// of the table.
fn is_ours(table: &Table, event: &RowsEvent<'_>) -> bool {
    const LOGGED_OR_OFF: u16 = rows_flag::USE_SQL_FOREIGN_KEY | rows_flag::NO_FOREIGN_KEY_CHECKS;
    table.is_related() && event.flags & LOGGED_OR_OFF == 0
}

/// Reports whether other rows may have to follow a change of the event's rows.
pub(super) fn has_followers(
    transaction: &Transaction,
    table: &Table,
    event: &RowsEvent<'_>,
) -> Result<bool, EngineError> {
    if !is_ours(table, event) {
        return Ok(false);
    }
    match event.kind {
        RowsKind::Write => Ok(false),
        RowsKind::Delete => Ok(transaction.delete_has_followers(table)),
        RowsKind::Update => changes_any(table, event, &followed(transaction, table)),
    }
}

/// Reports whether an update sets columns that other rows follow, whether or not their values
/// change.
pub(super) fn may_have_followers(transaction: &Transaction, table: &Table, event: &RowsEvent<'_>) -> bool {
    is_ours(table, event)
        && event
            .after_mask()
            .is_some_and(|set| followed(transaction, table).iter().any(|at| set.contains(at)))
}

/// Returns the columns whose change other rows may follow. In a table with system versioning, a
/// change of the row's end column deletes the row.
fn followed(transaction: &Transaction, table: &Table) -> ColumnMask {
    let mut columns = transaction.followed_columns(table);
    if let Some((_, end)) = table.def.row_period()
        && transaction.delete_has_followers(table)
    {
        columns.insert(end);
    }
    columns
}

/// Reports whether one of the event's rows changes one of these columns.
fn changes_any(table: &Table, event: &RowsEvent<'_>, columns: &ColumnMask) -> Result<bool, EngineError> {
    check_columns(table, event)?;
    let (Some(before_mask), Some(after_mask)) = (event.before_mask(), event.after_mask()) else {
        return Ok(false);
    };
    let set: Vec<usize> = columns.iter().filter(|&column| after_mask.contains(column)).collect();
    if set.is_empty() {
        return Ok(false);
    }
    for row in event.iter(&table.layout) {
        let row = row.map_err(|error| incompatible(table, error.to_string()))?;
        let (before, after) = (row.before.unwrap_or_default(), row.after.unwrap_or_default());
        for &column in &set {
            // A column that the before image does not have counts as changed.
            let was = table.layout.get_raw_partial(&before_mask, before, column)?;
            if was != table.layout.get_raw_partial(&after_mask, after, column)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Applies the event and the changes that follow from its rows. The transaction writes events of
/// its own for all of them.
pub(super) fn apply(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    header: &Header,
    event: &RowsEvent<'_>,
    tolerance: Tolerance<'_>,
) -> Result<(), EngineError> {
    check_columns(table, event)?;
    let none = ColumnMask::empty(0);
    let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
    let before_mask = before_mask.as_ref().unwrap_or(&none);
    let after_mask = after_mask.as_ref().unwrap_or(&none);
    transaction.set_server_id(header.server_id);
    let timestamp_us = u64::from(header.timestamp) * 1_000_000;
    transaction.begin_statement(StatementContext { timestamp_us, rows_query: None });
    for row in event.iter(&table.layout) {
        let row = row.map_err(|error| incompatible(table, error.to_string()))?;
        let before = PartialRow { mask: before_mask, image: row.before.unwrap_or_default() };
        let after = PartialRow { mask: after_mask, image: row.after.unwrap_or_default() };
        let changed = match event.kind {
            RowsKind::Update => transaction.apply_update_followed(table, before, after),
            _ => transaction.apply_delete_followed(table, before),
        };
        match changed {
            Ok(()) => {}
            Err(error) => match tolerance.answer(table, error)? {
                Answer::GoOn => {}
                Answer::EndEvent => break,
            },
        }
    }
    transaction.end_statement();
    Ok(())
}
