//! GREATEST and LEAST.

use super::super::arithmetic::{double_of, number_in};
use super::super::cast::{date_of, datetime_of};
use super::super::value_type::{is_text, is_time};
use super::super::{Context, Node, common_type, compare, conform};
use super::time::most_fsp;
use super::{Call, Coercibility, Expr, Function};
use crate::error::Result;
use std::cmp::Ordering;
use types::{ColumnType, DateTime, TypeCode, Value, collation};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("greatest", 2..=usize::MAX, common, |call| extreme(call, Ordering::Greater))
        .null_by_arguments(),
    Function::new("least", 2..=usize::MAX, common, |call| extreme(call, Ordering::Less)).null_by_arguments(),
];

/// GREATEST and LEAST where a number is wanted: the arguments are numbers, or a date is among them.
static GREATEST_NUMBER: Function =
    Function::new("greatest as number", 2..=usize::MAX, double, |call| Ok(number(call, Ordering::Greater)))
        .null_by_arguments();
static LEAST_NUMBER: Function =
    Function::new("least as number", 2..=usize::MAX, double, |call| Ok(number(call, Ordering::Less)))
        .null_by_arguments();

/// Reports whether an expression is a call of GREATEST or LEAST.
pub(in crate::expr) fn is_extreme(node: &Node) -> bool {
    matches!(node, Node::Call { function, .. } if FUNCTIONS.contains(function))
}

/// Returns the function that computes the number of GREATEST or of LEAST.
pub(in crate::expr) fn number_of_extreme(function: &Function) -> &'static Function {
    if *function == FUNCTIONS[0] { &GREATEST_NUMBER } else { &LEAST_NUMBER }
}

fn double(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::double(), Coercibility::Numeric))
}

/// Returns the greatest or least number, or the number that the greatest or least date is.
fn number(call: &Call<'_>, wanted: Ordering) -> Value {
    if call.args.iter().any(is_of_date) {
        let (moments, has_time) = moments(call);
        let number = match has_time {
            true => number_of_datetime(&best_datetime(&moments, wanted)),
            false => best_date(&moments, wanted).map_or(NO_DATE_AS_NUMBER, |best| number_of_date(&best)),
        };
        return Value::Double(number);
    }
    let numbers = call.values.iter().map(|value| double_of(&number_in(value, call.ctx)));
    let best = numbers.reduce(|best, number| match number.partial_cmp(&best) {
        Some(order) if order == wanted => number,
        _ => best,
    });
    best.map_or(Value::Null, Value::Double)
}

fn number_of_date(at: &DateTime) -> f64 {
    f64::from(u32::from(at.date.year) * 10_000 + u32::from(at.date.month) * 100 + u32::from(at.date.day))
}

fn number_of_datetime(at: &DateTime) -> f64 {
    let of_day = u32::from(at.hour) * 10_000 + u32::from(at.minute) * 100 + u32::from(at.second);
    number_of_date(at) * 1e6 + f64::from(of_day) + f64::from(at.micros) / 1e6
}

fn common(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    common_type(&args.iter().collect::<Vec<_>>())
}

/// Returns the least or greatest argument. Numbers and documents among texts are compared as texts.
/// With a date among them, all are dates.
fn extreme(call: &Call<'_>, wanted: Ordering) -> Result<Value> {
    let (ty, _) = common(call.args)?;
    if is_text(&ty) && call.args.iter().any(is_of_date) && !call.args.iter().any(Expr::is_json) {
        return extreme_moment(call, wanted);
    }
    let is_of_texts = |arg: &Expr| !arg.ty.is_temporal() || is_time(&arg.ty);
    let as_texts = ty.code == TypeCode::Json || is_text(&ty) && call.args.iter().all(is_of_texts);
    let order_of_texts =
        if call.args.iter().any(Expr::is_json) { collation::UTF8MB4_BIN } else { ty.collation };
    // Of equal texts MySQL takes the last one for the greatest, and MariaDB the first one.
    let takes_equal = as_texts && wanted == Ordering::Greater && !call.ctx.variables.of_mariadb;
    let mut best = 0;
    for at in 1..call.values.len() {
        let order = match as_texts {
            true => Some(collation::compare_utf8mb4(order_of_texts, &call.bytes(at), &call.bytes(best))),
            false => compare(&call.values[at], &call.values[best], ty.collation, call.ctx)?,
        };
        if order == Some(wanted) || takes_equal && order == Some(Ordering::Equal) {
            best = at;
        }
    }
    if as_texts && ty.code != TypeCode::Json {
        return call.copied(&call.bytes(best));
    }
    match &*call.values[best] {
        // MySQL shows the number of bits, though the type of the result is BIT.
        Value::Bit { bits, .. } if ty.code == TypeCode::Bit => Ok(Value::UInt(*bits)),
        value => conform(std::borrow::Cow::Borrowed(value), &ty, call.ctx).map(|value| value.into_owned()),
    }
}

