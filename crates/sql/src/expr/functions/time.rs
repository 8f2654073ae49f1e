//! Functions on dates and times.

use super::super::cast::{
    date_of, datetime_of, full_date, full_datetime, time_of, valid_date, valid_datetime,
};
use super::super::date_arithmetic::{day_of_year, week_of, whole_moment};
use super::super::{Node, number};
use super::shown_date::Shown;
use super::text_lengths::shown_by_second;
use super::{Call, Coercibility, Expr, Function, bigint, integer, wrong_arguments};
use crate::error::{Result, SqlError};
use types::temporal::{days_in_month, parse};
use types::{ColumnType, Date, DateTime, Decimal, Time, Value, Zone};

const MICROS: i64 = 1_000_000;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("now", 0..=1, datetime_fsp, |call| Ok(Value::DateTime(at_fsp(local(call), fsp(call, 0)))))
        .never_null(),
    Function::new("sysdate", 0..=1, datetime_fsp, |call| {
        let us = os::clock::now_us();
        let at = DateTime::from_unix((us / 1_000_000) as i64, (us % 1_000_000) as u32, call.ctx.zone());
        Ok(Value::DateTime(at_fsp(at, fsp(call, 0))))
    })
    .never_null()
    .varies(),
    Function::new("utc_timestamp", 0..=1, datetime_fsp, |call| {
        Ok(Value::DateTime(at_fsp(utc(call), fsp(call, 0))))
    })
    .never_null(),
    Function::new("curdate", 0..=0, date, |call| Ok(Value::Date(local(call).date))).never_null(),
    Function::new("utc_date", 0..=0, date, |call| Ok(Value::Date(utc(call).date))).never_null(),
    Function::new("curtime", 0..=1, time_fsp, |call| {
        Ok(Value::Time(at_fsp(local(call), fsp(call, 0)).time()))
    })
    .never_null(),
    Function::new("utc_time", 0..=1, time_fsp, |call| {
        Ok(Value::Time(at_fsp(utc(call), fsp(call, 0)).time()))
    })
    .never_null(),
    Function::new("unix_timestamp", 0..=1, unix_type, unix_timestamp).null_by_arguments(),
    Function::new("from_unixtime", 1..=2, from_unix_type, from_unixtime),
    Function::new("date", 1..=1, date, |call| {
        Ok(valid_date(&call.values[0], call.ctx).map_or(Value::Null, Value::Date))
    }),
    Function::new("time", 1..=1, time_like_args, |call| {
        Ok(time_of(&call.values[0], call.ctx).map_or(Value::Null, Value::Time))
    }),
    Function::new("timestamp", 1..=2, datetime_like_args, |call| {
        let Some(at) = valid_datetime(&call.values[0], call.ctx) else { return Ok(Value::Null) };
        if !call.is_given(1) {
            return Ok(Value::DateTime(at));
        }
        let Some(time) = time_of(&call.values[1], call.ctx) else { return Ok(Value::Null) };
        Ok(DateTime::from_micros(at.to_micros() + time.to_micros()).map_or(Value::Null, Value::DateTime))
    }),
    Function::new("year", 1..=1, year, |call| {
        Ok(date_of(&call.values[0], call.ctx).map_or(Value::Null, |date| Value::UInt(u64::from(date.year))))
    }),
    Function::new("month", 1..=1, integer::<3>, |call| on_date(call, |date| i64::from(date.month))),
    Function::new("dayofmonth", 1..=1, integer::<3>, |call| on_date(call, |date| i64::from(date.day))),
    Function::new("quarter", 1..=1, integer::<2>, |call| {
        on_date(call, |date| (i64::from(date.month) + 2) / 3)
    }),
    Function::new("dayofweek", 1..=1, integer::<2>, |call| {
        on_full_date(call, |date| (i64::from(date.weekday()) + 1) % 7 + 1)
    }),
    Function::new("weekday", 1..=1, integer::<2>, |call| {
        on_full_date(call, |date| i64::from(date.weekday()))
    }),
    Function::new("dayofyear", 1..=1, integer::<4>, |call| on_full_date(call, day_of_year)),
    Function::new("to_days", 1..=1, integer::<8>, |call| on_full_date(call, |date| date.day_number())),
    Function::new("from_days", 1..=1, date, from_days),
    Function::new("to_seconds", 1..=1, bigint, |call| {
        Ok(full_datetime(&call.values[0], call.ctx)
            .map_or(Value::Null, |at| Value::Int(at.to_micros() / MICROS)))
    }),
    Function::new("week", 1..=2, integer::<3>, |call| {
        let mode = match call.values.get(1).map(|mode| mode.is_null()) {
            None => call.ctx.variables.default_week_format,
            Some(true) => 0,
            Some(false) => week_mode(call),
        };
        on_full_date(call, |date| i64::from(week_of(date, mode).1))
    })
    .sees_nulls(),
    Function::new("weekofyear", 1..=1, integer::<3>, |call| {
        on_full_date(call, |date| i64::from(week_of(date, 3).1))
    }),
    Function::new("yearweek", 1..=2, integer::<7>, |call| {
        let mode = if call.is_given(1) { week_mode(call) } else { 0 };
        on_full_date(call, |date| {
            let (year, week) = week_of(date, mode | 2);
            i64::from(year) * 100 + i64::from(week)
        })
    }),
    Function::new("last_day", 1..=1, date, |call| {
        Ok(match date_of(&call.values[0], call.ctx) {
            Some(date) if date.month > 0 => {
                Value::Date(Date { day: days_in_month(date.year, date.month), ..date })
            }
            _ => Value::Null,
        })
    }),
    Function::new("hour", 1..=1, integer::<4>, |call| on_time(call, |time| i64::from(time.hours))),
    Function::new("minute", 1..=1, integer::<3>, |call| on_time(call, |time| i64::from(time.minutes))),
    Function::new("second", 1..=1, integer::<3>, |call| on_time(call, |time| i64::from(time.seconds))),
    Function::new("microsecond", 1..=1, integer::<21>, |call| on_time(call, |time| i64::from(time.micros))),
    Function::new("time_to_sec", 1..=1, integer::<10>, |call| {
        on_time(call, |time| time.to_micros() / MICROS)
    }),
    Function::new("sec_to_time", 1..=1, |args| time_of_seconds(&args[0]), sec_to_time),
    Function::new("makedate", 2..=2, date, |call| {
        let (year, day) = (call.integer(0), call.integer(1));
        let year = if (0..100).contains(&year) { i64::from(parse::expand_year(year as u16)) } else { year };
        if day < 1 || !(0..=9999).contains(&year) {
            return Ok(Value::Null);
        }
        let first = Date { year: year as u16, month: 1, day: 1 }.day_number();
        Ok(Some(Date::from_day_number(first + day - 1))
            .filter(|d| !d.is_zero())
            .map_or(Value::Null, Value::Date))
    }),
    Function::new("maketime", 3..=3, |args| time_of_seconds(&args[2]), make_time),
    Function::new("datediff", 2..=2, integer::<9>, |call| {
        let whole = |at: usize| match &*call.values[at] {
            // A time counts as today, however many hours it has.
            text @ (Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } | Value::Time(_)) => {
                date_of(text, call.ctx).filter(|date| !date.has_zero_part())
            }
            value => whole_moment(value, call.ctx).map(|moment| moment.date),
        };
        let (a, b) = (whole(0), whole(1));
        Ok(a.zip(b).map_or(Value::Null, |(a, b)| Value::Int(a.day_number() - b.day_number())))
    }),
    Function::new("convert_tz", 3..=3, datetime_like_first, |call| {
        let Some(at) = whole_moment(&call.values[0], call.ctx) else { return Ok(Value::Null) };
        let zone = |at: usize| crate::time_zone::find(call.ctx.engine, &call.string(at));
        let (Some(from), Some(to)) = (zone(1), zone(2)) else { return Ok(Value::Null) };
        let unix_s = at.to_unix(from);
        // As in MySQL, a moment outside the range of TIMESTAMP stays as it is.
        let moved = match crate::event_timing::is_timestamp(unix_s) {
            true => DateTime::from_unix(unix_s, at.micros, to),
            false => at,
        };
        Ok(Value::DateTime(moved))
    }),
    Function::new("period_add", 2..=2, bigint, |call| {
        // The upper half of BIGINT UNSIGNED is negative here.
        let more = if let Value::UInt(more) = &*call.values[1] { *more as i64 } else { call.integer(1) };
        let months = period_months(call, 0)?.wrapping_add(more);
        Ok(Value::Int(period_of_months(months as u64) as i64))
    })
    .null_by_arguments(),
    Function::new("period_diff", 2..=2, bigint, |call| {
        Ok(Value::Int(period_months(call, 0)? - period_months(call, 1)?))
    })
    .null_by_arguments(),
];

