//! Reads values as numbers and computes with them: 64-bit integers with overflow errors, DECIMAL
//! and DOUBLE.

use super::{Context, text_of};
use crate::ast::BinaryOp;
use crate::error::{Result, SqlError};
use types::number::{double_prefix, integer_prefix};
use types::{Decimal, Value, Zone};

/// A value in numeric context.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Int(i64),
    UInt(u64),
    Decimal(Decimal),
    Double(f64),
}

/// Returns the number that a value is in numeric context. A text is a double. NULL, which callers
/// handle before, is 0.
pub(crate) fn number(value: &Value) -> Number {
    match value {
        Value::Null => Number::Int(0),
        Value::Int(n) => Number::Int(*n),
        Value::UInt(n) => Number::UInt(*n),
        Value::Float(n) => Number::Double(f64::from(*n)),
        Value::Double(n) => Number::Double(*n),
        Value::Decimal(n) => Number::Decimal(*n),
        Value::Bytes(text) => Number::Double(double_prefix(text).value),
        Value::Date(date) => Number::Int(i64::from(date.to_number())),
        Value::Time(time) => with_micros(time.to_number(), time.micros, time.negative),
        Value::DateTime(at) => with_micros(at.to_number() as i64, at.micros, false),
        Value::Timestamp { seconds, micros } => with_micros(
            types::DateTime::from_unix(*seconds, *micros, Zone::UTC).to_number() as i64,
            *micros,
            false,
        ),
        Value::Year(year) => Number::UInt(u64::from(*year)),
        Value::Bit { bits, .. } => Number::UInt(*bits),
        Value::Enum { index, .. } => Number::UInt(u64::from(*index)),
        Value::Set { bits, .. } => Number::UInt(*bits),
        Value::Json(document) => Number::Double(super::documents::double_of(document)),
    }
}

/// Does the same as [`number`], and warns about a text that is not as a whole a number.
pub(crate) fn number_in(value: &Value, ctx: &Context<'_>) -> Number {
    let Value::Bytes(text) = value else { return number(value) };
    let read = double_prefix(text);
    if read.overflow || !is_blank(&text[read.len..]) {
        ctx.warn_truncated("DOUBLE", value);
    }
    Number::Double(read.value)
}

/// Returns a value as a DECIMAL, with a warning for a text that is not as a whole a number.
pub(crate) fn decimal_in(value: &Value, ctx: &Context<'_>) -> Decimal {
    let Value::Bytes(text) = value else { return decimal_of(&number(value)) };
    let read = Decimal::parse_prefix(text);
    if !is_blank(&text[read.len..]) {
        ctx.warn_truncated("DECIMAL", value);
    }
    read.number
}

/// Returns a value as an integer in the joint range of BIGINT and BIGINT UNSIGNED. Of a text the
/// leading digits are read, with a warning when other characters follow: '1.5' is 1.
pub(crate) fn integer_in(value: &Value, ctx: &Context<'_>) -> i128 {
    let Value::Bytes(text) = value else {
        return rounded_moment(value, ctx).unwrap_or_else(|| integer_of(&number(value)));
    };
    let digits = text.iter().position(|b| matches!(b, b'.' | b'e' | b'E')).unwrap_or(text.len());
    let read = integer_prefix(&text[..digits]);
    if read.overflow || !is_blank(&text[read.len..]) {
        ctx.warn_truncated("INTEGER", value);
    }
    read.value
}

/// Returns a moment or a time with a fraction of a second as an integer: the fraction is rounded to
/// a second, which may be the first one of the next day. `None` for other values.
fn rounded_moment(value: &Value, ctx: &Context<'_>) -> Option<i128> {
    let modes = ctx.dates();
    let of_moment = |at: &types::DateTime| match modes.fit(at, 0) {
        Some(rounded) => i128::from(rounded.to_number()),
        None => {
            ctx.warn(1441, "Datetime function: datetime field overflow");
            i128::from(types::DateTime::midnight(at.date).to_number())
        }
    };
    match value {
        Value::DateTime(at) if at.micros > 0 => Some(of_moment(at)),
        Value::Timestamp { seconds, micros } if *micros > 0 => {
            Some(of_moment(&types::DateTime::from_unix(*seconds, *micros, Zone::UTC)))
        }
        Value::Time(time) if time.micros > 0 => Some(i128::from(modes.fit_time(time, 0).to_number())),
        _ => None,
    }
}

/// Reports whether the rest after a number is white space, which is ignored without a warning.
pub(super) fn is_blank(rest: &[u8]) -> bool {
    rest.iter().all(u8::is_ascii_whitespace)
}

fn with_micros(whole: i64, micros: u32, negative: bool) -> Number {
    if micros == 0 {
        return Number::Int(whole);
    }
    let text = format!("{}{}.{micros:06}", if negative { "-" } else { "" }, whole.unsigned_abs());
    Number::Decimal(Decimal::parse_prefix(text.as_bytes()).number)
}

