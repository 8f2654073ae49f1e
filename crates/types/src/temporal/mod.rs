//! DATE, TIME, DATETIME and TIMESTAMP values: calendar arithmetic and text. Their packed forms are
//! in [`crate::packed`], and [`parse`] reads text.

pub mod parse;
mod zone;

pub use zone::{Moment, Zone, ZoneRules};

use std::fmt;

/// The number of microseconds in a second.
pub const MICROS_PER_SECOND: u32 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// The value of `TO_DAYS('1970-01-01')`.
const DAY_NUMBER_OF_1970: i64 = 719_528;
/// The largest hour of a TIME.
pub const MAX_TIME_HOURS: u16 = 838;

/// A DATE, `0000-00-00` to `9999-12-31`. Month and day may be zero (`NO_ZERO_IN_DATE` off).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// The year, 0..=9999.
    pub year: u16,
    /// The month, 0..=12.
    pub month: u8,
    /// The day of the month, 0..=31.
    pub day: u8,
}

/// A TIME, `-838:59:59` to `838:59:59`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Time {
    /// Whether the time is below zero.
    pub negative: bool,
    /// The hours, 0..=838.
    pub hours: u16,
    /// The minutes, 0..=59.
    pub minutes: u8,
    /// The seconds, 0..=59.
    pub seconds: u8,
    /// The microseconds, 0..=999999.
    pub micros: u32,
}

/// A DATETIME: a date and a time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    /// The date part.
    pub date: Date,
    /// The hour, 0..=23.
    pub hour: u8,
    /// The minute, 0..=59.
    pub minute: u8,
    /// The second, 0..=59.
    pub second: u8,
    /// The microseconds, 0..=999999.
    pub micros: u32,
}

/// Returns the number of days in a month of a year, 31 for month 0.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

impl Date {
    /// Makes a date of its parts. `None` if they are no date. A zero month and day are allowed,
    /// since MySQL stores them.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        let date = Date { year, month, day };
        date.exists().then_some(date)
    }

    /// Reports whether the date is in the calendar. A month or a day may be zero.
    pub fn exists(&self) -> bool {
        self.year <= 9999 && self.month <= 12 && self.day <= days_in_month(self.year, self.month)
    }

    /// Reports whether the date is `0000-00-00`.
    pub fn is_zero(&self) -> bool {
        *self == Date::default()
    }
    /// Reports whether month or day is zero.
    pub fn has_zero_part(&self) -> bool {
        self.month == 0 || self.day == 0
    }

    /// Returns the number of days since year 0 (MySQL's `TO_DAYS()`).
    pub fn day_number(&self) -> i64 {
        if self.year == 0 && self.month == 0 {
            return 0;
        }
        let (mut year, month, day) = (i64::from(self.year), i64::from(self.month), i64::from(self.day));
        let mut days = 365 * year + 31 * (month - 1) + day;
        if month <= 2 {
            year -= 1;
        } else {
            days -= (month * 4 + 23) / 10;
        }
        // The divisions are C's, as in MySQL: they count no leap day for January and February of
        // the year 0.
        days + year / 4 - (year / 100 + 1) * 3 / 4
    }

    /// Returns the date of a day number (MySQL's `FROM_DAYS()`), or the zero date outside of
    /// 366..=3652424 (the years 1 to 9999).
    pub fn from_day_number(day_number: i64) -> Date {
        if !(366..=3_652_424).contains(&day_number) {
            return Date::default();
        }
        let mut year = (day_number * 400 / 146_097) as u16;
        while (Date { year: year + 1, month: 1, day: 1 }).day_number() <= day_number {
            year += 1;
        }
        while (Date { year, month: 1, day: 1 }).day_number() > day_number {
            year -= 1;
        }
        let mut left = (day_number - Date { year, month: 1, day: 1 }.day_number()) as u16;
        let mut month = 1;
        while left >= u16::from(days_in_month(year, month)) {
            left -= u16::from(days_in_month(year, month));
            month += 1;
        }
        Date { year, month, day: left as u8 + 1 }
    }

    /// Returns the day of the week, from 0 for Monday to 6 for Sunday (`WEEKDAY()`).
    pub fn weekday(&self) -> u8 {
        (self.day_number() + 5).rem_euclid(7) as u8
    }

    /// Returns the date as the number YYYYMMDD.
    pub fn to_number(&self) -> u32 {
        u32::from(self.year) * 10_000 + u32::from(self.month) * 100 + u32::from(self.day)
    }
}

