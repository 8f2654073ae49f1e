//! INSERT and REPLACE.

mod generator;
mod groups;
mod literals;
mod recoded;
mod row_in_the_way;
mod target;
mod through;

use super::assign::{COPIES_OF_AN_IMAGE, Strictness, default_value, of_table, to_column};
use super::row_update::{NewValue, bind_assignments, stamped_columns};
use super::{Changes, RowExpressions, Run, refuse_changes};
use crate::ast;
use crate::bind::{Binder, Inserted, Names, Place, RowAlias, Scope, WantedColumns, bind_query};
use crate::error::{Result, SqlError};
use crate::literal_rows::LiteralRows;
use crate::memory::{allocated, heap_bytes};
use crate::plan::QueryPlan;
use engine::{ColumnDefault, Table, TriggerEvent};
pub(super) use generator::Generator;
use literals::ListedRow;
pub(super) use literals::{ColumnSource, RowOfLiterals, sources, to_image};
use recoded::Recoded;
use std::sync::Arc;
pub(super) use target::{Target, Through, check_columns, target_of};
use target::{check_generated, target_columns};
use types::Value;

/// The source of the rows.
pub(super) enum Rows {
    Values(Vec<Vec<NewValue>>),
    Literals(LiteralRows, Vec<ColumnSource>),
    Query(Box<QueryPlan>),
}

/// A bound INSERT or REPLACE.
pub(crate) struct InsertPlan {
    pub table: Arc<Table>,
    /// The column that each value is for.
    pub(super) columns: Vec<usize>,
    /// The columns that no value is given for.
    pub(super) missing: Vec<usize>,
    pub(super) rows: Rows,
    /// The values of literals and of a query that have to be recoded for their columns.
    pub(super) recoded: Vec<Recoded>,
    pub(super) replace: bool,
    pub(super) ignore: bool,
    pub(super) on_duplicate: Vec<(usize, NewValue)>,
    pub(super) stamped: Vec<usize>,
    /// The expressions and constraints of the table's definition. `None` when it has none.
    pub(super) expressions: Option<RowExpressions>,
    /// Whether a value of VALUES reads columns of its own row.
    pub(super) reads_row: bool,
    /// The view that the rows are inserted through.
    pub(super) through: Option<Through>,
}

impl InsertPlan {
    pub fn is_replace(&self) -> bool {
        self.replace
    }

    /// Returns the query of INSERT ... SELECT.
    pub fn query(&self) -> Option<&QueryPlan> {
        match &self.rows {
            Rows::Query(plan) => Some(plan),
            Rows::Values(_) | Rows::Literals(..) => None,
        }
    }
}

