//! Expressions and queries.
//!
//! An expression holds queries and a query holds expressions, so that the two stand in one file,
//! with what only they consist of. What is done with them is in `expr` and `query`.

use super::{
    BinaryOp, CastType, IndexHint, JoinHint, JoinKind, Literal, LockClause, Scope, SelectInto, SetOperator,
    TableName, TimeUnit, TruthValue, TypeSpec, UnaryOp,
};
use std::sync::Arc;

/// A name as it is written. How that is makes no difference to what is meant, so that all are
/// equal.
#[derive(Debug, Clone)]
pub struct Written(pub String);

impl PartialEq for Written {
    fn eq(&self, _: &Written) -> bool {
        true
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// A stored function may be called with its schema.
    pub schema: Option<String>,
    /// In lower case, or with a schema as written.
    pub name: String,
    /// For messages.
    pub written: Written,
    pub args: Vec<Expr>,
    /// `COUNT(*)`.
    pub star: bool,
    pub distinct: bool,
    /// Of GROUP_CONCAT.
    pub order_by: Vec<OrderItem>,
    pub separator: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Literal(Literal),
    /// `?`, numbered from 0.
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
    /// Two or more operands, so that a long chain is no deep tree.
    And(Vec<Expr>),
    /// As `And`.
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
    /// `operand op ALL (query)`; else ANY or SOME.
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
    /// `CAST(x AS type ARRAY)`, of multi-valued indexes.
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
    /// `date + INTERVAL n unit`; `subtract` for `-`.
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
        remove: Option<Box<Expr>>,
        operand: Box<Expr>,
    },
    JsonValue(Box<JsonValue>),
    Row(Vec<Expr>),
    Subquery(Box<Query>),
    Exists(Box<Query>),
    /// `DEFAULT` as a value.
    Default,
    /// `DEFAULT(column)`.
    DefaultOf(String),
    /// `VALUES(column)` of ON DUPLICATE KEY UPDATE.
    Values(String),
}

/// A call with OVER.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// Of an aggregate, or of a function that is one only over a window.
    pub call: FunctionCall,
    pub over: Over,
}

/// What stands behind OVER.
#[derive(Debug, Clone, PartialEq)]
pub enum Over {
    Name(String),
    Window(Box<Window>),
}

/// `([name] [PARTITION BY ...] [ORDER BY ...] [frame])`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// The window that it goes on from.
    pub base: Option<String>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderItem>,
    pub frame: Option<WindowFrame>,
}

/// `ROWS` or `RANGE`.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// ROWS; else RANGE.
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

/// How far a frame goes: a number, or `INTERVAL amount unit`.
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

/// What happens where a path means nothing, or nothing that fits.
#[derive(Debug, Clone, PartialEq)]
pub enum OnResponse {
    /// As where nothing is written.
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

/// A path, and the columns of a row for each value that it means.
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
        /// The text of the expression, the column's name where there is no alias.
        text: String,
    },
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
