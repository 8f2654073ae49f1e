//! DATE_FORMAT(), TIME_FORMAT() and the names of days and months.

use super::super::cast::{date_of, datetime_of, full_date, time_of};
use super::super::date_arithmetic::{day_of_year, week_of};
use super::text_lengths::shown_by_second;
use super::{Call, Function, ascii_text, text};
use crate::error::Result;
use crate::locale::Locale;
use types::{Date, DateTime, Time, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("dayname", 1..=1, ascii_text::<9>, |call| {
        let date = full_date(&call.values[0], call.ctx);
        let days = &call.ctx.variables.locale.days;
        Ok(date.map_or(Value::Null, |date| text(days[usize::from(date.weekday())])))
    }),
    Function::new("monthname", 1..=1, ascii_text::<9>, |call| {
        let date = date_of(&call.values[0], call.ctx).filter(|date| date.month > 0);
        let months = &call.ctx.variables.locale.months;
        Ok(date.map_or(Value::Null, |date| text(months[usize::from(date.month) - 1])))
    }),
    Function::new("date_format", 2..=2, shown_by_second, |call| {
        let Some(at) = datetime_of(&call.values[0], call.ctx) else { return Ok(Value::Null) };
        Ok(Shown::of_datetime(&at).by_format_of(call))
    }),
    Function::new("time_format", 2..=2, shown_by_second, time_format),
];

/// Computes TIME_FORMAT(). A date with a time keeps the numbers of its date, but is no day of a
/// week or a year; a time has no date, and its hours may be more than 23.
fn time_format(call: &Call<'_>) -> Result<Value> {
    let at = match &*call.values[0] {
        value @ (Value::Date(_) | Value::DateTime(_) | Value::Timestamp { .. }) => {
            datetime_of(value, call.ctx)
        }
        Value::Bytes(bytes) => types::temporal::parse::datetime(bytes)
            .filter(|read| read.has_time)
            .map(|read| read.in_zone(call.ctx.zone())),
        _ => None,
    };
    if let Some(at) = at {
        return Ok(Shown { day: None, ..Shown::of_datetime(&at) }.by_format_of(call));
    }
    let time = time_of(&call.values[0], call.ctx);
    Ok(time.map_or(Value::Null, |time| Shown::of_time(&time).by_format_of(call)))
}

/// A date with a time, or a time alone, to be shown by a format.
pub(super) struct Shown {
    /// `None` of a time alone.
    date: Option<Date>,
    /// The date of which the place in its week, month and year is shown.
    day: Option<Date>,
    is_negative: bool,
    hours: u16,
    minutes: u8,
    seconds: u8,
    micros: u32,
}

impl Shown {
    /// Makes ready a date with a time.
    pub fn of_datetime(at: &DateTime) -> Shown {
        Shown {
            date: Some(at.date),
            day: Some(at.date),
            is_negative: false,
            hours: at.hour.into(),
            minutes: at.minute,
            seconds: at.second,
            micros: at.micros,
        }
    }

    fn of_time(time: &Time) -> Shown {
        let Time { negative, hours, minutes, seconds, micros } = *time;
        Shown { date: None, day: None, is_negative: negative, hours, minutes, seconds, micros }
    }

    /// Returns the text by the format that the call's second argument is: NULL where the format is
    /// empty, or has a part that a time alone or a date without month does not have.
    pub fn by_format_of(&self, call: &Call<'_>) -> Value {
        let format = call.bytes(1);
        let mut out = if self.is_negative { vec![b'-'] } else { Vec::new() };
        let mut bytes = format.iter().copied();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                out.push(byte);
                continue;
            }
            // A sign at the end stands for itself.
            let code = bytes.next().unwrap_or(b'%');
            if self.put_part(code, call.ctx.variables.locale, &mut out).is_none() {
                return Value::Null;
            }
        }
        if format.is_empty() { Value::Null } else { Value::Bytes(out) }
    }

    /// Appends what a letter behind `%` stands for. `None` means that there is no such part.
    fn put_part(&self, code: u8, locale: &Locale, out: &mut Vec<u8>) -> Option<()> {
        let shown = match code {
            b'H' | b'h' | b'I' | b'i' | b'k' | b'l' | b'p' | b'r' | b'S' | b's' | b'T' | b'f' => {
                self.part_of_time(code)
            }
            b'D' => ordinal(self.day?.day),
            b'c' | b'd' | b'e' | b'm' | b'Y' | b'y' => part_of_date(&self.date.unwrap_or_default(), code),
            b'b' | b'M' => {
                let names = if code == b'M' { &locale.months } else { &locale.short_months };
                let month = usize::from(self.date?.month).checked_sub(1)?;
                names.get(month)?.to_string()
            }
            b'a' | b'W' => {
                let date = self.day.filter(|date| date.month > 0 || date.year > 0)?;
                let names = if code == b'W' { &locale.days } else { &locale.short_days };
                names[usize::from(date.weekday())].to_owned()
            }
            b'j' | b'U' | b'u' | b'V' | b'v' | b'w' | b'X' | b'x' => part_of_year(&self.day?, code),
            other => {
                out.push(other);
                return Some(());
            }
        };
        out.extend_from_slice(shown.as_bytes());
        Some(())
    }

    fn part_of_time(&self, code: u8) -> String {
        let Shown { hours, minutes, seconds, .. } = *self;
        let hour = hours % 24;
        let hour12 = if hour.is_multiple_of(12) { 12 } else { hour % 12 };
        let half = if hour < 12 { "AM" } else { "PM" };
        match code {
            b'H' => format!("{hours:02}"),
            b'k' => hours.to_string(),
            b'h' | b'I' => format!("{hour12:02}"),
            b'l' => hour12.to_string(),
            b'i' => format!("{minutes:02}"),
            b'S' | b's' => format!("{seconds:02}"),
            b'p' => half.to_owned(),
            b'r' => format!("{hour12:02}:{minutes:02}:{seconds:02} {half}"),
            b'T' => format!("{hours:02}:{minutes:02}:{seconds:02}"),
            _ => format!("{:06}", self.micros),
        }
    }
}

fn part_of_date(date: &Date, code: u8) -> String {
    match code {
        b'c' => date.month.to_string(),
        b'd' => format!("{:02}", date.day),
        b'e' => date.day.to_string(),
        b'm' => format!("{:02}", date.month),
        b'Y' => format!("{:04}", date.year),
        _ => format!("{:02}", date.year % 100),
    }
}

/// Returns the parts that follow from the place of the date in its year or week.
fn part_of_year(date: &Date, code: u8) -> String {
    match code {
        b'j' => format!("{:03}", day_of_year(date)),
        b'U' => format!("{:02}", week_of(date, 0).1),
        b'u' => format!("{:02}", week_of(date, 1).1),
        b'V' => format!("{:02}", week_of(date, 2).1),
        b'v' => format!("{:02}", week_of(date, 3).1),
        b'w' => ((date.weekday() + 1) % 7).to_string(),
        b'X' => format!("{:04}", week_of(date, 2).0),
        _ => format!("{:04}", week_of(date, 3).0),
    }
}

/// Returns a day of the month as `%D` shows it: `1st`, `2nd`, in English whatever the locale is.
fn ordinal(day: u8) -> String {
    let suffix = match (day % 10, day % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{day}{suffix}")
}
