//! TIMESTAMP columns as operands: moments become what the session's clocks show.
//!
//! A column's value is a moment in UTC as long as it is stored, sorted, grouped, compared with
//! other moments or given to the client. Everything that makes a number or a text of it has to see
//! the date and time in the session's time zone.

use crate::expr::{Aggregate, AggregateKind, Expr, Node};

/// Functions that take moments as they are: UNIX_TIMESTAMP() tells an hour that clocks show twice
/// from the one before it, and the others give one of their arguments back.
const OF_MOMENTS: [&str; 4] = ["any_value", "greatest", "least", "unix_timestamp"];

/// Puts the operands that are moments on the session's clocks.
pub(super) fn show_operands(expr: &mut Expr) {
    let is_numeric_or_text = match &expr.node {
        Node::Call { function, .. } => !OF_MOMENTS.contains(&function.name),
        Node::Arithmetic { .. }
        | Node::Negate(_)
        | Node::BitNot(_)
        | Node::Cast(_)
        | Node::Like { .. }
        | Node::Trim { .. } => true,
        // Comparisons, conditions and conversions of texts look at the time zone themselves.
        _ => false,
    };
    if is_numeric_or_text {
        expr.for_children_mut(&mut Expr::show_on_clocks);
    }
}

/// As [`show_operands`], of an aggregate. The least and the greatest moment, and how many there
/// are, go by the moments.
pub(in crate::bind) fn show_aggregated(aggregate: &mut Aggregate) {
    use AggregateKind::{Any, Count, CountRows, Max, Min};
    if !matches!(aggregate.kind, Any | Count | CountRows | Max | Min) {
        aggregate.args.iter_mut().for_each(Expr::show_on_clocks);
    }
}
