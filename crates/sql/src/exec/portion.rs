//! `FOR PORTION OF` of MariaDB's UPDATE and DELETE: a row is changed for a part of its period, and
//! what is left of the period before and behind that part stays as rows with the old values.
//!
//! As in MariaDB the remainders are inserted between the change of the row and its AFTER triggers,
//! the earlier one first. They fire the triggers of INSERT, and have AUTO_INCREMENT values of their
//! own.

use super::assign::{Strictness, encode, to_column};
use super::insert::{Generator, InsertPlan, Rows};
use super::row_update::Beside;
use super::{Changes, RowExpressions, Run, info};
use crate::ast::{self, BinaryOp, TableRef};
use crate::bind::{Binder, Target, bound_of_portion, edge_compared, edges_of};
use crate::ddl::row_edge_value;
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use engine::{Row, Table, TriggerEvent};
use std::sync::Arc;
use types::Value;

/// A bound that is stored is converted as far as that can be done.
const LENIENT: Strictness = Strictness { strict: false, null_becomes_zero: true };

/// The part of a period that a statement changes.
pub(super) struct Portion {
    table: Arc<Table>,
    /// The columns of the period.
    start: usize,
    end: usize,
    /// The bounds of the part.
    from: Expr,
    to: Expr,
    /// The conditions that the row begins before the part, and that it ends behind it.
    begins_before: Expr,
    ends_behind: Expr,
    /// The way in which remainders are inserted.
    insert: InsertPlan,
    /// Whether DELETE makes the row its own first remainder, instead of deleting it.
    shortens: bool,
}

impl Portion {
    /// Binds the portion of a statement that changes this target. `None` if there is none.
    pub fn of(binder: &mut Binder<'_>, target: &Target, from: &TableRef) -> Result<Option<Box<Portion>>> {
        let TableRef::Table { system_time: Some(time), partitions, .. } = from else { return Ok(None) };
        let ast::SystemTime::Portion(portion) = &**time else { return Ok(None) };
        let (table, named) = (target.table().clone(), &target.scope.tables[0]);
        let [start, end] = edges_of(&table.def, &portion.period)?;
        let is_before_insert = |event: TriggerEvent, before: bool| event == TriggerEvent::Insert && before;
        let mut triggers = binder.engine.catalog().triggers(&table.def.schema, &table.def.name).into_iter();
        let runs_before = triggers.any(|trigger| {
            trigger.def.trigger.as_ref().is_some_and(|at| is_before_insert(at.event, at.before))
        });
        let shortens = !runs_before && table.def.temporal.versioning.is_none();
        let from = bound_of_portion(binder, &portion.from, named)?;
        let to = bound_of_portion(binder, &portion.to, named)?;
        let begins_before = edge_compared(binder, start, BinaryOp::Less, &portion.from, named)?;
        let ends_behind = edge_compared(binder, end, BinaryOp::Greater, &portion.to, named)?;
        let insert = insert_of(binder, &table, partitions)?;
        let portion = Portion { table, start, end, from, to, begins_before, ends_behind, insert, shortens };
        Ok(Some(Box::new(portion)))
    }

    /// Returns the columns of the period, which the statement cuts.
    pub fn columns(&self) -> [usize; 2] {
        [self.start, self.end]
    }

    /// Refuses assignments to the columns of the period.
    ///
    /// # Errors
    /// Returns MariaDB's error 4157 for the first of them.
    pub fn check_not_assigned(&self, mut assigned: impl Iterator<Item = usize>) -> Result<()> {
        let Some(at) = assigned.find(|at| self.columns().contains(at)) else { return Ok(()) };
        let (column, period) = (&self.table.def.columns[at].name, &self.table.def.temporal.period);
        let period = period.as_deref().unwrap_or_default();
        let text = format!("Column `{column}` used in period `{period}` specified in update SET list");
        Err(SqlError::new(4157, text))
    }

    /// Returns the expressions that read the row.
    pub fn exprs(&self) -> [&Expr; 2] {
        [&self.begins_before, &self.ends_behind]
    }

    /// Returns a bound of the portion as a value of one of the period's columns.
    fn edge(&self, run: &Run<'_, '_>, at: usize, bound: &Expr) -> Result<Value> {
        let value = bound.eval(&[], run.ctx)?;
        to_column(&value, &self.table.def.columns[at], 1, LENIENT, run.ctx)
    }
}

/// Returns the plan that inserts whole rows into one of the chosen partitions.
fn insert_of(binder: &mut Binder<'_>, table: &Arc<Table>, partitions: &[String]) -> Result<InsertPlan> {
    Ok(InsertPlan {
        table: table.clone(),
        columns: (0..table.columns()).collect(),
        missing: Vec::new(),
        rows: Rows::Values(Vec::new()),
        recoded: Vec::new(),
        replace: false,
        ignore: false,
        on_duplicate: Vec::new(),
        stamped: Vec::new(),
        expressions: RowExpressions::within(binder, &table.def, partitions)?,
        reads_row: false,
        through: None,
    })
}

