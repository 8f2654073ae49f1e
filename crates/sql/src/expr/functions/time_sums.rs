//! `ADDTIME()` and `SUBTIME()`, which add a time to, or take it from, a time or a date with a time.

use super::super::cast::time_of;
use super::time::most_fsp;
use super::{Call, Function, ascii_text};
use crate::error::Result;
use crate::expr::{Coercibility, Expr};
use types::temporal::parse;
use types::{ColumnType, DateTime, Time, TypeCode, Value, Zone};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("addtime", 2..=2, type_of, |call| sum(call, 1)),
    Function::new("subtime", 2..=2, type_of, |call| sum(call, -1)),
];

/// Returns DATETIME or TIME if the first argument is of that type, otherwise a text type.
fn type_of(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = match args[0].ty.code {
        TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2 => ColumnType::datetime(most_fsp(args)),
        TypeCode::Time2 => ColumnType::time(most_fsp(args)),
        _ => return ascii_text::<29>(args),
    };
    Ok((ty, Coercibility::Numeric))
}

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
    // A text has a fraction of six digits or none.
    let shown = |micros: u32, write: &dyn Fn(u8, &mut Vec<u8>)| {
        let mut out = Vec::new();
        write(if micros == 0 { 0 } else { 6 }, &mut out);
        Value::Bytes(out)
    };
    Ok(match first {
        Moment::Time(time) => {
            let total = time.to_micros() + micros;
            let sum = Time::from_micros(total).unwrap_or_else(|| {
                out_of_range("TIME");
                Time::largest(total < 0)
            });
            if is_text { shown(sum.micros, &|fsp, out| sum.write_text(fsp, out)) } else { Value::Time(sum) }
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

/// Reads a text that begins like a time as a time, and every other text as a date.
fn of_text(text: &[u8], zone: Zone) -> Option<Moment> {
    let text = text.trim_ascii();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_time = match text.get(digits) {
        Some(b':' | b' ') => digits <= 3,
        None | Some(b'.') => (1..=7).contains(&digits),
        Some(b'-') => digits == 0,
        _ => false,
    };
    if is_time {
        return parse::time(text, zone).map(|read| Moment::Time(read.value.time));
    }
    parse::datetime(text).map(|read| Moment::DateTime(read.in_zone(zone)))
}
