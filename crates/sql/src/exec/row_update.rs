//! UPDATE of one row: the assignments of SET, the columns with ON UPDATE CURRENT_TIMESTAMP, and the
//! expressions and constraints of the table's definition.

use super::assign::{
    COPIES_OF_AN_IMAGE, Strictness, default_value, encode, image_bytes, leave_out, now_for, of_table,
    to_column, zero_value,
};
use super::{RowExpressions, Run};
use crate::ast;
use crate::bind::{Binder, Names, Place, ViewCheck};
use crate::error::{Result, SqlError};
use crate::expr::{Context, Expr};
use crate::plan::pad_columns;
use engine::{Row, Table, TriggerEvent};
use std::sync::Arc;
use types::{ColumnMask, Value};

/// The new value of an assigned column.
pub(crate) enum NewValue {
    Expr(Expr),
    Default,
}

impl NewValue {
    /// Makes the value read CHAR columns with spaces up to their length.
    pub fn pad_columns(&mut self) {
        if let NewValue::Expr(expr) = self {
            pad_columns(expr);
        }
    }
}

/// Reports whether the column is computed, so that statements cannot set it.
pub(super) fn is_computed(column: &engine::ColumnDef) -> bool {
    column.generated.is_some() || column.roles.is_of_row()
}

/// Binds the right side of an assignment to a column. Returns `None` for DEFAULT of a generated
/// column, which is computed anyway.
pub(super) fn bind_new_value(
    binder: &mut Binder<'_>,
    table: &Table,
    at: usize,
    value: &ast::Expr,
    place: &mut Place<'_>,
) -> Result<Option<NewValue>> {
    let column = &table.def.columns[at];
    Ok(match value {
        ast::Expr::Default if is_computed(column) => None,
        _ if is_computed(column) && (column.generated.is_none() || !binder.variables.of_mariadb) => {
            return Err(super::expressions::value_not_allowed(column, &table.def));
        }
        ast::Expr::Default => Some(NewValue::Default),
        value => {
            let value = binder.expr(value, place)?;
            let source = place.scope.column_of(&value);
            Some(NewValue::Expr(value.for_column(&column.ty, source)))
        }
    })
}

/// Binds assignments to the columns of one table, or of a view of it.
pub(super) fn bind_assignments<'w>(
    binder: &mut Binder<'_>,
    names: Names<'_>,
    written: impl Iterator<Item = (&'w str, &'w ast::Expr)>,
    place: &mut Place<'_>,
) -> Result<Vec<(usize, NewValue)>> {
    let mut assignments = Vec::new();
    for (name, value) in written {
        let at = names.column(name)?;
        if let Some(value) = bind_new_value(binder, names.table, at, value, place)? {
            let value = match value {
                NewValue::Expr(expr) => NewValue::Expr(names.resolve(binder, expr)?),
                NewValue::Default => NewValue::Default,
            };
            assignments.push((at, value));
        }
    }
    Ok(assignments)
}

/// Returns the columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned.
pub(super) fn stamped_columns(table: &Table, assignments: &[(usize, NewValue)]) -> Vec<usize> {
    let assigned = |at: usize| assignments.iter().any(|(column, _)| *column == at);
    let columns = table.def.columns.iter().enumerate();
    columns.filter(|(at, column)| column.on_update_now && !assigned(*at)).map(|(at, _)| at).collect()
}

/// Computes the value of one assignment. Its expression reads its columns from `row`. `is_null`
/// says whether the column holds NULL where the value goes.
fn new_value(
    run: &Run<'_, '_>,
    table: &Table,
    ((at, value), is_null): (&(usize, NewValue), bool),
    row_number: u64,
    strictness: Strictness,
    row: &[Value],
) -> Result<Value> {
    match value {
        NewValue::Expr(expr) => {
            let value = expr.eval(row, run.ctx)?;
            run.ctx.check_refused()?;
            converted(run, table, *at, &value, row_number, strictness)
        }
        NewValue::Default => {
            let (value, column) =
                (default_value(table, *at, row_number, strictness, run.ctx)?, &table.def.columns[*at]);
            // Where the default was taken away, MySQL copies the type's zero over the bytes of the
            // value and lets the mark of a NULL stand. MariaDB stores NULL.
            let is_zero =
                value.is_null() && column.demands_value() && !is_null && !run.ctx.variables.of_mariadb;
            if is_zero { zero_value(column, run.ctx) } else { Ok(value) }
        }
    }
}