/// What a running statement leaves of the periods of its rows.
pub(super) struct Remainders<'p> {
    portion: &'p Portion,
    generator: Generator,
    /// Whether the current row begins before the portion, and whether it ends behind it.
    is_before: bool,
    is_behind: bool,
    /// The number of remainders that were inserted.
    inserted: u64,
}

impl Beside for Remainders<'_> {
    /// Inserts what is left of the row that had this image.
    fn insert(&mut self, run: &mut Run<'_, '_>, old: &[u8]) -> Result<()> {
        if self.is_before {
            self.insert_one(run, old, false)?;
        }
        if self.is_behind {
            self.insert_one(run, old, true)?;
        }
        Ok(())
    }
}

impl<'p> Remainders<'p> {
    /// Returns the remainders of a statement that begins.
    pub fn of(portion: &'p Portion) -> Remainders<'p> {
        let generator = Generator::one_by_one(portion.table.def.auto_increment_column());
        Remainders { portion, generator, is_before: false, is_behind: false, inserted: 0 }
    }

    /// Looks at a row that was found.
    fn begin_row(&mut self, run: &Run<'_, '_>, values: &[Value]) -> Result<()> {
        self.is_before = self.portion.begins_before.holds(values, run.ctx)?;
        self.is_behind = self.portion.ends_behind.holds(values, run.ctx)?;
        Ok(())
    }

    /// Looks at a row that was found, and cuts its period to the portion.
    pub fn cut(&mut self, run: &Run<'_, '_>, values: &mut [Value]) -> Result<()> {
        self.begin_row(run, values)?;
        let portion = self.portion;
        if self.is_before {
            values[portion.start] = portion.edge(run, portion.start, &portion.from)?;
        }
        if self.is_behind {
            values[portion.end] = portion.edge(run, portion.end, &portion.to)?;
        }
        Ok(())
    }

    /// Returns the remainder before the portion, or the one behind it, of the row with this image.
    fn remainder(&mut self, run: &mut Run<'_, '_>, image: &[u8], is_behind: bool) -> Result<Vec<Value>> {
        let portion = self.portion;
        let (at, bound) = match is_behind {
            true => (portion.start, &portion.to),
            false => (portion.end, &portion.from),
        };
        let def = &portion.table.def;
        let mut values = portion.table.layout.decode_all(image)?;
        values[at] = portion.edge(run, at, bound)?;
        for (column, value) in def.columns.iter().zip(&mut values) {
            if let Some(edge) = row_edge_value(column, run.ctx.now_us) {
                *value = edge;
            }
        }
        if let Some(at) = self.generator.column {
            values[at] = Value::Int(0);
            self.generator.is_null = true;
            portion.insert.settle_id(run, &mut values, &mut self.generator)?;
        }
        if let Some(expressions) = &portion.insert.expressions {
            expressions.generate(def, &mut values, 1, portion.insert.strictness(run), run.ctx)?;
        }
        Ok(values)
    }

    /// Inserts one remainder.
    fn insert_one(&mut self, run: &mut Run<'_, '_>, image: &[u8], is_behind: bool) -> Result<()> {
        let mut values = self.remainder(run, image, is_behind)?;
        let mut new = Vec::with_capacity(image.len());
        self.portion.insert.store(run, &mut values, &[], &mut self.generator, &mut new)?;
        self.end_row();
        Ok(())
    }

    fn end_row(&mut self) {
        self.generator.end_row(true);
        self.inserted += 1;
    }

    /// Deletes the portion of a row. As in MariaDB the row becomes its first remainder, so that no
    /// foreign key takes it for deleted, unless a BEFORE INSERT trigger or system versioning is in
    /// the way.
    pub fn delete(&mut self, run: &mut Run<'_, '_>, row: &Row, values: &[Value]) -> Result<()> {
        self.begin_row(run, values)?;
        let table = &self.portion.table;
        if !self.portion.shortens || !self.is_before && !self.is_behind {
            run.delete_row(table, row)?;
            return self.insert(run, &row.image);
        }
        let mut values = self.remainder(run, &row.image, !self.is_before)?;
        if let Some(expressions) = self.portion.insert.expressions.as_ref().filter(|_| run.checks_rows) {
            expressions.check(&values, run.ctx)?;
        }
        let image = encode(table, &values, run.ctx)?;
        run.update_row(table, row, &image)?;
        run.after_insert(table, &mut values)?;
        self.end_row();
        match self.is_before && self.is_behind {
            true => self.insert_one(run, &row.image, true),
            false => Ok(()),
        }
    }

    /// Sets the text that MariaDB puts into the OK packet of such an UPDATE.
    pub fn note_info(&self, run: &Run<'_, '_>, changes: &mut Changes) {
        let warnings = run.ctx.diagnostics.borrow().count;
        changes.info = info([
            ("Rows matched: ", changes.found_rows),
            ("  Changed: ", changes.affected_rows),
            ("  Inserted: ", self.inserted),
            ("  Warnings: ", warnings),
        ]);
    }
}
