//! Unnesting of subqueries in WHERE: EXISTS and IN become semi-joins, NOT EXISTS and NOT IN become
//! anti-joins.
//!
//! In: the conjuncts of a query's WHERE, whose subqueries are bound. Out: the tables of such a
//! subquery beside those of the query, with the conjunct as the condition of a join. The subquery's
//! own plan stays where it is and is never run. NOT IN becomes an anti-join only if nothing that is
//! compared can be NULL. Otherwise the join would yield rows for which the comparison yields NULL.

use super::super::{Binder, NODE_BYTES};
use super::joined_tables::From;
use super::moved::{moved, moved_leaf, moved_tree, nodes_of};
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Coercibility, Expr, Node, SubqueryCall, SubqueryUse};
use crate::optimize::Mask;
use crate::plan::{JoinTree, Joining, QueryBody, Unplanned};
use crate::variables::Switch;
use types::ColumnType;

/// A conjunct that tests a subquery, and the join that it may become.
struct Asked<'e> {
    joining: Joining,
    call: &'e SubqueryCall,
    /// The operands that the subquery's columns must equal, and the collations of the comparisons.
    operands: &'e [Expr],
    collations: &'e [u16],
}

fn asked(conjunct: &Expr) -> Option<Asked<'_>> {
    match &conjunct.node {
        Node::Subquery { call, what: SubqueryUse::Exists } => {
            Some(Asked { joining: Joining::Semi, call, operands: &[], collations: &[] })
        }
        Node::Quantified(asked) if asked.op == BinaryOp::Equal && !asked.all => {
            let joining = if asked.negated { Joining::Anti } else { Joining::Semi };
            let (call, operands, collations) = (&asked.call, &asked.operands, &asked.collations);
            Some(Asked { joining, call, operands, collations })
        }
        Node::Not(inner) => {
            let inner = asked(inner).filter(|inner| inner.joining == Joining::Semi)?;
            Some(Asked { joining: Joining::Anti, ..inner })
        }
        _ => None,
    }
}

/// Turns those conjuncts into joins that can be joins. `slots` is the number of slots of all
/// tables, to which those of the subqueries are added.
pub(super) fn unnest(
    binder: &mut Binder<'_>,
    filter: &mut Vec<Expr>,
    from: &mut From,
    slots: &mut usize,
) -> Result<()> {
    let mut rest = Vec::with_capacity(filter.len());
    for conjunct in std::mem::take(filter) {
        let joined = match asked(&conjunct) {
            Some(asked) => unnested(binder, &asked, from, slots)?,
            None => false,
        };
        if !joined {
            rest.push(conjunct);
        }
    }
    *filter = rest;
    Ok(())
}

/// Adds a subquery's tables to FROM. Returns false if it stays a subquery.
fn unnested(binder: &mut Binder<'_>, asked: &Asked<'_>, from: &mut From, slots: &mut usize) -> Result<bool> {
    let Asked { joining, call, operands, collations } = asked;
    let subquery = &mut binder.subqueries[call.number];
    if subquery.varies || subquery.reads_variables || from.tree.is_none() {
        return Ok(false);
    }
    let QueryBody::Select(select) = &mut subquery.plan.body else { return Ok(false) };
    let hinted = select.unplanned.as_ref().and_then(|unplanned| unplanned.semijoin);
    if !hinted.unwrap_or_else(|| binder.variables.switches.is_on(Switch::Semijoin)) {
        return Ok(false);
    }
    // Only this conjunct names the subquery, so the query may be taken even if it stays a subquery.
    let Some(unplanned) = select.unplanned.take() else { return Ok(false) };
    let Unplanned { leaves, tree, conditions, outputs, slots: own_slots, .. } = *unplanned;
    let compared = || operands.iter().zip(&outputs);
    // A join that depends on no outer row is cheaper to compute once, as a subquery.
    let is_computed_once = call.args.is_empty() && leaves.len() > 1 && !operands.is_empty();
    let may_be_unknown = compared().any(|(operand, output)| operand.nullable || output.nullable);
    let varies = compared().any(|(operand, output)| operand.varies() || output.varies());
    let is_full = from.tables.len() + leaves.len() > Mask::MOST;
    if is_computed_once || is_full || varies || *joining == Joining::Anti && may_be_unknown {
        return Ok(false);
    }
    // The operands belong to the query around, so the subquery's arguments do not occur in them.
    let mut nodes = 0;
    operands.iter().for_each(|operand| operand.visit(&mut |_| nodes += 1));
    let moved_exprs = conditions.iter().chain(&outputs);
    nodes += moved_exprs.map(|expr| nodes_of(expr, &call.args)).sum::<usize>();
    binder.may_make(nodes * NODE_BYTES)?;
    let (offset, first, args) = (*slots, from.tables.len(), &call.args[..]);
    let equalities = compared().zip(*collations).map(|((operand, output), collation)| {
        let operands = Box::new([operand.clone(), moved(output.clone(), offset, args)]);
        Expr {
            node: Node::Compare { op: BinaryOp::Equal, operands, collation: *collation },
            ty: ColumnType::int(false),
            nullable: may_be_unknown,
            coercibility: Coercibility::Numeric,
        }
    });
    let equalities: Vec<Expr> = equalities.collect();
    let on = conditions.into_iter().map(|condition| moved(condition, offset, args));
    let on = on.chain(equalities).collect();
    let right = Box::new(moved_tree(tree, first, offset, args));
    from.tables.extend(leaves.into_iter().map(|leaf| moved_leaf(leaf, offset, args)));
    *slots += own_slots;
    let left = Box::new(from.tree.take().expect("FROM has tables"));
    from.tree = Some(JoinTree::Join { joining: *joining, left, right, on });
    binder.subqueries[call.number].is_joined = true;
    Ok(true)
}
