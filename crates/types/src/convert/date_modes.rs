//! The modes of sql_mode about dates and times.

use crate::temporal::{Date, DateTime, Time};

/// The modes of a session about dates and times. The default allows all dates that exist, and
/// rounds fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateModes {
    /// NO_ZERO_DATE: `0000-00-00` is not allowed.
    pub no_zero_date: bool,
    /// NO_ZERO_IN_DATE: dates whose month or day is zero are not allowed.
    pub no_zero_in_date: bool,
    /// ALLOW_INVALID_DATES: every month has 31 days.
    pub allow_invalid: bool,
    /// TIME_TRUNCATE_FRACTIONAL, and MariaDB without TIME_ROUND_FRACTIONAL: digits that the type
    /// does not have are cut off, not rounded.
    pub truncate_fraction: bool,
}

impl DateModes {
    /// The modes of MySQL's default sql_mode.
    pub const STRICT: DateModes = DateModes {
        no_zero_date: true,
        no_zero_in_date: true,
        allow_invalid: false,
        truncate_fraction: false,
    };

    /// Reports whether a date is not allowed because of its zeros.
    pub fn refuses(self, date: &Date) -> bool {
        match date.is_zero() {
            true => self.no_zero_date,
            false => self.no_zero_in_date && date.has_zero_part(),
        }
    }

    /// Returns a point in time with the fractional digits that its type has. `None` means that
    /// rounding would exceed the year 9999.
    pub fn fit(self, at: &DateTime, fsp: u8) -> Option<DateTime> {
        if self.truncate_fraction { Some(at.truncate(fsp)) } else { at.round(fsp) }
    }

    /// Returns a time with the fractional digits that its type has.
    pub fn fit_time(self, time: &Time, fsp: u8) -> Time {
        if self.truncate_fraction { time.truncate(fsp) } else { time.round(fsp) }
    }

    /// Returns a text without the digits after the microseconds if fractions are cut off, since
    /// reading the text would round them.
    pub fn readable(self, text: &[u8]) -> &[u8] {
        let Some(point) = text.iter().rposition(|&byte| byte == b'.').filter(|_| self.truncate_fraction)
        else {
            return text;
        };
        let is_fraction = text[point + 1..].iter().all(u8::is_ascii_digit);
        if is_fraction { &text[..text.len().min(point + 7)] } else { text }
    }
}
