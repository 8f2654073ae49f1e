//! Stored functions and triggers: programs that run within a statement.
//!
//! Each runs in a session of its own, which is created from the calling session and lasts as long
//! as the program. It has the same variables, user variables and programs, but a statement state of
//! its own. Its statements run in the transaction of the calling statement.

use super::call::routine_of;
use super::entered::Entered;
use super::running::Running;
use crate::error::{Result, SqlError};
use crate::exec::{Strictness, to_column};
use crate::expr::{Context, Programs, SharedTransaction, StoredFunction, TriggerRow, text_for};
use crate::plan::{pad, unpad};
use crate::program::{Frame, Machine, Routine, Surroundings};
use crate::session::Session;
use crate::sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use engine::{ObjectKind, Table};
use std::sync::Arc;
use types::{ColumnType, Value};

/// Refuses result sets, which a function or a trigger may not return.
struct NoResults;

impl ResultSink for NoResults {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<()> {
        Err(SqlError::new(1415, "Not allowed to return a result set from a function"))
    }

    fn row(&mut self, _: &[Value]) -> Result<()> {
        Ok(())
    }

    fn end_rows(&mut self, _: EndOfRows) -> Result<()> {
        Ok(())
    }

    fn ok(&mut self, _: &mut OkInfo) -> Result<()> {
        Ok(())
    }
}

/// Calls `run` with a session for a program within the statement of this context.
fn within<T>(
    session: &Session,
    ctx: &Context<'_>,
    routine: &Routine,
    run: impl FnOnce(&mut Session) -> Result<T>,
) -> Result<T> {
    crate::parse::check_stack()?;
    if session.programs.depth_of(routine.object.id) > 0 {
        return Err(SqlError::new(1424, "Recursive stored functions and triggers are not allowed."));
    }
    let programs = session.programs.lend(ctx.tables.iter().map(|table| table.id));
    let mut inner = session.inner(programs, ctx.now_us);
    let done = match Entered::enter(&mut inner, routine) {
        Ok(entered) => {
            let done = run(&mut inner);
            entered.leave(&mut inner);
            done
        }
        Err(error) => Err(error),
    };
    session.take_back(&mut inner, done.is_err());
    done
}

fn frame_of(session: &Session, routine: &Routine) -> Result<Frame> {
    Frame::new(&routine.types, routine.program.cursors.len(), &session.server.memory)
}

impl Programs for Session {
    fn call(
        &self,
        function: &StoredFunction,
        args: Vec<(Value, ColumnType)>,
        transaction: &dyn SharedTransaction,
        ctx: &Context<'_>,
    ) -> Result<Value> {
        let found =
            self.server.engine.catalog().object(&function.schema, ObjectKind::Function, &function.name);
        let unknown = || crate::ddl::absent(ObjectKind::Function, &function.schema, &function.name);
        let routine = routine_of(self, &found.ok_or_else(unknown)?, None)?;
        within(self, ctx, &routine, |session| {
            let mut frame = frame_of(session, &routine)?;
            let mut running = Running { session, around: Some(transaction), sink: &mut NoResults };
            for (slot, (value, ty)) in args.iter().enumerate() {
                running.store(&routine, &mut frame, slot, (value, ty))?;
            }
            let returned = Machine { routine: &routine, surroundings: &mut running }.run(&mut frame)?;
            let name = &routine.object.def.name;
            let without = || SqlError::new(1321, format!("FUNCTION {name} ended without RETURN"));
            let (value, ty) = returned.ok_or_else(without)?;
            let column = routine.returns.as_ref().expect("a function has a type");
            let ctx = session.context(&frame.values, true);
            let strictness = Strictness { strict: ctx.strict, null_becomes_zero: false };
            let text = text_for(&value, &ty, &column.ty, ctx.zone());
            to_column(text.as_ref().unwrap_or(&value), column, 1, strictness, &ctx)
        })
    }

    fn fire(
        &self,
        table: &Arc<Table>,
        mut row: TriggerRow<'_>,
        transaction: &dyn SharedTransaction,
        ctx: &Context<'_>,
    ) -> Result<()> {
        for trigger in self.server.engine.catalog().triggers(&table.def.schema, &table.def.name) {
            let Some(place) = &trigger.def.trigger else { continue };
            if (place.event, place.before) != (row.event, row.before) {
                continue;
            }
            let routine = routine_of(self, &trigger, Some(table))?;
            within(self, ctx, &routine, |session| fire_one(session, &routine, &mut row, transaction))?;
        }
        Ok(())
    }
}

fn fire_one(
    session: &mut Session,
    routine: &Routine,
    row: &mut TriggerRow<'_>,
    transaction: &dyn SharedTransaction,
) -> Result<()> {
    let mut frame = frame_of(session, routine)?;
    let of_row = |slot: usize| {
        let position = routine.row_columns[slot]?;
        let is_new = routine.program.slots[slot].kind == crate::ast::program::SlotKind::Column { new: true };
        Some((slot, position, is_new))
    };
    let columns: Vec<(usize, usize, bool)> = (0..routine.columns.len()).filter_map(of_row).collect();
    let pads_chars = session.settings.variables.sql_mode.pad_char_to_full_length();
    for (slot, position, is_new) in &columns {
        let values = match is_new {
            true => row.new.as_deref(),
            false => row.old,
        };
        let mut value = values.map_or(Value::Null, |values| values[*position].clone());
        if pads_chars {
            pad(&mut value, &routine.columns[*slot].ty);
        }
        frame.put(*slot, value)?;
    }
    let mut running = Running { session, around: Some(transaction), sink: &mut NoResults };
    Machine { routine, surroundings: &mut running }.run(&mut frame)?;
    if let (true, Some(new)) = (row.before, &mut row.new) {
        for (slot, position, _) in columns.iter().filter(|(_, _, is_new)| *is_new) {
            new[*position] = frame.values[*slot].clone();
            if pads_chars {
                unpad(&mut new[*position], &routine.columns[*slot].ty);
            }
        }
    }
    Ok(())
}
