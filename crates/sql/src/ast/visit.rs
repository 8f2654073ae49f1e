//! Walks over all of an expression, the queries in it included.

use super::{Expr, Query, QueryBody, SelectItem, TableRef};

/// A column as it is written: the schema, the table, and the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedColumn<'q> {
    pub schema: Option<&'q str>,
    pub table: Option<&'q str>,
    pub name: &'q str,
}

/// A function that is called with each expression.
type Visit<'v, 'q> = &'v mut dyn FnMut(&'q Expr);

impl Expr {
    /// Calls `visit` for the expression, its operands, and all expressions in its subqueries.
    pub(crate) fn visit_all<'q>(&'q self, visit: Visit<'_, 'q>) {
        visit(self);
        match self {
            Expr::Subquery(query)
            | Expr::Exists(query)
            | Expr::InQuery { query, .. }
            | Expr::Quantified { query, .. } => query.visit_all(visit),
            _ => {}
        }
        self.for_operands(&mut |operand| operand.visit_all(visit));
    }

    /// Appends the columns that the expression names, each once.
    pub(crate) fn put_named_columns<'q>(&'q self, found: &mut Vec<NamedColumn<'q>>) {
        self.visit_all(&mut |expr| {
            if let Expr::Column { schema, table, name } = expr {
                let named = NamedColumn { schema: schema.as_deref(), table: table.as_deref(), name };
                if !found.contains(&named) {
                    found.push(named);
                }
            }
        });
    }
}

impl Query {
    /// Calls `visit` for all expressions of the query and of the queries in it.
    pub(crate) fn visit_all<'q>(&'q self, visit: Visit<'_, 'q>) {
        for common in self.with.iter().flat_map(|with| &with.tables) {
            common.query.visit_all(visit);
        }
        self.body.visit_all(visit);
        self.order_by.iter().for_each(|item| item.expr.visit_all(visit));
    }
}

impl QueryBody {
    fn visit_all<'q>(&'q self, visit: Visit<'_, 'q>) {
        match self {
            QueryBody::Select(select) => {
                for item in &select.items {
                    if let SelectItem::Expr { expr, .. } = item {
                        expr.visit_all(visit);
                    }
                }
                select.from.iter().for_each(|from| from.visit_all(visit));
                let exprs = select.filter.iter().chain(&select.group_by).chain(&select.having);
                exprs.for_each(|expr| expr.visit_all(visit));
                for (_, window) in &select.windows {
                    window.for_operands(&mut |operand| operand.visit_all(visit));
                }
            }
            QueryBody::Union { first, rest } => {
                first.visit_all(visit);
                rest.iter().for_each(|branch| branch.body.visit_all(visit));
            }
            QueryBody::Nested(query) => query.visit_all(visit),
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|expr| expr.visit_all(visit)),
        }
    }
}

impl TableRef {
    fn visit_all<'q>(&'q self, visit: Visit<'_, 'q>) {
        match self {
            TableRef::Table { .. } => {}
            TableRef::Derived { query, .. } => query.visit_all(visit),
            TableRef::JsonTable(table) => table.document.visit_all(visit),
            TableRef::Join { left, right, on, .. } => {
                left.visit_all(visit);
                right.visit_all(visit);
                on.iter().for_each(|on| on.visit_all(visit));
            }
        }
    }
}
