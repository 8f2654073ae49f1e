//! INSERT and REPLACE.

use super::assign::{Strictness, default_value, encode, now_for, to_column};
use super::update::{NewValue, assign_all, bind_assignments, stamped_columns};
use super::{Changes, Run, run_query};
use crate::ast;
use crate::bind::{Binder, Place, Scope, ScopeTable, bind_query, plain_value};
use crate::error::{Result, SqlError};
use crate::plan::QueryPlan;
use engine::{EngineError, IndexRef, KeyRange, LockMode, Row, Table};
use std::sync::Arc;
use types::Value;

/// Where the rows come from.
enum Rows {
    Values(Vec<Vec<NewValue>>),
    /// Rows of literals, one value a column, row by row.
    Constants(Vec<Value>),
    Query(Box<QueryPlan>),
}

/// A bound INSERT or REPLACE.
pub(crate) struct InsertPlan {
    pub table: Arc<Table>,
    /// The column of each value.
    columns: Vec<usize>,
    /// Columns that no value is given for.
    missing: Vec<usize>,
    rows: Rows,
    replace: bool,
    ignore: bool,
    on_duplicate: Vec<(usize, NewValue)>,
    stamped: Vec<usize>,
}

pub(crate) fn bind_insert(binder: &mut Binder<'_>, insert: &ast::Insert) -> Result<InsertPlan> {
    let table = binder.stored_table(&insert.table)?;
    let (schema, name) = (&table.def.schema, &table.def.name);
    binder.host.check_privilege(crate::host::Privilege::Insert, Some(schema), Some(name))?;
    let columns = target_columns(&table, insert)?;
    let missing = (0..table.columns()).filter(|at| !columns.contains(at)).collect();
    let scope = Scope { tables: vec![ScopeTable::stored(&table, name, 0)] };
    let rows = match &insert.source {
        ast::InsertSource::Values(rows) => match constants(rows, columns.len()) {
            Some(values) => Rows::Constants(values),
            None => Rows::Values(bind_rows(binder, rows, columns.len())?),
        },
        ast::InsertSource::Query(query) => {
            let plan = bind_query(binder, query)?;
            if plan.columns.len() != columns.len() {
                return Err(SqlError::new(1136, "Column count doesn't match value count at row 1"));
            }
            Rows::Query(Box::new(plan))
        }
    };
    let (columns, missing) = match &rows {
        // `VALUES ()`: every column takes its default.
        Rows::Values(rows) if rows.iter().all(Vec::is_empty) => (Vec::new(), (0..table.columns()).collect()),
        _ => (columns, missing),
    };
    let mut place = Place::new(&scope, "field list");
    place.inserted = Some((&table, table.columns()));
    let written = insert.on_duplicate.iter().map(|(name, value)| (name.as_str(), value));
    let on_duplicate = bind_assignments(binder, &table, written, &mut place)?;
    let stamped = stamped_columns(&table, &on_duplicate);
    Ok(InsertPlan {
        columns,
        missing,
        rows,
        replace: insert.replace,
        ignore: insert.ignore,
        on_duplicate,
        stamped,
        table: table.clone(),
    })
}

fn target_columns(table: &Table, insert: &ast::Insert) -> Result<Vec<usize>> {
    let Some(names) = &insert.columns else {
        let visible = table.def.columns.iter().enumerate().filter(|(_, column)| !column.invisible);
        return Ok(visible.map(|(at, _)| at).collect());
    };
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let at = table.def.column(name).ok_or_else(|| SqlError::unknown_column(name, "field list"))?;
        if columns.contains(&at) {
            return Err(SqlError::new(1110, format!("Column '{name}' specified twice")));
        }
        columns.push(at);
    }
    Ok(columns)
}

/// The values of rows that are all whole and hold nothing but literals.
fn constants(rows: &[Vec<ast::Expr>], columns: usize) -> Option<Vec<Value>> {
    if columns == 0 || rows.iter().any(|row| row.len() != columns) {
        return None;
    }
    let mut values = Vec::with_capacity(rows.len() * columns);
    for value in rows.iter().flatten() {
        let ast::Expr::Literal(literal) = value else { return None };
        values.push(plain_value(literal)?);
    }
    Some(values)
}

fn bind_rows(binder: &mut Binder<'_>, rows: &[Vec<ast::Expr>], columns: usize) -> Result<Vec<Vec<NewValue>>> {
    let scope = Scope::default();
    let mut place = Place::new(&scope, "field list");
    let all_empty = rows.iter().all(Vec::is_empty);
    let mut bound = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        if row.len() != columns && !(all_empty && row.is_empty()) {
            let number = number + 1;
            return Err(SqlError::new(
                1136,
                format!("Column count doesn't match value count at row {number}"),
            ));
        }
        let mut values = Vec::with_capacity(row.len());
        for value in row {
            values.push(match value {
                ast::Expr::Default => NewValue::Default,
                value => NewValue::Expr(binder.expr(value, &mut place)?),
            });
        }
        bound.push(values);
    }
    Ok(bound)
}

