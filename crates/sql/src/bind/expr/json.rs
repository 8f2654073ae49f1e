//! JSON documents beside values of other types, and JSON_VALUE.

use super::super::constants::Constants;
use super::super::{Binder, Place, Scope};
use super::result_type::cast_type;
use crate::ast::{self, CastType, OnResponse};
use crate::error::Result;
use crate::expr::functions::json::{CAST_AS_JSON, DEFAULT, ERROR, JSON_VALUE, NULL};
use crate::expr::{Coercibility, Expr, Node};
use types::decimal::MAX_SCALE;
use types::{ColumnType, TypeCode, Value, collation};

/// The length in characters of the result of JSON_VALUE without RETURNING.
const VALUE_CHARS: u64 = 512;

/// Converts an operand to a number.
pub(in crate::bind) fn number(expr: Expr, scope: &Scope) -> Expr {
    let column = scope.column_of(&expr).map(str::to_owned);
    expr.choice_as_number().numeric().read_from_json(&ColumnType::double(), column.as_deref())
}

/// Converts both operands of a comparison to documents if one of them is a document.
pub(super) fn compared_as_documents(operands: [Expr; 2]) -> [Expr; 2] {
    match operands.iter().any(Expr::is_json) {
        true => operands.map(Expr::into_json),
        false => operands,
    }
}

/// Converts an operand that is used as a truth value. A document causes warning 3986.
pub(in crate::bind) fn truth(expr: Expr, constants: &mut Constants) -> Expr {
    if expr.is_json() {
        let text = "Evaluating a JSON value in SQL boolean context does an implicit comparison against JSON integer \
                    0; if this is not what you want, consider converting JSON to a SQL numeric type with \
                    JSON_VALUE RETURNING";
        constants.complaints.push((3986, text.to_owned()));
    }
    expr.choice_as_number().numeric()
}

/// Converts the operands of BETWEEN, which does not compare documents: a document counts as a text
/// if all operands are texts or documents, and as a number otherwise. A document causes warning
/// 1235.
pub(super) fn between(operands: [Expr; 3], scope: &Scope, constants: &mut Constants) -> [Expr; 3] {
    if !operands.iter().any(Expr::is_json) {
        return operands;
    }
    let text = "This version of MySQL doesn't yet support 'comparison of JSON in the BETWEEN operator'";
    constants.complaints.push((1235, text.to_owned()));
    let is_text = |expr: &Expr| expr.is_json() || expr.ty.is_character() || expr.ty.code == TypeCode::Null;
    let all_texts = operands.iter().all(is_text);
    operands.map(|operand| match (operand.is_json(), all_texts) {
        (true, true) => as_text(operand),
        (true, false) => number(operand, scope),
        (false, _) => operand,
    })
}

/// The text of a document, a date or a time; anything else as it is.
pub(super) fn as_text(operand: Expr) -> Expr {
    if !operand.is_json() {
        return if operand.ty.is_temporal() { operand.shown() } else { operand };
    }
    Expr {
        ty: ColumnType::longtext(collation::UTF8MB4_BIN),
        nullable: operand.nullable,
        coercibility: operand.coercibility,
        node: Node::Recollate(Box::new(operand)),
    }
}

/// Converts the operand of a cast: a document is read as a value of the wanted type.
pub(super) fn cast_operand(operand: Expr, ty: &ColumnType, scope: &Scope) -> Expr {
    let column = scope.column_of(&operand).map(str::to_owned);
    match ty.code {
        TypeCode::Year => operand.read_from_json(&ColumnType::bigint(true), column.as_deref()),
        TypeCode::NewDecimal => operand.read_from_json(&ColumnType::decimal(65, 30), column.as_deref()),
        _ => operand.read_from_json(ty, column.as_deref()),
    }
}

/// Builds `CAST(operand AS JSON)`.
pub(super) fn cast_as_json(operand: Expr) -> Expr {
    Expr {
        ty: ColumnType::json(),
        nullable: true,
        coercibility: Coercibility::Implicit,
        node: Node::Call { function: &CAST_AS_JSON, args: vec![operand] },
    }
}

/// Returns the name of a type in messages about JSON_VALUE.
fn type_name(ty: &CastType) -> &'static str {
    match ty {
        CastType::Signed => "SIGNED",
        CastType::Unsigned => "UNSIGNED",
        CastType::Char { .. } | CastType::Binary { .. } => "STRING",
        CastType::Decimal { .. } => "DECIMAL",
        CastType::Double => "DOUBLE",
        CastType::Float => "FLOAT",
        CastType::Date => "DATE",
        CastType::Time { .. } => "TIME",
        CastType::DateTime { .. } => "DATETIME",
        CastType::Year => "YEAR",
        CastType::Json => "JSON",
    }
}

pub(super) fn json_value(
    binder: &mut Binder<'_>,
    written: &ast::JsonValue,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let document = binder.expr(&written.document, place)?;
    let path = binder.expr(&written.path, place)?;
    let text = CastType::Char { length: Some(VALUE_CHARS), charset: Some("utf8mb4".to_owned()) };
    let returning = written.returning.as_ref().unwrap_or(&text);
    let mut ty = returned_type(returning, &document, binder.variables.connection_collation)?;
    if ty.collation == collation::UTF8MB4_0900_AI_CI && crate::expr::is_text(&ty) {
        // The texts of documents are told apart by their bytes.
        ty.collation = collation::UTF8MB4_0900_BIN;
    }
    let mut args = vec![document, path];
    args.push(Expr { ty: ty.clone(), ..Expr::constant(Value::text(type_name(returning))) });
    for response in [&written.on_empty, &written.on_error] {
        let (kind, value) = bound_response(binder, response, &ty, place)?;
        args.push(Expr::constant(Value::Int(kind)));
        args.push(value);
    }
    let node = Node::Call { function: &JSON_VALUE, args };
    Ok(Expr { node, ty, nullable: true, coercibility: Coercibility::Literal })
}

/// Returns the type that RETURNING names.
fn returned_type(returning: &CastType, document: &Expr, connection: u16) -> Result<ColumnType> {
    match returning {
        CastType::Char { length: None, .. } | CastType::Binary { length: None } => {
            let length =
                Some(u64::from(crate::expr::text_length(&ColumnType::longtext(collation::UTF8MB4_BIN))));
            let whole = match returning {
                CastType::Binary { .. } => CastType::Binary { length },
                CastType::Char { charset, .. } => CastType::Char { length, charset: charset.clone() },
                other => other.clone(),
            };
            cast_type(&whole, document, connection, MAX_SCALE)
        }
        other => cast_type(other, document, connection, MAX_SCALE),
    }
}

/// Returns what JSON_VALUE does on an empty result or an error, and the default as a value of
/// the type.
///
/// # Errors
/// Returns the errors of binding the default.
fn bound_response(
    binder: &mut Binder<'_>,
    response: &Option<OnResponse>,
    ty: &ColumnType,
    place: &mut Place<'_>,
) -> Result<(i64, Expr)> {
    let nothing = || Expr::constant(Value::Null);
    match response {
        None | Some(OnResponse::Null) => Ok((NULL, nothing())),
        Some(OnResponse::Error) => Ok((ERROR, nothing())),
        Some(OnResponse::Default(value)) => {
            let value = binder.expr(value, place)?;
            let node = Node::Cast(Box::new(value));
            let value = Expr { node, ty: ty.clone(), nullable: true, coercibility: Coercibility::Implicit };
            Ok((DEFAULT, value))
        }
    }
}
