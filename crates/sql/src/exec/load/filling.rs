//! Fills a table with the lines of a file. A line is stored as INSERT stores a row, except for the
//! values of missing and NULL fields, and for the moment at which NULL is checked.

use super::scanner::Fields;
use super::target::LineTarget;
use crate::error::{Result, SqlError};
use crate::exec::assign::{Strictness, default_value, now_for, of_table, zero_value};
use crate::exec::insert::{ColumnSource, Generator, InsertPlan, Outcome, RowOfLiterals, sources, to_image};
use crate::exec::row_update::NewValue;
use crate::exec::{Changes, Run, refuse_changes, to_column};
use crate::expr::Context;
use engine::{ColumnDef, ColumnDefault, TriggerEvent};
use types::convert::{self, LiteralKind};
use types::{TypeCode, Value, Zone};

/// A line as a row of literals. In a column of integers, a field of digits is an integer literal.
struct PlainRow<'r> {
    fields: &'r Fields,
    are_integers: &'r [bool],
}

impl RowOfLiterals for PlainRow<'_> {
    #[inline]
    fn kind(&self, place: usize) -> LiteralKind {
        match self.fields.get(place) {
            None => LiteralKind::Null,
            Some(text) if self.are_integers[place] && is_integer(text) => LiteralKind::Integer,
            Some(_) => LiteralKind::Text,
        }
    }

    #[inline]
    fn text(&self, place: usize) -> &[u8] {
        self.fields.get(place).unwrap_or_default()
    }

    fn value(&self, place: usize) -> Value {
        self.fields.get(place).map_or(Value::Null, |text| Value::Bytes(text.to_vec()))
    }
}

fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn is_integer_column(column: &ColumnDef) -> bool {
    use TypeCode::{Int24, Long, LongLong, Short, Tiny};
    matches!(column.ty.code, Tiny | Short | Int24 | Long | LongLong)
}

/// Returns the value of a column that is filled with nothing: the type's zero value or, for ENUM,
/// the error value ''.
pub(super) fn empty_value(column: &ColumnDef, ctx: &Context<'_>) -> Result<Value> {
    if column.ty.code == TypeCode::Enum {
        let lenient = convert::Context {
            strict: false,
            zone: Zone::UTC,
            dates: convert::DateModes::default(),
            of_mariadb: false,
        };
        let empty = convert::assign(&Value::Bytes(Vec::new()), &column.ty, lenient);
        return empty
            .map(|(value, _)| value)
            .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)));
    }
    zero_value(column, ctx)
}

/// Reports whether NULL in the column stands for the time of the statement.
fn is_now_for_null(column: &ColumnDef) -> bool {
    column.ty.code == TypeCode::Timestamp2 && !column.nullable
}

/// Returns the message of error 1263.
fn null_for_not_null(column: &ColumnDef, number: u64) -> String {
    format!("Column set to default value; NULL supplied to NOT NULL column '{}' at row {number}", column.name)
}

/// A table that is being filled with the lines of a file.
pub(super) struct Filling<'p> {
    plan: &'p InsertPlan,
    generator: Generator,
    sources: Vec<ColumnSource>,
    are_integers: Vec<bool>,
    /// Whether lines can be stored as literals, because nothing is computed from their fields.
    is_plain: bool,
    /// The values that a row has before its fields are set.
    empty: Vec<Value>,
    /// The NOT NULL columns for which the line has NULL.
    nulled: Vec<usize>,
    /// The columns without a default that have to be given a value.
    demanding: Vec<usize>,
    /// The columns that neither a field nor SET gives a value.
    unset: Vec<usize>,
    /// The columns of the current row that SET gives DEFAULT.
    defaulted: Vec<usize>,
    pub values: Vec<Value>,
    image: Vec<u8>,
    records: u64,
    copied: u64,
    deleted: u64,
}

