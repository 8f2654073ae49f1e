//! The tables of a query, and what is written about each of them.

use super::{Query, QueryBody, TableName, TableRef};

impl Query {
    /// Reports whether the query is one SELECT without WITH and without clauses behind it.
    pub fn is_bare_select(&self) -> bool {
        let is_select = matches!(self.body, QueryBody::Select(_));
        is_select
            && self.with.is_none()
            && self.order_by.is_empty()
            && self.limit.is_none()
            && self.locks.is_empty()
    }

    /// Returns the tables of the FROM clauses, including those of derived and common tables, but
    /// not those of subqueries in expressions.
    pub fn tables(&self) -> Vec<&TableName> {
        let mut found = Vec::new();
        self.put_tables(&mut Vec::new(), &mut found);
        found
    }

    /// Collects the tables. `common` are the names that stand for common tables at this place.
    fn put_tables<'q>(&'q self, common: &mut Vec<&'q str>, found: &mut Vec<&'q TableName>) {
        let known = common.len();
        if let Some(with) = &self.with {
            for table in &with.tables {
                let before = common.len();
                if with.recursive {
                    common.push(&table.name);
                }
                table.query.put_tables(common, found);
                common.truncate(before);
                common.push(&table.name);
            }
        }
        self.body.put_tables(common, found);
        common.truncate(known);
    }
}

impl QueryBody {
    fn put_tables<'q>(&'q self, common: &mut Vec<&'q str>, found: &mut Vec<&'q TableName>) {
        match self {
            QueryBody::Select(select) => {
                if let Some(from) = &select.from {
                    from.put_tables(common, found);
                }
            }
            QueryBody::Union { first, rest } => {
                first.put_tables(common, found);
                rest.iter().for_each(|branch| branch.body.put_tables(common, found));
            }
            QueryBody::Nested(query) => query.put_tables(common, found),
            QueryBody::Values(_) => {}
        }
    }
}

impl TableRef {
    /// Reports whether this is a single table by its name, not a join.
    pub fn is_one_table(&self) -> bool {
        matches!(self, TableRef::Table { .. })
    }

    /// Reports whether the table that is shown under this name has FOR SYSTEM_TIME.
    pub fn has_system_time(&self, shown: &str) -> bool {
        match self {
            TableRef::Table { name, alias, system_time, .. } => {
                system_time.is_some() && alias.as_deref().unwrap_or(&name.name) == shown
            }
            TableRef::Derived { .. } | TableRef::JsonTable(_) => false,
            TableRef::Join { left, right, .. } => left.has_system_time(shown) || right.has_system_time(shown),
        }
    }

    /// Returns the chosen partitions of the table that is shown under this name. Empty means all of
    /// them.
    pub fn partitions_of(&self, shown: &str) -> &[String] {
        match self {
            TableRef::Table { name, alias, partitions, .. }
                if alias.as_deref().unwrap_or(&name.name) == shown =>
            {
                partitions
            }
            TableRef::Table { .. } | TableRef::Derived { .. } | TableRef::JsonTable(_) => &[],
            TableRef::Join { left, right, .. } => match left.partitions_of(shown) {
                [] => right.partitions_of(shown),
                partitions => partitions,
            },
        }
    }

    fn put_tables<'q>(&'q self, common: &mut Vec<&'q str>, found: &mut Vec<&'q TableName>) {
        match self {
            TableRef::Table { name, .. } => {
                if name.schema.is_some() || !common.contains(&name.name.as_str()) {
                    found.push(name);
                }
            }
            TableRef::Derived { query, .. } => query.put_tables(common, found),
            TableRef::JsonTable(_) => {}
            TableRef::Join { left, right, .. } => {
                left.put_tables(common, found);
                right.put_tables(common, found);
            }
        }
    }
}
