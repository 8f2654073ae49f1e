//! Binding of operators that are written as functions with words of their own: CAST, EXTRACT, TRIM
//! and the like.
//!
//! None of these functions may become a part of its caller. An expression in an expression is bound
//! by a recursion, and the frame of the one function through which all of them are reached has to
//! stay small.

use super::json;
use super::result_type::{cast_type, date_add_type, text_like, width_of};
use crate::ast;
use crate::bind::{Binder, Place};
use crate::error::{Result, SqlError};
use crate::expr::functions::characters::CHAR_USING;
use crate::expr::{self, Coercibility, Expr, Node, is_text};
use types::collation::{self, Charset};
use types::decimal::{MAX_COLUMN_SCALE, MAX_SCALE};
use types::{ColumnType, TypeCode, Value};

/// MySQL's warning about `@a := 1`.
const ASSIGNED_WITHIN: &str = "Setting user variables within expressions is deprecated and will be removed in a \
    future release. Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO \
    variables(s)'.";

/// Binds `@name := value`.
#[inline(never)]
pub(super) fn assignment(
    binder: &mut Binder<'_>,
    name: &str,
    value: &ast::Expr,
    place: &mut Place<'_>,
) -> Result<Expr> {
    binder.noted.assigns_variables = true;
    binder.constants.complaints.push((1287, ASSIGNED_WITHIN.to_owned()));
    let value = binder.expr(value, place)?;
    let is_double = expr::numeric_class(&value.ty) == expr::NumericClass::Double;
    let ty = match expr::is_number(&value.ty) && is_double {
        true => ColumnType::double(),
        false => value.ty.clone(),
    };
    let nullable = value.nullable;
    let node = Node::AssignVariable(name.to_owned(), Box::new(value));
    Ok(Expr { node, ty, nullable, coercibility: Coercibility::Implicit })
}

/// Binds `CAST(operand AS type)`.
#[inline(never)]
pub(super) fn cast(
    binder: &mut Binder<'_>,
    operand: &ast::Expr,
    ty: &ast::CastType,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let operand = binder.expr(operand, place)?;
    let operand = match ty {
        ast::CastType::Char { .. } | ast::CastType::Binary { .. } => operand.choice_as_text(),
        _ => operand,
    };
    let most_scale = if binder.meaning.of_mariadb { MAX_COLUMN_SCALE } else { MAX_SCALE };
    let ty = cast_type(ty, &operand, binder.variables.connection_collation, most_scale)?;
    if ty.code == TypeCode::Json {
        return Ok(json::cast_as_json(operand));
    }
    // A cast to a number asks what IF or CASE chooses for its number, where that is no integer.
    let is_chosen = matches!(operand.node, Node::If(_) | Node::Case { .. });
    let operand = match ty.code {
        TypeCode::Double | TypeCode::Float | TypeCode::NewDecimal if is_chosen => operand.choice_as_number(),
        _ if expr::is_number(&ty) => operand.extreme_as_number(),
        _ => operand,
    };
    let operand = json::cast_operand(operand, &ty, place.scope);
    let operand = cast_operand(operand.beside(&ty), &ty);
    // A text that is no number is 0, and one that is no date is NULL.
    let is_strict = binder.variables.sql_mode.strict();
    let nullable = operand.nullable
        || !(expr::is_number(&ty) && ty.code != TypeCode::Year || is_text(&ty) && !is_strict);
    let node = Node::Cast(Box::new(operand));
    let coercibility = if is_text(&ty) { Coercibility::Implicit } else { Coercibility::Numeric };
    let cast = Expr { node, ty, nullable, coercibility };
    if cast.ty.code == TypeCode::String && cast.ty.collation == types::collation::BINARY {
        // The value has as many bytes as the cast says, but its type is a VARBINARY: values beside
        // it in a UNION are not filled up.
        let ty = ColumnType::varbinary(cast.ty.chars());
        return Ok(Expr { node: Node::Cast(Box::new(cast)), ty, nullable, coercibility });
    }
    Ok(cast)
}

/// Binds `CONVERT(operand USING charset)`.
#[inline(never)]
pub(super) fn convert(
    binder: &mut Binder<'_>,
    operand: &ast::Expr,
    charset: &str,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let is_char = matches!(operand, ast::Expr::Function(call) if call.name == "char");
    let operand = binder.expr(operand, place)?;
    // MySQL says that texts may be NULL where strict mode refuses characters that are none.
    let nullable = operand.nullable || binder.variables.sql_mode.strict();
    Ok(Expr { nullable, ..using_charset(operand, is_char, charset)? })
}

