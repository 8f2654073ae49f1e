//! The context of an assignment: whether a problem becomes an error, or a warning with an adjusted
//! value.

use super::date_modes::DateModes;
use super::problem::{Problem, Warning};
use crate::{Value, Zone};

/// The settings of the session that conversions depend on.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Whether problems are errors (STRICT_TRANS_TABLES).
    pub strict: bool,
    /// The session's time zone, for TIMESTAMP columns.
    pub zone: Zone,
    /// The dates that are allowed, and the handling of fractions that are too long.
    pub dates: DateModes,
    /// Whether a value that does not fit becomes what MariaDB makes of it, not what MySQL does.
    pub of_mariadb: bool,
}

/// The result of an assignment: the value to store, perhaps with a warning.
pub(super) type Assigned = Result<(Value, Option<Warning>), Problem>;

impl Context {
    /// Returns an error in strict mode, otherwise `adjusted` with a warning.
    pub(super) fn adjust(self, adjusted: Value, problem: Problem) -> Assigned {
        if self.strict { Err(problem) } else { Ok((adjusted, Some(Warning { problem, note: false }))) }
    }
}

/// Returns a value that is stored although it lost something, with a note instead of a warning.
pub(super) fn noted(value: Value, problem: Problem) -> Assigned {
    Ok((value, Some(Warning { problem, note: true })))
}

/// Returns a value's text for a message: up to its first NUL, at most 64 bytes, with a question
/// mark for each character that utf8mb3 does not have.
pub(super) fn shown(value: &Value) -> String {
    const MOST_BYTES: usize = 64;
    const LAST_OF_UTF8MB3: char = '\u{ffff}';
    let text = value.text_bytes(None).unwrap_or_default();
    let end = text.iter().take(MOST_BYTES).position(|byte| *byte == 0);
    let text = String::from_utf8_lossy(&text[..end.unwrap_or(text.len().min(MOST_BYTES))]);
    text.chars().map(|char| if char > LAST_OF_UTF8MB3 { '?' } else { char }).collect()
}
