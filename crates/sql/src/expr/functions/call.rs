//! Helpers with which functions read the arguments of a call, and the types that many results have.

use super::super::node::{Call, Coercibility, Expr, Function};
use super::super::text::text_as;
use super::super::value_type::{BIGINT_WIDTH, integer_type, length_in, text_length, text_type};
use super::super::{Number, arithmetic, infer};
use crate::error::{Result, SqlError};
use std::borrow::Cow;
use types::{ColumnType, TypeCode, Value, collation};

impl Call<'_> {
    /// Reports whether the function may make a text of `bytes` bytes. Otherwise its result is NULL,
    /// with a warning, or with an error (1301) in a statement that changes rows in strict mode.
    /// Every function whose text can be longer than its arguments calls this before it makes any of
    /// it.
    pub(in crate::expr) fn may_make(&self, bytes: usize, function: &str) -> Result<bool> {
        let limit = self.ctx.variables.max_allowed_packet;
        if bytes <= limit {
            return self.check_room(bytes).map(|()| true);
        }
        let text = format!("Result of {function}() was larger than max_allowed_packet ({limit}) - truncated");
        if self.ctx.strict {
            return Err(SqlError::new(1301, text));
        }
        self.ctx.warn(1301, text);
        Ok(false)
    }

    /// Charges `bytes` for a result, for functions that have no other limit in MySQL.
    ///
    /// # Errors
    /// Returns the errors of [`crate::memory::Charge::add`] when there is no memory, and 1317 when
    /// the statement is to end.
    pub(in crate::expr) fn check_room(&self, bytes: usize) -> Result<()> {
        self.ctx.charge_if_long(bytes)
    }

    /// Returns a part of an argument, or all of it, as the result.
    pub(in crate::expr) fn copied(&self, bytes: &[u8]) -> Result<Value> {
        self.check_room(bytes.len())?;
        Ok(text(bytes))
    }

    pub(in crate::expr) fn is_given(&self, at: usize) -> bool {
        at < self.values.len()
    }

    /// Returns the argument as text, with the digits and the form of its type.
    pub(in crate::expr) fn bytes(&self, at: usize) -> Cow<'_, [u8]> {
        let ty = &self.args[at].ty;
        match &*self.values[at] {
            stamp @ Value::Timestamp { .. } => {
                Cow::Owned(text_as(&stamp.clone().in_zone(self.ctx.zone()), ty).into_owned())
            }
            value => text_as(value, ty),
        }
    }

    /// Does the same as [`Call::bytes`], but characters are encoded in the argument's own character
    /// set.
    pub(in crate::expr) fn stored(&self, at: usize) -> Cow<'_, [u8]> {
        let bytes = self.bytes(at);
        let ty = &self.args[at].ty;
        let has_ascii = collation::charset_of(ty.collation).has_ascii();
        if !ty.is_character() || (has_ascii && bytes.is_ascii()) {
            return bytes;
        }
        match collation::from_utf8mb4(ty.collation, &bytes) {
            Some(Cow::Owned(stored)) => Cow::Owned(stored),
            // The bytes are the same, or the text has characters that its character set lacks,
            // because its collation was changed.
            _ => bytes,
        }
    }

    pub(in crate::expr) fn string(&self, at: usize) -> String {
        String::from_utf8_lossy(&self.bytes(at)).into_owned()
    }

    /// Returns the argument where a number is wanted: a literal such as `x'1F'` is one then.
    fn numeric(&self, at: usize) -> Cow<'_, Value> {
        match self.args[at].literal_number() {
            Some(number) => Cow::Owned(number),
            None => Cow::Borrowed(&*self.values[at]),
        }
    }

    /// Returns the argument as a 64-bit integer, rounded and clipped.
    pub(in crate::expr) fn integer(&self, at: usize) -> i64 {
        let wide = arithmetic::integer_in(&self.numeric(at), self.ctx);
        i64::try_from(wide).unwrap_or(i64::MAX)
    }

    pub(in crate::expr) fn number(&self, at: usize) -> Number {
        arithmetic::number_in(&self.numeric(at), self.ctx)
    }

    pub(in crate::expr) fn double(&self, at: usize) -> f64 {
        arithmetic::double_of(&self.number(at))
    }

    /// Returns the argument's 64 bits, which are 0 for NULL.
    pub(in crate::expr) fn bits(&self, at: usize) -> u64 {
        arithmetic::bits(&self.numeric(at), self.ctx).unwrap_or(0)
    }

    pub(in crate::expr) fn decimal(&self, at: usize) -> types::Decimal {
        arithmetic::decimal_in(&self.numeric(at), self.ctx)
    }

    /// Reports whether the argument is a binary text, in which each byte is a character.
    pub(in crate::expr) fn is_binary(&self, at: usize) -> bool {
        let ty = &self.args[at].ty;
        ty.collation == collation::BINARY
            && matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob)
    }
}

pub(in crate::expr) fn bigint(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((integer_type(BIGINT_WIDTH, false), Coercibility::Numeric))
}

/// Returns the type of an integer whose text, with its sign, has at most `WIDTH` characters.
pub(in crate::expr) fn integer<const WIDTH: u8>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((integer_type(WIDTH, false), Coercibility::Numeric))
}

pub(in crate::expr) fn unsigned(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((integer_type(BIGINT_WIDTH, true), Coercibility::Numeric))
}