/// Returns the number as a DECIMAL. A double out of its range becomes the largest or smallest one.
pub(crate) fn decimal_of(number: &Number) -> Decimal {
    match number {
        Number::Int(n) => Decimal::from(*n),
        Number::UInt(n) => Decimal::from(*n),
        Number::Decimal(n) => *n,
        Number::Double(n) => Decimal::from_f64(*n).unwrap_or_else(|| {
            let largest = Decimal::largest(65, 0);
            if *n < 0.0 { largest.negate() } else { largest }
        }),
    }
}

/// Returns the number as a double.
pub(crate) fn double_of(number: &Number) -> f64 {
    match number {
        Number::Int(n) => *n as f64,
        Number::UInt(n) => *n as f64,
        Number::Decimal(n) => n.to_f64(),
        Number::Double(n) => *n,
    }
}

/// Returns the number as an integer, rounded, and clipped to the joint range of BIGINT and BIGINT
/// UNSIGNED.
pub(crate) fn integer_of(number: &Number) -> i128 {
    match number {
        Number::Int(n) => i128::from(*n),
        Number::UInt(n) => i128::from(*n),
        Number::Decimal(n) => match (n.to_i64(), n.to_u64()) {
            (Some(n), _) => i128::from(n),
            (None, Some(n)) => i128::from(n),
            _ if n.is_negative() => i128::from(i64::MIN),
            _ => i128::from(u64::MAX),
        },
        // `as` saturates, so the clamp never sees a wrapped number.
        Number::Double(n) => (n.round_ties_even() as i128).clamp(i128::from(i64::MIN), i128::from(u64::MAX)),
    }
}

/// Returns the 64 bits of a value in a bit operation. `None` means NULL.
pub(crate) fn bits(value: &Value, ctx: &Context<'_>) -> Option<u64> {
    if value.is_null() {
        return None;
    }
    Some(match value {
        Value::Decimal(_) | Value::Double(_) | Value::Float(_) => saturated(value, ctx) as u64,
        _ => integer_in(value, ctx) as u64,
    })
}

/// Returns a number with a fraction as the nearest integer of the range of BIGINT, which is how
/// MySQL reads it where it wants an integer.
pub(super) fn saturated(value: &Value, ctx: &Context<'_>) -> i128 {
    let wide = integer_in(value, ctx);
    let nearest = wide.clamp(i64::MIN.into(), i64::MAX.into());
    if nearest != wide && matches!(value, Value::Decimal(_)) {
        ctx.warn_truncated("DECIMAL", value);
    }
    nearest
}

/// Returns an operand as an out-of-range message shows it.
fn shown(value: &Value) -> String {
    String::from_utf8_lossy(&text_of(value)).into_owned()
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::IntegerDivide => "DIV",
        _ => "%",
    }
}

fn overflow(type_name: &str, op: BinaryOp, a: &Value, b: &Value) -> SqlError {
    SqlError::out_of_range(type_name, format!("({} {} {})", shown(a), symbol(op), shown(b)))
}

/// Refuses the difference of two decimals without a sign that is below zero.
///
/// # Errors
/// Returns 1690, unless the SQL mode says that differences have a sign.
pub(super) fn check_difference(difference: &Value, a: &Value, b: &Value, ctx: &Context<'_>) -> Result<()> {
    match difference {
        Value::Decimal(n) if n.is_negative() && !ctx.variables.sql_mode.no_unsigned_subtraction() => {
            Err(overflow("DECIMAL UNSIGNED", BinaryOp::Subtract, a, b))
        }
        _ => Ok(()),
    }
}

/// Computes `a op b`.
pub(crate) fn binary(op: BinaryOp, a: &Value, b: &Value, ctx: &Context<'_>) -> Result<Value> {
    if a.is_null() || b.is_null() {
        return Ok(Value::Null);
    }
    match op {
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => {
            let (a, b) = (bits(a, ctx).unwrap_or(0), bits(b, ctx).unwrap_or(0));
            return Ok(Value::UInt(match op {
                BinaryOp::BitAnd => a & b,
                BinaryOp::BitOr => a | b,
                BinaryOp::BitXor => a ^ b,
                BinaryOp::ShiftLeft => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
                _ => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0),
            }));
        }
        _ => {}
    }
    if op == BinaryOp::IntegerDivide {
        return integer_divide(a, b, ctx);
    }
    let (x, y) = (operand(a, ctx), operand(b, ctx));
    let is_double = matches!(x, Number::Double(_)) || matches!(y, Number::Double(_));
    let is_decimal = matches!(x, Number::Decimal(_)) || matches!(y, Number::Decimal(_));
    match op {
        _ if is_double => double(op, double_of(&x), double_of(&y), a, b, ctx),
        BinaryOp::Divide => decimal(op, &decimal_of(&x), &decimal_of(&y), a, b, ctx),
        _ if is_decimal => decimal(op, &decimal_of(&x), &decimal_of(&y), a, b, ctx),
        _ => integer(op, &x, &y, a, b, ctx),
    }
}

/// Returns the number that a value is in arithmetic. A member of an ENUM or a SET is a text, and
/// the number of a text has a floating point.
fn operand(value: &Value, ctx: &Context<'_>) -> Number {
    match value {
        Value::Enum { .. } | Value::Set { .. } => Number::Double(double_of(&number(value))),
        value => number_in(value, ctx),
    }
}

