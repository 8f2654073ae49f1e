//! The clauses of queries that are alike wherever they stand: what is behind a query, LIMIT,
//! positions in the select list.

use super::super::logging::Unsafe;
use super::super::{Binder, Place, Scope};
use crate::ast::{self, LockClause};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::plan::LimitPlan;
use crate::sink::ColumnMeta;

/// What the description of a result's column takes: its names are short.
pub(super) const META_BYTES: usize = size_of::<ColumnMeta>() + 5 * 32;

/// What stands behind a query, and is about all of it.
#[derive(Clone, Copy)]
pub(super) struct Behind<'q> {
    pub order_by: &'q [ast::OrderItem],
    pub limit: Option<&'q ast::Limit>,
    pub locks: &'q [LockClause],
    pub stands: Stands,
}

/// Where a query stands, as far as it is not said by what is around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    Alone,
    /// It is a derived table's or a view's.
    AsTable,
    /// It is one of a UNION: its order counts for nothing but its LIMIT.
    InUnion,
}

impl<'q> Behind<'q> {
    pub fn of(query: &'q ast::Query) -> Behind<'q> {
        Behind {
            order_by: &query.order_by,
            limit: query.limit.as_ref(),
            locks: &query.locks,
            stands: Stands::Alone,
        }
    }

    /// Of a part of the query: it is locked as the whole.
    pub fn of_part(self) -> Behind<'q> {
        Behind { order_by: &[], limit: None, stands: Stands::InUnion, ..self }
    }
}

pub(in crate::bind) fn limit(
    binder: &mut Binder<'_>,
    written: Option<&ast::Limit>,
) -> Result<Option<LimitPlan>> {
    let Some(written) = written else { return Ok(None) };
    binder.logging.reasons.insert(Unsafe::Limit);
    let scope = Scope::default();
    let mut place = Place::new(&scope, "limit clause");
    let count = binder.expr(&written.count, &mut place)?;
    let offset = written.offset.as_ref().map(|offset| binder.expr(offset, &mut place)).transpose()?;
    Ok(Some(LimitPlan { count, offset }))
}

/// `ORDER BY 2`: the position from 0.
pub(super) fn position(written: &ast::Expr, columns: usize) -> Result<Option<usize>> {
    match written {
        ast::Expr::Literal(ast::Literal::Integer(n)) => match usize::try_from(*n) {
            Ok(n) if (1..=columns).contains(&n) => Ok(Some(n - 1)),
            _ => Err(SqlError::unknown_column(n, "order clause")),
        },
        _ => Ok(None),
    }
}

/// The select list.
pub(super) struct Items {
    pub outputs: Vec<Expr>,
    pub names: Vec<String>,
    /// Aliases that were written.
    pub aliases: Vec<(String, Expr)>,
}
