//! Functions on numbers.

use super::super::arithmetic::{double_of, integer_of};
use super::super::{BIGINT_WIDTH, Node, Number, double_with, integer_type, number, random};
use super::byte_bits::is_byte_string;
use super::{Call, Coercibility, Function, ascii_text, bigint, double, integer};
use crate::error::{Result, SqlError};
use types::decimal::MAX_COLUMN_SCALE;
use types::{ColumnType, TypeCode, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("abs", 1..=1, like_first_number, |call| {
        Ok(match call.number(0) {
            Number::Int(n) => match n.checked_abs() {
                Some(n) => Value::Int(n),
                None => return Err(SqlError::out_of_range("BIGINT", format!("abs({n})"))),
            },
            Number::UInt(n) => Value::UInt(n),
            Number::Decimal(n) => Value::Decimal(n.abs()),
            Number::Double(n) => Value::Double(n.abs()),
        })
    })
    .null_by_arguments(),
    Function::new("sign", 1..=1, bigint, |call| {
        Ok(Value::Int(match call.number(0) {
            Number::Int(n) => n.signum(),
            Number::UInt(n) => i64::from(n > 0),
            other => match double_of(&other) {
                n if n > 0.0 => 1,
                n if n < 0.0 => -1,
                _ => 0,
            },
        }))
    })
    .null_by_arguments(),
    Function::new("round", 1..=2, rounded, |call| round(call, true)).null_by_arguments(),
    Function::new("truncate", 2..=2, truncated, |call| round(call, false)).null_by_arguments(),
    Function::new("floor", 1..=1, whole, |call| {
        Ok(match call.number(0) {
            Number::Decimal(n) => integer_or_decimal(&n.floor()),
            Number::Double(n) => Value::Double(n.floor()),
            exact => integer_value(&exact),
        })
    })
    .null_by_arguments(),
    Function::new("ceiling", 1..=1, whole, |call| {
        Ok(match call.number(0) {
            Number::Decimal(n) => integer_or_decimal(&n.ceil()),
            Number::Double(n) => Value::Double(n.ceil()),
            exact => integer_value(&exact),
        })
    })
    .null_by_arguments(),
    Function::new("mod", 2..=2, remainder, |call| {
        super::super::arithmetic::binary(
            crate::ast::BinaryOp::Modulo,
            &call.values[0],
            &call.values[1],
            call.ctx,
        )
    }),
    Function::new("power", 2..=2, double, |call| finite(call.double(0).powf(call.double(1)), "pow")),
    Function::new("sqrt", 1..=1, double, |call| Ok(nan_is_null(call.double(0).sqrt()))),
    Function::new("exp", 1..=1, double, |call| finite(call.double(0).exp(), "exp")),
    Function::new("ln", 1..=1, double, |call| Ok(logarithm(call, call.double(0).ln()))),
    Function::new("log", 1..=2, double, |call| {
        if call.is_given(1) {
            let base = call.double(0);
            if base <= 0.0 || base == 1.0 || call.double(1) <= 0.0 {
                return Ok(logarithm(call, f64::NAN));
            }
            return Ok(nan_is_null(call.double(1).ln() / base.ln()));
        }
        Ok(logarithm(call, call.double(0).ln()))
    }),
    Function::new("log2", 1..=1, double, |call| Ok(logarithm(call, call.double(0).log2()))),
    Function::new("log10", 1..=1, double, |call| Ok(logarithm(call, call.double(0).log10()))),
    Function::new("sin", 1..=1, double, |call| Ok(Value::Double(call.double(0).sin()))),
    Function::new("cos", 1..=1, double, |call| Ok(Value::Double(call.double(0).cos()))),
    Function::new("tan", 1..=1, double, |call| Ok(Value::Double(call.double(0).tan()))),
    Function::new("cot", 1..=1, double, |call| {
        let (angle, tangent) = (call.double(0), call.double(0).tan());
        match tangent == 0.0 {
            true => Err(SqlError::out_of_range("DOUBLE", format_args!("cot({angle})"))),
            false => Ok(Value::Double(tangent.recip())),
        }
    }),
    Function::new("asin", 1..=1, double, |call| Ok(nan_is_null(call.double(0).asin()))),
    Function::new("acos", 1..=1, double, |call| Ok(nan_is_null(call.double(0).acos()))),
    Function::new("atan", 1..=2, double, |call| {
        Ok(Value::Double(match call.is_given(1) {
            true => call.double(0).atan2(call.double(1)),
            false => call.double(0).atan(),
        }))
    }),
    Function::new("interval", 2..=usize::MAX, integer::<2>, interval).sees_nulls().never_null(),
    Function::new("atan2", 1..=2, double, |call| {
        let other = if call.is_given(1) { call.double(1) } else { 1.0 };
        Ok(Value::Double(call.double(0).atan2(other)))
    }),
    Function::new("radians", 1..=1, double, |call| Ok(Value::Double(call.double(0).to_radians())))
        .null_by_arguments(),
    Function::new("degrees", 1..=1, double, |call| Ok(Value::Double(call.double(0).to_degrees())))
        .null_by_arguments(),
    Function::new(
        "pi",
        0..=0,
        |_| Ok((double_with(Some(6)), Coercibility::Numeric)),
        |_| Ok(Value::Double(std::f64::consts::PI)),
    )
    .never_null(),
    Function::new("rand", 0..=1, double, rand).never_null().varies(),
    Function::new("bit_count", 1..=1, bigint, |call| {
        let ones = match is_byte_string(&call.args[0]) {
            true => call.bytes(0).iter().map(|byte| byte.count_ones()).sum(),
            false => call.bits(0).count_ones(),
        };
        Ok(Value::Int(i64::from(ones)))
    })
    .null_by_arguments(),
    Function::new("conv", 3..=3, ascii_text::<65>, convert_base),
    Function::new("bin", 1..=1, ascii_text::<65>, |call| Ok(in_base(call, 10, 2))),
    Function::new("oct", 1..=1, ascii_text::<65>, |call| Ok(in_base(call, 10, 8))),
];

