//! The columns of a step that conditions compare with constants.
//!
//! In: a condition. Out: which column of the step's table an operand is, and the value of the other
//! operand, if it is the same for all rows.

use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Context, Expr, Node, SubqueryCall, SubqueryUse};
use crate::plan::TableStep;
use std::borrow::Cow;
use types::row::RowLayout;
use types::{ColumnType, TypeCode, Value};

/// The columns of a step.
pub(super) struct Columns<'s> {
    pub layout: &'s RowLayout,
    pub step: &'s TableStep,
}

impl Columns<'_> {
    pub fn types(&self) -> &[ColumnType] {
        self.layout.types()
    }

    /// Returns the column that the expression is.
    pub fn column(&self, expr: &Expr) -> Option<usize> {
        let Node::Slot(slot) = expr.node else { return None };
        slot.checked_sub(self.step.base).filter(|column| *column < self.layout.columns())
    }

    /// Returns the only column of a comparison, how it compares with the other operand, and that
    /// operand.
    pub fn sided<'e>(&self, op: BinaryOp, a: &'e Expr, b: &'e Expr) -> Option<(usize, BinaryOp, &'e Expr)> {
        match (self.column(a), self.column(b)) {
            (Some(column), None) => Some((column, op, b)),
            (None, Some(column)) => Some((column, mirrored(op)?, a)),
            _ => None,
        }
    }
}

/// Returns the value of an expression that is the same for all rows of the statement. `None` means
/// that the expression is not known to be one, or is NULL.
pub(super) fn constant<'v>(expr: &'v Expr, ctx: &'v Context<'_>) -> Result<Option<Cow<'v, Value>>> {
    let value = match &expr.node {
        Node::Subquery { call, what: SubqueryUse::Scalar } => known_value(call, ctx).map(Cow::Owned),
        _ if is_constant(expr) => Some(expr.eval(&[], ctx)?),
        _ => None,
    };
    Ok(value.filter(|value| !value.is_null()))
}

/// Returns the value of a subquery that depends on no row and has been run already.
fn known_value(call: &SubqueryCall, ctx: &Context<'_>) -> Option<Value> {
    let subqueries = ctx.subqueries.filter(|_| call.args.is_empty())?;
    let rows = subqueries.known_rows(call.number).filter(|rows| rows.len() == 1)?;
    Some(rows.first.first()?.first()?.clone())
}

/// Functions that say the moment of the statement, without a warning.
const OF_THE_MOMENT: [&str; 4] = ["now", "curdate", "utc_date", "utc_timestamp"];

fn is_constant(expr: &Expr) -> bool {
    match &expr.node {
        Node::Constant(_) | Node::Parameter(_) | Node::Outer(_) => true,
        Node::DateAdd { operands, .. } => operands.iter().all(is_constant),
        Node::Call { function, args } => {
            OF_THE_MOMENT.contains(&function.name) && args.iter().all(is_constant)
        }
        Node::Arithmetic { op: BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, operands } => {
            operands.iter().all(|operand| is_constant(operand) && operand.ty.code == TypeCode::NewDecimal)
        }
        _ => false,
    }
}

/// Returns the comparison with its operands in the other order.
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal | BinaryOp::NotEqual => op,
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        _ => return None,
    })
}
