//! UPDATE.

use super::assign::{Strictness, now_for, to_column};
use super::{Changes, RowExpressions, Run, refuse_triggers};
use crate::ast;
use crate::bind::{Binder, Place, Target, bind_target};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::host::Privilege;
use crate::plan::Source;
use engine::{Table, TriggerEvent};
use types::{ColumnMask, Value};

/// The value of an assignment.
pub(crate) enum NewValue {
    Expr(Expr),
    Default,
}

/// A bound UPDATE.
pub(crate) struct UpdatePlan {
    pub target: Target,
    /// In the order written: later ones see what earlier ones assigned.
    assignments: Vec<(usize, NewValue)>,
    /// ON UPDATE CURRENT_TIMESTAMP columns that are not assigned.
    stamped: Vec<usize>,
    /// The columns assigned, and those with the stamped ones.
    assigned: ColumnMask,
    assigned_or_stamped: ColumnMask,
    ignore: bool,
    /// What the definition computes and asks of a row; `None` of a plain table.
    expressions: Option<Box<RowExpressions>>,
    /// The rows are found by columns that change.
    collect_first: bool,
}

/// Binds the right sides of SET.
pub(super) fn bind_assignments<'w>(
    binder: &mut Binder<'_>,
    table: &Table,
    written: impl Iterator<Item = (&'w str, &'w ast::Expr)>,
    place: &mut Place<'_>,
) -> Result<Vec<(usize, NewValue)>> {
    let mut assignments = Vec::new();
    for (name, value) in written {
        let at = table.def.column(name).ok_or_else(|| SqlError::unknown_column(name, "field list"))?;
        let column = &table.def.columns[at];
        let value = match value {
            // It is computed in any case.
            ast::Expr::Default if column.generated.is_some() => continue,
            _ if column.generated.is_some() => {
                return Err(super::expressions::value_not_allowed(column, &table.def));
            }
            ast::Expr::Default => NewValue::Default,
            value => NewValue::Expr(binder.expr(value, place)?.beside(&column.ty)),
        };
        assignments.push((at, value));
    }
    Ok(assignments)
}

/// The columns that get the time of the change unless they are assigned.
pub(super) fn stamped_columns(table: &Table, assignments: &[(usize, NewValue)]) -> Vec<usize> {
    let assigned = |at: usize| assignments.iter().any(|(column, _)| *column == at);
    let columns = table.def.columns.iter().enumerate();
    columns.filter(|(at, column)| column.on_update_now && !assigned(*at)).map(|(at, _)| at).collect()
}

/// Computes the new values of a row into `values`, which holds the old ones (and what else the
/// expressions see).
pub(super) fn assign_all(
    run: &Run<'_, '_>,
    table: &Table,
    assignments: &[(usize, NewValue)],
    row_number: u64,
    strictness: Strictness,
    values: &mut [Value],
) -> Result<()> {
    for (at, value) in assignments {
        let column = &table.def.columns[*at];
        let new = match value {
            NewValue::Expr(expr) => {
                let value = expr.eval(values, run.ctx)?;
                to_column(&value, column, row_number, strictness, run.ctx)?
            }
            NewValue::Default => super::assign::default_value(table, *at, row_number, strictness, run.ctx)?,
        };
        values[*at] = new;
    }
    Ok(())
}

/// The partitions that were chosen of the one table.
fn chosen_partitions(from: &ast::TableRef) -> &[String] {
    match from {
        ast::TableRef::Table { partitions, .. } => partitions,
        _ => &[],
    }
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
    check_safe(binder, &target)?;
    for assignment in &update.assignments {
        if let Some(qualifier) = &assignment.table
            && *qualifier != target.scope.tables[0].alias
        {
            let shown = format!("{qualifier}.{}", assignment.column);
            return Err(SqlError::unknown_column(shown, "field list"));
        }
    }
    if binder.changes_by_column {
        let (schema, name) = (&table.def.schema, &table.def.name);
        for assignment in &update.assignments {
            binder.host.check_column(Privilege::Update, schema, name, &assignment.column)?;
        }
    }
    let written = update.assignments.iter().map(|a| (a.column.as_str(), &a.value));
    let mut place = Place::new(&target.scope, "field list");
    let assignments = bind_assignments(binder, &table, written, &mut place)?;
    let stamped = stamped_columns(&table, &assignments);
    binder.note_change(&table, update.ignore);
    let changes = |at: usize| {
        assignments.iter().any(|(column, _)| *column == at)
            || stamped.contains(&at)
            || table.def.columns[at].generated.is_some()
    };
    super::expressions::check_kept_keys(&table.def, changes)?;
    let expressions =
        RowExpressions::within(binder, &table.def, chosen_partitions(&update.from))?.map(Box::new);
    let Source::Stored { access, .. } = &target.step.source else {
        return Err(SqlError::not_supported("UPDATE of a computed table"));
    };
    let collect_first = !access.is_point
        && (table.index_columns(access.index).iter().any(|part| changes(part.column))
            || table.def.primary.iter().flatten().any(|part| changes(part.column)));
    let exprs = assignments.iter().filter_map(|(_, value)| match value {
        NewValue::Expr(expr) => Some(expr),
        NewValue::Default => None,
    });
    target.need_used_columns(exprs);
    let mut assigned = ColumnMask::empty(table.def.columns.len());
    assignments.iter().for_each(|(at, _)| assigned.insert(*at));
    let mut assigned_or_stamped = assigned.clone();
    stamped.iter().for_each(|at| assigned_or_stamped.insert(*at));
    Ok(UpdatePlan {
        assigned,
        assigned_or_stamped,
        assignments,
        stamped,
        ignore: update.ignore,
        expressions,
        collect_first,
        target,
    })
}

