//! Changes of rows in tables with system versioning: as in MariaDB, the old version of a row stays
//! in the table beside the new one. In other tables, rows are changed directly.

use super::Run;
use crate::ddl::moment;
use engine::{ColumnRoles, EngineError, Row, Table, Use};
use std::sync::Arc;
use types::{ColumnMask, Value};

/// Returns the current moment in the type of the row period's columns: microseconds for a table
/// that is versioned by transactions, else a timestamp.
fn now(table: &Table, run: &Run<'_, '_>) -> Value {
    match table.def.is_versioned_by_transactions() {
        true => Value::UInt(run.ctx.now_us),
        false => moment(run.ctx.now_us),
    }
}

/// Returns a copy of a row image with another value in one column.
fn with_value(table: &Table, image: &[u8], at: usize, value: Value) -> engine::Result<Vec<u8>> {
    let mut values = table.layout.decode_all(image)?;
    values[at] = value;
    let mut changed = Vec::with_capacity(image.len());
    table.layout.encode(&values, &mut changed)?;
    Ok(changed)
}

/// Reports whether a change of this column alone makes a version of history.
fn is_versioned(table: &Table, at: usize) -> bool {
    let roles = table.def.columns[at].roles;
    !roles.has(ColumnRoles::UNVERSIONED) && !roles.is_of_row()
}

fn makes_history(table: &Table, changed: &ColumnMask) -> bool {
    changed.iter().any(|at| is_versioned(table, at))
}

/// Reports whether one bound of a row period lies before another.
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
    /// Updates a row, and inserts its old version as history if a versioned column changes.
    pub(super) fn update_row(&mut self, table: &Arc<Table>, old: &Row, image: &[u8]) -> engine::Result<()> {
        self.ctx.counters.handler_update.count();
        self.note_change(table, Use::Update);
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
        // A version that began at this same moment was never visible and leaves no history.
        match is_before(&began, &now) {
            true => {
                let ended = with_value(table, &old.image, end, now)?;
                self.with(|txn| txn.insert(table, &ended))
            }
            false => Ok(()),
        }
    }

    /// Updates a row of a table without system versioning, in these columns at most.
    pub(super) fn update_columns(
        &mut self,
        table: &Arc<Table>,
        old: Row,
        image: Vec<u8>,
        columns: &ColumnMask,
    ) -> engine::Result<()> {
        self.ctx.counters.handler_update.count();
        self.note_change(table, Use::Update);
        self.with(|txn| txn.update_columns(table, old, image, columns))
    }

    /// Deletes a row. In a versioned table, the row stays as history that ends now.
    pub(super) fn delete_row(&mut self, table: &Arc<Table>, old: &Row) -> engine::Result<()> {
        self.ctx.counters.handler_delete.count();
        self.note_change(table, Use::Delete);
        let Some((_, end)) = table.def.row_period() else { return self.with(|txn| txn.delete(table, old)) };
        let image = with_value(table, &old.image, end, now(table, self))?;
        match self.with(|txn| txn.update(table, old, &image)) {
            // The table has a version of this row that ended at this same moment.
            Err(EngineError::Duplicate { .. }) => self.with(|txn| txn.delete(table, old)),
            updated => updated,
        }
    }
}
