//! Generates AUTO_INCREMENT values.

use crate::error::Result;
use crate::exec::Run;
use engine::{EngineError, Table};
use types::Value;

/// Hands out the AUTO_INCREMENT values of one statement.
pub(in crate::exec) struct Generator {
    pub column: Option<usize>,
    /// The number of rows that the statement lists, or 0 if it does not list them. The first
    /// reservation takes values for all of them.
    rows: u64,
    /// The number of rows that have ended.
    ended: u64,
    /// The number of intervals of values so far: those that were reserved, and the one that begins
    /// with `insert_id`.
    intervals: u32,
    /// For how many rows, from the current one on, values have been reserved together.
    covered: u64,
    /// For how many rows values are reserved together at most, beyond those that are listed.
    most_rows: u64,
    /// The values that are reserved and not used yet.
    pub reserved: std::ops::Range<u64>,
    pub first: Option<u64>,
    /// Whether the first value was the one of `insert_id`, so that the table's counter has to
    /// follow the values.
    is_given: bool,
    /// Whether the current row has NULL in the column, or no value. 0 generates a value then,
    /// whatever the SQL mode.
    pub is_null: bool,
    /// The value that was generated for the current row.
    pub of_row: Option<u64>,
    /// The first value that was generated for a row that is now in the table. LAST_INSERT_ID()
    /// returns it.
    pub first_stored: Option<u64>,
    /// The columns of the current row for which DEFAULT is written.
    pub defaulted: Vec<usize>,
}

/// Returns the first value from `from` on that the session's increment and offset allow.
fn fitting(from: u64, increment: u64, offset: u64) -> u64 {
    let offset = if offset > increment { 0 } else { offset };
    // Among `increment` consecutive values, exactly one has the wanted remainder.
    from.saturating_add((i128::from(offset) - i128::from(from)).rem_euclid(i128::from(increment)) as u64)
}

impl Generator {
    /// Returns the generator of a statement that lists this many rows, or 0 if it does not list
    /// them.
    pub fn new(column: Option<usize>, rows: u64) -> Generator {
        const MOST_ROWS: u64 = 65_535;
        Generator {
            most_rows: MOST_ROWS,
            column,
            rows,
            ended: 0,
            intervals: 0,
            covered: 0,
            reserved: 0..0,
            first: None,
            is_given: false,
            is_null: false,
            of_row: None,
            first_stored: None,
            defaulted: Vec::new(),
        }
    }

    /// Reports whether the values continue from `insert_id`.
    pub fn is_given(&self) -> bool {
        self.is_given
    }

    /// Returns the generator of a statement whose rows are inserted one by one, each of which
    /// reserves one value.
    pub fn one_by_one(column: Option<usize>) -> Generator {
        Generator { most_rows: 1, ..Generator::new(column, 1) }
    }

    /// Returns the number of the current row, from 1.
    pub fn row_number(&self) -> u64 {
        self.ended + 1
    }

    /// Ends a row. If a generated value was not stored, the next row gets it.
    pub fn end_row(&mut self, stored: bool) {
        self.ended += 1;
        self.covered = self.covered.saturating_sub(1);
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
        let given = if self.first.is_none() { variables.insert_ids.take_given() } else { None };
        let (increment, offset) = (variables.auto_increment_increment, variables.auto_increment_offset);
        let value = if let Some(id) = given {
            // The rows behind this one continue from INSERT_ID, whatever the table's counter says.
            // MySQL lets only as many do so as the statement lists.
            let values = match self.rows {
                0 => u64::MAX,
                _ if variables.of_mariadb => u64::MAX,
                rows => rows.saturating_mul(increment),
            };
            self.reserved = id.saturating_add(1)..id.saturating_add(values);
            self.intervals += 1;
            self.is_given = true;
            id
        } else {
            if !self.reserved.contains(&fitting(self.reserved.start, increment, offset)) {
                match self.reserve(table, increment) {
                    Err(EngineError::AutoIncrementExhausted) => return self.largest_again(table, increment),
                    reserved => reserved?,
                }
            }
            let value = fitting(self.reserved.start, increment, offset);
            self.reserved.start = value + 1;
            value
        };
        if self.is_given {
            table.note_auto_increment(value);
        }
        if self.first.is_none() {
            variables.insert_ids.note_generated(value);
            self.first = Some(value);
        }
        self.of_row = Some(value);
        Ok(value)
    }

    /// Reserves values for the current row and for some behind it: first for as many rows as the
    /// statement lists, even those before this one that had values of their own; later, and where
    /// the statement lists none, for 1, 2, 4 rows and so on.
    fn reserve(&mut self, table: &Table, increment: u64) -> std::result::Result<(), EngineError> {
        if self.covered == 0 {
            self.covered = match self.intervals {
                0 if self.rows > 0 => self.rows,
                intervals => {
                    1u64.checked_shl(intervals).map_or(self.most_rows, |rows| rows.min(self.most_rows))
                }
            };
        }
        let mut count = self.covered * increment;
        let first = match table.next_auto_increment(count) {
            // What is left may be enough for the rows that will need a value.
            Err(EngineError::AutoIncrementExhausted) if self.covered > 1 => {
                (self.covered, count) = (1, increment);
                table.next_auto_increment(count)?
            }
            first => first?,
        };
        self.intervals += 1;
        self.reserved = first..first + count;
        Ok(())
    }

    /// Takes the first value from `from` on that the session's increment and offset allow, for a
    /// row whose table counts in groups. INSERT_ID says nothing about such a row.
    pub fn take(&mut self, from: u64, run: &Run<'_, '_>) -> u64 {
        let variables = run.ctx.variables;
        variables.insert_ids.take_given();
        let (increment, offset) = (variables.auto_increment_increment, variables.auto_increment_offset);
        let value = fitting(from, increment, offset);
        if self.first.is_none() {
            variables.insert_ids.note_generated(value);
            self.first = Some(value);
        }
        self.of_row = Some(value);
        value
    }

    /// Returns the largest value of the column's type, when the counter has passed it before the
    /// statement. As in MySQL the row usually fails with 1062 then, because the value is in use.
    ///
    /// # Errors
    /// Returns 1467 (`ER_AUTOINC_READ_FAILED`) when the statement itself has used the values up,
    /// and where MySQL returns it too: for BIGINT UNSIGNED.
    fn largest_again(&mut self, table: &Table, increment: u64) -> Result<u64> {
        let column = table.def.auto_increment_column().map(|at| &table.def.columns[at]);
        let (_, largest) = column.map_or((0, u64::MAX), |column| column.ty.integer_range());
        if self.first.is_some() || increment > 1 || largest == u64::MAX || table.auto_increment() <= largest {
            return Err(EngineError::AutoIncrementExhausted.into());
        }
        self.of_row = Some(largest);
        Ok(largest)
    }
}
