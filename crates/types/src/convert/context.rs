//! How an assignment takes a problem: as an error, or as a warning beside an adjusted value.

use super::date_modes::DateModes;
use super::problem::{Problem, Warning};
use crate::Value;

/// What the session says about conversions.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// STRICT_TRANS_TABLES: problems are errors.
    pub strict: bool,
    /// The session's time zone, seconds east of UTC, for TIMESTAMP columns.
    pub zone_offset_seconds: i32,
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

/// A value's text in a message.
pub(super) fn shown(value: &Value) -> String {
    let text = value.text_bytes(None).unwrap_or_default();
    String::from_utf8_lossy(&text[..text.len().min(64)]).into_owned()
}