/// Converts the value of an assignment to the type of its column.
pub(super) fn converted(
    run: &Run<'_, '_>,
    table: &Table,
    at: usize,
    value: &Value,
    row_number: u64,
    strictness: Strictness,
) -> Result<Value> {
    let column = &table.def.columns[at];
    if column.generated.is_some() {
        leave_out(value, (table, at), strictness, run.ctx)?;
        // Later assignments see the value. It is computed anew when the row is complete.
        let lenient = Strictness { strict: false, null_becomes_zero: true };
        return to_column(value, column, row_number, lenient, run.ctx);
    }
    if value.is_null() && table.has_triggers(TriggerEvent::Update.bit()) {
        // A BEFORE UPDATE trigger may replace the NULL. It is checked when the triggers have run.
        return Ok(Value::Null);
    }
    to_column(value, column, row_number, strictness, run.ctx)
        .map_err(|error| of_table(error, &table.def.name))
}

/// Computes the new values of a row in place, so that each assignment sees those before it, unless
/// MariaDB's mode SIMULTANEOUS_ASSIGNMENT says that none does. The table's columns begin at `base`
/// of `row`, which has the old values and everything else that the expressions read.
pub(super) fn assign_all(
    run: &Run<'_, '_>,
    table: &Table,
    assignments: &[(usize, NewValue)],
    row_number: u64,
    strictness: Strictness,
    (base, row): (usize, &mut [Value]),
) -> Result<()> {
    let value = |assignment: &(usize, NewValue), row: &[Value]| {
        let is_null = row[base + assignment.0].is_null();
        new_value(run, table, (assignment, is_null), row_number, strictness, row)
    };
    if run.ctx.variables.sql_mode.simultaneous_assignment() {
        let new = assignments.iter().map(|assignment| value(assignment, row)).collect::<Result<Vec<_>>>()?;
        for ((at, _), new) in assignments.iter().zip(new) {
            row[base + at] = new;
        }
        return Ok(());
    }
    for assignment in assignments {
        row[base + assignment.0] = value(assignment, row)?;
    }
    Ok(())
}

/// Rows that an UPDATE inserts beside a row that it has changed.
pub(super) trait Beside {
    /// Inserts them, before the AFTER triggers of the change. `old` is the image that the changed
    /// row had.
    fn insert(&mut self, run: &mut Run<'_, '_>, old: &[u8]) -> Result<()>;
}

/// The way an UPDATE changes a row of one table.
pub(super) struct RowUpdate {
    pub table: Arc<Table>,
    /// The assigned columns, in the order of SET.
    pub assignments: Vec<(usize, NewValue)>,
    /// The columns with ON UPDATE CURRENT_TIMESTAMP that are not assigned.
    stamped: Vec<usize>,
    /// The assigned columns, and below these and the stamped columns together.
    pub assigned: ColumnMask,
    assigned_or_stamped: ColumnMask,
    ignore: bool,
    /// The expressions and constraints of the table's definition. `None` when it has none.
    expressions: Option<Box<RowExpressions>>,
    /// The WITH CHECK OPTION condition of the view that the row is changed through.
    check: Option<Box<ViewCheck>>,
}

