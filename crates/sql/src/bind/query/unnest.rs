//! Subqueries in WHERE that become joins: EXISTS and IN a semi-join, NOT EXISTS and NOT IN an
//! anti-join.
//!
//! In: the conjuncts of a query's WHERE, whose subqueries are bound. Out: the tables of such a
//! subquery beside those of the query, and what was asked of it as the condition of a join. The
//! subquery's own plan stays where it is, and nobody runs it. NOT IN is an anti-join only where
//! nothing that is compared can be NULL: else a row of which it is not known whether it is among
//! the subquery's would come.

use super::super::{Binder, NODE_BYTES};
use super::joined_tables::From;
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Coercibility, Expr, Node, SubqueryCall, SubqueryUse};
use crate::optimize::Mask;
use crate::plan::{JoinTree, Joining, Leaf, QueryBody, Source, Unplanned};
use types::ColumnType;

/// What a conjunct asks of a subquery.
struct Asked<'e> {
    joining: Joining,
    call: &'e SubqueryCall,
    /// What its columns are compared with, and in which collations.
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

/// The expression in the query around: its slots lie `offset` further, and the arguments are known.
fn moved(mut expr: Expr, offset: usize, args: &[Expr]) -> Expr {
    expr.change(&mut |part| match part.node {
        Node::Slot(slot) => part.node = Node::Slot(slot + offset),
        Node::Outer(at) => *part = args[at].clone(),
        _ => {}
    });
    expr
}

fn moved_tree(tree: JoinTree, first: usize, offset: usize, args: &[Expr]) -> JoinTree {
    match tree {
        JoinTree::Table(at) => JoinTree::Table(at + first),
        JoinTree::Join { joining, left, right, on } => JoinTree::Join {
            joining,
            left: Box::new(moved_tree(*left, first, offset, args)),
            right: Box::new(moved_tree(*right, first, offset, args)),
            on: on.into_iter().map(|condition| moved(condition, offset, args)).collect(),
        },
    }
}

fn moved_leaf(mut leaf: Leaf, offset: usize, args: &[Expr]) -> Leaf {
    leaf.base += offset;
    let move_all = |exprs: &mut Vec<Expr>| {
        *exprs = std::mem::take(exprs).into_iter().map(|expr| moved(expr, offset, args)).collect();
    };
    move_all(&mut leaf.chosen);
    if let Source::Subquery(call) = &mut leaf.source {
        move_all(&mut call.args);
    }
    leaf
}

/// Nodes of an expression, once its arguments are in their places.
fn nodes_of(expr: &Expr, args: &[Expr]) -> usize {
    let mut nodes = 0;
    expr.visit(&mut |part| {
        nodes += 1;
        if let Node::Outer(at) = part.node {
            args[at].visit(&mut |_| nodes += 1);
        }
    });
    nodes
}

impl Binder<'_> {
    /// Makes joins of those conjuncts that can be joins; `slots` are those of all tables, to which
    /// the subqueries' are added.
    pub(super) fn unnest(
        &mut self,
        filter: &mut Vec<Expr>,
        from: &mut From,
        slots: &mut usize,
    ) -> Result<()> {
        let mut rest = Vec::with_capacity(filter.len());
        for conjunct in std::mem::take(filter) {
            let joined = match asked(&conjunct) {
                Some(asked) => self.unnested(&asked, from, slots)?,
                None => false,
            };
            if !joined {
                rest.push(conjunct);
            }
        }
        *filter = rest;
        Ok(())
    }

    /// Adds a subquery's tables to FROM; false: it stays a subquery.
    fn unnested(&mut self, asked: &Asked<'_>, from: &mut From, slots: &mut usize) -> Result<bool> {
        let Asked { joining, call, operands, collations } = asked;
        let subquery = &mut self.subqueries[call.number];
        if subquery.varies || subquery.reads_variables || from.tree.is_none() {
            return Ok(false);
        }
        let QueryBody::Select(select) = &mut subquery.plan.body else { return Ok(false) };
        // Nobody else asks for it.
        let Some(unplanned) = select.unplanned.take() else { return Ok(false) };
        let Unplanned { leaves, tree, conditions, outputs, slots: own_slots } = *unplanned;
        let compared = || operands.iter().zip(&outputs);
        // A join that depends on nothing is better computed once.
        let is_computed_once = call.args.is_empty() && leaves.len() > 1 && !operands.is_empty();
        let may_be_unknown = compared().any(|(operand, output)| operand.nullable || output.nullable);
        let varies = compared().any(|(operand, output)| operand.varies() || output.varies());
        let is_full = from.tables.len() + leaves.len() > Mask::MOST;
        if is_computed_once || is_full || varies || *joining == Joining::Anti && may_be_unknown {
            return Ok(false);
        }
        // The operands are of the query around: its arguments are other ones.
        let mut nodes = 0;
        operands.iter().for_each(|operand| operand.visit(&mut |_| nodes += 1));
        let moved_exprs = conditions.iter().chain(&outputs);
        nodes += moved_exprs.map(|expr| nodes_of(expr, &call.args)).sum::<usize>();
        self.may_make(nodes * NODE_BYTES)?;
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
        self.subqueries[call.number].is_joined = true;
        Ok(true)
    }
}
