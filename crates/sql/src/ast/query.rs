//! What a query reads: its tables, and what is said of each of them.

use super::{Query, QueryBody, TableName, TableRef};

impl Query {
    /// It is one SELECT with nothing before it or behind it.
    pub fn is_bare_select(&self) -> bool {
        let is_select = matches!(self.body, QueryBody::Select(_));
        is_select
            && self.with.is_none()
            && self.order_by.is_empty()
            && self.limit.is_none()
            && self.locks.is_empty()
    }

    /// The tables of its FROM clauses, those of derived and common tables among them; not those of
    /// subqueries in expressions.
    pub fn tables(&self) -> Vec<&TableName> {
        let mut found = Vec::new();
        self.put_tables(&mut Vec::new(), &mut found);
        found
    }

    /// `common`: the names that stand for common tables.
    fn put_tables<'q>(&'q self, common: &mut Vec<&'q str>, found: &mut Vec<&'q TableName>) {
        let known = common.len();
        for table in self.with.iter().flat_map(|with| &with.tables) {
            table.query.put_tables(common, found);
            common.push(&table.name);
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
    /// It is one table by its name, and no join.
    pub fn is_one_table(&self) -> bool {
        matches!(self, TableRef::Table { .. })
    }

    /// Whether FOR SYSTEM_TIME says which rows are seen of the table that is shown under a name.
    pub fn has_system_time(&self, shown: &str) -> bool {
        match self {
            TableRef::Table { name, alias, system_time, .. } => {
                system_time.is_some() && alias.as_deref().unwrap_or(&name.name) == shown
            }
            TableRef::Derived { .. } | TableRef::JsonTable(_) => false,
            TableRef::Join { left, right, .. } => left.has_system_time(shown) || right.has_system_time(shown),
        }
    }

    /// The partitions that were chosen of the table that is shown under a name; none: all.
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
