//! Rows that are put through a view.

use super::target::Through;
use super::{Generator, InsertPlan};
use crate::error::{Result, SqlError};
use crate::exec::Run;
use crate::exec::assign::{default_value, zero_value};
use crate::exec::expressions::is_left_out;
use crate::exec::row_update::check_view;
use types::Value;

impl InsertPlan {
    /// Whether the client is told which value was generated: a view may not have the column.
    pub(in crate::exec) fn shows_generated(&self) -> bool {
        self.through.as_ref().is_none_or(|through| through.shows_generated)
    }

    /// Whether a row has to have a value for a column.
    fn has_no_default(&self, at: usize) -> bool {
        let column = &self.table.def.columns[at];
        let is_filled = column.generated.is_some()
            || column.roles.is_of_row()
            || self.table.def.auto_increment_column() == Some(at);
        column.demands_value() && !column.nullable && !is_filled
    }

    /// Tells of the columns that have no default and that the view lacks, once a statement. Where a
    /// trigger may give them values it is asked later.
    ///
    /// # Errors
    /// 1423 in strict mode.
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

    /// The default of a column that a row has no value for.
    ///
    /// # Errors
    /// 1364, or 1423 where a view lacks the column and no trigger has given it a value.
    pub(super) fn default_of(&self, run: &Run<'_, '_>, at: usize, number: u64) -> Result<Value> {
        let Some(through) = self.through.as_ref().filter(|_| self.has_no_default(at)) else {
            return default_value(&self.table, at, number, self.strictness(run), run.ctx);
        };
        if self.fires() {
            self.tell_no_default(run, through)?;
        }
        zero_value(&self.table.def.columns[at])
    }

    /// Whether a row is left out, because the view through which it is put would not show it and
    /// IGNORE was said.
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

    /// As [`InsertPlan::is_unseen`], of a row that is new: as in MySQL its AUTO_INCREMENT value is
    /// not there yet.
    pub(super) fn is_new_unseen(
        &self,
        run: &Run<'_, '_>,
        values: &mut [Value],
        generator: &Generator,
    ) -> Result<bool> {
        let generated = generator.column.filter(|_| generator.of_row.is_some());
        let generated = generated.map(|at| (at, std::mem::replace(&mut values[at], Value::Int(0))));
        let is_unseen = self.is_unseen(run, values);
        if let Some((at, value)) = generated {
            values[at] = value;
        }
        is_unseen
    }

    /// Error 3059 of a row that REPLACE would delete and the view does not show.
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
