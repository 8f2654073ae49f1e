//! Converts values of documents to SQL values.

use super::super::super::cast;
use super::super::{Call, Coercibility, Function, bigint};
use super::argument::{check_type, document, made, no_path};
use crate::error::{Result, SqlError};
use crate::expr::Context;
use crate::expr::documents::{Kind, converted, damaged, is_negative, misfit, too_deep};
use types::convert::DateModes;
use types::json::{self as documents, Node, Path};
use types::{ColumnType, Date, Decimal, TypeCode, Value, Zone};

/// A function that converts a document to a value of the second argument's type. The value of the
/// second argument is the name that messages show. Statements cannot write this function's name.
pub(crate) static AS_VALUE: Function = Function::new(
    "json as a value",
    2..=2,
    |args| Ok((args[1].ty.clone(), Coercibility::Implicit)),
    |call| {
        let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
        let value = converted(&node, Kind::of(&call.args[1].ty), call.ctx.dates()).unwrap_or_else(|misfit| {
            let (code, text) = misfit.complaint(&call.string(1));
            call.ctx.warn(code, text);
            misfit.nearest
        });
        Ok(value)
    },
);

/// A function that converts an SQL value to a document. Statements cannot write its name.
pub(crate) static AS_JSON: Function =
    Function::new("value as json", 1..=1, bigint, |call| made(&super::argument::scalar(call, 0)?, call.ctx));

/// What JSON_VALUE and JSON_TABLE return where they find no value, or none that fits: NULL, an
/// error, or a default value.
pub(crate) const NULL: i64 = 0;
pub(crate) const ERROR: i64 = 1;
pub(crate) const DEFAULT: i64 = 2;

/// `JSON_VALUE(document, path RETURNING type ...)`. After the document and the path its arguments
/// are the name of the type, as a value of that type, the behaviour where nothing is found with its
/// default value, and the behaviour on errors with its default value.
pub(crate) static JSON_VALUE: Function = Function::new(
    "json_value",
    7..=7,
    |args| Ok((args[2].ty.clone(), Coercibility::Implicit)),
    |call| {
        let otherwise = |at: usize, error: SqlError| match *call.values[at] {
            Value::Int(ERROR) => Err(error),
            Value::Int(DEFAULT) => Ok(call.values[at + 1].clone().into_owned()),
            _ => Ok(Value::Null),
        };
        check_type(call, 0, call.name)?;
        let (Some(path), false) = (path_of(call)?, call.values[0].is_null()) else { return Ok(Value::Null) };
        let found = match found_at(call, &path) {
            Ok(found) => found,
            Err(error) if matches!(error.code, 3141 | 3157 | 3967) => {
                if error.code == 3141 && !matches!(*call.values[5], Value::Int(ERROR)) {
                    call.ctx.warn(error.code, error.message.clone());
                }
                return otherwise(5, error);
            }
            Err(error) => return Err(error),
        };
        let Some(node) = found else {
            let text = "No value was found by 'json_value' on the specified path.";
            return otherwise(3, SqlError::new(3966, text));
        };
        if node == Node::Null {
            return Ok(Value::Null);
        }
        match returned(&node, &call.args[2].ty, call.ctx)? {
            Some(value) => Ok(value),
            None => {
                let text = format!("{} value is out of range in 'json_value'", call.string(2));
                otherwise(5, SqlError::new(1690, text))
            }
        }
    },
)
.sees_nulls();

fn path_of(call: &Call<'_>) -> Result<Option<Path>> {
    match call.values[1].is_null() {
        true => Ok(None),
        false => Path::parse(&call.bytes(1)).map(Some).map_err(no_path),
    }
}

/// Returns the one value that the path finds.
///
/// # Errors
/// Returns 3967 where it finds several values, and the errors of reading the document.
fn found_at(call: &Call<'_>, path: &Path) -> Result<Option<Node>> {
    if let (Value::Json(bytes), false) = (&*call.values[0], path.may_mean_several()) {
        return documents::read_at(bytes, path).ok_or_else(damaged);
    }
    let Some(node) = document(call, 0)? else { return Ok(None) };
    match path.find(&node).as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).clone())),
        _ => {
            let text = "More than one value was found by 'json_value' on the specified path.";
            Err(SqlError::new(3967, text))
        }
    }
}

