//! CHAR, and bytes on their way into a text column.

use super::{Call, Coercibility, Function};
use crate::expr::infer::not_convertible;
use crate::expr::recode::{in_form_of, well_formed};
use types::{ColumnType, Value, collation};

/// Bytes that each number is at most, and characters that MySQL leaves room for.
const MOST_BYTES: usize = 4;

pub(super) const FUNCTIONS: &[Function] = &[Function::new(
    "char",
    1..=usize::MAX,
    |args| Ok((ColumnType::varbinary((MOST_BYTES * args.len()) as u32), Coercibility::Literal)),
    |call| Ok(Value::Bytes(bytes_of(call, call.values.len(), 1))),
)
.sees_nulls()];

/// `CHAR(number, ... USING charset)`: behind the numbers stands a text whose type is that of the
/// result.
pub(crate) static CHAR_USING: Function = Function::new(
    "char",
    2..=usize::MAX,
    |args| {
        let id = args.last().map_or(collation::BINARY, |result| result.ty.collation);
        Ok((ColumnType::varchar((MOST_BYTES * (args.len() - 1)) as u32, id), Coercibility::Literal))
    },
    |call| {
        let numbers = call.values.len() - 1;
        let id = call.args[numbers].ty.collation;
        let charset = collation::charset_of(id);
        let bytes = bytes_of(call, numbers, usize::from(charset.min_bytes_per_char()));
        let characters = well_formed(&bytes, id, call.ctx);
        Ok(characters.map_or(Value::Null, |text| Value::Bytes(collation::to_utf8mb4(id, text).into_owned())))
    },
)
.sees_nulls();

/// Returns the characters that a column stores of bytes of no character set. The second argument
/// has the column's collation. Statements cannot write its name.
pub(crate) static CHARACTERS_FOR_COLUMN: Function = Function::new(
    "characters for a column",
    2..=2,
    |args| Ok((args[1].ty.clone(), Coercibility::Literal)),
    |call| Ok(Value::Bytes(collation::characters_for_column(call.args[1].ty.collation, &call.bytes(0)))),
);

/// Returns the bytes of a UUID or an address, or what such bytes are. The second argument has the
/// column's type. Statements cannot write its name.
pub(crate) static FORM_FOR_COLUMN: Function = Function::new(
    "form for a column",
    2..=2,
    |args| Ok((args[1].ty.clone(), Coercibility::Literal)),
    |call| Ok(Value::Bytes(in_form_of(&call.bytes(0), &call.args[0].ty, &call.args[1].ty))),
);

/// Returns bytes that have to be characters of utf8mb4. Statements cannot write its name.
///
/// # Errors
/// Returns 3854 for bytes that are none, unless a MariaDB source has taken them.
pub(crate) static CHECKED_CHARACTERS: Function = Function::new(
    "checked characters",
    1..=1,
    |args| Ok((args[0].ty.clone(), args[0].coercibility)),
    |call| match &*call.values[0] {
        Value::Bytes(bytes) if std::str::from_utf8(bytes).is_err() && !call.ctx.variables.of_mariadb => {
            Err(not_convertible(bytes, "binary", "utf8mb4"))
        }
        value => Ok(value.clone()),
    },
);

/// The bytes of the first so many numbers without the zeros in front, each a multiple of `unit`
/// bytes.
fn bytes_of(call: &Call<'_>, numbers: usize, unit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for at in (0..numbers).filter(|at| !call.values[*at].is_null()) {
        let code = (call.bits(at) as u32).to_be_bytes();
        let zeros = code.iter().take_while(|b| **b == 0).count().min(MOST_BYTES - 1);
        let used = (MOST_BYTES - zeros).next_multiple_of(unit);
        out.extend_from_slice(&code[MOST_BYTES - used.min(MOST_BYTES)..]);
    }
    out
}