impl RowUpdate {
    /// Builds the plan. A changed row has to stay in one of the partitions in `chosen`; if `chosen`
    /// is empty, any partition will do.
    pub fn new(
        binder: &mut Binder<'_>,
        table: Arc<Table>,
        assignments: Vec<(usize, NewValue)>,
        chosen: &[String],
        ignore: bool,
    ) -> Result<RowUpdate> {
        binder.noted.logging.note_change(&table, binder.noted.tables.len() > 1, ignore);
        let stamped = stamped_columns(&table, &assignments);
        let expressions = RowExpressions::within(binder, &table.def, chosen)?.map(Box::new);
        let mut assigned = ColumnMask::empty(table.def.columns.len());
        assignments.iter().for_each(|(at, _)| assigned.insert(*at));
        let mut assigned_or_stamped = assigned.clone();
        stamped.iter().for_each(|at| assigned_or_stamped.insert(*at));
        let update = RowUpdate {
            table,
            assignments,
            stamped,
            assigned,
            assigned_or_stamped,
            ignore,
            expressions,
            check: None,
        };
        super::expressions::check_kept_keys(binder, &update.table.def, ignore, |at| update.changes(at))?;
        Ok(update)
    }

    /// Returns the plan with the check of the view that the rows are changed through.
    pub fn with_check(self, check: Option<ViewCheck>) -> RowUpdate {
        RowUpdate { check: check.map(Box::new), ..self }
    }

    /// Returns the plan of an UPDATE that also cuts these columns, before anything is assigned.
    pub fn cutting(mut self, columns: [usize; 2]) -> RowUpdate {
        for at in columns {
            self.assigned.insert(at);
            self.assigned_or_stamped.insert(at);
        }
        self
    }

    /// Reports whether a view checks the changed rows.
    pub fn has_check(&self) -> bool {
        self.check.is_some()
    }

    /// Reports whether the UPDATE may change a column.
    pub fn changes(&self, at: usize) -> bool {
        self.assigned_or_stamped.contains(at) || self.table.def.columns[at].generated.is_some()
    }

    /// Adds the slots that the assignments of SET and the view's check read. The table's columns
    /// begin at `base`.
    pub fn slots(&self, base: usize, found: &mut Vec<usize>) {
        for (at, value) in &self.assignments {
            match value {
                NewValue::Expr(expr) => expr.slots(found),
                // Whether the column is NULL decides what DEFAULT means; see `new_value`.
                NewValue::Default if self.table.def.columns[*at].demands_value() => found.push(base + at),
                NewValue::Default => {}
            }
        }
        self.check.iter().flat_map(|check| &check.conditions).for_each(|condition| condition.slots(found));
    }

    /// Reports whether the statement says IGNORE.
    pub fn has_ignore(&self) -> bool {
        self.ignore
    }

    /// Reports whether a row gets nothing but the values of SET, and no row of history stays.
    pub fn sets_alone(&self) -> bool {
        self.stamped.is_empty()
            && self.expressions.is_none()
            && self.check.is_none()
            && self.table.def.row_period().is_none()
    }

    pub fn strictness(&self, run: &Run<'_, '_>) -> Strictness {
        let strict = run.ctx.strict && !self.ignore;
        Strictness { strict, null_becomes_zero: !strict }
    }

    /// Computes the new values of a row in place; see [`assign_all`].
    pub fn assign(&self, run: &Run<'_, '_>, number: u64, base: usize, row: &mut [Value]) -> Result<()> {
        assign_all(run, &self.table, &self.assignments, number, self.strictness(run), (base, row))
    }

    /// Returns the new value of each assignment. All of them are computed from the row as it is,
    /// and are put into it later: MySQL keeps them in the row of a temporary table meanwhile, in
    /// which every column that may be NULL is NULL at first.
    pub fn new_values(&self, run: &Run<'_, '_>, number: u64, row: &[Value]) -> Result<Vec<Value>> {
        let strictness = self.strictness(run);
        let of = |assignment| new_value(run, &self.table, (assignment, true), number, strictness, row);
        self.assignments.iter().map(of).collect()
    }

    /// Returns the values that [`RowUpdate::assign`] has put into a row, one for each assignment.
    /// The row's columns begin at `base`.
    pub fn assigned_values(&self, base: usize, row: &[Value]) -> Vec<Value> {
        self.assignments.iter().map(|(at, _)| row[base + at].clone()).collect()
    }

