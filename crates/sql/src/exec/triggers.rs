//! Fires the triggers around changes of rows. A table without triggers costs one check per
//! statement.

use super::assign::zero_value;
use super::run::Handle;
use super::{Run, Strictness};
use crate::error::{Result, SqlError};
use crate::expr::TriggerRow;
use engine::{Row, Table, TriggerEvent};
use std::cell::RefCell;
use std::sync::Arc;
use types::Value;

impl Run<'_, '_> {
    /// Runs the matching triggers of a table for a row, in the statement's transaction.
    fn fire(&mut self, table: &Arc<Table>, row: TriggerRow<'_>) -> Result<()> {
        let ctx = self.ctx;
        if !ctx.variables.fire_triggers {
            return Ok(());
        }
        match &mut self.txn {
            Handle::Own(txn) => {
                let shared = RefCell::new(&mut **txn);
                ctx.programs.fire(table, row, &shared, ctx)
            }
            Handle::Shared(shared) => ctx.programs.fire(table, row, *shared, ctx),
        }
    }

    /// Fires the BEFORE INSERT triggers, which may change the new row.
    pub(super) fn before_insert(&mut self, table: &Arc<Table>, new: &mut [Value]) -> Result<()> {
        let (event, before) = (TriggerEvent::Insert, true);
        self.fire(table, TriggerRow { event, before, old: None, new: Some(new) })
    }

    /// Fires the AFTER INSERT triggers.
    pub(super) fn after_insert(&mut self, table: &Arc<Table>, new: &mut [Value]) -> Result<()> {
        let (event, before) = (TriggerEvent::Insert, false);
        self.fire(table, TriggerRow { event, before, old: None, new: Some(new) })
    }

    /// Fires the BEFORE UPDATE triggers, which may change the new row.
    pub(super) fn before_update(
        &mut self,
        table: &Arc<Table>,
        old: &[Value],
        new: &mut [Value],
    ) -> Result<()> {
        let (event, before) = (TriggerEvent::Update, true);
        self.fire(table, TriggerRow { event, before, old: Some(old), new: Some(new) })
    }

    /// Fires the AFTER UPDATE triggers.
    pub(super) fn after_update(
        &mut self,
        table: &Arc<Table>,
        old: &[Value],
        new: &mut [Value],
    ) -> Result<()> {
        let (event, before) = (TriggerEvent::Update, false);
        self.fire(table, TriggerRow { event, before, old: Some(old), new: Some(new) })
    }

    /// Fires the BEFORE DELETE triggers. Returns the row's columns if the table has triggers for
    /// DELETE, for [`Run::after_delete`].
    pub(super) fn before_delete(&mut self, table: &Arc<Table>, row: &Row) -> Result<Option<Vec<Value>>> {
        if !table.has_triggers(TriggerEvent::Delete.bit()) {
            return Ok(None);
        }
        let old = table.layout.decode_all(&row.image)?;
        let (event, before) = (TriggerEvent::Delete, true);
        self.fire(table, TriggerRow { event, before, old: Some(&old), new: None })?;
        Ok(Some(old))
    }

    /// Fires the AFTER DELETE triggers for the row that had these columns.
    pub(super) fn after_delete(&mut self, table: &Arc<Table>, old: Option<Vec<Value>>) -> Result<()> {
        let Some(old) = old else { return Ok(()) };
        let (event, before) = (TriggerEvent::Delete, false);
        self.fire(table, TriggerRow { event, before, old: Some(&old), new: None })
    }
}

/// Checks that no column is NULL that must not be. A table with triggers is checked here because
/// the BEFORE triggers may supply the missing values.
///
/// # Errors
/// Returns 1048 (`ER_BAD_NULL_ERROR`) unless `strictness` turns NULL into the type's zero value.
pub(super) fn check_nulls(
    run: &Run<'_, '_>,
    table: &Table,
    values: &mut [Value],
    strictness: Strictness,
) -> Result<()> {
    assert_eq!(values.len(), table.columns(), "a row has a value for each column of its table");
    for (column, value) in table.def.columns.iter().zip(values) {
        if !value.is_null() || column.nullable || column.generated.is_some() {
            continue;
        }
        if !strictness.null_becomes_zero {
            return Err(SqlError::column_not_null(&column.name));
        }
        run.ctx.warn(1048, format!("Column '{}' cannot be null", column.name));
        *value = zero_value(column, run.ctx)?;
    }
    Ok(())
}
