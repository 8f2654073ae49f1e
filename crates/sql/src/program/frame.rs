//! The values that a program works with while it runs.

use crate::error::{Result, SqlError};
use crate::expr::Warning;
use crate::memory::{Budget, Charge, heap_bytes};
use std::sync::Arc;
use types::{ColumnType, Value};

/// The rows of an open cursor.
pub(crate) struct OpenCursor {
    rows: std::vec::IntoIter<Vec<Value>>,
    types: Arc<[ColumnType]>,
    /// The charge for the rows.
    _charge: Charge,
}

impl OpenCursor {
    /// Creates a cursor in front of its first row. `types` are the types of its columns.
    pub fn new(rows: Vec<Vec<Value>>, types: Vec<ColumnType>, charge: Charge) -> OpenCursor {
        OpenCursor { rows: rows.into_iter(), types: types.into(), _charge: charge }
    }

    /// Returns the next row, which is fetched into this many variables, and the types of its
    /// columns.
    ///
    /// # Errors
    /// Returns 1328 for a wrong number of variables, and 1329 behind the last row.
    pub fn next(&mut self, variables: usize) -> Result<(Vec<Value>, Arc<[ColumnType]>)> {
        if variables != self.types.len() {
            return Err(SqlError::new(1328, "Incorrect number of FETCH variables"));
        }
        let row = self.rows.next().ok_or_else(SqlError::no_data)?;
        Ok((row, self.types.clone()))
    }
}

/// A handler that is running.
pub(crate) struct Handling {
    pub handler: usize,
    /// The condition that it handles.
    pub condition: Warning,
    /// The diagnostics area at the moment when the handler was activated.
    pub area: Vec<Warning>,
    /// The step at which a CONTINUE handler goes on.
    pub continue_at: usize,
}

/// The state of one run of a program: a value and a type for each slot, its cursors, and the
/// handlers that are running.
pub(crate) struct Frame {
    pub values: Vec<Value>,
    pub types: Vec<ColumnType>,
    pub cursors: Vec<Option<OpenCursor>>,
    pub handling: Vec<Handling>,
    charge: Charge,
}

impl Frame {
    /// Creates a frame in which all slots are NULL and all cursors are closed.
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

    /// Stores a value in a slot.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn put(&mut self, slot: usize, value: Value) -> Result<()> {
        self.charge.add(heap_bytes(&value))?;
        let before = std::mem::replace(&mut self.values[slot], value);
        self.charge.take_away(heap_bytes(&before));
        Ok(())
    }
}
