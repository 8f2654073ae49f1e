//! Positions in the source's binary log.

use std::fmt;

use protocol::client::ResultSet;

/// A position in the source's binary log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlace {
    pub file: String,
    pub position: u64,
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.position)
    }
}

impl LogPlace {
    /// Reads a position from the first row of a result, which has the file and the offset in
    /// columns of these names.
    pub fn of(shown: &ResultSet, file: &str, position: &str) -> Option<LogPlace> {
        let position = shown.text(0, position)?.parse().ok()?;
        Some(LogPlace { file: shown.text(0, file)?, position })
    }

    /// Reports whether this position is the other one or behind it. Files are compared by their
    /// numbers.
    pub fn is_at_or_behind(&self, other: &LogPlace) -> bool {
        let number =
            |place: &LogPlace| place.file.rsplit('.').next().and_then(|digits| digits.parse::<u64>().ok());
        (number(self), self.position) >= (number(other), other.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_ordered_by_the_numbers_of_their_files() {
        let place = |file: &str, position| LogPlace { file: file.into(), position };
        let nowhere = place("", 0);
        let in_order = [place("binlog.000002", 900), place("binlog.000003", 4), place("binlog.1000000", 4)];
        for (at, one) in in_order.iter().enumerate() {
            assert!(one.is_at_or_behind(one) && one.is_at_or_behind(&nowhere));
            assert!(!nowhere.is_at_or_behind(one), "nothing has been applied yet");
            for before in &in_order[..at] {
                assert!(one.is_at_or_behind(before) && !before.is_at_or_behind(one));
            }
        }
    }
}