pub(super) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn constant_fsp(args: &[Expr], at: usize) -> Result<u8> {
    match args.get(at).map(|arg| &arg.node) {
        None => Ok(0),
        Some(Node::Constant(value)) => match super::super::arithmetic::integer_of(&number(value)) {
            digits @ 0..=6 => Ok(digits as u8),
            digits => Err(SqlError::new(
                1426,
                format!("Too-big precision {digits} specified for 'now'. Maximum is 6."),
            )),
        },
        Some(_) => Ok(6),
    }
}

fn datetime_fsp(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::datetime(constant_fsp(args, 0)?), Coercibility::Numeric))
}

fn time_fsp(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let fsp = if args.len() == 1 { constant_fsp(args, 0).unwrap_or(6) } else { 0 };
    Ok((ColumnType::time(fsp), Coercibility::Numeric))
}

/// Returns the number of an argument's fractional digits: those of its type, or those of a constant
/// text.
fn fsp_of(arg: &Expr) -> u8 {
    match &arg.node {
        _ if arg.ty.is_temporal() => arg.ty.fsp(),
        _ if arg.ty.is_integer() => 0,
        _ if matches!(arg.ty.code, types::TypeCode::Year | types::TypeCode::Null | types::TypeCode::Bit) => 0,
        _ if arg.ty.code == types::TypeCode::NewDecimal => arg.ty.scale().min(6),
        Node::Constant(Value::Bytes(text)) => super::super::fraction_digits(text),
        Node::HexLiteral(..) => 0,
        _ => 6,
    }
}

