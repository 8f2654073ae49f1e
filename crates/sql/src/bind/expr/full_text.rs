//! MATCH ... AGAINST.

use crate::ast;
use crate::bind::{Binder, Place};
use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, Expr, Match, Node};
use types::ColumnType;

fn wrong_arguments(of: &str) -> SqlError {
    SqlError::new(1210, format!("Incorrect arguments to {of}"))
}

/// Which index is searched is known only when views have become their tables:
/// [`crate::bind::searched::resolve`].
// Binding an expression recurses, and its frames must stay small.
#[inline(never)]
pub(super) fn match_against(
    binder: &mut Binder<'_>,
    written: &ast::Match,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let mut operands = Vec::with_capacity(written.columns.len() + 1);
    for column in &written.columns {
        let column = binder.expr(column, place)?;
        if matches!(column.node, Node::Outer(_)) {
            return Err(wrong_arguments("MATCH"));
        }
        operands.push(column);
    }
    let text = binder.expr(&written.text, place)?;
    let mut is_constant = true;
    text.visit(&mut |expr| {
        is_constant &= match &expr.node {
            Node::Slot(_) | Node::Outer(_) | Node::InsertedValue(_) => false,
            Node::Call { function, .. } => !function.varies,
            _ => true,
        };
    });
    if !is_constant {
        return Err(wrong_arguments("AGAINST"));
    }
    operands.push(text);
    Ok(Expr {
        node: Node::Match(Box::new(Match { operands, mode: written.mode, index: None })),
        ty: ColumnType::double(),
        nullable: true,
        coercibility: Coercibility::Numeric,
    })
}
