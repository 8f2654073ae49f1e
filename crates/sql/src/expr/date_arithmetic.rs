//! INTERVAL arithmetic, EXTRACT, TIMESTAMPDIFF, and the weeks of a year.

use super::cast::{datetime_of, point_in_time, time_of};
use super::text::{shown, text_of};
use super::{Context, Number, arithmetic};
use crate::ast::TimeUnit;
use crate::error::Result;
use types::temporal::{days_in_month, parse};
use types::{ColumnType, Date, DateTime, Time, TypeCode, Value};

const MICROS: i64 = 1_000_000;
const DAY_MICROS: i64 = 86_400 * MICROS;

/// The longest TIME, which has no fraction of a second: 838:59:59.
const MOST_OF_TIME_MICROS: i64 = (838 * 3600 + 59 * 60 + 59) * MICROS;

/// The greatest number that is a date; greater ones have a time too.
const MOST_OF_DATE: i128 = 99_991_231;

/// An interval: whole months and microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    pub months: i64,
    pub micros: i64,
}

impl TimeUnit {
    /// Returns the word of the unit.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TimeUnit::Microsecond => "microsecond",
            TimeUnit::Second => "second",
            TimeUnit::Minute => "minute",
            TimeUnit::Hour => "hour",
            TimeUnit::Day => "day",
            TimeUnit::Week => "week",
            TimeUnit::Month => "month",
            TimeUnit::Quarter => "quarter",
            TimeUnit::Year => "year",
            TimeUnit::SecondMicrosecond => "second_microsecond",
            TimeUnit::MinuteMicrosecond => "minute_microsecond",
            TimeUnit::MinuteSecond => "minute_second",
            TimeUnit::HourMicrosecond => "hour_microsecond",
            TimeUnit::HourSecond => "hour_second",
            TimeUnit::HourMinute => "hour_minute",
            TimeUnit::DayMicrosecond => "day_microsecond",
            TimeUnit::DaySecond => "day_second",
            TimeUnit::DayMinute => "day_minute",
            TimeUnit::DayHour => "day_hour",
            TimeUnit::YearMonth => "year_month",
        }
    }

    /// Reports whether a DATE stays a DATE when an interval of this unit is added.
    pub(crate) fn is_of_days(self) -> bool {
        matches!(
            self,
            TimeUnit::Day
                | TimeUnit::Week
                | TimeUnit::Month
                | TimeUnit::Quarter
                | TimeUnit::Year
                | TimeUnit::YearMonth
        )
    }

    /// Reports whether an interval of this unit has days, or parts that are longer.
    pub(crate) fn has_days(self) -> bool {
        self.is_of_days()
            || matches!(
                self,
                TimeUnit::DayHour | TimeUnit::DayMinute | TimeUnit::DaySecond | TimeUnit::DayMicrosecond
            )
    }

    /// Reports whether an interval of this unit may have microseconds.
    pub(crate) fn has_micros(self) -> bool {
        matches!(
            self,
            TimeUnit::Microsecond
                | TimeUnit::SecondMicrosecond
                | TimeUnit::MinuteMicrosecond
                | TimeUnit::HourMicrosecond
                | TimeUnit::DayMicrosecond
        )
    }

    /// Returns the microseconds of one unit, for the simple units below a month.
    fn micros(self) -> Option<i64> {
        Some(match self {
            TimeUnit::Microsecond => 1,
            TimeUnit::Second => MICROS,
            TimeUnit::Minute => 60 * MICROS,
            TimeUnit::Hour => 3600 * MICROS,
            TimeUnit::Day => DAY_MICROS,
            TimeUnit::Week => 7 * DAY_MICROS,
            _ => return None,
        })
    }

    /// Returns the parts of a compound unit, the largest first: in microseconds, or in months for
    /// YEAR_MONTH. It is empty for a simple unit.
    fn parts(self) -> &'static [i64] {
        const D: i64 = DAY_MICROS;
        const H: i64 = 3600 * MICROS;
        const M: i64 = 60 * MICROS;
        const S: i64 = MICROS;
        match self {
            TimeUnit::SecondMicrosecond => &[S, 1],
            TimeUnit::MinuteMicrosecond => &[M, S, 1],
            TimeUnit::MinuteSecond => &[M, S],
            TimeUnit::HourMicrosecond => &[H, M, S, 1],
            TimeUnit::HourSecond => &[H, M, S],
            TimeUnit::HourMinute => &[H, M],
            TimeUnit::DayMicrosecond => &[D, H, M, S, 1],
            TimeUnit::DaySecond => &[D, H, M, S],
            TimeUnit::DayMinute => &[D, H, M],
            TimeUnit::DayHour => &[D, H],
            TimeUnit::YearMonth => &[12, 1],
            _ => &[],
        }
    }
}