/// The seconds of a UNIX_TIMESTAMP() without their fraction.
pub(in crate::expr) static WHOLE_SECONDS: Function = Function::new("whole seconds", 1..=1, bigint, |call| {
    Ok(match &*call.values[0] {
        Value::Decimal(seconds) => seconds.truncate(0).to_i64().map_or(Value::Null, Value::Int),
        seconds => seconds.clone(),
    })
});

pub(super) fn most_fsp(args: &[Expr]) -> u8 {
    args.iter().map(fsp_of).max().unwrap_or(0)
}

/// Returns a TIME type whose fraction has the digits of a number of seconds.
fn time_of_seconds(seconds: &Expr) -> Result<(ColumnType, Coercibility)> {
    let fsp = match seconds.ty.code {
        _ if seconds.ty.is_integer() || matches!(seconds.node, Node::HexLiteral(..)) => 0,
        types::TypeCode::Year | types::TypeCode::Null => 0,
        _ if seconds.ty.is_temporal() => seconds.ty.fsp(),
        types::TypeCode::NewDecimal => seconds.ty.scale().min(6),
        _ => 6,
    };
    Ok((ColumnType::time(fsp), Coercibility::Numeric))
}

fn time_like_args(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::time(most_fsp(args)), Coercibility::Numeric))
}

fn datetime_like_args(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::datetime(most_fsp(args)), Coercibility::Numeric))
}

fn datetime_like_first(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    datetime_like_args(&args[..1])
}

fn date(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::date(), Coercibility::Numeric))
}

fn year(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((crate::expr::made_year(), Coercibility::Numeric))
}

