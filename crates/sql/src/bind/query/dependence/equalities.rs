//! The equalities that a condition implies, in whatever form it is written.

use crate::ast::{BinaryOp, TruthValue};
use crate::expr::{Expr, Node};

/// Two expressions that are equal.
pub(super) type Equality<'e> = (&'e Expr, &'e Expr);

/// Collects the expressions that are equal where a condition holds, or with `negated` where it does
/// not hold.
pub(super) fn equalities<'e>(condition: &'e Expr, negated: bool, found: &mut Vec<Equality<'e>>) {
    match &condition.node {
        Node::And(operands) if !negated => operands.iter().for_each(|part| equalities(part, false, found)),
        Node::Or(operands) if negated => operands.iter().for_each(|part| equalities(part, true, found)),
        Node::Or(operands) if operands.len() == 1 => equalities(&operands[0], negated, found),
        Node::Not(operand) => equalities(operand, !negated, found),
        Node::Compare { op, operands, .. } => {
            let equal = if negated { BinaryOp::NotEqual } else { BinaryOp::Equal };
            if *op == equal {
                found.push((&operands[0], &operands[1]));
            }
        }
        Node::CompareRows { op: BinaryOp::Equal, pairs } if !negated => {
            found.extend(pairs.chunks_exact(2).map(|pair| (&pair[0], &pair[1])));
        }
        Node::In { negated: is_not_in, operand, list, .. } if *is_not_in == negated => {
            if let [only] = &list[..] {
                found.push((operand, only));
            }
        }
        Node::Between { negated: is_not_between, operands, .. } if *is_not_between == negated => {
            let [operand, low, high] = &**operands;
            if low.node == high.node && matches!(low.node, Node::Constant(_)) {
                found.push((operand, low));
            }
        }
        _ => {}
    }
}

/// Returns the columns that are direct operands of a condition, not parts of a computation.
pub(super) fn columns_asked(condition: &Expr) -> Vec<usize> {
    let asked = match &condition.node {
        Node::Not(operand) | Node::IsTruth { operand, value: TruthValue::True | TruthValue::False, .. } => {
            operand
        }
        _ => condition,
    };
    let mut operands = Vec::new();
    asked.children(&mut operands);
    let slot = |operand: &&Expr| match operand.node {
        Node::Slot(slot) => Some(slot),
        _ => None,
    };
    operands.iter().filter_map(slot).collect()
}