    /// Puts new values, one for each assignment, into a row whose columns begin at `base`.
    pub fn put(&self, new: &[Value], base: usize, row: &mut [Value]) {
        assert_eq!(new.len(), self.assignments.len(), "one value an assignment");
        for ((at, _), value) in self.assignments.iter().zip(new) {
            row[base + at].clone_from(value);
        }
    }

    /// Stores the assigned columns of `columns` in a row that is locked for update. Returns false
    /// if the row has these values already, or if IGNORE leaves the change out. The view's check
    /// may read other tables: `joined` is then the joined row that this row was found in, and else
    /// empty. `beside` inserts further rows, if there are any.
    pub fn store(
        &self,
        run: &mut Run<'_, '_>,
        row: &Row,
        columns: &mut [Value],
        number: u64,
        joined: &mut [Value],
        beside: Option<&mut dyn Beside>,
    ) -> Result<bool> {
        let table = &self.table;
        assert_eq!(columns.len(), table.columns(), "a row of {} has its columns", table.qualified_name());
        if table.has_triggers(TriggerEvent::Update.bit()) {
            return self.store_with_triggers(run, row, columns, number, joined, beside);
        }
        let mut image = spliced(table, &row.image, &self.assigned, columns, run.ctx)?;
        if image == row.image {
            return Ok(false);
        }
        if !self.stamped.is_empty() {
            for at in &self.stamped {
                columns[*at] = now_for(&table.def.columns[*at], run.ctx)?;
            }
            image = spliced(table, &row.image, &self.assigned_or_stamped, columns, run.ctx)?;
        }
        if self.expressions.is_some() || self.check.is_some() {
            match self.completed(run, (&row.image, &image), number, joined) {
                Err(error) if self.leaves_out(run, error.code) => {
                    run.ctx.warn(error.code, error.message);
                    return Ok(false);
                }
                completed => image = completed?,
            }
        }
        let is_put = self.put_row(run, row, &image)?;
        match beside {
            Some(beside) if is_put => beside.insert(run, &row.image)?,
            _ => {}
        }
        Ok(is_put)
    }

    /// Writes the new image of the row. Returns false if IGNORE turns an error into a warning and
    /// leaves the change out.
    fn put_row(&self, run: &mut Run<'_, '_>, row: &Row, image: &[u8]) -> Result<bool> {
        let updated = run.update_row(&self.table, row, image);
        self.settled(run, updated)
    }