fn fsp(call: &Call<'_>, at: usize) -> u8 {
    if call.is_given(at) { call.integer(at).clamp(0, 6) as u8 } else { 0 }
}

/// Cuts the fraction to `fsp` digits. It does not round, because the next second has not begun.
fn at_fsp(at: DateTime, fsp: u8) -> DateTime {
    let unit = 10u32.pow(6 - u32::from(fsp));
    DateTime { micros: at.micros / unit * unit, ..at }
}

fn utc(call: &Call<'_>) -> DateTime {
    DateTime::from_unix((call.ctx.now_us / 1_000_000) as i64, (call.ctx.now_us % 1_000_000) as u32, Zone::UTC)
}

fn local(call: &Call<'_>) -> DateTime {
    let us = call.ctx.now_us;
    DateTime::from_unix((us / 1_000_000) as i64, (us % 1_000_000) as u32, call.ctx.zone())
}

fn on_date(call: &Call<'_>, f: impl Fn(&Date) -> i64) -> Result<Value> {
    Ok(date_of(&call.values[0], call.ctx).map_or(Value::Null, |date| Value::Int(f(&date))))
}

/// Applies `f` to the date of the first argument. The result is NULL for a date with a zero part
/// too.
fn on_full_date(call: &Call<'_>, f: impl Fn(&Date) -> i64) -> Result<Value> {
    let date = full_date(&call.values[0], call.ctx);
    Ok(date.map_or(Value::Null, |date| Value::Int(f(&date))))
}

/// Returns the mode that WEEK or YEARWEEK is given. MySQL takes 32 bits of it, and none of a
/// negative number.
fn week_mode(call: &Call<'_>) -> u8 {
    match call.integer(1) as i32 {
        mode @ 0.. => mode as u8,
        _ => 0,
    }
}

fn on_time(call: &Call<'_>, f: impl Fn(&Time) -> i64) -> Result<Value> {
    Ok(time_of(&call.values[0], call.ctx).map_or(Value::Null, |time| Value::Int(f(&time))))
}

/// Computes FROM_DAYS. The first 365 days are those of the year 0, which is no leap year for MySQL.
fn from_days(call: &Call<'_>) -> Result<Value> {
    const DAYS_OF_YEAR_0: std::ops::RangeInclusive<i64> = 1..=365;
    const DAYS_BEFORE_2001: i64 = 730_851;
    let days = call.integer(0);
    let found = match DAYS_OF_YEAR_0.contains(&days) {
        true => Date { year: 0, ..Date::from_day_number(DAYS_BEFORE_2001 + days - 1) },
        false => Date::from_day_number(days),
    };
    if found.month == 0 {
        call.ctx.warn(6527, format!("DATE value is out of range in 'from_days({days})'"));
        return Ok(Value::Null);
    }
    Ok(Value::Date(found))
}

fn unix_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let fsp = args.first().map_or(0, fsp_of);
    let ty = if fsp == 0 {
        super::super::integer_type(super::super::BIGINT_WIDTH, false)
    } else {
        super::super::decimal_type(11, u32::from(fsp))
    };
    Ok((ty, Coercibility::Numeric))
}

/// The last second of UNIX_TIMESTAMP and FROM_UNIXTIME, 3001-01-18 23:59:59 UTC.
const LAST_UNIX_SECOND: i64 = 32_536_771_199;

fn unix_timestamp(call: &Call<'_>) -> Result<Value> {
    if !call.is_given(0) {
        return Ok(Value::Int((call.ctx.now_us / 1_000_000) as i64));
    }
    let at = datetime_of(&call.values[0], call.ctx).filter(|at| !at.date.has_zero_part());
    // Moments outside of the range are 0, fraction and all.
    let moment = at
        .map(|at| (at.to_unix(call.ctx.zone()), at.micros))
        .filter(|(seconds, _)| (1..=LAST_UNIX_SECOND).contains(seconds));
    let (seconds, micros) = moment.unwrap_or_default();
    let (ty, _) = unix_type(call.args)?;
    if ty.code != types::TypeCode::NewDecimal {
        return Ok(Value::Int(seconds));
    }
    let exact = Decimal::parse_prefix(format!("{seconds}.{micros:06}").as_bytes()).number;
    Ok(Value::Decimal(exact.with_scale(ty.scale()).unwrap_or(exact)))
}