/// Converts a value of a document to the type. `None` means that it is no value of the type.
fn returned(node: &Node, ty: &ColumnType, ctx: &Context<'_>) -> Result<Option<Value>> {
    let value = match (Kind::of(ty), ty.code) {
        (_, TypeCode::Json) => {
            if node.containers() > documents::MAX_DEPTH {
                return Err(too_deep());
            }
            return made(node, ctx).map(Some);
        }
        (Kind::Text, TypeCode::Year) => converted(node, Kind::Integer { unsigned: true }, ctx.dates()),
        (Kind::Text, _) => {
            let mut text = Vec::new();
            documents::write_unquoted(node, &mut text);
            ctx.charge_if_long(text.len())?;
            Ok(Value::Bytes(text))
        }
        (Kind::Integer { unsigned: true }, _) if is_negative(node) => misfit("INTEGER", Value::Null),
        (kind, _) => converted(node, kind, ctx.dates()),
    };
    let Ok(value) = value else { return Ok(None) };
    // Fractions of seconds are cut off here; a cast would round them.
    let value = match value {
        Value::Time(time) => Value::Time(time.truncate(ty.fsp())),
        Value::DateTime(at) => Value::DateTime(at.truncate(ty.fsp())),
        other => other,
    };
    let fits = match (&value, ty.code) {
        (Value::Bytes(text), TypeCode::Varchar | TypeCode::String) => {
            let id = if ty.collation == types::collation::BINARY {
                ty.collation
            } else {
                types::collation::UTF8MB4_BIN
            };
            types::collation::char_count(id, text) <= ty.chars() as usize
        }
        (Value::Decimal(n), TypeCode::NewDecimal) => {
            let limit = Decimal::largest(ty.precision(), ty.scale());
            n.with_scale(ty.scale()).is_some_and(|n| n.abs() <= limit)
        }
        (Value::Int(n), TypeCode::Year) => matches!(n, 0..=2155),
        (Value::UInt(n), TypeCode::Year) => matches!(n, 0..=2155),
        (Value::Date(date), _) => *date != Date::default() || !ctx.dates().no_zero_date,
        _ => true,
    };
    // A cast would fill the bytes up.
    let are_bytes = matches!(value, Value::Bytes(_)) && ty.collation == types::collation::BINARY;
    match fits {
        true if are_bytes => Ok(Some(value)),
        true => cast(&value, ty, ctx).map(Some),
        false => Ok(None),
    }
}

/// A function that returns the document of JSON_TABLE. Its name is the one in messages.
pub(crate) static JSON_TABLE_DOCUMENT: Function = Function::new("json_table", 1..=1, bigint, |call| {
    document(call, 0)?.map_or(Ok(Value::Null), |node| made(&node, call.ctx))
})
.sees_nulls();

/// Converts a value of a document to one of a column of JSON_TABLE.
///
/// # Errors
/// Returns 3666 for an array or an object, 3155 or 3156 for a value of another kind, and 3669 for a
/// value that does not fit the column.
pub(crate) fn stored(node: &Node, name: &str, ty: &ColumnType, dates: DateModes) -> Result<Value> {
    if ty.code == TypeCode::Json {
        return documents::write_document(node).map(Value::Json).ok_or_else(damaged);
    }
    if !node.is_scalar() {
        let text = format!("Can't store an array or an object in the scalar JSON_TABLE column '{name}'");
        return Err(SqlError::new(3666, text));
    }
    let value = match Kind::of(ty) {
        Kind::Text => {
            let mut text = Vec::new();
            documents::write_unquoted(node, &mut text);
            Value::Bytes(text)
        }
        kind => converted(node, kind, dates).map_err(|misfit| {
            let (code, text) = misfit.complaint(name);
            SqlError::new(code, text)
        })?,
    };
    let context = types::convert::Context { strict: true, zone: Zone::UTC, dates, of_mariadb: false };
    match types::convert::assign(&value, ty, context) {
        Ok((value, _)) => Ok(value),
        Err(_) => Err(SqlError::new(3669, format!("Value is out of range for JSON_TABLE's column '{name}'"))),
    }
}
