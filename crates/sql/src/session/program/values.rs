//! Expressions without tables: bound once, and evaluated any number of times.

use super::around::{Around, lent};
use crate::ast;
use crate::bind::{Place, Scope};
use crate::error::Result;
use crate::exec::{Run, Subqueries};
use crate::expr::{Context, Expr, Level};
use crate::session::Session;
use crate::session::bound;
use crate::session::state::BoundValues;
use engine::{StatementContext, Transaction};
use types::{ColumnType, Value};

/// Binds expressions. `types` are the types of the program's variables.
pub(super) fn bind(session: &Session, written: &[ast::Expr], types: &[ColumnType]) -> Result<BoundValues> {
    let scope = Scope::default();
    let mut place = Place::new(&scope, "field list");
    let privileges = session.server.host.privileges_generation();
    let mut binder = session.binder();
    binder.parameters.types = types;
    binder.parameters.of_program = !types.is_empty();
    let exprs = written.iter().map(|written| binder.expr(written, &mut place)).collect::<Result<_>>()?;
    Ok(BoundValues {
        exprs,
        subqueries: binder.take_subqueries(),
        calls: binder.noted.calls_functions,
        complaints: binder.constants.complaints,
        cacheable: !binder.noted.uncacheable,
        tables: binder.noted.tables,
        generation: session.cache.generation(),
        privileges,
    })
}

fn eval_all(bound: &BoundValues, ctx: &Context<'_>) -> Result<Vec<Value>> {
    let value = |expr: &Expr| expr.eval(&[], ctx).and_then(|value| ctx.owned(value));
    bound.exprs.iter().map(value).collect()
}

fn eval_in(
    session: &Session,
    bound: &BoundValues,
    arguments: &[Value],
    transaction: &mut Transaction,
) -> Result<Vec<Value>> {
    let mut ctx = session.context(arguments, false);
    ctx.tables = &bound.tables;
    let read = |run: Run<'_, '_>| eval_all(bound, run.ctx);
    Subqueries::with(&bound.subqueries, transaction, &ctx, false, bound.calls, read)
}

/// Evaluates bound expressions. Subqueries and stored functions run in the calling statement's
/// transaction. Without one, they run in the session's, as a statement of its own.
pub(super) fn evaluate(
    session: &mut Session,
    around: Around<'_>,
    bound: &BoundValues,
    arguments: &[Value],
) -> Result<Vec<Value>> {
    for (code, text) in &bound.complaints {
        session.statement.diagnostics.borrow_mut().push(Level::Warning, *code, text);
    }
    if bound.subqueries.is_empty() && !bound.calls {
        return eval_all(bound, &session.context(arguments, false));
    }
    if let Some(shared) = around {
        return lent(shared, |transaction| eval_in(session, bound, arguments, transaction));
    }
    let mut transaction = session.transacting().take();
    let now_us = session.settings.now_us();
    let savepoint = transaction.begin_statement(StatementContext { timestamp_us: now_us, rows_query: None });
    let values = eval_in(session, bound, arguments, &mut transaction);
    match &values {
        Ok(_) => transaction.end_statement(),
        Err(_) => transaction.rollback_to(savepoint),
    }
    bound::finish_statement(session, transaction, values, true)
}

/// Evaluates the expressions of a statement that is not about rows. Returns their values and types.
pub(in crate::session) fn evaluate_written(
    session: &mut Session,
    written: &[ast::Expr],
) -> Result<Vec<(Value, ColumnType)>> {
    let arguments = std::mem::take(&mut session.parameters.arguments);
    let values = bind(session, written, &arguments.types).and_then(|bound| {
        let values = evaluate(session, None, &bound, &arguments.values)?;
        Ok(values.into_iter().zip(bound.exprs.into_iter().map(|expr| expr.ty)).collect())
    });
    session.parameters.arguments = arguments;
    values
}

/// As [`evaluate_written`], for one expression.
pub(in crate::session) fn evaluate_typed(
    session: &mut Session,
    written: &ast::Expr,
) -> Result<(Value, ColumnType)> {
    let mut values = evaluate_written(session, std::slice::from_ref(written))?;
    Ok(values.pop().expect("an expression has a value"))
}

/// As [`evaluate_typed`], without the type.
pub(in crate::session) fn evaluate_one(session: &mut Session, written: &ast::Expr) -> Result<Value> {
    evaluate_typed(session, written).map(|(value, _)| value)
}
