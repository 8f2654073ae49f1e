//! The conversion of values for DATE, TIME, DATETIME and TIMESTAMP columns.

use super::context::{Assigned, Context, noted, shown};
use super::date_modes::DateModes;
use super::problem::Problem;
use crate::temporal::{DateTime, Time, parse};
use crate::{ColumnType, Value, Zone};

/// The last second of TIMESTAMP, 2038-01-19 03:14:07 UTC.
const MAX_TIMESTAMP: i64 = i32::MAX as i64;

/// A date and time that was read from a value.
struct Read {
    at: DateTime,
    garbage: bool,
    /// The number of seconds east of UTC, if the value has a zone of its own.
    offset_seconds: Option<i32>,
}

impl Read {
    /// Returns the date and time in the session's time zone.
    fn in_zone(self, context: Context) -> Read {
        let Some(offset) = self.offset_seconds else { return self };
        let at = DateTime::from_unix(self.at.to_unix(Zone::Offset(offset)), self.at.micros, context.zone);
        Read { at, offset_seconds: None, ..self }
    }
}

fn read_datetime(value: &Value, context: Context) -> Option<Read> {
    let plain = |at| Some(Read { at, garbage: false, offset_seconds: None });
    match value {
        Value::Date(date) => plain(DateTime::midnight(*date)),
        Value::DateTime(at) => plain(*at),
        Value::Timestamp { .. } => match value.clone().in_zone(context.zone) {
            Value::DateTime(at) => plain(at),
            _ => None,
        },
        Value::Bytes(text) => {
            let parsed = parse::datetime_with(context.dates.readable(text), context.dates.allow_invalid)?;
            Some(Read {
                at: parsed.value,
                garbage: parsed.trailing_garbage,
                offset_seconds: parsed.offset_seconds,
            })
        }
        Value::Int(_) | Value::UInt(_) | Value::Year(_) | Value::Bit { .. } => {
            let number = u64::try_from(value.to_integer()?).ok()?;
            plain(parse::datetime_from_number_with(number, context.dates.allow_invalid)?)
        }
        Value::Decimal(_) | Value::Float(_) | Value::Double(_) => {
            let (number, micros) = whole_and_micros(value).filter(|_| value.to_f64() >= 0.0)?;
            let number = u64::try_from(number).ok()?;
            let at = parse::datetime_from_number_with(number, context.dates.allow_invalid)?;
            // A number that is only a date has no place for a fraction.
            let date_only = (1..=99_991_231).contains(&number);
            let at = if date_only { at } else { DateTime { micros, ..at } };
            Some(Read { at, garbage: date_only && micros != 0, offset_seconds: None })
        }
        _ => None,
    }
}

/// Returns the date and time that a number stands for, rounded to this many fractional digits, and
/// whether a part of the number was ignored. `None` if the number stands for none.
pub fn datetime_of_number(value: &Value, fsp: u8) -> Option<(DateTime, bool)> {
    let context = Context { strict: false, zone: Zone::UTC, dates: DateModes::default(), of_mariadb: false };
    let read = read_datetime(value, context)?;
    Some((read.at.round(fsp)?, read.garbage))
}

/// Returns a DECIMAL or DOUBLE as a whole number and microseconds. `None` if it is outside of
/// BIGINT.
fn whole_and_micros(value: &Value) -> Option<(i64, u32)> {
    let number = value.to_decimal()?;
    let whole = number.truncate(0);
    let micros = number.sub(&whole)?.abs().mul(&crate::Decimal::from(1_000_000u64))?.round(0).to_u64()?;
    Some((whole.to_i64()?, (micros as u32).min(999_999)))
}

/// Returns the problem of a value that is no date. In strict mode the error shows the value's text.
/// Otherwise the warning says whether only the value's range is wrong.
fn no_date(value: &Value, type_name: &'static str, context: Context) -> Problem {
    let is_out_of_range = match value {
        Value::Bytes(text) => parse::datetime_with(text, true).is_some(),
        _ => true,
    };
    match (context.strict, is_out_of_range) {
        (true, _) => Problem::IncorrectTemporal(type_name, shown(value)),
        (false, true) => Problem::OutOfRange,
        (false, false) => Problem::Truncated,
    }
}

pub(super) fn to_date(value: &Value, context: Context) -> Assigned {
    let incorrect = || Problem::IncorrectTemporal("date", shown(value));
    let zero = Value::Date(Default::default());
    let Some(read) = read_datetime(value, context).filter(|read| !context.dates.refuses(&read.at.date))
    else {
        return context.adjust(zero, no_date(value, "date", context));
    };
    let read = read.in_zone(context);
    let Some(rounded) = context.dates.fit(&read.at, 0) else {
        return context.adjust(zero, Problem::TemporalOverflow);
    };
    let stored = Value::Date(rounded.date);
    if read.garbage {
        return context.adjust(stored, incorrect());
    }
    let lost_time = read.at.time() != Time::default();
    if lost_time { noted(stored, Problem::Truncated) } else { Ok((stored, None)) }
}

