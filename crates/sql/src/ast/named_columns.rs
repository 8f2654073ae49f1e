//! The columns that an expression names, those in its subqueries included.

use super::{Expr, Query, QueryBody, SelectItem, TableRef};

/// A column as it is written: the schema, the table, and the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamedColumn<'q> {
    pub schema: Option<&'q str>,
    pub table: Option<&'q str>,
    pub name: &'q str,
}

impl Expr {
    /// Appends the columns that the expression names, each once.
    pub fn put_named_columns<'q>(&'q self, found: &mut Vec<NamedColumn<'q>>) {
        match self {
            Expr::Column { schema, table, name } => {
                let named = NamedColumn { schema: schema.as_deref(), table: table.as_deref(), name };
                if !found.contains(&named) {
                    found.push(named);
                }
            }
            Expr::Subquery(query)
            | Expr::Exists(query)
            | Expr::InQuery { query, .. }
            | Expr::Quantified { query, .. } => query.put_named_columns(found),
            _ => {}
        }
        self.for_operands(&mut |operand| operand.put_named_columns(found));
    }
}

impl Query {
    fn put_named_columns<'q>(&'q self, found: &mut Vec<NamedColumn<'q>>) {
        for common in self.with.iter().flat_map(|with| &with.tables) {
            common.query.put_named_columns(found);
        }
        self.body.put_named_columns(found);
        self.order_by.iter().for_each(|item| item.expr.put_named_columns(found));
    }
}

impl QueryBody {
    fn put_named_columns<'q>(&'q self, found: &mut Vec<NamedColumn<'q>>) {
        match self {
            QueryBody::Select(select) => {
                for item in &select.items {
                    if let SelectItem::Expr { expr, .. } = item {
                        expr.put_named_columns(found);
                    }
                }
                select.from.iter().for_each(|from| from.put_named_columns(found));
                let exprs = select.filter.iter().chain(&select.group_by).chain(&select.having);
                exprs.for_each(|expr| expr.put_named_columns(found));
                for (_, window) in &select.windows {
                    window.for_operands(&mut |operand| operand.put_named_columns(found));
                }
            }
            QueryBody::Union { first, rest } => {
                first.put_named_columns(found);
                rest.iter().for_each(|branch| branch.body.put_named_columns(found));
            }
            QueryBody::Nested(query) => query.put_named_columns(found),
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|expr| expr.put_named_columns(found)),
        }
    }
}

impl TableRef {
    fn put_named_columns<'q>(&'q self, found: &mut Vec<NamedColumn<'q>>) {
        match self {
            TableRef::Table { .. } => {}
            TableRef::Derived { query, .. } => query.put_named_columns(found),
            TableRef::JsonTable(table) => table.document.put_named_columns(found),
            TableRef::Join { left, right, on, .. } => {
                left.put_named_columns(found);
                right.put_named_columns(found);
                on.iter().for_each(|on| on.put_named_columns(found));
            }
        }
    }
}
