//! The plans of a statement's subqueries while it is bound. The number of a subquery is its
//! position among them, and the subqueries within it have smaller numbers.

use super::common_tables::{CommonTables, State};
use super::place::Frame;
use crate::expr::{Node, SubqueryCall};
use crate::plan::{QueryPlan, SubPlan};

/// Adds a bound subquery. The subqueries within it have the numbers from `first` on.
pub(super) fn add_subquery(
    plans: &mut Vec<SubPlan>,
    plan: QueryPlan,
    frame: Frame<'_>,
    first: usize,
) -> SubqueryCall {
    assert!(first <= plans.len(), "the subqueries within a subquery are bound before it");
    let mut varies = plans[first..].iter().any(|subquery| subquery.varies);
    let mut reads_variables = plans[first..].iter().any(|subquery| subquery.reads_variables);
    plan.visit(&mut |expr| {
        expr.visit(&mut |expr| match &expr.node {
            Node::Call { function, .. } => varies |= function.varies,
            Node::Stored { function, .. } => varies |= !function.deterministic,
            Node::AssignVariable(..) => varies = true,
            Node::UserVariable(_) => reads_variables = true,
            _ => {}
        });
    });
    plans.push(SubPlan { plan, varies, reads_variables, is_joined: false });
    SubqueryCall { number: plans.len() - 1, args: frame.into_args() }
}

/// Forgets all subqueries except the first `left` ones, and that common tables were bound as one
/// of them.
pub(super) fn forget_subqueries(plans: &mut Vec<SubPlan>, common: &mut [CommonTables], left: usize) {
    assert!(left <= plans.len(), "only subqueries that were bound are forgotten");
    plans.truncate(left);
    for state in common.iter_mut().flat_map(|common| &mut common.states) {
        if matches!(state, State::Bound { call, .. } if call.number >= left) {
            *state = State::Unbound;
        }
    }
    debug_assert!(
        common.iter().flat_map(|common| &common.states).all(|state| match state {
            State::Bound { call, .. } => call.number < plans.len(),
            State::Recursive(_) | State::Unbound => true,
        }),
        "a common table that is bound is one of the subqueries"
    );
}
