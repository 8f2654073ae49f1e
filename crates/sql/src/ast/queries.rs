//! The queries within a query or an expression, at any place.

use super::{
    Expr, FunctionCall, Over, Query, QueryBody, Select, SelectItem, TableName, TableRef, WindowCall,
};

/// A function that is called with each query.
type Visit<'v, 'q> = &'v mut dyn FnMut(&'q Query);

impl Query {
    /// Returns the tables of this query and of all queries in it, including those in expressions.
    /// Names that any WITH clause in the query defines are left out.
    pub fn all_tables(&self) -> Vec<&TableName> {
        let mut found = Vec::new();
        let mut queries = vec![self];
        let mut common: Vec<&str> = Vec::new();
        while let Some(query) = queries.pop() {
            for table in query.with.iter().flat_map(|with| &with.tables) {
                common.push(&table.name);
                queries.push(&table.query);
            }
            query.body.put_named(&mut found, &mut |inner| queries.push(inner));
            let order = query.order_by.iter().map(|item| &item.expr);
            order.for_each(|expr| expr.visit_queries(&mut |inner| queries.push(inner)));
        }
        found.retain(|table: &&TableName| table.schema.is_some() || !common.contains(&table.name.as_str()));
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
            let order = window.order_by.iter().map(|item| &item.expr);
            window.partition_by.iter().chain(order).for_each(f);
        }
    }
}