pub(in crate::expr) fn is_of_date(arg: &Expr) -> bool {
    matches!(arg.ty.code, TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2)
}

/// Returns the least or greatest of arguments that are all read as dates, as a text. Where an
/// argument is no date, the answers are those of MySQL 9.7, whose reading of it leaves marks: see
/// [`extreme_date`] and [`extreme_datetime`].
fn extreme_moment(call: &Call<'_>, wanted: Ordering) -> Result<Value> {
    let (moments, has_time) = moments(call);
    match has_time {
        true => extreme_datetime(call, &moments, wanted),
        false => Ok(extreme_date(&moments, wanted)),
    }
}

/// Reads the arguments as dates. Returns them, and whether they have a time.
fn moments(call: &Call<'_>) -> (Vec<Option<DateTime>>, bool) {
    let has_time = call.args.iter().any(|arg| is_of_date(arg) && arg.ty.code != TypeCode::Date);
    let moments = call.values.iter().map(|value| moment_of(value, has_time, call.ctx));
    (moments.collect(), has_time)
}

/// The number of [`extreme_date`]'s text for what is no date.
const NO_DATE_AS_NUMBER: f64 = 163_831_531.0;

/// Returns the least or greatest date as a text. What is no date is shown with all bits set.
fn extreme_date(moments: &[Option<DateTime>], wanted: Ordering) -> Value {
    const NO_DATE: &str = "16383-15-31";
    match best_date(moments, wanted) {
        None => Value::text(NO_DATE),
        Some(moment) => {
            let mut text = Vec::new();
            moment.date.write_text(&mut text);
            Value::Bytes(text)
        }
    }
}

/// Returns the least or greatest date. What is no date is later than every date in MySQL.
fn best_date(moments: &[Option<DateTime>], wanted: Ordering) -> Option<DateTime> {
    let mut best: Option<Option<DateTime>> = None;
    for moment in moments {
        let order = |best: &Option<DateTime>| match (moment, best) {
            (Some(moment), Some(best)) => moment.cmp(best),
            (moment, best) => best.is_some().cmp(&moment.is_some()),
        };
        if best.as_ref().is_none_or(|best| order(best) == wanted) {
            best = Some(*moment);
        }
    }
    best.flatten()
}

/// Returns the least or greatest date with a time. What is no date is the zero date.
fn best_datetime(moments: &[Option<DateTime>], wanted: Ordering) -> DateTime {
    let moments = moments.iter().map(|moment| moment.unwrap_or_default());
    let best = if wanted == Ordering::Less { moments.min() } else { moments.max() };
    best.unwrap_or_default()
}

/// Returns the least or greatest date with a time. What is no date is the zero date, and where the
/// zero date is the answer, MySQL compares the arguments as texts.
fn extreme_datetime(call: &Call<'_>, moments: &[Option<DateTime>], wanted: Ordering) -> Result<Value> {
    let best = best_datetime(moments, wanted);
    if best == DateTime::default() {
        return extreme_text(call, collation::UTF8MB4_0900_AI_CI, wanted);
    }
    let mut text = Vec::new();
    best.write_text(most_fsp(call.args), &mut text);
    Ok(Value::Bytes(text))
}

/// Returns the least or greatest of the arguments' texts.
fn extreme_text(call: &Call<'_>, order: u16, wanted: Ordering) -> Result<Value> {
    let mut best = 0;
    for at in 1..call.values.len() {
        if collation::compare_utf8mb4(order, &call.bytes(at), &call.bytes(best)) == wanted {
            best = at;
        }
    }
    call.copied(&call.bytes(best))
}

/// Reads an argument as a date, or as a date with a time if `has_time` is set.
fn moment_of(value: &Value, has_time: bool, ctx: &Context<'_>) -> Option<DateTime> {
    match has_time {
        true => datetime_of(value, ctx),
        false => date_of(value, ctx).map(DateTime::midnight),
    }
}
