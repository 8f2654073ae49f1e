//! Expressions that any thread can compute for the rows that it has read.

use super::functions::table::asks_session;
use super::node::{Expr, Node, SubqueryCall};

/// Reports whether the value of the expression follows from the row, the statement's parameters and
/// arguments, the variables of the session as they are when the statement begins, and the rows of
/// subqueries without arguments, and whether computing it does nothing else. The numbers of these
/// subqueries are added to `subqueries`.
pub(crate) fn is_for_any_thread(expr: &Expr, subqueries: &mut Vec<usize>) -> bool {
    let mut of = |call: &SubqueryCall| {
        subqueries.push(call.number);
        call.args.is_empty()
    };
    let mut is_for_any = true;
    expr.visit(&mut |part| {
        is_for_any &= match &part.node {
            Node::UserVariable(_)
            | Node::AssignVariable(..)
            | Node::SystemVariable { .. }
            | Node::Match(_)
            | Node::Stored { .. }
            | Node::InsertedValue(_) => false,
            Node::Subquery { call, .. } => of(call),
            Node::Quantified(quantified) => of(&quantified.call),
            Node::RowSubquery(compared) => of(&compared.call),
            Node::Call { function, .. } => !function.varies && !asks_session(function),
            Node::Constant(_)
            | Node::HexLiteral(..)
            | Node::Parameter(_)
            | Node::Slot(_)
            | Node::Outer(_)
            | Node::And(_)
            | Node::Or(_)
            | Node::Xor(_)
            | Node::Not(_)
            | Node::Compare { .. }
            | Node::CompareRows { .. }
            | Node::Between { .. }
            | Node::In { .. }
            | Node::MayEqual(_)
            | Node::Like { .. }
            | Node::IsNull { .. }
            | Node::IsTruth { .. }
            | Node::Negate(_)
            | Node::BitNot(_)
            | Node::Arithmetic { .. }
            | Node::Case { .. }
            | Node::If(_)
            | Node::Coalesce(_)
            | Node::NullIf { .. }
            | Node::Cast(_)
            | Node::Recollate(_)
            | Node::OnClocks(_)
            | Node::DateAdd { .. }
            | Node::Extract { .. }
            | Node::TimestampDiff { .. }
            | Node::Trim { .. } => true,
        };
    });
    is_for_any
}
