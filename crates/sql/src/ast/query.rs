//! SELECT and what it consists of.

use super::{Expr, JsonTable, SelectInto, TableName, Window};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    pub expr: Expr,
    pub descending: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub count: Expr,
    pub offset: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SelectItem {
    /// `*`
    All,
    /// `t.*`
    AllOf { schema: Option<String>, table: String },
    Expr {
        expr: Expr,
        alias: Option<String>,
        /// The text of the expression, the column's name where there is no alias.
        text: String,
    },
}

/// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    Update,
    Share,
}

/// NOWAIT, SKIP LOCKED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// A locking clause of a query; it may have several, for different tables.
#[derive(Debug, Clone, PartialEq)]
pub struct LockClause {
    pub strength: LockStrength,
    /// OF; none: every table.
    pub tables: Vec<TableName>,
    pub wait: LockWait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    pub kind: IndexHintKind,
    /// `PRIMARY` is the primary key. Empty with USE: no index.
    pub indexes: Vec<String>,
}

/// A hint behind SELECT about how its tables are read; each names tables as the query does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinHint {
    /// JOIN_FIXED_ORDER
    FixedOrder,
    /// JOIN_ORDER: in this order, others before and between.
    Order(Vec<String>),
    /// JOIN_PREFIX: first of all, in this order.
    Prefix(Vec<String>),
    /// JOIN_SUFFIX: last of all, in this order.
    Suffix(Vec<String>),
    /// HASH_JOIN, BNL, and their opposites; no names: all tables.
    Hash { is_wanted: bool, tables: Vec<String> },
    /// INDEX, JOIN_INDEX, and their opposites; no names of indexes: all.
    Index { is_wanted: bool, table: String, indexes: Vec<String> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    /// STRAIGHT_JOIN: inner, the left side is read first.
    Straight,
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TableRef {
    Table {
        name: TableName,
        alias: Option<String>,
        /// `PARTITION (p, ...)`; none: all.
        partitions: Vec<String>,
        hints: Vec<IndexHint>,
        system_time: Option<Box<SystemTime>>,
    },
    Derived {
        query: Box<Query>,
        /// LATERAL: it may name the tables before it.
        lateral: bool,
        alias: String,
        columns: Vec<String>,
    },
    JsonTable(Box<JsonTable>),
    Join {
        kind: JoinKind,
        left: Box<TableRef>,
        right: Box<TableRef>,
        on: Option<Expr>,
        using: Vec<String>,
        natural: bool,
    },
}

/// `FOR SYSTEM_TIME` behind a table: which rows of a table with system versioning are read.
#[derive(Debug, Clone, PartialEq)]
pub enum SystemTime {
    All,
    AsOf(Expr),
    Between(Expr, Expr),
    FromTo(Expr, Expr),
    /// Of DELETE HISTORY: what is no longer current, or was not any more before a moment.
    History(Option<Expr>),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Select {
    pub distinct: bool,
    /// SELECT STRAIGHT_JOIN: all tables are read in the order in which they are written.
    pub straight: bool,
    pub hints: Vec<JoinHint>,
    pub calc_found_rows: bool,
    pub items: Vec<SelectItem>,
    pub from: Option<TableRef>,
    pub filter: Option<Expr>,
    pub group_by: Vec<Expr>,
    /// WITH ROLLUP: a group for all rows with the first keys in common too.
    pub rollup: bool,
    pub having: Option<Expr>,
    pub windows: Vec<(String, Window)>,
    /// No more functions over windows are called than this, in the select list and ORDER BY.
    pub most_window_calls: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOperator {
    Union,
    Intersect,
    Except,
}

/// `UNION [ALL] body`, and its like.
#[derive(Debug, Clone, PartialEq)]
pub struct SetBranch {
    pub operator: SetOperator,
    pub all: bool,
    pub body: QueryBody,
}

#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    Select(Box<Select>),
    /// `first UNION [ALL] ...`, of two or more branches, from left to right: a long chain is no
    /// deep tree.
    Union {
        first: Box<QueryBody>,
        rest: Vec<SetBranch>,
    },
    /// `VALUES ROW(...), ...`
    Values(Vec<Vec<Expr>>),
    /// A query in parentheses with its own ORDER BY and LIMIT.
    Nested(Box<Query>),
}

/// A common table expression.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    pub name: String,
    /// Empty: the names that the query gives.
    pub columns: Vec<String>,
    pub query: Query,
}

/// `WITH [RECURSIVE] ...`
#[derive(Debug, Clone, PartialEq)]
pub struct With {
    pub recursive: bool,
    pub tables: Vec<CommonTable>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Shared with the binder, which binds a common table where it is named.
    pub with: Option<Arc<With>>,
    pub body: QueryBody,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub locks: Vec<LockClause>,
    pub into: Option<SelectInto>,
}

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