impl<'p> Filling<'p> {
    pub fn begin(
        plan: &'p InsertPlan,
        targets: &[LineTarget],
        assignments: &[(usize, NewValue)],
        run: &mut Run<'_, '_>,
    ) -> Result<Filling<'p>> {
        let others = if plan.replace { TriggerEvent::Delete.bit() } else { 0 };
        refuse_changes(run, &plan.table, TriggerEvent::Insert.bit() | others)?;
        plan.check_row_period(run)?;
        if !run.ctx.variables.fire_triggers {
            // A copy's rows: nobody has anything to do in the table yet, as a rule.
            run.with(|txn| txn.take_alone(&plan.table))?;
        }
        let table = &*plan.table;
        let generated = table.def.auto_increment_column();
        let has_variables = targets.iter().any(|target| matches!(target, LineTarget::Variable(_)));
        let mut seen = vec![false; table.columns()];
        let is_twice = plan.columns.iter().any(|at| std::mem::replace(&mut seen[*at], true));
        let mut filling = Filling {
            // The number of lines is not known.
            generator: Generator::new(generated, 0),
            sources: sources(table, &plan.columns),
            are_integers: plan.columns.iter().map(|at| is_integer_column(&table.def.columns[*at])).collect(),
            is_plain: plan.expressions.is_none()
                && plan.through.is_none()
                && !plan.fires()
                && !has_variables
                && !is_twice
                && assignments.is_empty(),
            empty: Vec::with_capacity(table.columns()),
            nulled: Vec::new(),
            demanding: Vec::new(),
            unset: plan
                .missing
                .iter()
                .copied()
                .filter(|at| assignments.iter().all(|(set, _)| set != at))
                .collect(),
            defaulted: Vec::new(),
            values: Vec::new(),
            image: Vec::new(),
            records: 0,
            copied: 0,
            deleted: 0,
            plan,
        };
        filling.set_empty(generated, run)?;
        Ok(filling)
    }

    fn set_empty(&mut self, generated: Option<usize>, run: &Run<'_, '_>) -> Result<()> {
        let table = &*self.plan.table;
        let lenient = Strictness { strict: false, null_becomes_zero: true };
        for (at, column) in table.def.columns.iter().enumerate() {
            let is_implicit = matches!(column.default, None | Some(ColumnDefault::Null));
            let value = match is_implicit && !column.nullable && column.generated.is_none() {
                _ if generated == Some(at) => Value::Null,
                true => zero_value(column, run.ctx).unwrap_or(Value::Null),
                false => default_value(table, at, 1, lenient, run.ctx)?,
            };
            let is_filled_later = column.generated.is_some()
                || matches!(column.default, Some(ColumnDefault::Expression(_)))
                || generated == Some(at);
            if value.is_null() && !column.nullable && !is_filled_later {
                self.demanding.push(at);
            }
            self.empty.push(value);
        }
        Ok(())
    }

    fn count(&mut self, outcome: &Outcome) {
        // As in MySQL, a row that a constraint keeps out is no record.
        self.records += u64::from(!matches!(outcome, Outcome::LeftOut));
        match outcome {
            Outcome::Replaced(removed) => {
                self.copied += 1;
                self.deleted += removed;
            }
            Outcome::Ignored | Outcome::LeftOut => {}
            Outcome::Inserted | Outcome::Updated { .. } => self.copied += 1,
        }
        self.generator.end_row(matches!(outcome, Outcome::Inserted | Outcome::Replaced(_)));
    }

    /// Stores a line that has all of its fields, if each can be stored just as it is written.
    /// Returns false if not: the line then has to be converted field by field, from
    /// [`Filling::begin_row`] on.
    pub fn put_plain(&mut self, run: &mut Run<'_, '_>, fields: &Fields) -> Result<bool> {
        if !self.is_plain {
            return Ok(false);
        }
        let row = PlainRow { fields, are_integers: &self.are_integers };
        let mut image = std::mem::take(&mut self.image);
        let is_put = to_image(&self.plan.table, run, &row, &self.sources, &mut self.generator, &mut image)?;
        if is_put {
            run.ctx.charge_if_long(image.len())?;
            let outcome = self.plan.put(run, &image, &[])?;
            self.count(&outcome);
        }
        self.image = image;
        Ok(is_put)
    }

    /// Begins a row: sets its values to those that it has without fields.
    pub fn begin_row(&mut self) {
        self.values.clone_from(&self.empty);
        self.defaulted.clear();
        self.nulled.clear();
    }

    /// Sets a column to the value of its field.
    pub fn set(&mut self, at: usize, value: Value) {
        self.nulled.retain(|nulled| *nulled != at);
        self.values[at] = value;
    }

    /// Sets a column whose field is missing in the line: to NULL if its default is NULL, else to
    /// the type's zero value. Where fields have fixed lengths, it gets its default, or the zero
    /// value if that is NULL.
    pub fn set_missing(&mut self, at: usize, is_fixed: bool, run: &Run<'_, '_>) -> Result<()> {
        let column = &self.plan.table.def.columns[at];
        if self.generator.column == Some(at) {
            return self.set_null(at, run);
        }
        let is_empty = if is_fixed { self.empty[at].is_null() } else { !self.empty[at].is_null() };
        let value = match () {
            () if column.generated.is_some() => Value::Null,
            () if is_now_for_null(column) => now_for(column, run.ctx)?,
            () if is_empty => empty_value(column, run.ctx)?,
            () => self.empty[at].clone(),
        };
        self.set(at, value);
        Ok(())
    }

    /// Sets a column whose field is NULL. If the column is NOT NULL, SET sees the type's zero value
    /// until the NULL is checked.
    pub fn set_null(&mut self, at: usize, run: &Run<'_, '_>) -> Result<()> {
        let column = &self.plan.table.def.columns[at];
        if is_now_for_null(column) {
            let now = now_for(column, run.ctx)?;
            self.set(at, now);
            return Ok(());
        }
        self.set(at, Value::Null);
        if !column.nullable && column.generated.is_none() && !self.plan.fires() {
            self.values[at] = empty_value(column, run.ctx).unwrap_or(Value::Null);
            self.nulled.push(at);
        }
        Ok(())
    }

    /// Sets a column to NULL for which an XML file has no value. A column that is NOT NULL gets the
    /// type's zero value, whether SET gives it another one later or not.
    ///
    /// # Errors
    /// Returns 1263 for a column that is NOT NULL in strict mode, where else it is a warning.
    pub fn set_absent(&mut self, at: usize, run: &Run<'_, '_>, number: u64) -> Result<()> {
        let column = &self.plan.table.def.columns[at];
        let may_be_null = column.nullable || column.generated.is_some() || self.plan.fires();
        if may_be_null || self.generator.column == Some(at) || is_now_for_null(column) {
            return self.set_null(at, run);
        }
        let text = null_for_not_null(column, number);
        if self.plan.strictness(run).strict {
            return Err(SqlError::new(1263, text));
        }
        run.ctx.warn(1263, text);
        let empty = empty_value(column, run.ctx)?;
        self.set(at, empty);
        Ok(())
    }

    /// Carries out SET from left to right, so that each expression sees the assignments before it.
    pub fn assign(
        &mut self,
        run: &Run<'_, '_>,
        assignments: &[(usize, NewValue)],
        number: u64,
    ) -> Result<()> {
        let (table, strictness) = (&*self.plan.table, self.plan.strictness(run));
        for (at, value) in assignments {
            let column = &table.def.columns[*at];
            let new = match value {
                NewValue::Expr(expr) => {
                    let value = expr.eval(&self.values, run.ctx)?;
                    run.ctx.check_refused()?;
                    let is_asked_later = self.generator.column == Some(*at) || self.plan.fires();
                    match value.is_null() && is_asked_later {
                        true => Value::Null,
                        false => to_column(&value, column, number, strictness, run.ctx)
                            .map_err(|error| of_table(error, &table.def.name))?,
                    }
                }
                NewValue::Default if self.generator.column == Some(*at) => Value::Null,
                NewValue::Default => {
                    self.defaulted.push(*at);
                    default_value(table, *at, number, strictness, run.ctx)?
                }
            };
            self.set(*at, new);
        }
        Ok(())
    }

    /// Checks the columns that are NULL and must not be.
    ///
    /// # Errors
    /// Returns 1263 in strict mode, where else it is a warning, and 1364 for a column that has to
    /// be given a value.
    fn check_nulls(&mut self, run: &Run<'_, '_>, number: u64) -> Result<()> {
        let table = &*self.plan.table;
        let given = self.plan.columns.iter().filter(|at| self.generator.column != Some(**at));
        for at in given.filter(|at| self.nulled.contains(at)) {
            let column = &table.def.columns[*at];
            let text = null_for_not_null(column, number);
            if self.plan.strictness(run).strict {
                return Err(SqlError::new(1263, text));
            }
            if self.values[*at].is_null() {
                return Err(SqlError::new(1263, text));
            }
            run.ctx.warn(1263, text);
        }
        for at in &self.demanding {
            if self.values[*at].is_null() {
                let column = &table.def.columns[*at];
                let text = format!("Field '{}' doesn't have a default value", column.name);
                return Err(SqlError::new(1364, text));
            }
        }
        Ok(())
    }

    /// Puts the row into the table.
    pub fn put_row(&mut self, run: &mut Run<'_, '_>, number: u64) -> Result<()> {
        self.check_nulls(run, number)?;
        let (plan, strictness) = (self.plan, self.plan.strictness(run));
        if let Some(at) = self.generator.column {
            let given = std::mem::replace(&mut self.values[at], Value::Null);
            let given = if self.nulled.contains(&at) { Value::Null } else { given };
            self.values[at] = plan.converted(run, at, &given, number, &mut self.generator)?;
        }
        if let Some(expressions) = &plan.expressions {
            self.defaulted.extend_from_slice(&self.unset);
            let def = &plan.table.def;
            expressions.fill_defaults(def, &self.defaulted, &mut self.values, number, strictness, run.ctx)?;
            expressions.generate(def, &mut self.values, number, strictness, run.ctx)?;
        }
        let outcome = plan.store(run, &mut self.values, &[], &mut self.generator, &mut self.image)?;
        self.count(&outcome);
        Ok(())
    }

    /// Returns the results of the statement.
    pub fn finish(self, run: &Run<'_, '_>) -> Changes {
        let affected_rows = self.copied + self.deleted;
        let warnings = run.ctx.diagnostics.borrow().count;
        Changes {
            affected_rows,
            found_rows: affected_rows,
            generated_id: self.generator.first_stored.filter(|_| self.plan.shows_generated()),
            written_id: None,
            info: crate::exec::info([
                ("Records: ", self.records),
                ("  Deleted: ", self.deleted),
                ("  Skipped: ", self.records - self.copied),
                ("  Warnings: ", warnings),
            ]),
        }
    }
}