/// sql_safe_updates: a key in the conditions, or a LIMIT.
pub(super) fn check_safe(binder: &Binder<'_>, target: &Target) -> Result<()> {
    let Source::Stored { access, .. } = &target.step.source else { return Ok(()) };
    if binder.variables.sql_safe_updates && access.alternatives.is_empty() && target.limit.is_none() {
        return Err(SqlError::new(
            1175,
            "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. ",
        ));
    }
    Ok(())
}

/// A row with the columns of `mask` as they are in `values`.
fn spliced(table: &Table, old: &[u8], mask: &ColumnMask, values: &[Value]) -> Result<Vec<u8>> {
    let mut partial = Vec::with_capacity(old.len());
    table.layout.encode_partial(values, mask, &mut partial)?;
    let mut image = Vec::with_capacity(old.len() + partial.len());
    table.layout.splice(old, mask, &partial, &mut image)?;
    Ok(image)
}

impl UpdatePlan {
    /// A new row with its generated columns, which satisfies the constraints.
    fn completed(
        &self,
        run: &Run<'_, '_>,
        expressions: &RowExpressions,
        image: &[u8],
        number: u64,
        strictness: Strictness,
    ) -> Result<Vec<u8>> {
        let table = self.target.table();
        let mut values = table.layout.decode_all(image)?;
        let defaulted: Vec<usize> = self
            .assignments
            .iter()
            .filter(|(_, value)| matches!(value, NewValue::Default))
            .map(|(at, _)| *at)
            .collect();
        expressions.fill_defaults(&table.def, &defaulted, &mut values, number, strictness, run.ctx)?;
        expressions.generate(&table.def, &mut values, number, strictness, run.ctx)?;
        if self.ignore || !run.is_received {
            expressions.check(&values, run.ctx)?;
        }
        super::assign::encode(table, &values)
    }

    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        refuse_triggers(self.target.table(), TriggerEvent::Update.bit())?;
        let table = self.target.table();
        let strictness =
            Strictness { strict: run.ctx.strict && !self.ignore, null_becomes_zero: self.ignore };
        let mut changes = Changes::default();
        self.target.for_each(run, self.collect_first, &mut |run, row, values| {
            changes.found_rows += 1;
            let number = changes.found_rows;
            assign_all(run, table, &self.assignments, number, strictness, values)?;
            let mut image = spliced(table, &row.image, &self.assigned, values)?;
            if image == row.image {
                return Ok(());
            }
            if !self.stamped.is_empty() {
                for at in &self.stamped {
                    values[*at] = now_for(&table.def.columns[*at], run.ctx)?;
                }
                image = spliced(table, &row.image, &self.assigned_or_stamped, values)?;
            }
            if let Some(expressions) = &self.expressions {
                match self.completed(run, expressions, &image, number, strictness) {
                    Err(error) if self.ignore && super::expressions::is_left_out(error.code) => {
                        run.ctx.warn(error.code, error.message);
                        return Ok(());
                    }
                    completed => image = completed?,
                }
            }
            match run.txn.update(table, &row, &image) {
                Ok(()) => {
                    changes.affected_rows += 1;
                    Ok(())
                }
                Err(error) if self.ignore && error.is_ignorable() => {
                    let error = SqlError::from(error);
                    run.ctx.warn(error.code, error.message);
                    Ok(())
                }
                Err(error) => Err(error.into()),
            }
        })?;
        let warnings = run.ctx.diagnostics.borrow().count;
        changes.info = super::info([
            ("Rows matched: ", changes.found_rows),
            ("  Changed: ", changes.affected_rows),
            ("  Warnings: ", warnings),
        ]);
        Ok(changes)
    }
}
