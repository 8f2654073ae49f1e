//! Changes of rows of a table with system versioning: what a row was is kept beside what it is, as
//! MariaDB keeps it. Of other tables rows are changed as they are.

use super::Run;
use crate::ddl::moment;
use engine::{ColumnRoles, EngineError, Row, Table};
use std::sync::Arc;
use types::{ColumnMask, Value};

/// The row's own end, in the columns' type, where it ends now.
fn now(table: &Table, run: &Run<'_, '_>) -> Value {
    match table.def.is_versioned_by_transactions() {
        true => Value::UInt(run.ctx.now_us),
        false => moment(run.ctx.now_us),
    }
}

/// An image with another value in one column.
fn with_value(table: &Table, image: &[u8], at: usize, value: Value) -> engine::Result<Vec<u8>> {
    let mut values = table.layout.decode_all(image)?;
    values[at] = value;
    let mut changed = Vec::with_capacity(image.len());
    table.layout.encode(&values, &mut changed)?;
    Ok(changed)
}

/// Whether a column is versioned: a change of it alone makes history.
fn is_versioned(table: &Table, at: usize) -> bool {
    let roles = table.def.columns[at].roles;
    !roles.has(ColumnRoles::UNVERSIONED) && !roles.is_of_row()
}

fn makes_history(table: &Table, changed: &ColumnMask) -> bool {
    changed.iter().any(|at| is_versioned(table, at))
}

/// Whether a moment in a row is before another one.
fn is_before(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::UInt(one), Value::UInt(other)) => one < other,
        (
            Value::Timestamp { seconds: one, micros: of_one },
            Value::Timestamp { seconds: other, micros: of_other },
        ) => (one, of_one) < (other, of_other),
        _ => true,
    }
}

impl Run<'_, '_> {
    /// Changes a row, and keeps what it was.
    pub(super) fn update_row(&mut self, table: &Arc<Table>, old: &Row, image: &[u8]) -> engine::Result<()> {
        self.ctx.counters.handler_update.count();
        let Some((start, end)) = table.def.row_period() else {
            return self.with(|txn| txn.update(table, old, image));
        };
        if !makes_history(table, &table.layout.changed(&old.image, image)?) {
            return self.with(|txn| txn.update(table, old, image));
        }
        let now = now(table, self);
        let began = table.layout.decode(&old.image, start)?;
        let image = with_value(table, image, start, now.clone())?;
        self.with(|txn| txn.update(table, old, &image))?;
        // What began with this very moment was never to be seen.
        match is_before(&began, &now) {
            true => {
                let ended = with_value(table, &old.image, end, now)?;
                self.with(|txn| txn.insert(table, &ended))
            }
            false => Ok(()),
        }
    }

    /// Deletes a row, and keeps what it was.
    pub(super) fn delete_row(&mut self, table: &Arc<Table>, old: &Row) -> engine::Result<()> {
        self.ctx.counters.handler_delete.count();
        let Some((_, end)) = table.def.row_period() else { return self.with(|txn| txn.delete(table, old)) };
        let image = with_value(table, &old.image, end, now(table, self))?;
        match self.with(|txn| txn.update(table, old, &image)) {
            // It ended at this very moment before.
            Err(EngineError::Duplicate { .. }) => self.with(|txn| txn.delete(table, old)),
            updated => updated,
        }
    }
}
