//! Texts and dates as they are compared with the dates or times of an IN list.

use super::super::cast::time_of;
use super::super::text::shown;
use super::super::text_of;
use super::{Call, Coercibility, Expr, Function};
use crate::error::Result;
use types::temporal::parse;
use types::{ColumnType, Time, TypeCode, Value};

/// A function that reads a text as a moment. The type of the second argument is that of the moments
/// of the list, and its value is the name of their column. As in MySQL, a text that is no date is
/// the zero date, while texts that are no times are equal to each other and to nothing else: all
/// bits of MySQL's value are set then. Statements cannot write this function's name.
pub(in crate::expr) static MOMENT_IN_LIST: Function =
    Function::new("moment in list", 2..=2, moment, |call| {
        let value = &call.values[0];
        Ok(match call.args[1].ty.code {
            // MySQL reads the text of a date, which is seldom one of a time.
            TypeCode::Time2 => {
                let time = match &**value {
                    Value::Bytes(_) => time_of(value, call.ctx),
                    other => time_of(&Value::Bytes(text_of(other).into_owned()), call.ctx),
                };
                Value::Time(time.unwrap_or(NO_TIME))
            }
            _ => {
                let (text, dates) = (text_of(value), call.ctx.dates());
                let read = parse::datetime_with(dates.readable(&text), dates.allow_invalid);
                let moment = read.map(|read| read.value).filter(|moment| !dates.refuses(&moment.date));
                if moment.is_none() {
                    complain(call);
                }
                Value::DateTime(moment.unwrap_or_default())
            }
        })
    });

const NO_TIME: Time = Time { negative: true, hours: 1023, minutes: 0, seconds: 0, micros: 0 };

fn moment(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((args[1].ty.clone(), Coercibility::Numeric))
}

/// Warns about a text that is no date.
fn complain(call: &Call<'_>) {
    let (text, column) = (shown(&call.values[0]), call.string(1));
    let is_named = !column.is_empty();
    let complaint = match call.args[1].ty.code {
        TypeCode::Date if is_named => {
            format!("Incorrect date value: '{text}' for column '{column}' at row 1")
        }
        TypeCode::Date => format!("Truncated incorrect date value: '{text}'"),
        _ if is_named => format!("Incorrect datetime value: '{text}' for column '{column}' at row 1"),
        _ => format!("Truncated incorrect datetime value: '{text}'"),
    };
    call.ctx.warn(1292, complaint);
}
