//! AUTO_INCREMENT values.

use crate::error::Result;
use crate::exec::Run;
use engine::Table;
use types::Value;

/// Hands out auto_increment values for one statement.
pub(in crate::exec) struct Generator {
    pub column: Option<usize>,
    /// Rows of the statement: values for all are taken at once.
    rows: u64,
    /// Rows that the statement still has, this one included.
    rows_left: u64,
    /// Values that were taken and not used yet.
    pub reserved: std::ops::Range<u64>,
    pub first: Option<u64>,
    /// The value that was generated for the row at hand.
    pub of_row: Option<u64>,
    /// The first value that was generated for a row that is now in the table: what LAST_INSERT_ID()
    /// tells.
    pub first_stored: Option<u64>,
    /// The columns that the row at hand says DEFAULT of.
    pub defaulted: Vec<usize>,
}

impl Generator {
    pub fn new(column: Option<usize>, rows: u64) -> Generator {
        Generator {
            column,
            rows,
            rows_left: rows,
            reserved: 0..0,
            first: None,
            of_row: None,
            first_stored: None,
            defaulted: Vec::new(),
        }
    }

    /// So many rows come, which was not known before.
    pub fn set_rows(&mut self, rows: u64) {
        (self.rows, self.rows_left) = (rows, rows);
    }

    /// One row is done with.
    pub fn end_row(&mut self, stored: bool) {
        self.rows_left = self.rows_left.saturating_sub(1);
        let Some(of_row) = self.of_row.take() else { return };
        if stored {
            self.first_stored = self.first_stored.or(Some(of_row));
        } else if self.reserved.start == of_row + 1 {
            // The next row takes it.
            self.reserved.start = of_row;
        }
    }

    /// A row has brought this value of its own: of those that were taken only greater ones are
    /// used from here on.
    pub fn note_given(&mut self, given: &Value) {
        let given = match given {
            Value::Int(n) => u64::try_from(*n).unwrap_or(0),
            Value::UInt(n) => *n,
            _ => return,
        };
        if self.first.is_some() {
            self.reserved.start = self.reserved.start.max(given.saturating_add(1));
        }
    }

    pub fn next(&mut self, table: &Table, run: &Run<'_, '_>) -> Result<u64> {
        let variables = run.ctx.variables;
        let value = if let (Some(id), None) = (variables.insert_id, self.first) {
            // Those of the rows behind it follow, whatever the table has come to.
            self.reserved = id.saturating_add(1)..u64::MAX;
            id
        } else {
            let (increment, offset) = (variables.auto_increment_increment, variables.auto_increment_offset);
            let offset = if offset > increment { 0 } else { offset };
            // Among `increment` consecutive values there is exactly one with the wanted remainder.
            let fitting = |from: u64| {
                from + (i128::from(offset) - i128::from(from)).rem_euclid(i128::from(increment)) as u64
            };
            if !self.reserved.contains(&fitting(self.reserved.start)) {
                // As many as the statement has rows, those before included that brought values of
                // their own.
                let rows = if self.first.is_none() { self.rows } else { self.rows_left };
                let count = rows.max(1) * increment;
                let first = table.next_auto_increment(count)?;
                self.reserved = first..first + count;
            }
            let value = fitting(self.reserved.start);
            self.reserved.start = value + 1;
            value
        };
        if variables.insert_id.is_some() {
            table.note_auto_increment(value);
        }
        self.first = self.first.or(Some(value));
        self.of_row = Some(value);
        Ok(value)
    }
}