fn division_by_zero(ctx: &Context<'_>) -> Result<Value> {
    if ctx.variables.sql_mode.error_for_division_by_zero() {
        if ctx.strict && !ctx.lenient.get() {
            return Err(SqlError::new(1365, "Division by 0"));
        }
        ctx.warn(1365, "Division by 0");
    }
    Ok(Value::Null)
}

fn integer(op: BinaryOp, x: &Number, y: &Number, a: &Value, b: &Value, ctx: &Context<'_>) -> Result<Value> {
    // A remainder has the sign of the dividend.
    let is_of_both = op != BinaryOp::Modulo;
    let unsigned = matches!(x, Number::UInt(_)) || is_of_both && matches!(y, Number::UInt(_));
    let (x, y) = (integer_of(x), integer_of(y));
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Subtract => x - y,
        BinaryOp::Multiply => x.saturating_mul(y),
        _ if y == 0 => return division_by_zero(ctx),
        _ => x % y,
    };
    let unsigned =
        unsigned && !(op == BinaryOp::Subtract && ctx.variables.sql_mode.no_unsigned_subtraction());
    if unsigned {
        u64::try_from(result).map(Value::UInt).map_err(|_| overflow("BIGINT UNSIGNED", op, a, b))
    } else {
        i64::try_from(result).map(Value::Int).map_err(|_| overflow("BIGINT", op, a, b))
    }
}

fn decimal(op: BinaryOp, x: &Decimal, y: &Decimal, a: &Value, b: &Value, ctx: &Context<'_>) -> Result<Value> {
    let result = match op {
        BinaryOp::Add => x.add(y),
        BinaryOp::Subtract => x.sub(y),
        BinaryOp::Multiply => x.mul(y),
        _ if y.is_zero() => return division_by_zero(ctx),
        BinaryOp::Divide => x.div(y, ctx.variables.div_precision_increment),
        _ => x.rem(y),
    };
    result.map(Value::Decimal).ok_or_else(|| overflow("DECIMAL", op, a, b))
}

fn double(op: BinaryOp, x: f64, y: f64, a: &Value, b: &Value, ctx: &Context<'_>) -> Result<Value> {
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Subtract => x - y,
        BinaryOp::Multiply => x * y,
        _ if y == 0.0 => return division_by_zero(ctx),
        BinaryOp::Divide => x / y,
        _ => x % y,
    };
    if result.is_finite() { Ok(Value::Double(result)) } else { Err(overflow("DOUBLE", op, a, b)) }
}

fn integer_divide(a: &Value, b: &Value, ctx: &Context<'_>) -> Result<Value> {
    let exactly = |value: &Value| match value {
        Value::Bytes(_) => Number::Decimal(decimal_in(value, ctx)),
        other => number(other),
    };
    let (x, y) = (&exactly(a), &exactly(b));
    let unsigned = matches!(x, Number::UInt(_)) || matches!(y, Number::UInt(_));
    let exact = |n: &Number| matches!(n, Number::Int(_) | Number::UInt(_));
    let result = if exact(x) && exact(y) {
        let (x, y) = (integer_of(x), integer_of(y));
        if y == 0 {
            return division_by_zero(ctx);
        }
        x / y
    } else {
        let (x, y) = (decimal_of(x), decimal_of(y));
        if y.is_zero() {
            return division_by_zero(ctx);
        }
        // The dividend without its remainder is a multiple of the divisor, so the division has
        // nothing to round.
        let quotient = x.rem(&y).and_then(|rest| x.sub(&rest)).and_then(|multiple| multiple.div(&y, 0));
        let whole = quotient.map(|quotient| quotient.truncate(0));
        // A quotient that 64 bits do not hold becomes an error below.
        whole.map_or(i128::MAX, |whole| match (whole.to_i64(), whole.to_u64()) {
            (Some(n), _) => i128::from(n),
            (None, Some(n)) => i128::from(n),
            (None, None) => i128::MAX,
        })
    };
    if unsigned {
        u64::try_from(result)
            .map(Value::UInt)
            .map_err(|_| overflow("BIGINT UNSIGNED", BinaryOp::IntegerDivide, a, b))
    } else {
        i64::try_from(result).map(Value::Int).map_err(|_| overflow("BIGINT", BinaryOp::IntegerDivide, a, b))
    }
}

/// Computes `-value`.
pub(crate) fn negate(value: &Value, ctx: &Context<'_>) -> Result<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    Ok(match operand(value, ctx) {
        Number::Int(n) => match n.checked_neg() {
            Some(n) => Value::Int(n),
            None => return Err(SqlError::out_of_range("BIGINT", format!("-({n})"))),
        },
        Number::UInt(n) if n <= 1 << 63 => Value::Int((n as i64).wrapping_neg()),
        Number::UInt(n) => return Err(SqlError::out_of_range("BIGINT", format!("-({n})"))),
        Number::Decimal(n) => Value::Decimal(n.negate()),
        Number::Double(n) => Value::Double(-n),
    })
}
