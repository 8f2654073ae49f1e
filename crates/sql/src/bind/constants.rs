//! The constants that a statement compares, and the warnings that they cause.

use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node, Reading, is_constant_text};
use types::convert::DateModes;
use types::{DateTime, Value, Zone};

/// The constants that a statement compares with numbers and dates, and the warnings that it gives
/// each time it runs.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    /// The session's modes for dates.
    dates: DateModes,
    /// The session's time zone.
    zone: Zone,
    /// The statement is a replicated one, which a source has executed already.
    is_of_source: bool,
    /// The warnings with their error numbers. Most are 1292, which strict mode turns into an error.
    pub complaints: Vec<(u16, String)>,
    /// The parameters that are compared with a column: their positions, and how their values are
    /// read.
    pub parameters: Vec<(usize, Reading)>,
    /// The calls with constant arguments that are compared with dates, and how their values are
    /// read. A value that is no date ends the statement before its first row.
    pub calls: Vec<(Expr, Reading)>,
}

/// What becomes of a comparison with a text that is no date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoDate {
    /// The comparison fails with an error.
    Refused,
    /// The text counts as the zero date.
    Zero,
    /// The text stays as it is.
    Text,
}

impl Constants {
    pub fn new(dates: DateModes, zone: Zone, is_of_source: bool) -> Constants {
        Constants { dates, zone, is_of_source, ..Constants::default() }
    }

    /// Reads a constant now, or notes how a parameter will be read. Other expressions stay
    /// unchanged.
    ///
    /// # Errors
    /// Returns 1525 (`ER_WRONG_VALUE`) for a text that is no date, if `no_date` is
    /// [`NoDate::Refused`].
    pub(super) fn read(&mut self, value: &mut Expr, reading: &Reading, no_date: NoDate) -> Result<()> {
        let constant = match &value.node {
            Node::Constant(constant) => constant,
            Node::Parameter(at) if reading.is_beside_column() => {
                self.parameters.push((*at, reading.clone()));
                return Ok(());
            }
            _ if no_date == NoDate::Refused
                && !self.is_of_source
                && reading.may_refuse()
                && is_constant_text(value) =>
            {
                self.calls.push((value.clone(), reading.clone()));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let read = reading.read(constant, self.dates, self.zone);
        self.complaints.extend(read.complaint.map(|text| (1292, text)));
        match (read.value, read.refusal, no_date) {
            (Some(read), _, _) => *value = Expr::constant(read),
            // MariaDB compares with days that their month does not have, whatever the SQL mode is.
            // MySQL's statements have no such texts. What is no date at all stays a text.
            (None, Some(_), _) if self.is_of_source => {
                let dates = DateModes {
                    allow_invalid: true,
                    truncate_fraction: self.dates.truncate_fraction,
                    ..DateModes::default()
                };
                if let Some(read) = reading.read(constant, dates, self.zone).value {
                    *value = Expr::constant(read);
                }
            }
            (None, Some(refusal), NoDate::Refused) => return Err(refusal),
            (None, Some(_), NoDate::Zero) => *value = Expr::constant(Value::DateTime(DateTime::default())),
            (None, Some(_), NoDate::Text) | (None, None, _) => {}
        }
        Ok(())
    }

    /// Returns the error that strict mode gives in place of `error` in a statement that changes
    /// rows: 1292 takes the place of 1525.
    pub fn strictly(&self, error: SqlError) -> SqlError {
        match self.complaints.iter().rfind(|(code, _)| *code == 1292) {
            Some((code, text)) if error.code == 1525 => SqlError::new(*code, text.clone()),
            _ => error,
        }
    }
}
