//! What a subquery sees of the queries around it.
//!
//! A name that the query's own tables do not have is looked for in the query around it, in the
//! place where the subquery stands, and so on outwards. The column that is found becomes an
//! argument of the subquery, and of each subquery between the two queries.

use super::subqueries::forget_subqueries;
use super::{Binder, Constants, Frame, NODE_BYTES, Place};
use crate::ast;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node};

/// Returns the column with this name that belongs to one of the queries around a subquery.
/// `None` if there is none.
///
/// # Errors
/// Returns 1052 for an ambiguous name, with the clause in which it is written, and 1143 when
/// the account may not read the column.
pub(super) fn outer_column(
    binder: &mut Binder<'_>,
    frame: &Frame<'_>,
    (schema, table, name): (Option<&str>, Option<&str>, &str),
    clause: &'static str,
) -> Result<Option<Expr>> {
    binder.may_make(NODE_BYTES)?;
    let found = frame.scope.resolve(schema, table, name, clause);
    let named = ast::NamedColumn { schema, table, name };
    let beside = frame.inserted.and_then(|inserted| inserted.beside(&found, named, clause));
    let found = match beside.unwrap_or(found) {
        Ok(found) => {
            binder.view.check_readable(&found, frame.scope)?;
            found
        }
        Err(error) if error.code != 1054 => return Err(error),
        Err(_) => {
            let is_it = |(alias, _): &&(String, Expr)| table.is_none() && alias.eq_ignore_ascii_case(name);
            match (frame.aliases.iter().find(is_it), frame.parent) {
                (Some((_, expr)), _) => binder.copied(expr)?,
                (None, Some(parent)) => match outer_column(binder, parent, (schema, table, name), clause)? {
                    Some(found) => found,
                    None => return Ok(None),
                },
                (None, None) => return Ok(None),
            }
        }
    };
    Ok(Some(frame.argument(found)))
}

/// Returns the value of VALUES() if the statement around a subquery inserts rows. `None` if it
/// does not.
pub(super) fn outer_inserted_value(
    constants: &mut Constants,
    frame: &Frame<'_>,
    name: &str,
) -> Option<Result<Expr>> {
    let found = match (frame.inserted, frame.parent) {
        (Some(inserted), _) => Some(inserted.values(name, constants)),
        (None, Some(parent)) => outer_inserted_value(constants, parent, name),
        (None, None) => None,
    };
    found.map(|found| found.map(|found| frame.argument(found)))
}

/// Returns the frames from a subquery in which an aggregate is written outwards to the query that
/// the aggregate belongs to. Among the queries whose columns it names, the innermost one gets it,
/// if aggregates are allowed in the place where the subquery stands. `None` if it belongs to the
/// query in which it is written.
pub(super) fn frames_of_aggregate<'s>(
    binder: &mut Binder<'_>,
    call: &ast::FunctionCall,
    place: &mut Place<'s>,
) -> Result<Option<Vec<&'s Frame<'s>>>> {
    let Some(frame) = place.outer else { return Ok(None) };
    let level = level_of(binder, call, place)?;
    let mut chain: Vec<&'s Frame<'s>> = std::iter::successors(Some(frame), |frame| frame.parent).collect();
    let first_that_may = |chain: &[&Frame<'_>]| chain.iter().position(|frame| frame.aggregates.is_some());
    let at = match level {
        Some(0) => None,
        None if place.aggregates.is_some() => None,
        None => first_that_may(&chain),
        Some(level) if chain[level - 1].is_aggregated => {
            return Err(SqlError::new(1111, "Invalid use of group function"));
        }
        Some(level) if chain[level - 1].aggregates.is_some() => Some(level - 1),
        Some(level) => first_that_may(&chain[..level - 1]),
    };
    Ok(at.map(|at| {
        chain.truncate(at + 1);
        chain
    }))
}

/// Returns how many queries outwards the innermost query is whose columns the aggregate's
/// arguments name. 0 is the query in which the aggregate is written. `None` if the arguments
/// name no columns.
fn level_of(
    binder: &mut Binder<'_>,
    call: &ast::FunctionCall,
    place: &mut Place<'_>,
) -> Result<Option<usize>> {
    let Some(frame) = place.outer else { return Ok(Some(0)) };
    let (marks, subqueries) = (frame.marks(), binder.subqueries.len());
    let mut arguments =
        Place { aggregates: None, windows: None, aliases: &[], shown: &[], only: None, ..*place };
    let mut bound = Vec::new();
    for arg in call.args.iter().chain(call.order_by.iter().map(|item| &item.expr)) {
        bound.push(binder.expr(arg, &mut arguments));
    }
    let bound: Result<Vec<Expr>> = bound.into_iter().collect();
    let level = bound.map(|bound| bound.iter().filter_map(|expr| level_in(expr, frame)).min());
    frame.forget(marks);
    forget_subqueries(&mut binder.subqueries, &mut binder.common, subqueries);
    level
}

/// Returns how many queries outwards the innermost query is whose columns the expression names.
fn level_in(expr: &Expr, frame: &Frame<'_>) -> Option<usize> {
    let mut level = None;
    expr.visit(&mut |expr| {
        let found = match expr.node {
            Node::Slot(_) | Node::InsertedValue(_) => Some(0),
            Node::Outer(at) => {
                let arg = frame.args.borrow()[at].clone();
                match frame.parent {
                    Some(parent) => level_in(&arg, parent).map(|level| level + 1),
                    None => Some(1),
                }
            }
            _ => None,
        };
        level = match (level, found) {
            (Some(a), Some(b)) => Some(std::cmp::min::<usize>(a, b)),
            (a, b) => a.or(b),
        };
    });
    level
}
