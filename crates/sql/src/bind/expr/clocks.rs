//! TIMESTAMP columns as operands, converted from moments to dates and times in the session's time
//! zone.
//!
//! The value of a TIMESTAMP column is a moment in UTC as long as it is stored, sorted, grouped,
//! compared with other moments or given to the client. Every operation that makes a number or a
//! text of it has to see the date and time in the session's time zone.

use crate::expr::{Aggregate, AggregateKind, Expr, Node, PARTITION_BY_KEY};

/// The functions that take moments as they are. UNIX_TIMESTAMP() has to distinguish the two hours
/// that clocks show alike when they are set back, partitions by KEY hash what is stored, and the
/// other functions return one of their arguments.
const OF_MOMENTS: [&str; 5] = ["any_value", "greatest", "least", "unix_timestamp", PARTITION_BY_KEY];

/// Converts the operands that are moments to the session's time zone.
pub(super) fn show_operands(expr: &mut Expr) {
    let is_numeric_or_text = match &expr.node {
        Node::Call { function, .. } => !OF_MOMENTS.contains(&function.name),
        Node::Arithmetic { .. }
        | Node::Negate(_)
        | Node::BitNot(_)
        | Node::Cast(_)
        | Node::Like { .. }
        | Node::Trim { .. } => true,
        // Comparisons, conditions and conversions of texts apply the time zone themselves.
        _ => false,
    };
    if is_numeric_or_text {
        expr.for_children_mut(&mut Expr::show_on_clocks);
    }
}

/// Does what [`show_operands`] does for an aggregate. Counts, the least value and the greatest
/// value are those of the moments themselves.
pub(in crate::bind) fn show_aggregated(aggregate: &mut Aggregate) {
    use AggregateKind::{Any, Count, CountRows, Max, Min};
    if !matches!(aggregate.kind, Any | Count | CountRows | Max | Min) {
        aggregate.args.iter_mut().for_each(Expr::show_on_clocks);
    }
}
