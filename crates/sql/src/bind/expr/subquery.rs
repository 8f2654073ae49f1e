//! Binding of subqueries in expressions.

use super::result_type::boolean;
use crate::ast::{self, BinaryOp};
use crate::bind::subqueries::{add_subquery, forget_subqueries};
use crate::bind::{Binder, Frame, Place};
use crate::error::{Result, SqlError};
use crate::expr::{
    self, Coercibility, Expr, Node, NumericClass, Quantified, RowSubquery, SubqueryUse, comparison_collation,
    is_text,
};
use crate::plan::{QueryBody, QueryPlan};
use crate::sink::column_flag;
use types::{TypeCode, collation};

/// The comparison with a subquery's rows: the operator, whether it must hold for all rows or for
/// any, and whether the result is negated.
#[derive(Clone, Copy)]
pub(super) struct Quantifier {
    pub op: BinaryOp,
    pub all: bool,
    pub negated: bool,
}

fn wrong_columns(columns: usize) -> SqlError {
    SqlError::new(1241, format!("Operand should contain {columns} column(s)"))
}

/// Returns a column of a subquery as an expression with which the comparison's type and collation
/// are found.
fn column(plan: &QueryPlan, at: usize) -> Expr {
    let meta = &plan.columns[at];
    let coercibility = if is_text(&meta.ty) { plan.coercibility(at) } else { Coercibility::Numeric };
    let nullable = meta.flags & column_flag::NOT_NULL == 0;
    Expr { node: Node::Constant(types::Value::Null), ty: meta.ty.clone(), nullable, coercibility }
}

/// Reports whether two values of these types are equal exactly when their hash keys are.
fn have_equal_keys(a: &Expr, b: &Expr) -> bool {
    let is_text = |expr: &Expr| is_text(&expr.ty) && !expr.is_json() && !is_named_number(expr);
    let class = |expr: &Expr| {
        (expr::is_number(&expr.ty) || expr.ty.is_integer()).then(|| expr::numeric_class(&expr.ty))
    };
    if is_text(a) && is_text(b) {
        return true;
    }
    matches!(
        (class(a), class(b)),
        (Some(NumericClass::Integer), Some(NumericClass::Integer))
            | (Some(NumericClass::Decimal), Some(NumericClass::Decimal))
    ) && a.ty.is_integer() == b.ty.is_integer()
}

/// Reports whether the type of an operand says too little: the value of a parameter or a variable
/// may be of any kind when the statement runs, and a column with a text form (UUID, INET4, INET6)
/// compares by its own rules.
fn is_named_number(expr: &Expr) -> bool {
    matches!(expr.node, Node::Parameter(_) | Node::UserVariable(_) | Node::SystemVariable { .. })
        || expr.ty.text_form().is_some()
}

/// Returns the position of the argument that the subquery `(SELECT outer_column)` stands for.
/// `None` for other subqueries.
fn named_alone(plan: &QueryPlan) -> Option<usize> {
    let QueryBody::Select(select) = &plan.body else { return None };
    let is_plain = select.tables.is_empty()
        && select.preconditions.is_empty()
        && select.grouping.is_none()
        && select.having.is_none()
        && select.limit.is_none();
    match &select.outputs[..] {
        [Expr { node: Node::Outer(at), .. }] if is_plain => Some(*at),
        _ => None,
    }
}

/// Binds a subquery in this place.
fn subquery(binder: &mut Binder<'_>, query: &ast::Query, frame: &Frame<'_>) -> Result<QueryPlan> {
    binder.around.subquery_levels += 1;
    let plan = crate::bind::bind_query(binder, query, Some(frame));
    binder.around.subquery_levels -= 1;
    plan
}

/// Binds `(SELECT ...)` as a value.
pub(super) fn scalar_subquery(
    binder: &mut Binder<'_>,
    query: &ast::Query,
    place: &Place<'_>,
) -> Result<Expr> {
    let (frame, first) = (place.frame(), binder.subqueries.len());
    let mut plan = subquery(binder, query, &frame)?;
    let [meta] = &plan.columns[..] else { return Err(wrong_columns(1)) };
    let ty = match meta.ty.code {
        // The year of a subquery is shown as one that an expression makes.
        TypeCode::Year => expr::made_year(),
        _ => meta.ty.clone().without_zerofill(),
    };
    let coercibility = plan.coercibility(0);
    if let Some(named) = named_alone(&plan) {
        forget_subqueries(&mut binder.subqueries, &mut binder.common, first);
        return Ok(frame.into_args().swap_remove(named));
    }
    plan.want_rows(2, false);
    let call = add_subquery(&mut binder.subqueries, plan, frame, first);
    let node = Node::Subquery { call, what: SubqueryUse::Scalar };
    Ok(Expr { node, ty, nullable: true, coercibility })
}

