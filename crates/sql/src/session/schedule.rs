//! Evaluates the expressions of an event's schedule.

use super::Session;
use super::program::evaluate_one;
use crate::ast::{EventSchedule, Expr, TimeUnit};
use crate::ddl::ScheduleValues;
use crate::error::{Result, SqlError};
use crate::event_timing::{is_timestamp, shown_interval};
use crate::expr::{datetime_of, interval_of, text_of};
use types::Value;

/// Evaluates a schedule at the current moment.
///
/// # Errors
/// Returns 1525, 1542 and 1543 for values that no schedule may have, and 1235 for MICROSECOND.
pub(super) fn schedule_values(session: &mut Session, schedule: &EventSchedule) -> Result<ScheduleValues> {
    let mut values = ScheduleValues::default();
    match schedule {
        EventSchedule::At(at) => values.at_s = Some(named_moment(session, "AT", at)?),
        EventSchedule::Every { amount, unit, starts, ends } => {
            values.amount = Some(amount_of(session, amount, *unit)?);
            let starts_s = match starts {
                Some(starts) => named_moment(session, "STARTS", starts)?,
                None => (session.context(&[], false).now_us / 1_000_000) as i64,
            };
            values.starts_s = Some(starts_s);
            if let Some(ends) = ends {
                let ends = evaluate_one(session, ends)?;
                let ends_s = moment(session, &ends).filter(|ends_s| *ends_s > starts_s);
                let wrong = || SqlError::new(1543, "ENDS is either invalid or before STARTS");
                values.ends_s = Some(ends_s.ok_or_else(wrong)?);
            }
        }
    }
    Ok(values)
}

fn wrong_value(what: &str, value: &Value) -> SqlError {
    let shown = match value {
        Value::Null => "NULL".into(),
        value => String::from_utf8_lossy(&text_of(value)).into_owned(),
    };
    SqlError::new(1525, format!("Incorrect {what} value: '{shown}'"))
}

fn named_moment(session: &mut Session, what: &str, written: &Expr) -> Result<i64> {
    let value = evaluate_one(session, written)?;
    moment(session, &value).ok_or_else(|| wrong_value(what, &value))
}

/// Returns a value as seconds of Unix time, or `None` if a TIMESTAMP could not hold it.
fn moment(session: &Session, value: &Value) -> Option<i64> {
    let ctx = session.context(&[], false);
    let at = datetime_of(value, &ctx).filter(|at| !at.date.has_zero_part())?;
    Some(at.to_unix(ctx.zone())).filter(|unix_s| is_timestamp(*unix_s))
}

fn amount_of(session: &mut Session, written: &Expr, unit: TimeUnit) -> Result<String> {
    if unit.has_micros() {
        return Err(SqlError::not_supported("MICROSECOND"));
    }
    let amount = evaluate_one(session, written)?;
    if amount.is_null() {
        return Err(wrong_value("INTERVAL", &amount));
    }
    let ctx = session.context(&[], false);
    let interval = interval_of(&amount, unit, &ctx);
    let shown = interval.and_then(|interval| {
        shown_interval(&unit.name().to_uppercase(), interval.months, interval.micros / 1_000_000)
    });
    shown.ok_or_else(|| SqlError::new(1542, "INTERVAL is either not positive or too big"))
}