/// Returns the type of the number, which has a sign only if the argument has one.
fn like_first_number(args: &[super::Expr]) -> Result<(ColumnType, Coercibility)> {
    let (ty, coercibility) = like_number(args)?;
    Ok((ColumnType { unsigned: args[0].ty.unsigned, ..ty }, coercibility))
}

/// Returns BIGINT, DECIMAL or DOUBLE: the largest kind among the arguments.
fn like_number(args: &[super::Expr]) -> Result<(ColumnType, Coercibility)> {
    use super::super::value_type::{
        NumericClass, decimals_of_all, integer_digits, integer_of_digits, numeric_class, scale_of,
    };
    let class = args.iter().map(|arg| numeric_class(&arg.ty)).max().unwrap_or(NumericClass::Double);
    let ty = match class {
        NumericClass::Integer => {
            let digits = args.iter().map(|arg| integer_digits(&arg.ty)).max().unwrap_or(1);
            integer_of_digits(digits, args[0].ty.unsigned)
        }
        NumericClass::Decimal => {
            let digits = args.iter().map(|arg| integer_digits(&arg.ty)).max().unwrap_or(1);
            let scale = args.iter().map(|arg| scale_of(&arg.ty)).max().unwrap_or(0);
            super::super::decimal_type(digits, scale)
        }
        NumericClass::Double => {
            double_with(decimals_of_all(&args.iter().map(|arg| &arg.ty).collect::<Vec<_>>()))
        }
    };
    Ok((ty, Coercibility::Numeric))
}

fn remainder(args: &[super::Expr]) -> Result<(ColumnType, Coercibility)> {
    let (ty, coercibility) = like_number(args)?;
    let ty = match ty.is_integer() {
        true => super::super::remainder_type(&args[0].ty, &args[1].ty, ty.unsigned),
        false if ty.code == TypeCode::NewDecimal => {
            super::super::decimal_remainder_type(&args[0].ty, &args[1].ty)
        }
        false => ty,
    };
    Ok((ty, coercibility))
}

/// Returns the type of an integer that is rounded, or of another number, which stays as it is.
fn rounded_integer(ty: ColumnType) -> ColumnType {
    if ty.is_integer() { integer_type(BIGINT_WIDTH, ty.unsigned) } else { ty }
}

