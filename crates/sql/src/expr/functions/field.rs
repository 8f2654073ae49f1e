//! FIELD.

use super::super::arithmetic::number_in;
use super::super::infer::{aggregate_collations, of_operation};
use super::super::{double_of, is_match, is_number};
use super::Call;
use crate::error::Result;
use crate::expr::Expr;
use std::borrow::Cow;
use types::{TypeCode, Value};

/// The place of the first argument among the others, which are all compared as values of one kind:
/// as texts if no argument is a number, as exact numbers if all are those, and else as DOUBLE.
pub(super) fn field(call: &Call<'_>) -> Result<Value> {
    let is_exact =
        |arg: &Expr| is_number(&arg.ty) && !matches!(arg.ty.code, TypeCode::Float | TypeCode::Double);
    let has_number = call.args.iter().any(|arg| is_number(&arg.ty));
    let as_doubles = has_number && !call.args.iter().all(is_exact);
    let double = |value: &Value| Value::Double(double_of(&number_in(value, call.ctx)));
    let wanted: &Value = &call.values[0];
    if wanted.is_null() {
        return Ok(Value::Int(0));
    }
    let wanted = if as_doubles { Cow::Owned(double(wanted)) } else { Cow::Borrowed(wanted) };
    for (at, value) in call.values.iter().enumerate().skip(1) {
        let pair = [&call.args[0], &call.args[at]].into_iter();
        let (id, _) = aggregate_collations(pair).map_err(|error| of_operation(error, "field"))?;
        let is_found = match as_doubles && !value.is_null() {
            true => is_match(&wanted, &double(value), id, call.ctx)?,
            false => is_match(&wanted, value, id, call.ctx)?,
        };
        if is_found {
            return Ok(Value::Int(at as i64));
        }
    }
    Ok(Value::Int(0))
}
