//! GREATEST and LEAST.

use super::super::cast::{date_of, datetime_of};
use super::super::value_type::{is_text, is_time};
use super::super::{Context, common_type, compare, conform};
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
    let mut best = 0;
    for at in 1..call.values.len() {
        let order = match as_texts {
            true => Some(collation::compare_utf8mb4(order_of_texts, &call.bytes(at), &call.bytes(best))),
            false => compare(&call.values[at], &call.values[best], ty.collation, call.ctx)?,
        };
        if order == Some(wanted) {
            best = at;
        }
    }
    if as_texts && ty.code != TypeCode::Json {
        return call.copied(&call.bytes(best));
    }
    conform(std::borrow::Cow::Borrowed(&*call.values[best]), &ty, call.ctx).map(|value| value.into_owned())
}

fn is_of_date(arg: &Expr) -> bool {
    matches!(arg.ty.code, TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2)
}

/// Returns the least or greatest of arguments that are all read as dates, as a text. An argument
/// that is no date is none of the two.
fn extreme_moment(call: &Call<'_>, wanted: Ordering) -> Result<Value> {
    let has_time = call.args.iter().any(|arg| is_of_date(arg) && arg.ty.code != TypeCode::Date);
    let mut best: Option<DateTime> = None;
    for value in call.values.iter() {
        let Some(at) = moment_of(value, has_time, call.ctx) else { continue };
        if best.is_none_or(|best| at.cmp(&best) == wanted) {
            best = Some(at);
        }
    }
    let Some(best) = best else { return Ok(Value::Null) };
    let mut text = Vec::new();
    match has_time {
        true => best.write_text(most_fsp(call.args), &mut text),
        false => best.date.write_text(&mut text),
    }
    Ok(Value::Bytes(text))
}

/// Reads an argument as a date, or as a date with a time if `has_time` is set.
fn moment_of(value: &Value, has_time: bool, ctx: &Context<'_>) -> Option<DateTime> {
    match has_time {
        true => datetime_of(value, ctx),
        false => date_of(value, ctx).map(DateTime::midnight),
    }
}