    /// Returns whether the row was written. IGNORE turns an error into a warning.
    pub fn settled(&self, run: &Run<'_, '_>, updated: engine::Result<()>) -> Result<bool> {
        match updated {
            Ok(()) => Ok(true),
            Err(error) if self.ignore && error.is_ignorable() => {
                let error = SqlError::from(error);
                run.ctx.warn(error.code, error.message);
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// As [`RowUpdate::store`], for a table with triggers, which run even if the row has the new
    /// values already.
    fn store_with_triggers(
        &self,
        run: &mut Run<'_, '_>,
        row: &Row,
        columns: &mut [Value],
        number: u64,
        joined: &mut [Value],
        beside: Option<&mut dyn Beside>,
    ) -> Result<bool> {
        let table = &self.table;
        let old = table.layout.decode_all(&row.image)?;
        let mut new = old.clone();
        for at in (0..new.len()).filter(|at| self.assigned.contains(*at)) {
            new[at].clone_from(&columns[at]);
        }
        if new != old {
            for at in &self.stamped {
                new[*at] = now_for(&table.def.columns[*at], run.ctx)?;
            }
        }
        run.before_update(table, &old, &mut new)?;
        super::triggers::check_nulls(run, table, &mut new, self.strictness(run))?;
        let mut image = encode(table, &new, run.ctx)?;
        if self.expressions.is_some() || self.check.is_some() && image != row.image {
            match self.completed(run, (&row.image, &image), number, joined) {
                Err(error) if self.leaves_out(run, error.code) => {
                    run.ctx.warn(error.code, error.message);
                    return Ok(false);
                }
                completed => image = completed?,
            }
        }
        let is_changed = image != row.image;
        if is_changed && !self.put_row(run, row, &image)? {
            return Ok(false);
        }
        match beside {
            Some(beside) if is_changed => beside.insert(run, &row.image)?,
            _ => {}
        }
        let mut new = table.layout.decode_all(&image)?;
        run.after_update(table, &old, &mut new)?;
        Ok(is_changed)
    }

    /// Completes the new image of a row with its default expressions and generated columns, and
    /// checks the view's condition, the constraints and the partition. Returns the image.
    fn completed(
        &self,
        run: &Run<'_, '_>,
        (old, image): (&[u8], &[u8]),
        number: u64,
        joined: &mut [Value],
    ) -> Result<Vec<u8>> {
        let (table, strictness) = (&self.table, self.strictness(run));
        let mut values = table.layout.decode_all(image)?;
        if let Some(expressions) = &self.expressions {
            let defaulted: Vec<usize> = self
                .assignments
                .iter()
                .filter(|(_, value)| matches!(value, NewValue::Default))
                .map(|(at, _)| *at)
                .collect();
            expressions.fill_defaults(&table.def, &defaulted, &mut values, number, strictness, run.ctx)?;
            if !expressions.has_generated() {
                // Nothing is computed.
            } else if run.ctx.variables.of_mariadb || table.has_triggers(TriggerEvent::Update.bit()) {
                expressions.generate(&table.def, &mut values, number, strictness, run.ctx)?;
            } else {
                // Beside the assigned columns those count that got another value in any other way,
                // such as the ends of a period.
                let old = table.layout.decode_all(old)?;
                let changed = |at: &usize| self.assigned.contains(*at) || old[*at] != values[*at];
                let written: Vec<usize> = (0..values.len()).filter(changed).collect();
                expressions.generate_anew(
                    &table.def,
                    (&mut values, &written),
                    number,
                    strictness,
                    run.ctx,
                )?;
            }
        }
        if let Some(check) = &self.check {
            check_view(run, check, &values, joined)?;
        }
        match &self.expressions {
            Some(expressions) if self.ignore || run.checks_rows => expressions.check(&values, run.ctx)?,
            Some(expressions) => expressions.check_place(&values, run.ctx)?,
            None => {}
        }
        encode(table, &values, run.ctx)
    }

    /// Reports whether a change that this error refuses is left out, so that the row stays as it
    /// was. Beside IGNORE, this is what a source has done whose statement succeeded although a row
    /// fits no partition: MariaDB's UPDATE does not report it after a DELETE IGNORE of the same
    /// session whose condition no row can meet.
    fn leaves_out(&self, run: &Run<'_, '_>, code: u16) -> bool {
        self.ignore && super::expressions::is_left_out(code) || !run.checks_rows && code == 1526
    }
}

/// Checks that the view through which a row is changed shows the new row. `joined` is the joined
/// row that the row belongs to, or empty.
///
/// # Errors
/// Returns 1369 (`ER_VIEW_CHECK_FAILED`) when the view does not show the row.
pub(super) fn check_view(
    run: &Run<'_, '_>,
    check: &ViewCheck,
    values: &[Value],
    joined: &mut [Value],
) -> Result<()> {
    let row = match joined.is_empty() {
        true => values,
        false => {
            joined[check.base..check.base + values.len()].clone_from_slice(values);
            joined
        }
    };
    for condition in &check.conditions {
        if !condition.holds(row, run.ctx)? {
            return Err(check.failed());
        }
    }
    Ok(())
}

/// Returns the image `old` with the columns of `mask` taken from `values`.
fn spliced(
    table: &Table,
    old: &[u8],
    mask: &ColumnMask,
    values: &[Value],
    ctx: &Context<'_>,
) -> Result<Vec<u8>> {
    let bytes = old.len() + mask.iter().map(|at| image_bytes(&values[at])).sum::<usize>();
    ctx.charge_if_long(bytes.saturating_mul(COPIES_OF_AN_IMAGE))?;
    let mut image = Vec::with_capacity(bytes);
    table.layout.splice_values(old, mask, values, &mut image)?;
    Ok(image)
}
