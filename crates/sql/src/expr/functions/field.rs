//! FIELD.

use super::super::arithmetic::number_in;
use super::super::infer::{aggregate_collations, of_operation};
use super::super::{double_of, is_match, is_number, is_text, text_collation};
use super::Call;
use crate::error::Result;
use crate::expr::Expr;
use std::borrow::Cow;
use types::{TypeCode, Value};

/// `ER_CANNOT_CONVERT_STRING`.
const CANNOT_CONVERT: u16 = 3854;

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
    // MySQL compares texts in the collation of the first one, whatever the others have, and MariaDB
    // in the one that prevails.
    let shared = match call.ctx.variables.of_mariadb {
        true => Some(aggregate_collations(call.args.iter()).map_err(|error| of_operation(error, "field"))?.0),
        false => is_text(&call.args[0].ty).then(|| text_collation(&call.args[0].ty)),
    };
    for (at, value) in call.values.iter().enumerate().skip(1) {
        let id = shared.unwrap_or_else(|| text_collation(&call.args[at].ty));
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

/// Checks that literals among the arguments are characters of the others' character sets.
///
/// # Errors
/// Returns 3854 (`ER_CANNOT_CONVERT_STRING`). Collations that do not go together are no error.
pub(crate) fn check_field(args: &[Expr]) -> Result<()> {
    match aggregate_collations(args.iter()) {
        Err(error) if error.code == CANNOT_CONVERT => Err(error),
        _ => Ok(()),
    }
}