pub(super) fn to_datetime(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let incorrect = || Problem::IncorrectTemporal("datetime", shown(value));
    let zero = Value::DateTime(DateTime::default());
    let Some(read) = read_datetime(value, context).filter(|read| !context.dates.refuses(&read.at.date))
    else {
        return context.adjust(zero, no_date(value, "datetime", context));
    };
    let read = read.in_zone(context);
    let Some(rounded) = context.dates.fit(&read.at, ty.fsp()) else {
        return context.adjust(zero, Problem::TemporalOverflow);
    };
    let stored = Value::DateTime(rounded);
    if read.garbage { context.adjust(stored, incorrect()) } else { Ok((stored, None)) }
}

pub(super) fn to_timestamp(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let incorrect = || Problem::IncorrectTemporal("datetime", shown(value));
    let zero = Value::Timestamp { seconds: 0, micros: 0 };
    if let Value::Timestamp { seconds, micros } = value {
        return Ok((fit_timestamp(*seconds, *micros, ty.fsp(), context.dates), None));
    }
    let Some(read) = read_datetime(value, context) else {
        return context.adjust(zero, no_date(value, "datetime", context));
    };
    if read.at.is_zero() && !context.dates.no_zero_date {
        return Ok((zero, None));
    }
    if read.at.date.has_zero_part() || !read.at.date.exists() {
        return context.adjust(zero, no_date(value, "datetime", context));
    }
    if context.dates.fit(&read.at, ty.fsp()).is_none() {
        return context.adjust(zero, Problem::TemporalOverflow);
    }
    let moment = read.at.moment(read.offset_seconds.map_or(context.zone, Zone::Offset));
    let seconds = moment.unix_s;
    if !(1..=MAX_TIMESTAMP).contains(&seconds) {
        let adjusted = match context.of_mariadb {
            // The microseconds are left.
            true => fit_timestamp(0, read.at.micros, ty.fsp(), context.dates),
            false => zero,
        };
        return context.adjust(adjusted, no_date(value, "datetime", context));
    }
    if moment.is_skipped {
        let problem = if context.strict { incorrect() } else { Problem::SkippedMoment };
        return context.adjust(Value::Timestamp { seconds, micros: 0 }, problem);
    }
    let stored = fit_timestamp(seconds, read.at.micros, ty.fsp(), context.dates);
    if read.garbage { context.adjust(stored, incorrect()) } else { Ok((stored, None)) }
}

fn fit_timestamp(seconds: i64, micros: u32, fsp: u8, modes: DateModes) -> Value {
    let unit = 10u32.pow(6 - u32::from(fsp));
    if modes.truncate_fraction {
        return Value::Timestamp { seconds, micros: micros / unit * unit };
    }
    match (micros + unit / 2) / unit * unit {
        1_000_000.. if seconds < MAX_TIMESTAMP => Value::Timestamp { seconds: seconds + 1, micros: 0 },
        1_000_000.. => Value::Timestamp { seconds, micros: 1_000_000 - unit },
        micros => Value::Timestamp { seconds, micros },
    }
}

pub(super) fn to_time(value: &Value, ty: &ColumnType, context: Context) -> Assigned {
    let incorrect = || Problem::IncorrectTemporal("time", shown(value));
    let zero = Value::Time(Time::default());
    let (read, garbage) = match value {
        Value::Time(time) => (parse::TimeRead { time: *time, out_of_range: false }, false),
        Value::Bytes(text) => match parse::time(context.dates.readable(text), context.zone) {
            Some(parsed) => (parsed.value, parsed.trailing_garbage),
            None => return context.adjust(zero, incorrect()),
        },
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_) => {
            match time_of_number(value, context.of_mariadb) {
                Some(read) => (read, false),
                None => return context.adjust(zero, incorrect()),
            }
        }
        _ => {
            let local = value.clone().in_zone(context.zone);
            match local.to_time() {
                Some(time) => (parse::TimeRead { time, out_of_range: false }, false),
                None => return context.adjust(zero, incorrect()),
            }
        }
    };
    let stored = match read.time {
        // MariaDB's last time has as many nines as the column has digits.
        last if read.out_of_range && context.of_mariadb => {
            Time { micros: 999_999, ..last }.truncate(ty.fsp())
        }
        time => context.dates.fit_time(&time, ty.fsp()),
    };
    let stored = Value::Time(stored);
    if read.out_of_range {
        let problem = if context.strict { incorrect() } else { Problem::OutOfRange };
        return context.adjust(stored, problem);
    }
    if garbage { context.adjust(stored, incorrect()) } else { Ok((stored, None)) }
}

/// Returns a TIME from a number hhmmss with a fraction. MariaDB reads every number that is too
/// large for it as a date with a time.
fn time_of_number(value: &Value, of_mariadb: bool) -> Option<parse::TimeRead> {
    const LAST_DATETIME: i64 = 99_991_231_235_959;
    let (number, micros) = match value {
        Value::Int(n) => (*n, 0),
        Value::UInt(n) => (i64::try_from(*n).unwrap_or(i64::MAX), 0),
        _ => whole_and_micros(value).unwrap_or((if value.to_f64() < 0.0 { i64::MIN } else { i64::MAX }, 0)),
    };
    if of_mariadb && (10_000_000..=LAST_DATETIME).contains(&number) {
        let at = parse::datetime_from_number(number as u64)?;
        return Some(parse::TimeRead { time: at.time(), out_of_range: false });
    }
    let mut read = parse::time_from_number(number)?;
    if !read.out_of_range {
        let negative = read.time.negative || value.to_f64() < 0.0;
        read.time = Time { micros, negative, ..read.time };
    }
    Some(read)
}