pub(super) fn exists(binder: &mut Binder<'_>, query: &ast::Query, place: &Place<'_>) -> Result<Expr> {
    let (frame, first) = (place.frame(), binder.subqueries.len());
    frame.only_compares();
    let mut plan = subquery(binder, query, &frame)?;
    plan.want_rows(1, true);
    let call = add_subquery(&mut binder.subqueries, plan, frame, first);
    Ok(boolean(Node::Subquery { call, what: SubqueryUse::Exists }, false))
}

/// Binds a comparison like `(a, b) = (SELECT ...)`.
pub(super) fn row_and_subquery(
    binder: &mut Binder<'_>,
    op: BinaryOp,
    row: &[ast::Expr],
    query: &ast::Query,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let operands = binder.exprs(row, place)?;
    let (frame, first) = (place.frame(), binder.subqueries.len());
    let mut plan = subquery(binder, query, &frame)?;
    if plan.columns.len() != operands.len() {
        return Err(wrong_columns(operands.len()));
    }
    let columns: Vec<Expr> = (0..plan.columns.len()).map(|at| column(&plan, at)).collect();
    let beside = |(operand, column): (Expr, &Expr)| operand.beside(&column.ty);
    let operands: Vec<Expr> = operands.into_iter().zip(&columns).map(beside).collect();
    let collations = collations(op, &operands, &columns)?;
    plan.want_rows(2, false);
    let call = add_subquery(&mut binder.subqueries, plan, frame, first);
    Ok(boolean(Node::RowSubquery(Box::new(RowSubquery { op, operands, collations, call })), true))
}

/// Binds IN, ANY and ALL.
pub(super) fn quantified(
    binder: &mut Binder<'_>,
    kind: Quantifier,
    operand: &ast::Expr,
    query: &ast::Query,
    place: &mut Place<'_>,
) -> Result<Expr> {
    let operands = match operand {
        ast::Expr::Row(row) => binder.exprs(row, place)?,
        one => vec![binder.expr(one, place)?],
    };
    if query.limit.is_some() {
        return Err(SqlError::not_supported("LIMIT & IN/ALL/ANY/SOME subquery"));
    }
    let (frame, first) = (place.frame(), binder.subqueries.len());
    frame.only_compares();
    if let ([only], BinaryOp::Equal, false) = (&operands[..], kind.op, kind.all) {
        let needle = binder.copied(only)?;
        frame.needle.set(Some(needle));
    }
    let mut plan = subquery(binder, query, &frame)?;
    if plan.columns.len() != operands.len() {
        return Err(wrong_columns(operands.len()));
    }
    let equality = matches!((kind.op, kind.all), (BinaryOp::Equal, false) | (BinaryOp::NotEqual, true));
    if operands.len() > 1 && !equality {
        return Err(wrong_columns(1));
    }
    let columns: Vec<Expr> = (0..plan.columns.len()).map(|at| column(&plan, at)).collect();
    let looked_for = if kind.all { opposite(kind.op) } else { kind.op };
    let collations = collations(looked_for, &operands, &columns)?;
    let hashes = (kind.op, kind.all) == (BinaryOp::Equal, false)
        && operands.iter().zip(&columns).all(|(operand, column)| have_equal_keys(operand, column));
    let nullable = operands.iter().chain(&columns).any(|expr| expr.nullable);
    if let QueryBody::Select(select) = &mut plan.body {
        select.forget_order();
    }
    let Quantifier { op, all, negated } = kind;
    let call = add_subquery(&mut binder.subqueries, plan, frame, first);
    let quantified = Quantified { op, all, negated, operands, collations, call, hashes };
    Ok(boolean(Node::Quantified(Box::new(quantified)), nullable))
}

/// Returns the comparison that holds exactly when this one does not. ALL searches for a row for
/// which it holds.
fn opposite(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        other => other,
    }
}

/// Returns the collations in which the operands are compared with the columns of a subquery.
fn collations(op: BinaryOp, operands: &[Expr], columns: &[Expr]) -> Result<Vec<u16>> {
    let of = |(operand, column): (&Expr, &Expr)| match is_text(&operand.ty) && is_text(&column.ty) {
        true => comparison_collation(op.symbol(), [operand, column].into_iter()),
        false => Ok(collation::UTF8MB4_0900_AI_CI),
    };
    operands.iter().zip(columns).map(of).collect()
}
