//! Moves the expressions and tables of a merged query into the query around it.

use crate::expr::{Expr, Node};
use crate::plan::{JoinTree, Leaf, Source};

/// Moves an expression: `offset` is added to its slots, and the arguments take the place of the
/// references to them.
pub(super) fn moved(mut expr: Expr, offset: usize, args: &[Expr]) -> Expr {
    debug_assert!(
        {
            let mut is_known = true;
            expr.visit(&mut |part| is_known &= !matches!(part.node, Node::Outer(at) if at >= args.len()));
            is_known
        },
        "each argument that a merged query names is given"
    );
    expr.change(&mut |part| match part.node {
        Node::Slot(slot) => part.node = Node::Slot(slot + offset),
        Node::Outer(at) => *part = args[at].clone(),
        _ => {}
    });
    expr
}

/// Moves a join tree. `first` is the position of its first table in the FROM around it.
pub(super) fn moved_tree(tree: JoinTree, first: usize, offset: usize, args: &[Expr]) -> JoinTree {
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

/// Moves a table.
pub(super) fn moved_leaf(mut leaf: Leaf, offset: usize, args: &[Expr]) -> Leaf {
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

/// Returns the number of nodes of an expression after its arguments have been put in place.
pub(super) fn nodes_of(expr: &Expr, args: &[Expr]) -> usize {
    let mut nodes = 0;
    expr.visit(&mut |part| {
        nodes += 1;
        if let Node::Outer(at) = part.node {
            args[at].visit(&mut |_| nodes += 1);
        }
    });
    nodes
}
