//! The queries within a query or an expression, at any place.

use super::{
    Expr, FunctionCall, Over, Query, QueryBody, Select, SelectItem, TableName, TableRef, Window, WindowCall,
};
use std::rc::Rc;

/// A function that is called with each query.
type Visit<'v, 'q> = &'v mut dyn FnMut(&'q Query);

/// The common tables that a query may name: the last one, and those before it.
#[derive(Clone, Default)]
struct CommonNames<'q>(Option<Rc<(&'q str, CommonNames<'q>)>>);

impl<'q> CommonNames<'q> {
    fn with(&self, name: &'q str) -> CommonNames<'q> {
        CommonNames(Some(Rc::new((name, self.clone()))))
    }

    fn contains(&self, name: &str) -> bool {
        let first = self.0.as_deref();
        std::iter::successors(first, |(_, before)| before.0.as_deref()).any(|(known, _)| *known == name)
    }
}

impl Drop for CommonNames<'_> {
    /// Drops a long list without a call for each of its names.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut last) = next.and_then(Rc::into_inner) {
            next = last.1.0.take();
        }
    }
}

impl Query {
    /// Returns the tables of this query and of all queries in it, including those in expressions.
    /// Common tables are left out where they are known: in the query that defines them, behind
    /// their definition.
    pub fn all_tables(&self) -> Vec<&TableName> {
        let mut found = Vec::new();
        let mut queries = vec![(self, CommonNames::default())];
        while let Some((query, mut names)) = queries.pop() {
            if let Some(with) = &query.with {
                for table in &with.tables {
                    let around = names.clone();
                    names = names.with(&table.name);
                    queries.push((&table.query, if with.recursive { names.clone() } else { around }));
                }
            }
            let mut here = Vec::new();
            let mut visit = |inner| queries.push((inner, names.clone()));
            query.body.put_named(&mut here, &mut visit);
            query.order_by.iter().for_each(|item| item.expr.visit_queries(&mut visit));
            let is_stored = |table: &&TableName| table.schema.is_some() || !names.contains(&table.name);
            found.extend(here.into_iter().filter(is_stored));
        }
        found
    }
}

impl QueryBody {
    fn put_named<'q>(&'q self, found: &mut Vec<&'q TableName>, visit: Visit<'_, 'q>) {
        match self {
            QueryBody::Select(select) => select.put_named(found, visit),
            QueryBody::Union { first, rest } => {
                first.put_named(found, visit);
                rest.iter().for_each(|branch| branch.body.put_named(found, visit));
            }
            QueryBody::Nested(query) => visit(query),
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|expr| expr.visit_queries(visit)),
        }
    }
}

impl Select {
    fn put_named<'q>(&'q self, found: &mut Vec<&'q TableName>, visit: Visit<'_, 'q>) {
        for item in &self.items {
            if let SelectItem::Expr { expr, .. } = item {
                expr.visit_queries(visit);
            }
        }
        if let Some(from) = &self.from {
            from.put_named(found, visit);
        }
        let exprs = self.filter.iter().chain(&self.group_by).chain(&self.having);
        exprs.for_each(|expr| expr.visit_queries(visit));
        for (_, window) in &self.windows {
            window.for_operands(&mut |operand| operand.visit_queries(visit));
        }
    }
}

impl TableRef {
    fn put_named<'q>(&'q self, found: &mut Vec<&'q TableName>, visit: Visit<'_, 'q>) {
        match self {
            TableRef::Table { name, .. } => found.push(name),
            TableRef::Derived { query, .. } => visit(query),
            TableRef::JsonTable(table) => table.document.visit_queries(visit),
            TableRef::Join { left, right, on, .. } => {
                left.put_named(found, visit);
                right.put_named(found, visit);
                on.iter().for_each(|on| on.visit_queries(visit));
            }
        }
    }
}

