//! What a statement has to tell of the constants that it compares.

use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node, Reading};
use types::convert::DateModes;
use types::{Value, Zone};

/// The constants that a statement compares with numbers and dates, and what it tells of them
/// whenever it runs.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    /// What the session says about dates.
    dates: DateModes,
    /// The session's time zone.
    zone: Zone,
    /// The statement has been carried out by a source.
    is_of_source: bool,
    /// Warnings with their numbers; of constants mostly 1292, which strict mode makes an error.
    pub complaints: Vec<(u16, String)>,
    /// Parameters that are compared with a column, by their positions.
    pub parameters: Vec<(usize, Reading)>,
}

/// What becomes of a comparison with what is no date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoDate {
    /// It is refused.
    Refused,
    /// Nothing is known of it.
    Unknown,
    /// It stays the text that it is.
    Text,
}

impl Constants {
    pub fn new(dates: DateModes, zone: Zone, is_of_source: bool) -> Constants {
        Constants { dates, zone, is_of_source, ..Constants::default() }
    }

    /// Reads a constant now, and notes how a parameter is to be read. Anything else stays.
    ///
    /// # Errors
    /// 1525 for what is no date, where it is to be refused.
    pub(super) fn read(&mut self, value: &mut Expr, reading: &Reading, no_date: NoDate) -> Result<()> {
        let constant = match &value.node {
            Node::Constant(constant) => constant,
            Node::Parameter(at) if reading.is_beside_column() => {
                self.parameters.push((*at, reading.clone()));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let read = reading.read(constant, self.dates, self.zone);
        self.complaints.extend(read.complaint.map(|text| (1292, text)));
        match (read.value, read.refusal, no_date) {
            (Some(read), _, _) => *value = Expr::constant(read),
            (None, Some(_), _) if self.is_of_source => {}
            (None, Some(refusal), NoDate::Refused) => return Err(refusal),
            (None, Some(_), NoDate::Unknown) => *value = Expr::constant(Value::Null),
            (None, Some(_), NoDate::Text) | (None, None, _) => {}
        }
        Ok(())
    }

    /// What the error of a comparison is in strict mode, in a statement that changes rows.
    pub fn strictly(&self, error: SqlError) -> SqlError {
        match self.complaints.iter().rfind(|(code, _)| *code == 1292) {
            Some((code, text)) if error.code == 1525 => SqlError::new(*code, text.clone()),
            _ => error,
        }
    }
}