pub(crate) fn bind_insert(binder: &mut Binder<'_>, insert: &ast::Insert) -> Result<InsertPlan> {
    let schema = binder.schema_of(&insert.table)?;
    let target = target_of(binder, insert, &schema)?;
    let table = target.table.clone();
    let columns = target_columns(&target, insert)?;
    if target.by_column {
        check_columns(binder, insert, &target)?;
    }
    let missing = (0..table.columns()).filter(|at| !columns.contains(at)).collect();
    if !binder.variables.of_mariadb {
        check_generated(&table, insert, &columns)?;
    }
    let expressions = RowExpressions::within(binder, &table.def, &insert.partitions)?;
    let heeds_duplicates = insert.ignore || insert.replace || !insert.on_duplicate.is_empty();
    super::expressions::check_kept_keys(binder, &table.def, heeds_duplicates, |_| true)?;
    let scope = target.scope();
    let mut recoded = Vec::new();
    let mut wanted = WantedColumns::default();
    let rows = match &insert.source {
        ast::InsertSource::Values(rows) => {
            let named = (&columns[..], insert.columns.is_some());
            Rows::Values(bind_rows(binder, rows, &scope, target.names(), named)?)
        }
        ast::InsertSource::Literals(rows) => {
            if rows.columns() != columns.len() {
                return Err(SqlError::new(1136, "Column count doesn't match value count at row 1"));
            }
            binder.may_make(rows.kept_bytes())?;
            recoded = Recoded::of_literals(binder.variables, &table, &columns);
            Rows::Literals(rows.clone(), sources(&table, &columns))
        }
        ast::InsertSource::Query(query) => {
            binder.next.wanted = Some(WantedColumns::of(insert.on_duplicate.iter().map(|(_, value)| value)));
            let mut plan = bind_query(binder, query, None)?;
            wanted = binder.next.wanted.take().unwrap_or_default();
            if plan.columns.len() != columns.len() + wanted.count() {
                return Err(SqlError::new(1136, "Column count doesn't match value count at row 1"));
            }
            let types = columns.iter().map(|at| &table.def.columns[*at].ty);
            plan.beside(types);
            recoded = Recoded::of_query(&plan, &table, &columns);
            Rows::Query(Box::new(plan))
        }
    };
    if !matches!(rows, Rows::Query(_)) {
        binder.noted.reads.check_none_inserted(&target.changed(), "INSERT")?;
    }
    let alias = match &insert.row_alias {
        Some((name, names)) => Some(RowAlias::new(&table, &insert.table.name, name, names, &columns)?),
        None => None,
    };
    let (columns, missing) = match &rows {
        // `VALUES ()`: every column takes its default.
        Rows::Values(rows) if rows.iter().all(Vec::is_empty) => (Vec::new(), (0..table.columns()).collect()),
        _ => (columns, missing),
    };
    let mut place = Place::new(&scope, "field list");
    let names = target.view.as_ref().map(|view| &view.names[..]);
    let (first_slot, alias) = (table.columns(), alias.as_ref());
    place.inserted = Some(Inserted { table: &table, first_slot, names, alias, wanted: &wanted });
    let written = insert.on_duplicate.iter().map(|(name, value)| (name.as_str(), value));
    let read_before = binder.noted.reads.count();
    let mut on_duplicate = bind_assignments(binder, target.names(), written, &mut place)?;
    if binder.variables.sql_mode.pad_char_to_full_length() {
        on_duplicate.iter_mut().for_each(|(_, value)| value.pad_columns());
    }
    if !matches!(rows, Rows::Query(_)) {
        binder.noted.reads.check_none_by_name(read_before, &table, &table.def.name)?;
    }
    let stamped = stamped_columns(&table, &on_duplicate);
    binder.noted.logging.note_insert(&table, insert, binder.noted.tables.len() > 1);
    let reads_row = matches!(&rows, Rows::Values(rows) if rows.iter().flatten().any(names_column));
    Ok(InsertPlan {
        reads_row,
        columns,
        missing,
        rows,
        recoded,
        replace: insert.replace,
        ignore: insert.ignore,
        on_duplicate,
        stamped,
        expressions,
        through: Through::of(binder, target)?,
        table: table.clone(),
    })
}

/// Reports whether a value reads a column.
fn names_column(value: &NewValue) -> bool {
    let mut slots = Vec::new();
    if let NewValue::Expr(expr) = value {
        expr.slots(&mut slots);
    }
    !slots.is_empty()
}

fn bind_rows(
    binder: &mut Binder<'_>,
    rows: &[Vec<ast::Expr>],
    scope: &Scope,
    names: Names<'_>,
    (columns, are_named): (&[usize], bool),
) -> Result<Vec<Vec<NewValue>>> {
    let mut place = Place::new(scope, "field list");
    let first = rows.first().map_or(0, Vec::len);
    let pads_chars = binder.variables.sql_mode.pad_char_to_full_length();
    let mut bound = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        // An empty first row has the defaults of all columns, unless columns are named.
        let is_wrong = match number {
            0 => first != columns.len() && (first > 0 || are_named),
            _ => row.len() != first,
        };
        if is_wrong {
            let number = number + 1;
            return Err(SqlError::new(
                1136,
                format!("Column count doesn't match value count at row {number}"),
            ));
        }
        binder.may_make(size_of::<Vec<NewValue>>() + allocated(row.len() * size_of::<NewValue>()))?;
        let mut values = Vec::with_capacity(row.len());
        for (value, at) in row.iter().zip(columns) {
            values.push(match value {
                ast::Expr::Default => NewValue::Default,
                value => {
                    let value = binder.expr(value, &mut place)?;
                    let source = place.scope.column_of(&value);
                    let value = value.for_column(&names.table.def.columns[*at].ty, source);
                    let mut value = NewValue::Expr(names.resolve(binder, value)?);
                    if pads_chars {
                        value.pad_columns();
                    }
                    value
                }
            });
        }
        bound.push(values);
    }
    Ok(bound)
}