/// Computes an interval of `amount` units. `None` means that it is longer than an interval may be.
pub(crate) fn interval(amount: &Value, unit: TimeUnit, ctx: &Context<'_>) -> Option<Interval> {
    // As in MySQL, the upper half of BIGINT UNSIGNED is negative here.
    let whole = || match arithmetic::integer_in(amount, ctx) {
        wide if wide > i128::from(u64::MAX) => None,
        wide if wide > i128::from(i64::MAX) => Some(wide as u64 as i64),
        wide => i64::try_from(wide).ok(),
    };
    match unit {
        TimeUnit::Month => return Some(Interval { months: whole()?, micros: 0 }),
        TimeUnit::Quarter => return Some(Interval { months: whole()?.checked_mul(3)?, micros: 0 }),
        TimeUnit::Year => return Some(Interval { months: whole()?.checked_mul(12)?, micros: 0 }),
        TimeUnit::Second => {
            // Seconds may have a fraction.
            let exact = match arithmetic::number_in(amount, ctx) {
                Number::Int(n) => return Some(Interval { months: 0, micros: n.checked_mul(MICROS)? }),
                Number::UInt(n) => {
                    return Some(Interval { months: 0, micros: (n as i64).checked_mul(MICROS)? });
                }
                other => arithmetic::decimal_of(&other),
            };
            let micros = exact.mul(&types::Decimal::from(MICROS))?.to_i64()?;
            return Some(Interval { months: 0, micros });
        }
        _ => {}
    }
    if let Some(micros) = unit.micros() {
        return Some(Interval { months: 0, micros: whole()?.checked_mul(micros)? });
    }
    compound(&text_of(amount), unit)
}

/// Reads the amount of a compound unit, such as `'1 10:30'`: numbers separated by any other
/// characters. Fewer numbers than parts are the last parts.
fn compound(text: &[u8], unit: TimeUnit) -> Option<Interval> {
    let negative = text.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'-');
    let parts = unit.parts();
    let mut numbers: Vec<i64> = Vec::new();
    let mut last_digits = 0u32;
    for run in text.split(|b| !b.is_ascii_digit()).filter(|run| !run.is_empty()) {
        last_digits = run.len() as u32;
        numbers.push(std::str::from_utf8(run).ok()?.parse().ok()?);
    }
    if numbers.len() > parts.len() {
        return None;
    }
    if unit.has_micros() && last_digits < 6 && !numbers.is_empty() {
        // '1.5' of SECOND_MICROSECOND is 1 second and 500000 microseconds.
        let last = numbers.len() - 1;
        numbers[last] *= 10i64.pow(6 - last_digits);
    }
    let skipped = parts.len() - numbers.len();
    let mut total = 0i64;
    for (number, part) in numbers.iter().zip(&parts[skipped..]) {
        total = total.checked_add(number.checked_mul(*part)?)?;
    }
    let total = if negative { -total } else { total };
    Some(match unit {
        TimeUnit::YearMonth => Interval { months: total, micros: 0 },
        _ => Interval { months: 0, micros: total },
    })
}