impl Expr {
    /// Calls `visit` for the queries in this expression, but not for those within these.
    pub fn visit_queries<'q>(&'q self, visit: Visit<'_, 'q>) {
        match self {
            Expr::Subquery(query) | Expr::Exists(query) => visit(query),
            Expr::InQuery { operand, query, .. } | Expr::Quantified { operand, query, .. } => {
                operand.visit_queries(visit);
                visit(query);
            }
            _ => self.for_operands(&mut |operand| operand.visit_queries(visit)),
        }
    }

    /// Reports whether the expression calls an aggregate outside its subqueries.
    pub fn has_aggregate(&self) -> bool {
        let mut found = matches!(self, Expr::Function(call) if crate::expr::is_aggregate(&call.name));
        self.for_operands(&mut |operand| found |= operand.has_aggregate());
        found
    }

    /// Calls `f` for each operand.
    pub fn for_operands<'q>(&'q self, f: &mut dyn FnMut(&'q Expr)) {
        match self {
            Expr::Literal(_)
            | Expr::Parameter(_)
            | Expr::Column { .. }
            | Expr::UserVariable(_)
            | Expr::SystemVariable { .. }
            | Expr::Subquery(_)
            | Expr::Exists(_)
            | Expr::Default
            | Expr::DefaultOf(_)
            | Expr::Values(_) => {}
            Expr::And(operands) | Expr::Or(operands) | Expr::Row(operands) => operands.iter().for_each(f),
            Expr::AssignVariable(_, operand)
            | Expr::Unary(_, operand)
            | Expr::InQuery { operand, .. }
            | Expr::Quantified { operand, .. }
            | Expr::IsNull { operand, .. }
            | Expr::IsTruth { operand, .. }
            | Expr::Cast { operand, .. }
            | Expr::CastArray { operand, .. }
            | Expr::ConvertUsing { operand, .. }
            | Expr::Collate { operand, .. }
            | Expr::Extract { operand, .. } => f(operand),
            Expr::Binary(_, left, right)
            | Expr::Regexp { operand: left, pattern: right, .. }
            | Expr::DateAdd { date: left, amount: right, .. }
            | Expr::TimestampFunction { first: left, second: right, .. } => {
                f(left);
                f(right);
            }
            Expr::Between { operand, low, high, .. } => [operand, low, high].into_iter().for_each(|e| f(e)),
            Expr::InList { operand, list, .. } => std::iter::once(&**operand).chain(list).for_each(f),
            Expr::Like { operand, pattern, escape, .. } => {
                [operand, pattern].into_iter().chain(escape).for_each(|operand| f(operand));
            }
            Expr::Case { operand, whens, otherwise } => {
                operand.iter().chain(otherwise).for_each(|operand| f(operand));
                whens.iter().flat_map(|(when, then)| [when, then]).for_each(f);
            }
            Expr::Trim { remove, operand, .. } => {
                remove.iter().chain([operand]).for_each(|operand| f(operand))
            }
            Expr::Match(written) => written.columns.iter().chain([&written.text]).for_each(f),
            Expr::JsonValue(value) => [&value.document, &value.path].into_iter().for_each(f),
            Expr::Function(call) => call.for_operands(f),
            Expr::Window(window) => window.for_operands(f),
        }
    }
}

impl FunctionCall {
    fn for_operands<'q>(&'q self, f: &mut dyn FnMut(&'q Expr)) {
        self.args.iter().chain(self.order_by.iter().map(|item| &item.expr)).for_each(f);
    }
}

impl WindowCall {
    fn for_operands<'q>(&'q self, f: &mut dyn FnMut(&'q Expr)) {
        self.call.for_operands(f);
        if let Over::Window(window) = &self.over {
            window.for_operands(f);
        }
    }
}

impl Window {
    /// Calls `f` for each expression of the window, except those of its frame.
    pub fn for_operands<'q>(&'q self, f: &mut dyn FnMut(&'q Expr)) {
        self.partition_by.iter().chain(self.order_by.iter().map(|item| &item.expr)).for_each(f);
    }
}

#[cfg(test)]
mod tests {
    use crate::ast::Statement;

    fn tables(text: &str) -> Vec<String> {
        let parsed = crate::parse::parse(text.as_bytes(), Default::default());
        let Ok(Some(parsed)) = parsed else { panic!("{text} is not understood") };
        let Statement::Query(query) = &parsed.statement else { panic!("{text} is no query") };
        let mut names: Vec<String> = query.all_tables().iter().map(|table| table.name.clone()).collect();
        names.sort();
        names
    }

    #[test]
    fn common_tables_are_known_where_they_are_defined_alone() {
        assert_eq!(tables("with t as (select * from u) select * from t, v, d.t"), ["t", "u", "v"]);
        assert_eq!(tables("select (with t as (select 1) select * from t), t.a from t"), ["t"]);
        assert_eq!(tables("with t as (select * from t) select * from t"), ["t"]);
        assert_eq!(tables("with recursive t as (select 1 union select a from t) select * from t"), [""; 0]);
        assert_eq!(tables("with a as (select * from b), b as (select * from a) select * from b"), ["b"]);
        assert_eq!(tables("select 1 from t window w as (order by (select a from u))"), ["t", "u"]);
    }
}
