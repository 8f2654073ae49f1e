//! The values that a program works with while it runs.

use crate::error::{Result, SqlError};
use crate::expr::Warning;
use crate::memory::{Budget, Charge, heap_bytes};
use std::sync::Arc;
use types::{ColumnType, Value};

/// The rows of a cursor that is open.
pub(crate) struct OpenCursor {
    rows: std::vec::IntoIter<Vec<Value>>,
    types: Arc<[ColumnType]>,
    /// Of the rows.
    _charge: Charge,
}

impl OpenCursor {
    /// A cursor before its first row. `types` are those of its columns.
    pub fn new(rows: Vec<Vec<Value>>, types: Vec<ColumnType>, charge: Charge) -> OpenCursor {
        OpenCursor { rows: rows.into_iter(), types: types.into(), _charge: charge }
    }

    /// The next row, for so many variables, and the types of its columns.
    ///
    /// # Errors
    /// 1328 for another number of variables; 1329 behind the last row.
    pub fn next(&mut self, variables: usize) -> Result<(Vec<Value>, Arc<[ColumnType]>)> {
        if variables != self.types.len() {
            return Err(SqlError::new(1328, "Incorrect number of FETCH variables"));
        }
        let row = self.rows.next().ok_or_else(SqlError::no_data)?;
        Ok((row, self.types.clone()))
    }
}

/// A handler that runs.
pub(crate) struct Handling {
    pub handler: usize,
    /// What it handles.
    pub condition: Warning,
    /// The diagnostics area as it was then.
    pub area: Vec<Warning>,
    /// Where a CONTINUE handler goes on.
    pub continue_at: usize,
}

/// What one run of a program has: a value and a type for each slot, its cursors, the handlers that
/// it is in.
pub(crate) struct Frame {
    pub values: Vec<Value>,
    pub types: Vec<ColumnType>,
    pub cursors: Vec<Option<OpenCursor>>,
    pub handling: Vec<Handling>,
    charge: Charge,
}

impl Frame {
    /// All slots are NULL, all cursors closed.
    pub fn new(types: &[ColumnType], cursors: usize, memory: &Arc<Budget>) -> Result<Frame> {
        let mut charge = Charge::new(memory);
        charge.add(types.len() * (size_of::<Value>() + size_of::<ColumnType>()))?;
        Ok(Frame {
            values: vec![Value::Null; types.len()],
            types: types.to_vec(),
            cursors: std::iter::repeat_with(|| None).take(cursors).collect(),
            handling: Vec::new(),
            charge,
        })
    }

    /// Puts a value into a slot.
    ///
    /// # Errors
    /// As [`Charge::add`].
    pub fn put(&mut self, slot: usize, value: Value) -> Result<()> {
        self.charge.add(heap_bytes(&value))?;
        let before = std::mem::replace(&mut self.values[slot], value);
        self.charge.take_away(heap_bytes(&before));
        Ok(())
    }
}
