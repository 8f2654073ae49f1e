//! Inserting rows through a view.

use super::InsertPlan;
use super::target::Through;
use crate::error::{Result, SqlError};
use crate::exec::Run;
use crate::exec::assign::{default_value, zero_value};
use crate::exec::expressions::is_left_out;
use crate::exec::row_update::check_view;
use types::Value;

impl InsertPlan {
    /// Reports whether the client is told the generated value, which a view may hide.
    pub(in crate::exec) fn shows_generated(&self) -> bool {
        self.through.as_ref().is_none_or(|through| through.shows_generated)
    }

    /// Reports whether a row needs a value for the column, because it has no default.
    fn has_no_default(&self, at: usize) -> bool {
        let column = &self.table.def.columns[at];
        let is_filled = column.generated.is_some()
            || column.roles.is_of_row()
            || self.table.def.auto_increment_column() == Some(at);
        column.demands_value() && !column.nullable && !is_filled
    }

    /// Warns, once per statement, about the columns without a default that the view lacks. Where
    /// triggers may supply the values, [`InsertPlan::default_of`] warns later.
    ///
    /// # Errors
    /// Returns 1423 (`ER_NO_DEFAULT_FOR_VIEW_FIELD`) in strict mode.
    pub(super) fn check_given(&self, run: &Run<'_, '_>) -> Result<()> {
        let Some(through) = self.through.as_ref().filter(|_| !self.fires()) else { return Ok(()) };
        for _ in self.missing.iter().filter(|at| self.has_no_default(**at)) {
            self.tell_no_default(run, through)?;
        }
        Ok(())
    }

    fn tell_no_default(&self, run: &Run<'_, '_>, through: &Through) -> Result<()> {
        let name = &through.name;
        let text = format!("Field of view '{name}' underlying table doesn't have a default value");
        if self.strictness(run).strict {
            return Err(SqlError::new(1423, text));
        }
        run.ctx.warn(1423, text);
        Ok(())
    }

    /// Returns the default of a column that a row has no value for.
    ///
    /// # Errors
    /// In strict mode, returns 1364 for a table's column without a default, and 1423 for one that
    /// the view lacks and no trigger has set.
    pub(super) fn default_of(&self, run: &Run<'_, '_>, at: usize, number: u64) -> Result<Value> {
        let Some(through) = self.through.as_ref().filter(|_| self.has_no_default(at)) else {
            return default_value(&self.table, at, number, self.strictness(run), run.ctx);
        };
        if self.fires() {
            self.tell_no_default(run, through)?;
        }
        zero_value(&self.table.def.columns[at], run.ctx)
    }

    /// Reports whether IGNORE leaves the row out because the view would not show it.
    pub(super) fn is_unseen(&self, run: &Run<'_, '_>, values: &[Value]) -> Result<bool> {
        let check = self.through.as_ref().and_then(|through| through.check.as_ref());
        match check.map(|check| check_view(run, check, values, &mut [])) {
            Some(Err(error)) if self.ignore && is_left_out(error.code) => {
                run.ctx.warn(error.code, error.message);
                Ok(true)
            }
            checked => checked.unwrap_or(Ok(())).map(|()| false),
        }
    }

    /// Checks that the view shows a row that REPLACE is about to delete.
    ///
    /// # Errors
    /// Returns 3059 when the view does not show the row.
    pub(super) fn check_seen(&self, run: &Run<'_, '_>, image: &[u8]) -> Result<()> {
        let Some(through) = &self.through else { return Ok(()) };
        if through.filter.is_empty() {
            return Ok(());
        }
        let values = self.table.layout.decode_all(image)?;
        for condition in &through.filter {
            if !condition.holds(&values, run.ctx)? {
                let text = "REPLACE cannot be executed as it requires deleting rows that are not in the view";
                return Err(SqlError::new(3059, text));
            }
        }
        Ok(())
    }
}
