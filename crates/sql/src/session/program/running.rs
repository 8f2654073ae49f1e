//! Carries out the steps of a program in its session: statements, expressions, variables and
//! cursors.

use super::around::{Around, lent};
use super::{logged, values};
use crate::ast::program::{InnerStatement, SlotKind};
use crate::ast::{Expr, SetItem, Statement, Target};
use crate::error::{Result, SqlError};
use crate::exec::{Strictness, to_column};
use crate::expr::{Level, text_for};
use crate::measured::EventName;
use crate::memory::{Charge, row_bytes};
use crate::parse::Hints;
use crate::program::{Frame, OpenCursor, Routine};
use crate::session::Session;
use crate::session::bound;
use crate::session::state::{Arguments, Bound, BoundValues, PlanKey, Planned};
use crate::session::statement_names::name_of;
use crate::sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use engine::ColumnDef;
use std::sync::Arc;
use types::{ColumnType, TypeCode, Value, collation};

/// A program that runs in a session.
pub(super) struct Running<'s, 'o> {
    pub session: &'s mut Session,
    pub around: Around<'o>,
    /// The sink for the program's result sets.
    pub sink: &'o mut dyn ResultSink,
}

/// The rows of a cursor, or of SELECT ... INTO.
pub(super) struct KeptRows {
    rows: Vec<Vec<Value>>,
    /// The types of the columns.
    types: Vec<ColumnType>,
    /// The number of columns that there have to be. `None` means any.
    wanted: Option<usize>,
    /// The most rows that there may be. A further row is error 1172.
    most: usize,
    charge: Charge,
}

impl KeptRows {
    fn new(session: &Session, wanted: Option<usize>, most: usize) -> KeptRows {
        KeptRows {
            rows: Vec::new(),
            types: Vec::new(),
            wanted,
            most,
            charge: Charge::new(&session.server.memory),
        }
    }
}

impl ResultSink for KeptRows {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.types = columns.iter().map(|column| column.ty.clone()).collect();
        match self.wanted {
            Some(wanted) if wanted != columns.len() => {
                Err(SqlError::new(1222, "The used SELECT statements have a different number of columns"))
            }
            _ => Ok(()),
        }
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        if self.rows.len() >= self.most {
            return Err(SqlError::new(1172, "Result consisted of more than one row"));
        }
        assert_eq!(row.len(), self.types.len(), "a row has a value for each column");
        self.charge.add(row_bytes(row))?;
        self.rows.push(row.to_vec());
        Ok(())
    }

    fn end_rows(&mut self, _: EndOfRows) -> Result<()> {
        Ok(())
    }

    fn ok(&mut self, _: &mut OkInfo) -> Result<()> {
        Ok(())
    }
}

/// Passes result sets on, but not OKs, since a CALL sends one OK at its end.
pub(super) struct ResultSets<'o> {
    sink: &'o mut dyn ResultSink,
    /// Whether a result set has begun and not ended yet.
    is_open: bool,
}

impl<'o> ResultSets<'o> {
    pub fn new(sink: &'o mut dyn ResultSink) -> ResultSets<'o> {
        ResultSets { sink, is_open: false }
    }
}

impl ResultSink for ResultSets<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.is_open = true;
        self.sink.columns(columns)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.sink.row(row)
    }

    fn end_rows(&mut self, end: EndOfRows) -> Result<()> {
        self.is_open = false;
        self.sink.end_rows(end)
    }

    fn end_begun_rows(&mut self, end: EndOfRows) -> Result<()> {
        if self.is_open { self.end_rows(end) } else { Ok(()) }
    }

    fn ok(&mut self, _: &mut OkInfo) -> Result<()> {
        Ok(())
    }
}

impl Running<'_, '_> {
    fn plan_of(&mut self, key: PlanKey) -> Option<Planned> {
        let plan = self.session.programs.known.borrow().plan(&key)?;
        let holds = match &plan {
            Planned::Statement(bound) => bound.cacheable && bound::still_holds(self.session, bound),
            Planned::Values(bound) => {
                bound.cacheable
                    && bound.generation == self.session.cache.generation()
                    && bound.privileges == self.session.server.host.privileges_generation()
                    && bound.tables.is_empty()
            }
        };
        holds.then_some(plan)
    }

    fn bound(&mut self, key: PlanKey, statement: &Statement, frame: &Frame) -> Result<Arc<Bound>> {
        if let Some(Planned::Statement(bound)) = self.plan_of(key) {
            return Ok(bound);
        }
        let bound = Arc::new(bound::bind_in_program(self.session, statement, &frame.types)?);
        self.session.programs.known.borrow_mut().keep_plan(key, Planned::Statement(bound.clone()));
        Ok(bound)
    }