/// Hands out auto_increment values for one statement.
struct Generator {
    column: Option<usize>,
    /// Rows that the statement still has, this one included; values for all are taken at once.
    rows_left: u64,
    /// Values that were taken and not used yet.
    reserved: std::ops::Range<u64>,
    first: Option<u64>,
}

impl Generator {
    fn next(&mut self, table: &Table, run: &Run<'_, '_>) -> Result<u64> {
        let variables = run.ctx.variables;
        let value = if let (Some(id), None) = (variables.insert_id, self.first) {
            table.note_auto_increment(id);
            id
        } else if variables.auto_increment_increment > 1 {
            // Among as many consecutive values there is exactly one with the wanted remainder.
            let (increment, offset) = (variables.auto_increment_increment, variables.auto_increment_offset);
            let offset = if offset > increment { 0 } else { offset };
            let first = table.next_auto_increment(increment)?;
            let ahead = (i128::from(offset) - i128::from(first)).rem_euclid(i128::from(increment));
            first + ahead as u64
        } else {
            if self.reserved.is_empty() {
                let count = self.rows_left.max(1);
                let first = table.next_auto_increment(count)?;
                self.reserved = first..first + count;
            }
            let value = self.reserved.start;
            self.reserved.start += 1;
            value
        };
        self.first = self.first.or(Some(value));
        Ok(value)
    }
}

/// What became of one row.
enum Outcome {
    Inserted,
    /// ON DUPLICATE KEY UPDATE: changed or not.
    Updated(bool),
    /// REPLACE: so many rows went.
    Replaced(u64),
    Ignored,
}

impl InsertPlan {
    pub fn run(&self, run: &mut Run<'_, '_>) -> Result<Changes> {
        let rows_left = match &self.rows {
            Rows::Values(rows) => rows.len() as u64,
            Rows::Constants(values) => (values.len() / self.columns.len()) as u64,
            Rows::Query(_) => 1,
        };
        let column = self.table.def.auto_increment_column();
        let mut generator = Generator { column, rows_left, reserved: 0..0, first: None };
        let mut changes = Changes::default();
        let mut records = 0u64;
        let mut duplicates = 0u64;
        // One row's values and image at a time, in memory that all rows share.
        let mut values = Vec::new();
        let mut image = Vec::new();
        let mut store =
            |run: &mut Run<'_, '_>, values: &mut Vec<Value>, generator: &mut Generator| -> Result<()> {
                records += 1;
                match self.store(run, values, &mut image)? {
                    Outcome::Inserted => changes.affected_rows += 1,
                    Outcome::Updated(changed) => {
                        changes.affected_rows += if changed { 2 } else { 0 };
                        duplicates += u64::from(changed);
                    }
                    Outcome::Replaced(removed) => {
                        changes.affected_rows += 1 + removed;
                        duplicates += removed;
                    }
                    Outcome::Ignored => duplicates += 1,
                }
                generator.rows_left = generator.rows_left.saturating_sub(1);
                Ok(())
            };
        let many;
        match &self.rows {
            Rows::Values(rows) => {
                many = rows.len() > 1;
                for (number, row) in rows.iter().enumerate() {
                    run.on_row()?;
                    self.values_of(run, row, number as u64 + 1, &mut generator, &mut values)?;
                    store(run, &mut values, &mut generator)?;
                }
            }
            Rows::Constants(constants) => {
                many = constants.len() > self.columns.len();
                for (number, row) in constants.chunks_exact(self.columns.len()).enumerate() {
                    run.on_row()?;
                    self.values_from(run, row, number as u64 + 1, &mut generator, &mut values)?;
                    store(run, &mut values, &mut generator)?;
                }
            }
            Rows::Query(plan) => {
                many = true;
                // The rows are read first: the query may read the table that is filled.
                let mut source = Vec::new();
                run_query(run, plan, &mut |row| {
                    source.push(row.to_vec());
                    Ok(())
                })?;
                generator.rows_left = source.len() as u64;
                for (number, row) in source.into_iter().enumerate() {
                    run.on_row()?;
                    self.values_from(run, &row, number as u64 + 1, &mut generator, &mut values)?;
                    store(run, &mut values, &mut generator)?;
                }
            }
        }
        changes.found_rows = changes.affected_rows;
        changes.generated_id = generator.first;
        if many {
            let warnings = run.ctx.diagnostics.borrow().count;
            changes.info = format!("Records: {records}  Duplicates: {duplicates}  Warnings: {warnings}");
        }
        Ok(changes)
    }

    fn strictness(&self, run: &Run<'_, '_>) -> Strictness {
        Strictness { strict: run.ctx.strict && !self.ignore, null_becomes_zero: self.ignore }
    }

