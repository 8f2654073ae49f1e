//! Columns whose bytes have a text (UUID, INET4, INET6): how their values compare and sort.
//!
//! Their values are texts. Two of them are equal when their texts are, once a constant is written
//! as the type writes it; their order is that of the bytes.

use crate::ast::BinaryOp;
use crate::expr::{Coercibility, Expr, Node, TEXT_ORDER};
use types::{ColumnType, TextForm, Value};

/// Bytes of the longest order.
const MOST_BYTES: u32 = 16;

/// The form of a column; `None` for every other expression.
fn form_of(expr: &Expr) -> Option<TextForm> {
    expr.ty.text_form().filter(|_| matches!(expr.node, Node::Slot(_)))
}

/// What is sorted by in place of an expression.
pub(super) fn in_order(expr: Expr) -> Expr {
    match form_of(&expr) {
        Some(form) => ordered(expr, form),
        None => expr,
    }
}

/// The bytes in whose order the texts are.
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

/// The operands of a comparison, so that comparing them as texts or bytes is right.
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

/// An item of a list that a column is looked for in.
pub(super) fn beside(item: Expr, operand: &Expr) -> Expr {
    match form_of(operand) {
        Some(form) => canonical(item, form),
        None => item,
    }
}

/// A constant as the type writes it; anything else as it is.
fn canonical(mut expr: Expr, form: TextForm) -> Expr {
    if let Node::Constant(Value::Bytes(text)) = &mut expr.node
        && let Some(canonical) = form.canonical(text)
    {
        *text = canonical;
    }
    expr
}