impl Time {
    /// Makes a time of its parts. `None` outside of TIME's range.
    pub fn new(negative: bool, hours: u16, minutes: u8, seconds: u8, micros: u32) -> Option<Time> {
        let fits = hours <= MAX_TIME_HOURS && minutes < 60 && seconds < 60 && micros < MICROS_PER_SECOND;
        fits.then_some(Time { negative, hours, minutes, seconds, micros })
    }

    /// Returns `838:59:59` or its negative, to which MySQL clips TIME.
    pub fn largest(negative: bool) -> Time {
        Time { negative, hours: MAX_TIME_HOURS, minutes: 59, seconds: 59, micros: 0 }
    }

    /// Returns the whole time in microseconds, with its sign.
    pub fn to_micros(&self) -> i64 {
        let seconds = i64::from(self.hours) * 3600 + i64::from(self.minutes) * 60 + i64::from(self.seconds);
        let micros = seconds * i64::from(MICROS_PER_SECOND) + i64::from(self.micros);
        if self.negative { -micros } else { micros }
    }

    /// Makes the time of this many microseconds. `None` outside of TIME's range.
    pub fn from_micros(micros: i64) -> Option<Time> {
        let magnitude = micros.unsigned_abs();
        let seconds = magnitude / u64::from(MICROS_PER_SECOND);
        let hours = u16::try_from(seconds / 3600).ok()?;
        let (minutes, second) = ((seconds / 60 % 60) as u8, (seconds % 60) as u8);
        Time::new(micros < 0, hours, minutes, second, (magnitude % u64::from(MICROS_PER_SECOND)) as u32)
    }

    /// Returns the time rounded half up to `fsp` fractional digits, clipped to TIME's range.
    pub fn round(&self, fsp: u8) -> Time {
        let unit = fraction_unit(fsp);
        let micros = (self.to_micros().abs() + unit / 2) / unit * unit;
        Time::from_micros(if self.negative { -micros } else { micros })
            .unwrap_or(Time::largest(self.negative))
    }

    /// Returns the time without the digits after the first `fsp` of the fraction.
    pub fn truncate(&self, fsp: u8) -> Time {
        let unit = fraction_unit(fsp) as u32;
        Time { micros: self.micros / unit * unit, ..*self }
    }

    /// Appends the text with `fsp` fractional digits.
    pub fn write_text(&self, fsp: u8, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        if self.hours >= 100 {
            out.push(b'0' + (self.hours / 100) as u8);
        }
        push_two(out, (self.hours % 100) as u8);
        out.push(b':');
        push_two(out, self.minutes);
        out.push(b':');
        push_two(out, self.seconds);
        push_fraction(out, self.micros, fsp);
    }

    /// Returns the time as the number [-]HHMMSS.
    pub fn to_number(&self) -> i64 {
        let number = i64::from(self.hours) * 10_000 + i64::from(self.minutes) * 100 + i64::from(self.seconds);
        if self.negative { -number } else { number }
    }
}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Time) -> std::cmp::Ordering {
        self.to_micros().cmp(&other.to_micros())
    }
}

impl DateTime {
    /// Returns the date at midnight.
    pub fn midnight(date: Date) -> DateTime {
        DateTime { date, ..DateTime::default() }
    }

    /// Reports whether this is `0000-00-00 00:00:00`.
    pub fn is_zero(&self) -> bool {
        *self == DateTime::default()
    }

