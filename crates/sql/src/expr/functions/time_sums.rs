//! `ADDTIME()` and `SUBTIME()`, which add a time to, or take it from, a time or a date with a time,
//! and `TIMEDIFF()`.

use super::super::cast::{datetime_of, time_of};
use super::time::most_fsp;
use super::{Call, Function, ascii_text, double};
use crate::error::Result;
use crate::expr::{Coercibility, Expr, Node, double_of, number};
use types::collation;
use types::temporal::parse;
use types::{ColumnType, DateTime, Time, TypeCode, Value, Zone};

/// The number of microseconds in a second.
const MICROS: i64 = 1_000_000;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("addtime", 2..=2, type_of, |call| sum(call, 1)),
    Function::new("subtime", 2..=2, type_of, |call| sum(call, -1)),
    Function::new("timediff", 2..=2, time_of_both, time_difference),
];

/// The text of a sum of times: it has six digits behind the seconds or none, whatever the types of
/// the operands are.
pub(in crate::expr) static SHOWN_SUM: Function =
    Function::new("text of a sum", 1..=1, ascii_text::<29>, |call| {
        Ok(match &*call.values[0] {
            Value::Time(sum) => shown(sum.micros, &|fsp, out| sum.write_text(fsp, out)),
            _ => Value::Bytes(call.bytes(0).into_owned()),
        })
    });

/// The number of the date or the time that the text of a sum shows.
pub(in crate::expr) static NUMBER_OF_MOMENT: Function =
    Function::new("number of a sum", 1..=1, double, |call| {
        const DIGITS_OF_YEAR: usize = 4;
        let text = call.bytes(0);
        let moment = match text.get(DIGITS_OF_YEAR) == Some(&b'-') {
            true => parse::datetime(&text).map(|read| match read.has_time {
                true => Value::DateTime(read.value),
                false => Value::Date(read.value.date),
            }),
            false => parse::time(&text, call.ctx.zone()).map(|read| Value::Time(read.value.time)),
        };
        Ok(moment.map_or(Value::Null, |moment| Value::Double(double_of(&number(&moment)))))
    });

/// Reports whether an expression adds to a date or a time, or takes something from it.
pub(in crate::expr) fn is_sum(expr: &Expr) -> bool {
    match &expr.node {
        Node::DateAdd { .. } => true,
        Node::Call { function, .. } => matches!(function.name, "addtime" | "subtime"),
        _ => false,
    }
}

/// Reports whether an expression is a sum of times whose type has digits behind the seconds.
pub(in crate::expr) fn is_sum_of_times(expr: &Expr) -> bool {
    is_sum(expr) && expr.ty.code == TypeCode::Time2 && expr.ty.fsp() > 0
}

/// Returns the text of a sum, which has a fraction of six digits or none.
fn shown(micros: u32, write: &dyn Fn(u8, &mut Vec<u8>)) -> Value {
    let mut out = Vec::new();
    write(if micros == 0 { 0 } else { 6 }, &mut out);
    Value::Bytes(out)
}

/// Returns DATETIME or TIME if the first argument is of that type, otherwise a text type.
fn type_of(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = match args[0].ty.code {
        TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2 => ColumnType::datetime(most_fsp(args)),
        TypeCode::Time2 => ColumnType::time(most_fsp(args)),
        _ => {
            let made = ColumnType::made_char(29, collation::UTF8MB4_0900_AI_CI);
            return Ok((made, Coercibility::Literal));
        }
    };
    Ok((ty, Coercibility::Numeric))
}

/// Returns TIME with the longer fraction of the arguments.
fn time_of_both(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::time(most_fsp(args)), Coercibility::Numeric))
}

/// A time, or a date with a time.
enum Moment {
    Time(Time),
    DateTime(DateTime),
}

fn sum(call: &Call<'_>, sign: i64) -> Result<Value> {
    let Some(first) = first_of(call) else { return Ok(Value::Null) };
    let Some(second) = time_of(&call.values[1], call.ctx) else { return Ok(Value::Null) };
    let micros = sign * second.to_micros();
    let is_text = !call.args[0].ty.is_temporal();
    let out_of_range = |kind: &str| {
        let text = format!("{kind} value is out of range in '{}'", call.name);
        call.ctx.warn(6527, text);
    };
    Ok(match first {
        Moment::Time(time) => {
            let total = time.to_micros() + micros;
            let sum = Time::from_micros(total);
            if sum.is_none() {
                out_of_range("TIME");
            }
            // Only as a text does MySQL show the largest time instead of a larger one.
            match (sum, is_text) {
                (Some(sum), false) => Value::Time(sum),
                (None, false) => Value::Null,
                (sum, true) => {
                    let sum = sum.unwrap_or_else(|| Time::largest(total < 0));
                    shown(sum.micros, &|fsp, out| sum.write_text(fsp, out))
                }
            }
        }
        Moment::DateTime(at) => match DateTime::from_micros(at.to_micros() + micros) {
            Some(sum) if is_text => shown(sum.micros, &|fsp, out| sum.write_text(fsp, out)),
            Some(sum) => Value::DateTime(sum),
            None => {
                out_of_range("DATETIME");
                Value::Null
            }
        },
    })
}

