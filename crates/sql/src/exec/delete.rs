//! DELETE from one table.

use super::portion::{Portion, Remainders};
use super::{Changes, Run, refuse_changes};
use crate::ast;
use crate::bind::{Binder, Target, Wanted, bind_target};
use crate::error::{Result, SqlError};
use crate::host::Privilege;
use engine::{EngineError, TriggerEvent};

/// A bound DELETE from one table.
pub(crate) struct DeletePlan {
    pub target: Target,
    ignore: bool,
    /// Whether the statement is DELETE HISTORY, which deletes the rows of history for good.
    history: bool,
    /// The part of each row's period that is deleted. `None` without FOR PORTION OF.
    portion: Option<Box<Portion>>,
}

pub(crate) fn bind_delete(binder: &mut Binder<'_>, delete: &ast::Delete) -> Result<DeletePlan> {
    let mut target = bind_target(
        binder,
        &delete.from,
        Privilege::Delete,
        delete.filter.as_ref(),
        &delete.order_by,
        delete.limit.as_ref(),
    )?;
    if let [named] = &delete.targets[..]
        && named.name != target.scope.tables[0].alias
    {
        return Err(SqlError::new(1109, format!("Unknown table '{}' in MULTI DELETE", named.name)));
    }
    let table = target.table();
    super::update::check_safe(binder, &target.step, target.limit.is_some())?;
    if let Some(view) = &target.view {
        view.check_rights(binder, &Wanted { privilege: Privilege::Delete, columns: None })?;
    }
    binder.noted.reads.check_none(&target.changed(), "DELETE")?;
    binder.noted.logging.note_change(table, binder.noted.tables.len() > 1, false);
    let portion = Portion::of(binder, &target, &delete.from)?;
    let mut slots = Vec::new();
    portion.iter().flat_map(|portion| portion.exprs()).for_each(|expr| expr.slots(&mut slots));
    target.need_used_columns(slots);
    let history =
        portion.is_none() && matches!(&delete.from, ast::TableRef::Table { system_time: Some(_), .. });
    Ok(DeletePlan { target, ignore: delete.ignore, history, portion })
}

impl DeletePlan {
    /// Reports whether the statement says IGNORE.
    pub fn has_ignore(&self) -> bool {
        self.ignore
    }

    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        let inserts = if self.portion.is_some() { TriggerEvent::Insert.bit() } else { 0 };
        refuse_changes(run, self.target.table(), TriggerEvent::Delete.bit() | inserts)?;
        let table = self.target.table();
        let mut changes = Changes::default();
        let mut remainders = self.portion.as_deref().map(Remainders::of);
        let collect_first = table.def.temporal.versioning.is_some() || self.portion.is_some();
        self.target.for_each(run, collect_first, &mut |run, row, values| {
            let old = run.before_delete(table, &row)?;
            let deleted = match (self.history, &mut remainders) {
                (true, _) => run.with(|txn| txn.delete(table, &row)),
                (false, None) => run.delete_row(table, &row),
                (false, Some(remainders)) => remainders.delete(run, &row, values).map(|()| Ok(()))?,
            };
            match deleted {
                Ok(()) => {
                    changes.affected_rows += 1;
                    run.after_delete(table, old)?;
                }
                // A foreign key's ON DELETE CASCADE has deleted this row together with another
                // one of the statement.
                Err(EngineError::RowNotFound { .. }) if table.is_related() => {}
                Err(error) if self.ignore && error.is_ignorable() => {
                    let error = SqlError::from(error);
                    run.ctx.warn(error.code, error.message);
                }
                Err(error) => return Err(error.into()),
            }
            Ok(())
        })?;
        changes.found_rows = changes.affected_rows;
        Ok(changes)
    }
}
