//! The result types of casts, of arithmetic and of calculations with dates.

use crate::ast::{self, BinaryOp, CastType};
use crate::error::{Result, SqlError};
use crate::expr::{self, Coercibility, Expr, Node};
use types::collation::{self, Charset};
use types::{ColumnType, TypeCode, Value};

/// Builds a truth value.
pub(super) fn boolean(node: Node, nullable: bool) -> Expr {
    Expr { node, ty: expr::truth_type(), nullable, coercibility: Coercibility::Numeric }
}

/// Returns the operand of a function that asks for the kind of a result, and not for that of a
/// number: what MySQL's results have as texts is a number with a floating point there. Dates, times
/// and literals like `x'1F'` are such texts.
#[inline(never)]
pub(in crate::bind) fn as_string_argument(operand: Expr) -> Expr {
    let decimals = match operand.ty.is_temporal() {
        true => u32::from(operand.ty.fsp()),
        false if matches!(operand.node, Node::HexLiteral(..)) => 0,
        false => return operand,
    };
    let mut operand = operand.numeric();
    operand.show_on_clocks();
    let (nullable, ty) = (operand.nullable, expr::double_with(Some(decimals)));
    Expr { node: Node::Cast(Box::new(operand)), ty, nullable, coercibility: Coercibility::Numeric }
}

/// Returns the type DECIMAL of a cast, with at most `most_scale` digits behind the point.
///
/// # Errors
/// Returns 1425, 1426 and 1427 for digits that no DECIMAL has.
pub(super) fn decimal_type(precision: u64, scale: u64, most_scale: u8) -> Result<ColumnType> {
    if precision > 65 {
        let text = format!("Too-big precision {precision} specified for 'CAST'. Maximum is 65.");
        return Err(SqlError::new(1426, text));
    }
    if scale > u64::from(most_scale) {
        let text = format!("Too big scale {scale} specified for column 'CAST'. Maximum is {most_scale}.");
        return Err(SqlError::new(1425, text));
    }
    if scale > precision {
        let text = "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '').";
        return Err(SqlError::new(1427, text));
    }
    // No digits means the default number of them.
    let precision = if precision == 0 { 10 } else { precision };
    Ok(ColumnType::decimal(precision as u8, scale as u8))
}

pub(super) fn cast_type(
    ty: &CastType,
    operand: &Expr,
    connection: u16,
    most_scale: u8,
) -> Result<ColumnType> {
    Ok(match ty {
        CastType::Signed => expr::integer_type(expr::BIGINT_WIDTH, false),
        CastType::Unsigned => expr::integer_type(expr::BIGINT_WIDTH, true),
        CastType::Char { length, charset } => {
            let id = match charset {
                None => connection,
                Some(name) => Charset::from_name(name)
                    .ok_or_else(|| SqlError::new(1115, format!("Unknown character set: '{name}'")))?
                    .default_collation(),
            };
            expr_text_type(
                length.map_or(expr::text_length(&operand.ty), |n| n.min(u64::from(u32::MAX)) as u32),
                id,
            )
        }
        CastType::Binary { length: None } => {
            expr_text_type(expr::length_in(&operand.ty, collation::BINARY), collation::BINARY)
        }
        CastType::Binary { length: Some(length) } if *length <= 65_535 => ColumnType::binary(*length as u32),
        CastType::Binary { .. } => ColumnType::longblob(),
        CastType::Decimal { precision, scale } => decimal_type(*precision, *scale, most_scale)?,
        CastType::Double => ColumnType::double(),
        CastType::Float => ColumnType::float(),
        CastType::Date => ColumnType::date(),
        CastType::Time { fsp } => ColumnType::time(*fsp),
        CastType::DateTime { fsp } => ColumnType::datetime(*fsp),
        CastType::Year => expr::made_year(),
        CastType::Json => ColumnType::json(),
    })
}

/// Returns the width of an integer that EXTRACT makes, as MySQL announces it.
pub(super) fn width_of(unit: ast::TimeUnit) -> u8 {
    use ast::TimeUnit::{
        Day, DayHour, DayMicrosecond, DayMinute, DaySecond, Hour, HourMicrosecond, HourMinute, HourSecond,
        Microsecond, Minute, MinuteMicrosecond, MinuteSecond, Month, Quarter, Second, SecondMicrosecond,
        Week, Year, YearMonth,
    };
    match unit {
        Quarter => 2,
        Second | Minute | Day | Week | Month => 3,
        Hour => 4,
        Year | MinuteSecond => 5,
        HourMinute => 6,
        Microsecond | YearMonth => 7,
        HourSecond => 8,
        DayHour | SecondMicrosecond => 9,
        DayMinute | MinuteMicrosecond => 11,
        DaySecond => 13,
        HourMicrosecond => 14,
        DayMicrosecond => 20,
    }
}

pub(super) fn expr_text_type(chars: u32, id: u16) -> ColumnType {
    if chars < 65_536 && ColumnType::char_fits(chars, id) {
        ColumnType::varchar(chars, id)
    } else {
        expr::long_text(chars, id)
    }
}

