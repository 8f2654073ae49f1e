//! Expressions and queries.
//!
//! They are in one file, with the types that only they use, because an expression contains queries
//! and a query contains expressions. Their functions are in `expr` and `query`.

use super::{
    BinaryOp, Block, CastType, Hint, IndexHint, JoinKind, Literal, LockClause, Scope, SearchMode, SelectInto,
    SelectWords, SetOperator, TableName, TimeUnit, TruthValue, TypeSpec, UnaryOp, Written,
};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// The schema of a stored function, if it is written.
    pub schema: Option<String>,
    /// The name in lower case, or as it is written if it has a schema.
    pub name: String,
    /// The name as it is written, for messages.
    pub written: Written,
    pub args: Vec<Expr>,
    /// `COUNT(*)`.
    pub star: bool,
    pub distinct: bool,
    /// The ORDER BY of GROUP_CONCAT.
    pub order_by: Vec<OrderItem>,
    pub separator: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Literal(Literal),
    /// A parameter `?`. They are numbered from 0.
    Parameter(usize),
    Column {
        schema: Option<String>,
        table: Option<String>,
        name: String,
    },
    UserVariable(String),
    /// `@v := expr`.
    AssignVariable(String, Box<Expr>),
    SystemVariable {
        scope: Scope,
        name: String,
    },
    /// Two or more operands. A long chain is one node, so that the tree does not become deep.
    And(Vec<Expr>),
    /// Two or more operands, as in `And`.
    Or(Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Between {
        negated: bool,
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
    },
    InList {
        negated: bool,
        operand: Box<Expr>,
        list: Vec<Expr>,
    },
    InQuery {
        negated: bool,
        operand: Box<Expr>,
        query: Box<Query>,
    },
    /// `operand op ALL (query)`, or without `all` ANY or SOME.
    Quantified {
        op: BinaryOp,
        all: bool,
        operand: Box<Expr>,
        query: Box<Query>,
    },
    Like {
        negated: bool,
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
    },
    Regexp {
        negated: bool,
        operand: Box<Expr>,
        pattern: Box<Expr>,
    },
    IsNull {
        negated: bool,
        operand: Box<Expr>,
    },
    IsTruth {
        negated: bool,
        operand: Box<Expr>,
        value: TruthValue,
    },
    Case {
        operand: Option<Box<Expr>>,
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Function(Box<FunctionCall>),
    /// A function over a window.
    Window(Box<WindowCall>),
    Cast {
        operand: Box<Expr>,
        ty: CastType,
    },
    /// `CAST(x AS type ARRAY)`, in the definition of a multi-valued index.
    CastArray {
        operand: Box<Expr>,
        ty: CastType,
    },
    /// `CONVERT(x USING charset)`.
    ConvertUsing {
        operand: Box<Expr>,
        charset: String,
    },
    Collate {
        operand: Box<Expr>,
        collation: String,
    },
    /// `date + INTERVAL n unit`, or with `subtract` `date - INTERVAL n unit`.
    DateAdd {
        date: Box<Expr>,
        amount: Box<Expr>,
        unit: TimeUnit,
        subtract: bool,
    },
    Extract {
        unit: TimeUnit,
        operand: Box<Expr>,
    },
    /// `TIMESTAMPDIFF` and `TIMESTAMPADD`.
    TimestampFunction {
        add: bool,
        unit: TimeUnit,
        first: Box<Expr>,
        second: Box<Expr>,
    },
    Trim {
        leading: bool,
        trailing: bool,
        /// BOTH is written.
        says_both: bool,
        remove: Option<Box<Expr>>,
        operand: Box<Expr>,
    },
    JsonValue(Box<JsonValue>),
    Match(Box<Match>),
    Row(Vec<Expr>),
    Subquery(Box<Query>),
    Exists(Box<Query>),
    /// `DEFAULT` as a value.
    Default,
    /// `DEFAULT(column)`.
    /// The operand is the column. It is boxed, so that a tree node does not grow.
    DefaultOf(Box<Expr>),
    /// `VALUES(column)`, in ON DUPLICATE KEY UPDATE.
    Values(String),
}

/// A call with OVER.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// The call of an aggregate, or of a function that exists over windows only.
    pub call: FunctionCall,
    pub over: Over,
}

/// The window behind OVER.
#[derive(Debug, Clone, PartialEq)]
pub enum Over {
    Name(String),
    Window(Box<Window>),
}

/// `([name] [PARTITION BY ...] [ORDER BY ...] [frame])`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// The name of the window that this one extends.
    pub base: Option<String>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderItem>,
    pub frame: Option<WindowFrame>,
}

