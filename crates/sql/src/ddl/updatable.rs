//! Whether rows that are put through a view can be put into a table: MySQL decides it when the view
//! is made, and shows it in information_schema.

use crate::ast::{Expr, JoinKind, Query, QueryBody, SelectItem, Statement, TableName, TableRef, ViewDetails};
use crate::attribute;
use crate::lexer::LexMode;
use engine::{Catalog, ObjectDef, ObjectKind};

/// Views within views.
const MOST_LEVELS: usize = 16;

/// Where the names of a view's query are looked for.
pub(super) struct Names<'n> {
    pub catalog: &'n Catalog,
    /// Of names without one.
    pub schema: &'n str,
}

impl Names<'_> {
    fn schema_of<'s>(&'s self, name: &'s TableName) -> &'s str {
        name.schema.as_deref().unwrap_or(self.schema)
    }

    fn view(&self, name: &TableName) -> Option<std::sync::Arc<engine::Object>> {
        self.catalog.object(self.schema_of(name), ObjectKind::View, &name.name)
    }

    /// What is kept of a view whose rows may be changed; `None`: they may not.
    pub fn updatable(&self, view: &ViewDetails) -> Option<&'static str> {
        let is_column = |item: &SelectItem| match item {
            SelectItem::Expr { expr, .. } => matches!(expr, Expr::Column { .. }),
            SelectItem::All | SelectItem::AllOf { .. } => true,
        };
        let mut query = view.query.as_deref()?;
        while let QueryBody::Nested(inner) = &query.body {
            query = inner;
        }
        let QueryBody::Select(select) = &query.body else { return None };
        let has_columns = select.items.iter().any(is_column);
        self.has_rows(view).then_some(if has_columns { attribute::HAS_COLUMNS } else { attribute::HAS_ROWS })
    }

    /// Whether the rows of a view are those of a table.
    fn has_rows(&self, view: &ViewDetails) -> bool {
        let Some(mut query) = view.query.as_deref() else { return false };
        let whole = query;
        while let QueryBody::Nested(inner) = &query.body {
            if query.limit.is_some() {
                return false;
            }
            query = inner;
        }
        let QueryBody::Select(select) = &query.body else { return false };
        let has_aggregate =
            |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if expr.has_aggregate());
        let is_grouped = select.distinct || !select.group_by.is_empty() || select.having.is_some();
        if view.algorithm.as_deref() == Some("TEMPTABLE")
            || is_grouped
            || select.most_window_calls > 0
            || query.limit.is_some()
            || select.items.iter().any(has_aggregate)
        {
            return false;
        }
        match &select.from {
            None => false,
            Some(TableRef::Table { name, .. }) => {
                self.has_rows_to_change(name) && !self.is_twice(name, whole)
            }
            Some(from) => self.has_table_to_change(from) == Some(true),
        }
    }

    /// Whether the rows of a table by this name may be changed: of a common table they are not, but
    /// MySQL finds out later.
    fn has_rows_to_change(&self, name: &TableName) -> bool {
        if crate::schema_tables::is_virtual_schema(self.schema_of(name)) {
            return false;
        }
        self.view(name).is_none_or(|view| view.def.attribute(attribute::UPDATABLE).is_some())
    }

    /// Whether one of the tables may be changed; `None`: an outer join keeps all of them from it.
    fn has_table_to_change(&self, from: &TableRef) -> Option<bool> {
        match from {
            TableRef::Table { name, .. } => Some(self.has_rows_to_change(name)),
            TableRef::Derived { .. } | TableRef::JsonTable(_) => Some(true),
            TableRef::Join { kind: JoinKind::Left | JoinKind::Right, .. } => None,
            TableRef::Join { left, right, .. } => {
                let sides = [self.has_table_to_change(left)?, self.has_table_to_change(right)?];
                Some(sides.contains(&true))
            }
        }
    }

    /// Whether the only table of a view's FROM is read by its subqueries too, or by views there.
    fn is_twice(&self, name: &TableName, query: &Query) -> bool {
        let own = (self.schema_of(name).to_owned(), name.name.clone());
        let mut found = Vec::new();
        self.put_tables(query, MOST_LEVELS, &mut found);
        found.into_iter().filter(|table| *table == own).count() > 1
    }

    /// Schema and name of all tables and views that a query is made of.
    fn put_tables(&self, query: &Query, levels: usize, found: &mut Vec<(String, String)>) {
        for name in query.all_tables() {
            found.push((self.schema_of(name).to_owned(), name.name.clone()));
            let Some(view) = self.view(name).filter(|_| levels > 0) else { continue };
            if let Some(query) = query_of(&view.def) {
                let schema = view.def.attribute(attribute::CURRENT).unwrap_or(&view.def.schema);
                Names { schema, ..*self }.put_tables(&query, levels - 1, found);
            }
        }
    }
}

/// The query of a view; `None`: it is kept as it was written, for this grammar does not have it.
fn query_of(def: &ObjectDef) -> Option<Query> {
    let mode = LexMode { of_source: true, ..crate::sql_mode::SqlMode(def.sql_mode).lex() };
    match crate::parse::parse(def.body.as_bytes(), mode).ok()??.statement {
        Statement::Query(query) => Some(query),
        _ => None,
    }
}
