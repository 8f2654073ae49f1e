//! Expressions that have the same value for each row, and texts that calls make of constants alone.

use super::node::{Expr, Node};
use super::value_type::is_text;

/// The most parts of an expression that is looked at. It is copied, so it must not be large.
const MOST_PARTS: usize = 64;

/// Reports whether the expression is a call, not a literal, whose text follows from constants.
/// MySQL computes such a text before the first row.
pub(crate) fn is_constant_text(expr: &Expr) -> bool {
    is_text(&expr.ty) && !expr.is_json() && is_constant_call(expr)
}

/// Reports whether the expression is a call, not a literal, whose value follows from constants.
pub(crate) fn is_constant_call(expr: &Expr) -> bool {
    if matches!(expr.node, Node::Constant(_)) {
        return false;
    }
    let (mut parts, mut are_constant) = (0usize, true);
    expr.visit(&mut |part| {
        parts += 1;
        are_constant &= is_constant_part(part);
    });
    are_constant && parts <= MOST_PARTS
}

/// Reports whether the expression has the same value for each row of a statement, and computing
/// it does nothing else.
pub(crate) fn is_same_for_each_row(expr: &Expr) -> bool {
    let mut is_same = true;
    expr.visit(&mut |part| is_same &= !varies(&part.node));
    is_same
}

/// Reports whether a part of an expression may have another value in each row, although its
/// operands have the same ones, or does more than to have a value.
fn varies(node: &Node) -> bool {
    match node {
        Node::Slot(_)
        | Node::Outer(_)
        | Node::InsertedValue(_)
        | Node::UserVariable(_)
        | Node::AssignVariable(..)
        | Node::Stored { .. }
        | Node::Subquery { .. }
        | Node::Quantified(_)
        | Node::RowSubquery(_)
        | Node::MayEqual(_)
        | Node::Match(_) => true,
        Node::Call { function, .. } => function.varies,
        _ => false,
    }
}

/// Reports whether a part of an expression has the same value in each row and each execution, as
/// far as its operands have.
fn is_constant_part(part: &Expr) -> bool {
    match &part.node {
        Node::Parameter(_) | Node::SystemVariable { .. } => false,
        Node::Call { function, .. } => !function.varies && !OF_EXECUTION.contains(&function.name),
        node => !varies(node),
    }
}

/// The functions whose values follow from the session or from the moment of the execution, and with
/// them texts that MySQL does not compute before the first row.
const OF_EXECUTION: &[&str] = &[
    "any_value",
    "connection_id",
    "curdate",
    "current_user",
    "curtime",
    "found_rows",
    "now",
    "row_count",
    "unix_timestamp",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "version",
];
