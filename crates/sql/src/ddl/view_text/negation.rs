//! Prints NOT, which MySQL moves into its operand where it can.

use super::ViewNames;
use super::predicate::{in_query, is_truth, quantified, regexp, truth_test};
use super::printed::{AND, OR, Printed, XOR};
use super::scope::Place;
use crate::ast::{BinaryOp, Expr, Literal, UnaryOp};
use crate::ddl::canonical::opposite;

/// Prints the negation of an expression.
pub(super) fn negated(view_names: &ViewNames<'_>, expr: &Expr, place: Place<'_>) -> Option<Printed> {
    let inner = place.operand();
    if view_names.of_mariadb {
        return Some(view_names.not(view_names.printed(expr, inner)?));
    }
    match expr {
        Expr::Binary(BinaryOp::Xor, left, right) => {
            let (left, right) = (negated(view_names, left, inner)?, view_names.truth(right, inner)?);
            Some(view_names.operation(format!("{} xor {}", left.text, right.text), XOR))
        }
        Expr::Binary(op, left, right) => match opposite(*op) {
            Some(op) => view_names.binary(op, left, right, inner),
            None => plainly_negated(view_names, expr, inner),
        },
        Expr::IsNull { negated, operand } => {
            let operand = operand.clone();
            view_names.printed(&Expr::IsNull { negated: !negated, operand }, inner)
        }
        Expr::IsTruth { negated, operand, value } => truth_test(view_names, !negated, operand, *value, inner),
        Expr::Between { negated, operand, low, high } => {
            let (operand, low, high) = (operand.clone(), low.clone(), high.clone());
            view_names.printed(&Expr::Between { negated: !negated, operand, low, high }, inner)
        }
        Expr::InList { negated, operand, list } => {
            let (operand, list) = (operand.clone(), list.clone());
            view_names.printed(&Expr::InList { negated: !negated, operand, list }, inner)
        }
        Expr::InQuery { negated, operand, query } => in_query(view_names, !negated, operand, query, place),
        Expr::Quantified { op, all, operand, query } => match opposite(*op) {
            Some(op) => quantified(view_names, op, !all, operand, query, place),
            None => plainly_negated(view_names, expr, inner),
        },
        Expr::And(parts) => negated_chain(view_names, parts, "or", OR, place),
        Expr::Or(parts) => negated_chain(view_names, parts, "and", AND, place),
        Expr::Unary(UnaryOp::Not, operand) => view_names.truth(operand, place),
        Expr::Like { negated: true, operand, pattern, escape } => {
            let (operand, pattern, escape) = (operand.clone(), pattern.clone(), escape.clone());
            view_names.printed(&Expr::Like { negated: false, operand, pattern, escape }, inner)
        }
        Expr::Regexp { negated: true, operand, pattern } => regexp(view_names, operand, pattern, inner),
        Expr::Unary(UnaryOp::Plus, operand) => negated(view_names, operand, place),
        Expr::Exists(_) => Some(Printed::primary(format!("(not {})", view_names.expr(expr, inner)?))),
        _ => plainly_negated(view_names, expr, inner),
    }
}

fn plainly_negated(view_names: &ViewNames<'_>, expr: &Expr, place: Place<'_>) -> Option<Printed> {
    let printed = view_names.printed(expr, place)?;
    let is_condition = is_truth(expr) || matches!(expr, Expr::Literal(Literal::Bool(_)));
    Some(match is_condition {
        true => view_names.not(printed),
        false => Printed::primary(format!("(0 = {})", printed.text)),
    })
}

fn negated_chain(
    view_names: &ViewNames<'_>,
    parts: &[Expr],
    word: &str,
    binds: u8,
    place: Place<'_>,
) -> Option<Printed> {
    let parts: Option<Vec<String>> =
        parts.iter().map(|part| Some(negated(view_names, part, place)?.text)).collect();
    Some(view_names.operation(parts?.join(&format!(" {word} ")), binds))
}
