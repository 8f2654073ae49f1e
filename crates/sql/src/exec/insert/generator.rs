//! AUTO_INCREMENT values.

use crate::error::Result;
use crate::exec::Run;
use engine::Table;

/// Hands out auto_increment values for one statement.
pub(super) struct Generator {
    pub column: Option<usize>,
    /// Rows that the statement still has, this one included; values for all are taken at once.
    pub rows_left: u64,
    /// Values that were taken and not used yet.
    pub reserved: std::ops::Range<u64>,
    pub first: Option<u64>,
}

impl Generator {
    pub fn next(&mut self, table: &Table, run: &Run<'_, '_>) -> Result<u64> {
        let variables = run.ctx.variables;
        let value = if let (Some(id), None) = (variables.insert_id, self.first) {
            table.note_auto_increment(id);
            id
        } else {
            let (increment, offset) = (variables.auto_increment_increment, variables.auto_increment_offset);
            let offset = if offset > increment { 0 } else { offset };
            // Among `increment` consecutive values there is exactly one with the wanted remainder.
            let fitting = |from: u64| {
                from + (i128::from(offset) - i128::from(from)).rem_euclid(i128::from(increment)) as u64
            };
            if !self.reserved.contains(&fitting(self.reserved.start)) {
                let count = self.rows_left.max(1) * increment;
                let first = table.next_auto_increment(count)?;
                self.reserved = first..first + count;
            }
            let value = fitting(self.reserved.start);
            self.reserved.start = value + 1;
            value
        };
        self.first = self.first.or(Some(value));
        Ok(value)
    }
}
