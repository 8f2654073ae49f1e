//! `replica_skip_errors`: errors that do not stop the applier. It leaves out the statement that
//! failed, or the row and all rows behind it in its event, says so in the error log, and goes on.
//! MySQL does the same, though its manual does not mention the rows.
//!
//! Only errors in changes of rows and definitions can be skipped. An error that ends the
//! transaction (a deadlock, a lock that was not granted, an interruption), a table whose columns do
//! not fit, and damage stop the applier, whatever is listed.

use std::fmt;
use std::str::FromStr;

use engine::{EngineError, Table};

use super::bind_error::BindError;
use super::exec_mode::ExecMode;
use super::report;
use crate::error::number;

/// The extent to which this server's rows may differ from those that a row event describes:
/// `replica_exec_mode`, and the errors that are skipped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tolerance<'a> {
    pub mode: ExecMode,
    pub skipped: &'a SkippedErrors,
}

impl Tolerance<'_> {
    /// Reports whether every row must be as the source describes it.
    pub fn is_strict(&self) -> bool {
        self.mode == ExecMode::Strict && self.skipped.is_off()
    }

    /// Decides how an event goes on when one of its rows cannot be changed.
    ///
    /// # Errors
    /// Returns `error` when the error is not tolerated.
    pub fn answer(&self, table: &Table, error: EngineError) -> Result<Answer, EngineError> {
        let is_there_already =
            matches!(error, EngineError::RowNotFound { .. } | EngineError::Duplicate { .. });
        if self.mode != ExecMode::Strict && is_there_already {
            return Ok(Answer::GoOn);
        }
        if !self.skipped.skips_row(&error) {
            return Err(error);
        }
        let name = table.qualified_name();
        log::warn!("Replica SQL: rows of table {name} are left out (replica_skip_errors): {error}");
        // In a table without a key, MySQL searches for all rows of an event together, and has
        // changed those that exist by the time that it misses one.
        let goes_on = matches!(error, EngineError::RowNotFound { .. }) && !table.has_keys();
        Ok(if goes_on { Answer::GoOn } else { Answer::EndEvent })
    }
}

/// The way in which an event goes on after one of its rows is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The event's rows behind the one that is left out are applied.
    GoOn,
    /// The event's rows behind the one that is left out are left out too.
    EndEvent,
}

/// The error numbers that `ddl_exist_errors` stands for: an object exists already, or does not
/// exist.
const DDL_EXIST_ERRORS: [u32; 10] = [1007, 1008, 1050, 1051, 1054, 1060, 1061, 1068, 1091, 1146];

/// The errors that `replica_skip_errors` skips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkippedErrors {
    /// Every error.
    All,
    /// The errors with these numbers, in ascending order. The empty list is `OFF`.
    Listed(Vec<u32>),
}

impl Default for SkippedErrors {
    fn default() -> SkippedErrors {
        SkippedErrors::Listed(Vec::new())
    }
}

impl SkippedErrors {
    /// Reports whether no error is skipped.
    pub fn is_off(&self) -> bool {
        matches!(self, SkippedErrors::Listed(numbers) if numbers.is_empty())
    }

    /// Reports whether a statement's error with this number is skipped.
    pub(super) fn contains(&self, number: u32) -> bool {
        match self {
            SkippedErrors::All => true,
            SkippedErrors::Listed(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }

    /// Reports whether a row that cannot be changed for this reason is left out.
    fn skips_row(&self, error: &EngineError) -> bool {
        !self.is_off() && report::row_number(error).is_some_and(|number| self.contains(number))
    }

    /// Reports whether the events of a table that cannot be used are left out.
    pub(super) fn skips_table(&self, error: &BindError) -> bool {
        matches!(error, BindError::NoSuchTable(..)) && self.contains(number::NO_SUCH_TABLE)
    }
}

impl FromStr for SkippedErrors {
    /// The first word of the option's value that is neither a number nor a known word.
    type Err = String;

    fn from_str(text: &str) -> Result<SkippedErrors, String> {
        let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
        if is(text.trim(), "ALL") {
            return Ok(SkippedErrors::All);
        }
        let mut numbers = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty() && !is(word, "OFF")) {
            if is(word, "ddl_exist_errors") {
                numbers.extend(DDL_EXIST_ERRORS);
            } else {
                numbers.push(word.parse().map_err(|_| word.to_owned())?);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(SkippedErrors::Listed(numbers))
    }
}

/// Shows the errors as the system variable does.
impl fmt::Display for SkippedErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkippedErrors::All => f.write_str("ALL"),
            SkippedErrors::Listed(numbers) if numbers.is_empty() => f.write_str("OFF"),
            SkippedErrors::Listed(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                f.write_str(&numbers.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_shown_as_mysql_shows_them() {
        for (text, shown) in [
            ("", "OFF"),
            ("off", "OFF"),
            ("all", "ALL"),
            ("1062, 1032,1062", "1032,1062"),
            ("ddl_exist_errors,1062", "1007,1008,1050,1051,1054,1060,1061,1062,1068,1091,1146"),
        ] {
            let parsed: SkippedErrors = text.parse().expect("a list");
            assert_eq!(parsed.to_string(), shown);
            assert_eq!(parsed.is_off(), shown == "OFF");
        }
        assert_eq!("1062,dup".parse::<SkippedErrors>(), Err("dup".to_owned()));
    }

    #[test]
    fn what_ends_the_transaction_is_never_skipped() {
        let missing = EngineError::RowNotFound { table: "s.t".into(), key: String::new() };
        let only: SkippedErrors = "1032".parse().expect("a list");
        assert!(SkippedErrors::All.skips_row(&missing) && only.skips_row(&missing));
        assert!(!SkippedErrors::default().skips_row(&missing));
        for error in [EngineError::Deadlock, EngineError::LockWaitTimeout, EngineError::Interrupted] {
            assert!(!SkippedErrors::All.skips_row(&error), "{error}");
        }
    }
}