    /// Returns the number of seconds since midnight.
    fn seconds_of_day(&self) -> i64 {
        i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second)
    }

    /// Returns the time of day.
    pub fn time(&self) -> Time {
        Time {
            negative: false,
            hours: u16::from(self.hour),
            minutes: self.minute,
            seconds: self.second,
            micros: self.micros,
        }
    }

    /// Returns the microseconds since year 0, for arithmetic; see [`DateTime::from_micros`].
    pub fn to_micros(&self) -> i64 {
        (self.date.day_number() * SECONDS_PER_DAY + self.seconds_of_day()) * i64::from(MICROS_PER_SECOND)
            + i64::from(self.micros)
    }

    /// Makes the DATETIME of the number that [`DateTime::to_micros`] returns. `None` outside of the
    /// years 1 to 9999.
    pub fn from_micros(micros: i64) -> Option<DateTime> {
        let seconds = micros.div_euclid(i64::from(MICROS_PER_SECOND));
        let date = Date::from_day_number(seconds.div_euclid(SECONDS_PER_DAY));
        if date.is_zero() {
            return None;
        }
        let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
        Some(DateTime {
            date,
            hour: (of_day / 3600) as u8,
            minute: (of_day / 60 % 60) as u8,
            second: (of_day % 60) as u8,
            micros: micros.rem_euclid(i64::from(MICROS_PER_SECOND)) as u32,
        })
    }

    /// Returns the date and time that clocks of a time zone show at a Unix time, or the zero date
    /// if that is out of range.
    pub fn from_unix(seconds: i64, micros: u32, zone: Zone) -> DateTime {
        let local = seconds
            .saturating_add(i64::from(zone.offset_s(seconds)))
            .saturating_add(DAY_NUMBER_OF_1970 * SECONDS_PER_DAY);
        let total =
            local.checked_mul(i64::from(MICROS_PER_SECOND)).and_then(|t| t.checked_add(i64::from(micros)));
        total.and_then(DateTime::from_micros).unwrap_or_default()
    }

    /// Returns the Unix time in seconds at which clocks of a time zone show this date and time, or
    /// at which they were put forward past it.
    pub fn to_unix(&self, zone: Zone) -> i64 {
        self.moment(zone).unix_s
    }

    /// Returns the Unix time as [`DateTime::to_unix`] does, with whether clocks have shown this
    /// date and time.
    pub fn moment(&self, zone: Zone) -> Moment {
        let days = self.date.day_number() - DAY_NUMBER_OF_1970;
        zone.moment(days * SECONDS_PER_DAY + self.seconds_of_day())
    }

    /// Returns the DATETIME rounded half up to `fsp` fractional digits. `None` if that exceeds the
    /// year 9999.
    pub fn round(&self, fsp: u8) -> Option<DateTime> {
        let unit = fraction_unit(fsp) as u32;
        let micros = (self.micros + unit / 2) / unit * unit;
        if micros < MICROS_PER_SECOND {
            return Some(DateTime { micros, ..*self });
        }
        let whole = DateTime { micros: 0, ..*self };
        if self.date.has_zero_part() {
            return Some(whole); // The calendar has no next day for such a date.
        }
        DateTime::from_micros(whole.to_micros() + i64::from(MICROS_PER_SECOND))
    }

    /// Returns the DATETIME without the digits after the first `fsp` of the fraction.
    pub fn truncate(&self, fsp: u8) -> DateTime {
        let unit = fraction_unit(fsp) as u32;
        DateTime { micros: self.micros / unit * unit, ..*self }
    }

    /// Appends the text with `fsp` fractional digits.
    pub fn write_text(&self, fsp: u8, out: &mut Vec<u8>) {
        self.date.write_text(out);
        out.push(b' ');
        push_two(out, self.hour);
        out.push(b':');
        push_two(out, self.minute);
        out.push(b':');
        push_two(out, self.second);
        push_fraction(out, self.micros, fsp);
    }

    /// Returns the DATETIME as the number YYYYMMDDHHMMSS.
    pub fn to_number(&self) -> u64 {
        let time = u64::from(self.hour) * 10_000 + u64::from(self.minute) * 100 + u64::from(self.second);
        u64::from(self.date.to_number()) * 1_000_000 + time
    }
}