/// Returns an AUTO_INCREMENT value as the bits of an unsigned number.
fn bits_of(value: &Value) -> u64 {
    match crate::expr::number(value) {
        crate::expr::Number::Int(n) => n as u64,
        crate::expr::Number::UInt(n) => n,
        other => crate::expr::double_of(&other) as i64 as u64,
    }
}

/// The outcome of one row.
pub(super) enum Outcome {
    Inserted,
    /// ON DUPLICATE KEY UPDATE has updated the row in the way. `changed` says whether its values
    /// changed, and `id` is its AUTO_INCREMENT value.
    Updated {
        changed: bool,
        id: Option<u64>,
    },
    /// REPLACE has inserted the row and deleted this many others.
    Replaced(u64),
    Ignored,
    /// IGNORE has left the row out because of a constraint. MySQL does not count it as a record.
    LeftOut,
}

impl InsertPlan {
    /// Returns the rows if they are a list of literals.
    pub fn literal_rows(&self) -> Option<&LiteralRows> {
        match &self.rows {
            Rows::Literals(rows, _) => Some(rows),
            _ => None,
        }
    }

    /// Replaces the rows that a later run inserts, and returns true. The plan must have been bound
    /// with literals, and the new rows must have as many columns; else nothing is replaced and
    /// false is returned.
    pub fn set_literal_rows(&mut self, new: LiteralRows) -> bool {
        match &mut self.rows {
            Rows::Literals(rows, _) if rows.columns() == new.columns() => *rows = new,
            _ => return false,
        }
        true
    }

