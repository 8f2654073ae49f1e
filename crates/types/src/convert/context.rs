//! How an assignment takes a problem: as an error, or as a warning beside an adjusted value.

use super::date_modes::DateModes;
use super::problem::{Problem, Warning};
use crate::{Value, Zone};

/// What the session says about conversions.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// STRICT_TRANS_TABLES: problems are errors.
    pub strict: bool,
    /// The session's time zone, for TIMESTAMP columns.
    pub zone: Zone,
    /// Which dates there are, and what becomes of fractions that are too long.
    pub dates: DateModes,
}

/// The result of an assignment: the value to store and perhaps a warning.
pub(super) type Assigned = Result<(Value, Option<Warning>), Problem>;

impl Context {
    /// An error if strict, else `adjusted` with a warning.
    pub(super) fn adjust(self, adjusted: Value, problem: Problem) -> Assigned {
        if self.strict { Err(problem) } else { Ok((adjusted, Some(Warning { problem, note: false }))) }
    }
}

/// A value that is stored but lost something that MySQL only notes.
pub(super) fn noted(value: Value, problem: Problem) -> Assigned {
    Ok((value, Some(Warning { problem, note: true })))
}

/// A value's text in a message: up to its first NUL, in characters that MySQL's names may have.
pub(super) fn shown(value: &Value) -> String {
    const MOST_BYTES: usize = 64;
    const LAST_OF_UTF8MB3: char = '\u{ffff}';
    let text = value.text_bytes(None).unwrap_or_default();
    let end = text.iter().take(MOST_BYTES).position(|byte| *byte == 0);
    let text = String::from_utf8_lossy(&text[..end.unwrap_or(text.len().min(MOST_BYTES))]);
    text.chars().map(|char| if char > LAST_OF_UTF8MB3 { '?' } else { char }).collect()
}