fn from_unix_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    if args.len() > 1 {
        return shown_by_second(args);
    }
    Ok((ColumnType::datetime(fsp_of(&args[0])), Coercibility::Numeric))
}

fn from_unixtime(call: &Call<'_>) -> Result<Value> {
    let exact = call.decimal(0);
    let micros = exact.mul(&Decimal::from(MICROS)).and_then(|micros| micros.to_i64());
    let Some(micros) = micros.filter(|micros| (0..(LAST_UNIX_SECOND + 1) * MICROS).contains(micros)) else {
        return Ok(Value::Null);
    };
    let at = DateTime::from_unix(micros / MICROS, (micros % MICROS) as u32, call.ctx.zone());
    Ok(if call.is_given(1) { Shown::of_datetime(&at).by_format_of(call) } else { Value::DateTime(at) })
}

/// Returns a number of seconds in microseconds. A number out of their range becomes the least or
/// the greatest one.
fn micros_of(seconds: &Decimal) -> i64 {
    let bound = if seconds.is_negative() { i64::MIN } else { i64::MAX };
    seconds.mul(&Decimal::from(MICROS)).and_then(|micros| micros.to_i64()).unwrap_or(bound)
}

fn sec_to_time(call: &Call<'_>) -> Result<Value> {
    let micros = micros_of(&call.decimal(0));
    Ok(Value::Time(Time::from_micros(micros).unwrap_or_else(|| {
        call.ctx.warn_truncated("time", &call.values[0]);
        Time::largest(micros < 0)
    })))
}

fn make_time(call: &Call<'_>) -> Result<Value> {
    let (hours, minutes, seconds) = (call.integer(0), call.integer(1), call.decimal(2));
    let second_micros = micros_of(&seconds);
    // Rounding up a fraction to microseconds may make a whole minute, so the whole seconds are
    // checked.
    let is_second = !seconds.is_negative() && micros_of(&seconds.truncate(0)) < 60 * MICROS;
    if !(0..60).contains(&minutes) || !is_second {
        return Ok(Value::Null);
    }
    let whole = hours.saturating_abs().saturating_mul(3600).saturating_add(minutes * 60);
    let micros = whole.saturating_mul(MICROS).saturating_add(second_micros);
    let time = Time::from_micros(if hours < 0 { -micros } else { micros });
    Ok(Value::Time(time.filter(|_| micros <= Time::largest(false).to_micros()).unwrap_or_else(|| {
        let seconds = seconds.to_string();
        let written = format!("{}:{minutes:02}:{seconds:0>2}", hours.saturating_abs());
        call.ctx.warn_truncated("time", &Value::text(&written));
        Time::largest(hours < 0)
    })))
}

/// Returns the months of a period YYMM or YYYYMM since year 0.
///
/// # Errors
/// Returns 1210 for a number that is no period.
fn period_months(call: &Call<'_>, at: usize) -> Result<i64> {
    let period = call.bits(at) as i64;
    if period <= 0 || !(1..=12).contains(&(period % 100)) {
        return Err(wrong_arguments(call.name));
    }
    let year = period / 100;
    let year = if (0..100).contains(&year) { i64::from(parse::expand_year(year as u16)) } else { year };
    Ok(year.wrapping_mul(12) + period % 100 - 1)
}

/// Returns the period YYYYMM of so many months since year 0. As in MySQL, the number has no sign, a
/// year below 100 is one of two digits, and no months are the period 0.
fn period_of_months(months: u64) -> u64 {
    if months == 0 {
        return 0;
    }
    let year = match months / 12 {
        year @ 0..100 => u64::from(parse::expand_year(year as u16)),
        year => year,
    };
    year.wrapping_mul(100).wrapping_add(months % 12 + 1)
}