/// Makes the date and time of a number of microseconds. The days of the year 0 are those of a year
/// without a leap day.
fn moment_of_micros(micros: i64) -> Option<DateTime> {
    const DAYS_BEFORE_2001: i64 = 730_850;
    if !(1..=365).contains(&micros.div_euclid(DAY_MICROS)) {
        return DateTime::from_micros(micros);
    }
    let at = DateTime::from_micros(micros + DAYS_BEFORE_2001 * DAY_MICROS)?;
    Some(DateTime { date: Date { year: 0, ..at.date }, ..at })
}

fn add_months(at: DateTime, months: i64) -> Option<DateTime> {
    let total = (i64::from(at.date.year) * 12 + i64::from(at.date.month) - 1).checked_add(months)?;
    let year = u16::try_from(total.div_euclid(12)).ok().filter(|year| *year <= 9999)?;
    let month = (total.rem_euclid(12) + 1) as u8;
    let day = at.date.day.min(days_in_month(year, month));
    Some(DateTime { date: Date::new(year, month, day)?, ..at })
}

/// Computes `date + INTERVAL amount unit`, as a value of the type that the expression was bound
/// with.
pub(crate) fn add(
    date: &Value,
    amount: &Value,
    unit: TimeUnit,
    subtract: bool,
    ty: &ColumnType,
    ctx: &Context<'_>,
) -> Result<Value> {
    if date.is_null() || amount.is_null() {
        return Ok(Value::Null);
    }
    let out_of_range = || {
        warn_out_of_range((date, amount), unit, subtract, ty, ctx);
        Value::Null
    };
    let Some(mut interval) = interval(amount, unit, ctx) else { return Ok(out_of_range()) };
    if subtract {
        interval =
            Interval { months: interval.months.wrapping_neg(), micros: interval.micros.wrapping_neg() };
    }
    if let Value::Time(time) = date
        && !unit.has_days()
    {
        let sum = time.to_micros().checked_add(interval.micros);
        let sum = sum.filter(|micros| micros.abs() <= MOST_OF_TIME_MICROS).and_then(Time::from_micros);
        return Ok(sum.map_or_else(out_of_range, Value::Time));
    }
    let Some(at) = datetime_of(date, ctx) else { return Ok(Value::Null) };
    if at.date.has_zero_part() {
        return Ok(Value::Null);
    }
    let sum = match interval.micros {
        0 => add_months(at, interval.months),
        micros => add_months(at, interval.months)
            .and_then(|at| at.to_micros().checked_add(micros))
            .and_then(moment_of_micros),
    };
    let Some(sum) = sum else { return Ok(out_of_range()) };
    Ok(match (ty.code, date) {
        (TypeCode::Date, _) => Value::Date(sum.date),
        (TypeCode::Datetime2, _) => Value::DateTime(sum),
        // The result for a text is a text. It is a date without a time where the text and the unit
        // have no time.
        (_, Value::Bytes(text)) => {
            let has_time = types::temporal::parse::datetime(text).is_some_and(|parsed| parsed.has_time);
            let value =
                if has_time || !unit.is_of_days() { Value::DateTime(sum) } else { Value::Date(sum.date) };
            Value::Bytes(text_of(&value).into_owned())
        }
        (_, Value::Date(_)) if unit.is_of_days() => Value::Date(sum.date),
        // A number of at most eight digits is a date without a time.
        (_, Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_))
            if unit.is_of_days() && date.to_integer().is_some_and(|number| number <= MOST_OF_DATE) =>
        {
            Value::Date(sum.date)
        }
        // The text of a document has become a date with a time.
        (_, Value::DateTime(at)) if unit.is_of_days() && *at == DateTime::midnight(at.date) => {
            Value::Date(sum.date)
        }
        _ => Value::DateTime(sum),
    })
}

/// Warns that a sum is no date or time. MySQL shows the expression where the sum is a DATE or a
/// TIME, and this server the values in it.
#[cold]
fn warn_out_of_range(
    (date, amount): (&Value, &Value),
    unit: TimeUnit,
    subtract: bool,
    ty: &ColumnType,
    ctx: &Context<'_>,
) {
    let kind = match ty.code {
        TypeCode::Date => "DATE",
        TypeCode::Time2 => "TIME",
        _ => return ctx.warn(1441, "Datetime function: datetime field overflow"),
    };
    let (sign, unit) = (if subtract { '-' } else { '+' }, unit.name());
    let expression = format!("({kind}'{}' {sign} interval {} {unit})", shown(date), shown(amount));
    ctx.warn(6527, format!("{kind} value is out of range in '{expression}'"));
}