/// Binds the sum of a date and an interval, or their difference if `subtract` is set.
#[inline(never)]
pub(super) fn date_add(
    binder: &mut Binder<'_>,
    date: &ast::Expr,
    (amount, unit): (&ast::Expr, ast::TimeUnit),
    subtract: bool,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let operands = [binder.expr(date, place)?, binder.expr(amount, place)?.numeric()];
    let ty = date_add_type(&operands[0].ty, &operands[1].ty, unit);
    let ty = if is_text(&ty) { expr::text_in(&ty, binder.variables.connection_collation) } else { ty };
    let [date, amount] = operands;
    let operands = Box::new([json::cast_operand(date, &ColumnType::datetime(6), place.scope), amount]);
    let node = Node::DateAdd { operands, unit, subtract };
    Ok(Expr { node, ty, nullable: true, coercibility: Coercibility::Numeric })
}

/// Binds `EXTRACT(unit FROM operand)`.
#[inline(never)]
pub(super) fn extract(
    binder: &mut Binder<'_>,
    unit: ast::TimeUnit,
    operand: &ast::Expr,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let operand = binder.expr(operand, place)?;
    let moment = if unit.has_days() { ColumnType::datetime(6) } else { ColumnType::time(6) };
    let operand = Box::new(json::cast_operand(operand, &moment, place.scope));
    let ty = expr::integer_type(width_of(unit), false);
    let node = Node::Extract { unit, operand };
    Ok(Expr { node, ty, nullable: true, coercibility: Coercibility::Numeric })
}

/// Binds `TIMESTAMPDIFF(unit, first, second)`.
#[inline(never)]
pub(super) fn timestamp_diff(
    binder: &mut Binder<'_>,
    unit: ast::TimeUnit,
    (first, second): (&ast::Expr, &ast::Expr),
    place: &mut Place<'_>,
) -> Result<Expr> {
    let operands = Box::new([binder.expr(first, place)?, binder.expr(second, place)?]);
    let ty = expr::integer_type(expr::BIGINT_WIDTH, false);
    let node = Node::TimestampDiff { unit, operands };
    Ok(Expr { node, ty, nullable: true, coercibility: Coercibility::Numeric })
}

/// Binds `TRIM(remove FROM operand)`, of which either end may be trimmed.
#[inline(never)]
pub(super) fn trim(
    binder: &mut Binder<'_>,
    (leading, trailing): (bool, bool),
    remove: Option<&ast::Expr>,
    operand: &ast::Expr,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let operand = binder.expr(operand, place)?;
    let remove = match remove {
        Some(remove) => binder.expr(remove, place)?,
        None => Expr::constant(Value::text(" ")),
    };
    let (ty, coercibility) = (text_like(&operand), operand.coercibility);
    let nullable = operand.nullable || remove.nullable || binder.variables.sql_mode.strict();
    let operands = Box::new([operand.into_text(), remove.for_result(&ty)]);
    let node = Node::Trim { leading, trailing, operands };
    Ok(Expr { node, ty, nullable, coercibility })
}

/// `CONVERT(operand USING charset)`, and CHAR() with a character set.
fn using_charset(bound: Expr, is_char: bool, charset: &str) -> Result<Expr> {
    let charset = Charset::from_name(charset)
        .ok_or_else(|| SqlError::new(1115, format!("Unknown character set: '{charset}'")))?;
    match bound.node {
        Node::Call { args, .. } if is_char => char_using(args, charset),
        _ => {
            let converted = bits_as_bytes(bound).into_text().recollated(charset.default_collation());
            Ok(Expr { coercibility: Coercibility::Implicit, ..converted })
        }
    }
}

/// `CHAR(... USING charset)`. It is NULL where the bytes are no characters.
fn char_using(mut numbers: Vec<Expr>, charset: Charset) -> Result<Expr> {
    let result = Expr::constant(Value::text(""));
    numbers.push(Expr { ty: ColumnType::varchar(0, charset.default_collation()), ..result });
    let (ty, coercibility) = expr::function_type(&CHAR_USING, &numbers)?;
    let node = Node::Call { function: &CHAR_USING, args: numbers };
    Ok(Expr { node, ty, nullable: true, coercibility })
}

/// Returns a BIT as the bytes that it has: those of a character set are converted from it.
fn bits_as_bytes(operand: Expr) -> Expr {
    if operand.ty.code != TypeCode::Bit {
        return operand;
    }
    let bytes = expr::length_in(&operand.ty, types::collation::BINARY);
    let (nullable, ty) = (operand.nullable, ColumnType::varbinary(bytes));
    let node = Node::Cast(Box::new(operand));
    Expr { node, ty, nullable, coercibility: Coercibility::Implicit }
}

/// Returns the operand of a cast. If the cast is to text, the operand is converted to the character
/// set of the result.
fn cast_operand(operand: Expr, ty: &ColumnType) -> Expr {
    let operand = if is_text(ty) { bits_as_bytes(operand).into_text() } else { operand };
    let same = collation::charset_of(operand.ty.collation) == collation::charset_of(ty.collation);
    let are_texts = is_text(ty) && is_text(&operand.ty) && !operand.is_json();
    if are_texts && !same { operand.recollated(ty.collation) } else { operand }
}