    /// Sets `values` to the whole row of a VALUES list.
    fn values_of(
        &self,
        run: &Run<'_, '_>,
        row: &[NewValue],
        number: u64,
        generator: &mut Generator,
        values: &mut Vec<Value>,
    ) -> Result<()> {
        let strictness = self.strictness(run);
        values.resize(self.table.columns(), Value::Null);
        for (at, value) in self.columns.iter().zip(row) {
            match value {
                NewValue::Expr(expr) => {
                    let value = expr.eval(&[], run.ctx)?;
                    values[*at] = self.converted(run, *at, &value, number, generator)?;
                }
                NewValue::Default if generator.column == Some(*at) => {
                    values[*at] = self.converted(run, *at, &Value::Null, number, generator)?;
                }
                NewValue::Default => {
                    values[*at] = default_value(&self.table, *at, number, strictness, run.ctx)?;
                }
            }
        }
        self.fill_missing(run, values, number, generator)
    }

    /// Sets `values` to the whole row of a query's row, or of literals.
    fn values_from(
        &self,
        run: &Run<'_, '_>,
        row: &[Value],
        number: u64,
        generator: &mut Generator,
        values: &mut Vec<Value>,
    ) -> Result<()> {
        values.resize(self.table.columns(), Value::Null);
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
        let strictness = self.strictness(run);
        for at in &self.missing {
            values[*at] = if generator.column == Some(*at) {
                self.converted(run, *at, &Value::Null, number, generator)?
            } else {
                default_value(&self.table, *at, number, strictness, run.ctx)?
            };
        }
        Ok(())
    }

    /// A value as the column's; NULL or 0 in the auto_increment column generates.
    fn converted(
        &self,
        run: &Run<'_, '_>,
        at: usize,
        value: &Value,
        number: u64,
        generator: &mut Generator,
    ) -> Result<Value> {
        let column = &self.table.def.columns[at];
        if generator.column != Some(at) {
            return to_column(value, column, number, self.strictness(run), run.ctx);
        }
        let mut stored = match value {
            Value::Null => Value::Int(0),
            value => to_column(value, column, number, self.strictness(run), run.ctx)?,
        };
        let is_zero = matches!(stored, Value::Int(0) | Value::UInt(0));
        if value.is_null() || (is_zero && !run.ctx.variables.sql_mode.no_auto_value_on_zero()) {
            let generated = generator.next(&self.table, run)?;
            stored = to_column(&Value::UInt(generated), column, number, self.strictness(run), run.ctx)?;
            return Ok(stored);
        }
        match stored {
            Value::Int(n) if n > 0 => self.table.note_auto_increment(n as u64),
            Value::UInt(n) => self.table.note_auto_increment(n),
            _ => {}
        }
        Ok(stored)
    }

    /// Puts the row into the table, and deals with the row that is in its way.
    fn store(&self, run: &mut Run<'_, '_>, values: &mut Vec<Value>, image: &mut Vec<u8>) -> Result<Outcome> {
        image.clear();
        self.table.layout.encode(values, image)?;
        let mut removed = 0;
        loop {
            let error = match run.txn.insert(&self.table, image) {
                Ok(()) if removed > 0 => return Ok(Outcome::Replaced(removed)),
                Ok(()) => return Ok(Outcome::Inserted),
                Err(error) => error,
            };
            let EngineError::Duplicate { index, .. } = &error else { return Err(error.into()) };
            if self.replace || !self.on_duplicate.is_empty() {
                let Some(old) = self.conflicting_row(run, index, values)? else { return Err(error.into()) };
                if !self.replace {
                    return self.update(run, old, std::mem::take(values));
                }
                run.txn.delete(&self.table, &old)?;
                removed += 1;
            } else if self.ignore {
                run.ctx.warn(1062, error.to_string());
                return Ok(Outcome::Ignored);
            } else {
                return Err(error.into());
            }
        }
    }

    /// The row that has the new row's key in the named unique index.
    fn conflicting_row(&self, run: &mut Run<'_, '_>, index: &str, values: &[Value]) -> Result<Option<Row>> {
        let index = match self.table.def.index(index) {
            Some(at) if index != "PRIMARY" => IndexRef::Secondary(at),
            _ => IndexRef::Primary,
        };
        let parts = self.table.index_columns(index);
        let key_values: Vec<Value> = parts.iter().map(|part| values[part.column].clone()).collect();
        let key = self.table.encode_key(index, &key_values)?;
        let range = KeyRange::prefix(&key);
        let mut scan =
            run.txn.scan(&self.table, index, range, engine::Direction::Forward, LockMode::Update)?;
        Ok(scan.next(run.txn)?)
    }

    /// ON DUPLICATE KEY UPDATE of the row in the way; the new row's values are behind the old one's.
    fn update(&self, run: &mut Run<'_, '_>, old: Row, new: Vec<Value>) -> Result<Outcome> {
        let mut values = self.table.layout.decode_all(&old.image)?;
        values.extend(new);
        assign_all(run, &self.table, &self.on_duplicate, 1, self.strictness(run), &mut values)?;
        let columns = self.table.columns();
        let mut image = encode(&self.table, &values[..columns])?;
        if image == old.image {
            return Ok(Outcome::Updated(false));
        }
        if !self.stamped.is_empty() {
            for at in &self.stamped {
                values[*at] = now_for(&self.table.def.columns[*at], run.ctx)?;
            }
            image = encode(&self.table, &values[..columns])?;
        }
        run.txn.update(&self.table, &old, &image)?;
        Ok(Outcome::Updated(true))
    }
}