pub(crate) fn day_of_year(date: &Date) -> i64 {
    date.day_number() - Date { month: 1, day: 1, ..*date }.day_number() + 1
}

/// Returns the year and the week of a date in one of WEEK()'s eight modes (MySQL's manual,
/// "WEEK()"). The numbers have 32 bits and no sign, as MySQL's have: before the first week of the
/// year 0 they begin again at the largest ones.
pub(crate) fn week_of(date: &Date, mode: u8) -> (u32, u32) {
    let monday_first = mode & 1 != 0;
    // Week 0 exists unless bit 1 is set, which counts its days to the last week of the year before.
    let mut week_year = mode & 2 != 0;
    // Week 1 is the first week that starts in the year. Otherwise it is the first one that has four
    // days in it.
    let first_weekday = (mode & 4 != 0) == monday_first;
    let days_before_week_1 = |weekday: u32| if first_weekday { weekday != 0 } else { weekday >= 4 };
    let mut year = u32::from(date.year);
    let mut first = Date { year: date.year, month: 1, day: 1 }.day_number() as u32;
    let mut weekday = (first + 5 + u32::from(!monday_first)) % 7;
    if date.month == 1 && u32::from(date.day) <= 7 - weekday {
        if !week_year && days_before_week_1(weekday) {
            return (year, 0);
        }
        week_year = true;
        year = year.wrapping_sub(1);
        let days_in_year = days_in_year(year);
        first = first.wrapping_sub(days_in_year);
        weekday = (weekday + 53 * 7 - days_in_year) % 7;
    }
    let week_1 = match days_before_week_1(weekday) {
        true => first.wrapping_add(7 - weekday),
        false => first.wrapping_sub(weekday),
    };
    let days = (date.day_number() as u32).wrapping_sub(week_1);
    if week_year && days >= 52 * 7 && !days_before_week_1((weekday + days_in_year(year)) % 7) {
        return (year.wrapping_add(1), 1);
    }
    (year, days / 7 + 1)
}

/// Returns the number of days of a year. The year 0 has 365 in MySQL.
fn days_in_year(year: u32) -> u32 {
    let is_leap_year = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if is_leap_year && year != 0 { 366 } else { 365 }
}

/// Reports whether a value of which a time is asked may be a date with a time: it is read as one
/// first, and as a TIME if it is none. A text whose first number is followed by a colon or a space,
/// or is short and followed by a point, cannot begin with a date, as MySQL reads it here.
fn may_be_date(value: &Value) -> bool {
    const FEWEST_DIGITS: usize = 5;
    match value {
        Value::Time(_) => false,
        Value::Bytes(text) => {
            let text = text.trim_ascii_start();
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match text.get(digits) {
                Some(b':' | b' ') => false,
                Some(b'.') => digits >= FEWEST_DIGITS,
                _ => true,
            }
        }
        _ => true,
    }
}

/// Reports whether the value is a text of the zero date, which the session's modes refuse.
fn is_refused_date(value: &Value, ctx: &Context<'_>) -> bool {
    let Value::Bytes(text) = value else { return false };
    ctx.dates().no_zero_date && parse::datetime(text).is_some_and(|read| read.value.is_zero())
}

