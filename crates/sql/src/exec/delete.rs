//! DELETE.

use super::{Changes, Run};
use crate::ast;
use crate::bind::{Binder, Target, bind_target};
use crate::error::{Result, SqlError};

/// A bound DELETE.
pub(crate) struct DeletePlan {
    pub target: Target,
}

pub(crate) fn bind_delete(binder: &mut Binder<'_>, delete: &ast::Delete) -> Result<DeletePlan> {
    if delete.targets.len() > 1 {
        return Err(SqlError::not_supported("DELETE from several tables"));
    }
    let mut target =
        bind_target(binder, &delete.from, delete.filter.as_ref(), &delete.order_by, delete.limit.as_ref())?;
    if let [named] = &delete.targets[..]
        && named.name != target.scope.tables[0].alias
    {
        return Err(SqlError::new(1109, format!("Unknown table '{}' in MULTI DELETE", named.name)));
    }
    let table = target.table();
    let (schema, name) = (&table.def.schema, &table.def.name);
    binder.host.check_privilege(crate::host::Privilege::Delete, Some(schema), Some(name))?;
    super::update::check_safe(binder, &target)?;
    binder.note_change(table, false);
    target.need_used_columns();
    Ok(DeletePlan { target })
}

impl DeletePlan {
    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        let table = self.target.table().clone();
        let mut changes = Changes::default();
        self.target.for_each(run, false, &mut |run, row, _| {
            run.txn.delete(&table, &row)?;
            changes.affected_rows += 1;
            Ok(())
        })?;
        changes.found_rows = changes.affected_rows;
        Ok(changes)
    }
}
