//! CASE, and FIELD, which compares values in the way of a CASE.
//!
//! Both compare no documents: a document beside a text is its own text, and beside a number it is
//! a number.

use super::super::{Binder, Place, Scope};
use super::json::{as_text, number};
use crate::ast;
use crate::error::Result;
use crate::expr::{self, Expr, Node, comparison_collation};
use types::{ColumnType, TypeCode, collation};

/// A CASE of either form. While its parts are bound little of the stack is taken: a CASE may be in
/// one of them.
#[inline(never)]
pub(super) fn case(
    binder: &mut Binder<'_>,
    operand: Option<&ast::Expr>,
    whens: &[(ast::Expr, ast::Expr)],
    otherwise: Option<&ast::Expr>,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let written: Vec<&ast::Expr> = operand
        .into_iter()
        .chain(whens.iter().flat_map(|(when, then)| [when, then]))
        .chain(otherwise)
        .collect();
    let mut parts = Vec::with_capacity(written.len());
    for part in written {
        parts.push(binder.expr(part, place)?);
    }
    of_parts(parts, operand.is_some(), otherwise.is_some(), place.scope)
}

/// The CASE whose parts have been bound: what is compared, where something is, each WHEN with its
/// THEN, and the ELSE, if there is one.
#[inline(never)]
fn of_parts(mut parts: Vec<Expr>, has_operand: bool, has_else: bool, scope: &Scope) -> Result<Expr> {
    let otherwise = if has_else { parts.pop() } else { None };
    let mut parts = parts.into_iter();
    let operand = if has_operand { parts.next() } else { None };
    let mut whens = Vec::with_capacity(parts.len() / 2);
    while let (Some(when), Some(then)) = (parts.next(), parts.next()) {
        // A document that is a condition counts as its number.
        whens.push((if has_operand { when } else { number(when, scope) }, then));
    }
    let results: Vec<&Expr> = whens.iter().map(|(_, then)| then).chain(otherwise.as_ref()).collect();
    let (ty, coercibility) =
        expr::common_type(&results).map_err(|error| expr::of_operation(error, "case"))?;
    let nullable = otherwise.is_none() || results.iter().any(|result| result.nullable);
    let result = Expr { node: Node::Constant(types::Value::Null), ty, nullable, coercibility };
    let otherwise = otherwise.map(|otherwise| otherwise.for_result(&result.ty));
    let whens: Vec<(Expr, Expr)> =
        whens.into_iter().map(|(when, then)| (when, then.for_result(&result.ty))).collect();
    match operand {
        Some(operand) => simple_case(operand, whens, otherwise, &result, scope),
        None => Ok(case_of(None, whens, otherwise, &result, collation::UTF8MB4_0900_AI_CI)),
    }
}

/// `CASE operand WHEN ...`, where the results have been made ready already. `result` is the type
/// of the whole.
///
/// # Errors
/// 1267 and its kind where the texts among the operands have no common collation.
fn simple_case(
    operand: Expr,
    whens: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
    result: &Expr,
    scope: &Scope,
) -> Result<Expr> {
    let all = std::iter::once(&operand).chain(whens.iter().map(|(when, _)| when));
    let collation = comparison_collation("case", all)?;
    let compared = |value: Expr| value.in_characters_of(collation);
    // A literal such as `x'61'` is a number beside a number, and a text beside a text.
    let is_literal = matches!(operand.node, Node::HexLiteral(..));
    let is_of_kinds =
        operand.is_json() || is_literal && whens.iter().any(|(when, _)| expr::is_number(&when.ty));
    if !is_of_kinds {
        let beside = |when: Expr| {
            let when = document_beside(when.beside(&operand.ty), &operand.ty, scope);
            compared(moment_beside(when, &operand.ty))
        };
        let whens = whens.into_iter().map(|(when, then)| (beside(when), then)).collect();
        return Ok(case_of(Some(compared(operand)), whens, otherwise, result, collation));
    }
    // The operand is one kind of value for a run of WHENs and another for the next: each run is a
    // CASE of its own, in the ELSE of the one before it.
    let mut runs: Vec<(bool, Vec<(Expr, Expr)>)> = Vec::new();
    for (when, then) in whens {
        let is_number = expr::is_number(&when.ty);
        let when = if is_number { when } else { as_text(when) };
        let arm = (compared(when), then);
        match runs.last_mut() {
            Some((of_numbers, run)) if *of_numbers == is_number => run.push(arm),
            _ => runs.push((is_number, vec![arm])),
        }
    }
    let nested = runs.into_iter().rfold(otherwise, |otherwise, (is_number, run)| {
        let operand = operand.clone();
        let operand = if is_number { number(operand, scope) } else { compared(as_text(operand)) };
        Some(case_of(Some(operand), run, otherwise, result, collation))
    });
    Ok(nested.expect("a CASE has at least one WHEN"))
}

/// A date, a time or a text as what it is compared as: a text beside a text operand, and a time
/// beside a TIME. Anything else stays as it is.
fn moment_beside(when: Expr, operand: &ColumnType) -> Expr {
    if when.has_parameter() {
        return when;
    }
    let is_text = |ty: &ColumnType| expr::is_text(ty) && ty.code != TypeCode::Json;
    match when.ty.is_temporal() {
        true if is_text(operand) => when.shown(),
        true if expr::is_time(operand) && !expr::is_time(&when.ty) => when.into_moment(operand, ""),
        false if expr::is_time(operand) && is_text(&when.ty) => when.into_moment(operand, ""),
        _ => when,
    }
}

/// A document as what it is compared as beside a value of another type; anything else as it is.
fn document_beside(value: Expr, other: &ColumnType, scope: &Scope) -> Expr {
    match value.is_json() {
        true if expr::is_number(other) => number(value, scope),
        true => as_text(value),
        false => value,
    }
}

fn case_of(
    operand: Option<Expr>,
    whens: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
    result: &Expr,
    collation: u16,
) -> Expr {
    let (operand, otherwise) = (operand.map(Box::new), otherwise.map(Box::new));
    Expr { node: Node::Case { operand, whens, otherwise, collation }, ..result.clone() }
}

/// The arguments of FIELD, which compares all of them as values of one kind: dates and documents
/// become texts if no argument is a number, and a document becomes a number else. FIELD itself
/// makes numbers of texts, one after the other.
pub(in crate::bind) fn comparands_of_field(args: Vec<Expr>, scope: &Scope) -> Vec<Expr> {
    let has_number = args.iter().any(|arg| expr::is_number(&arg.ty));
    let comparand = |arg: Expr| match has_number {
        true if arg.is_json() => number(arg, scope),
        true => arg.numeric(),
        false => as_text(arg),
    };
    args.into_iter().map(comparand).collect()
}