/// Computes `EXTRACT(unit FROM value)`.
pub(crate) fn extract(value: &Value, unit: TimeUnit, ctx: &Context<'_>) -> Result<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let of_day = matches!(
        unit,
        TimeUnit::DayMicrosecond | TimeUnit::DaySecond | TimeUnit::DayMinute | TimeUnit::DayHour
    );
    let of_date = matches!(
        unit,
        TimeUnit::Day
            | TimeUnit::Week
            | TimeUnit::Month
            | TimeUnit::Quarter
            | TimeUnit::Year
            | TimeUnit::YearMonth
    );
    let is_moment = matches!(value, Value::DateTime(_) | Value::Timestamp { .. });
    let needs_date = of_date || is_moment || of_day && matches!(value, Value::Date(_));
    let found = if needs_date || !may_be_date(value) { None } else { point_in_time(value, ctx) };
    if found.is_none() && is_refused_date(value, ctx) {
        ctx.warn(1292, format!("Incorrect datetime value: '{}'", shown(value)));
        return Ok(Value::Null);
    }
    let (date, time) = if let Some(at) = found {
        (at.date, at.time())
    } else if needs_date {
        match datetime_of(value, ctx) {
            Some(at) => (at.date, at.time()),
            None => return Ok(Value::Null),
        }
    } else {
        match time_of(value, ctx) {
            Some(time) => (Date::default(), time),
            None => return Ok(Value::Null),
        }
    };
    let (year, month, day) = (i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let (hour, minute) = (i64::from(time.hours), i64::from(time.minutes));
    let (second, micros) = (i64::from(time.seconds), i64::from(time.micros));
    let hms = hour * 10_000 + minute * 100 + second;
    let number = match unit {
        TimeUnit::Microsecond => micros,
        TimeUnit::Second => second,
        TimeUnit::Minute => minute,
        TimeUnit::Hour => hour,
        TimeUnit::Day => day,
        TimeUnit::Week => i64::from(week_of(&date, ctx.variables.default_week_format).1),
        TimeUnit::Month => month,
        TimeUnit::Quarter => (month + 2) / 3,
        TimeUnit::Year => year,
        TimeUnit::SecondMicrosecond => second * MICROS + micros,
        TimeUnit::MinuteMicrosecond => (minute * 100 + second) * MICROS + micros,
        TimeUnit::MinuteSecond => minute * 100 + second,
        TimeUnit::HourMicrosecond => hms * MICROS + micros,
        TimeUnit::HourSecond => hms,
        TimeUnit::HourMinute => hour * 100 + minute,
        TimeUnit::DayMicrosecond => (day * 1_000_000 + hms) * MICROS + micros,
        TimeUnit::DaySecond => day * 1_000_000 + hms,
        TimeUnit::DayMinute => day * 10_000 + hour * 100 + minute,
        TimeUnit::DayHour => day * 100 + hour,
        TimeUnit::YearMonth => year * 100 + month,
    };
    Ok(Value::Int(if time.negative { -number } else { number }))
}

/// Returns the value as a point in time. `None`, with a warning unless the value is of a temporal
/// type, means that the value is none, or that its month or its day is 0.
pub(crate) fn whole_moment(value: &Value, ctx: &Context<'_>) -> Option<DateTime> {
    let at = datetime_of(value, ctx)?;
    if at.date.has_zero_part() {
        if !matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Timestamp { .. }) {
            ctx.warn(1292, format!("Incorrect datetime value: '{}'", shown(value)));
        }
        return None;
    }
    Some(at)
}

/// Computes `TIMESTAMPDIFF(unit, a, b)`: the whole units from `a` to `b`.
pub(crate) fn difference(a: &Value, b: &Value, unit: TimeUnit, ctx: &Context<'_>) -> Result<Value> {
    let (Some(a), Some(b)) = (whole_moment(a, ctx), whole_moment(b, ctx)) else { return Ok(Value::Null) };
    if let Some(micros) = unit.micros() {
        return Ok(Value::Int((b.to_micros() - a.to_micros()) / micros));
    }
    let months_of = |at: &DateTime| i64::from(at.date.year) * 12 + i64::from(at.date.month);
    let rest_of = |at: &DateTime| (at.date.day, at.hour, at.minute, at.second, at.micros);
    let mut months = months_of(&b) - months_of(&a);
    if months > 0 && rest_of(&b) < rest_of(&a) {
        months -= 1;
    } else if months < 0 && rest_of(&b) > rest_of(&a) {
        months += 1;
    }
    Ok(Value::Int(match unit {
        TimeUnit::Quarter => months / 3,
        TimeUnit::Year => months / 12,
        _ => months,
    }))
}