pub(super) fn text_like(operand: &Expr) -> ColumnType {
    let is_number = expr::is_number(&operand.ty) && operand.ty.code != TypeCode::Bit;
    let id = if operand.ty.is_character() || operand.coercibility < Coercibility::Numeric && !is_number {
        expr::text_collation(&operand.ty)
    } else {
        collation::UTF8MB4_0900_AI_CI
    };
    expr_text_type(expr::text_length(&operand.ty), id)
}

/// Returns the number of fractional digits that seconds of this type add to a time.
fn digits_of_seconds(amount: &ColumnType) -> u8 {
    const MOST: u32 = 6;
    let digits = match amount.code {
        TypeCode::Null => 0,
        _ if expr::numeric_class(amount) == expr::NumericClass::Double => MOST,
        _ => expr::scale_of(amount).min(MOST),
    };
    digits as u8
}

pub(super) fn date_add_type(date: &ColumnType, amount: &ColumnType, unit: ast::TimeUnit) -> ColumnType {
    let fsp = match unit {
        _ if unit.has_micros() => 6,
        ast::TimeUnit::Second => date.fsp().max(digits_of_seconds(amount)),
        _ => date.fsp(),
    };
    match date.code {
        TypeCode::Date if unit.is_of_days() => ColumnType::date(),
        // With days, a time is one of today.
        TypeCode::Time | TypeCode::Time2 if unit.has_days() => ColumnType::datetime(fsp),
        TypeCode::Time | TypeCode::Time2 => ColumnType::time(fsp),
        TypeCode::Date
        | TypeCode::Datetime
        | TypeCode::Datetime2
        | TypeCode::Timestamp
        | TypeCode::Timestamp2 => ColumnType::datetime(fsp),
        _ => ColumnType::made_char(29, collation::UTF8MB4_0900_AI_CI),
    }
}

pub(super) fn arithmetic_type(op: BinaryOp, operands: &[Expr; 2], increment: u8) -> ColumnType {
    use expr::NumericClass::{Decimal, Double, Integer};
    let (a, b) = (&operands[0].ty, &operands[1].ty);
    if op.is_of_bits() {
        return expr::integer_type(expr::BIGINT_WIDTH, true);
    }
    let class = expr::numeric_class(a).max(expr::numeric_class(b));
    // A remainder has the sign of the dividend.
    let unsigned = if op == BinaryOp::Modulo { a.unsigned } else { a.unsigned || b.unsigned };
    if op == BinaryOp::IntegerDivide {
        // The quotient has the digits of the dividend, and more where the divisor is a fraction.
        let digits = expr::integer_digits(a) + expr::scale_of(b);
        return expr::integer_of_digits(digits, unsigned);
    }
    // Exact numbers with a fraction have no sign only if both operands have none.
    let decimal = |digits: u32, scale: u32| {
        let unsigned = if op == BinaryOp::Modulo { a.unsigned } else { a.unsigned && b.unsigned };
        ColumnType { unsigned, ..expr::decimal_type(digits, scale) }
    };
    // The type of a parameter is known only when the statement runs. The value of the parameter
    // decides then.
    match (op, class) {
        (_, Double) => {
            let decimals = expr::decimals_of_all(&[a, b]);
            let more = if op == BinaryOp::Divide { u32::from(increment) } else { 0 };
            expr::double_with(decimals.map(|decimals| decimals + more))
        }
        (BinaryOp::Divide, _) => {
            let of_a = expr::scale_of(a);
            let scale = expr::computed_scale(of_a + u32::from(increment), &[of_a]);
            decimal(most_digits(&operands[0]) + expr::scale_of(b), scale)
        }
        (_, Integer) => {
            let (of_a, of_b) = (expr::integer_digits(a), expr::integer_digits(b));
            match op {
                BinaryOp::Modulo => expr::remainder_type(a, b, unsigned),
                BinaryOp::Multiply => expr::integer_of_digits(of_a + of_b, unsigned),
                _ => expr::integer_of_digits(of_a.max(of_b) + 1, unsigned),
            }
        }
        (_, Decimal) => {
            let (of_a, of_b) = (most_digits(&operands[0]), most_digits(&operands[1]));
            let scale = expr::scale_of(a).max(expr::scale_of(b));
            match op {
                BinaryOp::Multiply => {
                    let scales = [expr::scale_of(a), expr::scale_of(b)];
                    decimal(of_a + of_b, expr::computed_scale(scales.iter().sum(), &scales))
                }
                BinaryOp::Modulo => expr::decimal_remainder_type(a, b),
                _ => decimal(of_a.max(of_b) + 1, scale),
            }
        }
    }
}

/// Returns the most digits that an operand may have before the decimal point. An integer that is
/// written has its own digits.
fn most_digits(operand: &Expr) -> u32 {
    match operand.node {
        Node::Constant(Value::Int(n)) => n.unsigned_abs().checked_ilog10().unwrap_or(0) + 1,
        Node::Constant(Value::UInt(n)) => n.checked_ilog10().unwrap_or(0) + 1,
        _ => expr::integer_digits(&operand.ty),
    }
}