/// Does what [`integer`] does for an unsigned integer.
pub(in crate::expr) fn unsigned_integer<const WIDTH: u8>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((integer_type(WIDTH, true), Coercibility::Numeric))
}

pub(in crate::expr) fn double(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::double(), Coercibility::Numeric))
}

/// Returns the type of a text that is as long as all arguments together.
pub(in crate::expr) fn joined(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let (id, coercibility) = infer::aggregate_collations(args.iter())?;
    let chars = args.iter().fold(0u32, |sum, arg| sum.saturating_add(length_in(&arg.ty, id)));
    Ok((text_type(chars, id), coercibility))
}

/// Returns the type of a text that is as long as the first argument.
pub(in crate::expr) fn like_first(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let (id, coercibility) = infer::aggregate_collations(args[..1].iter())?;
    Ok((text_type(text_length(&args[0].ty), id), coercibility))
}

/// Returns the type of a text of unknown length.
pub(in crate::expr) fn long_text(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let (id, coercibility) = infer::aggregate_collations(args.iter())?;
    Ok((ColumnType::longtext(id), coercibility))
}

pub(in crate::expr) fn system_text<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, collation::UTF8MB4_0900_AI_CI), Coercibility::SystemConstant))
}

/// Returns the type of a text of the server in utf8mb3, the character set that MySQL has had for
/// such texts for long.
pub(in crate::expr) fn old_system_text<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, collation::UTF8MB3_GENERAL_CI), Coercibility::SystemConstant))
}

pub(in crate::expr) fn ascii_text<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, collation::UTF8MB4_0900_AI_CI), Coercibility::Literal))
}

/// A function that returns the bytes that sort like the texts of a column, or NULL for a text that
/// is no value of the column's type. Statements cannot write its name.
pub(crate) static TEXT_ORDER: Function = Function::new(
    "text order",
    1..=1,
    |args| Ok((args[0].ty.clone(), Coercibility::Numeric)),
    |call| {
        let (mut stored, mut order) = (Vec::new(), Vec::new());
        let form = call.args[0].ty.text_form();
        Ok(match form.filter(|form| form.read_text(&call.bytes(0), &mut stored)) {
            Some(form) => {
                form.write_order(&stored, &mut order);
                Value::Bytes(order)
            }
            None => Value::Null,
        })
    },
);

/// A function that returns the text of a value that is no text. Statements cannot write its name.
pub(crate) static AS_TEXT: Function = Function::new("as text", 1..=1, like_first, |call| {
    if call.values[0].is_null() { Ok(Value::Null) } else { call.copied(&call.bytes(0)) }
});

/// A function that returns its first argument. The second one is the name of the column that the
/// first one is, for messages. Statements cannot write its name.
pub(crate) static NAMED: Function = Function::new(
    "named",
    2..=2,
    |args| Ok((args[0].ty.clone(), args[0].coercibility)),
    |call| call.ctx.copied(&call.values[0]),
)
.sees_nulls();

/// A function that returns the number that a text begins with, as a text, and `0` where it begins
/// with none. Statements cannot write its name.
pub(crate) static NUMBER_IN_TEXT: Function = Function::new("number in text", 1..=1, like_first, |call| {
    let text = call.bytes(0);
    Ok(Value::Bytes(match number_at_beginning(&text) {
        [] => b"0".to_vec(),
        number => number.to_vec(),
    }))
});

/// Returns the part at the beginning of a text that is a number: a sign, digits, a point with
/// digits, and an exponent. It is empty where there are no digits.
fn number_at_beginning(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = |at: usize| usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let begin = sign(0);
    let whole = digits(begin);
    let mut end = begin + whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return &[];
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + sign(end + 1);
        if exponent <= text.len() && digits(exponent) > 0 {
            end = exponent + digits(exponent);
        }
    }
    &text[..end]
}

/// A function that returns the value of a CHAR column with spaces up to the column's length.
/// Statements cannot write its name.
pub(crate) static PADDED: Function = Function::new("padded", 1..=1, like_first, |call| {
    let mut text = call.bytes(0).into_owned();
    fill_with_spaces(&mut text, text_length(&call.args[0].ty) as usize);
    Ok(Value::Bytes(text))
});

/// Appends spaces until a text has `chars` characters.
pub(crate) fn fill_with_spaces(text: &mut Vec<u8>, chars: usize) {
    // Texts are kept in utf8mb4, where each character has one byte that does not go on with
    // another one.
    let has = text.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    text.resize(text.len() + chars.saturating_sub(has), b' ');
}

/// A function that returns the day 0 of the month 0 of a year: what a YEAR is beside a date.
/// Statements cannot write its name.
pub(crate) static DATE_OF_YEAR: Function = Function::new(
    "date of year",
    1..=1,
    |_| Ok((ColumnType::date(), Coercibility::Numeric)),
    |call| {
        let year = u16::try_from(call.integer(0)).ok();
        Ok(year.and_then(|year| types::Date::new(year, 0, 0)).map_or(Value::Null, Value::Date))
    },
);

pub(in crate::expr) fn truth_value(value: bool) -> Value {
    Value::Int(i64::from(value))
}

pub(in crate::expr) fn text(text: impl AsRef<[u8]>) -> Value {
    Value::Bytes(text.as_ref().to_vec())
}

pub(in crate::expr) fn wrong_arguments(function: &str) -> SqlError {
    SqlError::new(1210, format!("Incorrect arguments to {function}"))
}
