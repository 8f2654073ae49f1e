//! Columns whose bytes have a text form (UUID, INET4, INET6): how their values compare and sort.
//!
//! The values of such columns are texts. Two of them are equal when the texts are equal, once a
//! constant is rewritten to the type's own spelling. Their order is that of the bytes.

use crate::ast::BinaryOp;
use crate::expr::{Coercibility, Expr, Node, TEXT_ORDER};
use types::{ColumnType, TextForm, Value};

/// The length in bytes of the longest value that is sorted by.
const MOST_BYTES: u32 = 16;

/// Returns the text form of a column. `None` for every other expression.
fn form_of(expr: &Expr) -> Option<TextForm> {
    expr.ty.text_form().filter(|_| matches!(expr.node, Node::Slot(_)))
}

/// Returns the expression to sort by in place of this one.
pub(super) fn in_order(expr: Expr) -> Expr {
    match form_of(&expr) {
        Some(form) => ordered(expr, form),
        None => expr,
    }
}

/// Returns an expression for the bytes that order the texts.
fn ordered(expr: Expr, form: TextForm) -> Expr {
    let ty = ColumnType { form: ColumnType::of_text(form).form, ..expr.ty.clone() };
    let arg = Expr { ty, ..expr };
    Expr {
        node: Node::Call { function: &TEXT_ORDER, args: vec![arg] },
        ty: ColumnType::varbinary(MOST_BYTES),
        nullable: true,
        coercibility: Coercibility::Numeric,
    }
}

/// Returns the operands of a comparison in such a form that comparing them as texts or bytes is
/// correct.
pub(super) fn comparable(op: BinaryOp, [left, right]: [Expr; 2]) -> [Expr; 2] {
    let Some(form) = form_of(&left).or(form_of(&right)) else { return [left, right] };
    let operands = [canonical(left, form), canonical(right, form)];
    match op {
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
            operands.map(|operand| ordered(operand, form))
        }
        _ => operands,
    }
}

/// Returns an item of an IN list in the spelling of the operand's type.
pub(super) fn beside(item: Expr, operand: &Expr) -> Expr {
    match form_of(operand) {
        Some(form) => canonical(item, form),
        None => item,
    }
}

/// Rewrites a constant to the type's own spelling. Other expressions stay unchanged.
fn canonical(mut expr: Expr, form: TextForm) -> Expr {
    if let Node::Constant(Value::Bytes(text)) = &mut expr.node
        && let Some(canonical) = form.canonical(text)
    {
        *text = canonical;
    }
    expr
}