/// Returns the type of ROUND and TRUNCATE. A constant second argument is the scale.
fn rounded(args: &[super::Expr]) -> Result<(ColumnType, Coercibility)> {
    let (ty, coercibility) = like_number(&args[..1])?;
    if ty.code != TypeCode::NewDecimal {
        // A rounded number with a floating point has no fixed decimals.
        let ty = if ty.code == TypeCode::Double { ColumnType::double() } else { rounded_integer(ty) };
        return Ok((ty, coercibility));
    }
    let wanted = match args.get(1).map(|arg| &arg.node) {
        None => 0,
        Some(Node::Constant(value)) => {
            integer_of(&number(value)).clamp(0, i128::from(MAX_COLUMN_SCALE)) as u32
        }
        Some(_) => u32::from(ty.scale()),
    };
    let digits = u32::from(ty.precision() - ty.scale()) + 1;
    Ok((super::super::decimal_type(digits, wanted.min(u32::from(ty.scale()))), coercibility))
}

/// Returns the type of TRUNCATE: that of ROUND without the digit that rounding may add.
fn truncated(args: &[super::Expr]) -> Result<(ColumnType, Coercibility)> {
    let (ty, coercibility) = rounded(args)?;
    if ty.code != TypeCode::NewDecimal {
        return Ok((ty, coercibility));
    }
    let digits = u32::from(ty.precision() - ty.scale());
    let given = super::super::integer_digits(&like_number(&args[..1])?.0);
    Ok((super::super::decimal_type(digits.min(given), u32::from(ty.scale())), coercibility))
}

/// Returns the type of FLOOR and CEILING: BIGINT for exact numbers that fit, otherwise a DECIMAL
/// without a scale or a DOUBLE.
fn whole(args: &[super::Expr]) -> Result<(ColumnType, Coercibility)> {
    let (ty, coercibility) = like_number(args)?;
    if ty.code == TypeCode::NewDecimal {
        let digits = u32::from(ty.precision() - ty.scale()) + 1;
        let fits = digits <= 18;
        let whole = || super::super::decimal_type(digits, 0);
        return Ok((if fits { integer_type(BIGINT_WIDTH, false) } else { whole() }, coercibility));
    }
    Ok((if ty.code == TypeCode::Double { ColumnType::double() } else { rounded_integer(ty) }, coercibility))
}

fn integer_value(exact: &Number) -> Value {
    match exact {
        Number::UInt(n) => Value::UInt(*n),
        other => Value::Int(integer_of(other) as i64),
    }
}

fn integer_or_decimal(exact: &types::Decimal) -> Value {
    exact.to_i64().map_or(Value::Decimal(*exact), Value::Int)
}

fn nan_is_null(n: f64) -> Value {
    if n.is_finite() { Value::Double(n) } else { Value::Null }
}

fn finite(n: f64, function: &str) -> Result<Value> {
    if n.is_finite() {
        Ok(Value::Double(n))
    } else {
        Err(SqlError::out_of_range("DOUBLE", format!("{function}()")))
    }
}

fn logarithm(call: &Call<'_>, n: f64) -> Value {
    if !n.is_finite() {
        call.ctx.warn(3020, "Invalid argument for logarithm");
    }
    nan_is_null(n)
}

fn round(call: &Call<'_>, to_nearest: bool) -> Result<Value> {
    let digits = if call.is_given(1) { call.integer(1).clamp(-100, 100) as i32 } else { 0 };
    let exact =
        |decimal: types::Decimal| if to_nearest { decimal.round(digits) } else { decimal.truncate(digits) };
    let value = match call.number(0) {
        n @ (Number::Int(_) | Number::UInt(_)) if digits >= 0 => integer_value(&n),
        Number::Int(n) => {
            let rounded = exact(types::Decimal::from(n));
            Value::Int(
                rounded.to_i64().ok_or_else(|| SqlError::out_of_range("BIGINT", format!("round({n})")))?,
            )
        }
        Number::UInt(n) => {
            let rounded = exact(types::Decimal::from(n));
            Value::UInt(
                rounded
                    .to_u64()
                    .ok_or_else(|| SqlError::out_of_range("BIGINT UNSIGNED", format!("round({n})")))?,
            )
        }
        Number::Decimal(n) => Value::Decimal(exact(n)),
        Number::Double(n) => {
            let factor = 10f64.powi(digits.abs());
            let scaled = if digits >= 0 { n * factor } else { n / factor };
            if !scaled.is_finite() {
                return Ok(Value::Double(n));
            }
            let whole = if to_nearest { scaled.round_ties_even() } else { scaled.trunc() };
            Value::Double(if digits >= 0 { whole / factor } else { whole * factor })
        }
    };
    Ok(value)
}