/// Reads the first argument. Its type, or the form of its text or number, decides whether it is a
/// time or a date.
fn first_of(call: &Call<'_>) -> Option<Moment> {
    let value = &*call.values[0];
    if let Value::Time(time) = value {
        return Some(Moment::Time(*time));
    }
    let local = value.clone().in_zone(call.ctx.zone());
    let read = match &local {
        Value::DateTime(at) => Some(Moment::DateTime(*at)),
        Value::Date(date) => Some(Moment::DateTime(DateTime::midnight(*date))),
        other => of_text(&crate::expr::text_of(other), call.ctx.zone()),
    };
    let Some(read) = read else {
        let shown = call.string(0);
        call.ctx.warn(1292, format!("Incorrect datetime value: '{shown}'"));
        return None;
    };
    match read {
        Moment::DateTime(at) if at.date.has_zero_part() => {
            call.ctx.warn_truncated("datetime", value);
            None
        }
        read => Some(read),
    }
}

/// Reports whether a text begins like a time, and not like a date.
fn begins_like_time(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(digits) {
        Some(b':' | b' ') => digits <= 3,
        None | Some(b'.') => (1..=7).contains(&digits),
        Some(b'-') => digits == 0,
        _ => false,
    }
}

/// Reads a text that begins like a time as a time, and every other text as a date.
fn of_text(text: &[u8], zone: Zone) -> Option<Moment> {
    let text = text.trim_ascii();
    if begins_like_time(text) {
        return parse::time(text, zone).map(|read| Moment::Time(read.value.time));
    }
    parse::datetime(text).map(|read| Moment::DateTime(read.in_zone(zone)))
}

/// Computes TIMEDIFF. Two times have a difference, and two dates with times have one. A time and a
/// date have none.
fn time_difference(call: &Call<'_>) -> Result<Value> {
    let has_date =
        |value: &Value| matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Timestamp { .. });
    let is_of_dates = has_date(&call.values[0]) || has_date(&call.values[1]);
    let (Some(a), Some(b)) = (moment_of(call, 0, is_of_dates), moment_of(call, 1, is_of_dates)) else {
        return Ok(Value::Null);
    };
    let micros = match (a, b) {
        (Moment::Time(a), Moment::Time(b)) => a.to_micros() - b.to_micros(),
        (Moment::DateTime(a), Moment::DateTime(b)) => a.to_micros() - b.to_micros(),
        _ => return Ok(Value::Null),
    };
    Ok(Value::Time(Time::from_micros(micros).unwrap_or_else(|| {
        let seconds = micros.abs() / MICROS;
        let (sign, hours) = (if micros < 0 { "-" } else { "" }, seconds / 3600);
        let text = format!("{sign}{hours:02}:{:02}:{:02}", seconds / 60 % 60, seconds % 60);
        call.ctx.warn_truncated("time", &Value::text(&text));
        Time::largest(micros < 0)
    })))
}

/// Returns an argument of TIMEDIFF. A text is a date with a time if it has a date, or if
/// `is_of_dates` is set because the other argument is one. A whole number is one if it is no time.
fn moment_of(call: &Call<'_>, at: usize, is_of_dates: bool) -> Option<Moment> {
    const LARGEST_TIME: u64 = 8_385_959;
    let value = &*call.values[at];
    let as_date = |read: Option<DateTime>| read.map(Moment::DateTime);
    match value {
        Value::Time(time) => Some(Moment::Time(*time)),
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp { .. } => {
            as_date(datetime_of(value, call.ctx))
        }
        Value::Bytes(text) if !is_of_dates && begins_like_time(text.trim_ascii()) => {
            time_of(value, call.ctx).map(Moment::Time)
        }
        Value::Bytes(text) => {
            let text = text.trim_ascii();
            let is_dashed = text.iter().filter(|byte| **byte == b'-').count() >= 2;
            match parse::datetime(text).filter(|read| !read.value.date.has_zero_part()) {
                Some(read) if read.has_time || is_dashed || is_of_dates => {
                    as_date(Some(read.in_zone(call.ctx.zone())))
                }
                _ if is_of_dates => None,
                _ => time_of(value, call.ctx).map(Moment::Time),
            }
        }
        Value::Int(_) | Value::UInt(_) => {
            let digits = call.integer(at).unsigned_abs();
            match digits > LARGEST_TIME {
                true => as_date(parse::datetime_from_number(digits)),
                false => time_of(value, call.ctx).map(Moment::Time),
            }
        }
        _ if is_of_dates => None,
        _ => time_of(value, call.ctx).map(Moment::Time),
    }
}
