//! NULLs in conditions: the columns that cannot be NULL where a condition holds.

use crate::ast::{BinaryOp, TruthValue};
use crate::expr::{Expr, Node};
use std::collections::HashSet;

/// Returns the slots that make the expression NULL when one of them is NULL.
pub(crate) fn null_slots(expr: &Expr) -> HashSet<usize> {
    let union = |operands: &[Expr]| operands.iter().flat_map(null_slots).collect();
    match &expr.node {
        Node::Slot(slot) => HashSet::from([*slot]),
        Node::Compare { op, operands, .. } if *op != BinaryOp::NullSafeEqual => union(&operands[..]),
        Node::Arithmetic { operands, .. }
        | Node::Like { operands, .. }
        | Node::DateAdd { operands, .. }
        | Node::TimestampDiff { operands, .. }
        | Node::Trim { operands, .. } => union(&operands[..]),
        Node::Call { function, args } if function.null_in_null_out => union(args),
        Node::Xor(operands) => union(&operands[..]),
        Node::Between { operands, .. } => null_slots(&operands[0]),
        Node::In { operand, .. }
        | Node::Not(operand)
        | Node::Negate(operand)
        | Node::BitNot(operand)
        | Node::Cast(operand)
        | Node::Recollate(operand)
        | Node::OnClocks(operand)
        | Node::Extract { operand, .. } => null_slots(operand),
        // NULL AND FALSE is FALSE, and NULL OR TRUE is TRUE, so a slot has to be in all operands.
        Node::And(operands) | Node::Or(operands) => common(operands.iter().map(null_slots)),
        _ => HashSet::new(),
    }
}

/// Returns the slots that keep the condition from being true when one of them is NULL.
pub(crate) fn rejected_slots(condition: &Expr) -> HashSet<usize> {
    match &condition.node {
        Node::And(operands) => operands.iter().flat_map(rejected_slots).collect(),
        Node::Or(operands) => common(operands.iter().map(rejected_slots)),
        Node::IsNull { negated: true, operand } => null_slots(operand),
        Node::CompareRows { op: BinaryOp::Equal, pairs } => pairs.iter().flat_map(null_slots).collect(),
        Node::IsTruth { negated: false, operand, value: TruthValue::True } => rejected_slots(operand),
        _ => null_slots(condition),
    }
}

fn common(mut sets: impl Iterator<Item = HashSet<usize>>) -> HashSet<usize> {
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |common, set| common.intersection(&set).copied().collect())
}