impl Date {
    /// Appends `YYYY-MM-DD`.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        push_two(out, (self.year / 100) as u8);
        push_two(out, (self.year % 100) as u8);
        out.push(b'-');
        push_two(out, self.month);
        out.push(b'-');
        push_two(out, self.day);
    }
}

fn fraction_unit(fsp: u8) -> i64 {
    10i64.pow(6 - u32::from(fsp.min(6)))
}

fn push_two(out: &mut Vec<u8>, number: u8) {
    out.extend_from_slice(&[b'0' + number / 10 % 10, b'0' + number % 10]);
}

fn push_fraction(out: &mut Vec<u8>, micros: u32, fsp: u8) {
    if fsp == 0 {
        return;
    }
    out.push(b'.');
    let mut divisor = 100_000;
    for _ in 0..fsp.min(6) {
        out.push(b'0' + (micros / divisor % 10) as u8);
        divisor /= 10;
    }
}

fn display(f: &mut fmt::Formatter<'_>, write: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut text = Vec::with_capacity(32);
    write(&mut text);
    f.write_str(std::str::from_utf8(&text).expect("temporal text is ASCII"))
}

/// Returns the number of fractional digits that `Display` shows: all six if there is a fraction,
/// otherwise none.
fn shown_fsp(micros: u32) -> u8 {
    if micros == 0 { 0 } else { 6 }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |out| self.write_text(out))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |out| self.write_text(shown_fsp(self.micros), out))
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(f, |out| self.write_text(shown_fsp(self.micros), out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_numbers() {
        // The numbers are those of SELECT TO_DAYS('1970-01-01'), TO_DAYS('2007-10-07'),
        // TO_DAYS('0001-01-01'), TO_DAYS('9999-12-31').
        for (year, month, day, number) in
            [(1970, 1, 1, 719_528), (2007, 10, 7, 733_321), (1, 1, 1, 366), (9999, 12, 31, 3_652_424)]
        {
            let date = Date { year, month, day };
            assert_eq!(date.day_number(), number);
            assert_eq!(Date::from_day_number(number), date);
        }
        let mut number = 366;
        while number <= 3_652_424 {
            assert_eq!(Date::from_day_number(number).day_number(), number);
            number += 97;
        }
        assert_eq!(Date { year: 2007, month: 10, day: 7 }.weekday(), 6);
        let of_year_0 = [(1, 1, 1), (2, 28, 59), (3, 1, 60), (12, 31, 365)];
        for (month, day, number) in of_year_0 {
            assert_eq!(Date { year: 0, month, day }.day_number(), number, "{month}-{day}");
        }
    }

    #[test]
    fn unix_times() {
        let at = DateTime::from_unix(1_700_000_000, 5, Zone::UTC);
        assert_eq!(at.to_string(), "2023-11-14 22:13:20.000005");
        assert_eq!(at.to_unix(Zone::UTC), 1_700_000_000);
        assert_eq!(DateTime::from_unix(0, 0, Zone::Offset(3600)).to_string(), "1970-01-01 01:00:00");
        assert_eq!(DateTime::from_unix(-1, 0, Zone::UTC).to_string(), "1969-12-31 23:59:59");
    }

    #[test]
    fn rounding_carries() {
        let date = Date { year: 2024, month: 12, day: 31 };
        let last = DateTime { date, hour: 23, minute: 59, second: 59, micros: 999_600 };
        assert_eq!(last.round(3).unwrap().to_string(), "2025-01-01 00:00:00");
        assert_eq!(last.round(4).unwrap().micros, 999_600);
        let never = DateTime { date: Date { year: 9999, ..date }, ..last };
        assert_eq!(never.round(0), None);
        let time = Time::new(true, 1, 59, 59, 500_000).unwrap();
        assert_eq!(time.round(0).to_string(), "-02:00:00");
        let mut text = Vec::new();
        Time::new(false, 838, 1, 2, 30).unwrap().write_text(5, &mut text);
        assert_eq!(text, b"838:01:02.00003");
    }
}
