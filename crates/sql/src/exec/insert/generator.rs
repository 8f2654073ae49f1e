//! Generates AUTO_INCREMENT values.

use crate::error::Result;
use crate::exec::Run;
use engine::Table;
use types::Value;

/// Hands out the AUTO_INCREMENT values of one statement.
pub(in crate::exec) struct Generator {
    pub column: Option<usize>,
    /// The number of rows of the statement. The first reservation takes values for all of them.
    rows: u64,
    /// The number of rows that are left, including the current one.
    rows_left: u64,
    /// The values that are reserved and not used yet.
    pub reserved: std::ops::Range<u64>,
    pub first: Option<u64>,
    /// The value that was generated for the current row.
    pub of_row: Option<u64>,
    /// The first value that was generated for a row that is now in the table. LAST_INSERT_ID()
    /// returns it.
    pub first_stored: Option<u64>,
    /// The columns of the current row for which DEFAULT is written.
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

    /// Sets the number of rows, once it is known.
    pub fn set_rows(&mut self, rows: u64) {
        (self.rows, self.rows_left) = (rows, rows);
    }

    /// Ends a row. If a generated value was not stored, the next row gets it.
    pub fn end_row(&mut self, stored: bool) {
        self.rows_left = self.rows_left.saturating_sub(1);
        let Some(of_row) = self.of_row.take() else { return };
        if stored {
            self.first_stored = self.first_stored.or(Some(of_row));
        } else if self.reserved.start == of_row + 1 {
            // The next row gets this value.
            self.reserved.start = of_row;
        }
    }

    /// Notes that a row has a value of its own. Of the reserved values, only greater ones are used
    /// from now on.
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
            // The rows behind this one continue from INSERT_ID, whatever the table's counter says.
            self.reserved = id.saturating_add(1)..u64::MAX;
            id
        } else {
            let (increment, offset) = (variables.auto_increment_increment, variables.auto_increment_offset);
            let offset = if offset > increment { 0 } else { offset };
            // Among `increment` consecutive values, exactly one has the wanted remainder.
            let fitting = |from: u64| {
                from + (i128::from(offset) - i128::from(from)).rem_euclid(i128::from(increment)) as u64
            };
            if !self.reserved.contains(&fitting(self.reserved.start)) {
                // The first time, the reservation is for all rows of the statement, even those
                // before this one that had values of their own.
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