/// A `ROWS` or `RANGE` frame.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// The frame is `ROWS`. Otherwise it is `RANGE`.
    pub rows: bool,
    pub start: FrameBound,
    pub end: FrameBound,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(FrameOffset),
    CurrentRow,
    Following(FrameOffset),
    UnboundedFollowing,
}

/// The distance of a frame's bound: a number, or `INTERVAL amount unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameOffset {
    pub amount: Expr,
    pub unit: Option<TimeUnit>,
}

/// `JSON_VALUE(document, path [RETURNING type] [... ON EMPTY] [... ON ERROR])`.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonValue {
    pub document: Expr,
    pub path: Expr,
    pub returning: Option<CastType>,
    pub on_empty: Option<OnResponse>,
    pub on_error: Option<OnResponse>,
}

/// `MATCH (columns) AGAINST (text [mode])`.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    pub columns: Vec<Expr>,
    pub text: Expr,
    pub mode: SearchMode,
}

/// What happens when a path selects nothing, or nothing that fits.
#[derive(Debug, Clone, PartialEq)]
pub enum OnResponse {
    /// NULL, which is also the default.
    Null,
    Error,
    Default(Expr),
}

/// `JSON_TABLE(document, path COLUMNS (...)) alias`.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTable {
    pub document: Expr,
    pub rows: JsonTableRows,
    pub alias: String,
}

/// A path, and the columns of the row for each value that it selects.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTableRows {
    pub path: Vec<u8>,
    pub columns: Vec<JsonTableColumn>,
}

/// A column of JSON_TABLE.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonTableColumn {
    Ordinality {
        name: String,
    },
    Exists {
        name: String,
        ty: TypeSpec,
        path: Vec<u8>,
    },
    Value {
        name: String,
        ty: TypeSpec,
        path: Vec<u8>,
        on_empty: Option<OnResponse>,
        on_error: Option<OnResponse>,
    },
    Nested(JsonTableRows),
}

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
        /// The text of the expression, which names the column if there is no alias.
        text: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum TableRef {
    Table {
        name: TableName,
        alias: Option<String>,
        /// `PARTITION (p, ...)`. Empty means all partitions.
        partitions: Vec<String>,
        hints: Vec<IndexHint>,
        system_time: Option<Box<SystemTime>>,
    },
    Derived {
        query: Box<Query>,
        /// LATERAL: the query may name the tables before it.
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

/// What stands behind a table that has periods: `FOR SYSTEM_TIME`, which says which rows are read,
/// or `FOR PORTION OF`, which says which part of a row's period is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum SystemTime {
    All,
    AsOf(Expr),
    Between(Expr, Expr),
    FromTo(Expr, Expr),
    /// DELETE HISTORY: the rows that are no longer current, or that ceased to be before a moment.
    History(Option<Expr>),
    /// UPDATE or DELETE of a part of each row's period.
    Portion(Portion),
}

/// `FOR PORTION OF period FROM from TO to`
#[derive(Debug, Clone, PartialEq)]
pub struct Portion {
    pub period: String,
    pub from: Expr,
    pub to: Expr,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Select {
    pub distinct: bool,
    /// SELECT STRAIGHT_JOIN: all tables are read in the order in which they are written.
    pub straight: bool,
    pub hints: Vec<Hint>,
    pub block: Block,
    pub calc_found_rows: bool,
    pub words: SelectWords,
    pub items: Vec<SelectItem>,
    pub from: Option<TableRef>,
    pub filter: Option<Expr>,
    pub group_by: Vec<Expr>,
    /// WITH ROLLUP: there are further groups, of all rows that have the first keys in common.
    pub rollup: bool,
    pub having: Option<Expr>,
    pub windows: Vec<(String, Window)>,
    /// An upper limit for the number of calls of functions over windows in the select list and in
    /// ORDER BY.
    pub most_window_calls: usize,
}

/// `UNION [ALL] body`, or the same with INTERSECT or EXCEPT.
#[derive(Debug, Clone, PartialEq)]
pub struct SetBranch {
    pub operator: SetOperator,
    pub all: bool,
    pub body: QueryBody,
}

#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    Select(Box<Select>),
    /// `first UNION [ALL] ...`: two or more branches, from left to right. A long chain is one node,
    /// so that the tree does not become deep.
    Union {
        first: Box<QueryBody>,
        rest: Vec<SetBranch>,
    },
    /// `VALUES ROW(...), ...`
    Values(Vec<Vec<Expr>>),
    /// A query in parentheses, with ORDER BY and LIMIT of its own.
    Nested(Box<Query>),
}

/// A common table expression.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    pub name: String,
    /// The names of the columns. Empty means those that the query gives.
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
    /// The WITH clause, shared with the binder, which binds a common table where it is named.
    pub with: Option<Arc<With>>,
    pub body: QueryBody,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub locks: Vec<LockClause>,
    pub into: Option<SelectInto>,
}