    pub fn bound_values(&mut self, key: PlanKey, exprs: &[Expr], frame: &Frame) -> Result<Arc<BoundValues>> {
        if let Some(Planned::Values(bound)) = self.plan_of(key) {
            return Ok(bound);
        }
        let bound = Arc::new(values::bind(self.session, exprs, &frame.types)?);
        self.session.programs.known.borrow_mut().keep_plan(key, Planned::Values(bound.clone()));
        Ok(bound)
    }

    /// Evaluates one of a step's expressions.
    pub fn one(&mut self, key: PlanKey, expr: &Expr, frame: &Frame) -> Result<Value> {
        self.one_typed(key, expr, frame).map(|(value, _)| value)
    }

    /// Evaluates one of a step's expressions. Returns its value and type.
    pub fn one_typed(&mut self, key: PlanKey, expr: &Expr, frame: &Frame) -> Result<(Value, ColumnType)> {
        let bound = self.bound_values(key, std::slice::from_ref(expr), frame)?;
        let mut all = values::evaluate(self.session, self.around, &bound, &frame.values)?;
        Ok((all.pop().unwrap_or(Value::Null), bound.exprs[0].ty.clone()))
    }

    /// Checks that a statement does not change a table that a calling statement uses.
    ///
    /// # Errors
    /// Returns 1442 (`ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG`) for such a table.
    fn check_free(&self, bound: &Bound) -> Result<()> {
        let around = self.session.programs.tables_around();
        if around.is_empty() {
            return Ok(());
        }
        for table in bound.plan.changed_tables() {
            if around.contains(&table.id) {
                let text = format!(
                    "Can't update table '{}' in stored function/trigger because it is already used by \
                     statement which invoked this stored function/trigger.",
                    table.def.name
                );
                return Err(SqlError::new(1442, text));
            }
        }
        Ok(())
    }

    /// Runs a statement about rows. Its result goes to `kept`, or to the program's sink if that is
    /// `None`.
    pub fn run_rows(
        &mut self,
        key: PlanKey,
        inner: &InnerStatement,
        frame: &Frame,
        mut kept: Option<&mut KeptRows>,
    ) -> Result<()> {
        let text = logged::text_of(self.session, inner, frame);
        let mut again = true;
        loop {
            let bound = self.bound(key, &inner.statement, frame)?;
            if again {
                self.session.server.counters.statements.count(bound.kind.0);
            }
            self.check_free(&bound)?;
            let sink: &mut dyn ResultSink = match &mut kept {
                Some(kept) => *kept,
                None => &mut *self.sink,
            };
            let done = match self.around {
                None => bound::run(self.session, &bound, &frame.values, &text, sink),
                Some(shared) => lent(shared, |transaction| {
                    bound::run_within(self.session, transaction, &bound, &frame.values, sink)
                }),
            };
            match done {
                Err(error) if again && bound::can_run_again(self.session, &error) => {
                    self.session.programs.known.borrow_mut().forget_plan(&key);
                    again = false;
                }
                done => return done,
            }
        }
    }

    pub fn select_into(
        &mut self,
        routine: &Routine,
        key: PlanKey,
        inner: &InnerStatement,
        frame: &mut Frame,
    ) -> Result<()> {
        let mut kept = KeptRows::new(self.session, Some(inner.into.len()), 1);
        self.run_rows(key, inner, frame, Some(&mut kept))?;
        let Some(row) = kept.rows.pop() else {
            let error = SqlError::no_data();
            let mut warning = crate::expr::Warning::new(Level::Warning, error.code, error.message);
            warning.state = error.state;
            self.session.statement.diagnostics.borrow_mut().push_condition(warning);
            self.session.statement.row_count = 0;
            return Ok(());
        };
        assert!(
            row.len() == inner.into.len() && kept.types.len() == row.len(),
            "each variable of INTO has a column"
        );
        for ((target, value), ty) in inner.into.iter().zip(&row).zip(&kept.types) {
            self.put(routine, frame, target, (value, ty))?;
        }
        self.session.statement.row_count = 1;
        Ok(())
    }

    /// Stores a value in a slot, converted to the slot's type.
    pub fn keep(
        &mut self,
        routine: &Routine,
        frame: &mut Frame,
        slot: usize,
        (value, ty): (&Value, &ColumnType),
    ) -> Result<()> {
        let column = &routine.columns[slot];
        let is_row = matches!(routine.program.slots[slot].kind, SlotKind::Column { .. });
        if value.is_null() && is_row {
            // Whether the column may be NULL is checked when all triggers have run.
            return frame.put(slot, Value::Null);
        }
        let stored = {
            let ctx = self.session.context(&frame.values, true);
            let strictness = Strictness { strict: ctx.strict, null_becomes_zero: false };
            let text = text_for(value, ty, &column.ty, ctx.zone());
            to_column(text.as_ref().unwrap_or(value), column, 1, strictness, &ctx)?
        };
        // The note that digits were rounded is only for columns, not for variables.
        self.session.statement.diagnostics.borrow_mut().forget_notes(1265);
        frame.put(slot, as_read(stored, column))
    }

