//! Prints NOT, which MySQL moves into its operand where it can.

use super::ViewNames;
use super::predicate::is_truth;
use super::printed::{AND, OR, Printed, XOR};
use super::scope::Place;
use crate::ast::{BinaryOp, Expr, Literal, UnaryOp};
use crate::ddl::canonical::opposite;

impl ViewNames<'_> {
    /// Prints the negation of an expression.
    pub(super) fn negated(&self, expr: &Expr, place: Place<'_>) -> Option<Printed> {
        let inner = place.operand();
        if self.of_mariadb {
            return Some(self.not(self.printed(expr, inner)?));
        }
        match expr {
            Expr::Binary(BinaryOp::Xor, left, right) => {
                let (left, right) = (self.negated(left, inner)?, self.truth(right, inner)?);
                Some(self.operation(format!("{} xor {}", left.text, right.text), XOR))
            }
            Expr::Binary(op, left, right) => match opposite(*op) {
                Some(op) => self.binary(op, left, right, inner),
                None => self.plainly_negated(expr, inner),
            },
            Expr::IsNull { negated, operand } => {
                let operand = operand.clone();
                self.printed(&Expr::IsNull { negated: !negated, operand }, inner)
            }
            Expr::IsTruth { negated, operand, value } => self.is_truth(!negated, operand, *value, inner),
            Expr::Between { negated, operand, low, high } => {
                let (operand, low, high) = (operand.clone(), low.clone(), high.clone());
                self.printed(&Expr::Between { negated: !negated, operand, low, high }, inner)
            }
            Expr::InList { negated, operand, list } => {
                let (operand, list) = (operand.clone(), list.clone());
                self.printed(&Expr::InList { negated: !negated, operand, list }, inner)
            }
            Expr::InQuery { negated, operand, query } => self.in_query(!negated, operand, query, place),
            Expr::Quantified { op, all, operand, query } => match opposite(*op) {
                Some(op) => self.quantified(op, !all, operand, query, place),
                None => self.plainly_negated(expr, inner),
            },
            Expr::And(parts) => self.negated_chain(parts, "or", OR, place),
            Expr::Or(parts) => self.negated_chain(parts, "and", AND, place),
            Expr::Unary(UnaryOp::Not, operand) => self.truth(operand, place),
            Expr::Like { negated: true, operand, pattern, escape } => {
                let (operand, pattern, escape) = (operand.clone(), pattern.clone(), escape.clone());
                self.printed(&Expr::Like { negated: false, operand, pattern, escape }, inner)
            }
            Expr::Regexp { negated: true, operand, pattern } => self.regexp(operand, pattern, inner),
            Expr::Unary(UnaryOp::Plus, operand) => self.negated(operand, place),
            Expr::Exists(_) => Some(Printed::primary(format!("(not {})", self.expr(expr, inner)?))),
            _ => self.plainly_negated(expr, inner),
        }
    }

    fn plainly_negated(&self, expr: &Expr, place: Place<'_>) -> Option<Printed> {
        let printed = self.printed(expr, place)?;
        let is_condition = is_truth(expr) || matches!(expr, Expr::Literal(Literal::Bool(_)));
        Some(match is_condition {
            true => self.not(printed),
            false => Printed::primary(format!("(0 = {})", printed.text)),
        })
    }

    fn negated_chain(&self, parts: &[Expr], word: &str, binds: u8, place: Place<'_>) -> Option<Printed> {
        let parts: Option<Vec<String>> =
            parts.iter().map(|part| Some(self.negated(part, place)?.text)).collect();
        Some(self.operation(parts?.join(&format!(" {word} ")), binds))
    }
}
