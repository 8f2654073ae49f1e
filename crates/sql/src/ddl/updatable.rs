//! Decides whether rows can be changed through a view. As in MySQL, this is decided when the view
//! is created, and shown in information_schema.

use crate::ast::{
    Expr, JoinKind, Query, QueryBody, Select, SelectItem, TableName, TableRef, UnaryOp, ViewDetails,
};
use crate::attribute;
use crate::view_query::tables_of_view;
use engine::{Catalog, ObjectKind};
use std::collections::HashMap;

/// Where the names in a view's query are looked up.
pub(super) struct Names<'n> {
    pub catalog: &'n Catalog,
    /// The schema of names without one.
    pub schema: &'n str,
}

impl Names<'_> {
    fn schema_of<'s>(&'s self, name: &'s TableName) -> &'s str {
        name.schema.as_deref().unwrap_or(self.schema)
    }

    fn view(&self, name: &TableName) -> Option<std::sync::Arc<engine::Object>> {
        self.catalog.object(self.schema_of(name), ObjectKind::View, &name.name)
    }

    /// Returns the attribute that is stored for an updatable view, or `None` if its rows cannot be
    /// changed.
    pub fn updatable(&self, view: &ViewDetails) -> Option<&'static str> {
        // MySQL takes a column with a sign or a collation for the column.
        let is_column = |item: &SelectItem| match item {
            SelectItem::Expr { expr: Expr::Unary(UnaryOp::Plus, of), .. } => {
                matches!(&**of, Expr::Column { .. })
            }
            SelectItem::Expr { expr: Expr::Collate { operand, .. }, .. } => {
                matches!(&**operand, Expr::Column { .. })
            }
            SelectItem::Expr { expr, .. } => matches!(expr, Expr::Column { .. }),
            SelectItem::All | SelectItem::AllOf { .. } => true,
        };
        let has_columns = self.select_of_rows(view)?.items.iter().any(is_column);
        Some(if has_columns { attribute::HAS_COLUMNS } else { attribute::HAS_ROWS })
    }

    /// Returns the SELECT of a view whose rows are those of a table, or `None` if they are not.
    fn select_of_rows<'v>(&self, view: &'v ViewDetails) -> Option<&'v Select> {
        let whole = view.query.as_deref()?;
        let mut query = whole;
        while let (QueryBody::Nested(inner), None) = (&query.body, &query.limit) {
            query = inner;
        }
        let QueryBody::Select(select) = &query.body else { return None };
        let has_aggregate =
            |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if expr.has_aggregate());
        let is_grouped = select.distinct || !select.group_by.is_empty() || select.having.is_some();
        if view.algorithm.as_deref() == Some("TEMPTABLE")
            || is_grouped
            || select.most_window_calls > 0
            || query.limit.is_some()
            || select.items.iter().any(has_aggregate)
        {
            return None;
        }
        let is_of_table = match select.from.as_ref()? {
            TableRef::Table { name, .. } => self.has_rows_to_change(name) && !self.is_twice(name, whole),
            from => self.has_table_to_change(from) == Some(true),
        };
        is_of_table.then_some(select)
    }

    /// Reports whether the rows of the table with this name can be changed. For a common table
    /// expression they cannot, but MySQL finds that out later.
    fn has_rows_to_change(&self, name: &TableName) -> bool {
        if crate::schema_tables::is_virtual_schema(self.schema_of(name)) {
            return false;
        }
        self.view(name).is_none_or(|view| view.def.attribute(attribute::UPDATABLE).is_some())
    }

    /// Reports whether one of the tables in FROM can be changed. Returns `None` if an outer join
    /// keeps all of them from that.
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

    /// Reports whether the only table of a view's FROM is also read by the view's subqueries, or by
    /// views in these.
    fn is_twice(&self, name: &TableName, query: &Query) -> bool {
        let own = (self.schema_of(name).to_owned(), name.name.clone());
        let all = query.all_tables().into_iter();
        let mut found = all.map(|name| (self.schema_of(name).to_owned(), name.name.clone())).collect();
        self.add_tables_of_views(&mut found);
        found.into_iter().filter(|table| *table == own).count() > 1
    }

    /// Adds the tables and views, by schema and name, that the views in the list name. A view is
    /// opened at most twice, which suffices to find a table twice. Without this limit, views that
    /// name each other many times would multiply the length of the list.
    fn add_tables_of_views(&self, found: &mut Vec<(String, String)>) {
        const MOST_TIMES: u8 = 2;
        let mut opened: HashMap<(String, String), u8> = HashMap::new();
        let mut at = 0;
        while let Some(named) = found.get(at).cloned() {
            at += 1;
            let Some(view) = self.catalog.object(&named.0, ObjectKind::View, &named.1) else { continue };
            let times = opened.entry(named).or_default();
            if *times < MOST_TIMES {
                *times += 1;
                // A query that cannot be parsed here names nothing.
                found.extend(tables_of_view(&view.def).unwrap_or_default());
            }
        }
    }
}
