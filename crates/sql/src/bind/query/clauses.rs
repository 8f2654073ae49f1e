//! The clauses that are alike in all queries: ORDER BY, LIMIT and locks behind a query, and
//! positions in the select list.

use super::super::logging::Unsafe;
use super::super::{Binder, Place, Scope};
use crate::ast::{self, LockClause};
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node};
use crate::plan::LimitPlan;
use crate::sink::ColumnMeta;

/// The bytes charged for the description of a result's column, on the assumption that its five
/// names are short.
pub(super) const META_BYTES: usize = size_of::<ColumnMeta>() + 5 * 32;

/// The clauses behind a query that apply to the whole of it.
#[derive(Clone, Copy)]
pub(super) struct Behind<'q> {
    pub order_by: &'q [ast::OrderItem],
    pub limit: Option<&'q ast::Limit>,
    pub locks: &'q [LockClause],
    pub stands: Stands,
}

/// The place of a query, as far as the frame around it does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    Alone,
    /// The query is that of a derived table or a view.
    AsTable,
    /// The query is a part of a UNION. Its order matters for its own LIMIT only.
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

    /// Returns the clauses that apply to a part of the query: the locks.
    pub fn of_part(self) -> Behind<'q> {
        Behind { order_by: &[], limit: None, stands: Stands::InUnion, ..self }
    }
}

pub(in crate::bind) fn limit(
    binder: &mut Binder<'_>,
    written: Option<&ast::Limit>,
) -> Result<Option<LimitPlan>> {
    let Some(written) = written else { return Ok(None) };
    binder.noted.logging.reasons.insert(Unsafe::Limit);
    let scope = Scope::default();
    let mut place = Place::new(&scope, "limit clause");
    let count = binder.expr(&written.count, &mut place)?;
    let offset = written.offset.as_ref().map(|offset| binder.expr(offset, &mut place)).transpose()?;
    Ok(Some(LimitPlan { count, offset }))
}

/// Returns the position, counted from 0, in the select list that an item like the 2 in `ORDER BY 2`
/// stands for. `None` if the item is an expression.
pub(super) fn position(written: &ast::Expr, columns: usize) -> Result<Option<usize>> {
    match written {
        ast::Expr::Literal(ast::Literal::Integer(n)) => match usize::try_from(*n) {
            Ok(n) if (1..=columns).contains(&n) => Ok(Some(n - 1)),
            _ => Err(SqlError::unknown_column(n, "order clause")),
        },
        _ => Ok(None),
    }
}

/// The bound select list.
pub(super) struct Items {
    pub outputs: Vec<Expr>,
    pub names: Vec<String>,
    /// The aliases that are written in the list.
    pub aliases: Vec<(String, Expr)>,
}

impl Items {
    /// Returns the item that a name without a table stands for in ORDER BY and GROUP BY: an alias,
    /// or a column that is listed.
    ///
    /// # Errors
    /// Returns 1052 (`ER_NON_UNIQ_ERROR`) when the name stands for items that differ.
    pub fn named(&self, name: &str, clause: &str) -> Result<Option<&Expr>> {
        // An expression without an alias is only called by its text, which is no name.
        let has_alias = |output: &Expr| {
            self.aliases.iter().any(|(alias, expr)| alias.eq_ignore_ascii_case(name) && expr == output)
        };
        let is_it = |(output, known): &(&Expr, &String)| {
            known.eq_ignore_ascii_case(name) && (matches!(output.node, Node::Slot(_)) || has_alias(output))
        };
        let mut found = self.outputs.iter().zip(&self.names).filter(is_it).map(|(output, _)| output);
        let Some(first) = found.next() else { return Ok(None) };
        match found.all(|other| other == first) {
            true => Ok(Some(first)),
            false => Err(SqlError::new(1052, format!("Column '{name}' in {clause} is ambiguous"))),
        }
    }
}