    /// Opens a cursor: all of its rows are read and kept.
    pub fn open_cursor(&mut self, routine: &Routine, cursor: usize, frame: &mut Frame) -> Result<()> {
        let key = (routine.object.id, routine.program.steps.len() + cursor, 0);
        let mut kept = KeptRows::new(self.session, None, usize::MAX);
        self.run_rows(key, &routine.program.cursors[cursor].query, frame, Some(&mut kept))?;
        let KeptRows { rows, types, charge, .. } = kept;
        assert!(frame.cursors[cursor].is_none(), "a cursor that is opened is closed");
        frame.cursors[cursor] = Some(OpenCursor::new(rows, types, charge));
        Ok(())
    }

    /// Stores a value in a variable.
    pub fn put(
        &mut self,
        routine: &Routine,
        frame: &mut Frame,
        target: &Target,
        (value, ty): (&Value, &ColumnType),
    ) -> Result<()> {
        match target {
            Target::Slot(slot) => self.keep(routine, frame, *slot, (value, ty)),
            Target::UserVariable(name) => self.session.settings.user_variables.set(name, value, ty),
        }
    }

    /// Clears the diagnostics area, before a step that evaluates something, as at the beginning of
    /// a statement.
    pub fn clear_area(&self) {
        self.session.statement.diagnostics.borrow_mut().clear();
    }

    /// Runs a SET of things that are no variables of the program.
    pub fn set(
        &mut self,
        key: PlanKey,
        items: &[SetItem],
        inner: &InnerStatement,
        frame: &Frame,
    ) -> Result<()> {
        self.clear_area();
        self.session.statement.row_count = 0;
        for (at, item) in items.iter().enumerate() {
            match item {
                SetItem::UserVariable(name, expr) => {
                    // In a program, each variable of a session is a statement of its own in MySQL.
                    self.session.server.counters.statements.count(EventName::of("sql/set_option").0);
                    let (value, ty) = self.one_typed((key.0, key.1, at), expr, frame)?;
                    self.session.settings.user_variables.set(name, &value, &ty)?;
                }
                SetItem::Variable { scope, name, value: Some(expr) } if self.around.is_some() => {
                    let value = self.one((key.0, key.1, at), expr, frame)?;
                    let arguments = Arguments { values: vec![value], types: Vec::new() };
                    let item = SetItem::Variable {
                        scope: *scope,
                        name: name.clone(),
                        value: Some(Expr::Parameter(0)),
                    };
                    self.alone(&Statement::Set(vec![item]), inner, arguments)?;
                }
                item => self.alone(&Statement::Set(vec![item.clone()]), inner, arguments_of(frame))?,
            }
        }
        Ok(())
    }

    /// Counts a statement of a program by its kind. Statements about rows and those that
    /// [`Self::alone`] runs are counted where they run, because a SET of a variable of the program
    /// is no statement in MySQL and is not counted.
    pub fn count_unless_later(&self, statement: &Statement) {
        if let Statement::Call(_) | Statement::Signal(_) | Statement::GetDiagnostics(_) | Statement::Do(_) =
            statement
        {
            self.session.server.counters.statements.count(name_of(statement).0);
        }
    }

    /// Runs a statement that is not about rows.
    pub fn alone(
        &mut self,
        statement: &Statement,
        inner: &InnerStatement,
        arguments: Arguments,
    ) -> Result<()> {
        self.session.server.counters.statements.count(name_of(statement).0);
        let around = std::mem::replace(&mut self.session.parameters.arguments, arguments);
        let done =
            self.session.run_unbound(inner.text.as_bytes(), (statement, &Hints::default()), &mut *self.sink);
        self.session.parameters.arguments = around;
        done
    }
}

/// Returns a value as it is read back: a CHAR loses its trailing spaces.
fn as_read(value: Value, column: &ColumnDef) -> Value {
    let is_char = column.ty.code == TypeCode::String && column.ty.is_character();
    match value {
        Value::Bytes(mut bytes) if is_char && column.ty.collation != collation::BINARY => {
            let length = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
            bytes.truncate(length);
            Value::Bytes(bytes)
        }
        value => value,
    }
}

pub(super) fn arguments_of(frame: &Frame) -> Arguments {
    Arguments { values: frame.values.clone(), types: frame.types.clone() }
}
