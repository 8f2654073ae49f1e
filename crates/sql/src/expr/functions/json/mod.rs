//! Functions of JSON documents.

use super::{Function, bigint, truth_value};
use crate::error::SqlError;
use types::collation::BINARY;
use types::json::{self, JsonError};
use types::{TypeCode, Value};

pub(super) const FUNCTIONS: &[Function] = &[Function::new("json_valid", 1..=1, bigint, |call| {
    if matches!(&*call.values[0], Value::Json(_)) {
        return Ok(truth_value(true));
    }
    let ty = &call.args[0].ty;
    let is_text = ty.is_character() && ty.collation != BINARY || ty.code == TypeCode::Null;
    if !is_text {
        return Ok(truth_value(false));
    }
    match json::parse_text(&call.bytes(0)) {
        Ok(_) => Ok(truth_value(true)),
        Err(error) if error.complaint == JsonError::TOO_DEEP => Err(too_deep()),
        Err(_) => Ok(truth_value(false)),
    }
})];

/// MariaDB's `JSON_VALID`, which looks at the text of any value. No statement can write its name.
pub(crate) static MARIADB_JSON_VALID: Function =
    Function::new("json_valid of MariaDB", 1..=1, bigint, |call| {
        Ok(truth_value(json::mariadb::is_valid(&call.bytes(0))))
    });

/// Error 3157.
fn too_deep() -> SqlError {
    SqlError::new(3157, JsonError::TOO_DEEP)
}