    /// Reports whether the statement says IGNORE.
    pub fn has_ignore(&self) -> bool {
        self.ignore
    }

    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        let others = match (self.replace, self.on_duplicate.is_empty()) {
            (true, _) => TriggerEvent::Delete.bit(),
            (false, false) => TriggerEvent::Update.bit(),
            (false, true) => 0,
        };
        refuse_changes(run, &self.table, TriggerEvent::Insert.bit() | others)?;
        self.check_row_period(run)?;
        let fires = self.fires();
        let listed = match &self.rows {
            Rows::Values(rows) => rows.len() as u64,
            Rows::Literals(rows, _) => rows.len() as u64,
            Rows::Query(_) => 0,
        };
        let column = self.table.def.auto_increment_column();
        let mut generator = Generator::new(column, listed);
        let mut changes = Changes::default();
        let mut records = 0u64;
        let mut duplicates = 0u64;
        // The AUTO_INCREMENT value of the last row, if ON DUPLICATE KEY UPDATE has updated that
        // row.
        let mut updated_id = None;
        // The buffers for one row's values and image, which all rows share.
        let mut values = Vec::new();
        let mut image = Vec::new();
        let mut count = |outcome: Outcome, generator: &mut Generator| {
            records += u64::from(!matches!(outcome, Outcome::LeftOut));
            match &outcome {
                Outcome::Inserted => changes.affected_rows += 1,
                Outcome::Updated { changed, .. } => {
                    changes.affected_rows += if *changed { 2 } else { 0 };
                    // Under IGNORE, MySQL counts the rows that were left out as duplicates, not the
                    // updated ones.
                    duplicates += u64::from(*changed && !self.ignore);
                }
                Outcome::Replaced(removed) => {
                    changes.affected_rows += 1 + removed;
                    duplicates += removed;
                }
                Outcome::Ignored => duplicates += 1,
                Outcome::LeftOut => {}
            }
            updated_id = match outcome {
                Outcome::Updated { id, .. } => id,
                _ => None,
            };
            generator.end_row(matches!(outcome, Outcome::Inserted | Outcome::Replaced(_)));
        };
        let many;
        match &self.rows {
            Rows::Values(rows) => {
                many = rows.len() > 1;
                for (number, row) in rows.iter().enumerate() {
                    run.on_row()?;
                    self.values_of(run, row, number as u64 + 1, &mut generator, &mut values)?;
                    count(self.store(run, &mut values, &[], &mut generator, &mut image)?, &mut generator);
                }
            }
            Rows::Literals(rows, sources) => {
                many = rows.len() > 1;
                for (number, row) in rows.rows().enumerate() {
                    run.on_row()?;
                    if self.expressions.is_none()
                        && self.through.is_none()
                        && self.recoded.is_empty()
                        && !fires
                        && to_image(
                            &self.table,
                            run,
                            &ListedRow { rows, row },
                            sources,
                            &mut generator,
                            &mut image,
                        )?
                    {
                        count(self.put(run, &image, &[])?, &mut generator);
                        continue;
                    }
                    literals::check_vectors(&self.table, &self.columns, rows, row)?;
                    let mut row: Vec<Value> = row.iter().map(|literal| rows.value(*literal)).collect();
                    self.recoded.iter().for_each(|recoded| recoded.apply(&mut row, run.ctx.zone()));
                    self.values_from(run, &row, number as u64 + 1, &mut generator, &mut values)?;
                    count(self.store(run, &mut values, &[], &mut generator, &mut image)?, &mut generator);
                }
            }
            Rows::Query(plan) => {
                many = true;
                // The rows are read first, because the query may read the table that is being
                // filled.
                let source = super::select::collect_rows(run, plan)?;
                let mut row = vec![Value::Null; plan.columns.len()];
                let mut number = 0;
                let mut cursor = source.cursor();
                while cursor.next(&mut row, run.ctx)? {
                    run.on_row()?;
                    number += 1;
                    self.recoded.iter().for_each(|recoded| recoded.apply(&mut row, run.ctx.zone()));
                    self.values_from(run, &row, number, &mut generator, &mut values)?;
                    let wanted = &row[self.columns.len()..];
                    let outcome = self.store(run, &mut values, wanted, &mut generator, &mut image)?;
                    count(outcome, &mut generator);
                }
            }
        }
        changes.found_rows = changes.affected_rows;
        let shows_generated = self.shows_generated();
        match shows_generated {
            true => changes.generated_id = generator.first_stored,
            // LAST_INSERT_ID() does not tell a value that the view does not show.
            false => changes.written_id = generator.first_stored,
        }
        if generator.first_stored.is_none() && changes.affected_rows > 0 {
            changes.written_id = match updated_id {
                Some(id) => Some(id),
                None => self.written_id(&image)?,
            };
        }
        if many {
            let warnings = run.ctx.diagnostics.borrow().count;
            changes.info = super::info([
                ("Records: ", records),
                ("  Duplicates: ", duplicates),
                ("  Warnings: ", warnings),
            ]);
        }
        Ok(changes)
    }

    /// Refuses values for the columns of the row period (ROW START and ROW END). Only a replication
    /// source may write them: it may have loaded history (`system_versioning_insert_history`).
    ///
    /// # Errors
    /// Returns 3105 for a value that is not DEFAULT.
    pub(super) fn check_row_period(&self, run: &Run<'_, '_>) -> Result<()> {
        let def = &self.table.def;
        if run.is_received || def.temporal.versioning.is_none() {
            return Ok(());
        }
        for (place, at) in self.columns.iter().enumerate() {
            let is_default = |row: &Vec<NewValue>| matches!(row.get(place), None | Some(NewValue::Default));
            let is_right = !def.columns[*at].roles.is_of_row()
                || matches!(&self.rows, Rows::Values(rows) if rows.iter().all(is_default));
            if !is_right {
                return Err(super::expressions::value_not_allowed(&def.columns[*at], def));
            }
        }
        Ok(())
    }

    /// Returns the AUTO_INCREMENT value in a row image.
    fn written_id(&self, image: &[u8]) -> Result<Option<u64>> {
        let Some(column) = self.table.def.auto_increment_column() else { return Ok(None) };
        Ok(Some(bits_of(&self.table.layout.decode(image, column)?)))
    }

    /// Returns how strictly values are stored. In non-strict mode, a multi-row INSERT and INSERT
    /// ... SELECT accept NULL for a NOT NULL column, while a single row is refused.
    pub(super) fn strictness(&self, run: &Run<'_, '_>) -> Strictness {
        let is_single = match &self.rows {
            Rows::Values(rows) => rows.len() == 1,
            Rows::Literals(rows, _) => rows.len() == 1,
            Rows::Query(_) => false,
        };
        let null_becomes_zero = self.ignore || !run.ctx.strict && !is_single;
        Strictness { strict: run.ctx.strict && !self.ignore, null_becomes_zero }
    }

    /// Sets `values` to what a value of VALUES reads from columns that have no value yet.
    fn begin_row(&self, run: &Run<'_, '_>, number: u64, values: &mut Vec<Value>) -> Result<()> {
        let lenient = Strictness { strict: false, null_becomes_zero: true };
        values.clear();
        for at in 0..self.table.columns() {
            let is_implicit = matches!(self.table.def.columns[at].default, None | Some(ColumnDefault::Null));
            let column = &self.table.def.columns[at];
            values.push(match is_implicit && !column.nullable {
                // No value is missing here, so there is no warning.
                true => super::assign::zero_value(column, run.ctx)?,
                false => default_value(&self.table, at, number, lenient, run.ctx)?,
            });
        }
        Ok(())
    }

    /// Sets `values` to the whole row for a row of a VALUES list.
    fn values_of(
        &self,
        run: &Run<'_, '_>,
        row: &[NewValue],
        number: u64,
        generator: &mut Generator,
        values: &mut Vec<Value>,
    ) -> Result<()> {
        let strictness = self.strictness(run);
        if self.reads_row {
            self.begin_row(run, number, values)?;
        }
        assert!(row.len() <= self.columns.len(), "each value of a VALUES list has a column");
        values.resize_with(self.table.columns(), || Value::Null);
        for (at, value) in self.columns.iter().zip(row) {
            match value {
                NewValue::Expr(expr) => {
                    let row: &[Value] = if self.reads_row { values } else { &[] };
                    let value = expr.eval(row, run.ctx)?;
                    run.ctx.check_refused()?;
                    values[*at] = self.converted(run, *at, &value, number, generator)?;
                }
                NewValue::Default if generator.column == Some(*at) => {
                    values[*at] = self.default_id(run, *at, number, generator)?;
                }
                NewValue::Default => {
                    values[*at] = default_value(&self.table, *at, number, strictness, run.ctx)?;
                    if self.expressions.is_some() {
                        generator.defaulted.push(*at);
                    }
                }
            }
        }
        self.fill_missing(run, values, number, generator)
    }

    /// Sets `values` to the whole row for a row of a query or of literals.
    fn values_from(
        &self,
        run: &Run<'_, '_>,
        row: &[Value],
        number: u64,
        generator: &mut Generator,
        values: &mut Vec<Value>,
    ) -> Result<()> {
        assert!(row.len() >= self.columns.len(), "a query has a value for each column that is filled");
        values.resize_with(self.table.columns(), || Value::Null);
        for (at, value) in self.columns.iter().zip(row) {
            values[*at] = self.converted(run, *at, value, number, generator)?;
        }
        self.fill_missing(run, values, number, generator)
    }

    fn fill_missing(
        &self,
        run: &Run<'_, '_>,
        values: &mut [Value],
        number: u64,
        generator: &mut Generator,
    ) -> Result<()> {
        if number == 1 {
            self.check_given(run)?;
        }
        let strictness = self.strictness(run);
        let fires = self.fires();
        for at in &self.missing {
            let column = &self.table.def.columns[*at];
            if fires
                && !column.nullable
                && column.demands_value()
                && column.generated.is_none()
                && generator.column != Some(*at)
            {
                // A BEFORE INSERT trigger may supply the value. It is checked when the triggers
                // have run.
                values[*at] = Value::Null;
                continue;
            }
            values[*at] = if generator.column == Some(*at) {
                self.converted(run, *at, &Value::Null, number, generator)?
            } else {
                self.default_of(run, *at, number)?
            };
        }
        let Some(expressions) = &self.expressions else { return Ok(()) };
        let def = &self.table.def;
        let mut defaulted = std::mem::take(&mut generator.defaulted);
        defaulted.extend_from_slice(&self.missing);
        expressions.fill_defaults(def, &defaulted, values, number, strictness, run.ctx)?;
        expressions.generate(def, values, number, strictness, run.ctx)
    }

    /// Reports whether IGNORE leaves the row out because it violates a constraint.
    fn is_refused(&self, run: &Run<'_, '_>, values: &[Value]) -> Result<bool> {
        self.refusal(run, values).map(|code| code.is_some())
    }

    /// As [`InsertPlan::is_refused`], but returns the error number of the violated constraint.
    fn refusal(&self, run: &Run<'_, '_>, values: &[Value]) -> Result<Option<u16>> {
        // A source with IGNORE has left out the rows that violate a constraint, so they are left
        // out here too.
        let is_asked = self.ignore || run.checks_rows;
        let Some(expressions) = self.expressions.as_ref().filter(|_| is_asked) else { return Ok(None) };
        match expressions.check(values, run.ctx) {
            Err(error) if self.ignore && super::expressions::is_left_out(error.code) => {
                run.ctx.warn(error.code, error.message);
                Ok(Some(error.code))
            }
            checked => checked.map(|()| None),
        }
    }

    /// Converts a value to the type of its column. In the AUTO_INCREMENT column, NULL becomes 0.
    /// [`InsertPlan::settle_id`] generates a value for it when the rest of the row is known.
    pub(super) fn converted(
        &self,
        run: &Run<'_, '_>,
        at: usize,
        value: &Value,
        number: u64,
        generator: &mut Generator,
    ) -> Result<Value> {
        let column = &self.table.def.columns[at];
        if column.generated.is_some() {
            // It is computed when the rest of the row is known.
            super::assign::leave_out(value, (&self.table, at), self.strictness(run), run.ctx)?;
            return Ok(Value::Null);
        }
        if generator.column != Some(at) {
            if value.is_null() && self.fires() {
                // A BEFORE INSERT trigger may supply the value. It is checked when the triggers
                // have run.
                return Ok(Value::Null);
            }
            return to_column(value, column, number, self.strictness(run), run.ctx)
                .map_err(|error| of_table(error, &self.table.def.name));
        }
        generator.is_null = value.is_null();
        match value {
            // Only 0 generates a value for a column that may be NULL.
            Value::Null if column.nullable => Ok(Value::Null),
            Value::Null => Ok(Value::Int(0)),
            value => to_column(value, column, number, self.strictness(run), run.ctx),
        }
    }

    /// Returns what DEFAULT in a VALUES list means in the AUTO_INCREMENT column `at`. It is 0 in
    /// MySQL, which stays under NO_AUTO_VALUE_ON_ZERO, and else generates a value as NULL does. A
    /// column that the list leaves out has a value generated in either case.
    fn default_id(
        &self,
        run: &Run<'_, '_>,
        at: usize,
        number: u64,
        generator: &mut Generator,
    ) -> Result<Value> {
        if run.ctx.variables.sql_mode.no_auto_value_on_zero() {
            return self.converted(run, at, &Value::Int(0), number, generator);
        }
        self.converted(run, at, &Value::Null, number, generator)
    }

    /// Generates the row's AUTO_INCREMENT value if it is NULL or (depending on the SQL mode) 0, and
    /// notes a given one. As in MySQL this comes last, after functions, triggers, CHECK constraints
    /// and the view's check have seen 0.
    pub(super) fn settle_id(
        &self,
        run: &mut Run<'_, '_>,
        values: &mut [Value],
        generator: &mut Generator,
    ) -> Result<()> {
        let Some(at) = generator.column else { return Ok(()) };
        if values[at].is_null() && generator.is_null {
            // As in MySQL, NULL draws a number from the statement's, and stays NULL.
            return generator.next(&self.table, run).map(|_| ());
        }
        let is_zero = matches!(values[at], Value::Int(0) | Value::UInt(0));
        let zero_generates = generator.is_null || !run.ctx.variables.sql_mode.no_auto_value_on_zero();
        if !is_zero || !zero_generates {
            generator.note_given(&values[at]);
            self.note_auto_increment(&values[at]);
            return Ok(());
        }
        let id = match groups::next(&self.table, run, values, generator)? {
            Some(id) => Value::UInt(id),
            None => Value::UInt(generator.next(&self.table, run)?),
        };
        let def = &self.table.def;
        values[at] = to_column(&id, &def.columns[at], generator.row_number(), self.strictness(run), run.ctx)?;
        match &self.expressions {
            // MariaDB's generated columns may depend on the value. MySQL allows none that do.
            Some(expressions) if run.ctx.variables.of_mariadb => {
                expressions.generate(def, values, generator.row_number(), self.strictness(run), run.ctx)
            }
            _ => Ok(()),
        }
    }

    /// Notes a given AUTO_INCREMENT value, so that the next generated one is greater.
    fn note_auto_increment(&self, given: &Value) {
        match given {
            Value::Int(n) if *n > 0 => self.table.note_auto_increment(*n as u64),
            Value::UInt(n) => self.table.note_auto_increment(*n),
            _ => {}
        }
    }

    /// Reports whether the table has triggers for INSERT.
    pub(super) fn fires(&self) -> bool {
        self.table.has_triggers(TriggerEvent::Insert.bit())
    }

    /// Runs the BEFORE INSERT triggers. If they make the AUTO_INCREMENT value NULL or 0, one is
    /// generated.
    fn run_before(
        &self,
        run: &mut Run<'_, '_>,
        values: &mut [Value],
        generator: &mut Generator,
    ) -> Result<()> {
        run.before_insert(&self.table, values)?;
        let is_null = |at: &usize| values[*at].is_null() && !self.table.def.columns[*at].nullable;
        if let Some(at) = generator.column.filter(is_null) {
            values[at] = Value::Int(0);
            generator.is_null = true;
        }
        for at in &self.missing {
            let column = &self.table.def.columns[*at];
            if values[*at].is_null() && !column.nullable && column.demands_value() {
                values[*at] = self.default_of(run, *at, 1)?;
            }
        }
        super::triggers::check_nulls(run, &self.table, values, self.strictness(run))?;
        match &self.expressions {
            Some(expressions) => {
                expressions.generate(&self.table.def, values, 1, self.strictness(run), run.ctx)
            }
            None => Ok(()),
        }
    }

    /// Builds the image of the row and puts it into the table. `wanted` are the values of the
    /// query's tables that ON DUPLICATE KEY UPDATE reads.
    pub(super) fn store(
        &self,
        run: &mut Run<'_, '_>,
        values: &mut [Value],
        wanted: &[Value],
        generator: &mut Generator,
        image: &mut Vec<u8>,
    ) -> Result<Outcome> {
        assert_eq!(values.len(), self.table.columns(), "a new row is whole");
        let fires = self.fires();
        if fires {
            self.run_before(run, values, generator)?;
        }
        if self.is_unseen(run, values)? {
            return Ok(Outcome::LeftOut);
        }
        if let Some(code) = self.refusal(run, values)? {
            let is_of_check = super::expressions::is_check_violated(code);
            return Ok(if is_of_check { Outcome::LeftOut } else { Outcome::Ignored });
        }
        self.settle_id(run, values, generator)?;
        image.clear();
        let bytes: usize = values.iter().map(heap_bytes).sum();
        run.ctx.charge_if_long(bytes.saturating_mul(COPIES_OF_AN_IMAGE))?;
        self.table.layout.encode(values, image)?;
        let outcome = self.put(run, image, wanted)?;
        if fires && matches!(outcome, Outcome::Inserted | Outcome::Replaced(_)) {
            run.after_insert(&self.table, values)?;
        }
        Ok(outcome)
    }
}
