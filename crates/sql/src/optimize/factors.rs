//! Conditions that follow from an OR. `(a AND b) OR (a AND c)` is `a AND (b OR c)`, and tables may
//! then be joined by `a`. If each branch restricts one table, so does the whole OR.

use super::tables::{Mask, Tables};
use crate::expr::{Expr, Node};
use crate::plan::conjuncts;

/// Returns the conditions with the common conditions of each OR's branches taken out of it.
pub(super) fn factored(conditions: Vec<Expr>) -> Vec<Expr> {
    let mut all = Vec::with_capacity(conditions.len());
    for condition in conditions {
        match condition.node {
            Node::Or(_) if !condition.varies() => factor(condition, &mut all),
            _ => all.push(condition),
        }
    }
    all
}

fn factor(condition: Expr, into: &mut Vec<Expr>) {
    let Expr { node: Node::Or(branches), ty, nullable, coercibility } = condition else {
        unreachable!("the condition is an OR")
    };
    let mut branches: Vec<Vec<Expr>> = branches
        .into_iter()
        .map(|branch| {
            let mut parts = Vec::new();
            conjuncts(branch, &mut parts);
            parts
        })
        .collect();
    let candidates = branches.first().cloned().unwrap_or_default();
    for candidate in candidates {
        if branches.iter().all(|branch| branch.contains(&candidate)) {
            branches.iter_mut().for_each(|branch| branch.retain(|part| *part != candidate));
            into.push(candidate);
        }
    }
    // A branch that consisted of the common conditions alone is now always true, and so is the
    // whole OR.
    if branches.iter().any(Vec::is_empty) {
        return;
    }
    let whole = |node: Node| Expr { node, ty: ty.clone(), nullable, coercibility };
    let branches = branches
        .into_iter()
        .map(|mut parts| if parts.len() == 1 { parts.remove(0) } else { whole(Node::And(parts)) })
        .collect();
    into.push(whole(Node::Or(branches)));
}

/// Returns, for each OR over several tables, the conditions on single tables that follow from it.
/// The OR itself stays as it is.
pub(super) fn implied(tables: &Tables, conditions: &[Expr]) -> Vec<Expr> {
    let mut all = Vec::new();
    for condition in conditions {
        let Node::Or(branches) = &condition.node else { continue };
        let mask = tables.mask_of(condition);
        let named = (0..tables.leaves.len()).filter(|at| mask.has(*at));
        if mask.is_one() || condition.varies() {
            continue;
        }
        for at in named {
            let of_branches: Option<Vec<Expr>> =
                branches.iter().map(|branch| of_table(tables, branch, Mask::of(at))).collect();
            all.extend(of_branches.map(|branches| Expr { node: Node::Or(branches), ..condition.clone() }));
        }
    }
    all
}

/// Returns those conditions of a branch that depend on one table and nothing else. `None` if there
/// are none.
fn of_table(tables: &Tables, branch: &Expr, table: Mask) -> Option<Expr> {
    let mut parts = Vec::new();
    conjuncts(branch.clone(), &mut parts);
    parts.retain(|part| tables.mask_of(part) == table);
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(Expr { node: Node::And(parts), ..branch.clone() }),
    }
}
