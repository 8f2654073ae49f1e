//! UPDATE of one table.

use super::portion::{Portion, Remainders};
use super::row_update::{Beside, RowUpdate, bind_assignments};
use super::{Changes, Run, refuse_changes};
use crate::ast;
use crate::bind::{Binder, Place, Target, Wanted, bind_target};
use crate::error::{Result, SqlError};
use crate::host::Privilege;
use crate::plan::{Source, TableStep};
use engine::TriggerEvent;

/// A bound UPDATE of one table.
pub(crate) struct UpdatePlan {
    pub target: Target,
    update: RowUpdate,
    /// The part of each row's period that is updated. `None` without FOR PORTION OF.
    portion: Option<Box<Portion>>,
    /// Whether all rows are found before the first is changed, because a change could make the scan
    /// find a row again.
    collect_first: bool,
    /// Whether new values may be spliced into a row's image; see [`RowUpdate::store_plain`].
    is_plain: bool,
}

pub(crate) fn bind_update(binder: &mut Binder<'_>, update: &ast::Update) -> Result<UpdatePlan> {
    let mut target = bind_target(
        binder,
        &update.from,
        Privilege::Update,
        update.filter.as_ref(),
        &update.order_by,
        update.limit.as_ref(),
    )?;
    target.semi_consistent = true;
    let table = target.table().clone();
    check_safe(binder, &target.step, target.limit.is_some())?;
    for assignment in &update.assignments {
        if let Some(qualifier) = &assignment.table
            && *qualifier != target.scope.tables[0].alias
        {
            let shown = format!("{qualifier}.{}", assignment.column);
            return Err(SqlError::unknown_column(shown, "field list"));
        }
    }
    let named = &target.scope.tables[0];
    if binder.around.changes_by_column {
        let (schema, name) = (&named.schema, &named.org_table);
        for assignment in &update.assignments {
            binder.host.check_column(Privilege::Update, schema, name, &assignment.column)?;
        }
    }
    let written = update.assignments.iter().map(|a| (a.column.as_str(), &a.value));
    let mut place = Place::new(&target.scope, "field list");
    let assignments = bind_assignments(binder, target.names(), written, &mut place)?;
    let check = match &target.view {
        Some(view) => {
            let columns: Vec<usize> = assignments.iter().map(|(at, _)| *at).collect();
            view.check_rights(binder, &Wanted { privilege: Privilege::Update, columns: Some(&columns) })?;
            view.check(binder)?
        }
        None => None,
    };
    let partitions = update.from.partitions_of(&target.scope.tables[0].alias);
    let portion = Portion::of(binder, &target, &update.from)?;
    if let Some(portion) = &portion {
        portion.check_not_assigned(assignments.iter().map(|(at, _)| *at))?;
    }
    let update = RowUpdate::new(binder, table.clone(), assignments, partitions, update.ignore)?;
    let mut update = update.with_check(check);
    if let Some(portion) = &portion {
        update = update.cutting(portion.columns());
    }
    binder.noted.reads.check_none(&target.changed(), "UPDATE")?;
    let Source::Stored { access, .. } = &target.step.source else {
        return Err(SqlError::not_supported("UPDATE of a computed table"));
    };
    // In a table with system versioning, the old versions are inserted into the scanned table. So
    // is what is left of a row's period.
    let collect_first = table.def.temporal.versioning.is_some()
        || portion.is_some()
        || !access.is_point
            && (table.index_columns(access.index).iter().any(|part| update.changes(part.column))
                || table.def.primary.iter().flatten().any(|part| update.changes(part.column)));
    let mut slots = Vec::new();
    update.slots(target.step.base, &mut slots);
    portion.iter().flat_map(|portion| portion.exprs()).for_each(|expr| expr.slots(&mut slots));
    target.need_used_columns(slots);
    let is_plain = portion.is_none() && target.step.base == 0 && update.is_plain();
    Ok(UpdatePlan { target, update, portion, collect_first, is_plain })
}

/// Checks, for `sql_safe_updates`, that the table is read by a key or that there is a LIMIT.
///
/// # Errors
/// Returns 1175 (`ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE`) when neither is the case.
pub(super) fn check_safe(binder: &Binder<'_>, step: &TableStep, has_limit: bool) -> Result<()> {
    let Source::Stored { access, .. } = &step.source else { return Ok(()) };
    if binder.variables.sql_safe_updates && access.alternatives.is_empty() && !has_limit {
        return Err(SqlError::new(
            1175,
            "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. ",
        ));
    }
    Ok(())
}

/// Sets the text that an UPDATE puts into its OK packet.
pub(super) fn note_info(run: &Run<'_, '_>, changes: &mut Changes) {
    let warnings = run.ctx.diagnostics.borrow().count;
    changes.info = super::info([
        ("Rows matched: ", changes.found_rows),
        ("  Changed: ", changes.affected_rows),
        ("  Warnings: ", warnings),
    ]);
}

impl UpdatePlan {
    /// Reports whether the statement says IGNORE.
    pub fn has_ignore(&self) -> bool {
        self.update.has_ignore()
    }

    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        refuse_changes(run, self.target.table(), TriggerEvent::Update.bit())?;
        let mut changes = Changes::default();
        let mut partial = Vec::new();
        let mut remainders = self.portion.as_deref().map(Remainders::of);
        self.target.for_each(run, self.collect_first, &mut |run, row, values| {
            changes.found_rows += 1;
            let number = changes.found_rows;
            if self.is_plain {
                let changed = self.update.store_plain(run, row, values, number, &mut partial)?;
                changes.affected_rows += u64::from(changed);
                return Ok(());
            }
            if let Some(remainders) = &mut remainders {
                remainders.cut(run, values)?;
            }
            self.update.assign(run, number, 0, values)?;
            let beside = remainders.as_mut().map(|remainders| remainders as &mut dyn Beside);
            let changed = self.update.store(run, &row, values, number, &mut [], beside)?;
            changes.affected_rows += u64::from(changed);
            Ok(())
        })?;
        assert!(changes.affected_rows <= changes.found_rows, "only rows that were found are changed");
        match remainders {
            Some(remainders) => remainders.note_info(run, &mut changes),
            None => note_info(run, &mut changes),
        }
        Ok(changes)
    }
}