/// Computes RAND(). Without a seed it takes the next number of the session's generator. A source
/// logs the two seeds of that with a statement, so that both servers get the same numbers. With a
/// constant seed, each call has a sequence of its own in each statement; another seed begins anew
/// with each row.
fn rand(call: &Call<'_>) -> Result<Value> {
    if !call.is_given(0) {
        let (number, seeds) = random::next(call.ctx.random.get());
        call.ctx.random.set(seeds);
        return Ok(Value::Double(number));
    }
    let seed = call.integer(0) as u32;
    Ok(Value::Double(match call.args[0].is_same_for_all_rows() {
        true => call.ctx.seeded_randoms.next(call.args.as_ptr() as usize, seed),
        false => random::next(random::seeds_of(seed)).0,
    }))
}

fn convert_base(call: &Call<'_>) -> Result<Value> {
    Ok(in_base(call, call.integer(1).unsigned_abs() as u32, call.integer(2)))
}

/// Converts the digits that the first argument's text begins with to another base. A negative `to`
/// makes the result a signed number.
fn in_base(call: &Call<'_>, from: u32, to: i64) -> Value {
    let radix = to.unsigned_abs() as u32;
    if !(2..=36).contains(&from) || !(2..=36).contains(&radix) {
        return Value::Null;
    }
    // `x'1F'` and BIT columns are numbers in any base; everything else is converted by its text.
    let number = match (&*call.values[0], call.args[0].literal_number()) {
        (Value::Bytes(bytes), Some(_)) if bytes.is_empty() => None,
        (Value::Bit { bits, .. }, _) => Some(*bits),
        (_, Some(Value::UInt(number))) => Some(number),
        (_, Some(Value::Int(number))) => Some(number as u64),
        _ => None,
    };
    if let Some(number) = number {
        return shown_in_base(number, to);
    }
    let source = call.string(0);
    if source.is_empty() {
        return Value::Null;
    }
    let source = source.trim();
    let (negative, digits) = match source.strip_prefix(['-', '+']) {
        Some(digits) => (source.starts_with('-'), digits),
        None => (false, source),
    };
    let valid: String = digits.chars().take_while(|c| c.is_digit(from)).collect();
    if valid.is_empty() {
        call.ctx.warn(1292, format!("Truncated incorrect DECIMAL value: '{}'", call.string(0)));
    }
    let mut value = valid.chars().fold(0u64, |value, c| {
        value.saturating_mul(u64::from(from)).saturating_add(u64::from(c.to_digit(from).unwrap_or(0)))
    });
    if negative {
        value = value.wrapping_neg();
    }
    shown_in_base(value, to)
}

/// Returns the digits of a number in a base. A negative base makes it a signed number.
fn shown_in_base(value: u64, to: i64) -> Value {
    let radix = to.unsigned_abs() as u32;
    let signed = to < 0 && (value as i64) < 0;
    let mut rest = if signed { (value as i64).unsigned_abs() } else { value };
    let mut out = Vec::new();
    loop {
        let digit = char::from_digit((rest % u64::from(radix)) as u32, radix).unwrap_or('0');
        out.push(digit.to_ascii_uppercase() as u8);
        rest /= u64::from(radix);
        if rest == 0 {
            break;
        }
    }
    if signed {
        out.push(b'-');
    }
    out.reverse();
    Value::Bytes(out)
}

/// Computes INTERVAL(): how many of the ascending numbers after the first argument are not above
/// it; -1 when it is NULL.
fn interval(call: &Call<'_>) -> Result<Value> {
    if call.values[0].is_null() {
        return Ok(Value::Int(-1));
    }
    let number = call.double(0);
    let is_above = |at: &usize| !call.values[*at].is_null() && call.double(*at) > number;
    let first_above = (1..call.values.len()).find(is_above);
    Ok(Value::Int(first_above.unwrap_or(call.values.len()) as i64 - 1))
}
